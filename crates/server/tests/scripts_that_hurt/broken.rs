//! Scripts that break machines: arguments out of every range, recursion of every kind, and sources that are deep.

use crate::scripts_that_hurt::attack::{Attacked, Way, ended, ends};
use wire::client::Value;

/// As redis-server 7.0.15 answers them.
#[test]
fn a_range_that_is_unpacked_is_not_too_long() {
    let mut attacked = Attacked::start(&[]);
    for range in
        ["-2, 2147483647", "-2147483648, 2147483647", "-1e9, 2147483647", "1, 1e8", "0, 2147483647", "1, 2147483647"]
    {
        attacked.attack(Way::Script, &format!("return {{unpack({{1, 2, 3}}, {range})}}"));
        let reply = attacked.outcome(Way::Script);
        assert!(reply.as_error().is_some_and(|text| text.contains("too many results to unpack")), "{range}: {reply}");
        attacked.is_well();
    }
    // Nothing between a bound and a lower one.
    attacked.attack(Way::Script, "return {unpack({1, 2, 3}, 2147483647, -2147483648)}");
    assert_eq!(attacked.outcome(Way::Script), Value::Array(vec![]));
    attacked.is_well();
}

ended! {
    a_range_that_is_no_number = "return {pcall(unpack, {}, 0/0, 0/0), pcall(unpack, {}, -1/0, 1/0), pcall(unpack, {}, -2^53, 2^53)}";
    a_range_of_numbers_that_are_large = "return {pcall(unpack, {}, 2^31, 2^31 + 3), pcall(unpack, {}, 2^63, 2^64)}";
    a_pattern_of_options_that_is_deep = "return string.find(string.rep('a', 600000), string.rep('a?', 600000))";
    a_pattern_of_options_that_is_deep_by_match = "return string.match(string.rep('a', 600000), string.rep('a?', 600000))";
    a_pattern_of_options_that_is_deep_by_gmatch =
        "for x in string.gmatch(string.rep('a', 600000), string.rep('a?', 600000)) do return x end";
    a_pattern_of_options_that_is_deep_by_gsub =
        "return string.gsub(string.rep('a', 600000), string.rep('a?', 600000), 'x')";
    a_pattern_of_repeats_that_is_deep = "return string.find(string.rep('a', 600000), string.rep('a-', 600000) .. 'b')";
    a_pattern_of_captures_that_is_deep = "return string.find(string.rep('a', 600000), string.rep('()', 600000))";
    a_pattern_of_brackets_that_is_deep = "return string.find(string.rep('(', 600000), string.rep('%b()', 200000))";
    a_pattern_of_a_long_set = "return string.find(string.rep('a', 600000), '[' .. string.rep('b', 600000) .. ']')";
    a_pattern_that_is_not_closed = "return {pcall(string.find, 'x', '[' .. string.rep('a', 600000)), pcall(string.find, 'x', '%'),
        pcall(string.find, 'x', string.rep('(', 600000)), pcall(string.gsub, 'x', 'x', '%9'), pcall(string.find, 'x', '%f')}";
    strings_cut_out_of_range = "local s = 'abc' return {s:sub(-2147483648, 2147483647), s:sub(2^53, -2^53), s:sub(0/0, 1/0),
        s:byte(-2147483648), pcall(s.byte, s, -2^31, 2^31), pcall(s.byte, string.rep('x', 1e7), 1, -1)}";
    strings_repeated_out_of_range = "return {pcall(string.rep, 'x', -2^31), pcall(string.rep, 'x', 2^53), pcall(string.rep, 'x', 0/0),
        pcall(string.rep, 'ab', 2^31), pcall(string.rep, string.rep('x', 65536), 65536), pcall(string.rep, 'x', 1/0)}";
    characters_out_of_range = "return {pcall(string.char, -1), pcall(string.char, 256), pcall(string.char, 2^53), pcall(string.char, 0/0)}";
    formats_out_of_range = "return {pcall(string.format, '%99999999d', 1), pcall(string.format, '%.99999f', 1),
        pcall(string.format, '%' .. string.rep('0', 100000) .. 'd', 1), pcall(string.format, string.rep('%s', 100000)),
        pcall(string.format, '%99.99f', -1e308), pcall(string.format, '%c', 2^53), pcall(string.format, '%d', 0/0),
        pcall(string.format, '%q', string.rep('\\0', 100000)), pcall(string.format, '%5'), pcall(string.format, '%')}";
    selections_out_of_range = "return {pcall(select, -2147483648, 1), pcall(select, 2147483648, 1), pcall(select, 0/0, 1), pcall(select, -1),
        pcall(select, 2^53, 1), pcall(select, 0, 1)}";
    items_inserted_out_of_range = "local t = {1, 2, 3} return {pcall(table.insert, t, 2147483647, 1), pcall(table.insert, t, 2^53, 1),
        pcall(table.insert, t, 0/0, 1), pcall(table.remove, t, -2147483648), pcall(table.remove, t, 2^53), pcall(table.remove, {}, 5)}";
    items_joined_out_of_range = "return {pcall(table.concat, {1, 2, 3}, 'x', -2147483648, 2147483647),
        pcall(table.concat, {1, 2, 3}, 'x', 2147483647, 2147483648), pcall(table.concat, {1}, string.rep('x', 1e7), 0/0, 1)}";
    a_largest_index_out_of_range = "local t = {} t[2^53] = 1 t[-1] = 1 t[1e308] = 1
        return {pcall(table.maxn, t), pcall(table.getn, t), #t}";
    numbers_out_of_range = "return {pcall(math.random, 2^53), pcall(math.random, -2^53, 2^53), pcall(math.random, 0/0), pcall(math.ldexp, 1, 2^31),
        pcall(tonumber, 'zz', 37), pcall(tonumber, 'zz', -2^31), pcall(tonumber, string.rep('z', 1e6), 36), pcall(math.fmod, 1, 0),
        pcall(bit.lshift, 1, 2^53), pcall(bit.tohex, 1, -2147483648), pcall(bit.tohex, 1, 2^53), pcall(bit.band, 0/0, 1/0)}";
    arguments_that_are_too_many = "
        local t = {} for i = 1, 7900 do t[i] = 'x' end
        return {pcall(string.char, unpack(t)), pcall(redis.call, unpack(t)), pcall(cmsgpack.pack, unpack(t)), pcall(math.max, unpack(t)),
            pcall(string.format, string.rep('%s', 7900), unpack(t)), pcall(coroutine.wrap(function(...) return ... end), unpack(t))}";
    values_on_a_coroutine_that_are_too_many = "
        local t = {} for i = 1, 7900 do t[i] = i end
        local function spread(depth) if depth == 0 then return unpack(t) end return 1, spread(depth - 1) end
        local thread = coroutine.create(spread)
        return select('#', coroutine.resume(thread, 1000))";
    a_function_that_calls_itself = "local function f() return 1 + f() end return f()";
    a_function_that_calls_itself_and_catches = "local function f() pcall(f) return 1 + f() end return f()";
    a_function_that_only_catches_itself = "local function f() return pcall(f) end return f()";
    a_handler_that_raises = "local function f() error('x') end return xpcall(f, f)";
    a_handler_that_calls_itself = "local function f() return 1 + f() end return xpcall(f, f)";
    a_handler_that_catches_itself = "local function f() xpcall(f, f) error('x') end return f()";
    an_index_that_asks_itself = "
        local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. 'x'] end return t.x";
    an_index_that_is_its_own = "local t = {} setmetatable(t, {__index = t}) return t.x";
    a_new_index_that_is_its_own = "local t = {} setmetatable(t, {__newindex = t}) t.x = 1";
    indexes_in_a_ring = "
        local a, b = {}, {} setmetatable(a, {__index = b}) setmetatable(b, {__index = a}) return a.x";
    indexes_in_a_long_command = "local t = {} for i = 1, 200000 do t = setmetatable({}, {__index = t}) end return t.x";
    a_call_that_is_its_own = "local t = {} setmetatable(t, {__call = t}) return t()";
    calls_in_a_long_command = "local t = {} for i = 1, 200000 do t = setmetatable({}, {__call = t}) end return t()";
    a_text_that_asks_itself = "local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) return tostring(t)";
    an_order_that_asks_itself = "local t = setmetatable({}, {}) getmetatable(t).__lt = function(a, b) return a < b end return t < t";
    a_concatenation_that_asks_itself =
        "local t = setmetatable({}, {}) getmetatable(t).__concat = function(a, b) return a .. b end return t .. t";
    a_replacement_that_asks_itself = "local function f(s) return (s:gsub('.', f)) end return f('x')";
    an_order_that_sorts = "
        local t = {5, 3, 1, 4, 2} local function f() table.sort({3, 2, 1}, f) return false end table.sort(t, f)";
    a_sort_that_changes_what_it_sorts = "
        local t = {} for i = 1, 1000 do t[i] = i % 7 end
        table.sort(t, function(a, b) for i = 1, 1000 do t[i] = nil end return (a or 0) < (b or 0) end)";
    a_sort_of_values_that_have_no_order = "return {pcall(table.sort, {1, 'x', {}, 3}), pcall(table.sort, {0/0, 1, 0/0, 2, 0/0})}";
    a_visit_that_adds = "local t = {1} for k in pairs(t) do for i = 1, 100 do t[k .. 'x' .. i] = 1 end end";
    coroutines_that_resume_each_other = "
        local function f() return coroutine.wrap(f)() end return f()";
    a_coroutine_that_resumes_itself = "
        local thread thread = coroutine.create(function() return coroutine.resume(thread) end) return coroutine.resume(thread)";
    a_coroutine_that_yields_through_everything = "
        local function yield() coroutine.yield(1) end
        local ways = {
            function() pcall(yield) end, function() xpcall(yield, yield) end, function() table.sort({3, 2, 1}, yield) end,
            function() string.gsub('x', '.', yield) end, function() load(yield) end, function() for x in yield do end end,
            function() return setmetatable({}, {__index = yield}).x end, function() table.foreach({1}, yield) end,
            function() return tostring(setmetatable({}, {__tostring = yield})) end, function() coroutine.wrap(yield)() end,
        }
        for _, way in ipairs(ways) do
            local thread = coroutine.create(way)
            for i = 1, 5 do coroutine.resume(thread) end
        end
        return pcall(yield)";
    a_yield_outside_of_a_coroutine = "return coroutine.yield(1)";
    a_source_that_compiles_itself = "
        local s = 'local s = ... return loadstring(s)(s)' return loadstring(s)(s)";
    a_table_as_its_own_reply = "local t = {} t[1] = t return t";
    a_reply_that_is_deep = "local t = {} for i = 1, 1000000 do t = {t} end return t";
    a_reply_of_maps_that_is_deep = "redis.setresp(3) local t = {map = {}} for i = 1, 1000000 do t = {map = {a = t}} end return t";
    a_reply_of_a_huge_index = "local t = {1} t[2147483647] = 1 t[2^53] = 1 return t";
    an_error_in_an_error = "local t = {} t.err = t error(t)";
    bytes_that_are_no_source = "return {loadstring(string.char(27) .. 'Lua' .. string.rep('x', 1000)), loadstring(string.rep('\\0', 1000)),
        pcall(load, function() return string.char(27) end), loadstring(string.rep('\\255', 100000))}";
    a_library_function_with_nothing = "
        local count = 0
        for _, library in ipairs({string, table, math, cjson, cmsgpack, struct, bit, coroutine, redis, _G}) do
            for name, f in pairs(library) do
                if type(f) == 'function' and name ~= 'yield' and name ~= 'collectgarbage' then
                    for _, value in ipairs({false, 0, -1, 2^53, 0/0, 'x', {}, true, string.rep}) do
                        pcall(f) pcall(f, value) pcall(f, value, value) pcall(f, value, value, value) count = count + 1
                    end
                end
            end
        end
        return count";
}

