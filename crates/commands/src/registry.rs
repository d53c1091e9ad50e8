//! All commands, and their lookup by name.

use crate::reads;
use crate::spec::{CommandSpec, CountedReads, Flag, Group, KeySpec};
use base::primitives::Mutex;
use keyspace::{Keyspace, Plan};
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;
use sync::lock::Want;
use wire::Args;

/// A command, cheap to copy.
#[derive(Clone, Copy)]
pub struct Command(&'static Registered);

/// A command's specification and its index among all commands, which also selects its counters; with what each request
/// asks of the specification, found once.
struct Registered {
    spec: &'static CommandSpec,
    index: u16,
    traits: u16,
    counted_reads: CountedReads,
}

const WRITES: u16 = 1;
const IS_HELD_WITH_WRITES: u16 = 1 << 1;
const PUTS_STRING: u16 = 1 << 2;
const IS_DEBUG: u16 = 1 << 3;
/// Its only key is its first argument.
const HAS_ONE_KEY: u16 = 1 << 4;
const WRITES_ONE_KEY: u16 = 1 << 5;
/// That key is all that it touches.
const PLANS_ONE_KEY: u16 = 1 << 6;
const SUBSCRIBES: u16 = 1 << 7;

impl Registered {
    fn new(spec: &'static CommandSpec, index: u16) -> Self {
        let one_key = match spec.keys {
            [key] if key.flags != "not_key" && KeySpec::one(1, key.flags).finds_as(key) => Some(key.want()),
            _ => None,
        };
        let traits = [
            (spec.writes(), WRITES),
            (spec.is_held_with_writes(), IS_HELD_WITH_WRITES),
            (spec.has(Flag::PutsString), PUTS_STRING),
            (spec.has(Flag::Debug), IS_DEBUG),
            (one_key.is_some(), HAS_ONE_KEY),
            (one_key == Some(Want::Write), WRITES_ONE_KEY),
            (one_key.is_some() && spec.schemas().is_none() && spec.indexes().is_none(), PLANS_ONE_KEY),
            (spec.group == Group::PubSub && spec.has(Flag::NoScript), SUBSCRIBES),
        ];
        let traits = traits.into_iter().filter(|(holds, _)| *holds).fold(0, |all, (_, bit)| all | bit);
        Self { spec, index, traits, counted_reads: reads::counted(spec) }
    }
}

/// The parts of commands asked for so far, by the address of the specification and the index: there are few.
static PARTS: LazyLock<Mutex<BTreeMap<(usize, u16), Command>>> = LazyLock::new(Mutex::default);

impl Command {
    fn new(spec: &'static CommandSpec, index: u16) -> Self {
        Self(Box::leak(Box::new(Registered::new(spec, index))))
    }

    #[inline]
    fn is(&self, bit: u16) -> bool {
        self.0.traits & bit != 0
    }

    /// See [`CommandSpec::writes`].
    #[inline]
    pub fn writes(&self) -> bool {
        self.is(WRITES)
    }

    /// See [`CommandSpec::is_held_with_writes`].
    #[inline]
    pub fn is_held_with_writes(&self) -> bool {
        self.is(IS_HELD_WITH_WRITES)
    }

    /// Returns true if it may store its arguments as strings.
    #[inline]
    pub fn puts_string(&self) -> bool {
        self.is(PUTS_STRING)
    }

    /// Returns true if only a client that may debug can run it.
    #[inline]
    pub fn is_debug(&self) -> bool {
        self.is(IS_DEBUG)
    }

    /// Returns true if it begins or ends subscriptions.
    #[inline]
    pub fn subscribes(&self) -> bool {
        self.is(SUBSCRIBES)
    }

    /// See [`CommandSpec::for_each_key`].
    #[inline]
    pub fn for_each_key<'a>(&self, args: &Args<'a>, mut visit: impl FnMut(&'a [u8], Want)) {
        if !self.is(HAS_ONE_KEY) {
            return self.0.spec.for_each_key(args, visit);
        }
        if args.len() > 1 {
            visit(args.get(1), self.want_of_one());
        }
    }

    #[inline]
    fn want_of_one(&self) -> Want {
        if self.is(WRITES_ONE_KEY) { Want::Write } else { Want::Read }
    }

    /// See [`CommandSpec::plan`].
    #[inline]
    pub fn plan(&self, args: &Args<'_>, keyspace: &Keyspace, plan: &mut Plan) {
        if !self.is(PLANS_ONE_KEY) {
            return self.0.spec.plan(args, keyspace, plan);
        }
        if args.len() > 1 {
            plan.add_key(keyspace, args.get(1), self.want_of_one());
        }
    }

    /// Returns which of its lookups count as reads.
    #[inline]
    pub(crate) fn counted_reads(&self) -> CountedReads {
        self.0.counted_reads
    }

    /// Returns its index in [`commands`].
    #[inline]
    pub fn index(&self) -> usize {
        usize::from(self.0.index)
    }

    /// Returns a part of this command, which runs in its place and shares its counters.
    pub fn part(&self, spec: &'static CommandSpec) -> Self {
        let mut parts = PARTS.lock().expect("no holder panics");
        *parts.entry((std::ptr::from_ref(spec).addr(), self.0.index)).or_insert_with(|| Self::new(spec, self.0.index))
    }

    /// Returns its specification.
    pub fn spec(&self) -> &'static CommandSpec {
        self.0.spec
    }
}

impl std::ops::Deref for Command {
    type Target = CommandSpec;

    #[inline]
    fn deref(&self) -> &CommandSpec {
        self.0.spec
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

impl TableEntry {
    /// Looks up a request's subcommand; without one the command itself, if it runs so.
    fn find(&self, args: &Args<'_>) -> Lookup {
        if args.len() < 2 {
            return self.command.map_or(Lookup::Container(self.name), Lookup::Command);
        }
        let word = args.get(1);
        let sub = self.subcommands.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
        sub.map_or(Lookup::Container(self.name), |(_, command)| Lookup::Command(*command))
    }
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
    match TABLE.entry(args.name()) {
        None => Lookup::Unknown,
        Some(TableEntry { command: Some(command), subcommands, .. }) if subcommands.is_empty() => {
            Lookup::Command(*command)
        }
        Some(entry) => entry.find(args),
    }
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
        .map_or(Vec::new(), |entry| entry.subcommands.iter().map(|(_, command)| command.spec()).collect())
}

/// Returns the number of commands, those with subcommands once.
pub(crate) fn names_count() -> usize {
    TABLE.entries.len()
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
            let command = Command::new(command, index as u16);
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

    #[inline]
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
                middle = capitals(word_of_eight(&name[8..16]));
                (word_of_eight(&name[..8]), word_of_eight(&name[length - 8..]))
            }
            _ => return None,
        };
        Some(Self { first: capitals(first), middle, last: capitals(last), length })
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
    fn keys_found_by_traits_are_those_of_the_specification() {
        let mut of_one_key = 0;
        for (index, spec) in commands().enumerate() {
            let command = Command::new(spec, index as u16);
            of_one_key += usize::from(command.is(HAS_ONE_KEY));
            for words in
                [&["verb"][..], &["verb", "a"], &["verb", "a", "b", "1", "c"], &["verb", "2", "a", "b", "c", "d"]]
            {
                let request = wire::OwnedRequest::of(words);
                let args = request.args();
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                command.for_each_key(&args, |key, want| found.push((key, want)));
                spec.for_each_key(&args, |key, want| expected.push((key, want)));
                assert_eq!(found, expected, "{} {words:?}", spec.name);
            }
        }
        assert!(of_one_key > 100, "{of_one_key}: most commands have one key");
    }

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
