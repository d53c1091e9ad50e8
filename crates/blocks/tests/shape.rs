//! The memory of lists: how dense they are, and how removals free it.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use blocks::{BlockList, Direction, End, LEAF_BYTES_MAX, Visit};

fn list_of(count: u64, bytes: usize) -> BlockList {
    let mut list = BlockList::new();
    for index in 0..count {
        let mut item = index.to_le_bytes().to_vec();
        item.resize(bytes, 7);
        list.push(End::Tail, &item);
    }
    list.check();
    list
}

#[test]
fn a_list_handle_is_eight_bytes_and_thread_safe() {
    fn shareable<T: Send + Sync + Clone + 'static>() {}
    shareable::<BlockList>();
    assert_eq!(size_of::<BlockList>(), 8);
    assert_eq!(BlockList::new().heap_bytes(), 0);
}

#[test]
fn a_short_list_takes_at_most_64_bytes() {
    assert!(list_of(3, 12).heap_bytes() <= 64);
}

#[test]
fn lists_pushed_at_either_end_are_dense() {
    for end in [End::Head, End::Tail] {
        let mut list = BlockList::new();
        for nth in 0..200_000u64 {
            let noise = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
            list.push(end, &[&noise[..], &noise[2..6]].concat());
        }
        let bytes_an_item = list.heap_bytes() as f64 / 200_000.0;
        assert!(bytes_an_item < 12.2, "{end:?}: {bytes_an_item}");
    }
}

#[test]
fn mixed_lengths_add_less_than_two_bytes_an_item() {
    for end in [End::Head, End::Tail] {
        let mut list = BlockList::new();
        for at in 0..100_000usize {
            let noise: Vec<u8> = (0..40).map(|place| ((at * 31 + place * 97) ^ (at >> 5)) as u8).collect();
            list.push(end, &noise[..at * 7 % 40]);
        }
        let over = (list.heap_bytes() - list.content_bytes()) as f64 / 100_000.0;
        assert!(over < 1.6, "{end:?}: {over} bytes an item beyond content");
    }
}

/// Leaves in step would all outgrow an allocator size class at the same time, and leave its slabs half empty.
#[test]
fn random_inserts_do_not_make_leaves_grow_in_step() {
    struct Leaves(Vec<usize>);
    impl Visit for Leaves {
        fn item(&mut self, _: &[u8]) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
        fn run(&mut self, _: usize, bytes: &[u8]) -> ControlFlow<()> {
            self.0.push(bytes.len());
            ControlFlow::Continue(())
        }
    }
    let (mut list, mut number) = (BlockList::new(), 1u64);
    let mut shares = Vec::new();
    for nth in 0..120_000u64 {
        number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let mut item = [0; 12];
        item[..8].copy_from_slice(&number.rotate_left(32).to_be_bytes());
        list.insert((number >> 33) % (nth + 1), &item);
        if nth >= 60_000 && nth % 10_000 == 0 {
            let mut leaves = Leaves(Vec::new());
            assert_eq!(list.walk(0, list.len(), Direction::Forward, &mut leaves), ControlFlow::Continue(()));
            let low = leaves.0.iter().filter(|&&bytes| bytes < LEAF_BYTES_MAX * 5 / 8).count();
            shares.push(low as f64 / leaves.0.len() as f64);
        }
    }
    // While a list doubles, the share of its smaller leaves stays about the same.
    let (least, most) = (shares.iter().copied().fold(1.0, f64::min), shares.iter().copied().fold(0.0, f64::max));
    assert!(least > 0.3 && most < 0.55, "{shares:?}");
}

