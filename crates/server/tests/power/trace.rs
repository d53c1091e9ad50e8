//! Parses the output of `strace -f -y` into the relevant calls, each with the lines at which it began and returned.
//!
//! ```text
//! 17  pwrite64(5</d/1.log>, "abc", 3, 64 <unfinished ...>      it began here
//! 18  read(9<socket:[77]>, "GET k\r\n", 65536) = 7             began and returned before the next line
//! 17  <... pwrite64 resumed>)              = 3                 and returned here
//! ```
//!
//! A thread is stopped until strace has written its line, so the effects of a call appear below the call's return.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

/// The end of a call that was never seen to return.
pub(crate) const NEVER: usize = usize::MAX;

/// The traced system calls.
pub(crate) const CALLS: &str = "open,openat,creat,mkdir,mkdirat,pwrite64,pwritev,write,writev,sendto,sendmsg,fdatasync,\
    fsync,rename,renameat,renameat2,ftruncate,fallocate,unlink,unlinkat,recvfrom,recvmsg,read";

/// A call that succeeded, or may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The line at which it began.
    pub(crate) begin: usize,
    /// The line at which it returned, or [`NEVER`].
    pub(crate) end: usize,
    pub(crate) call: Call,
}

/// A call by what it does. Paths are as they were when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A server starts; `always` if its replies wait for the sync.
    Start { always: bool },
    /// A folder is made.
    MakeFolder { path: PathBuf },
    /// A file is made, or opened if it is there.
    Create { path: PathBuf },
    /// Bytes are written into a file.
    Write { path: PathBuf, offset: u64, bytes: Vec<u8> },
    /// A file gets a length.
    Resize { path: PathBuf, bytes: u64 },
    /// A file or folder is synced.
    Sync { path: PathBuf },
    /// A file gets another name.
    Rename { from: PathBuf, to: PathBuf },
    /// A file is removed.
    Remove { path: PathBuf },
    /// Bytes come from a client.
    Received { socket: String, bytes: Vec<u8> },
    /// Bytes go to a client.
    Sent { socket: String, bytes: Vec<u8> },
}

/// Calls that other threads begin and go on from, after which a call of a thread had returned while the process lived.
const CALLS_OF_THE_LIVING: usize = 16;

/// Reads a trace; lines are counted from `first_line` on. Calls on files outside `root` are left out.
///
/// # Panics
/// If a line cannot be understood, or strace has cut bytes off.
pub(crate) fn parse(trace: impl BufRead, root: &Path, first_line: usize) -> io::Result<Vec<Event>> {
    let mut open: HashMap<Vec<u8>, (usize, Vec<u8>)> = HashMap::new();
    let mut latest: HashMap<Vec<u8>, (usize, usize, Vec<u8>)> = HashMap::new();
    let (mut events, mut begun) = (Vec::new(), Vec::new());
    for (line, text) in (first_line..).zip(trace.split(b'\n')) {
        let text = text?;
        let Some(space) = text.iter().position(|&byte| byte == b' ') else { continue };
        let (thread, rest) = (text[..space].to_vec(), text[space..].trim_ascii());
        let before = latest.remove(&thread);
        if rest.starts_with(b"+++ killed") {
            // For a thread that is being killed strace may show the result of another call. One that was idle by then had
            // its result long before.
            let is_old = |end: usize| begun.iter().filter(|begin| **begin > end).count() >= CALLS_OF_THE_LIVING;
            let end_of = |end: usize| if is_old(end) { end } else { NEVER };
            events.extend(before.and_then(|(begin, end, text)| event(&text, root, begin, end_of(end))));
            continue;
        }
        begun.extend(before.as_ref().map(|(begin, ..)| *begin));
        events.extend(before.and_then(|(begin, end, text)| event(&text, root, begin, end)));
        let call = if let Some(begun) = rest.strip_suffix(b" <unfinished ...>") {
            open.insert(thread, (line, begun.to_vec()));
            continue;
        } else if rest.starts_with(b"<... ") {
            let (begin, mut whole) = open.remove(&thread).expect("what is resumed has begun");
            let after = find(rest, b" resumed>").expect("strace says so") + b" resumed>".len();
            whole.extend_from_slice(&rest[after..]);
            (begin, line, whole)
        } else {
            (line, line, rest.to_vec())
        };
        latest.insert(thread, call);
    }
    events.extend(latest.into_values().filter_map(|(begin, end, text)| event(&text, root, begin, end)));
    events.extend(open.into_values().filter_map(|(begin, text)| event(&text, root, begin, NEVER)));
    events.sort_by_key(|event| event.begin);
    Ok(events)
}

