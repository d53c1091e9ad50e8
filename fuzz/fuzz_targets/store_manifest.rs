//! Manifests in every state of disorder: the store opens with a state that was, or says what is damaged.
//!
//! ```text
//!   | 0 | a manifest's bytes ... |
//!   | 1 | commits .. 0 | change : 1, offset 2, value 1 | change ... |     a true store, its manifest changed
//! ```

#![no_main]

use fuzz::store_world::{World, mend_manifest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, bytes)) => drop(store::scan_manifest(bytes)),
        Some((_, script)) => {
            let commits = script.iter().take_while(|&&commit| commit != 0).take(12);
            let world = World::new(commits.clone().copied());
            let changes = &script[(commits.count() + 1).min(script.len())..];
            let manifest = world.files("manifest-").pop().expect("a store has a manifest");
            let mut is_honest = true;
            for change in changes.chunks_exact(4) {
                let offset = usize::from(change[1]) | usize::from(change[2]) << 8;
                is_honest &= world.alter(&manifest, change[0], offset, change[3], mend_manifest);
            }
            world.judge(is_honest);
        }
        None => {}
    }
});
