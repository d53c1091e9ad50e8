//! XREAD XREADGROUP: read entries after an id, from several streams, or wait for them.
//!
//! ```text
//! XREAD         entries after the id                one entry serves all waiting readers
//! XREADGROUP    >     entries after the group's last one; they are then pending for the consumer
//!               id    the consumer's pending entries after the id: delivered once more
//! ```
//!
//! While a client waits, `$` means the last id at the time of its request ([`settled`]).

use super::lag::Progress;
use super::reply::{self, StreamPart};
use super::{add, id, no_group};
use crate::engine_arguments::timeout_ms;
use crate::prelude::*;
use crate::spec::{Local, TimeoutAt, streams_at};
use blocks::Direction;
use keyspace::{Counting, Reader, Redelivery, StreamMut};
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Fields, Group as GroupState, Pending, StreamId};
use wire::OwnedRequest;

pub(crate) const COMMANDS: &[CommandSpec] = &[XREAD, XREADGROUP];

const XREAD: CommandSpec = CommandSpec {
    name: "XREAD",
    syntax: "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::found(Begin::Keyword("STREAMS", 1), Find::FirstHalf, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Stream,
    cost: "O(k*log(n)+m), k the keys, n the entries of a stream, m those told",
    since: "5.0.0",
    brief: "Returns the entries after an id of each of several streams, or waits.",
    answer: "map: keys and arrays of entries; null: there are none",
    run: waiting(xread),
};

const XREADGROUP: CommandSpec = CommandSpec {
    name: "XREADGROUP",
    syntax: "GROUP group consumer [COUNT count] [BLOCK milliseconds] [CLAIM min-idle-time] [NOACK] \
             STREAMS key [key ...] id [id ...]",
    arity: Arity::AtLeast(7),
    keys: &[KeySpec::found(Begin::Keyword("STREAMS", 4), Find::FirstHalf, "RW ACCESS")
        .varying(Varies::Reported("RO ACCESS"))],
    access: Access::Write { grows: false },
    flags: &[Flag::WaitEndsWithKey],
    facts: &[Fact::Reads(CountedReads::Named), Fact::Events(&[EventRule { instead_of: "xgroup-create", events: &[] }])],
    group: Group::Stream,
    cost: "O(k*log(n)+m*log(p)), k the keys, n the entries of a stream, m those told, p those pending; O(p) with CLAIM",
    since: "5.0.0",
    brief: "Delivers new entries to a consumer of a group, or waits for them.",
    answer: "map: keys and arrays of entries, with CLAIM each with idle time and deliveries; null: there are none",
    run: waiting(xreadgroup),
};

const fn waiting(try_now: Local) -> Run {
    Run::Blocking { try_now, timeout: TimeoutAt::Block, empty: |reply| reply.null_array(), settled }
}

/// The common parameters of both commands.
struct ReadRequest<'a> {
    most: u64,
    waits: bool,
    reader: Option<Reader<'a>>,
    acknowledges: bool,
    /// Deliveries pending for at least this long, of any consumer, are claimed too.
    claims_after_ms: Option<u64>,
    keys: Args<'a>,
    ids: Args<'a>,
}

impl<'a> ReadRequest<'a> {
    fn of(args: &Args<'a>, is_group: bool) -> Result<Self, Failure> {
        let none = args.slice(0, 0);
        let mut asked = Self {
            most: 0,
            waits: false,
            reader: None,
            acknowledges: false,
            claims_after_ms: None,
            keys: none,
            ids: none,
        };
        let only_group = |option: &str| {
            Failure::text(format!("ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."))
        };
        let mut at = 1;
        let mut found = false;
        while at < args.len() && !found {
            let (word, more) = (args.get(at), args.len() - 1 - at);
            if parse::is(word, "BLOCK") && more > 0 {
                at += 1;
                timeout_ms(args, TimeoutAt::Block)?;
                asked.waits = true;
            } else if parse::is(word, "COUNT") && more > 0 {
                at += 1;
                asked.most = parse::int(args.get(at))?.max(0) as u64;
            } else if parse::is(word, "STREAMS") && more > 0 {
                found = true;
                if more % 2 != 0 {
                    return Err(unbalanced(is_group));
                }
                asked.keys = args.slice(at + 1, at + 1 + more / 2);
                asked.ids = args.from(at + 1 + more / 2);
            } else if parse::is(word, "GROUP") && more >= 2 {
                if !is_group {
                    return Err(only_group("GROUP"));
                }
                asked.reader = Some(Reader { group: args.get(at + 1), consumer: args.get(at + 2) });
                at += 2;
            } else if parse::is(word, "NOACK") {
                if !is_group {
                    return Err(only_group("NOACK"));
                }
                asked.acknowledges = true;
            } else if parse::is(word, "CLAIM") && more > 0 {
                if !is_group {
                    return Err(only_group("CLAIM"));
                }
                at += 1;
                asked.claims_after_ms = Some(least_idle_ms(args.get(at))?);
            } else {
                return Err(Failure::Syntax);
            }
            at += 1;
        }
        if !found {
            return Err(Failure::Syntax);
        }
        if asked.most == 0 {
            asked.most = u64::MAX;
        }
        Ok(asked)
    }

