//! A list with its naive twin, a `VecDeque<Vec<u8>>`, and random operations on both.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use blocks::{BlockList, Direction, End, Visit};
use proptest::prelude::*;

pub(crate) type Twin = VecDeque<Vec<u8>>;

/// Operations carry raw numbers; positions are taken modulo the length at hand.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Push(End, Vec<u8>),
    PushMany(End, Vec<u8>, u16),
    PushSome(End, Content, u32, u16),
    Pop(End),
    PopMany(End, u16),
    Set(u32, Vec<u8>),
    Insert(u32, Vec<u8>),
    InsertMany(u32, Vec<u8>, u16),
    InsertSome(u32, Content, u32, u16),
    SetSome(u32, Content, u32, u16),
    Remove(u32),
    RemoveMany(u8, u8),
    RemoveRun(u32, u16),
    Trim(u32, u32),
    SplitAndSwap(u32),
    SplitAndJoin(u32),
    AppendClone,
    Clone,
    Recode,
}

/// The content of items that fit one packed form or another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    Rising,
    Falling,
    Gaps,
    Digits,
    Numbers,
    Hex,
    UpperHex,
    MixedHex,
    Signs,
    Prefix,
    Strides,
    Single,
    Noise,
}

impl Content {
    const ALL: [Content; 13] = [
        Content::Rising,
        Content::Falling,
        Content::Gaps,
        Content::Digits,
        Content::Numbers,
        Content::Hex,
        Content::UpperHex,
        Content::MixedHex,
        Content::Signs,
        Content::Prefix,
        Content::Strides,
        Content::Single,
        Content::Noise,
    ];

    /// The `nth` of a sequence of items.
    pub(crate) fn item(self, seed: u32, nth: u64) -> Vec<u8> {
        let base = u64::from(seed);
        let drawn = (base << 32 | nth).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ base << 7;
        let drawn = (drawn ^ drawn >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11;
        match self {
            Content::Rising => format!("{:012}", base + nth),
            Content::Falling => format!("{:012}", base + 10_000 - nth),
            Content::Gaps => format!("{:012}", base + 50 * nth + drawn % 100),
            Content::Digits => format!("{:012}", drawn % 1_000_000_000_000),
            Content::Numbers => format!("{}", drawn >> (drawn % 53)),
            Content::Hex => format!("{:012x}", drawn & 0xffff_ffff_ffff),
            Content::UpperHex => format!("{:012X}", drawn & 0xffff_ffff_ffff),
            Content::MixedHex => format!("{:x}", drawn >> (drawn % 40)),
            Content::Signs => {
                const SIGNS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
                return (0..12).map(|at| SIGNS[(drawn.rotate_left(5 * at) % 64) as usize]).collect();
            }
            Content::Prefix => format!("session:{}:{}", seed % 3, drawn % 100_000),
            Content::Strides => format!("{:012}", (base % 100 + nth) * 100_000_000 + drawn % (1 << (seed % 24))),
            Content::Single => format!("{}", drawn % (base % 10 + 1)),
            Content::Noise => return [&drawn.to_le_bytes()[..], &drawn.rotate_left(17).to_le_bytes()[..4]].concat(),
        }
        .into_bytes()
    }
}

fn content() -> impl Strategy<Value = Content> {
    (0..Content::ALL.len()).prop_map(|at| Content::ALL[at])
}

fn item() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![
        10 => Just(12usize),
        2 => Just(0),
        3 => Just(1),
        2 => Just(5),
        4 => 0usize..40,
        2 => Just(300),
        1 => Just(1500),
        1 => Just(4080),
        1 => Just(5000),
    ];
    (length, 0u8..3).prop_map(|(length, seed)| (0..length).map(|at| seed.wrapping_add(at as u8)).collect())
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Head), Just(End::Tail)]
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (end(), item()).prop_map(|(end, item)| Op::Push(end, item)),
        4 => (end(), item(), 1u16..900).prop_map(|(end, item, count)| Op::PushMany(end, item, count)),
        6 => (end(), content(), any::<u32>(), 1u16..2500)
            .prop_map(|(end, content, seed, count)| Op::PushSome(end, content, seed, count)),
        1 => (any::<u32>(), content(), any::<u32>(), 1u16..100)
            .prop_map(|(at, content, seed, count)| Op::InsertSome(at, content, seed, count)),
        2 => (any::<u32>(), content(), any::<u32>(), 1u16..30)
            .prop_map(|(at, content, seed, count)| Op::SetSome(at, content, seed, count)),
        3 => end().prop_map(Op::Pop),
        2 => (end(), 0u16..700).prop_map(|(end, count)| Op::PopMany(end, count)),
        3 => (any::<u32>(), item()).prop_map(|(at, item)| Op::Set(at, item)),
        4 => (any::<u32>(), item()).prop_map(|(at, item)| Op::Insert(at, item)),
        2 => (any::<u32>(), item(), 1u16..300).prop_map(|(at, item, count)| Op::InsertMany(at, item, count)),
        4 => any::<u32>().prop_map(Op::Remove),
        2 => (any::<u8>(), 1u8..20).prop_map(|(from, step)| Op::RemoveMany(from, step)),
        2 => (any::<u32>(), 0u16..400).prop_map(|(at, count)| Op::RemoveRun(at, count)),
        1 => (any::<u32>(), any::<u32>()).prop_map(|(start, count)| Op::Trim(start, count)),
        2 => any::<u32>().prop_map(Op::SplitAndSwap),
        2 => any::<u32>().prop_map(Op::SplitAndJoin),
        1 => Just(Op::AppendClone),
        3 => Just(Op::Clone),
        1 => Just(Op::Recode),
    ]
}

