//! Requests: the published protocol, limits and error texts of Redis, and a property test that read boundaries do not
//! affect decoding.

use proptest::prelude::*;
use wire::resp::{self, Limits, RespDecoder, RespStep, WireError};
use wire::{OwnedRequest, Ranges};

/// The decoded contents of a stream.
#[derive(Debug, PartialEq)]
struct Heard {
    requests: Vec<OwnedRequest>,
    error: Option<WireError>,
    is_http: bool,
    bytes_left: usize,
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(512)
}

/// Returns the number of arguments that a multibulk request announces.
fn ranges_of(input: &[u8]) -> usize {
    let line = input.split(|byte| *byte == b'\r').next().unwrap_or_default();
    std::str::from_utf8(&line[1..]).ok().and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[test]
fn many_arguments_are_decoded_in_bounded_steps() {
    let arguments: Vec<String> = (0..10_000).map(|index| index.to_string()).collect();
    let mut stream = Vec::new();
    resp::request(&mut stream, OwnedRequest::of(&arguments).args());
    let mut decoder = RespDecoder::new();
    let mut ranges = Ranges::new();
    for _ in 0..2 {
        let step = decoder.step(&stream, &mut ranges);
        assert!(matches!(step, RespStep::NeedMore { at_least } if at_least < stream.len()), "{step:?}");
    }
    assert_eq!(decoder.step(&stream, &mut ranges), RespStep::Request { used: stream.len() });
    let request = ranges.args(&stream).to_owned();
    assert!(request.args().iter().eq(arguments.iter().map(String::as_bytes)));
    for size in [1000, 7000, 50_000] {
        let pieces: Vec<&[u8]> = stream.chunks(size).collect();
        assert_eq!(hear(&pieces, Limits::Full).requests, std::slice::from_ref(&request));
    }
}

/// Feeds `pieces` one after another, stepping only once `at_least` bytes are there.
fn hear(pieces: &[&[u8]], limits: Limits) -> Heard {
    let (mut decoder, mut ranges) = (RespDecoder::new(), Ranges::new());
    decoder.set_limits(limits);
    let mut heard = Heard { requests: Vec::new(), error: None, is_http: false, bytes_left: 0 };
    let (mut input, mut at_least) = (Vec::new(), 0);
    for piece in pieces {
        input.extend_from_slice(piece);
        while input.len() >= at_least && heard.error.is_none() {
            let used = match decoder.step(&input, &mut ranges) {
                RespStep::NeedMore { at_least: wanted } => {
                    // No longer than the input only where very many arguments take more than one step.
                    assert!(wanted > input.len() || input[0] == b'*' && ranges_of(&input) > 4096);
                    at_least = wanted;
                    continue;
                }
                RespStep::Request { used } => {
                    heard.requests.push(ranges.args(&input).to_owned());
                    used
                }
                RespStep::Empty { used } => used,
                RespStep::Broken(error) => {
                    heard.error = Some(error);
                    continue;
                }
                RespStep::Http => {
                    heard.is_http = true;
                    return heard;
                }
            };
            assert_eq!(decoder.heap_bytes(), 0);
            input.drain(..used);
            at_least = 0;
        }
    }
    heard.bytes_left = if heard.error.is_some() { 0 } else { input.len() };
    heard
}

fn hear_whole(bytes: &[u8]) -> Heard {
    hear(&[bytes], Limits::Full)
}

#[test]
fn unauthenticated_requests_have_a_total_length_limit() {
    let request =
        |count: usize| format!("*{count}\r\n") + &format!("$16384\r\n{}\r\n", "x".repeat(16384)).repeat(count);
    assert_eq!(hear(&[request(3).as_bytes()], Limits::Unauthenticated).requests.len(), 1);
    let heard = hear(&[request(4).as_bytes()], Limits::Unauthenticated);
    assert_eq!(heard.error, Some(WireError::UnauthenticatedLength));
    assert_eq!(hear(&[request(4).as_bytes()], Limits::Full).requests.len(), 1);
}

#[test]
fn an_http_request_is_rejected_before_its_body_is_parsed() {
    let head = "POST / HTTP/1.1\r\nHost: localhost:6379\r\n\r\n";
    for head in
        [head, "GET / HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\n", "SET / HTTP/1.1\r\n", "Host: localhost\r\n", "post\r\n"]
    {
        let stream = format!("{head}SET pw x\r\n*1\r\n$8\r\nFLUSHALL\r\n");
        for limits in [Limits::Full, Limits::Unauthenticated] {
            let heard = hear(&[stream.as_bytes()], limits);
            assert!(heard.is_http && heard.requests.is_empty(), "{head:?}: {heard:?}");
            let pieces: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
            assert_eq!(hear(&pieces, limits), heard, "{head:?} in pieces");
        }
        let heard = hear_whole(format!("PING\r\n*1\r\n$4\r\nPING\r\n{stream}").as_bytes());
        assert!(heard.is_http && heard.requests.len() == 2, "in the midst of a connection: {heard:?}");
    }
}

fn words(line: &str) -> Vec<Vec<u8>> {
    let heard = hear_whole(line.as_bytes());
    assert_eq!(heard.error, None, "{line:?}");
    assert_eq!(heard.requests.len(), 1, "{line:?}");
    heard.requests[0].args().iter().map(<[u8]>::to_vec).collect()
}

fn error(bytes: &[u8]) -> String {
    hear_whole(bytes).error.expect("an error").to_string()
}

fn error_unauthenticated(bytes: &[u8]) -> Option<String> {
    hear(&[bytes], Limits::Unauthenticated).error.map(|error| error.to_string())
}

#[test]
fn a_request_decodes_to_its_arguments() {
    let input = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\nb\0\r\n*1\r\n$4\r\nPING\r\n";
    let heard = hear_whole(input);
    let expected: [OwnedRequest; 2] =
        [OwnedRequest::of(&[&b"SET"[..], b"k", b"a\r\nb\0"]), OwnedRequest::of(&["PING"])];
    assert_eq!(heard.requests, expected);
    let args = heard.requests[0].args();
    assert_eq!(args.name(), b"SET");
    assert_eq!(args.len(), 3);
    assert_eq!(args.from(1).iter().collect::<Vec<_>>(), [&b"k"[..], b"a\r\nb\0"]);
    assert!(args.from(9).is_empty());
    assert_eq!(args.bytes_total(), 9);
}

#[test]
fn empty_requests_are_skipped() {
    let heard = hear_whole(b"\r\n\n   \r\n*0\r\n*-1\r\n*-10\r\nPING\r\n");
    assert_eq!(
        heard,
        Heard { requests: vec![OwnedRequest::of(&["PING"])], error: None, is_http: false, bytes_left: 0 }
    );
}

#[test]
fn inline_words_are_unquoted() {
    assert_eq!(words("SET a b\r\n"), [b"SET", &b"a"[..], b"b"]);
    assert_eq!(words("\t PING \n"), [b"PING"]);
    assert_eq!(words("ECHO \"a b\\r\\n\\t\\b\\a\\\"\\q\\x41\\xfF\\xzz\"\r\n")[1], b"a b\r\n\t\x08\x07\"qA\xffxzz");
    assert_eq!(words("ECHO 'a\\n\\'b'\n")[1], b"a\\n'b");
    assert_eq!(words("ECHO \"\" ''\n")[1..], [b"", b""]);
    assert_eq!(words("ECHO a\"b c\"\n")[1], b"ab c");
    assert_eq!(words("ECHO a\\n\n")[1], b"a\\n");
    for line in ["ECHO \"a\n", "ECHO 'a\n", "ECHO \"a\"b\n", "ECHO 'a'b\n", "ECHO \"a\\\"\n", "\"a\"'b'\n"] {
        assert_eq!(error(line.as_bytes()), "Protocol error: unbalanced quotes in request", "{line:?}");
    }
}

#[test]
fn error_texts_match_redis() {
    let long = [b'1'; (64 << 10) + 1];
    let table: [(&[u8], &str); 14] = [
        (b"*99999999999\r\n", "invalid multibulk length"),
        (b"*2147483648\r\n", "invalid multibulk length"),
        (b"*3 \r\n", "invalid multibulk length"),
        (b"*\r\n", "invalid multibulk length"),
        (b"*03\r\n", "invalid multibulk length"),
        (b"*9223372036854775808\r\n", "invalid multibulk length"),
        (b"*1\r\nfooz\r\n", "expected '$', got 'f'"),
        (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", "expected '$', got 'f'"),
        (b"*1\r\n\r\n", "expected '$', got '\r'"),
        (b"*1\r\n$-10\r\n", "invalid bulk length"),
        (b"*1\r\n$2000000000\r\n", "invalid bulk length"),
        (b"*1\r\n$536870913\r\n", "invalid bulk length"),
        (b"*1\r\n$blabla\r\n", "invalid bulk length"),
        (b"*1\r\n$\r\n", "invalid bulk length"),
    ];
    for (bytes, text) in table {
        assert_eq!(error(bytes), format!("Protocol error: {text}"));
    }
    assert_eq!(error(&[b"*", &long[1..]].concat()), "Protocol error: too big mbulk count string");
    assert_eq!(error(&[b"*1\r\n$", &long[1..]].concat()), "Protocol error: too big bulk count string");
    assert_eq!(error(&long), "Protocol error: too big inline request");
}

#[test]
fn requests_at_the_limits_are_accepted() {
    let line = [&[b'a'; 64 << 10][..], b"\n"].concat();
    assert_eq!(hear_whole(&line).requests.len(), 1);
    assert_eq!(hear_whole(b"*2147483647\r\n").error, None);
    let mut decoder = RespDecoder::new();
    let header = b"*1\r\n$536870912\r\n";
    let whole = header.len() + (512 << 20) + 2;
    assert_eq!(decoder.step(header, &mut Ranges::new()), RespStep::NeedMore { at_least: whole });
}

#[test]
fn a_request_of_more_than_a_gibibyte_is_refused() {
    // The bytes of the first bulk stay untouched zero pages: the decoder does not read them.
    let (first, second) = (b"*2\r\n$536870912\r\n", b"$536870912\r\n");
    let second_at = first.len() + (512 << 20) + 2;
    let mut input = vec![0; second_at + second.len()];
    input[..first.len()].copy_from_slice(first);
    input[second_at..].copy_from_slice(second);
    assert_eq!(RespDecoder::new().step(&input, &mut Ranges::new()), RespStep::Broken(WireError::RequestTooBig));
}

#[test]
fn unauthenticated_clients_have_small_request_limits() {
    let count = Some("Protocol error: unauthenticated multibulk length".to_owned());
    let length = Some("Protocol error: unauthenticated bulk length".to_owned());
    assert_eq!(error_unauthenticated(b"*10\r\n"), None);
    assert_eq!(error_unauthenticated(b"*11\r\n"), count);
    assert_eq!(error_unauthenticated(b"*100\r\n"), count);
    assert_eq!(error_unauthenticated(b"*1\r\n$16384\r\n"), None);
    assert_eq!(error_unauthenticated(b"*1\r\n$16385\r\n"), length);
    assert_eq!(error_unauthenticated(b"*1\r\n$100000000\r\n"), length);
}

#[test]
fn a_partial_request_after_a_large_one_keeps_little_memory() {
    let (mut decoder, mut ranges) = (RespDecoder::new(), Ranges::new());
    let mut big = Vec::new();
    resp::request(&mut big, OwnedRequest::of(&vec!["x"; 100_000]).args());
    let whole = std::iter::repeat_with(|| decoder.step(&big, &mut ranges))
        .find(|step| !matches!(step, RespStep::NeedMore { at_least } if *at_least <= big.len()));
    assert_eq!(whole, Some(RespStep::Request { used: big.len() }));
    assert!(matches!(decoder.step(b"*2\r\n$1\r\na\r\n", &mut ranges), RespStep::NeedMore { .. }));
    assert!(decoder.heap_bytes() <= 512);
}

fn argument() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => proptest::collection::vec(any::<u8>(), 0..20),
        1 => proptest::collection::vec(any::<u8>(), 90..300),
    ]
}

