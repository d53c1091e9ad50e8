//! BITFIELD BITFIELD_RO: integers of any width within a string.

use super::{OUT_OF_RANGE, offset, window};
use crate::prelude::*;
use base::limits::BULK_BYTES_MAX;
use values::StringValue;
use values::bitfield::{Field, Overflow, WINDOW_BYTES};

pub(crate) const COMMANDS: &[CommandSpec] = &[BITFIELD, BITFIELD_RO];

const BITFIELD: CommandSpec = CommandSpec {
    name: "BITFIELD",
    syntax: "key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | \
             INCRBY encoding offset increment> ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE VARIABLE_FLAGS")
        .noted("Reads with GET, writes with SET and INCRBY.")
        .varying(Varies::UnlessBitfieldWrites("RO ACCESS"))],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Arguments(&[
            argument("1", "operation", "", ""),
            argument("1.1", "write", "", ""),
            argument("1.1.1", "write_operation", "", ""),
            argument("1.1.1.0.2", "", "integer", ""),
        ]),
        Fact::Reads(CountedReads::ChangedIfGetAlone),
        Fact::Events(&[EventRule { instead_of: "setrange", events: &[(Classes::STRING, "setbit")] }]),
    ],
    group: Group::Bitmap,
    cost: "O(n), n the operations",
    since: "3.2.0",
    brief: "Reads, sets and increments integers of any width within a string.",
    answer: "array: for GET and INCRBY the number, for SET the one before; null: it does not fit",
    run: Run::Local(|tx, args, reply| bitfield(tx, args, reply, true)),
};

const BITFIELD_RO: CommandSpec = CommandSpec {
    name: "BITFIELD_RO",
    syntax: "key [GET encoding offset ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Bitmap,
    cost: "O(n), n the operations",
    since: "6.0.0",
    brief: "Reads integers of any width within a string.",
    answer: "array: the numbers",
    run: Run::Local(|tx, args, reply| bitfield(tx, args, reply, false)),
};

/// An integer, and the operation on it.
struct Operation {
    field: Field,
    /// The offset of its first bit.
    at: u64,
    action: Action,
}

enum Action {
    Get,
    Set(i64, Overflow),
    Add(i64, Overflow),
}

impl Operation {
    /// Returns the start of its bytes.
    fn start(&self) -> usize {
        (self.at / 8) as usize
    }

    /// Returns the end of its bytes.
    fn end(&self) -> usize {
        (self.at + u64::from(self.field.bits)).div_ceil(8) as usize
    }

    /// Returns the reply and, if it changes something, the bytes from [`Operation::start`] on.
    fn run(&self, text: Option<StringValue<'_>>) -> (Option<i64>, Option<[u8; WINDOW_BYTES]>) {
        let mut window = window(text, self.start());
        let (field, at) = (self.field, (self.at % 8) as u32);
        let before = field.get(window, at);
        let (after, reply) = match self.action {
            Action::Get => return (Some(before), None),
            // Unsigned, a negative value is out of range.
            Action::Set(value, overflow) => (
                field.fit(if field.is_signed { signed(value, field.bits) } else { i128::from(value as u64) }, overflow),
                Some(before),
            ),
            Action::Add(by, overflow) => {
                let sum = field.fit(i128::from(before) + i128::from(by), overflow);
                (sum, sum)
            }
        };
        let Some(after) = after else { return (None, None) };
        if after == before {
            return (reply, None);
        }
        field.put(&mut window, at, after);
        (reply, Some(window))
    }
}

/// Returns a number to be stored as signed in `bits` bits. One so low that its distance from the highest number
/// overflows 64 bits counts as high in Redis.
fn signed(value: i64, bits: u32) -> i128 {
    let most = i64::MAX >> (64 - bits);
    if bits < 64 && most.checked_sub(value).is_none() {
        i128::from(value).wrapping_add(1 << 64)
    } else {
        i128::from(value)
    }
}

fn bitfield(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, may_write: bool) -> Outcome {
    let operations = parse(args)?;
    let writes = || operations.iter().filter(|operation| !matches!(operation.action, Action::Get));
    let Some(end) = writes().map(Operation::end).max() else {
        let text = tx.string(args.get(1))?;
        reply.array(operations.len());
        operations.iter().for_each(|operation| write_number(operation.run(text).0, reply));
        return Ok(());
    };
    if !may_write {
        return Err(Failure::text("ERR BITFIELD_RO only supports the GET subcommand"));
    }
    // An effect for each change, one for zeros, one for the removal of an expired value.
    tx.need_room(((writes().count() + 2) * (args.get(1).len() + 64)) as u64)?;
    let mut text = tx.string_mut(args.get(1), Absent::Create)?.expect("is to be made");
    if !text.has_memory_for(end) {
        return Err(Failure::OutOfMemory);
    }
    // Up to the last one, even if none fits.
    if text.bytes_count() < end {
        text.overwrite(end - 1, &[0]);
    }
    reply.array(operations.len());
    for operation in &operations {
        let (number, changed) = operation.run(text.string());
        if let Some(window) = changed {
            text.overwrite(operation.start(), &window[..operation.end() - operation.start()]);
        }
        write_number(number, reply);
    }
    Ok(())
}

fn write_number(number: Option<i64>, reply: &mut dyn Reply) {
    match number {
        Some(number) => reply.int(number),
        None => reply.null(),
    }
}

fn parse(args: &Args) -> Result<Vec<Operation>, Failure> {
    let mut operations = Vec::new();
    let mut overflow = Overflow::Wrap;
    let mut words = args.from(2).iter();
    while let Some(word) = words.next() {
        let left = words.len();
        if parse::is(word, "OVERFLOW") && left >= 1 {
            overflow = match words.next().expect("counted") {
                word if parse::is(word, "WRAP") => Overflow::Wrap,
                word if parse::is(word, "SAT") => Overflow::Saturate,
                word if parse::is(word, "FAIL") => Overflow::Fail,
                _ => return Err(Failure::text("ERR Invalid OVERFLOW type specified")),
            };
            continue;
        }
        let needed = ["GET", "SET", "INCRBY"].iter().position(|name| parse::is(word, name));
        let which = needed.filter(|which| left >= if *which == 0 { 2 } else { 3 }).ok_or(Failure::Syntax)?;
        let field = Field::parse(words.next().expect("counted")).ok_or(Failure::text(
            "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
        ))?;
        let at = offset(words.next().expect("counted"), Some(field.bits))?;
        let mut number = || parse::int(words.next().expect("counted"));
        let action = match which {
            0 => Action::Get,
            1 => Action::Set(number()?, overflow),
            _ => Action::Add(number()?, overflow),
        };
        let operation = Operation { field, at, action };
        if which > 0 && operation.end() > BULK_BYTES_MAX {
            return Err(OUT_OF_RANGE);
        }
        operations.push(operation);
    }
    Ok(operations)
}
