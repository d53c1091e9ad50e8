//! Bounds on the commands that scripts call, and on their memory, with small bounds in place of the real ones.

use lua::{About, Answer, Ask, Code, Input, Machine};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use wire::OwnedRequest;
use wire::client::Value;

/// The result of a script, with the arguments of the commands that it called.
fn run(source: &str) -> (Result<Value, String>, Vec<usize>) {
    run_on(&mut machine(), source)
}

fn machine() -> Machine {
    let about = About {
        version: "7.4.0",
        version_number: 0x0007_0400,
        seed: 1,
        argument_bytes_max: 100,
        request_bytes_max: 250,
    };
    Machine::new(about)
}

fn run_on(machine: &mut Machine, source: &str) -> (Result<Value, String>, Vec<usize>) {
    run_with(machine, source, &[], &Value::Simple("OK".to_owned()))
}

/// Runs a script with these keys; all its commands get this reply.
fn run_with(
    machine: &mut Machine,
    source: &str,
    keys: &[String],
    reply: &Value,
) -> (Result<Value, String>, Vec<usize>) {
    // A name identifies one source: a machine caches compiled scripts by name.
    let name = format!("{:040x}", BuildHasherDefault::<DefaultHasher>::default().hash_one(source));
    let code = Code::Script { name: name.into(), source: Arc::from(source.as_bytes()) };
    let task = machine.task(code, OwnedRequest::of(keys).args(), keys.len());
    let (mut input, mut called) = (task, Vec::new());
    loop {
        input = match machine.go(input) {
            Ask::Call { request, .. } => {
                called.push(request.args().bytes_total());
                Input::Reply(reply.clone())
            }
            Ask::Over(Ok(Answer::Reply(value, _))) => return (Ok(value), called),
            Ask::Over(Ok(_)) => panic!("a script replies"),
            Ask::Over(Err(fault)) => return (Err(fault.reply_text("0")), called),
            Ask::Tick => Input::Go,
            Ask::Check(_) | Ask::Log { .. } => panic!("it calls commands alone"),
        };
    }
}

#[test]
fn an_argument_longer_than_the_maximum_is_rejected() {
    let (reply, called) = run("return redis.call('SET', 'k', string.rep('x', 100))");
    assert_eq!((reply, called), (Ok(Value::Simple("OK".to_owned())), vec![104]));
    let (reply, called) = run("return redis.call('SET', 'k', string.rep('x', 101))");
    let text = reply.unwrap_err();
    assert!(text.starts_with("ERR string exceeds maximum allowed size (proto-max-bulk-len)"), "{text}");
    assert!(called.is_empty());
    let (reply, called) = run("return redis.pcall('SET', 'k', string.rep('x', 101))['err']");
    assert_eq!(reply, Ok(Value::bulk("ERR string exceeds maximum allowed size (proto-max-bulk-len)")));
    assert!(called.is_empty());
}

/// Short plain replies and keys take a fast path.
#[test]
fn replies_and_keys_reach_scripts_unchanged_at_any_size() {
    let numbers = |count| Value::Array((0..count).map(Value::Int).collect());
    let text = |bytes| Value::Bulk(vec![0xfe; bytes]);
    let nested = Value::Array(vec![text(3), numbers(2), Value::Simple("fine".to_owned())]);
    let with_null = Value::Array(vec![Value::Null, text(1), Value::Null, Value::Int(-1)]);
    let mut machine = machine();
    for reply in [
        Value::Simple("fine".to_owned()),
        Value::Int(-7),
        Value::Null,
        text(0),
        text(64 << 10),
        text((64 << 10) + 1),
        numbers(0),
        numbers(64),
        numbers(65),
        nested,
        with_null,
    ] {
        for call in ["call", "pcall"] {
            let source = format!("return redis.{call}('NAME', 1)");
            assert_eq!(run_with(&mut machine, &source, &[], &reply), (Ok(reply.clone()), vec![5]));
        }
    }
    let failing = Value::Error("ERR it fails".to_owned());
    for source in ["return redis.call('NAME')", "return redis.pcall('NAME')"] {
        let (result, _) = run_with(&mut machine, source, &[], &failing);
        let text = result.map_or_else(|text| text, |value| value.to_string());
        assert!(text.contains("ERR it fails"), "{text}");
    }
    for count in [0, 1, 64, 65, 2_000] {
        let keys: Vec<String> = (0..count).map(|number| format!("key:{number}")).collect();
        let expected = Value::Array(keys.iter().map(Value::bulk).collect());
        assert_eq!(run_with(&mut machine, "return KEYS", &keys, &failing).0, Ok(expected));
    }
}

