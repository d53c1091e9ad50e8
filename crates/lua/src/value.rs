//! Converts replies to Lua values, and Lua results to replies.

use crate::machine::Shared;
use crate::number::cut;
use base::raw_text;
use mlua::{BString, Either, IntoLua, Lua, Table, Value as Lv};
use wire::client::Value;
use wire::{Args, Reply};

/// The maximum nesting depth of tables in a reply.
const DEPTH_MAX: usize = 1000;
/// Memory is checked after this many values.
const VALUES_OF_A_CHECK: usize = 1024;
/// Memory is checked before each string longer than this, in bytes.
pub(crate) const LONG_BYTES: usize = 64 << 10;

/// Returns words as a table: KEYS, ARGV.
pub(crate) fn words(lua: &Lua, shared: &Shared, words: Args<'_>) -> mlua::Result<Table> {
    let mut stepped = Ok(());
    let table = lua.create_sequence_from(words.iter().map(|word| {
        if stepped.is_ok() {
            stepped = shared.step();
        }
        match std::str::from_utf8(word) {
            Ok(text) => Either::Left(text),
            Err(_) => Either::Right(BString::from(word)),
        }
    }))?;
    stepped.map(|()| table)
}

/// Converts a reply for a script. An error becomes a table with `err`.
pub(crate) fn to_lua(lua: &Lua, shared: &Shared, value: Value) -> mlua::Result<Lv> {
    shared.step()?;
    let resp3 = shared.speaks_resp3.get();
    let to_lua = |value: Value| to_lua(lua, shared, value);
    Ok(match value {
        Value::Bulk(bytes) => {
            if bytes.len() > LONG_BYTES {
                shared.check_memory(lua)?;
            }
            Lv::String(lua.create_string(bytes)?)
        }
        Value::Int(number) => Lv::Number(number as f64),
        Value::Simple(text) => single(lua, "ok", lua.create_string(&*raw_text::to_bytes(&text))?)?,
        Value::Error(text) => single(lua, "err", lua.create_string(&*raw_text::to_bytes(&text))?)?,
        Value::Null if resp3 => Lv::Nil,
        Value::Null | Value::NullArray => Lv::Boolean(false),
        Value::Array(values) | Value::Push(values) => {
            let table = lua.create_table_with_capacity(values.len(), 0)?;
            for (at, value) in values.into_iter().enumerate() {
                if at % VALUES_OF_A_CHECK == VALUES_OF_A_CHECK - 1 {
                    shared.check_memory(lua)?;
                }
                // Not all at once: each takes one of the engine's handles.
                table.raw_set(at + 1, to_lua(value)?)?;
            }
            Lv::Table(table)
        }
        Value::Map(pairs) => {
            let table = lua.create_table_with_capacity(0, pairs.len())?;
            for (key, value) in pairs {
                table.raw_set(to_lua(key)?, to_lua(value)?)?;
            }
            single(lua, "map", table)?
        }
        Value::Set(members) => {
            let table = lua.create_table_with_capacity(0, members.len())?;
            for member in members {
                table.raw_set(to_lua(member)?, true)?;
            }
            single(lua, "set", table)?
        }
        Value::Double(number) => single(lua, "double", number)?,
        Value::Boolean(is) => Lv::Boolean(is),
        Value::BigNumber(digits) => single(lua, "big_number", lua.create_string(&*raw_text::to_bytes(&digits))?)?,
        Value::Verbatim { format, text } => {
            let table = lua.create_table_with_capacity(0, 2)?;
            table.raw_set("string", text)?;
            table.raw_set("format", format)?;
            single(lua, "verbatim_string", table)?
        }
    })
}

/// Returns a table with one field.
fn single(lua: &Lua, field: &str, value: impl IntoLua) -> mlua::Result<Lv> {
    let table = lua.create_table_with_capacity(0, 1)?;
    table.raw_set(field, value)?;
    Ok(Lv::Table(table))
}

/// Errors in a script's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// True if there are any.
    pub any: bool,
    /// Errors that no command has counted.
    pub uncounted: Vec<String>,
}

impl Errors {
    fn note(&mut self, table: &Table, text: &str) -> mlua::Result<()> {
        self.any = true;
        if !is_counted(table)? {
            self.uncounted.push(text.to_owned());
        }
        Ok(())
    }
}

/// Returns true if the failing command has already counted this error.
pub(crate) fn is_counted(table: &Table) -> mlua::Result<bool> {
    Ok(matches!(table.raw_get("ignore_error_stats_update")?, Lv::Boolean(true)))
}

