//! The FILTER of a declaration: its text as declared, parsed once.

use crate::expression::{Expression, ExpressionError};

/// An expression that a hash must satisfy. Two are equal if their texts are.
#[derive(Clone, Debug)]
pub struct RowFilter {
    text: Box<[u8]>,
    expression: Expression,
}

impl RowFilter {
    /// Parses the text of an expression. O(length).
    ///
    /// # Errors
    /// Returns the fault of the text.
    pub fn parse(text: &[u8]) -> Result<Self, ExpressionError> {
        Ok(Self { text: text.into(), expression: Expression::parse(text)? })
    }

    /// Returns its text as declared.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns it parsed.
    pub(crate) fn expression(&self) -> &Expression {
        &self.expression
    }
}

impl PartialEq for RowFilter {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
