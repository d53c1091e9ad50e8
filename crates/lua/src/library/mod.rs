//! The libraries available to scripts beside Lua's own.

mod bit;
pub mod cjson;
pub mod cmsgpack;
pub mod structs;

use crate::machine::Shared;
use mlua::{Lua, Table, Value};
use std::rc::Rc;

/// A decoded value, before conversion to Lua.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// No value.
    Nil,
    /// A null that is kept in tables: `cjson.null`.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// Bytes.
    Text(Vec<u8>),
    /// Values, indexed from 1.
    Array(Vec<Data>),
    /// Pairs; for duplicate keys, the later one counts.
    Map(Vec<(Data, Data)>),
}

impl Data {
    pub(crate) fn to_lua(&self, lua: &Lua, shared: &Shared) -> mlua::Result<Value> {
        shared.step()?;
        Ok(match self {
            Self::Nil => Value::Nil,
            Self::Null => Value::NULL,
            Self::Boolean(is) => Value::Boolean(*is),
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::String(lua.create_string(text)?),
            Self::Array(values) => {
                let table = lua.create_table_with_capacity(values.len(), 0)?;
                for (at, value) in values.iter().enumerate() {
                    table.raw_set(at + 1, value.to_lua(lua, shared)?)?;
                }
                Value::Table(table)
            }
            Self::Map(pairs) => {
                let table = lua.create_table_with_capacity(0, pairs.len())?;
                for (key, value) in pairs {
                    table.raw_set(key.to_lua(lua, shared)?, value.to_lua(lua, shared)?)?;
                }
                Value::Table(table)
            }
        })
    }
}

/// The memory limit of a decoder.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes left.
    pub bytes: usize,
}

impl Room {
    /// Reserves memory for a value with `bytes` bytes of its own; returns `false` if it does not suffice.
    fn take(&mut self, bytes: usize) -> bool {
        match self.bytes.checked_sub(bytes.saturating_add(size_of::<Data>())) {
            Some(left) => {
                self.bytes = left;
                true
            }
            None => false,
        }
    }
}

/// Returns all libraries, by name.
pub(crate) fn all(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("bit", bit::table(lua)?)?;
    table.raw_set("cjson", cjson::table(lua, shared)?)?;
    table.raw_set("cmsgpack", cmsgpack::table(lua, shared)?)?;
    table.raw_set("struct", structs::table(lua, shared)?)?;
    Ok(table)
}
