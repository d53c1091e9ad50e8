//! A chunk: adjacent names, packed with a shared prefix.
//!
//! ```text
//! | length, prefix | word, tail | word, tail | ...             "user:1", "user:17", "user:2"  =  | user: | 1 | 17 | 2 |
//! ```
//!
//! Names are in byte order. A word is a varint of the tail's length and the key's type, usually one byte.

use base::varint;
use std::cmp::Ordering;
use values::ValueType;

/// Bits below the length that hold the type, or none.
pub(super) const KIND_BITS: u32 = 3;

/// Returns the code of a type; 0 for none.
pub(super) fn code_of(kind: Option<ValueType>) -> u64 {
    match kind {
        None => 0,
        // Both have one type name, and a key may change from one to the other.
        Some(ValueType::Queue) => code_of(Some(ValueType::List)),
        Some(kind) => kind as u64 + 1,
    }
}

/// Returns the type whose code is in the low bits of `word`.
pub(super) fn kind_of_code(word: u64) -> Option<ValueType> {
    match word & ((1 << KIND_BITS) - 1) {
        1 => Some(ValueType::String),
        2 => Some(ValueType::List),
        3 => Some(ValueType::Hash),
        4 => Some(ValueType::Set),
        5 => Some(ValueType::Sorted),
        6 => Some(ValueType::Stream),
        7 => Some(ValueType::Tagged),
        _ => None,
    }
}

/// The rest of a name after the prefix, and its key's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameTail<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) kind: ValueType,
}

/// A view of a chunk. It has at least one name, unless it is the default.
#[derive(Clone, Copy, Default)]
pub(super) struct Chunk<'a> {
    prefix: &'a [u8],
    tails: &'a [u8],
}

impl<'a> Chunk<'a> {
    pub(super) fn of(mut bytes: &'a [u8]) -> Self {
        let length = take_word(&mut bytes);
        let (prefix, tails) = bytes.split_at(length as usize);
        Self { prefix, tails }
    }

    /// Returns the prefix of all names.
    pub(super) fn prefix(self) -> &'a [u8] {
        self.prefix
    }

    /// Returns the tail of each name.
    pub(super) fn tails(self) -> impl Iterator<Item = NameTail<'a>> {
        let mut rest = self.tails;
        std::iter::from_fn(move || (!rest.is_empty()).then(|| take(&mut rest)))
    }

    /// Compares the first name to `name`.
    pub(super) fn first_cmp(self, name: &[u8]) -> Ordering {
        let mut rest = self.tails;
        let at = self.prefix.len().min(name.len());
        self.prefix[..].cmp(&name[..at]).then_with(|| take(&mut rest).bytes.cmp(&name[at..]))
    }

    /// Returns the first name.
    pub(super) fn first(self) -> Vec<u8> {
        let mut rest = self.tails;
        [self.prefix, take(&mut rest).bytes].concat()
    }
}

/// Appends a chunk of one or more sorted, distinct names: `base` followed by each tail.
pub(super) fn write(base: &[u8], tails: &[NameTail<'_>], out: &mut Vec<u8>) {
    let common_bytes = common_bytes(tails);
    varint::put(out, (base.len() + common_bytes) as u64);
    out.extend_from_slice(base);
    out.extend_from_slice(&tails[0].bytes[..common_bytes]);
    for tail in tails {
        let bytes = &tail.bytes[common_bytes..];
        varint::put(out, (bytes.len() as u64) << KIND_BITS | code_of(Some(tail.kind)));
        out.extend_from_slice(bytes);
    }
}

/// Returns the length of the common prefix of these sorted tails.
pub(super) fn common_bytes(tails: &[NameTail<'_>]) -> usize {
    let (Some(first), Some(last)) = (tails.first(), tails.last()) else { return 0 };
    alike_bytes(first.bytes, last.bytes)
}

/// Returns the length of the common prefix of two texts.
pub(super) fn alike_bytes(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(left, right)| left == right).count()
}

fn take<'a>(input: &mut &'a [u8]) -> NameTail<'a> {
    let word = take_word(input);
    let (bytes, rest) = input.split_at((word >> KIND_BITS) as usize);
    *input = rest;
    NameTail { bytes, kind: kind_of_code(word).expect("a name that is there is of a kind") }
}

fn take_word(input: &mut &[u8]) -> u64 {
    // Nearly always one byte.
    match input.split_first() {
        Some((&word, rest)) if word < 0x80 => {
            *input = rest;
            u64::from(word)
        }
        _ => varint::take(input).expect("a chunk is whole"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_chunk_reads_back_its_names_and_types() {
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
            let kinds = [
                ValueType::String,
                ValueType::List,
                ValueType::Hash,
                ValueType::Set,
                ValueType::Sorted,
                ValueType::Stream,
                ValueType::Tagged,
            ];
            let tails: Vec<NameTail<'_>> =
                names.iter().zip(kinds).map(|(name, kind)| NameTail { bytes: &name[base..], kind }).collect();
            write(&names[0][..base], &tails, &mut bytes);
            let chunk = Chunk::of(&bytes);
            let read: Vec<Vec<u8>> = chunk.tails().map(|tail| [chunk.prefix(), tail.bytes].concat()).collect();
            assert_eq!(read, names);
            assert!(chunk.tails().map(|tail| tail.kind).eq(kinds.into_iter().take(names.len())));
            assert_eq!(chunk.first(), names[0]);
            for other in [&b""[..], b"a", b"user:", b"user:1", b"user:10", b"b", b"\0", b"\xff\xff", &long] {
                assert_eq!(chunk.first_cmp(other), names[0].cmp(other), "{names:?} {other:?}");
            }
        }
    }
}
