//! Our own load: timed calls, and the fillers that prepare data.
//!
//! ```text
//! closed   call|call|.......stall.......|call|call      one long call among thousands: p99 sees nothing
//! paced    call| call| .....stall.....  call call       due | | | | | | |: each waits, and says how long
//! ```
//!
//! Unpaced, a connection sends its next command when the last one is answered: that finds the greatest rate, but a
//! stall counts once, however many calls would have come meanwhile. Paced, each call has a time at which it is due,
//! and its latency counts from there. Waits are measured paced.

use crate::resp::{Client, encode, encode_line};
use hdrhistogram::Histogram;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Latencies above this are counted as this.
const LATENCY_US_MAX: u64 = 600_000_000;
/// Commands under way while data is loaded.
const FILL_BATCH: usize = 64;
const ITEMS_PER_PUSH: u64 = 500;

/// What a timed loop saw.
pub(crate) struct Timed {
    pub(crate) requests: u64,
    pub(crate) elapsed: Duration,
    /// Microseconds a call.
    pub(crate) latency_us: Histogram<u64>,
    /// How often the command beside it was answered.
    pub(crate) beside_rounds: u64,
}

/// What a timed loop does.
pub(crate) struct Loop<'a> {
    pub(crate) port: u16,
    pub(crate) command: &'a str,
    pub(crate) connections: usize,
    pub(crate) requests: u64,
    /// Calls due in a second, over all connections; unpaced if absent.
    pub(crate) pace_per_s: Option<u64>,
    /// Repeated by one more client meanwhile.
    pub(crate) beside: Option<&'a str>,
    pub(crate) limit: Duration,
}

impl Loop<'_> {
    /// Runs until all requests are answered or the limit has passed; what was answered by then counts.
    ///
    /// # Errors
    /// A connection broke or a reply is an error.
    pub(crate) fn run(&self) -> io::Result<Timed> {
        let over = AtomicBool::new(false);
        let left = AtomicU64::new(self.requests);
        let beside_rounds = AtomicU64::new(0);
        let mut clients = (0..self.connections).map(|_| Client::connect(self.port)).collect::<io::Result<Vec<_>>>()?;
        let begin = Instant::now();
        let latency_us = thread::scope(|scope| {
            let beside = self.beside.map(|line| scope.spawn(|| repeat(self.port, line, &over, &beside_rounds)));
            let workers: Vec<_> =
                clients.drain(..).map(|client| scope.spawn(|| self.timed_calls(client, &left, begin))).collect();
            let mut all = histogram();
            let mut failure = None;
            for worker in workers {
                match worker.join().expect("a worker does not panic") {
                    Ok(part) => all.add(part).expect("histograms of one shape"),
                    Err(error) => failure = Some(error),
                }
            }
            over.store(true, Ordering::Relaxed);
            let beside = beside.map_or(Ok(()), |beside| beside.join().expect("a worker does not panic"));
            failure.map_or(beside.map(|()| all), Err)
        })?;
        let rounds = beside_rounds.load(Ordering::Relaxed);
        Ok(Timed { requests: latency_us.len(), elapsed: begin.elapsed(), latency_us, beside_rounds: rounds })
    }

    fn timed_calls(&self, mut client: Client, left: &AtomicU64, begin: Instant) -> io::Result<Histogram<u64>> {
        let bytes = encode_line(self.command);
        let mut latency_us = histogram();
        let take = |left: u64| left.checked_sub(1);
        while let Ok(before) = left.try_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            let due = self.due(begin, self.requests - before);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if begin.elapsed() > self.limit {
                break;
            }
            client.send(&bytes)?;
            client.skip_replies(1)?;
            latency_us.saturating_record(due.elapsed().as_micros() as u64);
        }
        Ok(latency_us)
    }

    /// When the call of this index is to be sent.
    fn due(&self, begin: Instant, index: u64) -> Instant {
        let offset_s = |pace_per_s: u64| index as f64 / pace_per_s as f64;
        self.pace_per_s.map_or_else(Instant::now, |pace| begin + Duration::from_secs_f64(offset_s(pace)))
    }
}

/// Loads the strings `key:000000000000` and on.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn fill_strings(client: &mut Client, count: u64, value_bytes: usize) -> io::Result<()> {
    let value = vec![b'x'; value_bytes];
    let value = value.as_slice();
    let sets = (0..count)
        .map(|index| move |out: &mut Vec<u8>| encode(out, &[b"SET", format!("key:{index:012}").as_bytes(), value]));
    send_all(client, sets)
}

/// Loads one list of numbers, oldest first.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn fill_list(client: &mut Client, key: &str, count: u64, item_bytes: usize) -> io::Result<()> {
    let pushes = (0..count.div_ceil(ITEMS_PER_PUSH)).map(|push| {
        let from = push * ITEMS_PER_PUSH;
        let to = count.min(from + ITEMS_PER_PUSH);
        move |out: &mut Vec<u8>| {
            let items: Vec<String> = (from..to).map(|item| format!("{item:0item_bytes$}")).collect();
            let mut words: Vec<&[u8]> = vec![b"RPUSH", key.as_bytes()];
            words.extend(items.iter().map(String::as_bytes));
            encode(out, &words);
        }
    });
    send_all(client, pushes)
}

