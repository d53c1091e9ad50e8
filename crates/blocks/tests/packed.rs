//! Packed leaves at their bounds: where a leaf becomes several, and where several would make too large a one.

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

    /// The list holds what the twin does, and so does what comes of its bytes.
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

/// Ids at a wide pace take no bits; behind a gap they lie off their line and take many.
#[test]
fn a_leaf_that_loses_an_item_may_become_several() {
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

/// Ids that rise by one on the whole, and each by two or minus one, are not ids in a row.
#[test]
fn a_pace_of_one_is_not_taken_for_a_row() {
    let swapped = |nth: u64| nth / 3 * 3 + (3 - nth % 3) % 3;
    for falls in [false, true] {
        let id = |nth| if falls { 9_000_000 - swapped(nth) } else { swapped(nth) };
        // So many that one leaf or another begins and ends on the line.
        (2_000..2_012).for_each(|count| Pair::of((0..count).map(|nth| format!("post:{:07}", id(nth)))).check());
    }
}

/// Every place in a packed leaf, the borders of the raw leaves it becomes among them.
#[test]
fn any_item_of_a_packed_leaf_is_written_alone() {
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

/// More leaves than a node takes come of one removal.
#[test]
fn leaves_that_become_several_part_their_node() {
    let mut pair = strides(99_999);
    let (clone, twin) = (pair.list.clone(), pair.twin.clone());
    pair.remove(|at| at % 1_386 == 600);
    pair.check();
    pair.remove(|at| at % 2 == 0);
    pair.check();
    Pair { list: clone, twin }.check();
}

/// Thousands of the shortest items fit a block's bytes many times over.
#[test]
fn no_leaf_takes_more_items_than_it_may() {
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

/// A stack that falls a little between its rises opens packed leaves again and again.
#[test]
fn what_pops_opened_is_packed_again() {
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
