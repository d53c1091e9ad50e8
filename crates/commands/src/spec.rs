//! The specification of a command: everything known of it, beside the handler that runs it. Every field is compulsory.

use crate::failure::Failure;
use crate::generic::range::NameRange;
use crate::session::Session;
use base::Ms;
use keyspace::{Keyspace, Plan, SCHEMAS, Tx};
use sync::lock::Want;
use values::ValueType;
use values::string::INLINE_BYTES_MAX;
use wire::{Args, More, OwnedRequest, Reply};

/// What a handler gives back: `Ok` once it has written its whole reply.
pub type Outcome = Result<(), Failure>;

/// One command, or one subcommand (`CLIENT ID`).
pub struct CommandSpec {
    /// In capitals; a subcommand behind its command and a space.
    pub name: &'static str,
    /// The arguments behind the name, as the manuals of Redis write them; empty if there are none.
    pub syntax: &'static str,
    /// How many arguments, the name (and the subcommand's) included.
    pub arity: Arity,
    /// Which arguments are keys; none for a command of the connection or server.
    pub keys: &'static [KeySpec],
    /// What it does to keys.
    pub access: Access,
    /// What else is to be known of it.
    pub flags: &'static [Flag],
    /// The family it belongs to.
    pub group: Group,
    /// Its cost, in the usual notation.
    pub cost: &'static str,
    /// The version of Redis (or of Bobbin: `bobbin 0.1.0`) that had it first.
    pub since: &'static str,
    /// One sentence.
    pub brief: &'static str,
    /// The reply, in words.
    pub answer: &'static str,
    /// Where it runs, and what.
    pub run: Run,
}

/// How many arguments a command takes, its name included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
    /// From the first to the second.
    Between(usize, usize),
}

impl Arity {
    /// Whether `count` arguments are right.
    pub fn allows(self, count: usize) -> bool {
        match self {
            Self::Exactly(exact) => count == exact,
            Self::AtLeast(least) => count >= least,
            Self::Between(least, most) => (least..=most).contains(&count),
        }
    }

    /// As COMMAND INFO tells it: negative for "at least".
    pub fn number(self) -> i64 {
        match self {
            Self::Exactly(exact) => exact as i64,
            Self::AtLeast(least) | Self::Between(least, _) => -(least as i64),
        }
    }
}

/// What a command does to keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Touches no key.
    None,
    /// Looks.
    Read,
    /// Changes. One that never `grows` is let through when the disk is full.
    Write {
        /// Whether it may need more room than before.
        grows: bool,
    },
}

/// What COMMAND INFO tells of a command beyond its access, and what the engine goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// O(1) or O(log n).
    Fast,
    /// For whoever runs the server.
    Admin,
    /// Dangerous on a server in use.
    Dangerous,
    /// Not inside scripts.
    NoScript,
    /// Not inside MULTI.
    NoMulti,
    /// Before AUTH too.
    NoAuth,
    /// While the data is being loaded too.
    Loading,
    /// On a replica that lost its source too.
    Stale,
    /// Not in the slow log.
    SkipSlowlog,
    /// While a script keeps the server busy too.
    AllowBusy,
    /// Nodes of a cluster send it to each other.
    Asking,
    /// Only where `enable-debug-command` allows it.
    Debug,
    /// What it writes tells nobody anything new: COMMAND INFO and ACL name it among those that read.
    ToldAsReader,
    /// It is about messages.
    PubSub,
    /// With a BY or a GET it looks at keys whose names it finds in values.
    FollowsNames,
    /// MONITOR does not tell of it: its commands are told one by one.
    SkipMonitor,
    /// There may be no key in it.
    NoMandatoryKeys,
    /// It puts arguments under keys as they are: long ones are cut before the shards are held.
    PutsString,
    /// Each of its keys is a thing of its own: very many are taken some at a time, outside of transactions and scripts.
    KeyByKey,
    /// Its arguments are keys, each with a value behind it: very many are sorted by their shards before these are held.
    Pairs,
}

