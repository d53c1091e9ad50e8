//! MC.MG MC.MGT MC.MD MC.MA MC.ME: items with the requested metadata.
//!
//! An item that is outdated (`MC.MD key I`), about to expire (`R`) or created on a miss (`N`) is returned with `W` to
//! the first client, which should recache it. Others get it with `Z` meanwhile.

use super::count::{Counter, Direction};
use super::flag::RequestFlags;
use super::life::{Lifetime, seconds_left};
use super::{CacheItem, add_key, extras_of, look, note_fetched, versioned, write_line, write_value};
use crate::prelude::*;
use keyspace::{BINARY_KEY, CLAIMED, Extras, FETCHED, STALE};
use smallvec::SmallVec;
use values::StringValue;

pub(crate) const COMMANDS: &[CommandSpec] = &[MG, MGT, MD, MA, ME];

/// Flags of mg that may change the item, or need more than the common metadata.
const TAKING: &[u8] = b"cEhNRT";

const MG: CommandSpec = CommandSpec {
    name: "MC.MG",
    syntax: "key [flag ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::MetaGet)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns an item: memcached's mg, without the flags c E h N R T.",
    answer: "bulk: HD or EN and what flags ask for; with v, array: the line VA and the string; null: silence was asked for",
    run: Run::Local(|tx, args, reply| {
        let asked = RequestFlags::read(tx, args.from(2).iter())?;
        if asked.has_any(TAKING) {
            return Err(Failure::text("CLIENT_ERROR flags c, E, h, N, R and T are for MC.MGT"));
        }
        write_item(tx, args.get(1), &asked, false, reply);
        Ok(())
    }),
};

const MGT: CommandSpec = CommandSpec {
    name: "MC.MGT",
    syntax: "key [flag ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::MetaGetAndTouch)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns an item and may change it: memcached's mg, with any flags.",
    answer: "bulk: HD or EN and what flags ask for; with v, array: the line VA and the string; null: silence was asked for",
    run: Run::Local(take),
};

const MD: CommandSpec = CommandSpec {
    name: "MC.MD",
    syntax: "key [flag ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::MetaDelete)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Deletes an item, or marks it stale: memcached's md.",
    answer: "bulk: HD, NF or EX and what flags ask for; null: silence was asked for",
    run: Run::Local(meta_delete),
};

