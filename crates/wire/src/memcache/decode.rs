//! Decodes bytes to requests.
//!
//! ```text
//!            .-- a line, with its value --> Request            a line of keys --> Keys: a request for each, then END
//!   Line ----+-- a line that is amiss ----> Say
//!            '-- a value too long --------> Request (delete), Say, Swallow: its bytes are passed over
//! ```
//!
//! A line is parsed once complete; while its value is arriving, a step is one look at that line and one comparison.
//! Results depend on the bytes alone, not on how they were split into reads.

use super::base64;
use super::number::{signed, unsigned};
use super::upkeep;
use crate::http::is_http_line;
use crate::request::{Range, Ranges};

/// The maximum length of a key, in bytes.
pub const KEY_BYTES_MAX: usize = 250;
/// The largest configurable value limit, in bytes: the same as for any string.
pub const ITEM_BYTES_MAX: usize = base::limits::BULK_BYTES_MAX;

/// The maximum length of a line, except lines of keys, in bytes, without its end.
const LINE_BYTES_MAX: usize = 2048;
/// The maximum length of a line of keys, in bytes.
const KEYS_LINE_BYTES_MAX: usize = 16 << 20;
/// The maximum length of an authentication value, in bytes: user, a blank and password.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// The maximum number of words parsed from a line.
const WORDS_MAX: usize = 23;
/// The first byte of each request in the binary protocol; no line starts with it.
const BINARY_MAGIC: u8 = 0x80;
/// Words of queue requests that are complete at the end of the line, or of its value.
const QUEUE_WORDS: &[&[u8]] = &[b"set", b"delete", b"flush_all", b"stats", b"verbosity", b"version", b"quit"];
/// The maximum number of words in a meta request.
const META_WORDS_MAX: usize = 19;

/// The type of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is memcached's word")]
pub enum Verb {
    Get,
    Gets,
    Gat,
    Gats,
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas,
    Incr,
    Decr,
    Touch,
    Delete,
    FlushAll,
    Stats,
    Mg,
    Ms,
    Md,
    Ma,
    Me,
    Metadump,
    Cachedump,
    Watch,
}

/// The protocol spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Memcached's, text and meta.
    Items,
    /// MemcacheQ's: get, gets, set, delete, stats, flush_all and requests that the port answers itself. A set is passed
    /// on as key, flags and value: its time is ignored, as in MemcacheQ.
    Queues,
}

/// Requests that the port answers itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// The version.
    Version,
    /// Closes the connection.
    Quit,
}

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemcacheStep {
    /// No complete request. Call again with the same input and more appended.
    NeedMore {
        /// The minimum length of the whole input, in bytes, at which another step can make progress.
        at_least: usize,
    },
    /// A request, its arguments in the `Ranges`; its type is [`MemcacheDecoder::verb`].
    Request {
        /// The bytes of input consumed.
        used: usize,
        /// True if no reply is to be sent.
        silent: bool,
    },
    /// A request that the port answers itself.
    Own {
        /// The bytes of input consumed.
        used: usize,
        /// The request.
        own: Own,
    },
    /// Send this line, given without its end.
    Say {
        /// The bytes of input consumed.
        used: usize,
        /// Memcached's wording.
        text: &'static str,
    },
    /// No reply is due.
    Empty {
        /// The bytes of input consumed.
        used: usize,
    },
    /// Protocol violation: close.
    Broken,
    /// HTTP from a browser, see [`crate::http`]: close without a reply, whatever else has arrived.
    Http,
}

/// Decodes the requests of one connection, one per step.
pub struct MemcacheDecoder {
    dialect: Dialect,
    state: State,
    verb: Verb,
    item_bytes_max: u32,
    is_locked: bool,
}

const _: () = assert!(size_of::<MemcacheDecoder>() <= 64);

enum State {
    /// At the start of a line, which has no end in the first `scanned` bytes.
    Line { scanned: usize },
    /// Within a line of keys: the remaining bytes of its words, and of the line.
    Keys { words_bytes: usize, line_bytes: usize, exptime: i64 },
    /// A too long value follows; the error is sent first.
    Refuse { value_bytes: usize, silent: bool },
    /// Skips this many bytes.
    Swallow { bytes: usize },
}

