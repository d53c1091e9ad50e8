//! Patterns of words and tags: what a term must be like.

use crate::query::Term;

impl Term {
    /// Returns true if a folded word or whole tag is like this; words of one stem are the caller's.
    pub(crate) fn fits(&self, word: &str) -> bool {
        match self {
            Self::Exact { word: own, .. } => **own == *word,
            Self::Prefix(start) => word.starts_with(&**start),
            Self::Suffix(end) => word.ends_with(&**end),
            Self::Contains(part) => word.contains(&**part),
            Self::Wildcard(pattern) => fits_wildcard(pattern, word),
            Self::Fuzzy { word: own, distance_max } => is_near(own, word, usize::from(*distance_max)),
        }
    }
}

/// Returns true if the Levenshtein distance of two words is at most `most`. O(word x most): only cells that are no
/// further than `most` from the diagonal can be part of so short a way.
fn is_near(own: &str, word: &str, most: usize) -> bool {
    if own.len().abs_diff(word.len()) > 4 * most {
        return false;
    }
    let (own, word): (Vec<char>, Vec<char>) = (own.chars().collect(), word.chars().collect());
    if own.len().abs_diff(word.len()) > most {
        return false;
    }
    // The cell at `beside` belongs to the sign of `word` that is `beside - most` behind the line.
    let width = 2 * most + 1;
    let mut above: Vec<usize> = (0..width).map(|beside| beside.saturating_sub(most)).collect();
    above[..most].fill(most + 1);
    let mut line = above.clone();
    for at in 1..=own.len() {
        for beside in 0..width {
            let upper = above.get(beside + 1).map_or(most + 1, |cost| cost + 1);
            line[beside] = match (at + beside).checked_sub(most) {
                Some(0) => at,
                Some(end) if end <= word.len() => {
                    let replaced = above[beside] + usize::from(own[at - 1] != word[end - 1]);
                    let left = beside.checked_sub(1).map_or(most + 1, |left| line[left] + 1);
                    replaced.min(upper).min(left)
                }
                _ => most + 1,
            };
        }
        if line.iter().all(|cost| *cost > most) {
            return false;
        }
        std::mem::swap(&mut above, &mut line);
    }
    above[word.len() + most - own.len()] <= most
}

/// A sign of a wildcard pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
    /// This sign.
    Same(char),
    /// `?`: any sign.
    One,
    /// `*`: any signs.
    Many,
}

fn signs(pattern: &str) -> impl Iterator<Item = Sign> + '_ {
    let mut rest = pattern.chars();
    std::iter::from_fn(move || {
        Some(match rest.next()? {
            '?' => Sign::One,
            '*' => Sign::Many,
            '\\' => Sign::Same(rest.next().unwrap_or('\\')),
            sign => Sign::Same(sign),
        })
    })
}

/// Returns true if a word is like a wildcard pattern. O(pattern x word) at worst.
fn fits_wildcard(pattern: &str, word: &str) -> bool {
    let (pattern, word): (Vec<Sign>, Vec<char>) = (signs(pattern).collect(), word.chars().collect());
    let (mut sign, mut at) = (0, 0);
    // After a mismatch the last `*` takes one sign more.
    let mut last: Option<(usize, usize)> = None;
    while at < word.len() {
        match pattern.get(sign) {
            Some(Sign::Many) => {
                last = Some((sign, at));
                sign += 1;
            }
            Some(Sign::One) => (sign, at) = (sign + 1, at + 1),
            Some(Sign::Same(same)) if *same == word[at] => (sign, at) = (sign + 1, at + 1),
            _ => match &mut last {
                Some((star, taken)) => {
                    *taken += 1;
                    (sign, at) = (*star + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[sign..].iter().all(|sign| *sign == Sign::Many)
}

/// Returns the texts that whatever is like the pattern contains, of at least two signs each.
pub(crate) fn literals(pattern: &str) -> Vec<String> {
    let mut runs = vec![String::new()];
    for sign in signs(pattern) {
        match sign {
            Sign::Same(sign) => runs.last_mut().expect("it is never empty").push(sign),
            Sign::One | Sign::Many => runs.push(String::new()),
        }
    }
    runs.retain(|run| run.chars().nth(1).is_some());
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_fits_what_its_signs_say() {
        let cases = [
            ("b?nana*", "bananas", true),
            ("b?nana*", "banana", true),
            ("b?nana", "bnana", false),
            ("*a*b", "xaybzb", true),
            ("*a*b", "xaybz", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("", "", true),
            ("*", "", true),
            ("?", "明", true),
        ];
        for (pattern, word, is_like) in cases {
            assert_eq!(Term::Wildcard(pattern.into()).fits(word), is_like, "{pattern} {word}");
        }
        assert_eq!(literals(r"ab?c*de\?f"), ["ab", "de?f"]);
    }

    #[test]
    fn a_fuzzy_word_fits_within_its_distance() {
        let term = |distance_max| Term::Fuzzy { word: "hello".into(), distance_max };
        assert!(term(1).fits("hallo") && !term(1).fits("hall") && term(2).fits("hall") && term(1).fits("ello"));
    }
}