/// `open` very often, something, and `close` as often.
fn deep(open: &str, inside: &str, close: &str) -> String {
    const DEPTH: usize = 200_000;
    [open.repeat(DEPTH).as_str(), inside, &close.repeat(DEPTH)].concat()
}

/// A name, and what makes the source.
type Source = (&'static str, fn() -> String);

/// Sources that a compiler goes down into, or that are long.
const SOURCES: &[Source] = &[
    ("brackets", || format!("return {}", deep("(", "1", ")"))),
    ("tables", || format!("return {}", deep("{", "1", "}"))),
    ("calls", || format!("return {}", deep("type(", "1", ")"))),
    ("arguments that are tables", || format!("return {}", deep("type{", "1", "}"))),
    ("indexes", || format!("return {}", deep("KEYS[", "1", "]"))),
    ("functions", || format!("return {}", deep("function() return ", "1", " end"))),
    ("blocks", || deep("do ", "", " end")),
    ("conditions", || deep("if true then ", "", " end")),
    ("alternatives", || format!("if false then {} end", deep("elseif false then ", "", ""))),
    ("loops", || deep("while false do ", "", " end")),
    ("counts", || deep("for i = 1, 0 do ", "", " end")),
    ("repeats", || deep("repeat ", "", " until true")),
    ("negations", || format!("return {}", deep("not ", "true", ""))),
    ("minuses", || format!("return {}", deep("- ", "1", ""))),
    ("powers", || format!("return {}", deep("1 ^ ", "1", ""))),
    ("concatenations", || format!("return {}", deep("'x' .. ", "'x'", ""))),
    ("sums", || format!("return {}", deep("1 + ", "1", ""))),
    ("ands", || format!("return {}", deep("1 and ", "1", ""))),
    ("fields", || format!("return redis{}", deep(".x", "", ""))),
    ("methods", || format!("return (''){}", deep(":x()", "", ""))),
    ("locals", || deep("local a = 1 ", "", "")),
    ("names", || format!("local {} = 1", deep("a, ", "a", ""))),
    ("targets", || format!("local t = {{}} {} = 1", deep("t.x, ", "t.x", ""))),
    ("items", || format!("return {{{}}}", deep("1, ", "1", ""))),
    ("strings", || format!("return {{{}}}", (0..200_000).map(|at| format!("'{at}',")).collect::<String>())),
    ("brackets of a long string", || format!("return [{}[x]{}]", deep("=", "", ""), deep("=", "", ""))),
    ("a long name", || format!("local {} = 1", deep("a", "", ""))),
    ("a long number", || format!("return {}", deep("1", "", ""))),
    ("a long comment", || deep("--", "", "")),
    ("bytes", || "\u{fffd}\0".repeat(100_000)),
];

/// Each way a source comes to the compiler.
fn is_compiled_or_refused(name: &str, source: &str) {
    let mut attacked = Attacked::start(&[]);
    attacked.attack(Way::Script, source);
    println!("{name}: {:.200}", attacked.outcome(Way::Script).to_string());
    attacked.send(&crate::support::request(&["SCRIPT", "LOAD", source]), 0);
    println!("{name}: {:.200}", attacked.outcome(Way::Script).to_string());
    let script = "local f, fault = loadstring(ARGV[1]) if not f then return fault end return {pcall(f)}";
    attacked.send(&crate::support::request(&["EVAL", script, "1", "key", source]), 0);
    println!("{name}: {:.200}", attacked.outcome(Way::Script).to_string());
    let code = format!("#!lua name=deep\nredis.register_function('f', function() {source} end)");
    attacked.send(&crate::support::request(&["FUNCTION", "LOAD", &code]), 0);
    println!("{name}: {:.200}", attacked.outcome(Way::Function).to_string());
    attacked.is_well();
}

/// Checks the sources from one on, so that tests share them.
fn sources(part: usize) {
    const PARTS: usize = 3;
    for (name, source) in SOURCES.iter().skip(part).step_by(PARTS) {
        is_compiled_or_refused(name, &source());
    }
}

#[test]
fn deep_sources_are_compiled_or_refused() {
    sources(0);
}

#[test]
fn more_deep_sources_are_compiled_or_refused() {
    sources(1);
}

#[test]
fn yet_more_deep_sources_are_compiled_or_refused() {
    sources(2);
}

/// Constants that an optimising compiler would fold to terabytes.
#[test]
fn constants_that_double() {
    let doubled: String = (1..40).map(|at| format!("local a{at} = a{} .. a{} ", at - 1, at - 1)).collect();
    for head in ["", "--!optimize 2\n", "--!native\n"] {
        let reply = ends(&format!("{head}local f = function() local a0 = 'xxxxxxxx' {doubled} end return 1"));
        assert_eq!(reply, Value::Int(1), "{head}");
    }
    let reply = ends(&format!("@native local function f() local a0 = 'xxxxxxxx' {doubled} end return 1"));
    assert!(reply.as_error().is_some_and(|text| text.contains("user_script:1: unexpected symbol near '@'")), "{reply}");
}
