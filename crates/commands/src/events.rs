//! The names of keyspace notifications for the effects of commands.
//!
//! ```text
//! notes of a tx:  LMOVE a b  |  a: lpop  |  a: emptied  |  b: created  |  b: rpush        as it was done
//! events:                       b: new, b: rpush, a: lpop, a: del                         as Redis tells it
//! ```
//!
//! Each effect has a name of its own (`keyspace/src/effect/event.rs`), which is right for most commands. Others have
//! [`Fact::Events`] in their specification.

use crate::registry;
use crate::spec::{CommandSpec, EventRule, Fact, Flag};
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

/// How a command reports its effects.
struct EventStyle {
    rules: &'static [EventRule],
    is_reversed: bool,
    removes_before_storing: bool,
}

/// Indexed by command.
static STYLES: LazyLock<Vec<EventStyle>> = LazyLock::new(|| {
    let style = |command: &CommandSpec| EventStyle {
        rules: command.fact(|fact| if let Fact::Events(rules) = fact { Some(rules) } else { None }).unwrap_or_default(),
        is_reversed: command.has(Flag::EventsInReverse),
        removes_before_storing: command.has(Flag::RemovesBeforeStoring),
    };
    registry::commands().map(style).collect()
});

/// Returns true if a command reports misses, if it reads at all: see [`crate::counted_reads`].
pub fn reports_misses(command: &CommandSpec) -> bool {
    !command.has(Flag::NoMisses)
}

/// Returns the events of a tx's notes, in order; their commands are indices of [`registry::commands`]. O(notes).
pub fn events(notes: &[Note]) -> Vec<Event<'_>> {
    let mut events = Vec::new();
    for run in notes.chunk_by(|one, next| one.run == next.run) {
        let style = &STYLES[usize::from(run[0].command)];
        let from = events.len();
        if style.is_reversed {
            let comes = |note: &&Note| !matches!(note.deed, Deed::Changed(..) | Deed::Emptied);
            let is_first = |note: &&Note| style.removes_before_storing && comes(note);
            run.iter().filter(is_first).for_each(|note| add_events(style, note, &mut events, from));
            for motion in motions(run).into_iter().rev() {
                motion
                    .iter()
                    .filter(|note| !is_first(note))
                    .for_each(|note| add_events(style, note, &mut events, from));
            }
        } else {
            run.iter().for_each(|note| add_events(style, note, &mut events, from));
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
fn add_events<'a>(style: &EventStyle, note: &'a Note, events: &mut Vec<Event<'a>>, from: usize) {
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
        Deed::Replaced if style.removes_before_storing => add((Classes::NEW, "new")),
        Deed::Replaced => {}
        Deed::Emptied => add((Classes::GENERIC, "del")),
        Deed::Changed(class, name) => match style.rules.iter().find(|rule| rule.instead_of == name) {
            Some(rule) => rule.events.iter().copied().for_each(add),
            None => add((class, name)),
        },
    }
}
