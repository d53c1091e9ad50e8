//! Long commands run speculatively while others run: their effect is as if they had run alone, at their end.

use crate::support::{Client, World, read};
use engine::Next;
use std::pin::pin;
use std::task::{Context, Waker};
use wire::Output;

/// Members of one request: more than are added under a lock.
const MEMBERS: usize = 3_000;

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

/// Sends a request that runs speculatively, and calls `meanwhile` between its turns. Returns the reply and the number
/// of turns.
fn run_beside(client: &mut Client, line: &str, mut meanwhile: impl FnMut(usize)) -> (String, usize) {
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&words(line), &mut output) else {
        panic!("{}: it is too much for a turn", &line[..line.len().min(40)])
    };
    let mut turns = 0;
    {
        let mut running = pin!(client.session.run_slowly(slow, &client.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        meanwhile(turns);
        while running.as_mut().poll(&mut context).is_pending() {
            turns += 1;
            meanwhile(turns);
        }
    }
    (read(output), turns)
}

fn zadd(from: usize) -> String {
    let pairs: Vec<String> = (from..from + MEMBERS).map(|nth| format!("{nth} member:{nth}")).collect();
    format!("ZADD z {}", pairs.join(" "))
}

fn world() -> World {
    World::new(&[("enable-debug-command", "yes")])
}

/// Asserts that a reload from the journal alone gives the same data.
fn assert_durable(client: &mut Client) {
    let before = client.call("DEBUG DIGEST");
    assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
    assert_eq!(client.call("DEBUG DIGEST"), before);
}

#[test]
fn a_speculative_zadd_becomes_visible_all_at_once() {
    let world = world();
    let [mut one, mut other] = [world.client(), world.client()];
    other.call("ZADD z 1 first");
    let (reply, turns) =
        run_beside(&mut one, &zadd(0), |_| assert_eq!(other.call("ZCARD z"), ":1\r\n", "it is still to come"));
    assert_eq!(reply, format!(":{MEMBERS}\r\n"));
    assert!(turns > 0, "others had their turn");
    assert_eq!(other.call("ZCARD z"), format!(":{}\r\n", MEMBERS + 1));
    assert_eq!(other.call("ZRANK z member:5"), ":6\r\n");
    assert_durable(&mut one);
}

#[test]
fn concurrent_writes_survive_a_speculation() {
    let world = world();
    let [mut one, mut other] = [world.client(), world.client()];
    other.call("ZADD z 1 first");
    // At every turn: so both speculative runs are in vain, and the command runs under the lock.
    let mut count = 0;
    let (reply, _) = run_beside(&mut one, &zadd(0), |turn| {
        other.call(&format!("ZADD z {turn} other:{turn}"));
        count += 1;
    });
    assert_eq!(reply, format!(":{MEMBERS}\r\n"));
    assert_eq!(other.call("ZCARD z"), format!(":{}\r\n", MEMBERS + 1 + count));
    // Changes of other keys, of the same shard or another, do not matter.
    let (reply, _) = run_beside(&mut one, &zadd(MEMBERS), |turn| drop(other.call(&format!("SET key:{turn} value"))));
    assert_eq!(reply, format!(":{MEMBERS}\r\n"));
    assert_durable(&mut one);
}

#[test]
fn a_speculation_handles_retyped_keys_expiry_and_errors() {
    let world = world();
    let [mut one, mut other] = [world.client(), world.client()];
    // The key is deleted and gets another type, or expires.
    other.call("ZADD z 1 first");
    let (reply, _) = run_beside(&mut one, &zadd(0), |turn| {
        if turn == 1 {
            other.call("DEL z");
            other.call("RPUSH z element");
        }
    });
    assert!(reply.starts_with("-WRONGTYPE"), "{reply}");
    assert_eq!(other.call("DEL z"), ":1\r\n");
    other.call("ZADD z 1 first");
    other.call("PEXPIRE z 100");
    let (reply, _) = run_beside(&mut one, &zadd(0), |turn| {
        if turn == 1 {
            world.advance(200);
        }
    });
    assert_eq!(reply, format!(":{MEMBERS}\r\n"));
    assert_eq!(other.call("ZCARD z"), format!(":{MEMBERS}\r\n"), "it was gone by then");
    assert_eq!(other.call("PTTL z"), ":-1\r\n");
    let (reply, _) = run_beside(&mut one, &format!("{} 5 a nan b", zadd(0)), |_| {});
    assert!(reply.starts_with("-ERR value is not a valid float"), "{reply}");
    assert_durable(&mut one);
}

#[test]
fn a_speculation_marks_watches_and_serves_waiters() {
    let world = World::new(&[("notify-keyspace-events", "KEA")]);
    let [mut one, mut watcher] = [world.client(), world.client()];
    watcher.call("SET other 1");
    watcher.call("WATCH z");
    run_beside(&mut one, &zadd(0), |_| {});
    watcher.call("MULTI");
    watcher.call("PING");
    assert!(matches!(watcher.call("EXEC").as_str(), "*-1\r\n" | "$-1\r\n"), "z has changed");
    let mut waiting = world.client();
    let mut output = Output::new();
    let Next::Slow(slow) = waiting.send(&words("BLPOP list 0"), &mut output) else { panic!("there is none") };
    {
        let mut running = pin!(waiting.session.run_slowly(slow, &waiting.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        assert!(running.as_mut().poll(&mut context).is_pending());
        let items: Vec<String> = (0..MEMBERS).map(|nth| nth.to_string()).collect();
        let (reply, _) = run_beside(&mut one, &format!("RPUSH list {}", items.join(" ")), |_| {});
        assert_eq!(reply, format!(":{MEMBERS}\r\n"));
        assert!(running.as_mut().poll(&mut context).is_ready());
    }
    assert_eq!(read(output), "*2\r\n$4\r\nlist\r\n$1\r\n0\r\n");
    assert_eq!(one.call("LLEN list"), format!(":{}\r\n", MEMBERS - 1));
}

/// A command that touches other keys than those it locks runs under the locks, however long it is.
#[test]
fn commands_that_touch_other_keys_are_not_speculated() {
    let world = world();
    let mut client = world.client();
    client.call("RPUSH list 2 1");
    client.call("MSET by:1 5 by:2 4 name:1 one name:2 two");
    let gets = "GET name:* ".repeat(MEMBERS);
    let reply = client.call(&format!("SORT list BY by:* {}", gets.trim_end()));
    assert!(reply.starts_with(&format!("*{}\r\n$3\r\ntwo\r\n", 2 * MEMBERS)), "{}", &reply[..20]);
    let replace = "REPLACE ".repeat(MEMBERS);
    assert_eq!(client.call(&format!("COPY list other DB 1 {}", replace.trim_end())), ":1\r\n");
    assert_durable(&mut client);
}

#[test]
fn a_speculative_read_returns_the_values_at_its_start() {
    let world = world();
    let [mut one, mut other] = [world.client(), world.client()];
    run_beside(&mut one, &zadd(0), |_| {});
    let members: Vec<String> = (0..MEMBERS).map(|nth| format!("member:{nth}")).collect();
    let (reply, _) = run_beside(&mut one, &format!("ZMSCORE z {}", members.join(" ")), |_| {
        other.call("DEL z");
    });
    assert!(reply.starts_with(&format!("*{MEMBERS}\r\n$1\r\n0\r\n$1\r\n1\r\n")), "{}", &reply[..80]);
}

#[test]
fn operations_on_many_pending_entries_run_in_turns() {
    let world = world();
    let [mut one, mut other] = [world.client(), world.client()];
    for nth in 1..=MEMBERS {
        one.call(&format!("XADD s {nth}-0 field {nth}"));
    }
    one.call("XGROUP CREATE s g 0");
    let unread = |other: &mut Client, count: usize| {
        let reply = other.call("XPENDING s g");
        assert!(reply.starts_with(&format!("*4\r\n:{count}\r\n")), "{reply}");
    };
    let (reply, turns) = run_beside(&mut one, "XREADGROUP GROUP g alice STREAMS s >", |_| unread(&mut other, 0));
    assert!(turns > 0 && reply.contains(&format!("*{MEMBERS}\r\n*2\r\n$3\r\n1-0\r\n")), "{}", &reply[..60]);
    other.call("XDEL s 7-0");
    for line in ["XAUTOCLAIM s g bob 0 0 COUNT 100000", "XREADGROUP GROUP g bob STREAMS s 0"] {
        let (reply, turns) = run_beside(&mut one, line, |_| drop(other.call("XLEN s")));
        assert!(turns > 0 && reply.contains(&format!("{MEMBERS}-0\r\n")), "{line}");
    }
    unread(&mut other, MEMBERS - 1);
    let claim = "XREADGROUP GROUP g alice COUNT 100000 CLAIM 0 STREAMS s >";
    let (reply, turns) = run_beside(&mut one, claim, |_| drop(other.call("XLEN s")));
    assert!(turns > 0 && reply.contains(&format!("*{}\r\n*4\r\n$3\r\n1-0\r\n", MEMBERS - 1)), "{}", &reply[..60]);
    // Nothing is idle, as a speculative run finds out before the command blocks.
    let (reply, turns) = run_beside(&mut one, "XREADGROUP GROUP g bob BLOCK 50 CLAIM 99999 STREAMS s >", |turn| {
        if turn > 2 {
            world.advance(60);
        }
    });
    assert!(turns > 0 && reply == "*-1\r\n", "{reply}");
    unread(&mut other, MEMBERS - 1);
    let (reply, _) = run_beside(&mut one, "XINFO STREAM s FULL COUNT 0", |_| {
        other.call("XADD s * field later");
    });
    assert!(reply.contains(&format!(":{MEMBERS}\r\n")), "{}", &reply[..80]);
    let ids: Vec<String> = (1..=MEMBERS).map(|nth| format!("{nth}-0")).collect();
    let half = ids[..MEMBERS / 2].join(" ");
    let (reply, _) = run_beside(&mut one, &format!("XCLAIM s g carol 0 {half} JUSTID"), |_| {});
    assert!(reply.starts_with(&format!("*{}\r\n", MEMBERS / 2 - 1)), "{}", &reply[..20]);
    let (reply, _) = run_beside(&mut one, "XGROUP DELCONSUMER s g carol", |_| {});
    assert_eq!(reply, format!(":{}\r\n", MEMBERS / 2 - 1));
    let (reply, _) = run_beside(&mut one, &format!("XACK s g {}", ids.join(" ")), |_| {});
    assert_eq!(reply, format!(":{}\r\n", MEMBERS / 2));
    unread(&mut other, 0);
    let half = ids[..MEMBERS / 2].join(" ");
    let (reply, _) = run_beside(&mut one, &format!("XDELEX s ACKED IDS {} {half}", MEMBERS / 2), |_| {});
    assert!(reply.starts_with(&format!("*{}\r\n:1\r\n", MEMBERS / 2)), "{}", &reply[..40]);
    assert_eq!(reply.matches(":1\r\n").count(), MEMBERS / 2 - 1);
    let (reply, _) = run_beside(&mut one, &format!("XDEL s {}", ids.join(" ")), |_| {});
    assert_eq!(reply, format!(":{}\r\n", MEMBERS - MEMBERS / 2));
    assert_durable(&mut one);
}