fn event(text: &[u8], root: &Path, begin: usize, end: usize) -> Option<Event> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    let (name, rest) = (std::str::from_utf8(&text[..open]).ok()?, &text[open + 1..]);
    // A call that its process did not survive returns a question mark, with or without a word on it.
    let end = if rest.ends_with(b"= ?") || rest.ends_with(b"= ? <unavailable>") { NEVER } else { end };
    let returned = if end == NEVER { None } else { Some(returned(rest)?) };
    let call = call(name, rest, returned)?;
    call.is_within(root).then_some(Event { begin, end, call })
}

/// Returns the result of a call; `None` if it failed.
fn returned(text: &[u8]) -> Option<u64> {
    let at = text.windows(2).rposition(|two| two == b"= ")? + 2;
    let digits: Vec<u8> = text[at..].iter().copied().take_while(u8::is_ascii_digit).collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

fn call(name: &str, rest: &[u8], returned: Option<u64>) -> Option<Call> {
    let object = || described(rest).expect("strace -y names what a descriptor stands for");
    let path = || PathBuf::from(object());
    let has_returned = returned.is_some();
    Some(match name {
        "open" | "openat" | "creat" => {
            if find(rest, b"O_CREAT").is_none() && name != "creat" {
                return None;
            }
            Call::Create { path: quoted_path(rest, 0) }
        }
        "mkdir" | "mkdirat" => Call::MakeFolder { path: quoted_path(rest, 0) },
        "rename" | "renameat" | "renameat2" => Call::Rename { from: quoted_path(rest, 0), to: quoted_path(rest, 1) },
        "unlink" | "unlinkat" => Call::Remove { path: quoted_path(rest, 0) },
        "fsync" | "fdatasync" => Call::Sync { path: path() },
        "ftruncate" => Call::Resize { path: path(), bytes: number(rest, 1) },
        "fallocate" => Call::Resize { path: path(), bytes: number(rest, 2) + number(rest, 3) },
        "pwrite64" | "pwritev" => {
            let mut bytes = payload(rest);
            // After the bytes come their number and the offset; after buffers the last one's, how many there are, the offset.
            let offset = number(after_text(rest), if name == "pwritev" { 3 } else { 2 });
            bytes.truncate(returned.map_or(usize::MAX, |count| count as usize));
            Call::Write { path: path(), offset, bytes }
        }
        "write" | "writev" | "sendto" | "sendmsg" if object().starts_with("socket:") => {
            let mut bytes = payload(rest);
            bytes.truncate(returned.map_or(usize::MAX, |count| count as usize));
            Call::Sent { socket: object(), bytes }
        }
        "read" | "recvfrom" | "recvmsg" if has_returned && object().starts_with("socket:") => {
            Call::Received { socket: object(), bytes: payload(rest) }
        }
        _ => return None,
    })
}

impl Call {
    fn is_within(&self, root: &Path) -> bool {
        match self {
            Self::Start { .. } | Self::Received { .. } | Self::Sent { .. } => true,
            Self::MakeFolder { path }
            | Self::Create { path }
            | Self::Write { path, .. }
            | Self::Resize { path, .. }
            | Self::Sync { path }
            | Self::Rename { to: path, .. }
            | Self::Remove { path } => path.starts_with(root),
        }
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// Returns the text in the brackets after the first descriptor.
fn described(text: &[u8]) -> Option<String> {
    let from = text.iter().position(|&byte| byte == b'<')? + 1;
    let to = from + text[from..].iter().position(|&byte| byte == b'>')?;
    String::from_utf8(text[from..to].to_vec()).ok()
}

fn quoted_path(text: &[u8], index: usize) -> PathBuf {
    let path = quoted(text).nth(index).expect("a path").0;
    PathBuf::from(String::from_utf8(path).expect("a path of the test's own"))
}

/// The bytes a call carries, of all its buffers.
fn payload(text: &[u8]) -> Vec<u8> {
    // Addresses and the like are in quotes too, after the bytes and outside of the vector.
    let is_vector = find(&text[..text.len().min(200)], b"iov_base=").is_some();
    let carried = quoted(text).filter(|(_, at)| !is_vector || text[..*at].ends_with(b"iov_base="));
    carried.take(if is_vector { usize::MAX } else { 1 }).flat_map(|(bytes, _)| bytes).collect()
}

/// Returns the text after the last quoted string.
fn after_text(text: &[u8]) -> &[u8] {
    &text[text.iter().rposition(|&byte| byte == b'"').map_or(0, |at| at + 1)..]
}

/// The number at `index` between commas.
fn number(text: &[u8], index: usize) -> u64 {
    let part = text.split(|&byte| byte == b',').nth(index).expect("strace writes all arguments").trim_ascii();
    let digits: Vec<u8> = part.iter().copied().take_while(u8::is_ascii_digit).collect();
    String::from_utf8(digits).unwrap().parse().expect("a number")
}

/// The texts in quotes, and where each stands.
fn quoted(text: &[u8]) -> impl Iterator<Item = (Vec<u8>, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let quote = at + text[at..].iter().position(|&byte| byte == b'"')?;
        let (bytes, end) = unquote(text, quote + 1);
        assert!(!text[end..].starts_with(b"..."), "strace has cut bytes off");
        at = end;
        Some((bytes, quote))
    })
}

/// Returns the bytes of the quoted string that begins at `at`, and the position after it.
fn unquote(text: &[u8], mut at: usize) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    loop {
        match text[at] {
            b'"' => return (bytes, at + 1),
            b'\\' => {
                let (byte, width) = unescape(&text[at + 1..]);
                bytes.push(byte);
                at += 1 + width;
            }
            byte => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
}

/// Returns the byte of a C escape sequence, and its number of characters after the backslash.
fn unescape(text: &[u8]) -> (u8, usize) {
    let plain = |byte| (byte, 1);
    match text[0] {
        b'n' => plain(b'\n'),
        b'r' => plain(b'\r'),
        b't' => plain(b'\t'),
        b'v' => plain(0x0b),
        b'f' => plain(0x0c),
        b'0'..=b'7' => {
            let width = text.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            (text[..width].iter().fold(0, |byte: u8, digit| byte.wrapping_mul(8) + (digit - b'0')), width)
        }
        other => plain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(trace: &str) -> Vec<Event> {
        parse(trace.as_bytes(), Path::new("/d"), 1).unwrap()
    }

    fn calls(trace: &str) -> Vec<Call> {
        events(trace).into_iter().map(|event| event.call).collect()
    }

    #[test]
    fn an_interrupted_call_is_parsed_as_one() {
        let trace = concat!(
            "17  pwrite64(5</d/1.log>, \"ab\\0\\0011\\n\\\"\\\\\", 8, 64 <unfinished ...>\n",
            "18  fdatasync(6</d/2.log>)           = 0\n",
            "17  <... pwrite64 resumed>)              = 8\n",
            "19  fsync(7</d> <unfinished ...>\n",
            "19  <... fsync resumed>) = ?\n",
            "20  fsync(7</d>) = ? <unavailable>\n",
            "17  +++ exited with 0 +++\n",
        );
        let (write, sync) = (
            Call::Write { path: "/d/1.log".into(), offset: 64, bytes: b"ab\0\x011\n\"\\".to_vec() },
            Call::Sync { path: "/d/2.log".into() },
        );
        let killed = Call::Sync { path: "/d".into() };
        assert_eq!(
            events(trace),
            [
                Event { begin: 1, end: 3, call: write },
                Event { begin: 2, end: 2, call: sync },
                Event { begin: 4, end: NEVER, call: killed.clone() },
                Event { begin: 6, end: NEVER, call: killed.clone() },
            ]
        );
        assert_eq!(events("19  fsync(7</d> <unfinished ...>\n"), [Event { begin: 1, end: NEVER, call: killed }]);
    }

    #[test]
    fn a_write_of_several_buffers_is_one_write() {
        let trace = concat!(
            "17  pwritev(5</d/1.log>, [{iov_base=\"ab, \", iov_len=4}, {iov_base=\"\", iov_len=0}, ",
            "{iov_base=\"1, 2\", iov_len=4}], 3, 4160) = 8\n",
            "17  pwritev(5</d/1.log>, [{iov_base=\"cd\", iov_len=2}, {iov_base=\"efg\", iov_len=3}], 2, 8) = 4\n",
            "17  +++ exited with 0 +++\n",
        );
        let write = |offset, bytes: &[u8]| Call::Write { path: "/d/1.log".into(), offset, bytes: bytes.to_vec() };
        assert_eq!(calls(trace), [write(4160, b"ab, 1, 2"), write(8, b"cdef")]);
    }

    #[test]
    fn the_last_call_of_a_killed_thread_has_not_returned() {
        let trace = concat!(
            "17  pwrite64(5</d/1.log>, \"ab\", 2, 64)   = 2\n",
            "17  pwrite64(5</d/1.log>, \"cde\", 3, 66)  = 1\n",
            "18  fdatasync(5</d/1.log>)           = 0\n",
            "18  fsync(6</d> <unfinished ...>\n",
            "17  +++ killed by SIGKILL +++\n",
            "18  +++ killed by SIGKILL +++\n",
        );
        let write = |offset, bytes: &[u8]| Call::Write { path: "/d/1.log".into(), offset, bytes: bytes.to_vec() };
        assert_eq!(
            events(trace),
            [
                Event { begin: 1, end: 1, call: write(64, b"ab") },
                Event { begin: 2, end: NEVER, call: write(66, b"cde") },
                Event { begin: 3, end: 3, call: Call::Sync { path: "/d/1.log".into() } },
                Event { begin: 4, end: NEVER, call: Call::Sync { path: "/d".into() } },
            ]
        );
    }

    #[test]
    fn the_last_call_of_a_thread_that_was_idle_when_it_was_killed_has_returned() {
        let of_others = |count: usize| "18  fsync(6</d>)  = 0\n".repeat(count + 1);
        for (count, is_returned) in [(CALLS_OF_THE_LIVING - 1, false), (CALLS_OF_THE_LIVING, true)] {
            let killed = "17  +++ killed by SIGKILL +++\n18  +++ killed by SIGKILL +++\n";
            let all = events(&["17  fdatasync(5</d/1.log>)  = 0\n", &of_others(count), killed].concat());
            assert_eq!(all[0].call, Call::Sync { path: "/d/1.log".into() });
            assert_eq!(all[0].end, if is_returned { 1 } else { NEVER });
            assert_eq!(all.last().unwrap().end, NEVER);
        }
    }

    #[test]
    fn failed_and_unrelated_calls_are_ignored() {
        let trace = concat!(
            "1 rename(\"/d/a\", \"/d/b\") = -1 ENOENT (No such file or directory)\n",
            "1 openat(AT_FDCWD</x>, \"/etc/passwd\", O_RDONLY|O_CREAT, 0666) = 3</etc/passwd>\n",
            "1 openat(AT_FDCWD</x>, \"/d/a\", O_RDWR|O_CLOEXEC) = 3</d/a>\n",
            "1 write(2</d/err>, \"ready\", 5) = 5\n",
            "1 read(26<socket:[7]>, 0x1234, 65536) = -1 EAGAIN (Resource temporarily unavailable)\n",
        );
        assert_eq!(calls(trace), []);
    }

    #[test]
    fn paths_lengths_and_sockets_are_parsed() {
        let trace = concat!(
            "1 openat(AT_FDCWD</x>, \"/d/a\", O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC, 0666) = 3</d/a>\n",
            "1 fallocate(3</d/a>, 0, 0, 4096) = 0\n",
            "1 ftruncate(3</d/a>, 100) = 0\n",
            "1 rename(\"/d/a\", \"/d/b\") = 0\n",
            "1 unlink(\"/d/b\") = 0\n",
            "1 mkdir(\"/d/e\", 0777) = 0\n",
            "1 write(26<socket:[7]>, \"+OK\\r\\n\", 5) = 3\n",
            "1 writev(26<socket:[7]>, [{iov_base=\"$1\\r\\n\", iov_len=4}, {iov_base=\"a\", iov_len=1}], 2) = 5\n",
            "1 recvfrom(26<socket:[7]>, \"PING\\r\\n\", 100, 0, NULL, NULL) = 6\n",
        );
        let path = PathBuf::from;
        let socket = || "socket:[7]".to_owned();
        assert_eq!(
            calls(trace),
            [
                Call::Create { path: path("/d/a") },
                Call::Resize { path: path("/d/a"), bytes: 4096 },
                Call::Resize { path: path("/d/a"), bytes: 100 },
                Call::Rename { from: path("/d/a"), to: path("/d/b") },
                Call::Remove { path: path("/d/b") },
                Call::MakeFolder { path: path("/d/e") },
                Call::Sent { socket: socket(), bytes: b"+OK".to_vec() },
                Call::Sent { socket: socket(), bytes: b"$1\r\na".to_vec() },
                Call::Received { socket: socket(), bytes: b"PING\r\n".to_vec() },
            ]
        );
    }
}
