//! Any number of function libraries: a change looks up few of them, and all workers find the functions of a naive twin,
//! also after aborted transactions.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Client, Load, World};
use std::collections::BTreeMap;

fn library(name: &str, functions: &[(String, u64)]) -> String {
    let register = |(function, answer): &(String, u64)| {
        format!("redis.register_function('{function}', function() return {answer} end)\n")
    };
    format!("#!lua name={name}\n{}", functions.iter().map(register).collect::<String>())
}

fn one(nth: usize, answer: u64) -> String {
    library(&format!("library_{nth}"), &[(format!("function_{nth}"), answer)])
}

fn call(client: &mut Client, words: &[&str]) -> String {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    client.call_bytes(&words)
}

#[cfg(debug_assertions)]
mod counted {
    use super::*;
    use base::cost;

    /// Returns the number of names that each change and each call looks up among `count` libraries.
    fn looks(client: &mut Client, count: usize) -> Vec<(&'static str, u64)> {
        let (new, again) = (one(count, 1), one(count, 2));
        let name = format!("function_{count}");
        let taken = library("other", &[("Function_7".to_owned(), 1)]);
        let requests: &[(&str, &[&str], &str)] = &[
            ("a new one", &["FUNCTION", "LOAD", &new], "$"),
            ("its first call", &["FCALL", &name, "0"], ":1\r\n"),
            ("its second call", &["FCALL", &name, "0"], ":1\r\n"),
            ("one that is there", &["FUNCTION", "LOAD", &new], "-ERR Library"),
            ("a function that is there", &["FUNCTION", "LOAD", &taken], "-ERR Function Function_7 already exists"),
            ("one that gives way", &["FUNCTION", "LOAD", "REPLACE", &again], "$"),
            ("the call of the other", &["FCALL", &name, "0"], ":2\r\n"),
            ("none such", &["FCALL", "nothing", "0"], "-ERR Function not found"),
            ("its end", &["FUNCTION", "DELETE", &format!("library_{count}")], "+OK"),
            ("how many", &["FUNCTION", "STATS"], ""),
        ];
        let look = |(what, words, expected): &(&'static str, &[&str], &str)| {
            cost::take();
            let reply = call(client, words);
            assert!(reply.starts_with(expected), "{what}: {reply}");
            (*what, cost::take().names)
        };
        requests.iter().map(look).collect()
    }

    #[test]
    fn library_lookups_do_not_grow_with_the_number_of_libraries() {
        let world = World::new(&[]);
        let mut client = world.client();
        let mut seen = Vec::new();
        for nth in 0..=5_000 {
            if nth == 500 || nth == 5_000 {
                seen.push(looks(&mut client, nth));
            }
            assert!(call(&mut client, &["FUNCTION", "LOAD", &one(nth, 0)]).starts_with('$'), "{nth}");
        }
        assert_eq!(seen[0], seen[1]);
        assert!(seen[0].iter().all(|(_, names)| *names <= 32), "{seen:?}");
    }
}

#[test]
fn libraries_loaded_by_one_worker_are_found_by_another() {
    let world = World::of_workers(2, &[]);
    let [mut loader, mut caller] = [world.client_of(0), world.client_of(1)];
    for nth in 0..3_000 {
        assert!(call(&mut loader, &["FUNCTION", "LOAD", &one(nth, nth as u64)]).starts_with('$'));
    }
    for nth in [0, 1, 1_500, 2_999] {
        for client in [&mut loader, &mut caller] {
            for name in [format!("function_{nth}"), format!("FUNCTION_{nth}")] {
                assert_eq!(call(client, &["FCALL", &name, "0"]), format!(":{nth}\r\n"));
            }
        }
    }
    assert!(call(&mut caller, &["FUNCTION", "STATS"]).contains(":3000\r\n"));
    assert_eq!(call(&mut caller, &["FUNCTION", "FLUSH"]), "+OK\r\n");
    for client in [&mut loader, &mut caller] {
        assert_eq!(call(client, &["FCALL", "function_1", "0"]), "-ERR Function not found\r\n");
        assert_eq!(call(client, &["FUNCTION", "LIST"]), "*0\r\n");
    }
}

/// A Lua state of `mlua` holds some 8,000 references for its host, and panics at one more.
#[test]
fn ten_thousand_functions_are_called_on_one_worker() {
    let world = World::new(&[]);
    let mut client = world.client();
    for nth in 0..10_000 {
        assert!(call(&mut client, &["FUNCTION", "LOAD", &one(nth, nth as u64)]).starts_with('$'));
        assert_eq!(call(&mut client, &["FCALL", &format!("function_{nth}"), "0"]), format!(":{nth}\r\n"));
    }
    let sources: Vec<String> = (0..10_000).map(|nth| one(nth, nth as u64)).collect();
    let payload = rdb::dump_libraries(sources.iter().map(String::as_bytes));
    for policy in ["REPLACE", "FLUSH"] {
        assert_eq!(client.call_bytes(&[b"FUNCTION", b"RESTORE", &payload, policy.as_bytes()]), "+OK\r\n");
        for nth in (0..10_000).step_by(99) {
            assert_eq!(call(&mut client, &["FCALL", &format!("function_{nth}"), "0"]), format!(":{nth}\r\n"));
        }
    }
}

