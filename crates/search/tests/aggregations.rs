//! Whole aggregations: RediSearch's documented examples and its tests.

use search::{AggregateRecord, AggregateRequest, Pipeline, PipelineLimits, SourceRow, Value};
use std::ops::ControlFlow;

const LIMITS: PipelineLimits = PipelineLimits { records_max: 1_000_000, seed: 7 };

/// A hash: its fields, as `name=value`, numbers where the value is one.
type Hash = &'static str;

fn pipeline(arguments: &[&str]) -> Pipeline {
    let words: Vec<&[u8]> = arguments.iter().map(|word| word.as_bytes()).collect();
    Pipeline::new(&AggregateRequest::parse(&words).unwrap(), LIMITS).unwrap()
}

fn value(text: &str) -> Value {
    text.parse().map_or_else(|_| Value::text(text), Value::Number)
}

fn fields(hash: &str) -> impl Iterator<Item = (&str, Value)> {
    hash.split_whitespace().map(|field| {
        let (name, text) = field.split_once('=').unwrap();
        (name, value(text))
    })
}

fn row(pipeline: &Pipeline, hash: &str) -> SourceRow {
    let find = |name: &[u8]| fields(hash).find(|(known, _)| known.as_bytes() == name).map(|(_, value)| value);
    let values = pipeline.source_fields().iter().map(|field| find(&field.identifier)).collect();
    let is_other = |name: &str| pipeline.source_fields().iter().all(|field| &*field.identifier != name.as_bytes());
    let others = fields(hash).filter(|(name, _)| pipeline.loads_all() && is_other(name));
    SourceRow { values, others: others.map(|(name, value)| (name.as_bytes().into(), value)).collect() }
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::List(items) => format!("[{}]", items.iter().map(shown_value).collect::<Vec<_>>().join(",")),
        value => String::from_utf8_lossy(&value.as_text().unwrap()).into_owned(),
    }
}

fn shown(record: &AggregateRecord) -> String {
    let fields = record.iter().map(|(name, value)| format!("{}={}", String::from_utf8_lossy(name), shown_value(value)));
    fields.collect::<Vec<_>>().join(" ")
}

