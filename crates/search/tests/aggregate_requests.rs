//! Requests of FT.AGGREGATE: what they mean, and what RediSearch says of bad ones.

use proptest::prelude::*;
use search::{
    AggregateRequest, Arrangement, CursorOptions, FieldReader, Pipeline, PipelineLimits, PipelineStep, ReducerFunction,
    SortKey, SourceRow, Value,
};

const LIMITS: PipelineLimits = PipelineLimits { records_max: 1_000_000, seed: 7 };

fn request(words: &str) -> Result<AggregateRequest, String> {
    let words: Vec<&[u8]> = words.split_whitespace().map(str::as_bytes).collect();
    AggregateRequest::parse(&words).map_err(|error| error.to_string())
}

fn error(words: &str) -> String {
    match request(words) {
        Ok(request) => Pipeline::new(&request, LIMITS).err().expect(words).to_string(),
        Err(error) => error,
    }
}

#[test]
fn every_part_of_a_request_is_parsed() {
    let parsed = request(
        "VERBATIM load 4 @a b AS c GROUPBY 2 @a @c REDUCE count 0 AS n REDUCE QUANTILE 2 @a 0.5 AS q \
         SORTBY 3 @n DESC @q MAX 7 WITHCOUNT LIMIT 2 5 APPLY @n+1 AS m FILTER @m>1 WITHCURSOR COUNT 10 MAXIDLE 20 \
         TIMEOUT 30 PARAMS 2 k v DIALECT 3",
    )
    .unwrap();
    assert!(parsed.is_verbatim);
    assert!(parsed.is_counted);
    assert_eq!(parsed.cursor, Some(CursorOptions { records_count: Some(10), idle_ms: Some(20) }));
    assert_eq!((parsed.settings.timeout_ms, parsed.settings.dialect), (Some(30), 3));
    assert_eq!(parsed.settings.parameters.get(&b"k"[..]).map(|value| &**value), Some(&b"v"[..]));
    let [
        PipelineStep::Load(fields),
        PipelineStep::Group { keys, reducers },
        PipelineStep::Arrange(arrangement),
        PipelineStep::Apply { name, .. },
        PipelineStep::Filter(_),
    ] = &parsed.steps[..]
    else {
        panic!("{:?}", parsed.steps)
    };
    let fields: Vec<_> = fields.iter().map(|field| (&*field.identifier, &*field.name)).collect();
    assert_eq!(fields, [(&b"a"[..], &b"a"[..]), (b"b", b"c")]);
    assert_eq!(keys, &[Box::from(&b"a"[..]), Box::from(&b"c"[..])]);
    assert_eq!(reducers[0].function, ReducerFunction::Count);
    assert_eq!((&*reducers[1].name, &reducers[1].function), (&b"q"[..], &ReducerFunction::Quantile(0.5)));
    let sort = Some(vec![
        SortKey { name: b"n"[..].into(), is_descending: true },
        SortKey { name: b"q"[..].into(), is_descending: false },
    ]);
    assert_eq!(*arrangement, Arrangement { sort, records_max: 7, limit: Some((2, 5)) });
    assert_eq!(&**name, b"m");
}

#[test]
fn results_without_as_have_generated_names() {
    let parsed = request(
        "GROUPBY 1 @brand REDUCE MIN 1 @price REDUCE FIRST_VALUE 4 @title BY @price DESC REDUCE COUNT 0 \
         REDUCE QUANTILE 2 price 0.50",
    );
    let Some(PipelineStep::Group { reducers, .. }) = parsed.unwrap().steps.pop() else { panic!() };
    let names: Vec<_> = reducers.iter().map(|reducer| std::str::from_utf8(&reducer.name).unwrap()).collect();
    let expected = [
        "__generated_aliasminprice",
        "__generated_aliasfirst_valuetitle,by,price,desc",
        "__generated_aliascount",
        "__generated_aliasquantileprice,0.50",
    ];
    assert_eq!(names, expected);
}

