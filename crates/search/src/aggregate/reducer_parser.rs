//! REDUCE function count argument ... [AS name]

use super::error::AggregateError;
use super::request::{ReducerCall, ReducerFunction, SAMPLE_MAX, SortKey};
use crate::arguments::{ArgumentCursor, without_at};
use crate::request::RequestError;
use crate::text::shown;

/// The function of a reducer, and the property that it reads.
type ReducerParts = Result<(ReducerFunction, Option<Box<[u8]>>), AggregateError>;

/// Parses the arguments of one reducer.
type ReducerArgumentsParser = fn(&mut ArgumentCursor<'_>) -> ReducerParts;

/// Reducers by their names.
const REDUCERS: [(&str, ReducerArgumentsParser); 12] = [
    ("COUNT", count),
    ("COUNT_DISTINCT", |arguments| of_property("COUNT_DISTINCT", ReducerFunction::CountDistinct, arguments)),
    ("COUNT_DISTINCTISH", |arguments| of_property("COUNT_DISTINCTISH", ReducerFunction::CountDistinct, arguments)),
    ("SUM", |arguments| of_property("SUM", ReducerFunction::Sum, arguments)),
    ("MIN", |arguments| of_property("MIN", ReducerFunction::Minimum, arguments)),
    ("MAX", |arguments| of_property("MAX", ReducerFunction::Maximum, arguments)),
    ("AVG", |arguments| of_property("AVG", ReducerFunction::Average, arguments)),
    ("STDDEV", |arguments| of_property("STDDEV", ReducerFunction::Deviation, arguments)),
    ("QUANTILE", quantile),
    ("TOLIST", |arguments| of_property("TOLIST", ReducerFunction::ToList, arguments)),
    ("FIRST_VALUE", first_value),
    ("RANDOM_SAMPLE", random_sample),
];

/// Parses the words after REDUCE.
pub(super) fn reducer(arguments: &mut ArgumentCursor<'_>) -> Result<ReducerCall, AggregateError> {
    let word = arguments.value("REDUCE")?;
    if word.eq_ignore_ascii_case(b"COLLECT") {
        return Err(RequestError::NotSupported("COLLECT").into());
    }
    let row = REDUCERS.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(word));
    let (name, parse) = *row.ok_or_else(|| AggregateError::UnknownReducer(shown(word)))?;
    let words = arguments.list(name)?;
    let mut taken = ArgumentCursor::new(words);
    let (function, property) = parse(&mut taken)?;
    if taken.left_count() > 0 {
        return Err(AggregateError::ReducerArguments(name));
    }
    let name = if arguments.take("AS") {
        arguments.next_word().ok_or(AggregateError::NoName)?.into()
    } else {
        generated_name(word, words)
    };
    Ok(ReducerCall { function, property, name })
}

/// Returns the name of a result without AS.
fn generated_name(function: &[u8], arguments: &[&[u8]]) -> Box<[u8]> {
    let arguments: Vec<&[u8]> = arguments.iter().map(|argument| without_at(argument)).collect();
    let name = [b"__generated_alias", function, &arguments.join(&b","[..])].concat();
    name.to_ascii_lowercase().into()
}

fn count(arguments: &mut ArgumentCursor<'_>) -> ReducerParts {
    if arguments.left_count() > 0 { Err(AggregateError::CountArguments) } else { Ok((ReducerFunction::Count, None)) }
}

fn of_property(name: &'static str, function: ReducerFunction, arguments: &mut ArgumentCursor<'_>) -> ReducerParts {
    Ok((function, Some(without_at(arguments.value(name)?).into())))
}

/// Parses a property, a share, and a resolution, which an exact result does not need.
fn quantile(arguments: &mut ArgumentCursor<'_>) -> ReducerParts {
    let property = without_at(arguments.value("QUANTILE")?);
    let share = arguments.number("QUANTILE")?;
    if !(0.0..=1.0).contains(&share) {
        return Err(AggregateError::Quantile);
    }
    if arguments.left_count() > 0 {
        arguments.integer("QUANTILE")?;
    }
    Ok((ReducerFunction::Quantile(share), Some(property.into())))
}

fn first_value(arguments: &mut ArgumentCursor<'_>) -> ReducerParts {
    let property = without_at(arguments.value("FIRST_VALUE")?);
    let mut by = None;
    if arguments.take("BY") {
        let name = without_at(arguments.value("FIRST_VALUE")?).into();
        let is_descending = !arguments.take("ASC") && arguments.take("DESC");
        by = Some(SortKey { name, is_descending });
    }
    Ok((ReducerFunction::FirstValue(by), Some(property.into())))
}

fn random_sample(arguments: &mut ArgumentCursor<'_>) -> ReducerParts {
    let property = without_at(arguments.value("RANDOM_SAMPLE")?);
    let count = arguments.integer("RANDOM_SAMPLE")?;
    let count = usize::try_from(count).ok().filter(|count| *count <= SAMPLE_MAX).ok_or(AggregateError::SampleSize)?;
    Ok((ReducerFunction::RandomSample(count), Some(property.into())))
}
