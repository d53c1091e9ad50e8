//! `cjson`: JSON, with its settings.

pub mod decode;
mod encode;

use crate::error::{bad_argument, fault};
use crate::library::Room;
use crate::machine;
use mlua::{Lua, MultiValue, Table, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// The settings of a script.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// True if an array with more holes than allowed becomes an object; false if it is an error.
    sparse_converts: bool,
    /// The maximum ratio of an array's length to its items; 0 for no limit.
    sparse_ratio: i64,
    /// Up to this length, holes do not count.
    sparse_safe: i64,
    encode_depth_max: usize,
    /// The maximum nesting depth of tables read.
    pub decode_depth_max: usize,
    precision: usize,
    keeps_buffer: bool,
    encode_invalid: Invalid,
    /// True if hexadecimal numbers, infinities and NaN are accepted.
    pub decode_invalid: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Invalid {
    Refused,
    Written,
    Null,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sparse_converts: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_depth_max: 1000,
            decode_depth_max: 1000,
            precision: 14,
            keeps_buffer: true,
            encode_invalid: Invalid::Refused,
            decode_invalid: true,
        }
    }
}

type SharedSettings = Rc<RefCell<Settings>>;

pub(super) fn table(lua: &Lua, shared: &Rc<machine::Shared>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let settings = SharedSettings::default();
    let (used, host) = (settings.clone(), shared.clone());
    let encode = move |lua: &Lua, values: MultiValue| {
        let value = only(lua, &values, "encode")?;
        // No other script runs while this one is suspended, but its settings are its own.
        let settings = *used.borrow();
        let mut writer = encode::JsonWriter { lua, shared: &host, settings: &settings, output: Vec::new() };
        writer.value(&value, 0)?;
        lua.create_string(writer.output)
    };
    table.raw_set("encode", lua.create_function(encode)?)?;
    let (used, host) = (settings.clone(), shared.clone());
    let decode = move |lua: &Lua, values: MultiValue| {
        let value = only(lua, &values, "decode")?;
        let Some(text) = lua.coerce_string(value.clone())? else {
            let why = format!("string expected, got {}", value.type_name());
            return Err(bad_argument(lua, 1, "decode", why));
        };
        let data = decode::decode(&text.as_bytes(), &used.borrow(), Room { bytes: host.room() });
        data.map_err(|why| fault(lua, why))?.to_lua(lua, &host)
    };
    table.raw_set("decode", lua.create_function(decode)?)?;
    switches(lua, &table, &settings)?;
    numbers(lua, &table, &settings)?;
    let host = shared.clone();
    table.raw_set("new", lua.create_function(move |lua, ()| self::table(lua, &host))?)?;
    table.raw_set("null", Value::NULL)?;
    table.raw_set("_NAME", "cjson")?;
    table.raw_set("_VERSION", "2.1.0")?;
    Ok(table)
}

fn only(lua: &Lua, values: &MultiValue, function: &str) -> mlua::Result<Value> {
    match values.len() {
        1 => Ok(values[0].clone()),
        _ => Err(bad_argument(lua, 1, function, "expected 1 argument")),
    }
}

/// Reads a boolean setting.
fn switch(lua: &Lua, value: Option<&Value>, function: &str) -> mlua::Result<Option<bool>> {
    match value {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Boolean(is)) => Ok(Some(*is)),
        Some(Value::String(word)) if &*word.as_bytes() == b"on" => Ok(Some(true)),
        Some(Value::String(word)) if &*word.as_bytes() == b"off" => Ok(Some(false)),
        Some(Value::String(word)) => {
            Err(bad_argument(lua, 1, function, format_args!("invalid option '{}'", word.to_string_lossy())))
        }
        Some(other) => {
            let why = format!("string expected, got {}", other.type_name());
            Err(bad_argument(lua, 1, function, why))
        }
    }
}

