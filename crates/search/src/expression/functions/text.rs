//! Functions of texts: Null if an argument is no text, except where RediSearch refuses it.

use super::{EvaluationError, ExpressionEvaluation, FunctionArguments, required_number, required_text};
use crate::value::Value;

/// The result of a function of texts.
type TextResult = Result<Value, EvaluationError>;

/// Returns the texts of all arguments, if all are texts, and spends their length.
fn texts<'a, const COUNT: usize>(
    arguments: FunctionArguments<'a, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
) -> Result<Option<[&'a [u8]; COUNT]>, EvaluationError> {
    let mut found = [&b""[..]; COUNT];
    for (place, argument) in found.iter_mut().zip(arguments) {
        let Value::Text(text) = &**argument else { return Ok(None) };
        evaluation.spend(text.len())?;
        *place = text;
    }
    Ok(Some(found))
}

pub(super) fn upper(arguments: FunctionArguments<'_, '_>, evaluation: &mut ExpressionEvaluation<'_, '_>) -> TextResult {
    cased(arguments, evaluation, str::to_uppercase, <[u8]>::to_ascii_uppercase)
}

pub(super) fn lower(arguments: FunctionArguments<'_, '_>, evaluation: &mut ExpressionEvaluation<'_, '_>) -> TextResult {
    cased(arguments, evaluation, str::to_lowercase, <[u8]>::to_ascii_lowercase)
}

/// Changes the case of all letters; of texts that are not UTF-8, only of letters of ASCII.
fn cased(
    arguments: FunctionArguments<'_, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
    of_text: fn(&str) -> String,
    of_bytes: fn(&[u8]) -> Vec<u8>,
) -> TextResult {
    let Some([text]) = texts(arguments, evaluation)? else { return Ok(Value::Null) };
    Ok(match std::str::from_utf8(text) {
        Ok(text) => Value::text(of_text(text)),
        Err(_) => Value::text(of_bytes(text)),
    })
}

pub(super) fn starts_with(
    arguments: FunctionArguments<'_, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
) -> TextResult {
    let Some([text, prefix]) = texts(arguments, evaluation)? else { return Ok(Value::Null) };
    Ok(Value::truth(text.starts_with(prefix)))
}

pub(super) fn contains(
    arguments: FunctionArguments<'_, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
) -> TextResult {
    let Some([text, part]) = texts(arguments, evaluation)? else { return Ok(Value::Null) };
    evaluation.spend(part.len() * size_of::<usize>())?;
    Ok(Value::Number(occurrences(text, part) as f64))
}

/// Returns how often a part occurs, also overlapping; an empty one before each byte and at the end. O(both lengths), by
/// the algorithm of Knuth, Morris and Pratt.
fn occurrences(text: &[u8], part: &[u8]) -> usize {
    if part.is_empty() {
        return text.len() + 1;
    }
    let borders = borders(part);
    let (mut count, mut matched) = (0, 0);
    for byte in text {
        while matched > 0 && part.get(matched) != Some(byte) {
            matched = borders[matched - 1];
        }
        matched += usize::from(part[matched] == *byte);
        if matched == part.len() {
            count += 1;
            matched = borders[matched - 1];
        }
    }
    count
}

/// Returns for each beginning of a part the length of its longest proper end that is a beginning of the part.
fn borders(part: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; part.len()];
    let mut length = 0;
    for at in 1..part.len() {
        while length > 0 && part[at] != part[length] {
            length = borders[length - 1];
        }
        length += usize::from(part[at] == part[length]);
        borders[at] = length;
    }
    borders
}

pub(super) fn length(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TextResult {
    Ok(match &*arguments[0] {
        Value::Text(text) => Value::Number(text.len() as f64),
        _ => Value::Null,
    })
}

/// `substr(text, offset, count)`: a negative offset counts from the end, a negative count means the rest.
pub(super) fn part(arguments: FunctionArguments<'_, '_>, evaluation: &mut ExpressionEvaluation<'_, '_>) -> TextResult {
    let text = required_text(arguments, 0, "substr")?;
    let offset = required_number(arguments, 1, "substr")? as i64;
    let count = required_number(arguments, 2, "substr")? as i64;
    let bytes = text.len() as i64;
    let from = if offset < 0 { bytes.saturating_add(offset).max(0) } else { offset.min(bytes) };
    let to = if count < 0 { bytes } else { from.saturating_add(count).min(bytes) };
    let part = &text[from as usize..to as usize];
    evaluation.spend(part.len())?;
    Ok(Value::text(part))
}

/// `format(text, ...)`: `%s` is the next argument, `%%` is `%`.
pub(super) fn format(
    arguments: FunctionArguments<'_, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
) -> TextResult {
    let mut rest = required_text(arguments, 0, "format")?;
    let mut following = arguments[1..].iter();
    let mut made = Vec::new();
    loop {
        let plain = rest.iter().position(|byte| *byte == b'%').unwrap_or(rest.len());
        evaluation.spend(plain)?;
        made.extend_from_slice(&rest[..plain]);
        rest = match &rest[plain..] {
            [] => return Ok(Value::Text(made.into())),
            [_] => return Err(EvaluationError::FormatEnd),
            [_, b'%', rest @ ..] => {
                made.push(b'%');
                rest
            }
            [_, b's', rest @ ..] => {
                let argument = following.next().ok_or(EvaluationError::FormatArguments)?;
                let text = argument.as_text().unwrap_or(b"(null)".into());
                evaluation.spend(text.len())?;
                made.extend_from_slice(&text);
                rest
            }
            _ => return Err(EvaluationError::FormatSpecifier),
        };
    }
}

pub(super) fn to_str(
    arguments: FunctionArguments<'_, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
) -> TextResult {
    let Some(text) = arguments[0].as_text() else { return Ok(Value::Null) };
    evaluation.spend(text.len())?;
    Ok(Value::text(text))
}

/// `split(text, separators, stripped)`: parts between any of the separators, without any of the stripped bytes at both
/// ends; parts left empty are left out.
pub(super) fn split(arguments: FunctionArguments<'_, '_>, evaluation: &mut ExpressionEvaluation<'_, '_>) -> TextResult {
    let Value::Text(text) = &*arguments[0] else { return Ok(Value::Null) };
    let separators = if arguments.len() > 1 { required_text(arguments, 1, "split")? } else { b"," };
    let stripped = if arguments.len() > 2 { required_text(arguments, 2, "split")? } else { b" " };
    let (separators, stripped) = (byte_set(separators), byte_set(stripped));
    let mut parts = Vec::new();
    for part in text.split(|byte| separators[usize::from(*byte)]) {
        evaluation.spend(part.len() + size_of::<Value>())?;
        let Some(from) = part.iter().position(|byte| !stripped[usize::from(*byte)]) else { continue };
        let to = part.iter().rposition(|byte| !stripped[usize::from(*byte)]).map_or(from, |last| last + 1);
        parts.push(Value::text(&part[from..to]));
    }
    Ok(Value::List(parts))
}

fn byte_set(bytes: &[u8]) -> [bool; 256] {
    let mut set = [false; 256];
    for byte in bytes {
        set[usize::from(*byte)] = true;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn occurrences_are_counted_as_by_trying_each_place(text in "[ab]{0,24}", part in "[ab]{1,4}") {
            let naive = (0..text.len()).filter(|at| text[*at..].starts_with(&part)).count();
            prop_assert_eq!(occurrences(text.as_bytes(), part.as_bytes()), naive);
        }
    }
}
