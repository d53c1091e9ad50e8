//! A stream behaves as maps of entries, groups and deliveries; clones do not change; unsound bytes are refused.
//!
//! `BOBBIN_CASES` scales the number of cases.

use blocks::{BlockList, Direction, End};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Fields, Foot, Kept, Pending, StreamId, Trim};

#[derive(Clone, Debug)]
enum Op {
    Add(u64, u64, u8),
    AddMany(u16, u8),
    Delete(u32),
    Trim(u32),
    TrimBy(Kept, bool, u8),
    Set(u8, u8),
    PutGroup(u8, u32, Option<u8>),
    RemoveGroup(u8),
    PutConsumer(u8, u8, u8, Option<u8>),
    RemoveConsumer(u8, u8),
    Deliver(u8, u8, u16),
    PutPending(u8, u8, u32, u8),
    DropPending(u8, u32),
    DeleteMany(u32, u8, u16),
    PutPendingMany(u8, u8, u32, u8, u16),
    DropPendingMany(u8, u32, u8, u16),
    Clone,
    Recode,
}

fn op() -> impl Strategy<Value = Op> {
    let kept = prop_oneof![(0u64..400).prop_map(Kept::Newest), (0u64..5_000).prop_map(|ms| Kept::From(id(ms, 1)))];
    prop_oneof![
        6 => (prop_oneof![9 => 0u64..40, 1 => Just(1u64 << 61), 1 => Just(1u64 << 20)], 0u64..4, 0u8..8)
            .prop_map(|(step, seq, how)| Op::Add(step, seq, how)),
        3 => (1u16..400, 0u8..4).prop_map(|(count, how)| Op::AddMany(count, how)),
        4 => any::<u32>().prop_map(Op::Delete),
        1 => any::<u32>().prop_map(Op::Trim),
        2 => (kept, any::<bool>(), 0u8..200).prop_map(|(kept, whole, limit)| Op::TrimBy(kept, whole, limit)),
        1 => any::<(u8, u8)>().prop_map(|(deleted, added)| Op::Set(deleted, added)),
        3 => (0u8..4, any::<u32>(), any::<Option<u8>>()).prop_map(|(group, at, read)| Op::PutGroup(group, at, read)),
        1 => (0u8..4).prop_map(Op::RemoveGroup),
        3 => (0u8..4, 0u8..4, any::<u8>(), any::<Option<u8>>())
            .prop_map(|(group, consumer, seen, active)| Op::PutConsumer(group, consumer, seen, active)),
        1 => (0u8..4, 0u8..4).prop_map(|(group, consumer)| Op::RemoveConsumer(group, consumer)),
        6 => (0u8..4, 0u8..4, 1u16..300).prop_map(|(group, consumer, count)| Op::Deliver(group, consumer, count)),
        2 => (0u8..4, 0u8..4, any::<u32>(), any::<u8>())
            .prop_map(|(group, consumer, at, count)| Op::PutPending(group, consumer, at, count)),
        4 => (0u8..4, any::<u32>()).prop_map(|(group, at)| Op::DropPending(group, at)),
        1 => (any::<u32>(), 1u8..6, 0u16..400).prop_map(|(at, step, count)| Op::DeleteMany(at, step, count)),
        2 => (0u8..4, 0u8..4, any::<u32>(), 1u8..6, 0u16..400)
            .prop_map(|(group, consumer, at, step, count)| Op::PutPendingMany(group, consumer, at, step, count)),
        2 => (0u8..4, any::<u32>(), 1u8..6, 0u16..400)
            .prop_map(|(group, at, step, count)| Op::DropPendingMany(group, at, step, count)),
        1 => Just(Op::Clone),
        1 => Just(Op::Recode),
    ]
}

fn id(ms: u64, seq: u64) -> StreamId {
    StreamId { ms, seq }
}

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

