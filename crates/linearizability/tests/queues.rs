//! Queues: good and bad histories written by hand.

use crate::text::{anomaly, kind};
use linearizability::Kind;

#[test]
fn elements_that_pass_through_once_are_valid() {
    let text = "1 10..20 RPUSH q1 1
                1 30..40 RPUSH q1 2
                2 35..45 LMOVE q1 q2 = 1
                3 10..50 LMOVE q1 q2 = 2
                4 30..60 LPOP q2 = 1
                2 50..52 LRANGE q1 = []; LRANGE q2 = [2]
                4 70..80 LPOP q2 = 2
                4 90..95 LPOP q2 = nil
                4 96..99 LPOP q1 = nil";
    assert_eq!(kind(text), None);
}

#[test]
fn an_element_popped_twice_is_found() {
    let text = "1 10..20 RPUSH q1 1
                2 30..40 LPOP q1 = 1
                3 30..40 LPOP q1 = 1";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::PoppedTwice, 3), "{found}");
    let moved = "1 10..20 RPUSH q1 1\n 2 30..40 LMOVE q1 q2 = 1\n 3 30..40 LPOP q1 = 1";
    assert_eq!(kind(moved), Some(Kind::PoppedTwice));
}

#[test]
fn a_pop_undone_by_a_crash_is_found() {
    let text = "1 10..20 RPUSH q1 1
                2 30..40 LPOP q1 = 1
                3 100..110 LRANGE q1 = [1]";
    assert_eq!(kind(text), Some(Kind::Returned));
}

#[test]
fn a_lost_acknowledged_element_is_found() {
    let text = "1 10..20 RPUSH q1 1
                2 30..40 LPOP q1 = nil";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::LostElement, 2), "{found}");
}

#[test]
fn an_unanswered_pop_takes_at_most_one_element() {
    let pushes = "1 10..20 RPUSH q1 1\n 1 30..40 RPUSH q1 2\n 2 50..?90 LPOP q1\n";
    assert_eq!(kind(&format!("{pushes} 3 100..110 LPOP q1 = 2\n 3 120..130 LPOP q1 = nil")), None);
    assert_eq!(kind(&format!("{pushes} 3 100..110 LPOP q1 = 1\n 3 120..130 LPOP q1 = 2")), None);
    let found = anomaly(&format!("{pushes} 3 100..110 LPOP q1 = nil")).unwrap();
    assert_eq!(found.kind, Kind::LostElement, "{found}");
}

#[test]
fn an_unanswered_pop_takes_nothing_pushed_after_the_crash() {
    let text = "2 50..?90 LPOP q1
                1 100..110 RPUSH q1 1
                3 120..130 LPOP q1 = nil";
    assert_eq!(kind(text), Some(Kind::LostElement));
}

#[test]
fn an_unanswered_move_is_all_or_nothing() {
    let before = "1 10..20 RPUSH q1 1\n 2 50..?90 LMOVE q1 q2\n";
    let stayed = "3 100..110 LPOP q1 = 1\n 3 120..130 LPOP q2 = nil";
    let moved = "3 100..110 LPOP q1 = nil\n 3 120..130 LPOP q2 = 1";
    let both = "3 100..110 LPOP q1 = 1\n 3 120..130 LPOP q2 = 1";
    let none = "3 100..110 LPOP q1 = nil\n 3 120..130 LPOP q2 = nil";
    assert_eq!(kind(&format!("{before}{stayed}")), None);
    assert_eq!(kind(&format!("{before}{moved}")), None);
    assert!(kind(&format!("{before}{both}")).is_some());
    let found = anomaly(&format!("{before}{none}")).unwrap();
    assert_eq!(found.kind, Kind::LostElement, "{found}");
    // A pop in flight at the same time may have taken it from there.
    assert_eq!(kind(&format!("{before} 4 60..?90 LPOP q2\n {none}")), None);
    // One in flight at an earlier crash may not.
    assert!(kind(&format!("4 2..?5 LPOP q2\n {before} {none}")).is_some());
}

