//! ZUNION ZINTER ZDIFF ZINTERCARD, and the first three into a key: what several sorted sets make together, and sets, whose
//! members have the score 1.

use super::range::put_result;
use super::score::score_or;
use super::tell::{Form, tell_own};
use crate::prelude::*;
use blocks::Direction;
use keyspace::WrongType;
use kinds::{Set, Sorted};
use std::collections::HashMap;
use std::ops::ControlFlow;

pub(crate) const COMMANDS: &[Command] = &[ZDIFF, ZDIFFSTORE, ZINTER, ZINTERCARD, ZINTERSTORE, ZUNION, ZUNIONSTORE];

const ZUNION: Command = Command {
    name: "ZUNION",
    syntax: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::SortedSet,
    cost: "O(n+m*log(m)), n the members of all, m those of the result",
    since: "6.2.0",
    brief: "Tells the members of any of several sorted sets.",
    answer: "array: members, the lowest score first; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| tell(tx, args, reply, Operation::Union)),
};

const ZUNIONSTORE: Command = Command {
    name: "ZUNIONSTORE",
    syntax: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::counted(2, "RO ACCESS")],
    access: Access::Write { grows: true },
    since: "2.0.0",
    brief: "Puts the members of any of several sorted sets under a key.",
    answer: "int: members of the result",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, Operation::Union)),
    ..ZUNION
};

const ZINTER: Command = Command {
    name: "ZINTER",
    cost: "O(n*k*log(n)+m*log(m)), n the members of the smallest of k, m those of the result",
    brief: "Tells the members that several sorted sets have in common.",
    run: Run::Local(|tx, args, reply| tell(tx, args, reply, Operation::Intersection)),
    ..ZUNION
};

const ZINTERSTORE: Command = Command {
    name: "ZINTERSTORE",
    cost: "O(n*k*log(n)+m*log(m)), n the members of the smallest of k, m those of the result",
    brief: "Puts the members that several sorted sets have in common under a key.",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, Operation::Intersection)),
    ..ZUNIONSTORE
};

const ZINTERCARD: Command = Command {
    name: "ZINTERCARD",
    syntax: "numkeys key [key ...] [LIMIT limit]",
    cost: "O(n*k*log(n)), n the members of the smallest of k",
    since: "7.0.0",
    brief: "Tells how many members several sorted sets have in common.",
    answer: "int: members, with LIMIT at most so many",
    run: Run::Local(|tx, args, reply| {
        let asked = Asked::of(tx, args, 1, Operation::Intersection, Shape::Count)?;
        let mut count = 0;
        asked.for_each_common(&mut |_, _| {
            count += 1;
            if count == asked.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        reply.int(count as i64);
        Ok(())
    }),
    ..ZUNION
};

const ZDIFF: Command = Command {
    name: "ZDIFF",
    syntax: "numkeys key [key ...] [WITHSCORES]",
    cost: "O(n*k*log(n)+m*log(m)), n the members of the first of k, m those of the result",
    brief: "Tells the members of the first of several sorted sets that no other has.",
    run: Run::Local(|tx, args, reply| tell(tx, args, reply, Operation::Difference)),
    ..ZUNION
};

const ZDIFFSTORE: Command = Command {
    name: "ZDIFFSTORE",
    syntax: "destination numkeys key [key ...]",
    cost: "O(n*k*log(n)+m*log(m)), n the members of the first of k, m those of the result",
    since: "6.2.0",
    brief: "Puts members of the first of several sorted sets that no other has under a key.",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, Operation::Difference)),
    ..ZUNIONSTORE
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

/// What becomes of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Told,
    Stored,
    Count,
}

/// What becomes of the scores of a member that several have.
#[derive(Clone, Copy, Debug)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn of(self, score: f64, other: f64) -> f64 {
        match self {
            // Infinities of both signs.
            Self::Sum => no_nan(score + other),
            Self::Min => score.min(other),
            Self::Max => score.max(other),
        }
    }
}

