//! Very many scripts, functions, arguments and elements.

use crate::scripts_that_hurt::attack::{Attacked, Client};
use crate::support::request;
use wire::client::Value;

/// The number of requests in a pipeline.
const PIPELINE: usize = 500;
/// More than fit a machine that keeps each on its stack.
const SCRIPTS: usize = 20_000;
const FUNCTIONS: usize = 20_000;
const LONG: usize = 60_000;
const LONG_BYTES: usize = 1_000;

/// The replies to `count` requests, some at a time.
fn replies(client: &mut Client, count: usize, make: impl Fn(usize) -> Vec<u8>, mut see: impl FnMut(usize, Value)) {
    for from in (0..count).step_by(PIPELINE) {
        let to = count.min(from + PIPELINE);
        client.send_bytes(&(from..to).flat_map(&make).collect::<Vec<u8>>());
        (from..to).for_each(|at| see(at, client.reply()));
    }
}

#[test]
fn twenty_thousand_scripts_that_are_loaded_and_called_once() {
    let mut attacked = Attacked::start(&[]);
    let mut client = attacked.server.connect();
    let mut names = Vec::new();
    let load = |at: usize| request(&["SCRIPT", "LOAD", &format!("return {at}")]);
    replies(&mut client, SCRIPTS, load, |_, name| names.push(name.as_bytes().expect("a name").to_vec()));
    let call = |at: usize| request(&[&b"EVALSHA"[..], &names[at], b"0"]);
    for mut client in [client, attacked.server.connect(), attacked.server.connect()] {
        replies(&mut client, SCRIPTS, call, |at, reply| assert_eq!(reply, Value::Int(at as i64)));
    }
    attacked.is_well();
}

#[test]
fn twenty_thousand_scripts_of_one_call_each() {
    let mut attacked = Attacked::start(&[]);
    let mut client = attacked.server.connect();
    let call = |at: usize| request(&["EVAL", &format!("local n = {at} return (function() return n end)()"), "0"]);
    replies(&mut client, SCRIPTS, call, |at, reply| assert_eq!(reply, Value::Int(at as i64)));
    attacked.is_well();
}

#[test]
fn twenty_thousand_functions_that_are_loaded_and_called_once() {
    let mut attacked = Attacked::start(&[]);
    let mut client = attacked.server.connect();
    let load = |at: usize| {
        let code = format!("#!lua name=l{at}\nredis.register_function('f{at}', function() return {at} end)");
        request(&["FUNCTION", "LOAD", &code])
    };
    replies(&mut client, FUNCTIONS, load, |at, reply| assert_eq!(reply, Value::bulk(format!("l{at}"))));
    let call = |at: usize| request(&["FCALL", &format!("f{at}"), "0"]);
    for mut client in [client, attacked.server.connect(), attacked.server.connect()] {
        replies(&mut client, FUNCTIONS, call, |at, reply| assert_eq!(reply, Value::Int(at as i64)));
    }
    attacked.is_well();
}

#[test]
fn twenty_thousand_functions_of_one_library() {
    let mut attacked = Attacked::start(&[]);
    let body: String =
        (0..FUNCTIONS).map(|at| format!("redis.register_function('f{at}', function() return {at} end)\n")).collect();
    let mut client = attacked.server.connect();
    let reply = client.call(&["FUNCTION", "LOAD", &format!("#!lua name=many\n{body}")]);
    // As many as it takes in its time, or none.
    if reply == Value::bulk("many") {
        let call = |at: usize| request(&["FCALL", &format!("f{at}"), "0"]);
        replies(&mut client, FUNCTIONS, call, |at, reply| assert_eq!(reply, Value::Int(at as i64)));
    } else {
        assert!(reply.as_error().is_some(), "{reply}");
    }
    attacked.is_well();
}

/// Long strings, each another one.
fn long(at: usize) -> String {
    format!("{at:0>LONG_BYTES$}")
}

#[test]
fn sixty_thousand_long_arguments() {
    let mut attacked = Attacked::start(&[]);
    let script = "local n = 0 for i = 1, #ARGV do n = n + #ARGV[i] end return {#ARGV, n}";
    let words = ["EVAL", script, "0"].map(str::to_owned).into_iter().chain((0..LONG).map(long));
    let reply = attacked.ask(0, &words.collect::<Vec<_>>());
    assert_eq!(reply, Value::Array(vec![Value::Int(LONG as i64), Value::Int((LONG * LONG_BYTES) as i64)]));
    attacked.is_well();
}

#[test]
fn sixty_thousand_long_members() {
    let mut attacked = Attacked::start(&[]);
    for from in (0..LONG).step_by(1_000) {
        let words = ["SADD", "set"].map(str::to_owned).into_iter().chain((from..from + 1_000).map(long));
        assert_eq!(attacked.ask(0, &words.collect::<Vec<_>>()), Value::Int(1_000));
    }
    for (script, count) in [
        ("return #redis.call('SMEMBERS', KEYS[1])", LONG),
        (
            "redis.setresp(3) local n = 0 for _ in pairs(redis.call('SMEMBERS', KEYS[1]).set) do n = n + 1 end return n",
            LONG,
        ),
        (
            "local n = 0 for _, member in ipairs(redis.call('SMEMBERS', KEYS[1])) do n = n + #member end return n",
            LONG * LONG_BYTES,
        ),
    ] {
        for at in 0..4 {
            assert_eq!(attacked.ask(at, &["EVAL", script, "1", "set"]), Value::Int(count as i64), "{script}");
        }
    }
    let reply = attacked.ask(0, &["EVAL", "return redis.call('SMEMBERS', KEYS[1])", "1", "set"]);
    assert_eq!(reply.as_slice().map(<[Value]>::len), Some(LONG));
    attacked.is_well();
}
