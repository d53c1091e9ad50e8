//! The slow log: the newest commands that took longer than the bound.

use base::primitives::Mutex;
use commands::SlowEntry;
use commands::registry::Command;
use std::collections::VecDeque;
use wire::Args;

/// Maximum number of arguments in an entry, and of bytes in each, as in Redis.
const ARGUMENTS_MAX: usize = 32;
const ARGUMENT_BYTES_MAX: usize = 128;

/// The slow log of a server.
#[derive(Default)]
pub struct SlowLog {
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    next_id: u64,
    entries: VecDeque<SlowEntry>,
}

impl SlowLog {
    /// Adds an entry and forgets the oldest beyond `entries_max`.
    pub fn push(&self, mut entry: SlowEntry, entries_max: u64) {
        let mut log = self.log.lock().expect("no holder panics");
        entry.id = log.next_id;
        log.next_id += 1;
        log.entries.push_front(entry);
        log.entries.truncate(usize::try_from(entries_max).unwrap_or(usize::MAX));
    }

    /// Returns the newest entries.
    pub fn newest(&self, entries_max: usize) -> Vec<SlowEntry> {
        self.log.lock().expect("no holder panics").entries.iter().take(entries_max).cloned().collect()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.log.lock().expect("no holder panics").entries.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.log.lock().expect("no holder panics").entries.clear();
    }
}

/// Returns arguments as an entry keeps them: long ones cut, many ones counted, secret ones hidden.
pub(crate) fn shortened(command: &Command, args: &Args<'_>) -> Vec<Vec<u8>> {
    let count = args.len();
    let kept = if count > ARGUMENTS_MAX { ARGUMENTS_MAX - 1 } else { count };
    let secrets = commands::secret_arguments(command, args);
    let mut arguments: Vec<Vec<u8>> = args.iter().take(kept).map(shortened_argument).collect();
    secrets.iter().filter(|at| **at < kept).for_each(|at| arguments[*at] = commands::REDACTED.into());
    if count > kept {
        arguments.push(format!("... ({} more arguments)", count - kept).into_bytes());
    }
    arguments
}

fn shortened_argument(argument: &[u8]) -> Vec<u8> {
    if argument.len() <= ARGUMENT_BYTES_MAX {
        return argument.to_vec();
    }
    let mut short = argument[..ARGUMENT_BYTES_MAX].to_vec();
    short.extend_from_slice(format!("... ({} more bytes)", argument.len() - ARGUMENT_BYTES_MAX).as_bytes());
    short
}
