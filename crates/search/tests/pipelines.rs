//! Pipelines and reducers beside naive twins, which keep every row and sort it whole.

use proptest::prelude::*;
use search::{AggregateRequest, OutputStep, Pipeline, PipelineLimits, SourceRow, Value};
use std::cmp::Ordering;

const LIMITS: PipelineLimits = PipelineLimits { records_max: 1_000_000, seed: 7 };

/// A record: values by name, in order.
type Fields = Vec<(String, Option<Value>)>;

fn values() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        1 => Just(None),
        6 => (-3i8..9).prop_map(|number| Some(Value::Number(number.into()))),
        1 => (-3.0f64..9.0).prop_map(|number| Some(Value::Number(number))),
        2 => "[a-c]{0,2}".prop_map(|text| Some(Value::text(text))),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Vec<Option<Value>>>> {
    proptest::collection::vec(proptest::collection::vec(values(), 3), 0..60)
}

fn pipeline(arguments: &[String]) -> Pipeline {
    let words: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
    Pipeline::new(&AggregateRequest::parse(&words).unwrap(), LIMITS).unwrap()
}

/// Runs a pipeline over rows of the fields a, b and c; an error ends it.
fn run(arguments: &[String], rows: &[Vec<Option<Value>>]) -> Option<Vec<Fields>> {
    let mut pipeline = pipeline(arguments);
    for row in rows {
        if pipeline.push(SourceRow { values: row.clone(), others: Vec::new() }).ok()?.is_break() {
            break;
        }
    }
    let mut output = pipeline.finish();
    let mut records = Vec::new();
    loop {
        match output.step().ok()? {
            OutputStep::Record(record) => {
                let field =
                    |(name, value): (&[u8], &Value)| (String::from_utf8(name.to_vec()).unwrap(), Some(value.clone()));
                records.push(record.iter().map(field).collect());
            }
            OutputStep::Working => {}
            OutputStep::Done => return Some(records),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Returns the values that a field has.
fn present(rows: &[Vec<Option<Value>>], at: usize) -> Vec<Value> {
    rows.iter().filter_map(|row| row[at].clone()).collect()
}

fn distinct(values: &[Value]) -> Vec<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if !distinct.iter().any(|known| known.sorting_order(value).is_eq()) {
            distinct.push(value.clone());
        }
    }
    distinct
}

/// Returns what a reducer of `@a` gives of rows, by its definition.
fn naive(reducer: &str, rows: &[Vec<Option<Value>>]) -> Value {
    let values = present(rows, 0);
    let mut numbers: Vec<f64> = values.iter().filter_map(Value::number).collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    Value::Number(match reducer {
        "COUNT" => rows.len() as f64,
        "COUNT_DISTINCT" | "COUNT_DISTINCTISH" => distinct(&values).len() as f64,
        "SUM" if values.is_empty() => f64::NAN,
        "SUM" => numbers.iter().sum(),
        "MIN" => numbers.iter().copied().fold(f64::INFINITY, f64::min),
        "MAX" => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "AVG" => mean,
        "STDDEV" if count < 2.0 => 0.0,
        "STDDEV" => (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt(),
        "QUANTILE" if numbers.is_empty() => f64::NAN,
        "QUANTILE" => {
            numbers.sort_by(f64::total_cmp);
            numbers[((0.75 * count).ceil() as usize).max(1) - 1]
        }
        "TOLIST" => return Value::List(distinct(&values)),
        "FIRST_VALUE" => return values.first().cloned().unwrap_or_default(),
        _ => panic!("{reducer}"),
    })
}

fn is_near(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left.is_nan() && right.is_nan() || left == right || (left - right).abs() <= 1e-9 * left.abs().max(1.0)
        }
        (left, right) => left == right,
    }
}

fn reducer_words(reducer: &str) -> String {
    match reducer {
        "COUNT" => format!("REDUCE COUNT 0 AS r{reducer}"),
        "QUANTILE" => format!("REDUCE QUANTILE 2 @a 0.75 AS r{reducer}"),
        _ => format!("REDUCE {reducer} 1 @a AS r{reducer}"),
    }
}

