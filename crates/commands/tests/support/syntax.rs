//! Requests made from the syntax lines of commands: `key [NX | XX] [EX seconds]`.
//!
//! ```text
//! [x]  optional      <x | y>  one of them      ...  repeats the group before it
//! ```

#![allow(dead_code, reason = "each test file uses its part of this")]

/// A part of a syntax line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Typed as it is.
    Literal(String),
    /// Stands for a value.
    Value(String),
    /// Parts in order.
    All(Vec<Part>),
    /// One of them.
    OneOf(Vec<Part>),
    /// None or one.
    Optional(Box<Part>),
    /// None or more.
    Repeated(Box<Part>),
}

/// Reads a syntax line.
///
/// # Panics
/// Panics if it is malformed.
pub(crate) fn parse(syntax: &str) -> Part {
    let spaced = syntax.replace('[', " [ ").replace(']', " ] ").replace('<', " < ").replace('>', " > ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let part = choice(&words, &mut at);
    assert!(at == words.len(), "{syntax:?}: something is left");
    part
}

fn choice(words: &[&str], at: &mut usize) -> Part {
    let mut ways = vec![sequence(words, at)];
    while words.get(*at) == Some(&"|") {
        *at += 1;
        ways.push(sequence(words, at));
    }
    if ways.len() == 1 { ways.remove(0) } else { Part::OneOf(ways) }
}

fn sequence(words: &[&str], at: &mut usize) -> Part {
    let mut parts = Vec::new();
    while let Some(&word) = words.get(*at) {
        match word {
            "]" | ">" | "|" => break,
            "..." => break,
            "[" => {
                *at += 1;
                let inner = choice(words, at);
                let repeated = words.get(*at) == Some(&"...");
                *at += usize::from(repeated) + 1;
                let inner = Box::new(inner);
                parts.push(if repeated { Part::Repeated(inner) } else { Part::Optional(inner) });
            }
            "<" => {
                *at += 1;
                parts.push(choice(words, at));
                *at += 1;
            }
            word => {
                *at += 1;
                let literal = !word.contains(|letter: char| letter.is_ascii_lowercase());
                parts.push(if literal { Part::Literal(word.to_owned()) } else { Part::Value(word.to_owned()) });
            }
        }
    }
    if parts.len() == 1 { parts.remove(0) } else { Part::All(parts) }
}

impl Part {
    /// Returns the least number of words.
    pub(crate) fn least(&self) -> usize {
        match self {
            Self::Literal(_) | Self::Value(_) => 1,
            Self::All(parts) => parts.iter().map(Self::least).sum(),
            Self::OneOf(parts) => parts.iter().map(Self::least).min().unwrap_or(0),
            Self::Optional(_) | Self::Repeated(_) => 0,
        }
    }

    /// Returns true if the number of words is fixed.
    pub(crate) fn is_fixed(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Value(_) => true,
            Self::All(parts) => parts.iter().all(Self::is_fixed),
            Self::OneOf(parts) => {
                parts.iter().all(Self::is_fixed) && parts.iter().all(|part| part.least() == self.least())
            }
            Self::Optional(_) | Self::Repeated(_) => false,
        }
    }

    /// Writes words: `choose(n)` is a number below `n`, `value(name)` a value of that name.
    pub(crate) fn write(
        &self,
        words: &mut Vec<Vec<u8>>,
        choose: &mut dyn FnMut(usize) -> usize,
        value: &mut dyn FnMut(&str) -> Vec<u8>,
    ) {
        match self {
            Self::Literal(word) => words.push(word.as_bytes().to_vec()),
            Self::Value(name) => {
                let word = value(name);
                words.push(word);
            }
            Self::All(parts) => parts.iter().for_each(|part| part.write(words, choose, value)),
            Self::OneOf(parts) => parts[choose(parts.len())].write(words, choose, value),
            Self::Optional(part) => {
                if choose(3) == 0 {
                    part.write(words, choose, value);
                }
            }
            Self::Repeated(part) => {
                for _ in 0..choose(3) {
                    part.write(words, choose, value);
                }
            }
        }
    }

    /// Writes the fewest words: nothing optional, the first of several ways.
    pub(crate) fn write_least(&self, words: &mut Vec<Vec<u8>>, value: &mut dyn FnMut(&str) -> Vec<u8>) {
        match self {
            Self::Literal(word) => words.push(word.as_bytes().to_vec()),
            Self::Value(name) => {
                let word = value(name);
                words.push(word);
            }
            Self::All(parts) => parts.iter().for_each(|part| part.write_least(words, value)),
            Self::OneOf(parts) => parts[0].write_least(words, value),
            Self::Optional(_) | Self::Repeated(_) => {}
        }
    }
}
