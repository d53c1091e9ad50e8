//! The payload of FUNCTION DUMP: the concatenated sources of libraries.
//!
//! ```text
//! payload   | 245 | source | 245 | source | ... | version : u16 | CRC-64 of all before : u64 |    little-endian
//! ```
//!
//! A source is a string as in any payload: plain, packed, or an integer.

use crate::dump::{VERSION, put_text};
use crate::footer::{self, Checksum, FOOTER_BYTES, summed_bytes};
use crate::lzf::Unpacking;
use crate::number::{Text, take_text};
use crate::{Fault, types};
use thiserror::Error;
use values::string::{DIGITS_MAX, format_int};

/// Why a payload is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LibrariesFault {
    /// A later version, or a wrong checksum.
    #[error("DUMP payload version or checksum are wrong")]
    Footer,
    /// It holds something else.
    #[error("given type is not a function")]
    Kind,
    /// A source is not a valid string.
    #[error("Failed loading library payload")]
    Malformed,
}

/// Returns the payload of libraries, given their sources. O(n).
pub fn dump_libraries<'a>(sources: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut dump = LibrariesDump::default();
    sources.for_each(|source| dump.add(source));
    dump.finish()
}

/// A payload of libraries being built, one library after the other.
#[derive(Default)]
pub struct LibrariesDump {
    payload: Vec<u8>,
    checksum: Checksum,
}

impl LibrariesDump {
    /// Adds a library, given its source. O(its length).
    pub fn add(&mut self, source: &[u8]) {
        let begin = self.payload.len();
        self.payload.push(types::LIBRARY);
        put_text(&mut self.payload, source);
        self.checksum.add(&self.payload[begin..]);
    }

    /// Returns the bytes so far.
    pub fn bytes_count(&self) -> usize {
        self.payload.len()
    }

    /// Returns the complete payload. O(1).
    pub fn finish(self) -> Vec<u8> {
        let Self { mut payload, checksum } = self;
        payload.extend_from_slice(&checksum.footer(VERSION));
        payload
    }
}

/// Returns the sources in a payload; the compiler checks each. O(n).
///
/// # Errors
/// If it is invalid.
pub fn restore_libraries(payload: &[u8]) -> Result<Vec<Vec<u8>>, LibrariesFault> {
    let mut reading = LibrariesReading::new(payload);
    while !reading.check()? {}
    let mut sources = Vec::new();
    while let Some(source) = reading.next_source()? {
        sources.push(source);
    }
    Ok(sources)
}

/// Bytes checksummed per step of [`LibrariesReading::check`]: about 50 µs.
const CHECKED_BYTES: usize = 64 << 10;

/// Reads a payload of libraries in steps: first its checksum, then one library after the other.
pub struct LibrariesReading<'p> {
    payload: &'p [u8],
    /// The checksum of the bytes so far; `None` once verified.
    checksum: Option<Checksum>,
    summed: usize,
    /// The start of the next library, and the end of the last one.
    at: usize,
    end: usize,
}

impl<'p> LibrariesReading<'p> {
    /// Starts to read a payload.
    pub fn new(payload: &'p [u8]) -> Self {
        Self { payload, checksum: Some(Checksum::default()), summed: 0, at: 0, end: 0 }
    }

    /// Checksums some more of the payload. Returns true once it is verified and libraries may be read.
    ///
    /// # Errors
    /// If the footer does not match the bytes before it.
    pub fn check(&mut self) -> Result<bool, LibrariesFault> {
        let Some(mut checksum) = self.checksum.take() else { return Ok(true) };
        let all = summed_bytes(self.payload.len());
        let end = all.min(self.summed + CHECKED_BYTES);
        checksum.add(&self.payload[self.summed..end]);
        self.summed = end;
        if end < all {
            self.checksum = Some(checksum);
            return Ok(false);
        }
        self.end = footer::check(self.payload, checksum).map_err(|_| LibrariesFault::Footer)?;
        debug_assert_eq!(self.end + FOOTER_BYTES, self.payload.len());
        Ok(true)
    }

    /// Returns the source of the next library, if there is one. O(its length).
    ///
    /// # Errors
    /// If anything else is found.
    ///
    /// # Panics
    /// If the checksum has not been verified.
    pub fn next_source(&mut self) -> Result<Option<Vec<u8>>, LibrariesFault> {
        assert!(self.checksum.is_none(), "checked first");
        let body = &self.payload[..self.end];
        if self.at == self.end {
            return Ok(None);
        }
        if body[self.at] != types::LIBRARY {
            return Err(LibrariesFault::Kind);
        }
        self.at += 1;
        source(body, &mut self.at).map(Some).map_err(|_| LibrariesFault::Malformed)
    }
}

