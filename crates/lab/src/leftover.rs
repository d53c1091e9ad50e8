//! Measures the disk use after deletions: data is loaded, some of it dropped, and after a rest the folder is measured.

use crate::fill::{self, Filler};
use crate::load::{Outcome, data_text, rounded, step_error};
use crate::scenario::Data;
use crate::server::Server;
use crate::watch;
use crate::{LabError, proc};
use std::io;
use std::time::{Duration, Instant};

/// Loads, drops, rests, looks.
///
/// # Errors
/// The server did not take it.
pub(crate) fn measure(
    server: &Server,
    count: u64,
    data: Data,
    dropped_percent: u64,
    rest_s: u64,
) -> Result<Outcome, LabError> {
    let disk_before = proc::written_bytes(server.own_pid()?)?;
    let work = || -> io::Result<_> {
        let mut client = server.client().map_err(io::Error::other)?;
        let begin = Instant::now();
        let filled = Filler::new(data, count).fill_to(&mut client, count)?;
        let dropped = fill::drop_part(&mut client, data, count, dropped_percent)?;
        let took = begin.elapsed();
        server.rest(Duration::from_secs(rest_s));
        Ok((filled, dropped, took))
    };
    let (done, seen) = watch::during(server, false, work)?;
    let (filled, dropped, took) = done.map_err(|error| step_error("fill", &error, server))?;
    let disk_bytes = proc::written_bytes(server.own_pid()?)? - disk_before;
    let extra = [
        ("content_bytes", filled.content_bytes as f64),
        ("written_bytes", disk_bytes as f64),
        ("folder_bytes", watch::folder_bytes(server.folder()) as f64),
        ("folder_bytes_max", seen.folder_bytes_max as f64),
        ("written_per_byte", rounded(disk_bytes as f64 / filled.content_bytes.max(1) as f64, 1000.0)),
    ];
    let commands = filled.commands + dropped;
    Ok(Outcome {
        command_line: format!("{count} of {}, {dropped_percent} % dropped, then {rest_s} s rest", data_text(data)),
        requests: commands,
        requests_per_s: Some(commands as f64 / took.as_secs_f64()),
        extra: extra.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        ..Outcome::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Contents;
    use testing::program_or_skip;

    #[test]
    fn pushed_and_dropped_items_are_counted() {
        let Some(redis) = program_or_skip("lab::leftover", "redis-server") else { return };
        let folder = tempfile::tempdir().unwrap();
        let flags = ["--save", "", "--appendonly", "yes"].map(str::to_owned);
        let server = Server::start(&redis, &flags, folder.path()).unwrap();
        let data = Data::List { contents: Contents::Hex, item_bytes: 100 };
        let outcome = measure(&server, 20_000, data, 100, 0).unwrap();
        assert_eq!(server.client().unwrap().call("EXISTS list").unwrap(), "0");
        let extra = |name: &str| outcome.extra.iter().find(|(found, _)| found == name).unwrap().1;
        assert_eq!(extra("content_bytes"), 2_000_000.0);
        assert!(extra("folder_bytes") <= extra("folder_bytes_max"));
        assert_eq!(outcome.requests, 80);
    }
}
