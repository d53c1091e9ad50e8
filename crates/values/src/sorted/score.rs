//! Scores and their item encoding: compact, with exactly one form per score.
//!
//! ```text
//!   0 to 7   an integer in this many bytes, zigzag, little-endian       magnitude below 2^53, never -0
//!   8        a double in eight bytes                                    any other score, infinities too, never NaN
//! ```

/// The tag of a double.
const DOUBLE: u8 = 8;

/// Integers from here on are stored as doubles.
const INTEGER_END: f64 = (1u64 << 53) as f64;

/// The maximum length of an encoded score, in bytes.
pub(super) const SCORE_BYTES_MAX: usize = 9;

/// An encoded score.
#[derive(Clone, Copy)]
pub(super) struct ScoreForm {
    bytes: [u8; SCORE_BYTES_MAX],
    length: usize,
}

impl ScoreForm {
    pub(super) fn of(score: f64) -> Self {
        let mut bytes = [0; SCORE_BYTES_MAX];
        let is_integer =
            score.abs() < INTEGER_END && score.fract() == 0.0 && !(score == 0.0 && score.is_sign_negative());
        if is_integer {
            let zigzag = zigzag(score as i64);
            let count = 8 - zigzag.leading_zeros() as usize / 8;
            bytes[0] = count as u8;
            bytes[1..].copy_from_slice(&zigzag.to_le_bytes());
            return Self { bytes, length: 1 + count };
        }
        bytes[0] = DOUBLE;
        bytes[1..].copy_from_slice(&score.to_le_bytes());
        Self { bytes, length: SCORE_BYTES_MAX }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Splits an item that starts with a [`ScoreForm::of`] encoding into the score and the rest.
#[inline]
pub(super) fn split(item: &[u8]) -> (f64, &[u8]) {
    let length = usize::from(item[0]);
    let (score, rest) = item[1..].split_at(length);
    let number = match item.get(1..9).map(<[u8; 8]>::try_from) {
        // Most items are at least this long: read eight bytes at once and mask what follows the score.
        Some(Ok(eight)) => u64::from_le_bytes(eight) & u64::MAX.checked_shr(64 - 8 * length as u32).unwrap_or(0),
        _ => score.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    };
    let score = if item[0] == DOUBLE { f64::from_bits(number) } else { unzigzag(number) as f64 };
    (score, rest)
}

/// Like [`split`], for untrusted bytes.
pub(super) fn split_checked(item: &[u8]) -> Option<(f64, &[u8])> {
    let &tag = item.first().filter(|tag| **tag <= DOUBLE)?;
    if item.len() <= usize::from(tag) {
        return None;
    }
    let (score, rest) = split(item);
    (!score.is_nan() && ScoreForm::of(score).as_bytes() == &item[..=usize::from(tag)]).then_some((score, rest))
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_round_trips_through_its_form() {
        let edges = [0.0, 1.0, -1.0, 127.0, -128.0, 128.0, 32_767.0, 8_388_608.0, 1e15, 9_007_199_254_740_991.0];
        let others = [-0.0, 0.5, 9_007_199_254_740_992.0, 1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY];
        for score in edges.into_iter().flat_map(|edge| [edge, -edge]).chain(others) {
            let form = ScoreForm::of(score);
            let mut item = form.as_bytes().to_vec();
            item.extend_from_slice(b"member");
            let (back, member) = split_checked(&item).expect("a form");
            assert_eq!((back.to_bits(), member), (score.to_bits(), &b"member"[..]), "{score}");
        }
    }

    #[test]
    fn integer_scores_take_few_bytes() {
        let lengths = [(0.0, 1), (100.0, 2), (-128.0, 2), (30_000.0, 3), (1e6, 4), (1.7e12, 7), (-0.0, 9), (0.5, 9)];
        for (score, length) in lengths {
            assert_eq!(ScoreForm::of(score).as_bytes().len(), length, "{score}");
        }
    }

    #[test]
    fn non_canonical_score_forms_are_refused() {
        let nan = [&[DOUBLE][..], &f64::NAN.to_le_bytes()].concat();
        let wide = [&[DOUBLE][..], &1.0f64.to_le_bytes()].concat();
        let far = [&[7][..], &u64::MAX.to_le_bytes()[..7]].concat();
        for bad in [&b""[..], &[9, 1], &[2, 1], &[1, 0], &[2, 1, 0], &nan, &wide, &far, &nan[..5]] {
            assert!(split_checked(bad).is_none(), "{bad:?}");
        }
    }
}
