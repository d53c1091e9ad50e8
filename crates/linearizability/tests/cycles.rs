//! Transactions over several keys: cycles written by hand, each the smallest of its name.

use crate::text::{anomaly, kind};
use linearizability::Kind;

#[test]
fn sequential_transactions_pass() {
    let text = "1 10..60 RPUSH l1 1 = 1; LRANGE l2 = []
                2 10..60 RPUSH l2 2 = 1; LRANGE l1 = [1]
                3 70..80 LRANGE l1 = [1]; LRANGE l2 = [2]; GET r1 = nil";
    assert_eq!(kind(text), None);
}

#[test]
fn writes_in_different_orders_are_a_write_cycle() {
    let text = "1 10..60 RPUSH l1 1; RPUSH l2 2
                2 10..60 RPUSH l1 3; RPUSH l2 4
                3 70..80 LRANGE l1 = [1 3]
                3 90..99 LRANGE l2 = [4 2]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::WriteCycle, 2), "{found}");
}

#[test]
fn transactions_seeing_each_other_are_an_information_cycle() {
    let text = "1 10..60 RPUSH l1 1; LRANGE l2 = [2]
                2 10..60 RPUSH l2 2; LRANGE l1 = [1]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::InformationCycle, 2), "{found}");
    assert_eq!(kind("1 10..60 SET r1 1; GET r2 = 2\n 2 10..60 SET r2 2; GET r1 = 1"), Some(Kind::InformationCycle));
}

#[test]
fn seeing_half_a_transaction_is_a_single_read_cycle() {
    let text = "1 10..60 RPUSH l1 1; RPUSH l2 2
                2 10..60 LRANGE l1 = [1]; LRANGE l2 = []
                3 70..80 LRANGE l2 = [2]";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::SingleReadCycle, 2), "{found}");
}

#[test]
fn write_skew_is_a_many_reads_cycle() {
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
fn a_cycle_of_three_transactions_is_found() {
    let text = "1 10..60 LRANGE l1 = []; RPUSH l2 2
                2 10..60 LRANGE l2 = []; RPUSH l3 3
                3 10..60 LRANGE l3 = []; RPUSH l1 1";
    let found = anomaly(text).unwrap();
    assert_eq!((found.kind, found.events.len()), (Kind::ManyReadsCycle, 3), "{found}");
}

#[test]
fn disagreement_of_two_observers_is_found() {
    // Each key alone has an order, and so has each observer.
    let text = "1 10..60 RPUSH l1 1
                2 10..60 RPUSH l2 2
                3 20..50 LRANGE l1 = [1]; LRANGE l2 = []
                4 20..50 LRANGE l1 = []; LRANGE l2 = [2]";
    assert_eq!(kind(text), Some(Kind::ManyReadsCycle));
}

#[test]
fn real_time_order_holds_across_keys() {
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
fn a_pipeline_is_executed_in_order() {
    let text = "1 10..60 RPUSH l2 2
                1 10..60 RPUSH l1 1
                3 15..50 LRANGE l1 = [1]; LRANGE l2 = []
                4 70..80 LRANGE l2 = [2]";
    let found = anomaly(text).unwrap();
    assert_eq!(found.kind, Kind::RealTimeCycle);
    assert!(found.why.contains("same client"), "{found}");
}

#[test]
fn an_unanswered_transaction_is_all_or_nothing() {
    let history = |first: &str, second: &str| {
        format!("1 10..?60 RPUSH l1 1; RPUSH l2 2; SET r1 1\n 2 70..80 LRANGE l1 = {first}\n 2 90..95 {second}")
    };
    assert_eq!(kind(&history("[]", "LRANGE l2 = []; GET r1 = nil")), None);
    assert_eq!(kind(&history("[1]", "LRANGE l2 = [2]; GET r1 = 1")), None);
    assert_eq!(kind(&history("[1]", "LRANGE l2 = []")), Some(Kind::LostAppend));
    assert_eq!(kind(&history("[1]", "GET r1 = nil")), Some(Kind::NotLinearizable));
    assert_eq!(kind(&history("[]", "GET r1 = 1")), Some(Kind::LostAppend));
}