/// Maximum number of items: more make a case slow without testing anything new.
const ITEMS_MAX: usize = 9000;

pub(crate) struct Pair {
    pub(crate) list: BlockList,
    pub(crate) twin: Twin,
    pub(crate) clones: Vec<(BlockList, Twin)>,
}

impl Pair {
    pub(crate) fn new() -> Pair {
        Pair { list: BlockList::new(), twin: Twin::new(), clones: Vec::new() }
    }

    /// Returns a position below `bound`, or 0.
    pub(crate) fn at(raw: u32, bound: usize) -> usize {
        if bound == 0 { 0 } else { raw as usize % bound }
    }

    fn push(&mut self, end: End, item: &[u8]) {
        self.list.push(end, item);
        match end {
            End::Head => self.twin.push_front(item.to_vec()),
            End::Tail => self.twin.push_back(item.to_vec()),
        }
    }

    fn twin_pop(&mut self, end: End) -> Option<Vec<u8>> {
        match end {
            End::Head => self.twin.pop_front(),
            End::Tail => self.twin.pop_back(),
        }
    }

    fn insert(&mut self, at: usize, item: &[u8]) {
        self.list.insert(at as u64, item);
        self.twin.insert(at, item.to_vec());
    }

    fn remove(&mut self, at: usize) {
        self.list.remove(at as u64);
        self.twin.remove(at);
    }

    pub(crate) fn run(&mut self, op: &Op) {
        let len = self.twin.len();
        let crowded = len > ITEMS_MAX;
        match op {
            Op::Push(end, item) => self.push(*end, item),
            Op::PushMany(..) | Op::PushSome(..) | Op::InsertMany(..) | Op::AppendClone if crowded => {}
            Op::PushMany(end, item, count) => (0..*count).for_each(|_| self.push(*end, item)),
            Op::PushSome(end, content, seed, count) => {
                (0..u64::from(*count)).for_each(|nth| self.push(*end, &content.item(*seed, nth)));
            }
            Op::InsertSome(at, content, seed, count) => {
                let at = Pair::at(*at, len + 1);
                (0..u64::from(*count)).for_each(|nth| self.insert(at, &content.item(*seed, nth)));
            }
            Op::SetSome(at, content, seed, count) => {
                for nth in 0..usize::from(*count).min(len) {
                    let (at, item) = ((Pair::at(*at, len) + 37 * nth) % len, content.item(*seed, nth as u64));
                    self.list.set(at as u64, &item);
                    self.twin[at] = item;
                }
            }
            Op::Pop(end) => {
                let mut seen = None;
                let popped = self.list.pop(*end, |item| seen = Some(item.to_vec()));
                let expected = self.twin_pop(*end);
                assert_eq!(popped, expected.is_some());
                assert_eq!(seen, expected);
            }
            Op::PopMany(end, count) => {
                let mut seen = Vec::new();
                let popped = self.list.pop_many(*end, u64::from(*count), &mut Collect(&mut seen));
                let expected: Vec<_> = (0..*count).map_while(|_| self.twin_pop(*end)).collect();
                assert_eq!(popped, expected.len() as u64);
                assert_eq!(seen, expected);
            }
            Op::Set(at, item) if len > 0 => {
                let at = Pair::at(*at, len);
                self.list.set(at as u64, item);
                self.twin[at] = item.clone();
            }
            Op::Insert(at, item) => self.insert(Pair::at(*at, len + 1), item),
            Op::InsertMany(at, item, count) => {
                let at = Pair::at(*at, len + 1);
                (0..*count).for_each(|_| self.insert(at, item));
            }
            Op::Remove(at) if len > 0 => self.remove(Pair::at(*at, len)),
            Op::RemoveMany(from, step) => {
                let positions: Vec<u64> =
                    (0..len as u64).skip(usize::from(*from)).step_by(usize::from(*step)).collect();
                self.list.remove_many(&positions);
                for &position in positions.iter().rev() {
                    self.twin.remove(position as usize);
                }
            }
            Op::RemoveRun(at, count) if len > 0 => {
                let at = Pair::at(*at, len);
                (0..usize::from(*count).min(len - at)).for_each(|_| self.remove(at));
            }
            Op::Trim(start, count) => {
                let start = Pair::at(*start, len + 1);
                let count = Pair::at(*count, len - start + 1);
                self.list.trim(start as u64, count as u64);
                self.twin.truncate(start + count);
                self.twin.drain(..start);
            }
            Op::SplitAndSwap(at) => {
                let at = Pair::at(*at, len + 1);
                let mut right = self.list.split_off(at as u64);
                right.check();
                self.list.check();
                right.append(std::mem::take(&mut self.list));
                self.list = right;
                self.twin.rotate_left(at);
            }
            Op::SplitAndJoin(at) => {
                let right = self.list.split_off(Pair::at(*at, len + 1) as u64);
                self.list.append(right);
            }
            Op::AppendClone => {
                self.list.append(self.list.clone());
                self.twin.extend(self.twin.clone());
            }
            Op::Clone => {
                let clone = self.list.clone();
                assert!(clone.shares_root_with(&self.list));
                self.clones.push((clone, self.twin.clone()));
                if self.clones.len() > 3 {
                    let (list, twin) = self.clones.remove(0);
                    compare(&list, &twin);
                }
            }
            Op::Recode => self.list = recoded(&self.list),
            Op::Set(..) | Op::Remove(..) | Op::RemoveRun(..) => {}
        }
        self.list.check();
        assert_eq!(self.list.len(), self.twin.len() as u64);
    }