const START: State = State::Line { scanned: 0 };

const ERROR: &str = "ERROR";
const BAD_FORMAT: &str = "CLIENT_ERROR bad command line format";
const NO_LOGS: &str = "ERROR there is no Berkeley DB; checkpoints are made by BGSAVE, or by themselves";
const BAD_CHUNK: &str = "CLIENT_ERROR bad data chunk";
const BAD_EXPTIME: &str = "CLIENT_ERROR invalid exptime argument";
const BAD_DELETE: &str = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]";
const BAD_BASE64: &str = "CLIENT_ERROR error decoding key";
const TOO_LARGE: &str = "SERVER_ERROR object too large for cache";
const TOO_MANY_FLAGS: &str = "CLIENT_ERROR options flags too long";
const TOO_MANY_FLAGS_MG: &str = "CLIENT_ERROR options flags are too long";

/// The position of a line in the input.
#[derive(Clone, Copy)]
struct Line {
    /// The end of its words.
    end: usize,
    /// The start of the next line.
    next: usize,
}

impl MemcacheDecoder {
    /// Creates a decoder at the start of a line. Values of more than `item_bytes_max` bytes are refused.
    pub fn new(dialect: Dialect, item_bytes_max: usize) -> MemcacheDecoder {
        let mut decoder =
            MemcacheDecoder { dialect, state: START, verb: Verb::Get, item_bytes_max: 0, is_locked: false };
        decoder.set_item_bytes_max(item_bytes_max);
        decoder
    }

    /// Locks or unlocks: while locked, only authentication is accepted: `set`, with a value of a password's length.
    pub fn set_locked(&mut self, is_locked: bool) {
        self.is_locked = is_locked;
    }

    /// Sets the maximum length of values from the next line on.
    pub fn set_item_bytes_max(&mut self, bytes: usize) {
        self.item_bytes_max = bytes.min(ITEM_BYTES_MAX) as u32;
    }

    /// Skips the rest of a line of keys after the current request has failed: the error is the whole reply.
    pub fn end_line(&mut self) {
        if let State::Keys { line_bytes, .. } = self.state {
            self.state = State::Swallow { bytes: line_bytes };
        }
    }

    /// Returns true if the current request is not from the client: it deletes an item whose new value is too long.
    pub fn is_refusing(&self) -> bool {
        matches!(self.state, State::Refuse { .. })
    }

    /// Returns the type of the current request.
    pub fn verb(&self) -> Verb {
        self.verb
    }

    /// Decodes the request at the start of `input`, or continues with it.
    ///
    /// After `NeedMore` the next input must begin with the same bytes; otherwise it begins `used` bytes later. After
    /// `Broken` the decoder must not be used again.
    pub fn step(&mut self, input: &[u8], ranges: &mut Ranges) -> MemcacheStep {
        ranges.clear();
        match self.state {
            State::Line { scanned } => self.step_line(input, scanned, ranges),
            State::Keys { .. } => self.step_keys(input, ranges),
            State::Refuse { value_bytes, silent } => {
                self.state = State::Swallow { bytes: value_bytes + 2 };
                say(0, TOO_LARGE, silent)
            }
            State::Swallow { bytes } => {
                if input.is_empty() {
                    return MemcacheStep::NeedMore { at_least: 1 };
                }
                let used = bytes.min(input.len());
                self.state = if used == bytes { START } else { State::Swallow { bytes: bytes - used } };
                MemcacheStep::Empty { used }
            }
        }
    }

    fn step_line(&mut self, input: &[u8], scanned: usize, ranges: &mut Ranges) -> MemcacheStep {
        if input.first() == Some(&BINARY_MAGIC) {
            return MemcacheStep::Broken;
        }
        let Some(found) = memchr::memchr(b'\n', &input[scanned..]) else {
            return self.step_unfinished(input);
        };
        let at = scanned + found;
        if at > LINE_BYTES_MAX && at > self.line_bytes_max(input) {
            return MemcacheStep::Broken;
        }
        // A line also ends at a NUL, as a C string does.
        let text = &input[..at];
        let text = if at > 1 { text.strip_suffix(b"\r").unwrap_or(text) } else { text };
        let end = memchr::memchr(0, text).unwrap_or(text.len());
        let line = Line { end, next: at + 1 };
        let step = self.whole_line(input, line, ranges);
        // While waiting for a value, the line is read again.
        if let State::Line { scanned } = &mut self.state {
            *scanned = if let MemcacheStep::NeedMore { .. } = step { at } else { 0 };
        }
        step
    }