#[test]
fn arguments_longer_together_than_a_request_are_rejected() {
    let long = "string.rep('x', 80)";
    let (reply, called) = run(&format!("return redis.call('DEL', {long}, {long}, {long})"));
    assert_eq!((reply, called), (Ok(Value::Simple("OK".to_owned())), vec![243]));
    let (reply, called) = run(&format!("return redis.call('DEL', {long}, {long}, {long}, {long})"));
    let text = reply.unwrap_err();
    let refusal = "ERR the arguments of a command called from a script exceed the maximum total length";
    assert!(text.starts_with(refusal), "{text}");
    assert!(called.is_empty());
}

#[test]
fn a_script_out_of_memory_fails_and_the_next_runs() {
    let mut machine = machine();
    machine.set_room(Some(20 << 20));
    for _ in 0..3 {
        let (reply, _) =
            run_on(&mut machine, "local t = {} for i = 1, 1000 do t[i] = string.rep('x', 1000000) .. i end");
        let text = reply.unwrap_err();
        assert!(text.contains("not enough memory"), "{text}");
        let (reply, _) = run_on(&mut machine, "return #string.rep('x', 1000000)");
        assert_eq!(reply, Ok(Value::Int(1_000_000)));
    }
    machine.set_room(None);
    let (reply, _) = run_on(&mut machine, "return #string.rep('x', 20000000)");
    assert_eq!(reply, Ok(Value::Int(20_000_000)));
}

#[test]
fn struct_unpack_accepts_the_maximum_offset() {
    let (reply, _) = run("return tostring((struct.unpack('', 'x', 9223372036854775807)))");
    assert_eq!(reply, Ok(Value::bulk("-9.2233720368548e+18")));
}

