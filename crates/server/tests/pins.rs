//! Eight clients request a list of a million items and do not read the reply, while the list is rewritten: most of it
//! after the first has asked, the rest after the others have.

use crate::support::{Connection, Server};
use std::net::TcpStream;
use wire::client::Value;

const ITEMS: usize = 1_000_000;
/// Seven readers that ask before the last quarter of the list is rewritten pin less; together with one that asks before
/// all of it is, they pin more.
const LIMIT_BYTES: u64 = 13 << 20;
/// One of the seven never pins as much; the first reader does once three quarters of the list are rewritten.
const MUCH_BYTES: u64 = 3 << 20;

/// Sets an item in each leaf of an eighth of the list.
fn rewrite(client: &mut Connection<TcpStream>, eighth: usize, mark: &str) {
    let indices: Vec<String> =
        (0..ITEMS / 8).step_by(200).map(|index| (index + eighth * ITEMS / 8).to_string()).collect();
    for index in indices {
        assert_eq!(client.call(&["LSET", "list", &index, mark]), Value::Simple("OK".to_owned()));
    }
}

/// Returns a field of each client's line by client id, without clients that lack it.
fn clients(client: &mut Connection<TcpStream>, field: &str) -> Vec<(u64, u64)> {
    let reply = client.call(&["CLIENT", "LIST"]);
    let list = String::from_utf8(reply.as_bytes().expect("a list").to_vec()).unwrap();
    let number = |line: &str, field: &str| -> Option<u64> {
        line.split(' ').find_map(|word| word.strip_prefix(field)?.strip_prefix('=')).map(|value| value.parse().unwrap())
    };
    list.lines().map(|line| (number(line, "id").unwrap(), number(line, field).unwrap_or(0))).collect()
}

/// Returns the bytes of a client's reply that wait or are pinned; 0 if it has gone.
fn pending_bytes(client: &mut Connection<TcpStream>, id: u64) -> u64 {
    clients(client, "omem").into_iter().find(|(other, _)| *other == id).map_or(0, |(_, bytes)| bytes)
}

#[test]
fn slow_readers_that_pin_most_are_disconnected_first() {
    let server = Server::start(&["--journal", "off", "--client-pinned-limit", "13mb"]);
    let mut writer = server.connect();
    let item = |index: usize| format!("{:012x}", (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16);
    for start in (0..ITEMS).step_by(10_000) {
        let items: Vec<String> = (start..start + 10_000).map(item).collect();
        let words: Vec<&str> = ["RPUSH", "list"].into_iter().chain(items.iter().map(String::as_str)).collect();
        writer.call(&words);
    }
    let ask = |writer: &mut Connection<TcpStream>| {
        let mut reader = server.connect();
        let id = reader.call(&["CLIENT", "ID"]).as_int().expect("a number") as u64;
        reader.send(&["LRANGE", "list", "0", "-1"]);
        // It waits for the socket once the socket is full.
        while pending_bytes(writer, id) == 0 {}
        (id, reader)
    };
    // Figures of pinned bytes follow in intervals: the first reader's is far above the others' before they ask.
    let mut readers = vec![ask(&mut writer)];
    (0..6).for_each(|eighth| rewrite(&mut writer, eighth, "somewhere else"));
    while pending_bytes(&mut writer, readers[0].0) < MUCH_BYTES {}
    readers.extend((1..8).map(|_| ask(&mut writer)));
    (6..8).for_each(|eighth| rewrite(&mut writer, eighth, "somewhere else"));
    let gone = |writer: &mut Connection<TcpStream>| {
        let there = clients(writer, "id");
        (0..8).filter(|&nth| !there.iter().any(|(id, _)| *id == readers[nth].0)).collect::<Vec<_>>()
    };
    while server.info("evicted_clients") == "0" || gone(&mut writer).is_empty() {}
    while server.info("mem_clients_pinned").parse::<u64>().unwrap() > LIMIT_BYTES {}
    assert_eq!(gone(&mut writer), [0], "the one that pins most went");
    server.wait_for_log("see client-pinned-limit");
    let (_, last) = readers.last_mut().unwrap();
    let reply = last.reply();
    let items = reply.as_slice().expect("all of it");
    assert_eq!(items.len(), ITEMS);
    assert_eq!(items[ITEMS - 2], Value::bulk(item(ITEMS - 2)), "as it was when it was asked for");
    drop(readers);
    while server.info("mem_clients_pinned") != "0" {}
    println!("longest_turn_us {}", server.info("longest_turn_us"));
}
