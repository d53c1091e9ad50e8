//! The table `redis` of scripts, functions, and libraries being loaded.

use crate::error::{Raised, find_raised, raised, stopped, table_of};
use crate::functions::register;
use crate::machine::{About, Ask, Input, Shared};
use crate::number::general;
use crate::value::to_lua;
use base::raw_text;
use mlua::{Lua, MultiValue, Table, Value as Lv};
use std::rc::Rc;
use wire::Words;
use wire::client::Value;

/// Returns the table of scripts, with all they may call.
pub(crate) fn of_script(lua: &Lua, shared: &Rc<Shared>, about: &About) -> mlua::Result<Table> {
    let table = of_function(lua, shared, about)?;
    table.raw_set("replicate_commands", lua.create_function(|_, ()| Ok(true))?)?;
    table.raw_set("breakpoint", lua.create_function(|_, ()| Ok(false))?)?;
    table.raw_set("debug", lua.create_function(|_, _: MultiValue| Ok(()))?)?;
    Ok(table)
}

/// Returns the table of functions.
pub(crate) fn of_function(lua: &Lua, shared: &Rc<Shared>, about: &About) -> mlua::Result<Table> {
    let table = plain(lua, shared, about)?;
    calls(lua, &table, shared)?;
    replies(lua, &table, shared)?;
    switches(lua, &table, shared)?;
    for (name, flags) in [("NONE", 0), ("AOF", 1), ("SLAVE", 2), ("REPLICA", 2), ("ALL", REPL_ALL)] {
        table.raw_set(format!("REPL_{name}"), flags)?;
    }
    Ok(table)
}

/// Returns the table of libraries being loaded.
pub(crate) fn of_library(lua: &Lua, shared: &Rc<Shared>, about: &About) -> mlua::Result<Table> {
    let table = plain(lua, shared, about)?;
    let loader = shared.clone();
    let register = move |lua: &Lua, arguments: MultiValue| register(lua, &loader, &arguments);
    table.raw_set("register_function", lua.create_function(register)?)?;
    Ok(table)
}

/// Returns the common part.
fn plain(lua: &Lua, shared: &Rc<Shared>, about: &About) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let caller = shared.clone();
    let log = move |lua: &Lua, arguments: MultiValue| log(lua, &caller, &arguments);
    table.raw_set("log", lua.create_function(log)?)?;
    for (level, name) in ["LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"].into_iter().enumerate() {
        table.raw_set(name, level)?;
    }
    table.raw_set("REDIS_VERSION", about.version)?;
    table.raw_set("REDIS_VERSION_NUM", about.version_number)?;
    Ok(table)
}

const REPL_ALL: i64 = 3;
/// Longer log messages are truncated, as in Redis.
const LOG_BYTES_MAX: usize = 1024;

fn calls(lua: &Lua, table: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    let caller = shared.clone();
    let call = move |lua: &Lua, arguments: MultiValue| match called(&caller, &arguments)? {
        Value::Error(text) => Err(mlua::Error::external(counted(text))),
        value => caller.unlimited(lua, || to_lua(lua, &caller, value)),
    };
    table.raw_set("call", lua.create_function(call)?)?;
    let caller = shared.clone();
    let pcall = move |lua: &Lua, arguments: MultiValue| match called(&caller, &arguments) {
        Ok(Value::Error(text)) => error_table(lua, &counted(text)),
        Ok(value) => caller.unlimited(lua, || to_lua(lua, &caller, value)),
        Err(error) if caller.is_stopping.get() => Err(error),
        Err(error) => match find_raised(&error) {
            Some(raised) => error_table(lua, &raised),
            None => Err(error),
        },
    };
    table.raw_set("pcall", lua.create_function(pcall)?)?;
    let caller = shared.clone();
    let check = move |_: &Lua, arguments: MultiValue| {
        let request = caller.request(&arguments)?;
        match caller.ask(Ask::Check(request))? {
            Value::Boolean(may) => Ok(may),
            _ => Err(raised("ERR Invalid command passed to redis.acl_check_cmd()")),
        }
    };
    table.raw_set("acl_check_cmd", lua.create_function(check)?)
}

