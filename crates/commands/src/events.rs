//! The names of keyspace notifications for the effects of commands.
//!
//! ```text
//! notes of a tx:  LMOVE a b  |  a: lpop  |  a: emptied  |  b: created  |  b: rpush        as it was done
//! events:                       b: new, b: rpush, a: lpop, a: del                         as Redis tells it
//! ```
//!
//! Each effect has a name of its own (`keyspace/src/effect/event.rs`), which is right for most commands. [`EXCEPTIONS`]
//! lists the commands that name it differently; a new type adds its exceptions here, and nowhere else.

use crate::registry;
use crate::spec::CommandSpec;
use keyspace::{Classes, Deed, Note};
use std::sync::LazyLock;

/// An event of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The key's database.
    pub database: u32,
    /// The key.
    pub key: &'a [u8],
    /// Its class.
    pub class: Classes,
    /// Its name.
    pub name: &'static str,
}

type EventList = &'static [(Classes, &'static str)];

/// Commands that report other events than their effects' names.
struct Exception {
    commands: &'static [&'static str],
    instead_of: &'static str,
    told: EventList,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        commands: &["INCR", "DECR", "INCRBY", "DECRBY"],
        instead_of: "set",
        told: &[(Classes::STRING, "incrby")],
    },
    Exception { commands: &["APPEND"], instead_of: "set", told: &[(Classes::STRING, "append")] },
    Exception { commands: &["INCRBYFLOAT"], instead_of: "set", told: &[(Classes::STRING, "incrbyfloat")] },
    // It writes into the sum, so that it stays bytes.
    Exception { commands: &["INCRBYFLOAT"], instead_of: "setrange", told: &[] },
    Exception { commands: TRIMS, instead_of: "lpop", told: &[(Classes::LIST, "ltrim")] },
    Exception { commands: TRIMS, instead_of: "rpop", told: &[(Classes::LIST, "ltrim")] },
    Exception { commands: &["SETBIT", "BITFIELD"], instead_of: "setrange", told: &[(Classes::STRING, "setbit")] },
    Exception { commands: &["BITOP"], instead_of: "restore", told: &[(Classes::STRING, "set")] },
    Exception { commands: PF, instead_of: "set", told: &[(Classes::STRING, "pfadd")] },
    Exception { commands: PF, instead_of: "append", told: &[(Classes::STRING, "pfadd")] },
    Exception { commands: PF, instead_of: "setrange", told: &[(Classes::STRING, "pfadd")] },
    // It stores the cached count.
    Exception { commands: &["PFCOUNT"], instead_of: "setrange", told: &[] },
    Exception { commands: &["HINCRBY"], instead_of: "hset", told: &[(Classes::HASH, "hincrby")] },
    Exception { commands: &["HINCRBYFLOAT"], instead_of: "hset", told: &[(Classes::HASH, "hincrbyfloat")] },
    // Removing the last element would remove the key.
    Exception {
        commands: &["HDEL", "HGETDEL", "HGETEX", "HSETEX", "HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT"],
        instead_of: "del",
        told: &[(Classes::HASH, "hdel"), (Classes::GENERIC, "del")],
    },
    Exception {
        commands: &["SREM", "SMOVE"],
        instead_of: "del",
        told: &[(Classes::SET, "srem"), (Classes::GENERIC, "del")],
    },
    Exception { commands: &["SPOP"], instead_of: "srem", told: &[(Classes::SET, "spop")] },
    Exception { commands: &["SPOP"], instead_of: "del", told: &[(Classes::SET, "spop"), (Classes::GENERIC, "del")] },
    Exception { commands: &["SINTERSTORE"], instead_of: "restore", told: &[(Classes::SET, "sinterstore")] },
    Exception { commands: &["SUNIONSTORE"], instead_of: "restore", told: &[(Classes::SET, "sunionstore")] },
    Exception { commands: &["SDIFFSTORE"], instead_of: "restore", told: &[(Classes::SET, "sdiffstore")] },
    Exception { commands: &["ZREM"], instead_of: "del", told: &[(Classes::SORTED, "zrem"), (Classes::GENERIC, "del")] },
    Exception {
        commands: &["ZREMRANGEBYRANK"],
        instead_of: "del",
        told: &[(Classes::SORTED, "zremrangebyrank"), (Classes::GENERIC, "del")],
    },
    Exception {
        commands: &["ZREMRANGEBYSCORE"],
        instead_of: "zremrangebyrank",
        told: &[(Classes::SORTED, "zremrangebyscore")],
    },
    Exception {
        commands: &["ZREMRANGEBYSCORE"],
        instead_of: "del",
        told: &[(Classes::SORTED, "zremrangebyscore"), (Classes::GENERIC, "del")],
    },
    Exception {
        commands: &["ZREMRANGEBYLEX"],
        instead_of: "zremrangebyrank",
        told: &[(Classes::SORTED, "zremrangebylex")],
    },
    Exception {
        commands: &["ZREMRANGEBYLEX"],
        instead_of: "del",
        told: &[(Classes::SORTED, "zremrangebylex"), (Classes::GENERIC, "del")],
    },
    Exception { commands: &["ZUNIONSTORE"], instead_of: "restore", told: &[(Classes::SORTED, "zunionstore")] },
    Exception { commands: &["ZINTERSTORE"], instead_of: "restore", told: &[(Classes::SORTED, "zinterstore")] },
    Exception { commands: &["ZDIFFSTORE"], instead_of: "restore", told: &[(Classes::SORTED, "zdiffstore")] },
    Exception { commands: &["ZRANGESTORE"], instead_of: "restore", told: &[(Classes::SORTED, "zrangestore")] },
    Exception { commands: &["GEOSEARCHSTORE"], instead_of: "restore", told: &[(Classes::SORTED, "geosearchstore")] },
    Exception {
        commands: &["GEORADIUS", "GEORADIUSBYMEMBER"],
        instead_of: "restore",
        told: &[(Classes::SORTED, "georadiusstore")],
    },
    Exception { commands: &["TL.PUSH"], instead_of: "tl.insert", told: &[(Classes::MODULE, "tl.push")] },
    Exception { commands: &["TL.HIDE"], instead_of: "tl.set", told: &[(Classes::MODULE, "tl.hide")] },
    Exception { commands: &["TL.SHOW"], instead_of: "tl.set", told: &[(Classes::MODULE, "tl.show")] },
    Exception { commands: &["TL.INCR"], instead_of: "tl.set", told: &[(Classes::MODULE, "tl.incr")] },
    // The item may then be elsewhere.
    Exception { commands: &["TL.SET", "TL.INCR"], instead_of: "tl.move", told: &[] },
    Exception { commands: &["TL.POP"], instead_of: "tl.rem", told: &[(Classes::MODULE, "tl.pop")] },
    Exception {
        commands: &["TL.POP"],
        instead_of: "del",
        told: &[(Classes::MODULE, "tl.pop"), (Classes::GENERIC, "del")],
    },
    Exception {
        commands: &["TL.REM", "TL.REMWHERE", "TL.REMBY"],
        instead_of: "del",
        told: &[(Classes::MODULE, "tl.rem"), (Classes::GENERIC, "del")],
    },
    Exception { commands: &["SORT"], instead_of: "restore", told: &[(Classes::LIST, "sortstore")] },
    Exception { commands: &["XGROUP SETID"], instead_of: "xgroup-create", told: &[(Classes::STREAM, "xgroup-setid")] },
    // They update what a group has read.
    Exception { commands: &["XREADGROUP", "XCLAIM"], instead_of: "xgroup-create", told: &[] },
    Exception { commands: &["COPY"], instead_of: "restore", told: &[(Classes::GENERIC, "copy_to")] },
    Exception { commands: &["RENAME", "RENAMENX"], instead_of: "del", told: &[(Classes::GENERIC, "rename_from")] },
    Exception { commands: &["RENAME", "RENAMENX"], instead_of: "restore", told: &[(Classes::GENERIC, "rename_to")] },
    Exception { commands: &["MOVE"], instead_of: "del", told: &[(Classes::GENERIC, "move_from")] },
    Exception { commands: &["MOVE"], instead_of: "restore", told: &[(Classes::GENERIC, "move_to")] },
];

