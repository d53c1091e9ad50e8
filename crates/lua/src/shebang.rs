//! The first line of a script: `#!lua flags=no-writes,allow-stale`.

/// What a script says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// It changes no key.
    pub const NO_WRITES: Self = Self(1);
    /// Every flag, by the name that scripts give it, in the order in which they are listed.
    pub const ALL: [(&'static str, Self); 5] = [
        ("no-writes", Self::NO_WRITES),
        ("allow-oom", Self(2)),
        ("allow-stale", Self(4)),
        ("no-cluster", Self(8)),
        ("allow-cross-slot-keys", Self(16)),
    ];

    /// The one of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, flag)| *flag)
    }

    /// These and those.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// Whether all of `flags` are among these.
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().filter(move |(_, flag)| self.has(*flag)).map(|(name, _)| name)
    }
}

/// A script and what its first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Without a first line nothing is declared, and everything is allowed.
    pub flags: Option<Flags>,
    /// What is compiled: the first line's end and all behind it, so that lines keep their numbers.
    pub code: &'a [u8],
}

/// Reads the first line of a script.
///
/// # Errors
/// The whole text, if it is none that is known.
pub fn header(source: &[u8]) -> Result<Header<'_>, String> {
    if !source.starts_with(b"#!") {
        return Ok(Header { flags: None, code: source });
    }
    let end = source.iter().position(|byte| *byte == b'\n').ok_or("ERR Invalid script shebang")?;
    let line = String::from_utf8_lossy(&source[..end]).into_owned();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_read() {
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
