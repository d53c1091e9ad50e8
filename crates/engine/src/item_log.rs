//! The lines of memcached's `watch`, as far as a request and its reply tell.
//!
//! ```text
//! get k         ts=1795659875.928918 gid=2 type=item_get key=k status=found clsid=1 cfd=24 size=3
//! set k 0 9 3   ts=1795659875.928924 gid=3 type=item_store key=k status=stored cmd=set ttl=9 clsid=1 cfd=24 size=3
//! ```
//!
//! `cfd` is the connection's number, as CLIENT LIST has it. The size of an item that was found is told where the reply has
//! it. A request that stores looks for nothing here, so it is one line, where memcached writes two.

use commands::ItemEvent;
use std::fmt::Write as _;
use wire::Args;

/// An exptime up to this is in seconds from now, in seconds: the 30 days of memcached's protocol.
const RELATIVE_S_MAX: i64 = 60 * 60 * 24 * 30;

/// What a request has done to an item.
pub(crate) struct Logged<'a> {
    pub event: ItemEvent,
    key: &'a [u8],
    status: &'static str,
    /// Its command and exptime, if it was to be stored.
    stored: Option<(&'static str, i64)>,
    /// Bytes of the value, if they are known.
    size: Option<u64>,
}

/// What a request to a row has done; `None` if that is nothing, or the reply does not tell it.
pub(crate) fn logged<'a>(row: &str, args: &'a Args<'_>, reply: &[u8]) -> Option<Logged<'a>> {
    let says = |text: &str| reply.starts_with(text.as_bytes());
    if says("SERVER_ERROR") || (says("CLIENT_ERROR") && !says("CLIENT_ERROR cannot increment")) {
        return None;
    }
    let is_stored = match row {
        "MC.SET" | "MC.ADD" | "MC.REPLACE" | "MC.APPEND" | "MC.PREPEND" | "MC.CAS" | "MC.MS" => true,
        "MC.GET" | "MC.GETS" | "MC.GAT" | "MC.GATS" | "MC.TOUCH" | "MC.INCR" | "MC.DECR" | "MC.DELETE" | "MC.MG"
        | "MC.MGT" | "MC.MD" | "MC.MA" | "MC.ME" => false,
        _ => return None,
    };
    let is_meta = row.starts_with("MC.M");
    let flag = |letter: u8| {
        let flags = if row == "MC.MS" { args.slice(2, args.len() - 1) } else { args.from(2) };
        flags.iter().find(|flag| flag.first() == Some(&letter)).map(|flag| flag[1..].to_vec())
    };
    let key = args.get(if matches!(row, "MC.GAT" | "MC.GATS") { 2 } else { 1 });
    if !is_stored {
        let is_made = match row {
            // What was made on a miss is told as won; so is an item that is to be made anew, by R.
            "MC.MGT" => {
                flag(b'N').is_some() && flag(b'R').is_none() && line_has(reply, b" W") && !line_has(reply, b" X")
            }
            "MC.MA" if flag(b'N').is_some() => return None,
            _ => false,
        };
        let is_missed = match row {
            "MC.GET" | "MC.GETS" | "MC.GAT" | "MC.GATS" => !says("VALUE"),
            "MC.MG" | "MC.MGT" => reply.is_empty() || says("EN") || is_made,
            "MC.ME" => says("EN"),
            _ => says("NF") || says("NOT_FOUND"),
        };
        let size = match row {
            _ if is_missed => Some(0),
            "MC.GET" | "MC.GETS" | "MC.GAT" | "MC.GATS" => word(reply, 3),
            "MC.MG" | "MC.MGT" if says("VA ") => word(reply, 1),
            _ => None,
        };
        let status = if is_missed { "not_found" } else { "found" };
        return Some(Logged { event: ItemEvent::Fetch, key, status, stored: None, size });
    }
    let status = match () {
        () if says("STORED") || says("HD") || reply.is_empty() => "stored",
        () if says("NS") || says("NOT_STORED") => "not_stored",
        () if says("EX") => "exists",
        () if says("NF") || says("NOT_FOUND") => "not_found",
        () => return None,
    };
    let command = match row {
        "MC.SET" => "set",
        "MC.ADD" => "add",
        "MC.REPLACE" => "replace",
        "MC.APPEND" => "append",
        "MC.PREPEND" => "prepend",
        "MC.CAS" => "cas",
        _ if flag(b'C').is_some() => "cas",
        _ => match flag(b'M').and_then(|mode| mode.first().map(u8::to_ascii_uppercase)) {
            Some(b'E') => "add",
            Some(b'R') => "replace",
            Some(b'A') => "append",
            Some(b'P') => "prepend",
            _ => "set",
        },
    };
    let exptime = if is_meta { flag(b'T') } else { Some(args.get(3).to_vec()) };
    let exptime = exptime.and_then(|digits| std::str::from_utf8(&digits).ok()?.parse().ok()).unwrap_or(0);
    let size = Some(args.get(args.len() - 1).len() as u64);
    Some(Logged { event: ItemEvent::Mutation, key, status, stored: Some((command, exptime)), size })
}

impl Logged<'_> {
    /// The line, without its end, of the time `now_us`, in microseconds since the epoch.
    pub(crate) fn line(&self, now_us: u64, number: u64, client: u64) -> String {
        let (now_s, us) = (now_us / 1_000_000, now_us % 1_000_000);
        let kind = if self.stored.is_some() { "item_store" } else { "item_get" };
        let mut line = format!("ts={now_s}.{us} gid={number} type={kind} key=");
        for byte in self.key {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => line.push(char::from(*byte)),
                byte => write!(line, "%{byte:02X}").expect("a string takes all"),
            }
        }
        write!(line, " status={}", self.status).expect("a string takes all");
        if let Some((command, exptime)) = self.stored {
            let ttl = if exptime > RELATIVE_S_MAX { exptime - now_s as i64 } else { exptime };
            write!(line, " cmd={command} ttl={ttl}").expect("a string takes all");
        }
        let class = u8::from(self.status != "not_found" || self.stored.is_some());
        write!(line, " clsid={class} cfd={client}").expect("a string takes all");
        if let Some(size) = self.size {
            write!(line, " size={size}").expect("a string takes all");
        }
        line
    }
}

/// The first line of a reply.
fn first_line(reply: &[u8]) -> &[u8] {
    reply.split(|byte| *byte == b'\r').next().unwrap_or(reply)
}

fn line_has(reply: &[u8], part: &[u8]) -> bool {
    first_line(reply).windows(part.len()).any(|window| window == part)
}

/// A word of the first line, as a number.
fn word(reply: &[u8], at: usize) -> Option<u64> {
    std::str::from_utf8(first_line(reply).split(|byte| *byte == b' ').nth(at)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::OwnedRequest;

    /// The lines of memcached 1.6.18, time, number and connection aside.
    #[test]
    fn lines_are_those_of_memcached() {
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
    fn what_found_no_item_and_stored_none_is_not_told() {
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
