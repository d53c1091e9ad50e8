//! Our own load: timed calls, and what keeps the server busy beside them.
//!
//! ```text
//! closed   call|call|.......stall.......|call|call      one long call among thousands: p99 sees nothing
//! paced    call| call| .....stall.....  call call       due | | | | | | |: each waits, and says how long
//! ```
//!
//! Unpaced, a connection sends its next command when the last one is answered: that finds the greatest rate, but a
//! stall counts once, however many calls would have come meanwhile. Paced, each call has a time at which it is due,
//! and its latency counts from there. Waits are measured paced.

use crate::contents::{below, mixed};
use crate::fill::key;
use crate::resp::{Client, encode_line};
use crate::scenario::placeholders::{NEXT, RANDOM};
use crate::scenario::{Beside, Instead};
use hdrhistogram::Histogram;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum recorded latency; higher ones count as this.
const LATENCY_US_MAX: u64 = 600_000_000;

/// The result of a timed loop.
pub(crate) struct Timed {
    pub(crate) requests: u64,
    pub(crate) elapsed: Duration,
    /// Microseconds a call.
    pub(crate) latency_us: Histogram<u64>,
    /// The number of rounds of the commands beside it that were answered.
    pub(crate) beside_rounds: u64,
}

/// The work of a timed loop.
pub(crate) struct Loop<'a> {
    pub(crate) address: SocketAddr,
    /// Commands of one call, with ` ; ` between; `{random:12}` is a number below `random_bound`, `{next:12}` one not
    /// below it that no other call has.
    pub(crate) command: &'a str,
    pub(crate) instead: &'a [Instead],
    pub(crate) random_bound: u64,
    pub(crate) connections: usize,
    pub(crate) requests: u64,
    /// Calls due in a second, over all connections; unpaced if absent.
    pub(crate) pace_per_s: Option<u64>,
    /// The work of other clients meanwhile.
    pub(crate) beside: Option<&'a Beside>,
    pub(crate) limit: Duration,
}

