//! The real binary and its connections: how bytes arrive, how many connections there are, how they end.

use crate::support::{Connection, Server, request};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use wire::client::Value;

const CACHE: [&str; 2] = ["--journal", "off"];

fn ok() -> Value {
    Value::Simple("OK".to_owned())
}

fn pong() -> Value {
    Value::Simple("PONG".to_owned())
}

#[test]
fn a_pipeline_of_10_000_is_answered_in_order() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    let pipeline: Vec<u8> = (0..10_000).flat_map(|index: u32| request(&["RPUSH", "k", &index.to_string()])).collect();
    client.send_bytes(&pipeline);
    for length in 1..=10_000 {
        assert_eq!(client.reply(), Value::Int(length));
    }
    for text in ["PING", "  PING  ", "pInG"] {
        client.send_bytes(format!("{text}\r\n\r\n").as_bytes());
        assert_eq!(client.reply(), pong(), "{text}");
    }
}

#[test]
fn requests_may_arrive_in_any_pieces() {
    let server = Server::start(&CACHE);
    let value = "x".repeat(300);
    let mut bytes = request(&["ECHO", &value]);
    bytes.extend_from_slice(b"ECHO \"two words\"\r\n");
    bytes.extend_from_slice(&request(&["ECHO", ""]));
    let expected = [Value::bulk(&value), Value::bulk("two words"), Value::bulk("")];
    let mut client = server.connect();
    for byte in &bytes {
        client.send_bytes(std::slice::from_ref(byte));
    }
    for value in &expected {
        assert_eq!(&client.reply(), value);
    }
    for cut in 1..bytes.len() {
        client.send_bytes(&bytes[..cut]);
        // A reply that is due shows that the first piece was read by itself.
        let whole = usize::from(cut >= request(&["ECHO", &value]).len());
        (0..whole).for_each(|index| assert_eq!(client.reply(), expected[index], "cut at {cut}"));
        client.send_bytes(&bytes[cut..]);
        (whole..3).for_each(|index| assert_eq!(client.reply(), expected[index], "cut at {cut}"));
    }
}

#[test]
fn large_requests_arrive_whole_between_small_ones() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    for value_bytes in [3_000, 70_000, 1 << 20, 64 << 20] {
        let value = vec![b'v'; value_bytes];
        let mut bytes = request(&[b"PING"]);
        bytes.extend_from_slice(&request(&[&b"ECHO"[..], &value]));
        bytes.extend_from_slice(&request(&[b"PING"]));
        let mut sender = client.stream.try_clone().unwrap();
        let sent = std::thread::spawn(move || sender.write_all(&bytes).unwrap());
        assert_eq!(client.reply(), pong());
        assert!(client.reply().as_bytes() == Some(&value), "{value_bytes} bytes come back as they were");
        assert_eq!(client.reply(), pong());
        sent.join().unwrap();
    }
    let arguments: Vec<String> = (0..1_200_000).map(|index| format!("item:{index}")).collect();
    let arguments: Vec<&str> = ["RPUSH", "k"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    assert_eq!(client.call(&arguments), Value::Int(1_200_000));
}

#[test]
fn protocol_errors_are_reported_and_close_the_connection() {
    let server = Server::start(&CACHE);
    for (bytes, text) in [
        ("*1\r\n$536870913\r\n", "invalid bulk length"),
        ("*2147483648\r\n", "invalid multibulk length"),
        ("*1\r\n:1\r\n", "expected '$', got ':'"),
        ("*x\r\n", "invalid multibulk length"),
        ("SET \"k\r\n", "unbalanced quotes in request"),
        (&"x".repeat(65 << 10), "too big inline request"),
    ] {
        let mut client = server.connect();
        client.send_bytes(b"PING\r\n");
        client.send_bytes(bytes.as_bytes());
        assert_eq!(client.reply(), pong());
        assert_eq!(client.reply(), Value::Error(format!("ERR Protocol error: {text}")));
        assert_eq!(client.try_reply(), None, "{text}");
    }
    let mut client = server.connect();
    client.send_bytes(b"PING\r\nQUIT\r\nPING\r\n");
    assert_eq!([client.reply(), client.reply()], [pong(), ok()]);
    assert_eq!(client.try_reply(), None);
}

#[test]
fn a_half_closed_client_still_gets_all_replies() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    client.send_bytes(&request(&["RPUSH", "k", "a"]).repeat(1_000));
    client.stream.shutdown(Shutdown::Write).unwrap();
    for length in 1..=1_000 {
        assert_eq!(client.reply(), Value::Int(length));
    }
    assert_eq!(client.try_reply(), None);
}

