//! DBSIZE RANDOMKEY SWAPDB FLUSHDB FLUSHALL: whole databases.
//!
//! A database is a number that maps to a table. Swapping two exchanges their tables, and flushing one gives it a new
//! table: the old one is freed later, in steps.

use crate::prelude::*;
use crate::spec::{KnownKeys, Sweep, SweepNext};

pub(crate) const COMMANDS: &[CommandSpec] = &[DBSIZE, RANDOMKEY, SWAPDB, FLUSHDB, FLUSHALL];

const DBSIZE: CommandSpec = CommandSpec {
    name: "DBSIZE",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:agg_sum"])],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Counts the keys of the database.",
    answer: "int: keys, expired ones that nobody met yet included",
    run: Run::Sweep(|_, _| Ok(Box::new(Size { keys_count: 0 }))),
};

const RANDOMKEY: CommandSpec = CommandSpec {
    name: "RANDOMKEY",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["request_policy:all_shards", "nondeterministic_output"])],
    group: Group::Generic,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns a random key.",
    answer: "bulk: the key; null: the database is empty",
    run: Run::Sweep(|_, random| Ok(Box::new(KeyDraw::new(random)))),
};

const SWAPDB: CommandSpec = CommandSpec {
    name: "SWAPDB",
    syntax: "index1 index2",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast, Flag::Dangerous],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "4.0.0",
    brief: "Swaps two databases for all connections at once.",
    answer: "simple: OK",
    run: Run::Gate(swapdb),
};

const FLUSHDB: CommandSpec = CommandSpec {
    name: "FLUSHDB",
    syntax: "[ASYNC | SYNC]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous, Flag::RemovesIndexes],
    facts: &[
        Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"]),
        Fact::History(&[("4.0.0", "Takes `ASYNC`."), ("6.2.0", "Takes `SYNC`.")]),
        Fact::Arguments(&[
            argument("0", "async", "", ""),
            argument("0.0", "", "", "4.0.0"),
            argument("0.1", "", "", "6.2.0"),
        ]),
    ],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Deletes all keys of the database.",
    answer: "simple: OK",
    run: Run::Gate(|tx, args, reply| {
        check_mode(args)?;
        empty(tx, tx.database());
        reply.ok();
        Ok(())
    }),
};

const FLUSHALL: CommandSpec = CommandSpec {
    name: "FLUSHALL",
    syntax: "[ASYNC | SYNC]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous, Flag::RemovesIndexes],
    facts: &[
        Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"]),
        Fact::History(&[("4.0.0", "Takes `ASYNC`."), ("6.2.0", "Takes `SYNC`.")]),
        Fact::Arguments(&[
            argument("0", "async", "", ""),
            argument("0.0", "", "", "4.0.0"),
            argument("0.1", "", "", "6.2.0"),
        ]),
    ],
    group: Group::Server,
    cost: "O(n), n the databases",
    since: "1.0.0",
    brief: "Deletes all keys of all databases.",
    answer: "simple: OK",
    run: Run::Gate(|tx, args, reply| {
        check_mode(args)?;
        let databases = tx.keyspace().map().databases();
        tx.need_room(u64::from(databases) * MAP_EFFECT_BYTES_MAX + INDEXES_EFFECT_BYTES_MAX)?;
        (0..databases).for_each(|database| empty(tx, database));
        reply.ok();
        Ok(())
    }),
};

/// The maximum size of the effect that gives a database another table, in bytes.
const MAP_EFFECT_BYTES_MAX: u64 = 16;
/// The maximum size of the effect that removes all indexes, in bytes.
const INDEXES_EFFECT_BYTES_MAX: u64 = 32;

/// ASYNC and SYNC are equivalent here: the keys are gone at once, their memory soon after.
fn check_mode(args: &Args) -> Result<(), Failure> {
    match args.len() {
        1 => Ok(()),
        2 if parse::is(args.get(1), "ASYNC") || parse::is(args.get(1), "SYNC") => Ok(()),
        _ => Err(Failure::Syntax),
    }
}

fn empty(tx: &mut Tx, database: u32) {
    let fresh = tx.keyspace().map().fresh();
    tx.put_map(database, fresh);
    if database == 0 {
        // Indexes are of database 0, and end with its keys.
        tx.remove_indexes();
    }
}

fn swapdb(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (least, greatest) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let one = parse::int_or(args.get(1), least, greatest, "ERR invalid first DB index")?;
    let other = parse::int_or(args.get(2), least, greatest, "ERR invalid second DB index")?;
    let map = tx.keyspace().map();
    let checked = |index: i64| u32::try_from(index).ok().filter(|index| *index < map.databases());
    let (Some(one), Some(other)) = (checked(one), checked(other)) else {
        return Err(Failure::text("ERR DB index is out of range"));
    };
    if one != other {
        let (table, other_table) = (map.table(one), map.table(other));
        tx.put_map(one, other_table);
        tx.put_map(other, table);
    }
    reply.ok();
    Ok(())
}

