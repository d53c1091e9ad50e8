//! The input of a connection that was received but not run yet.
//!
//! ```text
//! little is missing   | rest | read here .......... |      the worker's scratch, lent for one turn
//! much is missing     | rest | read here, as much as the request still lacks |      the connection's own
//! ```
//!
//! So an idle connection holds no memory, a pipeline is read in large pieces wherever it is cut, and a value of 512 MiB
//! is received in one buffer of its size.
//!
//! A buffer that is too small is moved to a larger one in steps, between which others have their turn:
//!
//! ```text
//! bytes    | done with | moved | to be moved |
//! larger               | moved | free ................ |
//! ```

/// Missing bytes from which a request is received in a buffer of its own.
const OWN_BYTES_MIN: usize = 4 << 10;
/// Minimum room for one read into such a buffer, in bytes.
const OWN_READ_BYTES_MIN: usize = 64 << 10;
/// Received bytes of a request from which on it is given a buffer of its size at once, and the maximum of that size.
const LARGE_REST_BYTES: usize = 16 << 10;
const OWN_REQUEST_BYTES_MAX: usize = 256 << 10;
/// Bytes moved per step: some 3 µs, and 8 pages that may be fresh.
const MOVE_BYTES_MAX: usize = 32 << 10;

/// Bytes received and not yet run.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// Consumed bytes of `bytes`.
    used: usize,
    /// The buffer to which the rest of `bytes` is being moved; otherwise without memory.
    larger: Vec<u8>,
    /// Total bytes at which another turn can make progress.
    at_least: usize,
}

impl Input {
    /// Returns the bytes not yet run.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.used..]
    }

    /// Returns true if there is something to run.
    pub(super) fn is_due(&self) -> bool {
        self.rest().len() >= self.at_least.max(1)
    }

    /// Returns true if the next bytes are to be read by [`Input::room`].
    pub(super) fn is_own(&self) -> bool {
        self.at_least >= OWN_BYTES_MIN
    }

    fn missing_bytes(&self) -> usize {
        self.at_least.saturating_sub(self.rest().len()).max(1)
    }

    fn has_room(&self) -> bool {
        self.bytes.capacity() - self.bytes.len() >= self.missing_bytes()
    }

    /// Returns the size of the buffer that [`Input::room`] would allocate, in bytes.
    pub(super) fn lacking_bytes(&self) -> usize {
        if self.has_room() || self.larger.capacity() > 0 {
            return 0;
        }
        room_bytes(self.rest().len(), self.missing_bytes())
    }

    /// Returns a buffer with room for the missing bytes, after those already received. `None`: it is not ready yet;
    /// call this again once others have had their turn.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn room(&mut self) -> Result<Option<&mut Vec<u8>>, std::collections::TryReserveError> {
        if self.has_room() {
            return Ok(Some(&mut self.bytes));
        }
        self.larger.try_reserve_exact(self.lacking_bytes())?;
        let from = self.used + self.larger.len();
        let to = self.bytes.len().min(from + MOVE_BYTES_MAX);
        self.larger.extend_from_slice(&self.bytes[from..to]);
        if to < self.bytes.len() {
            return Ok(None);
        }
        (self.bytes, self.used) = (std::mem::take(&mut self.larger), 0);
        Ok(Some(&mut self.bytes))
    }

    /// Records a turn over these bytes, after which `at_least` are needed.
    pub(super) fn advance(&mut self, used: usize, at_least: usize) {
        self.larger = Vec::new();
        self.used += used;
        self.at_least = at_least;
        let rest_bytes = self.bytes.len() - self.used;
        if rest_bytes == 0 {
            (self.bytes, self.used) = (Vec::new(), 0);
        } else if rest_bytes < OWN_BYTES_MIN && !self.is_own() && self.used > 0 {
            (self.bytes, self.used) = (self.rest().to_vec(), 0);
        }
    }

    /// Replaces everything by `rest`, after a turn over bytes that are not its own. If `is_granted` agrees to as many
    /// bytes, there is room for what is missing, so that a large rest is not moved once more.
    pub(super) fn replace(&mut self, rest: &[u8], at_least: usize, is_granted: impl FnOnce(u64) -> bool) {
        self.larger = Vec::new();
        self.bytes.clear();
        (self.used, self.at_least) = (0, at_least);
        let (rest_bytes, is_partial) = (rest.len(), rest.len() < at_least);
        if is_partial && rest_bytes >= LARGE_REST_BYTES && at_least <= OWN_REQUEST_BYTES_MAX {
            let room_bytes = room_bytes(rest_bytes, at_least - rest_bytes);
            if self.bytes.capacity() < room_bytes && is_granted(room_bytes as u64) {
                self.bytes = Vec::with_capacity(room_bytes);
            }
        }
        self.bytes.extend_from_slice(rest);
        if rest.is_empty() && self.bytes.capacity() > 0 {
            self.bytes = Vec::new();
        }
    }

    /// Adds bytes that must not be run yet.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns how many bytes wait, or must be held before the next turn, whichever is more.
    pub(super) fn bytes_wanted(&self) -> usize {
        self.rest().len().max(self.at_least)
    }
}

