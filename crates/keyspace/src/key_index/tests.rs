//! Names against a plain set, and an index built during writes.

use super::changes::Changes;
use super::names::{Names, Scratch, Span};
use super::*;
use crate::{Log, Plan, Tx};
use base::hash::KeyHasher;
use blocks::Direction;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sync::lock::Want;
use values::ValueType;
use values::sorted::Bound;

fn make(names: &mut Names, mut changes: Changes) {
    changes.sort();
    let mut at = 0;
    while at < changes.len() {
        at = names.apply(&changes, at, &mut Scratch::default());
    }
}

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![
        1 => Just(Bound::None),
        3 => name().prop_map(Bound::Including),
        3 => name().prop_map(Bound::Excluding),
    ]
}

/// Names with common prefixes, most of them short, some longer than a chunk.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop_oneof![
        8 => (0u32..2_000).prop_map(|number| format!("user:{number:06}").into_bytes()),
        4 => proptest::collection::vec(0u8..3, 0..5),
        1 => proptest::collection::vec(prop_oneof![Just(0u8), Just(b'u'), Just(255)], 0..3),
        1 => (900usize..1_400).prop_map(|length| vec![b'u'; length]),
        1 => (0usize..300).prop_map(|length| [&b"user:"[..], &vec![b'9'; length]].concat()),
    ];
    parts.boxed()
}

/// Returns names with their types.
fn read(page: &Page) -> Vec<(Vec<u8>, ValueType)> {
    page.iter().enumerate().map(|(nth, name)| (name.to_vec(), page.value_type(nth))).collect()
}

fn kind() -> impl Strategy<Value = ValueType> {
    prop_oneof![Just(ValueType::String), Just(ValueType::List), Just(ValueType::Hash), Just(ValueType::Stream)]
}

fn naive(twin: &BTreeMap<Vec<u8>, ValueType>, span: &Span) -> Vec<(Vec<u8>, ValueType)> {
    let is_in = |(name, _): &(&Vec<u8>, &ValueType)| {
        let from = match &span.least {
            Bound::None => true,
            Bound::Including(least) => name >= &least,
            Bound::Excluding(least) => name > &least,
        };
        from && match &span.most {
            Bound::None => true,
            Bound::Including(most) => name <= &most,
            Bound::Excluding(most) => name < &most,
        }
    };
    let within = twin.iter().filter(is_in).map(|(name, kind)| (name.clone(), *kind));
    match span.direction {
        Direction::Forward => within.collect(),
        Direction::Backward => within.rev().collect(),
    }
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    /// The names of a table match a plain set under any additions and removals, in small or large batches.
    #[test]
    fn names_match_a_plain_map_after_any_changes(
        rounds in proptest::collection::vec(
            (proptest::collection::vec((name(), proptest::option::weighted(0.6, kind())), 1..600), bound(), bound(), any::<bool>()),
            1..8,
        ),
        drains in any::<bool>(),
    ) {
        let (mut names, mut twin) = (Names::default(), BTreeMap::new());
        for (round, least, most, is_forward) in rounds {
            let mut changes = Changes::default();
            for (name, kind) in round {
                changes.push(1, &name, kind);
                match kind {
                    Some(kind) => drop(twin.insert(name, kind)),
                    None => drop(twin.remove(&name)),
                }
            }
            make(&mut names, changes);
            prop_assert_eq!(names.count(), twin.len() as u64);
            let direction = if is_forward { Direction::Forward } else { Direction::Backward };
            let mut span = Span { least, most, direction };
            let found = names.page(&span, usize::MAX, usize::MAX);
            prop_assert_eq!(read(&found), naive(&twin, &span));
            // Page by page, the same.
            let mut paged = Vec::new();
            loop {
                let page = names.page(&span, 7, 100);
                let Some(last) = page.iter().next_back() else { break };
                paged.extend(read(&page));
                span.pass(last);
            }
            prop_assert_eq!(paged, read(&found));
        }
        if drains {
            let mut changes = Changes::default();
            twin.keys().for_each(|name| changes.push(1, name, None));
            make(&mut names, changes);
            prop_assert_eq!((names.count(), names.heap_bytes()), (0, 0));
        }
    }
}

#[test]
fn a_name_costs_less_than_twelve_bytes() {
    let number = |nth: u64| nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    let mut names = Names::default();
    for batch in 0..100 {
        let mut changes = Changes::default();
        (0..1_000).for_each(|nth| {
            changes.push(1, format!("user:{:012}", number(batch * 1_000 + nth)).as_bytes(), Some(ValueType::String));
        });
        make(&mut names, changes);
    }
    let each = names.heap_bytes() as f64 / names.count() as f64;
    assert!(each < 12.0, "{each:.1} bytes a name");
}

