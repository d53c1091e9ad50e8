//! COMMAND and its subcommands.

use crate::dice::{self, Dice};
use crate::session::fake::Fake;
use commands::registry;
use wire::client::Value;
use wire::resp::Protocol;

#[test]
fn command_count_matches_the_list() {
    let mut fake = Fake::new();
    let count: usize = fake.call("COMMAND COUNT").parse().unwrap();
    let list = fake.value(Protocol::Resp2, "COMMAND LIST").unwrap();
    let names: Vec<_> =
        list.as_slice().unwrap().iter().map(|name| String::from_utf8_lossy(name.as_bytes().unwrap())).collect();
    assert_eq!(names.iter().filter(|name| !name.contains('|')).count(), count);
    assert!(names.iter().any(|name| name == "client|id"), "subcommands are listed too, as Redis does");
    let all = fake.value(Protocol::Resp2, "COMMAND").unwrap();
    assert_eq!(all.as_slice().unwrap().len(), count);
    assert_eq!(fake.value(Protocol::Resp2, "COMMAND INFO"), Some(all));
    let docs = fake.value(Protocol::Resp3, "COMMAND DOCS").unwrap();
    let Value::Map(docs) = docs else { panic!("a map") };
    assert_eq!(docs.len(), count);
}

#[test]
fn command_info_describes_flags_and_keys() {
    let mut fake = Fake::new();
    let spec = |rest: &str| {
        format!(
            "[[\"flags\", [RW, insert], \"begin_search\", [\"type\", \"index\", \"spec\", [\"index\", 1]], \"find_keys\", \
             [\"type\", \"range\", \"spec\", [\"lastkey\", 0, \"keystep\", 1, \"limit\", 0]]]]{rest}"
        )
    };
    assert_eq!(
        fake.call("COMMAND INFO lpush"),
        format!("[[\"lpush\", -3, [write, denyoom, fast], 1, 1, 1, [@write, @list, @fast], [], {}]]", spec(", []"))
    );
    assert_eq!(
        fake.call3("COMMAND INFO LPUSH"),
        "[[\"lpush\", -3, ~[write, denyoom, fast], 1, 1, 1, ~[@write, @list, @fast], ~[], ~[{\"flags\": ~[RW, insert], \
         \"begin_search\": {\"type\": \"index\", \"spec\": {\"index\": 1}}, \"find_keys\": {\"type\": \"range\", \"spec\": \
         {\"lastkey\": 0, \"keystep\": 1, \"limit\": 0}}}], ~[]]]"
    );
}

#[test]
fn command_info_of_unknown_names_is_null() {
    let mut fake = Fake::new();
    assert_eq!(
        fake.call("COMMAND INFO foo client|foo ping|foo client|id"),
        "[null, null, null, [\"client|id\", 2, [noscript, loading, stale], 0, 0, 0, [@slow, @connection], \
         [], [], []]]"
    );
}

#[test]
fn command_info_of_a_container_contains_its_subcommands() {
    let mut fake = Fake::new();
    let info = fake.value(Protocol::Resp2, "COMMAND INFO config").unwrap();
    let fields = info.as_slice().unwrap()[0].as_slice().unwrap();
    let shown: Vec<String> = fields[..9].iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["\"config\"", "-2", "[]", "0", "0", "0", "[@slow]", "[]", "[]"]);
    let names: Vec<_> =
        fields[9].as_slice().unwrap().iter().map(|sub| sub.as_slice().unwrap()[0].to_string()).collect();
    for name in ["get", "set", "rewrite", "resetstat", "help"] {
        assert!(names.contains(&format!("\"config|{name}\"")), "{name} in {names:?}");
    }
}

#[test]
fn command_docs_describe_arguments_and_subcommands() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("COMMAND DOCS foo"), "[]");
    let lpush = fake.call3("COMMAND DOCS lpush");
    for part in [
        "{\"lpush\": {\"summary\": ",
        "\"since\": \"1.0.0\", \"group\": \"list\"",
        "\"arguments\": [{\"name\": \"key\", \"type\": \"key\", \"key_spec_index\": 0}, {\"name\": \"element\", \"type\": \
         \"string\", \"flags\": ~[multiple]}]",
    ] {
        assert!(lpush.contains(part), "{part} in {lpush}");
    }
    let memory = fake.call3("COMMAND DOCS memory");
    assert!(memory.contains("\"subcommands\": {\"memory|doctor\": {\"summary\": "), "{memory}");
    assert!(fake.call("COMMAND DOCS client|id client|foo").starts_with("[\"client|id\", [\"summary\", "));
}

#[test]
fn command_list_filters_by_module_pattern_and_category() {
    let mut fake = Fake::new();
    assert_eq!(fake.call3("COMMAND LIST FILTERBY MODULE x"), "[]");
    assert_eq!(fake.call3("COMMAND LIST FILTERBY PATTERN xyz"), "[]");
    assert_eq!(fake.call("COMMAND LIST FILTERBY ACLCAT foo"), "[]");
    assert_eq!(
        fake.call3("COMMAND LIST FILTERBY pattern slowlog*"),
        "[\"slowlog\", \"slowlog|get\", \"slowlog|len\", \"slowlog|reset\", \"slowlog|help\"]"
    );
    let transaction = fake.call("COMMAND LIST FILTERBY ACLCAT Transaction");
    assert_eq!(transaction, "[\"discard\", \"exec\", \"multi\", \"unwatch\", \"watch\"]");
    for request in ["COMMAND LIST FILTERBY", "COMMAND LIST FILTERBY FOO x", "COMMAND LIST x"] {
        assert_eq!(fake.call(request), "!ERR syntax error", "{request}");
    }
}

