//! A search in steps, its repetition in the changed list, and a removal in steps: each against a naive version over a
//! `Vec`.
//!
//! `BOBBIN_CASES` scales the number of cases.

use blocks::{BlockList, Direction, End, Removal, Runs, Search};
use proptest::collection::vec;
use proptest::prelude::*;

type Twin = Vec<Vec<u8>>;

/// Raw numbers; positions are taken modulo the length at hand.
#[derive(Clone, Debug)]
enum Change {
    Push(End, u8, u16),
    Pop(End, u16),
    Set(u32, u8),
    Insert(u32, u8),
    Remove(u32),
    Rotate(u32),
    AppendClone,
}

/// Returns one of a few items, so that many are equal; their lengths yield leaves of every kind.
fn item(seed: u8) -> Vec<u8> {
    let lengths = [12, 12, 12, 0, 1, 7, 300, 5000];
    vec![seed % 5; if seed < 200 { 12 } else { lengths[usize::from(seed % 8)] }]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Head), Just(End::Tail)]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (end(), any::<u8>(), 1u16..3000).prop_map(|(end, seed, count)| Change::Push(end, seed, count)),
        2 => (end(), 1u16..2000).prop_map(|(end, count)| Change::Pop(end, count)),
        3 => (any::<u32>(), any::<u8>()).prop_map(|(at, seed)| Change::Set(at, seed)),
        3 => (any::<u32>(), any::<u8>()).prop_map(|(at, seed)| Change::Insert(at, seed)),
        3 => any::<u32>().prop_map(Change::Remove),
        1 => any::<u32>().prop_map(Change::Rotate),
        1 => Just(Change::AppendClone),
    ]
}

fn run(change: &Change, list: &mut BlockList, twin: &mut Twin) {
    let len = twin.len();
    let at = |raw: u32| raw as usize % len.max(1);
    match *change {
        Change::Push(end, seed, count) => {
            for nth in 0..count {
                let item = item(seed.wrapping_add((nth % 3) as u8));
                list.push(end, &item);
                twin.insert(if end == End::Head { 0 } else { twin.len() }, item);
            }
        }
        Change::Pop(End::Head, count) => {
            let count = usize::from(count).min(len);
            list.trim(count as u64, (len - count) as u64);
            twin.drain(..count);
        }
        Change::Pop(End::Tail, count) => {
            let count = usize::from(count).min(len);
            list.trim(0, (len - count) as u64);
            twin.truncate(len - count);
        }
        Change::Set(raw, seed) if len > 0 => {
            list.set(at(raw) as u64, &item(seed));
            twin[at(raw)] = item(seed);
        }
        Change::Insert(raw, seed) => {
            list.insert(at(raw) as u64, &item(seed));
            twin.insert(at(raw), item(seed));
        }
        Change::Remove(raw) if len > 0 => {
            list.remove(at(raw) as u64);
            twin.remove(at(raw));
        }
        Change::Rotate(raw) => {
            let mut right = list.split_off(at(raw) as u64);
            right.append(std::mem::take(list));
            *list = right;
            twin.rotate_left(at(raw));
        }
        Change::AppendClone if len < 5000 => {
            list.append(list.clone());
            twin.extend(twin.clone());
        }
        Change::Set(..) | Change::Remove(..) | Change::AppendClone => {}
    }
}

/// Returns the positions of `needle` by definition, in the order of the search.
fn expected(twin: &Twin, needle: &[u8], direction: Direction, limit: u64) -> Vec<u64> {
    let mut found: Vec<u64> = (0..twin.len()).filter(|at| twin[*at] == needle).map(|at| at as u64).collect();
    if direction == Direction::Backward {
        found.reverse();
    }
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    found
}

fn positions(runs: &Runs, direction: Direction) -> Vec<u64> {
    let all = (0..runs.runs()).map(|at| runs.run(at));
    let found: Vec<u64> = match direction {
        Direction::Forward => all.flat_map(|(start, count)| start..start + count).collect(),
        Direction::Backward => all.flat_map(|(start, count)| (start..start + count).rev()).collect(),
    };
    assert_eq!(found.len() as u64, runs.items());
    found
}

fn contents(list: &BlockList) -> Twin {
    let mut items = Twin::new();
    let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
        items.push(item.to_vec());
        std::ops::ControlFlow::Continue(())
    });
    items
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_search_and_its_repetition_match_the_naive_twin(
        before in vec(change(), 1..20),
        between in vec(change(), 0..8),
        needle in any::<u8>(),
        limit in prop_oneof![Just(u64::MAX), Just(0), 1u64..2000],
        backward in any::<bool>(),
        step_bytes in prop_oneof![Just(1u64), 1u64..100_000],
    ) {
        let (mut list, mut twin) = (BlockList::new(), Twin::new());
        before.iter().for_each(|change| run(change, &mut list, &mut twin));
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let needle = item(needle);
        let mut search = Search::new(list.clone(), &needle, direction, limit).repeatable();
        while !search.step(step_bytes) {}
        prop_assert_eq!(positions(search.found(), direction), expected(&twin, &needle, direction, limit));
        prop_assert_eq!(&search.again(&list), &**search.found());
        for change in &between {
            run(change, &mut list, &mut twin);
            let again = search.again(&list);
            prop_assert_eq!(positions(&again, direction), expected(&twin, &needle, direction, limit));
        }
    }

    #[test]
    fn a_removal_in_steps_matches_the_naive_twin(
        before in vec(change(), 1..20),
        gaps in vec((prop_oneof![0u64..4, 0u64..3000], 1u64..40), 0..200),
        step_bytes in prop_oneof![Just(1u64), 1u64..100_000],
    ) {
        let (mut list, mut twin) = (BlockList::new(), Twin::new());
        before.iter().for_each(|change| run(change, &mut list, &mut twin));
        let mut runs = Vec::new();
        let mut at = 0;
        for (gap, count) in gaps {
            if at + gap + count <= twin.len() as u64 {
                runs.push((at + gap, count));
                at += gap + count;
            }
        }
        let original = list.clone();
        let (mut removal, mut next) = (Removal::new(list.clone()), runs.iter().copied());
        while !removal.step(step_bytes, &mut || next.next()) {}
        list.remove_runs(runs.iter().copied());
        let kept: Twin = (0..twin.len() as u64)
            .filter(|at| !runs.iter().any(|(start, count)| (*start..start + count).contains(at)))
            .map(|at| twin[at as usize].clone())
            .collect();
        for changed in [removal.take_list(), list] {
            changed.check();
            prop_assert!(contents(&changed) == kept);
        }
        original.check();
        prop_assert!(contents(&original) == twin);
    }
}

#[test]
fn a_repeated_search_sees_changes_since_the_first() {
    let mut list = BlockList::new();
    (0..200_000).for_each(|number| list.push(End::Tail, format!("{number:012}").as_bytes()));
    let mut search = Search::new(list.clone(), b"000000150000", Direction::Forward, 1).repeatable();
    while !search.step(4096) {}
    assert_eq!(search.found().run(0), (150_000, 1));
    list.insert(7, b"000000150000");
    assert_eq!(search.again(&list).run(0), (7, 1));
    list.remove(7);
    list.remove(8);
    assert_eq!(search.again(&list).run(0), (149_999, 1));
    list.set(149_999, b"other");
    assert_eq!(search.again(&list).runs(), 0);
}
