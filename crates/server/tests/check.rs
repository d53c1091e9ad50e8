//! `bobbin check`: flipped bytes and cut files are found, repaired as announced or refused, and never give a wrong
//! answer.
//!
//! ```text
//! template: a small folder ── damage one file ── look ── sound?    a start has exactly the right keys
//!                                                  |
//!                                                damaged ── a start is refused, or has exactly the right keys
//!                                                  '─ repair ── keys as announced; shards not announced exactly right
//! ```
//!
//! `BOBBIN_CHECK_FLIPS=2000` makes as many flips and a tenth as many cuts; 200 without it.

use crate::support::{Server, bobbin};
use commands::testing::dump::{KeyDump, dump};
use keyspace::{Keyspace, shard_of};
use server::check::{self, Findings, Repair};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;
use wire::client::Value;

type Keys = BTreeMap<(u32, Vec<u8>), KeyDump>;

/// The contents of keys, whatever their encoding.
type Contents = BTreeMap<(u32, Vec<u8>), (Vec<Vec<u8>>, Option<u64>)>;

fn contents(keys: &Keys) -> Contents {
    keys.iter().map(|(name, (_, content, expires))| (name.clone(), (content.clone(), *expires))).collect()
}

/// Returns the contents after each of the commands that follow the last SAVE of [`fill`], the last first.
fn states(keys: &Keys) -> Vec<Contents> {
    let mut states = vec![contents(keys)];
    let mut undo = |key: &str, back: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut state = states[states.len() - 1].clone();
        back(&mut state.entry((0, key.into())).or_default().0);
        states.push(state);
    };
    undo("text:117", &|text| *text = vec![b"first 117".to_vec()]);
    undo("list:2", &|list| list.push(item(9, 199).into()));
    undo("list:1", &|list| drop(list.pop()));
    for number in (30..90).rev() {
        undo(&format!("text:{number}"), &|text| {
            let length = text[0].len() - " and more".len();
            text[0].truncate(length);
        });
    }
    states
}

/// An item of a list of [`fill`].
fn item(part: usize, item: usize) -> String {
    ((item * 7919 + part * 31) % 100_003).to_string()
}

/// Files of a data folder, by their names in it.
#[derive(Clone)]
struct Files(BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    /// Reads the files in `folder`, without preallocated room.
    fn of(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for part in ["journal", "store"] {
            for entry in fs::read_dir(folder.join(part)).unwrap() {
                let name = PathBuf::from(part).join(entry.unwrap().file_name());
                let text = name.to_str().unwrap();
                if text.contains("spare") || text.ends_with("reserve") {
                    continue;
                }
                let mut bytes = fs::read(folder.join(&name)).unwrap();
                if text.ends_with(".log") {
                    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                    bytes.truncate(bytes.len().min(end + 256));
                }
                files.insert(name, bytes);
            }
        }
        Self(files)
    }

    fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in &self.0 {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }
}

/// Dice that fall alike in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn fill(server: &Server) {
    let mut client = server.connect();
    let mut call = |arguments: &[&str]| {
        let reply = client.call(arguments);
        assert!(reply.as_error().is_none(), "{arguments:?}: {reply}");
    };
    for number in 0..120 {
        call(&["SET", &format!("text:{number}"), &format!("first {number}")]);
    }
    for list in 0..3 {
        let name = format!("list:{list}");
        for part in 0..if list == 2 { 10 } else { 1 } {
            let items: Vec<String> = (0..200).map(|at| item(part, at)).collect();
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            call(&[&["RPUSH", name.as_str()], &items[..]].concat());
        }
    }
    call(&["SETRANGE", "long", "16400", "end"]);
    call(&["SELECT", "3"]);
    call(&["SET", "elsewhere", "three", "EXAT", "4000000000"]);
    call(&["SELECT", "0"]);
    call(&["SAVE"]);
    for number in 0..60 {
        call(&["SET", &format!("text:{number}"), &format!("second {number}")]);
    }
    call(&["DEL", "text:119", "text:118"]);
    call(&["LPUSH", "list:0", "new"]);
    call(&["SAVE"]);
    for number in 30..90 {
        call(&["APPEND", &format!("text:{number}"), " and more"]);
    }
    call(&["RPUSH", "list:1", "last"]);
    call(&["RPOP", "list:2"]);
    call(&["DEL", "text:117"]);
}

/// A small folder whose server ended in order, or was killed, and what it holds.
fn template(in_order: bool) -> (Files, Keys) {
    let mut server = Server::start(&["--fsync", "always"]);
    fill(&server);
    if in_order {
        server.stop();
    } else {
        server.kill();
    }
    let files = Files::of(&server.data());
    let folder = files.write();
    let keys = dump(&check::load(folder.path()).unwrap());
    assert_eq!(keys.len(), 117 + 3 + 2);
    (files, keys)
}