    pub(crate) fn compare_all(&self) {
        compare(&self.list, &self.twin);
        for (list, twin) in &self.clones {
            compare(list, twin);
        }
    }
}

pub(crate) struct Collect<'a>(pub(crate) &'a mut Vec<Vec<u8>>);

impl Visit for Collect<'_> {
    fn item(&mut self, item: &[u8]) -> ControlFlow<()> {
        self.0.push(item.to_vec());
        ControlFlow::Continue(())
    }
}

pub(crate) fn recoded(list: &BlockList) -> BlockList {
    let mut bytes = Vec::new();
    list.encode(&mut bytes);
    assert_eq!(bytes.len() as u64, list.encoded_bytes());
    let mut input = &bytes[..];
    let decoded = BlockList::decode(&mut input).expect("what encode wrote");
    assert!(input.is_empty());
    decoded.check();
    decoded
}

pub(crate) fn range(list: &BlockList, start: usize, count: usize, direction: Direction) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    let flow = list.walk(start as u64, count as u64, direction, &mut Collect(&mut seen));
    assert!(flow.is_continue());
    seen
}

/// Checks that every way of reading agrees with the twin.
pub(crate) fn compare(list: &BlockList, twin: &Twin) {
    list.check();
    assert_eq!(list.len(), twin.len() as u64);
    assert_eq!(list.is_empty(), twin.is_empty());
    assert_eq!(list.content_bytes(), twin.iter().map(|item| item.len() as u64).sum::<u64>());
    let all = range(list, 0, twin.len(), Direction::Forward);
    assert!(all.iter().eq(twin.iter()));
    let (start, count) = (twin.len() / 3, twin.len() / 2);
    let mut back = range(list, start, count, Direction::Backward);
    back.reverse();
    assert!(back.iter().eq(twin.iter().skip(start).take(count)));
    for at in (0..twin.len()).step_by(twin.len() / 40 + 1) {
        assert_eq!(list.get(at as u64, <[u8]>::to_vec).as_ref(), Some(&twin[at]));
        compare_find(list, twin, &twin[at], at);
    }
    assert_eq!(list.get(twin.len() as u64, |_| ()), None);
    for needle in [&b""[..], b"\0", b"absent", b"000000000000", b"7", b"abc", &[9; 12], &[9; 17], &[9; 300]] {
        compare_find(list, twin, needle, twin.len() / 2);
    }
}

fn compare_find(list: &BlockList, twin: &Twin, needle: &[u8], at: usize) {
    for from in [0, at / 2, at, at + 1, twin.len() + 3] {
        let forward = (from..twin.len()).find(|&index| twin[index] == needle);
        assert_eq!(list.find(needle, from as u64, Direction::Forward), forward.map(|index| index as u64));
        let backward = (0..twin.len().min(from + 1)).rev().find(|&index| twin[index] == needle);
        assert_eq!(list.find(needle, from as u64, Direction::Backward), backward.map(|index| index as u64));
    }
}

/// Returns a configuration for `BOBBIN_CASES` cases, or for `count`.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}
