//! The first line of a script, `#!lua flags=no-writes,allow-stale`, or of a library, `#!lua name=mine`.

use base::raw_text;

/// The flags a script declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// It writes no keys.
    pub const NO_WRITES: Self = Self(1);
    /// Every flag by its name, in listing order.
    pub const ALL: [(&'static str, Self); 5] = [
        ("no-writes", Self::NO_WRITES),
        ("allow-oom", Self(2)),
        ("allow-stale", Self(4)),
        ("no-cluster", Self(8)),
        ("allow-cross-slot-keys", Self(16)),
    ];

    /// Returns the flag with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, flag)| *flag)
    }

    /// Returns the union.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// Returns true if all of `flags` are set.
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().filter(move |(_, flag)| self.has(*flag)).map(|(name, _)| name)
    }
}

/// A script and its parsed first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// `None` without a first line: then everything is allowed.
    pub flags: Option<Flags>,
    /// The code to compile: the first line's end and all after it, so that line numbers stay the same.
    pub code: &'a [u8],
}

/// Parses the first line of a script.
///
/// # Errors
/// The whole error text, if it is invalid.
pub fn header(source: &[u8]) -> Result<Header<'_>, String> {
    if !source.starts_with(b"#!") {
        return Ok(Header { flags: None, code: source });
    }
    let end = source.iter().position(|byte| *byte == b'\n').ok_or("ERR Invalid script shebang")?;
    let line = raw_text::from_bytes(&source[..end]).into_owned();
    let mut words = line.split_ascii_whitespace();
    let engine = words.next().unwrap_or_default();
    if engine != "#!lua" {
        return Err(format!("ERR Unexpected engine in script shebang: {engine}"));
    }
    let mut flags = Flags::default();
    for word in words {
        let Some(names) = word.strip_prefix("flags=") else {
            return Err(format!("ERR Unknown lua shebang option: {word}"));
        };
        for name in names.split(',').filter(|name| !name.is_empty()) {
            let flag = Flags::of(name).ok_or_else(|| format!("ERR Unexpected flag in script shebang: {name}"))?;
            flags = flags.with(flag);
        }
    }
    Ok(Header { flags: Some(flags), code: &source[end..] })
}

/// A library and its parsed first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryHeader<'a> {
    /// Its name.
    pub name: String,
    /// The code to compile: the first line's end and all after it, so that line numbers stay the same.
    pub code: &'a [u8],
}

/// The error for an invalid name of a library or function.
pub(crate) const BAD_NAME: &str =
    "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";

/// Returns true if a library or function may have this name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Parses the first line of a library.
///
/// # Errors
/// The whole error text, if it is invalid.
pub fn library_header(source: &[u8]) -> Result<LibraryHeader<'_>, String> {
    const INVALID: &str = "ERR Invalid library metadata";
    if !source.starts_with(b"#!") {
        return Err("ERR Missing library metadata".to_owned());
    }
    let end = source.iter().position(|byte| matches!(byte, b'\n' | 0));
    let end = end.filter(|end| source[*end] == b'\n').ok_or(INVALID)?;
    let words = words(&source[..end]).ok_or(INVALID)?;
    let (engine, options) = words.split_first().ok_or(INVALID)?;
    let mut name = None;
    for option in options {
        if !option.get(..NAME.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME)) {
            return Err(format!("ERR Invalid metadata value given: {}", raw_text::from_bytes(option)));
        }
        let given = raw_text::from_bytes(&option[NAME.len()..]).into_owned();
        if name.replace(given).is_some() {
            return Err("ERR Invalid metadata value, name argument was given multiple times".to_owned());
        }
    }
    let name = name.ok_or("ERR Library name was not given")?;
    if !is_name(&name) {
        return Err(BAD_NAME.to_owned());
    }
    let engine = &engine[b"#!".len()..];
    if !engine.eq_ignore_ascii_case(b"lua") {
        return Err(format!("ERR Engine '{}' not found", raw_text::from_bytes(engine)));
    }
    Ok(LibraryHeader { name, code: &source[end..] })
}