fn look(folder: &Path) -> Findings {
    check::look(folder, &mut |_, _, _| {}).unwrap()
}

/// Checks the keys after a repair: as many as announced, and unchanged in shards that were not announced; where the
/// journal broke off, as they were at that point.
fn assert_repaired(folder: &Path, announced: &Repair, keys: &Keys, context: &str) {
    let repaired = check::repair(folder, &mut |_, _, _| {}).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(repaired.mended, announced.mended, "{context}");
    let (loss, said) = (&repaired.facts.journal.loss, &announced.facts.journal.loss);
    assert_eq!(loss, said, "{context}");
    let again = look(folder);
    assert!(again.damages.is_empty(), "{context}: {:?}", again.damages);
    let keyspace = check::load(folder).unwrap();
    let left = dump(&keyspace);
    assert_eq!(left.len() as u64, announced.facts.keys, "{context}");
    assert_eq!(again.facts.unwrap().keys, announced.facts.keys, "{context}");
    let is_announced = |key: &[u8]| {
        let shard = shard_of(keyspace.hash(key));
        announced.mended.iter().any(|mended| mended.shard == shard)
    };
    let whole = |keys: Contents| -> Contents { keys.into_iter().filter(|((_, key), _)| !is_announced(key)).collect() };
    let left = whole(contents(&left));
    let is_as_before = match loss {
        None => left == whole(contents(keys)),
        Some(_) => states(keys).into_iter().any(|state| left == whole(state)),
    };
    assert!(is_as_before, "{context}: a shard that was not announced has changed");
}

/// The numbers of folders that were sound, repaired, and beyond repair.
#[derive(Debug, Default)]
struct Tally {
    sound: usize,
    /// As after a crash that came before the end.
    older: usize,
    mended: usize,
    lossless: usize,
    /// By a journal that ends where it was damaged.
    shortened: usize,
    hopeless: usize,
}

impl Tally {
    fn judge(&mut self, files: &Files, keys: &Keys, context: &str) {
        let folder = files.write();
        let found = look(folder.path());
        assert!(Files::of(folder.path()).0 == files.0, "{context}: a look has changed the folder");
        let started: Result<Keyspace, _> = check::load(folder.path());
        match (&found.repair, started) {
            (None, Ok(keyspace)) => {
                let left = dump(&keyspace);
                self.sound += usize::from(left == *keys);
                if left != *keys {
                    // A journal that was cut looks like one whose last frames never got to the disk.
                    let is_torn = found.facts.is_some_and(|facts| facts.journal.torn.is_some());
                    assert!(is_torn || context.starts_with("a cut"), "{context}: sound, and keys are wrong");
                    assert!(context.contains("journal/"), "{context}: sound, and keys are wrong");
                    assert!(states(keys).contains(&contents(&left)), "{context}: keys are as they never were");
                    self.older += 1;
                }
            }
            (Some(_), Ok(_)) => panic!("{context}: said to be damaged, and a start takes it: {:?}", found.damages),
            (None, Err(error)) => panic!("{context}: said to be sound, and a start refuses it: {error}"),
            (Some(repair), Err(refused)) => {
                let text = found.damages.join("\n");
                assert!(text.contains("/journal/") || text.contains("/store/"), "{context}: no file is named: {text}");
                assert!(refused.to_string().len() > 20);
                match repair {
                    Ok(announced) => {
                        self.mended += 1;
                        let is_shortened = announced.facts.journal.loss.is_some();
                        self.shortened += usize::from(is_shortened);
                        self.lossless += usize::from(announced.mended.is_empty() && !is_shortened);
                        assert_repaired(folder.path(), announced, keys, &format!("{context}: {text}"));
                    }
                    Err(_) => {
                        assert!(text.contains("Restore"), "{context}: no remedy: {text}");
                        let is_root = context.contains("journal/identity") || context.contains("store/manifest-");
                        assert!(is_root, "{context}: records that no repair helps: {text}");
                        self.hopeless += 1;
                    }
                }
            }
        }
    }
}

fn flips() -> usize {
    std::env::var("BOBBIN_CHECK_FLIPS").map_or(200, |count| count.parse().unwrap())
}

fn damage(in_order: bool, seed: u64) {
    let (files, keys) = template(in_order);
    let names: Vec<PathBuf> = files.0.keys().cloned().collect();
    let (mut dice, mut tally) = (Dice(seed), Tally::default());
    for number in 0..flips() / 2 + flips() / 20 {
        let name = &names[dice.below(names.len())];
        let mut broken = files.clone();
        let bytes = broken.0.get_mut(name).unwrap();
        if bytes.is_empty() {
            continue;
        }
        let at = dice.below(bytes.len());
        let what = if number < flips() / 2 {
            bytes[at] ^= 1 << dice.below(8);
            "a flip at"
        } else {
            bytes.truncate(at);
            "a cut to"
        };
        tally.judge(&broken, &keys, &format!("{what} {at} of {}", name.display()));
    }
    eprintln!("{tally:?}");
    assert!(tally.mended > tally.shortened && tally.shortened > 0 && tally.hopeless > 0, "{tally:?}");
}

