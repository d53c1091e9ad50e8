//! Scripts that do not end: other clients get BUSY, and can kill them.

use crate::scripts_that_hurt::attack::{Attacked, Way, ended, is_killed};
use rustix::process::Signal;
use std::time::Duration;

/// The maximum time that a server may take to stop.
const STOP: Duration = Duration::from_secs(60);

const LOOP: &str = "while true do end";
const HANDLER: &str = "xpcall(function() while true do end end, function() while true do end end)";
const PCALLS: &str = "while true do pcall(function() while true do end end) end";
const PATTERN: &str = "return string.find(string.rep('a', 3000), string.rep('.-', 20) .. 'b')";
const COMPARATOR: &str = "table.sort({3, 2, 1}, function() while true do end end)";
const COROUTINES: &str = "
    local function nest(depth)
        local thread = coroutine.create(function()
            if depth > 0 then nest(depth - 1) end
            while true do pcall(function() while true do end end) end
        end)
        while true do
            coroutine.resume(thread)
            pcall(function() while true do end end)
        end
    end
    nest(10)";
const COLLECTOR: &str = "local t = {} for i = 1, 500000 do t[i] = {i} end while true do collectgarbage() end";
/// Two to the power of forty nodes, in forty tables.
const SHARED: &str = "local t = {1} for i = 1, 40 do t = {t, t} end ";

/// A test for each script that would run for ever, on its own, in a transaction and as a function.
macro_rules! killed {
    ($way:ident: $($name:ident = $script:expr;)*) => {$(
        #[test]
        fn $name() {
            is_killed(Way::$way, $script);
        }
    )*};
}

