//! The decoders report errors in arbitrary bytes, and never panic.

use base::random::Random;
use lua::library::{Room, cjson, cmsgpack, structs};

const ROOM: Room = Room { bytes: 1 << 20 };
const CASES: u64 = 200_000;

/// Returns random bytes, two thirds of them from `signs`.
fn bytes(random: &mut Random, signs: &[u8]) -> Vec<u8> {
    let length = random.below(24);
    let mut next = || match random.below(3) {
        0 => random.next_u64() as u8,
        _ => signs[random.below(signs.len() as u64) as usize],
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn decoding_arbitrary_message_pack_never_panics() {
    let mut random = Random::new(1);
    for _ in 0..CASES {
        let bytes = bytes(&mut random, b"\x00\x7f\x80\x81\x92\xa3\xc0\xca\xcb\xcf\xd0\xd3\xd9\xdb\xdc\xdd\xde\xdf\xff");
        let mut rest = &bytes[..];
        while !rest.is_empty() && cmsgpack::decode(&mut rest, ROOM).is_ok() {}
    }
}

#[test]
fn unpacking_arbitrary_structs_never_panics() {
    let mut random = Random::new(2);
    for _ in 0..CASES {
        let format = bytes(&mut random, b"<>!=bBhHlLTiIfdscx0123456789 ");
        let data = bytes(&mut random, b"\x00\x01\x02\xff");
        let at = random.below(8) as usize;
        let _ = (structs::unpack(&format, &data, at), structs::size(&format));
    }
}

#[test]
fn decoding_arbitrary_json_never_panics() {
    let mut random = Random::new(3);
    let settings = cjson::Settings::default();
    for _ in 0..CASES {
        let _ = cjson::decode::decode(&bytes(&mut random, b"{}[]\",:\\u0d8-+.eEinfaNtrul xX"), &settings, ROOM);
    }
}
