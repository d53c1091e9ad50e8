//! MIGRATE between servers: from Bobbin and from redis-server, to either.

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server};
use std::net::{TcpListener, TcpStream};
use testing::program_or_skip;
use wire::client::Value;

const CACHE: [&str; 4] = ["--journal", "off", "--migrate-targets", "*"];

type Client = Connection<TcpStream>;

fn call(client: &mut Client, request: &str) -> String {
    let words: Vec<&str> = request.split(' ').map(|word| if word == "-" { "" } else { word }).collect();
    client.call(&words).to_string()
}

const SETUP: &str = "SET text some|SET soon some PX 500000|RPUSH list a b c|HSET hash f 1 g 2|SADD set 1 2 x|ZADD sorted 1 a 2.5 b|SET a 1|SET b 2\
    |SET number 12";

/// Requests whose replies are compared: the first of a step goes to the source server, the others to the target. Redis
/// stores a key in another database if the requested one does not exist: that is not compared.
const STEPS: &str = "MIGRATE 127.0.0.1 $to text 0 5000;GET text|MIGRATE 127.0.0.1 $to text 0 5000;GET text\
    |MIGRATE 127.0.0.1 $to soon 1 5000;EXISTS soon;SELECT 1;GET soon;SELECT 0|MIGRATE 127.0.0.1 $to list 0 5000 COPY;LRANGE list 0 -1\
    |LLEN list|MIGRATE 127.0.0.1 $to list 0 5000;LLEN list|LLEN list|MIGRATE 127.0.0.1 $to list 0 5000 REPLACE;LLEN list|LLEN list\
    |MIGRATE 127.0.0.1 $to - 0 5000 KEYS hash set none sorted;HGETALL hash;SCARD set;ZRANGE sorted 0 -1 WITHSCORES|DBSIZE\
    |MIGRATE 127.0.0.1 $to - 0 5000 KEYS none nix|MIGRATE 127.0.0.1 $to - 0 5000 KEYS|MIGRATE 127.0.0.1 $to a 0 5000 KEYS b\
    |MIGRATE 127.0.0.1 $to a 0 5000 WHAT|MIGRATE 127.0.0.1 $to a x 5000|MIGRATE 127.0.0.1 $to a 0 x|MIGRATE 127.0.0.1 $to a 0 5000 AUTH\
    |MIGRATE 127.0.0.1 $to a 99 5000|MIGRATE 127.0.0.1 $to a 0 5000 AUTH2 nobody pw|EXISTS a|PING;SET a other\
    |MIGRATE 127.0.0.1 $to - 0 5000 KEYS a b;GET a;GET b|EXISTS a b|MIGRATE 127.0.0.1 1 a 0 200|EXISTS a\
    |MIGRATE 127.0.0.1 $to number 0 5000 COPY REPLACE;OBJECT ENCODING number|GET number";

fn transcript(from: u16, to: u16) -> Vec<String> {
    let (mut here, mut there) = (Client::tcp(from), Client::tcp(to));
    for client in [&mut here, &mut there] {
        call(client, "FLUSHALL");
    }
    SETUP.split('|').for_each(|request| drop(call(&mut here, request)));
    let to = to.to_string();
    let mut lines = Vec::new();
    for step in STEPS.split('|') {
        let request = step.replace("$to", &to);
        let mut requests = request.split(';');
        let mut line = format!("{step}: {}", call(&mut here, requests.next().unwrap()));
        requests.for_each(|request| line += &format!(" ; {}", call(&mut there, request)));
        lines.push(line);
    }
    lines
}

#[test]
fn migrate_behaves_as_between_two_redis_servers() {
    if program_or_skip("migrate_behaves_as_between_two_redis_servers", "redis-server").is_none() {
        return;
    }
    let theirs = (Redis::start(&[]), Redis::start(&[]));
    let ours = (Server::start(&CACHE), Server::start(&CACHE));
    let expected = transcript(theirs.0.port(), theirs.1.port());
    for (way, from, to) in [
        ("Bobbin to Bobbin", ours.0.port, ours.1.port),
        ("Bobbin to Redis", ours.0.port, theirs.1.port()),
        ("Redis to Bobbin", theirs.0.port(), ours.1.port),
    ] {
        let actual = transcript(from, to);
        let differ: Vec<String> = actual
            .iter()
            .zip(&expected)
            .filter(|(actual, expected)| actual != expected)
            .map(|(actual, expected)| format!("actual: {actual}\nRedis:  {expected}"))
            .collect();
        assert!(differ.is_empty(), "{way}: {} of {} differ:\n{}", differ.len(), actual.len(), differ.join("\n"));
    }
}

