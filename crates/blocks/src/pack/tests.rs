//! Round trips, sizes and searches against naive versions, and untrusted bytes.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Direction;
use crate::codec::DecodeError;
use crate::view::Lengths;

/// More bytes than any run needs.
const ROOM: usize = 1 << 20;

struct Items {
    count: usize,
    bytes: Vec<u8>,
    column: Vec<u8>,
}

impl Items {
    fn of<T: AsRef<[u8]>>(items: &[T]) -> Items {
        let column = items.iter().rev().map(|item| item.as_ref().len() as u8).collect();
        let bytes = items.iter().flat_map(|item| item.as_ref().to_vec()).collect();
        Items { count: items.len(), bytes, column }
    }

    fn view(&self) -> View<'_> {
        View { count: self.count, lengths: Lengths::Narrow(&self.column), bytes: &self.bytes }
    }
}

fn list(view: &View<'_>) -> Vec<Vec<u8>> {
    (0..view.count).map(|index| view.item(index).to_vec()).collect()
}

/// Packs the items, checks the bytes and reads them back; returns the bytes.
fn round_trip(plan: &Plan, items: &[Vec<u8>]) -> Vec<u8> {
    let run = Items::of(items);
    let mut data = vec![0xa5; plan.data_bytes + 3];
    write(plan, &run.view(), &mut data);
    assert_eq!(data[plan.data_bytes..], [0xa5; 3], "no byte more than planned");
    data.truncate(plan.data_bytes);
    let taken = &items[..plan.count];
    let (packed, content_bytes) = Packed::check(plan.form, plan.count, &data).expect("what was written is sound");
    assert_eq!(content_bytes, taken.iter().map(Vec::len).sum::<usize>());
    assert_eq!(list(&packed.unpack(0, plan.count).view()), taken);
    for (from, to) in [(0, 1), (plan.count / 3, plan.count / 2), (plan.count - 1, plan.count), (plan.count, plan.count)]
    {
        let part = Packed::of(plan.form, plan.count, &data).unpack(from, to);
        assert_eq!(list(&part.view()), items[from..to]);
        assert_eq!(
            matches!(part.view().lengths, Lengths::Fixed(_)),
            Items::of(&items[from..to]).view().common_length().is_some() || from == to
        );
    }
    data
}

/// Returns every form that can encode all of these items, even unnecessarily large ones.
fn every_plan(run: &View<'_>) -> Vec<Plan> {
    let mut plans: Vec<Plan> = candidates(run).into_iter().flatten().collect();
    if let Some(plain) = plans.iter().find(|plan| plan.form == Form::Plain) {
        let (prefix_bytes, bodies) = (plain.prefix_bytes, plain.bodies);
        for form in [Form::Hex, Form::UpperHex, Form::Sextets] {
            if items(run).all(|item| signs::takes(form, &item[prefix_bytes..])) {
                plans.push(Plan::of(form, run, prefix_bytes, bodies, Values::default()));
            }
        }
    }
    plans
}

/// Returns the bytes each form needs, computed naively; for digits with a flat line and with one from end to end.
fn naive_sizes(items: &[Vec<u8>]) -> Vec<(Form, usize)> {
    let prefix = (0..).find(|&at| at == items[0].len() || items.iter().any(|item| item.get(at) != Some(&items[0][at])));
    let prefix = prefix.expect("the first item ends");
    let is_equal = items.iter().all(|item| item.len() == items[0].len()) && items[0].len() - prefix < 255;
    let column = if is_equal { 0 } else { items.len() };
    let signs: usize = items.iter().map(|item| item.len() - prefix).sum();
    let all =
        |alphabet: &str| items.iter().all(|item| item[prefix..].iter().all(|sign| alphabet.as_bytes().contains(sign)));
    let lower = "abcdefghijklmnopqrstuvwxyz";
    let sextets = format!("0123456789-_{lower}{}", lower.to_uppercase());
    let mut sizes = vec![(Form::Plain, 2 + prefix + column + signs)];
    for (form, alphabet, bits) in
        [(Form::Hex, "0123456789abcdef", 4), (Form::UpperHex, "0123456789ABCDEF", 4), (Form::Sextets, &sextets, 6)]
    {
        if all(alphabet) {
            sizes.push((form, 2 + prefix + column + (signs * bits).div_ceil(8)));
        }
    }
    if let Some(size) = (0..=prefix).rev().find_map(|prefix| naive_digits(items, prefix)) {
        sizes.push((Form::Digits, size));
    }
    sizes
}