fn source(body: &[u8], at: &mut usize) -> Result<Vec<u8>, Fault> {
    Ok(match take_text(body, at)? {
        Text::Plain(range) => body[range].to_vec(),
        Text::Integer(number) => format_int(number, &mut [0; DIGITS_MAX]).to_vec(),
        Text::Packed(range, length) => {
            let mut unpacking = Unpacking::new(range, length)?;
            while !unpacking.step(body, usize::MAX)? {}
            unpacking.into_text()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal;

    #[test]
    fn dumped_libraries_are_restored() {
        let long = b"redis.register_function ".repeat(5_000);
        let sources: [&[u8]; 4] = [b"#!lua name=a\nreturn 1", b"", b"12", &long];
        for count in 0..=sources.len() {
            let payload = dump_libraries(sources[..count].iter().copied());
            assert_eq!(
                restore_libraries(&payload),
                Ok(sources[..count].iter().map(|source| source.to_vec()).collect())
            );
            for cut in 0..payload.len() {
                assert_eq!(restore_libraries(&payload[..cut.min(200)]), Err(LibrariesFault::Footer));
            }
        }
    }

    #[test]
    fn a_long_payload_is_checked_in_steps() {
        let sources: Vec<Vec<u8>> =
            (0..5_000).map(|nth| format!("library {nth} {}", nth * 77_777).into_bytes()).collect();
        let payload = dump_libraries(sources.iter().map(Vec::as_slice));
        let mut reading = LibrariesReading::new(&payload);
        let mut steps = 1;
        while !reading.check().unwrap() {
            steps += 1;
        }
        assert_eq!(steps, payload.len().div_ceil(CHECKED_BYTES));
        assert!(sources.iter().all(|source| reading.next_source().as_ref() == Ok(&Some(source.clone()))));
        assert_eq!(reading.next_source(), Ok(None));
        let mut flipped = payload.clone();
        flipped[1] ^= 1;
        assert_eq!(restore_libraries(&flipped), Err(LibrariesFault::Footer));
    }

    /// Written by `redis-server` 7.0.15: two libraries, one of them compressed.
    #[test]
    fn a_payload_written_by_redis_is_restored() {
        let payload = b"\xf5\x40\x48#!lua name=b\nredis.register_function('g',function(k,a) return {k,a} end)\
            \xf5\xc3\x40\xc7\x40\xea\x1f#!lua name=a\nredis.register_func\x04tion{\xc0\x08\x00_`'\x0d'h', callback=\xc0\x1b\
            \x0b(k,a) return \x06@H@#\x19('set','x',1) end, descrip@Y\x09='some \"d\" R\x10flags={'no-writes 6 e\x05ow-oom\
            \xe0\x00\x0b\x04stale \x0d %\x02clu@\xa7 \x0c\x80&\x0dcross-slot-key@> $\xa0J\x01}}\
            \x0a\x00\xa3\xd5\xc1\xb3\x91\xd1\x97\x05";
        let sources = restore_libraries(payload).unwrap();
        let texts: Vec<_> = sources.iter().map(|source| String::from_utf8_lossy(source)).collect();
        assert_eq!(texts[0], "#!lua name=b\nredis.register_function('g',function(k,a) return {k,a} end)");
        assert!(texts[1].ends_with("'no-cluster','allow-cross-slot-keys','no-writes'}}"), "{}", texts[1]);
    }

    #[test]
    fn malformed_library_payloads_are_rejected() {
        for (body, fault) in [
            (&b"\x00\x01a"[..], LibrariesFault::Kind),
            (b"\xf5", LibrariesFault::Malformed),
            (b"\xf5\x05abc", LibrariesFault::Malformed),
            (b"\xf5\xc3\x03\x7fabc", LibrariesFault::Malformed),
            (b"\xf5\xc4", LibrariesFault::Malformed),
            (b"\xf5\x01a\xf6\x01a", LibrariesFault::Kind),
        ] {
            assert_eq!(restore_libraries(&seal(body.to_vec())), Err(fault), "{body:?}");
        }
        assert_eq!(restore_libraries(b""), Err(LibrariesFault::Footer));
    }
}
