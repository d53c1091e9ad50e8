//! MC.SET MC.ADD MC.REPLACE MC.APPEND MC.PREPEND MC.CAS: store an item, if the key meets a condition.

use super::life::Lifetime;
use super::{BAD_FORMAT, TOO_LARGE, look, number};
use crate::prelude::*;
use base::Ms;
use keyspace::{BINARY_KEY, CLAIMED, Extras, STALE};
use values::LongString;
use values::string::INLINE_BYTES_MAX;

pub(crate) const COMMANDS: &[CommandSpec] = &[SET, ADD, REPLACE, APPEND, PREPEND, CAS];

const SET: CommandSpec = CommandSpec {
    name: "MC.SET",
    syntax: "key flags exptime value",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[Fact::Item(ItemRequest::Store)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Stores an item, whatever the key held: memcached's set.",
    answer: "simple: STORED",
    run: Run::Local(|tx, args, reply| put_classic(tx, args, Mode::Set, reply)),
};

const ADD: CommandSpec = CommandSpec {
    name: "MC.ADD",
    syntax: "key flags exptime value",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[Fact::Item(ItemRequest::Store)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Stores an item if the key is absent: memcached's add.",
    answer: "simple: STORED, NOT_STORED",
    run: Run::Local(|tx, args, reply| put_classic(tx, args, Mode::Add, reply)),
};

const REPLACE: CommandSpec = CommandSpec {
    name: "MC.REPLACE",
    syntax: "key flags exptime value",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[Fact::Item(ItemRequest::Store)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Replaces an item that exists: memcached's replace.",
    answer: "simple: STORED, NOT_STORED",
    run: Run::Local(|tx, args, reply| put_classic(tx, args, Mode::Replace, reply)),
};

const APPEND: CommandSpec = CommandSpec {
    name: "MC.APPEND",
    syntax: "key flags exptime value",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Item(ItemRequest::Store)],
    group: Group::Memcached,
    cost: "O(n), n the bytes put",
    since: "bobbin 0.1.0",
    brief: "Appends bytes to an item: memcached's append.",
    answer: "simple: STORED, NOT_STORED",
    run: Run::Local(|tx, args, reply| put_classic(tx, args, Mode::Append, reply)),
};

const PREPEND: CommandSpec = CommandSpec {
    name: "MC.PREPEND",
    syntax: "key flags exptime value",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Item(ItemRequest::Store)],
    group: Group::Memcached,
    cost: "O(n), n the bytes of the item",
    since: "bobbin 0.1.0",
    brief: "Prepends bytes to an item: memcached's prepend.",
    answer: "simple: STORED, NOT_STORED",
    run: Run::Local(|tx, args, reply| put_classic(tx, args, Mode::Prepend, reply)),
};

const CAS: CommandSpec = CommandSpec {
    name: "MC.CAS",
    syntax: "key flags exptime version value",
    arity: Arity::Exactly(6),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[Fact::Item(ItemRequest::CompareAndSwap)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Replaces an item if it has a certain version: memcached's cas.",
    answer: "simple: STORED, EXISTS, NOT_FOUND",
    run: Run::Local(|tx, args, reply| put_classic(tx, args, Mode::Set, reply)),
};

/// The required state of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Anything.
    Set,
    /// Absent.
    Add,
    /// An item.
    Replace,
    /// An item, which is appended to.
    Append,
    /// An item, which is prepended to.
    Prepend,
}

/// A request to store an item.
pub(super) struct StoreRequest<'a> {
    pub(super) mode: Mode,
    pub(super) value: &'a [u8],
    pub(super) flags: u32,
    pub(super) lifetime: Lifetime,
    /// The required version.
    pub(super) compared: Option<u64>,
    /// True if a value older than the current version is also stored, as outdated.
    pub(super) may_be_stale: bool,
    /// True if its key was given in base64.
    pub(super) binary_key: bool,
    /// The number of its version, if requested.
    pub(super) cas: u64,
    /// The lifetime of an item created by appending to an absent key.
    pub(super) made: Option<Lifetime>,
}

impl Default for StoreRequest<'_> {
    fn default() -> Self {
        Self {
            mode: Mode::Set,
            value: b"",
            flags: 0,
            lifetime: Lifetime::Ever,
            compared: None,
            may_be_stale: false,
            binary_key: false,
            cas: 0,
            made: None,
        }
    }
}

/// The result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreResult {
    /// Stored.
    Yes,
    /// The key is not in the required state.
    No,
    /// The version differs.
    Exists,
    /// There is nothing to compare with.
    NotFound,
}

fn put_classic(tx: &mut Tx, args: &Args, mode: Mode, reply: &mut dyn Reply) -> Outcome {
    let compared = if args.len() == 6 { Some(number(args.get(4))?) } else { None };
    let order = StoreRequest {
        mode,
        value: args.get(args.len() - 1),
        flags: number(args.get(2))? as u32,
        lifetime: Lifetime::read(tx, args.get(3)).ok_or(BAD_FORMAT)?,
        compared,
        ..StoreRequest::default()
    };
    reply.simple(match put(tx, args.get(1), &order)? {
        StoreResult::Yes => "STORED",
        StoreResult::No => "NOT_STORED",
        StoreResult::Exists => "EXISTS",
        StoreResult::NotFound => "NOT_FOUND",
    });
    Ok(())
}