#[test]
fn library_variables_survive_loads_and_deletions_of_other_libraries() {
    let world = World::new(&[]);
    let mut client = world.client();
    let counter = "#!lua name=counter\nlocal n = 0 redis.register_function('count', function() n = n + 1 return n end)";
    assert!(call(&mut client, &["FUNCTION", "LOAD", counter]).starts_with('$'));
    for nth in 0..2_000 {
        if nth % 100 == 0 {
            assert_eq!(call(&mut client, &["FCALL", "count", "0"]), format!(":{}\r\n", nth / 100 + 1));
        }
        call(&mut client, &["FUNCTION", "LOAD", &one(nth, 0)]);
        if nth % 3 == 0 {
            call(&mut client, &["FUNCTION", "DELETE", &format!("library_{nth}")]);
        }
    }
}

/// Expected state: libraries by name, and functions by name in lower case.
#[derive(Clone, Default)]
struct Twin {
    all: BTreeMap<String, Vec<(String, u64)>>,
}

type Named = (String, Vec<(String, u64)>);

fn error(text: &str) -> String {
    format!("-ERR {text}\r\n")
}

impl Twin {
    fn function(&self, name: &str) -> Option<(&str, u64)> {
        let mut all = self.all.iter().flat_map(|(of, functions)| functions.iter().map(move |known| (of, known)));
        let found = all.find(|(_, (known, _))| known.eq_ignore_ascii_case(name))?;
        Some((found.0, found.1.1))
    }

    fn check(&self, one: &Named, gives_way: impl Fn(&str) -> bool) -> Result<(), String> {
        for (function, _) in &one.1 {
            if self.function(function).is_some_and(|(of, _)| !gives_way(of)) {
                return Err(error(&format!("Function {function} already exists")));
            }
        }
        Ok(())
    }

    fn load(&mut self, one: &Named, replaces: bool) -> String {
        if !replaces && self.all.contains_key(&one.0) {
            return error(&format!("Library '{}' already exists", one.0));
        }
        if let Err(error) = self.check(one, |of| of == one.0) {
            return error;
        }
        self.all.insert(one.0.clone(), one.1.clone());
        format!("${}\r\n{}\r\n", one.0.len(), one.0)
    }

