//! All commands, and their lookup by name.

use crate::spec::CommandSpec;
use std::collections::HashMap;
use std::sync::LazyLock;
use wire::Args;

/// A command and its index among all commands, which also selects its counters.
#[derive(Clone, Copy)]
pub struct Command {
    spec: &'static CommandSpec,
    index: u16,
}

impl Command {
    /// Returns its index in [`commands`].
    pub fn index(&self) -> usize {
        usize::from(self.index)
    }

    /// Returns a part of this command, which runs in its place and shares its counters.
    pub fn part(&self, spec: &'static CommandSpec) -> Self {
        Self { spec, index: self.index }
    }

    /// Returns its specification.
    pub fn spec(&self) -> &'static CommandSpec {
        self.spec
    }
}

impl std::ops::Deref for Command {
    type Target = CommandSpec;

    fn deref(&self) -> &CommandSpec {
        self.spec
    }
}

/// The result of a name lookup.
#[derive(Clone, Copy)]
pub enum Lookup {
    /// A command.
    Command(Command),
    /// A command that has subcommands, given without one or with an unknown one.
    Container(&'static str),
    /// Nothing.
    Unknown,
}

/// Longest name of a command, in bytes.
const NAME_BYTES_MAX: usize = 24;

struct TableEntry {
    name: &'static str,
    command: Option<Command>,
    subcommands: Vec<(&'static str, Command)>,
}

/// An open-addressing table keyed by the name in capitals.
struct CommandTable {
    /// A name and the index of its entry; a slot without a name is free.
    slots: Box<[(Name, u16)]>,
    entries: Vec<TableEntry>,
}

/// A whole name in capitals: its first and last bytes (which usually overlap and cover all), the bytes between them of
/// a very long name, and its length.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Name {
    first: u64,
    middle: u64,
    last: u64,
    length: usize,
}

static TABLE: LazyLock<CommandTable> = LazyLock::new(CommandTable::build);

/// Returns every command, in the order of the files.
pub fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    crate::FILES.iter().flat_map(|file| file.iter())
}

/// Looks up a request's command by name (and subcommand), ignoring case. O(1).
#[inline]
pub fn find(args: &Args<'_>) -> Lookup {
    let Some(entry) = TABLE.entry(args.name()) else { return Lookup::Unknown };
    if entry.subcommands.is_empty() {
        return entry.command.map_or(Lookup::Unknown, Lookup::Command);
    }
    if args.len() < 2 {
        return entry.command.map_or(Lookup::Container(entry.name), Lookup::Command);
    }
    let word = args.get(1);
    let sub = entry.subcommands.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
    sub.map_or(Lookup::Container(entry.name), |(_, command)| Lookup::Command(*command))
}

/// Looks up a command by `name` as COMMAND INFO takes it: `get`, `client|id`.
pub fn by_name(name: &[u8]) -> Lookup {
    let mut parts = name.splitn(2, |&byte| byte == b'|');
    let request: Vec<&[u8]> = parts.by_ref().collect();
    let owned = wire::OwnedRequest::of(&request);
    find(&owned.args())
}

/// Returns the subcommands of a command.
pub fn subcommands(name: &str) -> Vec<&'static CommandSpec> {
    TABLE
        .entry(name.as_bytes())
        .map_or(Vec::new(), |entry| entry.subcommands.iter().map(|(_, command)| command.spec).collect())
}

/// Returns the names of all commands, those with subcommands once, in capitals, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLE.entries.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names
}

impl CommandTable {
    fn build() -> Self {
        let mut by_name: HashMap<&'static str, TableEntry> = HashMap::new();
        for (index, command) in commands().enumerate() {
            let command = Command { spec: command, index: index as u16 };
            let (name, sub) =
                command.name.split_once(' ').map_or((command.name, None), |(name, sub)| (name, Some(sub)));
            let entry = by_name.entry(name).or_insert(TableEntry { name, command: None, subcommands: Vec::new() });
            match sub {
                Some(sub) => entry.subcommands.push((sub, command)),
                None => {
                    let before = entry.command.replace(command);
                    assert!(before.is_none(), "{name} has two commands");
                }
            }
        }
        let mut entries: Vec<_> = by_name.into_values().collect();
        entries.sort_unstable_by_key(|entry| entry.name);
        // A quarter full: a second probe is rare.
        let mut slots = vec![(Name::default(), 0); (entries.len() * 4).next_power_of_two()].into_boxed_slice();
        for (index, entry) in entries.iter().enumerate() {
            let name = Name::of(entry.name.as_bytes()).expect("names are short");
            let mut at = name.home(slots.len());
            while slots[at].0.length != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = (name, index as u16);
        }
        Self { slots, entries }
    }

    fn entry(&self, name: &[u8]) -> Option<&TableEntry> {
        let name = Name::of(name)?;
        let mut at = name.home(self.slots.len());
        loop {
            let (found, index) = self.slots[at];
            if found == name {
                return Some(&self.entries[index as usize]);
            }
            if found.length == 0 {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}

impl Name {
    /// Returns `None` for a name no command has.
    #[inline]
    fn of(name: &[u8]) -> Option<Self> {
        let length = name.len();
        let mut middle = 0;
        let (first, last) = match length {
            0 => return None,
            1..4 => (u64::from(name[0]) | u64::from(name[length / 2]) << 8, u64::from(name[length - 1])),
            4..8 => (word_of_four(&name[..4]), word_of_four(&name[length - 4..])),
            8..=16 => (word_of_eight(&name[..8]), word_of_eight(&name[length - 8..])),
            17..=NAME_BYTES_MAX => {
                middle = word_of_eight(&name[8..16]);
                (word_of_eight(&name[..8]), word_of_eight(&name[length - 8..]))
            }
            _ => return None,
        };
        Some(Self { first: capitals(first), middle: capitals(middle), last: capitals(last), length })
    }

    fn home(&self, slots_count: usize) -> usize {
        let mixed = self.first ^ self.last.rotate_left(29) ^ (self.length as u64) << 59;
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (slots_count - 1)
    }
}

/// Returns eight bytes with each of `a` to `z` in upper case, all at once.
fn capitals(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let low = word & (0x7f * EACH);
    // The top bit of a byte marks: at least `a`; beyond `z`. A sum of seven-bit values never carries into the next
    // byte.
    let (from_a, beyond_z) = (low + (0x80 - 0x61) * EACH, low + (0x80 - 0x7b) * EACH);
    let small = from_a & !beyond_z & !word & (0x80 * EACH);
    word & !(small >> 2)
}

fn word_of_four(bytes: &[u8]) -> u64 {
    u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
}

fn word_of_eight(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_name_in_any_letter_case() {
        for name in names() {
            for spelt in [
                name.to_owned(),
                name.to_ascii_lowercase(),
                format!("{}{}", &name[..1], name[1..].to_ascii_lowercase()),
            ] {
                assert_eq!(TABLE.entry(spelt.as_bytes()).map(|entry| entry.name), Some(name), "{spelt}");
            }
            // Bytes that differ from a letter by the case bit or by the top bit.
            for at in 0..name.len() {
                for flip in [0x20, 0x80, 0x40, 0x01] {
                    let mut bytes = name.as_bytes().to_vec();
                    bytes[at] ^= flip;
                    let found = TABLE.entry(&bytes).map(|entry| entry.name);
                    assert_eq!(found.is_some_and(|found| found == name), bytes.eq_ignore_ascii_case(name.as_bytes()));
                }
            }
        }
        assert!(TABLE.entry(b"").is_none() && TABLE.entry(b"GET ").is_none() && TABLE.entry(b"GET\0").is_none());
    }
}
