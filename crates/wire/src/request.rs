//! The arguments of a request: slices of the bytes they arrived in, or a copy that outlives them.
//!
//! ```text
//!   input   *3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n
//!                      ^8,3         ^17,1      ^24,1
//!   ranges  [8,3] [17,1] [24,1]      8 bytes an argument
//! ```
//!
//! An inline request may hold quoted words, whose value does not appear in the input; its arguments are stored one
//! after another in [`Ranges`] itself, and `Ranges::args` resolves ranges against the right bytes.

/// The position of an argument, in bytes. A request is shorter than 4 GiB (`resp::REQUEST_BYTES_MAX`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    start: u32,
    length: u32,
}

const _: () = assert!(size_of::<Range>() == 8);

impl Range {
    /// # Panics
    /// If it ends beyond 4 GiB: requests are bounded on arrival.
    pub(crate) fn new(start: usize, length: usize) -> Range {
        assert!(start.saturating_add(length) <= u32::MAX as usize, "a request of 4 GiB or more");
        Range { start: start as u32, length: length as u32 }
    }

    /// Returns its length.
    pub(crate) fn length(self) -> usize {
        self.length as usize
    }

    /// Returns its end.
    pub(crate) fn end(self) -> usize {
        (self.start + self.length) as usize
    }

    /// Returns its bytes.
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..self.end()]
    }
}

/// The arguments of one request: a view that is cheap to copy.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range],
}

impl<'a> Args<'a> {
    /// Returns the number of arguments, including the name.
    #[inline]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns true if there are none: never for a decoded request, but possibly for an [`Args::from`].
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the argument at `index`.
    ///
    /// # Panics
    /// If there is none: a handler reads only what its arity guarantees.
    #[inline]
    pub fn get(&self, index: usize) -> &'a [u8] {
        let range = self.ranges[index];
        &self.bytes[range.start as usize..][..range.length as usize]
    }

    /// Returns the first argument, the command's name.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        self.get(0)
    }

    /// Returns the arguments from `index` on, or none if there are not that many.
    #[inline]
    pub fn from(&self, index: usize) -> Args<'a> {
        Args { bytes: self.bytes, ranges: &self.ranges[index.min(self.ranges.len())..] }
    }

    /// Returns the arguments from `start` to before `end`.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn slice(&self, start: usize, end: usize) -> Args<'a> {
        Args { bytes: self.bytes, ranges: &self.ranges[start..end] }
    }

    /// Iterates over all arguments.
    pub fn iter(&self) -> ArgsIter<'a> {
        ArgsIter { args: *self }
    }

    /// Returns the total bytes of all arguments.
    pub fn bytes_total(&self) -> usize {
        self.ranges.iter().map(|range| range.length as usize).sum()
    }

    /// Returns a copy that outlives the input.
    pub fn to_owned(&self) -> OwnedRequest {
        let mut copying = self.copying();
        while !copying.step(usize::MAX) {}
        copying.finish()
    }

    /// Starts such a copy, to be made in steps.
    pub fn copying(&self) -> Copying<'a> {
        let ends = self.ranges.first().zip(self.ranges.last());
        // Arguments are in order: one copy including the bytes between them is much faster than one copy each.
        let bytes = ends
            .map_or(&[][..], |(first, last)| &self.bytes[first.start as usize..(last.start + last.length) as usize]);
        let start = ends.map_or(0, |(first, _)| first.start);
        let (made, moved) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(self.ranges.len()));
        Copying { bytes, ranges: self.ranges, start, made, moved }
    }
}

/// A copy of a request in progress, since a very long one takes a while.
pub struct Copying<'a> {
    /// The bytes left to copy.
    bytes: &'a [u8],
    ranges: &'a [Range],
    /// The position of the first argument.
    start: u32,
    made: Vec<u8>,
    moved: Vec<Range>,
}

impl Copying<'_> {
    /// Copies about `bytes` more. Returns true when done.
    pub fn step(&mut self, bytes: usize) -> bool {
        let (step, rest) = self.bytes.split_at(bytes.min(self.bytes.len()));
        let (ranges, ranges_rest) = self.ranges.split_at((bytes / size_of::<Range>()).min(self.ranges.len()));
        self.made.extend_from_slice(step);
        let start = self.start;
        self.moved.extend(ranges.iter().map(|range| Range { start: range.start - start, length: range.length }));
        (self.bytes, self.ranges) = (rest, ranges_rest);
        rest.is_empty() && ranges_rest.is_empty()
    }

    /// Returns the copy.
    ///
    /// # Panics
    /// If it is not complete.
    pub fn finish(self) -> OwnedRequest {
        assert!(self.bytes.is_empty() && self.ranges.is_empty());
        OwnedRequest { bytes: self.made.into(), ranges: self.moved.into() }
    }
}

impl<'a> IntoIterator for Args<'a> {
    type Item = &'a [u8];
    type IntoIter = ArgsIter<'a>;

    fn into_iter(self) -> ArgsIter<'a> {
        self.iter()
    }
}

impl PartialEq for Args<'_> {
    fn eq(&self, other: &Args<'_>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Args<'_> {}

impl std::fmt::Debug for Args<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|item| item.escape_ascii().to_string())).finish()
    }
}

/// Iterates over the arguments.
#[derive(Clone)]
pub struct ArgsIter<'a> {
    args: Args<'a>,
}

impl<'a> Iterator for ArgsIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.args.ranges.split_first()?;
        self.args.ranges = rest;
        Some(&self.args.bytes[first.start as usize..][..first.length as usize])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.args.len(), Some(self.args.len()))
    }
}

impl ExactSizeIterator for ArgsIter<'_> {}

