//! Bytes that call themselves a HyperLogLog: counted, merged, described, added to, made dense and written anew.
//!
//! ```text
//!   | number of elements | elements of four bytes ... | registers ... |      after a sparse head, or a dense one
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use values::hyperloglog::{HyperLogLog, Mark};

const SPARSE: &[u8; 16] = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80";
/// With it the first byte says how many elements, its top bit that the registers are dense.
const DENSE: u8 = 0x80;

fuzz_target!(|data: &[u8]| {
    let Some((&head, rest)) = data.split_first() else { return };
    let (elements, registers) = rest.split_at(rest.len().min(4 * usize::from(head & !DENSE)));
    let mut bytes = SPARSE.to_vec();
    bytes.extend_from_slice(registers);
    if head & DENSE != 0 {
        bytes[4] = 0;
        bytes.resize(12_304, registers.first().copied().unwrap_or(0));
    }
    let one = HyperLogLog::parse(bytes).expect("its head is one");
    let sound = one.to_registers();
    assert_eq!(one.count(), sound.as_ref().map(|registers| registers.count()).map_err(|corrupt| *corrupt));
    one.describe();
    let mut changed = one.clone();
    for element in elements.chunks(4) {
        let before = changed.to_registers();
        let raised = changed.add(Mark::of(element), 3_000);
        let (Ok(before), Ok(raised)) = (before, raised) else { continue };
        let after = changed.to_registers().expect("it was sound");
        let differing = before.as_slice().iter().zip(after.as_slice()).filter(|(before, after)| before != after);
        assert_eq!(differing.count(), usize::from(raised));
    }
    let Ok(sound) = sound else { return };
    for is_dense in [false, true] {
        let again = sound.encode(is_dense, 3_000).to_registers().expect("just written");
        assert!(again.as_slice() == sound.as_slice());
    }
});