#[test]
fn errors_are_in_words_of_redisearch() {
    for (words, expected) in [
        ("LOAD 2 title", "Bad arguments for LOAD: Expected an argument, but none provided"),
        ("LOAD lali", "Bad arguments for LOAD: Expected number of fields or `*`"),
        ("LOAD", "Bad arguments for LOAD: Expected an argument, but none provided"),
        ("GROUPBY 3 t n tt", "Bad arguments for GROUPBY: Unknown property `t`. Did you mean `@t`?"),
        ("GROUPBY 3 @t n @tt", "Bad arguments for GROUPBY: Unknown property `n`. Did you mean `@n`?"),
        ("GROUPBY 2 @t @t", "Property `t` specified more than once"),
        ("GROUPBY 1 @t REDUCE COUNT 0 AS t", "Property `t` specified more than once"),
        ("GROUPBY 1 @t REDUCE COUNT 0 AS c REDUCE COUNT 0 AS c", "Property `c` specified more than once"),
        ("GROUPBY 1 @t REDUCE COUNT 0 REDUCE COUNT 0", "Property `__generated_aliascount` specified more than once"),
        ("GROUPBY 1 @t REDUCE COUNT 1 @brand", "Count accepts 0 values only"),
        ("GROUPBY 1 @t REDUCE COUNT 1", "Bad arguments for COUNT: Expected an argument, but none provided"),
        ("GROUPBY 1 @t REDUCE bad 0", "No such reducer: bad"),
        ("GROUPBY 1 @t REDUCE COUNT 0 AS", "AS needs argument"),
        ("GROUPBY 1 @t REDUCE QUANTILE 2 @t 2", "Percentage must be between 0.0 and 1.0"),
        ("GROUPBY 1 @t REDUCE RANDOM_SAMPLE 2 @t 2000", "Sample size too large"),
        ("SORTBY 1 @a SORTBY 1 @b", "Multiple SORTBY steps are not allowed. Sort multiple fields in a single step"),
        ("SORTBY 9 @1 @2 @3 @4 @5 @6 @7 @8 @9", "Cannot sort by more than 8 fields"),
        ("SORTBY 2 @a bad", "MISSING ASC or DESC after sort field (bad)"),
        (
            "FILTER exists(@b) GROUPBY 1 @b REDUCE count 0 as foo SORTBY 1 @foo DESC",
            "Unknown argument `DESC` at position 14 for <main>",
        ),
        ("LIMIT 1", "LIMIT requires two arguments"),
        ("LIMIT a b", "LIMIT needs two numeric arguments"),
        ("LIMIT 1 0", "The `offset` of the LIMIT must be 0 when `num` is 0"),
        ("LIMIT 0 2000000", "LIMIT exceeds maximum of 1000000"),
        ("APPLY split() AS x", "Invalid number of arguments for split"),
        ("APPLY 1 AS", "AS needs argument"),
        ("APPLY unexisting_function(1)", "Unknown function name 'unexisting_function'"),
        ("GROUPBY 1 @a LOAD 1 @b", "LOAD cannot be applied after projectors or reducers"),
        ("SUMMARIZE FIELDS 1 t", "SUMMARIZE is not supported on FT.AGGREGATE"),
        ("HIGHLIGHT", "HIGHLIGHT is not supported on FT.AGGREGATE"),
        ("ADDSCORES", "ADDSCORES is not supported yet"),
        ("SCORER", "Bad arguments for SCORER: Expected an argument, but none provided"),
        ("SCORER bad", "No such scorer bad"),
        ("PARAMS 3 a b c", "Parameters must be specified in PARAM VALUE pairs"),
        ("PARAMS 4 a b a c", "Duplicate parameter `a`"),
        ("DIALECT 7", "DIALECT requires a non negative integer >=1 and <= 4"),
        ("GROUPBY 1 @a APPLY @b AS c", "Property `b` not loaded nor in pipeline"),
        ("GROUPBY 1 @a FILTER @b>1", "Property `b` not loaded nor in pipeline"),
        ("GROUPBY 1 @a SORTBY 1 @b", "Property `b` not loaded nor in schema"),
        ("GROUPBY 1 @a GROUPBY 1 @b", "No such property `b`"),
    ] {
        assert_eq!(error(words), expected, "{words}");
    }
    for words in ["TIMEOUT", "TIMEOUT -1", "TIMEOUT STR", "WITHCURSOR COUNT BAD", "SORTBY bad", "SORTBY 1 @a MAX bad"] {
        assert!(request(words).is_err(), "{words}");
    }
}

