//! Values that look like marks of the journal, which any client can store, do not mislead the next start.
//!
//! ```text
//! value    | mark of segment 1 | mark of segment 2 | ... all with checksums that hold, and knowing everything synced
//! torn     a frame is cut off, and its value is stored after the cut
//! recycled segments are used again, and old values are stored after the last write of a killed server
//! ```

use crate::support::{Connection, Server, bobbin};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use wire::client::Value;

const KEY: &str = "breaks off here";

type Client = Connection<TcpStream>;

/// Marks in the one and the other version, for as many segments each.
fn value(segments: u32) -> Vec<u8> {
    (1..=segments).flat_map(|segment| [mark(segment, true), mark(segment, false)]).flatten().collect()
}

fn mark(segment: u32, is_plain: bool) -> Vec<u8> {
    let mut bytes = vec![0; 48];
    bytes[4] = 8;
    bytes[8..12].copy_from_slice(b"bob\x02");
    bytes[12..16].copy_from_slice(&segment.to_le_bytes());
    bytes[16..24].fill(0xff);
    let guess = if is_plain { 1 << 63 } else { 100 * u64::from(segment) };
    bytes[24..32].copy_from_slice(&(guess & !(1 << 63)).to_le_bytes());
    bytes[40..48].copy_from_slice(&guess.to_le_bytes());
    let crc = match is_plain {
        true => base::checksum(0, &bytes[4..]),
        false => base::checksum(base::checksum(0, &bytes[4..16]), &bytes[24..]),
    };
    bytes[..4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn set(client: &mut Client, key: &str, value: &[u8]) {
    assert_eq!(client.call(&[b"SET", key.as_bytes(), value]), Value::Simple("OK".to_owned()));
}

fn assert_sound(data: &Path) {
    let output = bobbin().arg("check").arg(data).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.ends_with("sound\n"), "{text}");
}

#[test]
fn forged_marks_in_a_torn_value_do_not_prevent_starting() {
    let mut server = Server::start(&["--fsync", "never"]);
    let mut client = server.connect();
    set(&mut client, "before", b"whole");
    set(&mut client, KEY, &value(1500));
    let segment = server.data().join("journal/0000000001.log");
    let find = || {
        let bytes = std::fs::read(&segment).unwrap();
        let at = bytes.windows(KEY.len()).position(|window| window == KEY.as_bytes());
        at.map(|at| (bytes, at))
    };
    // It is written when its turn comes.
    while find().is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill();
    let (mut bytes, at) = find().unwrap();
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    assert_sound(&server.data());
    server.restart();
    assert_eq!(server.connect().call(&["GET", "before"]), Value::bulk("whole"));
    assert_eq!(server.connect().call(&["DBSIZE"]), Value::Int(1));
    server.stop();
    assert_sound(&server.data());
}

#[test]
fn forged_marks_in_a_recycled_segment_do_not_prevent_starting() {
    let mut server = Server::start(&["--fsync", "never"]);
    let (value, mut client) = (value(750), server.connect());
    for round in 0..3 {
        for number in 0..300 {
            set(&mut client, &format!("key:{}", number % 10), &value);
        }
        assert_eq!(client.call(&["SAVE"]), Value::Simple("OK".to_owned()), "round {round}");
    }
    server.kill();
    assert_sound(&server.data());
    server.restart();
    assert_eq!(server.connect().call(&["GET", "key:9"]), Value::Bulk(value));
    server.stop();
    assert_sound(&server.data());
}