/// Maximum bytes per item of a list of 12-byte items, pushed at either end, by their content.
#[test]
fn lists_of_ids_reach_the_expected_density() {
    const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let drawn = |nth: u64| {
        let mixed = (nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
    };
    let signs = |nth: u64| {
        let mut rest = u128::from(drawn(nth)) << 64 | u128::from(drawn(nth + 7_777_777));
        let mut item = [0; 12];
        item.iter_mut().for_each(|sign| (*sign, rest) = (SIGNS[(rest % 62) as usize], rest / 62));
        item.to_vec()
    };
    let number = |value: u64| format!("{value:012}").into_bytes();
    type Item<'a> = &'a dyn Fn(u64) -> Vec<u8>;
    let cases: [(&str, f64, Item<'_>); 6] = [
        ("alphanumerics", 9.3, &signs),
        ("hex", 6.2, &|nth| format!("{:012x}", drawn(nth) >> 16).into_bytes()),
        ("digits", 5.2, &|nth| number(drawn(nth) % 1_000_000_000_000)),
        ("rising", 2.5, &|nth| number(50 * nth + drawn(nth) % 100)),
        ("consecutive", 0.1, &number),
        ("prefix and digits", 3.2, &|nth| format!("post:{:07}", drawn(nth) % 10_000_000).into_bytes()),
    ];
    for (name, bytes_max, item) in cases {
        for end in [End::Head, End::Tail] {
            let mut list = BlockList::new();
            (0..200_000).for_each(|nth| list.push(end, &item(nth)));
            list.check();
            let bytes_an_item = list.heap_bytes() as f64 / 200_000.0;
            assert!(bytes_an_item < bytes_max, "{name}, {end:?}: {bytes_an_item}");
        }
    }
}

#[test]
fn blocks_of_long_items_waste_little_space() {
    for end in [End::Head, End::Tail] {
        let mut list = BlockList::new();
        (0..3_000usize)
            .for_each(|nth| list.push(end, &(0..1024).map(|at| ((at * nth) >> 3) as u8).collect::<Vec<u8>>()));
        list.check();
        let bytes_an_item = list.heap_bytes() as f64 / 3_000.0;
        assert!(bytes_an_item < 1_210.0, "{end:?}: {bytes_an_item}");
    }
}

#[test]
fn one_item_of_another_length_does_not_reduce_density() {
    let mut list = list_of(1000, 12);
    list.push(End::Tail, b"odd");
    (0..100_000).for_each(|_| list.push(End::Tail, b"twelve bytes"));
    assert!((list.heap_bytes() as f64) < 101_001.0 * 12.25, "{list:?}");
}

#[test]
fn a_list_used_as_a_queue_stays_small() {
    let mut list = BlockList::new();
    for round in 0..300_000u32 {
        list.push(End::Head, &round.to_le_bytes());
        if round >= 1000 {
            let mut seen = None;
            assert!(list.pop(End::Tail, |item| seen = Some(item.to_vec())));
            assert_eq!(seen, Some((round - 1000).to_le_bytes().to_vec()));
        }
        if round % 10_000 == 0 {
            list.check();
        }
    }
    assert!(list.heap_bytes() < 4000 + 3 * LEAF_BYTES_MAX as u64, "{list:?}");
}

#[test]
fn removals_free_memory() {
    let mut list = list_of(100_000, 12);
    let mut at = 0;
    while list.len() > 5_000 {
        at = (at + 7919) % list.len();
        list.remove(at);
    }
    list.check();
    assert!(list.heap_bytes() < 5_000 * 12 * 5 / 2, "{list:?}");
    while !list.is_empty() {
        list.remove(list.len() / 2);
    }
    assert_eq!(list.heap_bytes(), 0);
}

#[test]
fn a_leaf_shrinks_as_items_are_removed() {
    let shrinks = |name: &str, take: &dyn Fn(&mut BlockList)| {
        let mut list = list_of(300, 12);
        while list.len() > 5 {
            take(&mut list);
        }
        list.check();
        assert!(list.heap_bytes() <= 256, "{name}: {list:?}");
    };
    shrinks("pop head", &|list| assert!(list.pop(End::Head, |_| ())));
    shrinks("pop tail", &|list| assert!(list.pop(End::Tail, |_| ())));
    shrinks("remove", &|list| list.remove(list.len() / 2));
    shrinks("trim", &|list| list.trim(1, list.len() - 1));
}

/// One long item per leaf makes a tree of three levels of nodes; the twin has the numbers of the items.
#[test]
fn a_deep_tree_matches_its_naive_twin() {
    let item = |number: u64| [&number.to_le_bytes()[..], &[0; 2100]].concat();
    let numbers = |list: &BlockList| {
        let mut seen = VecDeque::new();
        let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
            seen.push_back(u64::from_le_bytes(item[..8].try_into().expect("eight bytes")));
            ControlFlow::Continue(())
        });
        seen
    };
    let mut list = BlockList::new();
    let mut twin = VecDeque::new();
    for number in 0..5_000 {
        list.push(End::Head, &item(number));
        twin.push_front(number);
    }
    let (clone, clone_twin) = (list.clone(), twin.clone());
    for number in 5_000..6_500u64 {
        let at = (number * 7919) as usize % twin.len();
        match number % 8 {
            0 => {
                let right = list.split_off(at as u64);
                let left = std::mem::replace(&mut list, right);
                list.append(left);
                twin.rotate_left(at);
            }
            1 | 2 => {
                list.remove(at as u64);
                twin.remove(at);
            }
            3 => {
                list.set(at as u64, &item(number));
                twin[at] = number;
            }
            4 => {
                let right = list.split_off(at as u64);
                list.check();
                list.append(right);
            }
            5 => assert_eq!(list.find(&item(twin[at]), at as u64 / 2, Direction::Forward), Some(at as u64)),
            _ => {
                list.insert(at as u64, &item(number));
                twin.insert(at, number);
            }
        }
        if number % 100 == 0 {
            list.check();
        }
    }
    assert_eq!(numbers(&list), twin);
    assert_eq!(numbers(&clone), clone_twin);
    let positions: Vec<u64> = (0..list.len()).filter(|at| at % 50 != 0).collect();
    list.remove_many(&positions);
    list.check();
    assert!(numbers(&list).into_iter().eq(twin.into_iter().step_by(50)));
}

