//! Programs of the system, and ports for those that are started.

use std::env;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

/// The lowest port that [`free_port`] returns.
const PORT_MIN: u32 = 10_000;
/// The port from which on Linux gives ports to connections, unless set otherwise.
const CONNECTION_PORT_MIN: u32 = 32_768;

/// Returns the first `program` on `PATH`.
pub fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Returns a random port on which no program of this machine listens. It is below the ports that the system gives to
/// connections: one of those could be given away before the program starts that is to listen on it, or between its end
/// and its next start.
///
/// # Errors
/// The system gives no port.
pub fn free_port() -> io::Result<u16> {
    let settings = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let connection_port_min = settings.split_whitespace().next().and_then(|lowest| lowest.parse().ok());
    let port_count = connection_port_min.unwrap_or(CONNECTION_PORT_MIN).saturating_sub(PORT_MIN).max(1);
    for _ in 0..1_000 {
        let random = getrandom::u32().map_err(|error| io::Error::other(error.to_string()))?;
        let port = (PORT_MIN + random % port_count) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_is_not_one_that_a_connection_may_get() {
        let port = free_port().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let given = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        assert!(u32::from(port) >= PORT_MIN && port < given, "{port} {given}");
        drop(listener);
    }
}
