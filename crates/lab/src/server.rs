//! A server for one turn: a fresh folder, a free port, ready when it answers PING, gone when dropped.

use crate::programs::{Program, tied};
use crate::protocol::Protocol;
use crate::resp::Client;
use crate::scenario::Side;
use crate::{LabError, io_error};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The program to start, with its arguments.
struct Launch {
    program: Program,
    path: PathBuf,
    flags: Vec<String>,
    protocol: Protocol,
    protocol_port: u16,
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    port: u16,
    launch: Launch,
    log: PathBuf,
    /// Gone with the server, and after it: fields drop in this order.
    folder: TempDir,
}

impl Server {
    /// Starts the redis-server at `path` with `flags`, as [`Server::of_side`].
    ///
    /// # Errors
    /// As [`Server::of_side`].
    #[cfg(test)]
    pub(crate) fn start(path: &Path, flags: &[String], data: &Path) -> Result<Self, LabError> {
        Self::launched(Program::Redis, path, flags, Protocol::Resp, data)
    }

    /// Starts a side, whose program is at `path`, and waits until it answers. It ends with the calling thread at the
    /// latest.
    ///
    /// # Errors
    /// It ends at once or stays silent; the text has its last words.
    pub(crate) fn of_side(path: &Path, side: &Side, data: &Path) -> Result<Self, LabError> {
        Self::launched(side.program, path, &side.flags, side.protocol, data)
    }

    fn launched(
        program: Program,
        path: &Path,
        flags: &[String],
        protocol: Protocol,
        data: &Path,
    ) -> Result<Self, LabError> {
        fs::create_dir_all(data).map_err(io_error(data.display().to_string()))?;
        let folder = tempfile::tempdir_in(data).map_err(io_error(data.display().to_string()))?;
        let log = folder.path().join("server.log");
        let port = free_port()?;
        let has_own = program.speaks_resp() && protocol != Protocol::Resp;
        let protocol_port = if has_own { free_port()? } else { port };
        let launch = Launch { program, path: path.to_owned(), flags: flags.to_vec(), protocol, protocol_port };
        let child = spawn(&launch, port, folder.path(), &log)?;
        let mut server = Self { child, port, launch, log, folder };
        server.wait_ready()?;
        Ok(server)
    }

