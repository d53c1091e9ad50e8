//! `struct`: values in C's memory layout.

use crate::error::{bad_argument, fault};
use crate::library::Data;
use crate::machine::Shared;
use crate::number::cut;
use base::raw_text;
use mlua::{Lua, MultiValue, Table, Value};
use std::rc::Rc;

/// The maximum width of an integer, in bytes.
const INTEGER_BYTES_MAX: usize = 32;
/// The maximum number of values a call returns: the limit of the engine's stack.
const VALUES_MAX: usize = 7900;
/// The alignment of a bare `!`.
const NATIVE_ALIGNMENT: usize = 8;

pub(super) fn table(lua: &Lua, shared: &Rc<Shared>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let host = shared.clone();
    let pack = move |lua: &Lua, values: MultiValue| pack(lua, &host, &values);
    table.raw_set("pack", lua.create_function(pack)?)?;
    let host = shared.clone();
    let unpack = move |lua: &Lua, values: MultiValue| {
        host.look()?;
        let (format, data) = (text(lua, &values, 0, "unpack")?, text(lua, &values, 1, "unpack")?);
        let from = values.get(2).filter(|value| !value.is_nil());
        let from = from.map_or(Ok(Some(1.0)), |value| lua.coerce_number(value.clone()))?;
        // A negative one becomes far beyond the end.
        let Some(from) = from.map(|from| cut(from) as usize).filter(|from| *from > 0) else {
            return Err(bad_argument(lua, 3, "unpack", "offset must be 1 or greater"));
        };
        let (read, at) = unpack(&format, &data, from - 1).map_err(|why| error_of(lua, &why, "unpack"))?;
        let mut values: Vec<Value> = read.iter().map(|data| data.to_lua(lua, &host)).collect::<mlua::Result<_>>()?;
        values.push(Value::Integer((at as i64).wrapping_add(1)));
        Ok(MultiValue::from_vec(values))
    };
    table.raw_set("unpack", lua.create_function(unpack)?)?;
    let host = shared.clone();
    let size = move |lua: &Lua, values: MultiValue| {
        host.look()?;
        size(&text(lua, &values, 0, "size")?).map_err(|why| error_of(lua, &why, "size"))
    };
    table.raw_set("size", lua.create_function(size)?)?;
    Ok(table)
}

fn text(lua: &Lua, values: &MultiValue, at: usize, function: &str) -> mlua::Result<Vec<u8>> {
    let value = values.get(at).cloned().unwrap_or(Value::Nil);
    // The argument after the packed ones is nil.
    let got = if values.len() <= at && (at == 0 || function != "pack") { "no value" } else { value.type_name() };
    match lua.coerce_string(value.clone())? {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => Err(bad_argument(lua, at + 1, function, format_args!("string expected, got {got}"))),
    }
}

/// An error in the format or in the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// In this argument.
    Argument(usize, String),
    /// In the call as a whole.
    Text(String),
}

fn error_of(lua: &Lua, wrong: &Wrong, function: &str) -> mlua::Error {
    match wrong {
        Wrong::Argument(at, why) => bad_argument(lua, *at, function, why),
        Wrong::Text(why) => fault(lua, why),
    }
}

/// Options for numbers.
const NUMBERS: &[u8] = b"bBhHlLTiIfd";

fn unknown(option: u8) -> Wrong {
    Wrong::Argument(1, format!("invalid format option '{}'", raw_text::from_bytes(&[option])))
}

/// The state of reading a format.
struct FormatReader<'a> {
    format: &'a [u8],
    is_little: bool,
    alignment: usize,
}

/// One item of a format.
struct Part {
    option: u8,
    bytes: usize,
}

impl<'a> FormatReader<'a> {
    fn new(format: &'a [u8]) -> Self {
        Self { format, is_little: true, alignment: 1 }
    }

