//! LPOS: where an element is.

use crate::prelude::*;
use blocks::Direction;
use kinds::List;
use wire::{More, Source};

pub(crate) const COMMANDS: &[Command] = &[LPOS];

const LPOS: Command = Command {
    name: "LPOS",
    syntax: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::List,
    cost: "O(n), n the elements compared",
    since: "6.0.6",
    brief: "Finds the indices of elements that equal one.",
    answer: "int: the index; null: there is none; with COUNT, array: the indices",
    run: Run::Local(lpos),
};

/// Lists with more content than this are searched once the locks are let go, in bytes.
const LOCKED_BYTES_MAX: u64 = 64 << 10;

#[derive(Clone, Copy)]
struct Options {
    direction: Direction,
    /// Matches passed over before the first that counts.
    skip: u64,
    /// `None`: the first alone, not in an array. 0: all.
    count: Option<u64>,
    /// How many elements are compared; 0: all.
    compared_max: u64,
}

fn lpos(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let options = options(args)?;
    let Some(list) = tx.list(args.get(1))? else {
        match options.count {
            Some(_) => reply.array(0),
            None => reply.null(),
        }
        return Ok(());
    };
    if list.content_bytes() > LOCKED_BYTES_MAX {
        reply.stream(Box::new(Search { list: list.clone(), element: args.get(2).to_vec(), options }));
    } else {
        tell(reply, list, args.get(2), options);
    }
    Ok(())
}

fn options(args: &Args) -> Result<Options, Failure> {
    let mut options = Options { direction: Direction::Forward, skip: 0, count: None, compared_max: 0 };
    let mut words = args.from(3).iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(Failure::Syntax)?;
        if parse::is(word, "RANK") {
            let rank = parse::int_within(value, -i64::MAX, i64::MAX)?;
            let zero = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use \
                        negative to start from the end of the list";
            options.skip = rank.unsigned_abs().checked_sub(1).ok_or(Failure::text(zero))?;
            options.direction = if rank < 0 { Direction::Backward } else { Direction::Forward };
        } else if parse::is(word, "COUNT") {
            options.count = Some(parse::int_or(value, 0, i64::MAX, "ERR COUNT can't be negative")? as u64);
        } else if parse::is(word, "MAXLEN") {
            options.compared_max = parse::int_or(value, 0, i64::MAX, "ERR MAXLEN can't be negative")? as u64;
        } else {
            return Err(Failure::Syntax);
        }
    }
    Ok(options)
}

fn tell(reply: &mut dyn Reply, list: &List, element: &[u8], options: Options) {
    let Options { direction, skip, count, compared_max } = options;
    let compared = if compared_max == 0 { u64::MAX } else { compared_max };
    // A clone cut to the part that is compared: a search in it stops where it must.
    let (part, offset) = match direction {
        _ if compared >= list.len() => (list.clone(), 0),
        Direction::Forward => (cut(list, 0, compared), 0),
        Direction::Backward => (cut(list, list.len() - compared, compared), list.len() - compared),
    };
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let mut found = all(&part, element, direction).skip(skip).map(|index| (index + offset) as i64);
    match count {
        None => match found.next() {
            Some(index) => reply.int(index),
            None => reply.null(),
        },
        Some(count) => {
            let indices: Vec<i64> = found.take(if count == 0 { usize::MAX } else { count as usize }).collect();
            reply.array(indices.len());
            indices.into_iter().for_each(|index| reply.int(index));
        }
    }
}

fn cut(list: &List, start: u64, count: u64) -> List {
    let mut part = list.clone();
    part.trim(start, count);
    part
}

/// Indices of the elements that equal `element`, from one end to the other.
pub(super) fn all<'a>(list: &'a List, element: &'a [u8], direction: Direction) -> impl Iterator<Item = u64> + 'a {
    let first = match direction {
        Direction::Forward => Some(0),
        Direction::Backward => list.len().checked_sub(1),
    };
    let mut from = first;
    std::iter::from_fn(move || {
        let index = list.find(element, from?, direction)?;
        from = match direction {
            Direction::Forward => Some(index + 1),
            Direction::Backward => index.checked_sub(1),
        };
        Some(index)
    })
}

/// A search that is made once the locks are let go.
struct Search {
    list: List,
    element: Vec<u8>,
    options: Options,
}

impl Source for Search {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        tell(reply, &self.list, &self.element, self.options);
        More::Done
    }
}
