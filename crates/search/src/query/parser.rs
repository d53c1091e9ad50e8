//! The grammar of queries, by recursive descent.
//!
//! ```text
//!   union     = intersection *( "|" intersection )
//!   intersection = 1*unary
//!   unary     = [ "-" / "~" ] unary / primary *( "=>" attributes )
//!   primary   = "(" union ")" / "*" / "ismissing(" field ")" / text / field
//!   field     = "@" name *( "|" name ) ":" unary           only texts within
//!             / "@" name ":" ( range / tags )
//!             / "@" name ( "==" / "!=" / ">" / ">=" / "<" / "<=" ) number
//! ```
//!
//! A part that has no word to look for, say a stop word, is `None` and vanishes from the part that it is in.

use super::error::QueryError;
use super::lexer::{QueryLexer, is_word, number_of};
use super::{DEPTH_MAX, PARTS_MAX, Query, QueryOptions, Term};
use crate::definition::{Definition, Field, FieldType};
use crate::text::{shown, unescape};
use std::collections::HashSet;

/// Bytes of a parameter that count as a part, each time that it is used: a long one used often is a long text.
const PART_BYTES: usize = 64;

/// The query of a part.
pub(super) type QueryPart = Result<Option<Query>, QueryError>;

/// A query that is being parsed.
pub(super) struct QueryParser<'a> {
    pub(super) lexer: QueryLexer<'a>,
    pub(super) definition: &'a Definition,
    pub(super) options: &'a QueryOptions<'a>,
    /// The fields that words without a field look into.
    unscoped: Vec<usize>,
    /// The fields of the `@field:` that is being parsed.
    pub(super) scope: Option<Vec<usize>>,
    /// Parentheses and operators around.
    depth: usize,
    /// Terms, operators, fields, and bytes of parameters so far.
    parts: usize,
    /// Negations around.
    pub(super) negations: usize,
    /// The offset of a `*` that matches all.
    star: Option<usize>,
    /// Primaries and operators but parentheses: a `*` bears no other.
    primaries: usize,
}

impl<'a> QueryParser<'a> {
    pub(super) fn new(text: &'a str, definition: &'a Definition, options: &'a QueryOptions<'a>) -> Self {
        Self {
            lexer: QueryLexer::new(text),
            definition,
            options,
            unscoped: unscoped_fields(definition, options),
            scope: None,
            depth: 0,
            parts: 0,
            negations: 0,
            star: None,
            primaries: 0,
        }
    }

    /// Parses the whole text.
    pub(super) fn parse(mut self) -> Result<Query, QueryError> {
        self.lexer.skip_separators();
        if self.lexer.peek().is_none() {
            return Ok(Query::Nothing);
        }
        let query = self.union()?;
        if self.lexer.peek().is_some() {
            return Err(self.lexer.error());
        }
        if let Some(offset) = self.star.filter(|_| self.primaries > 1) {
            return Err(QueryError::Syntax { offset, near: "*".into() });
        }
        Ok(query.unwrap_or(Query::Nothing))
    }

    fn union(&mut self) -> QueryPart {
        self.enter()?;
        let mut parts = Vec::new();
        loop {
            parts.extend(self.intersection()?);
            if !self.lexer.take("|") {
                break;
            }
        }
        self.depth -= 1;
        Ok(any(parts))
    }

    fn intersection(&mut self) -> QueryPart {
        let mut parts = Vec::new();
        loop {
            parts.extend(self.unary()?);
            self.lexer.skip_separators();
            if matches!(self.lexer.peek(), None | Some(')' | '|')) {
                return Ok(every(parts));
            }
        }
    }

    fn unary(&mut self) -> QueryPart {
        self.lexer.skip_separators();
        let is_number = matches!(self.lexer.peek_second(), Some('0'..='9'));
        match self.lexer.peek() {
            Some('-') if !is_number => {
                self.enter_operator("-")?;
                self.negations += 1;
                let part = self.unary()?;
                self.negations -= 1;
                self.depth -= 1;
                Ok(part.map(not))
            }
            Some('~') => {
                self.enter_operator("~")?;
                let part = self.unary()?;
                self.depth -= 1;
                Ok(part.map(optional))
            }
            _ => self.attributed(),
        }
    }

    fn attributed(&mut self) -> QueryPart {
        let part = self.primary()?;
        loop {
            self.lexer.skip_separators();
            if !self.lexer.take("=>") {
                return Ok(part);
            }
            self.attributes()?;
        }
    }

