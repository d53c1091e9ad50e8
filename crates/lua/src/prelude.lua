-- What a script finds: functions by their names, one by one, and nothing else of the engine's. Tables that all scripts
-- share are frozen, their metatables too.
--
-- Where the engine's own function differs from Lua 5.1's in what scripts of Redis rely on, or may run long without asking
-- whether it is to stop, one of ours stands in its place.

local raw, globals, native = ...

local error, type, tonumber, select, next, pairs, unpack = error, type, tonumber, select, next, pairs, table.unpack
local pcall, xpcall, resume, setmetatable = pcall, xpcall, coroutine.resume, setmetatable
local freeze, info = table.freeze, debug.info
local native_tostring, native_find, native_match = tostring, string.find, string.match
local native_gmatch, native_gsub, native_format, native_sort = string.gmatch, string.gsub, string.format, table.sort

local function take(from, names)
    local taken = {}
    for name in native_gmatch(names, "%S+") do
        taken[name] = from[name]
    end
    return taken
end

for name, value in pairs(take(native, [[
    assert error gcinfo getmetatable ipairs next pairs rawequal rawget rawset select setmetatable tonumber type
]])) do
    globals[name] = value
end
globals._VERSION = "Lua 5.1"
globals.unpack = unpack
globals.os = { clock = raw.clock }
globals.coroutine = take(coroutine, "create running status wrap yield")
globals.math = take(math, [[
    abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min modf pi pow rad
    sin sinh sqrt tan tanh
]])
globals.math.mod = math.fmod
globals.string = take(string, "byte char len lower rep reverse sub upper")
globals.table = take(table, "getn insert remove")
globals.collectgarbage = raw.collectgarbage

-- ---- numbers as texts: 14 digits, as C's %.14g ----

local function is_plain(number)
    return number % 1 == 0 and number < 1e14 and number > -1e14
end

local function tostring(...)
    local value = ...
    if type(value) == "number" and not is_plain(value) then
        return raw.number_text(value)
    end
    return native_tostring(...)
end
globals.tostring = tostring

-- Where one part of a pattern, or of a format, takes all of a text, nothing asks before it is at the end.
local TEXT_BYTES_MAX = 2 ^ 26

local function format_with_texts(pattern, ...)
    local arguments, count, at = { ... }, select("#", ...), 0
    for kind in native_gmatch(native_gsub(pattern, "%%%%", ""), "%%[%-+ #0-9.]*(.)") do
        at = at + 1
        if kind == "s" and type(arguments[at]) == "number" then
            arguments[at] = tostring(arguments[at])
        end
    end
    return native_format(pattern, unpack(arguments, 1, count))
end

function globals.string.format(...)
    if type((...)) == "string" and #... > TEXT_BYTES_MAX then
        error("string too long", 2)
    end
    for at = 2, select("#", ...) do
        local value = select(at, ...)
        if type(value) == "number" and not is_plain(value) then
            return format_with_texts(...)
        end
    end
    return native_format(...)
end

-- ---- what searches: the engine asks whether to stop at each place where a pattern may begin, and at each of its parts ----

-- So many steps pass at most where it does not ask: bytes of a text times those of a set within a pattern.
local STEPS_MAX = 2 ^ 28
-- Above so many, a plain text is searched for in linear time.
local PLAIN_STEPS_MAX = 2 ^ 20

local function check_steps(text, pattern)
    if type(text) == "string" and #text > TEXT_BYTES_MAX then
        error("string too long", 3)
    end
    if
        type(text) == "string"
        and type(pattern) == "string"
        and #text * #pattern > STEPS_MAX
        and native_find(pattern, "[", 1, true)
    then
        error("pattern too complex", 3)
    end
end

function globals.string.find(text, pattern, ...)
    if type(text) == "string" and type(pattern) == "string" and #text * #pattern > PLAIN_STEPS_MAX then
        local init, plain = ...
        if plain or not native_find(pattern, "[%^%$%*%+%?%.%(%[%%%-]") then
            return raw.find(text, pattern, init)
        end
        check_steps(text, pattern)
    end
    return native_find(text, pattern, ...)
end

function globals.string.match(text, pattern, ...)
    check_steps(text, pattern)
    return native_match(text, pattern, ...)
end

function globals.string.gmatch(text, pattern)
    check_steps(text, pattern)
    return native_gmatch(text, pattern)
end
globals.string.gfind = globals.string.gmatch

-- Lua 5.1 takes the sign behind a % in a replacement as itself, if it is no digit.
local function plain_sign(sign)
    return sign ~= "%" and not native_find(sign, "%d") and sign or nil
end

function globals.string.gsub(text, pattern, replacement, ...)
    check_steps(text, pattern)
    if type(replacement) == "string" and native_find(replacement, "%%[^%d]") then
        replacement = native_gsub(replacement, "%%(.)", plain_sign)
    end
    return native_gsub(text, pattern, replacement, ...)
end

function globals.string.dump()
    error("unable to dump given function", 2)
end

-- As metamethods these two would run without a call.
for name, unlooped in pairs({ concat = table.concat, maxn = table.maxn }) do
    globals.table[name] = function(...)
        return unlooped(...)
    end
end

-- ---- what calls functions: the engine asks in Lua's, not in those of C ----

