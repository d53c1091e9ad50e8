//! Commands of the memcached port: strings as memcached items, with flags, versions and lifetimes.
//!
//! ```text
//! get k          MC.GET k          |  VALUE k 5 3\r\nabc\r\n     a line and a value
//! set k 5 0 3    MC.SET k 5 0 abc  |  STORED\r\n                 a line
//! mg missing q   MC.MG missing q   |                             no value: no reply
//! ```
//!
//! Commands reply in memcached's words, whatever the protocol: the port only adds line ends. A key of another type is a
//! miss; unconditional stores replace it, like SET.

pub(crate) mod count;
pub(crate) mod dump;
pub(crate) mod flag;
pub(crate) mod flush;
pub(crate) mod get;
pub(crate) mod life;
pub(crate) mod meta;
pub(crate) mod meta_set;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod watch;

use crate::prelude::*;
use base::Ms;
use keyspace::{BINARY_KEY, Extras, FETCHED, Pin, string_of};
use smallvec::SmallVec;
use values::StringValue;
use wire::memcache::encode_base64;

/// The memcached version whose protocol we speak.
pub const MEMCACHED_VERSION: &str = "1.6.18";

const BAD_FORMAT: Failure = Failure::Text(std::borrow::Cow::Borrowed("CLIENT_ERROR bad command line format"));
const BAD_EXPTIME: Failure = Failure::Text(std::borrow::Cow::Borrowed("CLIENT_ERROR invalid exptime argument"));
const NOT_A_NUMBER: Failure =
    Failure::Text(std::borrow::Cow::Borrowed("CLIENT_ERROR cannot increment or decrement non-numeric value"));
const TOO_LARGE: Failure = Failure::Text(std::borrow::Cow::Borrowed("SERVER_ERROR object too large for cache"));

/// A string as an item.
struct CacheItem<'a> {
    text: StringValue<'a>,
    expires_at_ms: Option<Ms>,
    /// Its extras, or the defaults.
    extras: Extras,
    has_extras: bool,
    /// Seconds since its last access.
    idle_s: u32,
    /// Its memory in bytes.
    heap_bytes: usize,
}

impl<'t> CacheItem<'t> {
    /// Converts an entry to an item; `None` if it is not a string.
    fn of(entry: keyspace::Entry<'t>, now: Ms) -> Option<Self> {
        let extras = entry.extras();
        Some(Self {
            text: string_of(entry)?,
            expires_at_ms: entry.expires_at_ms(),
            extras: extras.unwrap_or_default(),
            has_extras: extras.is_some(),
            idle_s: ((now / 1000) as u32).wrapping_sub(entry.touched()) & 0xff_ffff,
            heap_bytes: entry.heap_bytes(),
        })
    }
}

/// Returns the item under `key`, counted as a lookup but not as an access.
fn look<'t>(tx: &'t mut Tx<'_>, key: &[u8]) -> Option<(CacheItem<'t>, keyspace::Entry<'t>)> {
    let now = tx.now();
    let entry = tx.peek(key)?;
    Some((CacheItem::of(entry, now)?, entry))
}

/// Like [`look`], but returns only its extras.
fn extras_of(tx: &mut Tx<'_>, key: &[u8]) -> Option<Extras> {
    look(tx, key).map(|(item, _)| item.extras)
}

/// Records that an item was read.
fn note_fetched(entry: keyspace::Entry<'_>, now: Ms, touches: bool) {
    entry.give_sign(FETCHED);
    if touches {
        entry.touch((now / 1000) as u32 & 0xff_ffff);
    }
}

/// Returns the item's version number, assigning one if it has none. Nothing else changes.
fn versioned(tx: &mut Tx<'_>, key: &[u8], extras: Extras) -> Extras {
    if extras.cas != 0 {
        return extras;
    }
    let extras = Extras { cas: tx.next_cas(key), ..extras };
    tx.put_extras(key, extras);
    extras
}

/// Replies with a line and a value.
fn write_value(reply: &mut dyn Reply, line: &[&[u8]], text: StringValue<'_>, pin: impl FnOnce() -> Pin) {
    reply.array(2);
    write_line(reply, line);
    crate::string::write_string(reply, Some(text), pin);
}

/// Replies with a line made of parts.
fn write_line(reply: &mut dyn Reply, parts: &[&[u8]]) {
    reply.bulk_begin(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| reply.bulk_part(part));
    reply.bulk_end();
}

/// Formats decimal digits.
fn digits(number: u64, buffer: &mut itoa::Buffer) -> &[u8] {
    buffer.format(number).as_bytes()
}

/// Appends ` k` and the key, in base64 if it was given that way.
fn add_key(line: &mut SmallVec<[u8; 64]>, key: &[u8], extras: Extras) {
    line.extend_from_slice(b" k");
    if extras.signs & BINARY_KEY == 0 {
        line.extend_from_slice(key);
    } else {
        let mut text = Vec::new();
        encode_base64(&mut text, key);
        line.extend_from_slice(&text);
        line.extend_from_slice(b" b");
    }
}

/// Parses an unsigned number.
fn number(token: &[u8]) -> Result<u64, Failure> {
    wire::memcache::unsigned(token).ok_or(BAD_FORMAT)
}