struct Size {
    keys_count: usize,
}

impl Sweep for Size {
    fn pass(&mut self, _: usize, known: KnownKeys) -> bool {
        if !known.is_rough {
            self.keys_count += known.keys as usize;
        }
        !known.is_rough
    }

    fn is_short(&self) -> bool {
        true
    }

    fn names_only(&self) -> bool {
        true
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        self.keys_count += tx.section(shard).map_or(0, |section| section.keys_count());
        SweepNext::Next
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        reply.int(self.keys_count as i64);
        Ok(())
    }
}

/// Draws a key of each shard; it replaces the previous one with a probability of its shard's share of all keys seen. So
/// each key is equally likely, however keys are distributed.
///
/// Shards of which the number is known well enough without a look are passed over. If one of them is finally drawn, we go
/// back to it; if it turns out to be empty, the draw restarts.
struct KeyDraw {
    random: u64,
    keys_count: usize,
    key: Option<Vec<u8>>,
    /// The drawn shard, if it was passed over.
    passed: Option<usize>,
    is_back: bool,
    was_vain: bool,
    /// Number of draws that restarted.
    restarts: u32,
}

/// Number of times a shard is probed for an unexpired key before it is searched.
const DRAWS_MAX: usize = 16;

/// The largest shard in which expired keys are excluded from the count before a draw.
const COUNTED_MAX: usize = 64;

/// Restarts after which shards whose keys may all have expired are looked at.
const RESTARTS_MAX: u32 = 3;

impl KeyDraw {
    fn new(random: u64) -> Self {
        Self { random, keys_count: 0, key: None, passed: None, is_back: false, was_vain: false, restarts: 0 }
    }

    /// Returns true if, among all keys so far and `keys` more, one of the new ones is drawn.
    fn draws(&mut self, keys: usize) -> bool {
        self.keys_count += keys;
        keys > 0 && ((u128::from(self.next()) * self.keys_count as u128) >> 64) < keys as u128
    }

    /// Returns the next number of a pseudorandom sequence.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ mixed >> 32
    }

    fn key_of(&mut self, tx: &mut Tx, shard: usize) -> Option<Vec<u8>> {
        let now = tx.now();
        for _ in 0..DRAWS_MAX {
            let entry = tx.section(shard)?.random(self.next())?;
            if entry.expires_at_ms().is_none_or(|at_ms| at_ms > now) {
                return Some(entry.key().to_vec());
            }
        }
        tx.scan(shard, 0).next().map(|(_, entry)| entry.key().to_vec())
    }
}

/// Returns the unexpired keys of a shard; for a large shard, all keys.
fn live_count(tx: &mut Tx, shard: usize) -> usize {
    let Some(section) = tx.section(shard) else { return 0 };
    let (keys_count, expire) = (section.keys_count(), section.expiring_count() > 0);
    if expire && keys_count <= COUNTED_MAX { tx.scan(shard, 0).count() } else { keys_count }
}

impl Sweep for KeyDraw {
    fn pass(&mut self, shard: usize, known: KnownKeys) -> bool {
        if self.was_vain {
            // The draw restarts: nothing more is counted in this one.
            return true;
        }
        let is_to_be_counted = known.keys <= COUNTED_MAX as u64 || self.restarts >= RESTARTS_MAX;
        if known.is_loaded && (known.is_rough || known.may_expire && is_to_be_counted) {
            return false;
        }
        let keys = known.keys.max(u64::from(known.is_rough)) as usize;
        let is_first = self.key.is_none() && self.passed.is_none();
        if self.draws(keys) || is_first && keys > 0 {
            self.passed = Some(shard);
        }
        true
    }

    fn is_short(&self) -> bool {
        true
    }

    fn go_back(&mut self) -> Option<usize> {
        if let Some(shard) = self.passed.take() {
            self.is_back = true;
            return Some(shard);
        }
        let is_vain = std::mem::take(&mut self.was_vain);
        is_vain.then(|| {
            *self = Self { restarts: self.restarts + 1, ..Self::new(self.next()) };
            0
        })
    }

    fn names_only(&self) -> bool {
        true
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        if std::mem::take(&mut self.is_back) {
            self.key = self.key_of(tx, shard);
            self.was_vain = self.key.is_none();
            return if self.was_vain { SweepNext::Next } else { SweepNext::Over };
        }
        let here = live_count(tx, shard);
        let is_first = self.key.is_none() && self.passed.is_none();
        if (self.draws(here) || is_first)
            && let Some(key) = self.key_of(tx, shard)
        {
            (self.key, self.passed) = (Some(key), None);
        }
        SweepNext::Next
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        match self.key {
            Some(key) => reply.bulk(&key),
            None => reply.null(),
        }
        Ok(())
    }
}
