//! Replays on real servers, and on some that misbehave.

use super::*;
use crate::server::Server;
use capture::tests::line_of;
use capture::{CapturedCall, Line, parse_line};
use clap::Parser;
use replies::Answer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::thread;
use tempfile::TempDir;
use testing::program_or_skip;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    replay: ReplayArguments,
}

/// The lines of calls `client database words`, a millisecond apart.
fn lines(calls: &[(&str, u32, &str)]) -> String {
    let line = |((client, database, words), time_ms): (&(&str, u32, &str), u64)| {
        let words = words.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        line_of(&CapturedCall { time_us: time_ms * 1000, database: *database, client: (*client).to_owned(), words })
    };
    calls.iter().zip(1000..).map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the command on a capture.
fn run_command(folder: &TempDir, capture: &str, flags: &[&str]) -> Result<(PathBuf, ReplayOutcome), LabError> {
    let path = folder.path().join("capture.txt");
    fs::write(&path, capture).unwrap();
    let out = folder.path().join("out");
    let mut words = vec!["replay", path.to_str().unwrap(), "--out", out.to_str().unwrap()];
    words.extend(flags);
    replay(&Arguments::try_parse_from(words).unwrap().replay)
}

fn peer(name: &str, server: &Server) -> String {
    format!("--peer={name}={}", server.address())
}

fn redis_server(folder: &TempDir) -> Option<Server> {
    let redis = program_or_skip("lab::replay", "redis-server")?;
    Some(Server::start(&redis, &["--save".to_owned(), String::new()], folder.path()).unwrap())
}

fn max_plays(address: SocketAddr, calls: &[(&str, u32, &str)]) -> std::io::Result<Played> {
    let plan = Plan::of(lines(calls).as_bytes()).unwrap();
    player::play(&plan, address, Speed::Max, &AtomicBool::new(false))
}

/// Captures what MONITOR prints while two clients make calls.
fn real_capture(server: &Server) -> String {
    let mut monitor = TcpStream::connect(server.address()).unwrap();
    monitor.write_all(b"MONITOR\r\n").unwrap();
    let mut monitor = BufReader::new(monitor).lines();
    let mut capture = vec![monitor.next().unwrap().unwrap()];
    let mut clients = [server.client().unwrap(), server.client().unwrap()];
    for index in 0..200 {
        let client = &mut clients[index % 2];
        let keys = index % 2;
        client.call(&format!("SET key:{keys}:{index} value{index}")).unwrap();
        client.call(&format!("SADD set:{keys} {index} {}", index + 1)).unwrap();
        client.call(&format!("HSET hash:{keys} {index} \"a b\" x {index}")).unwrap();
        client.call(&format!("GET key:{keys}:{index}")).unwrap();
    }
    for (client, keys) in clients.iter_mut().zip(0..) {
        let lines = [
            format!("SMEMBERS set:{keys}"),
            format!("HGETALL hash:{keys}"),
            "INFO".to_owned(),
            format!("SRANDMEMBER set:{keys}"),
            format!("EVAL \"return redis.call('INCR',KEYS[1])\" 1 counter:{keys}"),
            "MULTI".to_owned(),
            format!("LPUSH list:{keys} a b c"),
            "SELECT 3".to_owned(),
            format!("SET other:{keys} 1"),
            "EXEC".to_owned(),
            format!("GET other:{keys}"),
        ];
        for line in lines {
            client.call(&line).unwrap();
        }
    }
    clients[0].call("ECHO \"the end\"").unwrap();
    for line in monitor {
        capture.push(line.unwrap());
        if capture.last().unwrap().contains("the end") {
            break;
        }
    }
    capture.join("\n")
}

#[test]
fn two_equal_servers_give_no_differences() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let capture = real_capture(&server);
    for speed in ["max", "1000"] {
        let (path, outcome) = run_command(&folder, &capture, &["--sides", "redis,redis", "--speed", speed]).unwrap();
        let counts = &outcome.capture;
        // 200 x 4 calls, 2 x 11 more, and the end.
        assert_eq!((counts.lines, counts.played, counts.of_scripts, counts.unreadable), (826, 823, 2, 0));
        assert_eq!(counts.clients, 2);
        let [comparison] = outcome.replies.as_slice() else { panic!("two servers give one comparison") };
        assert_eq!((comparison.compared, comparison.different, comparison.missing), (819, 0, 0));
        assert_eq!((comparison.side.as_str(), comparison.reference.as_str()), ("redis", "redis 2"));
        for server in &outcome.servers {
            assert!(server.is_complete);
            assert_eq!((server.all.calls, server.all.errors, server.all.closed), (823, 0, 0));
            let gets = server.commands.iter().find(|command| command.command == "GET").unwrap();
            assert_eq!(gets.calls, 202);
        }
        let json = fs::read_to_string(path.join(JSON_NAME)).unwrap();
        assert_eq!(serde_json::from_str::<ReplayOutcome>(&json).unwrap(), outcome);
    }
}

