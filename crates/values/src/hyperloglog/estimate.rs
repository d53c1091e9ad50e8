//! The hash of elements, and the estimate of their number.
//!
//! The hash is 64-bit MurmurHash2 with Redis's seed, the estimate Otmar Ertl's ("New cardinality estimation algorithms
//! for HyperLogLog sketches", 2017): servers must share both to report the same count.

use super::{REGISTERS, RUN_BITS};

const SEED: u64 = 0xadc8_3b19;
const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;

pub(super) fn hash(element: &[u8]) -> u64 {
    let mix = |word: u64| word ^ word >> 47;
    let (words, rest) = element.as_chunks::<8>();
    let mut hash = SEED ^ (element.len() as u64).wrapping_mul(MULTIPLIER);
    for word in words {
        let word = mix(u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
        hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER);
    }
    mix(mix(hash).wrapping_mul(MULTIPLIER))
}

/// Half the inverse of the natural logarithm of two.
const ALPHA: f64 = 0.721_347_520_444_481_7;

/// Returns the estimate, given how many registers hold each value.
pub(super) fn count(histogram: &[usize; 64]) -> u64 {
    let all = REGISTERS as f64;
    let full = histogram[RUN_BITS as usize + 1] as f64;
    let mut sum = all * tau((all - full) / all);
    for run in (1..=RUN_BITS as usize).rev() {
        sum = (sum + histogram[run] as f64) * 0.5;
    }
    sum += all * sigma(histogram[0] as f64 / all);
    (ALPHA * all * all / sum).round() as u64
}

/// The term for registers with the maximum value.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

/// The term for empty registers.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}
