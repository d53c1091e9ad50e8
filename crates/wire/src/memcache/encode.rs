//! Encodes replies: the lines and values written by handlers.
//!
//! ```text
//!   simple, bulk    text\r\n           int    digits\r\n           null, and heads of aggregates    nothing
//! ```
//!
//! So an array of a line and a value is a hit, and a null writes nothing. An error is memcached's, or a server failure.

use base::raw_text;

/// Prefixes of memcached errors.
const WORDS: &[&str] = &["CLIENT_ERROR", "SERVER_ERROR", "ERROR", "BADCLASS", "WATCHER_TOO_MANY"];

/// Appends an error as a line.
pub(crate) fn error(out: &mut Vec<u8>, text: &str) {
    let is_worded = WORDS.iter().any(|word| text.starts_with(word));
    if !is_worded {
        out.extend_from_slice(b"SERVER_ERROR ");
    }
    out.extend(
        raw_text::to_bytes(text).iter().copied().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }),
    );
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_without_a_memcached_prefix_become_server_errors() {
        let line = |text| {
            let mut out = Vec::new();
            error(&mut out, text);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line("CLIENT_ERROR bad token"), "CLIENT_ERROR bad token\r\n");
        assert_eq!(line("ERROR"), "ERROR\r\n");
        assert_eq!(line("MISCONF the disk\r\nis full"), "SERVER_ERROR MISCONF the disk  is full\r\n");
    }
}