#[test]
fn splitting_and_appending_keep_a_list_dense() {
    let mut list = list_of(50_000, 12);
    for round in 0..2_000u64 {
        let right = list.split_off((round * 7919) % list.len());
        let mut joined = right;
        joined.append(list);
        list = joined;
    }
    list.check();
    assert_eq!(list.len(), 50_000);
    assert!(list.heap_bytes() < 50_000 * 12 * 2, "{list:?}");
}

#[test]
fn appending_many_short_lists_gives_a_dense_list() {
    let mut list = BlockList::new();
    (0..5_000).for_each(|_| list.append(list_of(5, 12)));
    list.check();
    assert!(list.heap_bytes() < 25_000 * 12 * 5 / 4, "{list:?}");
}

#[test]
fn a_write_copies_its_path_and_leaves_clones_unchanged() {
    let mut list = list_of(1_000_000, 12);
    let clone = list.clone();
    list.set(500_000, b"other bytes!");
    assert!(!list.shares_root_with(&clone));
    assert_eq!(clone.get(500_000, |item| item[..8].to_vec()), Some(500_000u64.to_le_bytes().to_vec()));
    assert_eq!(list.get(500_000, <[u8]>::to_vec), Some(b"other bytes!".to_vec()));
}

#[test]
fn clones_can_change_and_drop_on_many_threads() {
    let list = list_of(20_000, 12);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let mut mine = list.clone();
            scope.spawn(move || {
                for round in 0..2_000u64 {
                    mine.set((round * 97 + thread) % mine.len(), b"twelve bytes");
                    mine.pop(End::Head, |_| ());
                    let kept = mine.clone();
                    mine.push(End::Tail, b"twelve bytes");
                    drop(kept);
                }
                mine.check();
            });
        }
    });
    list.check();
    assert_eq!(list.find(&[&19_999u64.to_le_bytes()[..], &[7; 4]].concat(), 0, Direction::Forward), Some(19_999));
}

#[test]
fn a_forward_walk_visits_fixed_leaves_as_runs() {
    struct Runs(Vec<(usize, usize)>);
    impl Visit for Runs {
        fn item(&mut self, _: &[u8]) -> ControlFlow<()> {
            panic!("a fixed block has no single items forward")
        }
        fn run(&mut self, width: usize, bytes: &[u8]) -> ControlFlow<()> {
            self.0.push((width, bytes.len() / width));
            ControlFlow::Continue(())
        }
    }
    let mut runs = Runs(Vec::new());
    assert!(list_of(10_000, 12).walk(4_000, 100, Direction::Forward, &mut runs).is_continue());
    assert!(runs.0.len() <= 2);
    assert_eq!(runs.0.iter().map(|run| run.1).sum::<usize>(), 100);
}

#[test]
fn a_visitor_can_stop_a_walk() {
    let mut seen = 0;
    let flow = list_of(1_000, 12).walk(0, 1_000, Direction::Backward, &mut |_: &[u8]| {
        seen += 1;
        if seen == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(flow.is_break());
    assert_eq!(seen, 10);
}

#[test]
fn very_long_items_can_be_inserted_found_and_freed() {
    let long = vec![b'l'; 3 << 20];
    let mut list = list_of(100, 12);
    list.insert(50, &long);
    list.push(End::Head, &long);
    list.check();
    assert_eq!(list.len(), 102);
    assert_eq!(list.find(&long, 1, Direction::Forward), Some(51));
    list.set(51, b"short");
    list.remove(0);
    list.check();
    assert!(list.heap_bytes() < 16_384, "{list:?}");
}