    fn primary(&mut self) -> QueryPart {
        if self.lexer.take("(") {
            let part = self.union()?;
            self.require(")")?;
            return Ok(part);
        }
        self.primaries += 1;
        self.count(1)?;
        match self.lexer.peek() {
            Some('@') if self.scope.is_none() => self.field(),
            Some('*') if !self.is_suffix() => {
                self.star = Some(self.lexer.offset());
                self.lexer.take("*");
                Ok(Some(Query::All))
            }
            _ if self.scope.is_none() && self.lexer.take("ismissing(") => self.missing(),
            _ => self.text(),
        }
    }

    /// Returns true if the star here begins `*word`.
    fn is_suffix(&self) -> bool {
        self.lexer
            .peek_second()
            .is_some_and(|character| is_word(character) || matches!(character, '\\' | '$' | '"' | '\''))
    }

    fn missing(&mut self) -> QueryPart {
        self.lexer.skip_spaces();
        let offset = self.lexer.offset();
        self.require("@")?;
        let name = self.field_name()?;
        self.lexer.skip_spaces();
        self.require(")")?;
        let field = self.find(&name, offset)?;
        if !self.definition.fields[field].indexes_missing {
            return Err(QueryError::MissingNotIndexed(shown(&name)));
        }
        Ok(Some(Query::Missing { field }))
    }

    fn field(&mut self) -> QueryPart {
        let mut names = Vec::new();
        let mut offset = self.lexer.offset();
        self.lexer.take("@");
        loop {
            self.count(1)?;
            names.push((self.field_name()?, offset));
            self.lexer.skip_spaces();
            if !self.lexer.take("|") {
                break;
            }
            self.lexer.skip_spaces();
            offset = self.lexer.offset();
        }
        if let [(name, offset)] = &names[..]
            && let Some(query) = self.comparison(name, *offset)?
        {
            return Ok(Some(query));
        }
        self.require(":")?;
        self.lexer.skip_spaces();
        match (self.lexer.peek(), &names[..]) {
            (Some('['), [(name, offset)]) => self.range(name, *offset).map(Some),
            (Some('{'), [(name, offset)]) => self.tags(name, *offset).map(Some),
            _ => self.scoped(&names),
        }
    }

    /// Parses the text that these fields are to hold.
    fn scoped(&mut self, names: &[(String, usize)]) -> QueryPart {
        let mut fields = Vec::with_capacity(names.len());
        for (name, offset) in names {
            fields.push(self.find_of(name, *offset, "TEXT", |kind| matches!(kind, FieldType::Text { .. }))?);
        }
        fields.sort_unstable();
        fields.dedup();
        self.scope = Some(fields);
        let part = self.unary();
        self.scope = None;
        part
    }

    fn field_name(&mut self) -> Result<String, QueryError> {
        self.lexer.field_name().ok_or_else(|| self.lexer.error())
    }

    /// Returns the position of a field. One that is not indexed can be asked for, and has nothing to find.
    fn find(&self, name: &str, offset: usize) -> Result<usize, QueryError> {
        let field = self.definition.field(name.as_bytes());
        field.ok_or_else(|| QueryError::UnknownField { offset, name: shown(name) })
    }

    /// Returns the position of a field that must be of a type.
    pub(super) fn find_of(
        &self,
        name: &str,
        offset: usize,
        expected: &'static str,
        is_expected: impl Fn(&FieldType) -> bool,
    ) -> Result<usize, QueryError> {
        let field = self.find(name, offset)?;
        if is_expected(&self.definition.fields[field].field_type) {
            Ok(field)
        } else {
            Err(QueryError::FieldType { expected, offset, name: shown(name) })
        }
    }

    /// Returns a query for a term in the fields that are being looked into.
    pub(super) fn text_query(&mut self, term: Term) -> Result<Query, QueryError> {
        let fields = self.scope.as_ref().unwrap_or(&self.unscoped).clone();
        self.text_query_in(fields, term)
    }

    /// Returns a query for a term in some fields, those of INFIELDS among them if that is given.
    pub(super) fn text_query_in(&mut self, mut fields: Vec<usize>, term: Term) -> Result<Query, QueryError> {
        if self.options.in_fields.is_some() {
            fields.retain(|field| self.unscoped.binary_search(field).is_ok());
        }
        self.count(1 + fields.len())?;
        Ok(if fields.is_empty() { Query::Nothing } else { Query::Text { fields, term } })
    }