/// Commands that trim a list.
const TRIMS: &[&str] = &["LTRIM", "LTRIMBACK", "LTRIMFRONT"];

/// Commands that write into a HyperLogLog.
const PF: &[&str] = &["PFADD", "PFMERGE"];

/// Commands that do first what Redis reports last.
const TOLD_BACKWARD: &[&str] = &["BLMOVE", "BRPOPLPUSH", "LMOVE", "MOVE", "RENAME", "RENAMENX", "RPOPLPUSH", "SMOVE"];

/// Commands that remove the old value of a name before they store a new one.
const PUT_ANEW: &[&str] = &["COPY", "RENAME", "RENAMENX", "MOVE", "RESTORE", "RESTORE-ASKING"];

/// Commands that look at keys without reading them.
const ONLY_LOOK: &[&str] = &["KEYRANGE", "OBJECT ENCODING", "OBJECT FREQ", "OBJECT IDLETIME", "OBJECT REFCOUNT"];

/// A command's peculiarities.
#[derive(Default)]
struct EventStyle {
    exceptions: Vec<&'static Exception>,
    is_backward: bool,
    puts_anew: bool,
}

/// Indexed by command.
static MANNERS: LazyLock<Vec<EventStyle>> = LazyLock::new(|| {
    let manner = |command: &CommandSpec| EventStyle {
        exceptions: EXCEPTIONS.iter().filter(|exception| exception.commands.contains(&command.name)).collect(),
        is_backward: TOLD_BACKWARD.contains(&command.name),
        puts_anew: PUT_ANEW.contains(&command.name),
    };
    registry::commands().map(manner).collect()
});

