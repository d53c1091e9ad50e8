//! Words, patterns, operators, fields and attributes.

use super::*;
use Query::{Any, Every};

fn fuzzy(word: &str, distance_max: u8) -> Query {
    term(Term::Fuzzy { word: word.into(), distance_max })
}

#[test]
fn words_side_by_side_are_all_required() {
    assert_eq!(query("foo bar baz"), Every(vec![word("foo"), word("bar"), word("baz")]));
    assert_eq!(query("Foo"), word("foo"));
}

#[test]
fn bar_binds_weaker_than_space() {
    let [hello, world, goodbye, moon] = ["hello", "world", "goodbye", "moon"].map(word);
    let expected = Any(vec![Every(vec![hello, world]), Every(vec![goodbye, moon])]);
    assert_eq!(query("hello world | goodbye moon"), expected);
    assert_eq!(query("(hello world)|(goodbye moon)"), expected);
    assert_eq!(query("hello|hallo|shalom|hola"), Any(["hello", "hallo", "shalom", "hola"].map(word).to_vec()));
    let unions = Every(vec![Any(vec![word("hello"), word("hella")]), Any(vec![word("world"), word("werld")])]);
    assert_eq!(query("(hello|hella) (world|werld)"), unions);
}

#[test]
fn minus_negates_only_what_follows_it() {
    assert_eq!(query("-hello world"), Every(vec![not(verbatim("hello")), word("world")]));
    assert_eq!(query("hello -world"), Every(vec![word("hello"), not(verbatim("world"))]));
    let both = Every(vec![verbatim("hello"), verbatim("world")]);
    assert_eq!(query("-(hello world)"), not(both));
    for same in ["-foo", "(-foo)", "-(foo)"] {
        assert_eq!(query(same), not(verbatim("foo")));
    }
    assert_eq!(query("-(-foo)"), verbatim("foo"));
}

#[test]
fn minus_before_a_digit_is_a_sign() {
    assert_eq!(query("-20"), verbatim("20"));
    assert_eq!(query(r"-\20"), not(verbatim("20")));
}

#[test]
fn tilde_makes_optional() {
    let [barack, michelle] = ["barack", "michelle"].map(|name| optional(word(name)));
    assert_eq!(query("obama ~barack ~michelle"), Every(vec![word("obama"), barack, michelle]));
    let expected = Every(vec![word("hello"), optional(not(verbatim("world"))), optional(word("again"))]);
    assert_eq!(query("hello ~-\"world\" ~again"), expected);
    assert_eq!(query("~~again"), optional(word("again")));
}

#[test]
fn field_applies_to_the_next_part_alone() {
    let expected = Every(vec![word_in(&[TITLE], "james"), word("brown")]);
    assert_eq!(query("@title:James Brown"), expected);
    let both = Every(vec![word_in(&[TITLE], "james"), word_in(&[TITLE], "brown")]);
    assert_eq!(query("@title:(James Brown)"), both);
    assert_eq!(query("@title: ( James  Brown )"), both);
    assert_eq!(query("@body|title:james"), word_in(&[TITLE, BODY], "james"));
    assert_eq!(query("@title | title:james"), word_in(&[TITLE], "james"));
}

#[test]
fn negation_may_stand_before_or_after_a_field() {
    let expected =
        not(Query::Text { fields: vec![TITLE], term: Term::Exact { word: "foo".into(), is_verbatim: true } });
    assert_eq!(query("-@title:foo"), expected);
    assert_eq!(query("@title:-foo"), expected);
}

#[test]
fn published_valid_queries_parse() {
    for text in [
        "hello (world)",
        "\"hello\"",
        "\"\\$hello\"",
        "\"\\@hello\"",
        "(hello|world|foo) bar baz 123",
        "@title:foo (@body:bar (@body:baz @title:gaz))",
        "@title:(barack obama)  @body:us|president",
        "hello world&good+bye foo.bar",
        "foo -bar -(bar baz)",
        "@title|body:hello",
        "hello ~(world war)",
        "hello world ~@place:[15.65 -15.65 30 ft]",
        "hello (world @place:[15.65 -15.65 30 ft])",
        "a little bit of party",
        "no-as",
        "~no~as",
        "(no -as) =>{$weight: 0.5}",
        "@title:-as",
        "שלום עולם",
        "foo => {$weight: 0.5} bar => {$weight: 0.1}",
        "(foo => {$weight: 0.5;}) | ((bar) => {$weight: 0.5})",
        "(foo => {$weight: 0.5;})  ((bar) => {}) => {}",
        "@tags:{foo | bar} => {$weight: 0.5;} ",
        "@price:[0 100] => {$weight: 0.5;} ",
        "@title:((hello world)|((hello world)|(hallo world|werld) | hello world werld))",
        "hello 13 again",
        "w'\\\\hello'",
        "abc!",
    ] {
        query(text);
    }
}

