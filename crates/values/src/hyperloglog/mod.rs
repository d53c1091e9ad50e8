//! HyperLogLog in Redis's own representation, which lives in a text and moves between servers as one.
//!
//! ```text
//!   0      4          5        8            16
//!   | HYLL | encoding | unused | cached     | registers                      dense: 16,384 of 6 bits, 12,288 bytes
//!                                count, the                                  sparse: runs, see `sparse`
//!                                lowest byte first; its highest bit: not true any more
//! ```
//!
//! An element's hash chooses a register by its low 14 bits; the register keeps the longest run of zeros, and one, that the
//! bits above began with. How many elements that were is estimated from how many registers hold what.

mod dense;
mod estimate;
mod sparse;

use std::fmt;

/// Bytes before the registers.
pub const HEAD_BYTES: usize = 16;
/// Where the cached count lies.
pub const CACHE_AT: usize = 8;
/// Bytes of a dense one.
pub const DENSE_BYTES: usize = HEAD_BYTES + dense::BYTES;
/// A sparse one is never longer: each byte of it stands for a register or more, or for one half of such a byte.
pub const SPARSE_BYTES_MAX: usize = HEAD_BYTES + 2 * REGISTERS;

const MAGIC: &[u8; 4] = b"HYLL";
const ENCODING_AT: usize = 4;
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
/// Bits of the hash that choose a register.
const INDEX_BITS: u32 = 14;
const REGISTERS: usize = 1 << INDEX_BITS;
/// Bits of the hash that are left.
const RUN_BITS: u32 = 64 - INDEX_BITS;
/// In the last byte of the cached count.
const STALE: u8 = 0x80;

/// How the registers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Each in six bits.
    Dense,
    /// As runs.
    Sparse,
}

/// Runs that do not make up the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

/// What each register holds.
#[derive(Clone)]
pub struct Registers(Box<[u8; REGISTERS]>);

impl Default for Registers {
    fn default() -> Self {
        Self(Box::new([0; REGISTERS]))
    }
}

impl Registers {
    /// The register behind each other.
    pub fn as_slice(&self) -> &[u8] {
        &self.0[..]
    }

    /// Estimates how many elements they have met.
    pub fn count(&self) -> u64 {
        let mut histogram = [0; 64];
        self.0.iter().for_each(|register| histogram[usize::from(*register)] += 1);
        estimate::count(&histogram)
    }

    /// One that holds these.
    pub fn encode(&self, is_dense: bool, sparse_bytes_max: u64) -> HyperLogLog {
        let runs =
            sparse::encode(&self.0).filter(|runs| !is_dense && (HEAD_BYTES + runs.len()) as u64 <= sparse_bytes_max);
        match runs {
            Some(runs) => HyperLogLog::of(SPARSE, &runs),
            None => HyperLogLog::of(DENSE, &dense::encode(&self.0)),
        }
    }
}

/// A register, and what an element asks it to hold at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    index: usize,
    run: u8,
}

impl Mark {
    /// That of an element.
    pub fn of(element: &[u8]) -> Self {
        let hash = estimate::hash(element);
        // One bit beyond the last, so that a run ends.
        let above = hash >> INDEX_BITS | 1 << RUN_BITS;
        Self { index: (hash & (REGISTERS as u64 - 1)) as usize, run: above.trailing_zeros() as u8 + 1 }
    }
}

/// Bytes with the head of a HyperLogLog. Runs of a sparse one are not trusted: whoever reads them finds them corrupt, or
/// not.
#[derive(Clone, PartialEq, Eq)]
pub struct HyperLogLog(Vec<u8>);

impl HyperLogLog {
    /// One that has met nothing.
    pub fn new() -> Self {
        Self::of(SPARSE, &sparse::EMPTY)
    }

