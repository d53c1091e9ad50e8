//! Tagged lists in the real binary: after a crash and loaded from the store, in transactions and scripts, and long
//! ones.

use crate::support::{Connection, Server};
use std::net::TcpStream;
use wire::client::Value;

type Client = Connection<TcpStream>;

/// Returns the reply to a request, whose words are separated by spaces.
fn call(client: &mut Client, request: &str) -> String {
    client.call(&request.split(' ').collect::<Vec<_>>()).to_string()
}

/// Pushes `count` items; every tenth has kind 3 and every seventh is hidden.
fn fill(client: &mut Client, key: &str, count: usize) {
    for from in (0..count).step_by(400) {
        let mut words = vec!["TL.PUSH".to_owned(), key.to_owned(), "TAIL".to_owned()];
        for number in from..(from + 400).min(count) {
            words.push(format!("item:{number:07}"));
            if number % 10 == 0 {
                words.push("kind=3".to_owned());
            }
            words.push("ITEM".to_owned());
        }
        words.pop();
        assert!(client.call(&words).as_error().is_none());
    }
    for from in (0..count / 7).step_by(500) {
        let hidden = (from..(from + 500).min(count / 7)).map(|nth| format!("item:{:07}", nth * 7));
        let words: Vec<String> = ["TL.HIDE".to_owned(), key.to_owned()].into_iter().chain(hidden).collect();
        assert!(client.call(&words).as_error().is_none());
    }
}

#[test]
fn tagged_lists_and_schemas_survive_crashes_and_checkpoints() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    call(&mut client, "TL.DEFINE u: ATTR kind 4 ATTR more 20 UNIQUE");
    fill(&mut client, "u:1", 20_000);
    let replies = |client: &mut Client| {
        [
            "TL.SCHEMA",
            "TL.COUNT u:1",
            "TL.COUNT u:1 WHERE kind=3",
            "TL.RANGE u:1 5000 20 WITHATTRS",
            "TL.POS u:1 item:0012345",
        ]
        .map(|request| call(client, request))
    };
    let before = replies(&mut client);
    server.kill();
    server.restart();
    let mut client = server.connect();
    assert_eq!(replies(&mut client), before);
    assert_eq!(call(&mut client, "SAVE"), "OK");
    assert_eq!(call(&mut client, "TL.MOVE u:1 item:0012345 0"), "1");
    assert_eq!(call(&mut client, "TL.SET u:1 item:0000011 more=7"), "1");
    let before = replies(&mut client);
    server.kill();
    server.restart();
    let mut client = server.connect();
    assert_eq!(replies(&mut client), before);
    assert!(call(&mut client, "TL.INSERT u:1 0 item:0000011").contains("unique"));
    assert_eq!(call(&mut client, "TL.INSERT u:2 0 first kind=1"), "1");
    let payload = client.call(&["DUMP", "u:1"]);
    let payload = payload.as_bytes().expect("a payload").to_vec();
    assert_eq!(client.call(&[b"RESTORE", &b"other"[..], b"0", &payload]), Value::Simple("OK".into()));
    assert_eq!(call(&mut client, "TL.COUNT other WHERE kind=3"), call(&mut client, "TL.COUNT u:1 WHERE kind=3"));
    assert!(call(&mut client, "TL.INSERT other 0 item:0000011").contains("unique"));
    assert_eq!(call(&mut client, "TL.REMWHERE other WHERE kind<=15"), "20000");
}

#[test]
fn transactions_and_scripts_see_schemas_they_defined() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    for request in ["MULTI", "TL.DEFINE t ATTR a 2", "TL.INSERT t 0 x a=1", "TL.GET t x", "EXEC"] {
        let reply = call(&mut client, request);
        if request == "EXEC" {
            assert!(reply.contains("hidden"), "{reply}");
        }
    }
    let script =
        "redis.call('TL.PUSH', KEYS[1], 'TAIL', 'a', 'a=2', 'ITEM', 'b') return redis.call('TL.RANGE', KEYS[1], 0, 9)";
    assert_eq!(client.call(&["EVAL", script, "1", "t"]).as_slice().map(<[Value]>::len), Some(3));
    let undeclared = "redis.call('TL.DEFINE', 's') return redis.call('TL.INSERT', 's1', 0, 'x')";
    assert_eq!(client.call(&["EVAL", undeclared, "0"]), Value::Int(1));
    assert_eq!(call(&mut client, "TL.INSERT s2 0 x"), "1");
    let refused = "redis.call('TL.DEFINE', 't', 'UNIQUE')";
    assert!(client.call(&["EVAL", refused, "0"]).as_error().is_some_and(|text| text.contains("another schema")));
}

#[test]
fn scans_of_a_long_list_see_one_instant() {
    let server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    call(&mut client, "TL.DEFINE l ATTR kind 4");
    fill(&mut client, "l", 50_000);
    assert_eq!(call(&mut client, "TL.COUNT l WHERE kind=3"), call(&mut client, "TL.COUNT l WHERE kind!=0"));
    let all = client.call(&["TL.RANGE", "l", "0", "1000000", "ALL"]);
    assert_eq!(all.as_slice().map(<[Value]>::len), Some(50_000));
    let mut writer = server.connect();
    for turn in 0..20 {
        writer.send(&["TL.INSERT", "l", "0", "one more"]);
        assert!(call(&mut client, &format!("TL.POS l item:00499{turn:02}")).parse::<u64>().is_ok());
        writer.reply();
    }
    assert_eq!(call(&mut client, "TL.REMWHERE l WHERE kind=3"), "5000");
    assert_eq!(client.call(&["TL.COUNT", "l", "WHERE", "kind=3"]), Value::Array(vec![Value::Int(0), Value::Int(0)]));
}

#[test]
fn drop_deletes_only_the_tagged_lists_of_a_prefix() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    call(&mut client, "TL.DEFINE u: ATTR kind 4");
    call(&mut client, "TL.DEFINE v: ATTR kind 4");
    for user in 0..1_000 {
        call(&mut client, &format!("TL.PUSH u:{user} TAIL item"));
    }
    for other in ["TL.PUSH v:1 TAIL item", "SET u:text t", "RPUSH u:list a", "SADD u:set a"] {
        call(&mut client, other);
    }
    assert_eq!(call(&mut client, "TL.DROP u:"), "1000");
    assert_eq!(server.info("dropped_tagged_lists"), "1000");
    assert_eq!(call(&mut client, "TL.DROP u:"), "0");
    let kept = "EXISTS v:1 u:text u:list u:set";
    assert_eq!((call(&mut client, "DBSIZE"), call(&mut client, kept)), ("4".to_owned(), "4".to_owned()));
    server.kill();
    server.restart();
    let mut client = server.connect();
    assert_eq!((call(&mut client, "DBSIZE"), call(&mut client, kept)), ("4".to_owned(), "4".to_owned()));
    assert!(call(&mut client, "TL.SCHEMA").contains("u:"), "schemas stay");
}
