//! Points to stop in straight-line code. The engine asks whether to go on only at loops, calls and returns; thousands
//! of comparisons of two long strings in a row, some milliseconds each, would run for minutes without any. So after
//! operators with a total cost of [`COST_MAX`], a loop of one iteration is inserted before the next statement:
//!
//! ```text
//!   x = a < b   y = a < b   ...              x = a < b   y = a < b   for _=1,1 do end   ...
//! ```
//!
//! The costliest path through the source counts: a branch that may be skipped, or a loop that may end early, resets
//! nothing.
//!
//! ```text
//!   if          each branch begins at the cost after the condition
//!   end         the cost after it is the maximum over all branches, and over taking none
//!   break       the cost after its loop is at least the cost here
//!   function    begins at 0, and costs nothing where it stands
//! ```

use super::token::Kind;
use super::{Piece, Refused, Token, Tokens};

/// A pause is inserted before the first statement after this cost.
const COST_MAX: u32 = 32;
/// A source is rejected if this cost accumulates where no statement begins.
const COST_REFUSED: u32 = 4_000;
/// Parsing about 200 million bytes of a string as a number takes a third of a second, joining or comparing less.
const ARITHMETIC: u32 = 4;
const CONCATENATION: u32 = 2;
/// Operations that may call an engine function through a metatable, too.
const ACCESS: u32 = 1;

const PAUSE: &[u8] = b" for _=1,1 do end ";

/// Returns the pieces to insert. O(the source's length).
///
/// # Errors
/// If it uses syntax unknown to Lua 5.1, or too much in one expression.
pub(super) fn pieces(source: &[u8]) -> Result<Vec<Piece>, Refused> {
    let mut reader = PauseReader { source, blocks: Vec::new(), cost: 0, before: None, pieces: Vec::new() };
    let mut tokens = Tokens::new(source).peekable();
    while let Some(token) = tokens.next() {
        reader.read(token, tokens.peek())?;
    }
    Ok(reader.pieces)
}

enum BlockKind {
    Function,
    If,
    Loop {
        /// True until its body begins.
        awaits_do: bool,
    },
    Do,
}

/// A block closed by an `end` or `until`.
struct PauseBlock {
    kind: BlockKind,
    /// The cost at which its parts begin; of a function: the cost before it.
    entry: u32,
    /// The maximum cost at any exit so far.
    left: u32,
}

struct PauseReader<'a> {
    source: &'a [u8],
    blocks: Vec<PauseBlock>,
    /// The cost of the costliest path since the last point to stop.
    cost: u32,
    before: Option<Token<'a>>,
    pieces: Vec<Piece>,
}

impl<'a> PauseReader<'a> {
    fn read(&mut self, token: Token<'a>, next: Option<&Token<'a>>) -> Result<(), Refused> {
        let is_unknown = matches!(token.text, b"`" | b"@") || token.text == b"if" && self.is_within_expression();
        if is_unknown {
            let why = format!("unexpected symbol near '{}'", String::from_utf8_lossy(token.text));
            return Err(Refused::new(self.source, &token, why));
        }
        if self.cost >= COST_MAX && self.begins_statement(&token) {
            self.pieces.push(Piece { at: token.at, text: PAUSE });
            self.cost = 0;
        }
        match token.kind {
            Kind::Word => self.word(token.text),
            Kind::Sign => self.cost += self.cost_of(&token, next),
            Kind::Number | Kind::Text => {}
        }
        if self.cost > COST_REFUSED {
            return Err(Refused::new(self.source, &token, "expression too complex".to_owned()));
        }
        self.before = Some(token);
        Ok(())
    }

