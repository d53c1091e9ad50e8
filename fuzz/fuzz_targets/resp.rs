//! Foreign bytes at both ends of RESP: the decoder must decode the same whether they come whole or cut, and neither
//! it nor the client's parser may panic.
//!
//! ```text
//!   | limits and sizes of pieces, 1 + 4 | the stream ... |
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::client::Parser;
use wire::resp::{Limits, RespDecoder, RespStep, WireError};
use wire::{OwnedRequest, Ranges};

/// The end of a stream.
#[derive(Debug, PartialEq)]
enum End {
    Open,
    Broken(WireError),
    Http,
}

fuzz_target!(|data: &[u8]| {
    let Some((head, stream)) = data.split_at_checked(5) else { return };
    let limits = if head[0] & 1 == 0 { Limits::Full } else { Limits::Unauthenticated };
    let sizes = head[1..].iter().map(|&size| usize::from(size) + 1).cycle();
    assert_eq!(hear(stream, [stream.len().max(1)].into_iter().cycle(), limits), hear(stream, sizes.clone(), limits));
    read(stream, sizes);
});

/// The requests in `stream`, cut into pieces of `sizes`, and how it ended.
fn hear(stream: &[u8], sizes: impl Iterator<Item = usize>, limits: Limits) -> (Vec<OwnedRequest>, End) {
    let (mut decoder, mut ranges) = (RespDecoder::new(), Ranges::new());
    decoder.set_limits(limits);
    let (mut requests, mut start, mut end) = (Vec::new(), 0, 0);
    for size in sizes {
        end = stream.len().min(end + size);
        loop {
            let input = &stream[start..end];
            start += match decoder.step(input, &mut ranges) {
                RespStep::Request { used } => {
                    requests.push(ranges.args(input).to_owned());
                    used
                }
                RespStep::Empty { used } => used,
                RespStep::Broken(error) => return (requests, End::Broken(error)),
                RespStep::Http => return (requests, End::Http),
                // A request of very many arguments takes more than one step.
                RespStep::NeedMore { at_least } if at_least <= input.len() => 0,
                RespStep::NeedMore { .. } => break,
            };
        }
        if end == stream.len() {
            break;
        }
    }
    (requests, End::Open)
}

/// Reads `stream` as replies, whole and cut: the same values in the same words.
fn read(stream: &[u8], sizes: impl Iterator<Item = usize>) {
    let mut whole = Parser::new();
    whole.feed(stream);
    let (mut cut, mut rest) = (Parser::new(), stream);
    for size in sizes {
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        cut.feed(piece);
        rest = behind;
        loop {
            match cut.next_value() {
                Ok(None) => break,
                Ok(Some(value)) => {
                    let same = whole.next_value().expect("no error yet").expect("as much was read");
                    assert_eq!(same.to_string(), value.to_string());
                }
                Err(_) => return,
            }
        }
        if rest.is_empty() {
            return assert_eq!(whole.next_value(), Ok(None));
        }
    }
}
