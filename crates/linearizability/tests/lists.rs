//! Lists that are appended to and read: good and bad histories written by hand.

use crate::text::{anomaly, kind};
use linearizability::Kind;

#[test]
fn reads_that_are_prefixes_of_each_other_pass() {
    let text = "1 10..40 RPUSH l1 1 = 1
                2 10..40 RPUSH l1 2 = 2
                3 15..25 LRANGE l1 = []
                4 20..30 LRANGE l1 = [1]
                3 50..60 LRANGE l1 = [1 2]";
    assert_eq!(kind(text), None);
}

#[test]
fn an_append_lost_in_a_crash_is_found() {
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..40 RPUSH l1 2 = 2
                2 45..?90 LRANGE l1
                3 100..110 LRANGE l1 = [1]";
    let found = anomaly(text).unwrap();
    assert_eq!(found.kind, Kind::LostAppend);
    assert_eq!(found.events.len(), 2, "the append and the read: {found}");
}

#[test]
fn a_lost_append_replaced_by_another_is_found() {
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..40 RPUSH l1 2 = 2
                3 100..110 RPUSH l1 3 = 2
                3 120..130 LRANGE l1 = [1 3]";
    assert_eq!(kind(text), Some(Kind::LostAppend));
}

#[test]
fn an_unanswered_append_that_was_seen_must_stay() {
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..?90 RPUSH l1 2
                2 40..50 LRANGE l1 = [1 2]
                2 100..110 LRANGE l1 = [1]";
    assert_eq!(kind(text), Some(Kind::LostAppend));
    // Also where another element has taken its place.
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..?90 RPUSH l1 2
                2 40..50 LRANGE l1 = [1 2]
                1 100..110 RPUSH l1 3
                2 120..130 LRANGE l1 = [1 3]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::LostAppend, 3), "{found}");
}

#[test]
fn an_unanswered_append_that_nobody_saw_may_vanish() {
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..?90 RPUSH l1 2
                2 100..110 LRANGE l1 = [1]
                2 120..130 RPUSH l1 3 = 2
                2 140..150 LRANGE l1 = [1 3]";
    assert_eq!(kind(text), None);
}

#[test]
fn concurrent_reads_must_agree_on_the_order() {
    let text = "1 10..90 RPUSH l1 1 = 1
                2 10..90 RPUSH l1 2 = 1
                3 20..80 LRANGE l1 = [1]
                4 20..80 LRANGE l1 = [2]";
    assert_eq!(kind(text), Some(Kind::IncompatibleOrder));
}

#[test]
fn an_element_read_twice_is_a_duplicate() {
    assert_eq!(kind("1 10..20 RPUSH l1 1\n 2 30..40 LRANGE l1 = [1 1]"), Some(Kind::Duplicate));
}

#[test]
fn elements_never_appended_are_phantoms() {
    assert_eq!(kind("2 30..40 LRANGE l1 = [1]"), Some(Kind::Phantom));
    assert_eq!(kind("2 30..40 LRANGE l1 = [1]\n 1 50..60 RPUSH l1 1"), Some(Kind::Phantom));
    assert_eq!(kind("1 10..! RPUSH l1 1\n 2 30..40 LRANGE l1 = [1]"), Some(Kind::Aborted));
}

#[test]
fn half_a_transaction_is_never_visible() {
    let text = "1 10..60 RPUSH l1 1; RPUSH l1 2
                2 20..30 LRANGE l1 = [1]";
    assert_eq!(kind(text), Some(Kind::Intermediate));
}

#[test]
fn append_replies_must_match_their_positions() {
    let swapped = "1 10..40 RPUSH l1 1 = 2
                   2 10..40 RPUSH l1 2 = 1
                   3 50..60 LRANGE l1 = [1 2]";
    assert_eq!(kind(swapped), Some(Kind::WrongPosition));
    assert_eq!(kind("1 10..40 RPUSH l1 1 = 1\n 2 10..40 RPUSH l1 2 = 1"), Some(Kind::WrongPosition));
}

#[test]
fn reads_within_a_transaction_repeat_and_see_its_own_appends() {
    assert_eq!(kind("1 10..40 LRANGE l1 = []; RPUSH l1 1 = 1; LRANGE l1 = [1]"), None);
    assert_eq!(kind("1 10..40 RPUSH l1 1 = 2; LRANGE l1 = [2 1]\n 2 10..40 RPUSH l1 2 = 1"), None);
    let concurrent = "\n 2 10..40 RPUSH l1 2";
    for steps in [
        "LRANGE l1 = []; LRANGE l1 = [2]",
        "RPUSH l1 1; LRANGE l1 = [1 2]",
        "RPUSH l1 1 = 1; LRANGE l1 = [2 1]",
        "LRANGE l1 = []; RPUSH l1 1 = 2",
        "RPUSH l1 1; LRANGE l1 = []",
    ] {
        assert_eq!(kind(&format!("1 10..40 {steps}{concurrent}")), Some(Kind::Internal), "{steps}");
    }
}
