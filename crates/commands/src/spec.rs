//! The specification of a command: all its metadata and the handler that runs it. Every field is required.

use crate::failure::Failure;
use crate::generic::range::NameRange;
use crate::session::Session;
use base::Ms;
use keyspace::{Keyspace, Plan, SCHEMAS, Tx};
use sync::lock::Want;
use values::ValueType;
use values::string::INLINE_BYTES_MAX;
use wire::{Args, More, OwnedRequest, Reply};

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

/// The properties that COMMAND INFO reports beyond the access, and those the engine needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// O(1) or O(log n).
    Fast,
    /// For administrators.
    Admin,
    /// Dangerous on a production server.
    Dangerous,
    /// Not allowed in scripts.
    NoScript,
    /// Not allowed in MULTI.
    NoMulti,
    /// Allowed before AUTH.
    NoAuth,
    /// Allowed while data is loading.
    Loading,
    /// Allowed on a replica that lost its source.
    Stale,
    /// Not in the slow log.
    SkipSlowlog,
    /// Allowed while a script keeps the server busy.
    AllowBusy,
    /// Sent between cluster nodes.
    Asking,
    /// Allowed only by `enable-debug-command`.
    Debug,
    /// Its writes change no visible data: COMMAND INFO and ACL list it as a read command.
    ToldAsReader,
    /// A Pub/Sub command.
    PubSub,
    /// With BY or GET it reads keys whose names it finds in values.
    FollowsNames,
    /// Not shown by MONITOR, which shows its inner commands one by one.
    SkipMonitor,
    /// The request may have no key.
    NoMandatoryKeys,
    /// Stores arguments under keys unchanged: long ones are split before the shards are locked.
    PutsString,
    /// Keys are independent: outside transactions and scripts, very many keys are processed in batches.
    KeyByKey,
    /// Its arguments are key-value pairs: very many are sorted by shard before the shards are locked.
    Pairs,
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
    /// MULTI and related commands.
    Transactions,
    /// Script commands.
    Scripting,
    /// Commands of the memcached port, on strings.
    Memcached,
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
            Self::Transactions => "transactions",
            Self::Scripting => "scripting",
            Self::Memcached => "memcached",
            Self::Server => "server",
        }
    }
}

/// Which arguments are keys, as COMMAND INFO describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// Where the search starts.
    pub begin: Begin,
    /// Which arguments from there on are keys.
    pub find: Find,
    /// Redis's key flags, `RO` first for keys that are only read: `RW UPDATE`. `not_key`, alone, marks an argument that
    /// is no key but routes a client to a server.
    pub flags: &'static str,
}

/// Where the search for keys starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At this argument.
    Index(usize),
    /// After this word, searched for from that argument on.
    Keyword(&'static str, usize),
    /// Not in the request: keys are named in values.
    Unknown,
    /// After an option that takes all following arguments. Clients are told to search for it from the end.
    LastOption {
        /// Its name.
        word: &'static str,
        /// The first argument that may be an option.
        from: usize,
        /// Earlier options that take arguments, and how many.
        counts: &'static [(&'static str, usize)],
    },
    /// After the last occurrence of an option.
    Option {
        /// Its name.
        word: &'static str,
        /// The first argument that may be an option.
        from: usize,
        /// Options that take arguments, and how many.
        counts: &'static [(&'static str, usize)],
        /// Whether COMMAND INFO reports it as a [`Begin::Keyword`]; else as "unknown".
        is_told: bool,
    },
}

/// Which arguments are keys, from the start of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Up to `last` (relative to the start; negative: from the end of the request), every `step`-th.
    Range {
        /// The last key.
        last: isize,
        /// The distance between keys, in arguments.
        step: usize,
    },
    /// The argument at `number_at` (relative to the start) is the number of keys from `first` on.
    Counted {
        /// The position of the number.
        number_at: usize,
        /// The position of the first key.
        first: usize,
        /// The distance between keys, in arguments.
        step: usize,
    },
    /// The first half of the remaining arguments; the second half has one argument for each key. See [`streams_at`].
    FirstHalf,
    /// Up to the first of these words, which follows at least one key.
    Until(&'static [&'static str]),
}

/// Returns where the keys of XREAD or XREADGROUP start: after the word STREAMS, unless that is a group name or the
/// like.
pub(crate) fn streams_at(args: &Args<'_>) -> Option<usize> {
    let mut at = 1;
    while at < args.len() {
        at += match args.get(at).to_ascii_uppercase().as_slice() {
            b"STREAMS" => return Some(at + 1),
            b"NOACK" => 1,
            b"BLOCK" | b"CLAIM" | b"COUNT" => 2,
            b"GROUP" => 3,
            _ => return None,
        };
    }
    None
}

