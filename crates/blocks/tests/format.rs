//! Compares encoded bytes with bytes worked out by hand from `docs/formats/block.md`.

use blocks::{BlockList, DecodeError, Direction, End};

fn encoded(items: &[&[u8]]) -> Vec<u8> {
    let mut list = BlockList::new();
    items.iter().for_each(|item| list.push(End::Tail, item));
    let mut bytes = Vec::new();
    list.encode(&mut bytes);
    assert_eq!(bytes.len() as u64, list.encoded_bytes());
    bytes
}

fn decoded(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, DecodeError> {
    let list = BlockList::decode(&mut bytes)?;
    list.check();
    let mut items = Vec::new();
    let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
        items.push(item.to_vec());
        std::ops::ControlFlow::Continue(())
    });
    Ok(items)
}

#[test]
fn lists_encode_as_documented() {
    assert_eq!(encoded(&[]), b"\x00");
    assert_eq!(encoded(&[b"abc", b"def"]), b"\x02\x01\x02\x03abcdef");
    assert_eq!(encoded(&[b"", b""]), b"\x02\x01\x02\x00");
    assert_eq!(encoded(&[b"a", b"bcd", b""]), b"\x03\x02\x03\x04abcd\x00\x03\x01");
    let long = [b'l'; 300];
    let wide = [&b"\x02\x03\x02\xad\x02a"[..], &long, b"\x2c\x01\x01\x00"].concat();
    assert_eq!(encoded(&[b"a", &long]), wide);
}

#[test]
fn decoding_leaves_the_bytes_after_the_list() {
    let mut input = &b"\x01\x01\x01\x01arest"[..];
    assert_eq!(BlockList::decode(&mut input).expect("sound").len(), 1);
    assert_eq!(input, b"rest");
}

#[test]
fn unsound_bytes_are_refused() {
    use DecodeError::{Inconsistent, Malformed, UnknownCodec};
    let cases: [(&[u8], DecodeError); 14] = [
        (b"", Malformed),
        (b"\x01", Malformed),
        (b"\x01\x00\x01\x01a", UnknownCodec(0)),
        (b"\x01\x09\x01\x01a", UnknownCodec(9)),
        (b"\x01\x01\x00\x01", Inconsistent),
        (b"\x01\x01\x01\x02a", Malformed),
        (b"\x01\x01\x80\x00\x01a", Malformed),
        (b"\x01\x01\x02\x01ab", Inconsistent),
        (b"\x02\x02\x02\x03abc\x01\x01", Inconsistent),
        (b"\x02\x02\x02\x03abc\x01", Malformed),
        (b"\x02\x01\xf1\x1f\x00", Inconsistent),
        (b"\x02\x01\x02\xff\xff\xff\xff\x0fab", Inconsistent),
        (b"\x01\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a", Inconsistent),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01\x01a", Malformed),
    ];
    for (bytes, error) in cases {
        assert_eq!(decoded(bytes), Err(error), "{bytes:02x?}");
    }
}

#[test]
fn the_largest_blocks_are_accepted() {
    let mut bytes = b"\xf0\x1f\x01\xf0\x1f\x01".to_vec();
    bytes.resize(bytes.len() + 4080, b'x');
    assert_eq!(decoded(&bytes).expect("4,080 items of one byte").len(), 4080);
    let mut bytes = b"\x01\x01\x01\xf1\x1f".to_vec();
    bytes.resize(bytes.len() + 4081, b'x');
    assert_eq!(decoded(&bytes).expect("one item beyond a block").len(), 1);
}

/// A list in each codec, in bytes worked out by hand, its items, and corruptions: offset, byte and error.
type Fixture<'a> = (&'a str, &'a [&'a str], &'a [(usize, u8, DecodeError)]);