impl Loop<'_> {
    /// Runs until all requests are answered or the limit has passed; what was answered by then counts.
    ///
    /// # Errors
    /// A connection broke or a reply is an error.
    pub(crate) fn run(&self) -> io::Result<Timed> {
        let over = Arc::new(AtomicBool::new(false));
        let left = AtomicU64::new(self.requests);
        let beside_rounds = AtomicU64::new(0);
        let mut clients =
            (0..self.connections).map(|_| Client::connect(self.address)).collect::<io::Result<Vec<_>>>()?;
        let begin = Instant::now();
        let latency_us = thread::scope(|scope| {
            let reads = self.beside.map_or(&[][..], |beside| &beside.reads_bytes_per_s);
            let (over, rounds) = (&over, &beside_rounds);
            let besides: Vec<_> = reads
                .iter()
                .zip(0..)
                .map(|(bytes_per_s, place)| scope.spawn(move || self.keep_busy(place, *bytes_per_s, over, rounds)))
                .collect();
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
            for beside in besides {
                failure = failure.or(beside.join().expect("a worker does not panic").err());
            }
            failure.map_or(Ok(all), Err)
        })?;
        let rounds = beside_rounds.load(Ordering::Relaxed);
        Ok(Timed { requests: latency_us.len(), elapsed: begin.elapsed(), latency_us, beside_rounds: rounds })
    }

    fn timed_calls(&self, mut client: Client, left: &AtomicU64, begin: Instant) -> io::Result<Histogram<u64>> {
        let mut latency_us = histogram();
        let as_it_is = self.instead.is_empty() && ![RANDOM, NEXT].iter().any(|number| self.command.contains(number));
        let mut call = encode_call(self.command);
        let take = |left: u64| left.checked_sub(1);
        while let Ok(before) = left.try_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            let index = self.requests - before;
            if !as_it_is {
                let next = format!("{:012}", self.random_bound + index);
                call = encode_call(&self.with_random(&self.command_of(index).replace(NEXT, &next), index));
            }
            let due = self.due(begin, index);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if begin.elapsed() > self.limit {
                break;
            }
            client.send(&call.0)?;
            client.skip_replies(call.1)?;
            latency_us.saturating_record(due.elapsed().as_micros() as u64);
        }
        Ok(latency_us)
    }

    /// The call of this index: the usual one, or one that is made instead.
    fn command_of(&self, index: u64) -> &str {
        let mut drawn = below(mixed(!index), 100);
        for instead in self.instead {
            match drawn.checked_sub(instead.percent) {
                Some(left) => drawn = left,
                None => return &instead.command,
            }
        }
        self.command
    }

    fn with_random(&self, command: &str, index: u64) -> String {
        command.replace(RANDOM, &format!("{:012}", below(mixed(index), self.random_bound)))
    }

    /// When the call of this index is to be sent.
    fn due(&self, begin: Instant, index: u64) -> Instant {
        let offset_s = |pace_per_s: u64| index as f64 / pace_per_s as f64;
        self.pace_per_s.map_or_else(Instant::now, |pace| begin + Duration::from_secs_f64(offset_s(pace)))
    }

    /// One of the clients beside the timed calls.
    fn keep_busy(&self, place: u64, bytes_per_s: u64, over: &Arc<AtomicBool>, rounds: &AtomicU64) -> io::Result<()> {
        let Some(beside) = self.beside else { return Ok(()) };
        let mut client = Client::connect(self.address)?;
        let is_over = || over.load(Ordering::Relaxed);
        let names: String = (0..beside.keys).map(|index| " ".to_owned() + &key(index)).collect();
        let command = beside.command.clone() + &names;
        let (mut bytes, commands) = encode_call(&command);
        if beside.rounds.is_none() {
            client.read_at(bytes_per_s, over.clone());
        }
        let mut own_rounds = 0;
        let begin = Instant::now();
        while beside.rounds.map_or_else(|| !is_over(), |rounds| own_rounds < rounds) {
            if let Some(pace) = beside.pace_per_s {
                let due = begin + Duration::from_secs_f64(own_rounds as f64 / pace as f64);
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            if command.contains(RANDOM) {
                bytes = encode_call(&self.with_random(&command, ((place + 1) << 40) | own_rounds)).0;
            }
            match client.send(&bytes).and_then(|()| client.skip_replies(commands)) {
                Err(_) if beside.rounds.is_none() && is_over() => break,
                done => done?,
            }
            own_rounds += 1;
            rounds.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The bytes of a call and how many commands they are.
fn encode_call(call: &str) -> (Vec<u8>, usize) {
    let commands: Vec<Vec<u8>> = call.split(" ; ").map(encode_line).collect();
    (commands.concat(), commands.len())
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("bounds that fit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::{Contents, Items};
    use crate::fill::push_items;
    use crate::server::Server;
    use std::collections::BTreeSet;
    use testing::program_or_skip;

    fn calls(address: SocketAddr, command: &str) -> Loop<'_> {
        let limit = Duration::from_secs(30);
        Loop {
            address,
            command,
            random_bound: 10,
            instead: &[],
            connections: 3,
            requests: 500,
            pace_per_s: None,
            beside: None,
            limit,
        }
    }

    fn beside(command: &str, reads_bytes_per_s: Vec<u64>, rounds: Option<u64>) -> Beside {
        Beside { command: command.to_owned(), keys: 0, reads_bytes_per_s, rounds, pace_per_s: None }
    }

    #[test]
    fn calls_are_counted_whatever_runs_beside_them() {
        let Some(redis) = program_or_skip("lab::generate", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let mut client = server.client().unwrap();
        push_items(&mut client, "RPUSH", "numbers", &mut Items::new(Contents::Consecutive, 6), 1001).unwrap();

        let readers = beside("LRANGE numbers 0 -1", vec![0, 1000], None);
        let timed = Loop { beside: Some(&readers), ..calls(server.address(), "INCR counter") }.run().unwrap();
        assert_eq!(timed.requests, 500);
        assert_eq!(client.call("GET counter").unwrap(), "500");

        let once = beside("RPUSH numbers x ; LPOP numbers", vec![0, 0], Some(3));
        let pair = "INCR of:{random:12} ; INCR sum";
        let timed = Loop { beside: Some(&once), ..calls(server.address(), pair) }.run().unwrap();
        assert_eq!((timed.requests, timed.beside_rounds), (500, 6));
        assert_eq!(client.call("LRANGE numbers -2 -1").unwrap(), "x x");
        assert_eq!(client.call("GET sum").unwrap(), "500");
        assert_eq!(client.call("DBSIZE").unwrap(), "13");

        let paced = Beside { pace_per_s: Some(1000), ..beside("SET by:{random:12} x", vec![0, 0], Some(50)) };
        let timed = Loop { beside: Some(&paced), ..calls(server.address(), "PING") }.run().unwrap();
        assert_eq!(timed.beside_rounds, 100);
        assert_eq!(client.call("DBSIZE").unwrap(), "23");

        let keys = Beside { keys: 2, ..beside("DEL", vec![0], Some(1)) };
        client.call("MSET key:000000000000 a key:000000000001 b").unwrap();
        Loop { beside: Some(&keys), ..calls(server.address(), "PING") }.run().unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "23");
    }

    #[test]
    fn some_calls_are_replaced_and_use_new_numbers() {
        let Some(redis) = program_or_skip("lab::generate", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let rare = |command: &str, percent| Instead { command: command.to_owned(), percent };
        let instead = [rare("RPUSH new {next:12}", 10), rare("INCR rare", 5)];
        Loop { instead: &instead, ..calls(server.address(), "INCR usual") }.run().unwrap();
        let mut client = server.client().unwrap();
        let mut count = |command: &str| client.call(command).unwrap().parse::<u64>().unwrap();
        let (new, rare, usual) = (count("LLEN new"), count("GET rare"), count("GET usual"));
        assert_eq!(new + rare + usual, 500);
        assert!((30..=70).contains(&new) && (10..=40).contains(&rare), "{new} {rare}");
        let numbers = client.call("LRANGE new 0 -1").unwrap();
        let numbers: BTreeSet<u64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers.len() as u64, new);
        assert!(numbers.into_iter().all(|number| (10..510).contains(&number)));
    }

    #[test]
    fn an_error_reply_fails_the_load() {
        let Some(redis) = program_or_skip("lab::generate", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        assert!(calls(server.address(), "NOSUCH").run().is_err());
        let nonsense = beside("NOSUCH", vec![0], Some(1));
        assert!(Loop { beside: Some(&nonsense), ..calls(server.address(), "PING") }.run().is_err());
    }

    #[test]
    fn paced_calls_are_due_at_even_intervals() {
        let work = Loop { connections: 1, pace_per_s: Some(200), ..calls(SocketAddr::from(([127, 0, 0, 1], 0)), "") };
        let long_ago = Instant::now() - Duration::from_secs(5);
        assert_eq!(work.due(long_ago, 0), long_ago);
        assert_eq!(work.due(long_ago, 10), long_ago + Duration::from_millis(50));
    }
}
