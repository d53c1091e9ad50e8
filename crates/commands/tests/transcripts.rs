//! Every transcript against a keyspace without an engine: in RESP2, in RESP3, and with a restart after each request.
//! And, if asked for (`make transcripts-against-redis`), against redis-server: the one at `BOBBIN_PEER` (`host:port`;
//! **its data is flushed**), or one that the test starts.

#[path = "support/socket.rs"]
mod socket;

use commands::Run;
use commands::table;
use commands::testing::direct::World;
use commands::testing::transcript::{self, Difference, Step, Transcript};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use wire::OwnedRequest;
use wire::resp::Protocol;

const GROUPS: &[&str] = &["generic", "list", "string"];

fn all() -> Vec<Transcript> {
    transcript::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), GROUPS).unwrap()
}

#[track_caller]
fn check(new_world: impl Fn() -> World) {
    let mut differences = Vec::new();
    for transcript in all() {
        differences.extend(transcript::run(&transcript, &mut new_world(), |_| false));
    }
    let shown: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{} differences:\n{}", shown.len(), shown.join("\n"));
}

#[test]
fn in_resp2() {
    check(|| World::new(Protocol::Resp2));
}

#[test]
fn in_resp3() {
    check(|| World::new(Protocol::Resp3));
}

#[test]
fn restarted_after_each_request() {
    check(|| World { restarts: true, ..World::new(Protocol::Resp2) });
}

/// Those of the connection and the server need a session: `tests/session` has them.
#[test]
fn every_row_has_a_transcript() {
    let mut called = BTreeSet::new();
    for step in all().iter().flat_map(|transcript| &transcript.steps) {
        if let Step::Call { words, .. } = step
            && let table::Found::Command(row) = table::find(&OwnedRequest::of(words).args())
        {
            called.insert(row.name);
        }
    }
    let rows = table::rows().filter(|row| !matches!(row.run, Run::Session(_) | Run::Engine(_)));
    let missing: Vec<&str> = rows.map(|row| row.name).filter(|name| !called.contains(name)).collect();
    // DEBUG and MEMORY tell of the inside: `tests/session/data.rs` has them.
    let missing: Vec<&&str> =
        missing.iter().filter(|name| !name.starts_with("DEBUG ") && !name.starts_with("MEMORY ")).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Requests whose replies are meant to be others than Redis's, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("INCRBYFLOAT exact", "a sum is exact here; Redis adds in the machine's long double"),
    ("OBJECT REFCOUNT n", "no value is shared here; Redis shares small integers"),
];

fn is_meant(difference: &Difference) -> bool {
    DIFFERENT.iter().any(|(request, _)| difference.request.starts_with(request))
}

/// A server of the test's own, ended with it.
struct Peer {
    process: Option<Child>,
    address: String,
}

impl Peer {
    fn find() -> Self {
        if let Ok(address) = std::env::var("BOBBIN_PEER") {
            return Self { process: None, address };
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server can be started; or name another with BOBBIN_PEER=host:port");
        let address = format!("127.0.0.1:{port}");
        let tries = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            socket::Socket::connect(&address, false).is_ok()
        });
        assert!(tries, "redis-server answers");
        Self { process: Some(process), address }
    }

    fn version(&self) -> Vec<u32> {
        let mut socket = socket::Socket::connect(&self.address, false).unwrap();
        let info = socket.ask(&[b"INFO".to_vec(), b"server".to_vec()]).unwrap();
        let info = String::from_utf8_lossy(info.as_bytes().unwrap()).into_owned();
        let line = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap();
        numbers(line)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn numbers(version: &str) -> Vec<u32> {
    let version = version.split(' ').next().unwrap_or_default();
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn against_redis() {
    let peer = Peer::find();
    let version = peer.version();
    let is_newer = |since: &str| numbers(since) > version;
    let mut differences = Vec::new();
    for is_resp3 in [false, true] {
        let mut socket = socket::Socket::connect(&peer.address, is_resp3).unwrap();
        for transcript in all() {
            socket.ask(&[b"FLUSHALL".to_vec()]).unwrap();
            socket.ask(&[b"SELECT".to_vec(), b"0".to_vec()]).unwrap();
            differences.extend(transcript::run(&transcript, &mut socket, is_newer));
        }
    }
    for transcript in all() {
        for step in &transcript.steps {
            if let Step::Call { line, since: Some(since), .. } = step
                && is_newer(since)
            {
                println!("left out  {}:{line}, since {since}", transcript.name);
            }
        }
    }
    for difference in differences.iter().filter(|difference| is_meant(difference)) {
        println!("as meant  {difference}");
    }
    let others: Vec<String> =
        differences.iter().filter(|difference| !is_meant(difference)).map(ToString::to_string).collect();
    println!("{} other differences from redis-server {version:?}", others.len());
    assert!(others.is_empty(), "{}", others.join("\n"));
}
