//! Expected replies in transcripts.
//!
//! ```text
//! =OK   =7   =99..100   =~1.5   ="bytes\n"   =nil   =nil-array   =["a", 1]   =?["any", "order"]   =~["a", "set"]   =*
//! ={"k": 1}   =@{"m": ~1.5}            a map, and pairs
//! =%{"k": 1}                           a map that is pairs in RESP2
//! =found(2, ["a", {"k": 1}], ["b", {}])  the results of a search: their number, then rows
//! !ERR syntax error                    the beginning of an error, or all of it
//! ```
//!
//! `nil` and `nil-array` differ in RESP2 only. A map is a flat array in RESP2, and so are pairs, which are arrays of
//! two in RESP3. A set is an array in RESP2, in any order; a double is a bulk. Results of a search are a flat array in
//! RESP2, and a map with an array of maps in RESP3: a row has a key, a sort key and a map of fields, or some of them.

use wire::client::Value;

/// A pattern for a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyPattern {
    /// `*`: anything but an error.
    Any,
    /// An error with this prefix.
    Error(String),
    /// A status.
    Simple(String),
    /// An integer within inclusive bounds.
    Int(i64, i64),
    /// Bytes.
    Bulk(Vec<u8>),
    /// A null.
    Null,
    /// A null array.
    NullArray,
    /// Values in this order.
    Array(Vec<ReplyPattern>),
    /// Values in any order.
    Unordered(Vec<ReplyPattern>),
    /// Likewise, but a set.
    Set(Vec<ReplyPattern>),
    /// A double, as written.
    Double(String),
    /// Pairs in this order, each an array.
    Pairs(Vec<(ReplyPattern, ReplyPattern)>),
    /// Pairs in this order, each an array in RESP2, and a map in RESP3.
    PairsOrMap(Vec<(ReplyPattern, ReplyPattern)>),
    /// Pairs in this order.
    Map(Vec<(ReplyPattern, ReplyPattern)>),
    /// One in RESP2, another in RESP3.
    PerProtocol(Box<[ReplyPattern; 2]>),
}

impl ReplyPattern {
    /// Parses the pattern after a request; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(error) = text.strip_prefix('!') {
            return Some(Self::Error(error.to_owned()));
        }
        let mut input = Input { rest: text.strip_prefix('=')? };
        let pattern = input.pattern()?;
        input.skip_blanks();
        input.rest.is_empty().then_some(pattern)
    }

    /// Returns true if `value`, as read by a RESP2 or RESP3 client, matches.
    pub fn fits(&self, value: &Value, is_resp3: bool) -> bool {
        let all = |patterns: &[Self], values: &[Value]| {
            patterns.len() == values.len() && patterns.iter().zip(values).all(|(one, value)| one.fits(value, is_resp3))
        };
        match (self, value) {
            (Self::PerProtocol(patterns), value) => patterns[usize::from(is_resp3)].fits(value, is_resp3),
            (Self::Any, value) => value.as_error().is_none(),
            (Self::Error(text), Value::Error(found)) => found.starts_with(text.as_str()),
            (Self::Simple(text), Value::Simple(found)) => text == found,
            (Self::Int(least, most), Value::Int(found)) => (least..=most).contains(&found),
            (Self::Bulk(bytes), Value::Bulk(found)) => bytes == found,
            (Self::Null, Value::Null) | (Self::NullArray, Value::NullArray) => true,
            (Self::NullArray, Value::Null) => is_resp3,
            (Self::Array(patterns), Value::Array(values)) => all(patterns, values),
            (Self::Unordered(patterns), Value::Array(values)) => fit_somehow(patterns, values, is_resp3),
            (Self::Set(patterns), Value::Array(values)) => !is_resp3 && fit_somehow(patterns, values, is_resp3),
            (Self::Set(patterns), Value::Set(values)) => is_resp3 && fit_somehow(patterns, values, is_resp3),
            (Self::Map(pairs) | Self::PairsOrMap(pairs), Value::Map(found)) => {
                is_resp3
                    && pairs.len() == found.len()
                    && pairs
                        .iter()
                        .zip(found)
                        .all(|(pair, found)| pair.0.fits(&found.0, is_resp3) && pair.1.fits(&found.1, is_resp3))
            }
            (Self::Double(text), Value::Double(found)) => is_resp3 && text.parse() == Ok(*found),
            (Self::Double(text), Value::Bulk(found)) => !is_resp3 && text.as_bytes() == found,
            (Self::PairsOrMap(_), Value::Array(_)) if is_resp3 => false,
            (Self::Pairs(pairs) | Self::PairsOrMap(pairs), Value::Array(values))
                if is_resp3 != matches!(self, Self::PairsOrMap(_)) =>
            {
                let pairs = pairs.iter().map(|(key, value)| Self::Array(vec![key.clone(), value.clone()]));
                all(&pairs.collect::<Vec<_>>(), values)
            }
            (Self::Map(pairs) | Self::Pairs(pairs), Value::Array(values)) => {
                let flat: Vec<Self> = pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect();
                !is_resp3 && all(&flat, values)
            }
            _ => false,
        }
    }
}