    fn cost_of(&self, token: &Token<'_>, next: Option<&Token<'_>>) -> u32 {
        match token.text {
            // A negative number is no operation; neither is the key of a field.
            b"-" if self.is_within_expression() && next.is_some_and(|next| next.kind == Kind::Number) => 0,
            b"[" if self.before.is_some_and(|before| matches!(before.text, b"{" | b"," | b";")) => 0,
            b"+" | b"-" | b"*" | b"/" | b"%" | b"^" => ARITHMETIC,
            b".." | b"..." => CONCATENATION,
            // The second character of == and ~=: an assignment alone costs nothing.
            b"=" if self.before.is_some_and(|before| matches!(before.text, b"=" | b"~")) => ACCESS,
            b"<" | b">" | b"#" | b"." | b":" | b"[" => ACCESS,
            _ => 0,
        }
    }

    fn word(&mut self, word: &[u8]) {
        match word {
            b"function" => {
                self.begin(BlockKind::Function);
                self.cost = 0;
            }
            b"if" => self.begin(BlockKind::If),
            b"while" => self.begin(BlockKind::Loop { awaits_do: true }),
            b"for" => {
                // Start, limit and step may be strings.
                self.cost += 3 * ARITHMETIC;
                self.begin(BlockKind::Loop { awaits_do: true });
            }
            b"repeat" => self.begin(BlockKind::Loop { awaits_do: false }),
            b"do" => match self.blocks.last_mut() {
                Some(PauseBlock { kind: BlockKind::Loop { awaits_do: awaits_do @ true }, entry, .. }) => {
                    *awaits_do = false;
                    *entry = self.cost;
                }
                _ => self.begin(BlockKind::Do),
            },
            b"then" => {
                if let Some(block) = self.blocks.last_mut() {
                    block.entry = self.cost;
                }
            }
            b"else" | b"elseif" => {
                if let Some(block) = self.blocks.last_mut() {
                    block.left = block.left.max(self.cost);
                    self.cost = block.entry;
                }
            }
            b"break" | b"continue" => {
                let is_loop = |block: &&mut PauseBlock| matches!(block.kind, BlockKind::Loop { .. });
                if let Some(block) = self.blocks.iter_mut().rev().find(is_loop) {
                    block.left = block.left.max(self.cost);
                }
            }
            b"end" => match self.blocks.pop() {
                Some(PauseBlock { kind: BlockKind::Function, entry, .. }) => self.cost = entry,
                Some(PauseBlock { entry, left, .. }) => self.cost = self.cost.max(entry).max(left),
                None => {}
            },
            b"until" => {
                let left = self.blocks.pop().map_or(0, |block| block.left);
                self.cost = self.cost.max(left);
            }
            _ => {}
        }
    }

    fn begin(&mut self, kind: BlockKind) {
        self.blocks.push(PauseBlock { kind, entry: self.cost, left: 0 });
    }

    /// Returns true if an operand must follow the previous token.
    fn is_within_expression(&self) -> bool {
        let Some(before) = self.before else { return false };
        match before.kind {
            Kind::Word => {
                let words: [&[u8]; 10] =
                    [b"and", b"or", b"not", b"return", b"if", b"elseif", b"while", b"until", b"in", b"local"];
                words.contains(&before.text)
            }
            Kind::Sign => !matches!(before.text, b")" | b"]" | b"}" | b"..." | b";"),
            Kind::Number | Kind::Text => false,
        }
    }

