//! The real binary from start to end: refused starts, orderly stops, crashes, and what is there afterwards.

use crate::support;
use crate::support::{Server, bobbin, free_port};
use rustix::process::Signal;
use std::process::Stdio;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use wire::client::Value;

/// Returns the length of list `key` before one more push, which reports it.
fn length(server: &Server, key: &str) -> i64 {
    server.connect().call(&["RPUSH", key, "end"]).as_int().unwrap() - 1
}

#[test]
fn a_second_server_is_refused_with_one_line() {
    let server = Server::start(&[]);
    let data = server.data();
    let run = |port: u16, data: &std::path::Path| {
        let mut command = bobbin();
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir"]).arg(data);
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let port = server.port;
    let (code, line) = run(port, &server.folder().join("other"));
    assert_eq!(code, Some(2));
    assert!(line.starts_with(&format!("bobbin: 127.0.0.1:{port} is taken by another program; ")), "{line}");
    let (code, line) = run(free_port(), &data);
    assert_eq!(code, Some(2));
    let expected =
        format!("bobbin: the data folder {} is in use by another Bobbin, pid {}", data.display(), server.pid());
    assert!(line.starts_with(&expected), "{line}");
}

#[test]
fn a_clean_stop_keeps_everything_under_any_fsync_policy() {
    for policy in ["always", "everysec", "never"] {
        let mut server = Server::start(&["--fsync", policy]);
        let mut client = server.connect();
        for index in 1..=1_000 {
            assert_eq!(client.call(&["RPUSH", "k", "a"]), Value::Int(index));
        }
        for (signal, kept) in [(Signal::TERM, 1_000), (Signal::INT, 1_001)] {
            server.signal(signal);
            assert_eq!(server.wait().code(), Some(0), "{}", server.log());
            assert_eq!(client.try_reply(), None, "idle connections are closed");
            server.restart();
            assert!(server.log().contains("frames to replay"), "{}", server.log());
            assert_eq!(length(&server, "k"), kept, "{policy}");
            client = server.connect();
        }
    }
}

#[test]
fn shutdown_stops_cleanly() {
    let mut server = Server::start(&[]);
    assert_eq!(server.connect().call(&["RPUSH", "k", "a"]), Value::Int(1));
    let mut client = server.connect();
    client.send(&["SHUTDOWN"]);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    server.restart();
    assert_eq!(length(&server, "k"), 1);
}

#[test]
fn a_stop_during_a_pipeline_keeps_all_acknowledged_writes() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    client.send_bytes(&support::request(&["RPUSH", "k", "a"]).repeat(50_000));
    assert_eq!(client.reply(), Value::Int(1));
    server.signal(Signal::TERM);
    let mut answered = 1;
    while let Some(reply) = client.try_reply() {
        answered += 1;
        assert_eq!(reply, Value::Int(answered));
    }
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    server.restart();
    let kept = length(&server, "k");
    assert!(kept >= answered, "{answered} were acknowledged and {kept} kept");
}

#[test]
fn a_stalled_reader_does_not_delay_the_stop() {
    let mut server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    client.send(&[&b"ECHO"[..], &vec![b'v'; 64 << 20]]);
    let mut other = server.connect();
    while !other.call(&["CLIENT", "LIST"]).to_string().contains("cmd=echo") {}
    server.stop();
}

#[test]
fn a_second_signal_stops_the_server_at_once() {
    let mut server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    client.send(&[&b"ECHO"[..], &vec![b'v'; 64 << 20]]);
    let mut other = server.connect();
    while !other.call(&["CLIENT", "LIST"]).to_string().contains("cmd=echo") {}
    // The first stop waits for the reader, which takes nothing.
    server.signal(Signal::TERM);
    assert_eq!(other.try_reply(), None);
    server.signal(Signal::INT);
    assert_eq!(server.wait().code(), Some(1), "{}", server.log());
}

#[test]
fn kill_9_under_always_keeps_every_acknowledged_write() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut expected = [0, 0];
    for round in 0..3 {
        let acknowledged = [AtomicI64::new(expected[0]), AtomicI64::new(expected[1])];
        std::thread::scope(|scope| {
            for (key, acknowledged) in acknowledged.iter().enumerate() {
                let mut client = server.connect();
                scope.spawn(move || {
                    let request = support::request(&["RPUSH", &key.to_string(), "a"]);
                    while std::io::Write::write_all(&mut client.stream, &request).is_ok() {
                        let Some(Value::Int(length)) = client.try_reply() else { break };
                        acknowledged.store(length, SeqCst);
                    }
                });
            }
            let enough = |counter: &AtomicI64| counter.load(SeqCst) > 200 * (round + 1);
            while !acknowledged.iter().all(enough) {
                std::thread::yield_now();
            }
            rustix::process::kill_process(rustix::process::Pid::from_raw(server.pid() as i32).unwrap(), Signal::KILL)
                .unwrap();
        });
        server.wait();
        server.restart();
        for (key, acknowledged) in acknowledged.iter().enumerate() {
            let (kept, acknowledged) = (length(&server, &key.to_string()), acknowledged.load(SeqCst));
            assert!(
                kept == acknowledged || kept == acknowledged + 1,
                "round {round}: {acknowledged} were acknowledged and {kept} kept"
            );
            expected[key] = kept + 1;
        }
    }
}

#[test]
fn a_damaged_journal_is_refused_with_file_and_offset() {
    let mut server = Server::start(&["--fsync", "always"]);
    // A name that no checksum or time spells by chance.
    let key = "in the midst of a record";
    assert_eq!(server.connect().call(&["RPUSH", key, "a", "b", "c"]), Value::Int(3));
    server.stop();
    let segment = server.data().join("journal/0000000001.log");
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = bytes.windows(key.len()).position(|window| window == key.as_bytes()).unwrap();
    bytes[at + 1] ^= 0xff;
    std::fs::write(&segment, bytes).unwrap();
    let refused = server.try_restart().unwrap_err();
    assert!(refused.starts_with(&format!("bobbin: {} is damaged at byte ", segment.display())), "{refused}");
    assert!(refused.contains("exit status: 2"), "{refused}");
}

/// As the versions did that wrote blocks before their format was frozen: no version in the identity.
#[test]
fn blocks_of_another_format_are_refused_with_both_versions() {
    let mut server = Server::start(&[]);
    server.stop();
    let path = server.data().join("journal/identity");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[36..40].fill(0);
    let crc = base::checksum(base::checksum(0, &bytes[..12]), &bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let refused = server.try_restart().unwrap_err();
    let expected = format!(
        "bobbin: the data folder {} has blocks of format 0 and this version reads format 1; \
         start the version that made it, or another data folder",
        server.data().display()
    );
    assert!(refused.starts_with(&expected), "{refused}");
    assert!(refused.contains("exit status: 2"), "{refused}");
}
