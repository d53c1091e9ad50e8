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

/// Names in capitals, packed into a number: one comparison instead of a string's.
struct Table {
    slots: Box<[(u128, u16)]>,
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
            let packed = pack(entry.name.as_bytes()).expect("names are short");
            let mut at = home(packed, slots.len());
            while slots[at].0 != 0 {
                at = (at + 1) % slots.len();
            }
            slots[at] = (packed, index as u16);
        }
        Self { slots, entries }
    }

    fn entry(&self, name: &[u8]) -> Option<&Entry> {
        let packed = pack(name)?;
        let mut at = home(packed, self.slots.len());
        loop {
            let (found, index) = self.slots[at];
            if found == packed {
                return Some(&self.entries[index as usize]);
            }
            if found == 0 {
                return None;
            }
            at = (at + 1) % self.slots.len();
        }
    }
}

/// Up to sixteen letters as a number, small letters as capitals; `None` for what no command is called.
fn pack(name: &[u8]) -> Option<u128> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return None;
    }
    let mut bytes = [0; NAME_BYTES_MAX];
    for (to, from) in bytes.iter_mut().zip(name) {
        *to = from.to_ascii_uppercase();
    }
    Some(u128::from_le_bytes(bytes))
}

fn home(packed: u128, slots_count: usize) -> usize {
    let folded = (packed as u64) ^ (packed >> 64) as u64;
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (slots_count - 1)
}
