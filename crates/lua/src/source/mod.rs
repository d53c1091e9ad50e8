//! Sources as the engine is given them: with what Lua 5.1 has and the engine lacks, and with what lets it be stopped.
//!
//! ```text
//!   source --> tokens --> refused: what Lua 5.1 does not know and what follows could not judge
//!                 |
//!                 +--> arg.rs    functions that say `arg` are given it
//!                 +--> pause.rs  a place to stop in what runs long without a loop or a call
//!                 v
//!           pieces to insert, in the order of their places; no line moves
//! ```

mod arg;
mod pause;
mod token;

use token::{Token, Tokens};

/// Stands before each source: a comment at the very beginning could tell the compiler what it is not to do.
const BEGIN: &[u8] = b"do end ";

/// A piece that is inserted.
struct Piece {
    at: usize,
    text: &'static [u8],
}

/// Why a source is not compiled, and in which line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    line: usize,
    why: String,
}

impl Refused {
    fn new(source: &[u8], token: &Token<'_>, why: String) -> Self {
        Self { line: 1 + memchr::memchr_iter(b'\n', &source[..token.at]).count(), why }
    }

    /// As the compiler tells its own errors, given the name of the source.
    pub(crate) fn told(&self, name: &str) -> String {
        format!("{name}:{}: {}", self.line, self.why)
    }
}

/// `source` as the engine is given it. O(its length).
///
/// # Errors
/// It says something that Lua 5.1 does not know, or in one expression more than could be stopped.
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
