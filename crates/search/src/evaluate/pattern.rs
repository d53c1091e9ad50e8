//! Patterns of words and tags: terms that words are compared with one by one.

use super::work::Work;
use crate::query::Term;

/// Steps of a comparison per unit of work.
const STEPS_PER_WORK: usize = 32;

/// A term, read once for many words.
#[derive(Debug)]
pub(crate) struct TermPattern {
    pub(crate) term: Term,
    /// The characters of a wildcard pattern or fuzzy word; empty for other terms.
    characters: Vec<Character>,
}

impl TermPattern {
    pub(crate) fn of(term: Term) -> Self {
        let characters = match &term {
            Term::Wildcard(pattern) => characters(pattern).collect(),
            Term::Fuzzy { word, .. } => word.chars().map(Character::Same).collect(),
            _ => Vec::new(),
        };
        Self { term, characters }
    }

    /// Returns true if a folded word or whole tag is like the term; words of one stem are the caller's.
    pub(crate) fn fits(&self, word: &str, work: &mut Work) -> bool {
        match &self.term {
            Term::Exact { word: own, .. } => **own == *word,
            Term::Prefix(start) => word.starts_with(&**start),
            Term::Suffix(end) => word.ends_with(&**end),
            Term::Contains(part) => word.contains(&**part),
            Term::Wildcard(_) => fits_wildcard(&self.characters, word, work),
            Term::Fuzzy { distance_max, .. } => is_near(&self.characters, word, usize::from(*distance_max)),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.term.heap_bytes() + self.characters.capacity() * size_of::<Character>()
    }
}

impl Term {
    /// Returns its heap bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Exact { word, .. } | Self::Fuzzy { word, .. } => word.len(),
            Self::Prefix(text) | Self::Suffix(text) | Self::Contains(text) | Self::Wildcard(text) => text.len(),
        }
    }
}

/// Returns true if the Levenshtein distance of two words is at most `most`. O(word x most): only cells that are no
/// further than `most` from the diagonal can be part of so short a way.
fn is_near(own: &[Character], word: &str, most: usize) -> bool {
    // A character has one to four bytes.
    if word.len() > 4 * (own.len() + most) || own.len() > word.len() + most {
        return false;
    }
    let word: Vec<Character> = word.chars().map(Character::Same).collect();
    if own.len().abs_diff(word.len()) > most {
        return false;
    }
    // The cell at `beside` belongs to the character of `word` that is `beside - most` behind the line.
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

/// A character of a wildcard pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Character {
    /// This one.
    Same(char),
    /// `?`: any.
    One,
    /// `*`: any number of any.
    Many,
}

fn characters(pattern: &str) -> impl Iterator<Item = Character> + '_ {
    let mut rest = pattern.chars();
    std::iter::from_fn(move || {
        Some(match rest.next()? {
            '?' => Character::One,
            '*' => Character::Many,
            '\\' => Character::Same(rest.next().unwrap_or('\\')),
            character => Character::Same(character),
        })
    })
}

/// Returns true if a word is like a wildcard pattern. O(pattern x word) at worst.
fn fits_wildcard(pattern: &[Character], word: &str, work: &mut Work) -> bool {
    let (mut place, mut at, mut steps) = (0, 0, 0);
    // After a mismatch the last `*` takes one character more.
    let mut last: Option<(usize, usize)> = None;
    let is_like = loop {
        steps += 1;
        let Some(character) = word[at..].chars().next() else {
            break pattern[place..].iter().all(|rest| *rest == Character::Many);
        };
        match pattern.get(place) {
            Some(Character::Many) => {
                last = Some((place, at));
                place += 1;
            }
            Some(Character::One) => (place, at) = (place + 1, at + character.len_utf8()),
            Some(Character::Same(same)) if *same == character => {
                (place, at) = (place + 1, at + character.len_utf8());
            }
            _ => match &mut last {
                Some((star, taken)) => {
                    *taken += word[*taken..].chars().next().map_or(1, char::len_utf8);
                    (place, at) = (*star + 1, *taken);
                }
                None => break false,
            },
        }
    };
    work.spend((steps / STEPS_PER_WORK) as u64);
    is_like
}

/// Returns the texts that all words like the pattern contain, of at least two characters each.
pub(crate) fn literals(pattern: &str) -> Vec<String> {
    let mut runs = vec![String::new()];
    for character in characters(pattern) {
        match character {
            Character::Same(character) => runs.last_mut().expect("it is never empty").push(character),
            Character::One | Character::Many => runs.push(String::new()),
        }
    }
    runs.retain(|run| run.chars().nth(1).is_some());
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(term: Term, word: &str) -> bool {
        TermPattern::of(term).fits(word, &mut Work::new(0))
    }

    #[test]
    fn a_wildcard_fits_what_its_characters_say() {
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
            assert_eq!(fits(Term::Wildcard(pattern.into()), word), is_like, "{pattern} {word}");
        }
        assert_eq!(literals(r"ab?c*de\?f"), ["ab", "de?f"]);
    }

    #[test]
    fn a_fuzzy_word_fits_within_its_distance() {
        let is_near = |word, distance_max| fits(Term::Fuzzy { word: "hello".into(), distance_max }, word);
        assert!(is_near("hallo", 1) && !is_near("hall", 1) && is_near("hall", 2) && is_near("ello", 1));
        assert!(fits(Term::Fuzzy { word: "明".into(), distance_max: 1 }, "a"));
    }

    /// Each of some 1,500 places in the word is compared with the 500 characters of the pattern.
    #[test]
    fn a_comparison_is_charged_by_its_steps() {
        let pattern = TermPattern::of(Term::Wildcard(format!("*{}b", "a".repeat(500)).into()));
        let mut work = Work::new(u64::MAX);
        assert!(!pattern.fits(&"a".repeat(2_000), &mut work));
        let spent = u64::MAX - work.left();
        assert!((1_500 * 500 / 32..2_000 * 501 / 32).contains(&spent), "{spent}");
    }
}