/// Stores an item, if the key is in the required state.
pub(super) fn put(tx: &mut Tx<'_>, key: &[u8], order: &StoreRequest<'_>) -> Result<StoreResult, Failure> {
    if order.mode == Mode::Set && order.compared.is_none() {
        put_new(tx, key, order, order.lifetime, 0);
        return Ok(StoreResult::Yes);
    }
    let is_taken = tx.exists(key);
    let there = look(tx, key).map(|(item, _)| (item.extras, item.expires_at_ms));
    match (order.mode, there) {
        (Mode::Add, _) if is_taken => return Ok(StoreResult::No),
        (Mode::Add, _) => put_new(tx, key, order, order.lifetime, 0),
        (Mode::Set | Mode::Replace, None) => {
            return Ok(if order.compared.is_some() { StoreResult::NotFound } else { StoreResult::No });
        }
        (Mode::Append | Mode::Prepend, None) if let Some(lifetime) = order.made.filter(|_| !is_taken) => {
            put_new(tx, key, order, lifetime, 0);
        }
        (Mode::Append | Mode::Prepend, None) => return Ok(StoreResult::No),
        (mode, Some((extras, expires_at_ms))) => match Comparison::of(order, extras) {
            Comparison::Differs => return Ok(StoreResult::Exists),
            Comparison::IsOlder if mode == Mode::Append || mode == Mode::Prepend => return Ok(StoreResult::Exists),
            Comparison::IsOlder => {
                let lifetime = expires_at_ms.map_or(Lifetime::Ever, Lifetime::Until);
                put_new(tx, key, order, lifetime, STALE | extras.signs & CLAIMED);
            }
            Comparison::Fits => match mode {
                Mode::Append => append(tx, key, order)?,
                Mode::Prepend => prepend(tx, key, order, (extras, expires_at_ms))?,
                _ => put_new(tx, key, order, order.lifetime, 0),
            },
        },
    }
    Ok(StoreResult::Yes)
}

/// Comparison of the current version with the required one.
enum Comparison {
    Fits,
    /// The value was derived from an older version.
    IsOlder,
    Differs,
}

impl Comparison {
    fn of(order: &StoreRequest<'_>, extras: Extras) -> Self {
        match order.compared {
            None => Self::Fits,
            // No version has this number: full stores compare it even so, appends do not.
            Some(0) if order.mode == Mode::Append || order.mode == Mode::Prepend => Self::Fits,
            Some(0) => Self::Differs,
            Some(compared) if compared == extras.cas => Self::Fits,
            // A version without a number is newer than all numbered ones.
            Some(compared) if order.may_be_stale && (compared < extras.cas || extras.cas == 0) => Self::IsOlder,
            Some(_) => Self::Differs,
        }
    }
}

fn put_new(tx: &mut Tx<'_>, key: &[u8], order: &StoreRequest<'_>, lifetime: Lifetime, signs: u8) {
    let signs = if order.binary_key { signs | BINARY_KEY } else { signs };
    let extras = Extras { flags: order.flags, cas: order.cas, signs };
    match lifetime {
        Lifetime::Over => {
            tx.remove(key);
        }
        lifetime => tx.put_item(key, order.value, lifetime.expires_at_ms(tx.now()), extras),
    }
}

fn append(tx: &mut Tx<'_>, key: &[u8], order: &StoreRequest<'_>) -> Result<(), Failure> {
    // The version number has its own record.
    tx.need_room((2 * key.len() + order.value.len()) as u64 + 128)?;
    let mut text = tx.string_mut(key, Absent::Leave)?.expect("just seen");
    checked_bytes(text.bytes_count(), order.value)?;
    text.append(order.value);
    if order.cas != 0 {
        let extras = extras_after(tx, key, order);
        tx.put_extras(key, extras);
    }
    Ok(())
}

/// Returns the extras of a changed item, with a new version.
fn extras_after(tx: &mut Tx<'_>, key: &[u8], order: &StoreRequest<'_>) -> Extras {
    let extras = super::extras_of(tx, key).expect("just altered");
    Extras { cas: order.cas, ..extras }
}

fn prepend(
    tx: &mut Tx<'_>,
    key: &[u8],
    order: &StoreRequest<'_>,
    (extras, expires_at_ms): (Extras, Option<Ms>),
) -> Result<(), Failure> {
    let extras = Extras { flags: extras.flags, cas: order.cas, signs: 0 };
    let text = tx.string(key)?.expect("just seen");
    let bytes_count = checked_bytes(text.bytes_count(), order.value)?;
    if bytes_count <= INLINE_BYTES_MAX {
        let joined = [order.value, &text.to_vec()].concat();
        tx.need_room((2 * key.len() + joined.len()) as u64 + 128)?;
        tx.put_item(key, &joined, expires_at_ms, extras);
        return Ok(());
    }
    // All pieces are rewritten.
    let pieces = (bytes_count / values::long_string::PIECE_BYTES) as u64;
    tx.expect_work(pieces)?;
    let mut joined = LongString::of(order.value);
    tx.string(key)?.expect("just seen").for_each_piece(|piece| joined.append(piece));
    Ok(tx.put_long_item(key, joined, expires_at_ms, extras)?)
}

/// Returns the sum, if an item may be that long.
fn checked_bytes(bytes_count: usize, value: &[u8]) -> Result<usize, Failure> {
    let sum = bytes_count + value.len();
    if sum as u64 > values::limits::ITEM_BYTES.get() { Err(TOO_LARGE) } else { Ok(sum) }
}
