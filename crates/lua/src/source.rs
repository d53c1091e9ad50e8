//! Sources as the engine is given them. What Lua 5.1 gives a function that takes any number of arguments, and this engine does not,
//! is put there: `arg`, a table of them.
//!
//! ```text
//!   function f(a, ...) return arg.n end
//!   function f(a, ...) local arg={n=select("#",...),...} return arg.n end
//! ```
//!
//! As in Lua 5.1, only where the function itself does not say `...`. No line moves.

use memchr::memmem;
use std::borrow::Cow;

const GIVEN: &[u8] = br##" local arg={n=select("#",...),...} "##;

/// Stands before each source: a comment at the very beginning could tell the compiler what it is not to do.
const BEGIN: &[u8] = b"do end ";

/// `source` as the engine is given it. O(its length).
pub(crate) fn for_engine(source: &[u8]) -> Vec<u8> {
    [BEGIN, &with_arg(source)].concat()
}

/// As it is unless it says both `arg` and `...`.
fn with_arg(source: &[u8]) -> Cow<'_, [u8]> {
    if memmem::find(source, b"arg").is_none() || memmem::find(source, b"...").is_none() {
        return Cow::Borrowed(source);
    }
    let mut places = Reader { source, at: 0, blocks: Vec::new(), places: Vec::new() }.places();
    if places.is_empty() {
        return Cow::Borrowed(source);
    }
    places.sort_unstable();
    let mut given = Vec::with_capacity(source.len() + places.len() * GIVEN.len());
    let mut from = 0;
    for place in places {
        given.extend_from_slice(&source[from..place]);
        given.extend_from_slice(GIVEN);
        from = place;
    }
    given.extend_from_slice(&source[from..]);
    Cow::Owned(given)
}

/// What an `end` or `until` closes.
enum Block {
    Function {
        /// Behind its parameters, if the last of them is `...`.
        body: Option<usize>,
        says_dots: bool,
        says_arg: bool,
    },
    Other,
}

struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    blocks: Vec<Block>,
    /// Where functions begin that lack `arg`.
    places: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn places(mut self) -> Vec<usize> {
        let mut before: &[u8] = b"";
        while let Some(token) = self.next() {
            match token {
                b"function" => {
                    let body = self.parameters();
                    self.blocks.push(Block::Function { body, says_dots: false, says_arg: false });
                }
                b"if" | b"do" | b"repeat" => self.blocks.push(Block::Other),
                b"end" | b"until" => self.close(),
                b"..." => {
                    let innermost = self.blocks.iter_mut().rev().find(|block| matches!(block, Block::Function { .. }));
                    if let Some(Block::Function { says_dots, .. }) = innermost {
                        *says_dots = true;
                    }
                }
                // Of a function within, it is that of one around.
                b"arg" if !matches!(before, b"." | b":") => self.blocks.iter_mut().for_each(|block| {
                    if let Block::Function { says_arg, .. } = block {
                        *says_arg = true;
                    }
                }),
                _ => {}
            }
            before = token;
        }
        self.places
    }

    fn close(&mut self) {
        if let Some(Block::Function { body: Some(body), says_dots: false, says_arg: true }) = self.blocks.pop() {
            self.places.push(body);
        }
    }

    /// Reads up to the end of a function's parameters: where that is, if the last of them is `...`.
    fn parameters(&mut self) -> Option<usize> {
        let mut has_dots = false;
        while let Some(token) = self.next() {
            match token {
                b"..." => has_dots = true,
                b")" => return has_dots.then_some(self.at),
                _ => {}
            }
        }
        None
    }

    /// The next token, one of several signs by its first alone, but for dots; no comment, and of a text its quote.
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = &self.source[self.at..];
            let first = *rest.first()?;
            let length = match first {
                b'-' if rest.starts_with(b"--") => {
                    self.at += match bracket(&rest[2..]) {
                        Some(length) => 2 + length,
                        None => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
                    };
                    continue;
                }
                b'[' => bracket(rest).unwrap_or(1),
                b'"' | b'\'' => quoted(rest),
                b'.' if rest.starts_with(b"...") => 3,
                b'.' if rest.starts_with(b"..") => 2,
                _ if is_of_word(first) => rest.iter().take_while(|byte| is_of_word(**byte)).count(),
                _ => 1,
            };
            self.at += length;
            if !first.is_ascii_whitespace() {
                return Some(if matches!(first, b'"' | b'\'') { &rest[..1] } else { &rest[..length] });
            }
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Length of a text or comment in long brackets that `text` begins with.
fn bracket(text: &[u8]) -> Option<usize> {
    let signs = text.strip_prefix(b"[")?.iter().take_while(|byte| **byte == b'=').count();
    let inside = text.get(1 + signs..)?.strip_prefix(b"[")?;
    let end = [b"]", &text[1..=signs], b"]"].concat();
    let length = memmem::find(inside, &end).map_or(inside.len(), |at| at + end.len());
    Some(signs + 2 + length)
}

/// Length of a text in quotes that `text` begins with.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if *byte == text[0] => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> String {
        let given = with_arg(source.as_bytes()).into_owned();
        String::from_utf8(given).unwrap().replace(std::str::from_utf8(GIVEN).unwrap(), "@")
    }

    #[test]
    fn functions_that_say_arg_are_given_it() {
        let known = [
            ("local function f(...) return arg.n end", "local function f(...)@ return arg.n end"),
            (
                "local f = function(a, ...) if a then return arg[1] end end",
                "local f = function(a, ...)@ if a then return arg[1] end end",
            ),
            (
                "function f(...) for i = 1, arg.n do g(function() return arg[i] end) end end",
                "function f(...)@ for i = 1, arg.n do g(function() return arg[i] end) end end",
            ),
            ("function f(...) repeat local x = arg until x end", "function f(...)@ repeat local x = arg until x end"),
            ("function f(...) return 'n='..arg.n end", "function f(...)@ return 'n='..arg.n end"),
            ("function f(--[[ ) ]] ...) return arg end", "function f(--[[ ) ]] ...)@ return arg end"),
        ];
        for (source, given) in known {
            assert_eq!(read(source), given);
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        let known = [
            "local function f(...) return select('#', ...) + arg end",
            "local function f(a) return arg, a end return f(...)",
            "local function f(...) return t.arg, t:arg() end",
            "local function f(...) return 'arg' end -- arg",
            "local function f(...) return [==[ arg ]] ]==] end",
            "return arg, ...",
            "function f(...",
            "function f(...) return arg '\\",
        ];
        for source in known {
            assert_eq!(read(source), source);
        }
    }
}
