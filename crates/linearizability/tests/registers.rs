//! Registers: good and bad histories written by hand.

use crate::text::{anomaly, kind};
use linearizability::Kind;

#[test]
fn an_empty_history_and_a_single_client_pass() {
    assert_eq!(kind(""), None);
    assert_eq!(
        kind(
            "1 10..20 GET r1 = nil
             1 30..40 SET r1 1
             1 50..60 GET r1 = 1
             1 70..80 SET r1 2
             1 90..99 GET r1 = 2"
        ),
        None
    );
}

#[test]
fn concurrent_calls_may_take_effect_in_any_order() {
    for seen in ["nil", "1", "2"] {
        let text = format!("1 10..90 SET r1 1\n 2 10..90 SET r1 2\n 3 20..30 GET r1 = {seen}");
        assert_eq!(kind(&text), None, "{seen}");
    }
}

#[test]
fn a_stale_read_is_found() {
    let text = "1 10..20 SET r1 1
                1 30..40 SET r1 2
                2 50..60 GET r1 = 1";
    let found = anomaly(text).unwrap();
    assert_eq!(found.kind, Kind::NotLinearizable);
    assert_eq!(found.events.len(), 3);
    assert_eq!(found.why, "r1 was 1 both before and after it was 2");
}

#[test]
fn a_missing_acknowledged_write_is_found() {
    assert_eq!(kind("1 10..20 SET r1 1\n 2 30..40 GET r1 = nil"), Some(Kind::NotLinearizable));
}

#[test]
fn reads_of_writes_in_different_orders_are_found() {
    let text = "1 10..90 SET r1 1
                2 10..90 SET r1 2
                3 20..30 GET r1 = 1
                3 40..50 GET r1 = 2
                4 60..70 GET r1 = 1";
    assert_eq!(kind(text), Some(Kind::NotLinearizable));
}

#[test]
fn the_stale_read_is_found_among_many_good_calls() {
    let mut text = String::new();
    for at in 1..500 {
        let begin = at * 100;
        text.push_str(&format!("1 {begin}..{} SET r1 {at}\n", begin + 40));
        text.push_str(&format!("2 {}..{} GET r1 = {at}\n", begin + 50, begin + 60));
    }
    assert_eq!(kind(&text), None);
    text.push_str("3 40075..40080 GET r1 = 399\n");
    let found = anomaly(&text).unwrap();
    assert_eq!(found.kind, Kind::NotLinearizable);
    assert!(found.events.len() <= 4, "{found}");
}

#[test]
fn an_unanswered_write_may_or_may_not_take_effect() {
    for seen in ["1", "2"] {
        let text = format!("1 10..20 SET r1 1\n 2 30..?90 SET r1 2\n 3 100..110 GET r1 = {seen}");
        assert_eq!(kind(&text), None, "{seen}");
    }
}

#[test]
fn an_unanswered_write_that_was_seen_must_stay() {
    // The value is read, the server killed at 90, and the value gone.
    let text = "1 10..20 SET r1 1
                2 30..?90 SET r1 2
                3 40..50 GET r1 = 2
                3 100..110 GET r1 = 1";
    assert_eq!(kind(text), Some(Kind::NotLinearizable));
}

#[test]
fn an_acknowledged_write_lost_in_a_crash_is_found() {
    let text = "1 10..20 SET r1 1
                1 30..40 SET r1 2
                2 45..?90 GET r1
                3 100..110 GET r1 = 1";
    assert_eq!(kind(text), Some(Kind::NotLinearizable));
}

#[test]
fn an_unanswered_write_takes_no_effect_after_the_crash() {
    let text = "1 10..20 SET r1 1
                2 30..?90 SET r1 2
                3 100..110 GET r1 = 1
                3 120..130 GET r1 = 2";
    assert_eq!(kind(text), Some(Kind::NotLinearizable));
}

#[test]
fn values_never_written_are_phantoms() {
    assert_eq!(kind("1 10..20 GET r1 = 7"), Some(Kind::Phantom));
    assert_eq!(kind("1 10..20 GET r1 = 7\n 2 30..40 SET r1 7"), Some(Kind::Phantom));
    assert_eq!(kind("1 10..20 GET r1 = 7\n 2 5..40 SET r2 7"), Some(Kind::Phantom));
    assert_eq!(kind("2 5..! SET r1 7\n 1 10..20 GET r1 = 7"), Some(Kind::Aborted));
}

#[test]
fn a_value_overwritten_in_its_transaction_is_never_visible() {
    let text = "1 10..40 SET r1 1; SET r1 2
                2 20..30 GET r1 = 1";
    assert_eq!(kind(text), Some(Kind::Intermediate));
}

#[test]
fn reads_within_a_transaction_repeat_and_see_its_own_writes() {
    assert_eq!(kind("1 10..20 GET r1 = nil; SET r1 1; GET r1 = 1; GET r1 = 1"), None);
    assert_eq!(kind("1 10..30 GET r1 = nil; GET r1 = 1\n 2 10..30 SET r1 1"), Some(Kind::Internal));
    assert_eq!(kind("1 10..30 SET r1 1; GET r1 = nil"), Some(Kind::Internal));
    assert_eq!(kind("1 10..30 GET r1 = nil; GET r2 = nil; GET r1 = 1\n 2 10..30 SET r1 1"), Some(Kind::Internal));
}

#[test]
fn a_lost_update_is_a_many_reads_cycle() {
    let text = "1 10..20 SET r1 1
                2 30..60 GET r1 = 1; SET r1 2
                3 30..60 GET r1 = 1; SET r1 3";
    let found = anomaly(text).unwrap();
    assert_eq!(found.kind, Kind::ManyReadsCycle);
    assert_eq!(found.events.len(), 2);
}

#[test]
fn a_history_survives_display_and_parsing() {
    let text = "1 10..20 SET r1 1\n2 30..?60 GET r1; SET r1 2\n3 30..! RPUSH l1 5\n3 70..80 RPUSH l1 6 = 1; LRANGE l1 = [6]\n\
                4 90..95 LMOVE q1 q2 = nil; LRANGE q1 = []; LPOP q2 = 7; RPUSH q1 8";
    let events = linearizability::parse(text).unwrap();
    let shown: Vec<String> = events.iter().map(ToString::to_string).collect();
    assert_eq!(shown.join("\n"), text);
}

#[test]
fn invalid_events_are_refused_with_their_line() {
    for line in [
        "x",
        "1 10..20 GET r1",
        "1 10..?20 GET r1 = 1",
        "1 10..20 GET l1 = 1",
        "1 10-20 SET r1 1",
        "1 1..2 LRANGE l1 = 1",
    ] {
        assert_eq!(linearizability::parse(&format!("# a\n\n{line}")).unwrap_err().line, 3, "{line}");
    }
}