/// A family of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Of the connection.
    Connection,
    /// On keys of any kind.
    Generic,
    /// On texts.
    String,
    /// On bits of texts.
    Bitmap,
    /// On texts that estimate how many different elements they have met.
    HyperLogLog,
    /// On lists.
    List,
    /// On hashes.
    Hash,
    /// On sets.
    Set,
    /// Of messages.
    PubSub,
    /// On sorted sets.
    SortedSet,
    /// On sorted sets of places.
    Geo,
    /// On streams.
    Stream,
    /// On tagged lists.
    Tagged,
    /// On queues, which are lists that can do more.
    Queue,
    /// MULTI and what goes with it.
    Transactions,
    /// Of scripts.
    Scripting,
    /// Of the memcached port, on texts.
    Memcached,
    /// Of the server.
    Server,
}

impl Group {
    /// What its blocking commands take from.
    pub fn value_type(self) -> Option<ValueType> {
        match self {
            Self::List | Self::Queue => Some(ValueType::List),
            Self::SortedSet => Some(ValueType::Sorted),
            Self::Stream => Some(ValueType::Stream),
            _ => None,
        }
    }

    /// As COMMAND DOCS writes it.
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
    /// Where the search begins.
    pub begin: Begin,
    /// Which arguments from there on.
    pub find: Find,
    /// Redis's flags of the keys, `RO` first for keys that are only read: `RW UPDATE`. `not_key`, alone, for what is no
    /// key and yet leads a client to a server.
    pub flags: &'static str,
}

/// Where the search for keys begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At this argument.
    Index(usize),
    /// Behind this word, looked for from that argument on.
    Keyword(&'static str, usize),
    /// Not in the request: keys are found in values.
    Unknown,
    /// Behind an option that takes all arguments that follow it. Clients are told to look for it from the end.
    LastOption {
        /// Its name.
        word: &'static str,
        /// Where options begin.
        from: usize,
        /// Options before it that take arguments, and how many.
        counts: &'static [(&'static str, usize)],
    },
    /// Behind an option, the last time that it is given.
    Option {
        /// What it is called.
        word: &'static str,
        /// Where options begin.
        from: usize,
        /// Options that take arguments, and how many.
        counts: &'static [(&'static str, usize)],
        /// Whether clients are told, as of a [`Begin::Keyword`]; else the place is "unknown".
        is_told: bool,
    },
}

/// Which arguments are keys, from where the search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Up to `last` (relative to the begin; negative: from the end of the request), every `step`-th.
    Range {
        /// The last key.
        last: isize,
        /// One key every so many arguments.
        step: usize,
    },
    /// The argument at `number_at` (relative to the begin) tells how many keys there are from `first` on.
    Counted {
        /// Where the number is.
        number_at: usize,
        /// Where the first key is.
        first: usize,
        /// One key every so many arguments.
        step: usize,
    },
    /// The first half of what is left: behind them comes something for each. See [`streams_at`].
    FirstHalf,
    /// Up to the first of these words, which stands behind one key at least.
    Until(&'static [&'static str]),
}

/// Where the keys of XREAD or XREADGROUP begin: behind the word STREAMS, which as a group's name or such means nothing.
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

    /// Keys from argument `at` to the one `last` from the end (-1 the very last), every `step`-th.
    pub const fn many(at: usize, last: isize, step: usize, flags: &'static str) -> Self {
        Self { begin: Begin::Index(at), find: Find::Range { last, step }, flags }
    }

    /// As many keys as argument `at` says, behind it.
    pub const fn counted(at: usize, flags: &'static str) -> Self {
        Self { begin: Begin::Index(at), find: Find::Counted { number_at: 0, first: 1, step: 1 }, flags }
    }

    /// As many keys as argument `at` says, behind it, with something behind each.
    pub const fn counted_pairs(at: usize, flags: &'static str) -> Self {
        Self { begin: Begin::Index(at), find: Find::Counted { number_at: 0, first: 1, step: 2 }, flags }
    }

    /// How the keys' shards are to be held.
    pub fn want(&self) -> Want {
        if self.flags.starts_with("RO") { Want::Read } else { Want::Write }
    }

    /// Calls `visit` with the index of each key argument. A request whose arguments do not fit names no keys: its
    /// handler refuses it.
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
            // Most commands have one key, and every request is asked for it.
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

