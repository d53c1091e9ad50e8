//! Encodes Lua values as JSON.

use super::{Invalid, Settings};
use crate::error::fault;
use crate::machine::Shared;
use crate::number::general;
use mlua::{Lua, Table, Value};

/// The maximum nesting depth of arrays and objects, which are written recursively.
const DEPTH_MAX: usize = 4000;
/// The length of the parts in which strings are written, in bytes.
const PART_BYTES: usize = 4096;

/// Writes values, up to a memory limit.
pub(super) struct JsonWriter<'a> {
    pub(super) lua: &'a Lua,
    pub(super) shared: &'a Shared,
    pub(super) settings: &'a Settings,
    pub(super) output: Vec<u8>,
}

impl JsonWriter<'_> {
    pub(super) fn value(&mut self, value: &Value, depth: usize) -> mlua::Result<()> {
        self.shared.step()?;
        self.shared.check_room(self.output.len())?;
        let Self { lua, settings, .. } = *self;
        match value {
            Value::Nil => self.output.extend_from_slice(b"null"),
            Value::LightUserData(pointer) if pointer.0.is_null() => self.output.extend_from_slice(b"null"),
            Value::Boolean(true) => self.output.extend_from_slice(b"true"),
            Value::Boolean(false) => self.output.extend_from_slice(b"false"),
            Value::Integer(number) => self::number(lua, *number as f64, settings, &mut self.output)?,
            Value::Number(number) => self::number(lua, *number, settings, &mut self.output)?,
            Value::String(text) => self.string(&text.as_bytes())?,
            Value::Table(table) => {
                let depth = depth + 1;
                if depth > settings.encode_depth_max.min(DEPTH_MAX) {
                    return Err(fault(lua, format_args!("Cannot serialise, excessive nesting ({depth})")));
                }
                match array_length(lua, self.shared, table, settings)? {
                    Some(length) if length > 0 => self.array(table, length, depth)?,
                    _ => self.object(table, depth)?,
                }
            }
            other => {
                return Err(fault(lua, format_args!("Cannot serialise {}: type not supported", other.type_name())));
            }
        }
        Ok(())
    }

    fn string(&mut self, text: &[u8]) -> mlua::Result<()> {
        self.output.push(b'"');
        // Escaping takes up to six times the bytes.
        for part in text.chunks(PART_BYTES) {
            self.shared.check_room(self.output.len() + part.len())?;
            string(part, &mut self.output);
        }
        self.output.push(b'"');
        Ok(())
    }

    fn array(&mut self, table: &Table, length: i64, depth: usize) -> mlua::Result<()> {
        self.output.push(b'[');
        for index in 1..=length {
            if index > 1 {
                self.output.push(b',');
            }
            self.value(&table.raw_get(index)?, depth)?;
        }
        self.output.push(b']');
        Ok(())
    }

    fn object(&mut self, table: &Table, depth: usize) -> mlua::Result<()> {
        self.output.push(b'{');
        for (at, pair) in table.pairs::<Value, Value>().enumerate() {
            let (key, item) = pair?;
            if at > 0 {
                self.output.push(b',');
            }
            match key {
                Value::String(ref text) => self.string(&text.as_bytes())?,
                Value::Integer(_) | Value::Number(_) => {
                    self.output.push(b'"');
                    let key = self.lua.coerce_number(key)?.unwrap_or_default();
                    number(self.lua, key, self.settings, &mut self.output)?;
                    self.output.push(b'"');
                }
                _ => {
                    let key = key.type_name();
                    let text = format_args!("Cannot serialise {key}: table key must be a number or string");
                    return Err(fault(self.lua, text));
                }
            }
            self.output.push(b':');
            self.value(&item, depth)?;
        }
        self.output.push(b'}');
        Ok(())
    }
}

/// Returns the highest index, if all keys are indices and not too many are missing.
fn array_length(lua: &Lua, shared: &Shared, table: &Table, settings: &Settings) -> mlua::Result<Option<i64>> {
    let (mut most, mut items, mut is_array) = (0i64, 0, true);
    // Usually examines one key of an object.
    for pair in table.pairs::<Value, Value>() {
        shared.step()?;
        let index = match pair?.0 {
            Value::Integer(index) if index >= 1 => index,
            Value::Number(index) if index >= 1.0 && index.fract() == 0.0 => index as i64,
            _ => {
                is_array = false;
                break;
            }
        };
        if index > most {
            // An index that exceeds 32 bits counts as the minimum.
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
    if number.fract() == 0.0 && number.abs() < 1e14 && settings.precision == 14 && !is_negative_zero(number) {
        output.extend_from_slice((number as i64).to_string().as_bytes());
    } else {
        output.extend_from_slice(general(number, settings.precision).as_bytes());
    }
    Ok(())
}

fn string(text: &[u8], output: &mut Vec<u8>) {
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
}

fn is_negative_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}
