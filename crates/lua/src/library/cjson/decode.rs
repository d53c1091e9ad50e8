//! Decodes JSON.

use super::Settings;
use crate::library::{Data, Room};
use crate::machine::OUT_OF_MEMORY;

/// The maximum nesting depth of arrays and objects, which are read recursively.
const DEPTH_MAX: usize = 4000;

/// Decodes exactly one value, within the memory limit.
///
/// # Errors
/// A description of the expected token, the token found, and its location.
pub fn decode(text: &[u8], settings: &Settings, room: Room) -> Result<Data, String> {
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        return Err("JSON parser does not support UTF-16 or UTF-32".to_owned());
    }
    let mut reader = JsonReader { text, at: 0, start: 0, depth: 0, settings, room };
    let token = reader.next();
    let data = reader.value(token)?;
    match reader.next() {
        JsonToken::End => Ok(data),
        other => Err(reader.expected("the end", &other)),
    }
}

struct JsonReader<'a> {
    text: &'a [u8],
    at: usize,
    /// The start of the last token.
    start: usize,
    depth: usize,
    settings: &'a Settings,
    room: Room,
}

enum JsonToken {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    Text(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Wrong(&'static str),
}

impl JsonToken {
    fn name(&self) -> &'static str {
        match self {
            Self::ObjectBegin => "T_OBJ_BEGIN",
            Self::ObjectEnd => "T_OBJ_END",
            Self::ArrayBegin => "T_ARR_BEGIN",
            Self::ArrayEnd => "T_ARR_END",
            Self::Text(_) => "T_STRING",
            Self::Number(_) => "T_NUMBER",
            Self::Boolean(_) => "T_BOOLEAN",
            Self::Null => "T_NULL",
            Self::Colon => "T_COLON",
            Self::Comma => "T_COMMA",
            Self::End => "T_END",
            Self::Wrong(why) => why,
        }
    }
}

impl JsonReader<'_> {
    fn expected(&self, what: &str, found: &JsonToken) -> String {
        format!("Expected {what} but found {} at character {}", found.name(), self.start + 1)
    }

    fn descend(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > self.settings.decode_depth_max.min(DEPTH_MAX) {
            let (depth, at) = (self.depth, self.at);
            return Err(format!("Found too many nested data structures ({depth}) at character {at}"));
        }
        Ok(())
    }

    fn value(&mut self, token: JsonToken) -> Result<Data, String> {
        let bytes = if let JsonToken::Text(text) = &token { text.len() } else { 0 };
        if !self.room.take(bytes) {
            return Err(OUT_OF_MEMORY.to_owned());
        }
        Ok(match token {
            JsonToken::Text(text) => Data::Text(text),
            JsonToken::Number(number) => Data::Number(number),
            JsonToken::Boolean(is) => Data::Boolean(is),
            JsonToken::Null => Data::Null,
            JsonToken::ObjectBegin => self.object()?,
            JsonToken::ArrayBegin => self.array()?,
            other => return Err(self.expected("value", &other)),
        })
    }

    fn object(&mut self) -> Result<Data, String> {
        self.descend()?;
        let mut pairs = Vec::new();
        let mut token = self.next();
        if !matches!(token, JsonToken::ObjectEnd) {
            loop {
                let JsonToken::Text(key) = token else { return Err(self.expected("object key string", &token)) };
                match self.next() {
                    JsonToken::Colon => {}
                    other => return Err(self.expected("colon", &other)),
                }
                let next = self.next();
                let key = self.value(JsonToken::Text(key))?;
                pairs.push((key, self.value(next)?));
                match self.next() {
                    JsonToken::ObjectEnd => break,
                    JsonToken::Comma => token = self.next(),
                    other => return Err(self.expected("comma or object end", &other)),
                }
            }
        }
        self.depth -= 1;
        Ok(Data::Map(pairs))
    }

