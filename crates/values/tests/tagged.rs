//! Tagged lists against a naive twin, a vector of items, under any operations.

use blocks::Direction;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;
use values::tagged::{
    By, Filter, ItemType, LookLimits, Rank, Schema, Shown, Tagged, TaggedBuilder, TaggedItem, Tags, Term, Test,
};
use values::{Value, ValueType};

const ALL: LookLimits = LookLimits { skip: 0, chunks: u64::MAX };

/// The items of the twin.
type Items = Vec<(Vec<u8>, Tags)>;

#[derive(Clone, Copy, Debug)]
struct Shape {
    is_unique: bool,
    value_bytes: Option<u32>,
    bits: &'static [u8],
}

const SHAPES: &[Shape] = &[
    Shape { is_unique: false, value_bytes: Some(12), bits: &[4, 3, 1] },
    Shape { is_unique: true, value_bytes: Some(12), bits: &[4, 3, 1] },
    Shape { is_unique: false, value_bytes: None, bits: &[] },
    Shape { is_unique: true, value_bytes: None, bits: &[32, 1, 7, 6, 6] },
];

fn schema(shape: Shape, attributes: usize) -> Arc<Schema> {
    let mut schema = Schema::new(shape.value_bytes).unwrap();
    for (nth, bits) in shape.bits.iter().take(attributes).enumerate() {
        assert!(schema.add(format!("a{nth}").as_bytes(), *bits));
    }
    if shape.is_unique {
        schema.set_unique();
    }
    Arc::new(schema)
}

/// Reproducible pseudo-random choices.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides.max(1)
    }

    fn value(&mut self, shape: Shape) -> Vec<u8> {
        let number = self.below(if shape.is_unique { 1 << 30 } else { 3000 });
        match shape.value_bytes {
            Some(_) => format!("{number:012}").into_bytes(),
            None => match self.below(200) {
                0 => vec![number as u8; 5000],
                1 => vec![number as u8; 400],
                _ => format!("{number}").into_bytes(),
            },
        }
    }

    fn tags(&mut self, schema: &Schema) -> Tags {
        let attributes = schema.attributes().iter().map(|attribute| match self.below(3) {
            0 => self.below(3).min(u64::from(attribute.max())) as u32,
            1 => self.below(u64::from(attribute.max()) + 1) as u32,
            _ => 0,
        });
        let attributes = attributes.collect();
        Tags { is_hidden: self.below(10) == 0, attributes }
    }

    fn filter(&mut self, schema: &Schema) -> Filter {
        let shown = [Shown::Visible, Shown::Hidden, Shown::All][self.below(3) as usize];
        let mut filter = Filter::of(shown);
        for (attribute, of) in schema.attributes().iter().enumerate() {
            let number = |dice: &mut Self| match dice.below(4) {
                0 => of.max(),
                1 => u32::MAX,
                2 => dice.below(3) as u32,
                _ => dice.below(u64::from(of.max()) + 1) as u32,
            };
            let test = match self.below(8) {
                0 => Test::Any(vec![number(self)]),
                1 => Test::Any(vec![number(self), number(self)]),
                2 => Test::None(vec![number(self)]),
                3 => Test::Within(number(self), number(self)),
                4 => Test::Within(0, number(self)),
                _ => continue,
            };
            filter.terms.push(Term { attribute, test });
        }
        filter
    }
}

fn takes(filter: &Filter, tags: &Tags) -> bool {
    let is_shown = match filter.shown {
        Shown::Visible => !tags.is_hidden,
        Shown::Hidden => tags.is_hidden,
        Shown::All => true,
    };
    let number = |attribute: usize| tags.attributes.get(attribute).copied().unwrap_or(0);
    is_shown && filter.terms.iter().all(|term| term.test.takes(number(term.attribute)))
}