    /// Replies that there is nothing, unless the client waits.
    fn nothing(&self, reply: &mut dyn Reply) -> Outcome {
        if self.waits {
            return Err(Failure::Nothing);
        }
        reply.null_array();
        Ok(())
    }
}

fn least_idle_ms(argument: &[u8]) -> Result<u64, Failure> {
    let ms = values::string::parse_int(argument).ok_or(Failure::text("ERR min-idle-time is not an integer"))?;
    u64::try_from(ms).map_err(|_| Failure::text("ERR min-idle-time must be a positive integer"))
}

fn unbalanced(is_group: bool) -> Failure {
    let (name, sign) = if is_group { ("xreadgroup", '>') } else { ("xread", '$') };
    Failure::text(format!(
        "ERR Unbalanced '{name}' list of streams: for each stream key an ID or '{sign}' must be specified."
    ))
}

/// Begins a reply with `count` streams; each is a key and an array of entries.
fn begin(reply: &mut dyn Reply, count: usize) {
    if reply.is_resp3() { reply.map(count) } else { reply.array(count) }
}

fn begin_stream(reply: &mut dyn Reply, key: &[u8]) {
    if !reply.is_resp3() {
        reply.array(2);
    }
    reply.bulk(key);
}

// ---- XREAD ----

/// Parses the id after which XREAD reads.
fn read_behind(stream: Option<&Stream>, text: &[u8]) -> Result<StreamId, Failure> {
    let last_id = || stream.map_or(StreamId::MIN, |stream| stream.foot().last_id);
    match text {
        b"$" => Ok(last_id()),
        // The last entry, if there is one.
        b"+" => Ok(stream.and_then(Stream::top_id).and_then(StreamId::before).unwrap_or_else(last_id)),
        b">" => Err(Failure::text(
            "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
        )),
        text => id::strict(text, 0),
    }
}

fn xread(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let asked = ReadRequest::of(args, false)?;
    let (mut found, is_serving) = (Vec::new(), tx.is_serving());
    for (key, text) in asked.keys.iter().zip(asked.ids.iter()).filter(|(key, _)| tx.may_use(key)).collect::<Vec<_>>() {
        let stream = match tx.value::<Stream>(key) {
            Err(_) if is_serving => None,
            stream => stream?,
        };
        let behind = read_behind(stream, text)?;
        if stream.is_some_and(|stream| add::has_behind(stream, behind)) {
            found.push((key, behind));
        }
    }
    if found.is_empty() {
        return asked.nothing(reply);
    }
    begin(reply, found.len());
    let keyspace = tx.keyspace();
    for (key, behind) in found {
        begin_stream(reply, key);
        let stream = tx.value::<Stream>(key)?.expect("just seen");
        let from = behind.next().expect("something is behind it");
        reply::write_part(reply, stream, StreamPart::from(from, asked.most), || keyspace.pin(key));
    }
    Ok(())
}

/// Returns the request as it waits: without words whose meaning changes over time.
fn settled(tx: &mut Tx, args: &Args) -> OwnedRequest {
    let mut words: Vec<Vec<u8>> = args.iter().map(<[u8]>::to_vec).collect();
    let at = streams_at(args).expect("what waits was read before");
    let count = (args.len() - at) / 2;
    for (word, key) in words[at + count..].iter_mut().zip(args.slice(at, at + count)) {
        if matches!(word.as_slice(), b"$" | b"+") {
            let stream = tx.value::<Stream>(key).ok().flatten();
            let behind = read_behind(stream, word).expect("it stands for an id");
            *word = behind.to_string().into_bytes();
        }
    }
    OwnedRequest::of(&words)
}

