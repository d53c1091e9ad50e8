//! Rewrites sources for the engine: adds features of Lua 5.1 that the engine lacks, and points at which to stop.
//!
//! ```text
//!   source --> tokens --> refused: syntax unknown to Lua 5.1 that the next passes cannot judge
//!                 |
//!                 +--> arg.rs    defines `arg` in vararg functions that use it
//!                 +--> pause.rs  adds points to stop in code that runs long without a loop or a call
//!                 v
//!           pieces to insert, in the order of their places; no line moves
//! ```

mod arg;
mod pause;
mod token;

use token::{Token, Tokens};

/// Precedes each source: a comment at the very beginning could set compiler options.
const BEGIN: &[u8] = b"do end ";

/// An inserted piece.
struct Piece {
    at: usize,
    text: &'static [u8],
}

/// Why a source is rejected, and in which line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    line: usize,
    why: String,
}

impl Refused {
    fn new(source: &[u8], token: &Token<'_>, why: String) -> Self {
        Self { line: 1 + memchr::memchr_iter(b'\n', &source[..token.at]).count(), why }
    }

    /// Formats it like the compiler's own errors, given the name of the source.
    pub(crate) fn message(&self, name: &str) -> String {
        format!("{name}:{}: {}", self.line, self.why)
    }
}

/// Returns `source` rewritten for the engine. O(its length).
///
/// # Errors
/// If it uses syntax unknown to Lua 5.1, or an expression too long to be stopped.
pub(crate) fn for_engine(source: &[u8]) -> Result<Vec<u8>, Refused> {
    let mut pieces = pause::pieces(source)?;
    pieces.extend(arg::pieces(source));
    pieces.sort_by_key(|piece| piece.at);
    let inserted: usize = pieces.iter().map(|piece| piece.text.len()).sum();
    let mut given = Vec::with_capacity(BEGIN.len() + source.len() + inserted);
    given.extend_from_slice(BEGIN);
    let mut from = 0;
    for piece in pieces {
        given.extend_from_slice(&source[from..piece.at]);
        given.extend_from_slice(piece.text);
        from = piece.at;
    }
    given.extend_from_slice(&source[from..]);
    Ok(given)
}