    fn step_unfinished(&mut self, input: &[u8]) -> MemcacheStep {
        if input.len() > self.line_bytes_max(input) {
            return MemcacheStep::Broken;
        }
        self.state = State::Line { scanned: input.len() };
        MemcacheStep::NeedMore { at_least: input.len() + 1 }
    }

    /// Returns the maximum length of the line at the start of `input`, in bytes. Before authentication, lines of keys
    /// are no exception.
    fn line_bytes_max(&self, input: &[u8]) -> usize {
        if !self.is_locked && is_of_keys(input) { KEYS_LINE_BYTES_MAX } else { LINE_BYTES_MAX }
    }

    fn whole_line(&mut self, input: &[u8], line: Line, ranges: &mut Ranges) -> MemcacheStep {
        let Line { end, next } = line;
        let Some((name, _)) = word(input, 0, end).filter(|(name, _)| name.length() >= 2) else {
            return unknown(input, line);
        };
        let name_bytes = name.of(input);
        if self.is_locked {
            return self.unlocking(input, line, ranges);
        }
        let is_of_queues = self.dialect == Dialect::Queues;
        if let Some(verb) = verb_of_keys(name_bytes)
            && (!is_of_queues || matches!(verb, Verb::Get | Verb::Gets))
        {
            return self.begin_keys(input, line, verb, name.end(), ranges);
        }
        words(input, end, &mut ranges.list);
        match name_bytes {
            b"db_archive" | b"db_checkpoint" if is_of_queues => say(next, NO_LOGS, false),
            _ if is_of_queues && !QUEUE_WORDS.contains(&name_bytes) => unknown(input, line),
            b"set" => self.storage(input, line, Verb::Set, ranges),
            b"add" => self.storage(input, line, Verb::Add, ranges),
            b"replace" => self.storage(input, line, Verb::Replace, ranges),
            b"append" => self.storage(input, line, Verb::Append, ranges),
            b"prepend" => self.storage(input, line, Verb::Prepend, ranges),
            b"cas" => self.storage(input, line, Verb::Cas, ranges),
            b"incr" => self.plain(input, line, Verb::Incr, ranges),
            b"decr" => self.plain(input, line, Verb::Decr, ranges),
            b"touch" => self.plain(input, line, Verb::Touch, ranges),
            b"delete" => self.delete(input, line, ranges),
            b"flush_all" => self.flush_all(input, line, ranges),
            b"mg" => self.meta(input, line, Verb::Mg, ranges),
            b"ms" => self.meta_set(input, line, ranges),
            b"md" => self.meta(input, line, Verb::Md, ranges),
            b"ma" => self.meta(input, line, Verb::Ma, ranges),
            b"me" => self.meta_debug(input, line, ranges),
            b"mn" => say(next, "MN", false),
            b"stats" => self.stats(input, next, ranges),
            b"watch" => {
                self.verb = Verb::Watch;
                MemcacheStep::Request { used: next, silent: false }
            }
            b"lru_crawler" => self.lru_crawler(input, next, ranges),
            b"verbosity" => verbosity(input, next, ranges),
            b"version" => MemcacheStep::Own { used: next, own: Own::Version },
            b"quit" => MemcacheStep::Own { used: next, own: Own::Quit },
            b"shutdown" => say(next, "ERROR: shutdown not enabled", false),
            _ => match upkeep::answer(input, &ranges.list) {
                Some(text) => say(next, text, is_silent(input, &ranges.list)),
                None => unknown(input, line),
            },
        }
    }

    /// Handles `stats cachedump class limit`, and all other topics.
    fn stats(&mut self, input: &[u8], next: usize, ranges: &mut Ranges) -> MemcacheStep {
        let list = &mut ranges.list;
        self.verb = Verb::Stats;
        if self.dialect == Dialect::Items && list.get(1).is_some_and(|topic| topic.of(input) == b"cachedump") {
            if list.len() < 4 {
                return say(next, "CLIENT_ERROR bad command line", false);
            }
            list.remove(0);
            list.truncate(3);
            self.verb = Verb::Cachedump;
        }
        MemcacheStep::Request { used: next, silent: false }
    }