fn fit_somehow(patterns: &[ReplyPattern], values: &[Value], is_resp3: bool) -> bool {
    let mut left: Vec<&Value> = values.iter().collect();
    let taken = patterns.iter().all(|one| {
        let at = left.iter().position(|value| one.fits(value, is_resp3));
        at.map(|at| left.swap_remove(at)).is_some()
    });
    taken && left.is_empty()
}

/// Returns the pattern of the results of a search, as RediSearch replies them.
fn found(mut parts: Vec<ReplyPattern>) -> Option<ReplyPattern> {
    use ReplyPattern::{Array, Map, Simple};
    if parts.is_empty() {
        return None;
    }
    let total = parts.remove(0);
    let (mut flat, mut rows) = (vec![total.clone()], Vec::new());
    for row in parts {
        let Array(parts) = row else { return None };
        let mut pairs = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let name = match part {
                Map(_) => "extra_attributes",
                _ if at == 0 => "id",
                _ => "sortkey",
            };
            pairs.push((Simple(name.to_owned()), part.clone()));
        }
        pairs.push((Simple("values".to_owned()), Array(Vec::new())));
        flat.extend(parts);
        rows.push(Map(pairs));
    }
    let named = [
        ("attributes", Array(Vec::new())),
        ("format", Simple("STRING".to_owned())),
        ("results", Array(rows)),
        ("total_results", total),
        ("warning", Array(Vec::new())),
    ];
    let named = named.map(|(name, part)| (Simple(name.to_owned()), part));
    Some(ReplyPattern::PerProtocol(Box::new([Array(flat), Map(named.into())])))
}

struct Input<'a> {
    rest: &'a str,
}

impl Input<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn pattern(&mut self) -> Option<ReplyPattern> {
        if self.take("*") {
            return Some(ReplyPattern::Any);
        }
        if self.take("found(") {
            return self.list(")").and_then(found);
        }
        if self.take("?[") {
            return self.list("]").map(ReplyPattern::Unordered);
        }
        if self.take("~[") {
            return self.list("]").map(ReplyPattern::Set);
        }
        if self.take("[") {
            return self.list("]").map(ReplyPattern::Array);
        }
        if self.take("{") {
            return self.pairs().map(ReplyPattern::Map);
        }
        if self.take("@{") {
            return self.pairs().map(ReplyPattern::Pairs);
        }
        if self.take("%{") {
            return self.pairs().map(ReplyPattern::PairsOrMap);
        }
        if self.take("~") {
            let end = self.rest.find([',', ']', '}']).unwrap_or(self.rest.len());
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            return number.trim_end().parse::<f64>().ok().map(|_| ReplyPattern::Double(number.trim_end().to_owned()));
        }
        if self.rest.starts_with('"') {
            let (bytes, rest_bytes) = unquote(self.rest)?;
            self.rest = &self.rest[self.rest.len() - rest_bytes..];
            return Some(ReplyPattern::Bulk(bytes));
        }
        self.word()
    }

    fn word(&mut self) -> Option<ReplyPattern> {
        let end = self.rest.find([',', ']', '}', ':', ')']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word.trim_end() {
            "" => None,
            "nil" => Some(ReplyPattern::Null),
            "nil-array" => Some(ReplyPattern::NullArray),
            word => {
                if let Some((least, most)) = word.split_once("..") {
                    return Some(ReplyPattern::Int(least.parse().ok()?, most.parse().ok()?));
                }
                Some(
                    word.parse().map_or_else(
                        |_| ReplyPattern::Simple(word.to_owned()),
                        |number| ReplyPattern::Int(number, number),
                    ),
                )
            }
        }
    }

    fn list(&mut self, end: &str) -> Option<Vec<ReplyPattern>> {
        let mut patterns = Vec::new();
        while !self.take(end) {
            if !patterns.is_empty() && !self.take(",") {
                return None;
            }
            patterns.push(self.pattern()?);
        }
        Some(patterns)
    }

    fn pairs(&mut self) -> Option<Vec<(ReplyPattern, ReplyPattern)>> {
        let mut pairs = Vec::new();
        while !self.take("}") {
            if !pairs.is_empty() && !self.take(",") {
                return None;
            }
            let key = self.pattern()?;
            if !self.take(":") {
                return None;
            }
            pairs.push((key, self.pattern()?));
        }
        Some(pairs)
    }
}