/// Runs a request over hashes; returns its records, a line each.
fn run(hashes: &[Hash], arguments: &[&str]) -> Vec<String> {
    let mut pipeline = pipeline(arguments);
    for hash in hashes {
        if pipeline.push(row(&pipeline, hash)).unwrap().is_break() {
            break;
        }
    }
    let mut output = pipeline.finish();
    std::iter::from_fn(|| output.next_record().unwrap()).map(|record| shown(&record)).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Example 1 of the documents: unique users by hour, in order of time.
#[test]
fn unique_users_are_counted_by_hour() {
    let visits = [
        "timestamp=7205 user_id=ann",
        "timestamp=3601 user_id=ann",
        "timestamp=3700 user_id=bob",
        "timestamp=3800 user_id=ann",
        "timestamp=7199 user_id=cid",
    ];
    let arguments = [
        "APPLY",
        "@timestamp - (@timestamp % 3600)",
        "AS",
        "hour",
        "GROUPBY",
        "1",
        "@hour",
        "REDUCE",
        "COUNT_DISTINCT",
        "1",
        "@user_id",
        "AS",
        "num_users",
        "SORTBY",
        "2",
        "@hour",
        "ASC",
        "APPLY",
        "timefmt(@hour)",
        "AS",
        "hour",
    ];
    assert_eq!(
        run(&visits, &arguments),
        ["hour=1970-01-01T01:00:00Z num_users=3", "hour=1970-01-01T02:00:00Z num_users=1"]
    );
}

/// Example 2 of the documents: visits by day and country.
#[test]
fn visits_are_counted_by_day_and_country() {
    let visits = [
        "timestamp=86401 country=IL",
        "timestamp=100 country=DE",
        "timestamp=86402 country=US",
        "timestamp=86403 country=IL",
    ];
    let arguments = [
        "APPLY",
        "@timestamp - (@timestamp % 86400)",
        "AS",
        "day",
        "GROUPBY",
        "2",
        "@day",
        "@country",
        "REDUCE",
        "count",
        "0",
        "AS",
        "num_visits",
        "SORTBY",
        "4",
        "@day",
        "ASC",
        "@country",
        "DESC",
    ];
    assert_eq!(
        run(&visits, &arguments),
        ["day=0 country=DE num_visits=1", "day=86400 country=US num_visits=1", "day=86400 country=IL num_visits=2"]
    );
}

/// An example of the command's page: the most books published in a year.
#[test]
fn groups_are_grouped_again() {
    let books = ["year=1990", "year=1991", "year=1991", "year=1992"];
    let arguments = words("GROUPBY 1 @year REDUCE COUNT 0 AS num GROUPBY 0 REDUCE MAX 1 @num AS most");
    assert_eq!(run(&books, &arguments), ["most=2"]);
    assert!(run(&[], &arguments).is_empty());
}

/// RediSearch's `testDefaultValues`.
#[test]
fn reducers_of_missing_values_give_their_defaults() {
    for (reducer, expected) in [
        ("SUM 1 @missing", "nan"),
        ("MIN 1 @missing", "inf"),
        ("MAX 1 @missing", "-inf"),
        ("AVG 1 @missing", "nan"),
        ("QUANTILE 2 @missing 0.5", "nan"),
        ("STDDEV 1 @missing", "0"),
        ("COUNT_DISTINCT 1 @missing", "0"),
        ("COUNT_DISTINCTISH 1 @missing", "0"),
        ("RANDOM_SAMPLE 2 @missing 1", "[]"),
        ("FIRST_VALUE 3 @missing BY @n", "NULL"),
        ("FIRST_VALUE 3 @missing BY @missing", "NULL"),
        ("FIRST_VALUE 1 @missing", "NULL"),
        ("TOLIST 1 @missing", "[]"),
    ] {
        let arguments = format!("LOAD 2 @missing @n GROUPBY 0 REDUCE {reducer} AS res");
        assert_eq!(run(&["n=46"], &words(&arguments)), [format!("res={expected}")]);
    }
}

/// RediSearch's `testAggregateGroup0Field`.
#[test]
fn quantiles_are_those_of_redisearch() {
    let prices = [
        "n=880000",
        "n=685000",
        "n=590000",
        "n=1200000",
        "n=1170000",
        "n=1145000",
        "n=3950000",
        "n=620000",
        "n=758000",
        "n=4850000",
        "n=800000",
        "n=340000",
        "n=530000",
        "n=500000",
        "n=540000",
        "n=2500000",
        "n=330000",
        "n=525000",
        "n=2500000",
        "n=350000",
        "n=590000",
        "n=1250000",
        "n=799000",
        "n=1380000",
    ];
    for (share, expected) in [
        ("0.95", "3950000"),
        ("0.9", "2500000"),
        ("0.8", "1380000"),
        ("0.7", "1170000"),
        ("0.6", "880000"),
        ("0.5", "758000"),
    ] {
        let arguments = ["GROUPBY", "0", "REDUCE", "QUANTILE", "2", "n", share, "AS", "q"];
        assert_eq!(run(&prices, &arguments), [format!("q={expected}")]);
    }
}

/// RediSearch's `testMultiSortBy`.
#[test]
fn sorting_is_by_fields_in_order() {
    let hashes = [
        "t1=a t2=a",
        "t1=a t2=b",
        "t1=a t2=c",
        "t1=b t2=a",
        "t1=b t2=b",
        "t1=b t2=c",
        "t1=c t2=a",
        "t1=c t2=b",
        "t1=c t2=c",
    ];
    assert_eq!(run(&hashes, &words("LOAD 2 @t1 @t2 SORTBY 4 @t1 ASC @t2 ASC")), hashes);
    let expected = [
        "t1=c t2=a",
        "t1=c t2=b",
        "t1=c t2=c",
        "t1=b t2=a",
        "t1=b t2=b",
        "t1=b t2=c",
        "t1=a t2=a",
        "t1=a t2=b",
        "t1=a t2=c",
    ];
    assert_eq!(run(&hashes, &words("LOAD 2 @t1 @t2 SORTBY 4 @t1 DESC @t2 ASC")), expected);
    let expected = [
        "t1=a t2=a",
        "t1=b t2=a",
        "t1=c t2=a",
        "t1=a t2=b",
        "t1=b t2=b",
        "t1=c t2=b",
        "t1=a t2=c",
        "t1=b t2=c",
        "t1=c t2=c",
    ];
    assert_eq!(run(&hashes, &words("LOAD 2 @t1 @t2 SORTBY 4 @t2 ASC @t1 ASC")), expected);
}

/// Expects the measured output of redis-server 8 for 40 documents (valkey-search's issue 1393 and pull request 1373).
#[test]
fn sorting_keeps_as_many_as_limit_or_max_say() {
    let run_forty = |arguments: &str| {
        let mut pipeline = pipeline(&words(&format!("LOAD 1 @n {arguments}")));
        for number in 0..40 {
            let values = vec![Some(Value::Number(f64::from(number * 7 % 40)))];
            assert_eq!(pipeline.push(SourceRow { values, others: Vec::new() }), Ok(ControlFlow::Continue(())));
        }
        let mut output = pipeline.finish();
        let count = std::iter::from_fn(|| output.next_record().unwrap()).count();
        (count, output.total())
    };
    for (arguments, expected) in [
        ("SORTBY 2 @n DESC", 10),
        ("SORTBY 2 @n DESC LIMIT 0 1000", 40),
        ("SORTBY 2 @n DESC MAX 5", 5),
        ("SORTBY 2 @n DESC MAX 25", 25),
        ("SORTBY 2 @n DESC MAX 100", 40),
        ("SORTBY 2 @n DESC MAX 0", 10),
        ("SORTBY 2 @n DESC MAX 5 LIMIT 0 1000", 40),
        ("SORTBY 2 @n DESC MAX 3 LIMIT 0 25", 25),
        ("SORTBY 2 @n DESC MAX 25 LIMIT 0 3", 3),
        ("SORTBY 2 @n DESC LIMIT 35 100", 5),
        ("LIMIT 0 1000 SORTBY 2 @n DESC", 40),
        ("SORTBY 2 @n DESC LIMIT 0 0", 0),
    ] {
        assert_eq!(run_forty(arguments), (expected, 40), "{arguments}");
    }
    // RediSearch 2.10.5 counts the groups.
    assert_eq!(run_forty("SORTBY 2 @n DESC GROUPBY 1 @n"), (10, 10));
    assert_eq!(run_forty("SORTBY 2 @n DESC LIMIT 0 1 GROUPBY 1 @n"), (1, 1));
    assert_eq!(run_forty("SORTBY 2 @n DESC APPLY @n+1 AS m LIMIT 0 20"), (20, 40));
}

/// RediSearch's `testLimitIssue`: APPLY onto a field keeps its place.
#[test]
fn paging_follows_the_order() {
    let hashes = ["k=a d=5", "k=b d=4", "k=c d=3", "k=d d=2", "k=e d=1"];
    let page =
        |offset, count| run(&hashes, &["APPLY", "@k", "AS", "k", "SORTBY", "2", "@d", "DESC", "LIMIT", offset, count]);
    assert_eq!(page("0", "8"), hashes);
    assert_eq!(page("0", "2"), hashes[..2]);
    assert_eq!(page("1", "2"), hashes[1..3]);
    assert_eq!(page("2", "2"), hashes[2..4]);
}

/// RediSearch's `testGroupAfterSort`.
#[test]
fn groups_see_only_what_sorting_keeps() {
    let hashes = ["t=AAAA n=0", "t=AAAA n=1", "t=BBBB n=0", "t=BBBB n=1", "t=AAAA n=0", "t=BBBB n=1"];
    let arguments = words("SORTBY 1 @n MAX 2 GROUPBY 1 @t REDUCE COUNT 0 AS c");
    assert_eq!(run(&hashes[..4], &arguments), ["t=AAAA c=1", "t=BBBB c=1"]);
    let arguments = words("SORTBY 3 @n @t DESC MAX 3 GROUPBY 2 @t @n REDUCE COUNT 0 AS c SORTBY 1 @t");
    assert_eq!(run(&hashes, &arguments), ["t=AAAA n=0 c=2", "t=BBBB n=0 c=1"]);
}

/// RediSearch's `test_groupby_array` and `testAggregateGroupByOnEmptyField`.
#[test]
fn lists_name_several_groups() {
    let arguments = [
        "APPLY",
        "split(@t1, \",\")",
        "AS",
        "t1",
        "APPLY",
        "split(@t2, \",\")",
        "AS",
        "t2",
        "GROUPBY",
        "2",
        "@t1",
        "@t2",
    ];
    assert_eq!(
        run(&["t1=foo,bar t2=baz,qux"], &arguments),
        ["t1=foo t2=baz", "t1=foo t2=qux", "t1=bar t2=baz", "t1=bar t2=qux"]
    );
    let arguments =
        ["APPLY", "split(@test)", "AS", "check", "GROUPBY", "1", "@check", "REDUCE", "COUNT", "0", "AS", "count"];
    assert_eq!(
        run(&["test=test1,test2,test3", "test="], &arguments),
        ["check=test1 count=1", "check=test2 count=1", "check=test3 count=1", "check=NULL count=1"]
    );
}

/// RediSearch's `testFirstValue`, `test_aggregate_group_by_on_missing_values` and `testIssue1169`.
#[test]
fn first_values_follow_their_order() {
    let hashes = ["b=x t=one p=3", "b=x t=two p=9", "b=x t=three p=1", "b=x t=none", "b=y p=2"];
    let arguments = words(
        "GROUPBY 1 @b REDUCE FIRST_VALUE 4 @t BY @p DESC AS top REDUCE FIRST_VALUE 4 @t BY @p ASC AS bottom \
         REDUCE FIRST_VALUE 1 @t AS first",
    );
    assert_eq!(run(&hashes, &arguments), ["b=x top=two bottom=three first=one", "b=y top=NULL bottom=NULL first=NULL"]);
    assert_eq!(run(&["n=3", "m=1"], &words("GROUPBY 1 @n")), ["n=3", "n=NULL"]);
}

/// RediSearch's `testLoadAll` and `testSortBy` (missing values are equal and come last).
#[test]
fn loading_all_gives_every_field() {
    let hashes = ["__key=doc2 t=world n=3.141", "__key=doc1 t=hello n=42 extra=1"];
    let arguments = words("LOAD * LOAD 1 @__key SORTBY 1 @__key");
    assert_eq!(run(&hashes, &arguments), ["__key=doc1 t=hello n=42 extra=1", "__key=doc2 t=world n=3.141"]);
    assert_eq!(
        run(&hashes, &["LOAD", "*", "APPLY", "1", "AS", "n"]),
        ["n=1 __key=doc2 t=world", "n=1 __key=doc1 t=hello extra=1"]
    );
    assert_eq!(run(&hashes, &[]), ["", ""]);
    let hashes = ["n=2", "m=1", "n=1"];
    assert_eq!(run(&hashes, &words("SORTBY 2 @n DESC")), ["n=2", "n=1", ""]);
    assert_eq!(run(&hashes, &words("SORTBY 2 @n ASC")), ["n=1", "n=2", ""]);
    assert_eq!(run(&["n=2", "n=1"], &words("LOAD 1 @x SORTBY 2 @x @n")), ["n=1", "n=2"]);
}

#[test]
fn filters_and_applies_fail_on_missing_fields() {
    for arguments in [["FILTER", "@n > 2"], ["APPLY", "(@n+1)/2"]] {
        let mut pipeline = pipeline(&arguments);
        let error = pipeline.push(SourceRow { values: vec![None], others: Vec::new() }).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Could not find the value for a parameter name, consider using EXISTS if applicable for n"
        );
    }
    assert_eq!(run(&["n=1", "m=1"], &["FILTER", "exists(@n)"]), ["n=1"]);
}

