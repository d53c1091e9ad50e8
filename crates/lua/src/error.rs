//! Script errors, and how they are reported.

use crate::value::is_counted;
use base::raw_text;
use mlua::{Lua, Table, Value};
use std::fmt;

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The text, prefix included.
    pub text: Vec<u8>,
    /// The chunk and line of the failure: `@user_script`, 1.
    pub place: Option<(String, i64)>,
    /// True if the failing command has already counted it.
    pub is_counted: bool,
}

impl Fault {
    /// Formats it for the reply, given the name of the script.
    pub fn reply_text(&self, name: &str) -> String {
        let text = raw_text::from_bytes(&self.text);
        match &self.place {
            Some((source, line)) => format!("{text} script: {name}, on {source}:{line}."),
            None => text.into_owned(),
        }
    }
}

/// One of the server's own errors, propagating through Lua.
#[derive(Clone, Debug)]
pub(crate) struct Raised {
    pub(crate) text: Vec<u8>,
    pub(crate) is_counted: bool,
    /// True if it is in Lua's form: a text without a prefix.
    pub(crate) is_plain: bool,
}

impl fmt::Display for Raised {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&String::from_utf8_lossy(&self.text))
    }
}

impl std::error::Error for Raised {}

/// Returns an error with its prefix and without a location: `ERR ...`.
pub(crate) fn raised(text: impl Into<Vec<u8>>) -> mlua::Error {
    mlua::Error::external(Raised { text: text.into(), is_counted: false, is_plain: false })
}

/// Returns an error in the form of Lua's own libraries, prefixed with the location of the call.
pub(crate) fn fault(lua: &Lua, text: impl fmt::Display) -> mlua::Error {
    let mut text = raw_text::to_bytes(&format!("{}{text}", place(lua))).into_owned();
    // It may quote its input, and its memory is not limited.
    text.truncate(TEXT_BYTES_MAX);
    mlua::Error::external(Raised { text, is_counted: false, is_plain: true })
}

/// Returns where the running function was called: `user_script:1: `, skipping the prelude.
fn place(lua: &Lua) -> String {
    let place_at = |level| {
        let place = lua.inspect_stack(level, |debug| {
            let line = debug.current_line()?;
            Some((debug.source().short_src?.into_owned(), line))
        });
        place.flatten()
    };
    let of_caller = place_at(1).and_then(|place| if place.0 == "prelude" { place_at(2) } else { Some(place) });
    of_caller.map(|(source, line)| format!("{source}:{line}: ")).unwrap_or_default()
}

/// Returns the error for an argument of the wrong type.
pub(crate) fn bad_argument(lua: &Lua, at: usize, function: &str, why: impl fmt::Display) -> mlua::Error {
    fault(lua, format_args!("bad argument #{at} to '{function}' ({why})"))
}

