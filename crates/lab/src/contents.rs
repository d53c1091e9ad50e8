//! The contents of data: a sequence of items of one kind, the same in every run.
//!
//! A number is made from a position by mixing its bits, so nothing is kept but the position - and, for rising ids,
//! the last one.

use serde::{Deserialize, Serialize};

/// Kinds of items. Those that are numbers are filled with zeros to the item's length.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Contents {
    /// 0, 1, 2 and on.
    #[default]
    Consecutive,
    /// Each number greater than the last by 1 to 100.
    Rising,
    /// 0 to 99, again and again: each of them is everywhere.
    Repeating,
    /// Random decimal digits.
    Digits,
    /// Random decimal digits, without a leading zero, such as a counter holds.
    Counters,
    /// Each number of the given length at most once, in an order without pattern.
    Distinct,
    /// Random digits of base 16.
    Hex,
    /// Random letters and decimal digits, 62 signs.
    Alphanumerics,
    /// Random bytes.
    Bytes,
    /// Random letters and digits, 5 to 200 of them whatever length is asked for.
    Mixed,
}

const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Shortest and longest of the mixed items.
const MIXED_BYTES: (u64, u64) = (5, 200);
const RISING_GAP_MAX: u64 = 100;
const REPEATING_COUNT: u64 = 100;
/// Signs taken from one mixed number; more would show its grain.
const SIGNS_A_NUMBER: usize = 8;

/// Items, one after another.
pub(crate) struct Items {
    contents: Contents,
    item_bytes: usize,
    position: u64,
    /// The last of the rising ids.
    id: u64,
}

impl Items {
    /// From the first item on.
    pub(crate) fn new(contents: Contents, item_bytes: usize) -> Self {
        Self { contents, item_bytes, position: 0, id: 0 }
    }

    /// Puts the next item into `item`, in place of what was there.
    pub(crate) fn next_into(&mut self, item: &mut Vec<u8>) {
        let position = self.position;
        self.position += 1;
        item.clear();
        let bytes = self.item_bytes;
        match self.contents {
            Contents::Consecutive => number(item, position, bytes),
            Contents::Repeating => number(item, position % REPEATING_COUNT, bytes),
            Contents::Rising => {
                self.id += 1 + below(mixed(position), RISING_GAP_MAX);
                number(item, self.id, bytes);
            }
            Contents::Digits => signs(item, position, bytes, &SIGNS[..10]),
            Contents::Counters => {
                signs(item, position, bytes, &SIGNS[..10]);
                item[0] = item[0].max(b'1');
            }
            Contents::Distinct => {
                let least = 10_u64.pow(bytes as u32 - 1);
                number(item, least + shuffled(position, 9 * least), bytes);
            }
            Contents::Hex => signs(item, position, bytes, b"0123456789abcdef"),
            Contents::Alphanumerics => signs(item, position, bytes, SIGNS),
            Contents::Bytes => {
                item.extend((0..bytes.div_ceil(8)).flat_map(|part| mixed(stream(position, part)).to_le_bytes()));
                item.truncate(bytes);
            }
            Contents::Mixed => {
                let (least, most) = MIXED_BYTES;
                let bytes = least + below(mixed(!position), most - least + 1);
                signs(item, position, bytes as usize, SIGNS);
            }
        }
    }
}

/// The place of `position` in an order of 0 to `count` - 1 without pattern. Each place is taken once.
pub(crate) fn shuffled(position: u64, count: u64) -> u64 {
    assert!(position < count, "a position within the order");
    let bits = count.next_power_of_two().trailing_zeros().max(2);
    let mask = (1 << bits) - 1;
    let mut place = position;
    // Each step permutes the numbers of `bits` bits; numbers beyond the order are stepped again until they fall within
    // it.
    loop {
        for factor in [0x9E37_79B9_7F4A_7C15_u64, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
            place = place.wrapping_mul(factor) & mask;
            place ^= place >> (bits / 2);
        }
        if place < count {
            return place;
        }
    }
}

/// A number below `bound`, from a mixed one.
pub(crate) fn below(mixed: u64, bound: u64) -> u64 {
    ((u128::from(mixed) * u128::from(bound)) >> 64) as u64
}

/// Mixes `value` by a permutation in which each bit of the result depends on each bit of `value`.
pub(crate) fn mixed(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ (mixed >> 32)
}

