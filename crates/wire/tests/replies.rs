//! Replies: the published forms of RESP2 and RESP3, doubles as Redis formats them, the output queue, and a property
//! test that the client parser reads back written replies.

use base::raw_text::{from_bytes, to_bytes};
use proptest::prelude::*;
use std::io::IoSlice;
use wire::client::{Parser, ReplyError, Value};
use wire::number::{Double, parse_int};
use wire::resp::{Encoder, Protocol};
use wire::{More, Output, Reply, ReplyValue, Source};

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(512)
}

fn written(protocol: Protocol, write: impl FnOnce(&mut dyn Reply)) -> Vec<u8> {
    let mut output = Output::new();
    write(&mut Encoder::new(&mut output, protocol));
    drained(&mut output, usize::MAX)
}

/// Sends everything, at most `step` bytes at a time.
fn drained(output: &mut Output, step: usize) -> Vec<u8> {
    let mut sent = Vec::new();
    loop {
        output.fill();
        let Some(front) = output.front() else { break };
        let count = front.len().min(step);
        sent.extend_from_slice(&front[..count]);
        output.consume(count);
    }
    assert!(output.is_empty());
    sent
}

fn parsed(bytes: &[u8]) -> Value {
    let mut parser = Parser::new();
    parser.feed(bytes);
    let value = parser.next_value().expect("a reply").expect("a whole reply");
    assert_eq!(parser.next_value(), Ok(None));
    value
}

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\r\\n", " ")
}

fn both(write: impl Fn(&mut dyn Reply)) -> (String, String) {
    (show(&written(Protocol::Resp2, &write)), show(&written(Protocol::Resp3, &write)))
}

#[test]
fn replies_have_their_published_resp2_and_resp3_forms() {
    type Write = fn(&mut dyn Reply);
    let table: [(Write, &str, &str); 22] = [
        (|reply| reply.ok(), "+OK ", "+OK "),
        (|reply| reply.simple("PONG"), "+PONG ", "+PONG "),
        (|reply| reply.error("ERR a\r\nb"), "-ERR a  b ", "-ERR a  b "),
        (|reply| reply.int(0), ":0 ", ":0 "),
        (|reply| reply.int(-12), ":-12 ", ":-12 "),
        (|reply| reply.int(i64::MIN), ":-9223372036854775808 ", ":-9223372036854775808 "),
        (|reply| reply.bulk(b""), "$0  ", "$0  "),
        (|reply| reply.bulk(b"hello world"), "$11 hello world ", "$11 hello world "),
        (|reply| reply.bulk_int(-100), "$4 -100 ", "$4 -100 "),
        (|reply| reply.null(), "$-1 ", "_ "),
        (|reply| reply.null_array(), "*-1 ", "_ "),
        (|reply| reply.array(123), "*123 ", "*123 "),
        (|reply| reply.map(6), "*12 ", "%6 "),
        (|reply| reply.set(2), "*2 ", "~2 "),
        (|reply| reply.push(3), "*3 ", ">3 "),
        (|reply| reply.double(1.5), "$3 1.5 ", ",1.5 "),
        (|reply| reply.double(f64::NEG_INFINITY), "$4 -inf ", ",-inf "),
        (|reply| reply.boolean(true), ":1 ", "#t "),
        (|reply| reply.boolean(false), ":0 ", "#f "),
        (|reply| reply.big_number("-123"), "$4 -123 ", "(-123 "),
        (|reply| reply.verbatim("txt", "Some string"), "$11 Some string ", "=15 txt:Some string "),
        (|reply| reply.run(2, b"abcd"), "$2 ab $2 cd ", "$2 ab $2 cd "),
    ];
    for (write, resp2, resp3) in table {
        assert_eq!(both(write), (resp2.to_owned(), resp3.to_owned()));
    }
}

