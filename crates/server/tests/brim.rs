//! A data folder whose disk is filled to the brim and then drained: pops and deletions continue, then writes do, and
//! nothing acknowledged is lost.
//!
//! ```text
//!   tmpfs  | journal | store .................. | kept free |   commands that grow data are refused
//!          | journal | store ......             |           |   pops, deletions: checkpoints free their room
//!          | journal | store .................. |           |   commands that grow data continue
//! ```

use crate::support::disk::{Disk, save};
use crate::support::{Connection, Server, request};
use std::collections::VecDeque;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use wire::client::Value;

const DISK_BYTES: usize = 64 << 20;
/// The lengths of a key's value and of an item.
const VALUE_BYTES: usize = 700;
const ITEM_BYTES: usize = 300;
const BATCH: usize = 1000;
/// The fraction, as a divisor, of the removed bytes that must fit again.
const AGAIN_PART: usize = 4;
/// The maximum time before freed room is used.
const PATIENCE: Duration = Duration::from_secs(30);

/// The expected contents, from the replies.
#[derive(Default)]
struct Expected {
    /// The numbers of keys, in the order in which they were made.
    keys: VecDeque<usize>,
    /// The numbers of the items of the one list.
    items: VecDeque<usize>,
    /// Numbers so far.
    made: usize,
}

/// The kinds of data that fill the disk.
#[derive(Clone, Copy)]
struct Kinds {
    keys: bool,
    items: bool,
}

fn text(number: usize, bytes: usize) -> String {
    let digits = number.to_string();
    format!("{digits}{}", ".".repeat(bytes - digits.len()))
}

fn key(number: usize) -> String {
    format!("key:{number}")
}

fn is_refusal(reply: &Value) -> bool {
    match reply {
        Value::Error(text) if text.starts_with("MISCONF ") && text.contains("full") => true,
        Value::Error(text) => panic!("refused for another reason: {text}"),
        _ => false,
    }
}

fn call_all(client: &mut Connection<TcpStream>, requests: &[Vec<u8>]) -> Vec<Value> {
    client.send_bytes(&requests.concat());
    requests.iter().map(|_| client.reply()).collect()
}

impl Expected {
    /// Bytes of all texts.
    fn bytes(&self) -> usize {
        self.keys.len() * VALUE_BYTES + self.items.len() * ITEM_BYTES
    }

    /// Makes keys and pushes items until both are refused.
    fn fill(&mut self, client: &mut Connection<TcpStream>, kinds: Kinds) {
        let mut going = kinds;
        while going.keys || going.items {
            let numbers: Vec<usize> = (self.made..self.made + BATCH).collect();
            self.made += BATCH;
            if going.keys {
                let set = |&number: &usize| request(&["SET", &key(number), &text(number, VALUE_BYTES)]);
                let replies = call_all(client, &numbers.iter().map(set).collect::<Vec<_>>());
                going.keys = !replies.iter().any(is_refusal);
                let accepted = numbers.iter().zip(&replies).filter(|(_, reply)| !is_refusal(reply));
                self.keys.extend(accepted.map(|(number, _)| number));
            }
            if going.items {
                let push = |&number: &usize| request(&["RPUSH", "list", &text(number, ITEM_BYTES)]);
                let replies = call_all(client, &numbers.iter().map(push).collect::<Vec<_>>());
                going.items = !replies.iter().any(is_refusal);
                let accepted = numbers.iter().zip(&replies).filter(|(_, reply)| !is_refusal(reply));
                self.items.extend(accepted.map(|(number, _)| number));
            }
        }
    }

    /// Removes a part of everything, in percent; no removal may be refused.
    fn drain(&mut self, client: &mut Connection<TcpStream>, percent: usize) {
        let (mut keys, mut items) = (self.keys.len() * percent / 100, self.items.len() * percent / 100);
        while keys + items > 0 {
            let numbers: Vec<usize> = self.keys.drain(..keys.min(BATCH)).collect();
            keys -= numbers.len();
            let delete = |number: &usize| request(&["DEL", &key(*number)]);
            let replies = call_all(client, &numbers.iter().map(delete).collect::<Vec<_>>());
            assert!(replies.iter().all(|reply| *reply == Value::Int(1)), "{replies:?}");
            let numbers: Vec<usize> = self.items.drain(..items.min(BATCH)).collect();
            items -= numbers.len();
            let replies = call_all(client, &vec![request(&["LPOP", "list"]); numbers.len()]);
            for (number, reply) in numbers.into_iter().zip(replies) {
                assert_eq!(reply, Value::bulk(text(number, ITEM_BYTES)));
            }
        }
    }