// ---- XREADGROUP ----

/// A consumer's request to one stream.
struct Wish<'a> {
    key: &'a [u8],
    /// The id after which pending ones are read; `None`: new entries.
    behind: Option<StreamId>,
    /// The maximum number of ids in one record.
    ids_max: u64,
    /// Roughly the maximum number of entries served, and of entries examined for that.
    work: u64,
    /// The deliveries to claim: the longest idle first.
    idle: Vec<Pending>,
}

/// The minimum delay before a client waiting for something to claim looks again if nothing is pending: new deliveries
/// may be claimable at once.
const LOOK_AGAIN_MS: u64 = 100;

/// The maximum number of records of one wish: the consumer twice, claimed entries, new ones, and the group's position.
const RECORDS_MAX: usize = 5;

/// The maximum number of chunks examined to count new entries.
const NEWS_CHUNKS_MAX: u64 = 64;

/// The entries that a consumer receives.
enum Delivery {
    /// New entries.
    New(StreamPart),
    /// Claimed entries, and new ones.
    Claimed(Vec<(StreamId, reply::Before)>, Option<StreamPart>),
    /// Its pending entries, including deleted ones.
    Pending(Vec<StreamId>),
}

fn xreadgroup(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let asked = ReadRequest::of(args, true)?;
    let reader = asked.reader.ok_or(Failure::text("ERR Missing GROUP option for XREADGROUP"))?;
    let (mut wishes, mut room_bytes, mut has_some) = (Vec::new(), 0, false);
    for (key, text) in asked.keys.iter().zip(asked.ids.iter()).filter(|(key, _)| tx.may_use(key)).collect::<Vec<_>>() {
        let is_twice = asked.keys.iter().filter(|other| *other == key).count() > 1;
        let (wish, is_served) = wish(tx, key, text, reader, is_twice, &asked)?;
        has_some |= is_served;
        wishes.push(wish);
    }
    if !has_some && tx.is_serving() {
        return Err(Failure::Nothing);
    }
    tx.expect_work(wishes.iter().fold(0, |work, wish| wish.work.saturating_add(work)))?;
    find_idle(tx, &asked, reader, &mut wishes)?;
    for wish in &wishes {
        let ids_max = wish.ids_max.min(asked.most) as usize + wish.idle.len();
        let names_bytes = reader.group.len() + reader.consumer.len();
        room_bytes += StreamMut::room(RECORDS_MAX, wish.key.len(), names_bytes, ids_max);
    }
    tx.need_room(room_bytes)?;
    let mut deliveries = Vec::new();
    for wish in &wishes {
        // One after the other: the same stream may be requested twice.
        deliveries.extend(serve(tx, wish, &asked, reader)?.map(|delivery| (wish.key, delivery)));
    }
    if deliveries.is_empty() {
        return asked.nothing(reply);
    }
    begin(reply, deliveries.len());
    deliveries.into_iter().try_for_each(|(key, delivery)| write_delivery(tx, key, delivery, reply))
}

/// Returns the request to one stream, and whether there is something for it now.
fn wish<'a>(
    tx: &mut Tx,
    key: &'a [u8],
    text: &[u8],
    reader: Reader<'_>,
    is_twice: bool,
    asked: &ReadRequest<'_>,
) -> Result<(Wish<'a>, bool), Failure> {
    let most = asked.most;
    let stream = tx.value::<Stream>(key)?;
    let group = stream.and_then(|stream| stream.group(reader.group));
    let (Some(stream), Some(group)) = (stream, group) else {
        return Err(no_group(format!(
            "No such key '{}' or consumer group '{}' in XREADGROUP with GROUP option",
            parse::repeated(key),
            parse::repeated(reader.group)
        )));
    };
    let meaningless = |sign: &str| {
        Failure::text(format!(
            "ERR The {sign} ID is meaningless in the context of XREADGROUP: you want to read the history of this \
             consumer by specifying a proper ID, or use the > ID to get new messages. The {sign} ID would just return \
             an empty result set."
        ))
    };
    let behind = match text {
        b"$" => return Err(meaningless("$")),
        b"+" => return Err(meaningless("+")),
        b">" => None,
        text => Some(id::strict(text, 0)?),
    };
    // The greatest id also means new entries.
    let behind = behind.filter(|behind| *behind != StreamId::MAX);
    let is_served = behind.is_some() || add::has_behind(stream, group.last_id);
    let news = behind.is_none().then(|| group.last_id.next()).flatten();
    // Examines a limited number of chunks: enough to know that there is much.
    let news_count =
        news.map_or(0, |from| stream.count_up_to(from, StreamId::MAX, most, NEWS_CHUNKS_MAX).unwrap_or(most));
    let ids_max = behind.map_or(0, |_| {
        let consumer = stream.consumer(group.number, reader.consumer);
        let owned = consumer.map_or(0, |consumer| stream.owned_count(group.number, consumer.number));
        // Includes what another wish of this request may deliver first.
        owned + if is_twice { stream.len() } else { 0 }
    });
    let looks = match asked.claims_after_ms {
        Some(_) if behind.is_none() => stream.pending_count(group.number),
        _ => 0,
    };
    let work = news_count.max(ids_max.min(most)).saturating_add(looks);
    Ok((Wish { key, behind, ids_max, work, idle: Vec::new() }, is_served))
}

