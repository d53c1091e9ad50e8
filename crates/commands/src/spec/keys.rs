//! Which arguments of a request are keys, and how the command uses them.

use sync::lock::Want;
use wire::Args;

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
    /// How the reported flags follow from a request's arguments.
    pub varies: Varies,
    /// A note for clients; may be empty.
    pub note: &'static str,
}

/// How COMMAND GETKEYSANDFLAGS derives the flags of a request's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varies {
    /// Always those of the key spec.
    Never,
    /// Always these.
    Reported(&'static str),
    /// By whether an option, from argument `from` on, reads the old string.
    IfReadsOld {
        /// The first argument that may be an option.
        from: usize,
        /// The flags if one does.
        reads: &'static str,
        /// The flags if none does.
        blind: &'static str,
    },
    /// These unless an operation of BITFIELD writes.
    UnlessBitfieldWrites(&'static str),
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
        is_reported: bool,
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
    /// Keys found in this way.
    pub const fn found(begin: Begin, find: Find, flags: &'static str) -> Self {
        Self { begin, find, flags, varies: Varies::Never, note: "" }
    }

    /// The same keys, with a note.
    pub const fn noted(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// The same keys, with flags that vary.
    pub const fn varying(self, varies: Varies) -> Self {
        Self { varies, ..self }
    }

    /// One key at argument `at`.
    pub const fn one(at: usize, flags: &'static str) -> Self {
        Self::found(Begin::Index(at), Find::Range { last: 0, step: 1 }, flags)
    }

    /// Keys from argument `at` to the `last` from the end (-1 is the last), every `step`-th.
    pub const fn many(at: usize, last: isize, step: usize, flags: &'static str) -> Self {
        Self::found(Begin::Index(at), Find::Range { last, step }, flags)
    }

    /// The number of keys is argument `at`; the keys follow it.
    pub const fn counted(at: usize, flags: &'static str) -> Self {
        Self::found(Begin::Index(at), Find::Counted { number_at: 0, first: 1, step: 1 }, flags)
    }

    /// The number of keys is argument `at`; the keys follow it, each followed by another argument.
    pub const fn counted_pairs(at: usize, flags: &'static str) -> Self {
        Self::found(Begin::Index(at), Find::Counted { number_at: 0, first: 1, step: 2 }, flags)
    }

    /// Returns true if both find the same arguments.
    pub fn finds_as(&self, other: &Self) -> bool {
        let is_one = |spec: &Self| matches!(spec.find, Find::Range { last: 0, .. });
        self.begin == other.begin && (self.find == other.find || is_one(self) && is_one(other))
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