impl KeySpec {
    /// One key at argument `at`.
    pub const fn one(at: usize, flags: &'static str) -> Self {
        Self { begin: Begin::Index(at), find: Find::Range { last: 0, step: 1 }, flags }
    }

    /// Keys from argument `at` to the `last` from the end (-1 is the last), every `step`-th.
    pub const fn many(at: usize, last: isize, step: usize, flags: &'static str) -> Self {
        Self { begin: Begin::Index(at), find: Find::Range { last, step }, flags }
    }

    /// The number of keys is argument `at`; the keys follow it.
    pub const fn counted(at: usize, flags: &'static str) -> Self {
        Self { begin: Begin::Index(at), find: Find::Counted { number_at: 0, first: 1, step: 1 }, flags }
    }

    /// The number of keys is argument `at`; the keys follow it, each followed by another argument.
    pub const fn counted_pairs(at: usize, flags: &'static str) -> Self {
        Self { begin: Begin::Index(at), find: Find::Counted { number_at: 0, first: 1, step: 2 }, flags }
    }

    /// Returns how to lock the keys' shards.
    pub fn want(&self) -> Want {
        if self.flags.starts_with("RO") { Want::Read } else { Want::Write }
    }

    /// Calls `visit` with the index of each key argument. Malformed requests have no keys: the handler rejects them.
    pub fn for_each(&self, args: &Args<'_>, mut visit: impl FnMut(usize)) {
        let count = args.len();
        if self.find == Find::FirstHalf {
            let begin = streams_at(args).unwrap_or(count);
            let behind = count.saturating_sub(begin);
            return (begin..begin + behind / 2).filter(|_| behind.is_multiple_of(2)).for_each(visit);
        }
        let begin = match self.begin {
            Begin::Index(at) => at,
            Begin::Keyword(word, from) => {
                let found = (from..count).find(|&at| args.get(at).eq_ignore_ascii_case(word.as_bytes()));
                let Some(at) = found else { return };
                at + 1
            }
            Begin::Unknown => return,
            Begin::LastOption { word, from, counts } => {
                let Some(at) = options(args, word, from, counts).next() else { return };
                at + 1
            }
            Begin::Option { word, from, counts, .. } => {
                let Some(at) = options(args, word, from, counts).last() else { return };
                at + 1
            }
        };
        match self.find {
            // Most commands have one key, and this runs for every request.
            Find::Range { last: 0, .. } if begin < count => visit(begin),
            Find::Range { last, step } => {
                let end = if last >= 0 {
                    (begin + last as usize).min(count.wrapping_sub(1))
                } else {
                    count.saturating_sub(last.unsigned_abs())
                };
                (begin..=end).step_by(step).filter(|&at| at < count).for_each(visit);
            }
            Find::Counted { number_at, first, step } => {
                let Some(keys_count) = args.iter().nth(begin + number_at).and_then(values::string::parse_int) else {
                    return;
                };
                let start = begin + first;
                let length = usize::try_from(keys_count).ok().and_then(|keys_count| keys_count.checked_mul(step));
                if let Some(end) = length.and_then(|length| start.checked_add(length)).filter(|&end| end <= count) {
                    (start..end).step_by(step).for_each(&mut visit);
                }
            }
            Find::Until(words) => (begin..words_at(args, begin, words)).for_each(visit),
            Find::FirstHalf => unreachable!("done above"),
        }
    }
}

/// Returns the index of the first of these words after argument `begin`, or the end of the request.
pub(crate) fn words_at(args: &Args<'_>, begin: usize, words: &[&str]) -> usize {
    let is_one = |at: &usize| words.iter().any(|word| args.get(*at).eq_ignore_ascii_case(word.as_bytes()));
    (begin + 1..args.len()).find(is_one).unwrap_or(args.len())
}

/// Returns the positions of an option among others, some of which take the given number of arguments.
fn options(args: &Args<'_>, word: &str, from: usize, counts: &[(&str, usize)]) -> impl Iterator<Item = usize> {
    let is = move |at: usize, name: &str| args.get(at).eq_ignore_ascii_case(name.as_bytes());
    let next = |at: usize| (at < args.len()).then_some(at);
    let all = std::iter::successors(next(from), move |at| {
        let taken = counts.iter().find(|(name, _)| is(*at, name));
        next(at + 1 + taken.map_or(0, |(_, count)| *count))
    });
    all.filter(move |at| is(*at, word))
}

/// A handler for connection and server commands.
pub type OfSession = fn(&mut dyn Session, &Args, &mut dyn Reply) -> Outcome;

/// A handler that works on the keys its command names.
pub type Local = fn(&mut Tx, &Args, &mut dyn Reply) -> Outcome;

/// A function that returns the request in the form kept while it waits.
pub type Settled = fn(&mut Tx, &Args) -> OwnedRequest;