#[test]
fn command_getkeys_finds_the_keys_of_a_request() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("COMMAND GETKEYS LPUSH a b c"), "[\"a\"]");
    assert_eq!(fake.call("COMMAND GETKEYS watch a b"), "[\"a\", \"b\"]");
    assert_eq!(fake.call("COMMAND GETKEYS MEMORY USAGE k"), "[\"k\"]");
    assert_eq!(fake.call("COMMAND GETKEYSANDFLAGS LPUSH a b"), "[[\"a\", [RW, insert]]]");
    assert_eq!(fake.call3("COMMAND GETKEYSANDFLAGS LPUSH a b"), "[[\"a\", ~[RW, insert]]]");
    assert_eq!(fake.call("COMMAND GETKEYS MSET a b c d"), "[\"a\", \"c\"]");
    // Scripts and functions need none.
    for request in ["EVAL script 0", "EVALSHA sha 0", "FCALL f 0", "EVAL script 1"] {
        assert_eq!(fake.call(&format!("COMMAND GETKEYS {request}")), "[]");
    }
    for (request, expected) in [
        ("h 1 k 0 1", "[\"k\"]"),
        ("h 1 '' 0 1", "[\"\"]"),
        ("h 1 '' 0 1 KEYS a KEYS b", "[\"a\", \"KEYS\", \"b\"]"),
        ("h 1 '' 0 1 AUTH KEYS KEYS x", "[\"x\"]"),
        ("h 1 '' 0 1 AUTH2 KEYS KEYS KEYS x", "[\"x\"]"),
        ("h 1 '' 0 1 COPY KEYS", "[\"\"]"),
        ("h 1 k 0 1 KEYS a", "!ERR Invalid arguments specified for command"),
    ] {
        let request = format!("COMMAND GETKEYS MIGRATE {}", request.replace("''", ""));
        assert_eq!(fake.call(&request), expected, "{request}");
    }
    assert_eq!(fake.call("COMMAND GETKEYS LMPOP 2 a b LEFT"), "[\"a\", \"b\"]");
    assert_eq!(fake.call("COMMAND GETKEYSANDFLAGS COPY a b"), "[[\"a\", [RO, access]], [\"b\", [OW, update]]]");
    assert_eq!(fake.call("COMMAND GETKEYSANDFLAGS SET a b GET"), "[[\"a\", [RW, access, update]]]");
    assert_eq!(fake.call("COMMAND GETKEYSANDFLAGS SET a b"), "[[\"a\", [OW, update]]]");
    assert_eq!(fake.call("COMMAND GETKEYS BITFIELD a"), "[\"a\"]");
    let stream = "COMMAND GETKEYSANDFLAGS XREADGROUP GROUP g c STREAMS s >";
    assert_eq!(fake.call(stream), "[[\"s\", [RO, access]]]");
    for request in ["SPUBLISH c m", "SSUBSCRIBE a b", "PING"] {
        let refused = "!ERR The command has no key arguments";
        assert_eq!(fake.call(&format!("COMMAND GETKEYS {request}")), refused, "{request}");
    }
    for request in ["", " GET u8 0", " OVERFLOW SAT", " overflow sat get u8 0"] {
        let flags = fake.call(&format!("COMMAND GETKEYSANDFLAGS BITFIELD a{request}"));
        assert_eq!(flags, "[[\"a\", [RO, access]]]", "{request}");
    }
    for request in [" GET u8 0 SET u8 0 1", " OVERFLOW", " GET u8", " INCRBY u8 0", " foo"] {
        let flags = fake.call(&format!("COMMAND GETKEYSANDFLAGS BITFIELD a{request}"));
        assert_eq!(flags, "[[\"a\", [RW, access, update]]]", "{request}");
    }
    for (request, error) in [
        ("COMMAND GETKEYS LMPOP 9 a b LEFT", "!ERR Invalid arguments specified for command"),
        ("COMMAND GETKEYS LMPOP x a b LEFT", "!ERR Invalid arguments specified for command"),
        ("COMMAND GETKEYS FOO a", "!ERR Invalid command specified"),
        ("COMMAND GETKEYS PING", "!ERR The command has no key arguments"),
        ("COMMAND GETKEYS LPUSH a", "!ERR Invalid number of arguments specified for command"),
    ] {
        assert_eq!(fake.call(request), error, "{request}");
    }
}

/// The returned keys are always arguments, and every reply is well formed.
#[test]
fn command_getkeys_returns_arguments_for_random_requests() {
    let numbers = dice::numbers(30, 400_000);
    let mut dice = Dice::long(&numbers);
    let mut fake = Fake::new();
    for command in registry::commands() {
        let name = command.name.to_ascii_lowercase().replace(' ', "|");
        for about in ["INFO", "DOCS"] {
            fake.value(Protocol::Resp3, &format!("COMMAND {about} {name}")).expect("a reply");
        }
        for _ in 0..60 {
            let mut request = dice.request(command, &Dice::value);
            match dice.below(3) {
                0 => request.truncate(1 + dice.below(request.len())),
                1 => request.insert(1 + dice.below(request.len()), dice.value("numkeys")),
                _ => {}
            }
            for about in ["GETKEYS", "GETKEYSANDFLAGS"] {
                let words = [vec![b"COMMAND".to_vec(), about.into()], request.clone()].concat();
                let Some(Value::Array(keys)) = fake.value_of(Protocol::Resp3, &words) else { continue };
                for key in &keys {
                    let key = if about == "GETKEYS" { key } else { &key.as_slice().unwrap()[0] };
                    let key = key.as_bytes().expect("a key is a string");
                    assert!(request.iter().any(|word| word == key), "{words:?}: {key:?} is no argument");
                }
            }
        }
    }
    assert!(!dice.is_over(), "more numbers are needed");
}
