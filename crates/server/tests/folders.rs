//! Data folders as operators leave them: copied under load, read-only as a whole or in part.
//!
//! A copy of a folder that is in use is a torn picture of it. It is refused with a line that says why, or it holds what was
//! acknowledged before the copying began and nothing that was not written: never something else.

use crate::support::{Connection, Server, bobbin, free_port, request};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use wire::client::Value;

const COPIES: usize = 6;
/// Keys that a writer goes round in.
const KEYS: u64 = 2_000;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if let Ok(bytes) = fs::read(entry.path()) {
            // What has just been given back is not there to be copied.
            fs::write(target, bytes).unwrap();
        }
    }
}

/// Counts up in a key and in a list, each number durable before the next, until `stop` is set.
fn write(mut client: Connection<std::net::TcpStream>, acknowledged: &AtomicU64, stop: &AtomicBool) {
    while !stop.load(SeqCst) {
        let number = acknowledged.load(SeqCst) + 1;
        let value = format!("{number}{}", ".".repeat(if number.is_multiple_of(50) { 20_000 } else { 100 }));
        let requests = [
            request(&["MULTI"]),
            request(&["SET", &format!("key:{}", number % KEYS), &value]),
            request(&["RPUSH", "list", &number.to_string()]),
            request(&["SET", "count", &number.to_string()]),
            request(&["EXEC"]),
        ];
        client.send_bytes(&requests.concat());
        let last = (0..requests.len()).map(|_| client.reply()).last();
        assert!(matches!(last, Some(Value::Array(_))), "{last:?}");
        acknowledged.store(number, SeqCst);
    }
}

fn save(mut client: Connection<std::net::TcpStream>, stop: &AtomicBool) {
    while !stop.load(SeqCst) {
        client.call(&["SAVE"]);
    }
}

fn number(value: &Value) -> u64 {
    let text = value.as_bytes().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).unwrap_or_default();
    text.trim_end_matches('.').parse().unwrap_or(0)
}

/// Panics unless what is there was so at one moment since `acknowledged_before`.
fn is_one_moment(server: &Server, acknowledged_before: u64, acknowledged_after: u64) {
    let mut client = server.connect();
    let count = number(&client.call(&["GET", "count"]));
    // One more may have been under way.
    assert!(
        (acknowledged_before..=acknowledged_after + 1).contains(&count),
        "{acknowledged_before} to {acknowledged_after} were acknowledged, {count} is there"
    );
    let list = client.call(&["LRANGE", "list", "0", "-1"]);
    let items: Vec<u64> = list.as_slice().unwrap().iter().map(number).collect();
    assert!(items.iter().copied().eq(1..=count), "{} items, counted were {count}", items.len());
    for newest in (1..=count).rev().take(KEYS as usize) {
        let value = number(&client.call(&["GET", &format!("key:{}", newest % KEYS)]));
        assert_eq!(value, newest, "of a copy with {count} numbers");
    }
}

#[test]
fn a_folder_copied_under_load_is_consistent_or_refused() {
    let server = Server::start(&["--fsync", "always", "--checkpoint-journal-size", "64kb"]);
    let (acknowledged, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (mut right, mut refused) = (0, Vec::new());
    std::thread::scope(|scope| {
        let clients = [server.connect(), server.connect()];
        let [writer, saver] = clients;
        scope.spawn(|| write(writer, &acknowledged, &stop));
        scope.spawn(|| save(saver, &stop));
        for round in 1..=COPIES as u64 {
            while acknowledged.load(SeqCst) < 300 * round {
                std::thread::yield_now();
            }
            let before = acknowledged.load(SeqCst);
            let folder = tempfile::tempdir().unwrap();
            copy(&server.data(), &folder.path().join("data"));
            let after = acknowledged.load(SeqCst);
            match Server::try_start_in(folder, &[]) {
                Ok(copied) => {
                    is_one_moment(&copied, before, after);
                    right += 1;
                }
                Err(log) => refused.push(log),
            }
        }
        stop.store(true, SeqCst);
    });
    for log in &refused {
        let line = log.lines().find(|line| line.starts_with("bobbin: ")).unwrap_or_else(|| panic!("no reason: {log}"));
        assert!(line.contains("/data/"), "which file? {line}");
        assert!(!log.contains("panicked"), "{log}");
    }
    println!("{right} copies were right, {} refused", refused.len());
}

/// Returns the output of a failed start on `folder`, parts of which are read-only.
fn refused_start(folder: &Path) -> String {
    let mut command = bobbin();
    command.args(["--bind", "127.0.0.1", "--port", &free_port().to_string(), "--dir"]).arg(folder);
    if rustix::process::geteuid().is_root() {
        // Nothing is read-only to root.
        command.uid(65_534);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

fn set_mode(path: &Path, folders: u32, files: u32) {
    let is_folder = path.is_dir();
    if is_folder {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        fs::read_dir(path).unwrap().for_each(|entry| set_mode(&entry.unwrap().path(), folders, files));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(if is_folder { folders } else { files })).unwrap();
}

#[test]
fn a_read_only_folder_is_refused_with_a_remedy() {
    let mut server = Server::start(&[]);
    server.connect().call(&["SET", "key", "value"]);
    server.connect().call(&["SAVE"]);
    server.stop();
    fs::set_permissions(server.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    let data = server.data();
    for part in ["", "journal", "store"] {
        let read_only = data.join(part);
        set_mode(&data, 0o777, 0o666);
        set_mode(&read_only, 0o555, 0o444);
        let text = refused_start(&data);
        let line = text.lines().last().unwrap_or_default();
        println!("{line}");
        assert!(line.starts_with("bobbin: "), "{text}");
        assert!(line.contains(data.join(part).to_str().unwrap().trim_end_matches('/')), "where? {text}");
        assert!(line.contains("Permission denied"), "what? {text}");
        assert!(line.contains("writable or choose another with --dir"), "what is to be done? {text}");
    }
    set_mode(&data, 0o755, 0o644);
    server.restart();
    assert_eq!(server.connect().call(&["GET", "key"]), Value::Bulk(b"value".to_vec()));
}