#[test]
fn migrate_authenticates_with_the_target_password() {
    let (from, to) = (Server::start(&CACHE), Server::start(&["--journal", "off", "--requirepass", "opener"]));
    let (mut here, mut there) = (from.connect(), to.connect());
    call(&mut there, "AUTH opener");
    let with = |words: &str| format!("MIGRATE 127.0.0.1 {} k 0 5000 {words}", to.port);
    call(&mut here, "SET k v");
    let refused = call(&mut here, with("COPY").trim_end());
    assert_eq!(refused, "!ERR Target instance replied with error: NOAUTH Authentication required.");
    assert!(call(&mut here, &with("AUTH wrong")).contains("replied with error: WRONGPASS"));
    assert_eq!(call(&mut here, &with("AUTH opener")), "OK");
    assert_eq!(call(&mut there, "GET k"), "\"v\"");
    call(&mut here, "SET k w");
    assert_eq!(call(&mut here, &with("REPLACE AUTH2 default opener")), "OK");
    assert_eq!(call(&mut there, "GET k"), "\"w\"");
    assert_eq!(call(&mut here, "DBSIZE"), "0");
}

#[test]
fn a_silent_target_times_out_without_blocking_others() {
    let server = Server::start(&CACHE);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let (mut client, mut other) = (server.connect(), server.connect());
    call(&mut client, "SET k v");
    client.send(&["MIGRATE", "127.0.0.1", &port.to_string(), "k", "0", "300"]);
    // On the same worker or not, other clients are served meanwhile.
    for _ in 0..50 {
        assert_eq!(call(&mut other, "APPEND k x"), other.call(&["STRLEN", "k"]).to_string());
    }
    assert_eq!(client.reply().to_string(), "!IOERR error or timeout reading to target instance");
    assert_eq!(call(&mut client, "STRLEN k"), "51");
    // Only the client's own WATCH affects its transaction.
    call(&mut client, "WATCH k");
    assert!(call(&mut client, &format!("MIGRATE 127.0.0.1 {port} k 0 20")).starts_with("!IOERR"));
    call(&mut client, "MULTI");
    call(&mut client, "STRLEN k");
    assert_eq!(call(&mut client, "EXEC"), "[51]");
}

#[test]
fn large_values_are_migrated_in_steps() {
    let (from, to) = (Server::start(&CACHE), Server::start(&CACHE));
    let (mut here, mut there) = (from.connect(), to.connect());
    let text = "0123456789".repeat(300_000);
    call(&mut here, "SETRANGE text 8000000 end");
    here.call(&["APPEND", "text", &text]);
    let items: Vec<String> = (0..20_000).map(|number| format!("item {number}")).collect();
    let push: Vec<&str> = ["RPUSH", "list"].into_iter().chain(items.iter().map(String::as_str)).collect();
    (0..5).for_each(|_| drop(here.call(&push)));
    let before = (call(&mut here, "STRLEN text"), call(&mut here, "LRANGE list 99990 -1"));
    assert_eq!(call(&mut here, &format!("MIGRATE 127.0.0.1 {} - 0 20000 KEYS text list", to.port)), "OK");
    assert_eq!((call(&mut there, "STRLEN text"), call(&mut there, "LRANGE list 99990 -1")), before);
    assert_eq!((call(&mut here, "DBSIZE"), call(&mut there, "LLEN list")), ("0".to_owned(), "100000".to_owned()));
}

#[test]
fn a_key_changed_during_migrate_is_sent_again() {
    let (from, to) = (Server::start(&CACHE), Server::start(&CACHE));
    let pushed = std::thread::scope(|scope| {
        let pusher = scope.spawn(|| {
            let mut client = from.connect();
            let mut pushed = 0;
            call(&mut client, "RPUSH q 0");
            for _ in 0..2_000 {
                if client.call(&["RPUSHX", "q", "x"]) == Value::Int(0) {
                    break;
                }
                pushed += 1;
                // It sleeps, so that the list can be migrated at some time.
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
            pushed
        });
        let mut client = from.connect();
        while call(&mut client, "LLEN q") == "0" {}
        loop {
            let said = call(&mut client, &format!("MIGRATE 127.0.0.1 {} q 0 5000", to.port));
            if said == "OK" {
                break;
            }
            // It changes too fast; then nothing has happened.
            assert!(said.contains("faster"), "{said}");
            assert_eq!(to.connect().call(&["EXISTS", "q"]), Value::Int(0));
        }
        pusher.join().unwrap()
    });
    // Every push that was answered with a length has moved.
    assert_eq!(to.connect().call(&["LLEN", "q"]), Value::Int(pushed + 1));
    assert_eq!(from.connect().call(&["EXISTS", "q"]), Value::Int(0));
}