    /// Handles `lru_crawler metadump class`, and subcommands without effect here.
    fn lru_crawler(&mut self, input: &[u8], next: usize, ranges: &mut Ranges) -> MemcacheStep {
        let list = &mut ranges.list;
        if list.len() > 2 && list[1].of(input) == b"metadump" {
            list.remove(0);
            list.truncate(2);
            self.verb = Verb::Metadump;
            return MemcacheStep::Request { used: next, silent: false };
        }
        say(next, upkeep::lru_crawler(input, list), is_silent(input, list))
    }

    /// Handles `set any flags exptime bytes`, whose value holds the credentials.
    fn unlocking(&mut self, input: &[u8], line: Line, ranges: &mut Ranges) -> MemcacheStep {
        words(input, line.end, &mut ranges.list);
        let list = &mut ranges.list;
        let bytes = list.get(4).and_then(|word| value_bytes(word.of(input)));
        match bytes {
            _ if list[0].of(input) == b"quit" => MemcacheStep::Own { used: line.next, own: Own::Quit },
            Some(bytes) if list[0].of(input) == b"set" && bytes <= PASSWORD_BYTES_MAX => {
                list.truncate(1);
                let end = line.next + bytes;
                if input.len() < end + 2 {
                    return MemcacheStep::NeedMore { at_least: end + 2 };
                }
                if &input[end..end + 2] != b"\r\n" {
                    return say(end + 2, "CLIENT_ERROR bad command line termination", false);
                }
                list.push(Range::new(line.next, bytes));
                self.verb = Verb::Set;
                MemcacheStep::Request { used: end + 2, silent: false }
            }
            _ if is_http_line(&input[..line.end]) => MemcacheStep::Http,
            _ => say(line.next, "CLIENT_ERROR unauthenticated", false),
        }
    }

    // ---- keys ----

    fn begin_keys(&mut self, input: &[u8], line: Line, verb: Verb, mut at: usize, ranges: &mut Ranges) -> MemcacheStep {
        let Line { end, next } = line;
        let mut exptime = 0;
        if word(input, at, end).is_none() {
            return say(next, ERROR, false);
        }
        if let Verb::Gat | Verb::Gats = verb {
            let (time, behind) = word(input, at, end).expect("just seen");
            let Some(time) = signed(time.of(input)) else { return say(next, BAD_EXPTIME, false) };
            (exptime, at) = (time, behind);
        }
        let mut keys_at = at;
        while let Some((key, behind)) = word(input, keys_at, end) {
            if key.length() > KEY_BYTES_MAX {
                return say(next, BAD_FORMAT, false);
            }
            keys_at = behind;
        }
        self.verb = verb;
        self.state = State::Keys { words_bytes: end - at, line_bytes: next - at, exptime };
        match self.step_keys(&input[at..], ranges) {
            MemcacheStep::Request { used, silent } => MemcacheStep::Request { used: at + used, silent },
            MemcacheStep::Say { used, text } => MemcacheStep::Say { used: at + used, text },
            _ => unreachable!("the line has come whole"),
        }
    }

    /// Returns the next key of the line, or its end.
    fn step_keys(&mut self, input: &[u8], ranges: &mut Ranges) -> MemcacheStep {
        let State::Keys { words_bytes, line_bytes, exptime } = self.state else { unreachable!("asked by the caller") };
        if input.len() < line_bytes {
            return MemcacheStep::NeedMore { at_least: line_bytes };
        }
        let Some((key, behind)) = word(input, 0, words_bytes) else {
            self.state = START;
            return say(line_bytes, "END", false);
        };
        self.state = State::Keys { words_bytes: words_bytes - behind, line_bytes: line_bytes - behind, exptime };
        // The name and the time may have been consumed already.
        ranges.inline = true;
        ranges.own_word(self.verb.name().as_bytes());
        if let Verb::Gat | Verb::Gats = self.verb {
            ranges.own_word(itoa::Buffer::new().format(exptime).as_bytes());
        }
        ranges.own_word(key.of(input));
        MemcacheStep::Request { used: behind, silent: false }
    }