    fn restore(&mut self, some: &[Named], policy: &str) -> String {
        if policy == "FLUSH" {
            self.all.clear();
        }
        if let Some((name, _)) = some.iter().find(|(name, _)| policy == "APPEND" && self.all.contains_key(name)) {
            return error(&format!("Library {name} already exists"));
        }
        let gives_way = |of: &str| some.iter().any(|(name, _)| name == of);
        if let Err(error) = some.iter().try_for_each(|one| self.check(one, gives_way)) {
            return error;
        }
        self.all.extend(some.iter().cloned());
        "+OK\r\n".to_owned()
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    /// Returns some functions with distinct names.
    fn functions(&mut self, taken: &mut Vec<usize>) -> Vec<(String, u64)> {
        let count = 1 + self.below(2);
        let mut functions = Vec::new();
        while functions.len() < count {
            let nth = self.below(12);
            if !taken.contains(&nth) {
                taken.push(nth);
                let letter = if self.below(3) == 0 { 'F' } else { 'f' };
                functions.push((format!("{letter}{nth}"), self.below(1_000_000) as u64));
            }
        }
        functions
    }
}

/// Returns a request, and its reply according to the twin.
fn request(dice: &mut Dice, twin: &mut Twin) -> (Vec<Vec<u8>>, String) {
    let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    match dice.below(20) {
        0..6 => {
            let one = (format!("l{}", dice.below(6)), dice.functions(&mut Vec::new()));
            let replaces = dice.below(3) > 0;
            let source = library(&one.0, &one.1);
            let request = if replaces {
                words(&["FUNCTION", "LOAD", "REPLACE", &source])
            } else {
                words(&["FUNCTION", "LOAD", &source])
            };
            (request, twin.load(&one, replaces))
        }
        6..8 => {
            let name = format!("l{}", dice.below(6));
            let reply =
                if twin.all.remove(&name).is_some() { "+OK\r\n".to_owned() } else { error("Library not found") };
            (words(&["FUNCTION", "DELETE", &name]), reply)
        }
        8 if dice.below(3) == 0 => {
            twin.all.clear();
            (words(&["FUNCTION", "FLUSH"]), "+OK\r\n".to_owned())
        }
        9..11 => {
            let mut taken = Vec::new();
            let mut some = Vec::<Named>::new();
            for _ in 0..dice.below(4) {
                let name = format!("l{}", dice.below(6));
                if !some.iter().any(|(known, _)| *known == name) {
                    some.push((name, dice.functions(&mut taken)));
                }
            }
            let policy = ["APPEND", "REPLACE", "FLUSH"][dice.below(3)];
            let sources: Vec<_> = some.iter().map(|(name, functions)| library(name, functions)).collect();
            let payload = rdb::dump_libraries(sources.iter().map(String::as_bytes));
            let mut request = words(&["FUNCTION", "RESTORE"]);
            request.extend([payload, policy.as_bytes().to_vec()]);
            (request, twin.restore(&some, policy))
        }
        11 => {
            let functions: usize = twin.all.values().map(Vec::len).sum();
            let reply = format!(
                "*4\r\n$14\r\nrunning_script\r\n$-1\r\n$7\r\nengines\r\n*2\r\n$3\r\nLUA\r\n*4\r\n$15\r\nlibraries_count\r\n:{}\r\n$15\r\nfunctions_count\r\n:{functions}\r\n",
                twin.all.len()
            );
            (words(&["FUNCTION", "STATS"]), reply)
        }
        _ => {
            let name = format!("{}{}", ['f', 'F'][dice.below(2)], dice.below(12));
            let reply = twin
                .function(&name)
                .map_or_else(|| error("Function not found"), |(_, answer)| format!(":{answer}\r\n"));
            (words(&["FCALL", &name, "0"]), reply)
        }
    }
}

fn send(client: &mut Client, words: &[Vec<u8>]) -> String {
    client.call_bytes(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Runs a transaction of some requests. If it needs the gate half-way, it is undone and runs again; if its watched key
/// has changed, it does nothing.
fn transact(clients: &mut [Client; 2], dice: &mut Dice, twin: &mut Twin) {
    let worker = dice.below(2);
    let is_in_vain = dice.below(4) == 0;
    if is_in_vain {
        clients[worker].call("WATCH watched");
        clients[1 - worker].call("INCR watched");
    }
    clients[worker].call("MULTI");
    let (mut after, count) = (twin.clone(), 1 + dice.below(4));
    let mut replies = String::new();
    let mut queued = 0;
    for _ in 0..count {
        let (words, reply) = request(dice, &mut after);
        assert_eq!(send(&mut clients[worker], &words), "+QUEUED\r\n");
        replies.push_str(&reply);
        queued += 1;
        if dice.below(3) == 0 {
            let everywhere = ["EVAL", "return #redis.call('KEYS', 'none*')", "0"];
            assert_eq!(call(&mut clients[worker], &everywhere), "+QUEUED\r\n");
            replies.push_str(":0\r\n");
            queued += 1;
        }
    }
    let reply = clients[worker].call("EXEC");
    if is_in_vain {
        assert_eq!(reply, "*-1\r\n");
    } else {
        assert_eq!(reply, format!("*{queued}\r\n{replies}"));
        *twin = after;
    }
}

/// Asserts that FUNCTION LIST WITHCODE returns the libraries of the twin.
fn assert_listed(client: &mut Client, twin: &Twin) {
    let reply = call(client, &["FUNCTION", "LIST", "WITHCODE"]);
    assert!(reply.starts_with(&format!("*{}\r\n", twin.all.len())), "{reply}");
    for (name, functions) in &twin.all {
        let source = library(name, functions);
        assert!(reply.contains(&format!("library_code\r\n${}\r\n{source}\r\n", source.len())), "{name}: {reply}");
    }
}

#[test]
fn two_workers_match_a_naive_twin_after_random_requests() {
    for seed in 1..=6 {
        let world = World::of_workers(2, &[]);
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut twin = Twin::default();
        let mut clients = [world.client_of(0), world.client_of(1)];
        for step in 0..600 {
            if dice.below(4) == 0 {
                transact(&mut clients, &mut dice, &mut twin);
            } else {
                let (words, reply) = request(&mut dice, &mut twin);
                let client = &mut clients[dice.below(2)];
                assert_eq!(send(client, &words), reply, "seed {seed}, step {step}");
            }
            if step % 20 == 0 {
                assert_listed(&mut clients[dice.below(2)], &twin);
            }
        }
        drop(clients);
        let world = world.restarted(&[], Load::AtOnce);
        let mut client = world.client();
        assert_listed(&mut client, &twin);
        for (name, answer) in twin.all.values().flatten() {
            assert_eq!(call(&mut client, &["FCALL", name, "0"]), format!(":{answer}\r\n"), "seed {seed}");
        }
    }
}

#[test]
fn names_that_differ_only_in_case_resolve_to_the_first() {
    let world = World::new(&[]);
    let mut client = world.client();
    let functions = [("F".to_owned(), 1), ("f".to_owned(), 2)];
    assert!(call(&mut client, &["FUNCTION", "LOAD", &library("l", &functions)]).starts_with('$'));
    assert_eq!(call(&mut client, &["FCALL", "f", "0"]), ":1\r\n", "the first");
    assert!(call(&mut client, &["FUNCTION", "LOAD", &library("m", &functions)]).starts_with("-ERR Function F already"));
    assert_eq!(call(&mut client, &["FUNCTION", "DELETE", "l"]), "+OK\r\n");
    assert!(call(&mut client, &["FUNCTION", "LOAD", &library("m", &functions)]).starts_with('$'));
}
