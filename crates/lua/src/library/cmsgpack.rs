//! `cmsgpack`: MessagePack.

use crate::error::{bad_argument, fault};
use crate::library::{Data, Room};
use crate::machine::{OUT_OF_MEMORY, Shared};
use mlua::{Lua, MultiValue, Table, Value};
use std::rc::Rc;

/// The maximum nesting depth of packed tables; deeper ones become nil.
const PACKED_DEPTH_MAX: usize = 16;
/// The maximum nesting depth of arrays and maps read.
const READ_DEPTH_MAX: usize = 1000;
/// The maximum number of values a call returns: the limit of the engine's stack.
const VALUES_MAX: usize = 7900;
/// The maximum capacity reserved for an array because of its header alone, in values.
const CAPACITY_MAX: usize = 1024;

pub(super) fn table(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let host = shared.clone();
    let pack = move |lua: &Lua, values: MultiValue| {
        if values.is_empty() {
            return Err(bad_argument(lua, 0, "pack", "MessagePack pack needs input."));
        }
        let mut writer = MessagePackWriter { shared: &host, output: Vec::new() };
        values.iter().try_for_each(|value| writer.pack(value, 0))?;
        lua.create_string(writer.output)
    };
    table.raw_set("pack", lua.create_function(pack)?)?;
    let host = shared.clone();
    let all = move |lua: &Lua, values: MultiValue| unpack(lua, &host, &values, "unpack", 0, 0);
    table.raw_set("unpack", lua.create_function(all)?)?;
    let host = shared.clone();
    let one = move |lua: &Lua, values: MultiValue| {
        let offset = integer(lua, values.get(1), 2, "unpack_one", Some(0))?;
        unpack(lua, &host, &values, "unpack_one", 1, offset)
    };
    table.raw_set("unpack_one", lua.create_function(one)?)?;
    let host = shared.clone();
    let some = move |lua: &Lua, values: MultiValue| {
        let limit = integer(lua, values.get(1), 2, "unpack_limit", None)?;
        let offset = integer(lua, values.get(2), 3, "unpack_limit", Some(0))?;
        unpack(lua, &host, &values, "unpack_limit", limit, offset)
    };
    table.raw_set("unpack_limit", lua.create_function(some)?)?;
    table.raw_set("_NAME", "cmsgpack")?;
    table.raw_set("_VERSION", "lua-cmsgpack 0.4.0")?;
    table.raw_set("_COPYRIGHT", "Bobbin")?;
    table.raw_set("_DESCRIPTION", "MessagePack for scripts")?;
    Ok(table)
}

fn integer(lua: &Lua, value: Option<&Value>, at: usize, function: &str, absent: Option<i64>) -> mlua::Result<i64> {
    match (value, absent) {
        (None | Some(Value::Nil), Some(absent)) => Ok(absent),
        (value, _) => {
            let number = value.map_or(Ok(None), |value| lua.coerce_number(value.clone()))?;
            let got = value.map_or("no value", Value::type_name);
            let wrong = || bad_argument(lua, at, function, format_args!("number expected, got {got}"));
            number.map(crate::number::cut).ok_or_else(wrong)
        }
    }
}

/// Packs values, up to a memory limit.
struct MessagePackWriter<'a> {
    shared: &'a Shared,
    output: Vec<u8>,
}

impl MessagePackWriter<'_> {
    fn pack(&mut self, value: &Value, depth: usize) -> mlua::Result<()> {
        self.shared.step()?;
        let output = &mut self.output;
        let own_bytes = if let Value::String(text) = value { text.as_bytes().len() } else { 0 };
        self.shared.check_room(output.len() + own_bytes)?;
        match value {
            Value::String(text) => {
                let text = text.as_bytes();
                head(output, text.len(), &[(31, 0xa0)], &[(0xd9, 1), (0xda, 2), (0xdb, 4)]);
                output.extend_from_slice(&text);
            }
            Value::Boolean(is) => output.push(0xc2 + u8::from(*is)),
            Value::Integer(number) => pack_integer(*number, output),
            Value::Number(number) => pack_double(*number, output),
            Value::Table(table) if depth < PACKED_DEPTH_MAX => self.pack_table(table, depth + 1)?,
            _ => output.push(0xc0),
        }
        Ok(())
    }

    fn pack_table(&mut self, table: &Table, depth: usize) -> mlua::Result<()> {
        let (mut count, mut most, mut is_array) = (0usize, 0i64, true);
        table.for_each(|key: Value, _: Value| {
            self.shared.step()?;
            count += 1;
            match key {
                Value::Integer(index) if index >= 1 => most = most.max(index),
                _ => is_array = false,
            }
            Ok(())
        })?;
        if is_array && most == count as i64 {
            head(&mut self.output, count, &[(15, 0x90)], &[(0xdc, 2), (0xdd, 4)]);
            return (1..=most).try_for_each(|index| self.pack(&table.raw_get(index)?, depth));
        }
        head(&mut self.output, count, &[(15, 0x80)], &[(0xde, 2), (0xdf, 4)]);
        table.for_each(|key: Value, value: Value| {
            self.pack(&key, depth)?;
            self.pack(&value, depth)
        })
    }
}

