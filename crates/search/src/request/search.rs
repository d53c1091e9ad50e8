//! Options of FT.SEARCH.

use super::{QuerySettings, RequestError, check_size, take_limit, unknown};
use crate::arguments::{ArgumentCursor, is_word, parse_bound, without_at};
use crate::definition::Language;
use crate::place::circle_radius_m;
use crate::query::QueryOptions;
use crate::text::shown;
use std::ops::Bound;
use values::geo;

/// The maximum number of rows that LIMIT skips, and that it takes.
pub const RESULTS_MAX: u64 = 1_000_000;

/// The rows that a search returns unless LIMIT says otherwise.
const RESULTS_COUNT: u64 = 10;

/// The maximum number of filters.
const FILTERS_MAX: usize = 1000;

/// Options of RediSearch that Bobbin does not have.
const NOT_SUPPORTED: [&str; 10] = [
    "WITHSCORES",
    "WITHPAYLOADS",
    "SUMMARIZE",
    "HIGHLIGHT",
    "SLOP",
    "INORDER",
    "EXPANDER",
    "SCORER",
    "EXPLAINSCORE",
    "PAYLOAD",
];

/// The options of FT.SEARCH. Names of fields are not checked.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// True with NOCONTENT or `RETURN 0`: only keys are returned.
    pub has_no_content: bool,
    /// True with VERBATIM: words are not stemmed.
    pub is_verbatim: bool,
    /// True with NOSTOPWORDS: stop words in the query are kept.
    pub keeps_stop_words: bool,
    /// True with WITHSORTKEYS: the value that a row is sorted by is returned too.
    pub has_sort_keys: bool,
    /// FILTER: every one must match.
    pub number_filters: Vec<NumberFilter>,
    /// GEOFILTER: every one must match.
    pub circle_filters: Vec<CircleFilter>,
    /// INKEYS: other keys are not found. None is found if it is empty.
    pub keys: Option<Vec<Box<[u8]>>>,
    /// INFIELDS: words are looked for in these TEXT fields alone. Never empty.
    pub fields: Option<Vec<Box<[u8]>>>,
    /// RETURN: fields of the hash that are returned; `None` for all.
    pub returned: Option<Vec<ReturnedField>>,
    /// SORTBY.
    pub sort: Option<SortField>,
    /// False with WITHOUTCOUNT: the count of matches may stop at the rows that are returned.
    pub is_counted: bool,
    /// Rows that are skipped.
    pub offset: u64,
    /// Rows that are returned at most; 0 counts only.
    pub count: u64,
    /// PARAMS, DIALECT, TIMEOUT.
    pub settings: QuerySettings,
    /// LANGUAGE; `None` for the index' own.
    pub language: Option<Language>,
}

/// `FILTER field from to`.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberFilter {
    /// A NUMERIC field.
    pub field: Box<[u8]>,
    /// The least number.
    pub from: Bound<f64>,
    /// The greatest number.
    pub to: Bound<f64>,
}

/// `GEOFILTER field longitude latitude radius unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct CircleFilter {
    /// A GEO field.
    pub field: Box<[u8]>,
    /// Degrees east, -180 to 180.
    pub longitude: f64,
    /// Degrees north, -90 to 90.
    pub latitude: f64,
    /// Metres, above 0.
    pub radius_m: f64,
}

/// A field of RETURN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnedField {
    /// The field, by either name.
    pub identifier: Box<[u8]>,
    /// Its name in the reply: AS, or the same.
    pub name: Box<[u8]>,
}

/// The field of SORTBY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortField {
    /// The field, without `@`.
    pub field: Box<[u8]>,
    /// True with DESC.
    pub is_descending: bool,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            has_no_content: false,
            is_verbatim: false,
            keeps_stop_words: false,
            has_sort_keys: false,
            number_filters: Vec::new(),
            circle_filters: Vec::new(),
            keys: None,
            fields: None,
            returned: None,
            sort: None,
            is_counted: true,
            offset: 0,
            count: RESULTS_COUNT,
            settings: QuerySettings::default(),
            language: None,
        }
    }
}

impl SearchRequest {
    /// Parses the words after the query. FT.EXPLAIN and FT.EXPLAINCLI take the same.
    pub fn parse(arguments: &[&[u8]]) -> Result<Self, RequestError> {
        let mut cursor = ArgumentCursor::new(arguments);
        let mut request = Self::default();
        while let Some(option) = cursor.next_word() {
            let is_known = request.settings.take(option, &mut cursor)?
                || request.take_flag(option)
                || request.take_filter(option, &mut cursor)?
                || request.take_result_option(option, &mut cursor)?;
            if !is_known {
                let refused = NOT_SUPPORTED.into_iter().find(|refused| is_word(option, refused));
                return Err(refused.map_or_else(|| unknown(option, &cursor), RequestError::NotSupported));
            }
        }
        Ok(request)
    }

