//! The lines of memcached's `watch`, as far as a request and its reply contain the data.
//!
//! ```text
//! get k         ts=1795659875.928918 gid=2 type=item_get key=k status=found clsid=1 cfd=24 size=3
//! set k 0 9 3   ts=1795659875.928924 gid=3 type=item_store key=k status=stored cmd=set ttl=9 clsid=1 cfd=24 size=3
//! ```
//!
//! `cfd` is the connection's number, as in CLIENT LIST. The size of a found item is shown if the reply contains it. A
//! store request does no lookup here, so it is one line, where memcached writes two.

use crate::monitors::LineKind;
use std::fmt::Write as _;
use wire::Args;
use wire::memcache::UriEncoded;

/// An item request and its outcome.
pub(crate) struct Logged<'a> {
    key: &'a [u8],
    status: &'static str,
    /// The command and exptime of a store.
    stored: Option<(&'static str, i64)>,
    /// Bytes of the value, if known.
    size: Option<u64>,
}

/// Derives the outcome of a command from its reply; `None` if it has no line, or the reply does not show the outcome.
pub(crate) fn logged<'a>(row: &str, args: &Args<'a>, reply: &[u8]) -> Option<Logged<'a>> {
    let says = |text: &str| reply.starts_with(text.as_bytes());
    if says("SERVER_ERROR") || (says("CLIENT_ERROR") && !says("CLIENT_ERROR cannot increment")) {
        return None;
    }
    match row {
        "MC.SET" | "MC.ADD" | "MC.REPLACE" | "MC.APPEND" | "MC.PREPEND" | "MC.CAS" | "MC.MS" => {
            stored(row, args, reply)
        }
        "MC.GET" | "MC.GETS" | "MC.GAT" | "MC.GATS" | "MC.TOUCH" | "MC.INCR" | "MC.DECR" | "MC.DELETE" | "MC.MG"
        | "MC.MGT" | "MC.MD" | "MC.MA" | "MC.ME" => looked_for(row, args, reply),
        _ => None,
    }
}

/// Returns the rest of the flag with this letter.
fn flag<'a>(flags: &Args<'a>, letter: u8) -> Option<&'a [u8]> {
    flags.iter().find(|flag| flag.first() == Some(&letter)).map(|flag| &flag[1..])
}

/// Logs an item lookup.
fn looked_for<'a>(row: &str, args: &Args<'a>, reply: &[u8]) -> Option<Logged<'a>> {
    let says = |text: &str| reply.starts_with(text.as_bytes());
    let has = |letter: u8| flag(&args.from(2), letter).is_some();
    let is_missed = match row {
        "MC.GET" | "MC.GETS" | "MC.GAT" | "MC.GATS" => !says("VALUE"),
        // An item made on a miss is reported as won; so is one to be recached, by R.
        "MC.MGT" if has(b'N') && !has(b'R') && line_has(reply, b" W") && !line_has(reply, b" X") => true,
        "MC.MG" | "MC.MGT" => reply.is_empty() || says("EN"),
        "MC.MA" if has(b'N') => return None,
        "MC.ME" => says("EN"),
        _ => says("NF") || says("NOT_FOUND"),
    };
    let size = match row {
        _ if is_missed => Some(0),
        "MC.GET" | "MC.GETS" | "MC.GAT" | "MC.GATS" => word(reply, 3),
        "MC.MG" | "MC.MGT" if says("VA ") => word(reply, 1),
        _ => None,
    };
    let key = args.get(if matches!(row, "MC.GAT" | "MC.GATS") { 2 } else { 1 });
    Some(Logged { key, status: if is_missed { "not_found" } else { "found" }, stored: None, size })
}

/// Logs an item store.
fn stored<'a>(row: &str, args: &Args<'a>, reply: &[u8]) -> Option<Logged<'a>> {
    let says = |text: &str| reply.starts_with(text.as_bytes());
    let status = match () {
        () if says("STORED") || says("HD") || reply.is_empty() => "stored",
        () if says("NS") || says("NOT_STORED") => "not_stored",
        () if says("EX") => "exists",
        () if says("NF") || says("NOT_FOUND") => "not_found",
        () => return None,
    };
    let last = args.len() - 1;
    let flag = |letter: u8| flag(&args.slice(2, last), letter);
    let (command, exptime) = match row {
        "MC.SET" => ("set", Some(args.get(3))),
        "MC.ADD" => ("add", Some(args.get(3))),
        "MC.REPLACE" => ("replace", Some(args.get(3))),
        "MC.APPEND" => ("append", Some(args.get(3))),
        "MC.PREPEND" => ("prepend", Some(args.get(3))),
        "MC.CAS" => ("cas", Some(args.get(3))),
        _ if flag(b'C').is_some() => ("cas", flag(b'T')),
        _ => match flag(b'M').and_then(|mode| mode.first().map(u8::to_ascii_uppercase)) {
            Some(b'E') => ("add", flag(b'T')),
            Some(b'R') => ("replace", flag(b'T')),
            Some(b'A') => ("append", flag(b'T')),
            Some(b'P') => ("prepend", flag(b'T')),
            _ => ("set", flag(b'T')),
        },
    };
    let exptime = exptime.and_then(wire::memcache::signed).unwrap_or(0);
    let size = Some(args.get(last).len() as u64);
    Some(Logged { key: args.get(1), status, stored: Some((command, exptime)), size })
}

