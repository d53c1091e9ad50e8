//! Notes of what a tx does to keys, for whoever is to be told of it: keyspace notifications are made of them.
//!
//! ```text
//! guard --change--> effect --Effect::event--> Note: which run of which command, key, what   --> commands: names of events
//! ```
//!
//! A tx takes notes only if it is asked to. They go with it: what is abandoned is told to nobody. Which of them becomes
//! which event is written beside the commands, in `commands`; here is only what an effect is called if its command has no name of
//! its own for it.

use crate::effect::event;
use crate::section::{Entry, is_live};
use base::Ms;
use std::fmt;

/// Classes of events, as the letters of `notify-keyspace-events` name them, and the two ways in which they are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes(u32);

/// Every class with its letter, in the order in which they are shown.
const LETTERS: [(u8, Classes); 14] = [
    (b'g', Classes::GENERIC),
    (b'$', Classes::STRING),
    (b'l', Classes::LIST),
    (b's', Classes::SET),
    (b'h', Classes::HASH),
    (b'z', Classes::SORTED),
    (b'x', Classes::EXPIRED),
    (b'e', Classes::EVICTED),
    (b't', Classes::STREAM),
    (b'd', Classes::MODULE),
    (b'n', Classes::NEW),
    (b'K', Classes::KEYSPACE),
    (b'E', Classes::KEYEVENT),
    (b'm', Classes::MISSED),
];

impl Classes {
    /// By channels that name the key.
    pub const KEYSPACE: Self = Self(1);
    /// By channels that name the event.
    pub const KEYEVENT: Self = Self(1 << 1);
    /// What may happen to a key of any kind.
    pub const GENERIC: Self = Self(1 << 2);
    /// Of texts.
    pub const STRING: Self = Self(1 << 3);
    /// Of lists.
    pub const LIST: Self = Self(1 << 4);
    /// Of sets.
    pub const SET: Self = Self(1 << 5);
    /// Of hashes.
    pub const HASH: Self = Self(1 << 6);
    /// Of sorted sets.
    pub const SORTED: Self = Self(1 << 7);
    /// A key's time has come.
    pub const EXPIRED: Self = Self(1 << 8);
    /// A key was removed for want of memory.
    pub const EVICTED: Self = Self(1 << 9);
    /// Of streams.
    pub const STREAM: Self = Self(1 << 10);
    /// Somebody looked for a key that is absent.
    pub const MISSED: Self = Self(1 << 11);
    /// Of modules.
    pub const MODULE: Self = Self(1 << 13);
    /// A key that was absent is there.
    pub const NEW: Self = Self(1 << 14);
    /// What the letter `A` stands for: all but `m` and `n`.
    const ALL: Self = Self(0b10_0111_1111_1100);

    /// Reads letters, in any order; `None` if one of them stands for nothing.
    pub fn parse(letters: &str) -> Option<Self> {
        letters.bytes().try_fold(Self::default(), |classes, letter| match letter {
            b'A' => Some(classes.with(Self::ALL)),
            letter => LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, class)| classes.with(*class)),
        })
    }

    /// These and those.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether any of `others` is among them.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// As a number, for an atomic.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// What [`Classes::bits`] gave.
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether any event is told in any way.
    pub const fn tells(self) -> bool {
        self.has(Self::KEYSPACE.with(Self::KEYEVENT)) && self.0 > 3
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_all = self.0 & Self::ALL.0 == Self::ALL.0;
        if has_all {
            to.write_str("A")?;
        }
        let shown = LETTERS.iter().filter(|(_, class)| self.has(*class) && !(has_all && Self::ALL.has(*class)));
        shown.into_iter().try_for_each(|(letter, _)| write!(to, "{}", char::from(*letter)))
    }
}