/// Returns the bytes of these items with the form and prefix of a plan for more of them.
fn naive_bytes(plan: &Plan, items: &[Vec<u8>]) -> usize {
    let column = if plan.bodies == Bodies::Column { items.len() } else { 0 };
    let signs: usize = items.iter().map(|item| item.len() - plan.prefix_bytes).sum();
    2 + plan.prefix_bytes + column + (signs * plan.form.sign_bits()).div_ceil(8)
}

fn naive_digits(items: &[Vec<u8>], prefix: usize) -> Option<usize> {
    let is_equal = items.iter().all(|item| item.len() == items[0].len());
    let value = |item: &Vec<u8>| {
        let body = std::str::from_utf8(&item[prefix..]).ok()?;
        let is_decimal = (1..=19).contains(&body.len()) && body.bytes().all(|sign| sign.is_ascii_digit());
        let value: i128 = if is_decimal { body.parse().ok()? } else { return None };
        (is_equal || value.to_string() == body).then_some(value)
    };
    let values: Vec<i128> = items.iter().map(value).collect::<Option<_>>()?;
    let range = |values: &[i128]| values.iter().max().unwrap() - values.iter().min().unwrap();
    let steps = (values.len() as i128 - 1).max(1);
    let slope = (values[values.len() - 1] - values[0]) * 65_536 / steps;
    let sloped: Vec<i128> =
        values.iter().zip(0..).map(|(value, index)| value - (index * slope).div_euclid(65_536)).collect();
    let is_steep = slope.abs() >= 1 << 50 || range(&values) > 1 << 61;
    let range = if is_steep { range(&values) } else { range(&values).min(range(&sloped)) };
    let bits = (128 - range.leading_zeros()) as usize;
    Some(2 + prefix + 17 + (items.len() * bits).div_ceil(8))
}

fn alphabet() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("0123456789"),
        Just("01"),
        Just("0123456789abcdef"),
        Just("0123456789ABCDEF"),
        Just("ABab09-_zZ"),
        Just("0:.é"),
    ]
}

fn lengths() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        (0..24_usize).prop_map(|length| (length, length)),
        (0..24_usize, 1..9_usize).prop_map(|(low, more)| (low, low + more)),
        Just((0, 40)),
        Just((250, 250)),
    ]
}

/// Words over one alphabet.
fn words() -> impl Strategy<Value = Vec<Vec<u8>>> {
    (alphabet(), lengths()).prop_flat_map(|(alphabet, (low, high))| {
        let sign = proptest::sample::select(alphabet.as_bytes().to_vec());
        vec(vec(sign, low..=high), 1..60)
    })
}

/// Numbers that rise, fall, jump or stay, padded or not.
fn numbers() -> impl Strategy<Value = Vec<Vec<u8>>> {
    const END: u64 = 9_999_999_999_999_999_999;
    let first = prop_oneof![Just(0), Just(END), 0..2000_u64, 0..=END];
    let gap = prop_oneof![Just(0..=0_i64), Just(1..=1), Just(-1..=-1), Just(1..=100), Just(-100..=-1), Just(-7..=7)];
    let gap = prop_oneof![4 => gap, 1 => Just(i64::MIN..=i64::MAX), 1 => Just((1 << 40)..=(1 << 41))];
    (first, gap, 1..80_usize, prop_oneof![Just(0_usize), Just(12), Just(19)]).prop_flat_map(
        |(first, gap, count, width)| {
            vec(gap, count).prop_map(move |gaps| {
                let mut value = i128::from(first);
                let spell = |gap: i64| {
                    value = (value + i128::from(gap)).clamp(0, i128::from(END));
                    let cut = if width == 12 { value % 1_000_000_000_000 } else { value };
                    format!("{cut:0width$}").into_bytes()
                };
                gaps.into_iter().map(spell).collect()
            })
        },
    )
}