    /// Returns true if a statement may begin at `token`.
    fn begins_statement(&self, token: &Token<'_>) -> bool {
        let Some(before) = self.before else { return true };
        match token.text {
            b"local" | b"for" | b"while" | b"repeat" | b"if" | b"return" | b"break" => return true,
            _ => {}
        }
        if matches!(before.text, b"do" | b"then" | b"else" | b"repeat") {
            return true;
        }
        let ends_operand = match before.kind {
            // The engine's own `type X = ...` may be one statement.
            Kind::Word if matches!(before.text, b"type" | b"export") => false,
            Kind::Word => before.is_name() || matches!(before.text, b"end" | b"nil" | b"true" | b"false"),
            Kind::Sign => matches!(before.text, b")" | b"]" | b"}" | b"..."),
            Kind::Number | Kind::Text => true,
        };
        ends_operand && (token.is_name() || token.text == b"function")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the source with `|` for each pause.
    fn read(source: &str) -> String {
        let mut given = source.to_owned();
        let pieces = pieces(source.as_bytes()).unwrap();
        pieces.iter().rev().for_each(|piece| given.insert(piece.at, '|'));
        given
    }

    /// Returns code costly enough that a pause follows.
    fn dear() -> String {
        "x = a < b ".repeat(COST_MAX as usize)
    }

    #[test]
    fn a_pause_precedes_the_first_statement_after_costly_code() {
        let dear = dear();
        for (rest, paused) in [
            ("y = 1", "|y = 1"),
            ("local y = 1", "|local y = 1"),
            ("return x", "|return x"),
            ("if x then end", "|if x then end"),
            ("for i = 1, 2 do end", "|for i = 1, 2 do end"),
            ("function f() end", "|function f() end"),
            ("(f)() y = 1", "(f)() |y = 1"),
            (".. c .. d", ".. c .. d"),
            ("type T = number y = 1", "|type T = number y = 1"),
            ("export type T = number y = 1", "|export type T = number y = 1"),
        ] {
            assert_eq!(read(&format!("{dear}{rest}")), format!("{dear}{paused}"));
        }
        assert_eq!(read(&dear.repeat(3)).matches('|').count(), 2);
    }

    #[test]
    fn a_pause_on_a_skippable_path_does_not_reset_cost() {
        // One operator less than needed for a pause.
        let near = "x = a < b ".repeat(COST_MAX as usize - 1);
        for source in [
            "if a < b then |local y end |y = 1",
            "if z then local y else x = a < b |local y end x = a < b |y = 1",
            "if z then elseif a < b then |local y end |y = 1",
            "while a < b do |local y end |y = 1",
            "for i = 1, 2 do |local y end |y = 1",
            "do x = a < b |local y end y = 1",
            "repeat x = a < b |local y until z y = 1",
            // Exits early.
            "repeat if z then break end x = a < b |local y until z x = a < b |y = 1",
            "repeat if z then continue end x = a < b |local y until z x = a < b |y = 1",
            "while z do if z then break end x = a < b |local y end x = a < b |y = 1",
            // Not executed in place.
            "f = function() local y end x = a < b |y = 1",
        ] {
            assert_eq!(read(&format!("{near}{}", source.replace('|', ""))), format!("{near}{source}"));
        }
    }

    #[test]
    fn negative_numbers_table_keys_and_calls_cost_nothing() {
        let table = format!("x = {{ {} }} y = 1", "['k'] = -1, ".repeat(5_000));
        assert_eq!(read(&table), table);
        let calls = "f() ".repeat(1_000);
        assert_eq!(read(&calls), calls);
    }

    #[test]
    fn unstoppable_expressions_and_syntax_beyond_lua_5_1_are_rejected() {
        let why = |source: &str| pieces(source.as_bytes()).err().map(|refused| refused.message("s"));
        let long = format!("\n\nx = a{}", " + a".repeat(1_001));
        assert_eq!(why(&long).as_deref(), Some("s:3: expression too complex"));
        assert_eq!(why("x = `{y}`").as_deref(), Some("s:1: unexpected symbol near '`'"));
        assert_eq!(why("\n@native function f() end").as_deref(), Some("s:2: unexpected symbol near '@'"));
        assert_eq!(why("local x = if y then 1 else 2").as_deref(), Some("s:1: unexpected symbol near 'if'"));
        for source in [
            "x = '`@'",
            "-- `@",
            "[[@]]",
            "if x then end if y then end",
            "f() if x then end",
            "local t = {} if x then end",
        ] {
            assert_eq!(why(source), None, "{source}");
        }
    }
}
