//! Calls to real servers, and to scripted ones where a real one cannot be made to err.

use super::plan::Calls;
use super::*;
use crate::scenario::Side;
use crate::server::Resources;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use tempfile::TempDir;
use testing::program_or_skip;

const LIMIT: Duration = Duration::from_secs(60);
static NEVER: AtomicBool = AtomicBool::new(false);

/// A server and the folder in which its data are.
struct Peer {
    server: Server,
    _data: TempDir,
}

impl Peer {
    fn redis() -> Option<Self> {
        let redis = program_or_skip("lab::calls", "redis-server")?;
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        Some(Self { server, _data: data })
    }

    /// A server with a protocol of its own.
    fn of(program: &str, protocol: &str) -> Option<Self> {
        let path = program_or_skip("lab::calls", program)?;
        let data = tempfile::tempdir().unwrap();
        let side = format!("label = 'a'\nprogram = '{program}'\nprotocol = '{protocol}'\ndurability = 'none'");
        let side: Side = toml::from_str(&side).unwrap();
        let server = Server::of_side(&path, &side, Resources::default(), data.path()).unwrap();
        Some(Self { server, _data: data })
    }

    fn ask(&self, question: &str) -> String {
        self.server.ask(question).unwrap()
    }

    fn try_calls(&self, requests: u64, items: u64, calls: &str) -> io::Result<MeasuredCalls> {
        let target = (self.server.protocol(), self.server.protocol_address());
        run(plan(requests, items, calls), target, LIMIT, &NEVER)
    }

    fn calls(&self, requests: u64, items: u64, calls: &str) -> MeasuredCalls {
        self.try_calls(requests, items, calls).unwrap()
    }

    fn refused(&self, calls: &str) -> String {
        self.try_calls(20, 10, calls).err().unwrap_or_else(|| panic!("{calls} is accepted")).to_string()
    }
}

fn plan(requests: u64, items: u64, calls: &str) -> CallPlan {
    let calls: Calls = toml::from_str(calls).unwrap();
    calls.resolve(PlaceholderValues { requests, items }, None).unwrap()
}

fn one(say: &str, rest: &str) -> String {
    format!("parties = [{{ say = '{say}', {rest} }}]")
}

/// A server of one connection that behaves as the function says.
fn scripted(serve: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || serve(listener.accept().unwrap().0));
    address
}

/// Reads a request of one word of RESP.
fn read_request(stream: &mut impl Read) -> bool {
    stream.read_exact(&mut [0; "*1\r\n$4\r\nPING\r\n".len()]).is_ok()
}

fn sum(measured: &MeasuredCalls) -> u64 {
    measured.timeline.iter().map(|second| second.calls).sum()
}

#[test]
fn calls_are_as_many_as_requested() {
    let Some(redis) = Peer::redis() else { return };
    for rest in ["connections = 1", "connections = 7, pipeline = 5", "connections = 2000"] {
        for threads in [1, 2, 5] {
            redis.ask("SET n 0");
            let calls = one("INCR n", &format!("{rest}, expect = 'integer'")) + &format!("\nthreads = {threads}");
            let measured = redis.calls(1003, 1, &calls);
            assert_eq!(redis.ask("GET n"), "1003", "{calls}");
            assert_eq!((measured.calls, measured.latency_us.len(), sum(&measured)), (1003, 1003, 1003), "{calls}");
        }
    }
}

#[test]
fn no_next_number_is_used_twice_over_threads() {
    let Some(redis) = Peer::redis() else { return };
    let calls = one("RPUSH l {next:12}", "connections = 11, pipeline = 7, expect = 'integer'") + "\nthreads = 3";
    redis.calls(5000, 5000, &calls);
    let numbers = redis.ask("LRANGE l 0 -1");
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 5000);
    assert!(numbers.into_iter().collect::<BTreeSet<_>>().into_iter().eq(0..5000));
}