#[test]
fn damage_after_a_clean_stop_never_gives_wrong_answers() {
    damage(true, 0x0b0b_b1e5);
}

#[test]
fn damage_after_a_kill_never_gives_wrong_answers() {
    damage(false, 0x5eed_0001);
}

fn bobbin_check(folder: &Path, flags: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } = bobbin().arg("check").arg(folder).args(flags).output().unwrap();
    let text = String::from_utf8([stdout, stderr].concat()).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    (status.code().unwrap_or_else(|| panic!("{status}: {text}")), text)
}

#[test]
fn check_reports_sound_damaged_or_not_checked() {
    let (files, _) = template(true);
    let folder = files.write();
    let (code, text) = bobbin_check(folder.path(), &[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("keys     122") && text.ends_with("sound\n"), "{text}");
    assert!(Files::of(folder.path()).0 == files.0 && fs::read_dir(folder.path()).unwrap().count() == 2);

    // The last one: of an older one a page may be of no use any more, and no loss.
    let name = files.0.keys().rfind(|name| name.extension().is_some_and(|end| end == "runs")).unwrap();
    let mut broken = files.clone();
    broken.0.get_mut(name).unwrap()[100] ^= 1;
    let folder = broken.write();
    let (code, text) = bobbin_check(folder.path(), &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("damage: ") && text.contains(name.to_str().unwrap()), "{text}");
    assert!(text.contains("--repair can fix it"), "{text}");
    let (code, text) = bobbin_check(folder.path(), &["--repair"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("kept aside: ") && text.ends_with("sound\n"), "{text}");
    assert_eq!(bobbin_check(folder.path(), &[]).0, 0);
    let left = check::load(folder.path()).map(|keyspace| dump(&keyspace)).unwrap();
    let parent = tempfile::tempdir().unwrap();
    fs::rename(folder.keep(), parent.path().join("data")).unwrap();
    let server = Server::start_in(parent, &[]);
    let in_first = left.keys().filter(|(database, _)| *database == 0).count();
    assert_eq!(server.connect().call(&["DBSIZE"]), Value::Int(in_first as i64));

    let mut lost = files.clone();
    lost.0.remove(Path::new("journal/identity"));
    let folder = lost.write();
    let (code, text) = bobbin_check(folder.path(), &["--repair"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("journal/identity") && text.contains("Restore"), "{text}");
    assert!(Files::of(folder.path()).0 == lost.0, "what cannot be mended is left alone");

    let empty = tempfile::tempdir().unwrap();
    for (path, why) in [(empty.path().to_owned(), "no data folder"), (empty.path().join("none"), "none")] {
        let (code, text) = bobbin_check(&path, &["--repair"]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(why), "{text}");
    }
    assert_eq!(bobbin().arg("check").output().unwrap().status.code(), Some(2));
}

#[test]
fn a_folder_in_use_is_not_checked() {
    let server = Server::start(&[]);
    let (code, text) = bobbin_check(&server.data(), &[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("in use by another Bobbin"), "{text}");
    assert_eq!(server.connect().call(&["PING"]), Value::Simple("PONG".to_owned()));
}

#[test]
fn a_torn_tail_is_sound_and_repair_moves_it_aside() {
    let (mut files, keys) = template(false);
    let name = files.0.keys().rfind(|name| name.extension().is_some_and(|end| end == "log")).unwrap().clone();
    let bytes = files.0.get_mut(&name).unwrap();
    let end = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    bytes.truncate(end);
    bytes.extend_from_slice(b"half of something");
    let folder = files.write();
    let (code, text) = bobbin_check(folder.path(), &[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("torn tail"), "{text}");
    let (code, text) = bobbin_check(folder.path(), &["--repair"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("kept aside: ") && text.contains("torn-"), "{text}");
    let (code, text) = bobbin_check(folder.path(), &[]);
    assert!(code == 0 && !text.contains("torn tail"), "{text}");
    assert!(dump(&check::load(folder.path()).unwrap()) == keys);
}

/// Only the store is left, of a server that made checkpoints while clients wrote: its shards have different positions.
#[test]
fn a_folder_without_segments_is_repaired_from_its_store() {
    let mut server = Server::start(&[]);
    fill(&server);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut client = server.connect();
            for number in 0..20_000 {
                client.call(&["SET", &format!("text:{}", number % 120), &format!("first {}", number % 120)]);
            }
        });
        let mut client = server.connect();
        while !writer.is_finished() {
            client.call(&["SAVE"]);
        }
    });
    server.kill();
    let mut files = Files::of(&server.data());
    files.0.retain(|name, _| name.extension().is_none_or(|end| end != "log"));
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    fs::rename(files.write().keep(), &data).unwrap();
    let (code, text) = bobbin_check(&data, &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("loss: the journal cannot be read from ") && text.contains("no bytes to keep"), "{text}");
    assert!(text.ends_with("damaged; --repair can fix it\n"), "{text}");
    let (code, text) = bobbin_check(&data, &["--repair"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.ends_with("sound\n"), "{text}");
    let mut server = Server::start_in(parent, &[]);
    for number in 0..120 {
        let value = Value::bulk(format!("first {number}"));
        assert_eq!(server.connect().call(&["GET", &format!("text:{number}")]), value);
    }
    // The positions of its frames are beyond all positions in the store.
    assert_eq!(server.connect().call(&["SET", "text:0", "new"]), Value::Simple("OK".to_owned()));
    server.stop();
    server.restart();
    assert_eq!(server.connect().call(&["GET", "text:0"]), Value::bulk("new"));
}

/// The records after the damage are moved aside, where they can be read.
#[test]
fn repair_cuts_a_damaged_journal_and_keeps_the_rest_aside() {
    let (mut files, _) = template(true);
    let name = files.0.keys().rfind(|name| name.extension().is_some_and(|end| end == "log")).unwrap().clone();
    let bytes = files.0.get_mut(&name).unwrap();
    let key = b"text:60";
    let at = bytes.windows(key.len()).rposition(|window| window == key).unwrap();
    bytes[at] ^= 1;
    let folder = files.write();
    let (code, text) = bobbin_check(folder.path(), &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("loss: the journal cannot be read from ") && text.contains(name.to_str().unwrap()), "{text}");
    let (code, text) = bobbin_check(folder.path(), &["--repair"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("kept aside: ") && text.ends_with("sound\n"), "{text}");
    let aside = Files::of(folder.path());
    let torn = aside.0.iter().find(|(name, _)| name.to_str().unwrap().contains("torn-")).unwrap().1;
    assert!(torn.windows(key.len()).any(|window| window == b"text:61"));
    let left = contents(&dump(&check::load(folder.path()).unwrap()));
    assert_eq!(left[&(0, b"text:59".to_vec())].0, [b"second 59 and more"]);
    assert_eq!(left[&(0, b"text:61".to_vec())].0, [b"first 61"]);
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data-1")
}

/// A folder of this version, which every later version must read. `BLESS=1` rewrites it, which is wrong after a
/// release.
#[test]
fn a_data_folder_of_version_1_is_opened() {
    if std::env::var_os("BLESS").is_some() {
        let (files, _) = template(true);
        for (name, bytes) in &files.0 {
            fs::create_dir_all(kept().join(name).parent().unwrap()).unwrap();
            fs::write(kept().join(name), bytes).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for (name, bytes) in Files::of(&kept()).0 {
        fs::create_dir_all(data.join(&name).parent().unwrap()).unwrap();
        fs::write(data.join(name), bytes).unwrap();
    }
    let (code, text) = bobbin_check(&data, &[]);
    assert_eq!(code, 0, "{text}");
    let server = Server::start_in(folder, &[]);
    let mut client = server.connect();
    assert_eq!(client.call(&["DBSIZE"]), Value::Int(121));
    let mut get = |key: &str| String::from_utf8(client.call(&["GET", key]).as_bytes().unwrap().to_vec()).unwrap();
    for number in 0..117 {
        let base = if number < 60 { "second" } else { "first" };
        let more = if (30..90).contains(&number) { " and more" } else { "" };
        assert_eq!(get(&format!("text:{number}")), format!("{base} {number}{more}"));
    }
    assert_eq!(get("long").trim_start_matches('\0'), "end");
    let mut length = |key: &str| client.call(&["LLEN", key]);
    assert_eq!([length("list:0"), length("list:1"), length("list:2")], [201, 201, 1999].map(Value::Int));
    assert_eq!(client.call(&["LINDEX", "list:0", "0"]), Value::bulk("new"));
    assert_eq!(client.call(&["LINDEX", "list:1", "-1"]), Value::bulk("last"));
    for at in 0..1999usize {
        let item = item(at / 200, at % 200);
        assert_eq!(client.call(&["LINDEX", "list:2", &at.to_string()]), Value::bulk(item), "{at}");
    }
    assert_eq!(client.call(&["EXISTS", "text:117", "text:118", "text:119"]), Value::Int(0));
    client.call(&["SELECT", "3"]);
    assert_eq!(client.call(&["GET", "elsewhere"]), Value::bulk("three"));
}