const NAME: &[u8] = b"name=";

/// Splits a line into words, which may be quoted; `None` if a quote is not closed, or not followed by a blank.
fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
    let mut rest = line.iter().copied().peekable();
    let mut words = Vec::new();
    loop {
        while rest.next_if(|byte| is_space(*byte)).is_some() {}
        if rest.peek().is_none() {
            return Some(words);
        }
        let mut word = Vec::new();
        while let Some(byte) = rest.next_if(|byte| !is_space(*byte)) {
            if !matches!(byte, b'"' | b'\'') {
                word.push(byte);
                continue;
            }
            loop {
                match rest.next()? {
                    end if end == byte => break,
                    b'\\' if byte == b'"' => word.push(escaped(&mut rest)?),
                    b'\\' if rest.peek() == Some(&byte) => word.push(rest.next()?),
                    other => word.push(other),
                }
            }
            if rest.peek().is_some_and(|next| !is_space(*next)) {
                return None;
            }
        }
        words.push(word);
    }
}

/// Returns the byte for an escape sequence between double quotes.
fn escaped(rest: &mut (impl Iterator<Item = u8> + Clone)) -> Option<u8> {
    let byte = rest.next()?;
    Some(match byte {
        b'x' => {
            let mut ahead = rest.clone();
            let mut digit = || char::from(ahead.next()?).to_digit(16);
            let Some((high, low)) = digit().zip(digit()) else { return Some(byte) };
            *rest = ahead;
            (high * 16 + low) as u8
        }
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_headers_are_parsed_and_invalid_ones_rejected() {
        let read = |line: &str| library_header(format!("{line}\nrest").as_bytes()).map(|header| header.name);
        for line in
            ["#!lua name=a_1", "#!LUA NAME=a_1 ", "#!lua\tname=\"a_1\"", "#!lua 'name=a_1'", "#!lua name=\"\\x61_1\"\r"]
        {
            assert_eq!(read(line).as_deref(), Ok("a_1"), "{line}");
        }
        assert_eq!(library_header(b"#!lua name=a\nrest").unwrap().code, b"\nrest");
        let (invalid, twice) = ("ERR Invalid library metadata", "name argument was given multiple times");
        for (line, error) in [
            ("lua", "ERR Missing library metadata"),
            ("#!lua name=\"a", invalid),
            ("#!lua name=\"a\"b", invalid),
            ("#!lua name=a\0", invalid),
            ("#!lua name=a name=a", twice),
            ("#!lua", "ERR Library name was not given"),
            ("#!lua name=a b", "ERR Invalid metadata value given: b"),
            ("#!lua name='a\\'b'", BAD_NAME),
            ("#!lua name=\"\\xz1\"", "ERR"),
            ("#!js name=a", "ERR Engine 'js' not found"),
        ] {
            match read(line) {
                Ok(name) => assert_eq!(name, "xz1", "{line}"),
                Err(text) => assert!(text.contains(error), "{line}: {text}"),
            }
        }
        assert_eq!(library_header(b"#!lua name=a"), Err(invalid.to_owned()));
    }

    #[test]
    fn script_shebangs_are_parsed_and_invalid_ones_rejected() {
        assert_eq!(header(b"return 1"), Ok(Header { flags: None, code: b"return 1" }));
        let both = Flags::NO_WRITES.with(Flags::of("allow-stale").unwrap());
        let read = header(b"#!lua flags=no-writes,allow-stale\nreturn 1").unwrap();
        assert_eq!(read, Header { flags: Some(both), code: b"\nreturn 1" });
        assert_eq!(both.names().collect::<Vec<_>>(), ["no-writes", "allow-stale"]);
        let errors =
            ["#!lua", "#!foo\n", "#!lua x=1\n", "#!lua flags=a\n"].map(|source| header(source.as_bytes()).unwrap_err());
        assert_eq!(
            errors,
            [
                "ERR Invalid script shebang",
                "ERR Unexpected engine in script shebang: #!foo",
                "ERR Unknown lua shebang option: x=1",
                "ERR Unexpected flag in script shebang: a",
            ]
        );
    }
}