    fn of(encoding: u8, registers: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + registers.len());
        bytes.extend_from_slice(MAGIC);
        bytes.push(encoding);
        bytes.resize(HEAD_BYTES, 0);
        bytes.extend_from_slice(registers);
        Self(bytes)
    }

    /// Takes over the unused bytes and the cached count of `other`, as Redis leaves them where it merges into a value.
    pub fn keep_head_of(&mut self, other: &Self) {
        self.0[ENCODING_AT + 1..HEAD_BYTES].copy_from_slice(&other.0[ENCODING_AT + 1..HEAD_BYTES]);
    }

    /// How `bytes`, of which `bytes_count` follow in all, are encoded; `None` if they are no HyperLogLog.
    pub fn encoding_of(bytes: &[u8], bytes_count: usize) -> Option<Encoding> {
        if bytes_count < HEAD_BYTES || !bytes.starts_with(MAGIC) {
            return None;
        }
        match bytes.get(ENCODING_AT) {
            Some(&DENSE) => (bytes_count == DENSE_BYTES).then_some(Encoding::Dense),
            Some(&SPARSE) => Some(Encoding::Sparse),
            _ => None,
        }
    }

    /// Takes bytes; `None` if they are no HyperLogLog.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        Self::encoding_of(&bytes, bytes.len()).map(|_| Self(bytes))
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// How it is encoded.
    pub fn encoding(&self) -> Encoding {
        if self.0[ENCODING_AT] == DENSE { Encoding::Dense } else { Encoding::Sparse }
    }

    fn registers(&self) -> &[u8] {
        &self.0[HEAD_BYTES..]
    }

    /// The count that was noted, if it is still true.
    pub fn cached(&self) -> Option<u64> {
        cached(self.0.first_chunk().expect("it has a head"))
    }

    /// Estimates how many elements it has met.
    ///
    /// # Errors
    /// If it is corrupt.
    pub fn count(&self) -> Result<u64, Corrupt> {
        let mut histogram = [0; 64];
        match self.encoding() {
            Encoding::Dense => dense::for_each(self.registers(), |_, run| histogram[usize::from(run)] += 1),
            Encoding::Sparse => {
                sparse::for_each(self.registers(), |range, run| histogram[usize::from(run)] += range.len())?;
            }
        }
        Ok(estimate::count(&histogram))
    }

    /// Raises `registers` to what it holds.
    ///
    /// # Errors
    /// If it is corrupt; some are raised then.
    pub fn merge_into(&self, registers: &mut Registers) -> Result<(), Corrupt> {
        let mut raise = |index: usize, run: u8| registers.0[index] = registers.0[index].max(run);
        match self.encoding() {
            Encoding::Dense => dense::for_each(self.registers(), raise),
            Encoding::Sparse => sparse::for_each(self.registers(), |range, run| {
                if run > 0 {
                    range.for_each(|index| raise(index, run));
                }
            })?,
        }
        Ok(())
    }

    /// Adds an element; whether a register was raised. A sparse one that would be longer than `sparse_bytes_max`, or has to
    /// hold more than a run can say, turns dense.
    ///
    /// # Errors
    /// If it is corrupt as far as it is looked at.
    pub fn add(&mut self, mark: Mark, sparse_bytes_max: u64) -> Result<bool, Corrupt> {
        if self.encoding() == Encoding::Sparse {
            match sparse::raise(&mut self.0, mark, sparse_bytes_max)? {
                sparse::Raised::Done(raised) => return Ok(raised),
                sparse::Raised::NoRoom => self.make_dense()?,
            }
        }
        Ok(dense::raise(&mut self.0[HEAD_BYTES..], mark))
    }

    /// Notes that the cached count is no longer true.
    pub fn make_stale(&mut self) {
        self.0[HEAD_BYTES - 1] |= STALE;
    }

    /// Writes it dense, the cached count as it was; whether it was sparse.
    ///
    /// # Errors
    /// If it is corrupt.
    pub fn make_dense(&mut self) -> Result<(), Corrupt> {
        if self.encoding() == Encoding::Sparse {
            let mut registers = Registers::default();
            self.merge_into(&mut registers)?;
            self.0.truncate(HEAD_BYTES);
            self.0[ENCODING_AT] = DENSE;
            self.0.extend_from_slice(&dense::encode(&registers.0));
        }
        Ok(())
    }

    /// What each register holds.
    ///
    /// # Errors
    /// If it is corrupt.
    pub fn to_registers(&self) -> Result<Registers, Corrupt> {
        let mut registers = Registers::default();
        self.merge_into(&mut registers)?;
        Ok(registers)
    }

    /// The runs in words, as PFDEBUG DECODE tells them; `None` if it is dense.
    pub fn describe(&self) -> Option<String> {
        (self.encoding() == Encoding::Sparse).then(|| sparse::describe(self.registers()))
    }
}

impl Default for HyperLogLog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HyperLogLog {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "HyperLogLog({:?}, {} bytes)", self.encoding(), self.0.len())
    }
}

/// The count that a head notes, if it is true.
pub fn cached(head: &[u8; HEAD_BYTES]) -> Option<u64> {
    let count = u64::from_le_bytes(head[CACHE_AT..].try_into().expect("eight bytes"));
    (count >> 63 == 0).then_some(count)
}

/// A change of a dense one by one element: where, and the bytes that lie there then. `None` if it holds as much.
pub fn raised_dense(bytes: &[u8], mark: Mark) -> Option<(usize, [u8; 2])> {
    dense::raised(&bytes[HEAD_BYTES..], mark).map(|(at, pair)| (HEAD_BYTES + at, pair))
}
