//! Rust replacements of engine functions for the prelude: the collector, the clock, the compiler, and functions that
//! the engine would run without asking whether to stop.

use crate::error::bad_argument;
use crate::machine::{Shared, check_source};
use crate::number::general;
use crate::source::for_engine;
use memchr::memmem;
use mlua::{ChunkMode, Either, Lua, Table, Value};
use rustix::time::{ClockId, clock_gettime};
use std::borrow::Cow;
use std::rc::Rc;

/// Significant digits of a number converted to a string, as in Lua 5.1.
const DIGITS: usize = 14;

/// Adds them to the prelude's table.
pub(crate) fn add(lua: &Lua, raw: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    raw.raw_set("clock", lua.create_function(|_, ()| Ok(clock_s()))?)?;
    raw.raw_set("number_text", lua.create_function(|_, number: f64| Ok(general(number, DIGITS)))?)?;
    raw.raw_set("compile", lua.create_function(compile)?)?;
    raw.raw_set("find", lua.create_function(find)?)?;
    let collector = shared.clone();
    raw.raw_set("collectgarbage", lua.create_function(move |lua, option| collect(lua, &collector, option))?)
}

/// Returns this thread's CPU time, in seconds.
fn clock_s() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

type Compiled = (Either<mlua::Function, Value>, Option<String>);

/// Compiles a source to a function, or returns nil and the error.
fn compile(lua: &Lua, (source, name, environment): (mlua::String, mlua::String, Table)) -> mlua::Result<Compiled> {
    let source = source.as_bytes();
    if let Err(text) = check_source(&source) {
        return Ok((Either::Right(Value::Nil), Some(text)));
    }
    // A name ends at its first NUL, like a C string.
    let name: String = name.to_string_lossy().split('\0').next().unwrap_or_default().to_owned();
    let source = match for_engine(&source) {
        Ok(source) => source,
        Err(refused) => return Ok((Either::Right(Value::Nil), Some(refused.message(&shown(&name))))),
    };
    let chunk = lua.load(&*source).set_name(name).set_mode(ChunkMode::Text).set_environment(environment);
    Ok(match chunk.into_function() {
        Ok(function) => (Either::Left(function), None),
        Err(mlua::Error::SyntaxError { message, .. }) => (Either::Right(Value::Nil), Some(message)),
        Err(other) => return Err(other),
    })
}

/// Returns the name of a chunk as shown in errors.
fn shown(name: &str) -> Cow<'_, str> {
    match name.strip_prefix(['=', '@']) {
        Some(name) => name.into(),
        None => format!("[string \"{}\"]", name.lines().next().unwrap_or_default()).into(),
    }
}

/// `string.find` with a plain string: returns start and end. O(bytes of both).
fn find(
    _: &Lua,
    (text, part, init): (mlua::String, mlua::String, Option<f64>),
) -> mlua::Result<(Option<usize>, Option<usize>)> {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let from = match init.unwrap_or(1.0) {
        init if init < 0.0 => (text.len() as f64 + init).max(0.0) as usize,
        init => (init as usize).saturating_sub(1),
    };
    let found = text.get(from..).and_then(|rest| memmem::find(rest, &part)).map(|at| from + at);
    Ok((found.map(|at| at + 1), found.map(|at| at + part.len())))
}

/// `collectgarbage`: it returns once done. A full collection runs in steps, between which others may run.
fn collect(lua: &Lua, shared: &Shared, option: Option<mlua::String>) -> mlua::Result<Either<f64, bool>> {
    let option = option.map_or("collect".to_owned(), |option| option.to_string_lossy());
    match &*option {
        "count" => Ok(Either::Left(lua.used_memory() as f64 / 1024.0)),
        "step" => lua.gc_step().map(Either::Right),
        "collect" => {
            shared.collect(lua)?;
            Ok(Either::Left(0.0))
        }
        "stop" | "restart" | "setpause" | "setstepmul" => Err(bad_argument(
            lua,
            1,
            "collectgarbage",
            format_args!(
                "option '{option}' is not for scripts, which share one collector; there are 'collect', 'count' and 'step'"
            ),
        )),
        _ => Err(bad_argument(lua, 1, "collectgarbage", format_args!("invalid option '{option}'"))),
    }
}
