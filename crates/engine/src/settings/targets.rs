//! Servers that MIGRATE may connect to: patterns of hosts, with or without ports.
//!
//! ```text
//!   10.0.0.7    cache-*.internal:6379    [fd00::7]:6379    *
//! ```
//!
//! A name is compared as the client writes it, not by its address.

use base::glob::{self, Case};
use std::fmt;

/// An allow list of servers. Empty, it allows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets(Vec<AllowedTarget>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedTarget {
    text: String,
    /// A glob pattern.
    host: String,
    /// A glob pattern; `None` for every port.
    port: Option<String>,
}

impl Targets {
    /// Reads one pattern per token.
    pub(super) fn read<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        Self(tokens.map(AllowedTarget::read).collect())
    }

    /// Returns true if a connection to `port` of `host` is allowed. O(patterns x length).
    pub fn allow(&self, host: &str, port: u16) -> bool {
        let port = port.to_string();
        self.0.iter().any(|target| {
            glob::matches(target.host.as_bytes(), host.as_bytes(), Case::Ignored)
                && target
                    .port
                    .as_ref()
                    .is_none_or(|pattern| glob::matches(pattern.as_bytes(), port.as_bytes(), Case::Exact))
        })
    }
}

impl AllowedTarget {
    fn read(text: &str) -> Self {
        let whole = || (text, None);
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            // An IPv6 address in brackets; otherwise a bracket begins a class of the pattern.
            Some((host, rest)) if host.contains(':') => match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => (host, None),
            },
            _ => match text.split_once(':') {
                // More than one colon: an IPv6 address without a port.
                Some((host, port)) if !port.contains(':') => (host, Some(port)),
                _ => whole(),
            },
        };
        Self { text: text.to_owned(), host: host.to_owned(), port: port.map(str::to_owned) }
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.0.iter().map(|target| &*target.text).collect();
        f.write_str(&texts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_targets_are_allowed() {
        let targets = |text: &str| Targets::read(text.split_whitespace());
        assert!(!targets("").allow("127.0.0.1", 6379));
        for (list, host, port, expected) in [
            ("10.0.0.7", "10.0.0.7", 1, true),
            ("10.0.0.7", "10.0.0.70", 1, false),
            ("10.0.0.7:6379", "10.0.0.7", 6379, true),
            ("10.0.0.7:6379", "10.0.0.7", 6380, false),
            ("10.0.0.7:63*", "10.0.0.7", 6380, true),
            ("cache-*.internal", "Cache-1.internal", 5, true),
            ("cache-*.internal", "cache-1.internal.evil.example", 5, false),
            ("a b:7", "b", 7, true),
            ("[fd00::7]:6379", "fd00::7", 6379, true),
            ("[fd00::7]:6379", "fd00::7", 1, false),
            ("[fd00::7]", "fd00::7", 1, true),
            ("fd00::7", "fd00::7", 1, true),
            ("*", "anything", 1, true),
            ("*:6379", "anything", 6379, true),
            ("*:6379", "anything", 22, false),
        ] {
            assert_eq!(targets(list).allow(host, port), expected, "{list}: {host} {port}");
        }
        assert_eq!(targets(" a:1   [::1]:2 ").to_string(), "a:1 [::1]:2");
    }
}
