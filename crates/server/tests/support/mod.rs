//! A server for one test, and connections to it.
//!
//! Each server has a folder and a port of its own and ends with the test. Its log is shown when it does not start, and
//! is available to tests.

#![allow(dead_code, reason = "each test file uses its part of this")]

pub(crate) mod disk;
pub(crate) mod lines;
pub(crate) mod peer;

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wire::client::{Parser, Value};

/// The maximum time that a connection waits for a reply.
const PATIENCE: Duration = Duration::from_secs(30);

/// As the value of a flag: a port that is free.
pub(crate) const FREE_PORT: &str = "a free port";

/// As a flag before a number of kilobytes: what the server may map.
pub(crate) const ULIMIT_V: &str = "ulimit -v";

/// As a flag: the server's umask removes no permission.
pub(crate) const UMASK_0: &str = "umask 0";

/// A server of the test's own.
pub(crate) struct Server {
    child: Child,
    /// The port on 127.0.0.1.
    pub(crate) port: u16,
    folder: TempDir,
    flags: Vec<String>,
    log: Log,
}

/// The output of a server, and the thread that reads it to its end.
struct Log {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts `bobbin` with `flags`, beside a port and a data folder, and waits until it is ready.
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), flags)
    }

    /// As [`Server::start`], with a data folder in `folder`.
    pub(crate) fn start_in(folder: TempDir, flags: &[&str]) -> Self {
        Self::try_start_in(folder, flags).unwrap_or_else(|log| panic!("the server does not start: {log}"))
    }

    /// As [`Server::start_in`].
    ///
    /// # Errors
    /// It did not start; returns its output.
    pub(crate) fn try_start_in(folder: TempDir, flags: &[&str]) -> Result<Self, String> {
        // Another test may take the port before the server does.
        for _ in 0..20 {
            let port = free_port();
            let flag = |flag: &&str| if *flag == FREE_PORT { free_port().to_string() } else { (*flag).to_owned() };
            let flags: Vec<String> = flags.iter().map(flag).collect();
            match launch(port, folder.path(), &flags, &[]) {
                Ok((child, log)) => return Ok(Self { child, port, folder, flags, log }),
                Err(log) if log.contains("is taken by another program") => {}
                Err(log) => return Err(log),
            }
        }
        panic!("no port is free");
    }

    /// As [`Server::try_start_in`], on the first port that comes.
    ///
    /// # Errors
    /// See there.
    pub(crate) fn try_start_once(folder: TempDir, flags: &[&str]) -> Result<Self, String> {
        let (port, flags) = (free_port(), flags.iter().map(|&flag| flag.to_owned()).collect::<Vec<_>>());
        launch(port, folder.path(), &flags, &[]).map(|(child, log)| Self { child, port, folder, flags, log })
    }

    /// Returns the value of a flag of its command line.
    pub(crate) fn flag(&self, name: &str) -> &str {
        let at = self.flags.iter().position(|flag| flag == name).expect("it was given");
        &self.flags[at + 1]
    }

    /// Starts it again, on the same folder and port, after it has ended.
    pub(crate) fn restart(&mut self) {
        self.try_restart().unwrap_or_else(|log| panic!("the server does not start again: {log}"));
    }

    /// As [`Server::restart`].
    ///
    /// # Errors
    /// It did not start; returns its output.
    pub(crate) fn try_restart(&mut self) -> Result<(), String> {
        self.relaunch(&[])
    }

    /// As [`Server::restart`], with `variables` of the environment.
    pub(crate) fn restart_with(&mut self, variables: &[(&str, &str)]) {
        self.relaunch(variables).unwrap_or_else(|log| panic!("the server does not start again: {log}"));
    }

    fn relaunch(&mut self, variables: &[(&str, &str)]) -> Result<(), String> {
        let began = Instant::now();
        loop {
            match launch(self.port, self.folder.path(), &self.flags, variables) {
                Ok(launched) => {
                    (self.child, self.log) = launched;
                    return Ok(());
                }
                // A connection of another test may have been given the port meanwhile.
                Err(log) if log.contains("is taken by another program") && began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(log) => return Err(log),
            }
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The folder that holds its data folder and is removed with it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its data folder.
    pub(crate) fn data(&self) -> PathBuf {
        data(self.folder.path())
    }

    /// Returns its log since its last start.
    pub(crate) fn log(&self) -> String {
        self.log.text.lock().unwrap().clone()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end, and for the last that it logged.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        self.log.reader.take().into_iter().for_each(|reader| reader.join().unwrap());
        status
    }

    /// As [`Server::wait`], with a time limit; `None` if it still runs.
    pub(crate) fn wait_at_most(&mut self, most: Duration) -> Option<ExitStatus> {
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if began.elapsed() > most {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(self.wait())
    }

    /// Stops it as an operator would, and checks that it exits cleanly.
    pub(crate) fn stop(&mut self) {
        self.signal(Signal::TERM);
        assert_eq!(self.wait().code(), Some(0), "{}", self.log());
    }

    /// Kills it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.wait();
    }

    /// A connection over TCP.
    pub(crate) fn connect(&self) -> Connection<TcpStream> {
        Connection::tcp(self.port)
    }

    /// Waits until a field of INFO has this value.
    pub(crate) fn wait_for_info(&self, field: &str, value: &str) {
        let began = Instant::now();
        while self.info(field) != value {
            assert!(began.elapsed() < PATIENCE, "{field} is {}, not {value}", self.info(field));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the log has this: it is read beside.
    pub(crate) fn wait_for_log(&self, text: &str) {
        let began = Instant::now();
        while !self.log().contains(text) {
            assert!(began.elapsed() < PATIENCE, "no `{text}` in {}", self.log());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The value of a field of INFO.
    pub(crate) fn info(&self, field: &str) -> String {
        let reply = self.connect().call(&["INFO", "everything"]);
        let text = match &reply {
            Value::Bulk(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            Value::Verbatim { text, .. } => text.clone(),
            other => panic!("INFO answers {other}"),
        };
        let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.unwrap_or_else(|| panic!("INFO has no field {field}")).to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the real binary, without the settings in the user's environment.
pub(crate) fn bobbin() -> Command {
    deaf(Command::new(env!("CARGO_BIN_EXE_bobbin")))
}

fn deaf(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BOBBIN_") {
            command.env_remove(name);
        }
    }
    // Tests run concurrently: a test that needs such a port takes a free one.
    command.env("BOBBIN_MEMCACHED_PORT", "0").env("BOBBIN_QUEUE_PORT", "0");
    command
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    base::programs::free_port().unwrap()
}

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Returns a ready server and its log, which a thread continues to read; or its output if it ended.
fn launch(port: u16, folder: &Path, flags: &[String], variables: &[(&str, &str)]) -> Result<(Child, Log), String> {
    let mut flags = flags.to_vec();
    let mut command = bobbin();
    let words = |flag: &String| if flag == ULIMIT_V { 2 } else { usize::from(flag == UMASK_0) };
    if let Some(at) = flags.iter().position(|flag| words(flag) > 0) {
        let limit = flags.drain(at..at + words(&flags[at])).collect::<Vec<_>>().join(" ");
        command = deaf(Command::new("sh"));
        command.args(["-c", &format!("{limit} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_bobbin")]);
    }
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir"]).arg(data(folder));
    if !flags.iter().any(|flag| flag == "--threads") {
        command.args(["--threads", "2"]);
    }
    let mut child = command.args(&flags).envs(variables.iter().copied()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains("ready in") {
        if lines.read_line(&mut log).unwrap() == 0 {
            let status = child.wait().unwrap();
            return Err(format!("{log}{status}"));
        }
    }
    let text = Arc::new(Mutex::new(log));
    let kept = text.clone();
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            kept.lock().unwrap().push_str(&line);
            line.clear();
        }
    });
    Ok((child, Log { text, reader: Some(reader) }))
}

/// A client, one reply at a time.
pub(crate) struct Connection<S> {
    /// The socket.
    pub(crate) stream: S,
    parser: Parser,
}

impl Connection<TcpStream> {
    /// A connection to a port of this machine.
    pub(crate) fn tcp(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self::new(stream)
    }
}

impl Connection<UnixStream> {
    /// A connection to a unix socket.
    pub(crate) fn unix(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self::new(stream)
    }
}

impl<S: Read + Write> Connection<S> {
    fn new(stream: S) -> Self {
        Self { stream, parser: Parser::new() }
    }

    /// Sends a request and waits for its reply.
    #[track_caller]
    pub(crate) fn call<T: AsRef<[u8]>>(&mut self, arguments: &[T]) -> Value {
        self.send(arguments);
        self.reply()
    }

    /// Sends a request.
    #[track_caller]
    pub(crate) fn send<T: AsRef<[u8]>>(&mut self, arguments: &[T]) {
        self.send_bytes(&request(arguments));
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next reply.
    #[track_caller]
    pub(crate) fn reply(&mut self) -> Value {
        self.try_reply().expect("the server closed the connection")
    }

    /// The next reply; `None` if the server closes the connection.
    #[track_caller]
    pub(crate) fn try_reply(&mut self) -> Option<Value> {
        loop {
            if let Some(value) = self.parser.next_value().unwrap() {
                return Some(value);
            }
            let mut bytes = [0; 64 << 10];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.parser.feed(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                // A timed wait ends with this error when the process was stopped and continued.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("no reply: {error}"),
            }
        }
    }

    /// Sends requests as one; the replies that come before the server ends.
    #[track_caller]
    pub(crate) fn calls_until_gone(&mut self, requests: &[Vec<u8>]) -> Vec<Value> {
        // Whether they were taken shows in the replies.
        let _ = self.stream.write_all(&requests.concat());
        requests.iter().map_while(|_| self.try_reply()).collect()
    }

    /// Waits until the server closes the connection, and counts the bytes that come before.
    #[track_caller]
    pub(crate) fn bytes_until_closed(&mut self) -> usize {
        let mut bytes = vec![0; 1 << 20];
        let mut total = 0;
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return total,
                Ok(count) => total += count,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return total,
                // A timed wait ends with this error when the process was stopped and continued.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("the connection stays open: {error}"),
            }
        }
    }
}

/// A request as an array of bulks.
pub(crate) fn request<T: AsRef<[u8]>>(arguments: &[T]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        let argument = argument.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        bytes.extend_from_slice(argument);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
