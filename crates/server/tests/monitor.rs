//! MONITOR through the real binary.

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server};
use std::net::TcpStream;
use testing::program_or_skip;
use wire::client::Value;

const CACHE: [&str; 2] = ["--journal", "off"];

type Client = Connection<TcpStream>;

/// Requests, one after the other; what a semicolon joins is sent in one go.
const STEPS: &str = "SET k v|get k|GET k extra|NOSUCH x|LPUSH k x|AUTH foo|AUTH default foo|HELLO 2 AUTH default foo SETNAME me\
    |CONFIG GET port|CLIENT ID|CLIENT SETNAME me|CLIENT LIST|SELECT 1|SELECT 0|MULTI;SET a 1;INCR a;LPUSH a x;exec|EXEC|DISCARD\
    |WATCH z|MULTI;GET z;DISCARD|UNWATCH|MULTI;NOSUCH;EXEC|SUBSCRIBE ch;UNSUBSCRIBE ch|PUBLISH ch x|BLPOP none 0.01|SLOWLOG GET|ACL WHOAMI\
    |EVAL redis.call('set',KEYS[1],'1')redis.pcall('nosuch')redis.pcall('get')redis.pcall('lpush',KEYS[1],'x')return(redis.call('get','other')) 1 k\
    |EVAL redis.call('SELECT',3)return(redis.call('get','other')) 0|MULTI;GET k;EVAL redis.call('del','k') 0;SELECT 1;GET k;SELECT 0;EXEC\
    |EVAL what? 0|EVAL 1 x|EVAL_RO redis.pcall('set','k','v') 0|EVAL redis.call('config','get','x') 0|EVALSHA x 0\
    |SCRIPT LOAD return(1)|EVALSHA 930269f31393d0be681588b6ab08dccee7d6bb67 0|MULTI;EVAL redis.call('del','k') 0;DISCARD\
    |ACL USERS|COMMAND COUNT|PING|MGET k a b|INFO server|FLUSHALL|DBSIZE|SCAN 0|KEYS *|MULTI;MONITOR;EXEC";

/// A line without its time and without the address of a connection.
fn plain(line: &Value) -> String {
    let Value::Simple(text) = line else { panic!("no line: {line}") };
    let (time, rest) = text.split_once(' ').unwrap();
    let (s, us) = time.split_once('.').unwrap();
    assert!(s.parse::<u64>().is_ok() && us.len() == 6 && us.parse::<u64>().is_ok(), "{text}");
    let (place, request) = rest.split_once("] ").unwrap();
    let (database, address) = place[1..].split_once(' ').unwrap();
    let asker = if address.starts_with("127.0.0.1:") { "" } else { address };
    format!("{database}{asker} {request}")
}

fn shown(port: u16) -> Vec<String> {
    let (mut monitor, mut client) = (Client::tcp(port), Client::tcp(port));
    assert_eq!(monitor.call(&["MONITOR"]), Value::Simple("OK".to_owned()));
    let mut lines = Vec::new();
    for step in STEPS.split('|') {
        let requests: Vec<&str> = step.split(';').collect();
        for request in &requests {
            client.send(&request.split(' ').collect::<Vec<_>>());
        }
        requests.iter().for_each(|_| drop(client.reply()));
        client.call(&["ECHO", "end"]);
        let mut line = step.to_owned();
        loop {
            let shown = plain(&monitor.reply());
            if shown == "0 \"ECHO\" \"end\"" || shown == "1 \"ECHO\" \"end\"" {
                break;
            }
            line += &format!("\n    {shown}");
        }
        lines.push(line);
    }
    lines
}

#[test]
fn monitor_shows_requests_as_redis_does() {
    if program_or_skip("monitor_shows_requests_as_redis_does", "redis-server").is_none() {
        return;
    }
    let ours = shown(Server::start(&CACHE).port);
    let theirs = shown(Redis::start(&[]).port());
    let differ: Vec<String> = ours
        .iter()
        .zip(&theirs)
        .filter(|(ours, theirs)| ours != theirs)
        .map(|(ours, theirs)| format!("ours:  {ours}\nRedis: {theirs}"))
        .collect();
    assert!(differ.is_empty(), "{} of {} differ:\n{}", differ.len(), ours.len(), differ.join("\n"));
}

#[test]
fn monitor_shows_whole_transactions_without_an_output_limit() {
    let server = Server::start(&CACHE);
    let (mut monitor, mut client) = (server.connect(), server.connect());
    let ok = Value::Simple("OK".to_owned());
    assert_eq!(client.call(&["CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0"]), ok);
    assert_eq!(monitor.call(&["MONITOR"]), ok);
    for request in ["MULTI", "SET a 1", "SET b 2", "EXEC"] {
        client.call(&request.split(' ').collect::<Vec<_>>());
    }
    let shown = [(); 4].map(|()| plain(&monitor.reply()));
    assert_eq!(shown, ["0 \"MULTI\"", "0 \"SET\" \"a\" \"1\"", "0 \"SET\" \"b\" \"2\"", "0 \"EXEC\""]);
}

#[test]
fn monitor_shows_unix_socket_clients_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Server::start(&["--journal", "off", "--unixsocket", path.to_str().unwrap()]);
    let mut monitor = server.connect();
    monitor.call(&["MONITOR"]);
    Connection::unix(&path).call(&["PING"]);
    let shown = monitor.reply().to_string();
    assert!(shown.contains(&format!(" [0 unix:{}] \"PING\"", path.display())), "{shown}");
}

#[test]
fn a_monitor_may_send_requests_and_reset() {
    let server = Server::start(&CACHE);
    let (mut monitor, mut client) = (server.connect(), server.connect());
    monitor.call(&["MONITOR"]);
    monitor.send(&["PING"]);
    assert_eq!(monitor.reply(), Value::Simple("PONG".to_owned()));
    assert_eq!(plain(&monitor.reply()), "0 \"PING\"");
    assert!(client.call(&["CLIENT", "LIST"]).to_string().contains(" flags=O "));
    monitor.send(&["RESET"]);
    while monitor.reply() != Value::Simple("RESET".to_owned()) {}
    client.call(&["SET", "k", "v"]);
    assert_eq!(monitor.call(&["GET", "k"]), Value::bulk("v"));
}

#[test]
fn timestamps_have_microsecond_resolution() {
    let server = Server::start(&CACHE);
    let (mut monitor, mut client) = (server.connect(), server.connect());
    monitor.call(&["MONITOR"]);
    let is_fine = |line: &Value| !line.to_string().split(' ').next().unwrap().ends_with("000");
    assert!((0..30).any(|_| {
        client.call(&["PING"]);
        is_fine(&monitor.reply())
    }));
}

#[test]
fn a_slow_monitor_is_disconnected() {
    let server = Server::start(&["--journal", "off", "--client-output-buffer-limit", "pubsub 8mb 0 0"]);
    let (mut monitor, mut client) = (server.connect(), server.connect());
    monitor.call(&["MONITOR"]);
    let long = "x".repeat(50_000);
    while server.info("client_output_buffer_limit_disconnections") == "0" {
        (0..20).for_each(|_| drop(client.call(&["SET", "k", &long])));
    }
    monitor.bytes_until_closed();
}