#[test]
fn the_folder_has_a_page_with_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let capture = lines(&[("a", 0, "SET x 1"), ("a", 0, "GET x"), ("a", 0, "LPUSH x 1")]);
    let flags = [&peer("one", &server), &peer("two", &server), "--speed", "max"];
    let (path, outcome) = run_command(&folder, &capture, &flags).unwrap();
    let results = Results::read(&path).unwrap();
    let rows = &results.scenarios[0].tables[0].rows;
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["all commands", "GET", "LPUSH", "SET"]);
    let page = fs::read_to_string(path.join(results::PAGE_NAME)).unwrap();
    for text in ["LPUSH", "all 3 replies of one equal those of two", "at 127.0.0.1"] {
        assert!(page.contains(text), "{text} is on the page");
    }
    assert!(outcome.text().contains("one: error replies: 1."), "{}", outcome.text());
}

#[test]
fn a_server_with_other_data_gives_differences() {
    let folder = tempfile::tempdir().unwrap();
    let (Some(filled), Some(empty)) = (redis_server(&folder), redis_server(&folder)) else { return };
    filled.client().unwrap().call("SET a \"old value\"").unwrap();
    filled.client().unwrap().call("SADD s 1 2 3").unwrap();
    let capture = lines(&[("c", 0, "GET a"), ("c", 0, "GET b"), ("c", 0, "SMEMBERS s"), ("c", 0, "TIME")]);
    let flags = [&peer("filled", &filled), &peer("empty", &empty), "--speed", "max"];
    let (path, outcome) = run_command(&folder, &capture, &flags).unwrap();
    let comparison = &outcome.replies[0];
    assert_eq!((comparison.compared, comparison.different), (3, 2));
    let first = &comparison.first[0];
    assert_eq!((first.line, first.client.as_str(), first.call.as_str()), (1, "c", "[\"GET\", \"a\"]"));
    assert_eq!((first.reply.as_str(), first.reference_reply.as_str()), ("\"old value\"", "(nil)"));
    assert_eq!(comparison.first[1].reference_reply, "[]");
    assert!(outcome.text().contains("2 of 3 replies of filled differ from those of empty."), "{}", outcome.text());
    let page = fs::read_to_string(path.join(results::PAGE_NAME)).unwrap();
    assert!(page.contains("GET: 1 of 2 replies of filled differ from those of empty"));
}

#[test]
fn shared_keys_give_no_differences_in_order() {
    let folder = tempfile::tempdir().unwrap();
    if program_or_skip("lab::replay", "redis-server").is_none() {
        return;
    }
    let clients: Vec<String> = (0..1000).map(|index| format!("127.0.0.1:{}", index * 7 % 20)).collect();
    let calls: Vec<_> = clients.iter().map(|client| (client.as_str(), 0, "INCR shared")).collect();
    let flags = ["--sides", "redis,redis", "--speed", "in-order"];
    let comparison = run_command(&folder, &lines(&calls), &flags).unwrap().1.replies.remove(0);
    assert_eq!((comparison.compared, comparison.different), (1000, 0));
}

