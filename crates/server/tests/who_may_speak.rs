//! The real binary and untrusted clients: browsers, and clients that have no password or guess it.

use crate::support;
use crate::support::lines::Lines;
use crate::support::{Connection, FREE_PORT, Server, UMASK_0};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use wire::client::Value;

const PATIENCE: Duration = Duration::from_secs(30);

type Client = Connection<TcpStream>;

/// A server without a journal that listens on all three ports, which are Redis's, memcached's and MemcacheQ's.
fn start(flags: &[&str]) -> (Server, [u16; 3]) {
    let ports = ["--journal", "off", "--memcached-port", FREE_PORT, "--queue-port", FREE_PORT];
    let server = Server::start(&[&ports, flags].concat());
    let port = |name: &str| server.flag(name).parse().unwrap();
    let ports = [server.port, port("--memcached-port"), port("--queue-port")];
    (server, ports)
}

fn authenticated(server: &Server, password: &str) -> Client {
    let mut client = server.connect();
    assert_eq!(client.call(&["AUTH", password]).to_string(), "OK");
    client
}

/// Returns the value of a field of INFO.
fn info(client: &mut Client, field: &str) -> u64 {
    let reply = client.call(&["INFO", "everything"]);
    let text = String::from_utf8(reply.as_bytes().expect("INFO answers a text").to_vec()).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("INFO has no field {field}")).parse().unwrap()
}