/// Runs of one or two kinds of items, all with a common prefix.
fn runs() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let one = prop_oneof![
        words(),
        numbers(),
        (words(), 1..40_usize).prop_map(|(words, count)| vec![words[0].clone(); count])
    ];
    let some = prop_oneof![3 => one.boxed(), 1 => (words(), numbers()).prop_map(|(a, b)| [a, b].concat())];
    (
        some,
        prop_oneof![Just(""), Just("post:"), Just("x1"), Just("x0"), Just("id-10"), Just("a prefix of 24 bytes, not.")],
    )
        .prop_map(|(items, prefix)| {
            let whole = |item: &Vec<u8>| [prefix.as_bytes(), item].concat();
            let whole = items.iter().map(whole).filter(|item| item.len() <= ITEM_BYTES_MAX);
            whole.take(CONTENT_BYTES_MAX / ITEM_BYTES_MAX).collect::<Vec<_>>()
        })
        .prop_filter("no item is left", |items| !items.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn items_round_trip_in_every_form(items in runs()) {
        for plan in every_plan(&Items::of(&items).view()) {
            round_trip(&plan, &items);
        }
    }

    #[test]
    fn the_planner_chooses_the_smallest_form(items in runs()) {
        let run = Items::of(&items);
        let sizes = naive_sizes(&items);
        let content: usize = items.iter().map(Vec::len).sum();
        let raw = content + if run.view().common_length().is_some() { 0 } else { items.len() };
        let is_worth = |size: usize| items.len() >= 8 && 16 * (raw - size.min(raw)) >= raw && size < raw;
        match plan(&run.view(), ROOM) {
            Some(plan) => {
                prop_assert_eq!(plan.count, items.len());
                prop_assert!(sizes.iter().all(|(_, size)| plan.data_bytes <= *size), "{:?} of {:?}", plan.form, sizes);
                let counted = sizes.iter().find(|(form, _)| *form == plan.form).expect("the form applies").1;
                prop_assert!(plan.form == Form::Digits || plan.data_bytes == counted);
                prop_assert!(is_worth(plan.data_bytes));
                round_trip(&plan, &items);
            }
            None => prop_assert!(sizes.iter().all(|(_, size)| !is_worth(*size)), "{:?} of {}", sizes, raw),
        }
    }

    #[test]
    fn a_plan_takes_as_many_items_as_fit(items in runs(), room in 0..400_usize) {
        let run = Items::of(&items);
        if let Some(plan) = plan(&run.view(), room) {
            prop_assert!(plan.data_bytes <= room);
            prop_assert!(plan.count >= ITEMS_MIN);
            round_trip(&plan, &items);
            let whole = every_plan(&run.view()).into_iter().min_by_key(|plan| plan.data_bytes).expect("one is worth it");
            if whole.form != Form::Digits && plan.count < items.len() {
                prop_assert!(naive_bytes(&whole, &items[..plan.count + 1]) > room);
            }
        }
    }

    #[test]
    fn find_agrees_with_a_naive_search(items in runs(), picks in vec(any::<prop::sample::Index>(), 4), other in words()) {
        for plan in every_plan(&Items::of(&items).view()) {
            let data = round_trip(&plan, &items);
            let packed = Packed::of(plan.form, plan.count, &data);
            let (low, high) = (picks[0].index(items.len() + 1), picks[1].index(items.len() + 1));
            let (from, to) = (low.min(high), low.max(high));
            let present = [&items[picks[2].index(items.len())], &items[picks[3].index(items.len())]];
            let longer = [present[0].as_slice(), b"0"].concat();
            let shorter = present[1][..present[1].len().saturating_sub(1)].to_vec();
            for needle in present.into_iter().chain(other.iter().take(3)).chain([&longer, &shorter]) {
                let mut places = (from..to).filter(|&index| items[index] == *needle);
                let (first, last) = (places.next(), places.next_back());
                prop_assert_eq!(packed.find(needle, from, to, Direction::Forward), first);
                prop_assert_eq!(packed.find(needle, from, to, Direction::Backward), last.or(first));
            }
        }
    }

    #[test]
    fn corrupted_bytes_are_refused_or_read_without_a_panic(
        items in runs(),
        form in proptest::sample::select(Form::ALL.to_vec()),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        more in prop_oneof![Just(0), -3..3_isize],
        count_change in prop_oneof![4 => Just(0), 1 => -2..3_isize],
    ) {
        for plan in every_plan(&Items::of(&items).view()) {
            let mut data = round_trip(&plan, &items);
            for (place, byte) in &changes {
                let place = place.index(data.len());
                data[place] = *byte;
            }
            data.resize(data.len().saturating_add_signed(more), 0);
            let count = plan.count.saturating_add_signed(count_change);
            read_all(plan.form, count, &data);
            read_all(form, count, &data);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read_without_a_panic(
        form in proptest::sample::select(Form::ALL.to_vec()),
        count in 0..50_usize,
        data in vec(prop_oneof![Just(0), 0..20_u8, Just(255), any::<u8>()], 0..80),
    ) {
        read_all(form, count, &data);
    }
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

/// Accepted bytes can be read in full, and pack again.
fn read_all(form: Form, count: usize, data: &[u8]) {
    let Ok((packed, content_bytes)) = Packed::check(form, count, data) else { return };
    let run = packed.unpack(0, count);
    assert_eq!(run.view().bytes.len(), content_bytes);
    assert_eq!(run.view().lengths_sum(), content_bytes);
    assert!(content_bytes <= CONTENT_BYTES_MAX);
    let items = list(&run.view());
    for index in [0, count / 2, count - 1] {
        assert_eq!(list(&packed.unpack(index, count).view()), items[index..]);
        let place = items.iter().position(|item| *item == items[index]);
        assert_eq!(packed.find(&items[index], 0, count, Direction::Forward), place);
    }
    if let Some(plan) = plan(&run.view(), ROOM) {
        round_trip(&plan, &items);
    }
}

/// Pseudo-random numbers.
fn scattered(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Returns the bytes per item when a run of 12-byte items fills a block.
fn bytes_an_item(form: Form, item: impl FnMut(u64) -> String) -> f64 {
    let items: Vec<Vec<u8>> = (0..1365).map(item).map(String::into_bytes).collect();
    assert!(items.iter().all(|item| item.len() == 12));
    let plan = plan(&Items::of(&items).view(), 4080).expect("worth it");
    assert_eq!(plan.form, form);
    round_trip(&plan, &items);
    plan.data_bytes as f64 / plan.count as f64
}

#[test]
fn twelve_byte_items_pack_to_the_expected_density() {
    let mut next = scattered(1);
    let mut word =
        |alphabet: &[u8]| (0..12).map(|_| char::from(alphabet[next(alphabet.len() as u64) as usize])).collect();
    let letters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    assert!(bytes_an_item(Form::Sextets, |_| word(letters)) <= 9.1);
    assert!(bytes_an_item(Form::Hex, |_| word(b"0123456789abcdef")) <= 6.1);
    assert!(bytes_an_item(Form::UpperHex, |_| word(b"0123456789ABCDEF")) <= 6.1);
    assert!(bytes_an_item(Form::Digits, |_| word(b"0123456789")) <= 5.1);
    assert!(bytes_an_item(Form::Digits, |index| format!("{:012}", 123_456_789 + index)) <= 0.1);
    assert!(bytes_an_item(Form::Digits, |index| format!("{:012}", 123_456_789 - index)) <= 0.1);
    let mut next = scattered(2);
    assert!(bytes_an_item(Form::Digits, |_| format!("post:{:07}", next(10_000_000))) <= 3.1);
    let (mut next, mut id) = (scattered(3), 500_000_000);
    let mut rising = |_| {
        id += 1 + next(100);
        format!("{id:012}")
    };
    assert!(bytes_an_item(Form::Digits, &mut rising) <= 2.2);
}

/// A prefix of two bytes saves 36 of 800 bytes, one of three 55: a sixteenth is 50.
#[test]
fn a_form_that_saves_under_a_sixteenth_is_not_planned() {
    let mut next = scattered(5);
    let mut behind = |prefix: &str| -> Vec<Vec<u8>> {
        let mut item = |first: u8| -> Vec<u8> {
            let noise = (prefix.len() + 1..40).map(|_| 128 + next(128) as u8);
            prefix.bytes().chain([first]).chain(noise).collect()
        };
        (0..20).map(|nth| item(128 + nth)).collect()
    };
    assert!(plan(&Items::of(&behind("ab")).view(), ROOM).is_none());
    let planned = plan(&Items::of(&behind("abc")).view(), ROOM).expect("worth it");
    assert_eq!((planned.form, planned.data_bytes), (Form::Plain, 2 + 3 + 20 * 37));
}

#[test]
fn random_bytes_are_not_packed() {
    let mut next = scattered(4);
    let items: Vec<Vec<u8>> = (0..300).map(|_| (0..12).map(|_| next(256) as u8).collect()).collect();
    assert!(plan(&Items::of(&items).view(), 4080).is_none());
}

#[test]
fn form_numbers_are_frozen() {
    let numbers = Form::ALL.map(|form| (format!("{form:?}"), form as u8));
    let expected = [("Plain", 4), ("Digits", 5), ("Hex", 6), ("UpperHex", 7), ("Sextets", 8)];
    assert_eq!(numbers, expected.map(|(name, number)| (name.to_string(), number)));
    assert!(Form::ALL.iter().all(|form| Form::from_byte(*form as u8) == Some(*form)));
    assert_eq!(Form::from_byte(3), None);
    assert_eq!(Form::from_byte(9), None);
}

fn refused(form: Form, count: usize, data: &[u8]) -> DecodeError {
    Packed::check(form, count, data).err().expect("refused")
}

#[test]
fn malformed_and_inconsistent_packed_bytes_are_refused() {
    let sound = [0, 1, 0x21, 0x03];
    assert!(Packed::check(Form::Hex, 3, &sound).is_ok());
    assert_eq!(refused(Form::Hex, 3, &sound[..3]), DecodeError::Malformed);
    assert_eq!(refused(Form::Hex, 3, &[0, 1, 0x21, 0x13]), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Hex, 3, &[0, 1, 0x21, 0x03, 0]), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Hex, 0, &[0, 1]), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Plain, 4081, &[0, 0]), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Plain, 2, &[1]), DecodeError::Malformed);
    assert_eq!(refused(Form::Plain, 1, &[[2, 254].as_slice(), &[b'x'; 256]].concat()), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Plain, 4080, &[[200, 0].as_slice(), &[b'x'; 200]].concat()), DecodeError::Inconsistent);
}