/// A [`Settled`] for requests whose meaning does not depend on time.
pub(crate) fn as_it_is(_: &mut Tx, args: &Args) -> OwnedRequest {
    args.to_owned()
}

/// A function that starts a sweep over all shards, given the arguments and a random number.
pub type BeginSweep = fn(&Args, u64) -> Result<Box<dyn Sweep>, Failure>;

/// A function that starts a lookup of many keys, given the arguments. O(1), or one zeroed byte per key.
pub type BeginGather = fn(&Args) -> Box<dyn Gather>;

/// A function that starts a range scan of names in order, given the arguments.
pub type BeginRange = fn(&Args) -> Result<NameRange, Failure>;

/// Where a command runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// Under the locks of its keys' shards.
    Local(Local),
    /// Like `Local`, with all arguments after the name as keys; very many are read shard by shard, but the reply still
    /// reflects one instant.
    Gather {
        /// The handler for a few keys.
        at_once: Local,
        /// Starts the lookup of many.
        begin: BeginGather,
    },
    /// Like `Local`, and rerun by the request that gives one of its keys what it waits for. `try_now` fails with
    /// [`Failure::Nothing`] if there is nothing yet, after checking the timeout.
    Blocking {
        /// The handler. With several keys it looks only at those [`Tx::may_use`] allows.
        try_now: Local,
        /// The position of the timeout argument.
        timeout: TimeoutAt,
        /// The immediate reply inside MULTI if there is nothing. On timeout the reply is a null array.
        empty: fn(&mut dyn Reply),
        /// The request as kept while it waits. Changes of an unsuccessful try persist, unless it was such a rerun.
        settled: Settled,
    },
    /// On the connection or the server, without any shard.
    Session(OfSession),
    /// Like `Session`, but long requests run in parts so that others get their turn.
    Parts {
        /// The handler for short requests and those that must be atomic.
        at_once: OfSession,
        /// Returns true if a request is long. O(1).
        is_long: fn(&dyn Session, &Args) -> bool,
        /// Starts a long one.
        begin: fn() -> Box<dyn Parts>,
    },
    /// Over all shards of the database, one at a time.
    Sweep(BeginSweep),
    /// Over names in order, in batches, each under the lock of its own shard.
    Range {
        /// The handler when all shards are held, under the gate.
        at_once: Local,
        /// Starts the range scan.
        begin: BeginRange,
    },
    /// Over all shards atomically, under the gate.
    Gate(Local),
    /// By the engine itself.
    Engine(Verb),
}

/// The position of a blocking command's timeout, in seconds unless noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutAt {
    /// After the name.
    First,
    /// The last argument.
    Last,
    /// After the word BLOCK, before STREAMS, in milliseconds.
    Block,
    /// After the word BLOCK, which follows the keys, in milliseconds.
    LastBlock,
}

/// The commands only the engine can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// MULTI
    Multi,
    /// EXEC
    Exec,
    /// DISCARD
    Discard,
    /// WATCH
    Watch,
    /// UNWATCH
    Unwatch,
    /// CLIENT PAUSE
    Pause,
    /// MIGRATE
    Migrate,
    /// MC.FLUSH_ALL
    FlushStrings,
    /// MQ.FLUSH_ALL
    FlushQueues,
    /// MQ.QUEUES
    TellQueues,
    /// TL.DROP
    DropTagged,
    /// WAITAOF
    WaitDisk,
    /// DEBUG SLEEP
    DebugSleep,
    /// DEBUG RELOAD
    DebugReload,
    /// SAVE
    Save,
    /// SHUTDOWN
    Shutdown,
    /// EVAL, EVALSHA, FCALL and their read-only variants
    Eval,
    /// SCRIPT LOAD
    ScriptLoad,
    /// FUNCTION LOAD and other commands on libraries
    Library,
}

/// How a [`Sweep`] continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepNext {
    /// With the next shard.
    Next,
    /// With the same shard, which is unlocked in between.
    Again,
    /// The sweep ends.
    Over,
}

/// A lookup of many keys, each read on its own, and again if it may have changed since.
pub trait Gather: Send {
    /// Reserves space for one more key's value. Called for every key before any is read, so that no single step
    /// allocates much.
    fn expect(&mut self) {}

    /// Reserves space for the results of some keys before a shard is locked: fresh memory may be expensive.
    fn prepare(&mut self) {}

    /// Records the value of `key`, the argument at `at`; returns its deadline.
    fn look(&mut self, tx: &mut Tx, at: usize, key: &[u8]) -> Option<Ms>;

    /// Writes the reply.
    fn finish(self: Box<Self>, reply: &mut dyn Reply);
}

/// A long connection or server command, run in parts.
pub trait Parts {
    /// Runs about 100 µs of the command and writes that part's reply. Not called again after [`More::Done`] or a
    /// failure, which is then the whole reply.
    ///
    /// # Errors
    /// The command's failure.
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure>;
}

