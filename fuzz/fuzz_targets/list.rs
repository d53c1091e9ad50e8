//! Operations on a list beside a `VecDeque`, clones that must not notice, and bytes that call themselves a list.
//!
//! ```text
//!   | 0 | operation 1 | its numbers | operation ... |      else   | encoded list ... |
//! ```

#![no_main]

use blocks::{BlockList, Direction, End};
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;
use std::ops::ControlFlow;

type Twin = VecDeque<Vec<u8>>;

/// Items beyond this make a run slow and show nothing new.
const ITEMS_MAX: usize = 5000;

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, script)) => perform(&mut Input(script)),
        Some((_, bytes)) => decode(bytes),
        None => {}
    }
});

/// Bytes that are no list are refused; those that are one can be read, changed and written again.
fn decode(bytes: &[u8]) {
    let mut input = bytes;
    let Ok(mut list) = BlockList::decode(&mut input) else { return };
    list.check();
    let twin = read(&list, Direction::Forward);
    let mut encoded = Vec::new();
    list.encode(&mut encoded);
    assert_eq!(encoded.len() as u64, list.encoded_bytes());
    let again = BlockList::decode(&mut &encoded[..]).expect("what was encoded is a list");
    again.check();
    assert_eq!(read(&again, Direction::Forward), twin);
    list.push(End::Head, b"first");
    list.push(End::Tail, b"last");
    list.trim(list.len() / 3, list.len() / 2);
    list.check();
}

/// The input of the fuzzer, read byte by byte; zeros after its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, bound: usize) -> usize {
        let raw = usize::from(self.byte()) | usize::from(self.byte()) << 8;
        if bound == 0 { 0 } else { raw % bound }
    }

    fn end(&mut self) -> End {
        if self.byte() & 1 == 0 { End::Head } else { End::Tail }
    }

    fn item(&mut self) -> Vec<u8> {
        let length = match self.byte() {
            252 => 300,
            253 => 1500,
            254 => 4080,
            255 => 5000,
            0..=99 => 12,
            other => usize::from(other) % 40,
        };
        let first = self.byte() % 4;
        (0..length).map(|at| first.wrapping_add(at as u8)).collect()
    }
}

fn perform(input: &mut Input<'_>) {
    let (mut list, mut twin) = (BlockList::new(), Twin::new());
    let mut clone: Option<(BlockList, Twin)> = None;
    while !input.0.is_empty() {
        step(input, &mut list, &mut twin, &mut clone);
        if twin.len() > ITEMS_MAX {
            list.trim(0, ITEMS_MAX as u64);
            twin.truncate(ITEMS_MAX);
        }
        list.check();
        assert_eq!(list.len(), twin.len() as u64);
    }
    compare(&list, &twin);
    if let Some((list, twin)) = &clone {
        compare(list, twin);
    }
}

fn step(input: &mut Input<'_>, list: &mut BlockList, twin: &mut Twin, clone: &mut Option<(BlockList, Twin)>) {
    let len = twin.len();
    match input.byte() % 14 {
        0 => push(input.end(), &input.item(), 1, list, twin),
        1 => push(input.end(), &input.item(), input.below(700), list, twin),
        2 => pop(input.end(), list, twin),
        3 => pop_many(input.end(), input.below(len + 2), list, twin),
        4 if len > 0 => {
            let (at, item) = (input.below(len), input.item());
            list.set(at as u64, &item);
            twin[at] = item;
        }
        5 => {
            let (at, item) = (input.below(len + 1), input.item());
            list.insert(at as u64, &item);
            twin.insert(at, item);
        }
        6 if len > 0 => {
            let at = input.below(len);
            list.remove(at as u64);
            twin.remove(at);
        }
        7 => remove_many(input.below(len), 1 + usize::from(input.byte()) % 20, list, twin),
        8 => {
            let start = input.below(len + 1);
            let count = input.below(len - start + 1);
            list.trim(start as u64, count as u64);
            twin.drain(..start);
            twin.truncate(count);
        }
        9 => {
            // Whether split parts join again is all one: in the other order they make a list as good.
            let at = input.below(len + 1);
            let right = list.split_off(at as u64);
            right.check();
            let left = std::mem::replace(list, right);
            list.append(left);
            twin.rotate_left(at);
        }
        10 => {
            list.append(list.clone());
            twin.extend(twin.clone());
        }
        11 => {
            if let Some((list, twin)) = clone.replace((list.clone(), twin.clone())) {
                compare(&list, &twin);
            }
        }
        12 => find(&input.item(), input.below(len + 2), list, twin),
        13 => {
            let (end, content, first, count) = (input.end(), input.byte(), input.below(0x1_0000), input.below(2500));
            (0..count).for_each(|nth| push(end, &packable(content, first, nth), 1, list, twin));
            find(&packable(content, first, count / 2), 0, list, twin);
        }
        _ => {}
    }
}