const REDUCERS: [&str; 11] = [
    "COUNT",
    "COUNT_DISTINCT",
    "COUNT_DISTINCTISH",
    "SUM",
    "MIN",
    "MAX",
    "AVG",
    "STDDEV",
    "QUANTILE",
    "TOLIST",
    "FIRST_VALUE",
];

/// A step of a random pipeline over a, b and c.
#[derive(Clone, Debug)]
enum TwinStep {
    Filter,
    Apply,
    Sort { at: usize, is_descending: bool, max: usize },
    Limit { offset: usize, count: usize },
    Group,
}

fn steps() -> impl Strategy<Value = Vec<TwinStep>> {
    let sort = (0usize..3, any::<bool>(), 1usize..20);
    let step = prop_oneof![
        Just(TwinStep::Filter),
        Just(TwinStep::Apply),
        sort.prop_map(|(at, is_descending, max)| TwinStep::Sort { at, is_descending, max }),
        (0usize..5, 1usize..20).prop_map(|(offset, count)| TwinStep::Limit { offset, count }),
        Just(TwinStep::Group),
    ];
    proptest::collection::vec(step, 0..6)
}

impl TwinStep {
    /// Steps of one name beside each other are kept apart by a FILTER that lets everything through.
    fn words(&self) -> Vec<String> {
        let arranged = |text: String| [words("FILTER 1"), words(&text), words("FILTER 1")].concat();
        match self {
            Self::Filter => vec!["FILTER".into(), "exists(@a) && @a != 2".into()],
            Self::Apply => vec!["APPLY".into(), "case(exists(@b), @b, 'none')".into(), "AS".into(), "b".into()],
            Self::Sort { at, is_descending, max } => {
                let direction = if *is_descending { "DESC" } else { "ASC" };
                arranged(format!("SORTBY 2 @{} {direction} MAX {max}", NAMES[*at]))
            }
            Self::Limit { offset, count } => arranged(format!("LIMIT {offset} {count}")),
            Self::Group => words("GROUPBY 2 @b @c REDUCE COUNT 0 AS a"),
        }
    }

