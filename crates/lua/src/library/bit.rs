//! `bit`: operations on 32 bits.

use crate::error::bad_argument;
use mlua::{Lua, Table, Value, Variadic};

pub(super) fn table(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    folds(lua, &table)?;
    let one = |name: &'static str, change: fn(i32) -> i32| {
        let function = move |lua: &Lua, value: Value| Ok(change(bits(lua, &value, 1, name)?));
        table.raw_set(name, lua.create_function(function)?)
    };
    one("tobit", |bits| bits)?;
    one("bnot", |bits| !bits)?;
    one("bswap", i32::swap_bytes)?;
    let shift = |name: &'static str, change: fn(i32, u32) -> i32| {
        let function = move |lua: &Lua, (value, by): (Value, Value)| {
            Ok(change(bits(lua, &value, 1, name)?, bits(lua, &by, 2, name)? as u32 & 31))
        };
        table.raw_set(name, lua.create_function(function)?)
    };
    shift("lshift", |bits, by| bits << by)?;
    shift("rshift", |bits, by| (bits as u32 >> by) as i32)?;
    shift("arshift", |bits, by| bits >> by)?;
    shift("rol", i32::rotate_left)?;
    shift("ror", i32::rotate_right)?;
    let hexadecimal = |lua: &Lua, (value, digits): (Value, Option<Value>)| {
        let number = bits(lua, &value, 1, "tohex")?;
        let digits = digits.map_or(Ok(8), |digits| bits(lua, &digits, 2, "tohex"))?;
        let count = digits.unsigned_abs().min(8) as usize;
        let text = format!("{number:08x}");
        let text = &text[8 - count..];
        Ok(if digits < 0 { text.to_ascii_uppercase() } else { text.to_owned() })
    };
    table.raw_set("tohex", lua.create_function(hexadecimal)?)?;
    Ok(table)
}

fn folds(lua: &Lua, table: &Table) -> mlua::Result<()> {
    type Fold = fn(i32, i32) -> i32;
    let all: [(&'static str, Fold); 3] = [("band", |a, b| a & b), ("bor", |a, b| a | b), ("bxor", |a, b| a ^ b)];
    for (name, fold) in all {
        let function = move |lua: &Lua, values: Variadic<Value>| {
            let mut result = bits(lua, values.first().unwrap_or(&Value::Nil), 1, name)?;
            for (at, value) in values.iter().enumerate().skip(1) {
                result = fold(result, bits(lua, value, at + 1, name)?);
            }
            Ok(result)
        };
        table.raw_set(name, lua.create_function(function)?)?;
    }
    Ok(())
}

/// Returns the low 32 bits of a number, rounded to the nearest integer.
fn bits(lua: &Lua, value: &Value, at: usize, function: &str) -> mlua::Result<i32> {
    let number = match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        Value::String(_) => lua.coerce_number(value.clone())?,
        _ => None,
    };
    let Some(number) = number else {
        let got = if value.is_nil() { "no value" } else { value.type_name() };
        return Err(bad_argument(lua, at, function, format_args!("number expected, got {got}")));
    };
    // In 1.5 * 2^52 + number, the low bits of the double are the number in two's complement.
    Ok((number + 6_755_399_441_055_744.0).to_bits() as u32 as i32)
}