#[test]
fn integers_that_exceed_their_digits_are_refused() {
    let line = |body: u8, base: u64, slope: i64, bits: u8, stream: &[u8]| {
        [&[0, body][..], &base.to_le_bytes(), &slope.to_le_bytes(), &[bits], stream].concat()
    };
    assert!(Packed::check(Form::Digits, 3, &line(1, 7, 65_536, 0, &[])).is_ok());
    assert_eq!(refused(Form::Digits, 4, &line(1, 7, 65_536, 0, &[])), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Digits, 1, &line(0, 0, 0, 0, &[])), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Digits, 1, &line(20, 0, 0, 0, &[])), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Digits, 1, &line(1, 0, 0, 65, &[0; 9])), DecodeError::Inconsistent);
    assert_eq!(refused(Form::Digits, 1, &line(255, 10_000_000_000_000_000_000, 0, 0, &[])), DecodeError::Inconsistent);
    let below_zero = line(255, u64::MAX, 65_536, 1, &[0b001]);
    let (packed, _) = Packed::check(Form::Digits, 3, &below_zero).expect("sums wrap");
    assert_eq!(list(&packed.unpack(0, 3).view()), [b"0", b"0", b"1"]);
}

#[test]
fn the_prefix_excludes_leading_digits_of_numbers_of_unequal_length() {
    let plan_of = |items: &[String]| plan(&Items::of(items).view(), ROOM).expect("worth it");
    let tens: Vec<String> = (10..1700).map(|value| format!("user:{value}")).collect();
    let packed = plan_of(&tens);
    assert_eq!((packed.form, packed.data_bytes), (Form::Digits, 2 + 5 + 17));
    let powers: Vec<String> = (1..19).map(|zeros| format!("1{}", "0".repeat(zeros))).collect();
    let items: Vec<Vec<u8>> = powers.iter().map(|item| item.clone().into_bytes()).collect();
    assert_eq!(candidates(&Items::of(&powers).view())[1].as_ref().expect("digits").prefix_bytes, 0);
    round_trip(&plan_of(&powers), &items);
    let zeros: Vec<String> = (0..20).map(|zeros| "0".repeat(1 + zeros % 2)).collect();
    assert!(candidates(&Items::of(&zeros).view())[1].is_none(), "0 and 00 are not both canonical");
}