#[test]
fn published_invalid_queries_are_refused() {
    for text in [
        "((((*))))))",
        "@title:",
        "@body:@title:",
        "@body|title:@title:",
        "@body|title",
        "@title:@price:[0 10]",
        "@title:(@price:[0 10])",
        "@t1:@t2:@t3:hello",
        "@place:[190.65 -100.65 30 ft])",
        "@place:[50 50 -1 ft]",
        "@place:[50 50 1 quoops]",
        "@place:[50 50 1 1]",
        "@place:[50 50 1]",
        "@price:[100 foo]",
        "@title:{foo}}}}}",
        "@tags:{{{{{foo}",
        "@tags:{foo|bar\\ baz|}",
        "@tags:{foo|bar\\ baz|",
        "{foo|bar\\ baz}",
        "(foo",
        "\"foo",
        "()",
        "@tags:{foo | bar} => {$weight: -0.5;} ",
        "@tags:{foo | bar} => {$great: 0.5;} ",
        "@tags:{foo | bar} => {$great:;} ",
        "@tags:{foo | bar} => {$:1;} ",
        " => {$weight: 0.5;} ",
        "@title:(foo bar) => {$ef_runtime: 100;}",
        "@title:(a-b-*)",
        "@title:(*a-b-*)",
        "@title:(*a-b-)",
        "*-*",
        "hello world:",
        "xffd;;;;;df",
        "%wor*sd%",
        "%wor~sd%",
        "%wor&sd%",
        "%wor@sd%",
        "%wor!sd%",
        "%%%%word%%%%",
        "hello|",
        "|hello",
        "-",
        "hello ~",
        "@",
        "$",
    ] {
        assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
    }
}

