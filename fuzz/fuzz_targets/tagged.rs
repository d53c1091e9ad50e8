//! Bytes that call themselves a tagged list: refused, or read from both ends, filtered, changed in every way, and read anew.
//!
//! ```text
//!   | length : varint | item | length | item | ...        the items of the list that it would be
//! ```

#![no_main]

use base::varint;
use blocks::{BlockList, Direction, End};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;
use values::Tagged;
use values::tagged::{Filter, LookLimits, Shown, Tags, Term, Test};

fn list_of(mut data: &[u8]) -> BlockList {
    let mut list = BlockList::new();
    while let Some(item) = varint::take_bytes(&mut data) {
        list.push(End::Tail, item);
    }
    list
}

fn positions(list: &Tagged, direction: Direction, filter: &Filter) -> Vec<u64> {
    let mut positions = Vec::new();
    let limits = LookLimits { skip: 0, chunks: u64::MAX };
    list.walk(0..list.len(), direction, filter, limits, |found| {
        let tags = found.tags();
        assert!(filter.terms.iter().all(|term| term.test.takes(tags.attributes[term.attribute])));
        positions.push(found.position);
        ControlFlow::Continue(())
    });
    positions
}

fn check(list: &Tagged) {
    let schema = list.schema().clone();
    for shown in [Shown::All, Shown::Visible, Shown::Hidden] {
        let mut filter = Filter::of(shown);
        for attribute in 0..=schema.attributes().len() {
            let forward = positions(list, Direction::Forward, &filter);
            let mut backward = positions(list, Direction::Backward, &filter);
            backward.reverse();
            assert_eq!(forward, backward);
            let (visible, hidden) = list.count(0..list.len(), &filter, u64::MAX).expect("no limit");
            assert_eq!(forward.len() as u64, visible + hidden);
            filter.terms = vec![Term { attribute, test: Test::Within(1, 5) }];
        }
    }
    assert!(Tagged::of_list(list.list().clone()).is_some());
}

fuzz_target!(|data: &[u8]| {
    let Some(mut list) = Tagged::of_list(list_of(data)) else { return };
    check(&list);
    let value = list.get(0, |found| found.value.to_vec()).expect("it has an item");
    assert!(list.find(&value).is_some());
    list.point(|_| false);
    let tags = Tags { is_hidden: true, attributes: list.schema().attributes().iter().map(|of| of.max()).collect() };
    list.set_tags(list.len() / 2, &tags);
    list.insert(list.len() / 3, &[tags.with(&value)]);
    list.insert(list.len(), &[tags.with(&value)]);
    list.move_item(list.len() - 1, 0);
    check(&list);
    list.remove_runs(
        [(0, 1), (2, 1)].into_iter().take_while(|(at, _)| at + 1 < list.len()).collect::<Vec<_>>().into_iter(),
    );
    check(&list);
});