#[test]
fn doubles_are_formatted_as_in_redis() {
    let table = [
        (0.0, "0"),
        (-0.0, "-0"),
        (3.0, "3"),
        (-3.0, "-3"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1.5, "1.5"),
        (std::f64::consts::PI, "3.141592653589793"),
        (100.0, "100"),
        (1e15, "1000000000000000"),
        (1e17, "100000000000000000"),
        (4611686018427387904.0, "4611686018427387904"),
        (1e20, "1e+20"),
        (1e300, "1e+300"),
        (-1.5e300, "-1.5e+300"),
        (0.0001, "0.0001"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-10, "1.25e-10"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
        (-f64::NAN, "nan"),
    ];
    for (value, text) in table {
        assert_eq!(std::str::from_utf8(Double::new(value).as_bytes()), Ok(text));
    }
}

#[test]
fn parse_int_accepts_only_the_canonical_form() {
    assert_eq!(parse_int(b"0"), Some(0));
    assert_eq!(parse_int(b"-9223372036854775808"), Some(i64::MIN));
    assert_eq!(parse_int(b"9223372036854775807"), Some(i64::MAX));
    for text in ["", "-", "-0", "+1", "01", "1 ", " 1", "1a", "9223372036854775808", "-9223372036854775809", "1e3"] {
        assert_eq!(parse_int(text.as_bytes()), None, "{text:?}");
    }
}

/// A source of one step that reports this many pinned bytes.
struct Holder(u64);

impl Source for Holder {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        reply.int(self.0 as i64);
        More::Done
    }

    fn pinned_bytes(&self) -> u64 {
        self.0
    }
}

#[test]
fn output_counts_pinned_bytes_and_returns_large_spent_sources() {
    let mut output = Output::new();
    let mut reply = Encoder::new(&mut output, Protocol::Resp2);
    reply.int(1);
    reply.stream(Box::new(Holder(100)));
    reply.stream(Box::new(Holder(1 << 20)));
    assert_eq!(output.pinned_bytes(), 100 + (1 << 20));
    assert!(output.take_spent().is_none(), "none has ended");
    output.fill();
    assert_eq!(output.pinned_bytes(), 0);
    let spent = output.take_spent().expect("the greater one");
    assert!(spent.iter().map(|source| source.pinned_bytes()).eq([1 << 20]));
    assert!(output.take_spent().is_none());
    assert_eq!(output.front(), Some(&b":1\r\n:100\r\n:1048576\r\n"[..]));
}

/// Counts down, a bulk a step.
struct Countdown(u32);

impl Source for Countdown {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.0 -= 1;
        reply.bulk(&vec![b'a' + (self.0 % 26) as u8; 1000]);
        if self.0 == 0 { More::Done } else { More::Follows }
    }
}

fn countdown(from: u32) -> Value {
    Value::Array((0..from).rev().map(|left| Value::Bulk(vec![b'a' + (left % 26) as u8; 1000])).collect())
}

#[test]
fn a_streamed_source_keeps_order_and_bounds_memory() {
    let mut output = Output::new();
    let mut reply = Encoder::new(&mut output, Protocol::Resp2);
    reply.int(1);
    reply.array(1000);
    reply.stream(Box::new(Countdown(1000)));
    reply.int(2);
    let (mut parser, mut pending_max) = (Parser::new(), 0);
    loop {
        output.fill();
        pending_max = pending_max.max(output.bytes_pending());
        let Some(front) = output.front() else { break };
        let count = front.len().min(777);
        parser.feed(&front[..count]);
        output.consume(count);
    }
    assert!(output.is_empty());
    assert!(pending_max < 100_000, "{pending_max}");
    for expected in [Value::Int(1), countdown(1000), Value::Int(2)] {
        assert_eq!(parser.next_value(), Ok(Some(expected)));
    }
    let buffer = output.take_buffer().expect("a buffer to give back");
    assert!(buffer.is_empty() && buffer.capacity() <= 256 << 10);
    assert!(output.take_buffer().is_none());
}

/// Searches for some steps before it writes.
struct Searcher(u32);

impl Source for Searcher {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        if self.0 > 0 {
            self.0 -= 1;
            return More::Follows;
        }
        reply.int(7);
        More::Done
    }
}

