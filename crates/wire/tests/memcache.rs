//! Requests of memcached's protocol: the errors of memcached 1.6 for malformed requests, and a property test that read
//! boundaries do not affect decoding.

use proptest::prelude::*;
use wire::Ranges;
use wire::memcache::{Dialect, MemcacheDecoder, MemcacheStep, Own, Verb};

const ITEM_BYTES_MAX: usize = 1000;

/// A decoded step of a stream: a request as words, or a line to send.
#[derive(Clone, Debug, PartialEq)]
enum Heard {
    Request(Verb, Vec<Vec<u8>>, bool),
    Say(&'static str),
    Own(Own),
    Broken,
    Http,
}

/// Feeds `pieces` one after another, stepping only once `at_least` bytes are there.
fn hear<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Heard> {
    hear_in(Dialect::Items, pieces)
}

fn hear_in<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Heard> {
    hear_by(MemcacheDecoder::new(dialect, ITEM_BYTES_MAX), pieces)
}

fn hear_locked<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Heard> {
    let mut decoder = MemcacheDecoder::new(Dialect::Items, ITEM_BYTES_MAX);
    decoder.set_locked(true);
    hear_by(decoder, pieces)
}

fn hear_by<'a>(mut decoder: MemcacheDecoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Heard> {
    let mut ranges = Ranges::new();
    let (mut input, mut wanted, mut heard) = (Vec::new(), 0, Vec::new());
    for piece in pieces {
        input.extend_from_slice(piece);
        while input.len() >= wanted {
            let used = match decoder.step(&input, &mut ranges) {
                MemcacheStep::NeedMore { at_least } => {
                    assert!(at_least > input.len());
                    wanted = at_least;
                    break;
                }
                MemcacheStep::Request { used, silent } => {
                    let words = ranges.args(&input).iter().map(<[u8]>::to_vec).collect();
                    heard.push(Heard::Request(decoder.verb(), words, silent));
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
            };
            input.drain(..used);
            wanted = 0;
        }
    }
    heard
}

fn request(verb: Verb, words: &[&str]) -> Heard {
    Heard::Request(verb, words.iter().map(|word| word.as_bytes().to_vec()).collect(), false)
}

fn silent(verb: Verb, words: &[&str]) -> Heard {
    Heard::Request(verb, words.iter().map(|word| word.as_bytes().to_vec()).collect(), true)
}

fn whole(stream: &str) -> Vec<Heard> {
    hear([stream.as_bytes()])
}

#[test]
fn an_http_request_is_rejected_before_its_body_is_parsed() {
    let body = "set pw 0 0 1\r\nx\r\n";
    for head in
        ["POST / HTTP/1.1", "GET / HTTP/1.1", "OPTIONS * HTTP/1.1", "Host: localhost:11211", "post", "X / HTTP/1.1"]
    {
        let stream = format!("{head}\r\nAccept: */*\r\n\r\n{body}");
        for dialect in [Dialect::Items, Dialect::Queues] {
            assert_eq!(hear_in(dialect, [stream.as_bytes()]), [Heard::Http], "{head}");
        }
        assert_eq!(hear_locked([stream.as_bytes()]), [Heard::Http], "{head}");
        let behind = format!("{body}{stream}");
        assert_eq!(whole(&behind)[1..], [Heard::Http], "in the midst of a connection: {head}");
        for cut in 1..stream.len() {
            let (before, after) = stream.as_bytes().split_at(cut);
            assert_eq!(hear([before, after]), [Heard::Http], "{head} cut at {cut}");
        }
    }
}

#[test]
fn keys_and_values_may_look_like_http() {
    let heard = whole("get / HTTP/1.1\r\n");
    assert_eq!(heard, [request(Verb::Get, &["get", "/"]), request(Verb::Get, &["get", "HTTP/1.1"]), Heard::Say("END")]);
    assert_eq!(whole("delete POST\r\n"), [request(Verb::Delete, &["delete", "POST"])]);
    assert_eq!(
        whole("set k 0 0 15\r\nPOST / HTTP/1.1\r\n"),
        [request(Verb::Set, &["set", "k", "0", "0", "POST / HTTP/1.1"])]
    );
}

#[test]
fn a_long_key_list_is_rejected_before_authentication() {
    let line = format!("get {}", "k ".repeat(1500));
    assert_eq!(hear_locked([line.as_bytes()]), [Heard::Broken]);
    assert_eq!(hear_locked([format!("{line}\r\n").as_bytes()]), [Heard::Broken]);
    assert_eq!(hear([line.as_bytes()]), [], "with a password there may be more of it");
    assert_eq!(hear_locked([format!("get {}", "k ".repeat(1000)).as_bytes()]), []);
}

#[test]
fn requests_decode_to_their_words_without_data_lengths() {
    use Verb::{
        Append, Cas, Decr, Delete, FlushAll, Gat, Gats, Get, Gets, Incr, Ma, Md, Me, Mg, Ms, Set, Stats, Touch,
    };
    let end = Heard::Say("END");
    for (stream, expected) in [
        ("get k\r\n", vec![request(Get, &["get", "k"]), end.clone()]),
        ("gets a b\r\n", vec![request(Gets, &["gets", "a"]), request(Gets, &["gets", "b"]), end.clone()]),
        ("bget k\r\n", vec![request(Get, &["get", "k"]), end.clone()]),
        ("gat 30 a b\r\n", vec![request(Gat, &["gat", "30", "a"]), request(Gat, &["gat", "30", "b"]), end.clone()]),
        ("gats -1 a\r\n", vec![request(Gats, &["gats", "-1", "a"]), end.clone()]),
        ("gat 0\r\n", vec![end.clone()]),
        ("set k 5 60 3\r\nabc\r\n", vec![request(Set, &["set", "k", "5", "60", "abc"])]),
        ("set k 5 60 0\r\n\r\n", vec![request(Set, &["set", "k", "5", "60", ""])]),
        ("set k 5 60 3 noreply\r\na\r\n\r\n", vec![silent(Set, &["set", "k", "5", "60", "a\r\n"])]),
        ("set k 5 60 3 nothing\r\nabc\r\n", vec![request(Set, &["set", "k", "5", "60", "abc"])]),
        ("  append  k   5 60 1 \r\nx\r\n", vec![request(Append, &["append", "k", "5", "60", "x"])]),
        ("cas k 1 2 1 99\r\nx\r\n", vec![request(Cas, &["cas", "k", "1", "2", "99", "x"])]),
        ("incr k 5\n", vec![request(Incr, &["incr", "k", "5"])]),
        ("decr k x noreply\r\n", vec![silent(Decr, &["decr", "k", "x"])]),
        ("touch k 10\r\n", vec![request(Touch, &["touch", "k", "10"])]),
        ("delete k\r\n", vec![request(Delete, &["delete", "k"])]),
        ("delete k 0 noreply\r\n", vec![silent(Delete, &["delete", "k"])]),
        ("flush_all\r\n", vec![request(FlushAll, &["flush_all"])]),
        ("flush_all noreply\r\n", vec![silent(FlushAll, &["flush_all"])]),
        ("flush_all 9 noreply\r\n", vec![silent(FlushAll, &["flush_all", "9"])]),
        ("stats\r\nstats items\r\n", vec![request(Stats, &["stats"]), request(Stats, &["stats", "items"])]),
        ("mg k v t\r\n", vec![request(Mg, &["mg", "k", "v", "t"])]),
        ("ms k 3 T5 c\r\nabc\r\n", vec![request(Ms, &["ms", "k", "T5", "c", "abc"])]),
        ("ms k 1\r\nb\r\n", vec![request(Ms, &["ms", "k", "b"])]),
        ("ms Zm9v 1 b\r\nb\r\n", vec![request(Ms, &["ms", "foo", "b", "b"])]),
        ("mg Zm9v b v\r\n", vec![request(Mg, &["mg", "foo", "b", "v"])]),
        ("md k q\r\nma k MD\r\n", vec![request(Md, &["md", "k", "q"]), request(Ma, &["ma", "k", "MD"])]),
        ("me k\r\nme Zm9v b\r\n", vec![request(Me, &["me", "k"]), request(Me, &["me", "foo", "b"])]),
        ("mn\r\nversion\r\nquit\r\n", vec![Heard::Say("MN"), Heard::Own(Own::Version), Heard::Own(Own::Quit)]),
        ("verbosity 1\r\nverbosity 1 noreply\r\n", vec![Heard::Say("OK")]),
    ] {
        assert_eq!(whole(stream), expected, "{stream:?}");
    }
}

/// As memcached 1.6.18 answered them.
#[test]
fn malformed_requests_get_the_errors_of_memcached() {
    const BAD: &str = "CLIENT_ERROR bad command line format";
    let long_key = |bytes: usize, line: &str| line.replace('K', &"k".repeat(bytes));
    for (stream, expected) in [
        ("\r\n", vec!["ERROR"]),
        (" \r\n", vec!["ERROR"]),
        ("GET k\r\n", vec!["ERROR"]),
        ("get\r\n", vec!["ERROR"]),
        ("x\r\nmx\r\n", vec!["ERROR", "ERROR"]),
        ("set k -1 0 1\r\nx\r\n", vec![BAD, "ERROR"]),
        ("set k a 0 1\r\nx\r\n", vec![BAD, "ERROR"]),
        ("set k 0 0 -1\r\n", vec![BAD]),
        ("set k 0 0 2147483646\r\n", vec![BAD]),
        ("set k 1 0\r\n", vec!["ERROR"]),
        ("set k 1 0 1\r\nxy\r\n", vec!["CLIENT_ERROR bad data chunk", "ERROR"]),
        ("set k 1 0 1\r\nxyzabc\r\n", vec!["CLIENT_ERROR bad data chunk", "ERROR"]),
        ("cas k 0 0 1\r\nx\r\n", vec!["ERROR", "ERROR"]),
        ("cas k 0 0 1 abc\r\nx\r\n", vec![BAD, "ERROR"]),
        ("gat abc k\r\n", vec!["CLIENT_ERROR invalid exptime argument"]),
        ("incr k\r\n", vec!["ERROR"]),
        ("touch k\r\n", vec!["ERROR"]),
        ("delete\r\n", vec!["ERROR"]),
        ("delete k 1\r\n", vec!["CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]"]),
        ("flush_all abc\r\n", vec!["CLIENT_ERROR invalid exptime argument"]),
        ("flush_all 1 2 3\r\n", vec!["ERROR"]),
        ("verbosity\r\nverbosity a\r\n", vec!["ERROR", BAD]),
        ("shutdown\r\n", vec!["ERROR: shutdown not enabled"]),
        ("mg\r\nms\r\n", vec!["ERROR", "ERROR"]),
        ("me\r\n", vec![BAD]),
        ("ms k\r\nms k abc\r\nms k S3\r\n", vec![BAD, BAD, BAD]),
        ("mg !!! b\r\n", vec!["CLIENT_ERROR error decoding key"]),
        ("md !!! b\r\n", vec!["CLIENT_ERROR invalid or duplicate flag"]),
        ("ms !!! 2 b\r\nab\r\n", vec!["CLIENT_ERROR error decoding key"]),
        ("set k\0z 0 0 1\r\nx\r\n", vec!["ERROR", "ERROR"]),
        ("mg k a b c d e f g h i j k l m n o p q r\r\n", vec!["CLIENT_ERROR options flags are too long"]),
        ("md k a b c d e f g h i j k l m n o p q r\r\n", vec!["CLIENT_ERROR options flags too long"]),
        (&long_key(251, "get a K b\r\n"), vec![BAD]),
        (&long_key(251, "set K 0 0 1\r\nx\r\n"), vec![BAD, "ERROR"]),
        (&long_key(251, "mg K\r\n"), vec![BAD]),
    ] {
        let said: Vec<_> = expected.into_iter().map(Heard::Say).collect();
        assert_eq!(whole(stream), said, "{stream:?}");
    }
    assert_eq!(whole(&long_key(250, "get K\r\n")).len(), 2);
}

#[test]
fn a_set_with_an_oversized_value_deletes_the_old_value() {
    let value = "x".repeat(ITEM_BYTES_MAX + 1);
    let too_large = Heard::Say("SERVER_ERROR object too large for cache");
    let after = [request(Verb::Get, &["get", "k"]), Heard::Say("END")];
    for (stream, deletes) in [
        (format!("set k 0 0 1001\r\n{value}\r\nget k\r\n"), true),
        (format!("ms k 1001 T5\r\n{value}\r\nget k\r\n"), true),
        (format!("add k 0 0 1001\r\n{value}\r\nget k\r\n"), false),
    ] {
        let mut expected = vec![too_large.clone()];
        if deletes {
            let name = if stream.starts_with("ms") { "ms" } else { "set" };
            expected.insert(0, silent(Verb::Delete, &[name, "k"]));
        }
        expected.extend(after.clone());
        assert_eq!(whole(&stream), expected);
        assert_eq!(hear(stream.as_bytes().chunks(7)), expected);
    }
    let quiet = format!("set k 0 0 1001 noreply\r\n{value}\r\nget k\r\n");
    assert_eq!(whole(&quiet)[1..], after);
}

#[test]
fn lines_beyond_their_maximum_length_are_rejected() {
    assert_eq!(whole(&"x".repeat(2048)), []);
    assert_eq!(whole(&"x".repeat(2049)), [Heard::Broken]);
    assert_eq!(whole(&format!("set k {} 0 1\r\nx\r\n", "0".repeat(2048))), [Heard::Broken]);
    // A line of keys may be long.
    let keys: Vec<String> = (0..10_000).map(|key| format!("key:{key}")).collect();
    let heard = whole(&format!("get {}\r\n", keys.join(" ")));
    assert_eq!(heard.len(), 10_001);
    assert_eq!(heard[9_999], request(Verb::Get, &["get", "key:9999"]));
    assert_eq!(whole(&format!("get {}", "k ".repeat(8 << 20))), [Heard::Broken]);
}

#[test]
fn gats_accepts_a_thousand_keys() {
    let keys: Vec<String> = (0..1_000).map(|key| format!("key:{key}")).collect();
    assert_eq!(whole(&format!("gats 60 {}\r\n", keys.join(" "))).len(), 1_001);
}

#[test]
fn binary_protocol_requests_are_rejected_at_once() {
    let get = b"\x80\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00k";
    assert_eq!(hear([&get[..]].into_iter()), [Heard::Broken]);
    assert_eq!(hear(get.chunks(1)), [Heard::Broken]);
}

/// As memcached 1.6.18 parses them, with the functions of C.
#[test]
fn numbers_accept_a_sign_and_surrounding_whitespace() {
    assert_eq!(whole("set k -0 \t5 +1\r\r\nx\r\n"), [request(Verb::Set, &["set", "k", "-0", "\t5", "x"])]);
    assert_eq!(whole("cas k 0 0 1 -0\r\nx\r\n"), [request(Verb::Cas, &["cas", "k", "0", "0", "-0", "x"])]);
}

fn line() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("get"),
        Just("gets"),
        Just("gat"),
        Just("set"),
        Just("add"),
        Just("cas"),
        Just("incr"),
        Just("touch"),
        Just("delete"),
        Just("flush_all"),
        Just("mg"),
        Just("ms"),
        Just("md"),
        Just("ma"),
        Just("me"),
        Just("mn"),
        Just("stats"),
        Just("quit"),
        Just("bad"),
        Just("")
    ];
    let word = prop_oneof![
        Just("k".to_owned()),
        Just("Zm9v".to_owned()),
        Just("b".to_owned()),
        Just("noreply".to_owned()),
        Just("T5".to_owned()),
        Just("\0".to_owned()),
        (0..12).prop_map(|n: i32| n.to_string()),
        (995..1005).prop_map(|n: i32| n.to_string()),
        (245usize..255).prop_map(|n| "k".repeat(n))
    ];
    let end = prop_oneof![6 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r")];
    let value = (0usize..14, prop_oneof![4 => Just("\r\n"), 1 => Just("")]).prop_map(|(n, end)| "v".repeat(n) + end);
    let value = prop_oneof![2 => Just(String::new()), 3 => value, 1 => Just("v".repeat(1001) + "\r\n")];
    (name, prop::collection::vec(word, 0..7), end, value)
        .prop_map(|(name, words, end, value)| format!("{name} {}{end}{value}", words.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn read_boundaries_do_not_affect_decoding(
        lines in prop::collection::vec(line(), 0..12),
        sizes in prop::collection::vec(1usize..40, 1..20),
    ) {
        let stream = lines.concat();
        let mut pieces = Vec::new();
        let mut rest = stream.as_bytes();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = behind;
        }
        let expected = whole(&stream);
        prop_assert_eq!(hear(pieces), expected.clone());
        prop_assert_eq!(hear(stream.as_bytes().chunks(1)), expected);
    }
}

#[test]
fn the_queue_dialect_accepts_only_queue_commands() {
    let heard = |text: &str| hear_in(Dialect::Queues, [text.as_bytes()]);
    assert_eq!(heard("set q 0 99 3\r\nabc\r\n"), [request(Verb::Set, &["set", "q", "0", "abc"])]);
    assert_eq!(
        heard("get q/t=5 r\r\n"),
        [request(Verb::Get, &["get", "q/t=5"]), request(Verb::Get, &["get", "r"]), Heard::Say("END")]
    );
    assert_eq!(heard("delete q\r\n"), [request(Verb::Delete, &["delete", "q"])]);
    assert_eq!(heard("stats queue\r\n"), [request(Verb::Stats, &["stats", "queue"])]);
    assert_eq!(heard("flush_all\r\nversion\r\n"), [request(Verb::FlushAll, &["flush_all"]), Heard::Own(Own::Version)]);
    for word in ["add q 0 0 0", "append q 0 0 0", "incr q 1", "mg q", "ms q 0", "gat 1 q", "touch q 1", "mn"] {
        assert_eq!(heard(&format!("{word}\r\n"))[0], Heard::Say("ERROR"), "{word}");
    }
    // A refused request skips its value and deletes nothing.
    let bad = Heard::Say("CLIENT_ERROR bad command line format");
    assert_eq!(heard("set q 4294967296 0 3\r\n"), [bad]);
    let long = format!("set q 0 0 1001\r\n{}\r\nquit\r\n", "x".repeat(1001));
    assert_eq!(heard(&long), [Heard::Say("SERVER_ERROR object too large for cache"), Heard::Own(Own::Quit)]);
}

#[test]
fn keys_after_a_failed_key_are_skipped() {
    for stream in ["get a b c\r\nquit\r\n", "get a\r\nquit\r\n", "gat 0 a b\nquit\r\n"] {
        let (mut decoder, mut ranges) = (MemcacheDecoder::new(Dialect::Items, 100), Ranges::new());
        let MemcacheStep::Request { used, .. } = decoder.step(stream.as_bytes(), &mut ranges) else {
            panic!("{stream}")
        };
        decoder.end_line();
        let line_bytes = stream.find("quit").unwrap();
        let rest = &stream.as_bytes()[used..];
        assert_eq!(decoder.step(rest, &mut ranges), MemcacheStep::Empty { used: line_bytes - used }, "{stream}");
        let quit = MemcacheStep::Own { used: 6, own: Own::Quit };
        assert_eq!(decoder.step(&rest[line_bytes - used..], &mut ranges), quit, "{stream}");
    }
    let (mut decoder, mut ranges) = (MemcacheDecoder::new(Dialect::Items, 100), Ranges::new());
    decoder.end_line();
    assert_eq!(decoder.step(b"quit\r\n", &mut ranges), MemcacheStep::Own { used: 6, own: Own::Quit });
}
