//! MC.METADUMP MC.CACHEDUMP: list the items.
//!
//! ```text
//! lru_crawler metadump all   key=k exp=-1 la=1795586172 cas=2 fetch=yes cls=1 size=61     each item, then END
//! stats cachedump 1 10       ITEM k [1 b; 0 s]                                            up to 10 items, then END
//! ```
//!
//! All items are in one class. Shards are visited one after another, each under its own lock.

use super::{BAD_FORMAT, CacheItem};
use crate::generic::names::Names;
use crate::generic::scan::{SHARD_SHIFT, VISIT_KEYS_MAX, walk};
use crate::prelude::*;
use crate::spec::{KnownKeys, Sweep, SweepNext};
use base::Ms;
use keyspace::FETCHED;
use std::io::Write as _;
use wire::memcache::UriEncoded;

pub(crate) const COMMANDS: &[CommandSpec] = &[METADUMP, CACHEDUMP];

const METADUMP: CommandSpec = CommandSpec {
    name: "MC.METADUMP",
    syntax: "class",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::Dangerous],
    facts: &[],
    group: Group::Memcached,
    cost: "O(n), n the keys of the database; in turns",
    since: "bobbin 0.1.0",
    brief: "Lists the metadata of all items: memcached's lru_crawler metadump.",
    answer: "array: a line `key=... exp=... la=... cas=... fetch=... cls=1 size=...` for each item, then END",
    run: Run::Sweep(|args, _| {
        let classes = args.get(1);
        let all = matches!(classes, b"all" | b"hash");
        let is_class =
            |class: &[u8]| wire::memcache::unsigned(class).is_some_and(|class| (1..CLASSES).contains(&class));
        if !all && !classes.split(|byte| *byte == b',').all(is_class) {
            return Err(Failure::text("BADCLASS invalid class id"));
        }
        let has_items = all || classes.split(|byte| *byte == b',').any(|class| class == b"1");
        Ok(Dump::begin(has_items, u64::MAX, usize::MAX, add_meta))
    }),
};

const CACHEDUMP: CommandSpec = CommandSpec {
    name: "MC.CACHEDUMP",
    syntax: "class limit",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::Dangerous],
    facts: &[],
    group: Group::Memcached,
    cost: "O(n), n the keys looked at; in turns",
    since: "bobbin 0.1.0",
    brief: "Lists items, up to 2 MB of lines: memcached's stats cachedump.",
    answer: "array: a line `ITEM key [bytes b; deadline s]` for each item, then END",
    run: Run::Sweep(|args, _| {
        let number = |at: usize| wire::memcache::unsigned(args.get(at)).ok_or(BAD_FORMAT);
        let (class, limit) = (number(1)?, number(2)?);
        if class >= CLASSES {
            return Err(Failure::text("CLIENT_ERROR Illegal slab id"));
        }
        let limit = if limit == 0 { u64::MAX } else { limit };
        Ok(Dump::begin(class == 1, limit, CACHEDUMP_BYTES_MAX, add_item))
    }),
};

/// Memcached's class numbers are below this.
const CLASSES: u64 = 64;
/// The maximum bytes of lines that memcached returns for a class.
const CACHEDUMP_BYTES_MAX: usize = 2 << 20;

/// Appends the line of an item.
type AddLine = fn(&mut Vec<u8>, &[u8], &CacheItem<'_>, Ms);

struct Dump {
    from_hash: u64,
    items_left: u64,
    bytes_left: usize,
    add_line: AddLine,
    lines: Names,
    line: Vec<u8>,
}

impl Dump {
    fn begin(has_items: bool, items_max: u64, bytes_max: usize, add_line: AddLine) -> Box<dyn Sweep> {
        let items_left = if has_items { items_max } else { 0 };
        let (lines, line) = (Names::default(), Vec::new());
        Box::new(Self { from_hash: 0, items_left, bytes_left: bytes_max, add_line, lines, line })
    }

    /// Adds an item's line, if there is space. Returns its length.
    fn take(&mut self, entry: keyspace::Entry<'_>, now: Ms) -> usize {
        let Some(item) = CacheItem::of(entry, now).filter(|_| self.items_left > 0) else { return 0 };
        self.line.clear();
        (self.add_line)(&mut self.line, entry.key(), &item, now);
        if self.line.len() > self.bytes_left {
            self.items_left = 0;
            return 0;
        }
        self.items_left -= 1;
        self.bytes_left -= self.line.len();
        self.lines.push(&self.line);
        self.line.len()
    }
}

impl Sweep for Dump {
    fn pass(&mut self, _: usize, known: KnownKeys) -> bool {
        known.are_none()
    }

    fn prepare(&mut self) {
        self.lines.prepare();
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        if self.items_left == 0 {
            return SweepNext::Over;
        }
        let (now, from_hash) = (tx.now(), self.from_hash.max((shard as u64) << SHARD_SHIFT));
        match walk(tx, shard, from_hash, &mut { VISIT_KEYS_MAX }, |entry| self.take(entry, now)) {
            None => SweepNext::Next,
            Some(prefix) => {
                self.from_hash = prefix;
                SweepNext::Again
            }
        }
    }

    fn finish(mut self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        self.lines.push(b"END");
        self.lines.write(reply);
        Ok(())
    }
}

fn add_item(line: &mut Vec<u8>, key: &[u8], item: &CacheItem<'_>, _: Ms) {
    let expires_at_s = item.expires_at_ms.map_or(0, |at_ms| at_ms / 1000);
    line.extend_from_slice(b"ITEM ");
    line.extend_from_slice(key);
    let _ = write!(line, " [{} b; {expires_at_s} s]", item.text.bytes_count());
}

fn add_meta(line: &mut Vec<u8>, key: &[u8], item: &CacheItem<'_>, now: Ms) {
    let _ = write!(line, "key={}", UriEncoded(key));
    let _ = match item.expires_at_ms {
        Some(at_ms) => write!(line, " exp={}", at_ms / 1000),
        None => write!(line, " exp=-1"),
    };
    let used_s = (now / 1000).saturating_sub(u64::from(item.idle_s));
    let fetched = if item.extras.signs & FETCHED == 0 { "no" } else { "yes" };
    let (cas, size) = (item.extras.cas, item.heap_bytes);
    let _ = write!(line, " la={used_s} cas={cas} fetch={fetched} cls=1 size={size}");
}
