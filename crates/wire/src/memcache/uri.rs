//! Keys as in memcached's lists and logs: percent-encoded by RFC 3986.

use std::fmt;

/// A key displayed with all but unreserved characters as `%XX`. O(n).
pub struct UriEncoded<'a>(pub &'a [u8]);

impl fmt::Display for UriEncoded<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => write!(to, "{}", char::from(*byte)),
            byte => write!(to, "%{byte:02X}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreserved_characters_are_not_percent_encoded() {
        assert_eq!(UriEncoded("aZ9-._~ /%\u{e9}".as_bytes()).to_string(), "aZ9-._~%20%2F%25%C3%A9");
    }
}
