//! Arguments become a request.

use super::error::AggregateError;
use super::reducer_parser;
use super::request::{
    AggregateRequest, Arrangement, CursorOptions, LoadedField, PipelineStep, SORT_FIELDS_MAX, STEPS_MAX, SortKey,
};
use crate::arguments::{ArgumentCursor, is_word, parse_count, without_at};
use crate::expression::{Expression, ExpressionError, PATTERNS_MAX};
use crate::request::{RequestError, take_limit, unknown};
use crate::text::shown;
use std::collections::HashSet;

/// Scorers of RediSearch 2.10.
const SCORERS: [&str; 9] =
    ["TFIDF", "TFIDF.DOCNORM", "BM25", "BM25STD", "BM25STD.NORM", "BM25STD.TANH", "DISMAX", "DOCSCORE", "HAMMING"];

/// Arguments not yet taken, and the request of those before them.
pub(super) struct RequestParser<'a> {
    arguments: ArgumentCursor<'a>,
    request: AggregateRequest,
    reducers_count: usize,
    /// Compiled regular expressions so far.
    patterns_count: usize,
}

/// The result of parsing a part.
type PartParsed = Result<(), AggregateError>;

impl<'a> RequestParser<'a> {
    pub(super) fn new(arguments: ArgumentCursor<'a>) -> Self {
        Self { arguments, request: AggregateRequest::default(), reducers_count: 0, patterns_count: 0 }
    }

    pub(super) fn request(mut self) -> Result<AggregateRequest, AggregateError> {
        while let Some(word) = self.arguments.next_word() {
            if !self.request.settings.take(word, &mut self.arguments)? {
                self.part(word)?;
            }
            if self.request.steps.len() + self.reducers_count > STEPS_MAX {
                return Err(AggregateError::TooManySteps(STEPS_MAX));
            }
        }
        Ok(self.request)
    }

    /// Parses the part that a word begins.
    fn part(&mut self, word: &[u8]) -> PartParsed {
        match &*word.to_ascii_uppercase() {
            b"LOAD" => self.load(),
            b"GROUPBY" => self.group(),
            b"SORTBY" => self.sort(),
            b"LIMIT" => self.limit(),
            b"APPLY" => self.apply(),
            b"FILTER" => self.filter(),
            b"WITHCURSOR" => self.cursor(),
            b"VERBATIM" => {
                self.request.is_verbatim = true;
                Ok(())
            }
            counted @ (b"WITHCOUNT" | b"WITHOUTCOUNT") => {
                self.request.is_counted = counted == b"WITHCOUNT";
                Ok(())
            }
            b"ADDSCORES" => Err(RequestError::NotSupported("ADDSCORES").into()),
            b"SCORER" => self.scorer(),
            b"WITHSCORES" => Err(RequestError::NotSupported("WITHSCORES").into()),
            b"SUMMARIZE" => Err(AggregateError::SearchOnly("SUMMARIZE")),
            b"HIGHLIGHT" => Err(AggregateError::SearchOnly("HIGHLIGHT")),
            _ => Err(unknown(word, &self.arguments).into()),
        }
    }

    /// Passes over the name of a scorer, which some clients always send: without ADDSCORES no score is ever seen.
    fn scorer(&mut self) -> PartParsed {
        let name = self.arguments.value("SCORER")?;
        if SCORERS.iter().any(|known| is_word(name, known)) {
            Ok(())
        } else {
            Err(AggregateError::UnknownScorer(shown(name)))
        }
    }

    fn load(&mut self) -> PartParsed {
        let is_grouped = self.request.steps.iter().any(|step| matches!(step, PipelineStep::Group { .. }));
        if is_grouped {
            return Err(AggregateError::LoadAfterGroup);
        }
        let count = self.arguments.value("LOAD")?;
        if count == b"*" {
            self.request.steps.push(PipelineStep::LoadAll);
            return Ok(());
        }
        let count = parse_count(count).ok_or(AggregateError::LoadCount)?;
        let mut words = ArgumentCursor::new(self.arguments.several(count, "LOAD")?);
        let mut fields = Vec::new();
        while let Some(word) = words.next_word() {
            let identifier = without_at(word);
            let name = if words.take("AS") { words.value("LOAD")? } else { identifier };
            fields.push(LoadedField { identifier: identifier.into(), name: without_at(name).into() });
        }
        self.request.steps.push(PipelineStep::Load(fields));
        Ok(())
    }

