//! Forged marks are what a scan of the journal would take for its own.

use journal::MARK_BYTES;
use sim::forge::{SEGMENTS, marks};

#[test]
fn forged_marks_pass_the_checksum() {
    let text = marks(10 * MARK_BYTES + 3, 7);
    assert_eq!(text.len(), 10 * MARK_BYTES + 3);
    let records = text.as_bytes().chunks_exact(MARK_BYTES).map(journal::Record::glance);
    let segments: Vec<_> = records.map(|record| record.expect("a checksum that holds").head.segment).collect();
    assert_eq!(segments.len(), 10);
    assert!(segments.windows(2).all(|pair| pair[0] % SEGMENTS as u32 + 1 == pair[1]), "{segments:?}");
}
