//! ZRANDMEMBER: members drawn at random.
//!
//! ```text
//! count > 0, few of many    ranks drawn until enough are different
//! count > 0, more           one walk, in which each member is taken as likely as it must be
//! count < 0                 ranks drawn, as many as asked for
//! ```
//!
//! What is long is told from a clone, in steps.

use super::tell::Form;
use crate::prelude::*;
use base::random::Random;
use blocks::Direction;
use keyspace::Pin;
use kinds::Sorted;
use std::collections::HashSet;
use std::ops::ControlFlow;
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[Command] = &[ZRANDMEMBER];

const ZRANDMEMBER: Command = Command {
    name: "ZRANDMEMBER",
    syntax: "key [count [WITHSCORES]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members drawn, n those of the sorted set",
    since: "6.2.0",
    brief: "Tells one member of a sorted set, or several, drawn at random.",
    answer: "bulk: a member, null: the key is absent; with a count array: members, as asked for beside their scores",
    run: Run::Local(random),
};

fn random(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let mut random = Random::new(tx.random());
    if args.len() == 2 {
        match tx.sorted(args.get(1))? {
            Some(sorted) => {
                sorted.get(random.below(sorted.len()), |_, member| reply.bulk(member));
            }
            None => reply.null(),
        }
        return Ok(());
    }
    let count = parse::int_within(args.get(2), -i64::MAX, i64::MAX)?;
    let form = match args.len() {
        3 => Form::Member,
        4 if parse::is(args.get(3), "WITHSCORES") => Form::Scored,
        _ => return Err(Failure::Syntax),
    };
    if form == Form::Scored && count.unsigned_abs() > (i64::MAX / 2) as u64 {
        return Err(Failure::text("ERR value is out of range"));
    }
    let keyspace = tx.keyspace();
    let Some(sorted) = tx.sorted(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    let mut draw = Draw::of(sorted, count, random);
    form.begin(reply, draw.left());
    if draw.tell_some(sorted, form, reply) == More::Follows {
        let pin = keyspace.pin(args.get(1));
        reply.stream(Box::new(Drawing { sorted: sorted.clone(), draw, form, pin }));
    }
    Ok(())
}

/// Members yet to be drawn.
enum Draw {
    /// These ranks.
    Ranks(Vec<u64>),
    /// So many of those from a rank on, each once.
    Walk { at: u64, left: u64, random: Random },
    /// So many, again and again.
    Again { left: u64, random: Random },
}

/// Up to so many ranks are drawn at once.
const RANKS_MAX: u64 = 4096;
/// Work of one step: members passed, or drawn.
const STEP_MEMBERS: u64 = 4096;
/// About what a header and a score take, in bytes.
const HEADER_BYTES: usize = 16;

impl Draw {
    fn of(sorted: &Sorted, count: i64, mut random: Random) -> Self {
        let len = sorted.len();
        if count < 0 {
            return Self::Again { left: count.unsigned_abs(), random };
        }
        let count = (count as u64).min(len);
        if count > RANKS_MAX || count > len / 2 {
            return Self::Walk { at: 0, left: count, random };
        }
        let (mut seen, mut ranks) = (HashSet::new(), Vec::new());
        while (ranks.len() as u64) < count {
            let rank = random.below(len);
            if seen.insert(rank) {
                ranks.push(rank);
            }
        }
        Self::Ranks(ranks)
    }

    fn left(&self) -> u64 {
        match self {
            Self::Ranks(ranks) => ranks.len() as u64,
            Self::Walk { left, .. } | Self::Again { left, .. } => *left,
        }
    }

    /// Tells about as much as one step may.
    fn tell_some(&mut self, sorted: &Sorted, form: Form, reply: &mut dyn Reply) -> More {
        let mut bytes_left = SOURCE_STEP_BYTES;
        let mut tell = |score: f64, member: &[u8]| {
            form.tell(reply, score, member);
            bytes_left = bytes_left.saturating_sub(member.len() + HEADER_BYTES);
            bytes_left > 0
        };
        match self {
            Self::Ranks(ranks) => {
                while let Some(rank) = ranks.pop() {
                    if sorted.get(rank, &mut tell) == Some(false) {
                        break;
                    }
                }
            }
            Self::Walk { at, left, random } => {
                let count = STEP_MEMBERS.min(sorted.len() - *at);
                let _ = sorted.walk(*at, count, Direction::Forward, &mut |score, member| {
                    let is_taken = random.below(sorted.len() - *at) < *left;
                    *at += 1;
                    if is_taken {
                        *left -= 1;
                    }
                    if is_taken && !tell(score, member) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            }
            Self::Again { left, random } => {
                for _ in 0..STEP_MEMBERS.min(*left) {
                    *left -= 1;
                    if sorted.get(random.below(sorted.len()), &mut tell) == Some(false) {
                        break;
                    }
                }
            }
        }
        if self.left() > 0 { More::Follows } else { More::Done }
    }
}

/// What is drawn from a clone.
struct Drawing {
    sorted: Sorted,
    draw: Draw,
    form: Form,
    pin: Pin,
}

impl Source for Drawing {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.draw.tell_some(&self.sorted, self.form, reply)
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.sorted.heap_bytes())
    }
}
