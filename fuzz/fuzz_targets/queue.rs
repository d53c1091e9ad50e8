//! Bytes that call themselves a queue: refused, or read, walked, changed in every way, and read anew.
//!
//! ```text
//!   | length : varint | item | length | item | ...        the items of the list that it would be
//! ```

#![no_main]

use base::varint;
use blocks::{BlockList, Direction, End};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;
use values::queue::{QueueLimits, State};
use values::{Queue, Value, ValueType};

fn list_of(mut data: &[u8]) -> BlockList {
    let mut list = BlockList::new();
    while let Some(item) = varint::take_bytes(&mut data) {
        list.push(End::Tail, item);
    }
    list
}

fn read(list: &BlockList) -> Option<Queue> {
    let mut bytes = Vec::new();
    Value::List(list.clone()).encode(&mut bytes);
    match Value::decode(ValueType::Queue, &mut &bytes[..])? {
        Value::Queue(queue) => Some(queue),
        _ => unreachable!("it was read as a queue"),
    }
}

fn check(queue: &Queue) {
    let (mut ready, mut shown, mut held) = (Vec::new(), Vec::new(), 0);
    let _ = queue.walk_records(&mut |record| {
        ready.push(record.message.to_vec());
        ControlFlow::Continue(())
    });
    let _ = queue.walk_ready(0, queue.ready_len(), Direction::Backward, &mut |message: &[u8]| {
        shown.push(message.to_vec());
        ControlFlow::Continue(())
    });
    shown.reverse();
    assert_eq!(ready, shown);
    let _ = queue.walk_held(&mut |record| {
        assert!(queue.held(record.id, |found| found.message == record.message).is_some());
        held += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(queue.held_len(), held);
    queue.next_due();
    queue.too_old(u64::MAX / 2, 100);
    if !queue.is_empty() {
        let again = read(queue.list()).expect("what is there can be read");
        assert_eq!(again.figures(), queue.figures());
    }
}

fuzz_target!(|data: &[u8]| {
    let list = list_of(data);
    if list.is_empty() {
        return;
    }
    let Some(mut queue) = read(&list) else { return };
    check(&queue);
    let _ = queue.reserve(2, 50);
    let _ = queue.push(End::Head, 7, [&b"left"[..]].into_iter());
    let _ = queue.push(End::Tail, 7, [&b"right"[..], b""].into_iter());
    let _ = queue.push_one(7, 9, b"dedup", b"later");
    check(&queue);
    let mut due = queue.due_ids(u64::MAX - 1, 100);
    due.sort_unstable();
    let (some, others) = due.split_at(due.len() / 2);
    let _ = queue.release(some);
    let _ = queue.set_state(others, State::Buried, 0);
    check(&queue);
    let mut buried = queue.buried_ids(3);
    buried.sort_unstable();
    let _ = queue.remove(&buried, true);
    let _ = queue.pop(End::Tail, queue.ready_len() / 2);
    let _ = queue.pop(End::Head, 1);
    queue.limit(9, QueueLimits { ttl_ms: 1, ..QueueLimits::default() });
    let (mut old, count) = queue.too_old(u64::MAX / 2, 2);
    old.sort_unstable();
    let _ = queue.expire(&old, count);
    check(&queue);
    let _ = queue.to_plain();
});