#[test]
fn calls_in_order_run_as_they_were_captured() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let calls = [
        ("a", 0, "BLPOP list 0"),
        ("b", 0, "LPUSH list x"),
        ("a", 0, "APPEND log 1"),
        ("c", 0, "APPEND log 2"),
        ("b", 0, "APPEND log 3"),
        ("a", 0, "APPEND log 4"),
    ];
    let plan = Plan::of(lines(&calls).as_bytes()).unwrap();
    let played = player::play(&plan, server.address(), Speed::InOrder, &AtomicBool::new(false)).unwrap();
    assert!(played.is_complete);
    assert_eq!(server.ask("GET log").unwrap(), "1234");
}

#[test]
fn running_servers_are_emptied_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    server.client().unwrap().call("SET kept here").unwrap();
    let capture = lines(&[("c", 0, "GET a")]);
    run_command(&folder, &capture, &[&peer("one", &server)]).unwrap();
    assert_eq!(server.ask("GET kept").unwrap(), "here");
    run_command(&folder, &capture, &[&peer("one", &server), "--flush"]).unwrap();
    assert_eq!(server.ask("GET kept").unwrap(), "(nil)");
}

#[test]
fn dangerous_commands_do_not_reach_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let capture = lines(&[
        ("c", 0, "SHUTDOWN NOSAVE"),
        ("c", 0, "CONFIG SET maxmemory 1"),
        ("c", 0, "REPLICAOF 127.0.0.1 1"),
        ("c", 0, "MONITOR"),
        ("c", 0, "SUBSCRIBE news"),
        ("c", 0, "CLIENT REPLY OFF"),
        ("c", 0, "SET x 1"),
    ]);
    let outcome = run_command(&folder, &capture, &[&peer("one", &server), "--speed", "max"]).unwrap().1;
    assert_eq!(outcome.capture.skipped.iter().map(|it| it.calls).sum::<u64>(), 6);
    assert_eq!(outcome.servers[0].all.calls, 1);
    assert_eq!(server.ask("CONFIG GET maxmemory").unwrap(), "maxmemory 0");
    assert_eq!(server.ask("GET x").unwrap(), "1");
}

#[test]
fn calls_run_in_the_databases_of_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let calls = [("a", 3, "SET x three"), ("b", 0, "SET x zero"), ("a", 5, "SELECT 5"), ("a", 5, "SET x five")];
    let played = max_plays(server.address(), &calls).unwrap();
    assert!(played.is_complete);
    let mut client = server.client().unwrap();
    for (database, value) in [(0, "zero"), (3, "three"), (5, "five")] {
        client.call(&format!("SELECT {database}")).unwrap();
        assert_eq!(client.call("GET x").unwrap(), value);
    }
}

#[test]
fn a_database_that_the_server_lacks_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let error = max_plays(server.address(), &[("a", 99, "GET x")]).err().unwrap().to_string();
    assert!(error.contains("refuses a database"), "{error}");
}

#[test]
fn a_waiting_call_ends_when_another_client_pushes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let calls = [("a", 0, "BLPOP list 0"), ("b", 0, "LPUSH list x"), ("a", 0, "SET after 1")];
    let played = max_plays(server.address(), &calls).unwrap();
    assert!(matches!(played.answers.answer(0), Answer::Reply { is_error: false, .. }));
    assert_eq!(server.ask("GET after").unwrap(), "1");
    // Its time depends on the other client, so it is not among the latencies.
    assert_eq!(played.latency_ns.len(), 2);
}

#[test]
fn a_call_that_waits_in_vain_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let calls = [("a", 3, "BLPOP nothing 0"), ("a", 3, "SET after 1")];
    let plan = Plan::of(lines(&calls).as_bytes()).unwrap();
    for speed in [Speed::Max, Speed::Times(1.0), Speed::InOrder] {
        let played = player::play(&plan, server.address(), speed, &AtomicBool::new(false)).unwrap();
        assert!(played.is_complete);
        assert_eq!(played.answers.answer(0), Answer::GivenUp);
        let mut client = server.client().unwrap();
        client.call("SELECT 3").unwrap();
        assert_eq!(client.call("GETDEL after").unwrap(), "1");
    }
}

