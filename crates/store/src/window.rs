//! Reads a file from front to back in pieces, in constant memory.

use base::disk::DiskFile;
use std::io;

const READ_BYTES: usize = 256 << 10;

/// The part of a file in memory.
pub(crate) struct Window<'a> {
    file: &'a dyn DiskFile,
    file_bytes: u64,
    begin: u64,
    buffer: Vec<u8>,
}

impl<'a> Window<'a> {
    pub(crate) fn new(file: &'a dyn DiskFile) -> io::Result<Self> {
        Ok(Self { file, file_bytes: file.bytes()?, begin: 0, buffer: Vec::new() })
    }

    /// Returns the bytes of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Returns `bytes` bytes from `offset` on; fewer at the end of the file.
    pub(crate) fn at(&mut self, offset: u64, bytes: u64) -> io::Result<&[u8]> {
        let end = offset.saturating_add(bytes).min(self.file_bytes);
        let is_here = offset >= self.begin && end <= self.begin + self.buffer.len() as u64;
        if !is_here && offset < end {
            self.fill(offset, end)?;
        }
        // Empty at the end of the file, or if it was truncated while being read.
        let from = offset.saturating_sub(self.begin) as usize;
        let rest = if offset < self.begin { &[] } else { self.buffer.get(from..).unwrap_or_default() };
        Ok(&rest[..rest.len().min(end.saturating_sub(offset) as usize)])
    }

    fn fill(&mut self, offset: u64, end: u64) -> io::Result<()> {
        let wanted = (end - offset).max(READ_BYTES as u64).min(self.file_bytes - offset);
        self.begin = offset;
        if self.buffer.len() < wanted as usize || self.buffer.len() > 2 * READ_BYTES.max(wanted as usize) {
            self.buffer = vec![0; wanted as usize];
        }
        self.buffer.truncate(wanted as usize);
        match self.file.read_at(&mut self.buffer, offset) {
            Ok(count) => self.buffer.truncate(count),
            Err(error) => {
                self.buffer.clear();
                return Err(error);
            }
        }
        Ok(())
    }
}
