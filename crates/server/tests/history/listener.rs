//! A subscriber: each message that it receives counts as a read.
//!
//! A message reports that a value was written, so its receiver knows of the write as if it had read the value at some
//! instant between its subscription and the message. So each message is recorded as such a read: one order must explain
//! it, and a crash must not undo the write. Messages are in the order of their writes, like one client's reads.

use crate::history::client::CHANNEL;
use crate::history::workload::{Board, ONCE};
use crate::support::request;
use linearizability::{End, Event, Key, Step, Value};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wire::client::{Parser, Value as Reply};

/// The interval at which a listener checks for the end of the load.
const LOOK: Duration = Duration::from_millis(10);

/// Listens until the load is over or the server is dead.
pub(crate) fn listen(number: u32, port: u16, board: &Board, clock: Instant) -> Vec<Event> {
    let mut events = Vec::new();
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return events };
    stream.set_read_timeout(Some(LOOK)).unwrap();
    let now_ns = || u64::try_from(clock.elapsed().as_nanos()).unwrap();
    // Any message may arrive once the server has these, before this thread goes on.
    let called_ns = now_ns();
    let requests = [request(&["SUBSCRIBE", CHANNEL]), request(&["PSUBSCRIBE", "__keyevent@0__:se?"])].concat();
    if stream.write_all(&requests).is_err() {
        return events;
    }
    let mut parser = Parser::new();
    let mut bytes = vec![0; 16 << 10];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return events,
            Ok(count) => parser.feed(&bytes[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if board.is_over.load(Ordering::Relaxed) {
                    return events;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return events,
        }
        while let Some(message) = parser.next_value().unwrap() {
            let Some((key, value)) = reported_write(&message) else { continue };
            if key >= ONCE {
                board.received.lock().unwrap().push(key);
            }
            let steps = vec![Step::Get { key, found: Some(value) }];
            events.push(Event { client: number, called_ns, end: End::Answered(now_ns()), steps });
        }
    }
}

/// Returns the write that a message reports.
fn reported_write(message: &Reply) -> Option<(Key, Value)> {
    let parts: Vec<&str> =
        message.as_slice()?.iter().filter_map(|part| std::str::from_utf8(part.as_bytes()?).ok()).collect();
    match parts[..] {
        ["message", _, text] => {
            let (key, value) = text.split_once(':').expect("a register and its value");
            Some((key.parse().unwrap(), value.parse().unwrap()))
        }
        ["pmessage", _, _, name] => {
            let key: Key = name.strip_prefix('r')?.parse().ok()?;
            (key >= ONCE).then(|| (key, Value::from(key - ONCE)))
        }
        _ => None,
    }
}
