//! Dumped values are restored, element by element and in the same encoding; corrupted payloads are refused.

use base::Ms;
use blocks::Direction;
use proptest::prelude::*;
use rdb::Fault;
use std::ops::ControlFlow;
use std::sync::Arc;
use values::hash::Pair;
use values::set::SetLimits;
use values::stream::{Pending, StreamId};
use values::tagged::{Schema, Tagged, TaggedItem};
use values::{Hash, List, LongString, Set, Sorted, Stream, Value};

/// An element: its name, its value or score, its deadline.
type Element = (Vec<u8>, Vec<u8>, Option<u64>);

/// The encoding of a value, and all that it holds.
fn shown(value: &Value) -> (String, Vec<Element>) {
    let mut all = Vec::new();
    match value {
        Value::Text(text) => all.push((text.to_vec(0..text.bytes_count()), Vec::new(), None)),
        Value::List(list) => {
            let _ = list.walk(0, list.len(), blocks::Direction::Forward, &mut |item: &[u8]| {
                all.push((item.to_vec(), Vec::new(), None));
                ControlFlow::Continue(())
            });
        }
        Value::Set(set) => set.walk(0, set.len(), |member| {
            all.push((member.to_vec(), Vec::new(), None));
            ControlFlow::Continue(())
        }),
        Value::Hash(hash) => {
            let _ = hash.walk(&mut |pair| {
                all.push((pair.field.to_vec(), pair.value.to_vec(), pair.expires_at_ms));
                ControlFlow::Continue(())
            });
        }
        Value::Stream(stream) => add_stream(stream, &mut all),
        Value::Queue(_) => unreachable!("no payload becomes a queue"),
        Value::Tagged(list) => {
            let _ = list.list().walk(0, list.list().len(), Direction::Forward, &mut |item: &[u8]| {
                all.push((item.to_vec(), Vec::new(), None));
                ControlFlow::Continue(())
            });
        }
        Value::Sorted(sorted) => {
            sorted.for_each(|score, member| {
                all.push((member.to_vec(), (score + 0.0).to_bits().to_be_bytes().to_vec(), None));
            });
        }
    }
    // A small hash with deadlines is written in the order of its deadlines.
    if matches!(value, Value::Hash(_)) {
        all.sort();
    }
    (value.encoding().to_owned(), all)
}

/// Adds all of a stream but the active times of consumers, which older payloads lack.
fn add_stream(stream: &Stream, all: &mut Vec<Element>) {
    let mut add = |what: String, beside: Vec<u8>| all.push((what.into_bytes(), beside, None));
    add(format!("{:?}", stream.foot()), Vec::new());
    let _ = stream.walk(StreamId::MIN, StreamId::MAX, Direction::Forward, &mut |id, fields| {
        let fields: Vec<_> = fields.iter().collect();
        add(format!("{id} {fields:?}"), Vec::new());
        ControlFlow::Continue(())
    });
    stream.for_each_group(|name, group| {
        add(format!("group {} {:?}", group.last_id, group.entries_read), name.to_vec());
        stream.for_each_consumer(group.number, |name, consumer| add(format!("{}", consumer.seen_ms), name.to_vec()));
        let _ = stream.walk_pending(group.number, StreamId::MIN, Direction::Forward, &mut |pending| {
            let owner = stream.consumer_of(group.number, pending.consumer, |name, _| name.to_vec());
            add(format!("{} {} {}", pending.id, pending.delivered_ms, pending.deliveries), owner);
            ControlFlow::Continue(())
        });
    });
}