/// The `nth` item of a sequence that fits one packed form or another.
fn packable(content: u8, first: usize, nth: usize) -> Vec<u8> {
    let drawn = ((first as u64) << 32 | nth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
    match content % 10 {
        0 => format!("{:012}", first + nth),
        1 => format!("{:012}", 1_000_000 + first - nth),
        2 => format!("{:012}", first + 50 * nth + drawn as usize % 100),
        3 => format!("{}", drawn >> (drawn % 53)),
        4 => format!("{drawn:012x}"),
        5 => format!("{:X}", drawn >> (drawn % 40)),
        6 => format!("key:{}:{}", first % 7, drawn % 1000),
        7 => format!("{:012}", (first % 100 + nth) * 100_000_000),
        8 => format!("{}", drawn % (first as u64 % 10 + 1)),
        _ => (0..12).map(|at| char::from(b"0aZ-_9Qz"[(drawn >> (3 * at)) as usize % 8])).collect(),
    }
    .into_bytes()
}

fn push(end: End, item: &[u8], count: usize, list: &mut BlockList, twin: &mut Twin) {
    for _ in 0..count {
        list.push(end, item);
        match end {
            End::Head => twin.push_front(item.to_vec()),
            End::Tail => twin.push_back(item.to_vec()),
        }
    }
}

fn pop_of(end: End, twin: &mut Twin) -> Option<Vec<u8>> {
    match end {
        End::Head => twin.pop_front(),
        End::Tail => twin.pop_back(),
    }
}

fn pop(end: End, list: &mut BlockList, twin: &mut Twin) {
    let mut popped = None;
    let there = list.pop(end, |item| popped = Some(item.to_vec()));
    assert_eq!(there, popped.is_some());
    assert_eq!(popped, pop_of(end, twin));
}

fn pop_many(end: End, count: usize, list: &mut BlockList, twin: &mut Twin) {
    let mut popped = Vec::new();
    let gone = list.pop_many(end, count as u64, &mut |item: &[u8]| {
        popped.push(item.to_vec());
        ControlFlow::Continue(())
    });
    let expected: Vec<Vec<u8>> = (0..count).map_while(|_| pop_of(end, twin)).collect();
    assert_eq!(popped, expected);
    assert_eq!(gone, expected.len() as u64);
}

fn remove_many(from: usize, step: usize, list: &mut BlockList, twin: &mut Twin) {
    let positions: Vec<u64> = (from..twin.len()).step_by(step).map(|at| at as u64).collect();
    list.remove_many(&positions);
    for &at in positions.iter().rev() {
        twin.remove(at as usize);
    }
}

fn find(needle: &[u8], from: usize, list: &BlockList, twin: &Twin) {
    let forward = twin.iter().skip(from).position(|item| item == needle).map(|at| (at + from) as u64);
    assert_eq!(list.find(needle, from as u64, Direction::Forward), forward);
    let backward = twin.iter().take(from + 1).rposition(|item| item == needle).map(|at| at as u64);
    assert_eq!(list.find(needle, from as u64, Direction::Backward), backward);
}

fn read(list: &BlockList, direction: Direction) -> Twin {
    let mut items = Twin::new();
    let _ = list.walk(0, list.len(), direction, &mut |item: &[u8]| {
        items.push_back(item.to_vec());
        ControlFlow::Continue(())
    });
    items
}

fn compare(list: &BlockList, twin: &Twin) {
    assert_eq!(read(list, Direction::Forward), *twin);
    let mut backward = read(list, Direction::Backward);
    backward.make_contiguous().reverse();
    assert_eq!(backward, *twin);
    let middle = twin.len() / 2;
    assert_eq!(list.get(middle as u64, <[u8]>::to_vec).as_ref(), twin.get(middle));
    assert_eq!(list.content_bytes(), twin.iter().map(|item| item.len() as u64).sum::<u64>());
}
