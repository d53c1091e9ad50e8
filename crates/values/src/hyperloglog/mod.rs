//! HyperLogLog in Redis's own representation, which is stored in a string and can move between servers as one.
//!
//! ```text
//!   0      4          5        8            16
//!   | HYLL | encoding | unused | cached     | registers                      dense: 16,384 of 6 bits, 12,288 bytes
//!                                count, the                                  sparse: runs, see `sparse`
//!                                lowest byte first; its highest bit: stale
//! ```
//!
//! An element's hash selects a register by its low 14 bits; the register keeps the maximum length of the zero run, plus
//! one, that starts the bits above. The number of elements is estimated from how many registers hold each value.

mod dense;
mod estimate;
mod sparse;

use std::fmt;

/// Bytes before the registers.
pub const HEAD_BYTES: usize = 16;
/// The offset of the cached count.
pub const CACHE_AT: usize = 8;
/// The length of a dense HyperLogLog, in bytes.
pub const DENSE_BYTES: usize = HEAD_BYTES + dense::BYTES;
/// The maximum length of a sparse one, in bytes: each byte has at least one register, or is half of a two-byte run.
pub const SPARSE_BYTES_MAX: usize = HEAD_BYTES + 2 * REGISTERS;

const MAGIC: &[u8; 4] = b"HYLL";
const ENCODING_AT: usize = 4;
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
/// Hash bits that select a register.
const INDEX_BITS: u32 = 14;
const REGISTERS: usize = 1 << INDEX_BITS;
/// The remaining hash bits.
const RUN_BITS: u32 = 64 - INDEX_BITS;
/// The stale flag, in the last byte of the cached count.
const STALE: u8 = 0x80;

/// The register encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Six bits per register.
    Dense,
    /// Runs.
    Sparse,
}

/// The runs do not add up to the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

/// The values of all registers.
#[derive(Clone)]
pub struct Registers(Box<[u8; REGISTERS]>);

impl Default for Registers {
    fn default() -> Self {
        Self(Box::new([0; REGISTERS]))
    }
}

impl Registers {
    /// Returns the values of the registers in order.
    pub fn as_slice(&self) -> &[u8] {
        &self.0[..]
    }

    /// Estimates the number of elements.
    pub fn count(&self) -> u64 {
        let mut histogram = [0; 64];
        self.0.iter().for_each(|register| histogram[usize::from(*register)] += 1);
        estimate::count(&histogram)
    }

    /// Encodes these registers.
    pub fn encode(&self, is_dense: bool, sparse_bytes_max: u64) -> HyperLogLog {
        let runs =
            sparse::encode(&self.0).filter(|runs| !is_dense && (HEAD_BYTES + runs.len()) as u64 <= sparse_bytes_max);
        match runs {
            Some(runs) => HyperLogLog::of(SPARSE, &runs),
            None => HyperLogLog::of(DENSE, &dense::encode(&self.0)),
        }
    }
}

/// A register, and the minimum value an element requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    index: usize,
    run: u8,
}

impl Mark {
    /// Returns the mark of an element.
    pub fn of(element: &[u8]) -> Self {
        let hash = estimate::hash(element);
        // A set bit after the last one ends any run.
        let above = hash >> INDEX_BITS | 1 << RUN_BITS;
        Self { index: (hash & (REGISTERS as u64 - 1)) as usize, run: above.trailing_zeros() as u8 + 1 }
    }
}

/// Bytes with the header of a HyperLogLog. Runs of a sparse one are unchecked: reading them may reveal corruption.
#[derive(Clone, PartialEq, Eq)]
pub struct HyperLogLog(Vec<u8>);

impl HyperLogLog {
    /// Creates an empty one.
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

    /// Copies the unused bytes and the cached count of `other`, which Redis leaves unchanged when it merges into a
    /// value.
    pub fn keep_head_of(&mut self, other: &Self) {
        self.0[ENCODING_AT + 1..HEAD_BYTES].copy_from_slice(&other.0[ENCODING_AT + 1..HEAD_BYTES]);
    }

    /// Returns the encoding of a value of `bytes_count` bytes that starts with `bytes`; `None` if it is no HyperLogLog.
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

    /// Wraps bytes; `None` if they are no HyperLogLog.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        Self::encoding_of(&bytes, bytes.len()).map(|_| Self(bytes))
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns its encoding.
    pub fn encoding(&self) -> Encoding {
        if self.0[ENCODING_AT] == DENSE { Encoding::Dense } else { Encoding::Sparse }
    }

    fn registers(&self) -> &[u8] {
        &self.0[HEAD_BYTES..]
    }

    /// Returns the cached count, if still valid.
    pub fn cached(&self) -> Option<u64> {
        cached(self.0.first_chunk().expect("it has a head"))
    }

    /// Estimates the number of elements.
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

    /// Raises `registers` to its values.
    ///
    /// # Errors
    /// If it is corrupt; some registers may have been raised.
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

    /// Adds an element. Returns whether a register was raised. A sparse one becomes dense if it would be longer than
    /// `sparse_bytes_max`, or has a value too large for a run.
    ///
    /// # Errors
    /// If it is corrupt in the part it reads.
    pub fn add(&mut self, mark: Mark, sparse_bytes_max: u64) -> Result<bool, Corrupt> {
        if self.encoding() == Encoding::Sparse {
            match sparse::raise(&mut self.0, mark, sparse_bytes_max)? {
                sparse::Raised::Done(raised) => return Ok(raised),
                sparse::Raised::NoRoom => self.make_dense()?,
            }
        }
        Ok(dense::raise(&mut self.0[HEAD_BYTES..], mark))
    }

    /// Marks the cached count as stale.
    pub fn make_stale(&mut self) {
        self.0[HEAD_BYTES - 1] |= STALE;
    }

    /// Converts it to dense, keeping the cached count. Returns whether it was sparse.
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

    /// Returns the values of all registers.
    ///
    /// # Errors
    /// If it is corrupt.
    pub fn to_registers(&self) -> Result<Registers, Corrupt> {
        let mut registers = Registers::default();
        self.merge_into(&mut registers)?;
        Ok(registers)
    }

    /// Describes the runs as PFDEBUG DECODE does; `None` if it is dense.
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

/// Returns the cached count of a header, if valid.
pub fn cached(head: &[u8; HEAD_BYTES]) -> Option<u64> {
    let count = u64::from_le_bytes(head[CACHE_AT..].try_into().expect("eight bytes"));
    (count >> 63 == 0).then_some(count)
}

/// Returns the change that one element makes to a dense one: the offset, and the new bytes there. `None` if the
/// register is not lower.
pub fn raised_dense(bytes: &[u8], mark: Mark) -> Option<(usize, [u8; 2])> {
    dense::raised(&bytes[HEAD_BYTES..], mark).map(|(at, pair)| (HEAD_BYTES + at, pair))
}
