//! HRANDFIELD: random fields.

use crate::draw::{Drawable, RandomDraw};
use crate::prelude::*;
use base::Ms;
use base::random::Random;
use values::hash::pair;
use values::{Hash, List};

pub(crate) const COMMANDS: &[CommandSpec] = &[HRANDFIELD];

const HRANDFIELD: CommandSpec = CommandSpec {
    name: "HRANDFIELD",
    syntax: "key [count [WITHVALUES]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"]), Fact::Arguments(&[argument("1", "options", "", "")])],
    group: Group::Hash,
    cost: "O(n), n the fields told",
    since: "6.2.0",
    brief: "Returns one or several random fields of a hash.",
    answer: "bulk: a field, null if the key is absent; with a count array: fields, or fields and values",
    run: Run::Local(random),
};

fn random(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (now, random, keyspace) = (tx.now(), Random::new(tx.random()), tx.keyspace());
    let counts = if args.len() == 2 { None } else { Some(counts(args)?) };
    let Some(hash) = tx.hash(args.get(1))? else {
        match counts {
            None => reply.null(),
            Some(_) => reply.array(0),
        }
        return Ok(());
    };
    let (count, with_values) = counts.unwrap_or((1, false));
    let draw = RandomDraw::of(Fields::of(hash, now, with_values), count, random);
    if counts.is_some() {
        let parts = if with_values && !reply.is_resp3() { 2 } else { 1 };
        reply.array((parts * draw.left()) as usize);
    }
    draw.write(reply, || keyspace.pin(args.get(1)));
    Ok(())
}

/// Reads from arguments 2 and 3 the count and whether values are returned.
fn counts(args: &Args) -> Result<(i64, bool), Failure> {
    let count = parse::int_within(args.get(2), -i64::MAX, i64::MAX)?;
    let with_values = match args.len() {
        3 => false,
        4 if parse::is(args.get(3), "WITHVALUES") => true,
        _ => return Err(Failure::Syntax),
    };
    if with_values && count.unsigned_abs() > (i64::MAX / 2) as u64 {
        return Err(Failure::text("ERR value is out of range"));
    }
    Ok((count, with_values))
}

/// The fields of a hash at a given time, by position.
struct Fields {
    items: List,
    live: u64,
    now: Ms,
    with_values: bool,
}

impl Fields {
    fn of(hash: &Hash, now: Ms, with_values: bool) -> Self {
        Self { items: hash.items(), live: hash.live_len(now), now, with_values }
    }
}

impl Drawable for Fields {
    fn places(&self) -> u64 {
        self.items.len()
    }

    fn live(&self) -> u64 {
        self.live
    }

    fn is_live(&self, place: u64) -> bool {
        let all_are = self.live == self.items.len();
        all_are || self.items.get(place, |item| pair(item).is_live(self.now)).expect("a place within")
    }

    fn write(&self, place: u64, reply: &mut dyn Reply) -> usize {
        let bytes = self.items.get(place, |item| {
            let pair = pair(item);
            if self.with_values && reply.is_resp3() {
                reply.array(2);
            }
            reply.bulk(pair.field);
            if !self.with_values {
                return pair.field.len();
            }
            reply.bulk(pair.value);
            pair.field.len() + pair.value.len()
        });
        bytes.expect("a place within")
    }

    fn heap_bytes(&self) -> u64 {
        self.items.heap_bytes()
    }
}
