//! Errors of expressions: of their text, and of their evaluation.

use crate::text::shown;
use thiserror::Error;

/// The error of the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpressionError {
    /// The text is no expression.
    #[error("Syntax error at offset {offset} near '{near}'")]
    Syntax {
        /// Where it ceases to be one.
        offset: usize,
        /// The text there.
        near: Box<str>,
    },
    /// A name is neither called nor one of a value.
    #[error("Unknown symbol '{0}'")]
    UnknownSymbol(Box<str>),
    /// A function that does not exist is called.
    #[error("Unknown function name '{0}'")]
    UnknownFunction(Box<str>),
    /// A function is called with too few or too many arguments.
    #[error("Invalid arguments for function '{0}'")]
    Arguments(&'static str),
    /// `split` is called with too few or too many arguments.
    #[error("Invalid number of arguments for split")]
    SplitArguments,
    /// A function of RediSearch that does not exist here.
    #[error("Function '{0}' is not supported yet")]
    Unsupported(&'static str),
    /// The regular expression of `matches` is none, or too large.
    #[error("Invalid regular expression: {0}")]
    Regex(Box<str>),
    /// An expression, or all of a request together, have too many regular expressions.
    #[error("matches() exceeds maximum of {0} regular expressions")]
    TooManyPatterns(usize),
    /// The text is too long.
    #[error("Expression exceeds maximum of {0} bytes")]
    TooLong(usize),
    /// Parentheses, calls or operators are nested too deeply.
    #[error("Expression is nested more than {0} levels deep")]
    TooDeep(usize),
}

impl ExpressionError {
    /// Creates the error of a text that ceases to be an expression at an offset.
    pub(super) fn syntax(text: &[u8], offset: usize) -> Self {
        let offset = offset.min(text.len());
        Self::Syntax { offset, near: shown(&text[offset..]) }
    }
}

/// The error of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvaluationError {
    /// A field has no value.
    #[error("Could not find the value for a parameter name, consider using EXISTS if applicable for {0}")]
    Missing(Box<str>),
    /// An operand of `+ - * / % ^` is no number.
    #[error("Could not convert value to a number")]
    NotNumeric,
    /// The text given to `to_number` is no number.
    #[error("to_number: cannot convert string '{0}'")]
    ToNumber(Box<str>),
    /// An argument has the wrong type; numbers of types and arguments are those of RediSearch.
    #[error("Invalid type ({type_number}) for argument {argument} in function '{function}'")]
    Type {
        /// 1 number, 3 text, 4 Null, 6 list.
        type_number: u8,
        /// The position of the argument, from 0.
        argument: usize,
        /// The function.
        function: &'static str,
    },
    /// `format` has more `%s` than arguments.
    #[error("Not enough arguments for format")]
    FormatArguments,
    /// `format` has a `%` followed by something other than `s` or `%`.
    #[error("Unknown format specifier passed")]
    FormatSpecifier,
    /// `format` has a `%` at its end.
    #[error("Bad format string!")]
    FormatEnd,
    /// The regular expression of `matches`, made by an expression, is none, or too large.
    #[error("Invalid regular expression: {0}")]
    Regex(Box<str>),
    /// Texts read and made are too long together.
    #[error("Expression reads or makes more than {0} bytes")]
    TooMuchWork(usize),
    /// The reducers of one record's groups take too many values.
    #[error("GROUPBY exceeds maximum of {0} values for one record")]
    TooManyGroupedValues(usize),
    /// Lists of one record name too many groups.
    #[error("GROUPBY exceeds maximum of {0} groups for one record")]
    TooManyGroups(usize),
}
