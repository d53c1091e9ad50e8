//! TL.INSERT TL.PUSH TL.MINSERT: insert items into tagged lists.

use super::conditions::assign;
use super::{fault, view};
use crate::prelude::*;
use keyspace::TaggedMut;
use std::collections::HashMap;
use std::sync::Arc;
use values::Tagged;
use values::tagged::{Schema, TaggedItem, Tags};

pub(crate) const COMMANDS: &[CommandSpec] = &[INSERT, PUSH, MINSERT];

const INSERT: CommandSpec = CommandSpec {
    name: "TL.INSERT",
    syntax: "key pos value [HIDDEN] [name=n ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(log(n)), n the items of the list",
    since: "bobbin 0.1.0",
    brief: "Inserts an item into a tagged list: 0 is the head, -1 the tail.",
    answer: "int: items after that, hidden ones too; error: there is no schema, or the item does not fit it",
    run: Run::Local(insert),
};

const PUSH: CommandSpec = CommandSpec {
    name: "TL.PUSH",
    syntax: "key <HEAD | TAIL> value [HIDDEN] [name=n ...] [ITEM value [HIDDEN] [name=n ...] ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "tl.insert", events: &[(Classes::MODULE, "tl.push")] }])],
    group: Group::Tagged,
    cost: "O(m*log(n)), n the items of the list, m those that come",
    since: "bobbin 0.1.0",
    brief: "Inserts items at an end of a tagged list, one after another.",
    answer: "int: items after that, hidden ones too; error: there is no schema, or the item does not fit it",
    run: Run::Local(push),
};

const MINSERT: CommandSpec = CommandSpec {
    name: "TL.MINSERT",
    syntax: "numkeys key [key ...] [PARTIAL] [ITEM key pos value [HIDDEN] [name=n ...] ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(m*log(n)), n the items of the lists, m those that come",
    since: "bobbin 0.1.0",
    brief: "Inserts items into several tagged lists: all, or PARTIAL up to a fault.",
    answer: "int: items that came. PARTIAL: array: how many, and the error of the next item, or null",
    run: Run::Local(insert_many),
};

/// An item of a request.
struct NewItem<'a> {
    pos: i64,
    value: &'a [u8],
    is_hidden: bool,
    /// Its attributes.
    words: Vec<&'a [u8]>,
}

impl<'a> NewItem<'a> {
    fn new(pos: i64, value: &'a [u8]) -> Self {
        Self { pos, value, is_hidden: false, words: Vec::new() }
    }

    /// Adds a word after the value.
    fn add(&mut self, word: &'a [u8]) {
        match parse::is(word, "HIDDEN") {
            true => self.is_hidden = true,
            false => self.words.push(word),
        }
    }
}

/// A list being inserted into, including the items checked so far.
struct Target {
    schema: Arc<Schema>,
    list: Tagged,
}