    /// Returns the options that the query is parsed with.
    pub fn query_options(&self) -> QueryOptions<'_> {
        QueryOptions {
            settings: &self.settings,
            is_verbatim: self.is_verbatim,
            keeps_stop_words: self.keeps_stop_words,
            in_fields: self.fields.as_deref(),
        }
    }

    fn take_flag(&mut self, option: &[u8]) -> bool {
        match option.to_ascii_uppercase().as_slice() {
            b"NOCONTENT" => self.has_no_content = true,
            b"VERBATIM" => self.is_verbatim = true,
            b"NOSTOPWORDS" => self.keeps_stop_words = true,
            b"WITHSORTKEYS" => self.has_sort_keys = true,
            b"WITHCOUNT" => self.is_counted = true,
            b"WITHOUTCOUNT" => self.is_counted = false,
            _ => return false,
        }
        true
    }

    /// Reads an option that says which rows match.
    fn take_filter(&mut self, option: &[u8], cursor: &mut ArgumentCursor<'_>) -> Result<bool, RequestError> {
        match option.to_ascii_uppercase().as_slice() {
            b"FILTER" => self.number_filters.push(take_number_filter(cursor)?),
            b"GEOFILTER" => self.circle_filters.push(take_circle_filter(cursor)?),
            b"INKEYS" => self.keys = Some(owned(cursor.list("INKEYS")?)),
            b"INFIELDS" => {
                let fields = owned(cursor.list("INFIELDS")?);
                self.fields = (!fields.is_empty()).then_some(fields);
            }
            b"LANGUAGE" => {
                let language = Language::parse(cursor.value("LANGUAGE")?);
                self.language = Some(language.ok_or(RequestError::UnknownLanguage)?);
            }
            _ => return Ok(false),
        }
        if self.number_filters.len() + self.circle_filters.len() > FILTERS_MAX {
            return Err(RequestError::TooManyFilters(FILTERS_MAX));
        }
        Ok(true)
    }

    /// Reads an option about the rows and fields that are returned.
    fn take_result_option(&mut self, option: &[u8], cursor: &mut ArgumentCursor<'_>) -> Result<bool, RequestError> {
        match option.to_ascii_uppercase().as_slice() {
            b"RETURN" => {
                let returned = parse_returned(cursor.list("RETURN")?)?;
                self.has_no_content |= returned.is_empty();
                self.returned = Some(returned);
            }
            b"SORTBY" => {
                if self.sort.is_some() {
                    return Err(RequestError::SecondSort);
                }
                let field = cursor.next_word().ok_or(RequestError::NoSortField)?;
                let is_descending = !cursor.take("ASC") && cursor.take("DESC");
                self.sort = Some(SortField { field: without_at(field).into(), is_descending });
            }
            b"LIMIT" => {
                (self.offset, self.count) = take_limit(cursor)?;
                check_size("LIMIT", self.count, RESULTS_MAX)?;
                check_size("OFFSET", self.offset, RESULTS_MAX)?;
            }
            b"FORMAT" => match cursor.next_word().ok_or(RequestError::NoValue("FORMAT"))? {
                string if is_word(string, "STRING") => {}
                expanded if is_word(expanded, "EXPAND") => return Err(RequestError::ExpandedHash),
                other => return Err(RequestError::UnknownFormat(shown(other))),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn owned(words: &[&[u8]]) -> Vec<Box<[u8]>> {
    words.iter().map(|word| (*word).into()).collect()
}

fn take_number_filter(cursor: &mut ArgumentCursor<'_>) -> Result<NumberFilter, RequestError> {
    let mut next = || cursor.next_word().ok_or(RequestError::ShortFilter);
    let (field, from, to) = (next()?, next()?, next()?);
    Ok(NumberFilter {
        field: field.into(),
        from: parse_bound(from).ok_or_else(|| RequestError::BadLowerEnd(shown(from)))?,
        to: parse_bound(to).ok_or_else(|| RequestError::BadUpperEnd(shown(to)))?,
    })
}

fn take_circle_filter(cursor: &mut ArgumentCursor<'_>) -> Result<CircleFilter, RequestError> {
    if cursor.left_count() < 5 {
        return Err(RequestError::ShortCircle);
    }
    let field = cursor.value("GEOFILTER")?.into();
    let (longitude, latitude, radius) = (cursor.number("<lon>")?, cursor.number("<lat>")?, cursor.number("<radius>")?);
    let word = cursor.value("GEOFILTER")?;
    let unit_m = geo::unit_m(word).ok_or_else(|| RequestError::UnknownUnit(shown(word)))?;
    let radius_m = circle_radius_m((longitude, latitude), radius, unit_m)?;
    Ok(CircleFilter { field, longitude, latitude, radius_m })
}

fn parse_returned(words: &[&[u8]]) -> Result<Vec<ReturnedField>, RequestError> {
    let mut cursor = ArgumentCursor::new(words);
    let mut returned = Vec::new();
    while let Some(identifier) = cursor.next_word() {
        let mut name = identifier;
        if cursor.take("AS") {
            name = cursor.next_word().ok_or(RequestError::NoReturnedName)?;
            if is_word(name, "AS") {
                return Err(RequestError::ReturnedAsAs);
            }
        }
        returned.push(ReturnedField { identifier: identifier.into(), name: name.into() });
    }
    Ok(returned)
}
