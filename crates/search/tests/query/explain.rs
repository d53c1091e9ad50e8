//! Texts of FT.EXPLAIN, as published.

use super::*;
use std::ops::Bound;

fn explain(text: &str, definition: &Definition) -> String {
    explain_with(text, definition, &[])
}

fn explain_with(text: &str, definition: &Definition, parameters: &[(&[u8], &[u8])]) -> String {
    let settings = settings_with(parameters);
    let query = parse_query(text.as_bytes(), definition, &settings.query_options())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    query.explain(definition)
}

fn mixed() -> Definition {
    definition_of(vec![
        text("t"),
        tag("t2", false),
        field("n", FieldType::Numeric),
        field("g", FieldType::Geo),
        text("other"),
    ])
}

#[test]
fn words_show_their_stems() {
    let definition = definition_of(vec![text("t")]);
    let expected = "\
UNION {
  INTERSECT {
    UNION {
      hello
      +hello(expanded)
    }
    UNION {
      world
      +world(expanded)
    }
  }
  INTERSECT {
    UNION {
      goodbye
      +goodby(expanded)
      goodby(expanded)
    }
    UNION {
      moon
      +moon(expanded)
    }
  }
}
";
    assert_eq!(explain("hello world | goodbye moon", &definition), expected);
}

#[test]
fn long_names_of_fields_are_cut() {
    let definition = definition_of(vec![text("t"), field(&"n".repeat(100_000), FieldType::Numeric)]);
    let query = Query::Any(vec![number_of(1), number_of(1)]);
    let line = format!("  NUMERIC {{1.000000 <= @{} <= inf}}\n", "n".repeat(64));
    assert_eq!(query.explain(&definition), format!("UNION {{\n{line}{line}}}\n"));
}

fn number_of(field: usize) -> Query {
    Query::Number { field, from: Bound::Included(1.0), to: Bound::Unbounded }
}

#[test]
fn words_of_greek_show_no_stems() {
    let definition = Definition { language: Language::Greek, ..definition_of(vec![text("t")]) };
    assert_eq!(explain("κόσμος", &definition), "κόσμοσ\n");
}

#[test]
fn fields_stand_before_everything_in_them() {
    let no_stems = FieldType::Text { weight: 1.0, has_no_stems: true, has_suffix_trie: false };
    let definition = definition_of(vec![field("t1", no_stems), text("t2")]);
    let expected = "\
INTERSECT {
  @t1:hello
  UNION {
    world
    +world(expanded)
  }
  @t2:UNION {
    @t2:howdy
    @t2:+howdi(expanded)
    @t2:howdi(expanded)
  }
}
";
    assert_eq!(explain("@t1:hello world @t2:howdy", &definition), expected);
    assert_eq!(
        explain("@t1:(hello|world|mars)", &definition),
        "@t1:UNION {\n  @t1:hello\n  @t1:world\n  @t1:mars\n}\n"
    );
}

#[test]
fn several_fields_are_joined_with_bars() {
    let definition = definition_of(vec![text("t1"), text("t2"), text("t3")]);
    let expected = "\
@t1|t2:INTERSECT {
  @t1|t2:UNION {
    @t1|t2:text
    @t1|t2:+text(expanded)
  }
  @t1|t2:UNION {
    @t1|t2:value
    @t1|t2:+valu(expanded)
    @t1|t2:valu(expanded)
  }
}
";
    assert_eq!(explain("@t1|t2:(text value)", &definition), expected);
}

#[test]
fn numbers_tags_and_circles_have_their_layout() {
    // Published with the radius in its unit, 0.500000 km, and the tag with its backslash.
    let expected = "\
UNION {
  UNION {
    very
    +veri(expanded)
    veri(expanded)
  }
  INTERSECT {
    @t:UNION {
      @t:hello
      @t:+hello(expanded)
    }
    TAG:@t2 {
      free world
    }
    UNION {
      NUMERIC {1.000000 <= @n <= 2.000000}
      NUMERIC {3.000000 <= @n <= 4.000000}
    }
    GEO g:{1.500000,0.500000 --> 500.000000 m}
    NOT{
      GEO g:{2.500000,1.500000 --> 500.000000 m}
    }
  }
}
";
    let text = "very | @t:hello @t2:{ free\\ world } (@n:[1 2]|@n:[3 4]) (@g:[1.5 0.5 0.5 km] -@g:[2.5 1.5 0.5 km])";
    assert_eq!(explain(text, &mixed()), expected);
    assert_eq!(explain("@n:[-inf  inf]", &mixed()), "NUMERIC {-inf <= @n <= inf}\n");
    assert_eq!(explain("@n:[(1 (2]", &mixed()), "NUMERIC {1.000000 < @n < 2.000000}\n");
    assert_eq!(explain("@n:[500 +inf]", &mixed()), "NUMERIC {500.000000 <= @n <= inf}\n");
}