/// What a churn leaves behind.
pub(crate) struct Churned {
    pub(crate) commands: u64,
    /// Bytes of the keys and values still there.
    pub(crate) live_bytes: u64,
}

/// Writes `keys` keys with values of 16 to 511 bytes, again with other sizes in each further round, then deletes all
/// but every tenth.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn churn(client: &mut Client, keys: u64, rounds: u64) -> io::Result<Churned> {
    let room = [b'x'; 512];
    let name = |index: u64| format!("churn:{index:012}");
    for round in 0..rounds {
        let sets = (0..keys).map(|index| {
            let value = &room[..value_bytes(index, round)];
            move |out: &mut Vec<u8>| encode(out, &[b"SET", name(index).as_bytes(), value])
        });
        send_all(client, sets)?;
    }
    let doomed = (0..keys).filter(|index| index % 10 != 0);
    send_all(client, doomed.map(|index| move |out: &mut Vec<u8>| encode(out, &[b"DEL", name(index).as_bytes()])))?;
    let live = (0..keys).step_by(10).map(|index| name(index).len() + value_bytes(index, rounds - 1));
    let live_bytes = live.map(|bytes| bytes as u64).sum();
    Ok(Churned { commands: keys * rounds + keys - keys.div_ceil(10), live_bytes })
}

/// Sizes that differ from key to key and from round to round, the same in every run.
fn value_bytes(index: u64, round: u64) -> usize {
    let mixed = (index ^ (round << 40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    16 + (mixed >> 40) as usize % 496
}

/// Sends commands in batches; each batch is answered before the next.
fn send_all<F: FnOnce(&mut Vec<u8>)>(client: &mut Client, commands: impl Iterator<Item = F>) -> io::Result<()> {
    let mut out = Vec::new();
    let mut waiting = 0;
    for command in commands {
        command(&mut out);
        waiting += 1;
        if waiting == FILL_BATCH {
            client.send(&out)?;
            client.skip_replies(waiting)?;
            out.clear();
            waiting = 0;
        }
    }
    client.send(&out)?;
    client.skip_replies(waiting)
}

fn repeat(port: u16, line: &str, over: &AtomicBool, rounds: &AtomicU64) -> io::Result<()> {
    let mut client = Client::connect(port)?;
    let bytes = encode_line(line);
    while !over.load(Ordering::Relaxed) {
        client.send(&bytes)?;
        client.skip_replies(1)?;
        rounds.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("bounds that fit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Server;
    use crate::skip::program_or_skip;

    #[test]
    fn data_is_loaded_and_calls_are_counted() {
        let Some(redis) = program_or_skip("lab::generate", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let mut client = server.client().unwrap();

        fill_strings(&mut client, 130, 3).unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "130");
        assert_eq!(client.call("GET key:000000000129").unwrap(), "xxx");

        fill_list(&mut client, "numbers", 1001, 6).unwrap();
        assert_eq!(client.call("LLEN numbers").unwrap(), "1001");
        assert_eq!(client.call("LRANGE numbers -2 -1").unwrap(), "000999 001000");

        let command = "INCR counter";
        let limit = Duration::from_secs(30);
        let beside = Some("LRANGE numbers 0 -1");
        let timed =
            Loop { port: server.port(), command, connections: 3, requests: 500, pace_per_s: None, beside, limit }
                .run()
                .unwrap();
        assert_eq!(timed.requests, 500);
        assert_eq!(client.call("GET counter").unwrap(), "500");

        client.call("FLUSHALL").unwrap();
        let churned = churn(&mut client, 95, 2).unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "10");
        assert_eq!(churned.commands, 95 * 2 + 85);
        let last: u64 = client.call("STRLEN churn:000000000090").unwrap().parse().unwrap();
        assert_eq!(last, value_bytes(90, 1) as u64);
        assert!(churned.live_bytes > 10 * (18 + 16));
    }

    #[test]
    fn an_error_reply_fails_the_load() {
        let Some(redis) = program_or_skip("lab::generate", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let limit = Duration::from_secs(30);
        let nonsense = Loop {
            port: server.port(),
            command: "NOSUCH",
            connections: 2,
            requests: 9,
            pace_per_s: None,
            beside: None,
            limit,
        };
        assert!(nonsense.run().is_err());
    }

    #[test]
    fn paced_calls_are_due_at_even_steps_whatever_happened_before() {
        let limit = Duration::from_secs(1);
        let work =
            Loop { port: 0, command: "", connections: 1, requests: 9, pace_per_s: Some(200), beside: None, limit };
        let long_ago = Instant::now() - Duration::from_secs(5);
        assert_eq!(work.due(long_ago, 0), long_ago);
        assert_eq!(work.due(long_ago, 10), long_ago + Duration::from_millis(50));
    }
}