    fn array(&mut self) -> Result<Data, String> {
        self.descend()?;
        let mut values = Vec::new();
        let mut token = self.next();
        if !matches!(token, JsonToken::ArrayEnd) {
            loop {
                values.push(self.value(token)?);
                match self.next() {
                    JsonToken::ArrayEnd => break,
                    JsonToken::Comma => token = self.next(),
                    other => return Err(self.expected("comma or array end", &other)),
                }
            }
        }
        self.depth -= 1;
        Ok(Data::Array(values))
    }

    fn next(&mut self) -> JsonToken {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.start = self.at;
        let Some(byte) = self.text.get(self.at) else { return JsonToken::End };
        let single = match byte {
            b'{' => JsonToken::ObjectBegin,
            b'}' => JsonToken::ObjectEnd,
            b'[' => JsonToken::ArrayBegin,
            b']' => JsonToken::ArrayEnd,
            b',' => JsonToken::Comma,
            b':' => JsonToken::Colon,
            0 => return JsonToken::End,
            b'"' => {
                return self.string().unwrap_or_else(|(at, why)| {
                    self.start = at;
                    JsonToken::Wrong(why)
                });
            }
            b'-' | b'0'..=b'9' => return self.number(),
            _ => return self.word(),
        };
        self.at += 1;
        single
    }

    fn word(&mut self) -> JsonToken {
        let words = [
            (&b"true"[..], JsonToken::Boolean(true)),
            (b"false", JsonToken::Boolean(false)),
            (b"null", JsonToken::Null),
        ];
        for (word, token) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return token;
            }
        }
        let rest = &self.text[self.at..];
        let has = |word: &[u8]| rest.get(..word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word));
        if (rest[0] == b'+' || has(b"inf") || has(b"nan")) && self.settings.decode_invalid {
            self.number()
        } else {
            JsonToken::Wrong("invalid token")
        }
    }

    /// Reads a number like C's strtod, including infinities and hexadecimal ones.
    fn number(&mut self) -> JsonToken {
        let rest = &self.text[self.at..];
        let (number, length) = match scan_number(rest) {
            Some(found) => found,
            None => return JsonToken::Wrong("invalid number"),
        };
        let digits = rest.strip_prefix(b"-").unwrap_or(rest);
        let has_zero = digits.len() > 1 && digits[0] == b'0' && matches!(digits[1], b'x' | b'X' | b'0'..=b'9');
        let is_invalid = has_zero || digits[0] == b'+' || digits[0] > b'9';
        if is_invalid && !self.settings.decode_invalid {
            return JsonToken::Wrong("invalid number");
        }
        self.at += length;
        JsonToken::Number(number)
    }

    fn string(&mut self) -> Result<JsonToken, (usize, &'static str)> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let byte = self.text.get(self.at).copied().filter(|byte| *byte != 0);
            match byte.ok_or((self.at, "unexpected end of string"))? {
                b'"' => {
                    self.at += 1;
                    return Ok(JsonToken::Text(text));
                }
                b'\\' => {
                    let escape = self.text.get(self.at + 1).copied().unwrap_or(0);
                    let plain = match escape {
                        b'b' => 8,
                        b't' => b'\t',
                        b'n' => b'\n',
                        b'f' => 12,
                        b'r' => b'\r',
                        b'"' | b'\\' | b'/' => escape,
                        b'u' => {
                            let sign = self.unicode().ok_or((self.at, "invalid unicode escape code"))?;
                            let mut buffer = [0; 4];
                            text.extend_from_slice(sign.encode_utf8(&mut buffer).as_bytes());
                            continue;
                        }
                        _ => return Err((self.at, "invalid escape code")),
                    };
                    text.push(plain);
                    self.at += 2;
                }
                byte => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// Reads `\uXXXX`, or a surrogate pair of them.
    fn unicode(&mut self) -> Option<char> {
        let high = self.four_digits(self.at)?;
        if !(0xd800..0xe000).contains(&high) {
            self.at += 6;
            return char::from_u32(high);
        }
        let low = self.four_digits(self.at + 6)?;
        if !(0xd800..0xdc00).contains(&high) || !(0xdc00..0xe000).contains(&low) {
            return None;
        }
        self.at += 12;
        char::from_u32(0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff))
    }

    fn four_digits(&self, at: usize) -> Option<u32> {
        let escape = self.text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits = std::str::from_utf8(escape).ok()?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    }
}

