//! Lua's values as JSON.

use super::{Invalid, Settings};
use crate::error::fault;
use crate::number::general;
use mlua::{Lua, Table, Value};

/// Arrays and objects are written by recursion, on a stack that has room for so many.
const DEPTH_MAX: usize = 4000;

pub(super) fn value(
    lua: &Lua,
    value: &Value,
    settings: &Settings,
    depth: usize,
    output: &mut Vec<u8>,
) -> mlua::Result<()> {
    match value {
        Value::Nil => output.extend_from_slice(b"null"),
        Value::LightUserData(pointer) if pointer.0.is_null() => output.extend_from_slice(b"null"),
        Value::Boolean(true) => output.extend_from_slice(b"true"),
        Value::Boolean(false) => output.extend_from_slice(b"false"),
        Value::Integer(number) => self::number(lua, *number as f64, settings, output)?,
        Value::Number(number) => self::number(lua, *number, settings, output)?,
        Value::String(text) => string(&text.as_bytes(), output),
        Value::Table(table) => {
            let depth = depth + 1;
            if depth > settings.encode_depth_max.min(DEPTH_MAX) {
                return Err(fault(lua, format_args!("Cannot serialise, excessive nesting ({depth})")));
            }
            match array_length(lua, table, settings)? {
                Some(length) if length > 0 => array(lua, table, length, settings, depth, output)?,
                _ => object(lua, table, settings, depth, output)?,
            }
        }
        other => {
            return Err(fault(lua, format_args!("Cannot serialise {}: type not supported", other.type_name())));
        }
    }
    Ok(())
}

/// The greatest index, if all keys are indexes and not too many between them are missing.
fn array_length(lua: &Lua, table: &Table, settings: &Settings) -> mlua::Result<Option<i64>> {
    let (mut most, mut items, mut is_array) = (0i64, 0, true);
    // Looks at one key of an object, as a rule.
    for pair in table.pairs::<Value, Value>() {
        let index = match pair?.0 {
            Value::Integer(index) if index >= 1 => index,
            Value::Number(index) if index >= 1.0 && index.fract() == 0.0 => index as i64,
            _ => {
                is_array = false;
                break;
            }
        };
        if index > most {
            // One that is too great for 32 bits counts as the least of them.
            most = i32::try_from(index).unwrap_or(i32::MIN).into();
        }
        items += 1;
    }
    if !is_array {
        return Ok(None);
    }
    let is_sparse = settings.sparse_ratio > 0 && most > settings.sparse_safe && most > items * settings.sparse_ratio;
    match is_sparse {
        true if settings.sparse_converts => Ok(None),
        true => Err(fault(lua, "Cannot serialise table: excessively sparse array")),
        false => Ok(Some(most)),
    }
}

fn array(
    lua: &Lua,
    table: &Table,
    length: i64,
    settings: &Settings,
    depth: usize,
    output: &mut Vec<u8>,
) -> mlua::Result<()> {
    output.push(b'[');
    for index in 1..=length {
        if index > 1 {
            output.push(b',');
        }
        value(lua, &table.raw_get(index)?, settings, depth, output)?;
    }
    output.push(b']');
    Ok(())
}

fn object(lua: &Lua, table: &Table, settings: &Settings, depth: usize, output: &mut Vec<u8>) -> mlua::Result<()> {
    output.push(b'{');
    for (at, pair) in table.pairs::<Value, Value>().enumerate() {
        let (key, item) = pair?;
        if at > 0 {
            output.push(b',');
        }
        match key {
            Value::String(ref text) => string(&text.as_bytes(), output),
            Value::Integer(_) | Value::Number(_) => {
                output.push(b'"');
                number(lua, lua.coerce_number(key)?.unwrap_or_default(), settings, output)?;
                output.push(b'"');
            }
            _ => {
                return Err(fault(
                    lua,
                    format_args!("Cannot serialise {}: table key must be a number or string", key.type_name()),
                ));
            }
        }
        output.push(b':');
        value(lua, &item, settings, depth, output)?;
    }
    output.push(b'}');
    Ok(())
}

fn number(lua: &Lua, number: f64, settings: &Settings, output: &mut Vec<u8>) -> mlua::Result<()> {
    if !number.is_finite() {
        match settings.encode_invalid {
            Invalid::Refused => return Err(fault(lua, "Cannot serialise number: must not be NaN or Inf")),
            Invalid::Null => {
                output.extend_from_slice(b"null");
                return Ok(());
            }
            Invalid::Written if number.is_nan() => {
                output.extend_from_slice(b"nan");
                return Ok(());
            }
            Invalid::Written => {}
        }
    }
    if number.fract() == 0.0 && number.abs() < 1e14 && settings.precision == 14 {
        output.extend_from_slice((number as i64).to_string().as_bytes());
    } else {
        output.extend_from_slice(general(number, settings.precision).as_bytes());
    }
    Ok(())
}

fn string(text: &[u8], output: &mut Vec<u8>) {
    output.push(b'"');
    for byte in text {
        match byte {
            b'"' => output.extend_from_slice(b"\\\""),
            b'\\' => output.extend_from_slice(b"\\\\"),
            b'/' => output.extend_from_slice(b"\\/"),
            0x08 => output.extend_from_slice(b"\\b"),
            b'\t' => output.extend_from_slice(b"\\t"),
            b'\n' => output.extend_from_slice(b"\\n"),
            0x0c => output.extend_from_slice(b"\\f"),
            b'\r' => output.extend_from_slice(b"\\r"),
            0..=0x1f | 0x7f => output.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => output.push(*byte),
        }
    }
    output.push(b'"');
}
