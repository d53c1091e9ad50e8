//! Words of FT.* commands, and bytes that call themselves a declaration: refused, or what is read has one form.
//!
//! ```text
//!   | length : 1 | word | length | word | ...        the words of a command; all of it the bytes of a declaration
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use search::{CursorRequest, Definition, DeleteByRequest, SearchRequest, deletes_hashes};

fn words_of(mut data: &[u8]) -> Vec<&[u8]> {
    let mut words = Vec::new();
    while let [length, rest @ ..] = data {
        let (word, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        words.push(word);
        data = rest;
    }
    words
}

fn check(definition: &Definition) {
    let mut bytes = Vec::new();
    definition.encode(&mut bytes);
    assert_eq!(Definition::decode(&bytes).as_ref(), Ok(definition));
}

fuzz_target!(|data: &[u8]| {
    if let Ok(definition) = Definition::decode(data) {
        let mut bytes = Vec::new();
        definition.encode(&mut bytes);
        assert_eq!(bytes, data);
    }
    let words = words_of(data);
    if let Ok(mut definition) = Definition::parse(b"idx", &words) {
        check(&definition);
        let before = definition.clone();
        if definition.add_fields(&words).is_err() {
            assert_eq!(definition, before);
        }
        check(&definition);
    }
    let _ = SearchRequest::parse(&words);
    let _ = CursorRequest::parse(&words);
    let _ = DeleteByRequest::parse(&words);
    let _ = deletes_hashes(&words);
});