    // ---- requests with a value ----

    /// Handles `set key flags exptime bytes [noreply]`, and `cas` with a number before that.
    fn storage(&mut self, input: &[u8], line: Line, verb: Verb, ranges: &mut Ranges) -> MemcacheStep {
        let numbers = if verb == Verb::Cas { 5 } else { 4 };
        let list = &mut ranges.list;
        if !(numbers + 1..=numbers + 2).contains(&list.len()) {
            return say(line.next, ERROR, false);
        }
        let silent = is_silent(input, list);
        let number = |at: usize| list[at].of(input);
        let is_whole = list[1].length() <= KEY_BYTES_MAX
            && unsigned(number(2)).is_some_and(|flags| self.dialect == Dialect::Items || flags <= u64::from(u32::MAX))
            && signed(number(3)).is_some()
            && (verb != Verb::Cas || unsigned(number(5)).is_some());
        let Some(value_bytes) = value_bytes(number(4)).filter(|_| is_whole) else {
            return say(line.next, BAD_FORMAT, silent);
        };
        if self.dialect == Dialect::Queues {
            list.truncate(3);
        } else {
            list.truncate(numbers + 1);
            list.remove(4);
        }
        self.with_value(input, line, verb, value_bytes, silent, ranges)
    }

    /// Handles `ms key bytes flag...`
    fn meta_set(&mut self, input: &[u8], line: Line, ranges: &mut Ranges) -> MemcacheStep {
        let list = &mut ranges.list;
        if list.len() < 2 {
            return say(line.next, ERROR, false);
        }
        if list.len() < 3 || list[1].length() > KEY_BYTES_MAX {
            return say(line.next, BAD_FORMAT, false);
        }
        if list.len() > META_WORDS_MAX {
            return say(line.next, TOO_MANY_FLAGS, false);
        }
        let Some(value_bytes) = value_bytes(list[2].of(input)) else { return say(line.next, BAD_FORMAT, false) };
        list.remove(2);
        self.with_value(input, line, Verb::Ms, value_bytes, false, ranges)
    }

    /// Completes a request once its value has arrived.
    fn with_value(
        &mut self,
        input: &[u8],
        line: Line,
        verb: Verb,
        value_bytes: usize,
        silent: bool,
        ranges: &mut Ranges,
    ) -> MemcacheStep {
        let start = line.next;
        if value_bytes > self.item_bytes_max as usize {
            return self.refuse(input, line, verb, value_bytes, silent, ranges);
        }
        let end = start + value_bytes;
        if input.len() < end + 2 {
            return MemcacheStep::NeedMore { at_least: end + 2 };
        }
        if &input[end..end + 2] != b"\r\n" {
            return say(end + 2, BAD_CHUNK, silent);
        }
        let in_base64 = verb == Verb::Ms && is_in_base64(input, &ranges.list);
        ranges.list.push(Range::new(start, value_bytes));
        self.verb = verb;
        if in_base64 && !decode_key(input, ranges) {
            return say(end + 2, BAD_BASE64, false);
        }
        MemcacheStep::Request { used: end + 2, silent }
    }

    /// Refuses a too large value and deletes the old one, so that no client takes that for the new one.
    fn refuse(
        &mut self,
        input: &[u8],
        line: Line,
        verb: Verb,
        value_bytes: usize,
        silent: bool,
        ranges: &mut Ranges,
    ) -> MemcacheStep {
        let is_key = verb != Verb::Ms || !is_in_base64(input, &ranges.list) || decode_key(input, ranges);
        if !matches!(verb, Verb::Set | Verb::Ms) || !is_key || self.dialect == Dialect::Queues {
            self.state = State::Swallow { bytes: value_bytes + 2 };
            return say(line.next, TOO_LARGE, silent);
        }
        self.state = State::Refuse { value_bytes, silent };
        self.verb = Verb::Delete;
        ranges.list.truncate(2);
        MemcacheStep::Request { used: line.next, silent: true }
    }

    // ---- requests without a value ----