const FIXTURES: &[Fixture<'_>] = {
    use DecodeError::{Inconsistent, Malformed, UnknownCodec};
    &[
        (
            "02 01 02 03 616263 646566",
            &["abc", "def"],
            &[(0, 1, Inconsistent), (1, 0, UnknownCodec(0)), (3, 4, Malformed)],
        ),
        ("03 02 03 04 61626364 000301", &["a", "bcd", ""], &[(3, 0x80, Inconsistent), (9, 2, Inconsistent)]),
        ("02 03 02 03 616263 02000100", &["a", "bc"], &[(8, 1, Inconsistent), (2, 0, Inconsistent)]),
        (
            "02 04 02 0a 04 02 6c6f6720 6f6b 6e6f",
            &["log ok", "log no"],
            &[(5, 1, Inconsistent), (5, 3, Malformed), (4, 9, Malformed), (2, 3, Malformed)],
        ),
        (
            "03 05 03 16 02 ff 6964 0600000000000000 0000030000000000 01 05",
            &["id7", "id9", "id13"],
            &[
                (5, 0, Inconsistent),
                (5, 1, Inconsistent),
                (5, 20, Inconsistent),
                (15, 0xff, Inconsistent),
                (24, 9, Malformed),
                (24, 65, Inconsistent),
                (25, 0x0d, Inconsistent),
            ],
        ),
        (
            "03 06 03 06 01 02 61 f1 02 c3",
            &["a1f", "a20", "a3c"],
            &[(4, 7, Malformed), (5, 3, Malformed), (5, 1, Inconsistent), (5, 255, Malformed)],
        ),
        (
            "03 07 03 07 00 ff 010200 ba 0c",
            &["A", "BC", ""],
            &[(10, 0x1c, Inconsistent), (8, 2, Malformed), (7, 0, Inconsistent)],
        ),
        ("02 08 02 06 01 02 78 fe e8 26", &["x-Z", "xk9"], &[(5, 3, Malformed), (1, 9, UnknownCodec(9))]),
    ]
};

fn bytes_of(hex: &str) -> Vec<u8> {
    let signs: Vec<char> = hex.chars().filter(|sign| *sign != ' ').collect();
    signs
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).expect("two signs of hexadecimal"))
        .collect()
}

#[test]
fn codecs_decode_as_documented_and_refuse_corrupted_bytes() {
    for (nth, (hex, items, corruptions)) in FIXTURES.iter().enumerate() {
        let sound = bytes_of(hex);
        assert_eq!(usize::from(sound[1]), nth + 1, "a fixture for each codec");
        let items: Vec<Vec<u8>> = items.iter().map(|item| item.as_bytes().to_vec()).collect();
        assert_eq!(decoded(&sound), Ok(items), "{hex}");
        for (place, byte, error) in *corruptions {
            let mut bytes = sound.clone();
            assert_ne!(bytes[*place], *byte);
            bytes[*place] = *byte;
            assert_eq!(decoded(&bytes), Err(*error), "{hex} with {byte:02x} at {place}");
        }
        for end in 0..sound.len() {
            assert_eq!(decoded(&sound[..end]), Err(DecodeError::Malformed), "{hex} up to {end}");
        }
    }
}

/// Blocks packed by another encoder keep their bytes.
#[test]
fn packed_blocks_encode_exactly_as_they_were_decoded() {
    for (hex, ..) in &FIXTURES[3..] {
        let sound = bytes_of(hex);
        let list = BlockList::decode(&mut &sound[..]).expect("sound");
        let mut bytes = Vec::new();
        list.encode(&mut bytes);
        assert_eq!(bytes, sound, "{hex}");
    }
}

#[test]
fn packed_blocks_beyond_the_limits_are_refused() {
    let block = |count: &[u8], extent: &[u8], data: &[&[u8]]| {
        decoded(&[count, &[4], count, extent, &data.concat()].concat()).map(|items| items.len())
    };
    // One prefix of four bytes for 4,080 items, and for one more; 254 bytes each for 65 items, and for one more.
    assert_eq!(block(b"\xf0\x1f", b"\x06", &[b"\x04\x00", b"four"]), Ok(4080));
    assert_eq!(block(b"\xf1\x1f", b"\x06", &[b"\x04\x00", b"four"]), Err(DecodeError::Inconsistent));
    assert_eq!(block(b"\x41", b"\x80\x02", &[b"\xfe\x00", &[b'x'; 254]]), Ok(65));
    assert_eq!(block(b"\x42", b"\x80\x02", &[b"\xfe\x00", &[b'x'; 254]]), Err(DecodeError::Inconsistent));
    // 16 items of 255 bytes make 4,098 with their lengths.
    let lengths = [255; 16];
    assert_eq!(block(b"\x10", b"\x82\x20", &[b"\x00\xff", &lengths, &[b'x'; 4080]]), Err(DecodeError::Inconsistent));
    let lengths = [255; 15];
    assert_eq!(block(b"\x0f", b"\x82\x1e", &[b"\x00\xff", &lengths, &[b'x'; 3825]]), Ok(15));
    // A prefix and a body of 255 bytes, and of 256.
    assert_eq!(block(b"\x01", b"\x81\x02", &[b"\x80\x7f", &[b'x'; 255]]), Ok(1));
    assert_eq!(block(b"\x01", b"\x82\x02", &[b"\x80\x80", &[b'x'; 256]]), Err(DecodeError::Inconsistent));
}