/// Commands with more arguments than this run in parts.
pub(crate) const PART_ARGUMENTS: usize = 128;

/// Returns true if a request has very many arguments.
pub(crate) fn has_many_arguments(_: &dyn Session, args: &Args) -> bool {
    args.len() > PART_ARGUMENTS
}

/// Runs all parts of a command at once.
pub(crate) fn all_parts(
    mut parts: impl Parts,
    session: &mut dyn Session,
    args: &Args,
    reply: &mut dyn Reply,
) -> Outcome {
    while parts.next(session, args, reply)? != More::Done {}
    Ok(())
}

/// A pass over all shards, one at a time, each under its own lock.
pub trait Sweep: Send {
    /// The first shard; the sweep ends with the last one.
    fn first_shard(&self) -> usize {
        0
    }

    /// Skips a shard that is not yet loaded, given that it stores `keys` keys of the database, and more if it
    /// `is_changed`. Returns `false` if the sweep needs the contents, and so waits for them.
    fn pass(&mut self, shard: usize, keys: u64, is_changed: bool) -> bool {
        let _ = (shard, keys, is_changed);
        false
    }

    /// After the last shard: returns a skipped shard to go back to.
    fn go_back(&mut self) -> Option<usize> {
        None
    }

    /// Returns true if the sweep reads only names, types and deadlines of keys: values may then be unloaded.
    fn names_only(&self) -> bool {
        false
    }

    /// Reserves space for the results of a visit before a shard is locked: fresh memory may be expensive.
    fn prepare(&mut self) {}

    /// Visits one shard, or some hundred keys of it.
    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext;

    /// Writes the reply.
    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome;
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

    /// Returns the long strings it may store.
    pub fn long_texts<'a>(&self, args: &Args<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let texts = self.has(Flag::PutsString).then(|| args.from(2).iter());
        texts.into_iter().flatten().filter(|text| text.len() > INLINE_BYTES_MAX)
    }

    /// Returns the access reported to clients.
    pub fn told_access(&self) -> Access {
        if self.has(Flag::ToldAsReader) { Access::Read } else { self.access }
    }

    /// Returns true if it touches only the values of its keys in the current database, so that it may run on clones of
    /// them.
    pub fn keeps_to_its_keys(&self) -> bool {
        self.group != Group::Generic && self.schemas() != Some(Want::Write)
    }

    /// Returns true if it visits keys that it does not name, anywhere.
    pub fn goes_anywhere(&self) -> bool {
        matches!(self.run, Run::Sweep(_) | Run::Range { .. })
    }

    /// Returns true if a request may read keys it does not name. In a transaction it then needs all shards.
    pub fn follows_names(&self, args: &Args<'_>) -> bool {
        let is_pattern = |word: &[u8]| word.eq_ignore_ascii_case(b"BY") || word.eq_ignore_ascii_case(b"GET");
        self.has(Flag::FollowsNames) && args.from(2).iter().any(is_pattern)
    }

    /// Returns true if it changes keys, or runs commands that may.
    pub fn may_write(&self) -> bool {
        self.writes() || matches!(self.run, Run::Engine(Verb::Eval)) && !self.name.ends_with("_RO")
    }

    /// Returns true if a client may wait for its reply: for elements, or for its writes to become durable. Inside MULTI
    /// and scripts it replies at once.
    pub fn may_wait(&self) -> bool {
        matches!(self.run, Run::Blocking { .. }) || matches!(self.name, "WAIT" | "WAITAOF")
    }

    /// Returns true if it runs a library function.
    pub fn calls_function(&self) -> bool {
        matches!(self.run, Run::Engine(Verb::Eval)) && self.name.starts_with("FCALL")
    }

    /// Returns how it locks the function libraries, if it uses them.
    pub fn libraries(&self) -> Option<Want> {
        match self.run {
            Run::Engine(Verb::Library) if self.writes() => Some(Want::Write),
            Run::Engine(Verb::Library) => Some(Want::Read),
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

    /// Adds all shards it touches to a plan.
    pub fn plan(&self, args: &Args<'_>, keyspace: &Keyspace, plan: &mut Plan) {
        self.for_each_key(args, |key, want| plan.add_key(keyspace, key, want));
        if let Some(want) = self.schemas() {
            plan.add_key(keyspace, SCHEMAS, want);
        }
    }

    /// Returns true if it changes keys.
    pub fn writes(&self) -> bool {
        matches!(self.access, Access::Write { .. })
    }

    /// Returns true if CLIENT PAUSE WRITE holds it: others could observe its effects.
    pub fn is_held_with_writes(&self) -> bool {
        self.may_write() || (self.has(Flag::PubSub) && self.name.ends_with("PUBLISH"))
    }
}