/// The examples of `docs/formats/block.md`, byte for byte.
#[test]
fn examples_of_the_format_document_encode_byte_for_byte() {
    let assert_bytes = |form: Form, items: &[&str], expected: &[&[u8]]| {
        let plans = every_plan(&Items::of(items).view());
        let plan = plans.iter().find(|plan| plan.form == form).expect("the form applies");
        let items: Vec<Vec<u8>> = items.iter().map(|item| item.as_bytes().to_vec()).collect();
        assert_eq!(round_trip(plan, &items), expected.concat());
    };
    assert_bytes(Form::Plain, &["log ok", "log no"], &[&[4, 2], b"log ", b"okno"]);
    let (base, slope) = (6_u64.to_le_bytes(), 0x0003_0000_i64.to_le_bytes());
    assert_bytes(Form::Digits, &["id7", "id9", "id13"], &[&[2, 255], b"id", &base, &slope, &[1], &[0b101]]);
    assert_bytes(Form::Hex, &["a1f", "a20", "a3c"], &[&[1, 2], b"a", &[0xf1, 0x02, 0xc3]]);
    assert_bytes(Form::UpperHex, &["A", "BC", ""], &[&[0, 255], &[1, 2, 0], &[0xba, 0x0c]]);
    assert_bytes(Form::Sextets, &["x-Z", "xk9"], &[&[1, 2], b"x", &[0xfe, 0xe8, 0x26]]);
}