/// Where the first of these words stands behind the argument at `begin`, or where the request ends.
pub(crate) fn words_at(args: &Args<'_>, begin: usize, words: &[&str]) -> usize {
    let is_one = |at: &usize| words.iter().any(|word| args.get(*at).eq_ignore_ascii_case(word.as_bytes()));
    (begin + 1..args.len()).find(is_one).unwrap_or(args.len())
}

/// Where an option stands among others, of which some take so many arguments.
fn options(args: &Args<'_>, word: &str, from: usize, counts: &[(&str, usize)]) -> impl Iterator<Item = usize> {
    let is = move |at: usize, name: &str| args.get(at).eq_ignore_ascii_case(name.as_bytes());
    let next = |at: usize| (at < args.len()).then_some(at);
    let all = std::iter::successors(next(from), move |at| {
        let taken = counts.iter().find(|(name, _)| is(*at, name));
        next(at + 1 + taken.map_or(0, |(_, count)| *count))
    });
    all.filter(move |at| is(*at, word))
}

/// A handler of the connection or the server.
pub type OfSession = fn(&mut dyn Session, &Args, &mut dyn Reply) -> Outcome;

/// A handler that works on the keys its command names.
pub type Local = fn(&mut Tx, &Args, &mut dyn Reply) -> Outcome;

/// A request as it is kept while it waits.
pub type Settled = fn(&mut Tx, &Args) -> OwnedRequest;

/// [`Settled`], for one that means the same at any time.
pub(crate) fn as_it_is(_: &mut Tx, args: &Args) -> OwnedRequest {
    args.to_owned()
}

/// Begins a walk over all shards, given the arguments and a random number.
pub type BeginSweep = fn(&Args, u64) -> Result<Box<dyn Sweep>, Failure>;

/// Begins a look at many keys, given the arguments. O(1), or what a zeroed byte for each takes.
pub type BeginGather = fn(&Args) -> Box<dyn Gather>;

/// Begins a way through names in their order, given the arguments.
pub type BeginRange = fn(&Args) -> Result<NameRange, Failure>;

/// Where a command runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// Under the locks of the shards of its keys.
    Local(Local),
    /// Likewise, of all arguments behind the name; where they are very many, read shard by shard, and told as of one
    /// instant all the same.
    Gather {
        /// The handler for a few.
        at_once: Local,
        /// Begins the look at many.
        begin: BeginGather,
    },
    /// Likewise, and again, in a writer's hands, when one of its keys gets what it waits for.
    /// `try_now` fails with [`Failure::Nothing`] if there is nothing yet, and has then checked the time-out.
    Blocking {
        /// The handler. Of several keys it looks only at those that [`Tx::may_use`] allows.
        try_now: Local,
        /// Which argument is the time-out.
        timeout: TimeoutAt,
        /// What is replied inside MULTI, at once, if there is nothing. When the time is up it is a null array.
        empty: fn(&mut dyn Reply),
        /// The request as it is kept while it waits. What a vain try has changed stays, unless it was a writer's.
        settled: Settled,
    },
    /// On the connection or the server, without any shard.
    Session(OfSession),
    /// Likewise, in parts where that is long: then others have their turn in between.
    Parts {
        /// The handler for what is short, or is to be done at one instant.
        at_once: OfSession,
        /// Whether a request is long. O(1).
        is_long: fn(&dyn Session, &Args) -> bool,
        /// Begins a long one.
        begin: fn() -> Box<dyn Parts>,
    },
    /// Over all shards of the database, one at a time.
    Sweep(BeginSweep),
    /// Over names in their order, some at a time, each under the lock of its own shard.
    Range {
        /// The handler for one who holds all shards, under the gate.
        at_once: Local,
        /// Begins the way through the names.
        begin: BeginRange,
    },
    /// Over all shards at one instant, under the gate.
    Gate(Local),
    /// By the engine itself.
    Engine(Verb),
}