#[test]
fn resp3_is_used_after_hello_3() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    let Value::Map(fields) = client.call(&["HELLO", "3"]) else { panic!("HELLO 3 answers a map") };
    let proto = fields.iter().find(|(name, _)| *name == Value::bulk("proto"));
    assert_eq!(proto.map(|(_, value)| value), Some(&Value::Int(3)));
    let Value::Array(_) = client.call(&["HELLO", "2"]) else { panic!("HELLO 2 answers an array") };
    let expected = Value::Error("NOPROTO unsupported protocol version".to_owned());
    assert_eq!(client.call(&["HELLO", "4"]), expected);
}

#[test]
fn a_password_is_required() {
    let server = Server::start(&["--journal", "off", "--requirepass", "opener"]);
    let mut client = server.connect();
    let refused = Value::Error("NOAUTH Authentication required.".to_owned());
    assert_eq!(client.call(&["RPUSH", "k", "a"]), refused);
    assert_eq!(client.call(&["AUTH", "opener"]), ok());
    assert_eq!(client.call(&["RPUSH", "k", "a"]), Value::Int(1));
    let mut stranger = server.connect();
    stranger.send_bytes(b"*1\r\n$16385\r\n");
    let expected = "ERR Protocol error: unauthenticated bulk length";
    assert_eq!(stranger.reply(), Value::Error(expected.to_owned()));
    assert_eq!(stranger.try_reply(), None);
}

#[test]
fn the_unix_socket_serves_the_same_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut server = Server::start(&["--journal", "off", "--unixsocket", path.to_str().unwrap()]);
    assert_eq!(server.connect().call(&["RPUSH", "k", "a"]), Value::Int(1));
    let mut client = Connection::unix(&path);
    assert_eq!(client.call(&["RPUSH", "k", "b"]), Value::Int(2));
    let list = client.call(&["CLIENT", "LIST"]).to_string();
    assert!(list.contains(&format!("addr={}:0", path.display())), "{list}");
    server.stop();
    assert!(!path.exists());
}

#[test]
fn unix_sockets_of_memcached_and_queues_serve_the_same_data() {
    let folder = tempfile::tempdir().unwrap();
    let [items, queues] = ["items", "queues"].map(|name| folder.path().join(name));
    let flags = ["--journal", "off", "--memcached-unixsocket", items.to_str().unwrap(), "--queue-unixsocket"];
    let mut server = Server::start(&[&flags[..], &[queues.to_str().unwrap()]].concat());
    for path in [&items, &queues] {
        let mut socket = UnixStream::connect(path).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket.write_all(b"set k 0 0 1\r\nx\r\n").unwrap();
        let mut answer = [0; 8];
        socket.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"STORED\r\n", "{}", path.display());
        assert_eq!(
            server.connect().call(&["TYPE", "k"]),
            Value::Simple(if *path == items { "string" } else { "list" }.to_owned())
        );
        server.connect().call(&["DEL", "k"]);
    }
    server.stop();
    assert!(!items.exists() && !queues.exists());
}

#[test]
fn clients_beyond_maxclients_are_refused_until_one_leaves() {
    let server = Server::start(&["--journal", "off", "--maxclients", "3"]);
    // And 32 more from this machine.
    let mut clients: Vec<_> = (0..35).map(|_| server.connect()).collect();
    for client in &mut clients {
        assert_eq!(client.call(&["PING"]), pong());
    }
    let mut refused = server.connect();
    assert_eq!(refused.reply(), Value::Error("ERR max number of clients reached".to_owned()));
    assert_eq!(refused.try_reply(), None);
    let mut leaving = clients.pop().unwrap();
    assert_eq!(leaving.call(&["QUIT"]), ok());
    assert_eq!(leaving.try_reply(), None);
    // The place is free a moment after the farewell.
    let mut tries = 0;
    while server.connect().try_reply_to_ping() != Some(pong()) {
        tries += 1;
        assert!(tries < 10_000, "the place is free");
    }
}

impl Connection<TcpStream> {
    /// As a client that may be refused.
    fn try_reply_to_ping(&mut self) -> Option<Value> {
        self.stream.write_all(b"PING\r\n").ok()?;
        self.try_reply()
    }
}

