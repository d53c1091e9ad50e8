#![no_main]
//! Foreign bytes under a right checksum: taken or refused, never trusted. What is taken is dumped and comes back. They
//! are read as a value, and as libraries.
//!
//! ```text
//!   | type, value as its type has it ... |      the target appends the footer
//! ```

use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;
use values::Value;
use values::tagged::{Filter, LookLimits, Shown};

fuzz_target!(|data: &[u8]| {
    if let Ok(sources) = rdb::restore_libraries(&rdb::seal(data.to_vec())) {
        let again = rdb::restore_libraries(&rdb::dump_libraries(sources.iter().map(Vec::as_slice)));
        assert_eq!(again, Ok(sources));
    }
    let Ok(value) = rdb::restore(&rdb::seal(data.to_vec())) else { return };
    let again = rdb::restore(&rdb::dump(&value)).expect("our own payload");
    assert_eq!(elements(&value), elements(&again));
});

/// Returns the elements of a value, in an order that does not depend on its encoding.
fn elements(value: &Value) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    match value {
        Value::Text(text) => all.push(text.to_vec(0..text.bytes_count())),
        Value::List(list) => {
            let _ = list.walk(0, list.len(), blocks::Direction::Forward, &mut |item: &[u8]| {
                all.push(item.to_vec());
                ControlFlow::Continue(())
            });
        }
        Value::Set(set) => set.walk(0, set.len(), |member| {
            all.push(member.to_vec());
            ControlFlow::Continue(())
        }),
        Value::Hash(hash) => {
            let _ = hash.walk(&mut |pair| {
                let due = pair.expires_at_ms.map_or(Vec::new(), |at_ms| at_ms.to_be_bytes().to_vec());
                all.push([pair.field, b"=", pair.value, &due].concat());
                ControlFlow::Continue(())
            });
        }
        Value::Stream(stream) => {
            assert!(values::Stream::of_list(stream.list().clone()).is_some(), "a stream that no start would read");
            let (first, last) = (values::stream::StreamId::MIN, values::stream::StreamId::MAX);
            let _ = stream.walk(first, last, blocks::Direction::Forward, &mut |id, fields| {
                let fields: Vec<_> = fields.iter().collect();
                all.push(format!("{id} {fields:?}").into_bytes());
                ControlFlow::Continue(())
            });
        }
        Value::Sorted(sorted) => {
            sorted.for_each(|score, member| all.push([member, &(score + 0.0).to_bits().to_be_bytes()].concat()));
        }
        // No payload becomes one.
        Value::Queue(_) => unreachable!("a queue is dumped as a list"),
        Value::Tagged(list) => {
            list.check();
            let everything = LookLimits { skip: 0, chunks: u64::MAX };
            list.walk(0..list.len(), blocks::Direction::Forward, &Filter::of(Shown::All), everything, |found| {
                all.push([found.value, &[u8::from(found.is_hidden())]].concat());
                ControlFlow::Continue(())
            });
        }
    }
    if !matches!(value, Value::List(_) | Value::Tagged(_)) {
        all.sort();
    }
    all
}