/// Finds the server's own error inside a Lua error.
pub(crate) fn find_raised(error: &mlua::Error) -> Option<Raised> {
    match error {
        mlua::Error::CallbackError { cause, .. } => find_raised(cause),
        mlua::Error::ExternalError(inner) => {
            let inner: &(dyn std::error::Error + 'static) = &**inner;
            inner.downcast_ref::<Raised>().cloned()
        }
        mlua::Error::WithContext { cause, .. } => find_raised(cause),
        _ => None,
    }
}

fn raised_of(error: &mlua::Error) -> Raised {
    find_raised(error).unwrap_or_else(|| {
        let text = match error {
            mlua::Error::MemoryError(text) => text.clone(),
            mlua::Error::CallbackError { cause, .. } => return raised_of(cause),
            other => other.to_string(),
        };
        let first = text.lines().next().unwrap_or_default();
        Raised { text: first.as_bytes().to_vec(), is_counted: false, is_plain: true }
    })
}

/// Returns the wording of Lua 5.1 and Redis for an engine error that differs; `None` if it does not.
fn in_words_of_redis(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    // The prelude runs between a script and the engine; scripts should not see it as a location.
    let plain = match text.strip_prefix("prelude:").and_then(|rest| rest.split_once(": ")) {
        Some((line, rest)) if line.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => text,
    };
    let missing = |text: &str| {
        let (before, rest) = text.split_once("missing argument #")?;
        let rest = rest.strip_suffix(" expected)")?;
        Some(format!("{before}bad argument #{rest} expected, got no value)"))
    };
    let reworded = if let Some(before) = plain.strip_suffix("attempt to modify a readonly table") {
        format!("{before}Attempt to modify a readonly table")
    } else if let Some(reworded) = missing(plain) {
        reworded
    } else {
        plain.replacen("invalid argument #", "bad argument #", 1)
    };
    (reworded != text).then(|| reworded.into_bytes())
}

/// Returns what pcall returns for an error: its text, or the value itself if it is not one of ours.
pub(crate) fn error_text(lua: &Lua, error: Value) -> mlua::Result<Value> {
    match error {
        Value::Error(error) => Ok(Value::String(lua.create_string(raised_of(&error).text)?)),
        Value::String(text) => match in_words_of_redis(&text.as_bytes()) {
            Some(text) => Ok(Value::String(lua.create_string(text)?)),
            None => Ok(Value::String(text)),
        },
        Value::Table(table) => match table.raw_get::<Value>("err")? {
            text @ (Value::String(_) | Value::Integer(_) | Value::Number(_)) => Ok(text),
            _ => Ok(Value::Table(table)),
        },
        other => Ok(other),
    }
}

/// Returns the argument for an xpcall handler.
pub(crate) fn error_table(lua: &Lua, error: Value) -> mlua::Result<Value> {
    match error {
        Value::Error(error) => match raised_of(&error) {
            raised if raised.is_plain => Ok(Value::String(lua.create_string(raised.text)?)),
            raised => Ok(Value::Table(table_of(lua, &raised)?)),
        },
        Value::String(_) => error_text(lua, error),
        other => Ok(other),
    }
}

pub(crate) fn table_of(lua: &Lua, raised: &Raised) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(0, 2)?;
    table.raw_set("err", lua.create_string(&raised.text)?)?;
    if raised.is_counted {
        table.raw_set("ignore_error_stats_update", true)?;
    }
    Ok(table)
}

/// Returns why a script failed, from a handler called at the point of failure.
pub(crate) fn fault_of(lua: &Lua, error: &Value) -> Fault {
    let (text, is_counted) = match error {
        Value::Error(error) => {
            let raised = raised_of(error);
            let prefix: &[u8] = if raised.is_plain { b"ERR " } else { b"" };
            ([prefix, &raised.text].concat(), raised.is_counted)
        }
        Value::Table(table) => match table.raw_get::<Value>("err") {
            Ok(Value::String(text)) => (text.as_bytes().to_vec(), is_counted(table).unwrap_or(false)),
            _ => (b"ERR unknown error".to_vec(), false),
        },
        Value::String(text) => {
            let text = text.as_bytes();
            let reworded = in_words_of_redis(&text);
            ([b"ERR ", reworded.as_deref().unwrap_or(&text)].concat(), false)
        }
        other => (format!("ERR {}", other.to_string().unwrap_or_default()).into_bytes(), false),
    };
    Fault { text, place: place_of_fault(lua), is_counted }
}

/// Returns the innermost chunk on the stack that is not ours.
fn place_of_fault(lua: &Lua) -> Option<(String, i64)> {
    (1..LEVELS_MAX).find_map(|level| {
        lua.inspect_stack(level, |debug| {
            let line = debug.current_line()?;
            let source = debug.source();
            let name = source.source.filter(|_| source.what != "C")?.into_owned();
            let is_ours = ["=prelude", "=(tail call)", "=[C]"].contains(&&*name);
            (!is_ours).then_some((name, line as i64))
        })
        .flatten()
    })
}

/// The maximum length of our error texts, in bytes.
const TEXT_BYTES_MAX: usize = 1024;
/// The maximum number of stack levels searched for a chunk of the script.
const LEVELS_MAX: usize = 32;

/// Not reported: the host has stopped the script.
pub(crate) fn stopped() -> mlua::Error {
    raised("ERR stopped")
}
