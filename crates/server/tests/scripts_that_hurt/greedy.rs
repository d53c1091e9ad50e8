//! Scripts that take memory: they fail out of memory, the server stays small, and the next script runs.

use crate::scripts_that_hurt::attack::{Attacked, Way, ends};
use wire::client::Value;

/// Garbage of two megabytes, in two strings that are made at once.
const GARBAGE: &str = "return #(string.rep(string.rep('x', 1000), 1000) .. ARGV[1] .. 'x')";
/// Six gigabytes of garbage, so that a missing collection shows.
const ROUNDS: usize = 3_000;
/// A bound far above the memory of two workers that collect their garbage.
const COLLECTED_BYTES_MAX: u64 = 1_000_000_000;

/// Returns the error of a script that must fail.
fn failure(script: &str) -> String {
    let mut attacked = Attacked::start(&["--script-memory-max", "32mb"]);
    attacked.attack(Way::Script, script);
    let reply = attacked.outcome_of_its_own();
    attacked.is_well();
    reply.as_error().unwrap_or_else(|| panic!("{script}: {reply}")).to_owned()
}

/// A test for each script that takes all there is.
macro_rules! out_of_memory {
    ($($name:ident = $script:expr;)*) => {$(
        #[test]
        fn $name() {
            let error = failure($script);
            assert!(error.starts_with("ERR ") && error.contains("memory"), "{error}");
        }
    )*};
}

