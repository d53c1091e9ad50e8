//! A list behaves as a `VecDeque<Vec<u8>>` under any operations, and clones do not change.
//!
//! `BOBBIN_CASES` scales the number of cases.

use crate::twin::{Op, Pair, Twin, cases, compare, op, range, recoded};
use blocks::{BlockList, Direction, End, counting_retired};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_list_matches_its_naive_twin(ops in vec(op(), 1..60)) {
        let mut pair = Pair::new();
        for op in &ops {
            pair.run(op);
        }
        pair.compare_all();
        compare(&recoded(&pair.list), &pair.twin);
    }

    /// The bytes that changes report as retired equal, to the byte, those that a clone holds and the list does not.
    #[test]
    fn retired_bytes_equal_the_bytes_only_a_clone_holds(before in vec(op(), 1..20), after in vec(op(), 1..40)) {
        // Without blocks that one list holds twice, and other clones.
        let is_plain = |op: &&Op| !matches!(op, Op::AppendClone | Op::Clone);
        let mut pair = Pair::new();
        before.iter().filter(is_plain).for_each(|op| pair.run(op));
        let clone = pair.list.clone();
        let mut shed_bytes = 0;
        for op in after.iter().filter(is_plain) {
            let ((), bytes) = counting_retired(|| pair.run(op));
            shed_bytes += bytes;
            prop_assert_eq!(shed_bytes, clone.bytes_apart_from(&pair.list), "after {:?}", op);
        }
        let ((), bytes) = counting_retired(|| pair.list = BlockList::new());
        prop_assert_eq!(shed_bytes + bytes, clone.heap_bytes());
        let ((), bytes) = counting_retired(|| drop(clone));
        prop_assert_eq!(bytes, 0, "the last holder gives up nothing that others hold");
    }

    /// Foreign bytes give an error or a sound list, which can be used.
    #[test]
    fn corrupted_bytes_decode_to_an_error_or_a_sound_list(
        ops in vec(op(), 1..12),
        changes in vec((any::<u32>(), any::<u8>()), 0..6),
        cut in any::<u32>(),
        head_only in any::<bool>(),
    ) {
        let mut pair = Pair::new();
        ops.iter().for_each(|op| pair.run(op));
        let mut bytes = Vec::new();
        pair.list.encode(&mut bytes);
        for (at, value) in changes {
            let bound = if head_only { bytes.len().min(16) } else { bytes.len() };
            let at = Pair::at(at, bound);
            bytes[at] = value;
        }
        if cut % 4 == 0 {
            bytes.truncate(Pair::at(cut / 4, bytes.len()));
        }
        use_decoded(&bytes);
    }

    #[test]
    fn random_bytes_decode_to_an_error_or_a_sound_list(bytes in vec(prop_oneof![0u8..6, any::<u8>()], 0..200)) {
        use_decoded(&bytes);
    }
}

fn use_decoded(bytes: &[u8]) {
    let Ok(mut list) = BlockList::decode(&mut &bytes[..]) else { return };
    list.check();
    assert!(list.heap_bytes() <= 64 * bytes.len() as u64 + 4096);
    let twin: Twin = range(&list, 0, list.len() as usize, Direction::Forward).into();
    compare(&list, &twin);
    list.push(End::Head, b"more");
    list.insert(list.len() / 2, b"other");
    list.remove(list.len() / 2);
    list.pop(End::Tail, |_| ());
    list.check();
}
