//! The specification of a command: all its metadata and the handler that runs it. Every field is required.

mod flag;
mod keys;
mod published;
mod run;

pub use flag::{CountedReads, EventRule, Fact, Flag, ItemRequest, MessageRequest, Secret};
pub use keys::{Begin, Find, KeySpec, Varies};
pub(crate) use keys::{streams_at, words_at};
pub use published::ArgumentFact;
pub(crate) use published::argument;

pub use run::{
    BeginGather, BeginRange, BeginSweep, Gather, KnownKeys, LibraryVerb, Local, OfSession, Parts, QueryType, Run,
    SearchVerb, Settled, Sweep, SweepNext, TimeoutAt, Verb,
};
pub(crate) use run::{PART_ARGUMENTS, all_parts, as_it_is, has_many_arguments};

use crate::failure::Failure;
use keyspace::{INDEXES, Keyspace, Plan, SCHEMAS};
use sync::lock::Want;
use values::ValueType;
use values::string::INLINE_BYTES_MAX;
use wire::Args;

/// A handler's result: `Ok` once it has written its whole reply.
pub type Outcome = Result<(), Failure>;

/// One command, or one subcommand (`CLIENT ID`).
pub struct CommandSpec {
    /// The name in capitals; a subcommand is prefixed with its command and a space.
    pub name: &'static str,
    /// The arguments after the name, as in the Redis manual; empty if there are none.
    pub syntax: &'static str,
    /// The number of arguments, including the name (and the subcommand's).
    pub arity: Arity,
    /// Which arguments are keys; empty for connection and server commands.
    pub keys: &'static [KeySpec],
    /// How the command accesses its keys.
    pub access: Access,
    /// Further properties.
    pub flags: &'static [Flag],
    /// Further properties that have data.
    pub facts: &'static [Fact],
    /// The command's group.
    pub group: Group,
    /// The complexity, in the usual notation.
    pub cost: &'static str,
    /// The version of Redis (or of Bobbin: `bobbin 0.1.0`) that introduced it.
    pub since: &'static str,
    /// One sentence.
    pub brief: &'static str,
    /// The reply, in words.
    pub answer: &'static str,
    /// Where the command runs, and its handler.
    pub run: Run,
}

/// The number of arguments a command takes, its name included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly this many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
    /// From the first to the second.
    Between(usize, usize),
}

impl Arity {
    /// Returns true if `count` arguments are allowed.
    pub fn allows(self, count: usize) -> bool {
        match self {
            Self::Exactly(exact) => count == exact,
            Self::AtLeast(least) => count >= least,
            Self::Between(least, most) => (least..=most).contains(&count),
        }
    }

    /// Returns the arity as COMMAND INFO reports it: negative for "at least".
    pub fn number(self) -> i64 {
        match self {
            Self::Exactly(exact) => exact as i64,
            Self::AtLeast(least) | Self::Between(least, _) => -(least as i64),
        }
    }
}

/// How a command accesses keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Touches no key.
    None,
    /// Reads.
    Read,
    /// Writes. A command that never `grows` is allowed when the disk is full.
    Write {
        /// Whether it may need more space than before.
        grows: bool,
    },
}

/// A command group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Connection commands.
    Connection,
    /// Commands for keys of any type.
    Generic,
    /// String commands.
    String,
    /// Bitmap commands on strings.
    Bitmap,
    /// HyperLogLog commands on strings.
    HyperLogLog,
    /// List commands.
    List,
    /// Hash commands.
    Hash,
    /// Set commands.
    Set,
    /// Pub/Sub commands.
    PubSub,
    /// Sorted-set commands.
    SortedSet,
    /// Geo commands on sorted sets.
    Geo,
    /// Stream commands.
    Stream,
    /// Tagged-list commands.
    Tagged,
    /// Queue commands; queues extend lists.
    Queue,
    /// Commands on indexes of hashes.
    Search,
    /// MULTI and related commands.
    Transactions,
    /// Script commands.
    Scripting,
    /// Commands of the memcached port, on strings.
    Memcached,
    /// Cluster commands.
    Cluster,
    /// Server commands.
    Server,
}

impl Group {
    /// Returns the type its blocking commands take from.
    pub fn value_type(self) -> Option<ValueType> {
        match self {
            Self::List | Self::Queue => Some(ValueType::List),
            Self::SortedSet => Some(ValueType::Sorted),
            Self::Stream => Some(ValueType::Stream),
            _ => None,
        }
    }

    /// Returns the name as COMMAND DOCS writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Generic => "generic",
            Self::String => "string",
            Self::Bitmap => "bitmap",
            Self::HyperLogLog => "hyperloglog",
            Self::List => "list",
            Self::Hash => "hash",
            Self::Set => "set",
            Self::PubSub => "pubsub",
            Self::SortedSet => "sorted-set",
            Self::Geo => "geo",
            Self::Stream => "stream",
            Self::Tagged => "tagged",
            Self::Queue => "queue",
            Self::Search => "search",
            Self::Transactions => "transactions",
            Self::Scripting => "scripting",
            Self::Memcached => "memcached",
            Self::Cluster => "cluster",
            Self::Server => "server",
        }
    }
}

/// Requests up to this length are counted as if all bytes were names: too high a bound costs them nothing.
const NAMES_BYTES: usize = 4096;

impl CommandSpec {
    /// Calls `visit` with each key argument and how its shard is to be held.
    pub fn for_each_key<'a>(&self, args: &Args<'a>, mut visit: impl FnMut(&'a [u8], Want)) {
        for spec in self.keys.iter().filter(|spec| spec.flags != "not_key") {
            spec.for_each(args, |at| visit(args.get(at), spec.want()));
        }
    }

