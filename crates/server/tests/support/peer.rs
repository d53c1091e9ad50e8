//! A server for tests of clients: Bobbin, or a redis-server that shows whether the test itself is right.

use crate::support::{Server, free_port};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A server with a port and a folder of its own, which ends with the test.
pub(crate) trait Peer: Sized {
    /// Starts it with `flags` and waits until it is ready.
    fn start(flags: &[&str]) -> Self;
    /// Returns its port on 127.0.0.1.
    fn port(&self) -> u16;
    /// Stops it in order and starts it again with its data.
    fn stop_and_start(&mut self);
    /// Ends it as a crash would and starts it again with what it has kept.
    fn kill_and_start(&mut self);
}

impl Peer for Server {
    fn start(flags: &[&str]) -> Self {
        Self::start(flags)
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn stop_and_start(&mut self) {
        self.stop();
        self.restart();
    }

    fn kill_and_start(&mut self) {
        self.kill();
        self.restart();
    }
}

/// A redis-server that keeps its data.
pub(crate) struct Redis {
    child: Child,
    port: u16,
    folder: TempDir,
    flags: Vec<String>,
}

impl Redis {
    fn launch(port: u16, folder: &TempDir, flags: &[String]) -> Option<Child> {
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir"]).arg(folder.path());
        command.args(["--save", "", "--appendonly", "yes"]).args(flags);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        if lines.by_ref().any(|line| line.unwrap().contains("Ready to accept connections")) {
            std::thread::spawn(move || lines.for_each(drop));
            return Some(child);
        }
        child.wait().unwrap();
        None
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer for Redis {
    fn start(flags: &[&str]) -> Self {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let folder = tempfile::tempdir().unwrap();
        // Another test may take the port before the server does.
        let started = (0..20).find_map(|_| {
            let port = free_port();
            Some((port, Self::launch(port, &folder, &flags)?))
        });
        let (port, child) = started.expect("redis-server starts");
        Self { child, port, folder, flags }
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn stop_and_start(&mut self) {
        // Without everysec's last second: what the script is shown to keep, an orderly stop must write.
        let asked = Command::new("redis-cli").args(["-p", &self.port.to_string(), "SHUTDOWN"]).status().unwrap();
        assert!(asked.success(), "SHUTDOWN: {asked}");
        self.child.wait().unwrap();
        self.child = Self::launch(self.port, &self.folder, &self.flags).expect("redis-server starts again");
    }

    fn kill_and_start(&mut self) {
        self.end();
        self.child = Self::launch(self.port, &self.folder, &self.flags).expect("redis-server starts again");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.end();
    }
}
