//! FT.CONFIG. Its replies have the forms of RediSearch's tests/pytests/test_resp3.py and test_config.py.

use super::fake::Fake;

#[test]
fn settings_of_searches_are_read_by_name() {
    let mut fake = Fake::new();
    // That of the server's setting, which the fake says is 1.
    assert_eq!(fake.call("FT.CONFIG GET TIMEOUT"), "[[\"TIMEOUT\", \"1\"]]");
    assert_eq!(fake.call("FT.CONFIG GET maxsearchresults"), "[[\"MAXSEARCHRESULTS\", \"1000000\"]]");
    assert_eq!(fake.call3("FT.CONFIG GET MAXAGGREGATERESULTS"), "{\"MAXAGGREGATERESULTS\": \"unlimited\"}");
    assert_eq!(fake.call("FT.CONFIG GET idx"), "[]");
    let all = fake.call("FT.CONFIG GET *");
    for name in ["DEFAULT_DIALECT", "MINPREFIX", "ON_TIMEOUT", "CURSOR_MAX_IDLE"] {
        assert!(all.contains(&format!("[\"{name}\", ")), "{name}: {all}");
    }
    assert_eq!(fake.call("FT.CONFIG HELP idx"), "[]");
    assert!(fake.call("FT.CONFIG HELP TIMEOUT").starts_with("[[\"TIMEOUT\", \"Description\", \""));
    assert!(fake.call3("FT.CONFIG HELP TIMEOUT").starts_with("{\"TIMEOUT\": {\"Description\": \""));
}

#[test]
fn settings_of_searches_keep_their_values_but_for_the_timeout() {
    let mut fake = Fake::new();
    for (request, reply) in [
        ("FT.CONFIG SET DEFAULT_DIALECT 2", "OK"),
        ("FT.CONFIG SET DEFAULT_DIALECT 3", "!Not modifiable at runtime"),
        ("FT.CONFIG SET timeout 501", "OK"),
        ("FT.CONFIG SET NOSUCH 1", "!Invalid option"),
    ] {
        assert_eq!(fake.call(request), reply, "{request}");
    }
    assert_eq!(fake.asked, ["set search-timeout 501"]);
}