killed! { Script:
    a_loop = LOOP;
    a_loop_without_a_body = "repeat until false";
    a_loop_to_infinity = "for i = 1, math.huge do end";
    a_loop_of_an_iterator = "for x in function() return 1 end do end";
    a_handler_that_loops = HANDLER;
    handlers_in_handlers = "
        local function loop() while true do end end
        local function handler() xpcall(loop, handler) while true do end end
        xpcall(function() error('x') end, handler)";
    a_handler_that_catches = "
        local function loop() while true do end end
        xpcall(loop, function() while true do pcall(loop) end end)";
    errors_caught_for_ever = PCALLS;
    errors_raised_and_caught_for_ever = "while true do pcall(error, 'x') end";
    calls_caught_for_ever = "while true do pcall(redis.call, 'get', KEYS[1]) end";
    calls_for_ever = "while true do redis.pcall('get', KEYS[1]) end";
    calls_of_nothing_for_ever = "while true do redis.pcall() end";
    coroutines_in_coroutines = COROUTINES;
    coroutines_without_end = "while true do coroutine.resume(coroutine.create(function()
        while true do pcall(function() while true do end end) end end)) end";
    a_coroutine_that_yields_for_ever = "
        local next = coroutine.wrap(function() while true do coroutine.yield(1) end end)
        while true do next() end";
    a_pattern_that_is_exponential = PATTERN;
    a_pattern_that_is_exponential_by_match =
        "return string.match(string.rep('a', 3000), string.rep('.-', 20) .. 'b')";
    a_pattern_that_is_exponential_by_gmatch =
        "for x in string.gmatch(string.rep('a', 3000), string.rep('.-', 20) .. 'b') do end";
    a_pattern_that_is_exponential_by_gsub =
        "return string.gsub(string.rep('a', 3000), string.rep('.-', 20) .. 'b', 'x')";
    a_pattern_that_is_exponential_and_caught =
        "while true do pcall(string.find, string.rep('a', 3000), string.rep('.-', 20) .. 'b') end";
    a_replacement_that_loops = "return string.gsub('x', '.', function() while true do end end)";
    a_replacement_whose_index_loops =
        "return string.gsub('x', '.', setmetatable({}, {__index = function() while true do end end}))";
    a_comparator_that_loops = COMPARATOR;
    a_visitor_that_loops = "table.foreach({1}, function() while true do end end)";
    a_visitor_of_items_that_loops = "table.foreachi({1}, function() while true do end end)";
    a_reader_that_loops = "load(function() while true do end end)";
    strings_repeated_for_ever = "while true do pcall(string.rep, 'x', 1e9) end";
    nothing_repeated_for_ever = "while true do string.rep('', 2147483647) end";
    an_index_that_loops = "return setmetatable({}, {__index = function() while true do end end}).x";
    a_new_index_that_loops = "setmetatable({}, {__newindex = function() while true do end end}).x = 1";
    a_call_that_loops = "setmetatable({}, {__call = function() while true do end end})()";
    an_order_that_loops = "
        local m = {__lt = function() while true do end end}
        return setmetatable({}, m) < setmetatable({}, m)";
    an_order_or_equality_that_loops = "
        local m = {__le = function() while true do end end}
        return setmetatable({}, m) <= setmetatable({}, m)";
    an_equality_that_loops = "
        local m = {__eq = function() while true do end end}
        return setmetatable({}, m) == setmetatable({}, m)";
    a_concatenation_that_loops = "return setmetatable({}, {__concat = function() while true do end end}) .. 'x'";
    a_sum_that_loops = "return setmetatable({}, {__add = function() while true do end end}) + 1";
    a_negation_that_loops = "return -setmetatable({}, {__unm = function() while true do end end})";
    a_text_that_loops = "return tostring(setmetatable({}, {__tostring = function() while true do end end}))";
    an_order_that_loops_in_sort = "
        local m = {__lt = function() while true do end end}
        table.sort({setmetatable({}, m), setmetatable({}, m), setmetatable({}, m)})";
    sorts_of_long_strings_that_are_almost_equal = "
        local s, t = string.rep('a', 100000), {}
        for i = 1, 1000 do t[i] = s .. (i * 7919) % 1000 end
        while true do table.sort(t, function(a, b) return a < b end) table.sort(t) end";
    sorts_by_a_function_of_the_machine = "while true do pcall(table.sort, {5, 3, 1, 4, 2}, string.rep) end";
    garbage_collected_for_ever = COLLECTOR;
    hashes_for_ever = "local s = string.rep('x', 10000000) while true do redis.sha1hex(s) end";
    sources_compiled_for_ever =
        "local s = 'return ' .. string.rep('1+', 1000000) .. '1' while true do loadstring(s) end";
    sources_read_and_compiled_for_ever = "
        local s = 'return ' .. string.rep('1+', 1000000) .. '1'
        while true do
            local read = false
            load(function() if not read then read = true return s end end)
        end";
    long_strings_changed_for_ever = "
        local s = string.rep('x', 5000000)
        while true do local x = #s:upper() + #s:reverse() + #s:sub(2) + #s:gsub('x', 'y') end";
    long_strings_searched_for_ever = "
        local s = string.rep('x', 5000000)
        while true do s:find('y', 1, true) s:find('y') s:find('x-y') end";
    tables_joined_for_ever = "
        local t = {} for i = 1, 1000 do t[i] = string.rep('x', 10000) end
        while true do table.concat(t) end";
    tables_unpacked_for_ever = "
        local t = {} for i = 1, 7000 do t[i] = i end
        while true do local n = select('#', unpack(t)) end";
    tables_shifted_for_ever = "
        local t = {} for i = 1, 200000 do t[i] = i end
        while true do table.insert(t, 1, 0) table.remove(t, 1) end";
    json_written_for_ever = "
        local t = {} for i = 1, 200000 do t[i] = i end
        while true do cjson.encode(t) end";
    json_read_for_ever = "
        local s = '[' .. string.rep('0,', 200000) .. '0]'
        while true do cjson.decode(s) end";
    message_packs_written_for_ever = "
        local t = {} for i = 1, 200000 do t[i] = i end
        while true do cmsgpack.pack(t) end";
    message_packs_read_for_ever = "
        local t = {} for i = 1, 200000 do t[i] = i end
        local s = cmsgpack.pack(t)
        while true do cmsgpack.unpack(s) end";
    log_lines_for_ever = "while true do redis.log(redis.LOG_DEBUG, 'x') end";
}

