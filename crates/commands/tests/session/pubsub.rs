//! SUBSCRIBE and its kin, PUBLISH, PUBSUB. Replies are those of redis-server 7.0.15.

use crate::session::fake::Fake;

#[test]
fn each_subscription_is_confirmed_with_the_current_count() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("SUBSCRIBE a"), "[\"subscribe\", \"a\", 1]");
    assert_eq!(fake.call("SUBSCRIBE a"), "[\"subscribe\", \"a\", 1]");
    assert_eq!(fake.call("PSUBSCRIBE a*"), "[\"psubscribe\", \"a*\", 2]");
    assert_eq!(fake.call("SSUBSCRIBE a"), "[\"ssubscribe\", \"a\", 1]");
    assert_eq!(fake.call("PING"), "[\"pong\", \"\"]");
    assert_eq!(fake.call("PING x"), "[\"pong\", \"x\"]");
    assert_eq!(fake.call("UNSUBSCRIBE b"), "[\"unsubscribe\", \"b\", 2]");
    assert_eq!(fake.call("UNSUBSCRIBE"), "[\"unsubscribe\", \"a\", 1]");
    assert_eq!(fake.call("UNSUBSCRIBE"), "[\"unsubscribe\", null, 1]");
    assert_eq!(fake.call("PUNSUBSCRIBE a*"), "[\"punsubscribe\", \"a*\", 0]");
    assert_eq!(fake.call("SUNSUBSCRIBE"), "[\"sunsubscribe\", \"a\", 0]");
    assert_eq!(fake.call("SUNSUBSCRIBE"), "[\"sunsubscribe\", null, 0]");
    assert_eq!(fake.call("PING"), "PONG");
}

#[test]
fn subscriptions_are_confirmed_by_pushes_in_resp3() {
    let mut fake = Fake { speaks_resp3: true, ..Fake::new() };
    assert_eq!(fake.call3("SUBSCRIBE a"), ">[\"subscribe\", \"a\", 1]");
    assert_eq!(fake.call3("PING"), "PONG");
    assert_eq!(fake.call3("UNSUBSCRIBE"), ">[\"unsubscribe\", \"a\", 0]");
}

#[test]
fn publish_and_pubsub_count_subscribers() {
    let mut fake = Fake::new();
    fake.call("SUBSCRIBE a");
    fake.call("SSUBSCRIBE b");
    assert_eq!(fake.call("PUBLISH a hello"), "1");
    assert_eq!(fake.call("SPUBLISH a hello"), "0");
    assert_eq!(fake.asked, ["Channel a: hello", "Shard a: hello"]);
    assert_eq!(fake.call("PUBSUB CHANNELS"), "[\"a\"]");
    assert_eq!(fake.call("PUBSUB CHANNELS x"), "[]");
    assert_eq!(fake.call("PUBSUB SHARDCHANNELS"), "[\"b\"]");
    assert_eq!(fake.call("PUBSUB NUMSUB a b"), "[\"a\", 1, \"b\", 0]");
    assert_eq!(fake.call("PUBSUB NUMSUB"), "[]");
    assert_eq!(fake.call("PUBSUB SHARDNUMSUB a b"), "[\"a\", 0, \"b\", 1]");
    assert_eq!(fake.call("PUBSUB NUMPAT"), "0");
    let wrong = "!ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.";
    assert_eq!(fake.call("PUBSUB CHANNELS a b"), wrong);
    assert!(fake.call("PUBSUB HELP").starts_with("[PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
}