#[test]
fn a_source_without_output_yields_after_each_step() {
    for before in [false, true] {
        let mut output = Output::new();
        let mut reply = Encoder::new(&mut output, Protocol::Resp2);
        if before {
            reply.int(1);
        }
        reply.stream(Box::new(Searcher(3)));
        reply.ok();
        for _ in 0..3 {
            assert!(output.fill_some());
            assert_eq!(output.front().is_some(), before);
            assert!(!output.is_empty());
        }
        assert!(!output.fill_some());
        let sent = drained(&mut output, 3);
        assert_eq!(show(&sent), if before { ":1 :7 +OK " } else { ":7 +OK " });
    }
    assert_eq!(both(|reply| reply.stream(Box::new(Searcher(9)))).0, ":7 ");
}

#[test]
fn only_a_used_buffer_is_filled_by_several_steps() {
    let mut output = Output::new();
    Encoder::new(&mut output, Protocol::Resp2).stream(Box::new(Countdown(500)));
    assert!(output.fill_some(), "others have their turn");
    assert_eq!(output.bytes_pending(), b"$1000\r\n\r\n".len() + 1000);
    for _ in 0..3 {
        assert!(!output.fill_some());
        assert!(output.bytes_pending() >= 64 << 10);
        output.consume(output.bytes_pending());
    }
}

#[test]
fn replies_after_a_source_wait_for_it() {
    let mut output = Output::new();
    Encoder::new(&mut output, Protocol::Resp3).stream(Box::new(Countdown(1)));
    Encoder::new(&mut output, Protocol::Resp3).ok();
    assert_eq!(output.front(), None);
    assert_eq!(output.io_slices(&mut [IoSlice::new(&[]); 4]), 0);
    output.fill();
    assert_eq!(output.io_slices(&mut [IoSlice::new(&[]); 4]), 2);
    assert_eq!(output.bytes_pending(), 7 + 1000 + 2 + 5);
}

#[test]
fn large_owned_bulks_are_not_copied() {
    let large = vec![8; 70_000];
    let address = large.as_ptr();
    let mut output = Output::new();
    let mut reply = Encoder::new(&mut output, Protocol::Resp2);
    reply.bulk_owned(large);
    reply.bulk_owned(vec![9; 3]);
    let mut slices = [IoSlice::new(&[]); 8];
    assert_eq!(output.io_slices(&mut slices), 3);
    assert!(std::ptr::eq(slices[1].as_ptr(), address));
    let mut parser = Parser::new();
    parser.feed(&drained(&mut output, 4096));
    for expected in [&[8; 70_000][..], &[9; 3]] {
        assert_eq!(parser.next_value(), Ok(Some(Value::bulk(expected))));
    }
}

#[test]
fn a_bulk_may_come_in_parts() {
    let mut output = Output::new();
    let mut reply = Encoder::new(&mut output, Protocol::Resp2);
    reply.bulk_begin(11);
    [&b"in "[..], b"", b"parts \r\n"].iter().for_each(|part| reply.bulk_part(part));
    reply.bulk_end();
    reply.bulk_begin(0);
    reply.bulk_end();
    let mut parser = Parser::new();
    parser.feed(&drained(&mut output, 4096));
    for expected in [&b"in parts \r\n"[..], b""] {
        assert_eq!(parser.next_value(), Ok(Some(Value::bulk(expected))));
    }
}

#[test]
fn truncate_removes_replies_after_the_mark() {
    for before in ["", "before"] {
        let mut output = Output::new();
        output.give_buffer(Vec::with_capacity(64));
        if !before.is_empty() {
            Encoder::new(&mut output, Protocol::Resp2).simple(before);
        }
        let mark = output.mark();
        let mut reply = Encoder::new(&mut output, Protocol::Resp2);
        reply.array(3);
        reply.bulk_owned(vec![0; 100_000]);
        reply.stream(Box::new(Countdown(5)));
        output.truncate(mark);
        Encoder::new(&mut output, Protocol::Resp2).int(7);
        let expected = if before.is_empty() { ":7\r\n" } else { "+before\r\n:7\r\n" };
        assert_eq!(drained(&mut output, 5), expected.as_bytes());
    }
}

