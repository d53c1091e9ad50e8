//! Attributes of a part: `=> { $weight: 2.0; $phonetic: false }`.
//!
//! None has an effect, for nothing is scored; those that would change which rows match are refused.

use super::error::QueryError;
use super::lexer::number_of;
use super::parser::QueryParser;
use crate::text::{shown, unescape};

impl QueryParser<'_> {
    /// Parses the attributes after `=>`.
    pub(super) fn attributes(&mut self) -> Result<(), QueryError> {
        self.lexer.skip_spaces();
        if self.lexer.is_at("[") {
            return Err(QueryError::Unsupported("vector queries"));
        }
        self.require("{")?;
        loop {
            self.lexer.skip_spaces();
            if self.lexer.take("}") {
                return Ok(());
            }
            self.attribute()?;
            self.lexer.skip_spaces();
            if !self.lexer.take(";") {
                return self.require("}");
            }
        }
    }

    fn attribute(&mut self) -> Result<(), QueryError> {
        let name = self.lexer.parameter_name().ok_or_else(|| self.lexer.error())?;
        self.lexer.skip_spaces();
        self.require(":")?;
        self.lexer.skip_spaces();
        let value = self.attribute_value()?;
        match name.to_ascii_lowercase().as_str() {
            "weight" => match number_of(&value) {
                Some(weight) if weight >= 0.0 => Ok(()),
                _ => Err(QueryError::AttributeValue { name: "weight", value: shown(&value) }),
            },
            "slop" => match value.parse::<i64>() {
                Ok(slop) if slop >= -1 => Err(QueryError::Unsupported("$slop and $inorder")),
                _ => Err(QueryError::AttributeValue { name: "slop", value: shown(&value) }),
            },
            "inorder" if is_true("inorder", &value)? => Err(QueryError::Unsupported("$slop and $inorder")),
            "phonetic" if is_true("phonetic", &value)? => Err(QueryError::Phonetic),
            "inorder" | "phonetic" => Ok(()),
            _ => Err(QueryError::Attribute(shown(name))),
        }
    }

    fn attribute_value(&mut self) -> Result<String, QueryError> {
        if let Some(value) = self.parameter_or_quoted()? {
            return Ok(value);
        }
        let sign = if self.lexer.take("-") { "-" } else { "" };
        let value = self.lexer.word().ok_or_else(|| self.lexer.error())?;
        Ok(format!("{sign}{}", unescape(&value)))
    }
}

fn is_true(name: &'static str, value: &str) -> Result<bool, QueryError> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(QueryError::AttributeValue { name, value: shown(value) }),
    }
}
