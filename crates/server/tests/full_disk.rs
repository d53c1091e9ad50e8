//! A data folder on a disk that fills up: growth is refused, all else continues, and nothing acknowledged is lost.
//!
//! ```text
//!   tmpfs  | ballast      | journal -->               |   growing writes, pops and reads, until growth is refused
//!          | ballast      | journal ....|spare|stopper|   only pops, deletions and reads; a restart finds the same
//!          | ballast      | journal ....... |     |stop|   a little room: pops and deletions continue
//!          |              | journal ..........--> |       ballast removed: growth continues
//! ```
//!
//! Other files take all the room that is freed here, so in the end deletions must be refused, too. The spare of last
//! resort is guaranteed: it exists when growth is refused and a checkpoint has been made, and is created again as soon
//! as there is room for it.

use crate::support::disk::{Disk, save};
use crate::support::{Connection, Server, bobbin, free_port, request};
use std::fs::OpenOptions;
use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::client::Value;

const DISK_BYTES: usize = 64 << 20;
/// The size of a new data folder.
const FIRST_BYTES: usize = 3 << 20;
/// Room for a spare of last resort, and for checkpoints.
const LITTLE_BYTES: u64 = 4 << 20;
const BALLAST_BYTES: usize = 24 << 20;
/// Lengths of what growers push, one grower each.
const ITEM_BYTES: [usize; 3] = [100, 5_000, 300_000];
/// After this many refusals, a write stays refused.
const SETTLED: usize = 3;
/// Elements and keys to remove.
const DOOMED: usize = 100_000;
/// The maximum time before freed room is used.
const PATIENCE: Duration = Duration::from_secs(30);

fn ballast(disk: &Disk) -> PathBuf {
    disk.path().join("ballast")
}

/// A file that has all the room there is.
fn stopper(disk: &Disk) -> PathBuf {
    disk.path().join("stopper")
}

fn stop_up(disk: &Disk) {
    let mut file = OpenOptions::new().create(true).append(true).open(stopper(disk)).unwrap();
    for bytes in [1 << 20, 64 << 10, 4 << 10] {
        while file.write_all(&vec![0; bytes]).is_ok() {}
    }
}

/// Others give back a little of what they have.
fn ease(disk: &Disk) {
    // The stopper may be smaller: the free space at the first refusal is not known.
    let file = OpenOptions::new().write(true).open(ballast(disk)).unwrap();
    file.set_len(file.metadata().unwrap().len() - LITTLE_BYTES).unwrap();
}

/// Waits for the spare of last resort.
fn await_spare(server: &Server) {
    let began = Instant::now();
    while server.info("journal_spares") == "0" {
        assert!(began.elapsed() < PATIENCE, "no spare of last resort is made");
    }
}

/// The expected contents, from the replies so far.
#[derive(Default)]
struct Expected {
    /// Items pushed by each grower.
    pushed: [usize; ITEM_BYTES.len()],
    /// The value of `counter`.
    counter: i64,
    /// Elements popped off `queue`, and keys `doomed:n` deleted.
    taken: usize,
}

fn ok() -> Value {
    Value::Simple("OK".to_owned())
}

fn item(number: usize, bytes: usize) -> String {
    let digits = number.to_string();
    format!("{digits}{}", ".".repeat(bytes - digits.len()))
}

fn is_refusal(reply: &Value) -> bool {
    let is_full = |text: &str| text.starts_with("MISCONF ") && text.contains("disk") && text.contains("full");
    match reply {
        Value::Error(text) if is_full(text) => true,
        Value::Error(text) => panic!("refused for another reason: {text}"),
        _ => false,
    }
}

/// Fills the queue and the keys that are taken away later.
fn prepare(client: &mut Connection<TcpStream>) {
    assert_eq!(client.call(&["SET", "kept", "value"]), ok());
    for from in (0..DOOMED).step_by(1_000) {
        let numbers = || (from..from + 1_000).map(|number| number.to_string());
        client.call(&[vec!["RPUSH".to_owned(), "queue".to_owned()], numbers().collect()].concat());
        let doomed = numbers().flat_map(|number| [format!("doomed:{number}"), number]);
        client.call(&[vec!["MSET".to_owned()], doomed.collect()].concat());
    }
}