fn number(lua: &Lua, values: &MultiValue, at: usize, range: (i64, i64), name: &str) -> mlua::Result<Option<i64>> {
    let Some(value) = values.get(at).filter(|value| !value.is_nil()) else { return Ok(None) };
    let Some(number) = lua.coerce_number(value.clone())? else {
        let why = format!("number expected, got {}", value.type_name());
        return Err(bad_argument(lua, at + 1, name, why));
    };
    let number = crate::number::cut(number);
    let (least, most) = range;
    if !(least..=most).contains(&number) {
        let why = format!("expected integer between {least} and {most}");
        return Err(bad_argument(lua, at + 1, name, why));
    }
    Ok(Some(number))
}

fn switches(lua: &Lua, table: &Table, settings: &SharedSettings) -> mlua::Result<()> {
    let set = settings.clone();
    let keep = move |lua: &Lua, values: MultiValue| {
        let given = switch(lua, values.front(), "encode_keep_buffer")?;
        let mut settings = set.borrow_mut();
        settings.keeps_buffer = given.unwrap_or(settings.keeps_buffer);
        Ok(settings.keeps_buffer)
    };
    table.raw_set("encode_keep_buffer", lua.create_function(keep)?)?;
    let set = settings.clone();
    let decode = move |lua: &Lua, values: MultiValue| {
        let given = switch(lua, values.front(), "decode_invalid_numbers")?;
        let mut settings = set.borrow_mut();
        settings.decode_invalid = given.unwrap_or(settings.decode_invalid);
        Ok(settings.decode_invalid)
    };
    table.raw_set("decode_invalid_numbers", lua.create_function(decode)?)?;
    let set = settings.clone();
    let encode = move |lua: &Lua, values: MultiValue| {
        let is_null = matches!(values.front(), Some(Value::String(word)) if &*word.as_bytes() == b"null");
        let given = if is_null { None } else { switch(lua, values.front(), "encode_invalid_numbers")? };
        let mut settings = set.borrow_mut();
        match given {
            _ if is_null => settings.encode_invalid = Invalid::Null,
            Some(true) => settings.encode_invalid = Invalid::Written,
            Some(false) => settings.encode_invalid = Invalid::Refused,
            None => {}
        }
        match settings.encode_invalid {
            Invalid::Null => Ok(Value::String(lua.create_string("null")?)),
            other => Ok(Value::Boolean(other == Invalid::Written)),
        }
    };
    table.raw_set("encode_invalid_numbers", lua.create_function(encode)?)
}

fn numbers(lua: &Lua, table: &Table, settings: &SharedSettings) -> mlua::Result<()> {
    type Field = fn(&mut Settings) -> &mut usize;
    let all: [(&'static str, i64, Field); 3] = [
        ("encode_max_depth", i64::from(i32::MAX), |settings| &mut settings.encode_depth_max),
        ("decode_max_depth", i64::from(i32::MAX), |settings| &mut settings.decode_depth_max),
        ("encode_number_precision", 14, |settings| &mut settings.precision),
    ];
    for (name, most, field) in all {
        let set = settings.clone();
        let function = move |lua: &Lua, values: MultiValue| {
            let given = number(lua, &values, 0, (1, most), name)?;
            let mut settings = set.borrow_mut();
            let field = field(&mut settings);
            *field = given.map_or(*field, |given| given as usize);
            Ok(*field)
        };
        table.raw_set(name, lua.create_function(function)?)?;
    }
    let set = settings.clone();
    let sparse = move |lua: &Lua, values: MultiValue| {
        let name = "encode_sparse_array";
        let converts = switch(lua, values.front(), name)?;
        let ratio = number(lua, &values, 1, (0, i64::from(i32::MAX)), name)?;
        let safe = number(lua, &values, 2, (0, i64::from(i32::MAX)), name)?;
        let mut settings = set.borrow_mut();
        settings.sparse_converts = converts.unwrap_or(settings.sparse_converts);
        settings.sparse_ratio = ratio.unwrap_or(settings.sparse_ratio);
        settings.sparse_safe = safe.unwrap_or(settings.sparse_safe);
        Ok((settings.sparse_converts, settings.sparse_ratio, settings.sparse_safe))
    };
    table.raw_set("encode_sparse_array", lua.create_function(sparse)?)
}