fn wait_for(client: &mut Client, field: &str, value: u64) {
    let began = Instant::now();
    while info(client, field) != value {
        assert!(began.elapsed() < PATIENCE, "{field} is {}, not {value}", info(client, field));
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// All that comes until the server closes.
fn until_closed(port: u16, bytes: &[u8]) -> String {
    let mut stream = Lines::connect(port);
    stream.send(bytes);
    stream.until_closed()
}

const HEADS: &[&str] = &[
    "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "post / http/1.0\r\n\r\n",
    "GET / HTTP/1.1\r\nAccept: */*\r\n\r\n",
    "OPTIONS /x HTTP/1.1\r\n\r\n",
    "Host: localhost\r\n",
];

#[test]
fn an_http_request_closes_the_connection_before_anything_runs() {
    let (server, ports) = start(&[]);
    let [_, memcached, queues] = ports;
    for head in HEADS {
        for port in ports {
            let stream = format!("{head}SET pw x\r\nset pw 0 0 1\r\nx\r\n*3\r\n$3\r\nSET\r\n$2\r\npw\r\n$1\r\nx\r\n");
            assert_eq!(until_closed(port, stream.as_bytes()), "", "{head:?} on {port}");
        }
    }
    for name in ["POST", "host:"] {
        let stream =
            format!("*2\r\n${}\r\n{name}\r\n$1\r\n/\r\n*3\r\n$3\r\nSET\r\n$2\r\npw\r\n$1\r\nx\r\n", name.len());
        assert_eq!(until_closed(server.port, stream.as_bytes()), "", "{name} as an array");
    }
    // In the middle of a connection.
    let mut client = server.connect();
    assert_eq!(client.call(&["MULTI"]).to_string(), "OK");
    assert_eq!(client.call(&["SET", "pw", "x"]).to_string(), "QUEUED");
    client.send_bytes(b"POST / HTTP/1.1\r\n\r\nEXEC\r\n");
    assert_eq!(client.try_reply(), None);
    for (key, mut lines) in [("item", Lines::connect(memcached)), ("queue", Lines::of_queues(queues))] {
        assert_eq!(lines.ask(format!("set {key} 0 0 1\r\nx\r\n")), "STORED\r\n");
        lines.send("GET / HTTP/1.1\r\n\r\nset pw 0 0 1\r\nx\r\n");
        assert_eq!(lines.until_closed(), "");
    }
    assert_eq!(server.connect().call(&["EXISTS", "pw"]), Value::Int(0));
    server.wait_for_info("http_connections_closed", &(HEADS.len() * 3 + 5).to_string());
    server.wait_for_log("Possible SECURITY ATTACK detected");
    assert!(server.log().matches("SECURITY ATTACK").count() <= 10, "a flood of them is few lines: {}", server.log());
}

#[test]
fn keys_may_look_like_http() {
    let (server, [_, memcached, _]) = start(&[]);
    let mut lines = Lines::connect(memcached);
    assert_eq!(lines.ask("set / 0 0 15\r\nPOST / HTTP/1.1\r\n"), "STORED\r\n");
    assert_eq!(lines.ask("get / HTTP/1.1\r\n"), "VALUE / 0 15\r\nPOST / HTTP/1.1\r\nEND\r\n");
    let mut client = server.connect();
    assert_eq!(client.call(&["SET", "Host:", "HTTP/1.1"]).to_string(), "OK");
    client.send_bytes(b"SET page HTTP/1.1\r\n");
    assert_eq!(client.reply().to_string(), "OK");
}

#[test]
fn unauthenticated_lines_have_a_short_limit() {
    let (server, [_, memcached, queues]) = start(&["--requirepass", "opener"]);
    for port in [memcached, queues] {
        let mut lines = Lines::connect(port);
        lines.send("get ".to_owned() + &"a".repeat(3_000));
        assert_eq!(lines.until_closed(), "");
    }
    drop(server);
}

#[test]
fn an_unauthenticated_connection_is_closed_after_the_timeout() {
    let (server, ports) = start(&["--requirepass", "opener", "--authentication-timeout", "1"]);
    let mut admin = authenticated(&server, "opener");
    for port in ports {
        let mut silent = Lines::connect(port);
        assert_eq!(silent.until_closed(), "");
    }
    let mut busy = server.connect();
    while busy.try_call(b"PING\r\n").is_some() {}
    // The authenticated client stays connected.
    wait_for(&mut admin, "authentication_timeouts", 4);
    wait_for(&mut admin, "unauthenticated_clients", 0);
    server.wait_for_log("did not authenticate within 1 s: closed, see authentication-timeout");
}

impl Client {
    /// As a client that may be gone.
    fn try_call(&mut self, bytes: &[u8]) -> Option<Value> {
        self.stream.write_all(bytes).ok()?;
        self.try_reply()
    }
}

#[test]
fn unauthenticated_connections_are_limited() {
    let (server, ports) = start(&["--requirepass", "opener", "--authentication-timeout", "0", "--maxclients", "700"]);
    let mut admin = authenticated(&server, "opener");
    let mut silent: Vec<Client> = (0..70).map(|_| server.connect()).collect();
    wait_for(&mut admin, "unauthenticated_clients", 70);
    let refusal = "-ERR max number of clients that have not authenticated reached\r\n";
    assert_eq!(until_closed(ports[0], b""), refusal);
    for port in &ports[1..] {
        assert_eq!(until_closed(*port, b""), "ERROR Too many open connections\r\n");
    }
    assert_eq!(info(&mut admin, "rejected_connections"), 3);
    // A client that authenticates or disconnects frees a place.
    let mut first = silent.pop().unwrap();
    assert_eq!(first.call(&["AUTH", "opener"]).to_string(), "OK");
    assert_eq!(info(&mut admin, "unauthenticated_clients"), 69);
    drop(silent.pop());
    wait_for(&mut admin, "unauthenticated_clients", 68);
    // RESET makes a client unauthenticated again.
    assert_eq!(first.call(&["RESET"]).to_string(), "RESET");
    assert_eq!(info(&mut admin, "unauthenticated_clients"), 69);
    assert_eq!(first.call(&["HELLO", "2", "AUTH", "default", "opener"]).as_error(), None);
    assert_eq!(info(&mut admin, "unauthenticated_clients"), 68);
    server.wait_for_log("too many unauthenticated connections");
}

#[test]
fn requests_of_unauthenticated_clients_are_not_buffered_without_limit() {
    let (server, _) = start(&["--requirepass", "opener"]);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    // The client reads nothing: the server stops reading, too, or closes.
    let requests = b"PING\r\n".repeat(10_000);
    let sent = (0..2_000).take_while(|_| stream.write_all(&requests).is_ok()).count();
    assert!(sent < 2_000, "120 MB were taken in");
}

#[test]
fn passwords_appear_in_no_reply_log_or_monitor() {
    let (server, [_, memcached, queues]) =
        start(&["--requirepass", "opener", "--slowlog-log-slower-than", "0", "--latency-monitor-threshold", "1"]);
    let mut monitor = authenticated(&server, "opener");
    assert_eq!(monitor.call(&["MONITOR"]).to_string(), "OK");
    let mut client = server.connect();
    // Misspelt, it is not repeated either.
    assert!(!client.call(&["NOSUCH", "opener"]).to_string().contains("opener"));
    assert_eq!(client.call(&["AUTH", "opener"]).to_string(), "OK");
    assert!(!client.call(&["AUHT", "opener"]).to_string().contains("opener"));
    for request in [
        "AUTH default opener",
        "AUTH default opener more",
        "HELLO 2 AUTH default opener SETNAME me",
        "HELLO 2 SETNAME AUTH AUTH default opener",
        "HELLO 2 AUTH opener",
        "CONFIG SET slowlog-max-len 1000 requirepass opener",
        "CONFIG SET masterauth opener",
        "ACL SETUSER bob on >opener",
        "MIGRATE 127.0.0.1 1 k 0 5 AUTH opener",
        "MIGRATE 127.0.0.1 1 k 0 5 AUTH2 default opener KEYS k",
        "MULTI",
        "AUTH default opener",
        "CONFIG SET requirepass opener",
        "EXEC",
    ] {
        let reply = client.call(&request.split(' ').collect::<Vec<_>>()).to_string();
        assert!(!reply.contains("opener"), "{request}: {reply}");
    }
    for port in [memcached, queues] {
        let mut lines = if port == memcached { Lines::connect(port) } else { Lines::of_queues(port) };
        assert_eq!(lines.ask("set auth 0 0 14\r\ndefault opener\r\n"), "STORED\r\n");
    }
    for request in ["SLOWLOG GET 1000", "CLIENT LIST", "LATENCY LATEST", "LATENCY HISTOGRAM", "INFO everything"] {
        let reply = client.call(&request.split(' ').collect::<Vec<_>>()).to_string();
        assert!(!reply.contains("opener"), "{request}: {reply}");
    }
    let slow = client.call(&["SLOWLOG", "GET", "1000"]).to_string();
    assert!(slow.matches("(redacted)").count() > 10, "what is hidden is there: {slow}");
    client.call(&["ECHO", "the end"]);
    loop {
        let line = monitor.reply().to_string();
        assert!(!line.contains("opener"), "{line}");
        if line.contains("the end") {
            break;
        }
    }
    assert!(!server.log().contains("opener"), "{}", server.log());
}

#[test]
fn ten_wrong_passwords_close_a_connection() {
    let (server, [_, memcached, _]) = start(&["--requirepass", "opener", "--authentication-timeout", "0"]);
    let mut admin = authenticated(&server, "opener");
    // All at once, and then the right one.
    let mut guesses = Vec::new();
    (0..10).for_each(|number| guesses.extend_from_slice(format!("AUTH guess-{number}\r\n").as_bytes()));
    guesses.extend_from_slice(b"AUTH opener\r\nSET pw x\r\n");
    let answer = until_closed(server.port, &guesses);
    assert_eq!(answer.matches("WRONGPASS").count(), 10, "{answer}");
    assert!(!answer.contains("+OK"), "{answer}");
    assert_eq!(info(&mut admin, "acl_access_denied_auth"), 10);
    assert_eq!(admin.call(&["EXISTS", "pw"]), Value::Int(0));
    server.wait_for_log("gave a wrong password: 10 recent failures from its address");
    assert!(!server.log().contains("guess"), "{}", server.log());
    // Another connection of the address gets in, and the other protocols count the same.
    let mut lines = Lines::connect(memcached);
    lines.send("set auth 0 0 13\r\ndefault wrong\r\n");
    assert_eq!(lines.ask("set auth 0 0 14\r\ndefault opener\r\n"), "CLIENT_ERROR authentication failure\r\nSTORED\r\n");
    assert_eq!(info(&mut admin, "acl_access_denied_auth"), 11);
    assert_eq!(admin.call(&["CONFIG", "RESETSTAT"]).to_string(), "OK");
    assert_eq!(info(&mut admin, "acl_access_denied_auth"), 0);
    authenticated(&server, "opener");
}

#[test]
fn a_password_with_spaces_works_on_every_port() {
    let (server, [_, memcached, queues]) = start(&["--requirepass", "correct horse  staple"]);
    authenticated(&server, "correct horse  staple");
    let said = "set auth 0 0 29\r\ndefault correct horse  staple\r\n";
    assert_eq!(Lines::connect(memcached).ask(said), "STORED\r\n");
    assert_eq!(Lines::of_queues(queues).ask(said), "STORED\r\n");
    let (server, _) = start(&["--requirepass", &"x".repeat(1017)]);
    server.wait_for_log("requirepass has 1017 bytes");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Each file and folder below, with what everybody may do with it.
fn modes(folder: &Path, found: &mut Vec<(String, bool, u32)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push((path.display().to_string(), path.is_dir(), mode(&path)));
        if path.is_dir() {
            modes(&path, found);
        }
    }
}

#[test]
fn created_files_are_accessible_to_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let mut server = Server::start(&[UMASK_0, "--unixsocket", socket.to_str().unwrap()]);
    let mut client = server.connect();
    client.call(&["RPUSH", "k", &"x".repeat(100_000)]);
    client.call(&["SET", "text", &"x".repeat(3_000_000)]);
    support::disk::save(&mut client);
    assert_eq!(mode(&socket), 0o700);
    assert_eq!(mode(&server.data()), 0o700);
    let mut found = Vec::new();
    modes(&server.data(), &mut found);
    for name in ["bobbin.lock", "identity", "journal", "store"] {
        assert!(found.iter().any(|(path, ..)| path.ends_with(name)), "{name} in {found:?}");
    }
    for (path, is_folder, mode) in &found {
        assert_eq!(*mode, if *is_folder { 0o700 } else { 0o600 }, "{path}");
    }
    server.stop();
    // Permissions opened by the administrator stay, with a warning.
    std::fs::set_permissions(server.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
    server.restart();
    server.wait_for_log("close it with: chmod -R go= ");
    assert_eq!(mode(&server.data()), 0o755);
}

#[test]
fn migrate_reaches_only_listed_targets() {
    let (server, _) = start(&[]);
    let mut client = server.connect();
    client.call(&["SET", "k", "v"]);
    let (own, target) = (server.port.to_string(), format!("127.0.0.1:{}", server.port));
    let refused = client.call(&["MIGRATE", "127.0.0.1", &own, "k", "1", "500"]);
    let expected = format!(
        "ERR MIGRATE to {target} is not allowed: the setting migrate-targets does not list it. Start the server with \
         --migrate-targets {target} to allow it"
    );
    assert_eq!(refused, Value::Error(expected));
    let set = client.call(&["CONFIG", "SET", "migrate-targets", "*"]).to_string();
    assert!(set.contains("can't set immutable config"), "{set}");
    let (server, _) = start(&["--migrate-targets", "127.0.0.1", "--migrate-targets", "*.internal:6379"]);
    let mut client = server.connect();
    client.call(&["SET", "k", "v"]);
    let own = server.port.to_string();
    let shown = client.call(&["CONFIG", "GET", "migrate-targets"]).to_string();
    assert!(shown.contains("127.0.0.1 *.internal:6379"), "{shown}");
    assert_eq!(client.call(&["MIGRATE", "127.0.0.1", &own, "k", "1", "5000"]).to_string(), "OK");
    assert!(client.call(&["MIGRATE", "localhost", &own, "k", "1", "500"]).to_string().contains("is not allowed"));
}

#[test]
fn local_clients_can_connect_to_a_full_server() {
    let (server, ports) = start(&["--maxclients", "3", "--requirepass", "opener"]);
    let mut clients: Vec<Client> = (0..3).map(|_| authenticated(&server, "opener")).collect();
    for port in &ports[1..] {
        assert_eq!(until_closed(*port, b""), "ERROR Too many open connections\r\n");
    }
    let mut late = server.connect();
    assert_eq!(late.call(&["PING"]).to_string(), "!NOAUTH Authentication required.");
    assert_eq!(late.call(&["AUTH", "opener"]).to_string(), "OK");
    assert_eq!(info(&mut late, "maxclients_local_reserve_used"), 1);
    clients.extend((0..31).map(|_| authenticated(&server, "opener")));
    assert_eq!(until_closed(ports[0], b""), "-ERR max number of clients reached\r\n");
    assert_eq!(info(&mut late, "maxclients_local_reserve_used"), 32);
    assert_eq!(info(&mut late, "maxclients_local_reserve"), 32);
    // A freed place can be taken again.
    drop(clients.pop());
    wait_for(&mut late, "connected_clients", 34);
    let mut again = server.connect();
    while again.try_call(b"AUTH opener\r\n").is_none() {
        again = server.connect();
    }
    assert_eq!(info(&mut late, "connected_clients"), 35);
    let mut byte = [0];
    again.stream.set_nonblocking(true).unwrap();
    assert!(again.stream.read(&mut byte).is_err(), "it stays");
}
