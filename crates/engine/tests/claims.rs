//! The law of claims with an engine: waiting clients, transactions, scripts and deadlines. The journal asserts that a
//! frame is no longer than its claim. Payloads of RESTORE come from `rdb::dump`.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::dice;
use crate::dice::Dice;
use crate::support::{Client, World};
use commands::{CommandSpec, Group, Run, registry};
use engine::Next;
use std::pin::Pin;
use std::task::{Context, Waker};
use wire::Output;

type Waiting = Pin<Box<dyn Future<Output = ()>>>;

/// Runs a blocking request and holds its client until it ends.
async fn wait(mut client: Client, words: Vec<Vec<u8>>) {
    let mut output = Output::new();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    if let Next::Slow(slow) = client.send(&words, &mut output) {
        client.session.run_slowly(slow, &client.input, &mut output).await;
    }
}

fn rows_of(groups: &[Group], is_asked: fn(&Run) -> bool) -> Vec<&'static CommandSpec> {
    registry::commands().filter(|command| groups.contains(&command.group) && is_asked(&command.run)).collect()
}

/// Returns a random request without a deadline, or with one that the clock passes.
fn request(dice: &mut Dice<'_>, commands: &[&'static CommandSpec]) -> Vec<Vec<u8>> {
    let command = commands[dice.below(commands.len())];
    dice.request(command, &Dice::value)
}

#[test]
fn a_frame_that_serves_waiters_never_exceeds_its_claim() {
    const GROUPS: &[Group] = &[Group::List, Group::Queue, Group::SortedSet, Group::Stream];
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64);
    let waits = rows_of(GROUPS, |run| matches!(run, Run::Blocking { .. }));
    for seed in 0..cases {
        let numbers = dice::numbers(seed, 3_000);
        let mut dice = Dice::long(&numbers);
        let group = GROUPS[dice.below(GROUPS.len())];
        let plain = rows_of(&[group, Group::List, Group::Generic], |run| matches!(run, Run::Local(_)));
        let world = World::new(&[]);
        let mut client = world.client();
        let mut waiting: Vec<Waiting> = Vec::new();
        while !dice.is_over() {
            match dice.below(12) {
                0..4 if waiting.len() < 40 => {
                    let mut words = request(&mut dice, &waits);
                    // Waits forever: the clock of this world would have to be moved.
                    words.iter_mut().filter(|word| *word == b"0.01").for_each(|word| *word = b"0".to_vec());
                    waiting.push(Box::pin(wait(world.client(), words)));
                }
                4 => world.advance([1, 30, 5_000][dice.below(3)]),
                5 => {
                    client.run(&[b"MULTI".to_vec()]);
                    (0..dice.below(5)).for_each(|_| client.run(&request(&mut dice, &plain)));
                    client.run(&[b"EXEC".to_vec()]);
                }
                6 => {
                    let script = b"return redis.pcall(unpack(ARGV))".to_vec();
                    let words = vec![b"EVAL".to_vec(), script, b"0".to_vec()];
                    client.run(&[words, request(&mut dice, &plain)].concat());
                }
                _ => client.run(&request(&mut dice, &plain)),
            }
            waiting.retain_mut(|wait| wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        // Waiting clients hold the engine.
        drop(waiting);
    }
}

/// The claim of a small change is enough for its records, so that it is not tried twice: HSET was.
#[test]
fn small_changes_run_at_once_with_a_journal() {
    let mut tried_twice = Vec::new();
    for line in [
        "SET key value",
        "INCR key",
        "RPUSH key value",
        "HSET key field value",
        "HSET a-longer-key-of-thirty-two-bytes field value",
        "HINCRBY key field 1",
        "HDEL key field",
        "SADD key member",
        "TL.DEFINE key ATTR level 4 ORDER ATTR level; TL.INSERT key 0 a level=1; TL.INSERT key 0 b level=2; TL.SET key a level=3",
        "TL.DEFINE key ATTR level 4; TL.PUSH key TAIL value level=1; TL.HIDE key value",
        "ZADD key 1 member",
        "XADD key * field value",
        "XADD a-longer-key-of-thirty-two-bytes MAXLEN ~ 1000 * field value",
        "XGROUP CREATE key group 0 MKSTREAM",
        "SETBIT key 7 1",
        "SETRANGE key 3 value",
        "APPEND key value",
        "INCRBYFLOAT key 0.5",
        "HINCRBYFLOAT key field 0.5",
        "PFADD key element",
        "GEOADD key 13.4 52.5 place",
        "BITFIELD key SET u8 0 1",
        "LPUSH key value",
        "ZINCRBY key 1 member",
        "Q.PUSH key message",
        "TL.DEFINE key ATTR level 4; TL.PUSH key TAIL value level=1",
        "XADD key 1-1 a 1; XGROUP CREATE key group 0; XREADGROUP GROUP group me STREAMS key >",
        "XADD key 1-1 a 1; XGROUP CREATE key group 0; XREADGROUP GROUP group me STREAMS key >; XACK key group 1-1",
        "XADD key 1-1 a 1; XADD key 1-2 a 1; XDEL key 1-1",
        "XADD key 1-1 a 1; XADD key 1-2 a 1; XTRIM key MAXLEN 1",
        "RPUSH key a b; LPOP key",
        "RPUSH key a b c; LREM key 1 b",
        "RPUSH key a b c; LSET key 1 d",
        "RPUSH key a b c; RPOPLPUSH key other-list",
        "SADD key a b; SREM key a",
        "SADD key a b; SMOVE key other-set a",
        "SADD key a b; SPOP key",
        "ZADD key 1 a 2 b; ZREM key a",
        "ZADD key 1 a 2 b; ZPOPMIN key",
        "HSET key a 1 b 2; HDEL key a",
        "HSET key a 1 b 2; HEXPIRE key 100 FIELDS 1 a",
        "SET key value; EXPIRE key 100",
        "SET key value; RENAME key new",
        "SET key value; GETDEL key",
        "Q.PUSH key a b; Q.RESERVE key",
        "TL.DEFINE key ATTR level 4; TL.PUSH key TAIL value level=1; TL.SET key value level=2",
        "TL.DEFINE key ATTR level 4; TL.PUSH key TAIL value level=1; TL.INCR key value level 2",
    ] {
        let world = World::new(&[]);
        let mut client = world.client();
        let (before, line) = line.rsplit_once("; ").unwrap_or(("", line));
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        // At first, the journal may have no room yet: another write waits for it.
        let mut runs_at_once = || {
            assert_eq!(client.call("FLUSHALL"), "+OK\r\n");
            assert_eq!(client.call("SET other value"), "+OK\r\n");
            before.split("; ").filter(|line| !line.is_empty()).for_each(|line| {
                let reply = client.call(line);
                assert!(!reply.starts_with('-'), "{line}: {reply}");
            });
            let mut output = Output::new();
            !matches!(client.send(&words, &mut output), Next::Slow(_))
        };
        if !(0..20).any(|_| runs_at_once()) {
            tried_twice.push(line);
        }
    }
    assert!(tried_twice.is_empty(), "{tried_twice:?}");
}