/// Pushes until the disk is full; returns the number of items of this length.
fn grow(mut client: Connection<TcpStream>, bytes: usize, mut pushed: usize) -> usize {
    let list = format!("grown:{bytes}");
    loop {
        let reply = client.call(&["RPUSH", &list, &item(pushed, bytes)]);
        if is_refusal(&reply) {
            return pushed;
        }
        pushed += 1;
        assert_eq!(reply, Value::Int(pushed as i64));
    }
}

/// Removes elements and keys, a hundred at once; no removal may be refused. Returns the number removed so far.
fn take(client: &mut Connection<TcpStream>, taken: usize) -> usize {
    let numbers = taken..taken + 100;
    let pair = |number: usize| [request(&["LPOP", "queue"]), request(&["DEL", &format!("doomed:{number}")])].concat();
    client.send_bytes(&numbers.clone().flat_map(pair).collect::<Vec<u8>>());
    for number in numbers {
        assert_eq!(client.reply(), Value::bulk(number.to_string()));
        assert_eq!(client.reply(), Value::Int(1));
    }
    taken + 100
}

/// Growers until all are refused; pops, deletions and reads beside them.
fn fill(disk: &Disk, server: &Server, expected: &mut Expected) {
    // Each growing client holds it, and releases it however the client ends.
    let growing = Arc::new(());
    let is_growing = Arc::downgrade(&growing);
    std::thread::scope(|scope| {
        for (bytes, pushed) in ITEM_BYTES.into_iter().zip(&mut expected.pushed) {
            let growing = growing.clone();
            scope.spawn(move || {
                *pushed = grow(server.connect(), bytes, *pushed);
                drop(growing);
            });
        }
        drop(growing);
        scope.spawn(|| {
            let mut client = server.connect();
            while is_growing.strong_count() > 0 {
                assert_eq!(client.call(&["GET", "kept"]), Value::bulk("value"));
            }
        });
        let mut client = server.connect();
        // What is left is for the time when the disk is full.
        while is_growing.strong_count() > 0 && expected.taken < DOOMED / 2 {
            expected.taken = take(&mut client, expected.taken);
        }
    });
    // Room too small for growth may be enough for the smallest change.
    let mut client = server.connect();
    assert_eq!(client.call(&["CLIENT", "DURABLE", "ALWAYS"]), ok());
    save(&mut client);
    await_spare(server);
    let mut refused = 0;
    while refused < SETTLED {
        // A checkpoint frees room: here other files take it at once.
        stop_up(disk);
        let reply = client.call(&["INCR", "counter"]);
        if is_refusal(&reply) {
            // Waits until all frames are written: until then each holds the most room that it may come to need.
            client.call(&["DBSIZE"]);
            refused += 1;
        } else {
            expected.counter += 1;
            assert_eq!(reply, Value::Int(expected.counter));
            refused = 0;
        }
    }
}

/// Every command that takes room is refused and changes nothing; the others go on.
fn check_full(server: &Server, expected: &mut Expected) {
    let mut client = server.connect();
    let before = client.call(&["DEBUG", "DIGEST"]);
    for command in [
        &["SET", "new", "x"][..],
        &["SET", "kept", "x"],
        &["MSET", "new", "x", "newer", "x"],
        &["APPEND", "kept", "x"],
        &["SETRANGE", "kept", "3", "x"],
        &["INCR", "counter"],
        &["LPUSH", "new", "x"],
        &["RPUSH", "queue", "x"],
        &["LINSERT", "queue", "BEFORE", "99999", "x"],
        &["LSET", "queue", "-1", "x"],
        &["LMOVE", "queue", "new", "LEFT", "LEFT"],
        &["COPY", "kept", "new"],
    ] {
        let reply = client.call(command);
        assert!(is_refusal(&reply), "{command:?} answers {reply}");
    }
    assert_eq!(client.call(&["MULTI"]), ok());
    client.call(&["SET", "new", "x"]);
    let reply = client.call(&["EXEC"]);
    assert!(matches!(&reply, Value::Error(text) if text.contains("disk")), "EXEC answers {reply}");
    assert_eq!(client.call(&["DEBUG", "DIGEST"]), before, "a command that was refused has changed something");
    assert_eq!(server.info("journal_full"), "1");
    assert_eq!(server.info("aof_last_write_status"), "err");
    assert_eq!(client.call(&["GET", "kept"]), Value::bulk("value"));
    // As much as the spare of last resort surely takes.
    for _ in 0..8 {
        expected.taken = take(&mut client, expected.taken);
    }
    assert_eq!(client.call(&["MULTI"]), ok());
    client.call(&["LPOP", "queue"]);
    client.call(&["DEL", &format!("doomed:{}", expected.taken)]);
    assert_eq!(client.call(&["EXEC"]), Value::Array(vec![Value::bulk(expected.taken.to_string()), Value::Int(1)]));
    expected.taken += 1;
}