#[test]
fn each_unanswered_call_explains_at_most_one_missing_element() {
    let text = "1 10..11 RPUSH q1 1
                1 12..13 RPUSH q1 2
                1 14..15 RPUSH q1 3
                2 50..?90 LPOP q2
                2 50..?90 LMOVE q1 q2
                2 50..?90 LMOVE q1 q2
                3 101..102 LPOP q1 = nil
                3 103..104 LPOP q2 = nil";
    let found = anomaly(text).unwrap();
    assert_eq!(found.kind, Kind::LostElement, "{found}");
    let with_one_left = text.replace("LPOP q1 = nil", "LPOP q1 = 3");
    assert_eq!(kind(&with_one_left), Some(Kind::LostElement), "two moved, one of them taken");
    let two_left = with_one_left.replace("LPOP q2 = nil", "LPOP q2 = 2");
    assert_eq!(kind(&two_left), None);
}

#[test]
fn an_empty_reply_requires_an_empty_queue() {
    let text = "1 10..20 RPUSH q1 1
                2 15..45 LPOP q1 = nil
                3 40..50 LPOP q1 = 1";
    assert_eq!(kind(text), None, "empty before the push");
    let text = "1 10..20 RPUSH q1 1
                2 25..35 LPOP q1 = nil
                3 40..50 LPOP q1 = 1";
    assert_eq!(kind(text), Some(Kind::FalselyEmpty));
    let in_turn = "1 10..20 RPUSH q1 1
                   1 30..40 RPUSH q1 2
                   2 25..65 LPOP q1 = nil
                   3 50..60 LPOP q1 = 1
                   3 70..80 LPOP q1 = 2";
    let found = anomaly(in_turn).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::FalselyEmpty, 5), "{found}");
}

#[test]
fn elements_leave_in_first_in_first_out_order() {
    let text = "1 10..20 RPUSH q1 1
                1 30..40 RPUSH q1 2
                2 50..60 LPOP q1 = 2
                2 70..80 LPOP q1 = 1";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::Overtaken, 4), "{found}");
    assert_eq!(kind(&text.replace("30..40", "15..40")), None, "concurrent pushes");
    assert_eq!(kind(&text.replace("70..80", "55..80")), None, "concurrent pops");
}

#[test]
fn a_moved_element_is_always_in_exactly_one_queue() {
    let history = |seen: &str| {
        format!(
            "1 10..20 RPUSH q1 1\n 2 30..90 LMOVE q1 q2 = 1\n 3 40..50 {seen}\n
             3 100..110 LPOP q2 = 1"
        )
    };
    assert_eq!(kind(&history("LRANGE q1 = [1]; LRANGE q2 = []")), None);
    assert_eq!(kind(&history("LRANGE q1 = []; LRANGE q2 = [1]")), None);
    assert_eq!(kind(&history("LRANGE q1 = [1]; LRANGE q2 = [1]")), Some(Kind::InTwoPlaces));
    assert_eq!(kind(&history("LRANGE q1 = []; LRANGE q2 = []")), Some(Kind::InNoPlace));
    // Two looks, one after the other, are no snapshot.
    assert_eq!(kind(&history("LRANGE q1 = []\n 3 60..70 LRANGE q2 = [1]")), None);
    assert_eq!(kind(&history("LRANGE q1 = [1 1]")), Some(Kind::Duplicate));
}

#[test]
fn elements_never_pushed_are_phantoms() {
    assert_eq!(kind("1 10..20 LPOP q1 = 1"), Some(Kind::Phantom));
    assert_eq!(kind("1 10..20 LPOP q1 = 1\n 2 30..40 RPUSH q1 1"), Some(Kind::Phantom));
    assert_eq!(kind("2 5..8 RPUSH q1 1\n 1 10..20 LPOP q2 = 1"), Some(Kind::Phantom));
    assert_eq!(kind("2 5..! RPUSH q1 1\n 1 10..20 LPOP q1 = 1"), Some(Kind::Aborted));
}