    fn run(&self, mut rows: Vec<Vec<Option<Value>>>) -> Vec<Vec<Option<Value>>> {
        match self {
            Self::Filter => rows.retain(|row| {
                row[0].as_ref().is_some_and(|value| *value != Value::Null && value.compare(&Value::Number(2.0)).is_ne())
            }),
            Self::Apply => {
                for row in &mut rows {
                    let is_there = row[1].as_ref().is_some_and(|value| *value != Value::Null);
                    row[1] = if is_there { row[1].clone() } else { Some(Value::text("none")) };
                }
            }
            Self::Sort { at, is_descending, max } => {
                rows.sort_by(|left, right| order(&left[*at], &right[*at], *is_descending));
                rows.truncate(*max);
            }
            Self::Limit { offset, count } => rows = rows.into_iter().skip(*offset).take(*count).collect(),
            Self::Group => rows = grouped(rows),
        }
        rows
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn order(left: &Option<Value>, right: &Option<Value>, is_descending: bool) -> Ordering {
    let there = |value: &Option<Value>| value.clone().filter(|value| *value != Value::Null);
    match (there(left), there(right)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(left), Some(right)) if is_descending => right.sorting_order(&left),
        (Some(left), Some(right)) => left.sorting_order(&right),
    }
}

fn grouped(rows: Vec<Vec<Option<Value>>>) -> Vec<Vec<Option<Value>>> {
    let mut groups: Vec<(Value, Value, f64)> = Vec::new();
    for row in rows {
        let (b, c) = (row[1].clone().unwrap_or_default(), row[2].clone().unwrap_or_default());
        let is_same = |group: &&mut (Value, Value, f64)| group.0 == b && group.1 == c;
        match groups.iter_mut().find(is_same) {
            Some(group) => group.2 += 1.0,
            None => groups.push((b, c, 1.0)),
        }
    }
    groups.into_iter().map(|(b, c, count)| vec![Some(Value::Number(count)), Some(b), Some(c)]).collect()
}

proptest! {
    #[test]
    fn reducers_give_what_their_definition_says(rows in rows()) {
        let reducers: Vec<String> = REDUCERS.iter().map(|reducer| reducer_words(reducer)).collect();
        let records = run(&words(&format!("LOAD 3 a b c GROUPBY 1 @c {}", reducers.join(" "))), &rows).unwrap();
        let groups = distinct(&rows.iter().map(|row| row[2].clone().unwrap_or_default()).collect::<Vec<_>>());
        prop_assert_eq!(records.len(), groups.len());
        for (record, group) in records.iter().zip(groups) {
            prop_assert_eq!(record[0].1.as_ref(), Some(&group));
            let key = |row: &Vec<Option<Value>>| row[2].clone().unwrap_or_default();
            let is_of_group = |row: &&Vec<Option<Value>>| key(row).sorting_order(&group).is_eq();
            let members: Vec<_> = rows.iter().filter(is_of_group).cloned().collect();
            for (reducer, (_, result)) in REDUCERS.iter().zip(&record[1..]) {
                let (result, expected) = (result.clone().unwrap(), naive(reducer, &members));
                prop_assert!(is_near(&result, &expected), "{} {:?} {:?}", reducer, result, expected);
            }
        }
    }

    #[test]
    fn first_values_by_another_field_are_the_least_or_greatest(rows in rows(), is_descending in any::<bool>()) {
        let direction = if is_descending { "DESC" } else { "ASC" };
        let request = format!("LOAD 3 a b c GROUPBY 0 REDUCE FIRST_VALUE 4 @a BY @b {direction} AS first");
        let records = run(&words(&request), &rows).unwrap();
        let mut sorted: Vec<_> = rows.iter().collect();
        sorted.sort_by(|left, right| order(&left[1], &right[1], is_descending));
        if let Some(first) = sorted.first().filter(|first| first[1].is_some()) {
            prop_assert_eq!(records[0][0].1.clone().unwrap(), first[0].clone().unwrap_or_default());
        }
    }

    #[test]
    fn samples_are_values_of_the_group(rows in rows(), size in 0usize..8) {
        let request = format!("LOAD 3 a b c GROUPBY 0 REDUCE RANDOM_SAMPLE 2 @a {size} AS sample");
        let Some(record) = run(&words(&request), &rows).unwrap().pop() else { return Ok(()) };
        let Some(Value::List(sample)) = &record[0].1 else { panic!() };
        let mut values = present(&rows, 0);
        prop_assert_eq!(sample.len(), size.min(values.len()));
        for item in sample {
            let at = values.iter().position(|value| value == item);
            values.remove(at.expect("a value of the group, no more often than it occurs"));
        }
    }

    #[test]
    fn pipelines_give_what_naive_steps_give(rows in rows(), steps in steps()) {
        let mut arguments = words("LOAD 3 a b c");
        steps.iter().for_each(|step| arguments.extend(step.words()));
        let records = run(&arguments, &rows).unwrap();
        let expected = steps.iter().fold(rows, |rows, step| step.run(rows));
        let value = |record: &Fields, name: &str| {
            record.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.clone())
        };
        let records: Vec<Vec<Option<Value>>> =
            records.iter().map(|record| NAMES.iter().map(|name| value(record, name)).collect()).collect();
        prop_assert_eq!(records, expected);
    }