/// Writes a type byte and a length: combined in one byte, or in as many bytes as it needs.
fn head(output: &mut Vec<u8>, length: usize, short: &[(usize, u8)], long: &[(u8, usize)]) {
    if let Some((_, sign)) = short.iter().find(|(most, _)| length <= *most) {
        output.push(sign | length as u8);
        return;
    }
    let fits = |bytes: &usize| *bytes == 4 || length < 1 << (8 * bytes);
    let (sign, bytes) = long.iter().find(|(_, bytes)| fits(bytes)).expect("four bytes hold any length");
    output.push(*sign);
    output.extend_from_slice(&(length as u32).to_be_bytes()[4 - bytes..]);
}

fn pack_integer(number: i64, output: &mut Vec<u8>) {
    let (sign, bytes) = match number {
        -32..=127 => return output.push(number as u8),
        128..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        0x1_0000_0000.. => (0xcf, 8),
        -128..=-33 => (0xd0, 1),
        -0x8000..=-129 => (0xd1, 2),
        -0x8000_0000..=-0x8001 => (0xd2, 4),
        _ => (0xd3, 8),
    };
    output.push(sign);
    output.extend_from_slice(&number.to_be_bytes()[8 - bytes..]);
}

fn pack_double(number: f64, output: &mut Vec<u8>) {
    if number.fract() == 0.0 && (-9.2e18..9.2e18).contains(&number) {
        return pack_integer(number as i64, output);
    }
    let single = number as f32;
    if f64::from(single) == number {
        output.push(0xca);
        output.extend_from_slice(&single.to_be_bytes());
    } else {
        output.push(0xcb);
        output.extend_from_slice(&number.to_be_bytes());
    }
}

/// Reads values from an offset on: all of them, or up to a limit, preceded by the next offset.
fn unpack(
    lua: &Lua,
    shared: &Shared,
    values: &MultiValue,
    function: &str,
    limit: i64,
    offset: i64,
) -> mlua::Result<MultiValue> {
    let given = values.front().cloned().unwrap_or(Value::Nil);
    let Some(text) = lua.coerce_string(given.clone())? else {
        let got = if values.is_empty() { "no value" } else { given.type_name() };
        return Err(bad_argument(lua, 1, function, format_args!("string expected, got {got}")));
    };
    let bytes = text.as_bytes();
    if limit < 0 || offset < 0 {
        let text = format!("Invalid request to unpack with offset of {offset} and limit of {}.", bytes.len());
        return Err(fault(lua, text));
    }
    if offset as u64 > bytes.len() as u64 {
        let length = bytes.len();
        return Err(fault(lua, format_args!("Start offset {offset} greater than input length {length}.")));
    }
    let is_all = limit == 0 && offset == 0;
    let mut reader =
        MessagePackReader { rest: &bytes[offset as usize..], depth: 0, room: Room { bytes: shared.room() } };
    let mut read = Vec::new();
    while !reader.rest.is_empty() && (is_all || (read.len() as i64) < limit) {
        if read.len() == VALUES_MAX {
            return Err(fault(lua, "too many values to unpack"));
        }
        read.push(reader.value().map_err(|why| fault(lua, why))?.to_lua(lua, shared)?);
    }
    if !is_all {
        let next = if reader.rest.is_empty() { -1 } else { (bytes.len() - reader.rest.len()) as i64 };
        read.insert(0, Value::Integer(next));
    }
    Ok(MultiValue::from_vec(read))
}

/// Decodes the value at the start of `bytes` and advances past it, within the memory limit.
///
/// # Errors
/// The reason it is invalid.
pub fn decode(bytes: &mut &[u8], room: Room) -> Result<Data, &'static str> {
    let mut reader = MessagePackReader { rest: bytes, depth: 0, room };
    let data = reader.value()?;
    *bytes = reader.rest;
    Ok(data)
}

