//! Packed leaves at their bounds: a leaf that must be split, and leaves too large to be merged.

use std::ops::ControlFlow;

use blocks::{BlockList, Direction, End};

/// A list and a naive twin of it.
struct Pair {
    list: BlockList,
    twin: Vec<Vec<u8>>,
}

impl Pair {
    fn of(items: impl IntoIterator<Item = String>) -> Pair {
        let twin: Vec<Vec<u8>> = items.into_iter().map(String::into_bytes).collect();
        let mut list = BlockList::new();
        twin.iter().for_each(|item| list.push(End::Tail, item));
        Pair { list, twin }
    }

    fn remove(&mut self, is_removed: impl Fn(u64) -> bool) {
        let positions: Vec<u64> = (0..self.list.len()).filter(|at| is_removed(*at)).collect();
        self.list.remove_many(&positions);
        let mut at = 0..;
        self.twin.retain(|_| !is_removed(at.next().expect("without end")));
    }

    /// Checks that the list, and the list decoded from its bytes, equal the twin.
    fn check(&self) {
        let mut bytes = Vec::new();
        self.list.encode(&mut bytes);
        assert_eq!(bytes.len() as u64, self.list.encoded_bytes());
        let again = BlockList::decode(&mut &bytes[..]).expect("what encode wrote");
        for list in [&self.list, &again] {
            list.check();
            let mut items = self.twin.iter();
            let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
                assert_eq!(Some(item), items.next().map(Vec::as_slice));
                ControlFlow::Continue(())
            });
            assert_eq!(items.next(), None);
            assert_eq!(list.content_bytes(), self.twin.iter().map(|item| item.len() as u64).sum::<u64>());
        }
    }
}

fn strides(count: u64) -> Pair {
    Pair::of((0..count).map(|nth| format!("{:012}", nth * 10_000_000)))
}

/// Ids at a constant wide distance take no bits; after a gap they are off their line and take many.
#[test]
fn removing_an_item_may_split_a_packed_leaf() {
    for position in [0, 1, 700, 1385, 1386, 4_999] {
        let mut pair = strides(5_000);
        pair.remove(|at| at == position);
        pair.check();
    }
    let mut pair = strides(5_000);
    pair.remove(|at| at % 1_000 == 500);
    pair.check();
    pair.remove(|at| at % 3 == 0);
    pair.check();
}

/// Ids that rise by one on average, but each by two or minus one, are not consecutive.
#[test]
fn an_average_step_of_one_is_not_taken_as_consecutive() {
    let swapped = |nth: u64| nth / 3 * 3 + (3 - nth % 3) % 3;
    for falls in [false, true] {
        let id = |nth| if falls { 9_000_000 - swapped(nth) } else { swapped(nth) };
        // Enough counts that some leaf begins and ends on the line.
        (2_000..2_012).for_each(|count| Pair::of((0..count).map(|nth| format!("post:{:07}", id(nth)))).check());
    }
}

/// Tests every position in a packed leaf, including the borders of the raw leaves it becomes.
#[test]
fn any_item_of_a_packed_leaf_can_be_changed_alone() {
    let Pair { list, twin } = strides(5_000);
    let item = |list: &BlockList, at: usize| list.get(at as u64, <[u8]>::to_vec);
    for at in 0..1_400_usize {
        let mut changed = list.clone();
        changed.set(at as u64, b"other");
        assert_eq!(changed.len(), 5_000);
        assert_eq!(item(&changed, at).as_deref(), Some(&b"other"[..]));
        assert_eq!(item(&changed, at + 1).as_ref(), Some(&twin[at + 1]));
        let mut shorter = list.clone();
        shorter.remove(at as u64);
        assert_eq!(shorter.len(), 4_999);
        assert_eq!(item(&shorter, at).as_ref(), Some(&twin[at + 1]));
        if at > 0 {
            assert_eq!(item(&changed, at - 1).as_ref(), Some(&twin[at - 1]));
            assert_eq!(item(&shorter, at - 1).as_ref(), Some(&twin[at - 1]));
        }
    }
}

/// One removal yields more leaves than a node can hold.
#[test]
fn leaf_splits_may_split_their_parent_node() {
    let mut pair = strides(99_999);
    let (clone, twin) = (pair.list.clone(), pair.twin.clone());
    pair.remove(|at| at % 1_386 == 600);
    pair.check();
    pair.remove(|at| at % 2 == 0);
    pair.check();
    Pair { list: clone, twin }.check();
}

/// Thousands of the shortest items would fit a block's bytes many times over.
#[test]
fn no_leaf_exceeds_the_maximum_number_of_items() {
    for spread in [1, 2, 10] {
        let mut pair = Pair::of((0..40_000_u64).map(|nth| (nth * nth / 7 % spread).to_string()));
        pair.check();
        pair.remove(|at| at % 3 == 0);
        pair.check();
        pair.remove(|at| at % 5 != 0);
        pair.check();
    }
    let mut pair = Pair::of((0..30_000).map(|nth| "7".repeat(nth % 2)));
    pair.remove(|at| at % 7 > 1);
    pair.check();
}

/// A stack with pops between its pushes unpacks leaves again and again.
#[test]
fn a_leaf_unpacked_by_pops_is_packed_again() {
    for end in [End::Head, End::Tail] {
        let mut list = BlockList::new();
        let mut nth = 0..;
        for _ in 0..50 {
            nth.by_ref().take(2_500).for_each(|id: u64| list.push(end, format!("{id:012}").as_bytes()));
            (0..800).for_each(|_| assert!(list.pop(end, |_| ())));
        }
        list.check();
        let bytes_an_item = list.heap_bytes() as f64 / list.len() as f64;
        assert!(bytes_an_item < 0.6, "{end:?}: {bytes_an_item}");
    }
}
