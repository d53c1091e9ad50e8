//! A server for one turn: a fresh folder, a free port, ready when it answers PING, gone when dropped.

use crate::adapters::Program;
use crate::memory_group::MemoryGroup;
use crate::programs::{bounded, tied};
use crate::protocol::Protocol;
use crate::resp::Client;
use crate::scenario::Side;
use crate::sql::{DATABASE, SqlClient};
use crate::{LabError, interrupt, io_error, not_on_path, tools};
use base::programs::on_path;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Statements that fill tables take minutes.
const SQL_SILENCE: Duration = Duration::from_secs(600);

/// The program to start, with its arguments.
struct Launch {
    program: Program,
    path: PathBuf,
    flags: Vec<String>,
    protocol: Protocol,
    protocol_port: u16,
    /// The cores it runs on, in taskset's form.
    pin: Option<String>,
    /// The maximum of its memory, the page cache of its files included.
    memory_max_bytes: Option<u64>,
}

/// The part of the machine that a server may use; all of it by default.
#[derive(Clone, Copy, Default)]
pub(crate) struct Resources<'a> {
    /// The cores it runs on, in taskset's form.
    pub(crate) pin: Option<&'a str>,
    /// The maximum of its memory, the page cache of its files included.
    pub(crate) memory_max_bytes: Option<u64>,
}

