//! Lists that are appended to and read: good and bad histories written by hand.

use crate::text::{anomaly, kind};
use linearizability::Kind;

#[test]
fn reads_that_are_beginnings_of_each_other_are_fine() {
    let text = "1 10..40 RPUSH l1 1 = 1
                2 10..40 RPUSH l1 2 = 2
                3 15..25 LRANGE l1 = []
                4 20..30 LRANGE l1 = [1]
                3 50..60 LRANGE l1 = [1 2]";
    assert_eq!(kind(text), None);
}

#[test]
fn lost_append_after_a_crash() {
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..40 RPUSH l1 2 = 2
                2 45..?90 LRANGE l1
                3 100..110 LRANGE l1 = [1]";
    let found = anomaly(text).unwrap();
    assert_eq!(found.kind, Kind::LostAppend);
    assert_eq!(found.events.len(), 2, "the append and the read: {found}");
}

#[test]
fn lost_append_that_another_replaces() {
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..40 RPUSH l1 2 = 2
                3 100..110 RPUSH l1 3 = 2
                3 120..130 LRANGE l1 = [1 3]";
    assert_eq!(kind(text), Some(Kind::LostAppend));
}

#[test]
fn an_append_without_a_reply_that_was_seen_stays() {
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
fn an_append_without_a_reply_that_nobody_saw_may_be_gone() {
    let text = "1 10..20 RPUSH l1 1 = 1
                1 30..?90 RPUSH l1 2
                2 100..110 LRANGE l1 = [1]
                2 120..130 RPUSH l1 3 = 2
                2 140..150 LRANGE l1 = [1 3]";
    assert_eq!(kind(text), None);
}

#[test]
fn concurrent_reads_that_disagree() {
    let text = "1 10..90 RPUSH l1 1 = 1
                2 10..90 RPUSH l1 2 = 1
                3 20..80 LRANGE l1 = [1]
                4 20..80 LRANGE l1 = [2]";
    assert_eq!(kind(text), Some(Kind::IncompatibleOrder));
}

#[test]
fn elements_stand_once() {
    assert_eq!(kind("1 10..20 RPUSH l1 1\n 2 30..40 LRANGE l1 = [1 1]"), Some(Kind::Duplicate));
}

#[test]
fn elements_out_of_nowhere() {
    assert_eq!(kind("2 30..40 LRANGE l1 = [1]"), Some(Kind::Phantom));
    assert_eq!(kind("2 30..40 LRANGE l1 = [1]\n 1 50..60 RPUSH l1 1"), Some(Kind::Phantom));
    assert_eq!(kind("1 10..! RPUSH l1 1\n 2 30..40 LRANGE l1 = [1]"), Some(Kind::Aborted));
}

#[test]
fn half_a_transaction_is_not_seen() {
    let text = "1 10..60 RPUSH l1 1; RPUSH l1 2
                2 20..30 LRANGE l1 = [1]";
    assert_eq!(kind(text), Some(Kind::Intermediate));
}

#[test]
fn replies_of_appends_say_where_they_stand() {
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
