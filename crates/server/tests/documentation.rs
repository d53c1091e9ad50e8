//! COMMAND DOCS of the real binary, from which client libraries generate methods, compared with redis-server's, except
//! for sentences.

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::process::Command;
use testing::{program_or_skip, skip};
use wire::client::Value;

type Client = Connection<TcpStream>;

/// The table below is of this version of the peer.
const PEER_VERSION: &str = "v=7.0.";

/// Intended differences, with reasons. A line that ends in `*` stands for all that begin so.
const DIFFERENT: &[(&str, &str)] = &[
    ("bitop operation arguments", "a choice of words, as the page of the command has it"),
    ("bitop operation type", "as above"),
    ("client|kill *", "what filters there are, and choices among them, as of 7.4 and later"),
    ("client|list *", "TYPE SLAVE is not offered; ids as an argument of their own"),
    ("client|pause since", "as of 7.4"),
    ("command|getkeys arguments", "7.0 documents none"),
    ("command|getkeysandflags arguments", "7.0 documents none"),
    ("config|get *", "no block around the one argument"),
    ("failover *", "host and port are a block"),
    ("geohash member flags", "members may be left out, as of 7.2"),
    ("geopos member flags", "members may be left out, as of 7.2"),
    ("georadius arguments", "STORE and STOREDIST exclude each other, as of 7.2"),
    ("georadiusbymember arguments", "STORE and STOREDIST exclude each other, as of 7.2"),
    ("geosearch by box arguments", "width and height are a block"),
    ("geosearchstore by box arguments", "width and height are a block"),
    ("hscan arguments", "NOVALUES, of 7.4"),
    ("migrate authentication *", "either may be left out, since both together may"),
    ("migrate key_or_empty_string empty_string token", "the empty word is written as \"\""),
    ("module|loadex args *", "no block around the one argument"),
    ("pfdebug subcommand *", "a choice of words"),
    ("pfmerge sourcekey flags", "sources may be left out, as of 7.2"),
    ("psubscribe *", "no block around the one argument"),
    ("replconf *", "arguments that 7.0 does not document"),
    ("set condition arguments", "IFEQ and its kin"),
    ("xadd arguments", "KEEPREF and its kin"),
    ("xinfo|stream full *", "FULL as a word of its own"),
    ("xread arguments", "no block around keys and ids"),
    ("xreadgroup arguments", "no block around keys and ids; CLAIM"),
    ("xtrim arguments", "no block around the one way to trim; KEEPREF and its kin"),
    ("zrank arguments", "WITHSCORE, of 7.2"),
    ("zrevrank arguments", "WITHSCORE, of 7.2"),
];

/// Facts of a command, each under its name.
type Facts = BTreeMap<String, String>;

fn text(value: &Value) -> String {
    match value {
        Value::Set(all) | Value::Array(all) => {
            let mut words: Vec<String> = all.iter().map(text).collect();
            words.sort();
            words.join(" ")
        }
        value => {
            value.as_bytes().map_or_else(|| value.to_string(), |bytes| String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

fn pairs(value: &Value) -> impl Iterator<Item = (String, &Value)> {
    let Value::Map(pairs) = value else { panic!("{value} is no map") };
    pairs.iter().map(|(name, value)| (text(name), value))
}

/// Adds the documented facts of each command and subcommand, without sentences.
fn add_commands(docs: &Value, facts: &mut BTreeMap<String, (Facts, Vec<Value>)>) {
    for (name, fields) in pairs(docs) {
        let (mut own, mut arguments) = (Facts::new(), Vec::new());
        for (field, value) in pairs(fields) {
            match field.as_str() {
                "summary" | "complexity" | "replaced_by" => {}
                "arguments" => arguments = value.as_slice().unwrap().to_vec(),
                "subcommands" => add_commands(value, facts),
                "history" => {
                    let versions = value.as_slice().unwrap().iter().map(|change| text(&change.as_slice().unwrap()[0]));
                    own.insert(field, versions.collect::<Vec<_>>().join(" "));
                }
                _ => {
                    own.insert(field, text(value));
                }
            }
        }
        facts.insert(name, (own, arguments));
    }
}

fn commands(client: &mut Client) -> BTreeMap<String, (Facts, Vec<Value>)> {
    client.call(&["HELLO", "3"]);
    let mut facts = BTreeMap::new();
    add_commands(&client.call(&["COMMAND", "DOCS"]), &mut facts);
    facts
}

/// Records the differences between arguments; `path` is the path so far, to which the peer's names are appended.
fn compare(ours: &[Value], theirs: &[Value], path: &str, differences: &mut Vec<String>) {
    if ours.len() != theirs.len() {
        return differences.push(format!("{path} arguments: {} here, {} there", ours.len(), theirs.len()));
    }
    for (ours, theirs) in ours.iter().zip(theirs) {
        let [ours, theirs] = [ours, theirs].map(|argument| pairs(argument).collect::<BTreeMap<_, _>>());
        let path = format!("{path} {}", text(theirs["name"]));
        for field in ["name", "type", "token", "flags", "key_spec_index", "since", "deprecated_since"] {
            let [one, other] = [&ours, &theirs].map(|fields| fields.get(field).map(|value| text(value)));
            if one != other {
                differences.push(format!("{path} {field}: {one:?} here, {other:?} there"));
            }
        }
        let parts =
            [&ours, &theirs].map(|fields| fields.get("arguments").and_then(|parts| parts.as_slice()).unwrap_or(&[]));
        compare(parts[0], parts[1], &path, differences);
    }
}

#[test]
fn command_docs_match_those_of_redis() {
    let test = "command_docs_match_those_of_redis";
    let Some(program) = program_or_skip(test, "redis-server") else { return };
    let version = Command::new(&program).arg("--version").output().unwrap();
    if !String::from_utf8_lossy(&version.stdout).contains(PEER_VERSION) {
        return skip(test, &format!("redis-server is not of version {PEER_VERSION}"));
    }
    let (server, redis) = (Server::start(&["--journal", "off"]), Redis::start(&[]));
    let (ours, theirs) = (commands(&mut server.connect()), commands(&mut Client::tcp(redis.port())));
    let mut differences = Vec::new();
    for (name, (facts, arguments)) in &theirs {
        let Some((own_facts, own_arguments)) = ours.get(name) else {
            differences.push(format!("{name} absent"));
            continue;
        };
        for field in facts.keys().chain(own_facts.keys().filter(|field| !facts.contains_key(*field))) {
            let [one, other] = [own_facts, facts].map(|facts| facts.get(field));
            if one != other {
                differences.push(format!("{name} {field}: {one:?} here, {other:?} there"));
            }
        }
        compare(own_arguments, arguments, name, &mut differences);
    }
    let is_meant = |difference: &str, known: &str| match known.strip_suffix('*') {
        Some(begin) => difference.starts_with(begin.trim_end()),
        None => difference.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')),
    };
    let unknown: Vec<&String> =
        differences.iter().filter(|found| !DIFFERENT.iter().any(|(known, _)| is_meant(found, known))).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    let outdated: Vec<&str> = DIFFERENT
        .iter()
        .map(|(known, _)| *known)
        .filter(|known| !differences.iter().any(|found| is_meant(found, known)))
        .collect();
    assert!(outdated.is_empty(), "no longer different: {outdated:?}");
}