/// A running server.
pub(crate) struct Server {
    /// Absent if it ran before the lab did.
    child: Option<Child>,
    /// Ends the child on an interrupt.
    ended: Option<interrupt::Ended>,
    address: SocketAddr,
    launch: Launch,
    log: PathBuf,
    /// The maximum duration of a rest.
    rest_max: Duration,
    /// The group that limits its memory, if one does.
    memory_group: Option<MemoryGroup>,
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
        let redis = Program::named("redis").expect("an adapter");
        let launch = Launch::new(redis, path, flags, Protocol::Resp);
        Self::launched(launch?, data)
    }

    /// Starts the server of an adapter in a folder of its own, with the least durability. Absent if its program is not
    /// here: that skips the test.
    #[cfg(test)]
    pub(crate) fn of_adapter(test: &str, name: &str) -> Option<(TempDir, Self)> {
        let program = Program::named(name).expect("an adapter");
        let path = testing::program_or_skip(test, program.program())?;
        let data = tempfile::tempdir().expect("a folder");
        let flags = program.durability(crate::adapters::Fsync::None).unwrap_or_default();
        let launch = Launch::new(program, &path, &flags, program.protocol()).expect("a port");
        let server = Self::launched(launch, data.path()).expect("a server");
        Some((data, server))
    }

    /// Starts a side, whose program is at `path`, and waits until it answers. It ends with the calling thread at the
    /// latest.
    ///
    /// # Errors
    /// It ends at once or stays silent; the text has its last words.
    pub(crate) fn of_side(path: &Path, side: &Side, resources: Resources<'_>, data: &Path) -> Result<Self, LabError> {
        let launch = Launch::new(side.program, path, &side.flags, side.protocol())?;
        let Resources { pin, memory_max_bytes } = resources;
        Self::launched(Launch { pin: pin.map(str::to_owned), memory_max_bytes, ..launch }, data)
    }

    /// Returns a server that somebody else started. Its data are deleted.
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) fn running(side: &Side, address: SocketAddr, data: &Path) -> Result<Self, LabError> {
        let mut launch = Launch::new(side.program, Path::new(""), &side.flags, side.protocol())?;
        launch.protocol_port = address.port();
        if !side.program.is_server() {
            return Err(LabError::Step(format!("{} is a library: it cannot be running", side.program.name())));
        }
        let mut server = Self::not_started(launch, address, data_folder(data)?);
        server.wait_ready()?;
        match side.program.protocol() {
            Protocol::Resp => drop(server.ask("FLUSHALL")?),
            Protocol::Sql => server.make_database_anew()?,
            _ => {}
        }
        Ok(server)
    }

    fn launched(launch: Launch, data: &Path) -> Result<Self, LabError> {
        let folder = data_folder(data)?;
        let own_port = launch.program.speaks_resp() && launch.protocol != Protocol::Resp;
        let port = if own_port { free_port()? } else { launch.protocol_port };
        launch.program.prepare_folder(&launch.path, folder.path(), port)?;
        let mut server = Self::not_started(launch, SocketAddr::from((Ipv4Addr::LOCALHOST, port)), folder);
        server.memory_group = server.launch.memory_max_bytes.map(MemoryGroup::new).transpose()?;
        if server.program().is_server() {
            server.start_again()?;
            server.wait_ready()?;
        } else if server.memory_group.is_some() {
            return Err(LabError::Step("the memory of a library's tools cannot be limited".to_owned()));
        }
        Ok(server)
    }

    fn not_started(launch: Launch, address: SocketAddr, folder: TempDir) -> Self {
        let log = folder.path().join("server.log");
        Self { child: None, ended: None, address, launch, log, rest_max: Duration::MAX, memory_group: None, folder }
    }

    /// Shortens rests to at most this.
    pub(crate) fn set_rest_max(&mut self, rest_max: Duration) {
        self.rest_max = rest_max;
    }

    /// Leaves the server alone, for it to return memory or to settle.
    pub(crate) fn rest(&self, duration: Duration) {
        thread::sleep(duration.min(self.rest_max));
    }

    /// Kills it as a crash would, and waits until it is gone.
    ///
    /// # Errors
    /// The system refused, or the lab did not start it.
    pub(crate) fn kill(&mut self) -> Result<(), LabError> {
        self.ended = None;
        let child = self.child.as_mut().ok_or_else(not_ours)?;
        child.kill().map_err(io_error("kill"))?;
        child.wait().map(drop).map_err(io_error("wait"))
    }

    /// Starts the program on the data that are there, and does not wait until it answers.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start_again(&mut self) -> Result<(), LabError> {
        let group = self.memory_group.as_ref();
        let child = spawn(&self.launch, self.port(), self.folder.path(), &self.log, group)?;
        self.ended = Some(interrupt::Ended::on_interrupt(child.id()));
        self.child = Some(child);
        Ok(())
    }

    /// An error with its last words if it has ended.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn is_running(&mut self) -> Result<(), LabError> {
        let Some(child) = &mut self.child else { return Ok(()) };
        match child.try_wait().map_err(io_error("wait"))? {
            Some(status) => Err(LabError::Step(format!("the server ended ({status}); {}", self.last_words()))),
            None => Ok(()),
        }
    }

    /// Returns the folder of its data and log.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns its process, if the lab started it.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns its process.
    ///
    /// # Errors
    /// The lab did not start it.
    pub(crate) fn own_pid(&self) -> Result<u32, LabError> {
        self.pid().ok_or_else(not_ours)
    }

    /// Returns where it answers questions.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns where it is driven.
    pub(crate) fn protocol_address(&self) -> SocketAddr {
        SocketAddr::new(self.address.ip(), self.launch.protocol_port)
    }

    /// Returns the protocol of exchanges with it.
    pub(crate) fn protocol(&self) -> Protocol {
        self.launch.protocol
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
        let asked = match self.program().protocol() {
            Protocol::Resp => self.client()?.call(question),
            Protocol::Sql => self.sql_client(Some(DATABASE)).and_then(|mut client| client.call(question)),
            Protocol::Tools => return tools::ask(self, question),
            Protocol::Memcached | Protocol::Queue | Protocol::Beanstalk => self.ask_in_text(question),
        };
        asked.map_err(|error| LabError::Step(format!("{question}: {error}; {}", self.last_words())))
    }

    fn ask_in_text(&self, question: &str) -> io::Result<String> {
        let (question, name) = question.split_once(" | ").unwrap_or((question, ""));
        let mut stream = TcpStream::connect(self.address)?;
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
        line_named(name, text)
    }

    /// A fresh connection to a server that speaks SQL.
    fn sql_client(&self, database: Option<&str>) -> io::Result<SqlClient> {
        SqlClient::connect(self.address, database, SQL_SILENCE)
    }

    /// Deletes the database of the lab in a server that ran before, and makes it again. Others are left alone.
    fn make_database_anew(&self) -> Result<(), LabError> {
        let made = self.sql_client(None).and_then(|mut client| {
            client.call(&format!("drop database if exists {DATABASE} ; create database {DATABASE}"))
        });
        made.map(drop).map_err(|error| LabError::Step(format!("create database: {error}")))
    }

    /// Returns a command that runs a program in the server's folder and on its cores, and that is ended after `limit_s`
    /// seconds. What it says on its standard error goes to the log.
    ///
    /// # Errors
    /// The program is not on PATH, or the log cannot be written.
    pub(crate) fn tool(&self, name: &str, limit_s: u64) -> Result<Command, LabError> {
        let missing = || not_on_path(name, self.program().remedy());
        let path = on_path(name).ok_or_else(missing)?;
        let shown = || self.log.display().to_string();
        let log = OpenOptions::new().create(true).append(true).open(&self.log).map_err(io_error(shown()))?;
        let mut command = match &self.launch.pin {
            Some(cores) => {
                let mut command = bounded(Path::new("taskset"), limit_s);
                command.arg("-c").arg(cores).arg(path);
                command
            }
            None => bounded(&path, limit_s),
        };
        // Ctrl-C is the lab's, as for servers.
        command.current_dir(self.folder()).process_group(0).stdin(Stdio::null()).stderr(log);
        Ok(command)
    }

    /// A fresh connection.
    ///
    /// # Errors
    /// The server is gone.
    pub(crate) fn client(&self) -> Result<Client, LabError> {
        Client::connect(self.address)
            .map_err(|error| LabError::Step(format!("connect: {error}; {}", self.last_words())))
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
        let (answer, expected) = match self.program().protocol() {
            Protocol::Resp => (Client::connect(self.address).and_then(|mut client| client.call("PING")), "PONG"),
            Protocol::Sql => (self.sql_client(None).and_then(|mut client| client.call("select 1")), "1"),
            _ => return TcpStream::connect(self.address).is_ok(),
        };
        answer.is_ok_and(|answer| answer == expected)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended = None;
        let Some(child) = &mut self.child else { return };
        // The process id of an ended server may belong to another process by now.
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let asked = pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok());
        let begin = Instant::now();
        while asked && begin.elapsed() < STOPPED_WITHIN {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
        // Its time is over; it does not matter if it is already gone.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Launch {
    fn new(program: Program, path: &Path, flags: &[String], protocol: Protocol) -> Result<Self, LabError> {
        let (path, flags) = (path.to_owned(), flags.to_vec());
        Ok(Self { program, path, flags, protocol, protocol_port: free_port()?, pin: None, memory_max_bytes: None })
    }
}