    /// Handles `incr key number [noreply]` and the like.
    fn plain(&mut self, input: &[u8], line: Line, verb: Verb, ranges: &mut Ranges) -> MemcacheStep {
        let list = &mut ranges.list;
        if !(3..=4).contains(&list.len()) {
            return say(line.next, ERROR, false);
        }
        let silent = is_silent(input, list);
        if list[1].length() > KEY_BYTES_MAX {
            return say(line.next, BAD_FORMAT, silent);
        }
        list.truncate(3);
        self.verb = verb;
        MemcacheStep::Request { used: line.next, silent }
    }

    fn delete(&mut self, input: &[u8], line: Line, ranges: &mut Ranges) -> MemcacheStep {
        let list = &mut ranges.list;
        if !(2..=4).contains(&list.len()) {
            return say(line.next, ERROR, false);
        }
        let silent = list.len() > 2 && is_silent(input, list);
        let holds_none = list.get(2).is_some_and(|word| word.of(input) == b"0");
        let is_fine = match list.len() {
            2 => true,
            3 => holds_none || silent,
            _ => holds_none && silent,
        };
        if !is_fine {
            return say(line.next, BAD_DELETE, silent);
        }
        if list[1].length() > KEY_BYTES_MAX {
            return say(line.next, BAD_FORMAT, silent);
        }
        list.truncate(2);
        self.verb = Verb::Delete;
        MemcacheStep::Request { used: line.next, silent }
    }

    /// Handles `flush_all [seconds] [noreply]`
    fn flush_all(&mut self, input: &[u8], line: Line, ranges: &mut Ranges) -> MemcacheStep {
        let list = &mut ranges.list;
        if list.len() > 3 {
            return say(line.next, ERROR, false);
        }
        let silent = list.len() > 1 && is_silent(input, list);
        list.truncate(if list.len() == 2 && silent { 1 } else { 2 });
        if list.get(1).is_some_and(|word| signed(word.of(input)).is_none()) {
            return say(line.next, BAD_EXPTIME, silent);
        }
        self.verb = Verb::FlushAll;
        MemcacheStep::Request { used: line.next, silent }
    }

    /// Handles `mg key flag...` and the like.
    fn meta(&mut self, input: &[u8], line: Line, verb: Verb, ranges: &mut Ranges) -> MemcacheStep {
        let list = &ranges.list;
        if list.len() < 2 {
            return say(line.next, ERROR, false);
        }
        if list[1].length() > KEY_BYTES_MAX {
            return say(line.next, BAD_FORMAT, false);
        }
        if list.len() > META_WORDS_MAX {
            let text = if verb == Verb::Mg { TOO_MANY_FLAGS_MG } else { TOO_MANY_FLAGS };
            return say(line.next, text, false);
        }
        self.verb = verb;
        if !is_in_base64(input, &ranges.list) || decode_key(input, ranges) {
            return MemcacheStep::Request { used: line.next, silent: false };
        }
        // Other verbs than mg and ms report all flag errors with the same message.
        say(line.next, if verb == Verb::Mg { BAD_BASE64 } else { "CLIENT_ERROR invalid or duplicate flag" }, false)
    }

    /// Handles `me key [b]`
    fn meta_debug(&mut self, input: &[u8], line: Line, ranges: &mut Ranges) -> MemcacheStep {
        let list = &mut ranges.list;
        if list.len() < 2 || list[1].length() > KEY_BYTES_MAX {
            return say(line.next, BAD_FORMAT, false);
        }
        list.truncate(if list.get(2).is_some_and(|word| word.of(input) == b"b") { 3 } else { 2 });
        self.verb = Verb::Me;
        if !is_in_base64(input, &ranges.list) || decode_key(input, ranges) {
            MemcacheStep::Request { used: line.next, silent: false }
        } else {
            say(line.next, BAD_FORMAT, false)
        }
    }
}