    #[test]
    fn memory_is_counted_and_returned(rows in rows(), steps in steps()) {
        let mut arguments = words("LOAD 3 a b c");
        steps.iter().for_each(|step| arguments.extend(step.words()));
        let mut pipeline = pipeline(&arguments);
        for row in &rows {
            let before = pipeline.heap_bytes();
            if pipeline.push(SourceRow { values: row.clone(), others: Vec::new() }).unwrap().is_break() {
                break;
            }
            // A row grows tables to at most twice and a few hundred bytes.
            prop_assert!(pipeline.heap_bytes() <= before * 2 + 2_000);
        }
        let mut output = pipeline.finish();
        while output.next_record().unwrap().is_some() {}
        // Empty arrays keep their room: for rows, groups and records, and a table of positions for each GROUPBY.
        let arrays = 600 * (rows.len().next_power_of_two() + 4) * (steps.len() + 1);
        prop_assert!(output.heap_bytes() <= arrays, "{} of {}", output.heap_bytes(), arrays);
    }
}

#[test]
fn samples_are_drawn_evenly() {
    let mut counts = [0; 10];
    for seed in 0..2_000 {
        let request = words("GROUPBY 0 REDUCE RANDOM_SAMPLE 2 @a 3 AS s");
        let request: Vec<&[u8]> = request.iter().map(String::as_bytes).collect();
        let request = AggregateRequest::parse(&request).unwrap();
        let mut pipeline = Pipeline::new(&request, PipelineLimits { seed, ..LIMITS }).unwrap();
        for number in 0..10 {
            let values = vec![Some(Value::Number(f64::from(number)))];
            assert!(pipeline.push(SourceRow { values, others: Vec::new() }).unwrap().is_continue());
        }
        let record = pipeline.finish().next_record().unwrap().unwrap();
        let Some(Value::List(sample)) = record.value(b"s") else { panic!() };
        sample.iter().for_each(|number| counts[number.number().unwrap() as usize] += 1);
    }
    assert!(counts.iter().all(|count| (500..700).contains(count)), "{counts:?}");
}

#[test]
fn memory_grows_with_groups_and_their_values() {
    let mut pipeline = pipeline(&words("GROUPBY 1 @a REDUCE TOLIST 1 @b"));
    for number in 0..1_000 {
        let values = vec![Some(Value::Number(f64::from(number))), Some(Value::text([b'x'; 1_000]))];
        assert!(pipeline.push(SourceRow { values, others: Vec::new() }).unwrap().is_continue());
    }
    assert!(pipeline.heap_bytes() >= 1_000_000, "{}", pipeline.heap_bytes());
    assert!(pipeline.heap_bytes() <= 3_000_000, "{}", pipeline.heap_bytes());
}

#[test]
fn memory_of_texts_is_returned_with_the_records() {
    for arguments in ["GROUPBY 1 @a REDUCE TOLIST 1 @b", "SORTBY 1 @a LIMIT 0 1000", "LOAD 2 @a @b"] {
        let mut pipeline = pipeline(&words(arguments));
        for number in 0..1_000 {
            let values = vec![Some(Value::text([b'y'; 1_000])), Some(Value::Number(f64::from(number)))];
            let values = values.into_iter().take(pipeline.source_fields().len()).collect();
            assert!(pipeline.push(SourceRow { values, others: Vec::new() }).unwrap().is_continue());
        }
        let mut output = pipeline.finish();
        while output.next_record().unwrap().is_some() {}
        assert!(output.heap_bytes() < 300_000, "{arguments} {}", output.heap_bytes());
    }
}

#[test]
fn no_step_of_the_output_gives_more_than_one_record() {
    let mut pipeline = pipeline(&words("LOAD 1 @a SORTBY 1 @a MAX 10000"));
    for number in (0..10_000).rev() {
        let values = vec![Some(Value::Number(f64::from(number)))];
        assert!(pipeline.push(SourceRow { values, others: Vec::new() }).unwrap().is_continue());
    }
    let mut output = pipeline.finish();
    let mut records = 0;
    let mut pauses = 0;
    loop {
        match output.step().unwrap() {
            OutputStep::Record(record) => {
                assert_eq!(record.value(b"a"), Some(&Value::Number(f64::from(records))));
                records += 1;
            }
            OutputStep::Working => pauses += 1,
            OutputStep::Done => break,
        }
    }
    assert_eq!(records, 10_000);
    assert!(pauses >= 100, "{pauses}");
}
