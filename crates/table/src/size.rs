//! The allocator's size classes, so that we get exactly what we request.
//!
//! jemalloc, like mimalloc, rounds a size up to a multiple of 16 up to 128 bytes, and above to one of four steps
//! between two powers of two: 128 160 192 224 256 320 384 ... Requesting whole classes costs nothing, lets contents
//! grow in place up to the next class, and makes byte-by-byte growth amortised O(1): a class is at least a seventh
//! larger than the one before it.

/// The alignment of all our allocations.
pub(crate) const ALIGN: usize = 16;

/// Returns the least class that holds `bytes`.
pub(crate) fn class(bytes: usize) -> usize {
    let step = match bytes {
        0..=128 => ALIGN,
        _ => 1 << ((bytes - 1).ilog2() - 2),
    };
    round_up(bytes, step).max(ALIGN)
}

/// Returns the least multiple of `step`, a power of two, that is no less than `bytes`, without a division.
#[inline]
pub(crate) const fn round_up(bytes: usize, step: usize) -> usize {
    (bytes + step - 1) & !(step - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_equal_those_of_the_allocator() {
        let classes: Vec<usize> = (1..=640).map(class).collect();
        let mut distinct = classes.clone();
        distinct.dedup();
        assert_eq!(distinct, [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640]);
        for (index, &class) in classes.iter().enumerate() {
            assert!(class > index, "{} bytes do not fit in {class}", index + 1);
        }
        assert_eq!(class(0), ALIGN);
    }
}
