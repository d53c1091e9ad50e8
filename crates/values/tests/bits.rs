//! Bit operations against the plain definition: counting, searching, and BITOP, restarted after its sources changed.

use proptest::collection::vec;
use proptest::prelude::*;
use values::LongString;
use values::bits::{self, BitOperation, Mixing};
use values::long_string::PIECE_BYTES;

fn bit(bytes: &[u8], at: u64) -> bool {
    bytes[at as usize / 8] >> (7 - at % 8) & 1 == 1
}

const OPERATIONS: &[BitOperation] = &[
    BitOperation::And,
    BitOperation::Or,
    BitOperation::Xor,
    BitOperation::Not,
    BitOperation::Diff,
    BitOperation::Diff1,
    BitOperation::AndOr,
    BitOperation::One,
];

/// Computes one bit of the result by the Redis documentation.
fn is_set(operation: BitOperation, bits: &[bool]) -> bool {
    let count = bits.iter().filter(|bit| **bit).count();
    let other = bits[1..].contains(&true);
    match operation {
        BitOperation::And => count == bits.len(),
        BitOperation::Or => count > 0,
        BitOperation::Xor => count % 2 == 1,
        BitOperation::Not => count == 0,
        BitOperation::Diff => bits[0] && !other,
        BitOperation::Diff1 => !bits[0] && other,
        BitOperation::AndOr => bits[0] && other,
        BitOperation::One => count == 1,
    }
}

fn naive(operation: BitOperation, sources: &[Vec<u8>]) -> Vec<u8> {
    let length = sources.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![0; length];
    for at in 0..8 * length as u64 {
        let bits: Vec<bool> = sources.iter().map(|source| at < 8 * source.len() as u64 && bit(source, at)).collect();
        if is_set(operation, &bits) {
            out[at as usize / 8] |= 1 << (7 - at % 8);
        }
    }
    out
}

/// Bytes, many of them all ones or all zeros.
fn bytes(length: impl Strategy<Value = usize>) -> impl Strategy<Value = Vec<u8>> {
    (length, vec((any::<u8>(), 0..3_usize, 1..200_usize), 1..40)).prop_map(|(length, runs)| {
        let runs = runs.iter().flat_map(|&(byte, which, count)| std::iter::repeat_n([byte, 0, 0xff][which], count));
        runs.collect::<Vec<_>>().into_iter().cycle().take(length).collect()
    })
}

fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![
        0..200_usize,
        (0..6_usize, -2..3_isize).prop_map(|(pieces, more)| (pieces * PIECE_BYTES).saturating_add_signed(more)),
        0..30_000_usize,
    ]
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn count_and_find_match_a_bitwise_scan(bytes in bytes(0..700_usize), ends in vec((any::<u16>(), any::<u16>()), 1..60)) {
        let bits_count = 8 * bytes.len() as u64;
        for (one, other) in ends {
            let [one, other] = [one, other].map(|end| u64::from(end) % (bits_count + 1));
            let range = one.min(other)..one.max(other);
            let ones = range.clone().filter(|at| bit(&bytes, *at)).count() as u64;
            prop_assert_eq!(bits::count(&bytes, range.clone()), ones);
            for wanted in [false, true] {
                let first = range.clone().find(|at| bit(&bytes, *at) == wanted);
                prop_assert_eq!(bits::find(&bytes, range.clone(), wanted), first, "{:?} {}", range, wanted);
            }
        }
    }

    #[test]
    fn operations_match_their_definition_before_and_after_changes(
        operation in prop::sample::select(OPERATIONS),
        mut sources in vec(bytes(lengths()), 1..4),
        changes in vec((any::<prop::sample::Index>(), lengths(), bytes(1..9_000_usize), 0..3), 0..5),
        step_bytes in 1..100_000_usize,
    ) {
        if operation == BitOperation::Not {
            sources.truncate(1);
        }
        let mut texts: Vec<LongString> = sources.iter().map(|source| LongString::of(source)).collect();
        let mut mixing = Mixing::new(operation, texts.clone());
        while !mixing.step(step_bytes) {}
        prop_assert!(mixing.result().to_vec(0..mixing.result().bytes_count()) == naive(operation, &sources));
        for (which, offset, bytes, how) in changes {
            let (source, text) = (which.index(sources.len()), which.get_mut(&mut texts));
            let source = &mut sources[source];
            if how == 0 {
                *source = bytes;
                *text = LongString::of(source);
            } else {
                let end = offset + bytes.len();
                source.resize(source.len().max(end), 0);
                source[offset..end].copy_from_slice(&bytes);
                text.overwrite(offset, &bytes);
            }
            prop_assert!(!mixing.is_of(&texts) || naive(operation, &sources) == mixing.result().to_vec(0..mixing.result().bytes_count()));
            mixing = mixing.again(texts.clone());
            prop_assert!(mixing.is_of(&texts));
            while !mixing.step(step_bytes) {}
            let result = mixing.result().to_vec(0..mixing.result().bytes_count());
            prop_assert!(result == naive(operation, &sources), "{:?}", operation);
        }
    }
}

#[test]
fn unchanged_pieces_are_not_computed_again() {
    let mut text = LongString::default();
    text.overwrite(2_000 * PIECE_BYTES, b"x");
    let sources = vec![text.clone(), LongString::of(&[1; 3 * PIECE_BYTES])];
    let mut mixing = Mixing::new(BitOperation::Or, sources.clone());
    while !mixing.step(usize::MAX) {}
    text.overwrite(1_000 * PIECE_BYTES + 7, b"another");
    let mut again = mixing.again(vec![text, sources[1].clone()]);
    assert!(again.step(40 * PIECE_BYTES), "some pieces beside the one that changed");
    assert_eq!(again.result().to_vec(1_000 * PIECE_BYTES..1_000 * PIECE_BYTES + 14), b"\0\0\0\0\0\0\0another");
}