#[test]
fn values_begin_with_the_number_of_their_key() {
    let Some(redis) = Peer::redis() else { return };
    redis.calls(1000, 100, &one("SET key:{next:12}", "bytes = 300, connections = 4, pipeline = 3"));
    assert_eq!(redis.ask("DBSIZE"), "100");
    let value = redis.ask("GET key:000000000042");
    assert!(value.len() == 300 && value.starts_with("000000000042"));
    let get = one("GET key:{random:12}", "connections = 4, pipeline = 16, expect = { own_bytes = 300 }");
    assert_eq!(redis.calls(1000, 100, &get).calls, 1000);
    redis.ask(&format!("SET key:000000000042 {}", "9".repeat(300)));
    let error = redis.try_calls(1000, 100, &get).err().unwrap().to_string();
    assert!(error.contains("`GET key:000000000042` was answered with `$300"), "{error}");
}

#[test]
fn values_larger_than_socket_buffers_pass_both_ways() {
    let Some(redis) = Peer::redis() else { return };
    let put = one("RPUSH q", "bytes = 300_000, connections = 3, pipeline = 16, expect = 'integer'");
    redis.calls(200, 1, &put);
    assert_eq!(redis.ask("LLEN q"), "200");
    assert_eq!(redis.ask("LINDEX q 199").len(), 300_000);
    let take = one("LPOP q", "connections = 3, pipeline = 16, expect = { bulk_bytes = 300_000 }");
    assert_eq!(redis.calls(200, 1, &take).found_nothing, 0);
    assert_eq!(redis.ask("EXISTS q"), "0");
}

#[test]
fn consumers_take_all_that_producers_put() {
    let Some(redis) = Peer::redis() else { return };
    let calls = "parties = [
        { say = 'RPUSH q', bytes = 10, connections = 3, pipeline = 4, expect = 'integer' },
        { say = 'LPOP q', connections = 20, pipeline = 4, expect = { bulk_bytes = 10 } }]";
    let measured = redis.calls(1000, 1, calls);
    let by_party: Vec<u64> = measured.parties.iter().map(|(calls, _)| *calls).collect();
    assert_eq!((measured.calls, by_party), (2000, vec![1000, 1000]));
    assert_eq!(redis.ask("EXISTS q"), "0");
}

#[test]
fn some_calls_are_made_instead_of_the_usual() {
    let Some(redis) = Peer::redis() else { return };
    let calls = one(
        "INCR usual",
        "connections = 3, pipeline = 2, expect = 'integer', instead = [
            { say = 'RPUSH rare', bytes = 5, percent = 10, expect = 'integer' }, { say = 'PING', percent = 5,
            expect = { exactly = 'PONG' } }]",
    );
    redis.calls(2000, 1, &calls);
    let (usual, rare): (u64, u64) = (redis.ask("GET usual").parse().unwrap(), redis.ask("LLEN rare").parse().unwrap());
    assert!((1640..1760).contains(&usual) && (150..250).contains(&rare), "{usual} {rare}");
}

#[test]
fn short_connections_are_opened_for_each_call() {
    let Some(redis) = Peer::redis() else { return };
    let mut client = redis.server.client().unwrap();
    let mut received = || {
        let stats = client.call("INFO stats").unwrap();
        let field = stats.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
        field.unwrap().parse::<u64>().unwrap()
    };
    let before = received();
    let short = "connections = 5, calls_per_connection = 1, expect = 'integer'";
    assert_eq!(redis.calls(200, 1, &one("INCR n", short)).calls, 200);
    assert_eq!(received() - before, 200);
    let before = received();
    let short = "connections = 5, calls_per_connection = 4, pipeline = 3, expect = 'integer'";
    redis.calls(200, 1, &one("INCR n", short));
    // The last connection of each place may have made fewer calls.
    assert!((50..=54).contains(&(received() - before)));
    let before = received();
    redis.calls(
        200,
        1,
        &(one("INCR n", "connections = 5, calls_per_connection = 1, expect = 'integer'") + "\npace_per_s = 2000"),
    );
    assert_eq!(received() - before, 200);
    let left: u64 = redis.ask("GET n").parse().unwrap();
    assert_eq!(left, 600);
}

#[test]
fn paced_calls_are_as_many_as_requested() {
    let Some(redis) = Peer::redis() else { return };
    let calls = "pace_per_s = 5000\nthreads = 2\nparties = [
        { say = 'INCR a', connections = 3, expect = 'integer' },
        { say = 'INCR b', connections = 1, pipeline = 4, expect = 'integer' }]";
    assert_eq!(redis.calls(500, 1, calls).calls, 1000);
    assert_eq!((redis.ask("GET a"), redis.ask("GET b")), ("500".to_owned(), "500".to_owned()));
}

