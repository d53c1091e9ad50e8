//! The arguments of a command for COMMAND DOCS, parsed from its syntax line.
//!
//! ```text
//! key value [NX | XX] [EX seconds | PX milliseconds]
//!  |    |       |         `- optional, one of: seconds behind EX, milliseconds behind PX
//!  |    |       `- optional, one of two words
//!  |    `- a string
//!  `- a key
//! ```
//!
//! Upper case is literal, lower case stands for values; `[]` is optional, `<>` required, `|` separates choices, `[x
//! ...]` repeats.

use crate::spec::{CommandSpec, Fact};
use std::iter::Peekable;

/// One argument, or a group of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: String,
    /// Redis's name of its type: `key`, `string`, `integer`, `oneof`, `block`, `pure-token` and so on.
    pub(super) kind: &'static str,
    /// The word before it.
    pub(super) token: Option<String>,
    pub(super) is_optional: bool,
    pub(super) is_multiple: bool,
    /// Whether its token is repeated with each value.
    pub(super) repeats_token: bool,
    /// The version of Redis that introduced it; empty: the command's.
    pub(super) since: &'static str,
    /// The index of the command's key spec that finds it.
    pub(super) key_spec: Option<usize>,
    /// The parts of a `oneof` or a `block`.
    pub(super) parts: Vec<Argument>,
}

/// Returns the arguments of `spec`.
pub(super) fn arguments(command: &CommandSpec) -> Vec<Argument> {
    let mut arguments = sequence_of(command.syntax);
    let mut keys_count = 0;
    mark_keys(&mut arguments, command.keys.len(), &mut keys_count);
    let facts = command.fact(|fact| if let Fact::Arguments(facts) = fact { Some(facts) } else { None });
    for fact in facts.unwrap_or_default() {
        let argument = at(&mut arguments, fact.at).expect("a position that the tests know");
        if !fact.name.is_empty() {
            fact.name.clone_into(&mut argument.name);
        }
        if !fact.kind.is_empty() {
            argument.kind = fact.kind;
        }
        argument.since = fact.since;
        argument.key_spec = fact.key_spec.or(argument.key_spec);
    }
    arguments
}

/// Returns the argument at a path such as `2.1`.
fn at<'a>(arguments: &'a mut [Argument], place: &str) -> Option<&'a mut Argument> {
    let (first, rest) = place.split_once('.').map_or((place, None), |(first, rest)| (first, Some(rest)));
    let argument = arguments.get_mut(first.parse::<usize>().ok()?)?;
    match rest {
        Some(rest) => at(&mut argument.parts, rest),
        None => Some(argument),
    }
}

fn sequence_of(syntax: &str) -> Vec<Argument> {
    let spaced =
        ["[", "]", "<", ">", "|"].iter().fold(syntax.to_owned(), |text, mark| text.replace(mark, &format!(" {mark} ")));
    let mut words = spaced.split_whitespace().peekable();
    choices(&mut words).0.into_iter().flatten().collect()
}

/// Reads choices up to the end of a group. Returns them, and whether the group ends in dots.
fn choices<'a>(words: &mut Peekable<impl Iterator<Item = &'a str>>) -> (Vec<Vec<Argument>>, bool) {
    let mut all = vec![Vec::new()];
    let mut repeats = false;
    while let Some(word) = words.next() {
        let sequence = all.last_mut().expect("there is one from the start");
        match word {
            "]" | ">" => break,
            "|" => all.push(Vec::new()),
            "..." => repeats = true,
            "[" => {
                let (inner, repeats) = choices(words);
                add_optional(sequence, inner, repeats);
            }
            "<" => sequence.extend(group(choices(words).0)),
            word if is_token(word) => sequence.push(behind_token(word, words)),
            word => sequence.push(value(word)),
        }
    }
    (all, repeats)
}

/// `[x ...]` after `x` means that `x` repeats; anything else is an argument of its own.
fn add_optional(sequence: &mut Vec<Argument>, inner: Vec<Vec<Argument>>, repeats: bool) {
    if let [again] = inner.as_slice()
        && repeats
        && !again.is_empty()
        && sequence.len() >= again.len()
    {
        let tail = sequence.len() - again.len();
        if sequence[tail..].iter().zip(again).all(|(argument, again)| argument.name == again.name) {
            let repeated = sequence.split_off(tail);
            let repeats_token = again[0].token.is_some();
            let joined = group(vec![repeated]);
            sequence.extend(joined.map(|argument| Argument { is_multiple: true, repeats_token, ..argument }));
            return;
        }
    }
    sequence.extend(group(inner).map(|argument| match repeats {
        true => Argument { is_optional: true, is_multiple: true, repeats_token: argument.token.is_some(), ..argument },
        false => Argument { is_optional: true, ..argument },
    }));
}