    fn group(&mut self) -> PartParsed {
        let mut keys: Vec<Box<[u8]>> = Vec::new();
        let mut names: HashSet<Box<[u8]>> = HashSet::new();
        for word in self.arguments.list("GROUPBY")? {
            let key = word.strip_prefix(b"@").ok_or_else(|| AggregateError::GroupWithoutAt(shown(word)))?;
            if !names.insert(key.into()) {
                return Err(AggregateError::duplicate(key));
            }
            keys.push(key.into());
        }
        let mut reducers = Vec::new();
        while self.arguments.take("REDUCE") {
            let reducer = reducer_parser::reducer(&mut self.arguments)?;
            if !names.insert(reducer.name.clone()) {
                return Err(AggregateError::duplicate(&reducer.name));
            }
            self.reducers_count += 1;
            if self.reducers_count > STEPS_MAX {
                return Err(AggregateError::TooManySteps(STEPS_MAX));
            }
            reducers.push(reducer);
        }
        self.request.steps.push(PipelineStep::Group { keys, reducers });
        Ok(())
    }

    /// Takes the last step if it arranges, or makes one that does.
    fn take_arrangement(&mut self) -> Arrangement {
        match self.request.steps.pop() {
            Some(PipelineStep::Arrange(arrangement)) => return arrangement,
            Some(other) => self.request.steps.push(other),
            None => {}
        }
        Arrangement::default()
    }

    fn sort(&mut self) -> PartParsed {
        let mut fields: Vec<SortKey> = Vec::new();
        for word in self.arguments.list("SORTBY")? {
            if let Some(name) = word.strip_prefix(b"@") {
                if fields.len() == SORT_FIELDS_MAX {
                    return Err(AggregateError::SortFields(SORT_FIELDS_MAX));
                }
                fields.push(SortKey { name: name.into(), is_descending: false });
                continue;
            }
            let is_descending = word.eq_ignore_ascii_case(b"DESC");
            match fields.last_mut() {
                Some(last) if is_descending || word.eq_ignore_ascii_case(b"ASC") => last.is_descending = is_descending,
                _ => return Err(AggregateError::SortDirection(shown(word))),
            }
        }
        let records_max = if self.arguments.take("MAX") { self.arguments.integer("MAX")? } else { 0 };
        let arrangement = self.take_arrangement();
        if arrangement.sort.is_some() {
            return Err(AggregateError::SortTwice);
        }
        self.request.steps.push(PipelineStep::Arrange(Arrangement { sort: Some(fields), records_max, ..arrangement }));
        Ok(())
    }

    fn limit(&mut self) -> PartParsed {
        let limit = take_limit(&mut self.arguments)?;
        let mut arrangement = self.take_arrangement();
        if arrangement.limit.is_some() {
            // A limit after a limit is a step of its own.
            self.request.steps.push(PipelineStep::Arrange(arrangement));
            arrangement = Arrangement::default();
        }
        self.request.steps.push(PipelineStep::Arrange(Arrangement { limit: Some(limit), ..arrangement }));
        Ok(())
    }

    fn apply(&mut self) -> PartParsed {
        let text = self.arguments.value("APPLY")?;
        let expression = self.expression(text)?;
        let name =
            if self.arguments.take("AS") { self.arguments.next_word().ok_or(AggregateError::NoName)? } else { text };
        self.request.steps.push(PipelineStep::Apply { expression, name: name.into() });
        Ok(())
    }

    fn filter(&mut self) -> PartParsed {
        let text = self.arguments.value("FILTER")?;
        let expression = self.expression(text)?;
        self.request.steps.push(PipelineStep::Filter(expression));
        Ok(())
    }

    fn expression(&mut self, text: &[u8]) -> Result<Expression, ExpressionError> {
        let expression = Expression::parse(text)?;
        self.patterns_count += expression.patterns_count();
        if self.patterns_count > PATTERNS_MAX {
            return Err(ExpressionError::TooManyPatterns(PATTERNS_MAX));
        }
        Ok(expression)
    }

    fn cursor(&mut self) -> PartParsed {
        let mut cursor = CursorOptions::default();
        loop {
            if self.arguments.take("COUNT") {
                cursor.records_count = Some(self.arguments.integer("COUNT")?);
            } else if self.arguments.take("MAXIDLE") {
                // redis-py sends whole milliseconds as `500.0`.
                cursor.idle_ms = Some(self.arguments.number("MAXIDLE")?.max(0.0) as u64);
            } else {
                self.request.cursor = Some(cursor);
                return Ok(());
            }
        }
    }
}
