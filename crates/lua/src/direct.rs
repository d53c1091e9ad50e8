//! Fast paths that avoid an `mlua` handle for each value: calls with strings and numbers and plain replies, and the
//! tables KEYS and ARGV with few words.
//!
//! ```text
//! redis.call(...)  texts and numbers? ----- no ---------------------------------> the function of `mlua`, likewise called
//!                  | yes
//!                  the host runs it; is its reply plain? --no--> kept waiting --> which takes it from there
//!                  | yes
//!                  a value of Lua
//! ```
//!
//! So all errors arise there. When memory ends, the engine's own error unwinds through these functions, as through any
//! in C.

use crate::machine::{Ask, Shared};
use crate::value::LONG_BYTES;
use mlua::ffi::{
    LUA_MULTRET, LUA_TNUMBER, LUA_TSTRING, lua_State, lua_call, lua_createtable, lua_gettop, lua_insert,
    lua_pushboolean, lua_pushcclosurek, lua_pushlightuserdata, lua_pushlstring_, lua_pushnil, lua_pushnumber,
    lua_pushvalue, lua_rawset, lua_rawsetfield, lua_rawseti_, lua_setreadonly, lua_tolightuserdata, lua_tolstring,
    lua_tonumber, lua_type, lua_upvalueindex,
};
use mlua::{Function, Lua, Table};
use std::ffi::c_int;
use wire::client::Value;
use wire::{Args, Words};

/// Longer arrays are converted the other way, which yields from time to time.
const VALUES_MAX: usize = 64;
/// The maximum number of words that become KEYS and ARGV here.
pub(crate) const WORDS_MAX: usize = 64;

/// Returns a function that calls commands like `other`, which has the same `shared`: `redis.call` or `redis.pcall`.
pub(crate) fn caller(lua: &Lua, shared: &Shared, other: Function) -> mlua::Result<Function> {
    let shared = std::ptr::from_ref(shared).cast_mut().cast();
    // SAFETY: the stack holds the one argument; it and the pushed value become upvalues of the closure, which alone is
    // left. `shared` lives as long as the closure, which holds `other`.
    unsafe {
        lua.exec_raw(other, |state| {
            lua_pushlightuserdata(state, shared);
            lua_insert(state, 1);
            lua_pushcclosurek(state, call, c"call".as_ptr(), 2, None);
        })
    }
}

/// Returns a function that sets KEYS and ARGV among `globals`, a table that has these fields and is otherwise
/// read-only, if `shared`, which the functions of this state keep alive, has arguments.
pub(crate) fn setter(lua: &Lua, shared: &Shared, globals: &Table) -> mlua::Result<Function> {
    let shared = std::ptr::from_ref(shared).cast_mut().cast();
    // SAFETY: the stack holds the three arguments; they and the pushed value become upvalues of the closure, which
    // alone is left. `shared` lives as long as the state, whose functions hold it.
    unsafe {
        lua.exec_raw((globals, "KEYS", "ARGV"), |state| {
            lua_pushlightuserdata(state, shared);
            lua_insert(state, 1);
            lua_pushcclosurek(state, set_arguments, c"arguments".as_ptr(), 4, None);
        })
    }
}

/// # Safety
/// Called by the engine, as a closure of [`caller`].
unsafe extern "C-unwind" fn call(state: *mut lua_State) -> c_int {
    // SAFETY: the caller's promise; nobody else changes it meanwhile but through its cells.
    let shared = unsafe { &*lua_tolightuserdata(state, lua_upvalueindex(1)).cast::<Shared>() };
    shared.waiting.take();
    // SAFETY: the engine has called this with that state.
    if let Some(request) = unsafe { request(state, shared) } {
        let resp3 = shared.speaks_resp3.get();
        // If the script must stop, it fails the other way.
        if let Ok(value) = shared.ask(Ask::Call { request, resp3 }) {
            // SAFETY: as above; a C function has room for 20 values more on the stack.
            match unsafe { push(state, value, resp3) } {
                None => return 1,
                value => drop(shared.waiting.replace(value)),
            }
        }
    }
    // SAFETY: as above. The second upvalue of the closure is a function; it is called with the arguments.
    unsafe {
        let count = lua_gettop(state);
        lua_pushvalue(state, lua_upvalueindex(2));
        lua_insert(state, 1);
        lua_call(state, count, LUA_MULTRET);
        lua_gettop(state)
    }
}

