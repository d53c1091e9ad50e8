//! Bytes that call themselves a stream: refused, or read from both ends, trimmed, added to, read by a group, and written anew.
//!
//! ```text
//!   | length : varint | item | length | item | ...        the items of the list that it would be
//! ```

#![no_main]

use base::varint;
use blocks::{BlockList, Direction, End};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Kept, StreamId, Trim};

fn list_of(mut data: &[u8]) -> BlockList {
    let mut list = BlockList::new();
    while let Some(item) = varint::take_bytes(&mut data) {
        list.push(End::Tail, item);
    }
    list
}

fn ids(stream: &Stream, direction: Direction) -> Vec<StreamId> {
    let mut ids = Vec::new();
    let _ = stream.walk(StreamId::MIN, StreamId::MAX, direction, &mut |id, fields| {
        assert!(fields.iter().count() > 0);
        ids.push(id);
        ControlFlow::Continue(())
    });
    ids
}

fn check(stream: &Stream) {
    let forward = ids(stream, Direction::Forward);
    let mut backward = ids(stream, Direction::Backward);
    backward.reverse();
    assert!(forward == backward && forward.is_sorted_by(|id, next| id < next));
    assert_eq!(forward.len() as u64, stream.len());
    stream.for_each_group(|name, group| {
        assert_eq!(stream.group(name), Some(group));
        let mut owned = 0;
        stream.for_each_consumer(group.number, |name, consumer| {
            assert_eq!(stream.consumer(group.number, name), Some(consumer));
            owned += stream.owned_count(group.number, consumer.number);
        });
        assert_eq!(owned, stream.pending_count(group.number));
    });
    assert!(Stream::of_list(stream.list().clone()).is_some());
}

fuzz_target!(|data: &[u8]| {
    let Some(mut stream) = Stream::of_list(list_of(data)) else { return };
    check(&stream);
    if let Some(next) = stream.foot().last_id.next() {
        stream.add(next, &[b"name", b"value"], stream.must_open(9, 100, 4096));
    }
    let mut names = Vec::new();
    stream.for_each_group(|name, _| names.push(name.to_vec()));
    for name in names {
        let group = stream.group(&name).expect("just seen");
        let consumer = stream.put_consumer(group.number, b"reader", 1, None);
        stream.deliver(&group, consumer, StreamId::MAX, 2);
        stream.put_group(&name, stream.foot().last_id, None);
        if let Some(id) = stream.first_id() {
            stream.drop_pending(group.number, id);
        }
    }
    check(&stream);
    let _ = stream.trim(stream.trim_count(Trim { kept: Kept::Newest(1), whole: false, limit: 0 }));
    if let Some(id) = stream.first_id() {
        assert!(stream.delete(id));
    }
    check(&stream);
});