killed! { Transaction:
    a_loop_in_a_transaction = LOOP;
    a_handler_that_loops_in_a_transaction = HANDLER;
    a_pattern_that_is_exponential_in_a_transaction = PATTERN;
    coroutines_in_coroutines_in_a_transaction = COROUTINES;
}

killed! { Function:
    a_loop_of_a_function = LOOP;
    a_handler_that_loops_of_a_function = HANDLER;
    errors_caught_for_ever_of_a_function = PCALLS;
    a_pattern_that_is_exponential_of_a_function = PATTERN;
    a_comparator_that_loops_of_a_function = COMPARATOR;
    coroutines_in_coroutines_of_a_function = COROUTINES;
    garbage_collected_for_ever_of_a_function = COLLECTOR;
    calls_caught_for_ever_of_a_function = "while true do pcall(redis.call, 'get', keys[1]) end";
}

/// Tens of seconds without a loop or a call.
fn straight_on(begin: &str, statement: &str) -> String {
    format!("{begin} local r {}", statement.repeat(20_000))
}

#[test]
fn long_texts_compared_in_a_command() {
    let begin = "local a, b = string.rep('x', 60000000), string.rep('x', 60000000) .. 'y'";
    is_killed(Way::Script, &straight_on(begin, "r = a < b "));
    is_killed(Way::Script, &straight_on(begin, "if a > b then break_ = 1 end "));
}

#[test]
fn long_numbers_added_in_a_command() {
    is_killed(Way::Script, &straight_on("local a = string.rep(' ', 100000000) .. 1", "r = a + 1 "));
}

#[test]
fn functions_of_the_machine_called_by_metatables_in_a_command() {
    let begin = "local t = {} for i = 1, 1000000 do t[i] = 'x' end ";
    is_killed(Way::Script, &straight_on(&format!("{begin} setmetatable(t, {{__index = table.concat}})"), "r = t.a "));
    is_killed(Way::Script, &straight_on(&format!("{begin} setmetatable(t, {{__unm = table.maxn}})"), "r = -t "));
}

ended! {
    parts_of_patterns_that_take_a_long_text = "
        local s = string.rep('a', 120000000)
        for i = 1, 20 do pcall(string.find, s, '%w*') pcall(string.match, s, '%b()') pcall(string.gsub, s, '.*', '') end";
    a_format_that_is_long = "local s = string.rep('%%', 60000000) for i = 1, 20 do pcall(string.format, s) end";
    a_plain_search_that_is_quadratic =
        "return string.find(string.rep('a', 30000000), string.rep('a', 15000000) .. 'b', 1, true)";
    a_table_visited_by_a_function_of_the_machine = "return table.foreach({1, 2, 3}, string.rep)";
    items_visited_by_a_function_of_the_machine = "return table.foreachi({1, 2, 3}, string.rep)";
    a_table_sorted_by_a_function_of_the_machine = "return table.sort({5, 3, 1, 4, 2}, string.rep)";
    a_table_sorted_by_a_function_that_raises = "return table.sort({5, 3, 1, 4, 2}, error)";
    a_table_sorted_without_an_order = "
        local t = {} for i = 1, 100000 do t[i] = i end
        return table.sort(t, function() return true end)";
    json_of_shared_tables = &format!("{SHARED} return cjson.encode(t)");
    a_message_pack_of_shared_tables = "
        local t = {1} for i = 1, 14 do t = {t, t, t, t, t, t, t, t, t, t} end
        return cmsgpack.pack(t)";
    a_reply_of_shared_tables = &format!("{SHARED} return t");
    a_reply_of_shared_maps = "redis.setresp(3) local t = {map = {}} for i = 1, 40 do t = {map = {a = t, b = t}} end return t";
    json_of_a_sparse_array = "
        cjson.encode_sparse_array(false, 0)
        local t = {} t[200000000] = 1
        return #cjson.encode(t)";
    an_index_of_an_error_that_loops = "error({err = setmetatable({}, {__tostring = function() while true do end end})})";
    a_text_of_an_error_that_loops = "error(setmetatable({}, {__tostring = function() while true do end end}))";
    an_index_of_a_reply_that_loops = "return setmetatable({}, {__index = function() while true do end end})";
    a_table_emptied_from_its_head = "
        local t = {} for i = 1, 300000 do t[i] = i end
        while next(t) do t[next(t)] = nil end";
    a_space_read_for_ever = "return load(function() return ' ' end)";
    an_insert_far_below = "return table.insert({1, 2, 3}, -2147483648, 1)";
    a_join_of_a_range_that_is_huge = "return table.concat({}, '', -2147483648, 2147483647)";
}