#[test]
fn no_more_paced_calls_are_made_than_are_due() {
    let Some(redis) = Peer::redis() else { return };
    let calls = one("INCR n", "connections = 10, expect = 'integer'") + "\npace_per_s = 50\nseconds = 1\nthreads = 2";
    let measured = redis.calls(0, 1, &calls);
    let made: u64 = redis.ask("GET n").parse().unwrap();
    assert!(measured.calls <= made && made <= 50, "{} {made}", measured.calls);
}

#[test]
fn paced_latency_counts_from_the_due_time() {
    let stall = Duration::from_millis(200);
    let address = scripted(move |mut stream| {
        for at in 0.. {
            if !read_request(&mut stream) {
                return;
            }
            if at == 0 {
                thread::sleep(stall);
            }
            stream.write_all(b"+PONG\r\n").unwrap();
        }
    });
    let calls = one("PING", "connections = 1, expect = { exactly = 'PONG' }") + "\npace_per_s = 1000";
    let measured = run(plan(100, 1, &calls), (Protocol::Resp, address), LIMIT, &NEVER).unwrap();
    // The last call is due 99 ms after the first, whose reply comes after 200 ms.
    assert!(measured.latency_us.min() >= 100_000, "{}", measured.latency_us.min());
    assert_eq!(measured.calls, 100);
}

#[test]
fn the_time_ends_calls_without_an_error() {
    let Some(redis) = Peer::redis() else { return };
    let calls = one("INCR n", "connections = 3, pipeline = 4, expect = 'integer'") + "\nseconds = 1";
    let measured = redis.calls(0, 1, &calls);
    let made: u64 = redis.ask("GET n").parse().unwrap();
    // Those under way at the end were answered but do not count.
    assert!((1..=made).contains(&measured.calls) && made <= measured.calls + 3 * 4, "{made} {}", measured.calls);
    assert_eq!((measured.elapsed, sum(&measured)), (Duration::from_secs(1), measured.calls));
}

#[test]
fn a_stop_ends_calls_without_an_error() {
    let Some(redis) = Peer::redis() else { return };
    let target = (Protocol::Resp, redis.server.address());
    let calls = one("INCR n", "connections = 2, expect = 'integer'");
    let measured = run(plan(u64::MAX, 1, &calls), target, LIMIT, &AtomicBool::new(true)).unwrap();
    assert!(measured.calls < u64::MAX);
}

#[test]
fn calls_that_do_not_end_in_time_fail() {
    let Some(redis) = Peer::redis() else { return };
    let calls = one("LPOP nothing", "connections = 1, expect = { bulk_bytes = 1 }");
    let target = (Protocol::Resp, redis.server.address());
    let failed = run(plan(10, 1, &calls), target, Duration::from_millis(50), &NEVER).err().unwrap();
    assert_eq!(failed.to_string(), "0 of 10 calls in time");
}

#[test]
fn every_wrong_reply_fails_the_calls() {
    let Some(redis) = Peer::redis() else { return };
    redis.ask("RPUSH l a b c");
    redis.ask("SET s 000000000099-");
    for (say, expect, shown) in [
        ("NOSUCH", "'any'", "unknown command"),
        ("PING", "'ok'", "`+PONG`, expected success"),
        ("GET s", "'integer'", "expected an integer"),
        ("PING", "{ exactly = 'PING' }", "expected exactly `PING`"),
        ("GET s", "{ bulk_bytes = 12 }", "expected a value of 12 bytes"),
        ("GET no:{next:12}", "{ bulk_bytes = 12 }", "`$-1`, expected a value of 12 bytes"),
        ("LRANGE l 0 -1", "{ elements = 2 }", "expected 2 elements"),
        ("LRANGE no 0 -1", "{ elements = 2 }", "`*0`, expected 2 elements"),
        ("LPOP l 1", "{ same_elements = 1 }", "expected the same 1 elements"),
        ("GETRANGE s 0 {next:12}", "{ own_bytes = 13 }", "begins with the call"),
        ("INCR n", "'found_or_nothing'", "`:1`, expected a value or nothing"),
    ] {
        let error = redis.refused(&one(say, &format!("connections = 1, expect = {expect}")));
        assert!(error.contains(shown) && error.contains(&say[..4]), "{say}: {error}");
    }
}

