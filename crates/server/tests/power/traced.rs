//! The real binary on a folder of the test's, under strace or alone.

use crate::power::trace::{CALLS, Call, Event, NEVER, parse};
use crate::support::{Connection, bobbin, free_port};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// More bytes than any call of the load carries.
const CALL_BYTES_MAX: &str = "4194304";

/// One life of a server on `folder`/data.
pub(crate) struct Life {
    child: Child,
    pid: Pid,
    port: u16,
    trace: PathBuf,
    folder: PathBuf,
    always: bool,
}

impl Life {
    /// Starts it and waits until it is ready; with `strace` it is traced.
    ///
    /// # Errors
    /// It did not start; returns its output.
    pub(crate) fn start(folder: &Path, policy: &str, strace: Option<&Path>) -> Result<Self, String> {
        for _ in 0..20 {
            match Self::try_start(folder, policy, strace) {
                Err(log) if log.contains("is taken by another program") => {}
                started => return started,
            }
        }
        Err("no port is free".into())
    }

    fn try_start(folder: &Path, policy: &str, strace: Option<&Path>) -> Result<Self, String> {
        let (port, trace) = (free_port(), folder.join("trace"));
        let mut command = strace.map_or_else(bobbin, |strace| under(strace, &trace));
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--threads", "2", "--fsync", policy]);
        command.args(["--checkpoint-journal-size", "64kb"]);
        let mut child = command.arg("--dir").arg(folder.join("data")).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        while !log.contains("ready in") {
            if lines.read_line(&mut log).unwrap() == 0 {
                child.wait().unwrap();
                return Err(log);
            }
        }
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        // Under strace the child is strace.
        let pid: i32 = fs::read_to_string(folder.join("data/bobbin.lock")).unwrap().parse().unwrap();
        let pid = Pid::from_raw(pid).expect("the server notes its own process");
        Ok(Self { child, pid, port, trace, folder: folder.to_owned(), always: policy == "always" })
    }

    /// A connection to it.
    pub(crate) fn connect(&self) -> Connection<TcpStream> {
        Connection::tcp(self.port)
    }

    /// Sends it a signal that ends it.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// Waits for its end and adds what it did to `events`.
    pub(crate) fn ended(mut self, events: &mut Vec<Event>) {
        self.child.wait().unwrap();
        let begin = next_line(events);
        events.push(Event { begin, end: begin, call: Call::Start { always: self.always } });
        let trace = BufReader::with_capacity(1 << 20, File::open(&self.trace).unwrap());
        let mine = parse(trace, &self.folder, begin + 1).unwrap();
        events.extend(settled(mine));
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = kill_process(self.pid, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Returns the line after all of `events`.
pub(crate) fn next_line(events: &[Event]) -> usize {
    let last = |event: &Event| if event.end == NEVER { event.begin } else { event.end };
    events.iter().map(last).max().map_or(0, |line| line + 1)
}

/// The binary under strace, which writes to `trace`.
fn under(strace: &Path, trace: &Path) -> Command {
    let bobbin = bobbin();
    let mut command = Command::new(strace);
    command.args(["-f", "-y", "-s", CALL_BYTES_MAX, "-e", &format!("trace={CALLS}"), "-o"]).arg(trace);
    command.arg(bobbin.get_program());
    for (name, value) in bobbin.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Keeps those of the unreturned calls whose effect is in the files, which survive the process. For threads that are
/// being killed strace may show calls of other threads.
fn settled(events: Vec<Event>) -> Vec<Event> {
    let (mut events, begun): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| event.end != NEVER);
    let last = next_line(&begun).max(next_line(&events));
    for Event { begin, mut call, .. } in begun {
        if is_done(&mut call) && events.iter().all(|event| event.call != call) {
            events.push(Event { begin, end: last, call });
        }
    }
    events.sort_by_key(|event| event.begin);
    events
}

/// Returns true if a call's effect is in the files. A kill may end a write between two pages; `call` keeps the written
/// part.
fn is_done(call: &mut Call) -> bool {
    match call {
        Call::MakeFolder { path } | Call::Create { path } => path.exists(),
        Call::Write { path, offset, bytes } => {
            let mut there = fs::read(path).unwrap_or_default();
            there.drain(..there.len().min(*offset as usize));
            bytes.truncate(there.iter().zip(&*bytes).take_while(|(there, written)| there == written).count());
            !bytes.is_empty()
        }
        Call::Resize { path, bytes } => fs::metadata(path).is_ok_and(|file| file.len() == *bytes),
        Call::Rename { from: path, .. } | Call::Remove { path } => !path.exists(),
        Call::Start { .. } | Call::Sync { .. } | Call::Received { .. } | Call::Sent { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_write_counts_for_the_bytes_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.log");
        fs::write(&path, b"headabc\0\0").unwrap();
        let write = |offset, bytes: &[u8]| Call::Write { path: path.clone(), offset, bytes: bytes.to_vec() };
        let (seen, socket) = (Event { begin: 1, end: 2, call: write(0, b"head") }, "socket:[7]".to_owned());
        let after_kill = |call: Call| settled(vec![seen.clone(), Event { begin: 8, end: NEVER, call }]).split_off(1);
        let arrived = |bytes| vec![Event { begin: 8, end: 9, call: write(4, bytes) }];
        assert_eq!(after_kill(write(4, b"abc")), arrived(b"abc"), "the whole");
        assert_eq!(after_kill(write(4, b"abcdef")), arrived(b"abc"), "a part");
        assert_eq!(after_kill(write(7, b"def")), [], "nothing of it");
        assert_eq!(after_kill(write(40, b"def")), [], "nothing, and the file is shorter");
        assert_eq!(after_kill(write(0, b"head")), [], "another thread's");
        assert_eq!(after_kill(Call::Sync { path: path.clone() }), [], "nobody knows");
        assert_eq!(after_kill(Call::Sent { socket, bytes: b"+OK\r\n".to_vec() }), [], "nobody knows");
    }
}