/// Checks that exactly the data that replies reported is present.
fn check_content(server: &Server, expected: &Expected) {
    let mut client = server.connect();
    for (bytes, pushed) in ITEM_BYTES.into_iter().zip(expected.pushed) {
        let reply = client.call(&["LRANGE", &format!("grown:{bytes}"), "0", "-1"]);
        let items = reply.as_slice().unwrap();
        assert_eq!(items.len(), pushed, "items of {bytes} bytes");
        let is_same = |(number, value): (usize, &Value)| value.as_bytes() == Some(item(number, bytes).as_bytes());
        assert!(items.iter().enumerate().all(is_same), "items of {bytes} bytes");
    }
    assert_eq!(client.call(&["LLEN", "queue"]), Value::Int((DOOMED - expected.taken) as i64));
    assert_eq!(client.call(&["LINDEX", "queue", "0"]), Value::bulk(expected.taken.to_string()));
    let counter = client.call(&["GET", "counter"]);
    assert!(
        counter == Value::bulk(expected.counter.to_string()) || expected.counter == 0,
        "{counter} of {}",
        expected.counter
    );
    let grown = expected.pushed.iter().filter(|pushed| **pushed > 0).count();
    let keys = 2 + usize::from(expected.counter > 0) + grown + DOOMED - expected.taken;
    assert_eq!(client.call(&["DBSIZE"]), Value::Int(keys as i64));
}

/// Waits until commands that take room are let through.
fn await_room(server: &Server) {
    let (mut client, began) = (server.connect(), Instant::now());
    while is_refusal(&client.call(&["SET", "kept", "value"])) {
        assert!(began.elapsed() < PATIENCE, "the room that was given back is not used");
    }
}

/// Pushes one item of each length, as soon as there is room.
fn push_each(server: &Server, expected: &mut Expected) {
    let (mut client, began) = (server.connect(), Instant::now());
    for (bytes, pushed) in ITEM_BYTES.into_iter().zip(&mut expected.pushed) {
        while is_refusal(&client.call(&["RPUSH", &format!("grown:{bytes}"), &item(*pushed, bytes)])) {
            assert!(began.elapsed() < PATIENCE, "the room that was given back is not used");
        }
        *pushed += 1;
    }
}

/// A disk that fills up, under `policy`; lives end by `end`.
fn fills_up(test: &str, policy: &str, end: fn(&mut Server)) {
    let Some(disk) = Disk::mount_or_skip(test, DISK_BYTES) else { return };
    std::fs::write(ballast(&disk), vec![0; BALLAST_BYTES]).unwrap();
    let folder = tempfile::tempdir_in(disk.path()).unwrap();
    let mut server = Server::start_in(folder, &["--fsync", policy, "--enable-debug-command", "yes"]);
    prepare(&mut server.connect());
    let mut expected = Expected::default();
    fill(&disk, &server, &mut expected);
    check_full(&server, &mut expected);
    check_content(&server, &expected);
    for _ in 0..2 {
        end(&mut server);
        server.restart();
        check_content(&server, &expected);
        ease(&disk);
        fill(&disk, &server, &mut expected);
        check_full(&server, &mut expected);
    }
    std::fs::remove_file(ballast(&disk)).unwrap();
    std::fs::remove_file(stopper(&disk)).unwrap();
    await_room(&server);
    push_each(&server, &mut expected);
    let before = expected.pushed;
    fill(&disk, &server, &mut expected);
    assert!(
        expected.pushed.iter().zip(before).all(|(after, before)| *after > before + 1),
        "all go on: {before:?} {:?}",
        expected.pushed
    );
    end(&mut server);
    server.restart();
    check_content(&server, &expected);
    println!(
        "{test}: items of {ITEM_BYTES:?} bytes: {before:?}, then {:?}; taken: {}",
        expected.pushed, expected.taken
    );
}

