//! FT.EXPLAIN FT.EXPLAINCLI: a query as it is understood.

use super::declare::definition_of;
use super::{failure, no_such_index, words};
use crate::prelude::*;
use search::{SearchRequest, parse_query};

pub(crate) const COMMANDS: &[CommandSpec] = &[EXPLAIN, EXPLAINCLI];

const EXPLAIN: CommandSpec = CommandSpec {
    name: "FT.EXPLAIN",
    syntax: "index query [option ...]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the length of the query",
    since: "1.0.0",
    brief: "Returns how a query is understood; it takes the options of FT.SEARCH.",
    answer: "bulk: the tree of the query, a part a line; error: there is no such index, or the query is wrong",
    run: Run::Local(|tx, args, reply| {
        reply.bulk(explanation(tx, args)?.as_bytes());
        Ok(())
    }),
};

const EXPLAINCLI: CommandSpec = CommandSpec {
    name: "FT.EXPLAINCLI",
    syntax: "index query [option ...]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the length of the query",
    since: "1.0.0",
    brief: "Returns how a query is understood, line by line.",
    answer: "array: the lines of FT.EXPLAIN; error: there is no such index, or the query is wrong",
    run: Run::Local(|tx, args, reply| {
        let text = explanation(tx, args)?;
        let lines: Vec<&str> = text.split('\n').collect();
        reply.array(lines.len());
        lines.iter().for_each(|line| reply.bulk(line.as_bytes()));
        Ok(())
    }),
};

fn explanation(tx: &mut Tx, args: &Args) -> Result<String, Failure> {
    let (_, definition) = definition_of(tx, args.get(1)).ok_or_else(|| no_such_index(args.get(1)))?;
    let request = SearchRequest::parse(&words(&args.from(3))).map_err(failure)?;
    let query = parse_query(args.get(2), &definition, &request.query_options()).map_err(failure)?;
    let query = request.restricted(query, &definition).map_err(failure)?;
    let mut text = query.explain(&definition);
    if let Some(field) = request.sort.and_then(|sort| definition.field(&sort.field)) {
        text.push_str(&query.explain_order(&definition, field));
    }
    Ok(text)
}
