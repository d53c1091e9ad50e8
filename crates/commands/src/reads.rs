//! How many of a command's key lookups are reads, which INFO counts as hits and misses, as in Redis: commands that
//! change keys read some of them first.

use crate::parse;
use crate::registry::{self, Command};
use crate::spec::{Access, CommandSpec, Flag};
use std::sync::LazyLock;
use sync::lock::Want;
use wire::Args;

/// The reads of a command: its first lookups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// None: it changes its keys, or asks about a key rather than for its value.
    None,
    /// Only the key that it changes.
    Changed,
    /// That key, if `GET` is among its options.
    ChangedIfGet,
    /// That key, if no operation writes.
    ChangedIfGetAlone,
    /// Each named key that is only read.
    Sources,
    /// Each named key.
    Named,
    /// All lookups.
    All,
}

/// Commands that read the key they change.
const READ_CHANGED: &[&str] = &["GETDEL", "GETEX", "GETSET", "XACK", "XAUTOCLAIM", "XCLAIM"];

/// Indexed by command.
static COUNTED: LazyLock<Vec<Counted>> = LazyLock::new(|| registry::commands().map(counted).collect());

fn counted(command: &CommandSpec) -> Counted {
    match command.name {
        "MEMORY USAGE" => Counted::None,
        "SET" => Counted::ChangedIfGet,
        "BITFIELD" => Counted::ChangedIfGetAlone,
        "PFCOUNT" | "PFMERGE" | "XREADGROUP" => Counted::Named,
        name if READ_CHANGED.contains(&name) => Counted::Changed,
        _ if !matches!(command.access, Access::Write { .. }) || command.has(Flag::ToldAsReader) => Counted::All,
        _ if command.keys.iter().any(|spec| spec.want() == Want::Read) => Counted::Sources,
        _ => Counted::None,
    }
}

/// Returns how many of a command's first lookups count as reads. O(arguments), and O(1) for most commands.
pub fn counted_reads(command: &Command, args: &Args<'_>) -> u32 {
    let named = |wanted: fn(Want) -> bool| {
        let mut count = 0;
        command.for_each_key(args, |_, want| count += u32::from(wanted(want)));
        count
    };
    match COUNTED[command.index()] {
        Counted::None => 0,
        Counted::Changed => 1,
        Counted::ChangedIfGet => u32::from(args.from(3).iter().any(|option| parse::is(option, "GET"))),
        Counted::ChangedIfGetAlone => {
            let writes = |word| parse::is(word, "SET") || parse::is(word, "INCRBY");
            u32::from(!args.from(2).iter().any(writes))
        }
        Counted::Sources => named(|want| want == Want::Read),
        Counted::Named => named(|_| true),
        Counted::All => u32::MAX,
    }
}