#[test]
fn a_full_disk_refuses_growth_and_a_kill_loses_nothing() {
    fills_up("a_full_disk_refuses_growth_and_a_kill_loses_nothing", "always", Server::kill);
}

#[test]
fn a_full_disk_refuses_growth_and_a_stop_loses_nothing() {
    fills_up("a_full_disk_refuses_growth_and_a_stop_loses_nothing", "everysec", Server::stop);
}

#[test]
fn a_start_on_a_full_disk_explains_what_to_do() {
    let Some(disk) = Disk::mount_or_skip("a_start_on_a_full_disk_explains_what_to_do", DISK_BYTES) else { return };
    // Nothing is free, or less than a data folder needs.
    for ballast_bytes in [DISK_BYTES, DISK_BYTES - FIRST_BYTES + (64 << 10)] {
        let _ = std::fs::write(ballast(&disk), vec![0; ballast_bytes]);
        let data = disk.path().join("data");
        let port = free_port().to_string();
        let output = bobbin().args(["--bind", "127.0.0.1", "--port", &port, "--dir"]).arg(&data).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8(output.stderr).unwrap();
        let words = ["full", "make room", "--dir", data.to_str().unwrap()];
        let is_explained = words.iter().all(|word| message.contains(word));
        assert!(is_explained && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn a_first_start_with_little_space_accepts_deletions() {
    let test = "a_first_start_with_little_space_accepts_deletions";
    // Of disks of these sizes, different parts are kept for checkpoints.
    for disk_bytes in [DISK_BYTES, 4 * DISK_BYTES] {
        let Some(disk) = Disk::mount_or_skip(test, disk_bytes) else { return };
        // The data folder itself takes a page or two of tmpfs before its room is looked at.
        std::fs::write(ballast(&disk), vec![0; disk_bytes - FIRST_BYTES - (64 << 10)]).unwrap();
        let folder = tempfile::tempdir_in(disk.path()).unwrap();
        let mut server = Server::start_in(folder, &[]);
        let check = |server: &Server| {
            let mut client = server.connect();
            for command in [
                &["FLUSHALL"][..],
                &["FLUSHDB"],
                &["FLUSHALL", "SYNC"],
                &["DEL", "absent"],
                &["UNLINK", "absent", "more"],
                &["LPOP", "absent"],
                &["SPOP", "absent"],
                &["ZPOPMIN", "absent"],
                &["GETDEL", "absent"],
                &["HDEL", "absent", "field"],
                &["EXPIRE", "absent", "1"],
            ] {
                let reply = client.call(command);
                assert!(!matches!(reply, Value::Error(_)), "{command:?} answers {reply}");
            }
        };
        check(&server);
        for _ in 0..2 {
            stop_up(&disk);
            check(&server);
            std::fs::remove_file(stopper(&disk)).unwrap();
            server.kill();
            server.restart();
            check(&server);
        }
    }
}

#[test]
fn a_fresh_folder_is_small() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.call(&["SET", "one", "x"]), ok());
    let bytes_of = |name: &str| server.info(name).parse::<u64>().unwrap();
    assert!(bytes_of("journal_file_bytes") > 0, "{}", server.log());
    save(&mut client);
    let bytes = bytes_of("journal_file_bytes") + bytes_of("store_disk_bytes");
    assert!(bytes <= 8 << 20, "{bytes} bytes");
}