fn error_table(lua: &Lua, raised: &Raised) -> mlua::Result<Lv> {
    table_of(lua, raised).map(Lv::Table)
}

/// Returns a command's error, which the command has counted.
fn counted(text: String) -> Raised {
    Raised { text: raw_text::to_bytes(&text).into_owned(), is_counted: true, is_plain: false }
}

/// Returns the reply to a command: one already waiting, see [`crate::direct`], or the host's answer.
fn called(shared: &Shared, arguments: &MultiValue) -> mlua::Result<Value> {
    if let Some(value) = shared.waiting.take() {
        return Ok(value);
    }
    if !shared.is_running.get() {
        return Err(raised("ERR redis.call/pcall can only be called inside a script invocation"));
    }
    let request = shared.request(arguments)?;
    shared.ask(Ask::Call { request, resp3: shared.speaks_resp3.get() })
}

impl Shared {
    /// Asks the host, and suspends the script until it answers.
    pub(crate) fn ask(&self, ask: Ask) -> mlua::Result<Value> {
        if self.is_stopping.get() {
            return Err(stopped());
        }
        match self.pause.rest(ask) {
            Input::Reply(value) => Ok(value),
            _ => {
                self.stop();
                Err(stopped())
            }
        }
    }

    /// Returns the arguments of a call as a request.
    fn request(&self, arguments: &MultiValue) -> mlua::Result<Words> {
        if arguments.is_empty() {
            return Err(raised("ERR Please specify at least one argument for this redis lib call"));
        }
        let mut request = self.new_request();
        for argument in arguments {
            match argument {
                Lv::String(text) => request.add_text(&text.as_bytes())?,
                Lv::Integer(number) => request.add_number(*number as f64),
                Lv::Number(number) => request.add_number(*number),
                _ => return Err(raised("ERR Lua redis lib command arguments must be strings or integers")),
            }
        }
        Ok(request.words)
    }

    /// Creates an empty request.
    pub(crate) fn new_request(&self) -> Request<'_> {
        let mut words = self.spare.take();
        words.clear();
        Request { shared: self, words, bytes: 0 }
    }
}

/// A request being built.
pub(crate) struct Request<'s> {
    shared: &'s Shared,
    pub(crate) words: Words,
    /// The bytes of its strings.
    bytes: usize,
}

impl Request<'_> {
    /// # Errors
    /// If it becomes too long.
    pub(crate) fn add_text(&mut self, text: &[u8]) -> mlua::Result<()> {
        self.bytes += text.len();
        if text.len() > self.shared.argument_bytes_max {
            return Err(raised("ERR string exceeds maximum allowed size (proto-max-bulk-len)"));
        }
        self.shared.check_room(self.bytes)?;
        if self.bytes > self.shared.request_bytes_max {
            return Err(raised("ERR the arguments of a command called from a script exceed the maximum total length"));
        }
        self.words.push(text);
        Ok(())
    }

    /// Adds a number as Redis formats it: an integer in full, any other with up to 17 digits.
    pub(crate) fn add_number(&mut self, number: f64) {
        let whole = number as i64;
        if whole as f64 == number && whole.unsigned_abs() < 100_000_000_000_000_000 {
            self.words.push(itoa::Buffer::new().format(whole).as_bytes());
        } else {
            self.words.push(general(number, 17).as_bytes());
        }
    }
}