#[test]
fn limits_without_sorting_end_the_source() {
    let mut pipeline = pipeline(&words("LOAD 1 @n LIMIT 1 2"));
    let mut push = |number| {
        let values = vec![Some(Value::Number(number))];
        pipeline.push(SourceRow { values, others: Vec::new() }).unwrap()
    };
    assert!(push(1.0).is_continue());
    assert!(push(2.0).is_continue());
    assert!(push(3.0).is_break());
    assert_eq!(shown(&pipeline.take_record().unwrap()), "n=2");
    assert_eq!(shown(&pipeline.take_record().unwrap()), "n=3");
    assert!(pipeline.take_record().is_none());
}

#[test]
fn too_many_groups_of_one_record_are_an_error() {
    let mut pipeline =
        pipeline(&["APPLY", "split(@t)", "AS", "a", "APPLY", "@a", "AS", "b", "GROUPBY", "2", "@a", "@b"]);
    let many: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let values = vec![Some(Value::text(many.join(",")))];
    let error = pipeline.push(SourceRow { values, others: Vec::new() }).unwrap_err();
    assert_eq!(error.to_string(), "GROUPBY exceeds maximum of 1000 groups for one record");
}

#[test]
fn too_many_values_of_one_record_are_an_error() {
    let pushed = |groups_count: usize, reducers_count: usize, reducer: &str| {
        let reducers: String = (0..reducers_count).map(|number| format!(" REDUCE {reducer} AS r{number}")).collect();
        let request = format!("LOAD 2 @a @b GROUPBY 1 @a{reducers}");
        let mut pipeline = pipeline(&words(&request));
        let list = |count: usize| Value::List((0..count).map(|number| Value::Number(number as f64)).collect());
        let values = vec![Some(list(groups_count)), Some(list(100_000))];
        pipeline.push(SourceRow { values, others: Vec::new() }).map(|_| ()).map_err(|error| error.to_string())
    };
    let message = Err("GROUPBY exceeds maximum of 65536 values for one record".to_owned());
    assert_eq!(pushed(1000, 65, "COUNT 0"), Ok(()));
    assert_eq!(pushed(1000, 66, "COUNT 0"), message);
    assert_eq!(pushed(1, 1, "TOLIST 1 @b"), Ok(()));
    assert_eq!(pushed(2, 1, "TOLIST 1 @b"), message);
    assert_eq!(pushed(1, 2, "TOLIST 1 @b"), message);
}
