//! TL.DEFINE TL.SCHEMA TL.UNDEFINE: schemas of lists by name prefix.

use crate::prelude::*;
use base::raw_text;
use keyspace::PREFIX_BYTES_MAX;
use values::tagged::{ATTRIBUTE_BITS_MAX, ATTRIBUTES_MAX, By, ItemType, NAME_BYTES_MAX, Schema, VALUE_BYTES_MAX};

pub(crate) const COMMANDS: &[CommandSpec] = &[DEFINE, SCHEMA, UNDEFINE];

const DEFINE: CommandSpec = CommandSpec {
    name: "TL.DEFINE",
    syntax: "prefix [VALUE <bytes | ANY>] [ATTR name bits [ATTR name bits ...]] [ORDER <POSITION | VALUE type | ATTR name>] [DESC] [UNIQUE]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(n), n the schemas there are",
    since: "bobbin 0.1.0",
    brief: "Sets the schema of new tagged lists whose names begin with a prefix.",
    answer: "simple: OK; error: the prefix has another schema to which this does not only add attributes",
    run: Run::Local(define),
};

const SCHEMA: CommandSpec = CommandSpec {
    name: "TL.SCHEMA",
    syntax: "[prefix]",
    arity: Arity::Between(1, 2),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(n), n the schemas there are",
    since: "bobbin 0.1.0",
    brief: "Returns the schema of a prefix, or of all prefixes.",
    answer: "map: value, order, unique and attributes (a map of bits); null: the prefix has none. Of all: a map of these",
    run: Run::Local(get),
};

const UNDEFINE: CommandSpec = CommandSpec {
    name: "TL.UNDEFINE",
    syntax: "prefix",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(n), n the schemas there are",
    since: "bobbin 0.1.0",
    brief: "Removes the schema of a prefix; existing lists keep theirs.",
    answer: "int: 1: it had one; 0: it had none",
    run: Run::Local(|tx, args, reply| {
        let had = tx.remove_schema(args.get(1))?;
        reply.int(i64::from(had));
        Ok(())
    }),
};

/// The maximum number of schemas.
const SCHEMAS_MAX: usize = 1000;

fn define(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (prefix, schema) = (args.get(1), read(args)?);
    if prefix.len() > PREFIX_BYTES_MAX {
        return Err(Failure::text(format!("ERR a prefix has at most {PREFIX_BYTES_MAX} bytes")));
    }
    match tx.schema(prefix) {
        Some(old) if !schema.extends(&old) => {
            let text = "ERR the prefix has another schema: repeat it and add attributes, or TL.UNDEFINE it first";
            return Err(Failure::text(text));
        }
        Some(old) if old == schema => {}
        None if tx.schemas().len() >= SCHEMAS_MAX => {
            return Err(Failure::text(format!("ERR there are {SCHEMAS_MAX} schemas already, TL.UNDEFINE one first")));
        }
        _ => tx.put_schema(prefix, &schema)?,
    }
    reply.ok();
    Ok(())
}

fn read(args: &Args) -> Result<Schema, Failure> {
    let (mut value_bytes, mut attributes, mut order) = (None, Vec::new(), None);
    let (mut is_descending, mut is_unique) = (false, false);
    let mut words = args.from(2).iter();
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(Failure::Syntax);
        match () {
            () if parse::is(word, "VALUE") => {
                let bytes = next()?;
                value_bytes = if parse::is(bytes, "ANY") { None } else { Some(length(bytes)?) };
            }
            () if parse::is(word, "ATTR") => attributes.push((next()?, bits(next()?)?)),
            () if parse::is(word, "ORDER") => {
                let by = next()?;
                order = match () {
                    () if parse::is(by, "POSITION") => None,
                    () if parse::is(by, "VALUE") => Some((None, next()?)),
                    () if parse::is(by, "ATTR") => Some((Some(()), next()?)),
                    () => return Err(Failure::Syntax),
                };
            }
            () if parse::is(word, "DESC") => is_descending = true,
            () if parse::is(word, "UNIQUE") => is_unique = true,
            () => return Err(Failure::Syntax),
        }
    }
    let mut schema = Schema::new(value_bytes).ok_or(Failure::Syntax)?;
    for (name, bits) in attributes {
        if !schema.add(name, bits) {
            return Err(Failure::text(format!(
                "ERR attribute '{}': at most {ATTRIBUTES_MAX}, each with a name of its own of 1 to {NAME_BYTES_MAX} letters, \
                 digits and _ - . : which is not 'hidden'",
                raw_text::from_bytes(name)
            )));
        }
    }
    let by = match order {
        None => By::Position,
        Some((None, name)) => {
            let text = "ERR values are ordered as int, uint, float, double, text or bytes";
            By::Value(ItemType::of_name(name).ok_or(Failure::text(text))?)
        }
        Some((Some(()), name)) => {
            By::Attribute(schema.attribute(name).ok_or_else(|| super::fault::no_attribute(name))?)
        }
    };
    if !schema.set_order(by, is_descending) {
        return Err(Failure::text("ERR DESC requires ORDER VALUE or ORDER ATTR"));
    }
    if is_unique {
        schema.set_unique();
    }
    Ok(schema)
}

fn length(argument: &[u8]) -> Result<u32, Failure> {
    let text = "ERR VALUE is ANY or a length of 1 to 2048 bytes";
    parse::int_or(argument, 1, i64::from(VALUE_BYTES_MAX), text).map(|bytes| bytes as u32)
}

fn bits(argument: &[u8]) -> Result<u8, Failure> {
    let text = "ERR an attribute has 1 to 32 bits";
    parse::int_or(argument, 1, i64::from(ATTRIBUTE_BITS_MAX), text).map(|bits| bits as u8)
}

fn get(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if args.len() > 1 {
        match tx.schema(args.get(1)) {
            Some(schema) => write_schema(reply, &schema),
            None => reply.null(),
        }
        return Ok(());
    }
    let schemas = tx.schemas();
    reply.map(schemas.len());
    for (prefix, schema) in schemas {
        reply.bulk(&prefix);
        write_schema(reply, &schema);
    }
    Ok(())
}

/// Writes a schema as a map.
pub(super) fn write_schema(reply: &mut dyn Reply, schema: &Schema) {
    reply.map(4);
    write_fields(reply, schema);
}

/// Writes the four fields of a schema.
pub(super) fn write_fields(reply: &mut dyn Reply, schema: &Schema) {
    reply.bulk(b"value");
    match schema.value_bytes() {
        Some(bytes) => reply.int(i64::from(bytes)),
        None => reply.bulk(b"any"),
    }
    reply.bulk(b"order");
    let direction = if schema.is_descending() { " desc" } else { "" };
    let order = match schema.by() {
        By::Position => "position".to_owned(),
        By::Value(of) => format!("value {}{direction}", of.name()),
        By::Attribute(number) => {
            format!("attr {}{direction}", String::from_utf8_lossy(&schema.attributes()[number].name))
        }
    };
    reply.bulk(order.as_bytes());
    reply.bulk(b"unique");
    reply.int(i64::from(schema.is_unique()));
    reply.bulk(b"attributes");
    reply.map(schema.attributes().len());
    for attribute in schema.attributes() {
        reply.bulk(&attribute.name);
        reply.int(i64::from(attribute.bits));
    }
}