/// Returns true if a command reports misses, if it reads at all: see [`crate::counted_reads`].
pub fn tells_misses(command: &CommandSpec) -> bool {
    !ONLY_LOOK.contains(&command.name)
}

/// Returns the events of a tx's notes, in order; their commands are indices of [`registry::commands`]. O(notes).
pub fn events(notes: &[Note]) -> Vec<Event<'_>> {
    let mut events = Vec::new();
    for run in notes.chunk_by(|one, next| one.run == next.run) {
        let manner = &MANNERS[usize::from(run[0].command)];
        let from = events.len();
        if manner.is_backward {
            let comes = |note: &&Note| !matches!(note.deed, Deed::Changed(..) | Deed::Emptied);
            let is_first = |note: &&Note| manner.puts_anew && comes(note);
            run.iter().filter(is_first).for_each(|note| tell(manner, note, &mut events, from));
            for motion in motions(run).into_iter().rev() {
                motion.iter().filter(|note| !is_first(note)).for_each(|note| tell(manner, note, &mut events, from));
            }
        } else {
            run.iter().for_each(|note| tell(manner, note, &mut events, from));
        }
    }
    events
}

/// Returns the notes grouped by change.
fn motions(run: &[Note]) -> Vec<&[Note]> {
    let mut rest = run;
    let mut motions = Vec::new();
    while let Some(changed) = rest.iter().position(|note| matches!(note.deed, Deed::Changed(..))) {
        let behind = &rest[changed + 1..];
        let emptied = behind.iter().take_while(|note| note.deed == Deed::Emptied).count();
        let (motion, after) = rest.split_at(changed + 1 + emptied);
        motions.push(motion);
        rest = after;
    }
    motions.push(rest);
    motions
}

/// Adds the events of a note, after the `events` of the same run from `from` on.
fn tell<'a>(manner: &EventStyle, note: &'a Note, events: &mut Vec<Event<'a>>, from: usize) {
    let Note { database, key, deed, .. } = note;
    let mut add = |(class, name): (Classes, &'static str)| {
        let event = Event { database: *database, key, class, name };
        // Several effects may make one change. Only SET and the like set a key twice in one run.
        if name == "set" || events[from..].last() != Some(&event) {
            events.push(event);
        }
    };
    match *deed {
        Deed::Missed => add((Classes::MISSED, "keymiss")),
        Deed::Expired => add((Classes::EXPIRED, "expired")),
        Deed::Spent => [(Classes::HASH, "hexpired"), (Classes::GENERIC, "del")].into_iter().for_each(add),
        Deed::FieldsExpired => add((Classes::HASH, "hexpired")),
        Deed::Created => add((Classes::NEW, "new")),
        Deed::Replaced if manner.puts_anew => add((Classes::NEW, "new")),
        Deed::Replaced => {}
        Deed::Emptied => add((Classes::GENERIC, "del")),
        Deed::Changed(class, name) => match manner.exceptions.iter().find(|exception| exception.instead_of == name) {
            Some(exception) => exception.told.iter().copied().for_each(add),
            None => add((class, name)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_is_named_is_there() {
        let named = EXCEPTIONS.iter().flat_map(|exception| exception.commands);
        for name in named.chain(TOLD_BACKWARD).chain(PUT_ANEW).chain(ONLY_LOOK) {
            assert!(registry::commands().any(|command| command.name == *name), "{name}");
        }
    }
}