    /// Returns the fields among those that are being looked into that satisfy something.
    pub(super) fn fields_where(&self, is_wanted: impl Fn(&Field) -> bool) -> Vec<usize> {
        let fields = self.scope.as_ref().unwrap_or(&self.unscoped);
        fields.iter().copied().filter(|field| is_wanted(&self.definition.fields[*field])).collect()
    }

    /// Reads `$name` if it is next, and returns the text that it stands for, as it stands.
    pub(super) fn parameter(&mut self) -> Result<Option<(&'a str, &'a str)>, QueryError> {
        let Some(name) = self.lexer.parameter_name() else { return Ok(None) };
        Ok(Some((name, self.parameter_value(name)?)))
    }

    /// Returns the text that a parameter stands for.
    pub(super) fn parameter_value(&mut self, name: &str) -> Result<&'a str, QueryError> {
        let value = self.options.settings.parameters.get(name.as_bytes());
        let value = value.ok_or_else(|| QueryError::NoParameter(shown(name)))?;
        self.count(value.len() / PART_BYTES)?;
        std::str::from_utf8(value).map_err(|_| QueryError::NotUtf8)
    }

    /// Reads a text that a parameter or quotes may give.
    pub(super) fn parameter_or_quoted(&mut self) -> Result<Option<String>, QueryError> {
        Ok(match self.parameter()? {
            Some((_, value)) => Some(unescape(value).into_owned()),
            None => self.lexer.quoted(),
        })
    }

    /// Reads a number or its parameter, after a sign or none.
    pub(super) fn number(&mut self) -> Result<f64, QueryError> {
        let is_negative = self.lexer.take("-");
        if !is_negative {
            self.lexer.take("+");
        }
        self.lexer.skip_spaces();
        let number = match self.parameter()? {
            Some((name, value)) => number_of(value)
                .ok_or_else(|| QueryError::ParameterNumber { name: shown(name), value: shown(value) })?,
            None => self.lexer.number().ok_or_else(|| self.lexer.error())?,
        };
        Ok(if is_negative { -number } else { number })
    }

    pub(super) fn require(&mut self, text: &str) -> Result<(), QueryError> {
        if self.lexer.take(text) { Ok(()) } else { Err(self.lexer.error()) }
    }

    /// Counts parts of the tree.
    pub(super) fn count(&mut self, parts: usize) -> Result<(), QueryError> {
        self.parts = self.parts.saturating_add(parts);
        if self.parts > PARTS_MAX { Err(QueryError::TooLong) } else { Ok(()) }
    }

    fn enter(&mut self) -> Result<(), QueryError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(QueryError::TooDeep) } else { Ok(()) }
    }

    fn enter_operator(&mut self, operator: &str) -> Result<(), QueryError> {
        self.lexer.take(operator);
        self.primaries += 1;
        self.count(1)?;
        self.enter()
    }
}

/// Returns the TEXT fields that words without a field look into.
fn unscoped_fields(definition: &Definition, options: &QueryOptions<'_>) -> Vec<usize> {
    let names: Option<HashSet<&[u8]>> = options.in_fields.map(|names| names.iter().map(|name| &**name).collect());
    let is_searched =
        |field: &Field| field.is_indexed_text() && names.as_ref().is_none_or(|names| names.contains(&*field.attribute));
    let fields = definition.fields.iter().enumerate();
    fields.filter(|(_, field)| is_searched(field)).map(|(position, _)| position).collect()
}

/// Returns the query that matches all parts.
pub(crate) fn every(parts: Vec<Query>) -> Option<Query> {
    join(parts, Query::Every, |part| match part {
        Query::Every(inner) => Ok(inner),
        part => Err(part),
    })
}

/// Returns the query that matches any part.
pub(super) fn any(parts: Vec<Query>) -> Option<Query> {
    join(parts, Query::Any, |part| match part {
        Query::Any(inner) => Ok(inner),
        part => Err(part),
    })
}

fn join(
    parts: Vec<Query>,
    make: fn(Vec<Query>) -> Query,
    unwrap: impl Fn(Query) -> Result<Vec<Query>, Query>,
) -> Option<Query> {
    let mut flat = Vec::with_capacity(parts.len());
    for part in parts {
        match unwrap(part) {
            Ok(inner) => flat.extend(inner),
            Err(part) => flat.push(part),
        }
    }
    if flat.len() > 1 { Some(make(flat)) } else { flat.pop() }
}

fn not(part: Query) -> Query {
    match part {
        Query::Not(inner) => *inner,
        part => Query::Not(Box::new(part)),
    }
}

fn optional(part: Query) -> Query {
    match part {
        Query::Optional(_) => part,
        part => Query::Optional(Box::new(part)),
    }
}