fn requests() -> impl Strategy<Value = Vec<OwnedRequest>> {
    let request = proptest::collection::vec(argument(), 1..14).prop_map(|arguments| OwnedRequest::of(&arguments));
    proptest::collection::vec(request, 1..6)
}

/// Bytes that often look like the protocol.
fn foreign() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just(b"*2\r\n".to_vec()),
        Just(b"*1\r\n".to_vec()),
        Just(b"$3\r\n".to_vec()),
        Just(b"$0\r\n\r\n".to_vec()),
        Just(b"$12\r\nabcdefghijkl\r\n".to_vec()),
        Just(b"foo\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"GET \"a".to_vec()),
        Just(b"*-1\r\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

/// `bytes` cut at `cuts`, in any order and of any size.
fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([0, bytes.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn encoded(requests: &[OwnedRequest]) -> Vec<u8> {
    let mut bytes = Vec::new();
    requests.iter().for_each(|request| resp::request(&mut bytes, request.args()));
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn encoded_requests_decode_to_the_same_requests(
        requests in requests(),
        cuts in proptest::collection::vec(any::<usize>(), 0..8),
    ) {
        let bytes = encoded(&requests);
        let heard = hear(&cut(&bytes, &cuts), Limits::Full);
        prop_assert_eq!(heard, Heard { requests, error: None, is_http: false, bytes_left: 0 });
    }

    #[test]
    fn requests_decode_the_same_one_byte_at_a_time(requests in requests()) {
        let bytes = encoded(&requests);
        let heard = hear(&bytes.chunks(1).collect::<Vec<_>>(), Limits::Full);
        prop_assert_eq!(heard, Heard { requests, error: None, is_http: false, bytes_left: 0 });
    }

    #[test]
    fn read_boundaries_do_not_affect_decoding(
        bytes in foreign(),
        cuts in proptest::collection::vec(any::<usize>(), 0..8),
        strict in any::<bool>(),
    ) {
        let limits = if strict { Limits::Unauthenticated } else { Limits::Full };
        let whole = hear(&[&bytes], limits);
        prop_assert_eq!(&hear(&cut(&bytes, &cuts), limits), &whole);
        prop_assert_eq!(&hear(&bytes.chunks(1).collect::<Vec<_>>(), limits), &whole);
    }

    #[test]
    fn a_hex_escaped_inline_word_decodes_to_its_bytes(word in proptest::collection::vec(any::<u8>(), 0..40)) {
        // The form redis-cli prints: every byte may be written as \xHH.
        let quoted: String = word.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        prop_assert_eq!(&words(&format!("ECHO \"{quoted}\"\r\n"))[1], &word);
    }
}
