//! The tree of an expression, at most [`DEPTH_MAX`](super::DEPTH_MAX) high.

use super::functions::ExpressionFunction;
use crate::value::Value;
use regex::bytes::Regex;

/// A part of an expression.
#[derive(Clone, Debug)]
pub(super) enum ExpressionNode {
    /// A number, a text or NULL.
    Literal(Value),
    /// A field, by its position among the fields of the expression.
    Property(usize),
    /// Two operands.
    Binary(BinaryOperator, Box<[ExpressionNode; 2]>),
    /// `!`
    Not(Box<ExpressionNode>),
    /// Operands between `&&`, however many.
    All(Vec<ExpressionNode>),
    /// Operands between `||`, however many.
    Any(Vec<ExpressionNode>),
    /// A function that takes values.
    Call(&'static ExpressionFunction, Vec<ExpressionNode>),
    /// `exists(field)`
    Exists(Box<ExpressionNode>),
    /// `case(condition, if true, if false)`
    Case(Box<[ExpressionNode; 3]>),
    /// `matches(text, 'pattern')`, compiled.
    Matches(Box<ExpressionNode>, Regex),
    /// `matches(text, pattern)` with a pattern that is computed.
    MatchesComputed(Box<[ExpressionNode; 2]>),
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

/// Operators as they are written, and how tightly they bind.
const OPERATORS: [(&str, BinaryOperator, u8); 14] = [
    ("||", BinaryOperator::Or, 1),
    ("&&", BinaryOperator::And, 2),
    ("==", BinaryOperator::Equal, 3),
    ("!=", BinaryOperator::NotEqual, 3),
    ("<", BinaryOperator::Less, 3),
    ("<=", BinaryOperator::LessOrEqual, 3),
    (">", BinaryOperator::Greater, 3),
    (">=", BinaryOperator::GreaterOrEqual, 3),
    ("+", BinaryOperator::Add, 4),
    ("-", BinaryOperator::Subtract, 4),
    ("*", BinaryOperator::Multiply, 5),
    ("/", BinaryOperator::Divide, 5),
    ("%", BinaryOperator::Modulo, 5),
    ("^", BinaryOperator::Power, 6),
];

impl BinaryOperator {
    /// Returns the operator written so, and how tightly it binds.
    pub(super) fn written(sign: &str) -> Option<(Self, u8)> {
        OPERATORS.iter().find(|(known, ..)| *known == sign).map(|(_, operator, strength)| (*operator, *strength))
    }
}