    fn digits(&mut self, absent: usize) -> Result<usize, Wrong> {
        let count = self.format.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.format.split_at(count);
        self.format = rest;
        if count == 0 {
            return Ok(absent);
        }
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i32>().ok());
        number.map(|number| number as usize).ok_or_else(|| Wrong::Text("integral size overflow".to_owned()))
    }

    /// Returns the next item that has bytes, applying the control options before it.
    fn next(&mut self) -> Result<Option<Part>, Wrong> {
        while let Some((&option, rest)) = self.format.split_first() {
            self.format = rest;
            let bytes = match option {
                b'B' | b'b' | b'x' => 1,
                b'H' | b'h' => 2,
                b'L' | b'l' | b'T' | b'd' => 8,
                b'f' => 4,
                b'c' => self.digits(1)?,
                b's' => 0,
                b'I' | b'i' => {
                    let bytes = self.digits(4)?;
                    if bytes > INTEGER_BYTES_MAX {
                        let text = format!("integral size {bytes} is larger than limit of {INTEGER_BYTES_MAX}");
                        return Err(Wrong::Text(text));
                    }
                    bytes
                }
                b' ' => continue,
                b'>' => {
                    self.is_little = false;
                    continue;
                }
                b'<' => {
                    self.is_little = true;
                    continue;
                }
                b'!' => {
                    let alignment = self.digits(NATIVE_ALIGNMENT)?;
                    if !alignment.is_power_of_two() {
                        return Err(Wrong::Text(format!("alignment {alignment} is not a power of 2")));
                    }
                    self.alignment = alignment;
                    continue;
                }
                other if other.is_ascii_alphanumeric() => 0,
                other => return Err(unknown(other)),
            };
            return Ok(Some(Part { option, bytes }));
        }
        Ok(None)
    }

    /// Returns true if the next option has no bytes.
    fn begins_with_control(&self) -> bool {
        self.format.first().is_some_and(|option| !option.is_ascii_alphanumeric())
    }

    /// Returns the padding before an item that would begin at `at`.
    fn padding(&self, part: &Part, at: usize) -> usize {
        if part.bytes == 0 || part.option == b'c' {
            return 0;
        }
        let step = part.bytes.min(self.alignment);
        if step > 1 { (step - (at & (step - 1))) & (step - 1) } else { 0 }
    }

    fn ordered(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if !self.is_little {
            bytes.reverse();
        }
        bytes
    }
}

fn pack(lua: &Lua, shared: &Shared, values: &MultiValue) -> mlua::Result<mlua::String> {
    let format = text(lua, values, 0, "pack")?;
    let mut reader = FormatReader::new(&format);
    let mut output = Vec::new();
    let mut at = 1;
    while let Some(part) = reader.next().map_err(|why| error_of(lua, &why, "pack"))? {
        shared.step()?;
        shared.check_room(output.len())?;
        let padding = reader.padding(&part, output.len());
        output.resize(output.len() + padding, 0);
        if part.option == b'x' {
            output.push(0);
            continue;
        }
        match part.option {
            b'c' | b's' => {
                let bytes = text(lua, values, at, "pack")?;
                let count = if part.bytes == 0 { bytes.len() } else { part.bytes };
                if bytes.len() < count {
                    return Err(bad_argument(lua, at + 2, "pack", "string too short"));
                }
                shared.check_room(output.len() + count)?;
                output.extend_from_slice(&bytes[..count]);
                if part.option == b's' {
                    output.push(0);
                }
            }
            option if !NUMBERS.contains(&option) => return Err(error_of(lua, &unknown(option), "pack")),
            option => {
                let value = values.get(at).cloned().unwrap_or(Value::Nil);
                let Some(number) = lua.coerce_number(value.clone())? else {
                    let why = format!("number expected, got {}", value.type_name());
                    return Err(bad_argument(lua, at + 1, "pack", why));
                };
                let bytes = match option {
                    b'f' => (number as f32).to_le_bytes().to_vec(),
                    b'd' => number.to_le_bytes().to_vec(),
                    _ => integer(number, part.bytes),
                };
                output.extend(reader.ordered(bytes));
            }
        }
        at += 1;
    }
    lua.create_string(output)
}

/// Returns a number's low bytes, little-endian.
fn integer(number: f64, count: usize) -> Vec<u8> {
    // Numbers out of range are converted as x86 does.
    const END: f64 = 18_446_744_073_709_551_616.0;
    let number = match number {
        _ if number.is_nan() => 1 << 63,
        _ if number < 0.0 => number as i64 as u64,
        _ if number >= END => 0,
        _ => number as u64,
    };
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize(count.max(8), 0);
    bytes.truncate(count);
    bytes
}

