//! The tree of words: operators by how tightly they bind.
//!
//! ```text
//!   ||  <  &&  <  == != < <= > >=  <  + -  <  * / %  <  ^  <  ! and the sign of a number
//! ```
//!
//! A chain of `||` or of `&&` is one node, so that a thousand alternatives are one level. Other chains are as deep as
//! they are long.

use super::error::ExpressionError;
use super::functions::{self, ExpressionFunction};
use super::lexer::{ExpressionToken, PlacedToken};
use super::node::{BinaryOperator, ExpressionNode};
use super::pattern;
use super::{DEPTH_MAX, PATTERNS_MAX};
use crate::text::shown;
use crate::value::Value;
use std::collections::HashMap;

/// Words not yet parsed, and fields met so far.
pub(super) struct ExpressionParser<'t> {
    text: &'t [u8],
    tokens: std::iter::Peekable<std::vec::IntoIter<PlacedToken>>,
    /// Names of fields, each once.
    pub(super) fields: Vec<Box<[u8]>>,
    positions: HashMap<Box<[u8]>, usize>,
    /// Compiled regular expressions so far.
    pub(super) patterns_count: usize,
}

/// A tree and its height.
type GrownNode = (ExpressionNode, usize);

impl<'t> ExpressionParser<'t> {
    pub(super) fn new(text: &'t [u8], tokens: Vec<PlacedToken>) -> Self {
        let tokens = tokens.into_iter().peekable();
        Self { text, tokens, fields: Vec::new(), positions: HashMap::new(), patterns_count: 0 }
    }

    /// Parses the whole text.
    pub(super) fn whole(&mut self) -> Result<ExpressionNode, ExpressionError> {
        let (node, _) = self.binary(0, 0)?;
        if self.tokens.peek().is_some() { Err(self.unexpected()) } else { Ok(node) }
    }

    /// Parses operands between operators that bind at least as tightly as `strength_min`.
    fn binary(&mut self, strength_min: u8, depth: usize) -> Result<GrownNode, ExpressionError> {
        let mut left = self.operand(check(depth)?)?;
        while let Some((operator, strength)) = self.peek_operator() {
            if strength < strength_min {
                break;
            }
            self.tokens.next();
            // All operators join from left to right, powers too, as in RediSearch.
            let right = self.binary(strength + 1, depth + 1)?;
            left = joined(operator, left, right)?;
        }
        Ok(left)
    }

    fn peek_operator(&mut self) -> Option<(BinaryOperator, u8)> {
        match self.tokens.peek()?.token {
            ExpressionToken::Sign(sign) => BinaryOperator::written(sign),
            _ => None,
        }
    }

    fn operand(&mut self, depth: usize) -> Result<GrownNode, ExpressionError> {
        let Some(PlacedToken { token, offset }) = self.tokens.next() else { return Err(self.unexpected()) };
        match token {
            ExpressionToken::Number(number) => Ok((ExpressionNode::Literal(Value::Number(number)), 1)),
            ExpressionToken::Quoted(text) => Ok((ExpressionNode::Literal(Value::text(text)), 1)),
            ExpressionToken::Property(name) => Ok((ExpressionNode::Property(self.position(name)), 1)),
            ExpressionToken::Name(name) => self.named(&name, depth),
            ExpressionToken::Sign("(") => {
                let inside = self.binary(0, depth + 1)?;
                self.require(")")?;
                Ok(inside)
            }
            ExpressionToken::Sign("!") => {
                let (inside, height) = self.operand(check(depth + 1)?)?;
                Ok((ExpressionNode::Not(Box::new(inside)), check(height + 1)?))
            }
            ExpressionToken::Sign(sign @ ("-" | "+")) => self.signed(sign, offset),
            ExpressionToken::Sign(_) => Err(ExpressionError::syntax(self.text, offset)),
        }
    }

    /// Parses the number after a sign.
    fn signed(&mut self, sign: &str, offset: usize) -> Result<GrownNode, ExpressionError> {
        let number = match self.tokens.next().map(|placed| placed.token) {
            Some(ExpressionToken::Number(number)) => number,
            Some(ExpressionToken::Name(name)) if name.eq_ignore_ascii_case(b"inf") => f64::INFINITY,
            _ => return Err(ExpressionError::syntax(self.text, offset)),
        };
        let number = if sign == "-" { -number } else { number };
        Ok((ExpressionNode::Literal(Value::Number(number)), 1))
    }

    /// Parses a call, NULL or inf.
    fn named(&mut self, name: &[u8], depth: usize) -> Result<GrownNode, ExpressionError> {
        if !self.is_next("(") {
            return match name {
                b"NULL" => Ok((ExpressionNode::Literal(Value::Null), 1)),
                name if name.eq_ignore_ascii_case(b"inf") => {
                    Ok((ExpressionNode::Literal(Value::Number(f64::INFINITY)), 1))
                }
                _ if self.is_at_operand() => Err(self.unexpected()),
                _ => Err(ExpressionError::UnknownSymbol(shown(name))),
            };
        }
        self.tokens.next();
        let mut arguments = Vec::new();
        let mut height = 0;
        while !self.is_next(")") {
            if !arguments.is_empty() {
                self.require(",")?;
            }
            let (argument, argument_height) = self.binary(0, depth + 1)?;
            arguments.push(argument);
            height = height.max(argument_height);
        }
        self.require(")")?;
        let node = call(name, arguments)?;
        self.patterns_count += usize::from(matches!(node, ExpressionNode::Matches(..)));
        if self.patterns_count > PATTERNS_MAX {
            return Err(ExpressionError::TooManyPatterns(PATTERNS_MAX));
        }
        Ok((node, check(height + 1)?))
    }