#[test]
fn the_client_parser_reads_published_resp_examples() {
    let table: [(&[u8], &str); 12] = [
        (b"+OK\r\n", "OK"),
        (b"-ERR unknown command\r\n", "!ERR unknown command"),
        (b"!21\r\nSYNTAX invalid syntax\r\n", "!SYNTAX invalid syntax"),
        (b"$-1\r\n", "null"),
        (b"_\r\n", "null"),
        (b"*-1\r\n", "null-array"),
        (b"*2\r\n$5\r\nhello\r\n:3\r\n", "[\"hello\", 3]"),
        (b"%2\r\n+first\r\n:1\r\n+second\r\n*0\r\n", "{first: 1, second: []}"),
        (b"~2\r\n#t\r\n,1.23\r\n", "~[true, ,1.23]"),
        (b">1\r\n(3492890328409238509324850943850943825024385\r\n", ">[(3492890328409238509324850943850943825024385]"),
        (b"=15\r\ntxt:Some string\r\n", "txt:\"Some string\""),
        (
            b"|1\r\n+key-popularity\r\n%1\r\n$1\r\na\r\n,0.19\r\n*2\r\n:2039123\r\n|1\r\n+ttl\r\n:3600\r\n:9543892\r\n",
            "[2039123, 9543892]",
        ),
    ];
    for (bytes, shown) in table {
        assert_eq!(parsed(bytes).to_string(), shown);
        let mut parser = Parser::new();
        for (index, byte) in bytes.iter().enumerate() {
            assert_eq!(parser.next_value(), Ok(None), "after {index} bytes");
            parser.feed(&[*byte]);
        }
        assert_eq!(parser.next_value().map(|value| value.map(|value| value.to_string())), Ok(Some(shown.to_owned())));
    }
}

#[test]
fn the_client_parser_rejects_malformed_replies() {
    let deep = b"*1\r\n".repeat(200);
    let table: [(&[u8], ReplyError); 6] = [
        (b"hello\r\n", ReplyError::UnknownType(b'h')),
        (b":12a\r\n", ReplyError::InvalidNumber("12a".to_owned())),
        (b"$-2\r\n", ReplyError::InvalidNumber("-2".to_owned())),
        (b"$1\r\nabc", ReplyError::Malformed),
        (b"\r\n", ReplyError::Malformed),
        (&deep, ReplyError::TooBig),
    ];
    for (bytes, error) in table {
        let mut parser = Parser::new();
        parser.feed(bytes);
        assert_eq!(parser.next_value(), Err(error));
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        "[a-zA-Z ]{0,12}".prop_map(Value::Simple),
        "[A-Z]{3,8} [a-z ']{0,20}".prop_map(Value::Error),
        any::<i64>().prop_map(Value::Int),
        (-3i64..120).prop_map(Value::Int),
        proptest::collection::vec(any::<u8>(), 0..130).prop_map(Value::Bulk),
        Just(Value::Null),
        any::<f64>().prop_filter("unequal to itself", |value| !value.is_nan()).prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        "-?[1-9][0-9]{0,40}".prop_map(Value::BigNumber),
        // As the parser keeps it: characters for raw bytes that the text has itself are escaped.
        ("[a-z]{3}", ".{0,20}|.?\u{10ff00}[a\u{10ffff}]?")
            .prop_map(|(format, text)| Value::Verbatim { format, text: from_bytes(text.as_bytes()).into_owned() }),
    ];
    leaf.prop_recursive(3, 40, 6, |inner| {
        let list = || proptest::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            list().prop_map(Value::Array),
            list().prop_map(Value::Set),
            list().prop_map(Value::Push),
            proptest::collection::vec((inner.clone(), inner.clone()), 0..4).prop_map(Value::Map),
        ]
    })
}