#[test]
fn idle_clients_can_be_killed() {
    let server = Server::start(&CACHE);
    let mut killer = server.connect();
    let mut idle: Vec<_> = (0..10).map(|_| server.connect()).collect();
    for client in &mut idle {
        let Value::Int(id) = client.call(&["CLIENT", "ID"]) else { panic!("an id is a number") };
        assert_eq!(killer.call(&["CLIENT", "KILL", "ID", &id.to_string()]), Value::Int(1));
        assert_eq!(client.try_reply(), None);
    }
    let Value::Int(id) = killer.call(&["CLIENT", "ID"]) else { panic!("an id is a number") };
    let own = killer.call(&["CLIENT", "KILL", "ID", &id.to_string(), "SKIPME", "no"]);
    assert_eq!(own, Value::Int(1), "who kills itself still hears so");
    assert_eq!(killer.try_reply(), None);
}

#[test]
fn idle_clients_are_closed_after_the_timeout() {
    let server = Server::start(&["--journal", "off", "--timeout", "1"]);
    let mut client = server.connect();
    assert_eq!(client.call(&["PING"]), pong());
    assert_eq!(client.try_reply(), None);
}

#[test]
fn a_slow_reader_is_disconnected() {
    let server = Server::start(&["--journal", "off", "--client-output-buffer-limit", "normal 1mb 0 0"]);
    let mut slow = server.connect();
    let value = vec![b'v'; 32 << 20];
    slow.send(&[&b"ECHO"[..], &value]);
    let mut other = server.connect();
    while server.log().is_empty() || !server.log().contains("does not read its output") {
        assert_eq!(other.call(&["PING"]), pong(), "nobody else notices");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(slow.bytes_until_closed() < value.len());
}

#[test]
fn a_pipeline_completes_when_sent_before_any_reply_is_read() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    let value = "v".repeat(10_000);
    let one = request(&["ECHO", &value]);
    // Requests and replies are each far more than sockets hold.
    let count = 6_000;
    for _ in 0..count / 100 {
        client.send_bytes(&one.repeat(100));
    }
    for _ in 0..count {
        assert_eq!(client.reply().as_bytes(), Some(value.as_bytes()));
    }
}

#[test]
fn a_new_slowlog_threshold_applies_to_the_command_setting_it() {
    let server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    let set = |client: &mut Connection<_>, us: &str| client.call(&["CONFIG", "SET", "slowlog-log-slower-than", us]);
    set(&mut client, "0");
    assert_eq!(client.call(&["SLOWLOG", "LEN"]), Value::Int(1));
    set(&mut client, "1000000");
    let reply = client.call(&["SLOWLOG", "GET"]).to_string();
    assert_eq!(reply.matches("slowlog-log-slower-than").count(), 1, "{reply}");
}

/// Seconds and microseconds.
fn time(client: &mut Connection<TcpStream>) -> [u64; 2] {
    let reply = client.call(&["TIME"]);
    let part = |at: usize| std::str::from_utf8(reply.as_slice()?[at].as_bytes()?).ok()?.parse().ok();
    [0, 1].map(|at| part(at).unwrap_or_else(|| panic!("TIME answers {reply}")))
}

#[test]
fn time_is_reported_in_microseconds() {
    let server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    assert!((0..100).any(|_| !time(&mut client)[1].is_multiple_of(1000)));
    assert!((0..30).any(|_| !server.info("server_time_usec").ends_with("000")));
    let reported_us: u64 = server.info("server_time_usec").parse().unwrap();
    let [s, us] = time(&mut client);
    assert!(s * 1_000_000 + us >= reported_us, "{s} {us} after {reported_us}");
}

#[test]
fn a_worker_syncs_for_its_only_connection_and_for_no_other() {
    let syncs = |server: &Server| server.info("journal_worker_syncs").parse::<u64>().unwrap();
    let set = |client: &mut Connection<TcpStream>| {
        (0..50).for_each(|_| assert_eq!(client.call(&["SET", "k", "v"]), ok()));
    };
    let server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    set(&mut client);
    assert!(syncs(&server) > 0);
    // Each of the two workers has two at least, before the first of them writes.
    let mut others: Vec<_> = (0..5).map(|_| server.connect()).collect();
    others.iter_mut().for_each(|other| assert_eq!(other.call(&["PING"]), pong()));
    let before = syncs(&server);
    others.iter_mut().for_each(set);
    assert_eq!(syncs(&server), before);

    // A worker without another one serves whoever comes next itself.
    let server = Server::start(&["--fsync", "always", "--threads", "1"]);
    set(&mut server.connect());
    assert_eq!(syncs(&server), 0);
}