/// Which argument holds a blocking command's time-out, in seconds unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutAt {
    /// Behind the name.
    First,
    /// At the end.
    Last,
    /// Behind the word BLOCK, before STREAMS, in milliseconds.
    Block,
    /// Behind the word BLOCK, which follows the keys, in milliseconds.
    LastBlock,
}

/// What only the engine can do.
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
    /// EVAL, EVALSHA, FCALL and those that only read
    Eval,
    /// SCRIPT LOAD
    ScriptLoad,
    /// FUNCTION LOAD and what else touches libraries
    Library,
}

/// How a [`Sweep`] goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepNext {
    /// To the next shard.
    Next,
    /// With the same shard, which others may have in between.
    Again,
    /// Not at all.
    Over,
}

/// A look at many keys, of which each is looked at by itself, and again if it may have changed since.
pub trait Gather: Send {
    /// Makes room for what is under one more key. Called for each, before any is looked at: so much is not made at once.
    fn expect(&mut self) {}

    /// Makes room for what a look at some keys finds, before a shard is held: fresh memory may cost much.
    fn prepare(&mut self) {}

    /// Notes what is under `key`, the argument at `at`; gives its deadline.
    fn look(&mut self, tx: &mut Tx, at: usize, key: &[u8]) -> Option<Ms>;

    /// Writes the reply.
    fn finish(self: Box<Self>, reply: &mut dyn Reply);
}

/// A long command of the connection or the server, in parts.
pub trait Parts {
    /// Does some 100 µs of it, and writes what that replies. Not called again after [`More::Done`] or a failure, which is then the
    /// whole reply.
    ///
    /// # Errors
    /// The failure of the command.
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure>;
}

/// Arguments above which a command goes through them in parts.
pub(crate) const PART_ARGUMENTS: usize = 128;

/// Whether a request has very many arguments.
pub(crate) fn has_many_arguments(_: &dyn Session, args: &Args) -> bool {
    args.len() > PART_ARGUMENTS
}

/// Does all parts of a command at once.
pub(crate) fn all_parts(
    mut parts: impl Parts,
    session: &mut dyn Session,
    args: &Args,
    reply: &mut dyn Reply,
) -> Outcome {
    while parts.next(session, args, reply)? != More::Done {}
    Ok(())
}

/// A walk over all shards, one at a time, each under its own lock.
pub trait Sweep: Send {
    /// Where it begins; it ends with the last shard.
    fn first_shard(&self) -> usize {
        0
    }

    /// Passes a shard that is still to be loaded, of which `keys` keys of the database are stored, and more if it
    /// `is_changed`: `false` if its contents are needed, which then are waited for.
    fn pass(&mut self, shard: usize, keys: u64, is_changed: bool) -> bool {
        let _ = (shard, keys, is_changed);
        false
    }

    /// Behind the last shard: one to which it goes back, having passed it.
    fn go_back(&mut self) -> Option<usize> {
        None
    }

    /// Whether names, kinds and deadlines of keys are all that it looks at: values may be unread then.
    fn names_only(&self) -> bool {
        false
    }

    /// Makes room for what a visit finds, before a shard is held: fresh memory may cost much.
    fn prepare(&mut self) {}

    /// Looks at one shard, or at some hundred keys of it.
    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext;

    /// Writes the reply.
    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome;
}

/// Requests up to this long are counted as if they were all names: a bound that is too high costs them nothing.
const NAMES_BYTES: usize = 4096;

impl CommandSpec {
    /// Calls `visit` with each key argument and how its shard is to be held.
    pub fn for_each_key<'a>(&self, args: &Args<'a>, mut visit: impl FnMut(&'a [u8], Want)) {
        for spec in self.keys.iter().filter(|spec| spec.flags != "not_key") {
            spec.for_each(args, |at| visit(args.get(at), spec.want()));
        }
    }

