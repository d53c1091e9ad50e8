//! Texts: folded, cut into words, stemmed; and as errors show them.

use crate::definition::Language;
use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

/// Words that texts are indexed without if a definition names none: the list of RediSearch, ascending.
pub(crate) const DEFAULT_STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

/// Characters of a client's bytes that an error repeats at most.
const SHOWN_CHARS_MAX: usize = 64;

/// Returns the beginning of a client's bytes in one line, as errors show it.
pub(crate) fn shown(bytes: impl AsRef<[u8]>) -> Box<str> {
    let bytes = bytes.as_ref();
    // A character has at most four bytes.
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_CHARS_MAX * 4)]);
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    beginning.chars().take(SHOWN_CHARS_MAX).map(printable).collect()
}

/// Returns a text in lower case, character by character: the beginning of a text folds to the beginning of the folded
/// text. A final sigma, which depends on what follows, becomes a sigma.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower_case = text.chars().flat_map(char::to_lowercase);
    lower_case.map(|character| if character == 'ς' { 'σ' } else { character }).collect()
}

/// Returns the words of a folded text, as Unicode segments it: an ideograph is a word. Punctuation or a space with a
/// backslash before it belongs to the word around it, as in RediSearch ("Tokenization"): `hello\-world` is `hello-world`.
pub fn words(folded: &str) -> impl Iterator<Item = Cow<'_, str>> {
    Words::new(folded)
}

/// Returns a text without the backslashes before punctuation and spaces. O(bytes).
pub fn unescape(text: &str) -> Cow<'_, str> {
    let (part, mut escape, mut rest) = part_of(text);
    if escape.is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = part.to_owned();
    while let Some(character) = escape {
        let part;
        plain.push(character);
        (part, escape, rest) = part_of(rest);
        plain.push_str(part);
    }
    Cow::Owned(plain)
}

/// Divides a text at its first escape: what is before it, the character that is escaped, and what follows.
fn part_of(text: &str) -> (&str, Option<char>, &str) {
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|at| from + at) {
        from = at + 1;
        if let Some(next) = text[from..].chars().next().filter(|next| is_escapable(*next)) {
            return (&text[..at], Some(next), &text[from + next.len_utf8()..]);
        }
    }
    (text, None, "")
}

/// The words of a text that may have escapes.
struct Words<'t> {
    /// The words of the part before the next escape, that part's length, and the escaped character.
    part: UnicodeWordIndices<'t>,
    part_bytes: usize,
    escape: Option<char>,
    /// The text behind that character.
    rest: &'t str,
    /// The last word, to which an escape may add, and its end in the part: 0 if an escape has added to it.
    open: Option<Cow<'t, str>>,
    open_end: usize,
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Self {
        let (part, escape, rest) = part_of(text);
        let (part_bytes, part) = (part.len(), part.unicode_word_indices());
        Self { part, part_bytes, escape, rest, open: None, open_end: 0 }
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = Cow<'t, str>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let ended = if let Some((at, word)) = self.part.next() {
                let goes_on = at == 0 && self.open_end == 0;
                self.open_end = at + word.len();
                match self.open.as_mut().filter(|_| goes_on) {
                    Some(open) => {
                        open.to_mut().push_str(word);
                        None
                    }
                    None => self.open.replace(Cow::Borrowed(word)),
                }
            } else {
                let Some(character) = self.escape else { return self.open.take() };
                let goes_on = self.open_end == self.part_bytes;
                let mut open = self.open.take_if(|_| goes_on).unwrap_or_default();
                open.to_mut().push(character);
                let ended = self.open.take();
                *self = Self { open: Some(open), ..Self::new(self.rest) };
                ended
            };
            if ended.is_some() {
                return ended;
            }
        }
    }
}

/// Returns true if a backslash before a character is an escape.
pub(crate) fn is_escapable(character: char) -> bool {
    character.is_ascii_punctuation() || character.is_whitespace()
}

/// The longest words that are stemmed, in bytes: stemmers take quadratic time.
const STEMMED_BYTES_MAX: usize = 256;

/// Returns true if the words of a language have stems: of Chinese and Greek they have none.
pub(crate) fn is_stemmed(language: Language) -> bool {
    algorithm(language).is_some()
}

