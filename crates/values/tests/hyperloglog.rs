//! HyperLogLogs against redis-server's results for the same elements, against plain registers, and from untrusted
//! bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use values::hyperloglog::{Encoding, HyperLogLog, Mark, Registers, SPARSE_BYTES_MAX};

const EXPECTED: &str = include_str!("hyperloglog.txt");

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn encoding_name(one: &HyperLogLog) -> &'static str {
    match one.encoding() {
        Encoding::Dense => "dense",
        Encoding::Sparse => "sparse",
    }
}

/// Estimates, encodings and bytes equal those of Redis, at each number of elements in the file.
#[test]
fn estimates_encodings_and_bytes_equal_those_of_redis() {
    let mut lines = 0;
    let mut state: Option<(&str, usize, HyperLogLog)> = None;
    for line in EXPECTED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').collect();
        let [prefix, count, estimate, encoding, length, hash] = fields[..] else { panic!("{line}") };
        let count: usize = count.parse().unwrap();
        let (_, from, mut one) = match state.take() {
            Some(state) if state.0 == prefix => state,
            _ => (prefix, 0, HyperLogLog::new()),
        };
        for number in from..count {
            if one.add(Mark::of(format!("{prefix}:{number}").as_bytes()), 3_000).unwrap() {
                one.make_stale();
            }
        }
        let found = one.count().unwrap();
        assert_eq!(found.to_string(), estimate, "{line}");
        assert_eq!(encoding_name(&one), encoding, "{line}");
        // The count that PFCOUNT caches is part of the bytes.
        let mut bytes = one.as_bytes().to_vec();
        bytes[8..16].copy_from_slice(&found.to_le_bytes());
        assert_eq!(bytes.len().to_string(), length, "{line}");
        assert_eq!(format!("{:016x}", fnv(&bytes)), hash, "{line}");
        assert_eq!(HyperLogLog::parse(bytes).unwrap().cached(), Some(found));
        lines += 1;
        state = Some((prefix, count, one));
    }
    assert!(lines > 80, "{lines} lines");
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

/// Runs all operations on bytes with the header of a HyperLogLog.
fn do_all(one: &HyperLogLog, elements: &[Vec<u8>], sparse_bytes_max: u64) {
    let registers = one.to_registers();
    assert_eq!(one.count(), registers.as_ref().map(Registers::count).map_err(|corrupt| *corrupt));
    let mut dense = one.clone();
    assert_eq!(dense.make_dense().is_ok(), registers.is_ok());
    one.describe();
    let mut added = one.clone();
    for element in elements {
        let before = added.to_registers();
        let raised = added.add(Mark::of(element), sparse_bytes_max);
        if let (Ok(before), Ok(raised)) = (before, raised) {
            let after = added.to_registers().expect("it was sound");
            let differing = before.as_slice().iter().zip(after.as_slice()).filter(|(before, after)| before != after);
            assert_eq!(differing.count(), usize::from(raised));
        }
    }
    if let Ok(registers) = registers {
        let again = registers.encode(false, u64::MAX);
        assert_eq!(again.to_registers().unwrap().as_slice(), registers.as_slice());
        assert!(again.as_bytes().len() <= SPARSE_BYTES_MAX);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sparse_and_dense_encodings_hold_equal_registers(
        elements in vec(vec(any::<u8>(), 0..20), 0..1_500),
        turns_dense_at in 0..1_500_usize,
        sparse_bytes_max in prop_oneof![Just(0_u64), Just(3_000), Just(u64::MAX), 0..3_000_u64],
    ) {
        let (mut one, mut dense) = (HyperLogLog::new(), HyperLogLog::new());
        dense.make_dense().unwrap();
        for (at, element) in elements.iter().enumerate() {
            if at == turns_dense_at {
                one.make_dense().unwrap();
            }
            let raised = one.add(Mark::of(element), sparse_bytes_max).unwrap();
            prop_assert_eq!(raised, dense.add(Mark::of(element), 0).unwrap());
            prop_assert!(one.encoding() == Encoding::Dense || one.as_bytes().len() as u64 <= sparse_bytes_max.max(18));
        }
        prop_assert!(one.to_registers().unwrap().as_slice() == dense.to_registers().unwrap().as_slice());
        prop_assert_eq!(one.count(), dense.count());
        let registers = one.to_registers().unwrap();
        for is_dense in [false, true] {
            let encoded = registers.encode(is_dense, u64::MAX);
            prop_assert_eq!(encoded.count(), dense.count());
            prop_assert!(encoded.to_registers().unwrap().as_slice() == registers.as_slice());
            let is_as_short = one.encoding() == Encoding::Dense || encoded.as_bytes().len() <= one.as_bytes().len();
            prop_assert!(is_dense || is_as_short);
        }
    }

    #[test]
    fn foreign_bytes_give_errors_or_consistent_results(
        tail in vec(prop_oneof![any::<u8>(), Just(0x7f), Just(0xff), Just(0x40), 0x80_u8..], 0..400),
        elements in vec(vec(any::<u8>(), 0..9), 0..20),
        whole in any::<bool>(),
    ) {
        let mut bytes = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80".to_vec();
        bytes.extend_from_slice(&tail);
        if whole && let Ok(sound) = HyperLogLog::parse(bytes.clone()).unwrap().to_registers() {
            bytes = sound.encode(false, u64::MAX).as_bytes().to_vec();
        }
        do_all(&HyperLogLog::parse(bytes).unwrap(), &elements, 3_000);
    }

    /// Changes one byte of a sound HyperLogLog.
    #[test]
    fn a_corrupted_byte_gives_errors_or_consistent_results(seed in any::<u32>(), count in 1..1_200_u32, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut one = HyperLogLog::new();
        let elements: Vec<Vec<u8>> = (0..count).map(|number| [seed, number].map(u32::to_le_bytes).concat()).collect();
        for element in &elements {
            one.add(Mark::of(element), u64::MAX).unwrap();
        }
        let mut bytes = one.as_bytes().to_vec();
        let at = 16 + at.index(bytes.len() - 16);
        bytes[at] = byte;
        do_all(&HyperLogLog::parse(bytes).unwrap(), &elements[..elements.len().min(20)], 3_000);
    }
}