impl Target {
    fn of(tx: &mut Tx, key: &[u8], wanted: &[NewItem<'_>]) -> Result<Self, Failure> {
        let Some(list) = view::list(tx, key)? else {
            let schema = Arc::new(tx.schema_of(key).ok_or_else(fault::no_schema)?);
            return Ok(Self { list: Tagged::new(schema.clone()), schema });
        };
        let name_of = |word: &[u8]| word.split(|sign| *sign == b'=').next().unwrap_or_default().to_vec();
        let is_enough = |schema: &Schema| {
            wanted.iter().flat_map(|item| &item.words).all(|word| schema.attribute(&name_of(word)).is_some())
        };
        let schema = view::schema(tx, key, &list, is_enough);
        view::expect_growth(tx, &list, &schema)?;
        Ok(Self { list, schema })
    }

    /// Returns an item's position and tags, if it is valid.
    fn look(&self, item: &NewItem<'_>) -> Result<(u64, Tags), Failure> {
        if !self.schema.takes_value(item.value) {
            return Err(fault::no_value(&self.schema, item.value));
        }
        let mut tags = Tags { is_hidden: item.is_hidden, ..Tags::default() };
        assign(&mut tags.attributes, &item.words, &self.schema)?;
        if self.list.has_unique(item.value) {
            return Err(fault::not_unique());
        }
        let at = match self.schema.rank(item.value, |number| tags.attributes[number]) {
            Some(rank) => view::place(&self.list, &self.schema, &rank),
            None => position(item.pos, self.list.len()),
        };
        Ok((at, tags))
    }

    /// Adds the item to it.
    fn take(&mut self, at: u64, item: TaggedItem<'_>) {
        if *self.list.schema() != self.schema {
            self.list.grow(self.schema.clone());
        }
        self.list.insert(at, &[item]);
    }

    /// Returns an upper bound of the guard's record for an item.
    fn room(&self, key: &[u8], item: &NewItem<'_>) -> u64 {
        TaggedMut::room(&self.schema, key, item.value.len())
    }
}

/// Resolves a request's position in a list of `len` items: negative ones count from the tail.
pub(super) fn position(pos: i64, len: u64) -> u64 {
    match u64::try_from(pos) {
        Ok(pos) => pos.min(len),
        Err(_) => (len + 1).saturating_sub(pos.unsigned_abs()),
    }
}

fn insert(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    tx.value::<Tagged>(key)?;
    let mut wanted = NewItem::new(parse::int(args.get(2))?, args.get(3));
    args.from(4).iter().for_each(|word| wanted.add(word));
    put(tx, key, &[wanted], reply)
}

fn push(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    tx.value::<Tagged>(key)?;
    let pos = end(args.get(2))?;
    let (mut wanted, mut at) = (vec![NewItem::new(pos, args.get(3))], 4);
    while at < args.len() {
        if parse::is(args.get(at), "ITEM") {
            let value = (at + 1 < args.len()).then(|| args.get(at + 1)).ok_or(Failure::Syntax)?;
            wanted.push(NewItem::new(pos, value));
            at += 2;
        } else {
            wanted.last_mut().expect("one at least").add(args.get(at));
            at += 1;
        }
    }
    put(tx, key, &wanted, reply)
}

/// Returns the position of an end.
pub(super) fn end(word: &[u8]) -> Result<i64, Failure> {
    match () {
        () if parse::is(word, "HEAD") => Ok(0),
        () if parse::is(word, "TAIL") => Ok(-1),
        () => Err(Failure::Syntax),
    }
}

/// Inserts items one after another, all or none.
fn put(tx: &mut Tx, key: &[u8], wanted: &[NewItem<'_>], reply: &mut dyn Reply) -> Outcome {
    let mut target = Target::of(tx, key, wanted)?;
    if let [item] = wanted {
        // The usual case: the list itself is changed, and has no clones.
        let (at, tags) = target.look(item)?;
        let Target { schema, list, .. } = target;
        let len = list.len() + 1;
        drop(list);
        let mut list = tx.tagged_mut(key, Absent::Create)?.expect("it is made");
        list.insert(&schema, at, &[tags.with(item.value)])?;
        reply.int(len as i64);
        return Ok(());
    }
    let mut looked = Vec::with_capacity(wanted.len());
    for item in wanted {
        let (at, tags) = target.look(item)?;
        target.take(at, tags.with(item.value));
        looked.push((at, tags));
    }
    tx.need_room(wanted.iter().map(|item| target.room(key, item)).sum())?;
    let (schema, len) = (target.schema, target.list.len());
    drop(target.list);
    put_looked(tx, key, &schema, wanted.iter().map(|item| item.value).zip(looked))?;
    reply.int(len as i64);
    Ok(())
}

/// Inserts checked items at their positions: consecutive ones together.
fn put_looked<'a>(
    tx: &mut Tx,
    key: &[u8],
    schema: &Schema,
    items: impl Iterator<Item = (&'a [u8], (u64, Tags))>,
) -> Result<(), Failure> {
    let mut list = tx.tagged_mut(key, Absent::Create)?.expect("it is made");
    let items: Vec<(&[u8], u64, Tags)> = items.map(|(value, (at, tags))| (value, at, tags)).collect();
    let mut rest = &items[..];
    while let Some((_, first, _)) = rest.first() {
        // Each right after its predecessor, or each before it.
        let rising = rest.iter().zip(*first..).take_while(|((_, at, _), expected)| at == expected).count();
        let falling = rest.iter().take_while(|(_, at, _)| at == first).count();
        let run = &rest[..rising.max(falling)];
        let mut together: Vec<TaggedItem<'_>> = run.iter().map(|(value, _, tags)| tags.with(value)).collect();
        if falling > rising {
            together.reverse();
        }
        list.insert(schema, *first, &together)?;
        rest = &rest[run.len()..];
    }
    Ok(())
}

fn insert_many(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let numkeys = parse::int_or(args.get(1), 1, i64::MAX, "ERR numkeys should be greater than 0")?;
    let end = usize::try_from(numkeys).ok().and_then(|count| count.checked_add(2)).filter(|end| *end <= args.len());
    let end = end.ok_or(Failure::text("ERR Number of keys can't be greater than number of args"))?;
    let keys: Vec<&[u8]> = (2..end).map(|at| args.get(at)).collect();
    let is_partial = end < args.len() && parse::is(args.get(end), "PARTIAL");
    if !is_partial {
        for key in &keys {
            tx.value::<Tagged>(key)?;
        }
    }
    let mut wanted: Vec<(&[u8], NewItem<'_>)> = Vec::new();
    let mut at = end + usize::from(is_partial);
    while at < args.len() {
        if !parse::is(args.get(at), "ITEM") || at + 3 >= args.len() {
            return Err(Failure::Syntax);
        }
        let (key, pos, value) = (args.get(at + 1), parse::int(args.get(at + 2))?, args.get(at + 3));
        if !keys.contains(&key) {
            return Err(Failure::text("ERR an item names a key that is not among the listed keys"));
        }
        at += 4;
        let mut item = NewItem::new(pos, value);
        while at < args.len() && !parse::is(args.get(at), "ITEM") {
            item.add(args.get(at));
            at += 1;
        }
        wanted.push((key, item));
    }
    let (mut targets, mut looked, mut room, mut fault) = (HashMap::new(), Vec::new(), 0, None);
    for (key, item) in &wanted {
        let fits = look_at(tx, &mut targets, key, item, &wanted);
        match fits {
            Ok((at, tags, bytes)) => {
                room += bytes;
                looked.push((*key, item.value, at, tags));
            }
            Err(Failure::Abandon(why)) => return Err(Failure::Abandon(why)),
            Err(failure) if is_partial => {
                fault = Some(failure);
                break;
            }
            Err(failure) => return Err(failure),
        }
    }
    tx.need_room(room)?;
    let schemas: HashMap<&[u8], Arc<Schema>> = targets.into_iter().map(|(key, target)| (key, target.schema)).collect();
    for run in looked.chunk_by(|one, next| one.0 == next.0) {
        let key = run[0].0;
        put_looked(tx, key, &schemas[key], run.iter().map(|(_, value, at, tags)| (*value, (*at, tags.clone()))))?;
    }
    if is_partial {
        reply.array(2);
    }
    reply.int(looked.len() as i64);
    match fault {
        Some(fault) => reply.bulk(fault.to_string().as_bytes()),
        None if is_partial => reply.null(),
        None => {}
    }
    Ok(())
}

/// Checks one of several items: returns its position, and its size in a record.
fn look_at<'a>(
    tx: &mut Tx,
    targets: &mut HashMap<&'a [u8], Target>,
    key: &'a [u8],
    item: &NewItem<'_>,
    all: &[(&[u8], NewItem<'_>)],
) -> Result<(u64, Tags, u64), Failure> {
    if !targets.contains_key(key) {
        let own: Vec<NewItem<'_>> = all
            .iter()
            .filter(|(other, _)| *other == key)
            .map(|(_, item)| NewItem { words: item.words.clone(), ..*item })
            .collect();
        targets.insert(key, Target::of(tx, key, &own)?);
    }
    let target = targets.get_mut(key).expect("just put");
    let (at, tags) = target.look(item)?;
    target.take(at, tags.with(item.value));
    Ok((at, tags, target.room(key, item)))
}
