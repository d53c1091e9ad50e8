//! FT.CREATE FT.ALTER FT.DROPINDEX FT._LIST: declarations of indexes.

use super::{failure, words};
use crate::prelude::*;
use crate::spec::SearchVerb;
use search::Definition;

pub(crate) const COMMANDS: &[CommandSpec] = &[CREATE, ALTER, DROPINDEX, LIST];

const CREATE: CommandSpec = CommandSpec {
    name: "FT.CREATE",
    syntax: "index [ON HASH] [PREFIX count prefix [prefix ...]] [FILTER filter] [LANGUAGE default_lang] [LANGUAGE_FIELD lang_attribute] [SCORE default_score] [SCORE_FIELD score_attribute] [MAXTEXTFIELDS] [TEMPORARY seconds] [NOOFFSETS] [NOHL] [NOFIELDS] [NOFREQS] [STOPWORDS count [stopword ...]] [SKIPINITIALSCAN] SCHEMA field_name [AS alias] <TEXT | TAG | NUMERIC | GEO> [WITHSUFFIXTRIE] [INDEXEMPTY] [INDEXMISSING] [SORTABLE [UNF]] [NOINDEX] [field_definition ...]",
    arity: Arity::AtLeast(5),
    keys: &[],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the indexes; hashes are indexed in the background",
    since: "1.0.0",
    brief: "Declares an index over the hashes of database 0.",
    answer: "simple: OK; error: there is such an index, or the declaration is wrong",
    run: Run::Local(create),
};

const ALTER: CommandSpec = CommandSpec {
    name: "FT.ALTER",
    syntax: "index [SKIPINITIALSCAN] SCHEMA ADD attribute [options ...]",
    arity: Arity::AtLeast(5),
    keys: &[],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the fields; hashes are indexed in the background",
    since: "1.0.0",
    brief: "Adds fields to an index; SKIPINITIALSCAN changes nothing: all hashes are read.",
    answer: "simple: OK; error: there is no such index, or a field is wrong",
    run: Run::Local(alter),
};

const DROPINDEX: CommandSpec = CommandSpec {
    name: "FT.DROPINDEX",
    syntax: "index [DD]",
    arity: Arity::Between(2, 3),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous],
    facts: &[],
    group: Group::Search,
    cost: "O(1); O(n) with DD, n the keys of the index",
    since: "2.0.0",
    brief: "Deletes an index and its aliases; with DD also its hashes.",
    answer: "simple: OK; error: there is no such index",
    run: Run::Search(SearchVerb::Drop),
};

const LIST: CommandSpec = CommandSpec {
    name: "FT._LIST",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::AdminCategory],
    facts: &[],
    group: Group::Search,
    cost: "O(n log n), n the indexes",
    since: "2.0.0",
    brief: "Returns the names of all indexes.",
    answer: "set: the names, without aliases",
    run: Run::Local(|tx, _, reply| {
        let indexes = tx.index_declarations().indexes;
        reply.set(indexes.len());
        indexes.iter().for_each(|(name, _)| reply.bulk(name));
        Ok(())
    }),
};

/// Removes a declaration and its other names, for FT.DROPINDEX. Its arguments are the same, without DD.
pub static DROP_DECLARATION: CommandSpec = CommandSpec { run: Run::Local(drop_declaration), ..DROPINDEX };

/// The maximum number of indexes, and of aliases.
pub(super) const INDEXES_MAX: usize = 1000;
/// The maximum size of a removed name in a frame, beside the name.
const REMOVAL_BYTES: usize = 128;

fn create(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if tx.database() != 0 {
        return Err(Failure::text("Cannot create index on db != 0"));
    }
    let name = args.get(1);
    if tx.index(name).is_some() || tx.index_alias(name).is_some() {
        return Err(Failure::text("Index already exists"));
    }
    let definition = Definition::parse(name, &words(&args.from(2))).map_err(failure)?;
    if tx.index_declarations().indexes.len() >= INDEXES_MAX {
        return Err(Failure::text(format!("ERR there are {INDEXES_MAX} indexes already, FT.DROPINDEX one first")));
    }
    put(tx, name, &definition)?;
    reply.ok();
    Ok(())
}

fn alter(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (name, mut definition) = definition_of(tx, args.get(1)).ok_or(Failure::text("Unknown index name"))?;
    definition.add_fields(&words(&args.from(2))).map_err(failure)?;
    put(tx, &name, &definition)?;
    reply.ok();
    Ok(())
}

fn put(tx: &mut Tx, name: &[u8], definition: &Definition) -> Outcome {
    let mut declaration = Vec::new();
    definition.encode(&mut declaration);
    Ok(tx.put_index(name, &declaration)?)
}

fn drop_declaration(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (name, _) = resolve_index(tx, args.get(1)).ok_or(Failure::text("Unknown Index name"))?;
    let aliases: Vec<Vec<u8>> = tx
        .index_declarations()
        .aliases
        .into_iter()
        .filter(|(_, index)| *index == name)
        .map(|(alias, _)| alias)
        .collect();
    let names = aliases.iter().chain(std::iter::once(&name));
    tx.need_room(names.map(|name| name.len() + REMOVAL_BYTES).sum::<usize>() as u64)?;
    for alias in &aliases {
        tx.remove_index_alias(alias)?;
    }
    tx.remove_index(&name)?;
    reply.ok();
    Ok(())
}

/// Returns the name and the declaration of the index that has this name or alias. The command must hold the
/// declarations.
pub fn resolve_index(tx: &mut Tx, name: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if let Some(declaration) = tx.index(name) {
        return Some((name.to_vec(), declaration));
    }
    let name = tx.index_alias(name)?;
    let declaration = tx.index(&name)?;
    Some((name, declaration))
}

/// Returns the name and the definition of the index that has this name or alias.
pub(super) fn definition_of(tx: &mut Tx, name: &[u8]) -> Option<(Vec<u8>, Definition)> {
    let (name, declaration) = resolve_index(tx, name)?;
    Some((name, Definition::decode(&declaration).ok()?))
}
