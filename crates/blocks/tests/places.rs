//! A list that is stored repeatedly reads back as it was when its storing began; a leaf that has a place equals the
//! stored bytes there, whatever changed in the list since.
//!
//! `BOBBIN_CASES` scales the number of cases.

use std::collections::BTreeMap;

use crate::twin::{Content, Op, Pair, Twin, cases, compare, op};
use blocks::{
    BlockList, DecodeError, End, LeafStore, Place, StoredError, StoredLeaves, Storing, counting_retired, leaf_counts,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A store of leaves in memory.
#[derive(Default)]
struct MemoryStore {
    blocks: BTreeMap<Place, Vec<u8>>,
    end: u64,
    /// The store may refuse to keep places below this.
    fresh_from: u64,
    /// A number that selects the refused places; none if 0.
    refusal: u64,
    /// The interval between failing writes, if not 0.
    failure: u64,
    tries: u64,
    written: usize,
    /// The leaves named by the form in progress.
    named: Vec<(Place, u64)>,
}

impl MemoryStore {
    fn new() -> MemoryStore {
        MemoryStore { end: 1 << 32, ..MemoryStore::default() }
    }

    fn begin(&mut self, refusal: u64, failure: u64) {
        self.fresh_from = self.end;
        (self.refusal, self.failure, self.written) = (refusal, failure, 0);
        self.named.clear();
    }

    fn read(&self, place: Place) -> Vec<u8> {
        self.blocks[&place].clone()
    }

    fn load(&self, form: &[u8]) -> BlockList {
        let mut input = form;
        let read = &mut |place, bytes| {
            let block = self.read(place);
            assert_eq!(block.len(), bytes);
            Ok::<_, ()>(block)
        };
        let list = BlockList::of_stored(&mut input, read).expect("what was stored");
        assert!(input.is_empty());
        list.check();
        list
    }

    /// Stores a whole list at once.
    fn store(&mut self, list: &BlockList) -> Vec<u8> {
        self.begin(0, 0);
        let mut form = Vec::new();
        let mut storing = Storing::new(list.clone(), &mut form);
        while !storing.step(u64::MAX, self, &mut form).expect("it does not fail") {}
        form
    }
}

impl LeafStore for MemoryStore {
    type Error = ();

    fn keeps(&mut self, place: Place, bytes: u64) -> bool {
        assert_eq!(self.blocks[&place].len() as u64, bytes);
        let is_refused = place.number() < self.fresh_from
            && self.refusal > 0
            && place.number().wrapping_mul(self.refusal).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
        if !is_refused {
            self.named.push((place, bytes));
        }
        !is_refused
    }

    fn write(&mut self, leaf: &[u8]) -> Result<Place, ()> {
        self.tries += 1;
        if self.failure > 0 && self.tries.is_multiple_of(self.failure) {
            return Err(());
        }
        let place = Place::of_number(self.end).expect("above zero");
        self.blocks.insert(place, leaf.to_vec());
        self.named.push((place, leaf.len() as u64));
        self.written += 1;
        // Each leaf has a head before it, and sometimes a new segment begins.
        self.end += leaf.len() as u64 + 24;
        if self.tries.is_multiple_of(97) {
            self.end = ((self.end >> 32) + 1) << 32 | 64;
        }
        Ok(place)
    }
}

/// A storing in progress, and the list and its twin when it began.
struct Under {
    storing: Storing,
    list: BlockList,
    twin: Twin,
    form: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Act {
    Change(Op),
    Begin(u64, u64),
    Step(u32),
    /// Completes the storing; if true, the list read back replaces the current one.
    Finish(bool),
    Forget,
}

fn act() -> impl Strategy<Value = Act> {
    let refusal = prop_oneof![2 => Just(0), 1 => any::<u64>()];
    let failure = prop_oneof![3 => Just(0), 1 => 2u64..9];
    prop_oneof![
        12 => op().prop_map(Act::Change),
        4 => (refusal, failure).prop_map(|(refusal, failure)| Act::Begin(refusal, failure)),
        4 => (0u32..60_000).prop_map(Act::Step),
        3 => any::<bool>().prop_map(Act::Finish),
        1 => Just(Act::Forget),
    ]
}

struct World {
    pair: Pair,
    memory_store: MemoryStore,
    under: Option<Under>,
}

impl World {
    fn run(&mut self, act: &Act) {
        match act {
            Act::Change(op) => self.pair.run(op),
            Act::Begin(refusal, failure) => {
                self.memory_store.begin(*refusal, *failure);
                let (list, twin, mut form) = (self.pair.list.clone(), self.pair.twin.clone(), Vec::new());
                self.under = Some(Under { storing: Storing::new(list.clone(), &mut form), list, twin, form });
            }
            Act::Step(bytes_max) => drop(self.step(u64::from(*bytes_max))),
            Act::Finish(read_back) => {
                while self.step(u64::MAX) == Some(false) {}
                let Some(under) = self.under.take() else { return };
                let list = self.finish(&under);
                self.pair.list.learn_places(&under.list);
                if *read_back {
                    (self.pair.list, self.pair.twin) = (list, under.twin);
                }
            }
            Act::Forget => self.under = None,
        }
        let lists = self.pair.clones.iter().map(|(list, _)| list).chain([&self.pair.list]);
        for list in lists.chain(self.under.iter().map(|under| &under.list)) {
            list.check_places(&mut |place| self.memory_store.read(place));
        }
    }

    fn step(&mut self, bytes_max: u64) -> Option<bool> {
        let under = self.under.as_mut()?;
        let written = self.memory_store.written;
        let is_over = under.storing.step(bytes_max, &mut self.memory_store, &mut under.form) == Ok(true);
        let bound = if bytes_max == u64::MAX { usize::MAX } else { bytes_max as usize / 2 + 1 };
        assert!(self.memory_store.written - written <= bound, "a step is bounded");
        Some(is_over)
    }

    /// Returns the stored list, read back.
    fn finish(&self, under: &Under) -> BlockList {
        let mut input = &under.form[..];
        let mut names = StoredLeaves::of(&mut input).expect("a form");
        let mut named = Vec::new();
        while let Some(leaf) = names.take(&mut input).expect("a leaf") {
            assert_eq!(leaf_counts(&self.memory_store.blocks[&leaf.place]), Ok((leaf.items, leaf.content_bytes)));
            named.push((leaf.place, leaf.bytes));
        }
        assert!(input.is_empty());
        assert_eq!(named, self.memory_store.named, "the store hears of every leaf that is named");
        let again = self.memory_store.load(&under.form);
        for list in [&under.list, &again] {
            let mut places = Vec::new();
            list.visit_places(&mut |place, bytes| places.push((place, bytes)));
            let expected = if list.is_one_leaf() { &[][..] } else { &named };
            assert_eq!(places, expected, "and so is every place in the list");
        }
        compare(&again, &under.twin);
        again.check_places(&mut |place| self.memory_store.read(place));
        again
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_stored_list_reads_back_and_its_places_stay_valid(acts in vec(act(), 1..60)) {
        let mut world = World { pair: Pair::new(), memory_store: MemoryStore::new(), under: None };
        for act in &acts {
            world.run(act);
        }
        world.run(&Act::Begin(0, 0));
        world.run(&Act::Finish(true));
        world.pair.compare_all();
        let form = world.memory_store.store(&world.pair.list);
        prop_assert!(world.memory_store.written == 0 || world.pair.list.is_one_leaf(), "what was read back is stored");
        compare(&world.memory_store.load(&form), &world.pair.twin);
    }

    /// A corrupted form, or corrupted blocks, give an error or a sound list.
    #[test]
    fn a_corrupted_stored_list_is_refused_or_read_soundly(
        ops in vec(op(), 1..8),
        changes in vec((any::<u32>(), any::<u8>()), 0..6),
        block_changes in vec((any::<u32>(), any::<u32>(), any::<u8>()), 0..3),
        cut in any::<u32>(),
    ) {
        let (mut pair, mut memory_store) = (Pair::new(), MemoryStore::new());
        ops.iter().for_each(|op| pair.run(op));
        let mut form = memory_store.store(&pair.list);
        for (at, value) in changes {
            let at = at as usize % form.len();
            form[at] = value;
        }
        if cut % 4 == 0 {
            form.truncate(cut as usize / 4 % (form.len() + 1));
        }
        for (nth, at, value) in block_changes {
            let count = memory_store.blocks.len().max(1);
            if let Some(block) = memory_store.blocks.values_mut().nth(nth as usize % count) {
                let at = at as usize % block.len();
                block[at] = value;
            }
        }
        read_any(&form, &memory_store);
    }

    #[test]
    fn random_bytes_are_refused_or_read_soundly(form in vec(prop_oneof![0u8..6, any::<u8>()], 0..200)) {
        read_any(&form, &MemoryStore::new());
    }
}

fn read_any(form: &[u8], memory_store: &MemoryStore) {
    let read = &mut |place, _| memory_store.blocks.get(&place).cloned().ok_or(());
    let Ok(mut list) = BlockList::of_stored(&mut &form[..], read) else { return };
    list.check();
    list.check_places(&mut |place| memory_store.read(place));
    list.push(End::Head, b"more");
    list.pop(End::Tail, |_| ());
    list.check();
}

fn noise(count: u64) -> BlockList {
    let mut list = BlockList::new();
    (0..count).for_each(|nth| list.push(End::Tail, &Content::Noise.item(7, nth)));
    list
}

/// Returns the number of leaves written for a list that was stored before it was changed.
fn rewritten(count: u64, change: impl FnOnce(&mut BlockList)) -> usize {
    let mut memory_store = MemoryStore::new();
    let mut list = noise(count);
    memory_store.store(&list);
    change(&mut list);
    let form = memory_store.store(&list);
    let written = memory_store.written;
    let mut bytes = [Vec::new(), Vec::new()];
    memory_store.load(&form).encode(&mut bytes[0]);
    list.encode(&mut bytes[1]);
    assert!(bytes[0] == bytes[1]);
    written
}

#[test]
fn storing_again_writes_only_changed_leaves() {
    let bytes = || Content::Noise.item(3, 3);
    assert_eq!(rewritten(100_000, |_| ()), 0);
    assert_eq!(rewritten(100_000, |list| list.set(50_000, &bytes())), 1);
    assert_eq!(rewritten(100_000, |list| list.remove(50_000)), 1);
    assert!(rewritten(100_000, |list| list.insert(50_000, &bytes())) <= 2);
    assert!(rewritten(100_000, |list| list.push(End::Tail, &bytes())) <= 2);
    assert!(rewritten(100_000, |list| list.push(End::Head, &bytes())) <= 2);
    assert_eq!(rewritten(100_000, |list| assert!(list.pop(End::Tail, |_| ()))), 1);
    assert!(rewritten(100_000, |list| list.trim(20_000, 60_000)) <= 2);
    let mut held = BlockList::new();
    assert!(
        rewritten(100_000, |list| {
            held = list.clone();
            list.trim(20_000, 60_000);
        }) <= 2,
        "a part of what others hold"
    );
    assert!(rewritten(100_000, |list| list.remove_many(&[100, 50_000, 50_001, 99_000])) <= 3);
    assert!(
        rewritten(100_000, |list| {
            let right = list.split_off(50_000);
            list.append(right);
        }) <= 2
    );
    assert_eq!(rewritten(100_000, |list| list.append(list.clone())), 0);
}

#[test]
fn changes_during_storing_rewrite_only_the_changed_leaves() {
    let (mut list, mut memory_store, mut form) = (noise(100_000), MemoryStore::new(), Vec::new());
    let before = list.clone();
    let mut storing = Storing::new(before.clone(), &mut form);
    while !storing.step(4_096, &mut memory_store, &mut form).expect("it does not fail") {
        list.set(50_000, b"another item");
        list.push(End::Tail, b"another item");
    }
    list.insert(20_000, b"another item");
    let shared = list.clone();
    list.learn_places(&before);
    list.check_places(&mut |place| memory_store.read(place));
    let all = memory_store.written;
    memory_store.store(&shared);
    assert!(memory_store.written <= 6 && all > 50, "{} of {all}", memory_store.written);
}

#[test]
fn consecutive_leaves_take_few_bytes_in_the_stored_form() {
    let mut lists = vec![noise(300_000)];
    for content in [Content::Digits, Content::Gaps, Content::MixedHex, Content::Prefix] {
        let mut list = BlockList::new();
        (0..300_000).for_each(|nth| list.push(End::Tail, &content.item(9, nth)));
        lists.push(list);
    }
    for list in lists {
        let mut memory_store = MemoryStore::new();
        let form = memory_store.store(&list);
        let bytes_a_leaf = form.len() as f64 / memory_store.blocks.len() as f64;
        assert!(bytes_a_leaf < 6.0, "{list:?}: {bytes_a_leaf}");
    }
}

#[test]
fn a_block_of_zeros_is_stored_and_loaded_once() {
    let mut run = BlockList::new();
    run.push(End::Tail, &[0; 4080]);
    (0..12).for_each(|_| run.append(run.clone()));
    let mut memory_store = MemoryStore::new();
    let form = memory_store.store(&run);
    assert!(memory_store.blocks.len() <= 2, "{}", memory_store.blocks.len());
    let again = memory_store.load(&form);
    assert_eq!(again.len(), 4096);
    let mut again_apart = BlockList::new();
    again_apart.append(again);
    let ((), shed_bytes) = counting_retired(|| drop(again_apart));
    assert!(shed_bytes > 4000 * 4096, "what is read is one block, held many times");
}

#[test]
fn a_clone_can_be_stored_while_the_list_changes() {
    let mut list = noise(60_000);
    let mut memory_store = MemoryStore::new();
    for round in 0..4u64 {
        let clone = list.clone();
        let (form, blocks) = std::thread::scope(|scope| {
            let memory_store = &mut memory_store;
            let clone = &clone;
            let storer = scope.spawn(move || {
                let form = memory_store.store(clone);
                (form, memory_store.blocks.clone())
            });
            for at in 0..3_000u64 {
                list.set((at * 7_919 + round) % list.len(), &Content::Noise.item(round as u32, at));
                list.push(End::Head, b"twelve bytes");
                list.pop(End::Tail, |_| ());
            }
            storer.join().expect("it does not fail")
        });
        list.check();
        list.check_places(&mut |place| blocks[&place].clone());
        let mut bytes = [Vec::new(), Vec::new()];
        memory_store.load(&form).encode(&mut bytes[0]);
        clone.encode(&mut bytes[1]);
        assert!(bytes[0] == bytes[1]);
    }
}

/// Worked out by hand from `docs/formats/block.md`.
#[test]
fn the_stored_form_is_read_as_documented() {
    // Three leaves of the fixed items "abc" and "def", "ghi" and "jkl", "m": at 0x1_0000_0040, then 33 bytes further
    // (9 of the leaf and 24 between), then in another segment.
    let blocks: [(u64, &[u8]); 3] = [
        (0x1_0000_0040, b"\x01\x02\x03abcdef"),
        (0x1_0000_0061, b"\x01\x02\x03ghijkl"),
        (0x2_0000_0040, b"\x01\x01\x01m"),
    ];
    let form =
        [&b"\x05"[..], b"\x80\x81\x80\x80\x20\x12\x04\x0c", b"\x30\x00\x00\x00", b"\xfc\xfe\xff\xff\x1f\x09\x01\x03"]
            .concat();
    let read = |place: Place, bytes: usize| {
        let block = blocks.iter().find(|(at, _)| *at == place.number()).map(|(_, block)| *block);
        block.filter(|block| block.len() == bytes).ok_or("no block of so many bytes")
    };
    let list = BlockList::of_stored(&mut &form[..], &mut |place, bytes| read(place, bytes)).expect("sound");
    compare(&list, &["abc", "def", "ghi", "jkl", "m"].map(|item| item.as_bytes().to_vec()).into());
    let refused = |at: usize, byte: u8| {
        let mut form = form.clone();
        form[at] = byte;
        BlockList::of_stored(&mut &form[..], &mut |place, bytes| read(place, bytes)).expect_err("unsound")
    };
    use DecodeError::{Inconsistent, Malformed};
    let first = Place::of_number(0x1_0000_0040).expect("above zero");
    assert_eq!(refused(0, 3), StoredError::Form(Inconsistent), "fewer items");
    assert_eq!(refused(0, 6), StoredError::Form(Malformed), "more items");
    assert_eq!(refused(1, 0x82), StoredError::Read("no block of so many bytes"));
    assert_eq!(refused(6, 0x14), StoredError::Read("no block of so many bytes"));
    assert_eq!(refused(7, 0x02), StoredError::Leaf(first, Inconsistent), "another count of items");
    assert_eq!(refused(7, 0x00), StoredError::Form(Inconsistent), "no items");
    assert_eq!(refused(8, 0x0a), StoredError::Leaf(first, Inconsistent), "other bytes of items");
    for end in 0..form.len() {
        let cut = BlockList::of_stored(&mut &form[..end], &mut |place, bytes| read(place, bytes));
        assert_eq!(cut.err(), Some(StoredError::Form(Malformed)));
    }
    assert_eq!(leaf_counts(b"\x01\x02\x03abcdef"), Ok((2, 6)));
    assert_eq!(leaf_counts(b"\x01\x02\x03abcdefg"), Err(Inconsistent));
}
