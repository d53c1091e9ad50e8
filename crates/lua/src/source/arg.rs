//! `arg`, a table of a function's variadic arguments: Lua 5.1 provides it to functions that use it, the engine does
//! not.
//!
//! ```text
//!   function f(a, ...) return arg.n end
//!   function f(a, ...) local arg={n=select("#",...),...} return arg.n end
//! ```
//!
//! As in Lua 5.1, only if the function itself does not use `...`.

use super::{Piece, Token, Tokens};
use memchr::memmem;

const GIVEN: &[u8] = br##" local arg={n=select("#",...),...} "##;

/// Returns the pieces to insert. O(the source's length).
pub(super) fn pieces(source: &[u8]) -> Vec<Piece> {
    if memmem::find(source, b"arg").is_none() || memmem::find(source, b"...").is_none() {
        return Vec::new();
    }
    let places = ArgReader { tokens: Tokens::new(source), blocks: Vec::new(), places: Vec::new() }.places();
    places.into_iter().map(|at| Piece { at, text: GIVEN }).collect()
}

/// A block closed by an `end` or `until`.
enum ArgBlock {
    Function {
        /// The position after its parameters, if the last of them is `...`.
        body: Option<usize>,
        says_dots: bool,
        says_arg: bool,
    },
    Other,
}

struct ArgReader<'a> {
    tokens: Tokens<'a>,
    blocks: Vec<ArgBlock>,
    /// The starts of functions that need `arg`.
    places: Vec<usize>,
}

impl ArgReader<'_> {
    fn places(mut self) -> Vec<usize> {
        let mut before: &[u8] = b"";
        while let Some(Token { text, .. }) = self.tokens.next() {
            match text {
                b"function" => {
                    let body = self.parameters();
                    self.blocks.push(ArgBlock::Function { body, says_dots: false, says_arg: false });
                }
                b"if" | b"do" | b"repeat" => self.blocks.push(ArgBlock::Other),
                b"end" | b"until" => self.close(),
                b"..." => {
                    let innermost =
                        self.blocks.iter_mut().rev().find(|block| matches!(block, ArgBlock::Function { .. }));
                    if let Some(ArgBlock::Function { says_dots, .. }) = innermost {
                        *says_dots = true;
                    }
                }
                // An inner function may use the `arg` of an outer one.
                b"arg" if !matches!(before, b"." | b":") => self.blocks.iter_mut().for_each(|block| {
                    if let ArgBlock::Function { says_arg, .. } = block {
                        *says_arg = true;
                    }
                }),
                _ => {}
            }
            before = text;
        }
        self.places
    }

    fn close(&mut self) {
        if let Some(ArgBlock::Function { body: Some(body), says_dots: false, says_arg: true }) = self.blocks.pop() {
            self.places.push(body);
        }
    }

    /// Reads a function's parameters. Returns their end, if the last of them is `...`.
    fn parameters(&mut self) -> Option<usize> {
        let mut has_dots = false;
        for token in self.tokens.by_ref() {
            match token.text {
                b"..." => has_dots = true,
                b")" => return has_dots.then_some(token.at + 1),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> String {
        let mut given = source.to_owned();
        let mut pieces = pieces(source.as_bytes());
        pieces.sort_by_key(|piece| piece.at);
        pieces.iter().rev().for_each(|piece| given.insert(piece.at, '@'));
        given
    }

    #[test]
    fn vararg_functions_that_use_arg_get_its_definition() {
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
    fn sources_without_vararg_use_of_arg_are_unchanged() {
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