/// Returns the size of a format, in bytes.
///
/// # Errors
/// If it depends on the packed values.
pub fn size(format: &[u8]) -> Result<usize, Wrong> {
    let mut reader = FormatReader::new(format);
    let mut total = 0usize;
    while let Some(part) = reader.next()? {
        total += reader.padding(&part, total);
        if part.bytes == 0 && matches!(part.option, b's' | b'c') {
            let option = if part.option == b's' { "s" } else { "c0" };
            return Err(Wrong::Argument(1, format!("option '{option}' has no fixed size")));
        }
        total = total.checked_add(part.bytes).ok_or_else(|| Wrong::Text("format result too large".to_owned()))?;
    }
    Ok(total)
}

/// Reads what `format` describes from `data`, from `at` on. Also returns the end.
///
/// # Errors
/// The error in either of them.
pub fn unpack(format: &[u8], data: &[u8], at: usize) -> Result<(Vec<Data>, usize), Wrong> {
    let short = || Wrong::Argument(2, "data string too short".to_owned());
    let mut reader = FormatReader::new(format);
    let mut read = Vec::new();
    let mut at = at;
    loop {
        if at > data.len() && reader.begins_with_control() {
            return Err(short());
        }
        let Some(part) = reader.next()? else { break };
        if read.len() == VALUES_MAX {
            return Err(Wrong::Text("too many results".to_owned()));
        }
        at = at.checked_add(reader.padding(&part, at)).ok_or_else(short)?;
        let end = at.checked_add(part.bytes).filter(|end| *end <= data.len()).ok_or_else(short)?;
        let bytes = &data[at..end];
        at = end;
        let ordered = reader.ordered(bytes.to_vec());
        match part.option {
            b'x' => {}
            b'f' => read.push(Data::Number(f64::from(f32::from_le_bytes(ordered[..4].try_into().expect("four"))))),
            b'd' => read.push(Data::Number(f64::from_le_bytes(ordered[..8].try_into().expect("eight")))),
            b'c' if part.bytes > 0 => read.push(Data::Text(bytes.to_vec())),
            b'c' => {
                let Some(Data::Number(count)) = read.pop() else {
                    return Err(Wrong::Text("format 'c0' needs a previous size".to_owned()));
                };
                let count = if count >= 0.0 { count as usize } else { usize::MAX };
                let end = at.checked_add(count).filter(|end| *end <= data.len()).ok_or_else(short)?;
                read.push(Data::Text(data[at..end].to_vec()));
                at = end;
            }
            b's' => {
                let length = data[at..].iter().position(|byte| *byte == 0);
                let length = length.ok_or_else(|| Wrong::Text("unfinished string in data".to_owned()))?;
                read.push(Data::Text(data[at..at + length].to_vec()));
                at += length + 1;
            }
            option if !NUMBERS.contains(&option) => return Err(unknown(option)),
            option => read.push(Data::Number(number(&ordered, option.is_ascii_lowercase()))),
        }
    }
    Ok((read, at))
}

/// Decodes a little-endian number from the first eight of `bytes`.
fn number(bytes: &[u8], is_signed: bool) -> f64 {
    let mut low = [0; 8];
    let count = bytes.len().min(8);
    low[..count].copy_from_slice(&bytes[..count]);
    let unsigned = u64::from_le_bytes(low);
    if !is_signed {
        return unsigned as f64;
    }
    let shift = 64 - 8 * count.max(1) as u32;
    ((unsigned << shift) as i64 >> shift) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_unpacked_and_invalid_formats_rejected() {
        assert_eq!(size(b"!bhid"), Ok(16));
        let (read, at) = unpack(b">hB s", b"\xff\xfe\x07ab\0rest", 0).unwrap();
        assert_eq!((read, at), (vec![Data::Number(-2.0), Data::Number(7.0), Data::Text(b"ab".to_vec())], 6));
        let (read, at) = unpack(b"Bc0", b"\x03abcd", 0).unwrap();
        assert_eq!((read, at), (vec![Data::Text(b"abc".to_vec())], 4));
        assert!(unpack(b"i", b"abc", 0).is_err() && unpack(b"s", b"abc", 0).is_err() && unpack(b"c0", b"", 0).is_err());
        assert!(unpack(b"i33", b"", 0).is_err() && unpack(b"!3i", b"", 0).is_err() && unpack(b"?", b"", 0).is_err());
    }
}