/// Each argument of a native function takes a handle; there is room for the handles when memory is exhausted.
#[test]
fn the_machine_survives_many_arguments_at_exhausted_memory() {
    let mut machine = machine();
    machine.set_memory_max(Some(32 << 20));
    for spacer in [0, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000] {
        for (call, count) in [
            ("redis.call", 7_999),
            ("redis.call", 60_000),
            ("cjson.new().encode", 60_000),
            ("math.random", 60_000),
            ("cmsgpack.pack", 60_000),
        ] {
            let source = format!(
                "local t = {{}} for i = 1, {count} do t[i] = 'x' end
                 local spacer, fill = {{string.rep('y', {spacer})}}, {{}}
                 local function f() while true do fill[#fill + 1] = string.rep('x', 1000) .. #fill end end
                 local function f2() local s = {{}} while true do s = {{s}} fill[1] = s end end
                 local function g(...)
                     pcall(f) pcall(f2)
                     spacer[1] = nil
                     collectgarbage()
                     return {call}(...)
                 end
                 return g(unpack(t))"
            );
            drop(run_on(&mut machine, &source));
            assert_eq!(run_on(&mut machine, "return 1").0, Ok(Value::Int(1)), "{call} {spacer} {count}");
        }
    }
}

#[test]
fn a_reply_of_over_a_million_items_is_read() {
    let mut machine = machine();
    let source: Arc<[u8]> = Arc::from(&b"return #redis.call('LRANGE')"[..]);
    let none: [&[u8]; 0] = [];
    let code = Code::Script { name: "1".repeat(40).into(), source };
    let mut input = machine.task(code, OwnedRequest::of(&none).args(), 0);
    let count = 1_200_000;
    loop {
        input = match machine.go(input) {
            Ask::Call { .. } => Input::Reply(Value::Array(vec![Value::bulk("x"); count])),
            Ask::Tick => Input::Go,
            Ask::Over(Ok(Answer::Reply(value, _))) => {
                assert_eq!(value, Value::Int(count as i64));
                return;
            }
            _ => panic!("it calls and replies"),
        };
    }
}

/// Each constant string is twice as long as the one before.
#[test]
fn the_compiler_does_not_fold_string_concatenations() {
    let mut machine = machine();
    machine.set_memory_max(Some(32 << 20));
    for first_line in ["", "--!optimize 2\n", "--!optimize 1\n"] {
        let doubled: String = (1..60).map(|at| format!("local a{at} = a{} .. a{}\n", at - 1, at - 1)).collect();
        let (reply, _) = run_on(&mut machine, &format!("{first_line}local a0 = 'xxxxxxxx'\n{doubled}return #a59"));
        let text = reply.unwrap_err();
        assert!(text.contains("not enough memory") || text.contains("too large"), "{text}");
    }
}

#[test]
fn arguments_and_compiled_code_of_earlier_scripts_are_freed() {
    let mut machine = machine();
    machine.set_memory_max(Some(32 << 20));
    for at in 0..40 {
        let source = format!("local t = {{{at}{}}} return #ARGV[1] + #t * 0", ", function() end".repeat(5000));
        let code = Code::Script { name: format!("{at:040}").into(), source: Arc::from(source.as_bytes()) };
        let task = machine.task(code, OwnedRequest::of(&["x".repeat(6_000_000)]).args(), 0);
        let mut input = task;
        loop {
            input = match machine.go(input) {
                Ask::Tick => Input::Go,
                Ask::Over(Ok(Answer::Reply(value, _))) => break assert_eq!(value, Value::Int(6_000_000), "{at}"),
                Ask::Over(outcome) => panic!("{at}: {:?}", outcome.err()),
                _ => panic!("it replies"),
            };
        }
        assert_eq!(run_on(&mut machine, "return #string.rep('x', 8000000)").0, Ok(Value::Int(8_000_000)), "{at}");
    }
}

#[test]
fn gsub_replacements_and_arg_follow_lua_5_1() {
    let known = [
        ("return (('a-b'):gsub('-', '%-'))", "a-b"),
        ("return (('a-b'):gsub('%-', '%%%-'))", "a%-b"),
        ("return (('abc'):gsub('b', '%x'))", "axc"),
        ("return (('abc'):gsub('(b)', '<%1%%%0>'))", "a<b%b>c"),
        ("return ((function(...) return 'n='..arg.n end)(1, 2))", "n=2"),
    ];
    for (source, text) in known {
        assert_eq!(run(source).0, Ok(Value::bulk(text)), "{source}");
    }
}

/// The texts are those of Redis 7.0's scripts.
#[test]
fn string_format_follows_lua_5_1() {
    let known = [
        ("return string.format('%d', 5)", "5"),
        ("return string.format('%5.1f|%s|%q|%x|%%', 5.25, 'x', 'y', 255)", "  5.2|x|\"y\"|ff|%"),
        ("return string.format('%s', 1.5)", "1.5"),
        ("return string.format('%s', 10000000000000000)", "1e+16"),
        ("return string.format('%05d', 42)", "00042"),
        ("return string.format('%-4s|%3s|%.2s', 'a', 'b', 'cde')", "a   |  b|cd"),
        ("return string.format('%c%c', 72, 105)", "Hi"),
        ("return string.format('%g %e', 0.1, 12345.678)", "0.1 1.234568e+04"),
        ("return string.format('%i %u %o %X', 7, 8, 9, 250)", "7 8 11 FA"),
        ("return (('%d-%d'):format(1, 2))", "1-2"),
    ];
    for (source, text) in known {
        assert_eq!(run(source).0, Ok(Value::bulk(text)), "{source}");
    }
}

#[test]
fn the_prelude_defines_its_limits_before_their_use() {
    let mut defined = std::collections::BTreeSet::new();
    for line in include_str!("../src/prelude.lua").lines() {
        let code = line.split("--").next().unwrap_or_default();
        if let Some(rest) = code.trim_start().strip_prefix("local ") {
            let names = rest.split('=').next().unwrap_or_default();
            defined.extend(names.split(',').map(|name| name.trim().to_owned()));
        }
        let words = code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        for word in words.filter(|word| word.ends_with("_MAX")) {
            assert!(defined.contains(word), "{word} is used above its definition: {line}");
        }
    }
    assert!(defined.contains("TEXT_BYTES_MAX"));
}

#[test]
fn long_quoted_values_in_errors_are_truncated() {
    let (reply, _) = run("local _, text = pcall(collectgarbage, string.rep('x', 1000000)) return #text");
    assert!(matches!(reply, Ok(Value::Int(..=1024))), "{reply:?}");
}