/// Returns the arguments as a request, if they are strings and numbers.
///
/// # Safety
/// Called from a function that the engine has called with this state.
unsafe fn request(state: *mut lua_State, shared: &Shared) -> Option<Words> {
    // SAFETY: the caller's promise, for all of it. A string does not move while it is on the stack.
    unsafe {
        let count = lua_gettop(state);
        if count == 0 || !shared.is_running.get() {
            return None;
        }
        let mut request = shared.new_request();
        for at in 1..=count {
            match lua_type(state, at) {
                LUA_TSTRING => {
                    let mut bytes = 0;
                    let text = lua_tolstring(state, at, &mut bytes);
                    request.add_text(std::slice::from_raw_parts(text.cast(), bytes)).ok()?;
                }
                LUA_TNUMBER => request.add_number(lua_tonumber(state, at)),
                _ => return None,
            }
        }
        Some(request.words)
    }
}

/// Pushes a plain reply; returns any other.
///
/// # Safety
/// Called from a function that the engine has called with this state, with room for three values on its stack.
unsafe fn push(state: *mut lua_State, value: Value, resp3: bool) -> Option<Value> {
    // SAFETY: the caller's promise, for all of it.
    unsafe {
        match value {
            Value::Simple(text) => {
                lua_createtable(state, 0, 1);
                push_text(state, text.as_bytes());
                lua_rawsetfield(state, -2, c"ok".as_ptr());
            }
            Value::Array(values) if values.len() <= VALUES_MAX && values.iter().all(is_single) => {
                lua_createtable(state, values.len() as c_int, 0);
                for (value, at) in values.iter().zip(1..) {
                    push_single(state, value, resp3);
                    lua_rawseti_(state, -2, at);
                }
            }
            value if is_single(&value) => push_single(state, &value, resp3),
            other => return Some(other),
        }
    }
    None
}

fn is_single(value: &Value) -> bool {
    match value {
        Value::Bulk(bytes) => bytes.len() <= LONG_BYTES,
        Value::Int(_) | Value::Null => true,
        _ => false,
    }
}

/// # Safety
/// As of [`push`].
unsafe fn push_single(state: *mut lua_State, value: &Value, resp3: bool) {
    // SAFETY: the caller's promise, for all of it.
    unsafe {
        match value {
            Value::Bulk(bytes) => push_text(state, bytes),
            Value::Int(number) => lua_pushnumber(state, *number as f64),
            _ if resp3 => lua_pushnil(state),
            _ => lua_pushboolean(state, 0),
        }
    }
}

/// # Safety
/// Called from a function that the engine has called with this state, with room for a value on its stack.
unsafe fn push_text(state: *mut lua_State, text: &[u8]) {
    // SAFETY: the caller's promise; the engine copies the text.
    unsafe { lua_pushlstring_(state, text.as_ptr().cast(), text.len()) }
}

/// # Safety
/// Called by the engine, as a closure of [`setter`].
unsafe extern "C-unwind" fn set_arguments(state: *mut lua_State) -> c_int {
    // SAFETY: the caller's promise, for all of it. A C function has room for 20 values on the stack. Nothing fails
    // between the two calls of `lua_setreadonly`: only existing fields are set.
    unsafe {
        let shared = &*lua_tolightuserdata(state, lua_upvalueindex(1)).cast::<Shared>();
        let Some((words, keys_count)) = shared.arguments.take() else { return 0 };
        push_words(state, words.args().slice(0, keys_count));
        push_words(state, words.args().from(keys_count));
        let globals = lua_upvalueindex(2);
        lua_setreadonly(state, globals, 0);
        for (name, table) in [(3, 1), (4, 2)] {
            lua_pushvalue(state, lua_upvalueindex(name));
            lua_pushvalue(state, table);
            lua_rawset(state, globals);
        }
        lua_setreadonly(state, globals, 1);
        shared.spare.replace(words);
    }
    0
}

/// # Safety
/// As of [`push`].
unsafe fn push_words(state: *mut lua_State, words: Args<'_>) {
    // SAFETY: the caller's promise, for all of it.
    unsafe {
        lua_createtable(state, words.len() as c_int, 0);
        for (word, at) in words.iter().zip(1..) {
            push_text(state, word);
            lua_rawseti_(state, -2, at);
        }
    }
}