/// Finds deliveries to claim, and records when there may be more. A client served by another's change claims nothing:
/// it looks again itself as soon as there is something.
fn find_idle(tx: &mut Tx, asked: &ReadRequest<'_>, reader: Reader<'_>, wishes: &mut [Wish<'_>]) -> Result<(), Failure> {
    let Some(least_ms) = asked.claims_after_ms.filter(|_| !tx.is_serving()) else { return Ok(()) };
    let now = tx.now();
    let mut again_ms = now.saturating_add(least_ms.max(LOOK_AGAIN_MS));
    for wish in wishes.iter_mut().filter(|wish| wish.behind.is_none()) {
        let stream = tx.value::<Stream>(wish.key)?.expect("just seen");
        let group = stream.group(reader.group).expect("just seen");
        let mut idle = Vec::new();
        let _ = stream.walk_pending(group.number, StreamId::MIN, Direction::Forward, &mut |pending| {
            if now.saturating_sub(pending.delivered_ms) >= least_ms {
                idle.push(pending);
            } else {
                again_ms = again_ms.min(pending.delivered_ms.saturating_add(least_ms));
            }
            ControlFlow::Continue(())
        });
        // Deleted entries stay pending, and are not delivered.
        let ids: Vec<StreamId> = idle.iter().map(|pending| pending.id).collect();
        let mut are_there = Vec::with_capacity(ids.len());
        stream.walk_these(&ids, &mut |_, fields| are_there.push(fields.is_some()));
        wish.idle = idle.into_iter().zip(are_there).filter(|(_, is_there)| *is_there).map(|(idle, _)| idle).collect();
        wish.idle.sort_unstable_by_key(|pending| (pending.delivered_ms, pending.id));
        wish.idle.truncate(usize::try_from(asked.most).unwrap_or(usize::MAX));
    }
    tx.look_again(again_ms);
    Ok(())
}

/// Applies the changes of a delivery.
fn serve(
    tx: &mut Tx,
    wish: &Wish<'_>,
    asked: &ReadRequest<'_>,
    reader: Reader<'_>,
) -> Result<Option<Delivery>, Failure> {
    let now = tx.now();
    let mut stream = tx.stream_mut(wish.key, Absent::Leave)?.expect("just seen");
    let state = stream.stream().expect("it is there");
    let group = state.group(reader.group).expect("just seen");
    let is_known = state.consumer(group.number, reader.consumer).is_some();
    let delivers = wish.behind.is_none() && !asked.acknowledges && add::has_behind(state, group.last_id);
    if !(is_known && delivers) {
        stream.see_consumer(reader, now, None);
    }
    let state = stream.stream().expect("it is there");
    if let Some(behind) = wish.behind {
        let ids = pending_behind(state, group.number, reader, behind, asked.most);
        let mut there = Vec::new();
        state.walk_these(&ids, &mut |id, fields| there.extend(fields.map(|_| id)));
        stream.claim(reader, &there, Redelivery { delivered_ms: now, counting: Counting::OneMore });
        return Ok(Some(Delivery::Pending(ids)));
    }
    let claimed = claim(&mut stream, wish, asked, reader, now);
    let left = asked.most - claimed.len() as u64;
    let state = stream.stream().expect("it is there");
    let group = state.group(reader.group).expect("just seen");
    let part = match left > 0 && add::has_behind(state, group.last_id) {
        true => Some(take_news(&mut stream, group, left, asked.acknowledges, reader, now)),
        false => None,
    };
    Ok(match (asked.claims_after_ms, part) {
        (None, part) => part.map(Delivery::New),
        (Some(_), None) if claimed.is_empty() => None,
        (Some(_), part) => Some(Delivery::Claimed(claimed, part)),
    })
}

/// Claims the found deliveries that are still idle; returns their previous state, in order.
fn claim(
    stream: &mut StreamMut<'_, '_>,
    wish: &Wish<'_>,
    asked: &ReadRequest<'_>,
    reader: Reader<'_>,
    now: u64,
) -> Vec<(StreamId, reply::Before)> {
    let least_ms = asked.claims_after_ms.unwrap_or_default();
    let state = stream.stream().expect("it is there");
    let group = state.group(reader.group).expect("just seen").number;
    let mut ids: Vec<StreamId> = wish.idle.iter().map(|pending| pending.id).collect();
    ids.sort_unstable();
    // Another wish of this request may have claimed them.
    let still = state.pending_of(group, &ids).into_iter().flatten();
    let still: Vec<Pending> = still.filter(|pending| now.saturating_sub(pending.delivered_ms) >= least_ms).collect();
    if still.is_empty() {
        return Vec::new();
    }
    let ids: Vec<StreamId> = still.iter().map(|pending| pending.id).collect();
    stream.see_consumer(reader, now, Some(now));
    stream.claim(reader, &ids, Redelivery { delivered_ms: now, counting: Counting::OneMore });
    let was = |idle: &Pending| {
        let at = still.binary_search_by_key(&idle.id, |pending| pending.id).ok()?;
        let Pending { delivered_ms, deliveries, .. } = still[at];
        Some((idle.id, reply::Before { idle_ms: now.saturating_sub(delivered_ms), deliveries }))
    };
    wish.idle.iter().filter_map(was).collect()
}

/// Delivers new entries to a consumer, at least one. Returns which ones.
fn take_news(
    stream: &mut StreamMut<'_, '_>,
    group: GroupState,
    most: u64,
    acknowledges: bool,
    reader: Reader<'_>,
    now: u64,
) -> StreamPart {
    let state = stream.stream().expect("it is there");
    let progress = Progress::of(state);
    let from = group.last_id.next().expect("something is behind it");
    let (mut to, mut read, mut count) = (from, group.entries_read, 0);
    let _ = state.walk(from, StreamId::MAX, Direction::Forward, &mut |id, _: Fields<'_>| {
        (to, read, count) = (id, progress.after_reading(read, id), count + 1);
        if count == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if acknowledges {
        stream.put_group(reader.group, to, read);
    } else {
        stream.deliver(reader, to, read, now);
    }
    StreamPart { from, to, most: count, direction: Direction::Forward }
}

/// Returns a consumer's pending deliveries after an id.
fn pending_behind(stream: &Stream, group: u32, reader: Reader<'_>, behind: StreamId, most: u64) -> Vec<StreamId> {
    let mut ids = Vec::new();
    let consumer = stream.consumer(group, reader.consumer).expect("just seen");
    if let Some(from) = behind.next() {
        let _ = stream.walk_owned(group, consumer.number, from, &mut |id| {
            ids.push(id);
            if ids.len() as u64 == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    ids
}

fn write_delivery(tx: &mut Tx, key: &[u8], delivery: Delivery, reply: &mut dyn Reply) -> Outcome {
    let keyspace = tx.keyspace();
    let stream = tx.value::<Stream>(key)?.expect("just seen");
    begin_stream(reply, key);
    match delivery {
        Delivery::New(part) => reply::write_part(reply, stream, part, || keyspace.pin(key)),
        Delivery::Claimed(claimed, part) => {
            reply::write_deliveries(reply, stream, claimed, part, || keyspace.pin(key));
        }
        Delivery::Pending(ids) => {
            reply.array(ids.len());
            // Deleted entries are still pending.
            reply::entries_of(reply, stream, &ids, |reply, id| {
                reply.array(2);
                id::write(reply, id);
                reply.null_array();
            });
        }
    }
    Ok(())
}