/// redis-py 8 sends one with each request.
#[test]
fn a_scorer_without_scores_changes_nothing() {
    assert!(request("SCORER TFIDF LOAD 1 @a SCORER bm25std").is_ok());
}

#[test]
fn patterns_of_all_expressions_count_together() {
    let steps = |count: usize| "FILTER matches(@a,'b')||matches(@a,'c') ".repeat(count);
    assert!(request(&steps(8)).is_ok());
    assert_eq!(error(&steps(9)), "matches() exceeds maximum of 16 regular expressions");
}

#[test]
fn fields_read_before_they_are_loaded_are_loaded() {
    let parsed = request("FILTER exists(@a)&&exists(@b) APPLY 1 AS c FILTER exists(@d) LOAD 3 @d @a @c").unwrap();
    let pipeline = Pipeline::new(&parsed, LIMITS).unwrap();
    let readers: Vec<_> = pipeline.source_fields().iter().map(|field| (&*field.name, field.reader)).collect();
    let expected = [(&b"a"[..], FieldReader::Load), (b"b", FieldReader::Expression), (b"d", FieldReader::Load)];
    assert_eq!(readers, expected);
}

#[test]
fn source_fields_are_what_no_step_gives() {
    let parsed = request(
        "LOAD 3 title AS t APPLY upper(@t) AS u FILTER exists(@price) GROUPBY 2 @u @brand REDUCE SUM 1 @price AS s \
         SORTBY 1 @s APPLY @s*2 AS twice",
    );
    let pipeline = Pipeline::new(&parsed.unwrap(), LIMITS).unwrap();
    let fields: Vec<_> =
        pipeline.source_fields().iter().map(|field| (&*field.identifier, &*field.name, field.reader)).collect();
    let expected = [
        (&b"title"[..], &b"t"[..], FieldReader::Load),
        (b"price", b"price", FieldReader::Expression),
        (b"brand", b"brand", FieldReader::Group),
    ];
    assert_eq!(fields, expected);
    let unknown = pipeline.source_fields()[2].unknown().to_string();
    assert_eq!(unknown, "No such property `brand`");
    assert!(!pipeline.loads_all());
}

proptest! {
    #[test]
    fn no_arguments_panic(words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..20)) {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let Ok(request) = AggregateRequest::parse(&words) else { return Ok(()) };
        let Ok(mut pipeline) = Pipeline::new(&request, LIMITS) else { return Ok(()) };
        let fields = pipeline.source_fields().len();
        for number in 0..3 {
            let values = vec![Some(Value::Number(f64::from(number))); fields];
            let _ = pipeline.push(SourceRow { values, others: Vec::new() });
        }
        let mut output = pipeline.finish();
        while let Ok(Some(_)) = output.next_record() {}
    }
}

const WORDS: [&str; 36] = [
    "LOAD",
    "GROUPBY",
    "SORTBY",
    "LIMIT",
    "APPLY",
    "FILTER",
    "REDUCE",
    "AS",
    "MAX",
    "WITHCURSOR",
    "PARAMS",
    "DIALECT",
    "0",
    "1",
    "1",
    "2",
    "2",
    "3",
    "@a",
    "@a",
    "@b",
    "a",
    "ASC",
    "DESC",
    "COUNT",
    "SUM",
    "TOLIST",
    "QUANTILE",
    "FIRST_VALUE",
    "BY",
    "RANDOM_SAMPLE",
    "@a+1",
    "upper(@a)",
    "*",
    "\u{ff}",
    "0.5",
];