impl Verb {
    /// All verbs, in order.
    pub const ALL: &'static [Verb] = &[
        Self::Get,
        Self::Gets,
        Self::Gat,
        Self::Gats,
        Self::Set,
        Self::Add,
        Self::Replace,
        Self::Append,
        Self::Prepend,
        Self::Cas,
        Self::Incr,
        Self::Decr,
        Self::Touch,
        Self::Delete,
        Self::FlushAll,
        Self::Stats,
        Self::Mg,
        Self::Ms,
        Self::Md,
        Self::Ma,
        Self::Me,
        Self::Metadump,
        Self::Cachedump,
        Self::Watch,
    ];

    /// Returns memcached's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Gets => "gets",
            Self::Gat => "gat",
            Self::Gats => "gats",
            Self::Set => "set",
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Prepend => "prepend",
            Self::Cas => "cas",
            Self::Incr => "incr",
            Self::Decr => "decr",
            Self::Touch => "touch",
            Self::Delete => "delete",
            Self::FlushAll => "flush_all",
            Self::Stats => "stats",
            Self::Mg => "mg",
            Self::Ms => "ms",
            Self::Md => "md",
            Self::Ma => "ma",
            Self::Me => "me",
            Self::Metadump => "metadump",
            Self::Cachedump => "cachedump",
            Self::Watch => "watch",
        }
    }
}

fn say(used: usize, text: &'static str, silent: bool) -> MemcacheStep {
    if silent { MemcacheStep::Empty { used } } else { MemcacheStep::Say { used, text } }
}

/// Returns the answer to a line with an unknown first word. A key may be called `HTTP/1.1`, so lines with a known word
/// are not checked.
fn unknown(input: &[u8], line: Line) -> MemcacheStep {
    if is_http_line(&input[..line.end]) { MemcacheStep::Http } else { say(line.next, ERROR, false) }
}

fn verbosity(input: &[u8], next: usize, ranges: &Ranges) -> MemcacheStep {
    let list = &ranges.list;
    if !(2..=3).contains(&list.len()) {
        return say(next, ERROR, false);
    }
    let text = if unsigned(list[1].of(input)).is_some() { "OK" } else { BAD_FORMAT };
    say(next, text, is_silent(input, list))
}

/// Returns true if the line starts with a word that allows a long line of keys.
fn is_of_keys(input: &[u8]) -> bool {
    let start = input.iter().take(100).take_while(|byte| **byte == b' ').count();
    [&b"get "[..], b"gets ", b"gat ", b"gats "].iter().any(|name| input[start..].starts_with(name))
}

fn verb_of_keys(name: &[u8]) -> Option<Verb> {
    Some(match name {
        b"get" | b"bget" => Verb::Get,
        b"gets" => Verb::Gets,
        b"gat" => Verb::Gat,
        b"gats" => Verb::Gats,
        _ => return None,
    })
}

/// Returns the word from `at` on, and where the rest begins; `None` if there is none before `end`.
fn word(input: &[u8], at: usize, end: usize) -> Option<(Range, usize)> {
    let start = at + input[at..end].iter().position(|byte| *byte != b' ')?;
    let length = memchr::memchr(b' ', &input[start..end]).unwrap_or(end - start);
    Some((Range::new(start, length), start + length))
}

/// Collects all words before `end`, up to the maximum; any more are dropped.
fn words(input: &[u8], end: usize, list: &mut Vec<Range>) {
    let mut at = 0;
    while list.len() < WORDS_MAX
        && let Some((word, behind)) = word(input, at, end)
    {
        list.push(word);
        at = behind;
    }
}

fn is_silent(input: &[u8], list: &[Range]) -> bool {
    list.last().is_some_and(|word| word.of(input) == b"noreply")
}

/// Parses a value length, if it is possible at all.
fn value_bytes(token: &[u8]) -> Option<usize> {
    signed(token).filter(|bytes| (0..i64::from(i32::MAX) - 2).contains(bytes)).map(|bytes| bytes as usize)
}

/// Returns true if a flag of a meta request says that its key is in base64.
fn is_in_base64(input: &[u8], list: &[Range]) -> bool {
    list[2..].iter().any(|word| word.of(input).first() == Some(&b'b'))
}

/// Decodes the key, the second word. Returns whether it is valid.
fn decode_key(input: &[u8], ranges: &mut Ranges) -> bool {
    let list = std::mem::take(&mut ranges.list);
    ranges.inline = true;
    for (at, range) in list.iter().enumerate() {
        if at != 1 {
            ranges.own_word(range.of(input));
            continue;
        }
        let start = ranges.unquoted.len();
        if !base64::decode(&mut ranges.unquoted, range.of(input)) {
            return false;
        }
        ranges.list.push(Range::new(start, ranges.unquoted.len() - start));
    }
    true
}
