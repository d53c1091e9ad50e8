//! Bytes worked out by hand from `docs/formats/block.md`.

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
fn lists_are_written_as_the_page_says() {
    assert_eq!(encoded(&[]), b"\x00");
    assert_eq!(encoded(&[b"abc", b"def"]), b"\x02\x01\x02\x03abcdef");
    assert_eq!(encoded(&[b"", b""]), b"\x02\x01\x02\x00");
    assert_eq!(encoded(&[b"a", b"bcd", b""]), b"\x03\x02\x03\x04abcd\x00\x03\x01");
    let long = [b'l'; 300];
    let wide = [&b"\x02\x03\x02\xad\x02a"[..], &long, b"\x2c\x01\x01\x00"].concat();
    assert_eq!(encoded(&[b"a", &long]), wide);
}

#[test]
fn what_follows_a_list_is_left() {
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
fn the_longest_blocks_are_taken() {
    let mut bytes = b"\xf0\x1f\x01\xf0\x1f\x01".to_vec();
    bytes.resize(bytes.len() + 4080, b'x');
    assert_eq!(decoded(&bytes).expect("4,080 items of one byte").len(), 4080);
    let mut bytes = b"\x01\x01\x01\xf1\x1f".to_vec();
    bytes.resize(bytes.len() + 4081, b'x');
    assert_eq!(decoded(&bytes).expect("one item beyond a block").len(), 1);
}