/// Checks that all lookups agree.
fn compare(list: &Tagged, twin: &Items, dice: &mut Dice) {
    let len = twin.len() as u64;
    assert_eq!(list.len(), len);
    assert_eq!(list.is_empty(), twin.is_empty() && !list.is_lasting());
    let schema = list.schema().clone();
    let filter = dice.filter(&schema);
    let (one, other) = (dice.below(len + 1), dice.below(len + 1));
    let range = match dice.below(2) {
        0 => 0..len,
        _ => one.min(other)..one.max(other),
    };
    let taken = |position: &u64| takes(&filter, &twin[*position as usize].1);
    let mut expected: Vec<u64> = range.clone().filter(taken).collect();
    let hidden = expected.iter().filter(|position| twin[**position as usize].1.is_hidden).count() as u64;
    let counts = (expected.len() as u64 - hidden, hidden);
    assert_eq!(list.count(range.clone(), &filter, u64::MAX), Some(counts));
    let direction = if dice.below(2) == 0 { Direction::Forward } else { Direction::Backward };
    if direction == Direction::Backward {
        expected.reverse();
    }
    let (skip, most) = (dice.below(expected.len() as u64 + 2), 1 + dice.below(200) as usize);
    let mut seen = Vec::new();
    assert!(list.walk(range, direction, &filter, LookLimits { skip, ..ALL }, |found| {
        let (value, tags) = &twin[found.position as usize];
        assert_eq!((found.value, found.tags().is_hidden), (&value[..], tags.is_hidden));
        for (number, of) in tags.attributes.iter().enumerate() {
            assert_eq!(found.attribute(number), *of);
        }
        seen.push(found.position);
        if seen.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }));
    let expected: Vec<u64> = expected.into_iter().skip(skip as usize).take(most).collect();
    assert_eq!(seen, expected);
    assert_eq!(list.find(b"nowhere"), None);
    assert_eq!(list.get(len, |_| ()), None);
    if twin.is_empty() {
        return;
    }
    let position = dice.below(len);
    let value = &twin[position as usize].0;
    let first = twin.iter().position(|(other, _)| other == value).unwrap() as u64;
    assert_eq!(list.find(value), Some(first));
    assert_eq!(list.get(position, |found| found.value.to_vec()).as_ref(), Some(value));
}

/// Makes one random change to both.
fn change(list: &mut Tagged, twin: &mut Items, shape: Shape, dice: &mut Dice) {
    let (len, schema) = (twin.len() as u64, list.schema().clone());
    match dice.below(8) {
        0..=2 => {
            let many = [1, 1, 2, 40, 700][dice.below(5) as usize];
            let mut items: Items = Vec::new();
            for _ in 0..many {
                let value = dice.value(shape);
                let is_there = |items: &Items| items.iter().any(|(other, _)| *other == value);
                if !shape.is_unique || !is_there(twin) && !is_there(&items) {
                    items.push((value, dice.tags(&schema)));
                }
            }
            let at = [0, len, dice.below(len + 1)][dice.below(3) as usize];
            let borrowed: Vec<TaggedItem<'_>> = items.iter().map(|(value, tags)| tags.with(value)).collect();
            list.insert(at, &borrowed);
            twin.splice(at as usize..at as usize, items);
        }
        3 => {
            let (mut runs, mut at) = (Vec::new(), dice.below(len + 1));
            let most = [1, 3, 100][dice.below(3) as usize];
            for _ in 0..most {
                let count = [1, 2, 500][dice.below(3) as usize].min(len.saturating_sub(at));
                if count == 0 {
                    break;
                }
                runs.push((at, count));
                at += count + 1 + dice.below(20);
            }
            list.remove_runs(runs.iter().copied());
            for (at, count) in runs.into_iter().rev() {
                twin.drain(at as usize..(at + count) as usize);
            }
        }
        4 | 5 if len > 0 => {
            let (at, tags) = (dice.below(len), dice.tags(&schema));
            list.set_tags(at, &tags);
            twin[at as usize].1 = tags;
        }
        6 if len > 0 => {
            let (from, to) = (dice.below(len), dice.below(len));
            list.move_item(from, to);
            let item = twin.remove(from as usize);
            twin.insert(to as usize, item);
        }
        7 if schema.attributes().len() < shape.bits.len() => {
            list.grow(self::schema(shape, schema.attributes().len() + 1));
        }
        _ => {}
    }
}