const MA: CommandSpec = CommandSpec {
    name: "MC.MA",
    syntax: "key [flag ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::ChangesNumber],
    facts: &[Fact::Item(ItemRequest::MetaArithmetic)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Increments or decrements an item: memcached's ma.",
    answer: "bulk: HD, NF or EX and what flags ask for; with v, array: the line VA and the number; null: silence",
    run: Run::Local(meta_count),
};

const ME: CommandSpec = CommandSpec {
    name: "MC.ME",
    syntax: "key [flag ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::MetaDebug)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns the metadata of an item: memcached's me.",
    answer: "bulk: the line `ME key exp=... la=... cas=... fetch=... cls=1 size=...`, or EN",
    run: Run::Local(meta_debug),
};

// ---- mg ----

fn take(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let asked = RequestFlags::read(tx, args.from(2).iter())?;
    // Extras and a deadline have their own records.
    tx.need_room(2 * key.len() as u64 + 192)?;
    let there = look(tx, key).map(|(item, _)| (item.extras, item.has_extras));
    let mut made = false;
    match there {
        None if let Some(lifetime) = asked.vivified.filter(|_| !tx.exists(key)) => {
            made = vivify(tx, key, &asked, lifetime);
        }
        Some((extras, has_extras)) => {
            if asked.has_any(b"c") {
                versioned(tx, key, extras);
            } else if !has_extras && asked.has_any(b"hR") {
                tx.put_extras(key, Extras::default());
            }
        }
        None => {}
    }
    if !write_item(tx, key, &asked, made, reply) {
        return Ok(());
    }
    // For a created item the last of both flags counts.
    if let Some(lifetime) = asked.lifetime.filter(|_| !made || asked.comes_last(b'T', b'N')) {
        lifetime.set(tx, key);
    }
    Ok(())
}

/// Creates the missing item. Returns whether it is alive.
fn vivify(tx: &mut Tx<'_>, key: &[u8], asked: &RequestFlags<'_>, lifetime: Lifetime) -> bool {
    let cas = match asked.version {
        Some(version) => version,
        None if asked.has_any(b"c") => tx.next_cas(key),
        None => 0,
    };
    if lifetime == Lifetime::Over {
        return false;
    }
    tx.put_item(key, b"", lifetime.expires_at_ms(tx.now()), Extras { flags: 0, cas, signs: CLAIMED });
    true
}

/// Replies with the item. Returns whether there is one. `made` means this request created it.
fn write_item(tx: &mut Tx<'_>, key: &[u8], asked: &RequestFlags<'_>, made: bool, reply: &mut dyn Reply) -> bool {
    let (keyspace, now, touches) = (tx.keyspace(), tx.now(), tx.touches());
    let Some((item, entry)) = look(tx, key) else {
        if asked.quiet {
            reply.null();
        } else {
            write_line(reply, &[&asked.echoed(b"EN", key)]);
        }
        return false;
    };
    let mut line = SmallVec::<[u8; 64]>::new();
    if asked.value {
        add_number(&mut line, b"VA ", item.text.bytes_count() as u64);
    } else {
        line.extend_from_slice(b"HD");
    }
    // A new lifetime is visible to the flags after it.
    let mut expires_at_ms = item.expires_at_ms.filter(|_| !made);
    let mut wins = made;
    for flag in asked.iter() {
        match flag[0] {
            b'T' => expires_at_ms = asked.lifetime.expect("it was read").expires_at_ms(now),
            b'N' if made => expires_at_ms = item.expires_at_ms,
            b'R' => {
                let bound = asked.recached.expect("it was read").expires_at_ms(now);
                let (left, bound) = (seconds_left(expires_at_ms, now), seconds_left(bound, now));
                let is_soon = left.zip(bound).is_some_and(|(left, bound)| left < bound);
                wins |= !made && is_soon && item.extras.signs & CLAIMED == 0;
            }
            b't' => add_seconds_left(&mut line, seconds_left(expires_at_ms, now)),
            b'k' => add_key(&mut line, key, item.extras),
            b'O' => asked.echo(&mut line, flag, key),
            letter => add_fact(&mut line, letter, &item),
        }
    }
    let was_claimed = !made && item.extras.signs & CLAIMED != 0;
    if item.extras.signs & STALE != 0 && !was_claimed {
        wins = true;
    }
    // Among several concurrent clients, only one wins.
    let loses = wins && !made && !entry.give_sign(CLAIMED);
    let wins = wins && !loses;
    if was_claimed || loses {
        line.extend_from_slice(b" Z");
    }
    if item.extras.signs & STALE != 0 {
        line.extend_from_slice(b" X");
    }
    if wins {
        line.extend_from_slice(b" W");
    }
    if !asked.no_update {
        note_fetched(entry, now, touches);
    }
    if asked.value {
        write_value(reply, &[&line], item.text, || keyspace.pin(key));
    } else {
        write_line(reply, &[&line]);
    }
    true
}

fn add_number(line: &mut SmallVec<[u8; 64]>, before: &[u8], number: u64) {
    line.extend_from_slice(before);
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn add_seconds_left(line: &mut SmallVec<[u8; 64]>, seconds: Option<u64>) {
    match seconds {
        None => line.extend_from_slice(b" t-1"),
        Some(seconds) => add_number(line, b" t", seconds),
    }
}

/// Appends a fact about an item, if a flag's letter requests one.
fn add_fact(line: &mut SmallVec<[u8; 64]>, letter: u8, item: &CacheItem<'_>) {
    let fact = match letter {
        b's' => item.text.bytes_count() as u64,
        b'c' => item.extras.cas,
        b'f' => u64::from(item.extras.flags),
        b'l' => u64::from(item.idle_s),
        b'h' => u64::from(item.extras.signs & FETCHED != 0),
        _ => return,
    };
    add_number(line, &[b' ', letter], fact);
}

// ---- md ----

/// Parses flags, with the error of these two commands.
fn asked_tersely<'a>(tx: &Tx<'_>, args: &Args<'a>) -> Result<RequestFlags<'a>, Failure> {
    RequestFlags::read(tx, args.from(2).iter()).map_err(|failure| match failure {
        Failure::Text(text) if text.contains("opaque") => Failure::Text(text),
        _ => Failure::text("CLIENT_ERROR invalid or duplicate flag"),
    })
}

fn meta_delete(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let asked = asked_tersely(tx, args)?;
    tx.need_room(2 * key.len() as u64 + 128)?;
    let there = look(tx, key).map(|(item, _)| (item.extras, item.expires_at_ms));
    let Some((extras, expires_at_ms)) = there else {
        write_line(reply, &[&asked.echoed(b"NF", key)]);
        return Ok(());
    };
    if asked.compared.is_some_and(|compared| compared != extras.cas || compared == 0) {
        write_line(reply, &[&asked.echoed(b"EX", key)]);
        return Ok(());
    }
    let cas = asked.version.unwrap_or(0);
    if asked.emptied {
        let signs = extras.signs & BINARY_KEY | if asked.stale { STALE } else { 0 };
        tx.put_item(key, b"", expires_at_ms, Extras { flags: 0, cas, signs });
    } else if asked.stale {
        tx.put_extras(key, Extras { cas, signs: (extras.signs | STALE) & !CLAIMED, ..extras });
    } else {
        tx.remove(key);
    }
    if (asked.emptied || asked.stale)
        && let Some(lifetime) = asked.lifetime
    {
        lifetime.set(tx, key);
    }
    if asked.quiet {
        reply.null();
    } else {
        write_line(reply, &[&asked.echoed(b"HD", key)]);
    }
    Ok(())
}

// ---- ma ----

fn meta_count(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let asked = asked_tersely(tx, args)?;
    let direction = match asked.mode {
        None | Some(b'I' | b'i' | b'+') => Direction::Up,
        Some(b'D' | b'd' | b'-') => Direction::Down,
        Some(_) => return Err(Failure::text("CLIENT_ERROR invalid mode for ma M token")),
    };
    let counter = Counter::read_if(tx, key, |extras| {
        asked.compared.is_none_or(|compared| compared == extras.cas || compared == 0)
    })?;
    let counter = match counter {
        Some(Ok(counter)) => Some(counter),
        Some(Err(())) => {
            write_line(reply, &[&asked.echoed(b"EX", key)]);
            return Ok(());
        }
        None if asked.vivified.is_none() || tx.exists(key) => {
            write_line(reply, &[&asked.echoed(b"NF", key)]);
            return Ok(());
        }
        None => None,
    };
    // A deadline has its own record.
    tx.need_room(3 * key.len() as u64 + 256)?;
    let cas = match asked.version {
        Some(version) => version,
        None if asked.has_any(b"c") => tx.next_cas(key),
        None => 0,
    };
    let (number, before_ms) = match &counter {
        Some(counter) => (counter.counted(direction, asked.delta), counter.expires_at_ms),
        None => (asked.initial, None),
    };
    let is_made = counter.is_none();
    let after_ms = write_count(tx, key, &asked, counter, number, cas)?;
    if asked.quiet && !is_made {
        reply.null();
        return Ok(());
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    let mut line = SmallVec::<[u8; 64]>::new();
    if asked.value {
        add_number(&mut line, b"VA ", digits.len() as u64);
    } else {
        line.extend_from_slice(b"HD");
    }
    let mut expires_at_ms = before_ms;
    for flag in asked.iter() {
        match flag[0] {
            b'T' => expires_at_ms = asked.lifetime.expect("it was read").expires_at_ms(tx.now()),
            b'N' if is_made => expires_at_ms = after_ms,
            b't' => add_seconds_left(&mut line, seconds_left(expires_at_ms, tx.now())),
            b'c' => add_number(&mut line, b" c", cas),
            _ => asked.echo(&mut line, flag, key),
        }
    }
    if asked.value {
        let keyspace = tx.keyspace();
        write_value(reply, &[&line], StringValue::Bytes(digits), || keyspace.pin(key));
    } else {
        write_line(reply, &[&line]);
    }
    Ok(())
}

/// Stores the number; returns the resulting deadline if the item was created.
fn write_count(
    tx: &mut Tx<'_>,
    key: &[u8],
    asked: &RequestFlags<'_>,
    counter: Option<Counter>,
    number: u64,
    cas: u64,
) -> Result<Option<base::Ms>, Failure> {
    match counter {
        Some(counter) => {
            counter.put(tx, key, number, cas)?;
            if let Some(lifetime) = asked.lifetime {
                lifetime.set(tx, key);
            }
            Ok(None)
        }
        None => {
            let lifetime = if asked.comes_last(b'T', b'N') { asked.lifetime } else { asked.vivified };
            let lifetime = lifetime.unwrap_or(Lifetime::Ever);
            let expires_at_ms = lifetime.expires_at_ms(tx.now());
            if lifetime != Lifetime::Over {
                let text = number.to_string();
                tx.put_item(key, text.as_bytes(), expires_at_ms, Extras { flags: 0, cas, signs: 0 });
            }
            Ok(asked.vivified.and_then(|lifetime| lifetime.expires_at_ms(tx.now())))
        }
    }
}

// ---- me ----

fn meta_debug(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, now) = (args.get(1), tx.now());
    tx.need_room(key.len() as u64 + 128)?;
    let Some(extras) = extras_of(tx, key) else {
        write_line(reply, &[b"EN"]);
        return Ok(());
    };
    versioned(tx, key, extras);
    let Some((item, _)) = look(tx, key) else { return Ok(()) };
    let mut name = SmallVec::<[u8; 64]>::new();
    if item.extras.signs & BINARY_KEY == 0 {
        name.extend_from_slice(key);
    } else {
        let mut text = Vec::new();
        wire::memcache::encode_base64(&mut text, key);
        name.extend_from_slice(&text);
    }
    let left = seconds_left(item.expires_at_ms, now).map_or("-1".to_owned(), |seconds| seconds.to_string());
    let fetched = if item.extras.signs & FETCHED == 0 { "no" } else { "yes" };
    let facts = format!(
        " exp={left} la={} cas={} fetch={fetched} cls=1 size={}",
        item.idle_s, item.extras.cas, item.heap_bytes
    );
    write_line(reply, &[b"ME ", &name, facts.as_bytes()]);
    Ok(())
}