/// Returns the number at the start of `text`, and its length.
fn scan_number(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let digits = &text[sign..];
    let signed = |number: f64| if text[0] == b'-' { -number } else { number };
    for (word, number) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if digits.len() >= word.len() && digits[..word.len()].eq_ignore_ascii_case(word.as_bytes()) {
            return Some((signed(number), sign + word.len()));
        }
    }
    let count = |text: &[u8], is: fn(&u8) -> bool| text.iter().take_while(|byte| is(byte)).count();
    if digits.len() > 2 && digits[0] == b'0' && matches!(digits[1], b'x' | b'X') && digits[2].is_ascii_hexdigit() {
        let length = count(&digits[2..], u8::is_ascii_hexdigit);
        let number = digits[2..2 + length]
            .iter()
            .fold(0.0, |number, digit| number * 16.0 + f64::from((*digit as char).to_digit(16).unwrap_or_default()));
        return Some((signed(number), sign + 2 + length));
    }
    let mut length = count(digits, u8::is_ascii_digit);
    let mut digits_count = length;
    if digits.get(length) == Some(&b'.') {
        let fraction = count(&digits[length + 1..], u8::is_ascii_digit);
        digits_count += fraction;
        length += 1 + fraction;
    }
    if digits_count == 0 {
        return None;
    }
    if matches!(digits.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(digits.get(length + 1), Some(b'+' | b'-')));
        let exponent = count(&digits[length + 1 + sign..], u8::is_ascii_digit);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    let number = std::str::from_utf8(&text[..sign + length]).ok()?.parse().ok()?;
    Some((number, sign + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Data, String> {
        decode(text.as_bytes(), &Settings::default(), Room { bytes: 1 << 20 })
    }

    #[test]
    fn json_values_are_decoded() {
        let text = |text: &str| Data::Text(text.as_bytes().to_vec());
        assert_eq!(
            read(" [1, -2.5e1,true,null,\"a\\u00e9\\ud83d\\ude00\\n\"] "),
            Ok(Data::Array(vec![
                Data::Number(1.0),
                Data::Number(-25.0),
                Data::Boolean(true),
                Data::Null,
                text("a\u{e9}\u{1f600}\n"),
            ]))
        );
        assert_eq!(
            read("{\"a\":{},\"b\":[]}"),
            Ok(Data::Map(vec![(text("a"), Data::Map(vec![])), (text("b"), Data::Array(vec![])),]))
        );
        assert_eq!(read("0x10"), Ok(Data::Number(16.0)));
    }

    #[test]
    fn decoding_beyond_the_memory_bound_fails() {
        let text = format!("[{}0]", "0,".repeat(1000));
        let of = |bytes| decode(text.as_bytes(), &Settings::default(), Room { bytes });
        assert!(of(1002 * size_of::<Data>()).is_ok());
        assert_eq!(of(1001 * size_of::<Data>()), Err("not enough memory".to_owned()));
    }

    #[test]
    fn malformed_json_gets_the_errors_of_cjson() {
        let known = [
            ("", "Expected value but found T_END at character 1"),
            ("[1", "Expected comma or array end but found T_END at character 3"),
            ("{1:2}", "Expected object key string but found T_NUMBER at character 2"),
            ("{\"a\" 1}", "Expected colon but found T_NUMBER at character 6"),
            ("x", "Expected value but found invalid token at character 1"),
            ("1 2", "Expected the end but found T_NUMBER at character 3"),
        ];
        for (text, why) in known {
            assert_eq!(read(text), Err(why.to_owned()), "{text}");
        }
        assert!(read(&"[".repeat(2000)).unwrap_err().starts_with("Found too many nested data structures (1001)"));
    }
}