#[test]
fn negated_words_show_no_stems() {
    let definition = definition_of(vec![text("t")]);
    let expected = "\
INTERSECT {
  NOT{
    hello
  }
  UNION {
    world
    +world(expanded)
  }
}
";
    assert_eq!(explain("-hello world", &definition), expected);
    assert_eq!(explain("-(hello world)", &definition), "NOT{\n  INTERSECT {\n    hello\n    world\n  }\n}\n");
    let expected = "\
INTERSECT {
  UNION {
    hello
    +hello(expanded)
  }
  OPTIONAL{
    NOT{
      world
    }
  }
  OPTIONAL{
    UNION {
      again
      +again(expanded)
    }
  }
}
";
    assert_eq!(explain("hello ~-\"world\" ~again", &definition), expected);
}

#[test]
fn patterns_have_their_layout() {
    let tags = |text: &str| explain(text, &mixed());
    assert_eq!(tags("@t2:{\"a-b-c\"*}"), "TAG:@t2 {\n  PREFIX{a-b-c*}\n}\n");
    assert_eq!(tags("@t2:{*\" with: space\"}"), "TAG:@t2 {\n  SUFFIX{* with: space}\n}\n");
    assert_eq!(tags("@t2:{*\"abc*yxv:\"*}"), "TAG:@t2 {\n  INFIX{*abc*yxv:*}\n}\n");
    assert_eq!(tags("@t2:{w'-@??'}"), "TAG:@t2 {\n  WILDCARD{-@??}\n}\n");
    assert_eq!(tags("@t2:{banana | ba* }"), "TAG:@t2 {\n  banana\n  PREFIX{ba*}\n}\n");
    assert_eq!(tags("@t:(w'abc?')"), "@t:WILDCARD{abc?}\n");
    assert_eq!(tags("*1*"), "INFIX{*1*}\n");
    assert_eq!(tags("%hello%"), "FUZZY{hello}\n");
    let parameters: [(&[u8], &[u8]); 1] = [(b"abc", b"hello")];
    assert_eq!(explain_with("@t2:{$abc*}", &mixed(), &parameters), "TAG:@t2 {\n  PREFIX{hello*}\n}\n");
}

#[test]
fn numbers_among_words_show_no_stems() {
    let definition = definition_of(vec![text("t")]);
    assert_eq!(explain("705", &definition), "705\n");
    assert_eq!(explain("inf", &definition), "inf\n");
    assert_eq!(explain("cherry1", &definition), "UNION {\n  cherry1\n  +cherry1(expanded)\n}\n");
}

#[test]
fn empty_values_are_two_quotes() {
    let definition = definition_of(vec![
        Field { indexes_empty: true, ..text("text") },
        text("other"),
        Field { indexes_empty: true, indexes_missing: true, ..tag("tag", false) },
    ]);
    assert_eq!(explain("@text:\"\"", &definition), "@text:\"\"\n");
    let expected = "\
@text:UNION {
  @text:UNION {
    @text:foo
    @text:+foo(expanded)
  }
  @text:\"\"
}
";
    assert_eq!(explain("@text:(foo | \"\")", &definition), expected);
    let expected = "\
UNION {
  NOT{
    TAG:@tag {
      bar
    }
  }
  INTERSECT {
    TAG:@tag {
      foo
    }
    TAG:@tag {
      \"\"
    }
  }
}
";
    assert_eq!(explain("-@tag:{bar} | @tag:{foo} @tag:{\"\"}", &definition), expected);
    assert_eq!(explain("@tag:{\"\" | bar}", &definition), "TAG:@tag {\n  \"\"\n  bar\n}\n");
}

#[test]
fn everything_nothing_and_missing_have_a_line() {
    assert_eq!(explain("(*)", &definition()), "<WILDCARD>\n");
    assert_eq!(explain("the", &definition()), "<empty>\n");
    assert_eq!(explain("ismissing(@codes)", &definition()), "ISMISSING{codes}\n");
}

/// RediSearch has no such line: FT.EXPLAIN of Bobbin ends with it if the request has SORTBY.
#[test]
fn an_order_by_index_is_said_to_be_one() {
    let sortable = |field: Field| Field { is_sortable: true, ..field };
    let number = |name| field(name, FieldType::Numeric);
    let definition =
        definition_of(vec![tag("t", false), text("x"), number("n"), sortable(number("s")), sortable(text("y"))]);
    let cases = [
        ("*", 3, true),
        ("@t:{a}", 3, true),
        // Only all rows are in the order of a number that is not SORTABLE.
        ("*", 2, true),
        ("@t:{a}", 2, false),
        ("@t:{a|b}", 3, false),
        ("@t:{a*}", 3, false),
        ("-@t:{a}", 3, false),
        ("@t:{a} @n:[1 2]", 3, false),
        ("@x:word", 3, false),
        ("*", 4, false),
    ];
    for (text, by, is_by_index) in cases {
        let query = parse_query(text.as_bytes(), &definition, &options()).unwrap();
        let name = ["t", "x", "n", "s", "y"][by];
        let how = if is_by_index { "by index" } else { "of all matching rows" };
        assert_eq!(query.explain_order(&definition, by), format!("SORTBY {{@{name} {how}}}\n"), "{text}");
    }
}
