//! The queue port of a whole server: the commands of MemcacheQ and Kestrel, on the lists and queues of Redis's
//! commands.

use crate::support::disk::Disk;
use crate::support::lines::Lines;
use crate::support::{Connection, FREE_PORT, Server};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testing::skip;
use wire::client::Value;

const PATIENCE: Duration = Duration::from_secs(30);

/// A server with this port, and its port.
fn start(flags: &[&str]) -> (Server, u16) {
    let server = Server::start(&[&["--queue-port", FREE_PORT], flags].concat());
    let port = server.flag("--queue-port").parse().unwrap();
    (server, port)
}

fn call(server: &Server, line: &str) -> String {
    server.connect().call(&line.split(' ').collect::<Vec<_>>()).to_string().replace('"', "")
}

fn set(queue: &str, message: &str) -> String {
    format!("set {queue} 0 0 {}\r\n{message}\r\n", message.len())
}

fn value(queue: &str, message: &str) -> String {
    format!("VALUE {queue} 0 {}\r\n{message}\r\n", message.len())
}

/// Waits until `holds` returns true.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn messages_are_delivered_unchanged_and_in_order() {
    let (_server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    assert_eq!(lines.ask("get q\r\n"), "END\r\n");
    assert_eq!(lines.ask(set("q", "one") + &set("q", "two") + &set("q", "")), "STORED\r\n".repeat(3));
    assert_eq!(lines.ask("get q\r\n"), value("q", "one") + "END\r\n");
    assert_eq!(lines.ask(set("r", "three")), "STORED\r\n");
    assert_eq!(lines.ask("get q absent r\r\n"), value("q", "two") + &value("r", "three") + "END\r\n");
    assert_eq!(lines.ask("gets q\r\n"), "VALUE q 0 0 0\r\n\r\nEND\r\n");
    assert_eq!(lines.ask("get q r\r\n"), "END\r\n");
    assert_eq!(lines.ask("set q 0 0 1 noreply\r\nx\r\nget q\r\n"), value("q", "x") + "END\r\n");
    assert_eq!(
        lines.ask(set("q", "y") + "delete q\r\ndelete q\r\nget q\r\n"),
        "STORED\r\nDELETED\r\nNOT_FOUND\r\nEND\r\n"
    );
    assert_eq!(lines.ask("verbosity 1\r\n"), "OK\r\n");
    assert_eq!(lines.ask("add q 0 0 1\r\nincr q 1\r\nmg q\r\n"), "ERROR\r\n".repeat(3));
    let mut quitting = Lines::of_queues(port);
    quitting.send("quit\r\n");
    assert_eq!(quitting.until_closed(), "");
}