struct MessagePackReader<'a> {
    rest: &'a [u8],
    depth: usize,
    room: Room,
}

const MISSING: &str = "Missing bytes in input.";
const BAD: &str = "Bad data format in input.";

impl MessagePackReader<'_> {
    fn take(&mut self, count: usize) -> Result<&[u8], &'static str> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(MISSING)?;
        self.rest = rest;
        Ok(taken)
    }

    fn need_room(&mut self, bytes: usize) -> Result<(), &'static str> {
        if self.room.take(bytes) { Ok(()) } else { Err(OUT_OF_MEMORY) }
    }

    /// Reads a big-endian number of `bytes` bytes.
    fn unsigned(&mut self, bytes: usize) -> Result<u64, &'static str> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn value(&mut self) -> Result<Data, &'static str> {
        let sign = self.take(1)?[0];
        self.need_room(0)?;
        Ok(match sign {
            0..=0x7f => Data::Number(f64::from(sign)),
            0xe0..=0xff => Data::Number(f64::from(sign as i8)),
            0x80..=0x8f => self.map(usize::from(sign & 15))?,
            0x90..=0x9f => self.array(usize::from(sign & 15))?,
            0xa0..=0xbf => self.text(usize::from(sign & 31))?,
            0xc0 => Data::Nil,
            0xc2 => Data::Boolean(false),
            0xc3 => Data::Boolean(true),
            0xca => Data::Number(f64::from(f32::from_bits(self.unsigned(4)? as u32))),
            0xcb => Data::Number(f64::from_bits(self.unsigned(8)?)),
            0xcc..=0xce => Data::Number(self.unsigned(1 << (sign - 0xcc))? as f64),
            // Lua integers in Redis are signed.
            0xcf => Data::Number(self.unsigned(8)? as i64 as f64),
            0xd0..=0xd3 => {
                let bytes = 1 << (sign - 0xd0);
                let shift = 64 - 8 * bytes as u32;
                Data::Number(((self.unsigned(bytes)? << shift) as i64 >> shift) as f64)
            }
            0xd9..=0xdb => {
                let length = self.unsigned(1 << (sign - 0xd9))?;
                self.text(length as usize)?
            }
            0xdc | 0xdd => {
                let length = self.unsigned(2 << (sign - 0xdc))?;
                self.array(length as usize)?
            }
            0xde | 0xdf => {
                let length = self.unsigned(2 << (sign - 0xde))?;
                self.map(length as usize)?
            }
            _ => return Err(BAD),
        })
    }

    fn text(&mut self, length: usize) -> Result<Data, &'static str> {
        self.need_room(length)?;
        self.take(length).map(|text| Data::Text(text.to_vec()))
    }

    fn descend(&mut self) -> Result<(), &'static str> {
        self.depth += 1;
        if self.depth > READ_DEPTH_MAX { Err("too many nested structures in input.") } else { Ok(()) }
    }

    fn array(&mut self, length: usize) -> Result<Data, &'static str> {
        self.descend()?;
        let mut values = Vec::with_capacity(length.min(CAPACITY_MAX));
        for _ in 0..length {
            values.push(self.value()?);
        }
        self.depth -= 1;
        Ok(Data::Array(values))
    }

    fn map(&mut self, length: usize) -> Result<Data, &'static str> {
        self.descend()?;
        let mut pairs = Vec::with_capacity(length.min(CAPACITY_MAX));
        for _ in 0..length {
            pairs.push((self.value()?, self.value()?));
        }
        self.depth -= 1;
        Ok(Data::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { bytes: 1 << 20 };

    #[test]
    fn decoding_beyond_the_memory_bound_fails() {
        let bytes = [&[0xdc, 0x03, 0xe8][..], &[0; 1000]].concat();
        assert!(decode(&mut &bytes[..], Room { bytes: 1001 * size_of::<Data>() }).is_ok());
        assert_eq!(decode(&mut &bytes[..], Room { bytes: 1000 * size_of::<Data>() }), Err(OUT_OF_MEMORY));
    }

    #[test]
    fn truncated_and_invalid_input_is_rejected() {
        for bytes in [&b"\xa3ab"[..], b"\x92\x01", b"\xcd\x01", b"\xdd\xff\xff\xff\xff"] {
            assert_eq!(decode(&mut { bytes }, ROOM), Err(MISSING));
        }
        assert_eq!(decode(&mut &b"\xc1"[..], ROOM), Err(BAD));
        assert_eq!(decode(&mut &b"\xd1\xff\x7f"[..], ROOM), Ok(Data::Number(-129.0)));
    }
}