#[derive(Clone, Debug, Default, PartialEq)]
struct GroupTwin {
    last_id: StreamId,
    entries_read: Option<u64>,
    consumers: BTreeMap<Vec<u8>, (u64, Option<u64>)>,
    pending: BTreeMap<StreamId, (Vec<u8>, u64, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Twin {
    entries: BTreeMap<StreamId, Pairs>,
    last_id: StreamId,
    deleted_id: StreamId,
    added: u64,
    groups: BTreeMap<Vec<u8>, GroupTwin>,
    is_there: bool,
}

fn pairs(nth: u64, how: u8) -> Pairs {
    let pair = |name: &str, value: String| (name.as_bytes().to_vec(), value.into_bytes());
    match how {
        0 => vec![pair("sensor", format!("s{}", nth % 10)), pair("temperature", (nth % 50).to_string())],
        1 => vec![pair("sensor", format!("s{}", nth % 10)), pair("humidity", (nth % 50).to_string())],
        2 => vec![pair("", String::new())],
        3 => vec![pair("payload", "x".repeat(nth as usize % 700))],
        4 => vec![pair("sensor", String::new()), pair("temperature", "again".into()), pair("more", "y".into())],
        _ => vec![pair("sensor", nth.to_string())],
    }
}

fn name(number: u8) -> Vec<u8> {
    ["", "a", "group:2", "\u{ff}\u{ff}zz"][usize::from(number)].as_bytes().to_vec()
}

struct World {
    stream: Stream,
    twin: Twin,
}

impl World {
    fn add(&mut self, at: StreamId, pairs: Pairs) {
        let fields: Vec<&[u8]> = pairs.iter().flat_map(|(name, value)| [&name[..], &value[..]]).collect();
        let bytes = fields.iter().map(|field| field.len()).sum();
        let opens = self.stream.must_open(bytes, 100, 4096);
        self.stream.add(at, &fields, opens);
        self.twin.entries.insert(at, pairs);
        (self.twin.last_id, self.twin.added, self.twin.is_there) = (at, self.twin.added + 1, true);
    }

    /// Returns the id of an entry, or another one.
    fn some_id(&self, at: u32) -> StreamId {
        let count = self.twin.entries.len() + 2;
        let found = self.twin.entries.keys().nth(at as usize % count);
        found.copied().unwrap_or_else(|| id(u64::from(at % 5_000), 1))
    }

    /// Returns ascending ids: of entries from a random one on, and of absent ones.
    fn some_ids(&self, at: u32, step: u8, count: u16) -> Vec<StreamId> {
        let from = self.some_id(at);
        let mut ids: Vec<StreamId> =
            self.twin.entries.range(from..).map(|(at, _)| *at).step_by(step.into()).take(count.into()).collect();
        ids.extend((0..u64::from(step)).map(|nth| id(from.ms.saturating_add(nth * 7), 12_345)));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn number(&self, group: u8, consumer: u8) -> Option<(values::stream::Group, u32)> {
        let group = self.stream.group(&name(group))?;
        Some((group, self.stream.consumer(group.number, &name(consumer))?.number))
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Add(step, seq, how) => {
                let last = self.twin.last_id;
                let Some(ms) = last.ms.checked_add(step) else { return };
                let at = if step == 0 { id(ms, last.seq.saturating_add(1 + seq)) } else { id(ms, seq) };
                if at > last {
                    self.add(at, pairs(at.ms, how));
                }
            }
            Op::AddMany(count, how) => {
                for nth in 0..u64::from(count) {
                    let last = self.twin.last_id;
                    let Some(ms) = last.ms.checked_add(nth % 3) else { return };
                    self.add(if nth % 3 == 0 { id(ms, last.seq + 1) } else { id(ms, 0) }, pairs(nth, how));
                }
            }
            Op::Delete(at) => {
                let at = self.some_id(at);
                let was_there = self.twin.entries.remove(&at).is_some();
                assert_eq!(self.stream.delete(at), was_there);
                if was_there {
                    self.twin.deleted_id = self.twin.deleted_id.max(at);
                }
            }
            Op::DeleteMany(at, step, count) => {
                let ids = self.some_ids(at, step, count);
                let mut found = Vec::new();
                self.stream.walk_these(&ids, &mut |at, fields| found.push((at, fields.map(owned))));
                let expected: Vec<_> = ids.iter().map(|at| (*at, self.twin.entries.get(at).cloned())).collect();
                assert_eq!(found, expected);
                let there: Vec<StreamId> =
                    ids.iter().copied().filter(|at| self.twin.entries.remove(at).is_some()).collect();
                assert_eq!(self.stream.count_of(&ids), there.len() as u64);
                assert_eq!(self.stream.delete_these(&ids), there.len() as u64);
                self.twin.deleted_id = self.twin.deleted_id.max(there.last().copied().unwrap_or_default());
            }
            Op::Trim(count) => self.trim(u64::from(count) % (self.twin.entries.len() as u64 + 1)),
            Op::TrimBy(kept, whole, limit) => {
                let count = self.stream.trim_count(Trim { kept, whole, limit: if whole { limit.into() } else { 0 } });
                let goes = match kept {
                    Kept::Newest(most) => (self.twin.entries.len() as u64).saturating_sub(most),
                    Kept::From(least) => self.twin.entries.range(..least).count() as u64,
                };
                assert!(count == goes || (whole && count < goes), "{count} of {goes}");
                assert!(!whole || limit == 0 || count <= u64::from(limit));
                self.trim(count);
            }
            Op::Set(deleted, added) if self.twin.is_there => {
                (self.twin.deleted_id, self.twin.added) = (id(deleted.into(), 0), added.into());
                self.stream.set(self.twin.last_id, self.twin.deleted_id, self.twin.added);
            }
            Op::Clone | Op::Recode | Op::Set(..) => {}
            op => self.step_of_group(op),
        }
    }

    fn trim(&mut self, count: u64) {
        if self.twin.is_there {
            self.stream.trim(count);
            (0..count).for_each(|_| drop(self.twin.entries.pop_first()));
        }
    }

    fn step_of_group(&mut self, op: Op) {
        match op {
            Op::PutGroup(group, at, read) => {
                let (at, read) = (self.some_id(at), read.map(u64::from));
                self.stream.put_group(&name(group), at, read);
                let twin = self.twin.groups.entry(name(group)).or_default();
                (twin.last_id, twin.entries_read, self.twin.is_there) = (at, read, true);
            }
            Op::RemoveGroup(group) => {
                assert_eq!(
                    self.stream.remove_group(&name(group)).is_some(),
                    self.twin.groups.remove(&name(group)).is_some()
                );
            }
            Op::PutConsumer(group, consumer, seen, active) => {
                let Some(twin) = self.twin.groups.get_mut(&name(group)) else { return };
                let (seen, active) = (u64::from(seen), active.map(u64::from));
                let number = self.stream.group(&name(group)).expect("the twin has it").number;
                self.stream.put_consumer(number, &name(consumer), seen, active);
                twin.consumers.insert(name(consumer), (seen, active));
            }
            Op::RemoveConsumer(group, consumer) => {
                let Some(twin) = self.twin.groups.get_mut(&name(group)) else { return };
                let number = self.stream.group(&name(group)).expect("the twin has it").number;
                let was_there = twin.consumers.remove(&name(consumer)).is_some();
                assert_eq!(self.stream.remove_consumer(number, &name(consumer)).is_some(), was_there);
                twin.pending.retain(|_, (owner, ..)| *owner != name(consumer));
            }
            Op::Deliver(group, consumer, count) => {
                let Some((found, number)) = self.number(group, consumer) else { return };
                let twin = self.twin.groups.get_mut(&name(group)).expect("the stream has it");
                let Some(from) = twin.last_id.next() else { return };
                let ids: Vec<StreamId> =
                    self.twin.entries.range(from..).map(|(at, _)| *at).take(count.into()).collect();
                let Some(last) = ids.last() else { return };
                self.stream.deliver(&found, number, *last, 7);
                self.stream.put_group(&name(group), *last, None);
                (twin.last_id, twin.entries_read) = (*last, None);
                twin.pending.extend(ids.into_iter().map(|at| (at, (name(consumer), 7, 1))));
            }
            Op::PutPending(group, consumer, at, count) => {
                let Some((found, number)) = self.number(group, consumer) else { return };
                let at = self.some_id(at);
                let pending = Pending { id: at, consumer: number, delivered_ms: 9, deliveries: count.into() };
                self.stream.put_pending(found.number, pending);
                let twin = self.twin.groups.get_mut(&name(group)).expect("the stream has it");
                twin.pending.insert(at, (name(consumer), 9, count.into()));
            }
            Op::DropPending(group, at) => {
                let Some(found) = self.stream.group(&name(group)) else { return };
                let at = self.some_id(at);
                let twin = self.twin.groups.get_mut(&name(group)).expect("the stream has it");
                assert_eq!(self.stream.drop_pending(found.number, at), twin.pending.remove(&at).is_some());
            }
            Op::PutPendingMany(group, consumer, at, step, count) => {
                let Some((found, number)) = self.number(group, consumer) else { return };
                let ids = self.some_ids(at, step, count);
                let twin = self.twin.groups.get_mut(&name(group)).expect("the stream has it");
                let olds = self.stream.pending_of(found.number, &ids);
                for (at, old) in ids.iter().zip(olds) {
                    let expected =
                        twin.pending.get(at).map(|(_, delivered_ms, deliveries)| (*delivered_ms, *deliveries));
                    assert_eq!(old.map(|old| (old.delivered_ms, old.deliveries)), expected);
                    let deliveries = expected.map_or(1, |(_, deliveries)| deliveries + 1);
                    twin.pending.insert(*at, (name(consumer), 11, deliveries));
                }
                self.stream.put_pending_of(found.number, &ids, |id, old| {
                    let deliveries = old.map_or(1, |old| old.deliveries + 1);
                    Pending { id, consumer: number, delivered_ms: 11, deliveries }
                });
            }
            Op::DropPendingMany(group, at, step, count) => {
                let Some(found) = self.stream.group(&name(group)) else { return };
                let mut ids = self.some_ids(at, step, count);
                let twin = self.twin.groups.get_mut(&name(group)).expect("the stream has it");
                let are_there = ids.iter().all(|at| twin.pending.contains_key(at));
                if !are_there {
                    assert!(self.stream.drop_pending_of(found.number, &ids).is_none());
                    ids.retain(|at| twin.pending.contains_key(at));
                }
                ids.iter().for_each(|at| drop(twin.pending.remove(at)));
                assert!(self.stream.drop_pending_of(found.number, &ids).is_some());
            }
            _ => unreachable!("done by the caller"),
        }
    }
}

fn recoded(stream: &Stream) -> Option<Stream> {
    let mut bytes = Vec::new();
    stream.list().encode(&mut bytes);
    Stream::of_list(BlockList::decode(&mut &bytes[..]).expect("a list"))
}

fn owned(fields: Fields<'_>) -> Pairs {
    assert_eq!(fields.iter().count() as u64, fields.count());
    fields.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
}

fn range(stream: &Stream, from: StreamId, to: StreamId, direction: Direction) -> Vec<(StreamId, Pairs)> {
    let mut all = Vec::new();
    let _ = stream.walk(from, to, direction, &mut |at, fields| {
        all.push((at, owned(fields)));
        ControlFlow::Continue(())
    });
    all
}

fn compare(stream: &Stream, twin: &Twin) {
    let Twin { last_id, deleted_id, added, .. } = *twin;
    assert_eq!(stream.foot(), Foot { len: twin.entries.len() as u64, last_id, deleted_id, added });
    assert_eq!(stream.first_id(), twin.entries.keys().next().copied());
    assert_eq!(stream.top_id(), twin.entries.keys().last().copied());
    let ends: Vec<StreamId> = twin.entries.keys().copied().step_by(1 + twin.entries.len() / 5).collect();
    let ends = [&[StreamId::MIN, StreamId::MAX, id(77, 1)], &ends[..]].concat();
    for (from, to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (*from, *to))) {
        let mut expected: Vec<_> = Vec::new();
        if from <= to {
            expected = twin.entries.range(from..=to).map(|(at, pairs)| (*at, pairs.clone())).collect();
        }
        let count = expected.len() as u64;
        assert_eq!(stream.count_up_to(from, to, u64::MAX, u64::MAX), Some(count));
        assert_eq!(stream.count_in(stream.chunks_between(from, to), from, to), count);
        assert!([None, Some(count.min(9))].contains(&stream.count_up_to(from, to, 9, 1)));
        assert_eq!(range(stream, from, to, Direction::Forward), expected);
        expected.reverse();
        assert_eq!(range(stream, from, to, Direction::Backward), expected);
        assert_eq!(stream.contains(from), twin.entries.contains_key(&from));
    }
    let mut groups = BTreeMap::new();
    stream.for_each_group(|name, group| {
        let mut found = GroupTwin { last_id: group.last_id, entries_read: group.entries_read, ..GroupTwin::default() };
        stream.for_each_consumer(group.number, |name, consumer| {
            found.consumers.insert(name.to_vec(), (consumer.seen_ms, consumer.active_ms));
            let mut count = 0;
            let _ = stream.walk_owned(group.number, consumer.number, StreamId::MIN, &mut |at| {
                assert_eq!(stream.pending(group.number, at).map(|it| it.consumer), Some(consumer.number));
                count += 1;
                ControlFlow::Continue(())
            });
            assert_eq!(stream.owned_count(group.number, consumer.number), count);
        });
        let _ = stream.walk_pending(group.number, StreamId::MIN, Direction::Forward, &mut |it: Pending| {
            let owner = stream.consumer_of(group.number, it.consumer, |name, _| name.to_vec());
            found.pending.insert(it.id, (owner, it.delivered_ms, it.deliveries));
            ControlFlow::Continue(())
        });
        assert_eq!(stream.consumers_count(group.number), found.consumers.len() as u64);
        assert_eq!(stream.pending_count(group.number), found.pending.len() as u64);
        groups.insert(name.to_vec(), found);
    });
    assert_eq!(stream.groups_count(), groups.len() as u64);
    assert_eq!(groups, twin.groups);
    assert_eq!(stream.is_empty(), !twin.is_there);
}

fn run(ops: Vec<Op>) {
    let mut world = World { stream: Stream::default(), twin: Twin::default() };
    let mut clones: Vec<(Stream, Twin)> = Vec::new();
    for op in ops {
        match op {
            Op::Clone => clones.push((world.stream.clone(), world.twin.clone())),
            Op::Recode if world.twin.is_there => world.stream = recoded(&world.stream).expect("it was one"),
            op => world.step(op),
        }
    }
    clones.push((world.stream, world.twin));
    clones.iter().for_each(|(stream, twin)| compare(stream, twin));
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

fn small() -> Stream {
    let mut stream = Stream::default();
    stream.add(id(1, 0), &[b"a", b"b"], true);
    stream.add(id(1, 1), &[b"a", b"c"], false);
    stream.put_group(b"g", id(1, 0), Some(1));
    let group = stream.group(b"g").expect("just made").number;
    let consumer = stream.put_consumer(group, b"c", 5, None);
    stream.put_pending(group, Pending { id: id(1, 0), consumer, delivered_ms: 3, deliveries: 1 });
    stream
}

fn items(stream: &Stream) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    let _ = stream.list().walk(0, stream.list().len(), Direction::Forward, &mut |item: &[u8]| {
        items.push(item.to_vec());
        ControlFlow::Continue(())
    });
    items
}

fn of_items(items: &[Vec<u8>]) -> Option<Stream> {
    let mut list = BlockList::new();
    items.iter().for_each(|item| list.push(End::Tail, item));
    Stream::of_list(list)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_stream_matches_its_naive_twin(ops in vec(op(), 1..80)) {
        run(ops);
    }

    #[test]
    fn corrupted_items_are_refused_or_form_a_sound_stream(changes in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut items = items(&small());
        for (item, at, byte) in changes {
            let item = item.index(items.len());
            let at = at.index(items[item].len());
            items[item][at] = byte;
        }
        if let Some(stream) = of_items(&items) {
            let all = range(&stream, StreamId::MIN, StreamId::MAX, Direction::Backward);
            prop_assert_eq!(all.len() as u64, stream.len());
            stream.for_each_group(|_, group| stream.for_each_consumer(group.number, |name, consumer| {
                assert_eq!(stream.consumer_of(group.number, consumer.number, |found, _| found.to_vec()), name);
            }));
        }
    }
}

#[test]
fn malformed_streams_are_refused() {
    let sound = items(&small());
    assert_eq!(sound.len(), 8);
    assert!(of_items(&sound).is_some());
    for nth in 0..sound.len() {
        let without = [&sound[..nth], &sound[nth + 1..]].concat();
        assert!(of_items(&without).is_none(), "without {nth}");
        let twice = [&sound[..=nth], &sound[nth..]].concat();
        assert!(of_items(&twice).is_none(), "{nth} twice");
        for cut in 0..sound[nth].len() {
            let mut items = sound.clone();
            items[nth].truncate(cut);
            assert!(of_items(&items).is_none(), "{nth} cut at {cut}");
        }
    }
    assert!(of_items(&[]).is_none());
    assert!(of_items(&sound[7..]).is_none(), "fewer entries than it says");
}

fn with_entries(count: u64, step: impl Fn(u64) -> u64) -> Stream {
    let mut stream = Stream::default();
    let mut ms = 1_700_000_000_000;
    for nth in 0..count {
        ms += step(nth);
        let seq = if step(nth) == 0 { stream.foot().last_id.seq + 1 } else { 0 };
        let (sensor, temperature) = (format!("s{}", nth % 100), (nth * 7 % 50).to_string());
        let fields: [&[u8]; 4] = [b"sensor", sensor.as_bytes(), b"temperature", temperature.as_bytes()];
        let opens = stream.must_open(fields.iter().map(|field| field.len()).sum(), 100, 4096);
        stream.add(id(ms, seq), &fields, opens);
    }
    stream
}

#[test]
fn entries_of_two_short_fields_take_few_bytes() {
    let stream = with_entries(300_000, |nth| nth % 7);
    let each = stream.heap_bytes() as f64 / stream.len() as f64;
    println!("{each:.2} bytes an entry");
    assert!(each <= 12.0, "{each}");
}

#[test]
fn deliveries_take_few_bytes() {
    let mut stream = with_entries(300_000, |nth| nth % 7);
    stream.put_group(b"g", StreamId::MIN, Some(0));
    let before = stream.heap_bytes();
    let group = stream.group(b"g").expect("just made");
    let consumer = stream.put_consumer(group.number, b"c", 1, None);
    stream.deliver(&group, consumer, stream.foot().last_id, 1_700_000_000_000);
    let each = (stream.heap_bytes() - before) as f64 / stream.len() as f64;
    println!("{each:.2} bytes a delivery at once");
    assert!(each <= 70.0, "{each}");
    assert_eq!(stream.pending_count(group.number), 300_000);
}
