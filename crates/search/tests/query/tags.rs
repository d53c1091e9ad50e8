//! Tags.

use super::*;
use Query::Any;

fn pattern(term: Term) -> Query {
    Query::Tag { field: TAGS, term }
}

#[test]
fn tags_are_a_union_with_their_inner_spaces() {
    let cities = ["new york", "los angeles", "barcelona"];
    let expected = Any(cities.map(|city| tagged(TAGS, city)).to_vec());
    assert_eq!(query("@tags:{ New York | Los Angeles | Barcelona }"), expected);
    assert_eq!(query("@tags:{hello world  |foo| שלום|  lorem\\ ipsum    }"), {
        Any(["hello world", "foo", "שלום", "lorem ipsum"].map(|tag| tagged(TAGS, tag)).to_vec())
    });
}

#[test]
fn tags_keep_stop_words() {
    assert_eq!(query("@tags:{to be or not to be}"), tagged(TAGS, "to be or not to be"));
    assert_eq!(query("@tags:{a}"), tagged(TAGS, "a"));
}

#[test]
fn tags_of_case_sensitive_fields_keep_their_case() {
    assert_eq!(query("@tags:{FOO}"), tagged(TAGS, "foo"));
    assert_eq!(query("@codes:{FOO}"), tagged(CODES, "FOO"));
}

#[test]
fn backslash_takes_the_meaning_of_punctuation() {
    assert_eq!(query(r"@tags:{ Andrew\'s Top 5 }"), tagged(TAGS, "andrew's top 5"));
    assert_eq!(query(r"@tags:{ 5\-Star Rating }"), tagged(TAGS, "5-star rating"));
    assert_eq!(query(r"@tags:{\*literal}"), tagged(TAGS, "*literal"));
    assert_eq!(query(r"@tags:{a\|b\}\{\$c}"), tagged(TAGS, "a|b}{$c"));
    assert_eq!(query(r"@tags:{\ foo\ }"), tagged(TAGS, " foo "));
    assert_eq!(query(r"@tags:{foo\,bar}"), tagged(TAGS, "foo,bar"));
}

#[test]
fn documented_tags_need_no_backslash() {
    assert_eq!(query("@tags:{color:blue}"), tagged(TAGS, "color:blue"));
    assert_eq!(query("@tags:{3d3586fe-0416-4572-8ce1}"), tagged(TAGS, "3d3586fe-0416-4572-8ce1"));
    assert_eq!(query("@tags:{-99999}"), tagged(TAGS, "-99999"));
    assert_eq!(query("@tags:{Electronics,Gaming}"), tagged(TAGS, "electronics,gaming"));
}

#[test]
fn quoted_tags_are_taken_as_they_stand() {
    for (text, tag) in [
        ("@tags:{\"test@redis.com\"}", "test@redis.com"),
        ("@tags:{\"abc:1|xyz:2\"}", "abc:1|xyz:2"),
        ("@tags:{\"$literal\"}", "$literal"),
        ("@tags:{\"_@12\\345\"}", "_@12\\345"),
        ("@tags:{\"tag with {brackets}\"}", "tag with {brackets}"),
        ("@tags:{\"w\\'?*1\\'\"}", "w'?*1'"),
        ("@tags:{  \"with: space \"  }", "with: space "),
        ("@tags:{\"a-b-c*\"}", "a-b-c*"),
        ("@tags:{\"say \\\"hi\\\"\"}", "say \"hi\""),
        ("@tags:{'hello'}", "hello"),
    ] {
        assert_eq!(query(text), tagged(TAGS, tag), "{text}");
    }
    let expected = Any(vec![tagged(TAGS, "abc:1-xyz:2"), tagged(TAGS, "joe@mail.com")]);
    assert_eq!(query("@tags:{\"abc:1-xyz:2\" | \"joe@mail.com\"}"), expected);
}

#[test]
fn stars_make_patterns_of_tags() {
    assert_eq!(query("@tags:{ tech* }"), pattern(Term::Prefix("tech".into())));
    assert_eq!(query(r"@tags:{ hello\ w* }"), pattern(Term::Prefix("hello w".into())));
    assert_eq!(query(r"@tags:{foo\-*}"), pattern(Term::Prefix("foo-".into())));
    assert_eq!(query("@tags:{*ple}"), pattern(Term::Suffix("ple".into())));
    assert_eq!(query("@tags:{x y | *pl* }"), Any(vec![tagged(TAGS, "x y"), pattern(Term::Contains("pl".into()))]));
    assert_eq!(query("@tags:{\"abc*yxv\"*}"), pattern(Term::Prefix("abc*yxv".into())));
    assert_eq!(query("@tags:{*\" with: space\"}"), pattern(Term::Suffix(" with: space".into())));
    assert_eq!(query("@tags:{*\"@mail.\"*}"), pattern(Term::Contains("@mail.".into())));
}

#[test]
fn wildcards_in_tags_ignore_spaces_around() {
    for text in ["@tags:{w'?*1'}", "@tags:{  w'?*1'}", "@tags:{     w'?*1'  }"] {
        assert_eq!(query(text), pattern(Term::Wildcard("?*1".into())), "{text}");
    }
    assert_eq!(query(r"@tags:{w'a\'bc'}"), pattern(Term::Wildcard("a'bc".into())));
    let hello: [(&[u8], &[u8]); 1] = [(b"param", b"hello world")];
    assert_eq!(query_with("@tags:{w'$param'}", &hello), pattern(Term::Wildcard("hello world".into())));
}

#[test]
fn parameters_stand_for_tags() {
    let parameters: [(&[u8], &[u8]); 2] = [(b"t", b"a-b"), (b"e", br"a\-b")];
    assert_eq!(query_with("@tags:{$t}", &parameters), tagged(TAGS, "a-b"));
    assert_eq!(query_with("@tags:{$e}", &parameters), tagged(TAGS, "a-b"));
    assert_eq!(query_with("@tags:{ $t | $e* }", &parameters), {
        Any(vec![tagged(TAGS, "a-b"), pattern(Term::Prefix("a-b".into()))])
    });
    assert_eq!(query_with(r"@tags:{*\$t*}", &parameters), pattern(Term::Contains("$t".into())));
}

#[test]
fn empty_tags_need_indexempty() {
    for text in ["@codes:{\"\"}", "@codes:{''}"] {
        assert_eq!(query(text), tagged(CODES, ""));
    }
    for text in ["@tags:{\"\"}", "@tags:{''}"] {
        assert_eq!(parse(text), Err(QueryError::EmptyNotIndexed));
    }
    assert_eq!(query("@codes:{\"\"*}"), Query::Nothing);
}

#[test]
fn published_invalid_tags_are_refused() {
    for text in [
        r"@tags:{w\'?*1'}",
        r"@tags:{abc:1\}",
        "@tags:{w'1?'*}",
        "@tags:{w'1?'   *}",
        "@tags:{*w'1?'}",
        "@tags:{}",
        "@tags:{ | a}",
        "@tags:{*}",
        "@tags:{a$b}",
        "@tags:{a {b}",
        "@tags:{\"a\" b}",
        "@tags:{foo",
        "@tags:{hello *}",
    ] {
        assert!(matches!(parse(text), Err(QueryError::Syntax { .. })), "{text}: {:?}", parse(text));
    }
}