    /// The most bytes that the frame of a plain command takes: its arguments, and what an effect adds to each. One that
    /// records more than that asks for it (`Tx::need_room`). O(arguments).
    pub fn frame_bytes_max(&self, args: &Args<'_>) -> u64 {
        // Twice the names: an expired key is removed by an effect of its own before it is written to.
        let mut names_bytes = args.bytes_total();
        if names_bytes > NAMES_BYTES {
            names_bytes = 0;
            self.for_each_key(args, |key, _| names_bytes += key.len());
        }
        (args.bytes_total() + names_bytes + 64 * args.len() + 64) as u64
    }

    /// Whether the command has `flag`.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// The long texts that it may put.
    pub fn long_texts<'a>(&self, args: &Args<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let texts = self.has(Flag::PutsString).then(|| args.from(2).iter());
        texts.into_iter().flatten().filter(|text| text.len() > INLINE_BYTES_MAX)
    }

    /// What it does to keys, as clients are told.
    pub fn told_access(&self) -> Access {
        if self.has(Flag::ToldAsReader) { Access::Read } else { self.access }
    }

    /// Whether it touches nothing but what its keys hold in the database in use, so that it may run on clones of that.
    pub fn keeps_to_its_keys(&self) -> bool {
        self.group != Group::Generic && self.schemas() != Some(Want::Write)
    }

    /// Whether it goes through keys that it does not name, wherever they are.
    pub fn goes_anywhere(&self) -> bool {
        matches!(self.run, Run::Sweep(_) | Run::Range { .. })
    }

    /// Whether a request may look at keys that it does not name itself. In a transaction it needs all shards then.
    pub fn follows_names(&self, args: &Args<'_>) -> bool {
        let is_pattern = |word: &[u8]| word.eq_ignore_ascii_case(b"BY") || word.eq_ignore_ascii_case(b"GET");
        self.has(Flag::FollowsNames) && args.from(2).iter().any(is_pattern)
    }

    /// Whether it changes keys, or runs what may do so.
    pub fn may_write(&self) -> bool {
        self.writes() || matches!(self.run, Run::Engine(Verb::Eval)) && !self.name.ends_with("_RO")
    }

    /// Whether a client may wait for its reply: until there are elements, or until what it wrote is safe. Inside MULTI and in
    /// scripts it replies at once.
    pub fn may_wait(&self) -> bool {
        matches!(self.run, Run::Blocking { .. }) || matches!(self.name, "WAIT" | "WAITAOF")
    }

    /// Whether it runs a function of a library.
    pub fn calls_function(&self) -> bool {
        matches!(self.run, Run::Engine(Verb::Eval)) && self.name.starts_with("FCALL")
    }

    /// How it holds the libraries of functions, if it touches them.
    pub fn libraries(&self) -> Option<Want> {
        match self.run {
            Run::Engine(Verb::Library) if self.writes() => Some(Want::Write),
            Run::Engine(Verb::Library) => Some(Want::Read),
            _ => self.calls_function().then_some(Want::Read),
        }
    }

    /// How it holds the schemas of tagged lists, if it looks at them.
    pub fn schemas(&self) -> Option<Want> {
        match self.group {
            Group::Tagged if self.keys.is_empty() && self.writes() => Some(Want::Write),
            Group::Tagged => Some(Want::Read),
            _ => None,
        }
    }

    /// Adds the shards of all that it touches to a plan.
    pub fn plan(&self, args: &Args<'_>, keyspace: &Keyspace, plan: &mut Plan) {
        self.for_each_key(args, |key, want| plan.add_key(keyspace, key, want));
        if let Some(want) = self.schemas() {
            plan.add_key(keyspace, SCHEMAS, want);
        }
    }

    /// Whether it changes keys.
    pub fn writes(&self) -> bool {
        matches!(self.access, Access::Write { .. })
    }

    /// Whether CLIENT PAUSE WRITE holds it: what it does others would hear of.
    pub fn is_held_with_writes(&self) -> bool {
        self.may_write() || (self.has(Flag::PubSub) && self.name.ends_with("PUBLISH"))
    }
}
