//! HTTP, which a web page can make a browser send to any port. We recognise its request line and run nothing of the
//! request: its body may hold whole commands.
//!
//! ```text
//!   POST / HTTP/1.1          a method, a target, a version: the first line of each request
//!   Host: localhost:6379     a field that each request has
//! ```

/// The methods of HTTP, and the first word of HTTP/2.
const METHODS: &[&str] =
    &["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI", "PROPFIND"];
/// The field that names the server.
const HOST: &[u8] = b"Host:";

/// Returns whether a line of words, its end not counted, belongs to the head of an HTTP request.
///
/// The words `POST` and `Host:` suffice, as for Redis. Otherwise the last word must be a version such as `HTTP/1.1`, and
/// either the first word a method or the second of three a path. O(line).
pub fn is_http_line(line: &[u8]) -> bool {
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    if is_http_word(first) {
        return true;
    }
    let (Some(target), Some(mut last)) = (words.next(), words.next()) else { return false };
    let mut is_third = true;
    for word in words {
        (last, is_third) = (word, false);
    }
    let is_method = METHODS.iter().any(|method| first.eq_ignore_ascii_case(method.as_bytes()));
    is_version(last) && (is_method || is_third && target.starts_with(b"/"))
}

/// Returns whether the first word of a request belongs to HTTP alone: `POST` or `Host:`, in any case.
pub fn is_http_word(word: &[u8]) -> bool {
    let names_host = word.get(..HOST.len()).is_some_and(|start| start.eq_ignore_ascii_case(HOST));
    names_host || word.eq_ignore_ascii_case(b"POST")
}

fn is_version(word: &[u8]) -> bool {
    let Some((name, number)) = word.split_at_checked(5) else { return false };
    name.eq_ignore_ascii_case(b"HTTP/") && number.first().is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_request_lines_and_host_headers_are_recognized() {
        for line in [
            "POST / HTTP/1.1",
            "post",
            "POST something else",
            "GET / HTTP/1.1",
            "get /index.html HTTP/1.0\r",
            "  GET\t/ HTTP/2",
            "GET http://localhost:6379/ HTTP/1.1",
            "GET /two words HTTP/1.1",
            "OPTIONS * HTTP/1.1",
            "PRI * HTTP/2.0",
            "SET / HTTP/1.1",
            "whatever / http/1.1",
            "Host: localhost",
            "host:localhost",
            "HOST:",
        ] {
            assert!(is_http_line(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn commands_are_not_http() {
        for line in [
            "",
            "GET",
            "GET key",
            "GET /key",
            "GET HTTP/1.1",
            "SET key HTTP/1.1",
            "SET page HTTP/1.1 EX 5",
            "MSET / HTTP/1.1 a b",
            "RPUSH posts POST",
            "GET / HTTP/",
            "GET / HTTPS",
            "hostess: x",
            "POSTER",
        ] {
            assert!(!is_http_line(line.as_bytes()), "{line}");
        }
    }
}