/// Streams with entries of some field names, and with groups.
fn stream() -> impl Strategy<Value = Stream> {
    let entry = (0u64..5, 0u64..3, prop::collection::vec((0u8..4, text()), 1..4), any::<bool>());
    let pending = (0u64..300, 0u8..3, any::<u32>(), 0u64..9);
    let group = (prop::collection::vec(pending, 0..60), prop::option::of(0u64..500), 0u64..300);
    let group = (text(), group);
    (prop::collection::vec(entry, 0..250), prop::collection::vec(group, 0..3), any::<u16>()).prop_map(
        |(entries, groups, more)| {
            let mut stream = Stream::default();
            stream.set(StreamId::MIN, StreamId::MIN, 0);
            let mut id = StreamId { ms: 5, seq: 0 };
            for (ms, seq, fields, stays) in entries {
                id = if ms > 0 { StreamId { ms: id.ms + ms, seq } } else { StreamId { seq: id.seq + seq + 1, ..id } };
                let names: Vec<Vec<u8>> = fields.iter().map(|(name, _)| vec![b'n', *name]).collect();
                let words: Vec<&[u8]> =
                    names.iter().zip(&fields).flat_map(|(name, (_, value))| [name.as_slice(), value]).collect();
                let bytes = words.iter().map(|word| word.len()).sum();
                let opens = stream.must_open(bytes, 100, 4096);
                stream.add(id, &words, opens);
                if !stays {
                    stream.delete(id);
                }
            }
            let foot = stream.foot();
            let last_id = StreamId { seq: foot.last_id.seq + u64::from(more), ..foot.last_id };
            stream.set(last_id, foot.deleted_id, foot.added + u64::from(more));
            for (name, (pending, read, last_ms)) in groups {
                stream.put_group(&name, StreamId { ms: last_ms, seq: 0 }, read);
                let group = stream.group(&name).expect("just put").number;
                for (ms, consumer, delivered, deliveries) in pending {
                    let seen_ms = Ms::from(consumer) + 9;
                    let consumer = stream.put_consumer(group, &[b'c', consumer], seen_ms, None);
                    let (id, delivered_ms) = (StreamId { ms, seq: 0 }, delivered.into());
                    stream.put_pending(group, Pending { id, consumer, delivered_ms, deliveries });
                }
            }
            stream
        },
    )
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        (-5000i64..5000).prop_map(|number| number.to_string().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..40),
        (0usize..90, any::<u8>()).prop_map(|(count, byte)| vec![byte; count]),
        (4000usize..20_000).prop_map(|count| (0..count).map(|at| (at * at / 7) as u8).collect()),
    ]
}

fn score() -> impl Strategy<Value = f64> {
    let ordinary = any::<f64>().prop_filter("a number", |score| !score.is_nan());
    prop_oneof![ordinary, (-1000i32..1000).prop_map(f64::from), Just(f64::INFINITY), Just(f64::NEG_INFINITY)]
}