#[test]
fn star_alone_matches_all_and_bears_nothing_beside_it() {
    assert_eq!(query("*"), Query::All);
    assert_eq!(query("(*)"), Query::All);
    assert_eq!(query(" ((((((*)))))) "), Query::All);
    for text in ["* foo", "foo *", "-*", "~*", "*|foo", "@title:*"] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn empty_text_matches_nothing() {
    for text in ["", "  ", ",", "\"\"", "''"] {
        assert_eq!(query(text), Query::Nothing, "{text:?}");
    }
}

#[test]
fn stop_words_are_left_out() {
    assert_eq!(query("the cat of a hat"), Every(vec![word("cat"), word("hat")]));
    assert_eq!(query("foo|the"), word("foo"));
    assert_eq!(query("foo -the ~a (an|of)"), word("foo"));
    for text in ["a for is", "a|for|is", "@title:-as", "The", "~(no -as)"] {
        assert_eq!(query(text), Query::Nothing, "{text}");
    }
    assert_eq!(query("%for%"), fuzzy("for", 1));
    assert_eq!(query("the*"), term(Term::Prefix("the".into())));
}

#[test]
fn stop_words_are_those_of_the_definition() {
    let mut definition = definition();
    definition.stop_words = Some(vec!["foo".into()]);
    let parse = |options| parse_query(b"the foo", &definition, &options).unwrap();
    assert_eq!(parse(options()), word("the"));
    let kept = parse(QueryOptions { keeps_stop_words: true, ..options() });
    assert_eq!(kept, Every(vec![word("the"), word("foo")]));
}

#[test]
fn verbatim_words_have_no_stems() {
    let options = QueryOptions { is_verbatim: true, ..options() };
    assert_eq!(parse_query(b"hello", &definition(), &options), Ok(verbatim("hello")));
    assert_eq!(query("\"Hello\""), verbatim("hello"));
    assert_eq!(query("'hello'"), verbatim("hello"));
    assert_eq!(query("705"), verbatim("705"));
    assert_eq!(query("cherry1"), word("cherry1"));
}

#[test]
fn in_fields_narrow_the_fields_of_all_words() {
    let names = ["body", "tags", "unknown"].map(|name| Box::from(name.as_bytes()));
    let search = |text: &str, names| {
        parse_query(text.as_bytes(), &definition(), &QueryOptions { in_fields: Some(names), ..options() }).unwrap()
    };
    assert_eq!(search("hello", &names), word_in(&[BODY], "hello"));
    assert_eq!(search("@title:hello", &names), Query::Nothing);
    assert_eq!(search("@title|body:hello", &names), word_in(&[BODY], "hello"));
    assert_eq!(search("hello", &names[1..]), Query::Nothing);
}

#[test]
fn text_is_divided_as_unicode_divides_it() {
    assert_eq!(query("hello-world"), Every(vec![word("hello"), word("world")]));
    assert_eq!(query(r"hello\-world\-again"), word("hello-world-again"));
    assert_eq!(query(r"\-hello wor\ ld"), Every(vec![word("-hello"), word("wor ld")]));
    assert_eq!(query(r#""hello\-world""#), verbatim("hello-world"));
    assert_eq!(query(r"hello\-wor*"), term(Term::Prefix("hello-wor".into())));
    assert_eq!(query(r"%hello\-wor%"), term(Term::Fuzzy { word: "hello-wor".into(), distance_max: 1 }));
    assert_eq!(query("小明"), Every(vec![word("小"), word("明")]));
    assert_eq!(query("hello_world"), word("hello_world"));
    assert_eq!(query("can't"), word("can't"));
    assert_eq!(query("3.14"), verbatim("3.14"));
    assert_eq!(query("-(no-one)"), not(verbatim("one")));
}

#[test]
fn patterns_keep_the_whole_folded_text() {
    assert_eq!(query("Hel*"), term(Term::Prefix("hel".into())));
    assert_eq!(query("*WORL"), term(Term::Suffix("worl".into())));
    assert_eq!(query("hello -*worl*"), Every(vec![word("hello"), not(term(Term::Contains("worl".into())))]));
    assert_eq!(query("*sun* *ing "), Every(vec![term(Term::Contains("sun".into())), term(Term::Suffix("ing".into()))]));
    assert_eq!(query("*1*"), term(Term::Contains("1".into())));
    assert_eq!(query(r"foo\-*"), term(Term::Prefix("foo-".into())));
    assert_eq!(query("10010*"), term(Term::Prefix("10010".into())));
}

#[test]
fn wildcards_keep_their_backslashes() {
    assert_eq!(query("w'foo*Bar?'"), term(Term::Wildcard("foo*bar?".into())));
    assert_eq!(query("w'hello world'"), term(Term::Wildcard("hello world".into())));
    assert_eq!(query(r"w'a\'b\*c'"), term(Term::Wildcard(r"a'b\*c".into())));
    assert_eq!(query_with("w'$p'", &[(b"p", b"he?lo")]), term(Term::Wildcard("he?lo".into())));
    assert!(parse("w'foo").is_err());
}

#[test]
fn percents_count_the_distance_of_fuzzy_words() {
    assert_eq!(query("%hello% world"), Every(vec![fuzzy("hello", 1), word("world")]));
    assert_eq!(query("%%HELLO%%"), fuzzy("hello", 2));
    assert_eq!(query("%%%wo%%%"), fuzzy("wo", 3));
    assert_eq!(query("%\"\"%"), Query::Nothing);
}

#[test]
fn parameters_stand_for_words_and_patterns() {
    let parameters: [(&[u8], &[u8]); 3] = [(b"val", b"Alice"), (b"none", b""), (b"two", br"john\ doe")];
    let search = |text| query_with(text, &parameters);
    assert_eq!(search("@title:($val|Bob)"), Any(vec![word_in(&[TITLE], "alice"), word_in(&[TITLE], "bob")]));
    assert_eq!(search("$val*"), term(Term::Prefix("alice".into())));
    assert_eq!(search("*$val"), term(Term::Suffix("alice".into())));
    assert_eq!(search("%%$val%%"), fuzzy("alice", 2));
    assert_eq!(search("$two"), word("john doe"));
    assert_eq!(search("$none*"), Query::Nothing);
    assert_eq!(search("\"$val\""), verbatim("val"));
}

#[test]
fn attributes_leave_the_tree_as_it_is() {
    assert_eq!(query("(foo bar) => { $weight: 2.0; $inorder: false; }"), query("(foo bar)"));
    assert_eq!(query("@title:hello=>{$weight:5} world"), query("@title:(hello) world"));
    assert_eq!(query("foo => {$phonetic: false} => {$WEIGHT: 0}"), word("foo"));
    let weight: [(&[u8], &[u8]); 1] = [(b"w", b"0.5")];
    assert_eq!(query_with("foo => {$weight: $w}", &weight), word("foo"));
}

#[test]
fn names_of_fields_may_be_escaped_and_foreign() {
    let definition = definition_of(vec![text("שלום"), text("Business:- Name"), field(" m@1", FieldType::Numeric)]);
    let parse = |text: &str| parse_query(text.as_bytes(), &definition, &options()).unwrap();
    assert_eq!(parse("@Business\\:\\-\\ Name:Wells"), word_in(&[1], "wells"));
    assert_eq!(parse("@שלום:Wells"), word_in(&[0], "wells"));
    assert_eq!(parse("@\\ m\\@1  > 15"), parse("@\\ m\\@1:[(15 inf]"));
}

#[test]
fn nested_parts_of_a_kind_are_one() {
    let expected = Every(["a1", "b1", "c1", "d1"].map(word).to_vec());
    assert_eq!(query("((a1 b1) ((c1))) d1"), expected);
    assert_eq!(query("a1|(b1|(c1|d1))"), Any(["a1", "b1", "c1", "d1"].map(word).to_vec()));
}

#[test]
fn all_dialects_read_as_the_second() {
    for dialect in 1..=4 {
        let settings = QuerySettings { dialect, ..QuerySettings::default() };
        let parsed = parse_query(b"@title:a1 b1", &definition(), &settings.query_options());
        assert_eq!(parsed, Ok(query("@title:a1 b1")));
    }
}