/// Decodes the quoted string at the front. Returns it, and the length of the rest in bytes.
pub(super) fn unquote(text: &str) -> Option<(Vec<u8>, usize)> {
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?.as_bytes().iter();
    loop {
        match rest.next()? {
            b'"' => return Some((bytes, rest.len())),
            b'\\' => bytes.push(match rest.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'x' => {
                    let digits = [*rest.next()?, *rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                literal => *literal,
            }),
            byte => bytes.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_patterns_match_only_fitting_replies() {
        let value = Value::Array(vec![Value::Int(5), Value::bulk("a\n"), Value::Null, Value::Simple("OK".to_owned())]);
        for (text, fits) in [
            (r#"=[5, "a\n", nil, OK]"#, true),
            (r#"=[4..6, "a\x0a", nil, OK]"#, true),
            (r#"=?[nil, "a\n", OK, 5]"#, true),
            (r#"=[5, "a\n", nil]"#, false),
            (r#"=[5, "b", nil, OK]"#, false),
            ("=*", true),
            ("!ERR", false),
        ] {
            assert_eq!(ReplyPattern::parse(text).unwrap().fits(&value, false), fits, "{text}");
        }
        let map = ReplyPattern::parse(r#"={"k": [1], "l": 2}"#).unwrap();
        let (key, list) = (Value::bulk("k"), Value::Array(vec![Value::Int(1)]));
        let (other, two) = (Value::bulk("l"), Value::Int(2));
        assert!(map.fits(&Value::Array(vec![key.clone(), list.clone(), other.clone(), two.clone()]), false));
        assert!(map.fits(&Value::Map(vec![(key, list), (other, two)]), true));
        let scored = ReplyPattern::parse(r#"=@{"m": ~1.5}"#).unwrap();
        let pair = [Value::bulk("m"), Value::Double(1.5)];
        assert!(scored.fits(&Value::Array(vec![Value::Array(pair.to_vec())]), true));
        assert!(scored.fits(&Value::Array(vec![Value::bulk("m"), Value::bulk("1.5")]), false));
        assert!(!scored.fits(&Value::Array(pair.to_vec()), true));
        let read = ReplyPattern::parse(r#"=%{"m": 2}"#).unwrap();
        let pair = [Value::bulk("m"), Value::Int(2)];
        assert!(read.fits(&Value::Array(vec![Value::Array(pair.to_vec())]), false));
        assert!(read.fits(&Value::Map(vec![(pair[0].clone(), pair[1].clone())]), true));
        assert!(!read.fits(&Value::Array(vec![Value::Array(pair.to_vec())]), true));
        let found = ReplyPattern::parse(r#"=found(1, ["a", {"k": nil}])"#).unwrap();
        let (id, fields) = (Value::bulk("a"), [Value::bulk("k"), Value::Null]);
        assert!(found.fits(&Value::Array(vec![Value::Int(1), id, Value::Array(fields.to_vec())]), false));
        assert!(ReplyPattern::parse("=nil-array").unwrap().fits(&Value::Null, true));
        assert!(!ReplyPattern::parse("=nil-array").unwrap().fits(&Value::Null, false));
        for bad in ["", "5", "=", "=[1", "={1}", "=\"a", "=[1] 2"] {
            assert_eq!(ReplyPattern::parse(bad), None, "{bad:?}");
        }
    }
}
