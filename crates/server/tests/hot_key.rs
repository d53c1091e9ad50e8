//! The real binary while many connections of two workers write to one key: some move to the other worker.

use crate::support::{Connection, Server, request};
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use wire::client::Value;

const CONNECTIONS: usize = 8;
/// More requests than a turn runs, so that some are left when a connection moves.
const PIPELINE: usize = 300;
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection that counts.
struct Writer {
    connection: Connection<TcpStream>,
    name: String,
    /// The greatest number answered.
    last: i64,
    added: usize,
    /// Bytes of a request of which the first have been sent.
    left_bytes: usize,
}

impl Writer {
    fn new(server: &Server, index: usize) -> Self {
        let (mut connection, name) = (server.connect(), format!("writer-{index}"));
        connection.call(&["CLIENT", "SETNAME", name.as_str()]);
        Self { connection, name, last: 0, added: 0, left_bytes: 0 }
    }

    /// Sends a pipeline of INCR, and the first bytes of one more; `false` if the server has ended. Each answer is
    /// greater than the one before.
    fn add(&mut self) -> bool {
        let one = request(&["INCR", "hits"]);
        let mut pipeline = one[one.len() - self.left_bytes..].to_vec();
        pipeline.extend(one.repeat(PIPELINE - usize::from(self.left_bytes > 0)));
        pipeline.extend_from_slice(&one[..7]);
        self.left_bytes = one.len() - 7;
        // A server that ends refuses it.
        let _ = self.connection.stream.write_all(&pipeline);
        (0..PIPELINE).all(|_| self.take_answer())
    }

    fn take_answer(&mut self) -> bool {
        let Some(reply) = self.connection.try_reply() else { return false };
        let Value::Int(hits) = reply else { panic!("{reply}") };
        assert!(hits > self.last, "{hits} comes after {}", self.last);
        self.last = hits;
        self.added += 1;
        true
    }

    fn add_until(&mut self, is_enough: &AtomicBool) {
        // At least once: then the first bytes of a request are on their way.
        while self.add() && !is_enough.load(Relaxed) {}
        let one = request(&["INCR", "hits"]);
        self.connection.send_bytes(&one[one.len() - self.left_bytes..]);
        self.left_bytes = 0;
        assert!(self.take_answer());
        assert_eq!(self.connection.call(&["CLIENT", "GETNAME"]), Value::bulk(&self.name));
    }

    /// Asks for other keys, which draws it away from the home of the shard.
    fn look_elsewhere(&mut self) {
        self.connection.call(&["SET", self.name.as_str(), "1"]);
        for _ in 0..200 {
            assert_eq!(self.connection.call(&["GET", self.name.as_str()]), Value::bulk("1"));
        }
    }
}

struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn connections_that_write_to_one_key_move_and_lose_nothing() {
    let mut server = Server::start(&["--threads", "2"]);
    let mut writers: Vec<_> = (0..CONNECTIONS).map(|index| Writer::new(&server, index)).collect();
    let moves = || server.info("moved_connections").parse::<usize>().unwrap();
    let is_enough = AtomicBool::new(false);
    thread::scope(|scope| {
        writers.iter_mut().for_each(|writer| drop(scope.spawn(|| writer.add_until(&is_enough))));
        // They end, too, if the server does not answer this.
        let _enough = SetWhenDropped(&is_enough);
        let began = Instant::now();
        while moves() == 0 && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(5));
        }
    });
    assert!(moves() > 0, "none has moved in {PATIENCE:?}");
    let added: usize = writers.iter().map(|writer| writer.added).sum();
    assert_eq!(server.connect().call(&["GET", "hits"]), Value::bulk(added.to_string()));
    thread::scope(|scope| writers.iter_mut().for_each(|writer| drop(scope.spawn(|| writer.look_elsewhere()))));
    thread::scope(|scope| {
        for writer in &mut writers {
            scope.spawn(|| while writer.add() {});
        }
        // It stops while they write, and perhaps move.
        server.stop();
    });
}
