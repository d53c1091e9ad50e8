//! The functions that a library registers by name while it is loaded.

use crate::error::raised;
use crate::machine::{FUNCTIONS_OF_A_LIBRARY, Shared};
use crate::shebang::{BAD_NAME, Flags, is_name};
use mlua::{Function, Lua, MultiValue, Table, Value as Lv};
use std::sync::Arc;

/// A registered function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The name by which it is called: letters, digits and underscores.
    pub name: Arc<str>,
    /// Its description.
    pub description: Option<Vec<u8>>,
    /// Its declared flags.
    pub flags: Flags,
}

/// The arguments of `redis.register_function`.
#[derive(Default)]
struct Asked {
    name: Option<Vec<u8>>,
    callback: Option<Function>,
    description: Option<Vec<u8>>,
    flags: Flags,
}

/// `redis.register_function`
pub(crate) fn register(lua: &Lua, shared: &Shared, arguments: &MultiValue) -> mlua::Result<()> {
    let mut loading = shared.loading.borrow_mut();
    let Some(all) = loading.as_mut() else {
        return Err(raised("ERR redis.register_function can only be called on FUNCTION LOAD command"));
    };
    let asked = asked(lua, arguments).map_err(|text| raised(format!("ERR {text}")))?;
    let (Some(name), Some(callback)) = (asked.name, asked.callback) else {
        unreachable!("seen to by the two forms");
    };
    let name = std::str::from_utf8(&name).ok().filter(|name| is_name(name)).ok_or_else(|| raised(BAD_NAME))?;
    if all.len() == FUNCTIONS_OF_A_LIBRARY {
        return Err(raised(format!("ERR a library has at most {FUNCTIONS_OF_A_LIBRARY} functions")));
    }
    if all.iter().any(|(known, _)| *known.name == *name) {
        return Err(raised("ERR Function already exists in the library"));
    }
    let registered = Registered { name: name.into(), description: asked.description, flags: asked.flags };
    all.push((registered, callback));
    Ok(())
}

fn asked(lua: &Lua, arguments: &MultiValue) -> Result<Asked, &'static str> {
    let arguments: Vec<&Lv> = arguments.iter().collect();
    match arguments[..] {
        [Lv::Table(named)] => by_names(lua, named),
        [_] => Err("calling redis.register_function with a single argument is only applicable to Lua table \
                    (representing named arguments)."),
        [name, callback] => by_places(lua, name, callback),
        _ => Err("wrong number of arguments to redis.register_function"),
    }
}

fn by_places(lua: &Lua, name: &Lv, callback: &Lv) -> Result<Asked, &'static str> {
    let name = text(lua, name).ok_or("first argument to redis.register_function must be a string")?;
    let Lv::Function(callback) = callback else {
        return Err("second argument to redis.register_function must be a function");
    };
    Ok(Asked { name: Some(name), callback: Some(callback.clone()), ..Asked::default() })
}

fn by_names(lua: &Lua, named: &Table) -> Result<Asked, &'static str> {
    let mut asked = Asked::default();
    for pair in named.pairs::<Lv, Lv>() {
        // It is the script's own plain table, which can always be read.
        let (key, value) = pair.map_err(|_| "unknown argument given to redis.register_function")?;
        let key = text(lua, &key).ok_or("named argument key given to redis.register_function is not a string")?;
        match key.to_ascii_lowercase().as_slice() {
            b"function_name" => {
                let name = text(lua, &value);
                asked.name =
                    Some(name.ok_or("function_name argument given to redis.register_function must be a string")?);
            }
            b"description" => {
                let description = text(lua, &value);
                asked.description =
                    Some(description.ok_or("description argument given to redis.register_function must be a string")?);
            }
            b"callback" => match value {
                Lv::Function(callback) => asked.callback = Some(callback),
                _ => return Err("callback argument given to redis.register_function must be a function"),
            },
            b"flags" => match value {
                Lv::Table(names) => asked.flags = flags(lua, &names).ok_or("unknown flag given")?,
                _ => {
                    return Err(
                        "flags argument to redis.register_function must be a table representing function flags",
                    );
                }
            },
            _ => return Err("unknown argument given to redis.register_function"),
        }
    }
    if asked.name.is_none() {
        return Err("redis.register_function must get a function name argument");
    }
    if asked.callback.is_none() {
        return Err("redis.register_function must get a callback argument");
    }
    Ok(asked)
}

/// Returns the flags named in a list, up to its end or its first hole.
fn flags(lua: &Lua, names: &Table) -> Option<Flags> {
    let mut flags = Flags::default();
    for at in 1.. {
        match names.raw_get::<Lv>(at).ok()? {
            Lv::Nil => break,
            name => {
                let name = String::from_utf8(text(lua, &name)?).ok()?;
                flags = flags.with(Flags::of(&name.to_ascii_lowercase())?);
            }
        }
    }
    Some(flags)
}

/// Returns a string, or a number as Lua formats it.
fn text(lua: &Lua, value: &Lv) -> Option<Vec<u8>> {
    match value {
        Lv::String(_) | Lv::Integer(_) | Lv::Number(_) => {
            let text = lua.coerce_string(value.clone()).ok()??;
            Some(text.as_bytes().to_vec())
        }
        _ => None,
    }
}
