//! The flags of a meta request: one letter each, some followed by a token.

use super::life::Lifetime;
use super::{BAD_FORMAT, add_key};
use crate::prelude::*;
use keyspace::{BINARY_KEY, Extras};
use smallvec::SmallVec;
use wire::memcache::unsigned;

/// All known letters.
const KNOWN: &[u8] = b"bvquIxNTRCEFJDMkstcflhOPL";
/// The maximum length of the opaque token, in bytes, including its letter.
const OPAQUE_BYTES_MAX: usize = 32;

/// The parsed flags of a request. All verbs accept all flags, and use those that apply.
pub(super) struct RequestFlags<'a> {
    /// The flags in order of arrival, which is also the order of the reply.
    flags: SmallVec<[&'a [u8]; 8]>,
    pub(super) binary_key: bool,
    pub(super) value: bool,
    pub(super) quiet: bool,
    pub(super) no_update: bool,
    pub(super) stale: bool,
    /// `x`: the item's value is cleared.
    pub(super) emptied: bool,
    pub(super) mode: Option<u8>,
    pub(super) client_flags: u32,
    /// C: the required version.
    pub(super) compared: Option<u64>,
    /// E: the version number to set.
    pub(super) version: Option<u64>,
    pub(super) delta: u64,
    pub(super) initial: u64,
    /// N: the lifetime of an item created on a miss.
    pub(super) vivified: Option<Lifetime>,
    /// T: the new lifetime of an item.
    pub(super) lifetime: Option<Lifetime>,
    /// R: an item that expires before this should be recached.
    pub(super) recached: Option<Lifetime>,
}

impl<'a> RequestFlags<'a> {
    /// Parses the flags; the error is the first one that stops parsing, else the last one.
    pub(super) fn read(tx: &Tx<'_>, words: impl Iterator<Item = &'a [u8]>) -> Result<Self, Failure> {
        let mut asked = Self {
            flags: SmallVec::new(),
            binary_key: false,
            value: false,
            quiet: false,
            no_update: false,
            stale: false,
            emptied: false,
            mode: None,
            client_flags: 0,
            compared: None,
            version: None,
            delta: 1,
            initial: 0,
            vivified: None,
            lifetime: None,
            recached: None,
        };
        let (mut seen, mut wrong) = (0u128, None);
        for word in words {
            let (&letter, token) = word.split_first().ok_or(INVALID)?;
            if letter >= 127 || seen >> letter & 1 != 0 {
                return Err(Failure::text("CLIENT_ERROR duplicate flag"));
            }
            seen |= 1 << letter;
            if !KNOWN.contains(&letter) {
                return Err(INVALID);
            }
            if let Err(failure) = asked.note(tx, letter, token) {
                wrong = Some(failure);
            }
            asked.flags.push(word);
        }
        if asked.flags.iter().any(|flag| flag[0] == b'O' && flag.len() > OPAQUE_BYTES_MAX) {
            wrong.get_or_insert(Failure::text("CLIENT_ERROR opaque token too long"));
        }
        wrong.map_or(Ok(asked), Err)
    }

    /// Records one flag.
    fn note(&mut self, tx: &Tx<'_>, letter: u8, token: &[u8]) -> Result<(), Failure> {
        const BAD_TOKEN: &str = "CLIENT_ERROR bad token in command line format";
        let lifetime = || Lifetime::read(tx, token).ok_or(Failure::text(BAD_TOKEN));
        let number = |text: &'static str| unsigned(token).ok_or(Failure::text(text));
        match letter {
            b'b' => self.binary_key = true,
            b'v' => self.value = true,
            b'q' => self.quiet = true,
            b'u' => self.no_update = true,
            b'I' => self.stale = true,
            b'x' => self.emptied = true,
            b'N' => self.vivified = Some(lifetime()?),
            b'T' => self.lifetime = Some(lifetime()?),
            b'R' => self.recached = Some(lifetime()?),
            b'C' => self.compared = Some(number(BAD_TOKEN)?),
            b'E' => self.version = Some(number(BAD_TOKEN)?),
            b'F' => self.client_flags = unsigned(token).ok_or(BAD_FORMAT)? as u32,
            b'J' => self.initial = number("CLIENT_ERROR invalid numeric initial value")?,
            b'D' => self.delta = number("CLIENT_ERROR invalid numeric delta value")?,
            b'M' => match token {
                [mode] => self.mode = Some(*mode),
                _ => return Err(Failure::text("CLIENT_ERROR incorrect length for M token")),
            },
            _ => {}
        }
        Ok(())
    }

    /// Iterates over the flags in order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.flags.iter().copied()
    }

    /// Returns true if any of these letters was given.
    pub(super) fn has_any(&self, letters: &[u8]) -> bool {
        self.flags.iter().any(|flag| letters.contains(&flag[0]))
    }

    /// Returns true if `letter` was given, and not before `other`.
    pub(super) fn comes_last(&self, letter: u8, other: u8) -> bool {
        let place = |letter: u8| self.flags.iter().position(|flag| flag[0] == letter);
        place(letter).is_some() && place(letter) > place(other)
    }

    /// Appends the echoed fields: the opaque token, and the key.
    pub(super) fn echo(&self, line: &mut SmallVec<[u8; 64]>, flag: &[u8], key: &[u8]) {
        match flag[0] {
            b'O' => {
                line.push(b' ');
                line.extend_from_slice(flag);
            }
            b'k' => {
                let signs = if self.binary_key { BINARY_KEY } else { 0 };
                add_key(line, key, Extras { signs, ..Extras::default() });
            }
            _ => {}
        }
    }

    /// Returns a code followed by the echoed flags.
    pub(super) fn echoed(&self, code: &[u8], key: &[u8]) -> SmallVec<[u8; 64]> {
        let mut line = SmallVec::from_slice(code);
        self.iter().for_each(|flag| self.echo(&mut line, flag, key));
        line
    }
}

const INVALID: Failure = Failure::Text(std::borrow::Cow::Borrowed("CLIENT_ERROR invalid flag"));