    /// Checks that exactly the acknowledged data is present, and one more key.
    fn check(&self, client: &mut Connection<TcpStream>) {
        let keys = self.keys.len() + usize::from(!self.items.is_empty()) + 1;
        assert_eq!(client.call(&["DBSIZE"]), Value::Int(keys as i64));
        let numbers: Vec<usize> = self.keys.iter().copied().collect();
        for numbers in numbers.chunks(BATCH) {
            let get = |&number: &usize| request(&["GET", &key(number)]);
            let replies = call_all(client, &numbers.iter().map(get).collect::<Vec<_>>());
            for (&number, reply) in numbers.iter().zip(replies) {
                assert_eq!(reply, Value::bulk(text(number, VALUE_BYTES)));
            }
        }
        assert_eq!(client.call(&["LLEN", "list"]), Value::Int(self.items.len() as i64));
        let mut items = self.items.iter();
        for from in (0..self.items.len()).step_by(1000) {
            let reply = client.call(&["LRANGE", "list", &from.to_string(), &(from + 999).to_string()]);
            for item in reply.as_slice().unwrap() {
                assert_eq!(*item, Value::bulk(text(*items.next().unwrap(), ITEM_BYTES)));
            }
        }
        assert!(items.next().is_none());
    }
}

fn await_room(client: &mut Connection<TcpStream>) {
    let began = Instant::now();
    while is_refusal(&client.call(&["SET", "small", "value"])) {
        if began.elapsed() >= PATIENCE {
            let info = client.call(&["INFO", "persistence"]);
            panic!("the room that was given back is not used: {info:?}");
        }
    }
}

/// Kills the server once everything acknowledged is durable, and starts it again.
fn kill(server: &mut Server) {
    let mut client = server.connect();
    assert_eq!(client.call(&["CLIENT", "DURABLE", "ALWAYS"]), Value::Simple("OK".to_owned()));
    // Waits for what it has seen: all that there is.
    client.call(&["DBSIZE"]);
    server.kill();
    server.restart();
}

/// Fills the disk, drains it by `percent`, kills the server, fills and drains again.
fn is_drained(test: &str, policy: &str, kinds: Kinds, percent: usize) {
    let Some(disk) = Disk::mount_or_skip(test, DISK_BYTES) else { return };
    let folder = tempfile::tempdir_in(disk.path()).unwrap();
    let mut server = Server::start_in(folder, &["--fsync", policy]);
    let (mut client, mut expected) = (server.connect(), Expected::default());
    client.call(&["SET", "small", "value"]);
    expected.fill(&mut client, kinds);
    let full_bytes = expected.bytes();
    assert!(full_bytes > DISK_BYTES / 2, "only {full_bytes} bytes fit");
    expected.drain(&mut client, percent);
    await_room(&mut client);
    expected.check(&mut client);
    kill(&mut server);
    let mut client = server.connect();
    expected.check(&mut client);
    let left_bytes = expected.bytes();
    let part_bytes = (full_bytes - left_bytes) / AGAIN_PART;
    // A refused client tries again: after a start the first rounds may find little to give back.
    for _ in 0..3 {
        expected.fill(&mut client, kinds);
        if expected.bytes() >= left_bytes + part_bytes {
            break;
        }
    }
    let again_bytes = expected.bytes();
    assert!(
        again_bytes >= left_bytes + part_bytes,
        "{full_bytes} bytes fit, {left_bytes} were left, {again_bytes} again"
    );
    kill(&mut server);
    let mut client = server.connect();
    expected.check(&mut client);
    // Once refused, writes are refused until something is removed, in several steps.
    for _ in 0..3 {
        expected.drain(&mut client, 10);
        await_room(&mut client);
    }
    save(&mut client);
    expected.check(&mut client);
    println!("{test}: {full_bytes} bytes fit; {left_bytes} were left, {again_bytes} fit then");
}

#[test]
fn keys_can_be_deleted_on_a_full_disk() {
    is_drained("keys_can_be_deleted_on_a_full_disk", "always", Kinds { keys: true, items: false }, 90);
}

#[test]
fn a_long_list_can_be_drained_on_a_full_disk() {
    is_drained("a_long_list_can_be_drained_on_a_full_disk", "everysec", Kinds { keys: false, items: true }, 50);
}

#[test]
fn deleting_a_tenth_makes_room_for_new_writes() {
    is_drained("deleting_a_tenth_makes_room_for_new_writes", "always", Kinds { keys: true, items: true }, 10);
}

/// Data of a quarter of the disk can be overwritten for ever.
#[test]
fn overwriting_does_not_fill_the_disk() {
    let test = "overwriting_does_not_fill_the_disk";
    let Some(disk) = Disk::mount_or_skip(test, DISK_BYTES) else { return };
    let folder = tempfile::tempdir_in(disk.path()).unwrap();
    let mut server = Server::start_in(folder, &["--fsync", "everysec"]);
    let mut client = server.connect();
    let keys = DISK_BYTES / 4 / VALUE_BYTES;
    let writes = 6 * DISK_BYTES / VALUE_BYTES;
    for from in (0..writes).step_by(BATCH) {
        // A step that meets all keys, out of order.
        let set = |number: usize| request(&["SET", &key(number * 7919 % keys), &text(number, VALUE_BYTES)]);
        let replies = call_all(&mut client, &(from..from + BATCH).map(set).collect::<Vec<_>>());
        assert!(!replies.iter().any(is_refusal), "the disk is full after {from} writes");
    }
    save(&mut client);
    server.kill();
    server.restart();
    let last = writes.div_ceil(BATCH) * BATCH - 1;
    let reply = server.connect().call(&["GET", &key(last * 7919 % keys)]);
    assert_eq!(reply, Value::bulk(text(last, VALUE_BYTES)));
}
