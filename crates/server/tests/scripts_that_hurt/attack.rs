//! A server under attack by a script: the replies to the attacker, the replies to all others during and after the
//! attack, and the memory of the server.
//!
//! ```text
//! attacker ---- EVAL attack ------------------------------------> its reply, which comes in any case
//! others   ---- GET key, again and again: BUSY? -- SCRIPT KILL --> afterwards PING, GET and EVAL on every worker
//! watch    ---- the server's memory, again and again: above RSS_BYTES_MAX it ends the server, and the test fails
//! ```

use crate::support::{Connection, Server, request};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wire::client::{Parser, Value};

pub(crate) type Client = Connection<TcpStream>;

/// The maximum memory of a server of two workers, whatever its scripts do: twice the memory of scripts, and the large
/// replies and requests of a test.
pub(crate) const RSS_BYTES_MAX: u64 = 1_500_000_000;
/// The maximum time that a test waits.
const PATIENCE: Duration = Duration::from_secs(60);
/// The shortest allowed time before a server is busy.
const THRESHOLD: [&str; 2] = ["--busy-reply-threshold", "100"];
/// More than there are workers, so that each serves some.
const CONNECTIONS: usize = 6;

const KILLED: &str = "ERR Script killed by user with SCRIPT KILL";
const VALUE: &str = "kept";

/// The commands that start and kill an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// EVAL, and SCRIPT KILL.
    Script,
    /// EVAL inside MULTI, and SCRIPT KILL.
    Transaction,
    /// FCALL, and FUNCTION KILL.
    Function,
}

impl Way {
    fn kill(self) -> [&'static str; 2] {
        if self == Self::Function { ["FUNCTION", "KILL"] } else { ["SCRIPT", "KILL"] }
    }

    fn busy(self) -> String {
        let kill = self.kill().join(" ");
        format!("BUSY Redis is busy running a script. You can only call {kill} or SHUTDOWN NOSAVE.")
    }
}

/// A server and those who attack it and use it.
pub(crate) struct Attacked {
    pub(crate) server: Server,
    /// At least one on every worker.
    others: Vec<Client>,
    /// The replies to attacks, in order; `None` when the server has closed.
    replies: Receiver<Option<Value>>,
    watch: Watch,
    what: String,
}

impl Attacked {
    /// A server of two workers with `flags`, and a key that attacks hold.
    pub(crate) fn start(flags: &[&str]) -> Self {
        let server = Server::start(&[&["--journal", "off"], &THRESHOLD, flags].concat());
        let mut others: Vec<Client> = (0..CONNECTIONS).map(|_| server.connect()).collect();
        assert_eq!(others[0].call(&["SET", "key", VALUE]).to_string(), "OK");
        let watch = Watch::begin(server.pid());
        let (_, replies) = channel();
        Self { server, others, replies, watch, what: String::new() }
    }

    /// Brings the server `script`, whose first key is `key`.
    pub(crate) fn attack(&mut self, way: Way, script: &str) {
        self.what = script.chars().take(120).collect();
        println!("{way:?}: {}", self.what);
        if way == Way::Function {
            let code = format!("#!lua name=hurt\nredis.register_function('attack', function(keys, args) {script} end)");
            assert_eq!(self.others[0].call(&["FUNCTION", "LOAD", "REPLACE", &code]).to_string(), "\"hurt\"");
        }
        let eval = request(&["EVAL", script, "1", "key"]);
        match way {
            Way::Script => self.send(&eval, 0),
            Way::Transaction => self.send(&[request(&["MULTI"]), eval, request(&["EXEC"])].concat(), 2),
            Way::Function => self.send(&request(&["FCALL", "attack", "1", "key"]), 0),
        }
    }

