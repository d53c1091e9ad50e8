//! FT.INFO FT.CURSOR: what the engine knows of an index.

use crate::prelude::*;
use crate::spec::SearchVerb;

pub(crate) const COMMANDS: &[CommandSpec] = &[INFO, CURSOR];

const INFO: CommandSpec = CommandSpec {
    name: "FT.INFO",
    syntax: "index",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the fields",
    since: "1.0.0",
    brief: "Returns the declaration and the figures of an index.",
    answer: "map: its name, options, fields, sizes and progress; error: there is no such index",
    run: Run::Search(SearchVerb::Info),
};

const CURSOR: CommandSpec = CommandSpec {
    name: "FT.CURSOR",
    syntax: "<READ index cursor_id [COUNT read_size] | DEL index cursor_id>",
    arity: Arity::AtLeast(4),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the records read",
    since: "1.1.0",
    brief: "Reads the next records of FT.AGGREGATE WITHCURSOR, or ends the cursor.",
    answer: "array: records as FT.AGGREGATE returns them, and the cursor, 0 at the end; simple: OK with DEL",
    run: Run::Search(SearchVerb::Cursor),
};
