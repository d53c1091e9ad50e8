//! The published page of effects says what the code does: `docs/formats/effect.md`.

use base::hash::KeyHasher;
use keyspace::{Keyspace, Record};

const PAGE: &str = include_str!("../../../docs/formats/effect.md");

/// The bytes of each line of the page's last drawing but their explanation.
fn examples() -> Vec<Vec<u8>> {
    let (_, section) = PAGE.split_once("## Each number once").expect("the section is there");
    let drawing = section.split("```").nth(1).expect("the drawing is there");
    drawing.lines().filter(|line| !line.is_empty()).map(bytes_of).collect()
}

fn bytes_of(line: &str) -> Vec<u8> {
    // Four spaces part the bytes from the words.
    let (bytes, _) = line.split_once("    ").expect("bytes, then words");
    bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
}

fn numbers_of_the_table() -> Vec<u8> {
    let (_, section) = PAGE.split_once("## The numbers").expect("the section is there");
    let (section, _) = section.split_once("\n## ").expect("another follows");
    section.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn every_number_of_the_page_is_known_and_shown_once_and_no_other_is_known() {
    let shown: Vec<u8> = examples().iter().map(|example| example[0]).collect();
    assert_eq!(shown, numbers_of_the_table());
    for number in 0..=u8::MAX {
        let known = !matches!(
            Record::decode(&mut &[number, 0, 0][..]),
            Err(keyspace::DecodeError::UnknownNumber(unknown)) if unknown == number
        );
        assert_eq!(known, shown.contains(&number), "number {number}");
    }
}

#[test]
fn every_example_of_the_page_is_one_record_in_its_one_encoding() {
    for example in examples() {
        let mut input = &example[..];
        let record = Record::decode(&mut input).unwrap_or_else(|error| panic!("{example:x?}: {error}"));
        assert!(input.is_empty(), "{record:?}");
        let mut again = Vec::new();
        record.encode(&mut again);
        assert_eq!(again, example, "{record:?}");
    }
}

#[test]
fn whole_values_of_the_page_can_be_replayed() {
    let keyspace = Keyspace::new(KeyHasher::new([7; 16]), 16);
    for example in examples().iter().filter(|example| [0x20, 0x21, 0x40].contains(&example[0])) {
        keyspace.replay(example).unwrap_or_else(|error| panic!("{example:x?}: {error}"));
    }
    assert_eq!(keyspace.map().table(3), 70_000);
}