    fn position(&mut self, name: Vec<u8>) -> usize {
        let name = name.into_boxed_slice();
        if let Some(position) = self.positions.get(&name) {
            return *position;
        }
        let position = self.fields.len();
        self.fields.push(name.clone());
        self.positions.insert(name, position);
        position
    }

    fn is_next(&mut self, sign: &str) -> bool {
        matches!(self.tokens.peek(), Some(PlacedToken { token: ExpressionToken::Sign(next), .. }) if *next == sign)
    }

    /// Returns true if a value or a name is next: two of them without an operator are a syntax error.
    fn is_at_operand(&mut self) -> bool {
        self.tokens.peek().is_some_and(|next| !matches!(next.token, ExpressionToken::Sign(_)))
    }

    fn require(&mut self, sign: &str) -> Result<(), ExpressionError> {
        if self.is_next(sign) {
            self.tokens.next();
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn unexpected(&mut self) -> ExpressionError {
        let offset = self.tokens.peek().map_or(self.text.len(), |placed| placed.offset);
        ExpressionError::syntax(self.text, offset)
    }
}

fn check(depth: usize) -> Result<usize, ExpressionError> {
    if depth > DEPTH_MAX { Err(ExpressionError::TooDeep(DEPTH_MAX)) } else { Ok(depth) }
}

/// Joins two operands; further operands of `&&` and `||` go into the same node.
fn joined(operator: BinaryOperator, left: GrownNode, right: GrownNode) -> Result<GrownNode, ExpressionError> {
    let ((left, left_height), (right, right_height)) = (left, right);
    let height = match (operator, &left) {
        (BinaryOperator::And, ExpressionNode::All(_)) | (BinaryOperator::Or, ExpressionNode::Any(_)) => {
            left_height.max(right_height + 1)
        }
        _ => left_height.max(right_height) + 1,
    };
    let node = match (operator, left) {
        (BinaryOperator::And, ExpressionNode::All(mut operands)) => {
            operands.push(right);
            ExpressionNode::All(operands)
        }
        (BinaryOperator::Or, ExpressionNode::Any(mut operands)) => {
            operands.push(right);
            ExpressionNode::Any(operands)
        }
        (BinaryOperator::And, left) => ExpressionNode::All(vec![left, right]),
        (BinaryOperator::Or, left) => ExpressionNode::Any(vec![left, right]),
        (operator, left) => ExpressionNode::Binary(operator, Box::new([left, right])),
    };
    Ok((node, check(height)?))
}

/// Returns the node of a call, if the function exists and takes so many arguments.
fn call(name: &[u8], arguments: Vec<ExpressionNode>) -> Result<ExpressionNode, ExpressionError> {
    if name.eq_ignore_ascii_case(b"matched_terms") {
        return Err(ExpressionError::Unsupported("matched_terms"));
    }
    if name.eq_ignore_ascii_case(b"exists") {
        let [field] = fixed("exists", arguments)?;
        return Ok(ExpressionNode::Exists(Box::new(field)));
    }
    if name.eq_ignore_ascii_case(b"case") {
        return Ok(ExpressionNode::Case(Box::new(fixed("case", arguments)?)));
    }
    if name.eq_ignore_ascii_case(b"matches") {
        return matches(fixed("matches", arguments)?);
    }
    let function: &ExpressionFunction =
        functions::find(name).ok_or_else(|| ExpressionError::UnknownFunction(shown(name)))?;
    if !(function.arguments_min..=function.arguments_max).contains(&arguments.len()) {
        let is_split = function.name == "split";
        return Err(if is_split { ExpressionError::SplitArguments } else { ExpressionError::Arguments(function.name) });
    }
    Ok(ExpressionNode::Call(function, arguments))
}

fn fixed<const COUNT: usize>(
    name: &'static str,
    arguments: Vec<ExpressionNode>,
) -> Result<[ExpressionNode; COUNT], ExpressionError> {
    arguments.try_into().map_err(|_| ExpressionError::Arguments(name))
}

fn matches(arguments: [ExpressionNode; 2]) -> Result<ExpressionNode, ExpressionError> {
    let [text, written] = arguments;
    match written {
        ExpressionNode::Literal(Value::Text(written)) => {
            let compiled = pattern::compile(&written).map_err(ExpressionError::Regex)?;
            Ok(ExpressionNode::Matches(Box::new(text), compiled))
        }
        ExpressionNode::Literal(_) => Err(ExpressionError::Arguments("matches")),
        written => Ok(ExpressionNode::MatchesComputed(Box::new([text, written]))),
    }
}
