//! A chunk: neighbouring names, packed behind what all of them begin with.
//!
//! ```text
//! | length, prefix | length, tail | length, tail | ...         "user:1", "user:17", "user:2"  =  | user: | 1 | 17 | 2 |
//! ```
//!
//! Names are in the order of their bytes. A length is a varint, one byte as a rule.

use base::varint;
use std::cmp::Ordering;

/// A chunk that is read. There is at least one name, but in none.
#[derive(Clone, Copy, Default)]
pub(super) struct Chunk<'a> {
    prefix: &'a [u8],
    tails: &'a [u8],
}

impl<'a> Chunk<'a> {
    pub(super) fn of(mut bytes: &'a [u8]) -> Self {
        let prefix = take(&mut bytes);
        Self { prefix, tails: bytes }
    }

    /// What all names begin with.
    pub(super) fn prefix(self) -> &'a [u8] {
        self.prefix
    }

    /// What follows it in each name.
    pub(super) fn tails(self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.tails;
        std::iter::from_fn(move || (!rest.is_empty()).then(|| take(&mut rest)))
    }

    /// How the first name compares to `name`.
    pub(super) fn first_cmp(self, name: &[u8]) -> Ordering {
        let mut rest = self.tails;
        let at = self.prefix.len().min(name.len());
        self.prefix[..].cmp(&name[..at]).then_with(|| take(&mut rest).cmp(&name[at..]))
    }

    /// The first name.
    pub(super) fn first(self) -> Vec<u8> {
        let mut rest = self.tails;
        [self.prefix, take(&mut rest)].concat()
    }
}

/// Appends a chunk of names that are in order, each once, and at least one: `base`, and a tail for each.
pub(super) fn write(base: &[u8], tails: &[&[u8]], out: &mut Vec<u8>) {
    let common_bytes = common_bytes(tails);
    varint::put(out, (base.len() + common_bytes) as u64);
    out.extend_from_slice(base);
    out.extend_from_slice(&tails[0][..common_bytes]);
    tails.iter().for_each(|tail| varint::put_bytes(out, &tail[common_bytes..]));
}

/// With how many bytes all of these, which are in order, begin alike.
pub(super) fn common_bytes(tails: &[&[u8]]) -> usize {
    let (Some(first), Some(last)) = (tails.first(), tails.last()) else { return 0 };
    alike_bytes(first, last)
}

/// With how many bytes the two begin alike.
pub(super) fn alike_bytes(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(left, right)| left == right).count()
}

fn take<'a>(input: &mut &'a [u8]) -> &'a [u8] {
    // One byte nearly always.
    let length = match input.split_first() {
        Some((&length, rest)) if length < 0x80 => {
            *input = rest;
            usize::from(length)
        }
        _ => varint::take(input).expect("a chunk is whole") as usize,
    };
    let (bytes, rest) = input.split_at(length);
    *input = rest;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let long = [b'a'; 300];
        for names in [
            &[&b""[..]][..],
            &[b"", b"a", b"aa"],
            &[b"user:1", b"user:17", b"user:2"],
            &[&long[..200], &long],
            &[b"\0", b"\0\0", b"\xff"],
        ] {
            let mut bytes = Vec::new();
            let base = names.iter().map(|name| alike_bytes(name, names[0])).min().unwrap_or(0) / 2;
            let tails: Vec<&[u8]> = names.iter().map(|name| &name[base..]).collect();
            write(&names[0][..base], &tails, &mut bytes);
            let chunk = Chunk::of(&bytes);
            let read: Vec<Vec<u8>> = chunk.tails().map(|tail| [chunk.prefix(), tail].concat()).collect();
            assert_eq!(read, names);
            assert_eq!(chunk.first(), names[0]);
            for other in [&b""[..], b"a", b"user:", b"user:1", b"user:10", b"b", b"\0", b"\xff\xff", &long] {
                assert_eq!(chunk.first_cmp(other), names[0].cmp(other), "{names:?} {other:?}");
            }
        }
    }
}
