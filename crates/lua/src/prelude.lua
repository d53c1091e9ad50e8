-- What a script finds: Lua's own functions, those that change what all scripts share kept from doing so.
--
-- A table that is shared is shown as an empty one, whose metatable leads reads to the real table and refuses writes.
-- Functions that look past a metatable are told of that here.

local raw, globals = ...

local allowed = {
    "_VERSION", "assert", "collectgarbage", "coroutine", "error", "gcinfo", "getmetatable", "ipairs", "math", "next",
    "pairs", "pcall", "rawequal", "rawget", "rawset", "select", "setmetatable", "string", "table", "tonumber",
    "tostring", "type", "unpack", "xpcall", "loadstring", "load",
}
for _, name in ipairs(allowed) do
    globals[name] = _G[name]
end
globals.os = { clock = os.clock }

local byte, concat = string.byte, table.concat
local error, type, tostring, tonumber, select = error, type, tostring, tonumber, select
local next, pairs, rawget, rawset, setmetatable = next, pairs, rawget, rawset, setmetatable
local loadstring, setfenv, pcall, xpcall, resume = loadstring, setfenv, pcall, xpcall, coroutine.resume

local READONLY = "Attempt to modify a readonly table"
-- What is shown -> what it shows.
local shown = setmetatable({}, { __mode = "k" })

local function refuse()
    error(READONLY, 2)
end

local locked = {}

local function protect(inner)
    local outer = setmetatable({}, { __index = inner, __newindex = refuse, __metatable = locked })
    shown[outer] = inner
    return outer
end

setmetatable(locked, { __index = {}, __newindex = refuse, __metatable = locked })
shown[locked] = {}

local function expect_table(value, name, ...)
    if type(value) ~= "table" then
        local got = select("#", ...) == 0 and value == nil and "no value" or type(value)
        error("bad argument #1 to '" .. name .. "' (table expected, got " .. got .. ")", 3)
    end
end

function globals.next(of, key)
    expect_table(of, "next", of)
    return next(shown[of] or of, key)
end

function globals.pairs(of)
    expect_table(of, "pairs", of)
    if shown[of] then
        return globals.next, of, nil
    end
    return next, of, nil
end

function globals.rawget(of, key)
    expect_table(of, "rawget", of)
    return rawget(shown[of] or of, key)
end

function globals.rawset(of, key, value)
    expect_table(of, "rawset", of)
    if shown[of] then
        error(READONLY, 0)
    end
    return rawset(of, key, value)
end

function globals.setmetatable(of, metatable)
    expect_table(of, "setmetatable", of)
    if shown[of] then
        error(READONLY, 0)
    end
    return setmetatable(of, metatable)
end

-- The one function of its library that writes past a metatable where there is nothing yet.
local insert = table.insert
globals.table = {}
for name, value in pairs(table) do
    globals.table[name] = value
end
function globals.table.insert(of, ...)
    expect_table(of, "insert", of)
    if shown[of] then
        error(READONLY, 0)
    end
    local count, at = select("#", ...), ...
    if count == 1 then
        return insert(of, at)
    end
    if count ~= 2 then
        error("wrong number of arguments to 'insert'", 2)
    end
    if not tonumber(at) then
        error("bad argument #2 to 'insert' (number expected, got " .. type(at) .. ")", 2)
    end
    return insert(of, ...)
end

-- Gives `to` what compiles, for who finds its globals in `environment`, or in those of scripts.
local function give_loaders(to, environment)
    -- Only source is compiled: what is compiled already could be anything.
    function to.loadstring(source, name)
        if type(source) == "string" and byte(source, 1) == 27 then
            return nil, "attempt to load a compiled chunk"
        end
        local chunk, fault = loadstring(source, name)
        if not chunk then
            return nil, fault
        end
        return environment and setfenv(chunk, environment) or chunk
    end

    function to.load(reader, name)
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
        return to.loadstring(concat(parts), name or "=(load)")
    end
end

give_loaders(globals)

-- Errors of the server are kept as Rust's; scripts see them as texts, handlers as tables.
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

globals.coroutine = {}
for name, value in pairs(coroutine) do
    globals.coroutine[name] = value
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

for name, library in pairs(raw.libraries) do
    globals[name] = library
end

for name, value in pairs(globals) do
    if type(value) == "table" then
        globals[name] = protect(value)
    end
end
getmetatable("").__metatable = locked

local complete = {
    __index = function(_, name)
        error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
    end,
}

-- Libraries and their functions share an environment of their own, which leads to one of these two: KEYS and ARGV are
-- none of theirs, and what is loaded finds nothing but a smaller `redis`.
local of_library = setmetatable({ redis = protect(setmetatable(raw.redis_of_library, complete)) }, complete)
local of_functions = {}
for name, value in pairs(globals) do
    of_functions[name] = value
end
of_functions.os = nil
of_functions.redis = protect(raw.redis_of_function)
local leading = { __index = of_functions, __newindex = refuse, __metatable = locked }
local environment = setmetatable({}, leading)
shown[environment] = of_functions
give_loaders(of_functions, environment)
of_functions._G = protect(setmetatable(of_functions, complete))

globals._G = protect(setmetatable(globals, complete))

local note_fault = raw.note_fault

local guard = {}

function guard.load(body)
    return xpcall(body, note_fault)
end

function guard.script(body, keys, arguments)
    globals.KEYS, globals.ARGV = keys, arguments
    return xpcall(body, note_fault)
end

function guard.of_function(body, keys, arguments)
    return xpcall(function()
        return body(keys, arguments)
    end, note_fault)
end

return globals._G, guard, environment, { leading = leading, library = of_library, functions = of_functions }
