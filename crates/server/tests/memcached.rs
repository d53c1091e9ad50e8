//! The memcached port of the real binary: compared with memcached itself, on one keyspace with Redis's port, and
//! against malicious clients.
//!
//! ```text
//! TALKS          --> Bobbin and memcached: the same answers, but for the numbers of versions
//! pymemcache     --> both;   memccapable --> Bobbin
//! ```

use crate::support::lines::Lines;
use crate::support::{FREE_PORT, Server, free_port};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testing::{program_or_skip, skip};
use wire::client::Value;

const PATIENCE: Duration = Duration::from_secs(30);

/// A server with this port, and its port.
fn start(flags: &[&str]) -> (Server, u16) {
    let server = Server::start(&[&["--memcached-port", FREE_PORT], flags].concat());
    let port = server.flag("--memcached-port").parse().unwrap();
    (server, port)
}

/// Requests, each on a server without items, whose answers must equal memcached's except for versions.
const TALKS: &[&str] = &[
    "set k 5 0 3\r\nabc\r\nget k\r\nget k k absent k\r\n",
    "set k 5 100 3\r\nabc\r\nmg k\r\nmg k v\r\nmg k t f s v k O99 q h\r\nmg absent\r\nmg absent q\r\nmg absent k O5\r\n",
    "add k 0 0 1\r\na\r\nadd k 0 0 1\r\nb\r\nreplace k 1 0 1\r\nc\r\nappend k 0 0 1\r\n>\r\nprepend k 0 0 1\r\n<\r\nget k\r\n",
    "replace k 0 0 1\r\na\r\nappend k 0 0 1\r\na\r\nprepend k 0 0 1\r\na\r\ncas k 0 0 1 1\r\na\r\nget k\r\n",
    "set k 0 0 1 noreply\r\na\r\nadd k 0 0 1 noreply\r\nb\r\ndelete x noreply\r\nincr k 1 noreply\r\ntouch k 0 noreply\r\nget k\r\n",
    "set n 3 0 2\r\n10\r\ndecr n 1\r\nget n\r\nincr n 1\r\nget n\r\ndecr n 100\r\nget n\r\nincr n x\r\nincr x 1\r\n",
    "set n 0 0 20\r\n18446744073709551615\r\nincr n 1\r\nget n\r\n",
    "set k 0 0 1\r\na\r\ntouch k 100\r\nmg k t\r\ntouch k 0\r\nmg k t\r\ngat 50 k\r\nmg k t\r\ntouch k -1\r\nget k\r\ntouch k 1\r\n",
    "set k 0 -1 1\r\na\r\nget k\r\nset k 0 0 1\r\na\r\ndelete k\r\ndelete k\r\ndelete k 0\r\ndelete k 1\r\n",
    "mg k N30 v t\r\nmg k N30 v t\r\nmg k R100 t\r\nms k 3 T100\r\nnew\r\nmg k v t\r\nmg k R30 t\r\nmg k R200 t\r\nmg k R200 t\r\n",
    "ms k 2 T60\r\nab\r\nmd k I T30\r\nmg k v t\r\nmg k v t\r\nms k 2 C1 I\r\ncd\r\nmg k v\r\nms k 2\r\nef\r\nmg k v t\r\nmd k q\r\nmd k q\r\n",
    "ma n\r\nma n N0 J13 v\r\nma n N0 J13 v\r\nma n MD D100 v t\r\nma n q\r\nma n T30 t v\r\nma n MX\r\nms t 2\r\nab\r\nma t\r\n",
    "ms Zm9v 2 b k\r\nab\r\nmg foo v k\r\nmg Zm9v b v k\r\nmd Zm9v b k\r\nmg !!! b v\r\nmg foo k q\r\n",
    "mg k v v\r\nmg k Z\r\nmg k T\r\nmg k M\r\nms k abc\r\nms k\r\nms k 2 MX\r\nab\r\nms k 2 Tx\r\nab\r\nmd k Z\r\nma k Dx\r\n",
    "set n -0 0 2\r\n10\r\nincr n -0\r\nma n C0 D-0 v\r\nms n 1 C0 MA\r\n!\r\nms n 1 C0 I\r\n!\r\nmd n C0\r\nget n\r\n",
    "set k 0 4294967295 1\r\na\r\nget k\r\nset k 0 2147483648 1\r\na\r\nget k\r\nset k 0 99999999999 1\r\na\r\nget k\r\n",
    "set k 0 9223372036854775807 1\r\na\r\nget k\r\nset k 0 0 1\r\na\r\ntouch k 4294967295\r\nget k\r\n",
    "set k 0 0 1\r\na\r\ngat 4294967295 k\r\nget k\r\nset k 0 0 1\r\na\r\nmg k t T4294967295\r\nmg k t\r\n",
    "ms k 1 T4294967295\r\nz\r\nmg k\r\nma n N4294967295 J5\r\nmg n\r\nadd k 0 4294967295 1\r\nz\r\nget k\r\n",
    "set k 0 0 1\r\nb\r\nreplace k 0 4294967295 1\r\na\r\nget k\r\n",
    "set k 0 0 1\r\nb\r\nflush_all 4294967295\r\nget k\r\n",
    "set k 4294967296 0 1\r\na\r\nset k -1 0 1\r\na\r\nset k +1 0 1\r\na\r\nget k\r\n",
    "touch k 99999999999999999999\r\ngat 99999999999999999999 k\r\nflush_all 99999999999999999999\r\n",
    "lru_crawler\r\nlru_crawler disable\r\nlru_crawler enable\r\nlru_crawler sleep 100\r\nlru_crawler sleep x\r\n",
    "lru_crawler sleep 1000001\r\nlru_crawler tocrawl 5\r\nlru_crawler tocrawl x\r\nlru_crawler crawl 1\r\nlru_crawler crawl x\r\n",
    "lru_crawler crawl\r\nlru_crawler x y\r\nlru_crawler metadump\r\n",
    "lru\r\nlru mode flat\r\nlru mode segmented\r\nlru mode x\r\nlru tune 20 40 0.2 2.0\r\nlru tune 20\r\nlru tune a b c d\r\n",
    "lru tune 60 60 1 2\r\nlru temp_ttl 60\r\nlru temp_ttl -1\r\nlru temp_ttl x\r\nlru x y\r\n",
    "slabs\r\nslabs automove 1\r\nslabs automove 3\r\nslabs automove x\r\nslabs reassign 1 2\r\nslabs reassign 1 1\r\n",
    "slabs reassign 0 99\r\nslabs reassign x 1\r\nslabs reassign\r\nslabs x\r\nslabs automove\r\n",
    "cache_memlimit 1\r\ncache_memlimit x\r\ncache_memlimit\r\ncache_memlimit 1 2 3\r\n",
    "stats detail\r\nstats detail on\r\nset a:b 0 0 1\r\nx\r\nget a:b a:c\r\nget nocolon\r\ndelete a:b\r\nstats detail dump\r\n",
    "stats detail x\r\nstats detail off\r\nstats reset\r\nstats cachedump\r\nstats cachedump 1\r\nstats cachedump 1 x\r\n",
    "stats cachedump 300 1\r\nstats cachedump 1 10\r\nset k 0 0 3\r\nabc\r\nstats cachedump 2 10\r\n",
    "set k a 0 1\r\nx\r\nset k 1 0 1\r\nxyz\r\nset k 1 0\r\nget\r\nGET k\r\n\r\nverbosity 1\r\nversion\r\nshutdown\r\nmx\r\n",
];