/// Checks that the code of a library ends by itself during loading, as in Redis after half a second.
fn is_not_loaded(body: &str) {
    let mut attacked = Attacked::start(&[]);
    let code = format!("#!lua name=hurt\nredis.register_function('f', function() return 1 end)\n{body}");
    println!("{body}");
    attacked.send(&crate::support::request(&["FUNCTION", "LOAD", &code]), 0);
    let reply = attacked.outcome_of_its_own().to_string();
    assert!(reply.starts_with("!ERR Error registering functions: "), "{body}: {reply}");
    assert_eq!(attacked.ask(0, &["FUNCTION", "LIST"]).to_string(), "[]", "{body}");
    attacked.is_well();
}

macro_rules! not_loaded {
    ($($name:ident = $script:expr;)*) => {$(
        #[test]
        fn $name() {
            is_not_loaded($script);
        }
    )*};
}

not_loaded! {
    a_library_that_loops = LOOP;
    a_library_whose_pattern_is_exponential = "local x = ('a'):rep(3000):find(('.-'):rep(20) .. 'b')";
    a_library_whose_replacement_loops = "local x = ('x'):gsub('.', function() while true do end end)";
    a_library_that_takes_memory = "local s = 'x' while true do s = s .. s end";
    a_library_that_registers_for_ever =
        "local i = 0 while true do i = i + 1 redis.register_function('f' .. i, function() end) end";
}

/// Starts `script`, lets FLUSHALL wait for it, and waits until all clients get BUSY.
fn busy_with(script: &str) -> Attacked {
    let mut attacked = Attacked::start(&[]);
    attacked.attack(Way::Script, script);
    attacked.wait_busy(Way::Script);
    let mut flusher = attacked.server.connect();
    flusher.send(&["FLUSHALL"]);
    attacked.wait_busy(Way::Script);
    attacked
}

fn is_ended_by_shutdown(script: &str) {
    let mut attacked = busy_with(script);
    let mut client = attacked.server.connect();
    client.send(&["SHUTDOWN", "NOSAVE"]);
    let status =
        attacked.server.wait_at_most(STOP).unwrap_or_else(|| panic!("{script}: SHUTDOWN NOSAVE does not end it"));
    assert_eq!(status.code(), Some(0), "{script}: {}", attacked.server.log());
}

fn is_ended_by_sigterm(script: &str) {
    let mut attacked = busy_with(script);
    attacked.server.signal(Signal::TERM);
    let status = attacked.server.wait_at_most(STOP).unwrap_or_else(|| panic!("{script}: SIGTERM does not end it"));
    assert_eq!(status.code(), Some(0), "{script}: {}", attacked.server.log());
}

macro_rules! stopped {
    ($($name:ident = $check:ident($script:expr);)*) => {$(
        #[test]
        fn $name() {
            $check($script);
        }
    )*};
}

stopped! {
    shutdown_ends_a_loop = is_ended_by_shutdown(LOOP);
    shutdown_ends_a_handler_that_loops = is_ended_by_shutdown(HANDLER);
    shutdown_ends_coroutines_in_coroutines = is_ended_by_shutdown(COROUTINES);
    shutdown_ends_a_pattern_that_is_exponential = is_ended_by_shutdown(PATTERN);
    sigterm_ends_a_loop = is_ended_by_sigterm(LOOP);
    sigterm_ends_a_handler_that_loops = is_ended_by_sigterm(HANDLER);
    sigterm_ends_coroutines_in_coroutines = is_ended_by_sigterm(COROUTINES);
    sigterm_ends_a_pattern_that_is_exponential = is_ended_by_sigterm(PATTERN);
    sigterm_ends_errors_caught_for_ever = is_ended_by_sigterm(PCALLS);
}
