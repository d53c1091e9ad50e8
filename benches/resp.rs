//! Times the decoding of one request and the encoding of one reply: `cargo bench -p benches --bench resp`.

use std::hint::black_box;
use std::time::Instant;
use wire::client::Parser;
use wire::resp::{Encoder, Protocol, RespDecoder, RespStep, request};
use wire::{Output, OwnedRequest, Ranges, Reply};

const REPEATS: usize = 200_000;
const TURNS: usize = 7;

/// Prints the time of one of the `count` operations of `work` in nanoseconds, the best of [`TURNS`] runs.
fn measure(name: &str, count: usize, mut work: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..TURNS {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_nanos() as f64 / count as f64);
    }
    println!("{name:<40} {best:>8.1} ns");
}

fn decode(name: &str, arguments: &[&str]) {
    let mut one = Vec::new();
    request(&mut one, OwnedRequest::of(arguments).args());
    decode_bytes(name, &one);
}

fn decode_bytes(name: &str, one: &[u8]) {
    let pipeline = one.repeat(64);
    let (mut decoder, mut ranges) = (RespDecoder::new(), Ranges::new());
    measure(name, REPEATS / 64 * 64, || {
        for _ in 0..REPEATS / 64 {
            let mut input = black_box(&pipeline[..]);
            while !input.is_empty() {
                let RespStep::Request { used } = decoder.step(input, &mut ranges) else { panic!("a whole request") };
                black_box(ranges.args(input).name());
                input = &input[used..];
            }
        }
    });
}

fn encode(name: &str, count: usize, mut write: impl FnMut(&mut dyn Reply)) {
    let mut output = Output::new();
    measure(name, REPEATS / count * count, || {
        for _ in 0..REPEATS / count {
            write(&mut Encoder::new(&mut output, Protocol::Resp2));
            let bytes = black_box(output.front()).map_or(0, <[u8]>::len);
            output.consume(bytes);
        }
    });
}

fn parse() {
    let mut output = Output::new();
    let mut reply = Encoder::new(&mut output, Protocol::Resp2);
    reply.array(100);
    reply.run(10, &[b'x'; 1000]);
    let bytes = output.front().expect("a reply").to_vec();
    let mut parser = Parser::new();
    measure("client: array of 100 bulks, a bulk", REPEATS / 100 * 100, || {
        for _ in 0..REPEATS / 100 {
            parser.feed(&bytes);
            black_box(parser.next_value()).expect("a reply");
        }
    });
}

fn main() {
    decode("decode SET k v", &["SET", "k", "v"]);
    decode("decode GET key:000000012345", &["GET", "key:000000012345"]);
    decode("decode SET key:000000012345 xxx", &["SET", "key:000000012345", "xxx"]);
    decode("decode MSET of 10 pairs", &["key:000000012345"; 21]);
    decode_bytes("decode inline SET k v", b"SET k v\r\n");
    encode("encode ok", 64, |reply| (0..64).for_each(|_| reply.ok()));
    encode("encode int 123456", 64, |reply| (0..64).for_each(|_| reply.int(123_456)));
    encode("encode bulk of 3", 64, |reply| (0..64).for_each(|_| reply.bulk(b"xxx")));
    encode("encode bulk of 100", 64, |reply| (0..64).for_each(|_| reply.bulk(&[b'x'; 100])));
    encode("encode run of 3, an item", 100, |reply| reply.run(3, &[b'x'; 300]));
    encode("encode run of 10, an item", 100, |reply| reply.run(10, &[b'x'; 1000]));
    encode("encode run of 48, an item", 100, |reply| reply.run(48, &[b'x'; 4800]));
    encode("encode double 0.30000000000000004", 64, |reply| (0..64).for_each(|_| reply.double(0.1 + 0.2)));
    parse();
}
