//! Seeded random numbers: SplitMix64.

use std::cell::Cell;

/// A source of numbers; the same seed gives the same sequence.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a source with `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a 64-bit number of a shared source.
    pub fn draw(random: &Cell<Self>) -> u64 {
        let mut source = random.get();
        let drawn = source.next_u64();
        random.set(source);
        drawn
    }

    /// Returns a number below `bound`, uniform except for one part in 2^64 / `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0);
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_bound_are_drawn_uniformly() {
        let mut random = Random::new(7);
        let mut counts = [0; 10];
        (0..100_000).for_each(|_| counts[random.below(10) as usize] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!(random.below(1), 0);
    }
}
