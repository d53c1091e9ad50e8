//! Numbers and circles: `[1 (5]`, `[5]`, `==5`, `[longitude latitude radius unit]`.

use super::Query;
use super::error::QueryError;
use super::parser::QueryParser;
use crate::definition::FieldType;
use crate::place::circle_radius_m;
use crate::text::unescape;
use std::ops::Bound;
use values::geo;

/// Operators, each before its own beginnings.
const OPERATORS: [&str; 6] = ["==", "!=", ">=", "<=", ">", "<"];
/// First words in brackets of queries over vectors.
const VECTOR_WORDS: [&str; 1] = ["VECTOR_RANGE"];
/// First words in brackets of queries over shapes.
const SHAPE_WORDS: [&str; 4] = ["WITHIN", "CONTAINS", "INTERSECTS", "DISJOINT"];

impl QueryParser<'_> {
    /// Parses an operator and its number after `@name`, if there is one.
    pub(super) fn comparison(&mut self, name: &str, offset: usize) -> Result<Option<Query>, QueryError> {
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.lexer.take(operator)) else {
            return Ok(None);
        };
        self.lexer.skip_spaces();
        let number = self.number()?;
        let field = self.numeric(name, offset)?;
        let equal = range(field, Bound::Included(number), Bound::Included(number));
        Ok(Some(match operator {
            "==" => equal,
            "!=" => Query::Not(Box::new(equal)),
            ">=" => range(field, Bound::Included(number), Bound::Unbounded),
            "<=" => range(field, Bound::Unbounded, Bound::Included(number)),
            ">" => range(field, Bound::Excluded(number), Bound::Unbounded),
            _ => range(field, Bound::Unbounded, Bound::Excluded(number)),
        }))
    }

    /// Parses the brackets after `@name:`.
    pub(super) fn range(&mut self, name: &str, offset: usize) -> Result<Query, QueryError> {
        self.require("[")?;
        self.lexer.skip_spaces();
        if VECTOR_WORDS.iter().any(|word| self.lexer.is_at(word)) {
            return Err(QueryError::Unsupported("vector queries"));
        }
        if SHAPE_WORDS.iter().any(|word| self.lexer.is_at(word)) {
            return Err(QueryError::Unsupported("GEOSHAPE queries"));
        }
        let from = self.bound()?;
        if let Bound::Included(number) = from
            && self.lexer.take("]")
        {
            return Ok(range(self.numeric(name, offset)?, from, Bound::Included(number)));
        }
        let to = self.bound()?;
        if self.lexer.take("]") {
            return Ok(range(self.numeric(name, offset)?, from, to));
        }
        let (Bound::Included(longitude), Bound::Included(latitude)) = (from, to) else {
            return Err(self.lexer.error());
        };
        self.circle(name, offset, longitude, latitude)
    }

    /// Parses the rest of a circle after its middle.
    fn circle(&mut self, name: &str, offset: usize, longitude: f64, latitude: f64) -> Result<Query, QueryError> {
        let radius = self.number()?;
        self.lexer.skip_spaces();
        let unit = match self.parameter_or_quoted()? {
            Some(unit) => unit,
            None => unescape(&self.lexer.word().ok_or_else(|| self.lexer.error())?).into_owned(),
        };
        self.lexer.skip_spaces();
        self.require("]")?;
        let field = self.find_of(name, offset, "GEO", |kind| matches!(kind, FieldType::Geo))?;
        let unit_m = geo::unit_m(unit.as_bytes()).ok_or(QueryError::GeoUnit)?;
        let radius_m = circle_radius_m((longitude, latitude), radius, unit_m)?;
        Ok(Query::Circle { field, longitude, latitude, radius_m })
    }

    /// Reads an end of a range and the spaces after it.
    fn bound(&mut self) -> Result<Bound<f64>, QueryError> {
        let is_excluded = self.lexer.take("(");
        self.lexer.skip_spaces();
        let number = self.number()?;
        self.lexer.skip_spaces();
        Ok(if is_excluded { Bound::Excluded(number) } else { Bound::Included(number) })
    }

    fn numeric(&self, name: &str, offset: usize) -> Result<usize, QueryError> {
        self.find_of(name, offset, "NUMERIC", |kind| matches!(kind, FieldType::Numeric))
    }
}

/// Returns the query of a range; an infinite end that it includes bounds nothing.
pub(crate) fn range(field: usize, from: Bound<f64>, to: Bound<f64>) -> Query {
    let from = if from == Bound::Included(f64::NEG_INFINITY) { Bound::Unbounded } else { from };
    let to = if to == Bound::Included(f64::INFINITY) { Bound::Unbounded } else { to };
    Query::Number { field, from, to }
}
