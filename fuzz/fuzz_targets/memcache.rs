//! Foreign bytes to the decoder of memcached's protocol: it must decode the same whether they come whole or cut, and
//! never panic.
//!
//! ```text
//!   | longest value: an odd one of queues, from 128 on before a password; sizes of pieces, 1 + 4 | the stream ... |
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::memcache::{Dialect, MemcacheDecoder, MemcacheStep, Own, Verb};
use wire::{OwnedRequest, Ranges};

#[derive(Debug, PartialEq)]
enum Heard {
    Request(Verb, OwnedRequest, bool),
    Own(Own),
    Say(&'static str),
    Broken,
    Http,
}

fuzz_target!(|data: &[u8]| {
    let Some((head, stream)) = data.split_at_checked(5) else { return };
    let item_bytes_max = usize::from(head[0]);
    let sizes = head[1..].iter().map(|&size| usize::from(size) + 1).cycle();
    let whole = hear(stream, [stream.len().max(1)].into_iter().cycle(), item_bytes_max);
    assert_eq!(whole, hear(stream, sizes, item_bytes_max));
});

/// Decodes `stream`, cut into pieces of `sizes`.
fn hear(stream: &[u8], sizes: impl Iterator<Item = usize>, item_bytes_max: usize) -> Vec<Heard> {
    let dialect = if item_bytes_max.is_multiple_of(2) { Dialect::Items } else { Dialect::Queues };
    let (mut decoder, mut ranges) = (MemcacheDecoder::new(dialect, item_bytes_max), Ranges::new());
    decoder.set_locked(item_bytes_max >= 128);
    let (mut heard, mut start, mut end) = (Vec::new(), 0, 0);
    for size in sizes {
        end = stream.len().min(end + size);
        loop {
            let input = &stream[start..end];
            let step = decoder.step(input, &mut ranges);
            start += match step {
                MemcacheStep::Request { used, silent } => {
                    heard.push(Heard::Request(decoder.verb(), ranges.args(input).to_owned(), silent));
                    used
                }
                MemcacheStep::Own { used, own } => {
                    heard.push(Heard::Own(own));
                    used
                }
                MemcacheStep::Say { used, text } => {
                    heard.push(Heard::Say(text));
                    used
                }
                MemcacheStep::Empty { used } => used,
                MemcacheStep::Broken => {
                    heard.push(Heard::Broken);
                    return heard;
                }
                MemcacheStep::Http => {
                    heard.push(Heard::Http);
                    return heard;
                }
                MemcacheStep::NeedMore { at_least } => {
                    assert!(at_least > input.len());
                    break;
                }
            };
        }
        if end == stream.len() {
            break;
        }
    }
    heard
}