/// Capacity for more ranges than this is freed after the request that needed it.
const RANGES_KEPT_MAX: usize = 8 << 10;

/// The positions of the arguments of the current request. One is enough for a thread: decoders keep the state of a
/// half-received request themselves.
#[derive(Default)]
pub struct Ranges {
    pub(crate) list: Vec<Range>,
    pub(crate) unquoted: Vec<u8>,
    pub(crate) inline: bool,
}

impl Ranges {
    /// Creates an empty one, without allocating.
    pub fn new() -> Ranges {
        Ranges::default()
    }

    /// Returns the arguments, given the input of the decoder step that returned `Request`.
    #[inline]
    pub fn args<'a>(&'a self, input: &'a [u8]) -> Args<'a> {
        Args { bytes: if self.inline { &self.unquoted } else { input }, ranges: &self.list }
    }

    /// Takes the ranges for a request that outlives this step: a few are copied, very many moved.
    pub fn take(&mut self) -> Ranges {
        if self.list.len() > RANGES_KEPT_MAX {
            return std::mem::take(self);
        }
        Ranges { list: self.list.as_slice().into(), unquoted: self.unquoted.as_slice().into(), inline: self.inline }
    }

    /// Adds an argument by copying it; all arguments must then be copied.
    pub(crate) fn own_word(&mut self, word: &[u8]) {
        self.list.push(Range::new(self.unquoted.len(), word.len()));
        self.unquoted.extend_from_slice(word);
    }

    /// Replaces the arguments by the given ones.
    pub fn put<T: AsRef<[u8]>>(&mut self, words: &[T]) {
        self.clear();
        self.inline = true;
        words.iter().for_each(|word| self.own_word(word.as_ref()));
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        if self.list.capacity() > RANGES_KEPT_MAX {
            self.list.shrink_to(RANGES_KEPT_MAX);
        }
        self.unquoted.clear();
        self.inline = false;
    }
}

/// A request that owns its bytes, for `MULTI` queues, blocked clients and tests.
#[derive(Clone)]
pub struct OwnedRequest {
    bytes: Box<[u8]>,
    ranges: Box<[Range]>,
}

impl OwnedRequest {
    /// Creates a request of these arguments.
    pub fn of<T: AsRef<[u8]>>(arguments: &[T]) -> OwnedRequest {
        let bytes_total = arguments.iter().map(|item| item.as_ref().len()).sum();
        OwnedRequest::of_parts(arguments.iter().map(AsRef::as_ref), arguments.len(), bytes_total)
    }

    /// Returns a view of the arguments.
    pub fn args(&self) -> Args<'_> {
        Args { bytes: &self.bytes, ranges: &self.ranges }
    }

    /// Returns its heap memory in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.ranges)
    }

    fn of_parts<'a>(arguments: impl Iterator<Item = &'a [u8]>, count: usize, bytes_total: usize) -> OwnedRequest {
        let mut bytes = Vec::with_capacity(bytes_total);
        let mut ranges = Vec::with_capacity(count);
        for argument in arguments {
            ranges.push(Range::new(bytes.len(), argument.len()));
            bytes.extend_from_slice(argument);
        }
        OwnedRequest { bytes: bytes.into(), ranges: ranges.into() }
    }
}

/// A subset of a request's arguments as a request of its own: positions only, without copying bytes.
#[derive(Default)]
pub struct Selection {
    ranges: Vec<Range>,
}

impl Selection {
    /// Removes all arguments, but keeps the memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Adds the argument of `args` at `index`. O(1).
    ///
    /// # Panics
    /// If there is none.
    pub fn push(&mut self, args: &Args<'_>, index: usize) {
        self.ranges.push(args.ranges[index]);
    }

    /// Returns the number of arguments added.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns true if none has been added.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns a view of them, given the request that they were added from.
    pub fn args<'a>(&'a self, of: &Args<'a>) -> Args<'a> {
        Args { bytes: of.bytes, ranges: &self.ranges }
    }
}

/// A request built word by word in reused memory.
#[derive(Default)]
pub struct Words {
    bytes: Vec<u8>,
    ranges: Vec<Range>,
}

impl Words {
    /// Creates an empty one with capacity for this many words and bytes.
    pub fn with_capacity(words: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ranges: Vec::with_capacity(words) }
    }

    /// Adds a word.
    #[inline]
    pub fn push(&mut self, word: &[u8]) {
        self.ranges.push(Range::new(self.bytes.len(), word.len()));
        self.bytes.extend_from_slice(word);
    }

    /// Returns a view of the words.
    pub fn args(&self) -> Args<'_> {
        Args { bytes: &self.bytes, ranges: &self.ranges }
    }

    /// Removes all words, and frees memory beyond what a usual request needs.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(WORDS_KEPT_BYTES_MAX);
        self.ranges.clear();
        self.ranges.shrink_to(RANGES_KEPT_MAX);
    }
}

/// Capacity for longer requests is not kept, in bytes.
const WORDS_KEPT_BYTES_MAX: usize = 64 << 10;

impl PartialEq for OwnedRequest {
    fn eq(&self, other: &OwnedRequest) -> bool {
        self.args() == other.args()
    }
}

impl Eq for OwnedRequest {}

impl std::fmt::Debug for OwnedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.args().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_below_4_gib() {
        assert_eq!(Range::new(u32::MAX as usize - 7, 7).end(), u32::MAX as usize);
        for (start, length) in [(u32::MAX as usize, 1), (1, u32::MAX as usize), (usize::MAX, 2)] {
            assert!(std::panic::catch_unwind(|| Range::new(start, length)).is_err(), "{start} {length}");
        }
    }
}