/// Returns the size of the buffer for `rest_bytes` of a request that lacks `missing_bytes`.
fn room_bytes(rest_bytes: usize, missing_bytes: usize) -> usize {
    rest_bytes + if missing_bytes > OWN_READ_BYTES_MIN { missing_bytes } else { rest_bytes.max(OWN_READ_BYTES_MIN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_is_freed_once_all_requests_have_run() {
        let mut input = Input::default();
        assert!(!input.is_due());
        input.replace(b"PING\r\nPI", 1, |_| true);
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
        input.replace(b"*1\r\n$1000000\r\n", 1_000_016, |_| true);
        assert!(input.is_own() && !input.is_due());
        assert_eq!(input.lacking_bytes(), 1_000_016);
        let room = input.room().unwrap().unwrap();
        assert_eq!((room.len(), room.capacity()), (14, 1_000_016));
        room.extend_from_slice(&[b'x'; 1000]);
        assert_eq!(input.lacking_bytes(), 0);
        assert_eq!(input.room().unwrap().unwrap().capacity(), 1_000_016, "no second buffer");
        input.append(&vec![b'x'; 999_002]);
        assert!(input.is_due());
        input.advance(1_000_016, 1);
        assert_eq!(input.bytes.capacity(), 0);
    }

    #[test]
    fn many_small_arguments_are_read_in_large_pieces() {
        for is_granted in [false, true] {
            let mut input = Input::default();
            input.replace(&[b'x'; LARGE_REST_BYTES], LARGE_REST_BYTES + 1, |_| is_granted);
            assert_eq!(input.lacking_bytes() == 0, is_granted, "a rest of many bytes has room at once");
            let room = input.room().unwrap().unwrap();
            assert!(room.capacity() - room.len() >= OWN_READ_BYTES_MIN);
        }
    }

    #[test]
    fn received_bytes_move_to_a_larger_buffer_in_steps() {
        let received: Vec<u8> = (0..3 * MOVE_BYTES_MAX).map(|index| index as u8).collect();
        let mut input = Input::default();
        input.replace(&received, 1, |_| true);
        input.bytes.shrink_to_fit();
        input.advance(10, received.len() - 9);
        assert!(input.room().unwrap().is_none() && input.room().unwrap().is_none());
        assert_eq!(input.rest(), &received[10..], "it stays whole meanwhile");
        // More arrives while the reader of replies stalls.
        input.append(b"more");
        assert!(input.is_due());
        let whole = [&received[10..], b"more"].concat();
        input.advance(1, whole.len());
        while input.room().unwrap().is_none() {}
        assert_eq!(input.rest(), &whole[1..]);
    }
}