#[test]
fn nothing_found_is_counted_where_it_is_allowed() {
    let Some(redis) = Peer::redis() else { return };
    redis.ask("SET key:000000000001 here");
    let calls = one("GET key:{next:12}", "connections = 2, expect = 'found_or_nothing'");
    assert_eq!(redis.calls(20, 10, &calls).found_nothing, 18);
}

#[test]
fn broken_connections_fail_the_calls() {
    let ping = one("PING", "connections = 1, expect = 'any'");
    let failed = |address, calls: &str| {
        run(plan(10, 1, calls), (Protocol::Resp, address), LIMIT, &NEVER).err().unwrap().to_string()
    };
    let closing = scripted(|mut stream| {
        read_request(&mut stream);
    });
    assert!(failed(closing, &ping).contains("closed a connection"));
    let talking = scripted(|mut stream| {
        read_request(&mut stream);
        stream.write_all(b"+PONG\r\n+PONG\r\n").unwrap();
        read_request(&mut stream);
    });
    assert!(failed(talking, &ping).contains("more came than was asked for"));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(failed(nobody, &ping).contains("refused"));
    assert!(failed(nobody, &one("PING", "connections = 1, calls_per_connection = 1")).contains("refused"));
}

#[test]
fn memcached_is_called_in_its_own_protocol() {
    let Some(memcached) = Peer::of("memcached", "memcached") else { return };
    let set = one("set key:{next:12} 0 0", "bytes = 100, connections = 4, pipeline = 8");
    assert_eq!(memcached.calls(1000, 100, &set).calls, 1000);
    assert_eq!(memcached.ask("stats | curr_items"), "100");
    let get = one("get key:{random:12}", "connections = 4, pipeline = 8, expect = { own_bytes = 100 }");
    assert_eq!(memcached.calls(1000, 100, &get).calls, 1000);
    let pair = one("get key:000000000001 key:000000000002", "connections = 1, expect = { same_elements = 2 }");
    assert_eq!(memcached.calls(100, 1, &pair).calls, 100);
    let absent = one("get none:{next:12}", "connections = 1, expect = { own_bytes = 100 }");
    assert!(memcached.refused(&absent).contains("`get none:000000000000` was answered with `END`"));
}

#[test]
fn reserved_messages_are_deleted_as_part_of_the_call() {
    let (send, deleted) = std::sync::mpsc::channel();
    let address = scripted(move |mut stream| {
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut last = 0;
        for line in lines.map_while(Result::ok) {
            let reply = match line.strip_prefix("delete ") {
                Some(id) => {
                    send.send(id.parse::<u64>().unwrap()).unwrap();
                    "DELETED\r\n".to_owned()
                }
                None => {
                    last += 1;
                    format!("RESERVED {last} 3\r\nabc\r\n")
                }
            };
            stream.write_all(reply.as_bytes()).unwrap();
        }
    });
    let calls = one("reserve", "connections = 1, pipeline = 4, expect = { bulk_bytes = 3 }");
    let measured = run(plan(10, 1, &calls), (Protocol::Beanstalk, address), LIMIT, &NEVER).unwrap();
    assert_eq!(measured.calls, 10);
    assert!(deleted.try_iter().eq(1..=10));
}

#[test]
fn a_generator_that_never_sleeps_is_the_limit() {
    let ms = Duration::from_millis;
    let times = |ran_ms, waited_ms| ThreadTimes { lived: ms(100), ran: ms(ran_ms), waited_for_core: ms(waited_ms) };
    let is_limit = |threads: &[ThreadTimes]| is_limit(threads.iter().copied());
    assert!(is_limit(&[times(95, 0)]));
    assert!(is_limit(&[times(50, 48), times(95, 0)]));
    assert!(!is_limit(&[times(50, 0)]));
    assert!(!is_limit(&[times(30, 30)]));
}