    /// Returns an upper bound of a plain command's frame: its arguments and the overhead of each effect. A command that
    /// records more requests it (`Tx::need_room`). O(arguments).
    pub fn frame_bytes_max(&self, args: &Args<'_>) -> u64 {
        // Twice the names: an expired key is removed by its own effect before it is written to.
        let mut names_bytes = args.bytes_total();
        if names_bytes > NAMES_BYTES {
            names_bytes = 0;
            self.for_each_key(args, |key, _| names_bytes += key.len());
        }
        (args.bytes_total() + names_bytes + 64 * args.len() + 64) as u64
    }

    /// Returns true if the command has `flag`.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// Returns true if the command needs a Lua machine.
    pub fn is_scripted(&self) -> bool {
        matches!(self.run, Run::Engine(Verb::Eval | Verb::ScriptLoad | Verb::Library(_)))
    }

    /// Returns true if the command runs a script or a function.
    pub fn calls_script(&self) -> bool {
        matches!(self.run, Run::Engine(Verb::Eval))
    }

    /// Returns the data of the fact that `pick` chooses. O(facts), of which there are few.
    pub fn fact<T>(&self, pick: impl Fn(Fact) -> Option<T>) -> Option<T> {
        self.facts.iter().copied().find_map(pick)
    }

    /// Returns the name as clients see it: `client|id`.
    pub fn reported_name(&self) -> String {
        self.name.to_ascii_lowercase().replace(' ', "|")
    }

    /// Returns the long strings it may store.
    pub fn long_texts<'a>(&self, args: &Args<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let texts = self.has(Flag::PutsString).then(|| args.from(2).iter());
        texts.into_iter().flatten().filter(|text| text.len() > INLINE_BYTES_MAX)
    }

    /// Returns the access reported to clients.
    pub fn reported_access(&self) -> Access {
        if self.has(Flag::ReportedAsReader) { Access::Read } else { self.access }
    }

    /// Returns true if it touches only the values of its keys in the current database, so that it may run on clones of
    /// them.
    pub fn keeps_to_its_keys(&self) -> bool {
        !matches!(self.group, Group::Generic | Group::Search) && self.schemas() != Some(Want::Write)
    }

    /// Returns true if it visits keys that it does not name, anywhere.
    pub fn goes_anywhere(&self) -> bool {
        matches!(self.run, Run::Sweep(_) | Run::Range { .. } | Run::Search(_))
    }

    /// Returns true if a request may read keys it does not name. In a transaction it then needs all shards.
    pub fn follows_names(&self, args: &Args<'_>) -> bool {
        let is_pattern = |word: &[u8]| word.eq_ignore_ascii_case(b"BY") || word.eq_ignore_ascii_case(b"GET");
        self.has(Flag::FollowsNames) && args.from(2).iter().any(is_pattern)
    }

    /// Returns true if it changes keys, or runs commands that may.
    pub fn may_write(&self) -> bool {
        self.writes() || matches!(self.run, Run::Engine(Verb::Eval)) && !self.has(Flag::ReadOnlyScript)
    }

    /// Returns true if a client may wait for its reply: for elements, or for its writes to become durable. Inside MULTI
    /// and scripts it replies at once.
    pub fn may_wait(&self) -> bool {
        matches!(self.run, Run::Blocking { .. }) || self.has(Flag::Waits)
    }

    /// Returns true if it runs a library function.
    pub fn calls_function(&self) -> bool {
        self.has(Flag::CallsFunction)
    }

    /// Returns how it locks the function libraries, if it uses them.
    pub fn libraries(&self) -> Option<Want> {
        match self.run {
            Run::Engine(Verb::Library(_)) if self.writes() => Some(Want::Write),
            Run::Engine(Verb::Library(_)) => Some(Want::Read),
            _ => self.calls_function().then_some(Want::Read),
        }
    }

    /// Returns how it locks the schemas of tagged lists, if it reads them.
    pub fn schemas(&self) -> Option<Want> {
        match self.group {
            Group::Tagged if self.keys.is_empty() && self.writes() => Some(Want::Write),
            Group::Tagged => Some(Want::Read),
            _ => None,
        }
    }

    /// Returns how it locks the declarations of indexes, if it reads them in its transaction.
    pub fn indexes(&self) -> Option<Want> {
        match (self.group, self.run) {
            _ if self.has(Flag::RemovesIndexes) => Some(Want::Write),
            (Group::Search, Run::Local(_)) if self.keys.is_empty() && self.writes() => Some(Want::Write),
            (Group::Search, Run::Local(_)) => Some(Want::Read),
            _ => None,
        }
    }

    /// Adds all shards it touches to a plan.
    pub fn plan(&self, args: &Args<'_>, keyspace: &Keyspace, plan: &mut Plan) {
        self.for_each_key(args, |key, want| plan.add_key(keyspace, key, want));
        if let Some(want) = self.schemas() {
            plan.add_key(keyspace, SCHEMAS, want);
        }
        if let Some(want) = self.indexes() {
            plan.add_key(keyspace, INDEXES, want);
        }
    }

    /// Returns true if it changes keys.
    pub fn writes(&self) -> bool {
        matches!(self.access, Access::Write { .. })
    }

    /// Returns true if CLIENT PAUSE WRITE holds it: others could observe its effects.
    pub fn is_held_with_writes(&self) -> bool {
        self.may_write() || self.has(Flag::Publishes)
    }
}