local function expect_table(value, name, ...)
    if type(value) ~= "table" then
        local got = select("#", ...) == 0 and value == nil and "no value" or type(value)
        error("bad argument #1 to '" .. name .. "' (table expected, got " .. got .. ")", 3)
    end
end

local function expect_function(value, name)
    if type(value) ~= "function" then
        error("bad argument #2 to '" .. name .. "' (function expected, got " .. type(value) .. ")", 3)
    end
end

local function is_less(a, b)
    return a < b
end

function globals.table.sort(of, comes_before)
    expect_table(of, "sort", of)
    if comes_before == nil then
        comes_before = is_less
    else
        expect_function(comes_before, "sort")
        if info(comes_before, "s") == "[C]" then
            local of_c = comes_before
            comes_before = function(a, b)
                return of_c(a, b)
            end
        end
    end
    return native_sort(of, comes_before)
end

function globals.table.foreach(of, visit)
    expect_table(of, "foreach", of)
    expect_function(visit, "foreach")
    for key, value in next, of do
        local found = visit(key, value)
        if found ~= nil then
            return found
        end
    end
    return
end

function globals.table.foreachi(of, visit)
    expect_table(of, "foreachi", of)
    expect_function(visit, "foreachi")
    for at = 1, #of do
        local found = visit(at, of[at])
        if found ~= nil then
            return found
        end
    end
    return
end

function globals.table.setn()
    error("'setn' is obsolete", 2)
end

-- ---- what compiles ----

-- Gives `to` what compiles, for who finds its globals in `environment`.
local function give_loaders(to, environment)
    function to.loadstring(source, name)
        if type(source) == "number" then
            source = tostring(source)
        elseif type(source) ~= "string" then
            error("bad argument #1 to 'loadstring' (string expected, got " .. type(source) .. ")", 2)
        end
        return raw.compile(source, name and tostring(name) or source, environment)
    end

    function to.load(reader, name)
        expect_function(reader, "load")
        local parts = {}
        while true do
            local part = reader()
            if part == nil or part == "" then
                break
            end
            if type(part) ~= "string" then
                error("reader function must return a string", 2)
            end
            parts[#parts + 1] = part
        end
        return to.loadstring(table.concat(parts), name or "=(load)")
    end
end

give_loaders(globals, globals)

-- ---- errors of the server are kept as Rust's; scripts see them as texts, handlers as tables ----

local function settled(ok, ...)
    if ok then
        return true, ...
    end
    return false, raw.error_text((...))
end

function globals.pcall(...)
    return settled(pcall(...))
end

function globals.xpcall(body, handler)
    return xpcall(body, function(fault)
        return handler(raw.error_table(fault))
    end)
end

local function resumed(ok, ...)
    if ok then
        return true, ...
    end
    return false, raw.error_table((...))
end
function globals.coroutine.resume(...)
    return resumed(resume(...))
end

-- A function of ours takes a handle for each argument, of which there are not as many as the engine's stack has places.
local ARGUMENTS_MAX = 8000

local function bound(library)
    for name, value in pairs(library) do
        if type(value) == "function" then
            library[name] = function(...)
                if select("#", ...) > ARGUMENTS_MAX then
                    error("too many arguments to '" .. name .. "' (" .. select("#", ...) .. ", at most 8000)", 2)
                end
                return value(...)
            end
        end
    end
    return library
end

for name, library in pairs(raw.libraries) do
    globals[name] = bound(library)
end
-- What is called most goes a shorter way, where it can.
local function direct(redis)
    redis.call, redis.pcall = raw.direct(redis.call), raw.direct(redis.pcall)
    return redis
end
direct(globals.redis)

local new_cjson = globals.cjson.new
function globals.cjson.new()
    return bound(new_cjson())
end
local random = bound({ random = raw.random, randomseed = raw.randomseed })
globals.math.random, globals.math.randomseed = random.random, random.randomseed

local of_strings = getmetatable("")
of_strings.__index = globals.string
freeze(of_strings)
for _, value in pairs(globals) do
    if type(value) == "table" then
        freeze(value)
    end
end

local complete = freeze({
    __index = function(_, name)
        error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
    end,
})

-- Libraries and their functions share an environment of their own, which leads to one of these two: KEYS and ARGV are
-- none of theirs, and what is loaded finds nothing but a smaller `redis`.
local of_library = freeze(setmetatable({ redis = freeze(setmetatable(bound(raw.redis_of_library), complete)) }, complete))
local of_functions = {}
for name, value in pairs(globals) do
    of_functions[name] = value
end
of_functions.os, of_functions.KEYS, of_functions.ARGV = nil, nil, nil
of_functions.redis = freeze(direct(bound(raw.redis_of_function)))
local leading = { __index = of_functions }
local environment = freeze(setmetatable({}, leading))
-- Nobody sees where it leads, since that changes.
leading.__metatable = freeze({})
give_loaders(of_functions, environment)
of_functions._G = of_functions
freeze(setmetatable(of_functions, complete))

globals._G = globals
freeze(setmetatable(globals, complete))

local note_fault, set_arguments = raw.note_fault, raw.set_arguments

local guard = {}

function guard.load(body)
    return xpcall(body, note_fault)
end

function guard.script(body)
    set_arguments()
    return xpcall(body, note_fault)
end

function guard.of_function(body, keys, arguments)
    return xpcall(body, note_fault, keys, arguments)
end

return guard, environment, { leading = leading, library = of_library, functions = of_functions }