#[test]
fn a_standalone_packed_run_round_trips() {
    let ids: Vec<Vec<u8>> = (0..300).map(|id| format!("{:012}", id * 7 % 1000 + 5_000_000).into_bytes()).collect();
    let names: Vec<Vec<u8>> = (0..100).map(|id| format!("user:{}", id * id).into_bytes()).collect();
    for items in [ids, names] {
        let lengths: Vec<u32> = items.iter().map(|item| item.len() as u32).collect();
        let bytes = items.concat();
        let packed = pack_items(&bytes, &lengths).expect("it is worth it");
        assert!(packed.len() * 2 < bytes.len(), "{} of {}", packed.len(), bytes.len());
        let run = PackedItems::check(items.len(), &packed).expect("what was written is sound");
        let whole = run.unpack(0, items.len());
        assert_eq!(whole.bytes(), bytes);
        assert_eq!(whole.lengths().map(|length| length as u32).collect::<Vec<_>>(), lengths);
        for (at, item) in items.iter().enumerate() {
            assert_eq!(PackedItems::of(items.len(), &packed).unpack(at, at + 1).item(0), item);
            assert_eq!(whole.item(at), item);
            assert_eq!(run.find(item, at), Some(at));
        }
        assert_eq!(run.find(&items[3], 4), None);
        assert!(PackedItems::check(items.len() + 1, &packed).is_err());
        assert!(PackedItems::check(items.len(), &packed[..packed.len() - 1]).is_err());
    }
    assert!(PackedItems::check(1, &[]).is_err() && PackedItems::check(1, &[3, 0, 0]).is_err());
    let random: Vec<u8> = (0..1200u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert_eq!(pack_items(&random, &[12; 100]), None);
    assert_eq!(pack_items(&[b'0'; 2100], &[300; 7]), None);
}
