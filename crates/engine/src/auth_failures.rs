//! Wrong passwords: their number, and how long the next answer to the same network is delayed.
//!
//! ```text
//!   failures of late   0    1    2    3    4    5    6 and more       forgotten after a minute without another
//!   delay in ms        0   50  100  200  400  800        1000
//! ```
//!
//! A right password waits as long as a wrong one would: otherwise a guesser could take a late answer for a no and hang
//! up. The delay is a second at most, so that a legitimate client at the same address still gets in.

use crate::client::Client;
use base::Ms;
use base::primitives::Mutex;
use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

/// The delay after one failure, in milliseconds; each further one doubles it.
const DELAY_MS_MIN: Ms = 50;
/// The longest delay, in milliseconds.
const DELAY_MS_MAX: Ms = 1_000;
/// Milliseconds without another failure after which those of a network are forgotten.
const MEMORY_MS: Ms = 60_000;
/// Maximum number of networks remembered. Beyond it, the one with the oldest last failure is forgotten.
const NETWORKS_MAX: usize = 4096;

/// An IPv4 address, the upper half of an IPv6 one, or `None`: the unix socket.
type Network = Option<IpAddr>;

#[derive(Clone, Copy)]
struct Record {
    count: u32,
    last_ms: Ms,
}

/// Wrong passwords, by network.
#[derive(Default)]
pub struct AuthFailures {
    total: AtomicU64,
    records: Mutex<BTreeMap<Network, Record>>,
}

impl AuthFailures {
    /// Counts a wrong password of `client`. Returns the number of recent ones from its network, this one included.
    /// O(log networks); O(networks) while the table is full.
    pub fn add(&self, client: &Client, now: Ms) -> u32 {
        self.total.fetch_add(1, Relaxed);
        let network = network_of(client.ip());
        let mut records = self.records.lock().expect("no holder panics");
        if records.len() >= NETWORKS_MAX && !records.contains_key(&network) {
            let oldest = records.iter().min_by_key(|(_, record)| record.last_ms).map(|(network, _)| *network);
            if let Some(network) = oldest {
                records.remove(&network);
            }
        }
        let record = records.entry(network).or_insert(Record { count: 0, last_ms: now });
        record.count = record.count_at(now).saturating_add(1);
        record.last_ms = now;
        record.count
    }

    /// Returns the number of recent ones from the network of `client`.
    pub fn recent(&self, client: &Client, now: Ms) -> u32 {
        let records = self.records.lock().expect("no holder panics");
        records.get(&network_of(client.ip())).map_or(0, |record| record.count_at(now))
    }

    /// Returns the number since the start, or the last reset.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// CONFIG RESETSTAT: resets the total. The delays stay.
    pub fn reset_total(&self) {
        self.total.store(0, Relaxed);
    }
}

impl Record {
    fn count_at(self, now: Ms) -> u32 {
        if now.saturating_sub(self.last_ms) >= MEMORY_MS { 0 } else { self.count }
    }
}

/// Returns the delay of an answer after this many failures of its network, in milliseconds.
pub(crate) fn delay_ms(failures: u32) -> Ms {
    match failures {
        0 => 0,
        _ => DELAY_MS_MIN.checked_shl(failures - 1).filter(|_| failures < 32).unwrap_or(DELAY_MS_MAX).min(DELAY_MS_MAX),
    }
}

/// A client with one IPv6 address has 2^64 of them.
fn network_of(ip: Option<IpAddr>) -> Network {
    ip.map(|ip| match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
        v4 => v4,
    })
}

/// The outcome of a session's latest passwords.
#[derive(Clone, Copy, Default)]
pub(crate) struct Passwords {
    /// Wrong passwords of this connection.
    pub(crate) failures: u8,
    /// The delay before its next answer.
    pub(crate) delay: Option<AuthDelay>,
}

/// A delay before the answer to a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthDelay {
    /// Milliseconds.
    pub ms: u16,
    /// Recent wrong passwords from the same network.
    pub failures: u16,
    /// The password to be answered was wrong.
    pub is_denied: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Clients;

    #[test]
    fn delays_double_up_to_a_second() {
        let delays: Vec<Ms> = [0, 1, 2, 3, 4, 5, 6, 7, 31, 32, 33, 64, u32::MAX].map(delay_ms).to_vec();
        assert_eq!(delays, [0, 50, 100, 200, 400, 800, 1000, 1000, 1000, 1000, 1000, 1000, 1000]);
    }

    #[test]
    fn failures_are_counted_by_network_and_forgotten() {
        let (clients, failures) = (Clients::default(), AuthFailures::default());
        let client = |address: &str| clients.add(address, "", false, 0);
        let (one, same, other) = (client("10.0.0.1:5"), client("10.0.0.1:6"), client("10.0.0.2:5"));
        assert_eq!((failures.add(&one, 1), failures.add(&same, 2)), (1, 2));
        assert_eq!((failures.recent(&one, 3), failures.recent(&other, 3)), (2, 0));
        assert_eq!(failures.recent(&one, 2 + MEMORY_MS), 0);
        assert_eq!(failures.add(&one, 2 + MEMORY_MS), 1);
        assert_eq!(failures.add(&client("[2001:db8::1]:5"), 5), 1);
        assert_eq!(failures.add(&client("[2001:db8::2:1]:5"), 5), 2, "one network");
        assert_eq!(failures.add(&client("[::ffff:10.0.0.2]:5"), 5), 1);
        assert_eq!(failures.recent(&other, 5), 1, "one address in two spellings");
        assert_eq!(failures.add(&client("/run/socket:0"), 5), 1);
        assert_eq!(failures.total(), 7);
        failures.reset_total();
        assert_eq!((failures.total(), failures.recent(&other, 5)), (0, 1));
    }

    #[test]
    fn the_table_is_bounded_and_forgets_the_oldest() {
        let (clients, failures) = (Clients::default(), AuthFailures::default());
        let address = |at: usize| format!("10.1.{}.{}:7", at / 256, at % 256);
        for at in 0..NETWORKS_MAX + 10 {
            failures.add(&clients.add(&address(at), "", false, 0), at as Ms);
        }
        assert_eq!(failures.records.lock().unwrap().len(), NETWORKS_MAX);
        let recent = |at: usize| failures.recent(&clients.add(&address(at), "", false, 0), NETWORKS_MAX as Ms);
        assert_eq!([0, 9, 10, NETWORKS_MAX + 9].map(recent), [0, 0, 1, 1]);
    }
}
