//! Programs of the system, and ports for those that are started.

use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

/// The lowest port that [`free_port`] draws.
const PORT_MIN: u16 = 10_000;
/// The lowest port that Linux gives to connections, unless it is set otherwise.
const CONNECTION_PORT_MIN: u16 = 32_768;
/// Draws after which [`free_port`] takes any port.
const DRAWS_MAX: usize = 100;

/// Returns the first `program` on `PATH`.
pub fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Returns a random port of the loopback address on which no program listens. If there is one, it is below the ports that
/// the system gives to connections: one of those could be given away before the program starts that is to listen on it,
/// or between its end and its next start.
///
/// # Errors
/// The system gives no port.
pub fn free_port() -> io::Result<u16> {
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let count = connection_port_min().saturating_sub(PORT_MIN);
    let draw = || Some(PORT_MIN + (getrandom::u32().ok()? % u32::from(count.max(1))) as u16);
    let draws = if count > 0 { DRAWS_MAX } else { 0 };
    match (0..draws).filter_map(|_| draw()).find(is_free) {
        Some(port) => Ok(port),
        None => Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port()),
    }
}

/// Returns the lowest port that this system gives to connections.
fn connection_port_min() -> u16 {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_whitespace().next().and_then(|lowest| lowest.parse().ok()).unwrap_or(CONNECTION_PORT_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_is_none_that_a_connection_may_get() {
        let port = free_port().unwrap();
        assert!(port < connection_port_min() || connection_port_min() <= PORT_MIN, "{port}");
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok());
    }
}
