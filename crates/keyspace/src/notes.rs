//! Notes of a tx's changes to keys, from which keyspace notifications are made.
//!
//! ```text
//! guard --change--> effect --Effect::event--> Note: command and its run, database, key, Deed --> commands: event names
//! ```
//!
//! A tx takes notes only on request. They belong to it: an abandoned tx notifies nobody. `commands` maps notes to
//! events; this module has only the default event name of an effect, for commands without a name of their own for it.

use crate::effect::event;
use crate::section::{Entry, is_live};
use base::Ms;
use std::fmt;

/// Event classes, named by the letters of `notify-keyspace-events`, and the two kinds of channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes(u32);

/// Every class with its letter, in display order.
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
    /// Publish on channels that name the key.
    pub const KEYSPACE: Self = Self(1);
    /// Publish on channels that name the event.
    pub const KEYEVENT: Self = Self(1 << 1);
    /// Events of keys of any type.
    pub const GENERIC: Self = Self(1 << 2);
    /// Events of strings.
    pub const STRING: Self = Self(1 << 3);
    /// Events of lists.
    pub const LIST: Self = Self(1 << 4);
    /// Events of sets.
    pub const SET: Self = Self(1 << 5);
    /// Events of hashes.
    pub const HASH: Self = Self(1 << 6);
    /// Events of sorted sets.
    pub const SORTED: Self = Self(1 << 7);
    /// A key expired.
    pub const EXPIRED: Self = Self(1 << 8);
    /// A key was evicted.
    pub const EVICTED: Self = Self(1 << 9);
    /// Events of streams.
    pub const STREAM: Self = Self(1 << 10);
    /// A key was looked up and is absent.
    pub const MISSED: Self = Self(1 << 11);
    /// Events of modules.
    pub const MODULE: Self = Self(1 << 13);
    /// A key was created.
    pub const NEW: Self = Self(1 << 14);
    /// The letter `A`: all but `m` and `n`.
    const ALL: Self = Self(0b10_0111_1111_1100);

    /// Parses letters, in any order; `None` if any is unknown.
    pub fn parse(letters: &str) -> Option<Self> {
        letters.bytes().try_fold(Self::default(), |classes, letter| match letter {
            b'A' => Some(classes.with(Self::ALL)),
            letter => LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, class)| classes.with(*class)),
        })
    }

    /// Returns the union.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns true if it contains any of `others`.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the bits, for an atomic.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Restores the value of [`Classes::bits`].
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns true if any event is published on any channel.
    pub const fn publishes_any(self) -> bool {
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

/// An event of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It was looked up and is absent.
    Missed,
    /// It expired and was removed.
    Expired,
    /// All its fields expired, and it was removed.
    Spent,
    /// Some of its fields expired and were removed.
    FieldsExpired,
    /// It was absent; the next noted change creates it.
    Created,
    /// The whole value put next replaces another.
    Replaced,
    /// It was changed; class and name of the effect's event.
    Changed(Classes, &'static str),
    /// The change noted before left it empty.
    Emptied,
}

/// One note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Number of the command run within the tx.
    pub run: u32,
    /// The command, as passed to [`crate::Tx::begin_command`].
    pub command: u16,
    /// Its database.
    pub database: u32,
    /// The key.
    pub key: Box<[u8]>,
    /// The event.
    pub deed: Deed,
}

/// The state of a key before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stood {
    Absent,
    Expired,
    Spent,
    There,
}

impl Stood {
    /// Returns the state of an entry as seen at `now`.
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
    /// Note look-ups of absent keys.
    pub(crate) misses: bool,
    pub(crate) list: Vec<Note>,
}

impl KeyEvents {
    /// Begins the notes of another command.
    pub(crate) fn begin_command(&mut self, command: u16, misses: bool) {
        self.run += 1;
        (self.command, self.misses) = (command, misses);
    }

    pub(crate) fn add(&mut self, database: u32, key: &[u8], deed: Deed) {
        self.list.push(Note { run: self.run, command: self.command, database, key: key.into(), deed });
    }

    /// Notes what expired of a key that was in state `stood`.
    pub(crate) fn add_due(&mut self, database: u32, key: &[u8], stood: Stood) {
        let deed = match stood {
            Stood::Spent => Deed::Spent,
            Stood::There => Deed::FieldsExpired,
            Stood::Expired | Stood::Absent => Deed::Expired,
        };
        self.add(database, key, deed);
    }

    /// Notes a change of a key that was in state `stood`, and whether it exists afterwards.
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

    /// Checked against redis-server 7.0.15, except `A` with `n`, where Redis drops the `n`.
    #[test]
    fn event_class_letters_are_printed_in_canonical_order() {
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
        assert!(!Classes::parse("KE").unwrap().publishes_any() && !Classes::parse("A").unwrap().publishes_any());
        assert!(Classes::parse("Kx").unwrap().publishes_any());
    }
}
