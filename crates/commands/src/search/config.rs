//! FT.CONFIG: settings that clients ask for. Most are constants; the others are settings of the server by another name.

use super::{CURSOR_IDLE_MS_MAX, CURSOR_RECORDS, INDEX_CURSORS_MAX};
use crate::Session;
use crate::prelude::*;
use search::RESULTS_MAX;

pub(crate) const COMMANDS: &[CommandSpec] = &[CONFIG_GET, CONFIG_SET, CONFIG_HELP];

const CONFIG_GET: CommandSpec = CommandSpec {
    name: "FT.CONFIG GET",
    syntax: "option",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::AdminCategory],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the settings",
    since: "1.0.0",
    brief: "Returns a setting of searches, or all of them for *.",
    answer: "map: the setting and its value, empty for an unknown one; in RESP2 an array of pairs",
    run: Run::Session(|session, args, reply| {
        let settings = settings(args.get(2));
        begin_map(reply, settings.len());
        for setting in settings {
            if !reply.is_resp3() {
                reply.array(2);
            }
            reply.bulk(setting.name.as_bytes());
            reply.bulk(setting.value.read(session).as_bytes());
        }
        Ok(())
    }),
};

const CONFIG_HELP: CommandSpec = CommandSpec {
    name: "FT.CONFIG HELP",
    syntax: "option",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::AdminCategory],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the settings",
    since: "1.0.0",
    brief: "Describes a setting of searches, or all of them for *.",
    answer: "map: the setting, its description and value, empty for an unknown one; in RESP2 an array of arrays",
    run: Run::Session(|session, args, reply| {
        let settings = settings(args.get(2));
        begin_map(reply, settings.len());
        for setting in settings {
            if !reply.is_resp3() {
                reply.array(5);
            }
            reply.bulk(setting.name.as_bytes());
            if reply.is_resp3() {
                reply.map(2);
            }
            reply.bulk(b"Description");
            reply.bulk(setting.description.as_bytes());
            reply.bulk(b"Value");
            reply.bulk(setting.value.read(session).as_bytes());
        }
        Ok(())
    }),
};

const CONFIG_SET: CommandSpec = CommandSpec {
    name: "FT.CONFIG SET",
    syntax: "option value",
    arity: Arity::Exactly(4),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the settings",
    since: "1.0.0",
    brief: "Sets TIMEOUT; any other setting of searches only to the value that it has.",
    answer: "simple: OK; error: there is no such setting, or it cannot have this value",
    run: Run::Session(|session, args, reply| {
        let setting = SETTINGS.iter().find(|setting| parse::is(args.get(2), setting.name));
        let setting = setting.ok_or(Failure::text("Invalid option"))?;
        match setting.value {
            SearchValue::Setting(name) => {
                session.config_set(&[(name.as_bytes(), args.get(3))]).map_err(Failure::text)?;
            }
            SearchValue::Constant(value) if parse::is(args.get(3), &value()) => {}
            SearchValue::Constant(_) => return Err(Failure::text("Not modifiable at runtime")),
        }
        reply.ok();
        Ok(())
    }),
};

/// A setting.
struct SearchSetting {
    name: &'static str,
    description: &'static str,
    value: SearchValue,
}

enum SearchValue {
    Constant(fn() -> String),
    /// The setting of the server with this name.
    Setting(&'static str),
}

impl SearchValue {
    fn read(&self, session: &dyn Session) -> String {
        match self {
            Self::Constant(value) => value(),
            Self::Setting(name) => {
                let settings = session.config_get(&[name.as_bytes()]);
                settings.into_iter().next().map_or_else(String::new, |(_, value)| value)
            }
        }
    }
}

const SETTINGS: &[SearchSetting] = &[
    SearchSetting {
        name: "CURSOR_MAX_IDLE",
        description: "Milliseconds after which a cursor that is not read ends, at most",
        value: SearchValue::Constant(|| CURSOR_IDLE_MS_MAX.to_string()),
    },
    SearchSetting {
        name: "CURSOR_READ_SIZE",
        description: "Records of a reply of a cursor without COUNT",
        value: SearchValue::Constant(|| CURSOR_RECORDS.to_string()),
    },
    SearchSetting {
        name: "DEFAULT_DIALECT",
        description: "Dialect of queries without DIALECT",
        value: SearchValue::Constant(|| "2".to_owned()),
    },
    SearchSetting {
        name: "INDEX_CURSOR_LIMIT",
        description: "Cursors of an index at most",
        value: SearchValue::Constant(|| INDEX_CURSORS_MAX.to_string()),
    },
    SearchSetting {
        name: "MAXAGGREGATERESULTS",
        description: "Records of FT.AGGREGATE at most",
        value: SearchValue::Constant(|| "unlimited".to_owned()),
    },
    SearchSetting {
        name: "MAXEXPANSIONS",
        description: "Terms that a prefix stands for at most",
        value: SearchValue::Constant(|| "unlimited".to_owned()),
    },
    SearchSetting {
        name: "MAXPREFIXEXPANSIONS",
        description: "Terms that a prefix stands for at most",
        value: SearchValue::Constant(|| "unlimited".to_owned()),
    },
    SearchSetting {
        name: "MAXSEARCHRESULTS",
        description: "Rows that FT.SEARCH skips, and that it returns, at most",
        value: SearchValue::Constant(|| RESULTS_MAX.to_string()),
    },
    SearchSetting {
        name: "MINPREFIX",
        description: "Characters of a prefix at least",
        value: SearchValue::Constant(|| "1".to_owned()),
    },
    SearchSetting {
        name: "ON_TIMEOUT",
        description: "Effect of the end of a query's time",
        value: SearchValue::Constant(|| "fail".to_owned()),
    },
    SearchSetting {
        name: "TIMEOUT",
        description: "Milliseconds that a query may take without TIMEOUT, 0 for no limit",
        value: SearchValue::Setting("search-timeout"),
    },
];

/// Returns the settings that a name or `*` stands for.
fn settings(name: &[u8]) -> Vec<&'static SearchSetting> {
    SETTINGS.iter().filter(|setting| name == b"*" || parse::is(name, setting.name)).collect()
}

fn begin_map(reply: &mut dyn Reply, count: usize) {
    if reply.is_resp3() {
        reply.map(count);
    } else {
        reply.array(count);
    }
}