fn write(value: &Value, reply: &mut dyn Reply) {
    let write_all = |values: &[Value], reply: &mut dyn Reply| values.iter().for_each(|value| write(value, reply));
    match value {
        Value::Simple(text) => reply.simple(text),
        Value::Error(text) => reply.error(text),
        Value::Int(value) => reply.int(*value),
        Value::Bulk(bytes) => reply.bulk(bytes),
        Value::Null => reply.null(),
        Value::NullArray => reply.null_array(),
        Value::Array(values) => {
            reply.array(values.len());
            write_all(values, reply);
        }
        Value::Map(pairs) => {
            reply.map(pairs.len());
            for (key, value) in pairs {
                write(key, reply);
                write(value, reply);
            }
        }
        Value::Set(values) => {
            reply.set(values.len());
            write_all(values, reply);
        }
        Value::Push(values) => {
            reply.push(values.len());
            write_all(values, reply);
        }
        Value::Double(value) => reply.double(*value),
        Value::Boolean(value) => reply.boolean(*value),
        Value::BigNumber(digits) => reply.big_number(digits),
        Value::Verbatim { format, text } => reply.verbatim(format, text),
    }
}

/// Returns `value` as a RESP2 client reads it.
fn in_resp2(value: &Value) -> Value {
    let list = |values: &[Value]| Value::Array(values.iter().map(in_resp2).collect());
    match value {
        Value::Array(values) | Value::Set(values) | Value::Push(values) => list(values),
        Value::Map(pairs) => {
            Value::Array(pairs.iter().flat_map(|(key, value)| [in_resp2(key), in_resp2(value)]).collect())
        }
        Value::Double(value) => Value::bulk(Double::new(*value).as_bytes()),
        Value::Boolean(value) => Value::Int(i64::from(*value)),
        Value::BigNumber(digits) => Value::bulk(digits),
        Value::Verbatim { text, .. } => Value::bulk(to_bytes(text)),
        same => same.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn the_client_parser_reads_back_written_replies(value in value(), step in 1usize..40, bytes_max in 0usize..4096) {
        let resp3 = written(Protocol::Resp3, |reply| write(&value, reply));
        prop_assert_eq!(&parsed(&resp3), &value);
        let mut parser = Parser::new();
        let mut read = Vec::new();
        for piece in resp3.chunks(step) {
            parser.feed(piece);
            read.extend(parser.next_value().unwrap());
        }
        prop_assert_eq!(&read, std::slice::from_ref(&value));
        let resp2 = written(Protocol::Resp2, |reply| write(&value, reply));
        prop_assert_eq!(parsed(&resp2), in_resp2(&value));
        for (protocol, read) in [(Protocol::Resp3, &value), (Protocol::Resp2, &in_resp2(&value))] {
            let mut kept = ReplyValue::new(protocol, usize::MAX);
            write(&value, &mut kept);
            let kept = kept.into_value();
            prop_assert_eq!(kept.as_ref(), Some(read));
            // All of it or nothing, and never what cannot fit.
            let mut short = ReplyValue::new(protocol, bytes_max);
            write(&value, &mut short);
            let is_too_long = short.is_too_long();
            prop_assert!(is_too_long || bytes_max >= size_of::<Value>());
            let short = short.into_value();
            prop_assert_eq!(short.as_ref(), if is_too_long { None } else { Some(read) });
        }
    }

    #[test]
    fn a_run_is_encoded_as_separate_bulks(width in 1usize..80, count in 0usize..40, seed in any::<u8>()) {
        let bytes: Vec<u8> = (0..width * count).map(|index| seed.wrapping_add(index as u8)).collect();
        let run = written(Protocol::Resp2, |reply| reply.run(width, &bytes));
        let bulks = written(Protocol::Resp2, |reply| bytes.chunks(width).for_each(|item| reply.bulk(item)));
        prop_assert_eq!(run, bulks);
    }

    #[test]
    fn formatted_doubles_parse_to_the_same_value(bits in any::<u64>(), digits in any::<i32>(), exponent in -30i32..30) {
        for value in [f64::from_bits(bits), f64::from(digits) * 10f64.powi(exponent), f64::from(digits) / 1000.0] {
            let double = Double::new(value);
            let text = std::str::from_utf8(double.as_bytes()).unwrap();
            prop_assert!(text.len() <= 25, "{}", text);
            let read: f64 = text.parse().unwrap();
            prop_assert!(read.to_bits() == value.to_bits() || value.is_nan(), "{} {:?}", text, value);
        }
    }

    #[test]
    fn the_client_parser_never_panics_on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut parser = Parser::new();
        parser.feed(&bytes);
        while let Ok(Some(_)) = parser.next_value() {}
    }
}
