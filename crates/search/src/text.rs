//! Texts: folded, cut into words, stemmed; and as errors show them.

use crate::definition::Language;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// Words that texts are indexed without if a definition names none; those of RediSearch.
pub(crate) const DEFAULT_STOP_WORDS: [&str; 33] = [
    "a", "is", "the", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "it", "no", "not",
    "of", "on", "or", "such", "that", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

/// Characters of a client's bytes that an error repeats at most.
const SHOWN_CHARS_MAX: usize = 64;

/// Returns the beginning of a client's bytes in one line, as errors show it.
pub(crate) fn shown(bytes: impl AsRef<[u8]>) -> Box<str> {
    let bytes = bytes.as_ref();
    // A character has at most four bytes.
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_CHARS_MAX * 4)]);
    beginning.chars().take(SHOWN_CHARS_MAX).map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

/// Returns a text in lower case.
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}

/// Returns the words of a folded text, as Unicode segments it: an ideograph is a word.
pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.unicode_words()
}

/// The longest words that are stemmed, in bytes: stemmers take quadratic time.
const STEMMED_BYTES_MAX: usize = 256;

/// Returns the stem of a folded word; a very long one is its own.
pub fn stem(word: &str, language: Language) -> String {
    match algorithm(language).filter(|_| word.len() <= STEMMED_BYTES_MAX) {
        Some(algorithm) => Stemmer::create(algorithm).stem(word).into_owned(),
        None => word.to_owned(),
    }
}

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::Arabic => Algorithm::Arabic,
        Language::Chinese => return None,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Greek => Algorithm::Greek,
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