/// Returns a seed for a part of an item; parts of different items must differ.
fn stream(position: u64, part: usize) -> u64 {
    mixed(position) ^ (part as u64).wrapping_mul(0xA24B_AED4_963E_E407)
}

fn signs(item: &mut Vec<u8>, position: u64, bytes: usize, signs: &[u8]) {
    for part in 0..bytes.div_ceil(SIGNS_A_NUMBER) {
        let mut rest = mixed(stream(position, part));
        for _ in 0..SIGNS_A_NUMBER.min(bytes - item.len()) {
            let product = u128::from(rest) * signs.len() as u128;
            item.push(signs[(product >> 64) as usize]);
            rest = product as u64;
        }
    }
}

/// The last digits of a number, with zeros before them.
fn number(item: &mut Vec<u8>, value: u64, bytes: usize) {
    item.resize(bytes, b'0');
    let mut rest = value;
    for digit in item.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn items(contents: Contents, item_bytes: usize, count: usize) -> Vec<Vec<u8>> {
        let mut items = Items::new(contents, item_bytes);
        let mut item = Vec::new();
        let mut next = || {
            items.next_into(&mut item);
            item.clone()
        };
        (0..count).map(|_| next()).collect()
    }

    fn numbers(contents: Contents) -> Vec<u64> {
        let text = |item: &Vec<u8>| String::from_utf8(item.clone()).unwrap().parse().unwrap();
        items(contents, 12, 1000).iter().map(text).collect()
    }

    #[test]
    fn numbers_match_their_description() {
        assert_eq!(items(Contents::Consecutive, 6, 11)[10], b"000010");
        assert_eq!(numbers(Contents::Repeating)[999], 99);
        let rising = numbers(Contents::Rising);
        let gaps: BTreeSet<u64> = rising.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!((gaps.first(), gaps.last()), (Some(&1), Some(&100)));
        assert!(items(Contents::Counters, 8, 1000).iter().all(|item| item.len() == 8 && item[0] != b'0'));
    }

    #[test]
    fn distinct_numbers_cover_their_whole_range_evenly() {
        let all: BTreeSet<Vec<u8>> = items(Contents::Distinct, 3, 900).into_iter().collect();
        assert!(all.into_iter().eq((100..1000).map(|number| number.to_string().into_bytes())));
        let mut tenths = [0_i64; 10];
        for item in items(Contents::Distinct, 7, 90_000) {
            let number: usize = String::from_utf8(item).unwrap().parse().unwrap();
            tenths[(number - 1_000_000) / 900_000] += 1;
        }
        assert!(tenths.iter().all(|count| (count - 9_000).abs() < 600), "{tenths:?}");
    }

    #[test]
    fn all_characters_are_equally_frequent_at_every_position() {
        for (contents, signs) in
            [(Contents::Digits, 10), (Contents::Hex, 16), (Contents::Alphanumerics, 62), (Contents::Bytes, 256)]
        {
            let items = items(contents, 12, 20_000);
            for place in 0..12 {
                let mut counts = std::collections::BTreeMap::new();
                items.iter().for_each(|item| *counts.entry(item[place]).or_insert(0_i64) += 1);
                let mean = 20_000 / signs;
                assert_eq!(counts.len() as i64, signs, "{contents:?} at {place}");
                let bound = 6 * (mean as f64).sqrt() as i64 + 6;
                assert!(
                    counts.values().all(|count| (count - mean).abs() < bound),
                    "{contents:?} at {place}: {counts:?}"
                );
            }
            let unlike: BTreeSet<_> = items.iter().collect();
            assert_eq!(unlike.len(), items.len(), "{contents:?}");
        }
    }

    #[test]
    fn mixed_items_have_all_lengths() {
        let lengths: BTreeSet<usize> = items(Contents::Mixed, 0, 20_000).iter().map(Vec::len).collect();
        assert!(lengths.into_iter().eq(5..=200));
    }

    #[test]
    fn a_shuffled_order_is_a_permutation_without_a_pattern() {
        for count in [1, 2, 3, 100, 1000, 65_536, 70_000] {
            let places: BTreeSet<u64> = (0..count).map(|position| shuffled(position, count)).collect();
            assert!(places.into_iter().eq(0..count), "{count}");
        }
        let rises = (1..70_000).filter(|at| shuffled(*at, 70_000) > shuffled(at - 1, 70_000)).count();
        assert!((34_000..36_000).contains(&rises), "{rises}");
    }
}
