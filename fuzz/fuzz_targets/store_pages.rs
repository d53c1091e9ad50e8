//! Segments in every state of disorder: a record or block that is read is the one that was written.
//!
//! ```text
//!   | 0 | a segment's bytes ... |
//!   | 1 | commits .. 0 | change : 1, segment 1, offset 2, value 1 | change ... |     a true store, its segments changed
//! ```

#![no_main]

use fuzz::store_world::{World, mend_segment};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, bytes)) => drop(store::scan_segment(bytes)),
        Some((_, script)) => {
            let commits = script.iter().take_while(|&&commit| commit != 0).take(12);
            let world = World::new(commits.clone().copied());
            let changes = &script[(commits.count() + 1).min(script.len())..];
            let segments = [world.files("0"), world.files("1")].concat();
            let mut is_honest = true;
            for change in changes.chunks_exact(5).filter(|_| !segments.is_empty()) {
                let segment = &segments[usize::from(change[1]) % segments.len()];
                let offset = usize::from(change[2]) | usize::from(change[3]) << 8;
                is_honest &= world.alter(segment, change[0], offset, change[4], mend_segment);
            }
            world.judge(is_honest);
        }
        None => {}
    }
});