/// Converts a script's result to a reply.
pub(crate) struct Replying<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) errors: &'a mut Errors,
    /// The bytes of the reply so far: a table referenced several times counts each time.
    pub(crate) bytes: usize,
}

impl Replying<'_> {
    pub(crate) fn reply(&mut self, value: &Lv, depth: usize) -> mlua::Result<Value> {
        self.shared.step()?;
        self.bytes += size_of::<Value>();
        if let Lv::String(text) = value {
            self.bytes += text.as_bytes().len();
        }
        self.shared.check_room(self.bytes)?;
        let resp3 = self.shared.speaks_resp3.get();
        Ok(match value {
            Lv::String(text) => Value::Bulk(text.as_bytes().to_vec()),
            Lv::Integer(number) => Value::Int(*number),
            Lv::Number(number) => Value::Int(cut(*number)),
            Lv::Boolean(is) if resp3 => Value::Boolean(*is),
            Lv::Boolean(true) => Value::Int(1),
            Lv::Table(_) if depth == DEPTH_MAX => Value::Error("ERR reached lua stack limit".to_owned()),
            Lv::Table(table) => self.reply_of_table(table, depth)?,
            _ => Value::Null,
        })
    }

    fn reply_of_table(&mut self, table: &Table, depth: usize) -> mlua::Result<Value> {
        let text = |text: &mlua::String| raw_text::from_bytes(&text.as_bytes()).into_owned();
        if let Lv::String(error) = table.raw_get("err")? {
            let text = text(&error);
            self.errors.note(table, &text)?;
            return Ok(Value::Error(text));
        }
        if let Lv::String(status) = table.raw_get("ok")? {
            return Ok(Value::Simple(text(&status)));
        }
        match table.raw_get("double")? {
            Lv::Number(number) => return Ok(Value::Double(number)),
            Lv::Integer(number) => return Ok(Value::Double(number as f64)),
            _ => {}
        }
        if let Lv::Table(map) = table.raw_get("map")? {
            let mut pairs = Vec::new();
            map.for_each(|key: Lv, value: Lv| {
                pairs.push((self.reply(&key, depth + 1)?, self.reply(&value, depth + 1)?));
                Ok(())
            })?;
            return Ok(Value::Map(pairs));
        }
        if let Lv::Table(set) = table.raw_get("set")? {
            let mut members = Vec::new();
            set.for_each(|key: Lv, _: Lv| {
                members.push(self.reply(&key, depth + 1)?);
                Ok(())
            })?;
            return Ok(Value::Set(members));
        }
        if let Lv::String(digits) = table.raw_get("big_number")? {
            return Ok(Value::BigNumber(text(&digits).replace(['\r', '\n'], " ")));
        }
        if let Lv::Table(verbatim) = table.raw_get("verbatim_string")?
            && let (Lv::String(string), Lv::String(format)) = (verbatim.raw_get("string")?, verbatim.raw_get("format")?)
        {
            return Ok(Value::Verbatim { format: text(&format), text: text(&string) });
        }
        // Ignores metatables: a reply runs no code.
        let mut values = Vec::new();
        loop {
            match table.raw_get(values.len() + 1)? {
                Lv::Nil => return Ok(Value::Array(values)),
                value => values.push(self.reply(&value, depth + 1)?),
            }
        }
    }
}

/// Writes a script's result.
pub fn write(value: &Value, reply: &mut dyn Reply) {
    match value {
        Value::Array(values) | Value::Push(values) => {
            reply.array(values.len());
            values.iter().for_each(|value| write(value, reply));
        }
        Value::Set(values) => {
            reply.set(values.len());
            values.iter().for_each(|value| write(value, reply));
        }
        Value::Map(pairs) => {
            reply.map(pairs.len());
            for (key, value) in pairs {
                write(key, reply);
                write(value, reply);
            }
        }
        Value::Simple(text) => reply.simple(&text.replace(['\r', '\n'], " ")),
        Value::Error(text) => reply.error(text),
        Value::Int(number) => reply.int(*number),
        Value::Bulk(bytes) => reply.bulk(bytes),
        Value::Null => reply.null(),
        Value::NullArray => reply.null_array(),
        Value::Double(number) => reply.double(*number),
        Value::Boolean(is) => reply.boolean(*is),
        Value::BigNumber(digits) => reply.big_number(digits),
        Value::Verbatim { format, text } => reply.verbatim(format, text),
    }
}