    /// Kills it as a crash would, and waits until it is gone.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn kill(&mut self) -> Result<(), LabError> {
        self.child.kill().map_err(io_error("kill"))?;
        self.child.wait().map(drop).map_err(io_error("wait"))
    }

    /// Starts the same program again on its data, and does not wait until it answers.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start_again(&mut self) -> Result<(), LabError> {
        self.child = spawn(&self.launch, self.port, self.folder.path(), &self.log)?;
        Ok(())
    }

    /// An error with its last words if it has ended.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn is_running(&mut self) -> Result<(), LabError> {
        match self.child.try_wait().map_err(io_error("wait"))? {
            Some(status) => Err(LabError::Step(format!("the server ended ({status}); {}", self.last_words()))),
            None => Ok(()),
        }
    }

    /// Returns the folder of its data and log.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the protocol of exchanges with it.
    pub(crate) fn protocol(&self) -> Protocol {
        self.launch.protocol
    }

    pub(crate) fn protocol_port(&self) -> u16 {
        self.launch.protocol_port
    }

    pub(crate) fn program(&self) -> Program {
        self.launch.program
    }

    /// Returns the answer to a question, in Redis's protocol if the server speaks that. Otherwise ` | NAME` after the
    /// question selects the value of one line of the answer.
    ///
    /// # Errors
    /// It is an error, or there is none.
    pub(crate) fn ask(&self, question: &str) -> Result<String, LabError> {
        let asked =
            if self.program().speaks_resp() { self.client()?.call(question) } else { self.ask_in_text(question) };
        asked.map_err(|error| LabError::Step(format!("{question}: {error}; {}", self.last_words())))
    }

    fn ask_in_text(&self, question: &str) -> io::Result<String> {
        let (question, name) = question.split_once(" | ").unwrap_or((question, ""));
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(READY_WITHIN))?;
        stream.write_all(format!("{question}\r\n").as_bytes())?;
        let (mut heard, mut room) = (Vec::new(), [0; 4096]);
        let length = loop {
            if let Some((length, _)) = self.protocol().answer(&heard)? {
                break length;
            }
            match stream.read(&mut room)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                bytes => heard.extend_from_slice(&room[..bytes]),
            }
        };
        let text = String::from_utf8_lossy(&heard[..length]).trim_end().to_owned();
        if name.is_empty() {
            return Ok(text);
        }
        let value = |line: &str| {
            let rest = line.trim().trim_start_matches("STAT ").strip_prefix(name)?.strip_prefix([' ', ':'])?;
            Some(rest.trim().to_owned())
        };
        text.lines().find_map(value).ok_or_else(|| io::Error::other(format!("no line {name}")))
    }

    /// A fresh connection.
    ///
    /// # Errors
    /// The server is gone.
    pub(crate) fn client(&self) -> Result<Client, LabError> {
        Client::connect(self.port).map_err(|error| LabError::Step(format!("connect: {error}; {}", self.last_words())))
    }

    /// Returns the end of the server's log, for an error's text.
    pub(crate) fn last_words(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        format!("the server said: {}", line.trim())
    }

    fn wait_ready(&mut self) -> Result<(), LabError> {
        let begin = Instant::now();
        loop {
            self.is_running()?;
            if self.is_ready() {
                return Ok(());
            }
            if begin.elapsed() > READY_WITHIN {
                return Err(LabError::Step(format!("no answer within {READY_WITHIN:?}; {}", self.last_words())));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// One that has nothing to load is ready when it listens.
    fn is_ready(&self) -> bool {
        if !self.program().speaks_resp() {
            return TcpStream::connect(("127.0.0.1", self.port)).is_ok();
        }
        let answer = Client::connect(self.port).and_then(|mut client| client.call("PING"));
        answer.is_ok_and(|answer| answer == "PONG")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process id of an ended server may belong to another process by now.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let asked = pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok());
        let begin = Instant::now();
        while asked && begin.elapsed() < STOPPED_WITHIN {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
        // Its time is over; it does not matter if it is already gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(launch: &Launch, port: u16, folder: &Path, log: &Path) -> Result<Child, LabError> {
    let shown = || log.display().to_string();
    let out = OpenOptions::new().create(true).append(true).open(log).map_err(io_error(shown()))?;
    let err = out.try_clone().map_err(io_error(shown()))?;
    let folder = folder.display().to_string();
    let own_port = |protocol| if launch.protocol == protocol { launch.protocol_port } else { 0 }.to_string();
    tied(&launch.path, "KILL")
        .args(launch.program.arguments(port, &folder))
        .args(launch.flags.iter().map(|flag| flag.replace("{folder}", &folder)))
        // Several servers run concurrently, so each listens only for the protocol of its side.
        .env("BOBBIN_MEMCACHED_PORT", own_port(Protocol::Memcached))
        .env("BOBBIN_QUEUE_PORT", own_port(Protocol::Queue))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn()
        .map_err(io_error(launch.path.display().to_string()))
}

/// A port nobody listens on. Another process may take it before the server does; then the start fails and says so.
fn free_port() -> Result<u16, LabError> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(io_error("a free port"))?;
    Ok(listener.local_addr().map_err(io_error("a free port"))?.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::program_or_skip;

    #[test]
    fn a_server_answers_and_leaves_nothing_behind() {
        let Some(redis) = program_or_skip("lab::server", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &[], data.path()).unwrap();
        let (pid, port) = (server.pid(), server.port());
        assert_eq!(server.client().unwrap().call("ECHO here").unwrap(), "here");
        drop(server);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        assert!(Client::connect(port).is_err());
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_killed_server_restarts_with_its_data() {
        let Some(redis) = program_or_skip("lab::server", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let flags = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"].map(str::to_owned);
        let mut server = Server::start(&redis, &flags, data.path()).unwrap();
        let pid = server.pid();
        server.client().unwrap().call("SET kept here").unwrap();
        server.kill().unwrap();
        server.is_running().unwrap_err();
        server.start_again().unwrap();
        server.wait_ready().unwrap();
        assert_ne!(server.pid(), pid);
        assert_eq!(server.client().unwrap().call("GET kept").unwrap(), "here");
    }

    #[test]
    fn a_server_is_asked_in_its_own_protocol() {
        let Some(memcached) = program_or_skip("lab::server", "memcached") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::launched(Program::Memcached, &memcached, &[], Protocol::Memcached, data.path()).unwrap();
        assert_eq!(server.ask("stats | curr_items").unwrap(), "0");
        assert_eq!(server.ask("get nothing").unwrap(), "END");
        assert!(server.ask("stats | no_such_line").unwrap_err().to_string().contains("no line no_such_line"));
        assert!(server.ask("nonsense").unwrap_err().to_string().contains("ERROR"));
    }

    #[test]
    fn a_server_that_ends_says_why() {
        let Some(redis) = program_or_skip("lab::server", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let flags = ["--no-such-option".to_owned(), "yes".to_owned()];
        let error = Server::start(&redis, &flags, data.path()).err().unwrap().to_string();
        assert!(error.contains("ended"), "{error}");
    }
}