/// What happened to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Somebody looked for it, and it was absent.
    Missed,
    /// Its time had come, and it was removed.
    Expired,
    /// The time of all its fields had come, and it was removed.
    Spent,
    /// The time of some of its fields had come, and they were removed.
    FieldsExpired,
    /// It was absent, and comes with the change that is noted next.
    Created,
    /// The whole value that is put next takes the place of another.
    Replaced,
    /// It was changed; so the effect is called.
    Changed(Classes, &'static str),
    /// The change noted before left nothing of it.
    Emptied,
}

/// One note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Counts the runs of commands in the tx.
    pub run: u32,
    /// The command that ran, as [`crate::Tx::begin_command`] was told.
    pub command: u16,
    /// Its database.
    pub database: u32,
    /// The key.
    pub key: Box<[u8]>,
    /// What happened.
    pub deed: Deed,
}

/// How a key stood before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stood {
    Absent,
    Expired,
    Spent,
    There,
}

impl Stood {
    /// How an entry stands for those who look at `now`.
    pub(crate) fn of(entry: Option<Entry<'_>>, now: Ms) -> Self {
        match entry {
            None => Self::Absent,
            Some(entry) if is_live(entry, now) => Self::There,
            Some(entry) if entry.expires_at_ms().is_some_and(|at_ms| at_ms <= now) => Self::Expired,
            Some(_) => Self::Spent,
        }
    }
}

/// The notes of one tx.
#[derive(Default)]
pub(crate) struct KeyEvents {
    run: u32,
    command: u16,
    /// Whether keys that are looked for in vain are noted.
    pub(crate) misses: bool,
    pub(crate) list: Vec<Note>,
}

impl KeyEvents {
    /// Another command runs from here on.
    pub(crate) fn begin_command(&mut self, command: u16, misses: bool) {
        self.run += 1;
        (self.command, self.misses) = (command, misses);
    }

    pub(crate) fn add(&mut self, database: u32, key: &[u8], deed: Deed) {
        self.list.push(Note { run: self.run, command: self.command, database, key: key.into(), deed });
    }

    /// What fell due of a key that `stood` so before.
    pub(crate) fn add_due(&mut self, database: u32, key: &[u8], stood: Stood) {
        let deed = match stood {
            Stood::Spent => Deed::Spent,
            Stood::There => Deed::FieldsExpired,
            Stood::Expired | Stood::Absent => Deed::Expired,
        };
        self.add(database, key, deed);
    }

    /// A change of a key that `stood` so before, and after it is there or not.
    pub(crate) fn add_change(
        &mut self,
        database: u32,
        key: &[u8],
        stood: Stood,
        is_there: bool,
        event: (Classes, &'static str),
    ) {
        match stood {
            Stood::Expired => self.add(database, key, Deed::Expired),
            Stood::Spent => self.add(database, key, Deed::Spent),
            Stood::There if event == event::WHOLE => self.add(database, key, Deed::Replaced),
            Stood::There | Stood::Absent => {}
        }
        if stood != Stood::There && is_there {
            self.add(database, key, Deed::Created);
        }
        self.add(database, key, Deed::Changed(event.0, event.1));
        if !is_there && event.1 != "del" {
            self.add(database, key, Deed::Emptied);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked against redis-server 7.0.15 but for `A` beside `n`, of which it forgets the `n`.
    #[test]
    fn letters_are_shown_in_one_order() {
        let cases = [
            ("", ""),
            ("KEA", "AKE"),
            ("g$lshzxetd", "A"),
            ("Ag", "A"),
            ("mE$K", "$KEm"),
            ("AnmKE", "AnKEm"),
            ("mnKE", "nKEm"),
            ("$lK", "$lK"),
        ];
        for (letters, shown) in cases {
            let classes = Classes::parse(letters).unwrap();
            assert_eq!(classes.to_string(), shown, "{letters}");
            assert_eq!(Classes::parse(shown), Some(classes));
            assert_eq!(Classes::of_bits(classes.bits()), classes);
        }
        assert_eq!(Classes::parse("Kq"), None);
        assert!(!Classes::parse("KE").unwrap().tells() && !Classes::parse("A").unwrap().tells());
        assert!(Classes::parse("Kx").unwrap().tells());
    }
}