/// The answer with each number of a version replaced.
fn without_versions(answer: &str) -> String {
    let line = |line: &str| {
        let words = line.split(' ').collect::<Vec<_>>();
        match words[..] {
            ["VALUE", key, flags, bytes, _] => format!("VALUE {key} {flags} {bytes} version"),
            ["HD" | "VA", ..] => {
                let is_version = |word: &str| word.strip_prefix('c').is_some_and(|rest| rest.parse::<u64>().is_ok());
                words.iter().map(|word| if is_version(word) { "c" } else { word }).collect::<Vec<_>>().join(" ")
            }
            _ => line.to_owned(),
        }
    };
    answer.split("\r\n").map(line).collect::<Vec<_>>().join("\n")
}

/// memcached itself, ended with the test.
struct Memcached(Child, u16);

impl Memcached {
    fn start(program: &Path) -> Self {
        for _ in 0..20 {
            let port = free_port();
            let mut command = Command::new(program);
            command.args(["-u", "nobody", "-l", "127.0.0.1", "-U", "0", "-p", &port.to_string()]);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let begin = Instant::now();
            while child.try_wait().unwrap().is_none() && begin.elapsed() < PATIENCE {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Self(child, port);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        panic!("memcached does not start");
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

#[test]
fn replies_match_those_of_memcached() {
    let Some(program) = program_or_skip("replies_match_those_of_memcached", "memcached") else { return };
    let (memcached, (_server, port)) = (Memcached::start(&program), start(&[]));
    let hear = |port: u16, talk: &str| {
        let mut lines = Lines::connect(port);
        for key in ["k", "n", "t", "foo", "x", "a"] {
            lines.ask(format!("delete {key}\r\n"));
        }
        without_versions(&lines.ask(talk))
    };
    for talk in TALKS {
        // memcached's clock may tick during the requests, so that an item's time to live is a second shorter.
        let answers = || (hear(port, talk), hear(memcached.1, talk));
        let (ours, theirs) = (0..5).map(|_| answers()).find(|(ours, theirs)| ours == theirs).unwrap_or_else(answers);
        assert_eq!(ours, theirs, "{talk:?}: Bobbin's on the left");
    }
}

/// Requests are counted by statistics as in memcached.
#[test]
fn statistics_match_those_of_memcached() {
    let Some(program) = program_or_skip("statistics_match_those_of_memcached", "memcached") else { return };
    let (memcached, (_server, port)) = (Memcached::start(&program), start(&[]));
    const NAMES: &str = "cmd_get get_hits get_misses cmd_set cmd_flush cmd_touch touch_hits touch_misses delete_hits \
                         delete_misses incr_hits incr_misses decr_hits decr_misses cas_hits cas_misses cas_badval total_items";
    let figures = |lines: &mut Lines, names: &[&str]| {
        let reply = lines.ask("stats\r\n");
        let is_named = |line: &&str| line.split(' ').nth(1).is_some_and(|name| names.contains(&name));
        let mut figures: Vec<String> = reply.lines().filter(is_named).map(str::to_owned).collect();
        figures.sort();
        figures
    };
    let too_large = format!("set a 0 0 2000000\r\n{}\r\n", "x".repeat(2_000_000));
    let storing = [
        "set a 0 0 1\r\n5\r\nset a 0 0 1 noreply\r\n5\r\nadd a 0 0 1\r\n5\r\nreplace no 0 0 1\r\n5\r\nappend no 0 0 1\r\n5\r\n",
        "get a no\r\ngets a no\r\n",
        "gat 0 a no\r\ngats 0 a\r\ntouch a 0\r\ntouch no 0\r\ntouch a 0 noreply\r\n",
        "cas a 0 0 1 1\r\n5\r\ncas no 0 0 1 1\r\n5\r\n",
        "mg a v\r\nmg no v\r\nmg a q\r\nmg no q\r\n",
        "mg a T0\r\nmg no T0\r\n",
        "ms a 1\r\n5\r\nms a 1 q\r\n5\r\nms no 1 MR\r\n5\r\nms a 1 ME\r\n5\r\n",
        "ms a 1 C1\r\n5\r\nms no 1 C1\r\n5\r\n",
        "md no\r\nmd a C1\r\nmd a I\r\nmd a\r\nmd a q\r\n",
        "set a 0 0 1\r\n5\r\ndelete a\r\ndelete a\r\ndelete a noreply\r\n",
        &too_large,
        "flush_all\r\nme a\r\n",
        "set a 0 0 1\r\n5\r\n",
    ];
    let counting = [
        "incr a 1\r\nincr no 1\r\nincr a x\r\ndecr a 1 noreply\r\ndecr no 1\r\n",
        "ma a\r\nma a q\r\nma a MD\r\nma no\r\nma no q\r\nma no MD\r\nma a C1\r\n",
    ];
    let names: Vec<&str> = NAMES.split_whitespace().collect();
    // total_items is not compared here: memcached's incr replaces an item that its crawler holds, and counts a new one.
    let requests = storing.map(|request| (request, &names[..])).into_iter();
    let requests = requests.chain(counting.map(|request| (request, &names[..names.len() - 1])));
    let (mut ours, mut theirs) = (Lines::connect(port), Lines::connect(memcached.1));
    for (request, names) in requests {
        for lines in [&mut ours, &mut theirs] {
            lines.ask(request);
        }
        assert_eq!(figures(&mut ours, names), figures(&mut theirs, names), "{request:.100}: Bobbin's on the left");
    }
}

/// A watching connection, with its events so far.
struct Watching(BufReader<TcpStream>);

impl Watching {
    fn begin(port: u16, words: &str) -> (Self, String) {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut watching = Self(BufReader::new(stream));
        watching.0.get_mut().write_all(format!("watch{words}\r\n").as_bytes()).unwrap();
        let answer = watching.line();
        (watching, answer)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    /// Returns the lines up to the one of the key `end`, without time, number and connection.
    fn until(&mut self, end: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            assert!(line.ends_with('\n') && !line.ends_with("\r\n"), "{line:?}");
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.contains(&format!("key={end}").as_str()) {
                return lines;
            }
            let is_comparable = |word: &&&str| !["ts=", "gid=", "cfd="].iter().any(|name| word.starts_with(name));
            lines.push(words.iter().filter(is_comparable).copied().collect::<Vec<_>>().join(" "));
        }
    }
}

/// Returns memcached's lines without those that Bobbin does not write: the lookups of stores.
fn without_store_lookups(lines: Vec<String>) -> Vec<String> {
    let is_store = |line: &str| line.contains("type=item_store");
    let key = |line: &str| line.split(' ').nth(1).map(str::to_owned);
    let is_looked_for = |at: usize| {
        let line = &lines[at];
        !is_store(line) && lines.get(at + 1).is_some_and(|next| is_store(next) && key(next) == key(line))
    };
    (0..lines.len()).filter(|at| !is_looked_for(*at)).map(|at| lines[at].clone()).collect()
}

/// Requests that hit, miss, store and fail, each with true if its events have a size.
const WATCHED: &[(&str, bool)] = &[
    ("set a 5 0 3\r\nabc\r\n", true),
    ("get a\r\nget a b\r\ngets a\r\ngat 100 a zz\r\n", true),
    ("touch a 200\r\n", false),
    ("touch zz 1\r\nincr zz 1\r\ndelete zz\r\nmg zz v\r\nmg zz k v q\r\n", true),
    ("add a 0 0 1\r\nx\r\nreplace zz 0 0 1\r\nx\r\nappend zz 0 0 1\r\nx\r\n", true),
    ("cas a 0 0 1 999\r\nx\r\ncas zz 0 0 1 9\r\nx\r\nset a 0 0 1 noreply\r\n5\r\n", true),
    ("incr a 3\r\ndecr a 100\r\nmg a\r\nma a\r\n", false),
    ("incr a x\r\nset t 0 100 2\r\nab\r\n", true),
    ("incr t 1\r\ndelete t\r\n", false),
    ("mg vv N30\r\nms m 1\r\nx\r\nms m 1 T50 c\r\nx\r\nms m 1 ME\r\nx\r\nms qq 1 MR\r\ny\r\nms m 1 C4\r\nz\r\n", true),
    ("mg m v\r\n", true),
    ("md m\r\n", false),
    ("md m\r\nme m\r\nms Zm9v 1 b\r\nx\r\nmg Zm9v b v\r\nget k%20\u{1}\u{e9}\r\nflush_all\r\n", true),
];

#[test]
fn watchers_see_the_same_events_as_in_memcached() {
    let Some(program) = program_or_skip("watchers_see_the_same_events_as_in_memcached", "memcached") else {
        return;
    };
    let (memcached, (_server, port)) = (Memcached::start(&program), start(&[]));
    let mut heard = [port, memcached.1].map(|port| {
        let (watching, answer) = Watching::begin(port, " fetchers mutations evictions");
        assert_eq!(answer, "OK\r\n");
        (watching, Lines::connect(port))
    });
    for (requests, has_sizes) in WATCHED {
        let [ours, theirs] = heard.each_mut().map(|(watching, lines)| {
            lines.ask(requests);
            lines.ask("get the-end\r\n");
            watching.until("the-end")
        });
        let strip = |line: &String| line.split(" size=").next().unwrap().to_owned();
        let theirs = without_store_lookups(theirs);
        let theirs = if *has_sizes { theirs } else { theirs.iter().map(strip).collect() };
        assert_eq!(ours, theirs, "{requests:?}: Bobbin's on the left");
    }
}

#[test]
fn watchers_select_their_events_and_their_requests_are_ignored() {
    let (server, port) = start(&[]);
    let mut lines = Lines::connect(port);
    for words in [" foo", " fetchers foo", " rawcmds", " connevents"] {
        assert_eq!(Watching::begin(port, words).1, "ERROR\r\n", "{words}");
    }
    let ([mut fetchers, mut mutations], answers): ([Watching; 2], Vec<String>) = {
        let (fetchers, first) = Watching::begin(port, "");
        let (mutations, second) = Watching::begin(port, " mutations");
        ([fetchers, mutations], vec![first, second])
    };
    assert_eq!(answers, ["OK\r\n"; 2]);
    fetchers.0.get_mut().write_all(b"get never\r\n").unwrap();
    lines.ask("set a 0 0 1\r\nx\r\nget a\r\nset the-end 0 0 1\r\nx\r\nget the-end\r\n");
    assert_eq!(fetchers.until("the-end"), ["type=item_get key=a status=found clsid=1 size=1"]);
    assert_eq!(mutations.until("the-end"), ["type=item_store key=a status=stored cmd=set ttl=0 clsid=1 size=1"]);
    // Two are connected, and memcached allows twenty.
    let _others: Vec<Watching> = (0..18).map(|_| Watching::begin(port, " evictions").0).collect();
    assert_eq!(Watching::begin(port, "").1, "WATCHER_TOO_MANY log watcher limit reached\r\n");
    drop(mutations);
    let mut redis = server.connect();
    let begin = Instant::now();
    while redis.call(&["MC.WATCH"]) != Value::Simple("OK".to_owned()) {
        assert!(begin.elapsed() < PATIENCE, "the place of one that left is taken");
    }
    lines.ask("get b\r\n");
    let Value::Simple(line) = redis.reply() else { panic!("no line") };
    assert!(line.contains(" type=item_get key=b status=not_found clsid=0 "), "{line}");
}

#[test]
fn items_are_counted_among_keys_of_other_types() {
    let (server, port) = start(&[]);
    let (mut redis, mut lines) = (server.connect(), Lines::connect(port));
    let figure = |lines: &mut Lines, name: &str| -> u64 {
        let reply = lines.ask("stats\r\n");
        reply.lines().find_map(|line| line.strip_prefix(&format!("STAT {name} "))).unwrap().parse().unwrap()
    };
    let item: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
    redis.call(&["RPUSH", "list", "x"].into_iter().chain(item.iter().map(String::as_str)).collect::<Vec<_>>());
    redis.call(&["HSET", "hash", "f", "v"]);
    assert_eq!((figure(&mut lines, "curr_items"), figure(&mut lines, "bytes")), (0, 0));
    lines.ask(format!("set long 0 0 100000\r\n{}\r\nset short 0 0 1\r\nx\r\n", "y".repeat(100_000)));
    assert_eq!(figure(&mut lines, "curr_items"), 2);
    assert!((100_000..120_000).contains(&figure(&mut lines, "bytes")), "{}", figure(&mut lines, "bytes"));
    redis.call(&["SET", "hash", "now a string"]);
    redis.call(&["DEL", "list", "long"]);
    assert_eq!(figure(&mut lines, "curr_items"), 2);
    redis.call(&["DEL", "short", "hash"]);
    assert_eq!((figure(&mut lines, "curr_items"), figure(&mut lines, "bytes")), (0, 0));
}

#[test]
fn memcached_clients_work_with_bobbin() {
    let test = "memcached_clients_work_with_bobbin";
    let (_server, port) = start(&[]);
    if let Some(program) = program_or_skip(test, "memccapable") {
        let output = Command::new(program).args(["-h", "127.0.0.1", "-p", &port.to_string(), "-a"]).output().unwrap();
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(report.contains("All tests passed"), "{report}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("BOBBIN_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| root.join("../../.venv/bin/python"));
    let has = Command::new(&python).args(["-c", "import pymemcache"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        return skip(test, &format!("{} has no pymemcache (scripts/setup-tests installs it)", python.display()));
    }
    let mut ports = vec![port];
    let memcached = program_or_skip(test, "memcached").map(|program| Memcached::start(&program));
    ports.extend(memcached.as_ref().map(|memcached| memcached.1));
    for port in ports {
        let script = root.join("tests/clients/pymemcache_items.py");
        let output = Command::new(&python).arg(script).arg(port.to_string()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn requests_may_arrive_in_any_pieces() {
    let (_server, port) = start(&[]);
    let talk = "set k 5 0 3\r\na\r\n\r\nget k absent k\r\nms k 3 T100 c\r\nabc\r\nmg k v t\r\nincr k 1\r\nset k 0 0 1\r\nxx\r\n";
    let mut lines = Lines::connect(port);
    let whole = without_versions(&lines.ask(talk));
    for cut in 1..talk.len() {
        lines.send(&talk[..cut]);
        // The answers are the same, however much was answered so far.
        std::thread::yield_now();
        assert_eq!(without_versions(&lines.ask(&talk[cut..])), whole, "cut at {cut}");
    }
}

#[test]
fn metadump_lists_all_items() {
    let (server, port) = start(&[]);
    let (mut redis, mut lines) = (server.connect(), Lines::connect(port));
    assert_eq!(redis.call(&["RPUSH", "list", "a"]).as_int(), Some(1));
    let keys: Vec<String> = (0..5_000).map(|number| format!("key/{number}")).collect();
    for key in &keys {
        assert_eq!(lines.ask(format!("set {key} 0 0 3\r\nabc\r\n")), "STORED\r\n");
    }
    lines.ask("get key/7\r\n");
    let all = lines.ask("lru_crawler metadump all\r\n");
    let mut items: Vec<&str> = all.lines().filter_map(|line| line.strip_prefix("key=key%2F")).collect();
    assert_eq!((items.len(), all.lines().last()), (keys.len(), Some("END")));
    items.sort_by_key(|line| line.split(' ').next().unwrap().parse::<usize>().unwrap());
    for (number, line) in items.iter().enumerate() {
        let facts: Vec<(&str, &str)> = line.split(' ').skip(1).map(|fact| fact.split_once('=').unwrap()).collect();
        let names: Vec<&str> = facts.iter().map(|fact| fact.0).collect();
        assert_eq!(names, ["exp", "la", "cas", "fetch", "cls", "size"], "{line}");
        assert_eq!((facts[0].1, facts[3].1, facts[4].1), ("-1", if number == 7 { "yes" } else { "no" }, "1"), "{line}");
    }
    assert_eq!(lines.ask("lru_crawler metadump hash\r\n"), all);
    assert_eq!(lines.ask("stats cachedump 1 10\r\n").lines().count(), 11);
    assert_eq!(lines.ask("stats cachedump 1 0\r\n").lines().count(), 5_001);
}

#[test]
fn the_cas_unique_changes_only_when_the_value_is_written() {
    let (server, port) = start(&[]);
    let (mut redis, mut lines) = (server.connect(), Lines::connect(port));
    let mut version = || lines.ask("gets k\r\n").split_whitespace().nth(4).map(str::to_owned);
    for (command, changes) in [
        (&["SET", "k", "10"][..], true),
        (&["GET", "k"], false),
        (&["EXPIRE", "k", "1000"], false),
        (&["PERSIST", "k"], false),
        (&["SET", "k", "10"], true),
        (&["INCR", "k"], true),
        (&["APPEND", "k", "1"], true),
        (&["SETRANGE", "k", "1", "2"], true),
        (&["SETBIT", "k", "7", "0"], true),
        (&["BITFIELD", "k", "SET", "u8", "0", "50"], true),
        (&["INCRBYFLOAT", "k", "0.5"], true),
        (&["GETSET", "k", "a"], true),
        (&["SET", "k", "b", "KEEPTTL"], true),
        (&["GETEX", "k", "EX", "100"], false),
        (&["SETEX", "k", "100", "c"], true),
        (&["MSET", "k", "d"], true),
        (&["BITOP", "NOT", "k", "k"], true),
        (&["PFADD", "hll", "a"], false),
        (&["COPY", "hll", "k", "REPLACE"], true),
        (&["PFADD", "k", "b"], true),
        (&["EVAL", "return redis.call('set', KEYS[1], 'e')", "1", "k"], true),
    ] {
        let before = version();
        let reply = redis.call(command);
        assert!(!matches!(reply, wire::client::Value::Error(_)), "{command:?} answers {reply}");
        let after = version();
        assert!(after.is_some(), "{command:?}");
        assert_eq!(before != after, changes, "{command:?}: {before:?}, {after:?}");
    }
    let version = version().unwrap();
    let facts = lines.ask("me k\r\n");
    assert!(facts.contains(&format!(" cas={version} ")), "{facts}");
    assert_eq!(lines.ask("set fresh 0 0 1\r\nx\r\n"), "STORED\r\n");
    let facts = lines.ask("me fresh\r\n");
    let reply = lines.ask("gets fresh\r\n");
    let version = reply.split_whitespace().nth(4).unwrap();
    assert!(facts.contains(&format!(" cas={version} ")), "{facts}{reply}");
}

#[test]
fn each_port_resets_its_own_counters() {
    let (server, port) = start(&[]);
    let (mut redis, mut lines) = (server.connect(), Lines::connect(port));
    let is_set = |lines: &mut Lines| lines.ask("stats\r\n").contains("STAT cmd_set 1\r\n");
    assert_eq!(lines.ask("set k 0 0 1\r\nx\r\n"), "STORED\r\n");
    assert!(is_set(&mut lines));
    assert_eq!(redis.call(&["CONFIG", "RESETSTAT"]).to_string(), "OK");
    assert!(is_set(&mut lines));
    for _ in 0..10 {
        redis.call(&["GET", "absent"]);
    }
    assert_eq!(lines.ask("stats reset\r\n"), "RESET\r\n");
    assert!(!is_set(&mut lines));
    assert_eq!(server.info("keyspace_misses"), "10");
}

#[test]
fn both_ports_share_one_keyspace() {
    let (server, port) = start(&[]);
    let (mut redis, mut lines) = (server.connect(), Lines::connect(port));
    assert_eq!(lines.ask("set k 7 0 5\r\nhello\r\n"), "STORED\r\n");
    assert_eq!(redis.call(&["GET", "k"]).as_bytes(), Some(&b"hello"[..]));
    assert_eq!(redis.call(&["TYPE", "k"]).to_string(), "string");
    assert_eq!(redis.call(&["APPEND", "k", "!"]).as_int(), Some(6));
    assert_eq!(lines.ask("get k\r\n"), "VALUE k 7 6\r\nhello!\r\nEND\r\n");
    let versions = |answer: String| answer.split_whitespace().nth(4).map(str::to_owned);
    let first = versions(lines.ask("gets k\r\n")).unwrap();
    assert_eq!(redis.call(&["SET", "k", "new"]).to_string(), "OK");
    assert_eq!(lines.ask(format!("cas k 0 0 3 {first}\r\nold\r\n")), "EXISTS\r\n");
    let second = versions(lines.ask("gets k\r\n")).unwrap();
    assert_ne!(first, second);
    assert_eq!(lines.ask(format!("cas k 1 100 3 {second}\r\nnow\r\n")), "STORED\r\n");
    assert_eq!(redis.call(&["GET", "k"]).as_bytes(), Some(&b"now"[..]));
    assert!(redis.call(&["TTL", "k"]).as_int().unwrap() > 90);
    // A list is no item, and survives a flush of them.
    assert_eq!(redis.call(&["RPUSH", "list", "a"]).as_int(), Some(1));
    assert_eq!(lines.ask("get list\r\nadd list 0 0 1\r\nx\r\ndelete list\r\n"), "END\r\nNOT_STORED\r\nNOT_FOUND\r\n");
    assert_eq!(lines.ask("flush_all\r\n"), "OK\r\n");
    assert_eq!(redis.call(&["EXISTS", "k", "list"]).as_int(), Some(1));
    // A long value is sent in steps.
    let long = "0123456789".repeat(90_000);
    assert_eq!(lines.ask(format!("set long 9 0 {}\r\n{long}\r\n", long.len())), "STORED\r\n");
    assert_eq!(redis.call(&["STRLEN", "long"]).as_int(), Some(long.len() as i64));
    assert_eq!(lines.ask("get long\r\n"), format!("VALUE long 9 {}\r\n{long}\r\nEND\r\n", long.len()));
    assert_eq!(lines.ask("prepend long 0 0 1\r\n>\r\nmg long s\r\n"), "STORED\r\nHD s900001\r\n");
    assert!(lines.ask("stats\r\n").contains("STAT cmd_set 6\r\n"));
    // There are no slabs: names are those that memcached has without any.
    let slabs = lines.ask("stats slabs\r\n");
    let names: Vec<&str> = slabs.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(names, ["active_slabs", "total_malloced"], "{slabs}");
    assert!(redis.call(&["CLIENT", "LIST"]).to_string().contains("cmd=mc.stats"));
}

#[test]
fn items_are_stored_in_the_ports_database() {
    let (server, port) = start(&["--memcached-db", "3"]);
    let (mut redis, mut lines) = (server.connect(), Lines::connect(port));
    assert_eq!(lines.ask("set k 0 0 1\r\na\r\n"), "STORED\r\n");
    assert_eq!(redis.call(&["EXISTS", "k"]).as_int(), Some(0));
    redis.call(&["SET", "other", "x"]);
    redis.call(&["SELECT", "3"]);
    assert_eq!(redis.call(&["GET", "k"]).as_bytes(), Some(&b"a"[..]));
    assert_eq!(lines.ask("flush_all\r\nget k\r\n"), "OK\r\nEND\r\n");
    redis.call(&["SELECT", "0"]);
    assert_eq!(redis.call(&["EXISTS", "other"]).as_int(), Some(1));
}

#[test]
fn a_flush_may_be_delayed() {
    let (server, port) = start(&[]);
    let (mut redis, mut lines) = (server.connect(), Lines::connect(port));
    assert_eq!(
        lines.ask("set k 0 0 1\r\na\r\nflush_all 3000\r\nget k\r\n"),
        "STORED\r\nOK\r\nVALUE k 0 1\r\na\r\nEND\r\n"
    );
    // A later one takes its place.
    assert_eq!(lines.ask("flush_all 1\r\n"), "OK\r\n");
    let begin = Instant::now();
    while redis.call(&["EXISTS", "k"]).as_int() == Some(1) {
        assert!(begin.elapsed() < PATIENCE, "it is not flushed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(lines.ask("set k 0 0 1\r\na\r\nget k\r\n"), "STORED\r\nVALUE k 0 1\r\na\r\nEND\r\n");
}

#[test]
fn items_survive_crashes_and_checkpoints() {
    let (mut server, port) = start(&["--fsync", "always"]);
    let mut lines = Lines::connect(port);
    let long = "x".repeat(100_000);
    let put =
        format!("set small 7 0 2\r\n17\r\nms long 100000 F9 T1000 E55\r\n{long}\r\nms stale 1\r\na\r\nmd stale I\r\n");
    assert_eq!(lines.ask(put), "STORED\r\nHD\r\nHD\r\nHD\r\n");
    let version = lines.ask("gets small\r\n");
    server.kill();
    server.restart();
    let look = |port: u16, is_stored: bool| {
        let mut lines = Lines::connect(port);
        assert_eq!(lines.ask("gets small\r\n"), version, "stored: {is_stored}");
        assert_eq!(lines.ask("mg long s f t c\r\n").split(" t").next(), Some("HD s100000 f9"), "stored: {is_stored}");
        assert!(lines.ask("mg long c\r\n").starts_with("HD c55"), "stored: {is_stored}");
    };
    look(port, false);
    assert_eq!(server.connect().call(&["SAVE"]).to_string(), "OK");
    server.kill();
    server.restart();
    look(port, true);
    let mut lines = Lines::connect(port);
    assert_eq!(lines.ask("mg stale v\r\nmg stale v\r\n"), "VA 1 X W\r\na\r\nVA 1 Z X\r\na\r\n");
    // A version given before the crash is not given again.
    assert_eq!(lines.ask("set small 0 0 1\r\nx\r\n"), "STORED\r\n");
    assert_ne!(lines.ask("gets small\r\n").split_whitespace().nth(4), version.split_whitespace().nth(4));
}

#[test]
fn a_password_is_required() {
    let (_server, port) = start(&["--requirepass", "secret"]);
    let mut lines = Lines::connect(port);
    lines.send("get k\r\nset k 0 0 1\r\nx\r\nset auth 0 0 12\r\nwrong secret\r\nset auth 0 0 14\r\ndefault secret\r\n");
    let answer = lines.ask("set k 0 0 1\r\nx\r\nget k\r\n");
    let expected = [
        "CLIENT_ERROR unauthenticated",
        "CLIENT_ERROR bad authentication token format",
        "CLIENT_ERROR authentication failure",
        "STORED",
        "STORED",
        "VALUE k 0 1",
        "x",
        "END",
        "",
    ];
    assert_eq!(answer, expected.join("\r\n"));
    let mut quitting = Lines::connect(port);
    quitting.send("quit\r\n");
    assert_eq!(quitting.until_closed(), "");
}

#[test]
fn oversized_items_are_refused_with_an_error() {
    let (server, port) = start(&["--memcached-item-size-max", "2kb"]);
    let mut lines = Lines::connect(port);
    let too_large = "SERVER_ERROR object too large for cache\r\n";
    assert_eq!(lines.ask("set k 0 0 1\r\na\r\n"), "STORED\r\n");
    let large = format!("set k 0 0 2049\r\n{}\r\nget k\r\n", "x".repeat(2049));
    assert_eq!(lines.ask(&large), format!("{too_large}END\r\n"), "what it was to replace goes");
    assert_eq!(lines.ask(format!("set k 0 0 2048\r\n{}\r\n", "x".repeat(2048))), "STORED\r\n");
    assert_eq!(lines.ask("append k 0 0 1\r\nx\r\nprepend k 0 0 1\r\nx\r\n"), too_large.repeat(2));
    assert_eq!(server.connect().call(&["CONFIG", "SET", "memcached-item-size-max", "4kb"]).to_string(), "OK");
    assert_eq!(lines.ask("append k 0 0 1\r\nx\r\nmg k s\r\n"), "STORED\r\nHD s2049\r\n");
    // Invalid lengths.
    assert_eq!(
        lines
            .ask("set k 0 0 -1\r\nset k 0 0 99999999999999999999\r\nset k 0 0 2147483647\r\n")
            .matches("CLIENT_ERROR")
            .count(),
        3
    );
    let keys = [250, 251].map(|bytes| "k".repeat(bytes));
    assert_eq!(
        lines.ask(format!("get {}\r\nget {}\r\n", keys[0], keys[1])),
        "END\r\nCLIENT_ERROR bad command line format\r\n"
    );
    // A line without an end.
    let mut endless = Lines::connect(port);
    endless.send(vec![b'x'; 4000]);
    assert_eq!(endless.until_closed(), "");
    // Disconnects within a value.
    let mut halved = Lines::connect(port);
    halved.send("set half 0 0 100\r\nabc");
    drop(halved);
    assert_eq!(lines.ask("get half\r\n"), "END\r\n");
}

#[test]
fn a_slow_reader_is_disconnected() {
    let (server, port) = start(&["--client-output-buffer-limit", "normal 1kb 0 0"]);
    let mut lines = Lines::connect(port);
    // Wherever the socket stops, more than the limit is left of one reply.
    let value = "x".repeat(1_000_000);
    assert_eq!(lines.ask(format!("set k 0 0 {}\r\n{value}\r\n", value.len())), "STORED\r\n");
    // More than any socket takes.
    let many = "get k\r\n".repeat(100);
    lines.send(many);
    let begin = Instant::now();
    while !server.log().contains("does not read its output") {
        assert!(begin.elapsed() < PATIENCE, "it is not cut off");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(Lines::connect(port).ask("mg k s\r\n"), "HD s1000000\r\n");
}

#[test]
fn a_long_pipeline_is_answered_in_order() {
    let (_server, port) = start(&[]);
    let mut lines = Lines::connect(port);
    let puts: String =
        (0..5_000).map(|at| format!("set key:{at} {at} 0 {} noreply\r\n{at}\r\n", at.to_string().len())).collect();
    let gets: String = (0..5_000).map(|at| format!("get key:{at}\r\n")).collect();
    let expected: String =
        (0..5_000).map(|at| format!("VALUE key:{at} {at} {}\r\n{at}\r\nEND\r\n", at.to_string().len())).collect();
    assert!(lines.ask(puts + &gets) == expected);
    let keys: Vec<String> = (0..5_000).map(|at| format!("key:{at}")).collect();
    let at_once = expected.replace("END\r\n", "") + "END\r\n";
    assert!(lines.ask(format!("get {}\r\n", keys.join(" "))) == at_once);
}

#[test]
fn refusals_use_memcached_errors_and_setting_names() {
    let (server, port) = start(&["--maxclients", "1"]);
    let first = Lines::connect(port);
    let mut second = Lines::connect(port);
    assert_eq!(second.until_closed(), "ERROR Too many open connections\r\n");
    drop(first);
    let taken = port.to_string();
    let expected = format!("127.0.0.1:{port} is taken by another program; stop it, or choose another port with");
    let log = refusal(&["--memcached-port", &taken]);
    assert!(log.contains(&format!("{expected} --memcached-port, or 0 for none")), "{log}");
    let log = refusal(&["--memcached-db", "16"]);
    assert!(log.contains("there is no database 16 for memcached's protocol"), "{log}");
    drop(server);
}

/// Returns the output of a server that does not start with these flags.
fn refusal(flags: &[&str]) -> String {
    // Another test may take the port of Redis's port before the server does.
    let logs = (0..20).map(|_| Server::try_start_once(tempfile::tempdir().unwrap(), flags).err().expect("it starts"));
    logs.into_iter().find(|log| !log.contains("with --port")).expect("no port is free")
}