    /// Sends `bytes` on a connection of its own; the reply after the first `passed` goes to [`Attacked::outcome`].
    pub(crate) fn send(&mut self, bytes: &[u8], passed: usize) {
        let mut attacker = self.server.connect().stream;
        attacker.set_read_timeout(Some(2 * PATIENCE)).unwrap();
        attacker.write_all(bytes).unwrap();
        let (sender, replies) = channel();
        self.replies = replies;
        thread::spawn(move || {
            let mut parser = Parser::new();
            (0..passed).for_each(|_| drop(read(&mut attacker, &mut parser)));
            let _ = sender.send(read(&mut attacker, &mut parser));
        });
    }

    /// Waits until all other clients get BUSY.
    pub(crate) fn wait_busy(&mut self, way: Way) {
        let (began, busy) = (Instant::now(), way.busy());
        for at in 0..CONNECTIONS {
            loop {
                let heard = self.ask(at, &["GET", "key"]);
                if heard.as_error() == Some(&busy) {
                    break;
                }
                if let Ok(reply) = self.replies.try_recv() {
                    panic!("it comes to an end, with {reply:?}: {}", self.fate());
                }
                assert!(began.elapsed() < PATIENCE, "{}: never busy: {heard}", self.what);
                thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Kills the running attack, and returns the reply to the attacker.
    pub(crate) fn kill(&mut self, way: Way) -> String {
        for at in 0..CONNECTIONS {
            // A busy server replies BUSY to each connection.
            let ping = self.ask(at, &["PING"]);
            assert_eq!(ping.as_error(), Some(way.busy().as_str()), "{}", self.what);
        }
        let killed = self.ask(0, &way.kill());
        assert_eq!(killed.to_string(), "OK", "{}", self.what);
        let reply = self.reply();
        match (way, &reply) {
            (Way::Transaction, Value::Array(replies)) => replies[0].to_string(),
            _ => reply.to_string(),
        }
    }

    /// Returns the reply to the attacker, within [`PATIENCE`].
    fn reply(&mut self) -> Value {
        match self.replies.recv_timeout(PATIENCE) {
            Ok(Some(reply)) => reply,
            Ok(None) | Err(RecvTimeoutError::Disconnected) => panic!("{}", self.fate()),
            Err(RecvTimeoutError::Timeout) => panic!("{}: it does not end, though killed", self.what),
        }
    }

    /// Returns the reply to the attacker, for a script that may not end: once the server is busy, it is killed.
    pub(crate) fn outcome(&mut self, way: Way) -> Value {
        let began = Instant::now();
        loop {
            match self.replies.recv_timeout(Duration::from_millis(5)) {
                Ok(Some(reply)) => return reply,
                Ok(None) | Err(RecvTimeoutError::Disconnected) => panic!("{}", self.fate()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            assert!(began.elapsed() < PATIENCE, "{}: it does not end", self.what);
            for at in 0..CONNECTIONS {
                if self.ask(at, &["GET", "key"]).as_error() == Some(&way.busy()) {
                    let reply = self.ask(at, &way.kill()).to_string();
                    assert!(reply == "OK" || reply.starts_with("!NOTBUSY "), "{}: {reply}", self.what);
                }
            }
        }
    }

    /// Returns the reply to the attacker, for a script that ends by itself.
    pub(crate) fn outcome_of_its_own(&mut self) -> Value {
        self.reply()
    }

    /// The reply to one of the others, who all have one.
    #[track_caller]
    pub(crate) fn ask<T: AsRef<[u8]>>(&mut self, at: usize, words: &[T]) -> Value {
        let other = &mut self.others[at];
        let reply = other.stream.write_all(&request(words)).ok().and_then(|()| other.try_reply());
        reply.unwrap_or_else(|| panic!("{}", self.fate()))
    }

    /// Checks that everybody is served, on every worker: those who were there, and those who come.
    pub(crate) fn is_well(&mut self) {
        let come = (0..CONNECTIONS).map(|_| self.server.connect());
        self.others.extend(come);
        for at in 0..self.others.len() {
            assert_eq!(self.ask(at, &["PING"]).to_string(), "PONG", "{}", self.what);
            assert_eq!(self.ask(at, &["GET", "key"]), Value::bulk(VALUE), "{}", self.what);
            let script = "return #string.rep('x', 1000000)";
            assert_eq!(self.ask(at, &["EVAL", script, "0"]), Value::Int(1_000_000), "{}", self.what);
        }
        self.others.truncate(CONNECTIONS);
        let most = self.most_bytes();
        assert!(most <= RSS_BYTES_MAX, "{}: the server has taken {most} bytes", self.what);
    }

    /// The most bytes that the server has had in memory.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.watch.most()
    }

    /// Returns how the attack and the server have ended.
    fn fate(&mut self) -> String {
        let fate = if self.watch.is_too_much.load(Ordering::Relaxed) {
            format!("the server took more than {RSS_BYTES_MAX} bytes")
        } else if let Some(status) = self.server.wait_at_most(Duration::from_secs(5)) {
            format!("the server has ended: {status}")
        } else {
            "the server runs, and has closed a connection".to_owned()
        };
        format!("{}: {fate}: {}", self.what, self.server.log())
    }
}

/// Returns the next reply; `None` if the server closes. A reply too deep or too long for the parser is returned as an
/// error.
fn read(stream: &mut TcpStream, parser: &mut Parser) -> Option<Value> {
    let mut bytes = [0; 64 << 10];
    loop {
        match parser.next_value() {
            Ok(Some(value)) => return Some(value),
            Ok(None) => {}
            Err(error) => return Some(Value::Error(format!("a reply that no client reads: {error}"))),
        }
        match stream.read(&mut bytes) {
            Ok(0) => return None,
            Ok(count) => parser.feed(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("no reply to an attack: {error}"),
        }
    }
}

/// A thread that looks at the memory of a process, so that no test takes all that the machine has.
struct Watch {
    pid: u32,
    is_over: Arc<AtomicBool>,
    is_too_much: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    fn begin(pid: u32) -> Self {
        let (is_over, is_too_much) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (over, too_much) = (is_over.clone(), is_too_much.clone());
        let thread = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                if status(pid, "VmRSS:").is_some_and(|bytes| bytes > RSS_BYTES_MAX) {
                    too_much.store(true, Ordering::Relaxed);
                    let _ = kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL);
                    return;
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
        Self { pid, is_over, is_too_much, thread: Some(thread) }
    }

    /// The most bytes that the process has had in memory.
    fn most(&self) -> u64 {
        status(self.pid, "VmHWM:").expect("the process is there")
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// A figure of a process, in bytes; `None` once it has ended.
fn status(pid: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024 * kib.trim().trim_end_matches(" kB").parse::<u64>().ok()?)
}

/// Checks that an attack which would never end is killed, and that all is well afterwards.
pub(crate) fn is_killed(way: Way, script: &str) {
    let mut attacked = Attacked::start(&[]);
    attacked.attack(way, script);
    attacked.wait_busy(way);
    let reply = attacked.kill(way);
    assert!(reply.starts_with(&format!("!{KILLED}")), "{script}: {reply}");
    attacked.is_well();
}

/// Checks that an attack ends, killed if the server becomes busy, and that the server works afterwards. Returns the
/// reply to the attacker.
pub(crate) fn ends(script: &str) -> Value {
    let mut attacked = Attacked::start(&[]);
    attacked.attack(Way::Script, script);
    let reply = attacked.outcome(Way::Script);
    attacked.is_well();
    reply
}

/// A test for each script that ends, by an error or otherwise, or is killed where the machine is slow.
macro_rules! ended {
    ($($name:ident = $script:expr;)*) => {$(
        #[test]
        fn $name() {
            $crate::scripts_that_hurt::attack::ends($script);
        }
    )*};
}
pub(crate) use ended;