fn write(keyspace: &Keyspace, key: &[u8], run: impl FnOnce(&mut Tx<'_>)) {
    let (mut plan, mut log) = (Plan::default(), Log::default());
    plan.add_key(keyspace, key, Want::Write);
    let held = plan.try_hold(keyspace).unwrap_or_else(|_| panic!("nobody else is here"));
    let mut tx = Tx::new(keyspace, held, 0, 1_000, &mut log, u64::MAX);
    run(&mut tx);
    tx.end().clear();
}

fn set(keyspace: &Keyspace, key: &[u8]) {
    write(keyspace, key, |tx| tx.put_string(key, b"1", crate::Expiry::Clear));
}

fn all(keyspace: &Keyspace) -> Vec<Vec<u8>> {
    let span = Span { least: Bound::None, most: Bound::None, direction: Direction::Forward };
    let mut reader = CatchUp::default();
    loop {
        match keyspace.order_page(keyspace.map().table(0), &span, usize::MAX, &mut reader) {
            OrderTurn::Page(page) => return page.iter().map(<[u8]>::to_vec).collect(),
            OrderTurn::Again => {}
            OrderTurn::Locked(_) | OrderTurn::Not(_) => panic!("nobody else is here"),
        }
    }
}

#[test]
fn writes_at_any_building_step_reach_the_index() {
    let keyspace = Keyspace::new(KeyHasher::new([1; 16]), 2);
    let mut twin = BTreeSet::new();
    let name = |nth: usize| format!("name:{:05}", nth * 7919 % 20_000).into_bytes();
    for nth in 0..5_000 {
        set(&keyspace, &name(nth));
        twin.insert(name(nth));
    }
    keyspace.order().want(true);
    for step in 0.. {
        match keyspace.step_order() {
            IndexStep::Sort(mut found) => {
                found.sort();
                keyspace.put_found(found);
            }
            IndexStep::Idle => break,
            _ => {}
        }
        let (comes, goes) = (name(5_000 + step % 15_000), name(step * 3 % 5_000));
        set(&keyspace, &comes);
        write(&keyspace, &goes, |tx| {
            tx.remove(&goes);
        });
        twin.insert(comes);
        twin.remove(&goes);
        if keyspace.order().state() == IndexState::On && step % 100 == 0 {
            assert_eq!(all(&keyspace), twin.iter().cloned().collect::<Vec<_>>(), "after step {step}");
        }
        if step > 12_000 {
            break;
        }
    }
    assert_eq!(all(&keyspace), twin.iter().cloned().collect::<Vec<_>>());
    assert_eq!(keyspace.order().figures().0, twin.len() as u64);
    keyspace.order().want(false);
    while !matches!(keyspace.step_order(), IndexStep::Idle) {}
    assert_eq!((keyspace.order().state(), keyspace.order().figures()), (IndexState::Off, (0, 0)));
    set(&keyspace, b"later");
    keyspace.order_at_once();
    twin.insert(b"later".to_vec());
    assert_eq!(all(&keyspace), twin.into_iter().collect::<Vec<_>>());
}

#[test]
fn an_abandoned_tx_leaves_the_index_unchanged() {
    let keyspace = Keyspace::new(KeyHasher::new([1; 16]), 2);
    keyspace.order_at_once();
    set(&keyspace, b"stays");
    let (mut plan, mut log) = (Plan::default(), Log::default());
    plan.add_key(&keyspace, b"stays", Want::Write);
    plan.add_key(&keyspace, b"comes", Want::Write);
    plan.seal();
    let held = plan.try_hold(&keyspace).unwrap_or_else(|_| panic!("nobody else is here"));
    let mut tx = Tx::new(&keyspace, held, 0, 1_000, &mut log, u64::MAX);
    tx.keep_old();
    tx.remove(b"stays");
    tx.put_string(b"comes", b"1", crate::Expiry::Clear);
    let span = Span { least: Bound::None, most: Bound::None, direction: Direction::Forward };
    assert!(matches!(keyspace.order_page(0, &span, 9, &mut CatchUp::default()), OrderTurn::Locked(_)));
    tx.abandon();
    assert_eq!(all(&keyspace), [b"stays".to_vec()]);
}

/// Acts like a writer: helps first while the index lags.
fn help(keyspace: &Keyspace) {
    while keyspace.order().is_behind() {
        if matches!(keyspace.help_order(), IndexStep::Blocked | IndexStep::Idle) {
            sort(keyspace);
        }
    }
}

/// Runs one step of the background thread.
fn sort(keyspace: &Keyspace) {
    if let IndexStep::Sort(mut found) = keyspace.step_order() {
        found.sort();
        keyspace.put_found(found);
    }
}

#[test]
fn helping_writers_keep_the_backlog_bounded() {
    // Of 10 bytes each.
    const NOTE_BYTES: u64 = 42;
    const AT_ONCE: usize = 500;
    let keyspace = Keyspace::new(KeyHasher::new([1; 16]), 2);
    let name = |nth: usize| format!("name:{nth:05}").into_bytes();
    (0..40_000).for_each(|nth| set(&keyspace, &name(nth * 7919 % 100_000)));
    keyspace.order().want(true);
    sort(&keyspace);
    let (mut nth, mut steps) = (40_000, 0);
    // The background thread gets one step per 500 names: alone it never finishes.
    while nth < 100_000 {
        help(&keyspace);
        (nth..nth + AT_ONCE).for_each(|nth| set(&keyspace, &name(nth * 7919 % 100_000)));
        nth += AT_ONCE;
        sort(&keyspace);
        steps += 1;
        let bytes_max = match keyspace.order().state() {
            IndexState::On => BACKLOG_BYTES_MAX,
            _ => BUILDING_BACKLOG_BYTES_MAX,
        } + AT_ONCE as u64 * NOTE_BYTES;
        let bytes = keyspace.order().backlog_bytes();
        assert!(bytes <= bytes_max, "{bytes} bytes of notes after {steps} steps");
        while steps == 60 && keyspace.order().state() != IndexState::On {
            sort(&keyspace);
        }
    }
    assert_eq!(keyspace.order().state(), IndexState::On);
    // The work left for a reader is bounded, too.
    let notes = keyspace.order().backlog_bytes().div_ceil(NOTE_BYTES);
    let span = Span { least: Bound::None, most: Bound::None, direction: Direction::Forward };
    let (mut reader, mut turns) = (CatchUp::default(), 0);
    while !matches!(keyspace.order_page(0, &span, 1, &mut reader), OrderTurn::Page(_)) {
        turns += 1;
    }
    let turns_max = notes.div_ceil(CHANGES_MADE as u64) + notes.div_ceil(NOTES_SORTED as u64) + 4;
    assert!(turns <= turns_max, "{turns} turns for {notes} notes");
    assert_eq!((keyspace.order().figures().0, keyspace.order().backlog_bytes()), (100_000, 0));
}

#[test]
fn building_ends_although_writers_keep_filling_the_backlog() {
    let keyspace = Keyspace::new(KeyHasher::new([1; 16]), 2);
    keyspace.order().want(true);
    let (mut nth, mut rounds) = (0, 0);
    while keyspace.order().state() != IndexState::On {
        // Fill it to the limit; then write whenever there is room.
        loop {
            set(&keyspace, format!("name:{nth:05}").as_bytes());
            nth += 1;
            if keyspace.order().is_behind() || nth % 1_000 == 0 {
                break;
            }
        }
        help(&keyspace);
        sort(&keyspace);
        rounds += 1;
        assert!(rounds < 20_000, "it does not end");
    }
    all(&keyspace);
    assert_eq!(keyspace.order().figures().0, nth);
}

#[test]
fn flushed_keys_leave_no_backlog() {
    let keyspace = Keyspace::new(KeyHasher::new([1; 16]), 2);
    keyspace.order_at_once();
    let mut nth = 0;
    while !keyspace.order().is_behind() {
        set(&keyspace, format!("name:{nth}").as_bytes());
        nth += 1;
    }
    keyspace.map().put(0, keyspace.map().fresh());
    let taken: Vec<_> = (0..SHARDS).map(|shard| keyspace.take_dead_sections(shard)).collect();
    assert_eq!(keyspace.order().backlog_bytes(), 0, "though the sections are still to be dropped");
    drop(taken);
    assert_eq!((keyspace.order().backlog_bytes(), all(&keyspace).len()), (0, 0));
    // And dropped ones.
    while !keyspace.order().is_behind() {
        set(&keyspace, format!("name:{nth}").as_bytes());
        nth += 1;
    }
    assert!(matches!(keyspace.help_order(), IndexStep::More));
    keyspace.order().want(false);
    while !matches!(keyspace.step_order(), IndexStep::Idle) {}
    assert_eq!(keyspace.order().backlog_bytes(), 0);
}

#[test]
fn the_index_follows_a_keys_change_of_type() {
    let keyspace = Keyspace::new(KeyHasher::new([1; 16]), 2);
    write(&keyspace, b"key", |tx| push(tx, b"key"));
    keyspace.order_at_once();
    let kinds = || {
        let span = Span { least: Bound::None, most: Bound::None, direction: Direction::Forward };
        let mut reader = CatchUp::default();
        loop {
            match keyspace.order_page(0, &span, 9, &mut reader) {
                OrderTurn::Page(page) => return read(&page).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>(),
                OrderTurn::Again => {}
                OrderTurn::Locked(_) | OrderTurn::Not(_) => panic!("nobody else is here"),
            }
        }
    };
    assert_eq!(kinds(), [ValueType::List]);
    set(&keyspace, b"key");
    assert_eq!(kinds(), [ValueType::String]);
    write(&keyspace, b"key", |tx| {
        tx.remove(b"key");
        push(tx, b"key");
    });
    assert_eq!(kinds(), [ValueType::List]);
    let (mut plan, mut log) = (Plan::default(), Log::default());
    plan.add_key(&keyspace, b"key", Want::Write);
    let held = plan.try_hold(&keyspace).unwrap_or_else(|_| panic!("nobody else is here"));
    let mut tx = Tx::new(&keyspace, held, 0, 1_000, &mut log, u64::MAX);
    tx.keep_old();
    tx.put_string(b"key", b"1", crate::Expiry::Clear);
    tx.abandon();
    assert_eq!(kinds(), [ValueType::List], "as it was");
}

fn push(tx: &mut Tx<'_>, key: &[u8]) {
    let mut list = tx.list_mut(key, crate::Absent::Create).unwrap().expect("it is made");
    list.push(blocks::End::Tail, &[b"1"]);
}