fn data_folder(data: &Path) -> Result<TempDir, LabError> {
    fs::create_dir_all(data).map_err(io_error(data.display().to_string()))?;
    tempfile::tempdir_in(data).map_err(io_error(data.display().to_string()))
}

/// Returns the value in the line of this name, or the whole text if the name is empty.
///
/// # Errors
/// There is no such line.
pub(crate) fn line_named(name: &str, text: String) -> io::Result<String> {
    if name.is_empty() {
        return Ok(text);
    }
    let value = |line: &str| {
        let rest = line.trim().trim_start_matches("STAT ").strip_prefix(name)?.strip_prefix([' ', ':'])?;
        Some(rest.trim().to_owned())
    };
    text.lines().find_map(value).ok_or_else(|| io::Error::other(format!("no line {name}")))
}

fn not_ours() -> LabError {
    LabError::Step("this needs a server that the lab starts".to_owned())
}

fn spawn(
    launch: &Launch,
    port: u16,
    folder: &Path,
    log: &Path,
    group: Option<&MemoryGroup>,
) -> Result<Child, LabError> {
    let shown = || log.display().to_string();
    let out = OpenOptions::new().create(true).append(true).open(log).map_err(io_error(shown()))?;
    let err = out.try_clone().map_err(io_error(shown()))?;
    let folder = folder.display().to_string();
    let own_port = |protocol| if launch.protocol == protocol { launch.protocol_port } else { 0 }.to_string();
    let mut words: Vec<OsString> = Vec::new();
    if let Some(group) = group {
        // The process is in the group before it is the server, which may look for its limits at once.
        words.extend(["sh", "-c", "echo $$ >\"$0\" && exec \"$@\""].map(OsString::from));
        words.push(group.processes().into());
    }
    if let Some(cores) = &launch.pin {
        words.extend(["taskset", "-c", cores].map(OsString::from));
    }
    words.push(launch.path.clone().into());
    let mut command = tied(&words[0], "KILL");
    command
        .args(&words[1..])
        // Ctrl-C is the lab's: it ends the servers.
        .process_group(0)
        .args(launch.program.arguments(port, &folder))
        .args(launch.program.settings())
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
    base::programs::free_port().map_err(io_error("a free port"))
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
        let (pid, address) = (server.own_pid().unwrap(), server.address());
        assert_eq!(server.client().unwrap().call("ECHO here").unwrap(), "here");
        drop(server);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        assert!(Client::connect(address).is_err());
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
    fn a_server_and_its_next_start_are_in_a_memory_group() {
        let Some(path) = program_or_skip("lab::server", "redis-server") else { return };
        let (data, redis) = (tempfile::tempdir().unwrap(), Program::named("redis").unwrap());
        let launch = Launch::new(redis, &path, &[], Protocol::Resp).unwrap();
        let launched = Server::launched(Launch { memory_max_bytes: Some(64 << 20), ..launch }, data.path());
        let mut server = match launched {
            Ok(server) => server,
            // Only root may limit memory, and not on every machine.
            Err(error) => return assert!(error.to_string().contains("limit of memory"), "{error}"),
        };
        let processes = server.memory_group.as_ref().unwrap().processes();
        let members = || fs::read_to_string(&processes).unwrap();
        assert_eq!(members().trim(), server.own_pid().unwrap().to_string());
        server.kill().unwrap();
        assert_eq!(members(), "");
        server.start_again().unwrap();
        server.wait_ready().unwrap();
        assert_eq!(members().trim(), server.own_pid().unwrap().to_string());
        drop(server);
        assert!(!processes.exists());
    }

    #[test]
    fn a_server_is_asked_in_its_own_protocol() {
        let Some(memcached) = program_or_skip("lab::server", "memcached") else { return };
        let data = tempfile::tempdir().unwrap();
        let program = Program::named("memcached").unwrap();
        let launch = Launch::new(program, &memcached, &[], Protocol::Memcached).unwrap();
        let server = Server::launched(launch, data.path()).unwrap();
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