impl Logged<'_> {
    /// Returns the kind of line, which selects its watchers.
    pub(crate) fn shown(&self) -> LineKind {
        if self.stored.is_some() { LineKind::Mutations } else { LineKind::Fetches }
    }

    /// Returns the line, without its end, for the time `now_us`, in microseconds since the epoch.
    pub(crate) fn line(&self, now_us: u64, number: u64, client: u64) -> String {
        let (now_s, us) = (now_us / 1_000_000, now_us % 1_000_000);
        let kind = if self.stored.is_some() { "item_store" } else { "item_get" };
        let (key, status) = (UriEncoded(self.key), self.status);
        let mut line = format!("ts={now_s}.{us} gid={number} type={kind} key={key} status={status}");
        if let Some((command, exptime)) = self.stored {
            let ttl = commands::exptime_seconds_left(exptime, now_us / 1000);
            let _ = write!(line, " cmd={command} ttl={ttl}");
        }
        let class = u8::from(self.status != "not_found" || self.stored.is_some());
        let _ = write!(line, " clsid={class} cfd={client}");
        if let Some(size) = self.size {
            let _ = write!(line, " size={size}");
        }
        line
    }
}

/// Returns the first line of a reply.
fn first_line(reply: &[u8]) -> &[u8] {
    reply.split(|byte| *byte == b'\r').next().unwrap_or(reply)
}

fn line_has(reply: &[u8], part: &[u8]) -> bool {
    first_line(reply).windows(part.len()).any(|window| window == part)
}

/// Returns a word of the first line as a number.
fn word(reply: &[u8], at: usize) -> Option<u64> {
    std::str::from_utf8(first_line(reply).split(|byte| *byte == b' ').nth(at)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::OwnedRequest;

    /// The lines of memcached 1.6.18, except time, number and connection.
    #[test]
    fn log_lines_match_memcached() {
        for (row, words, reply, expected) in [
            (
                "MC.GET",
                &["get", "a"][..],
                "VALUE a 5 5\r\nxabcx\r\n",
                "item_get key=a status=found clsid=1 cfd=7 size=5",
            ),
            ("MC.GATS", &["gats", "100", "zz"], "", "item_get key=zz status=not_found clsid=0 cfd=7 size=0"),
            ("MC.MG", &["mg", "b", "v"], "VA 3\r\nabc\r\n", "item_get key=b status=found clsid=1 cfd=7 size=3"),
            ("MC.MGT", &["mg", "b", "N30"], "HD W\r\n", "item_get key=b status=not_found clsid=0 cfd=7 size=0"),
            ("MC.GET", &["get", "k%20\x01é"], "", "item_get key=k%2520%01%C3%A9 status=not_found clsid=0 cfd=7 size=0"),
            ("MC.DELETE", &["delete", "a"], "NOT_FOUND\r\n", "item_get key=a status=not_found clsid=0 cfd=7 size=0"),
            (
                "MC.SET",
                &["set", "b", "0", "100", "abc"],
                "STORED\r\n",
                "item_store key=b status=stored cmd=set ttl=100 clsid=1 cfd=7 size=3",
            ),
            (
                "MC.SET",
                &["set", "b", "0", "1999999999", "x"],
                "STORED\r\n",
                "item_store key=b status=stored cmd=set ttl=199999999 clsid=1 cfd=7 size=1",
            ),
            (
                "MC.REPLACE",
                &["replace", "zz", "0", "0", "x"],
                "NOT_STORED\r\n",
                "item_store key=zz status=not_stored cmd=replace ttl=0 clsid=1 cfd=7 size=1",
            ),
            (
                "MC.CAS",
                &["cas", "a", "0", "0", "999", "x"],
                "EXISTS\r\n",
                "item_store key=a status=exists cmd=cas ttl=0 clsid=1 cfd=7 size=1",
            ),
            (
                "MC.MS",
                &["ms", "m", "T50", "c", "x"],
                "HD c10\r\n",
                "item_store key=m status=stored cmd=set ttl=50 clsid=1 cfd=7 size=1",
            ),
            (
                "MC.MS",
                &["ms", "qq", "MA", "y"],
                "NS\r\n",
                "item_store key=qq status=not_stored cmd=append ttl=0 clsid=1 cfd=7 size=1",
            ),
            (
                "MC.MS",
                &["ms", "m", "C4", "z"],
                "EX\r\n",
                "item_store key=m status=exists cmd=cas ttl=0 clsid=1 cfd=7 size=1",
            ),
        ] {
            let request = OwnedRequest::of(words);
            let args = request.args();
            let line = logged(row, &args, reply.as_bytes()).unwrap().line(1_800_000_000_000_042, 9, 7);
            assert_eq!(line, format!("ts=1800000000.42 gid=9 type={expected}"));
        }
    }

    #[test]
    fn commands_that_neither_look_up_nor_store_are_not_logged() {
        for (row, words, reply) in [
            ("MC.SET", &["set", "k", "0", "0", "x"][..], "SERVER_ERROR MISCONF\r\n"),
            ("MC.INCR", &["incr", "k", "x"], "CLIENT_ERROR invalid numeric delta argument\r\n"),
            ("MC.FLUSH_ALL", &["flush_all"], "OK\r\n"),
        ] {
            let request = OwnedRequest::of(words);
            assert!(logged(row, &request.args(), reply.as_bytes()).is_none(), "{words:?}");
        }
        let request = OwnedRequest::of(&["incr", "k", "1"]);
        let args = request.args();
        let reply = b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
        assert_eq!(logged("MC.INCR", &args, reply).unwrap().status, "found");
    }
}