/// Reads a literal word with what follows it: values, a choice, or nothing.
fn behind_token<'a>(token: &str, words: &mut Peekable<impl Iterator<Item = &'a str>>) -> Argument {
    let mut values = Vec::new();
    while let Some(word) = words.next_if(|word| !is_mark(word) && !is_token(word)) {
        values.push(value(word));
    }
    if values.is_empty() && words.next_if_eq(&"<").is_some() {
        values.extend(group(choices(words).0));
    }
    let bare = || Argument { name: token.to_ascii_lowercase(), kind: "pure-token", ..Argument::default() };
    Argument { token: Some(token.to_owned()), ..group(vec![values]).unwrap_or_else(bare) }
}

/// Combines several arguments into one; `None` if there are none.
fn group(choices: Vec<Vec<Argument>>) -> Option<Argument> {
    let mut parts: Vec<Argument> = choices.into_iter().filter_map(|sequence| joined(sequence, "block")).collect();
    if parts.len() == 1 { parts.pop() } else { joined(parts, "oneof") }
}

fn joined(mut parts: Vec<Argument>, kind: &'static str) -> Option<Argument> {
    if parts.len() < 2 {
        return parts.pop();
    }
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    Some(Argument { name: names.join("_"), kind, parts, ..Argument::default() })
}

fn is_mark(word: &str) -> bool {
    matches!(word, "[" | "]" | "<" | ">" | "|" | "...")
}

fn is_token(word: &str) -> bool {
    !word.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn value(name: &str) -> Argument {
    let kind = match name {
        "pattern" => "pattern",
        "latitude" | "longitude" | "radius" | "score" | "timeout" => "double",
        name if name.starts_with("unix-time") => "unix-time",
        "bit" | "bits" | "client-id" | "cluster-bus-port" | "config-epoch" | "count" | "cursor" | "db"
        | "decrement" | "destination-db" | "end" | "end-slot" | "entries-added" | "entries-read" | "frequency"
        | "idle" | "increment" | "index" | "index1" | "index2" | "len" | "limit" | "maxage" | "milliseconds"
        | "min-match-len" | "num-matches" | "numkeys" | "numreplicas" | "offset" | "port" | "protover" | "rank"
        | "seconds" | "slot" | "start" | "start-slot" | "stop" | "ttl" | "version" | "weight" => "integer",
        _ => "string",
    };
    Argument { name: name.to_owned(), kind, ..Argument::default() }
}

fn mark_keys(arguments: &mut [Argument], specs_count: usize, keys_count: &mut usize) {
    for argument in arguments {
        let is_key = matches!(
            argument.name.as_str(),
            "key" | "key1" | "key2" | "newkey" | "source" | "destination" | "destkey" | "sourcekey"
        );
        if is_key && specs_count > 0 && argument.parts.is_empty() {
            argument.kind = "key";
            argument.key_spec = Some((*keys_count).min(specs_count - 1));
            *keys_count += 1;
        }
        mark_keys(&mut argument.parts, specs_count, keys_count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an argument on one line, as in the manual.
    fn line(argument: &Argument) -> String {
        let parts: Vec<String> = argument.parts.iter().map(line).collect();
        let inner = match argument.kind {
            "oneof" => format!("<{}>", parts.join("|")),
            "block" => format!("({})", parts.join(" ")),
            "pure-token" => String::new(),
            _ => argument.name.clone(),
        };
        let token = argument.token.as_ref().map_or_else(String::new, |token| format!("{token} "));
        let (open, close) = if argument.is_optional { ("[", "]") } else { ("", "") };
        let dots = if argument.is_multiple { "*" } else { "" };
        format!("{open}{}{dots}{close}", format!("{token}{inner}").trim_end())
    }

    #[track_caller]
    fn check(syntax: &str, expected: &str) {
        let lines: Vec<String> = sequence_of(syntax).iter().map(line).collect();
        assert_eq!(lines.join(" "), expected);
    }

    #[test]
    fn words_groups_choices_and_repetition() {
        check("", "");
        check("key element [element ...]", "key element*");
        check("key value [key value ...]", "(key value)*");
        check("[key [key ...]]", "[key*]");
        check(
            "key value [NX | XX] [GET] [EX seconds | PX milliseconds]",
            "key value [<NX|XX>] [GET] [<EX seconds|PX milliseconds>]",
        );
        check("key <BEFORE | AFTER> pivot element", "key <BEFORE|AFTER> pivot element");
        check(
            "[protover [AUTH username password] [SETNAME name]]",
            "[(protover [AUTH (username password)] [SETNAME name])]",
        );
        check("[TYPE <A | B>] [ID id [id ...]]", "[TYPE <A|B>] [ID id*]");
        check("[section [section ...]]", "[section*]");
        check("<0 | 1>", "<0|1>");
    }
}
