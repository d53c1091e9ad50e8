//! Transactions over several keys: cycles written by hand, each the smallest of its name.

use crate::text::{anomaly, kind};
use linearizability::Kind;

#[test]
fn transactions_in_turn_are_fine() {
    let text = "1 10..60 RPUSH l1 1 = 1; LRANGE l2 = []
                2 10..60 RPUSH l2 2 = 1; LRANGE l1 = [1]
                3 70..80 LRANGE l1 = [1]; LRANGE l2 = [2]; GET r1 = nil";
    assert_eq!(kind(text), None);
}

#[test]
fn two_transactions_write_in_different_orders() {
    let text = "1 10..60 RPUSH l1 1; RPUSH l2 2
                2 10..60 RPUSH l1 3; RPUSH l2 4
                3 70..80 LRANGE l1 = [1 3]
                3 90..99 LRANGE l2 = [4 2]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::WriteCycle, 2), "{found}");
}

#[test]
fn two_transactions_see_each_other() {
    let text = "1 10..60 RPUSH l1 1; LRANGE l2 = [2]
                2 10..60 RPUSH l2 2; LRANGE l1 = [1]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::InformationCycle, 2), "{found}");
    assert_eq!(kind("1 10..60 SET r1 1; GET r2 = 2\n 2 10..60 SET r2 2; GET r1 = 1"), Some(Kind::InformationCycle));
}

#[test]
fn a_snapshot_sees_half_of_another_transaction() {
    let text = "1 10..60 RPUSH l1 1; RPUSH l2 2
                2 10..60 LRANGE l1 = [1]; LRANGE l2 = []
                3 70..80 LRANGE l2 = [2]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::SingleReadCycle, 2), "{found}");
}

#[test]
fn write_skew() {
    let text = "1 10..60 LRANGE l1 = []; RPUSH l2 2
                2 10..60 LRANGE l2 = []; RPUSH l1 1";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::ManyReadsCycle, 2), "{found}");
    let seen_later = format!("{text}\n 3 70..80 LRANGE l1 = [1]; LRANGE l2 = [2]");
    assert_eq!(kind(&seen_later), Some(Kind::ManyReadsCycle));
    let registers = "1 5..6 SET r1 1; SET r2 2
                     1 10..60 GET r1 = 1; GET r2 = 2; SET r1 3
                     2 10..60 GET r1 = 1; GET r2 = 2; SET r2 4";
    assert_eq!(kind(registers), Some(Kind::ManyReadsCycle));
}

#[test]
fn three_transactions_in_a_circle() {
    let text = "1 10..60 LRANGE l1 = []; RPUSH l2 2
                2 10..60 LRANGE l2 = []; RPUSH l3 3
                3 10..60 LRANGE l3 = []; RPUSH l1 1";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::ManyReadsCycle, 3), "{found}");
}

#[test]
fn two_observers_disagree_about_two_keys() {
    // Each key alone has an order, and so has each observer.
    let text = "1 10..60 RPUSH l1 1
                2 10..60 RPUSH l2 2
                3 20..50 LRANGE l1 = [1]; LRANGE l2 = []
                4 20..50 LRANGE l1 = []; LRANGE l2 = [2]";
    assert_eq!(kind(text), Some(Kind::ManyReadsCycle));
}

#[test]
fn real_time_across_keys() {
    // The append to l2 ended before that to l1 was called; the snapshot saw only the later one.
    let text = "1 10..20 RPUSH l2 2
                2 30..60 RPUSH l1 1
                3 15..50 LRANGE l1 = [1]; LRANGE l2 = []
                4 70..80 LRANGE l2 = [2]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::RealTimeCycle, 3), "{found}");
    assert!(found.why.contains("had ended before the call of"), "{found}");
}

#[test]
fn a_pipeline_is_carried_out_in_order() {
    let text = "1 10..60 RPUSH l2 2
                1 10..60 RPUSH l1 1
                3 15..50 LRANGE l1 = [1]; LRANGE l2 = []
                4 70..80 LRANGE l2 = [2]";
    let found = anomaly(text).unwrap();
    assert_eq!(found.kind, Kind::RealTimeCycle);
    assert!(found.why.contains("same client"), "{found}");
}

#[test]
fn a_transaction_without_a_reply_is_whole_or_not_at_all() {
    let history = |first: &str, second: &str| {
        format!("1 10..?60 RPUSH l1 1; RPUSH l2 2; SET r1 1\n 2 70..80 LRANGE l1 = {first}\n 2 90..95 {second}")
    };
    assert_eq!(kind(&history("[]", "LRANGE l2 = []; GET r1 = nil")), None);
    assert_eq!(kind(&history("[1]", "LRANGE l2 = [2]; GET r1 = 1")), None);
    assert_eq!(kind(&history("[1]", "LRANGE l2 = []")), Some(Kind::LostAppend));
    assert_eq!(kind(&history("[1]", "GET r1 = nil")), Some(Kind::NotLinearizable));
    assert_eq!(kind(&history("[]", "GET r1 = 1")), Some(Kind::LostAppend));
}
