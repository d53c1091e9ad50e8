//! MC.INCR MC.DECR: unsigned 64-bit decimal numbers.
//!
//! ```text
//! "10" - 1 = "9 "      a number with fewer digits is padded with spaces: the item keeps its length
//! "99" + 1 = "100"     a number with more digits makes it longer
//! ```

use super::{NOT_A_NUMBER, digits, look, write_line};
use crate::prelude::*;
use base::Ms;
use keyspace::{BINARY_KEY, Extras};
use values::string::DIGITS_MAX;
use wire::memcache::unsigned;

pub(crate) const COMMANDS: &[CommandSpec] = &[INCR, DECR];

const INCR: CommandSpec = CommandSpec {
    name: "MC.INCR",
    syntax: "key delta",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::ChangesNumber],
    facts: &[Fact::Item(ItemRequest::Increment)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Increments the number of an item, modulo 2^64: memcached's incr.",
    answer: "bulk: the sum; simple: NOT_FOUND",
    run: Run::Local(|tx, args, reply| count(tx, args, Direction::Up, reply)),
};

const DECR: CommandSpec = CommandSpec {
    name: "MC.DECR",
    syntax: "key delta",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::ChangesNumber],
    facts: &[Fact::Item(ItemRequest::Decrement)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Decrements the number of an item, down to 0: memcached's decr.",
    answer: "bulk: the difference; simple: NOT_FOUND",
    run: Run::Local(|tx, args, reply| count(tx, args, Direction::Down, reply)),
};

/// The direction of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

impl Direction {
    fn count(self, number: u64, delta: u64) -> u64 {
        match self {
            Self::Up => number.wrapping_add(delta),
            Self::Down => number.saturating_sub(delta),
        }
    }
}

fn count(tx: &mut Tx, args: &Args, direction: Direction, reply: &mut dyn Reply) -> Outcome {
    let delta = unsigned(args.get(2)).ok_or(Failure::text("CLIENT_ERROR invalid numeric delta argument"))?;
    match Counter::read(tx, args.get(1))? {
        Some(counter) => {
            let number = direction.count(counter.number, delta);
            counter.put(tx, args.get(1), number, 0)?;
            write_line(reply, &[digits(number, &mut itoa::Buffer::new())]);
        }
        None => reply.simple("NOT_FOUND"),
    }
    Ok(())
}

/// A numeric item.
pub(super) struct Counter {
    pub(super) number: u64,
    bytes_count: usize,
    pub(super) extras: Extras,
    has_extras: bool,
    pub(super) expires_at_ms: Option<Ms>,
}

impl Counter {
    /// Reads the counter under `key`, if there is an item.
    fn read(tx: &mut Tx<'_>, key: &[u8]) -> Result<Option<Self>, Failure> {
        Ok(Self::read_if(tx, key, |_| true)?.and_then(Result::ok))
    }

    /// Likewise, with an error if its extras do not satisfy `fits`.
    pub(super) fn read_if(
        tx: &mut Tx<'_>,
        key: &[u8],
        fits: impl FnOnce(Extras) -> bool,
    ) -> Result<Option<Result<Self, ()>>, Failure> {
        let Some((item, _)) = look(tx, key) else { return Ok(None) };
        // An empty item has no number and no matching version.
        if item.text.bytes_count() > 0 && !fits(item.extras) {
            return Ok(Some(Err(())));
        }
        // A value longer than a short string is no number, however it starts.
        let mut buffer = [0; DIGITS_MAX];
        let number = item.text.short(&mut buffer).and_then(unsigned).ok_or(NOT_A_NUMBER)?;
        let counter = Self {
            number,
            bytes_count: item.text.bytes_count(),
            extras: item.extras,
            has_extras: item.has_extras,
            expires_at_ms: item.expires_at_ms,
        };
        tx.exists(key);
        Ok(Some(Ok(counter)))
    }

    /// Stores `number` in its place, with a new version.
    pub(super) fn put(&self, tx: &mut Tx<'_>, key: &[u8], number: u64, cas: u64) -> Outcome {
        let mut buffer = itoa::Buffer::new();
        let mut text = digits(number, &mut buffer).to_vec();
        let grows = text.len() > self.bytes_count;
        text.resize(text.len().max(self.bytes_count), b' ');
        tx.need_room((2 * key.len() + text.len()) as u64 + 128)?;
        if !self.has_extras && cas == 0 {
            tx.string_mut(key, Absent::Leave)?.expect("just read").replace(&text);
            return Ok(());
        }
        // An item that grows is a new one, and not outdated.
        let signs = if grows { self.extras.signs & BINARY_KEY } else { self.extras.signs };
        tx.put_item(key, &text, self.expires_at_ms, Extras { flags: self.extras.flags, cas, signs });
        Ok(())
    }

    /// Returns the result of counting.
    pub(super) fn counted(&self, direction: Direction, delta: u64) -> u64 {
        direction.count(self.number, delta)
    }
}