fn replies(lua: &Lua, table: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    let field = |lua: &Lua, name: &str, text: &[u8]| {
        let table = lua.create_table_with_capacity(0, 1)?;
        table.raw_set(name, lua.create_string(text)?)?;
        Ok::<_, mlua::Error>(table)
    };
    let single = |arguments: &MultiValue| match (arguments.len(), arguments.front()) {
        (1, Some(Lv::String(text))) => Some(text.as_bytes().to_vec()),
        _ => None,
    };
    const WRONG: &[u8] = b"ERR wrong number or type of arguments";
    let status = move |lua: &Lua, arguments: MultiValue| match single(&arguments) {
        Some(text) => field(lua, "ok", &text),
        None => field(lua, "err", WRONG),
    };
    table.raw_set("status_reply", lua.create_function(status)?)?;
    let error = move |lua: &Lua, arguments: MultiValue| match single(&arguments) {
        Some(text) => field(lua, "err", &with_prefix(&text)),
        None => field(lua, "err", WRONG),
    };
    table.raw_set("error_reply", lua.create_function(error)?)?;
    let host = shared.clone();
    let hexadecimal = move |lua: &Lua, arguments: MultiValue| {
        host.look()?;
        let [text] = arguments.iter().collect::<Vec<_>>()[..] else {
            return Err(raised("ERR wrong number of arguments"));
        };
        let text = lua.coerce_string(text.clone())?;
        Ok(sha1_smol::Sha1::from(text.map(|text| text.as_bytes().to_vec()).unwrap_or_default()).digest().to_string())
    };
    table.raw_set("sha1hex", lua.create_function(hexadecimal)?)
}

/// Returns an error's text with its prefix, or else with ERR.
fn with_prefix(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
    let text = &text[..end];
    if text.contains(&b' ') { text.to_vec() } else { [b"ERR ", text].concat() }
}

fn switches(lua: &Lua, table: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    let caller = shared.clone();
    let protocol = move |_: &Lua, arguments: MultiValue| {
        if arguments.len() != 1 {
            return Err(raised("ERR redis.setresp() requires one argument."));
        }
        let resp3 = match arguments.front().and_then(number) {
            Some(2.0) => false,
            Some(3.0) => true,
            _ => return Err(raised("ERR RESP version must be 2 or 3.")),
        };
        caller.speaks_resp3.set(resp3);
        Ok(())
    };
    table.raw_set("setresp", lua.create_function(protocol)?)?;
    let replicate = |_: &Lua, arguments: MultiValue| {
        if arguments.len() != 1 {
            return Err(raised("ERR redis.set_repl() requires two arguments."));
        }
        let flags = arguments.front().and_then(number).unwrap_or(-1.0);
        if !(0.0..=REPL_ALL as f64).contains(&flags) {
            let text = "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.";
            return Err(raised(text));
        }
        Ok(())
    };
    table.raw_set("set_repl", lua.create_function(replicate)?)
}

fn log(lua: &Lua, shared: &Shared, arguments: &MultiValue) -> mlua::Result<()> {
    if arguments.len() < 2 {
        return Err(raised("ERR redis.log() requires two arguments or more."));
    }
    let Some(level) = arguments.front().and_then(number) else {
        return Err(raised("ERR First argument must be a number (log level)."));
    };
    if !(0.0..4.0).contains(&level) {
        return Err(raised("ERR Invalid debug level."));
    }
    let mut text = Vec::new();
    for word in arguments.iter().skip(1) {
        let Some(word) = lua.coerce_string(word.clone())? else { continue };
        if !text.is_empty() {
            text.push(b' ');
        }
        let word = word.as_bytes();
        text.extend_from_slice(&word[..word.len().min(LOG_BYTES_MAX - text.len().min(LOG_BYTES_MAX))]);
    }
    shared.ask(Ask::Log { level: level as u8, text: String::from_utf8_lossy(&text).into_owned() }).map(drop)
}

/// Returns a number, in whatever representation.
fn number(value: &Lv) -> Option<f64> {
    match value {
        Lv::Integer(number) => Some(*number as f64),
        Lv::Number(number) => Some(*number),
        _ => None,
    }
}
