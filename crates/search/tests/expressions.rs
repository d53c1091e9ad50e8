//! Expressions: what RediSearch's documents and tests say of them.

use proptest::prelude::*;
use search::{Expression, ExpressionError, Value};

/// Evaluates an expression over fields; an error is its sentence.
fn evaluated(text: &str, fields: &[(&str, Value)]) -> Result<Value, String> {
    let expression = Expression::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let mut field =
        |name: &[u8]| fields.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, value)| value.clone());
    expression.evaluate(&mut field).map_err(|error| error.to_string())
}

/// Evaluates an expression without fields to what a reply shows.
fn shown(text: &str) -> String {
    match evaluated(text, &[]) {
        Ok(Value::Null) => "NULL".to_owned(),
        Ok(Value::List(items)) => {
            items.iter().map(|item| format!("[{}]", String::from_utf8_lossy(&item.as_text().unwrap()))).collect()
        }
        Ok(value) => String::from_utf8_lossy(&value.as_text().unwrap()).into_owned(),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn error(text: &str) -> String {
    evaluated(text, &[]).unwrap_err()
}

#[test]
fn predicates_are_those_of_redisearch() {
    let fields = [("foo", Value::Number(1.0)), ("bar", Value::Number(2.0))];
    for (text, expected) in [
        ("1 == 1", 1),
        ("1 < 2", 1),
        ("1 <= 1", 1),
        ("-1 == -1", 1),
        ("-1 == 1", 0),
        ("1 < 1", 0),
        ("1 != 1", 0),
        ("1 != 'foo'", 1),
        ("1 == NULL", 0),
        ("1 != NULL", 1),
        ("'foo' == 'foo'", 1),
        ("'foo' != 'bar'", 1),
        ("'foo' != 'foo'", 0),
        ("'foo' < 'goo'", 1),
        ("@foo == @bar", 0),
        ("@foo != @bar", 1),
        ("@foo != NULL", 1),
        ("@foo < @bar", 1),
        ("@foo <= @bar", 1),
        ("@foo >= @bar", 0),
        ("@foo > @bar", 0),
        ("NULL == NULL", 1),
        ("0 == NULL", 0),
        ("1 == 1 && 2 ==2 ", 1),
        ("1 == 1 && 1 ==2 ", 0),
        ("1 == 1 || 1 ==2 ", 1),
        ("1 == 3 || 1 ==2 ", 0),
        ("!(1 == 3)", 1),
        ("!(1 == 3) || 2", 1),
        ("!0", 1),
        ("!1", 0),
        ("!('foo' == 'bar')", 1),
        ("!NULL", 1),
        ("1 || 0 && 0", 1),
        ("3 + 4 * 2 == 11 && 2 < 1 + 2", 1),
    ] {
        assert_eq!(evaluated(text, &fields), Ok(Value::Number(expected.into())), "{text}");
    }
}

#[test]
fn arithmetic_is_that_of_redisearch() {
    for (text, expected) in [
        ("4 + 2", "6"),
        ("10 - 4 - 3", "3"),
        ("2 ^ 10", "1024"),
        ("2 * -3", "-6"),
        ("1e3 + .5", "1000.5"),
        ("-inf", "-inf"),
        ("inf", "inf"),
        ("2 ^ 3 ^ 2", "64"),
        ("4-002", "2"),
        ("8 / 2 / 2", "2"),
        ("(((2 + 2) * (3 / 4) + 2 % 3 - 0.43) ^ -3)", "0.0104773487421"),
        ("floor(log2(35) + sqrt(4) % 10) - abs(-5/20)", "6.75"),
        ("-9223372036854775808 % -1", "0"),
        ("439974354 % 5", "4"),
        ("-54775808 % -5", "-3"),
        ("-14275897 % 5", "-2"),
        ("547758.3 % 5.1", "3"),
        ("5 % 0", "nan"),
        ("5 / 0", "nan"),
        ("'3' + 1", "4"),
        ("exp(12234556)", "inf"),
        ("ceil(12234556)", "12234556"),
        ("ceil(1.2)", "2"),
        ("floor(-1.2)", "-2"),
        ("log(exp(2))", "2"),
        ("sqrt(16)", "4"),
        ("to_number('12.50')", "12.5"),
        ("to_str(12.50)", "12.5"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn functions_of_texts_are_those_of_redisearch() {
    for (text, expected) in [
        ("upper('hello world')", "HELLO WORLD"),
        ("lower(\"HELLO WORLD\")", "hello world"),
        ("upper(1)", "NULL"),
        ("lower(1)", "NULL"),
        ("startswith('aaa', \"aa\")", "1"),
        ("startswith('ab', \"aa\")", "0"),
        ("contains('bba', 'bb')", "1"),
        ("contains('aba', 'bb')", "0"),
        ("contains('abbabb', 'bb')", "2"),
        ("contains('abbabb', '')", "7"),
        ("strlen('aaa')", "3"),
        ("strlen('')", "0"),
        ("substr('hello', 0, 3)", "hel"),
        ("substr('hello', -2, -1)", "lo"),
        ("substr('test', 3, 1000)", "t"),
        ("substr('test', -1, 2)", "t"),
        ("substr('test', 30, 2)", ""),
        ("substr('test', -30, 2)", "te"),
        ("format('%s|%s|%s', 'a', 'Mark', 1.50)", "a|Mark|1.5"),
        ("format('%%s-test', 'test')", "%s-test"),
        ("format('%s-test', 'test')", "test-test"),
        ("format('%s', upper(1))", "(null)"),
        ("'foo\\'s bar'", "foo's bar"),
        ("\"foo \\\"bar\\\"\"", "foo \"bar\""),
        ("case(1 > 0, 'premium', 'standard')", "premium"),
        ("case(0, 1, case('' == 'x', 3, 4))", "4"),
        ("matches('AB-12', '^[A-Z]+-\\d+$')", "1"),
        ("matches('AB-x', '^[A-Z]+-\\d+$')", "0"),
        ("matches('aab', format('^%s+b', 'a'))", "1"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn splitting_is_that_of_redisearch() {
    for (text, expected) in [
        (r#"split("hello world,  foo,,,bar,", ",", " ")"#, "[hello world][foo][bar]"),
        (r#"split("hello world,  foo,,,bar,", " ", ",")"#, "[hello][world][foo,,,bar]"),
        (r#"split("hello world,  foo,,,bar,", "", "")"#, "[hello world,  foo,,,bar,]"),
        (r#"split("hello world,  foo,,,bar,")"#, "[hello world][foo][bar]"),
        (r#"split("hello world,  foo,,,bar,",",")"#, "[hello world][foo][bar]"),
        (r#"split("")"#, ""),
        ("split(1)", "NULL"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn functions_of_times_are_those_of_redisearch() {
    for (text, expected) in [
        ("timefmt(1517417144)", "2018-01-31T16:45:44Z"),
        ("parsetime('2018-01-31T16:45:44Z', \"%FT%TZ\")", "1517417144"),
        ("parsetime('2018-01-31T16:45:44Z', \"%Y-%m-%dT%H:%M:%SZ\")", "1517417144"),
        ("parsetime('20210401', \"%Y%m%d\")", "1617235200"),
        ("parsetime('x', \"%Y%m%d\")", "NULL"),
        ("day(1517417144)", "1517356800"),
        ("hour(1517417144)", "1517414400"),
        ("minute(1517417144)", "1517417100"),
        ("month(1517417144)", "1514764800"),
        ("dayofweek(1517417144)", "3"),
        ("dayofmonth(1517417144)", "31"),
        ("dayofyear(1517417144)", "30"),
        ("year(1517417144)", "2018"),
        ("dayofyear(1709230599)", "59"),
        ("month(1709230599)", "1706745600"),
        ("dayofyear(1711478258)", "85"),
        ("monthofyear(12234556)", "4"),
        ("timefmt('awfawf')", "NULL"),
        ("timefmt(235325153152356426246246246254)", "NULL"),
        ("hour('not_number')", "NULL"),
        ("monthofyear('bad')", "NULL"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
    assert_eq!(shown(&format!("timefmt(1, '{}')", "d".repeat(2048))), "NULL");
}

#[test]
fn distances_are_those_of_redisearch() {
    let fields = [("location", Value::text("1.22,4.56")), ("hq", Value::text("1.25,4.5"))];
    for (text, expected) in [
        ("geodistance(@location,@hq)", "7456.63"),
        ("geodistance(@location,1.25,4.5)", "7456.63"),
        ("geodistance(@location,\"1.25,4.5\")", "7456.63"),
        ("geodistance(1.25,4.5, @location)", "7456.63"),
        ("geodistance(\"1.25,4.5\", @location)", "7456.63"),
        ("geodistance(\"1.24,4.56\", @hq)", "6765.06"),
        ("geodistance(1.23,4.55,1.25,4.5)", "5987.15"),
        ("geodistance(1.23,4.57,\"1.25,4.5\")", "8095.49"),
        ("geodistance(\"1.26,4.5\",\"1.25,4.5\")", "1108.83"),
        ("geodistance(\"1.26,4.5\",1.25,4.5)", "1108.83"),
    ] {
        let distance = evaluated(text, &fields).unwrap();
        assert_eq!(distance.as_text().unwrap(), expected.as_bytes(), "{text}");
    }
    assert_eq!(shown("geodistance('x', '1,2')"), "NULL");
}

#[test]
fn errors_of_parsing_are_in_words_of_redisearch() {
    for text in ["bad filter", "@price++", "1 +", "(1", "'open", "@", "1 2", "f(1", "&", "4..2"] {
        assert!(error(text).starts_with("Syntax error at offset"), "{text}");
    }
    for (text, expected) in [
        ("blabla", "Unknown symbol 'blabla'"),
        ("null", "Unknown symbol 'null'"),
        ("@a + b && @c", "Unknown symbol 'b'"),
        ("unexisting_function(1)", "Unknown function name 'unexisting_function'"),
        ("!!unexisting_function(@title)", "Unknown function name 'unexisting_function'"),
        ("split()", "Invalid number of arguments for split"),
        ("1 + split()", "Invalid number of arguments for split"),
        ("substr(\"test\")", "Invalid arguments for function 'substr'"),
        ("substr(\"test\", \"test\")", "Invalid arguments for function 'substr'"),
        ("parsetime()", "Invalid arguments for function 'parsetime'"),
        ("parsetime(11)", "Invalid arguments for function 'parsetime'"),
        ("upper(1,2)", "Invalid arguments for function 'upper'"),
        ("timefmt()", "Invalid arguments for function 'timefmt'"),
        ("monthofyear(@test, 112)", "Invalid arguments for function 'monthofyear'"),
        ("format()", "Invalid arguments for function 'format'"),
        ("exists()", "Invalid arguments for function 'exists'"),
        ("matched_terms()", "Function 'matched_terms' is not supported yet"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    assert_eq!(error("  @a ? 1"), "Syntax error at offset 5 near '? 1'");
    assert!(error("matches('x', '(')").starts_with("Invalid regular expression"));
}

#[test]
fn errors_of_evaluation_are_in_words_of_redisearch() {
    for (text, expected) in [
        ("substr(\"test\", \"test\", \"test\")", "Invalid type (3) for argument 1 in function 'substr'"),
        ("substr(\"test\", \"-1\", \"-1\")", "Invalid type (3) for argument 1 in function 'substr'"),
        ("parsetime(11,22)", "Invalid type (1) for argument 0 in function 'parsetime'"),
        ("timefmt(1, 4)", "Invalid type (1) for argument 1 in function 'timefmt'"),
        ("to_number('abc')", "to_number: cannot convert string 'abc'"),
        ("\"bad\" + \"bad\"", "Could not convert value to a number"),
        ("!(split(\"bad\" + \"bad\"))", "Could not convert value to a number"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    for text in ["format(\"%s\")", "format(\"%\", \"test\")", "format(\"%b\", \"test\")", "format(5)"] {
        error(text);
    }
    assert_eq!(
        error("@num1 > 2"),
        "Could not find the value for a parameter name, consider using EXISTS if applicable for num1"
    );
}

/// FILTER of FT.CREATE gives the same whichever operand comes first (RediSearch's tests of missing fields).
#[test]
fn missing_fields_do_not_decide() {
    let admits = |text: &str, fields: &[(&str, f64)]| {
        let expression = Expression::parse(text.as_bytes()).unwrap();
        let find = |name: &[u8]| fields.iter().find(|(known, _)| known.as_bytes() == name);
        expression.admits(&mut |name| find(name).map(|(_, number)| Value::Number(*number)))
    };
    for (text, d2, expected) in [
        ("@d1==0 && @d2==0", 1.0, false),
        ("@d2==0 && @d1==0", 1.0, false),
        ("@d1==5 && @d2==5", 5.0, false),
        ("@d2==5 && @d1==5", 5.0, false),
        ("@d1==5 || @d2==5", 5.0, true),
        ("@d2==5 || @d1==5", 5.0, true),
        ("@d1==0 || @d2==0", 1.0, false),
        ("exists(@d1)", 1.0, false),
        ("exists(@d2)", 1.0, true),
        ("!exists(@d1) && @d2 == 1", 1.0, true),
        ("case(exists(@d1), @d1, 7) == 7", 1.0, true),
        ("!(@d1 == 1)", 1.0, false),
    ] {
        assert_eq!(admits(text, &[("d2", d2)]), expected, "{text}");
    }
    assert!(!admits("@d1==0 && @d2==0", &[]));
    assert!(!admits("@d1==1 || @d2==1", &[]));
}

#[test]
fn fields_are_named_once() {
    let expression = Expression::parse(b"@foo + sqrt(@bar) / @baz_1 + @foo - @a\\-b").unwrap();
    let names: Vec<&[u8]> = expression.fields().collect();
    assert_eq!(names, [&b"foo"[..], b"bar", b"baz_1", b"a-b"]);
}

#[test]
fn patterns_are_limited() {
    for pattern in ["a{1000}{1000}", "(a|b)*c{5000}{50}", &"a".repeat(2_000), "\\\\xff["] {
        assert!(matches!(
            Expression::parse(format!("matches(@a, '{pattern}')").as_bytes()),
            Err(ExpressionError::Regex(_))
        ));
    }
    let many = vec!["matches('a', format('%s', 'a'))"; 100].join(" && ");
    assert_eq!(error(&many), "Expression reads or makes more than 8388608 bytes");
    let written = |count: usize| vec!["matches('a', 'b')"; count].join(" || ");
    assert_eq!(shown(&written(16)), "0");
    assert_eq!(error(&written(17)), "matches() exceeds maximum of 16 regular expressions");
    assert_eq!(shown("matches('a\\\\b', 'a.b')"), "1");
    assert_eq!(shown("matches(NULL, 'a')"), "NULL");
    assert_eq!(shown("matches(125, '^12')"), "1");
}

#[test]
fn depth_is_limited_and_alternatives_are_not() {
    let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
    assert!(Expression::parse(nested(100).as_bytes()).is_ok());
    for text in [
        nested(10_000),
        "!".repeat(10_000) + "1",
        "abs(".repeat(10_000),
        vec!["1"; 10_000].join("^"),
        vec!["1"; 10_000].join("+"),
    ] {
        assert!(matches!(Expression::parse(text.as_bytes()), Err(ExpressionError::TooDeep(_))));
    }
    let alternatives: Vec<String> = (0..4_000).map(|number| format!("@a == {number}")).collect();
    let a = [("a", Value::Number(3_999.0))];
    assert_eq!(evaluated(&alternatives.join(" || "), &a), Ok(Value::Number(1.0)));
    assert!(matches!(Expression::parse(&[b' '; 70_000]), Err(ExpressionError::TooLong(_))));
}

#[test]
fn work_is_limited() {
    let text = Value::text(vec![b'a'; 1 << 20]);
    let doubled = "format('%s%s%s%s%s%s%s%s%s', @t, @t, @t, @t, @t, @t, @t, @t, @t)";
    let error = evaluated(doubled, &[("t", text)]).unwrap_err();
    assert_eq!(error, "Expression reads or makes more than 8388608 bytes");
}

proptest! {
    #[test]
    fn no_bytes_panic(text in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(expression) = Expression::parse(&text) {
            let _ = expression.evaluate(&mut |_| Some(Value::text("12")));
        }
    }

    #[test]
    fn no_words_panic(words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..24)) {
        if let Ok(expression) = Expression::parse(words.concat().as_bytes()) {
            for value in [None, Some(Value::Null), Some(Value::Number(-1.5)), Some(Value::List(vec![Value::Null]))] {
                let _ = expression.evaluate(&mut |_| value.clone());
            }
        }
    }
}

const WORDS: [&str; 38] = [
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "==",
    "!=",
    "<",
    "<=",
    "&&",
    "||",
    "!",
    "@a",
    "@b",
    "1",
    "2.5",
    "-3",
    "'x,y'",
    "\"%s\"",
    "NULL",
    "inf",
    " ",
    "abs(",
    "substr('abc',",
    "format(",
    "split(",
    "timefmt(",
    "parsetime(",
    "geodistance(",
    "case(",
    "exists(",
    "matches(",
    "contains(",
    "upper(",
];