/// Encodes and decodes the list.
fn reread(list: &Tagged) -> Tagged {
    let mut bytes = Vec::new();
    let value = Value::Tagged(list.clone());
    value.encode(&mut bytes);
    assert_eq!(bytes.len() as u64, value.encoded_bytes());
    match Value::decode(ValueType::Tagged, &mut &bytes[..]) {
        Some(Value::Tagged(read)) => read,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tagged_list_matches_its_naive_twin(
        seed in any::<u64>(),
        shape in 0..SHAPES.len(),
        attributes in 0usize..5,
        lasts_at in 0..200usize,
    ) {
        let (shape, mut dice) = (SHAPES[shape], Dice(seed));
        let mut list = Tagged::new(schema(shape, attributes));
        let mut twin = Items::new();
        let mut clones: Vec<(Tagged, Items)> = Vec::new();
        for turn in 0..120 {
            change(&mut list, &mut twin, shape, &mut dice);
            if turn == lasts_at {
                list.set_lasting();
            }
            assert_eq!(list.is_lasting(), turn >= lasts_at);
            compare(&list, &twin, &mut dice);
            if turn % 10 == 0 {
                list.check();
                clones.push((list.clone(), twin.clone()));
                clones.truncate(3);
            }
            if turn % 40 == 7 && !list.is_empty() {
                list = reread(&list);
            }
        }
        list.check();
        for (list, twin) in &clones {
            list.check();
            compare(list, twin, &mut dice);
        }
    }
}

#[test]
fn an_empty_lasting_list_round_trips() {
    for shape in SHAPES {
        let mut list = Tagged::new(schema(*shape, 3));
        assert!(list.is_empty());
        list.set_lasting();
        let tags = Tags::default();
        list.insert(0, &[tags.with(b"000000000000"), tags.with(b"000000000001")]);
        list.remove_runs([(0, 2)].into_iter());
        let again = reread(&list);
        again.check();
        assert!(again.is_lasting() && !again.is_empty());
        assert_eq!((again.len(), again.schema()), (0, list.schema()));
    }
}

#[test]
fn labels_do_not_run_out_with_inserts_at_one_position() {
    let shape = SHAPES[1];
    let mut list = Tagged::new(schema(shape, 3));
    let tags = Tags::default();
    for number in 0..20_000u64 {
        let value = format!("{number:012}");
        let at = list.len().min(1 + number % 2);
        list.insert(at, &[tags.with(value.as_bytes())]);
    }
    list.check();
    assert!(list.find(b"000000000777").is_some());
    for number in 0..20_000u64 {
        let value = format!("{number:012}");
        let from = list.find(value.as_bytes()).unwrap();
        list.move_item(from, 0);
    }
    list.check();
    assert_eq!(list.find(b"000000019999"), Some(0));
}

#[test]
fn relabelled_chunks_stay_readable_after_a_schema_has_grown() {
    let shape = Shape { is_unique: true, value_bytes: Some(12), bits: &[4, 3, 1, 32] };
    let mut list = Tagged::new(schema(shape, 3));
    let (tags, mut dice) = (Tags::default(), Dice(7));
    let mut insert = |list: &mut Tagged, at: u64| {
        // No two are alike, and packing them would save nothing.
        let value: Vec<u8> = (0..12).map(|_| dice.below(256) as u8).collect();
        list.insert(at, &[tags.with(&value)]);
    };
    for at in 0..5_000 {
        insert(&mut list, at);
    }
    list.grow(schema(shape, 4));
    // Splits at one place use up the labels there, and full chunks beside it get others.
    for _ in 0..5_000 {
        insert(&mut list, 2_500);
    }
    list.check();
    assert_eq!(reread(&list).len(), 10_000);
}

#[test]
fn full_chunks_of_ids_stay_packed_until_ids_move() {
    let mut list = Tagged::new(schema(SHAPES[1], 3));
    let ids: Vec<String> = (0..100_000u64).map(|number| format!("{:012}", number * 5_737 % 1_000_003)).collect();
    for (nth, id) in ids.iter().enumerate() {
        let at = if nth % 2 == 0 { list.len() } else { 0 };
        list.insert(at, &[Tags::default().with(id.as_bytes())]);
    }
    list.check();
    let bytes_each = |list: &Tagged| list.content_bytes() as f64 / list.len() as f64;
    let packed = bytes_each(&list);
    assert!(packed < 6.0, "{packed}");
    for id in ids.iter().step_by(100) {
        let at = list.find(id.as_bytes()).unwrap();
        list.set_tags(at, &Tags { is_hidden: true, attributes: vec![3, 1, 1] });
    }
    list.check();
    assert!(bytes_each(&list) <= packed + 0.1);
    assert_eq!(list.counts(), (99_000, 1_000));
    for id in ids.iter().step_by(100) {
        let from = list.find(id.as_bytes()).unwrap();
        list.move_item(from, 0);
    }
    list.check();
    assert!(bytes_each(&list) > 2.0 * packed);
    list = reread(&list);
    for id in &ids {
        let at = list.find(id.as_bytes()).unwrap();
        assert_eq!(list.get(at, |found| found.value.to_vec()).unwrap(), id.as_bytes());
    }
    let mut dice = Dice(5);
    let mut list = Tagged::new(schema(SHAPES[0], 3));
    for _ in 0..2000 {
        let value: Vec<u8> = (0..12).map(|_| dice.below(256) as u8).collect();
        list.insert(list.len(), &[Tags::default().with(&value)]);
    }
    list.check();
    assert!((13.0..13.2).contains(&bytes_each(&list)), "{}", bytes_each(&list));
}

#[test]
fn ordered_lists_are_searched_by_rank() {
    for (is_descending, of) in [(false, ItemType::Int), (true, ItemType::Int), (false, ItemType::Double)] {
        let mut schema = Schema::new(None).unwrap();
        assert!(schema.set_order(By::Value(of), is_descending));
        let mut list = Tagged::new(Arc::new(schema.clone()));
        let mut dice = Dice(9);
        for _ in 0..3000 {
            let value = format!("{}", dice.below(2000) as i64 - 1000);
            let rank = schema.rank(value.as_bytes(), |_| 0).unwrap();
            let at = list.point(|other| schema.compare(other, &rank) != Ordering::Greater);
            list.insert(at, &[TaggedItem { value: value.as_bytes(), is_hidden: false, attributes: &[] }]);
        }
        list.check();
        let mut seen: Vec<i64> = Vec::new();
        list.walk(0..list.len(), Direction::Forward, &Filter::of(Shown::All), ALL, |found| {
            seen.push(std::str::from_utf8(found.value).unwrap().parse().unwrap());
            ControlFlow::Continue(())
        });
        assert!(seen.is_sorted_by(|one, other| if is_descending { one >= other } else { one <= other }));
    }
    assert_eq!(Rank::of_value(b"abc\0d", ItemType::Text), Rank::of_value(b"abc\0e", ItemType::Text));
    assert_eq!(Rank::of_value(b"1.5", ItemType::Int), None);
}

#[test]
fn corrupted_bytes_are_refused_or_decode_to_a_usable_list() {
    let mut dice = Dice(4);
    let mut list = Tagged::new(schema(SHAPES[3], 5));
    for number in 0..2000u64 {
        let (value, tags) = (format!("{number}"), dice.tags(&list.schema().clone()));
        list.insert(0, &[tags.with(value.as_bytes())]);
    }
    let mut bytes = Vec::new();
    Value::Tagged(list).encode(&mut bytes);
    for _ in 0..20_000 {
        let mut spoilt = bytes.clone();
        let at = dice.below(bytes.len() as u64) as usize;
        spoilt[at] ^= 1 << dice.below(8);
        if let Some(Value::Tagged(list)) = Value::decode(ValueType::Tagged, &mut &spoilt[..]) {
            assert!(!list.is_empty());
            list.find(b"7");
            list.walk(0..list.len(), Direction::Forward, &Filter::of(Shown::All), ALL, |_| ControlFlow::Continue(()));
        }
    }
}

/// Returns the head and the chunks of a list of a thousand ids.
fn items_of(shape: impl FnOnce(&mut Schema)) -> Vec<Vec<u8>> {
    let mut schema = Schema::new(Some(12)).unwrap();
    shape(&mut schema);
    let mut list = Tagged::new(Arc::new(schema));
    for number in 0..1000u64 {
        let value = format!("{:012}", number * 977_777_777);
        list.insert(
            list.len(),
            &[TaggedItem { value: value.as_bytes(), is_hidden: false, attributes: &[number as u32] }],
        );
    }
    let mut items = Vec::new();
    let _ = list.list().walk(0, list.list().len(), Direction::Forward, &mut |item: &[u8]| {
        items.push(item.to_vec());
        ControlFlow::Continue(())
    });
    assert!(items.len() > 3);
    items
}

fn is_taken(items: &[Vec<u8>]) -> bool {
    let mut building = TaggedBuilder::default();
    items.iter().all(|item| building.add(item)) && building.finish().is_some()
}

#[test]
fn foreign_lists_that_violate_their_order_are_refused() {
    let by_value = |schema: &mut Schema| assert!(schema.set_order(By::Value(ItemType::Uint), false));
    let by_attribute = |schema: &mut Schema| {
        assert!(schema.add(b"n", 12) && schema.set_order(By::Attribute(0), false));
    };
    for (mut items, is_ordered) in
        [(items_of(by_value), true), (items_of(by_attribute), true), (items_of(|_| {}), false)]
    {
        assert!(is_taken(&items));
        items.swap(1, 2);
        assert_eq!(is_taken(&items), !is_ordered);
    }
}

#[test]
fn foreign_lists_with_duplicate_unique_values_are_refused() {
    let items = items_of(Schema::set_unique);
    assert!(is_taken(&items));
    // Another chunk of the same values, with the label of the last one.
    let (first, last) = (&items[1], items.last().unwrap());
    let at = |chunk: &[u8]| if chunk[0] & 3 == 0 { 9 } else { 5 };
    let mut twice = first.clone();
    twice[at(first)..at(first) + 5].copy_from_slice(&last[at(last)..at(last) + 5]);
    assert!(!is_taken(&[items[0].clone(), first.clone(), twice]));
    // Within one chunk: values have lengths, and are not packed.
    let mut schema = Schema::new(None).unwrap();
    schema.set_unique();
    let mut list = Tagged::new(Arc::new(schema));
    let item = |value| TaggedItem { value, is_hidden: false, attributes: &[] };
    list.insert(0, &[item(b"a"), item(b"b")]);
    let [head, mut chunk] = [0, 1].map(|at| list.list().get(at, <[u8]>::to_vec).unwrap());
    assert!(is_taken(&[head.clone(), chunk.clone()]));
    *chunk.last_mut().unwrap() = b'a';
    assert!(!is_taken(&[head, chunk]));
}
