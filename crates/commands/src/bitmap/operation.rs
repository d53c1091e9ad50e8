//! BITOP: combines the bits of several strings. For long strings it runs off the lock.

use crate::prelude::*;
use keyspace::{Computation, Whole};
use values::bits::{BitOperation, Mixing};
use values::{LongString, Value, string};

pub(crate) const COMMANDS: &[CommandSpec] = &[BITOP];

const BITOP: CommandSpec = CommandSpec {
    name: "BITOP",
    syntax: "<AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE> destkey key [key ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(2, "OW UPDATE"), KeySpec::many(3, -1, 1, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Arguments(&[argument("0", "operation", "", "")]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::STRING, "set")] }]),
    ],
    group: Group::Bitmap,
    cost: "O(n), n the bytes of all strings",
    since: "2.6.0",
    brief: "Combines strings bit by bit and stores the result.",
    answer: "int: its length in bytes; 0: all were empty, and the key is removed",
    run: Run::Local(bitop),
};

const OPERATIONS: &[(&str, BitOperation)] = &[
    ("AND", BitOperation::And),
    ("OR", BitOperation::Or),
    ("XOR", BitOperation::Xor),
    ("NOT", BitOperation::Not),
    ("DIFF", BitOperation::Diff),
    ("DIFF1", BitOperation::Diff1),
    ("ANDOR", BitOperation::AndOr),
    ("ONE", BitOperation::One),
];

/// Bytes of the sources, in all, up to which it runs under the locks: eight pieces at most.
const LOCKED_BYTES_MAX: usize = 32 << 10;
/// Bytes of all sources per step: a piece of equal bytes costs 50 µs, since it is packed.
const STEP_BYTES: usize = 8 << 10;

fn bitop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let operation = operation(args)?;
    let key = args.get(2);
    let string = |source| -> Result<_, Failure> { Ok(tx.string(source)?.map(|string| Value::Text(string.to_long()))) };
    let sources = args.from(3).iter().map(string).collect::<Result<Vec<_>, Failure>>()?;
    let begin = move |sources: Vec<Option<Value>>| Operating(Mixing::new(operation, strings(&sources)));
    let result = if bytes_count(&sources) <= LOCKED_BYTES_MAX {
        let mut operating = begin(sources);
        while !operating.step() {}
        operating.result()
    } else {
        let words: Vec<&[u8]> = args.iter().collect();
        tx.compute(&words, sources, move |sources| Box::new(begin(sources)))?
    };
    let bytes = match result {
        None => {
            tx.remove(key);
            0
        }
        Some(Value::Text(result)) if result.bytes_count() <= string::INLINE_BYTES_MAX => {
            let bytes = result.to_vec(0..result.bytes_count());
            tx.need_room((bytes.len() + key.len() + 128) as u64)?;
            tx.put_string(key, &bytes, Expiry::Clear);
            bytes.len()
        }
        Some(result) => {
            let bytes = length(&result);
            tx.put_whole(tx.database(), key, &Whole::plain(result, None))?;
            bytes
        }
    };
    reply.int(bytes as i64);
    Ok(())
}

/// A BITOP in progress.
struct Operating(Mixing);

impl Computation for Operating {
    fn step(&mut self) -> bool {
        self.0.step(STEP_BYTES)
    }

    fn result(&self) -> Option<Value> {
        let result = self.0.result();
        (result.bytes_count() > 0).then(|| Value::Text(result.clone()))
    }

    fn resumed(&self, sources: &[Option<Value>]) -> Option<Box<dyn Computation>> {
        Some(Box::new(Self(self.0.again(strings(sources)))))
    }
}

/// Returns the strings, an empty one for an absent one.
fn strings(sources: &[Option<Value>]) -> Vec<LongString> {
    let string = |source: &Option<Value>| match source {
        Some(Value::Text(string)) => string.clone(),
        _ => LongString::default(),
    };
    sources.iter().map(string).collect()
}

fn bytes_count(sources: &[Option<Value>]) -> usize {
    sources.iter().flatten().map(length).sum()
}

fn length(string: &Value) -> usize {
    match string {
        Value::Text(string) => string.bytes_count(),
        _ => 0,
    }
}

fn operation(args: &Args) -> Result<BitOperation, Failure> {
    let known = OPERATIONS.iter().find(|(name, _)| parse::is(args.get(1), name));
    let &(name, operation) = known.ok_or(Failure::Syntax)?;
    let sources_count = args.len() - 3;
    match operation {
        BitOperation::Not if sources_count != 1 => {
            Err(Failure::text("ERR BITOP NOT must be called with a single source key."))
        }
        BitOperation::Diff | BitOperation::Diff1 | BitOperation::AndOr if sources_count < 2 => {
            Err(Failure::text(format!("ERR BITOP {name} must be called with at least two source keys.")))
        }
        _ => Ok(operation),
    }
}