#[test]
fn errors_are_reported_and_lose_no_message() {
    let (server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    assert_eq!(lines.ask(set("q", "kept")), "STORED\r\n");
    assert_eq!(lines.ask("set f 5 0 3\r\nabc\r\nget f\r\n"), "STORED\r\nVALUE f 5 3\r\nabc\r\nEND\r\n");
    assert_eq!(lines.ask("set q 4294967296 0 3\r\n"), "CLIENT_ERROR bad command line format\r\n");
    assert_eq!(lines.ask("set q 0 0 3\r\nabcd\r\n").matches("CLIENT_ERROR bad data chunk").count(), 1);
    assert_eq!(lines.ask(format!("get {}\r\n", "k".repeat(251))), "CLIENT_ERROR bad command line format\r\n");
    assert_eq!(call(&server, "SET text x"), "OK");
    assert!(lines.ask(set("text", "m")).starts_with("SERVER_ERROR WRONGTYPE"));
    assert_eq!(lines.ask("get text\r\ndelete text\r\n"), "END\r\nNOT_FOUND\r\n");
    assert_eq!(call(&server, "GET text"), "x");
    // Disconnects within a message, after each of its bytes.
    let whole = set("q", "cut");
    for cut in 1..whole.len() {
        Lines::of_queues(port).send(&whole[..cut]);
    }
    assert_eq!(lines.ask("get q\r\nget q\r\n"), value("q", "kept") + "END\r\nEND\r\n");
    let mut endless = Lines::of_queues(port);
    endless.send(vec![b'x'; 4000]);
    assert_eq!(endless.until_closed(), "");
}

#[test]
fn a_queue_is_a_list() {
    let (server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    lines.ask(set("q", "a") + &set("q", "b"));
    assert_eq!(call(&server, "TYPE q"), "list");
    assert_eq!(call(&server, "LRANGE q 0 -1"), "[a, b]");
    assert_eq!(call(&server, "RPUSH q c"), "3");
    assert_eq!(call(&server, "LPUSH q z"), "4");
    assert_eq!(lines.ask("get q\r\nget q\r\n"), value("q", "z") + "END\r\n" + &value("q", "a") + "END\r\n");
    assert_eq!(call(&server, "LLEN q"), "2");
    assert_eq!(call(&server, "LPOP q"), "b");
    // Each waits for what the other puts.
    let mut blocked = server.connect();
    blocked.send(&["BLPOP", "wanted", "0"]);
    wait_until("nobody waits", || server.info("blocked_clients") == "1");
    assert_eq!(lines.ask(set("wanted", "here")), "STORED\r\n");
    assert_eq!(blocked.reply().to_string(), "[\"wanted\", \"here\"]");
    let mut waiting = Lines::of_queues(port);
    waiting.send("get later/t=60000\r\nversion\r\n");
    wait_until("nobody waits", || server.info("blocked_clients") == "1");
    assert_eq!(call(&server, "RPUSH later now"), "1");
    assert_eq!(waiting.until_last(), value("later", "now") + "END\r\n");
    assert_eq!(lines.ask("get nothing/t=1\r\n"), "END\r\n");
}

#[test]
fn a_message_can_be_opened_closed_and_aborted() {
    let (server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    lines.ask(set("q", "a") + &set("q", "b") + &set("q", "c"));
    assert_eq!(lines.ask("get q/peek\r\nget q/open\r\n"), value("q", "a") + "END\r\n" + &value("q", "a") + "END\r\n");
    assert_eq!(call(&server, "LRANGE q 0 -1"), "[b, c]");
    assert_eq!(lines.ask("get q/abort\r\nget q/peek\r\n"), "END\r\n".to_owned() + &value("q", "a") + "END\r\n");
    assert_eq!(
        lines.ask("get q/open\r\nget q/close/open\r\n"),
        value("q", "a") + "END\r\n" + &value("q", "b") + "END\r\n"
    );
    assert_eq!(lines.ask("get q/close\r\nget q/close\r\nget q/abort\r\n"), "END\r\n".repeat(3));
    assert_eq!(call(&server, "LRANGE q 0 -1"), "[c]");
    // A client that opens and disconnects returns the message; so does one that opens twice and is refused.
    let mut gone = Lines::of_queues(port);
    assert_eq!(gone.ask("get q/open\r\n"), value("q", "c") + "END\r\n");
    assert_eq!(call(&server, "LLEN q"), "0");
    drop(gone);
    wait_until("it is not given back", || call(&server, "LRANGE q 0 -1") == "[c]");
    let mut greedy = Lines::of_queues(port);
    greedy.send("get q/open\r\nget q/open\r\n");
    assert_eq!(greedy.until_closed(), value("q", "c") + "END\r\nERROR\r\n");
    wait_until("it is not given back", || call(&server, "LRANGE q 0 -1") == "[c]");
    // A waiting client gets the message that another returns.
    let mut holder = Lines::of_queues(port);
    assert_eq!(holder.ask("get q/open\r\n"), value("q", "c") + "END\r\n");
    lines.send("get q/open/t=60000\r\nversion\r\n");
    wait_until("nobody waits", || server.info("blocked_clients") == "1");
    assert_eq!(holder.ask("get q/abort\r\n"), "END\r\n");
    assert_eq!(lines.until_last(), value("q", "c") + "END\r\n");
    assert_eq!(lines.ask("get q/close\r\n"), "END\r\n");
    assert_eq!(call(&server, "LLEN q"), "0");
}

#[test]
fn errors_of_kestrel_close_the_connection() {
    let (server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    assert_eq!(lines.ask(set("q", "a") + &set("q", "b")), "STORED\r\n".repeat(2));
    // A plain get of a queue with an open message, a wait for one, another key after it.
    for second in ["get q", "get q/t=60000", "gets q", "get q/open/t=60000", "get q q"] {
        let mut refused = Lines::of_queues(port);
        refused.send(format!("get q/open\r\n{second}\r\nversion\r\n"));
        assert_eq!(refused.until_closed(), value("q", "a") + "END\r\nERROR\r\n", "{second}");
        wait_until("it is not given back", || call(&server, "LRANGE q 0 -1") == "[a, b]");
    }
    for unsound in ["q/abort/open", "q/close/abort", "q/peek/open", "q/peek/abort", "q/t=5/peek/close", "/open"] {
        let mut refused = Lines::of_queues(port);
        refused.send(format!("get {unsound}\r\nversion\r\n"));
        assert_eq!(refused.until_closed(), "CLIENT_ERROR\r\n", "{unsound}");
    }
    // Peeking is allowed, and so are messages of other queues.
    assert_eq!(lines.ask("get q/open q/peek\r\n"), value("q", "a") + &value("q", "b") + "END\r\n");
    assert_eq!(lines.ask(set("r", "c") + "get r r/open\r\n"), "STORED\r\n".to_owned() + &value("r", "c") + "END\r\n");
    assert_eq!(lines.ask("get q/close/t=60000\r\n"), "END\r\n");
    assert_eq!(call(&server, "LRANGE q 0 -1"), "[b]");
}

#[test]
fn only_the_end_of_a_name_with_slashes_has_options() {
    let (server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    assert_eq!(lines.ask(set("a/b", "m") + &set("a/open/b", "n")), "STORED\r\n".repeat(2));
    assert_eq!(lines.ask("get a/b/peek/t=60000\r\n"), value("a/b", "m") + "END\r\n");
    assert_eq!(lines.ask("get a/b/t=60000 a/open/b\r\n"), value("a/b", "m") + &value("a/open/b", "n") + "END\r\n");
    assert_eq!(lines.ask("get a\r\n"), "END\r\n");
    let refused = "CLIENT_ERROR the queue name ends in an option of get\r\n";
    assert_eq!(lines.ask(set("q/open", "m") + "set q/t=5 0 0 1 noreply\r\nm\r\n"), refused);
    assert_eq!(call(&server, "DBSIZE"), "0");
    // A client that waits to peek gets the message, and leaves it to other waiting clients.
    let (mut looking, mut waiting) = (Lines::of_queues(port), Lines::of_queues(port));
    looking.send("get a/b/peek/t=60000\r\nversion\r\n");
    wait_until("nobody waits", || server.info("blocked_clients") == "1");
    waiting.send("get a/b/t=60000\r\nversion\r\n");
    wait_until("nobody waits", || server.info("blocked_clients") == "2");
    assert_eq!(lines.ask(set("a/b", "m")), "STORED\r\n");
    for client in [&mut looking, &mut waiting] {
        assert_eq!(client.until_last(), value("a/b", "m") + "END\r\n");
    }
    assert_eq!(call(&server, "LLEN a/b"), "0");
}

#[test]
fn statistics_match_the_messages_sent_and_taken() {
    const CLIENTS: u64 = 4;
    const MESSAGES: u64 = 500;
    let (_server, port) = start(&[]);
    let taken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let taken = &taken;
            scope.spawn(move || {
                let mut lines = Lines::of_queues(port);
                for number in 0..MESSAGES {
                    assert_eq!(
                        lines.ask(set(&format!("q{}", client % 2), &format!("{client}:{number}"))),
                        "STORED\r\n"
                    );
                    // Half as many as are put there, so that some are left.
                    if number % 4 == 0 && lines.ask("get q0\r\n") != "END\r\n" {
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let taken = taken.into_inner();
    let mut lines = Lines::of_queues(port);
    let stats = lines.ask("stats\r\n");
    for (name, count) in [
        ("set_cmds", CLIENTS * MESSAGES),
        ("set_hits", CLIENTS * MESSAGES),
        ("get_cmds", CLIENTS * MESSAGES / 4),
        ("get_hits", taken),
    ] {
        assert!(stats.contains(&format!("STAT {name} {count}\r\n")), "{name} is {count}: {stats}");
    }
    for name in ["pid", "uptime", "time", "version", "pointer_size", "curr_connections", "threads", "bytes_read"] {
        assert!(stats.contains(&format!("STAT {name} ")), "{name}: {stats}");
    }
    let each = CLIENTS * MESSAGES / 2;
    assert_eq!(lines.ask("stats queue\r\n"), format!("STAT q0 {each}/{taken}\r\nSTAT q1 {each}/0\r\nEND\r\n"));
    let expected = format!("RESET\r\nSTAT q0 {}/0\r\nSTAT q1 {each}/0\r\nEND\r\nERROR\r\n", each - taken);
    assert_eq!(lines.ask("stats reset\r\nstats queue\r\nstats nonsense\r\n"), expected);
}

/// MemcacheQ's `stats queue` reports a queue's length as the difference of both, and omits deleted queues.
#[test]
fn queue_length_is_the_difference_of_puts_and_takes() {
    let (server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    let stats = |lines: &mut Lines| lines.ask("stats queue\r\n");
    lines.ask(set("q", "a") + &set("q", "b"));
    assert_eq!(lines.ask("get q/open\r\n"), value("q", "a") + "END\r\n");
    assert_eq!(stats(&mut lines), "STAT q 2/1\r\nEND\r\n");
    lines.ask("get q/abort\r\n");
    assert_eq!(stats(&mut lines), "STAT q 2/0\r\nEND\r\n");
    let mut leaving = Lines::of_queues(port);
    leaving.ask("get q/open\r\n");
    assert_eq!(stats(&mut lines), "STAT q 2/1\r\nEND\r\n");
    drop(leaving);
    wait_until("the message is back", || stats(&mut lines) == "STAT q 2/0\r\nEND\r\n");
    assert_eq!(call(&server, "LLEN q"), "2");
    lines.ask("get q/open\r\nget q/close\r\n");
    assert_eq!(stats(&mut lines), "STAT q 2/1\r\nEND\r\n");
    lines.ask("get q/open\r\ndelete q\r\n");
    assert_eq!(stats(&mut lines), "END\r\n");
    lines.ask(set("q", "c"));
    assert!(lines.ask("get q/close\r\n").starts_with("SERVER_ERROR the lease has ended"));
    assert_eq!(stats(&mut lines), "STAT q 1/0\r\nEND\r\n");
    lines.ask(set("other", "d") + "flush_all\r\n" + &set("other", "e"));
    assert_eq!(stats(&mut lines), "STAT other 1/0\r\nEND\r\n");
}

#[test]
fn statistics_after_a_restart_include_all_queues() {
    let (mut server, port) = start(&[]);
    call(&server, "RPUSH q a b");
    call(&server, "SET text t");
    let mut lines = Lines::of_queues(port);
    assert_eq!(lines.ask("stats queue\r\n"), "STAT q 2/0\r\nEND\r\n");
    server.stop();
    server.restart();
    let mut lines = Lines::of_queues(port);
    assert_eq!(lines.ask("stats queue\r\n"), "STAT q 2/0\r\nEND\r\n");
    assert_eq!(lines.ask("get q\r\nstats queue\r\n"), value("q", "a") + "END\r\nSTAT q 2/1\r\nEND\r\n");
    call(&server, "RPUSH q c");
    assert_eq!(lines.ask("stats queue\r\n"), "STAT q 3/1\r\nEND\r\n");
    assert_eq!(call(&server, "MQ.QUEUES"), "[STAT q 3/1, END]");
}

/// For MemcacheQ a queue exists once it was created, even if it is empty.
#[test]
fn an_emptied_queue_can_be_deleted() {
    let (server, port) = start(&[]);
    let mut lines = Lines::of_queues(port);
    assert_eq!(lines.ask("delete q\r\n"), "NOT_FOUND\r\n");
    lines.ask(set("q", "a") + "get q\r\n");
    assert_eq!(lines.ask("stats queue\r\n"), "STAT q 1/1\r\nEND\r\n");
    assert_eq!(lines.ask("delete q\r\ndelete q\r\nstats queue\r\n"), "DELETED\r\nNOT_FOUND\r\nEND\r\n");
    // This holds for a queue that this port has used and others have emptied, not for one that it has never used.
    lines.ask(set("q", "a") + &set("q", "b") + "get q\r\n");
    assert_eq!(call(&server, "LPOP q"), "b");
    assert_eq!(call(&server, "RPUSH r a"), "1");
    assert_eq!(call(&server, "LPOP r"), "a");
    assert_eq!(lines.ask("delete r\r\ndelete q\r\ndelete q\r\n"), "NOT_FOUND\r\nDELETED\r\nNOT_FOUND\r\n");
}

#[test]
fn statistics_show_queue_names_byte_for_byte() {
    let (_server, port) = start(&[]);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"set \xff\xfe 0 0 1\r\nx\r\nstats queue\r\nquit\r\n").unwrap();
    let mut replies = Vec::new();
    stream.read_to_end(&mut replies).unwrap();
    assert_eq!(replies, b"STORED\r\nSTAT \xff\xfe 1/0\r\nEND\r\n");
}

#[test]
fn a_flush_deletes_only_lists_and_queues() {
    let (server, port) = start(&["--queue-db", "3"]);
    let mut lines = Lines::of_queues(port);
    lines.ask(set("q", "a"));
    let mut resp = server.connect();
    let mut say = |line: &str| resp.call(&line.split(' ').collect::<Vec<_>>()).to_string();
    assert_eq!(say("EXISTS q"), "0");
    say("RPUSH other x");
    say("SELECT 3");
    say("SET text x");
    say("Q.PUSH leased m");
    say("Q.RESERVE leased");
    assert_eq!(lines.ask("flush_all\r\n"), "OK\r\n");
    assert_eq!(say("EXISTS q leased"), "0");
    assert_eq!(say("EXISTS text"), "1");
    say("SELECT 0");
    assert_eq!(say("EXISTS other"), "1");
}

#[test]
fn puts_and_takes_survive_a_crash() {
    let (mut server, port) = start(&["--fsync", "always"]);
    let mut lines = Lines::of_queues(port);
    for number in 0..100 {
        assert_eq!(lines.ask(set("q", &number.to_string())), "STORED\r\n");
    }
    for number in 0..30 {
        assert_eq!(lines.ask("get q\r\n"), value("q", &number.to_string()) + "END\r\n");
    }
    assert_eq!(lines.ask("get q/open\r\n"), value("q", "30") + "END\r\n");
    server.kill();
    server.restart();
    let port = server.flag("--queue-port").parse().unwrap();
    let mut lines = Lines::of_queues(port);
    // The open message is still leased, and returns when the lease ends.
    for number in 31..100 {
        assert_eq!(lines.ask("get q\r\n"), value("q", &number.to_string()) + "END\r\n");
    }
    assert_eq!(lines.ask("get q\r\n"), "END\r\n");
    let info = call(&server, "Q.INFO q");
    assert!(info.contains("ready, 0, leased, 1,"), "{info}");
}

#[test]
fn a_password_is_required() {
    let (_server, port) = start(&["--requirepass", "secret"]);
    let mut lines = Lines::of_queues(port);
    lines.send("get q\r\nset auth 0 0 14\r\ndefault secret\r\n");
    let answer = lines.ask(set("q", "a") + "get q\r\n");
    assert_eq!(
        answer,
        "CLIENT_ERROR unauthenticated\r\nSTORED\r\nSTORED\r\n".to_owned() + &value("q", "a") + "END\r\n"
    );
}

#[test]
fn pipelines_are_answered_in_order_and_slow_readers_disconnected() {
    let (server, port) = start(&["--client-output-buffer-limit", "normal 1kb 0 0"]);
    let mut lines = Lines::of_queues(port);
    let puts: String =
        (0..5_000).map(|number| format!("set q 0 0 {} noreply\r\n{number}\r\n", number.to_string().len())).collect();
    let gets = "get q\r\n".repeat(5_000);
    let expected: String = (0..5_000).map(|number: u32| value("q", &number.to_string()) + "END\r\n").collect();
    assert!(lines.ask(puts + &gets) == expected);
    // Wherever the socket stops, more than the limit is left of one reply.
    let message = "x".repeat(1_000_000);
    lines.ask(set("long", &message));
    // More than any socket takes.
    lines.send("get long/peek\r\n".repeat(100));
    wait_until("it is not cut off", || server.log().contains("does not read its output"));
    assert_eq!(call(&server, "LLEN long"), "1");
}

#[test]
fn queue_and_memcached_ports_share_the_keys() {
    let server = Server::start(&["--queue-port", FREE_PORT, "--memcached-port", FREE_PORT]);
    let mut queues = Lines::of_queues(server.flag("--queue-port").parse().unwrap());
    let mut items = Lines::connect(server.flag("--memcached-port").parse().unwrap());
    queues.ask(set("q", "a"));
    assert_eq!(items.ask("get q\r\nset k 0 0 1\r\nx\r\n"), "END\r\nSTORED\r\n");
    assert_eq!(queues.ask("get k\r\n"), "END\r\n");
    assert_eq!(items.ask("flush_all\r\nget k\r\n"), "OK\r\nEND\r\n");
    let mut resp = Connection::tcp(server.port);
    assert_eq!(resp.call(&["LLEN", "q"]), Value::Int(1));
}

/// Bytes that the files of a folder take.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[test]
fn a_full_disk_refuses_messages_and_can_be_drained() {
    let test = "a_full_disk_refuses_messages_and_can_be_drained";
    let Some(disk) = Disk::mount_or_skip(test, 256 << 20) else { return };
    let folder = tempfile::tempdir_in(disk.path()).unwrap();
    let server = Server::start_in(folder, &["--queue-port", FREE_PORT]);
    let mut lines = Lines::of_queues(server.flag("--queue-port").parse().unwrap());
    let message = |at: usize| format!("{at:08}{}", ".".repeat(9_992));
    let mut stored = 0;
    loop {
        const AT_ONCE: usize = 50;
        let puts: String = (stored..stored + AT_ONCE).map(|at| set("q", &message(at))).collect();
        let answer = lines.ask(puts);
        let replies: Vec<&str> = answer.lines().collect();
        assert_eq!(replies.len(), AT_ONCE);
        // They are refused one by one: after the first refusal, others may find room again.
        let refused = replies.iter().position(|line| *line != "STORED");
        if let Some(refused) = refused {
            assert!(replies[refused].starts_with("SERVER_ERROR MISCONF "), "{}", replies[refused]);
            let kept: Vec<usize> = (0..AT_ONCE).filter(|at| replies[*at] == "STORED").map(|at| stored + at).collect();
            drain(&mut lines, (0..stored).chain(kept).map(message));
            break;
        }
        stored += AT_ONCE;
    }
    assert!(stored * 10_000 > 32 << 20, "it took {stored} messages");
    // Consumed messages free their room without a request.
    let began = Instant::now();
    while bytes_in(&server.data()) > 32 << 20 {
        assert!(began.elapsed() < 2 * PATIENCE, "{} bytes are left", bytes_in(&server.data()));
        std::thread::sleep(Duration::from_millis(50));
    }
    wait_until("it goes on", || lines.ask(set("q", "more")) == "STORED\r\n");
    assert_eq!(lines.ask("get q\r\n"), value("q", "more") + "END\r\n");
}

fn drain(lines: &mut Lines, messages: impl Iterator<Item = String>) {
    for message in messages {
        assert!(lines.ask("get q\r\n") == value("q", &message) + "END\r\n", "{}", &message[..8]);
    }
    assert_eq!(lines.ask("get q\r\n"), "END\r\n");
}

#[test]
fn pymemcache_works_with_queues() {
    let test = "pymemcache_works_with_queues";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("BOBBIN_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| root.join("../../.venv/bin/python"));
    let has = Command::new(&python).args(["-c", "import pymemcache"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        return skip(test, &format!("{} has no pymemcache (scripts/setup-tests installs it)", python.display()));
    }
    let (_server, port) = start(&[]);
    let script = root.join("tests/clients/pymemcache_queues.py");
    let output = Command::new(&python).arg(script).arg(port.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