#[test]
fn the_last_rate_is_that_of_its_part_of_a_second() {
    let measured = |elapsed_ms, calls: &[u64]| MeasuredCalls {
        calls: calls.iter().sum(),
        elapsed: Duration::from_millis(elapsed_ms),
        latency_us: histogram(),
        found_nothing: 0,
        late_calls: 0,
        own_cpu_us: 0,
        parties: Vec::new(),
        timeline: (0..).zip(calls).map(|(second, calls)| SecondOfCalls { second, calls: *calls }).collect(),
        limited_by_generator: false,
        refusal: None,
    };
    assert_eq!(rates(&measured(2500, &[10, 20, 15])), [(1.0, 10.0), (2.0, 20.0), (2.5, 30.0)]);
    assert_eq!(rates(&measured(2010, &[10, 20, 15])), [(1.0, 10.0), (2.0, 20.0)]);
}

#[test]
fn quantiles_need_calls_enough_for_them() {
    let mut latency_us = histogram();
    (1..=100).for_each(|ms| latency_us.record(ms * 1000).unwrap());
    let quantiles: Vec<f64> = latency(&latency_us).iter().map(|(quantile, _)| *quantile).collect();
    assert_eq!(quantiles, [0.5, 0.75, 0.9, 0.95, 0.99]);
}

#[test]
fn calls_that_may_be_refused_end_with_the_first_refusal() {
    let Some(redis) = Peer::redis() else { return };
    assert_eq!(redis.ask("CONFIG SET maxmemory 4mb"), "OK");
    let set = "parties = [{ say = 'SET key:{next:12}', bytes = 10000, connections = 3 }]";
    let measured = redis.calls(100_000, 100_000, &format!("{set}\nuntil_refused = true"));
    let refusal = measured.refusal.unwrap();
    assert!(refusal.contains("OOM command not allowed"), "{refusal}");
    assert!(measured.calls > 50 && measured.calls < 400, "{}", measured.calls);
    assert_eq!(redis.ask("CONFIG SET maxmemory 1"), "OK");
    let error = redis.refused(set);
    assert!(error.contains("OOM command not allowed"), "{error}");
    let measured =
        redis.calls(10, 10, "until_refused = true\nparties = [{ say = 'PING', connections = 1, expect = 'any' }]");
    assert_eq!((measured.calls, measured.refusal), (10, None));
}

#[test]
fn a_share_of_calls_that_may_find_nothing_is_a_figure() {
    let Some(redis) = Peer::redis() else { return };
    assert_eq!(redis.ask("SET key:000000000000 value"), "OK");
    let calls = "parties = [{ say = 'GET key:{next:12}', connections = 1, expect = 'found_or_nothing' }]";
    let calls: Calls = toml::from_str(calls).unwrap();
    let limits = Limits { limit_s: 60, cell: Duration::from_secs(10) };
    let outcome = measure(&redis.server, &calls, PlaceholderValues { requests: 8, items: 4 }, limits, &NEVER).unwrap();
    assert!(outcome.extra.contains(&("found_nothing_percent".to_owned(), 75.0)), "{:?}", outcome.extra);
}

#[test]
fn the_outcome_has_all_figures() {
    let Some(redis) = Peer::redis() else { return };
    let calls = "seconds = 0\nparties = [{ say = 'PING', connections = 1, pipeline = 2, expect = 'any' },
        { say = 'SET k', bytes = 5, connections = 1 }]";
    let calls: Calls = toml::from_str(calls).unwrap();
    let limits = Limits { limit_s: 60, cell: Duration::from_secs(10) };
    let values = PlaceholderValues { requests: 100, items: 1 };
    let outcome = measure(&redis.server, &calls, values, limits, &NEVER).unwrap();
    let line = "calls: 100 x PING over 1, pipelines of 2 beside 100 x SET k of 5 bytes over 1";
    assert_eq!((outcome.command_line.as_str(), outcome.requests), (line, 200));
    let names: Vec<&str> = outcome.extra.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "p95_us",
        "p999_us",
        "max_us",
        "found_nothing",
        "generator_us_per_request",
        "limited_by_generator",
        "party_0_per_s",
        "party_1_per_s",
    ];
    assert_eq!(names, expected);
    assert!(outcome.requests_per_s.unwrap() > 0.0 && outcome.latency.iter().any(|(quantile, _)| *quantile == 0.99));
}
