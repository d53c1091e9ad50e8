#![no_main]
//! The formats that scripts decode: JSON, MessagePack, and C structures; and the first lines of scripts and libraries.
//! The first byte selects one.

use libfuzzer_sys::fuzz_target;
use lua::library::{Room, cjson, cmsgpack, structs};

const ROOM: Room = Room { bytes: 1 << 20 };

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else { return };
    let _ = (lua::header(rest), lua::library_header(rest));
    match which % 3 {
        0 => drop(cjson::decode::decode(rest, &cjson::Settings::default(), ROOM)),
        1 => {
            let mut rest = rest;
            while !rest.is_empty() && cmsgpack::decode(&mut rest, ROOM).is_ok() {}
        }
        _ => {
            let (format, data) = rest.split_at(rest.len().min(usize::from(which / 3)));
            let _ = (structs::unpack(format, data, 0), structs::size(format));
        }
    }
});
