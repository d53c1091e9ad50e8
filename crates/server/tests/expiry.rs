//! A million keys that expire at one instant: they and their memory are freed while others are served.

use crate::support::{Connection, Server, request};
use std::net::TcpStream;
use wire::client::Value;

const KEYS: u64 = 1_000_000;
/// Keys that stay.
const LIVE: u64 = 1_000;
/// Requests of one pipeline.
const BATCH: u64 = 10_000;
/// The time after the deadline after which keys that remain are a failure, in milliseconds.
const PATIENCE_MS: u64 = 120_000;

fn number(server: &Server, field: &str) -> u64 {
    server.info(field).parse().unwrap()
}

/// The server's time, in milliseconds.
fn now_ms(client: &mut Connection<TcpStream>) -> u64 {
    let reply = client.call(&["TIME"]);
    let part = |index: usize| {
        let digits = reply.as_slice().unwrap()[index].as_bytes().unwrap();
        std::str::from_utf8(digits).unwrap().parse::<u64>().unwrap()
    };
    part(0) * 1_000 + part(1) / 1_000
}

/// Asks the same of all keys; the name follows the command's.
fn of_all_keys(client: &mut Connection<TcpStream>, command: &str, value: &str, expected: &Value) {
    for from in (0..KEYS).step_by(BATCH as usize) {
        let ask = |index: u64| request(&[command, &format!("key:{index}"), value]);
        client.send_bytes(&(from..from + BATCH).flat_map(ask).collect::<Vec<u8>>());
        (0..BATCH).for_each(|_| assert_eq!(client.reply(), *expected));
    }
}

/// Sets all keys, and gives them one deadline, ahead by a second and `patience` times what setting them took.
fn load(client: &mut Connection<TcpStream>, patience: u64) -> u64 {
    let began_ms = now_ms(client);
    let value = "v".repeat(40);
    of_all_keys(client, "SET", &value, &Value::Simple("OK".to_owned()));
    let loaded_ms = now_ms(client);
    let due_ms = loaded_ms + patience * loaded_ms.saturating_sub(began_ms) + 1_000;
    of_all_keys(client, "PEXPIREAT", &due_ms.to_string(), &Value::Int(1));
    due_ms
}

/// Loads all keys and resets the counters before any key expires; returns the deadline, and the memory in use then.
fn load_in_time(server: &Server, client: &mut Connection<TcpStream>) -> (u64, u64) {
    // A deadline that passes meanwhile, on a slow machine, is followed by one that is further ahead.
    for patience in [2, 4, 8, 16] {
        let due_ms = load(client, patience);
        let keys = client.call(&["DBSIZE"]);
        let full_bytes = number(server, "used_memory");
        assert_eq!(client.call(&["CONFIG", "RESETSTAT"]), Value::Simple("OK".to_owned()));
        if now_ms(client) < due_ms {
            assert_eq!(keys, Value::Int((LIVE + KEYS) as i64));
            return (due_ms, full_bytes);
        }
    }
    panic!("a million keys could not be loaded before their deadline");
}

fn set_live(client: &mut Connection<TcpStream>) {
    for index in 0..LIVE {
        assert_eq!(client.call(&["SET", &format!("live:{index}"), "x"]), Value::Simple("OK".to_owned()));
    }
}

fn get_live(client: &mut Connection<TcpStream>) {
    (0..LIVE).for_each(|index| assert_eq!(client.call(&["GET", &format!("live:{index}")]), Value::bulk("x")));
}

#[test]
fn a_million_keys_expiring_together_are_removed_promptly() {
    let server = Server::start(&["--fsync", "everysec"]);
    let mut client = server.connect();
    set_live(&mut client);
    let empty_bytes = number(&server, "used_memory");
    let (due_ms, full_bytes) = load_in_time(&server, &mut client);
    // None of the keys is requested, so none is removed by a request.
    let is_back = || number(&server, "used_memory") < empty_bytes + (full_bytes - empty_bytes) / 50;
    while !(client.call(&["DBSIZE"]) == Value::Int(LIVE as i64) && is_back()) {
        get_live(&mut client);
        assert!(now_ms(&mut client) < due_ms + PATIENCE_MS, "they are not gone");
    }
    let gone_ms = now_ms(&mut client) - due_ms;
    assert_eq!(number(&server, "expired_keys"), KEYS);
    let (left_bytes, longest_turn_us) = (number(&server, "used_memory"), number(&server, "longest_turn_us"));
    let hold_us = number(&server, "longest_lock_hold_us");
    println!("gone {gone_ms} ms after the deadline; memory {empty_bytes}, {full_bytes}, then {left_bytes} bytes");
    println!("longest turn {longest_turn_us} us, longest lock hold {hold_us} us");
}