fn value() -> impl Strategy<Value = Value> {
    let many = || prop::collection::vec(text(), 1..200);
    prop_oneof![
        text().prop_map(|text| Value::Text(LongString::of(&text))),
        many().prop_map(|texts| {
            let mut list = List::new();
            texts.iter().for_each(|text| list.push(blocks::End::Tail, text));
            Value::List(list)
        }),
        prop_oneof![many(), prop::collection::vec((0i64..90_000).prop_map(|at| at.to_string().into_bytes()), 1..600)]
            .prop_map(|texts| {
                let mut set = Set::new();
                for text in &texts {
                    let form = set.form_with(text, 1, SetLimits::default());
                    set.add(text, form);
                }
                Value::Set(set)
            }),
        prop::collection::vec((text(), text(), prop::option::weighted(0.1, 1u64..1 << 45)), 1..160).prop_map(|pairs| {
            let mut hash = Hash::default();
            for (field, value, expires_at_ms) in &pairs {
                hash.put(Pair { field, value, expires_at_ms: *expires_at_ms });
                if hash.len() > 128 || field.len().max(value.len()) > 64 {
                    hash.grow();
                }
            }
            Value::Hash(hash)
        }),
        stream().prop_map(Value::Stream),
        tagged().prop_map(Value::Tagged),
        prop::collection::vec((score(), text()), 1..160).prop_map(|pairs| {
            let mut sorted = Sorted::default();
            for (score, member) in &pairs {
                sorted.put(*score, member);
                sorted.grow_beyond(128, 64);
            }
            Value::Sorted(sorted)
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dumped_values_are_restored(value in value()) {
        let payload = rdb::dump(&value);
        let again = rdb::restore(&payload).expect("our own payload");
        prop_assert_eq!(shown(&again), shown(&value));
        let mut restoring = rdb::Restoring::new(&LongString::of(&payload));
        while !restoring.step() {}
        prop_assert_eq!(shown(&restoring.result().unwrap()), shown(&value));
    }

    #[test]
    fn corrupted_or_truncated_payloads_are_rejected(
        value in value(),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let mut payload = rdb::dump(&value);
        let at = at.index(payload.len());
        payload[at] ^= flip;
        prop_assert_eq!(rdb::restore(&payload).err(), Some(Fault::Footer));
        prop_assert_eq!(rdb::restore(&payload[..at]).err(), Some(Fault::Footer));
    }

    #[test]
    fn payloads_with_forged_contents_restore_valid_values_or_fail(
        value in value(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        keep in any::<prop::sample::Index>(),
    ) {
        let mut payload = rdb::dump(&value);
        payload.truncate(payload.len() - 10);
        changes.iter().for_each(|(at, byte)| *at.get_mut(&mut payload) = *byte);
        payload.truncate(keep.index(payload.len()) + 1);
        let payload = rdb::seal(payload);
        if let Ok(value) = rdb::restore(&payload) {
            if let Value::Stream(stream) = &value {
                prop_assert!(Stream::of_list(stream.list().clone()).is_some(), "a stream that no start would read");
            }
            let again = rdb::restore(&rdb::dump(&value)).expect("our own payload");
            prop_assert_eq!(shown(&again).1, shown(&value).1);
        }
    }
}

fn tagged() -> impl Strategy<Value = Tagged> {
    prop::collection::vec((0u32..16, "[a-z]{0,9}"), 0..400).prop_map(|items| {
        let mut schema = Schema::new(None).unwrap();
        assert!(schema.add(b"kind", 4));
        let mut list = Tagged::new(Arc::new(schema));
        if items.len() % 4 == 0 {
            list.set_lasting();
        }
        for (kind, value) in items {
            let item = TaggedItem { value: value.as_bytes(), is_hidden: kind == 3, attributes: &[kind] };
            list.insert(list.len() / 2, &[item]);
        }
        // An empty list exists only if it is set to stay.
        if list.is_empty() {
            list.set_lasting();
        }
        list
    })
}

/// Returns a list whose values are unique and vary in length.
fn tagged_list(items_count: u32) -> Tagged {
    let mut schema = Schema::new(None).unwrap();
    assert!(schema.add(b"kind", 4) && schema.add(b"many", 20));
    schema.set_unique();
    let mut list = Tagged::new(Arc::new(schema));
    for number in 0..items_count {
        let (value, attributes) = (format!("value {number}"), [number % 16, number]);
        let item = TaggedItem { value: value.as_bytes(), is_hidden: number % 7 == 0, attributes: &attributes };
        list.insert(u64::from(number) / 2, &[item]);
    }
    list
}

/// Restores a list of Bobbin's own type in many steps; its values are unique and vary in length.
#[test]
fn long_tagged_lists_are_restored() {
    let list = tagged_list(30_000);
    let payload = rdb::dump(&Value::Tagged(list.clone()));
    let Ok(Value::Tagged(again)) = rdb::restore(&payload) else { panic!("a tagged list") };
    again.check();
    assert_eq!((again.counts(), again.schema()), (list.counts(), list.schema()));
    assert_eq!(again.find(b"value 777"), list.find(b"value 777"));
}

/// Restores a payload with one bit wrong, at each of some hundred places.
#[test]
fn damaged_tagged_lists_are_refused_or_restored() {
    let payload = rdb::dump(&Value::Tagged(tagged_list(3_000)));
    for at in (0..payload.len() - 10).step_by(97) {
        let mut spoilt = payload[..payload.len() - 10].to_vec();
        spoilt[at] ^= 16;
        if let Ok(Value::Tagged(list)) = rdb::restore(&rdb::seal(spoilt)) {
            assert!(!list.is_empty());
        }
    }
}

/// Restores strings longer than a step, compressed and not.
#[test]
fn long_strings_are_restored() {
    let dull: Vec<u8> = (0..1_000_000usize).map(|at| (at % 1000 / 90) as u8).collect();
    let mut state = 1u64;
    let lively: Vec<u8> = (0..1_000_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u8
        })
        .collect();
    let mixed = [&lively[..40_000], &dull[..]].concat();
    for (text, bytes_max) in [(&dull, 300_000), (&lively, 1_000_100), (&mixed, 1_040_100)] {
        let payload = rdb::dump(&Value::Text(LongString::of(text)));
        assert!(payload.len() < bytes_max, "{}", payload.len());
        let Ok(Value::Text(again)) = rdb::restore(&payload) else { panic!("a text") };
        assert!(again.to_vec(0..again.bytes_count()) == *text);
    }
}

/// Types that do not exist, and streams without their contents.
#[test]
fn unknown_types_and_malformed_streams_are_rejected() {
    for kind in [6, 15, 19, 21] {
        assert_eq!(rdb::restore(&rdb::seal(vec![kind, 0, 0])).err(), Some(Fault::Malformed));
    }
}

#[test]
fn a_queue_is_dumped_as_a_list_of_ready_messages() {
    let mut list = List::new();
    ["a", "b", "c"].iter().for_each(|item| list.push(blocks::End::Tail, item.as_bytes()));
    let mut queue = values::Queue::of_plain(list.clone(), 5);
    queue.reserve(2, 50).unwrap();
    queue.release(&[1]).unwrap();
    list.remove(1);
    assert_eq!(rdb::dump(&Value::Queue(queue)), rdb::dump(&Value::List(list)));
}