#[test]
fn clients_that_came_one_after_another_are_played_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let clients: Vec<String> = (0..300).map(|number| format!("127.0.0.1:{number}")).collect();
    let calls: Vec<_> = clients.iter().map(|client| (client.as_str(), 0, "INCR count")).collect();
    let before: u64 = connections_received(&server);
    let played = max_plays(server.address(), &calls).unwrap();
    assert!(played.is_complete);
    // One connection asks.
    assert_eq!(connections_received(&server) - before, 301);
    assert_eq!(server.ask("GET count").unwrap(), "300");
}

fn connections_received(server: &Server) -> u64 {
    let info = server.ask("INFO stats").unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:")).unwrap();
    line.trim().parse().unwrap()
}

fn closed(played: &Played, calls: usize) -> u64 {
    (0..calls).filter(|call| played.answers.answer(*call) == Answer::Closed).count() as u64
}

/// A server that says the same to each client and closes the connection.
fn rude_server(reply: &'static [u8], clients: usize) -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = move || {
        for _ in 0..clients {
            let (mut stream, _) = listener.accept().unwrap();
            let mut room = [0; 1024];
            assert!(stream.read(&mut room).unwrap() > 0);
            stream.write_all(reply).unwrap();
        }
    };
    (address, thread::spawn(serve))
}

#[test]
fn closed_connections_are_opened_again() {
    let (address, server) = rude_server(b"", 3);
    let played = max_plays(address, &[("a", 0, "GET x"), ("a", 0, "GET y"), ("a", 0, "GET z")]).unwrap();
    server.join().unwrap();
    assert!(played.is_complete);
    assert_eq!(closed(&played, 3), 3);
    assert_eq!(played.latency_ns.len(), 0);
}

#[test]
fn a_reply_that_breaks_the_protocol_is_an_error() {
    let (address, server) = rude_server(b"?what\r\n", 1);
    let error = max_plays(address, &[("a", 0, "GET x")]).err().unwrap().to_string();
    server.join().unwrap();
    assert!(error.contains("unknown type"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(max_plays(free, &[("a", 0, "GET x")]).is_err());
    let folder = tempfile::tempdir().unwrap();
    let error = run_command(&folder, &lines(&[("a", 0, "GET x")]), &[&format!("--peer=gone={free}")]).unwrap_err();
    assert!(error.to_string().contains("gone: "), "{error}");
}

#[test]
fn a_stopped_replay_is_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    let plan = Plan::of("1.000000 [0 a] \"GET\" \"x\"\n9999999.000000 [0 a] \"GET\" \"x\"".as_bytes()).unwrap();
    let played = player::play(&plan, server.address(), Speed::Times(1.0), &AtomicBool::new(true)).unwrap();
    assert!(!played.is_complete);
    assert_eq!(played.answers.answer(1), Answer::None);
}

#[test]
fn a_capture_without_calls_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = run_command(&folder, "OK\nrubbish\n", &["--sides", "redis"]).unwrap_err().to_string();
    assert!(error.contains("no call to play") && error.contains("line 2: "), "{error}");
}

#[test]
fn names_of_no_resp_server_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["memcached", "nonsense"] {
        let error = run_command(&folder, &lines(&[("a", 0, "GET x")]), &["--sides", name]).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn speeds_are_numbers_or_max() {
    assert_eq!(speed("max"), Ok(Speed::Max));
    assert_eq!(speed("in-order"), Ok(Speed::InOrder));
    assert_eq!(speed("2"), Ok(Speed::Times(2.0)));
    for text in ["0", "-1", "NaN", "inf", "fast", ""] {
        assert!(speed(text).is_err(), "{text}");
    }
}

#[test]
fn a_real_capture_has_no_unreadable_line() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = redis_server(&folder) else { return };
    for line in real_capture(&server).lines() {
        assert!(matches!(parse_line(line.as_bytes()), Ok(Line::Call(_) | Line::OfScript | Line::Nothing)), "{line}");
    }
}