out_of_memory! {
    a_string_doubled_for_ever = "local s = 'x' while true do s = s .. s end";
    a_table_that_grows_for_ever = "local t = {} while true do t[#t + 1] = {} end";
    a_table_of_strings_that_grows_for_ever =
        "local t = {} while true do t[#t + 1] = string.rep('x', 1000000) .. #t end";
    a_map_that_grows_for_ever = "local t, i = {}, 0 while true do i = i + 1 t['key' .. i] = i end";
    a_hundred_million_items = "local t = {} for i = 1, 100000000 do t[i] = i end return #t";
    coroutines_that_all_live = "
        local t = {}
        while true do
            local thread = coroutine.create(function() coroutine.yield() end)
            coroutine.resume(thread)
            t[#t + 1] = thread
        end";
    closures_that_all_live = "
        local t = {}
        while true do
            local a, b = {}, {}
            t[#t + 1] = function() return a, b end
        end";
    replies_that_all_live = "
        redis.call('SET', 'long', string.rep('x', 1000000))
        local t = {} while true do t[#t + 1] = redis.call('GET', 'long') .. #t end";
    a_reply_of_values_that_are_long = "
        redis.call('SET', 'long', string.rep('x', 1000000))
        local t = {} for i = 1, 7000 do t[i] = 'long' end
        return #redis.call('MGET', unpack(t))";
    a_request_of_arguments_that_are_long = "
        local t, s = {}, string.rep('x', 1000000) for i = 1, 7000 do t[i] = s end
        return redis.call('DEL', unpack(t))";
    errors_that_all_live = "local t = {} while true do t[#t + 1] = redis.pcall('nosuch' .. #t) end";
    sources_that_all_live = "
        local t = {} while true do t[#t + 1] = loadstring('return \"' .. string.rep('x', 100000) .. #t .. '\"') end";
    a_replacement_that_multiplies = "
        local s = string.rep('a', 100000)
        return #string.gsub(s, 'a', s)";
    a_join_that_multiplies = "
        local s, t = string.rep('a', 1000000), {}
        for i = 1, 10000 do t[i] = s end
        return #table.concat(t)";
}

#[test]
fn a_string_of_two_gigabytes() {
    let error = failure("return #string.rep('x', 2147483647)");
    assert!(error.contains("memory") || error.contains("too large"), "{error}");
}

/// Not more than the limit at any moment, though each try takes it all.
#[test]
fn memory_taken_and_caught_for_ever() {
    crate::scripts_that_hurt::attack::is_killed(
        Way::Script,
        "while true do pcall(function() local t = {} while true do t[#t + 1] = string.rep('x', 1000000) .. #t end end) end",
    );
}

/// Memory that an error handler takes is freed when the script ends.
#[test]
fn memory_that_a_handler_takes() {
    ends(
        "xpcall(function() local t = {} while true do t[#t + 1] = {} end end, \
         function() local t = {} while true do t[#t + 1] = {} end end)",
    );
}

/// A test for each long input, or one that claims to be long, of a decoder.
macro_rules! read {
    ($($name:ident = $script:expr;)*) => {$(
        #[test]
        fn $name() {
            ends($script);
        }
    )*};
}

read! {
    json_that_opens_ten_million_arrays = "return cjson.decode(string.rep('[', 10000000))";
    json_that_opens_ten_million_objects = "return cjson.decode(string.rep('{\"a\":', 2000000))";
    json_of_ten_million_items = "return #cjson.decode('[' .. string.rep('0,', 10000000) .. '0]')";
    json_of_a_million_objects = "return #cjson.decode('[' .. string.rep('{},', 1000000) .. '{}]')";
    json_of_a_long_number = "return cjson.decode('[' .. string.rep('1', 10000000) .. ']')";
    json_of_a_long_string = "return #cjson.decode('[\"' .. string.rep('\\\\u0000', 5000000) .. '\"]')[1]";
    json_read_deep = "
        pcall(cjson.decode_max_depth, 2147483647)
        return cjson.decode(string.rep('[', 1000000) .. string.rep(']', 1000000))";
    json_written_deep = "
        pcall(cjson.encode_max_depth, 2147483647)
        local t = {} for i = 1, 1000000 do t = {t} end
        return #cjson.encode(t)";
    json_written_of_itself = "
        pcall(cjson.encode_max_depth, 2147483647)
        local t = {} t[1] = t
        return #cjson.encode(t)";
    message_packs_that_open_arrays = "return cmsgpack.unpack(string.rep('\\145', 10000000))";
    message_packs_that_open_maps = "return cmsgpack.unpack(string.rep('\\129', 10000000))";
    message_packs_that_say_they_are_long = "
        for _, head in ipairs({'\\219', '\\198', '\\221', '\\223', '\\201'}) do
            pcall(cmsgpack.unpack, head .. '\\255\\255\\255\\255')
            pcall(cmsgpack.unpack, head .. '\\127\\255\\255\\255' .. string.rep('\\0', 1000000))
        end
        return 1";
    message_packs_of_ten_million_items = "return select('#', cmsgpack.unpack(string.rep('\\1', 10000000)))";
    a_message_pack_of_itself = "local t = {} t[1] = t t[2] = t t[3] = t return #cmsgpack.pack(t)";
    a_message_pack_written_deep = "local t = {} for i = 1, 1000000 do t = {t} end return #cmsgpack.pack(t)";
    structures_that_say_they_are_large = "
        for _, n in ipairs({'2147483647', '2147483648', '4294967295', '9223372036854775807', '99999999999999999999'}) do
            for _, option in ipairs({'c', 'i', 'I', '!', 'x', 'h', 's'}) do
                pcall(struct.pack, option .. n, 'x') pcall(struct.pack, option .. n, 1)
                pcall(struct.unpack, option .. n, 'x') pcall(struct.size, option .. n)
            end
        end
        return 1";
    structures_of_ten_million_parts = "return struct.size(string.rep('i', 10000000))";
    structures_of_a_million_values = "return struct.unpack(string.rep('b', 1000000), string.rep('x', 1000000))";
    structures_of_padding = "return #struct.pack(string.rep('x', 10000000))";
    a_structure_read_from_before_its_text = "return struct.unpack('i', 'abcdefgh', -2147483648)";
    a_log_line_of_ten_million_bytes = "return redis.log(redis.LOG_WARNING, string.rep('x', 10000000))";
    an_error_of_a_hundred_million_bytes = "return #redis.error_reply(string.rep('x', 100000000)).err";
    an_error_that_is_long = "return redis.error_reply(string.rep('x', 900000))";
    an_error_raised_that_is_long = "error(string.rep('x', 900000))";
    an_error_raised_of_ten_million_bytes = "return #select(2, pcall(error, string.rep('x', 10000000)))";
    a_status_that_is_long = "return redis.status_reply(string.rep('x\\n', 400000))";
    a_hash_of_a_hundred_million_bytes = "return redis.sha1hex(string.rep('x', 100000000))";
    a_number_of_ten_million_digits = "return tonumber(string.rep('9', 10000000))";
}

/// The setting is known, and holds for scripts from then on, in both directions.
#[test]
fn the_memory_of_scripts_is_a_setting() {
    let mut attacked = Attacked::start(&[]);
    let reply = attacked.ask(0, &["CONFIG", "GET", "script-memory-max"]);
    assert_eq!(reply, Value::Array(vec![Value::bulk("script-memory-max"), Value::bulk("256mb")]));
    let take = |attacked: &mut Attacked, mib: u32| {
        let script = format!("return #string.rep('x', {mib} * 1024 * 1024)");
        (0..6).map(|at| attacked.ask(at, &["EVAL", &script, "0"])).collect::<Vec<_>>()
    };
    let taken = vec![Value::Int(64 << 20); 6];
    assert_eq!(take(&mut attacked, 64), taken);
    assert_eq!(attacked.ask(0, &["CONFIG", "SET", "script-memory-max", "32mb"]).to_string(), "OK");
    assert_eq!(
        attacked.ask(0, &["CONFIG", "GET", "script-memory-max"]).to_string(),
        "[\"script-memory-max\", \"32mb\"]"
    );
    for reply in take(&mut attacked, 64) {
        assert!(reply.as_error().is_some_and(|text| text.contains("memory")), "{reply}");
    }
    assert_eq!(take(&mut attacked, 8), vec![Value::Int(8 << 20); 6]);
    assert_eq!(attacked.ask(0, &["CONFIG", "SET", "script-memory-max", "256mb"]).to_string(), "OK");
    assert_eq!(take(&mut attacked, 64), taken);
    attacked.is_well();
}

/// Checks that the garbage of later scripts is collected, whatever one script has set in the collector.
fn is_collected(script: &str) {
    let mut attacked = Attacked::start(&[]);
    for at in 0..6 {
        // It may be refused.
        attacked.ask(at, &["EVAL", script, "0"]);
    }
    for round in 0..ROUNDS {
        let reply = attacked.ask(round % 6, &["EVAL", GARBAGE, "0", &format!("{round:08}")]);
        assert_eq!(reply, Value::Int(1_000_009), "{script}: round {round}");
    }
    attacked.is_well();
    let most = attacked.most_bytes();
    assert!(most < COLLECTED_BYTES_MAX, "{script}: the server has taken {most} bytes");
}

#[test]
fn the_collector_is_not_stopped_for_others() {
    is_collected("collectgarbage('stop')");
}

#[test]
fn the_collector_is_not_made_lazy_for_others() {
    is_collected("collectgarbage('setpause', 1000000)");
}

#[test]
fn the_collector_is_not_made_slow_for_others() {
    is_collected("collectgarbage('setstepmul', 1) collectgarbage('setpause', 100000)");
}

#[test]
fn the_collector_is_not_made_idle_by_its_steps() {
    is_collected("collectgarbage('stop') collectgarbage('step', 0) collectgarbage('setstepmul', 0)");
}