fn no_nan(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// Members with their scores, one of the sources.
struct Source {
    members: Members,
    weight: f64,
}

impl Source {
    fn score(&self, member: &[u8]) -> Option<f64> {
        self.members.score(member).map(|score| no_nan(score * self.weight))
    }
}

/// What a key holds; no members if it is absent.
enum Members {
    Sorted(Sorted),
    Set(Set),
}

impl Members {
    fn of(tx: &mut Tx, key: &[u8]) -> Result<Self, Failure> {
        match tx.sorted(key) {
            Ok(sorted) => Ok(Self::Sorted(sorted.cloned().unwrap_or_default())),
            Err(WrongType) => Ok(Self::Set(tx.set(key)?.cloned().unwrap_or_default())),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.len(),
            Self::Set(set) => set.len(),
        }
    }

    fn score(&self, member: &[u8]) -> Option<f64> {
        match self {
            Self::Sorted(sorted) => sorted.score(member),
            Self::Set(set) => set.contains(member).then_some(1.0),
        }
    }

    /// Shows all of them, until `visit` breaks.
    fn walk(&self, mut visit: impl FnMut(f64, &[u8]) -> ControlFlow<()>) {
        match self {
            Self::Sorted(sorted) => {
                let _ = sorted.walk(0, sorted.len(), Direction::Forward, &mut visit);
            }
            Self::Set(set) => set.walk(0, set.len(), |member| visit(1.0, member)),
        }
    }
}

/// What is asked for.
struct Asked {
    operation: Operation,
    sources: Vec<Source>,
    aggregate: Aggregate,
    with_scores: bool,
    /// 0: none.
    limit: u64,
}

impl Asked {
    /// Reads `numkeys key [key ...]` from argument `at` on, the keys, and the options behind them.
    fn of(tx: &mut Tx, args: &Args, at: usize, operation: Operation, shape: Shape) -> Result<Self, Failure> {
        let keys_count = parse::int(args.get(at))?;
        if keys_count < 1 {
            let name = String::from_utf8_lossy(args.name()).to_ascii_lowercase();
            return Err(Failure::text(format!("ERR at least 1 input key is needed for '{name}' command")));
        }
        let end = at.saturating_add(1).saturating_add(keys_count as usize);
        if end > args.len() {
            return Err(Failure::Syntax);
        }
        let mut sources = Vec::new();
        for key in args.slice(at + 1, end) {
            sources.push(Source { members: Members::of(tx, key)?, weight: 1.0 });
        }
        let mut asked = Self { operation, sources, aggregate: Aggregate::Sum, with_scores: false, limit: 0 };
        asked.read_options(args.from(end), shape)?;
        Ok(asked)
    }

    fn read_options(&mut self, words: Args<'_>, shape: Shape) -> Result<(), Failure> {
        let has_scores = self.operation != Operation::Difference && shape != Shape::Count;
        let mut at = 0;
        while at < words.len() {
            let (word, left) = (words.get(at), words.len() - at);
            match () {
                () if has_scores && left > self.sources.len() && parse::is(word, "WEIGHTS") => {
                    for source in &mut self.sources {
                        at += 1;
                        source.weight = score_or(words.get(at), "ERR weight value is not a float")?;
                    }
                }
                () if has_scores && left >= 2 && parse::is(word, "AGGREGATE") => {
                    at += 1;
                    self.aggregate = match words.get(at) {
                        word if parse::is(word, "SUM") => Aggregate::Sum,
                        word if parse::is(word, "MIN") => Aggregate::Min,
                        word if parse::is(word, "MAX") => Aggregate::Max,
                        _ => return Err(Failure::Syntax),
                    };
                }
                () if shape == Shape::Told && parse::is(word, "WITHSCORES") => self.with_scores = true,
                () if shape == Shape::Count && left >= 2 && parse::is(word, "LIMIT") => {
                    at += 1;
                    let limit = parse::int_or(words.get(at), 0, i64::MAX, "ERR LIMIT can't be negative")?;
                    self.limit = limit as u64;
                }
                () => return Err(Failure::Syntax),
            }
            at += 1;
        }
        Ok(())
    }

    fn result(&mut self) -> Sorted {
        if self.operation != Operation::Difference {
            // The sum of doubles hangs on their order: it is Redis's, the smallest first.
            self.sources.sort_by_key(|source| source.members.len());
        }
        let mut members: Vec<(f64, Vec<u8>)> = match self.operation {
            Operation::Union => self.union(),
            Operation::Intersection | Operation::Difference => {
                let mut members = Vec::new();
                let mut take = |score: f64, member: &[u8]| {
                    members.push((score, member.to_vec()));
                    ControlFlow::Continue(())
                };
                match self.operation {
                    Operation::Difference => self.for_each_left(&mut take),
                    _ => self.for_each_common(&mut take),
                }
                members
            }
        };
        members.sort_unstable_by(|(score, member), (other_score, other)| {
            score.partial_cmp(other_score).expect("no score is NaN").then_with(|| member.cmp(other))
        });
        let mut result = Sorted::default();
        members.iter().for_each(|(score, member)| result.push(*score, member));
        result
    }

    fn union(&self) -> Vec<(f64, Vec<u8>)> {
        let mut members: HashMap<Vec<u8>, f64> = HashMap::new();
        for source in &self.sources {
            source.members.walk(|score, member| {
                let score = no_nan(score * source.weight);
                match members.get_mut(member) {
                    Some(before) => *before = self.aggregate.of(*before, score),
                    None => drop(members.insert(member.to_vec(), score)),
                }
                ControlFlow::Continue(())
            });
        }
        members.into_iter().map(|(member, score)| (score, member)).collect()
    }

    /// Shows what all sources have, until `visit` breaks.
    fn for_each_common(&self, visit: &mut dyn FnMut(f64, &[u8]) -> ControlFlow<()>) {
        let smallest = (0..self.sources.len()).min_by_key(|at| self.sources[*at].members.len()).unwrap_or(0);
        self.sources[smallest].members.walk(|_, member| {
            let mut scores = self.sources.iter().map(|source| source.score(member));
            let first = scores.next().flatten();
            let score = first.and_then(|first| {
                scores.try_fold(first, |sum, score| score.map(|score| self.aggregate.of(sum, score)))
            });
            score.map_or(ControlFlow::Continue(()), |score| visit(score, member))
        });
    }

    /// Shows what the first source has and no other.
    fn for_each_left(&self, visit: &mut dyn FnMut(f64, &[u8]) -> ControlFlow<()>) {
        let (first, others) = self.sources.split_first().expect("at least one key");
        first.members.walk(|score, member| {
            let is_elsewhere = others.iter().any(|other| other.members.score(member).is_some());
            if is_elsewhere { ControlFlow::Continue(()) } else { visit(score, member) }
        });
    }
}

fn tell(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, operation: Operation) -> Outcome {
    let mut asked = Asked::of(tx, args, 1, operation, Shape::Told)?;
    let form = if asked.with_scores { Form::Scored } else { Form::Member };
    tell_own(reply, asked.result(), form);
    Ok(())
}

fn store(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, operation: Operation) -> Outcome {
    let mut asked = Asked::of(tx, args, 2, operation, Shape::Stored)?;
    put_result(tx, args.get(1), asked.result(), reply)
}
