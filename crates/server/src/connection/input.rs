//! What a connection has received and not run yet.
//!
//! ```text
//! little is missing   | rest | read here .......... |      the worker's scratch, lent for one turn
//! much is missing     | rest | read here, as much as the request still lacks |      the connection's own
//! ```
//!
//! So an idle connection holds no memory, a pipeline is read in large pieces wherever it is cut, and a value of
//! 512 MiB is received in one buffer of its size.

/// A request that lacks so much is received in a buffer of its own, in bytes.
const OWN_BYTES_MIN: usize = 4 << 10;
/// Least room for one read into such a buffer, in bytes.
const OWN_READ_BYTES_MIN: usize = 64 << 10;

/// Bytes received and not run.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// Bytes of `bytes` that are done with.
    used: usize,
    /// With so many bytes in all another turn can get further.
    at_least: usize,
}

impl Input {
    /// What has not been run.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.used..]
    }

    /// Whether there is something to run.
    pub(super) fn is_due(&self) -> bool {
        self.rest().len() >= self.at_least.max(1)
    }

    /// Whether what comes next is to be read by [`Input::room`].
    pub(super) fn is_own(&self) -> bool {
        self.at_least >= OWN_BYTES_MIN
    }

    /// A buffer with room for what is missing, the bytes received before what is free.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn room(&mut self) -> Result<&mut Vec<u8>, std::collections::TryReserveError> {
        self.bytes.drain(..std::mem::take(&mut self.used));
        let missing = self.at_least.saturating_sub(self.bytes.len());
        if missing > OWN_READ_BYTES_MIN {
            self.bytes.try_reserve_exact(missing)?;
        } else if self.bytes.capacity() - self.bytes.len() < missing.max(1) {
            self.bytes.try_reserve(OWN_READ_BYTES_MIN)?;
        }
        Ok(&mut self.bytes)
    }

    /// Notes a turn over these bytes, after which `at_least` are wanted.
    pub(super) fn advance(&mut self, used: usize, at_least: usize) {
        self.used += used;
        self.at_least = at_least;
        let rest_bytes = self.bytes.len() - self.used;
        if rest_bytes == 0 {
            (self.bytes, self.used) = (Vec::new(), 0);
        } else if rest_bytes < OWN_BYTES_MIN && !self.is_own() && self.used > 0 {
            (self.bytes, self.used) = (self.rest().to_vec(), 0);
        }
    }

    /// Keeps `rest` in the place of all before, after a turn over bytes that are not its own.
    pub(super) fn replace(&mut self, rest: &[u8], at_least: usize) {
        self.bytes.clear();
        self.bytes.extend_from_slice(rest);
        self.used = 0;
        self.at_least = at_least;
        if rest.is_empty() && self.bytes.capacity() > 0 {
            self.bytes = Vec::new();
        }
    }

    /// Adds bytes that are not to be run yet.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// How many bytes wait, or must be held before the next turn, whichever is more.
    pub(super) fn bytes_wanted(&self) -> usize {
        self.rest().len().max(self.at_least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_held_when_all_is_run() {
        let mut input = Input::default();
        assert!(!input.is_due());
        input.replace(b"PING\r\nPI", 1);
        assert!(input.is_due());
        input.advance(6, 3);
        assert_eq!((input.rest(), input.is_due(), input.is_own()), (&b"PI"[..], false, false));
        input.append(b"NG\r\n");
        assert!(input.is_due());
        input.advance(6, 1);
        assert_eq!((input.rest().len(), input.bytes.capacity()), (0, 0));
    }

    #[test]
    fn a_large_request_gets_one_buffer_of_its_size() {
        let mut input = Input::default();
        input.replace(b"*1\r\n$1000000\r\n", 1_000_016);
        assert!(input.is_own() && !input.is_due());
        let room = input.room().unwrap();
        assert_eq!((room.len(), room.capacity()), (14, 1_000_016));
        room.extend_from_slice(&[b'x'; 1000]);
        assert_eq!(input.room().unwrap().capacity(), 1_000_016, "no second buffer");
        input.append(&vec![b'x'; 999_002]);
        assert!(input.is_due());
        input.advance(1_000_016, 1);
        assert_eq!(input.bytes.capacity(), 0);
    }

    #[test]
    fn many_small_arguments_are_read_in_large_pieces() {
        let mut input = Input::default();
        input.replace(&[b'x'; 5000], 5001);
        let room = input.room().unwrap();
        assert!(room.capacity() - room.len() >= OWN_READ_BYTES_MIN);
    }
}
