//! MC.TOUCH MC.DELETE: an item's lifetime; and memcached's time format.

use super::{BAD_EXPTIME, look};
use crate::prelude::*;
use base::Ms;
use keyspace::FETCHED;
use wire::memcache::signed;

pub(crate) const COMMANDS: &[CommandSpec] = &[TOUCH, DELETE];

const TOUCH: CommandSpec = CommandSpec {
    name: "MC.TOUCH",
    syntax: "key exptime",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::Touch)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Sets the time to live of an item: memcached's touch.",
    answer: "simple: TOUCHED, NOT_FOUND",
    run: Run::Local(|tx, args, reply| {
        let lifetime = Lifetime::read(tx, args.get(2)).ok_or(BAD_EXPTIME)?;
        let there = look(tx, args.get(1)).is_some_and(|(_, entry)| {
            entry.give_sign(FETCHED);
            true
        });
        if there {
            tx.exists(args.get(1));
            lifetime.set(tx, args.get(1));
        }
        reply.simple(if there { "TOUCHED" } else { "NOT_FOUND" });
        Ok(())
    }),
};

const DELETE: CommandSpec = CommandSpec {
    name: "MC.DELETE",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::Delete)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Deletes an item: memcached's delete.",
    answer: "simple: DELETED, NOT_FOUND",
    run: Run::Local(|tx, args, reply| {
        let there = look(tx, args.get(1)).is_some();
        if there {
            tx.remove(args.get(1));
        }
        reply.simple(if there { "DELETED" } else { "NOT_FOUND" });
        Ok(())
    }),
};

/// Up to this many seconds, a time is relative to now, beyond it to the epoch.
const FROM_NOW_S_MAX: i64 = 30 * 24 * 60 * 60;

/// An item's lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// Unlimited.
    Ever,
    /// Until this time.
    Until(Ms),
    /// Expired.
    Over,
}

impl Lifetime {
    /// Parses it in memcached's format.
    pub(super) fn read(tx: &Tx<'_>, token: &[u8]) -> Option<Self> {
        signed(token).map(|exptime| Self::of(exptime, tx.now()))
    }

    /// Only the lowest 32 bits count, as a signed number: clients write -1 as 4294967295.
    pub(super) fn of(exptime: i64, now: Ms) -> Self {
        let exptime = i64::from(exptime as i32);
        let Ok(seconds) = u64::try_from(exptime) else { return Self::Over };
        let at_ms = match exptime {
            0 => return Self::Ever,
            1..=FROM_NOW_S_MAX => now + seconds * 1000,
            _ => seconds * 1000,
        };
        if at_ms <= now { Self::Over } else { Self::Until(at_ms) }
    }

    /// Returns the deadline, if it is in the future.
    pub(super) fn until(self) -> Option<Ms> {
        match self {
            Self::Until(at_ms) => Some(at_ms),
            Self::Ever | Self::Over => None,
        }
    }

    /// Returns the deadline; now, if expired.
    pub(super) fn expires_at_ms(self, now: Ms) -> Option<Ms> {
        match self {
            Self::Ever => None,
            Self::Until(at_ms) => Some(at_ms),
            Self::Over => Some(now),
        }
    }

    /// Sets the lifetime of the item under `key`, which exists.
    pub(super) fn set(self, tx: &mut Tx<'_>, key: &[u8]) {
        match self {
            Self::Ever if tx.peek(key).is_some_and(|entry| entry.expires_at_ms().is_none()) => {}
            lifetime => {
                let expires_at_ms = lifetime.expires_at_ms(tx.now());
                tx.set_expiry(key, expires_at_ms);
            }
        }
    }
}

/// Returns the seconds left of an item with this exptime, as memcached's `watch` shows them: 0 is unlimited, -1
/// expired.
pub fn exptime_seconds_left(exptime: i64, now: Ms) -> i64 {
    match Lifetime::of(exptime, now) {
        Lifetime::Ever => 0,
        Lifetime::Over => -1,
        lifetime => seconds_left(lifetime.until(), now).map_or(0, |seconds| seconds as i64),
    }
}

/// Returns the seconds left, rounded up; `None` is unlimited.
pub(super) fn seconds_left(expires_at_ms: Option<Ms>, now: Ms) -> Option<u64> {
    expires_at_ms.map(|at_ms| at_ms.saturating_sub(now).div_ceil(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exptime_is_relative_or_absolute_as_in_memcached() {
        const NOW: Ms = 1_700_000_000_500;
        for (exptime, expected) in [
            (0, Lifetime::Ever),
            (-1, Lifetime::Over),
            (i64::from(i32::MIN), Lifetime::Over),
            (i64::MIN, Lifetime::Ever),
            (1, Lifetime::Until(NOW + 1000)),
            (2_592_000, Lifetime::Until(NOW + 2_592_000_000)),
            (2_592_001, Lifetime::Over),
            (1_700_000_000, Lifetime::Over),
            (1_700_000_001, Lifetime::Until(1_700_000_001_000)),
            (i64::from(i32::MAX), Lifetime::Until(2_147_483_647_000)),
            (i64::from(i32::MAX) + 1, Lifetime::Over),
            (i64::from(u32::MAX), Lifetime::Over),
            (99_999_999_999, Lifetime::Over),
            (i64::MAX, Lifetime::Over),
        ] {
            assert_eq!(Lifetime::of(exptime, NOW), expected, "{exptime}");
        }
        assert_eq!(seconds_left(Some(NOW + 1001), NOW), Some(2));
        assert_eq!((seconds_left(Some(NOW), NOW), seconds_left(None, NOW)), (Some(0), None));
    }
}
