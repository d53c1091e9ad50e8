//! Values of 10 and 16 KiB are copied once in user space from the socket, once to the journal, and once to the socket:
//! counted in the real binary, whose `memcpy` and `memmove` are replaced (`copies/count.c`).

use crate::support::lines::Lines;
use crate::support::{FREE_PORT, Server};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testing::program_or_skip;
use wire::client::Value;

/// Values of each kind of request.
const VALUES: usize = 60;
/// Bytes of values that one read of 32 KiB finds whole. Of a longer request, what was read first is moved once more,
/// into a buffer of the request's size.
const READ_BYTES: usize = 31_000;
/// Copies that belong to no value, or begin in the middle of one: at most this part of a copy of each.
const MORE: f64 = 0.05;

/// A server whose large copies are counted.
struct Counted {
    server: Server,
    count: PathBuf,
}

impl Counted {
    fn start(cc: &Path, flags: &[&str]) -> Self {
        let mut server = Server::start(&[flags, &["--memcached-port", FREE_PORT]].concat());
        server.stop();
        let library = server.folder().join("count.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/copies/count.c");
        let mut compile = Command::new(cc);
        compile.args(["-std=gnu11", "-O2", "-fno-builtin", "-fno-tree-loop-distribute-patterns", "-shared", "-fPIC"]);
        compile.args(["-Wall", "-Wextra", source, "-o"]).arg(&library);
        assert!(compile.status().unwrap().success(), "{compile:?}");
        let count = server.folder().join("count");
        fs::write(&count, [0; 8]).unwrap();
        let [library, path] = [&library, &count].map(|path| path.to_str().unwrap());
        server.restart_with(&[("LD_PRELOAD", library), ("COPIES", path)]);
        Self { server, count }
    }

    fn copied_bytes(&self) -> u64 {
        u64::from_le_bytes(fs::read(&self.count).unwrap().try_into().unwrap())
    }

    /// Returns how often each of `values` values of `bytes` was copied by `requests`.
    fn copies(&self, values: usize, bytes: usize, requests: impl FnOnce()) -> f64 {
        let before = self.copied_bytes();
        requests();
        (self.copied_bytes() - before) as f64 / (values * bytes) as f64
    }
}

#[track_caller]
fn assert_copies(what: &str, bytes: usize, copies: f64, expected: f64) {
    let is_expected = (expected - MORE..=expected + MORE).contains(&copies);
    assert!(is_expected, "{what}: a value of {bytes} bytes is copied {copies:.2} times instead of {expected}");
}

/// Checks that each value is copied `written` times by requests that write it, and once by those that read it.
fn check(test: &str, flags: &[&str], written: f64) {
    let Some(cc) = program_or_skip(test, "cc") else { return };
    let counted = Counted::start(&cc, flags);
    let mut client = counted.server.connect();
    let mut memcached = Lines::connect(counted.server.flag("--memcached-port").parse().unwrap());
    for bytes in [10_000, 16_384] {
        let value = "v".repeat(bytes);
        let ok = Value::Simple("OK".to_owned());
        for what in ["SET of new keys", "SET"] {
            let set = |key: usize| assert_eq!(client.call(&["SET", &format!("k{key}"), &value]), ok);
            assert_copies(what, bytes, counted.copies(VALUES, bytes, || (0..VALUES).for_each(set)), written);
        }

        let names: Vec<String> = (0..READ_BYTES / bytes).map(|key| format!("k{key}")).collect();
        let pairs = names.iter().flat_map(|name| [name.as_str(), &value]);
        let mset: Vec<&str> = std::iter::once("MSET").chain(pairs).collect();
        let all = || (0..VALUES).for_each(|_| assert_eq!(client.call(&mset), ok));
        assert_copies("MSET", bytes, counted.copies(VALUES * names.len(), bytes, all), written);

        let get = |key: usize| assert_eq!(client.call(&["GET", &format!("k{key}")]), Value::bulk(&value));
        assert_copies("GET", bytes, counted.copies(VALUES, bytes, || (0..VALUES).for_each(get)), 1.0);

        client.call(&["DEL", "list"]);
        let push = |at: usize| assert_eq!(client.call(&["LPUSH", "list", &value]), Value::Int(at as i64 + 1));
        assert_copies("LPUSH", bytes, counted.copies(VALUES, bytes, || (0..VALUES).for_each(push)), written);

        let page = Value::Array(vec![Value::bulk(&value); 10]);
        let range = |at: usize| {
            assert_eq!(client.call(&["LRANGE", "list", &at.to_string(), &(at + 9).to_string()]), page);
        };
        let copies = counted.copies(VALUES, bytes, || (0..VALUES).step_by(10).for_each(range));
        assert_copies("LRANGE", bytes, copies, 1.0);

        let store = |key: usize| {
            assert_eq!(memcached.ask(format!("set m{key} 0 0 {bytes}\r\n{value}\r\n")), "STORED\r\n");
        };
        assert_copies("memcached set", bytes, counted.copies(VALUES, bytes, || (0..VALUES).for_each(store)), written);
        let fetch = |key: usize| {
            let reply = format!("VALUE m{key} 0 {bytes}\r\n{value}\r\nEND\r\n");
            assert_eq!(memcached.ask(format!("get m{key}\r\n")), reply);
        };
        assert_copies("memcached get", bytes, counted.copies(VALUES, bytes, || (0..VALUES).for_each(fetch)), 1.0);
    }
}

#[test]
fn values_of_ten_kilobytes_are_copied_once() {
    check("values_of_ten_kilobytes_are_copied_once", &["--journal", "off"], 1.0);
}

#[test]
fn values_of_ten_kilobytes_are_copied_once_more_for_the_journal() {
    check("values_of_ten_kilobytes_are_copied_once_more_for_the_journal", &["--fsync", "always"], 2.0);
}
