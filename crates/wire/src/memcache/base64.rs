//! Keys in base64, as RFC 4648 writes it, with padding.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` in base64.
pub fn encode(out: &mut Vec<u8>, bytes: &[u8]) {
    for group in bytes.chunks(3) {
        let [first, second, third] = [0, 1, 2].map(|at| u32::from(group.get(at).copied().unwrap_or(0)));
        let bits = first << 16 | second << 8 | third;
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= group.len() { letter } else { b'=' });
        }
    }
}

/// Appends the decoded `text`; returns `false` if it is empty or no base64.
pub(super) fn decode(out: &mut Vec<u8>, text: &[u8]) -> bool {
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return false;
    }
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    if padding > 2 {
        return false;
    }
    let groups_count = text.len() / 4;
    for (nth, group) in text.chunks_exact(4).enumerate() {
        let is_last = nth + 1 == groups_count;
        let used = if is_last { 4 - padding } else { 4 };
        let mut bits = 0;
        for (at, letter) in group.iter().enumerate() {
            let value = if at < used { value_of(*letter) } else { Some(0) };
            let Some(value) = value else { return false };
            bits = bits << 6 | value;
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..used]);
    }
    true
}

fn value_of(letter: u8) -> Option<u32> {
    Some(u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_bytes_decode_to_the_original() {
        // The examples of the RFC.
        for (bytes, text) in
            [("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            let (mut written, mut read) = (Vec::new(), Vec::new());
            encode(&mut written, bytes.as_bytes());
            assert_eq!(written, text.as_bytes());
            assert!(decode(&mut read, &written));
            assert_eq!(read, bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        for length in 1..all.len() {
            let (mut written, mut read) = (Vec::new(), Vec::new());
            encode(&mut written, &all[..length]);
            assert!(decode(&mut read, &written) && read == all[..length], "{length}");
        }
    }

    #[test]
    fn invalid_base64_is_rejected() {
        for bad in ["", "foo", "Zg=", "Zg", "Z===", "====", "Zg==Zg==", "Z!==", "Zm9v\n", "=m9v"] {
            assert!(!decode(&mut Vec::new(), bad.as_bytes()), "{bad}");
        }
    }
}