/// Returns the stem of a folded word. A very long word and a word of Chinese or Greek is its own stem.
pub fn stem(word: &str, language: Language) -> String {
    match algorithm(language).filter(|_| word.len() <= STEMMED_BYTES_MAX) {
        Some(algorithm) => Stemmer::create(algorithm).stem(word).into_owned(),
        None => word.to_owned(),
    }
}

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::Arabic => Algorithm::Arabic,
        // The Greek stemmer of the crate panics on some words.
        Language::Chinese | Language::Greek => return None,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Hungarian => Algorithm::Hungarian,
        Language::Italian => Algorithm::Italian,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Romanian => Algorithm::Romanian,
        Language::Russian => Algorithm::Russian,
        Language::Spanish => Algorithm::Spanish,
        Language::Swedish => Algorithm::Swedish,
        Language::Tamil => Algorithm::Tamil,
        Language::Turkish => Algorithm::Turkish,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_that_the_greek_stemmer_panics_on_are_their_stems() {
        for word in ["ισαισα", "ισαισε", "αντιθετ"] {
            assert_eq!(stem(word, Language::Greek), word);
        }
    }

    #[test]
    fn an_escaped_separator_belongs_to_its_word() {
        let cases = [
            // The examples of RediSearch's documentation.
            (r"hello\-world\-again", &["hello-world-again"][..]),
            ("foo-bar hello", &["foo", "bar", "hello"]),
            (r"one hello\-world two", &["one", "hello-world", "two"]),
            (r"\-a", &["-a"]),
            (r"a\-", &["a-"]),
            (r"a\ b", &["a b"]),
            (r"a \- b", &["a", "-", "b"]),
            (r"a\-\-b", &["a--b"]),
            (r"a\\b", &[r"a\b"]),
            (r"c:\new", &["c", "new"]),
            (r"a.\-b", &["a", "-b"]),
            (r"a\-.b", &["a-", "b"]),
            (r"明\-日本", &["明-日", "本"]),
            (r"a\", &["a"]),
            (r"\", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
        }
        assert_eq!(unescape(r"a\-b \ c:\new \"), r"a-b  c:\new \");
    }

    #[test]
    fn a_beginning_folds_to_a_beginning_of_the_folded_text() {
        assert!(fold("ΟΔΟΣΑ").starts_with(&fold("ΟΔΟΣ")));
        assert_eq!((fold("ΟΔΟΣ"), fold("οδος")), ("οδοσ".to_owned(), "οδοσ".to_owned()));
        assert_eq!(fold("ÄRGER Straße İ"), "ärger straße i\u{307}");
    }

    #[test]
    fn default_stop_words_ascend() {
        assert!(DEFAULT_STOP_WORDS.is_sorted_by(|left, right| left < right));
    }

    /// Returns words of the letters that the stemmers look at, and of endings that they cut off.
    fn any_word() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-zäöüßåæøéèêàâîïôûçñáíóúőűățșşğı']{1,20}",
            "[а-яё]{1,20}",
            "[α-ωάέήίόύώϊϋΐΰ]{1,20}",
            "[\u{621}-\u{652}]{1,20}",
            "[\u{b80}-\u{bff}]{1,20}",
            "[aeiouyst]{1,12}(ing|ed|ational|ement|issement|ungen|heit|zione|azioni|ação|ului|arna|heten|lar|miş|ssa)s?",
        ]
    }

    fn any_language() -> impl Strategy<Value = Language> {
        (0u8..19).prop_map(|number| Language::of_number(number).expect("a language"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn no_word_panics_in_any_language(word in any_word(), language in any_language()) {
            stem(&fold(&word), language);
        }

        #[test]
        fn words_are_parts_of_the_unescaped_text(text in r"[a-c1'\-\\ _.明é]{0,16}") {
            let plain = unescape(&text);
            let mut rest = &*plain;
            for word in words(&text) {
                prop_assert!(!word.is_empty());
                let at = rest.find(&*word);
                prop_assert!(at.is_some(), "{} in {}", word, rest);
                rest = &rest[at.unwrap_or_default() + word.len()..];
            }
            if !text.contains('\\') {
                prop_assert!(words(&text).eq(text.unicode_words()));
            }
        }

        #[test]
        fn folding_twice_changes_nothing(text in ".{0,12}") {
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }
    }
}
