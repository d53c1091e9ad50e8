//! Words of an expression: numbers, texts in quotes, `@properties`, names and signs.

use super::error::ExpressionError;

/// A word of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpressionToken {
    /// A number without a sign.
    Number(f64),
    /// A text, without quotes and escapes.
    Quoted(Vec<u8>),
    /// The name of a field, without `@` and escapes.
    Property(Vec<u8>),
    /// The name of a function, `NULL` or `inf`.
    Name(Vec<u8>),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
}

/// A word, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedToken {
    pub(super) token: ExpressionToken,
    pub(super) offset: usize,
}

/// Signs, the longer ones first.
const SIGNS: [&str; 18] =
    ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "%", "^", "(", ")", ","];

/// Returns the words of an expression. O(length).
pub(super) fn tokens(text: &[u8]) -> Result<Vec<PlacedToken>, ExpressionError> {
    let mut found = Vec::new();
    let mut offset = 0;
    loop {
        offset += text[offset..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let Some((token, length)) = token(&text[offset..]) else {
            return if offset == text.len() { Ok(found) } else { Err(ExpressionError::syntax(text, offset)) };
        };
        found.push(PlacedToken { token, offset });
        offset += length;
    }
}

/// Returns the word at the beginning, and its length.
fn token(rest: &[u8]) -> Option<(ExpressionToken, usize)> {
    match *rest.first()? {
        quote @ (b'"' | b'\'') => quoted(rest, quote),
        b'@' => property(rest),
        b'0'..=b'9' | b'.' => number(rest),
        first if first.is_ascii_alphabetic() || first == b'_' => {
            let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            Some((ExpressionToken::Name(rest[..length].to_vec()), length))
        }
        _ => {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()))?;
            Some((ExpressionToken::Sign(sign), sign.len()))
        }
    }
}

/// Returns a text in quotes. A backslash takes itself away before punctuation only, so that `\d` stays what it is.
fn quoted(rest: &[u8], quote: u8) -> Option<(ExpressionToken, usize)> {
    let mut text = Vec::new();
    let mut at = 1;
    loop {
        match (*rest.get(at)?, rest.get(at + 1)) {
            (byte, _) if byte == quote => return Some((ExpressionToken::Quoted(text), at + 1)),
            (b'\\', Some(next)) if next.is_ascii_punctuation() => {
                text.push(*next);
                at += 2;
            }
            (byte, _) => {
                text.push(byte);
                at += 1;
            }
        }
    }
}

/// Returns a property: letters, digits, underscores, bytes beyond ASCII, and anything after a backslash.
fn property(rest: &[u8]) -> Option<(ExpressionToken, usize)> {
    let mut name = Vec::new();
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match (byte, rest.get(at + 1)) {
            (b'\\', Some(next)) => {
                name.push(*next);
                at += 1;
            }
            (byte, _) if byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii() => name.push(byte),
            _ => break,
        }
        at += 1;
    }
    (!name.is_empty()).then_some((ExpressionToken::Property(name), at))
}

/// Returns a number: digits, a fraction, an exponent.
fn number(rest: &[u8]) -> Option<(ExpressionToken, usize)> {
    let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if rest.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(rest.len()));
        length += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    let number = std::str::from_utf8(&rest[..length]).ok()?.parse().ok()?;
    Some((ExpressionToken::Number(number), length))
}
