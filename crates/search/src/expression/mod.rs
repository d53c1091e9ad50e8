//! Expressions of APPLY and FILTER: `floor(@price / 10) * 10`, `@brand == "sony" && @count > 2`.
//!
//! ```text
//!   text --lexer--> words --parser--> tree, its fields by position --evaluation--> Value
//! ```
//!
//! A missing field is an error, unless `exists` asks for it or the other operand of `&&` or `||` decides. A function of
//! arguments that do not fit is Null; operands that do not fit are an error. One evaluation reads and makes at most
//! [`WORK_BYTES_MAX`] bytes of texts.

mod error;
mod evaluation;
mod functions;
mod lexer;
mod node;
mod parser;
mod pattern;

pub use error::{EvaluationError, ExpressionError};

use crate::value::Value;
use evaluation::ExpressionEvaluation;
use node::ExpressionNode;

/// The longest text of an expression.
const EXPRESSION_BYTES_MAX: usize = 64 << 10;

/// The maximum nesting of operands, calls and parentheses.
const DEPTH_MAX: usize = 128;

/// The maximum number of compiled regular expressions in an expression, and in all expressions of a request together:
/// each occupies up to a megabyte and more.
pub(crate) const PATTERNS_MAX: usize = 16;

/// The bytes of texts that one evaluation reads and makes at most.
const WORK_BYTES_MAX: usize = 8 << 20;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    node: ExpressionNode,
    fields: Vec<Box<[u8]>>,
    patterns_count: usize,
}

impl Expression {
    /// Parses an expression. O(length).
    ///
    /// # Errors
    /// Returns the fault of the text.
    pub fn parse(text: &[u8]) -> Result<Self, ExpressionError> {
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(ExpressionError::TooLong(EXPRESSION_BYTES_MAX));
        }
        let mut parser = parser::ExpressionParser::new(text, lexer::tokens(text)?);
        let node = parser.whole()?;
        Ok(Self { node, fields: parser.fields, patterns_count: parser.patterns_count })
    }

    /// Returns the number of its compiled regular expressions.
    pub(crate) fn patterns_count(&self) -> usize {
        self.patterns_count
    }

    /// Returns the names of the fields that it reads, each once, without `@`.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.fields.iter().map(|name| &**name)
    }

    /// Evaluates it. `field` is asked once for each of [`fields`](Self::fields); `None` is a missing field.
    ///
    /// # Errors
    /// Returns the reason why there is no result.
    pub fn evaluate(&self, field: &mut dyn FnMut(&[u8]) -> Option<Value>) -> Result<Value, EvaluationError> {
        let values: Vec<Option<Value>> = self.fields().map(field).collect();
        self.evaluate_with(&|position| values[position].as_ref())
    }

    /// Evaluates it with fields by their positions in [`fields`](Self::fields), nothing copied.
    ///
    /// # Errors
    /// Returns the reason why there is no result.
    pub fn evaluate_with<'v>(&'v self, field: &dyn Fn(usize) -> Option<&'v Value>) -> Result<Value, EvaluationError> {
        let mut evaluation = ExpressionEvaluation { field, work_bytes: WORK_BYTES_MAX };
        match evaluation.value(&self.node) {
            Ok(value) => Ok(value.into_owned()),
            Err(stop) => Err(stop.into_error(&self.fields)),
        }
    }

    /// Returns true if it is true for a hash, as FILTER of FT.CREATE asks; false if it cannot be evaluated.
    pub fn admits(&self, field: &mut dyn FnMut(&[u8]) -> Option<Value>) -> bool {
        self.evaluate(field).is_ok_and(|value| value.is_true())
    }
}
