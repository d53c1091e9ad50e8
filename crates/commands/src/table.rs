//! All rows, and finding one by name.

use crate::row::Command;
use std::collections::HashMap;
use std::sync::LazyLock;
use wire::Args;

/// A row and its place among all rows, by which counters are kept.
#[derive(Clone, Copy)]
pub struct Row {
    command: &'static Command,
    index: u16,
}

impl Row {
    /// Its place among [`rows`].
    pub fn index(&self) -> usize {
        usize::from(self.index)
    }

    /// The row itself.
    pub fn command(&self) -> &'static Command {
        self.command
    }
}

impl std::ops::Deref for Row {
    type Target = Command;

    fn deref(&self) -> &Command {
        self.command
    }
}

/// What a name leads to.
#[derive(Clone, Copy)]
pub enum Found {
    /// A command.
    Command(Row),
    /// A command that has subcommands, but none (or an unknown one) was given.
    Container(&'static str),
    /// Nothing.
    Unknown,
}

/// Longest name of a command, in bytes.
const NAME_BYTES_MAX: usize = 16;

struct Entry {
    name: &'static str,
    command: Option<Row>,
    subcommands: Vec<(&'static str, Row)>,
}

/// Open addressing by the first and last letters of a name; an entry's own name decides.
struct Table {
    /// A name's digest, 0 for a free slot, and the index of its entry.
    slots: Box<[(u64, u16)]>,
    entries: Vec<Entry>,
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::build);

/// Every row, in the order of the files.
pub fn rows() -> impl Iterator<Item = &'static Command> {
    crate::FILES.iter().flat_map(|file| file.iter())
}

/// The row that a request's name (and subcommand) leads to, in any case of letters. O(1).
pub fn find(args: &Args<'_>) -> Found {
    let Some(entry) = TABLE.entry(args.name()) else { return Found::Unknown };
    if entry.subcommands.is_empty() {
        return entry.command.map_or(Found::Unknown, Found::Command);
    }
    if args.len() < 2 {
        return entry.command.map_or(Found::Container(entry.name), Found::Command);
    }
    let word = args.get(1);
    let sub = entry.subcommands.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
    sub.map_or(Found::Container(entry.name), |(_, row)| Found::Command(*row))
}

/// The row of `name`, as COMMAND INFO takes it: `get`, `client|id`.
pub fn by_name(name: &[u8]) -> Found {
    let mut parts = name.splitn(2, |&byte| byte == b'|');
    let request: Vec<&[u8]> = parts.by_ref().collect();
    let owned = wire::OwnedRequest::of(&request);
    find(&owned.args())
}

/// The subcommands of a command that has some.
pub fn subcommands(name: &str) -> Vec<&'static Command> {
    TABLE
        .entry(name.as_bytes())
        .map_or(Vec::new(), |entry| entry.subcommands.iter().map(|(_, row)| row.command).collect())
}

/// Names of all commands, those with subcommands once, in capitals, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLE.entries.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names
}

impl Table {
    fn build() -> Self {
        let mut by_name: HashMap<&'static str, Entry> = HashMap::new();
        for (index, command) in rows().enumerate() {
            let row = Row { command, index: index as u16 };
            let (name, sub) =
                command.name.split_once(' ').map_or((command.name, None), |(name, sub)| (name, Some(sub)));
            let entry = by_name.entry(name).or_insert(Entry { name, command: None, subcommands: Vec::new() });
            match sub {
                Some(sub) => entry.subcommands.push((sub, row)),
                None => {
                    let before = entry.command.replace(row);
                    assert!(before.is_none(), "{name} has two rows");
                }
            }
        }
        let mut entries: Vec<_> = by_name.into_values().collect();
        entries.sort_unstable_by_key(|entry| entry.name);
        // A quarter full: hardly ever a second look.
        let mut slots = vec![(0, 0); (entries.len() * 4).next_power_of_two()].into_boxed_slice();
        for (index, entry) in entries.iter().enumerate() {
            let digest = digest(entry.name.as_bytes()).expect("names are short");
            let mut at = home(digest, slots.len());
            while slots[at].0 != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = (digest, index as u16);
        }
        Self { slots, entries }
    }

    fn entry(&self, name: &[u8]) -> Option<&Entry> {
        let digest = digest(name)?;
        let mut at = home(digest, self.slots.len());
        loop {
            let (found, index) = self.slots[at];
            if found == 0 {
                return None;
            }
            let entry = &self.entries[index as usize];
            if found == digest && entry.name.as_bytes().eq_ignore_ascii_case(name) {
                return Some(entry);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}

/// A number that names which differ only in the case of letters share; never 0. `None` for what no command is called.
fn digest(name: &[u8]) -> Option<u64> {
    /// Clears the bit by which small letters differ from capitals.
    const CAPITALS: u64 = 0xdfdf_dfdf_dfdf_dfdf;
    let length = name.len();
    let (first, last) = match length {
        0 => return None,
        1..4 => (u64::from(name[0]) | u64::from(name[length / 2]) << 8, u64::from(name[length - 1])),
        4..8 => (word_of_four(&name[..4]), word_of_four(&name[length - 4..])),
        8..=NAME_BYTES_MAX => (word_of_eight(&name[..8]), word_of_eight(&name[length - 8..])),
        _ => return None,
    };
    let mixed = (first & CAPITALS) ^ (last & CAPITALS).rotate_left(29) ^ (length as u64) << 59;
    Some(mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

fn word_of_four(bytes: &[u8]) -> u64 {
    u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
}

fn word_of_eight(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn home(digest: u64, slots_count: usize) -> usize {
    (digest >> 40) as usize & (slots_count - 1)
}
