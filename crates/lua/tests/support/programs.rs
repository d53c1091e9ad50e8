//! Generates random programs from bytes, and runs them on a machine with a host that replies from the same bytes.
//!
//! ```text
//! | byte | byte | ... |   choices: statements, expressions, names, values; then replies of the host. After the end: 0
//! ```
//!
//! A program is a few statements over four variables and a return. Most expressions call functions of the sandbox with
//! valid and invalid arguments: numbers out of every range, long strings, tables with every metamethod, functions that
//! loop, recurse and raise. A program must end with a reply, an error or the stop, and leave the machine usable.

use lua::{About, Answer, Ask, Code, Input, Machine};
use std::fmt::Write;
use std::sync::Arc;
use wire::OwnedRequest;
use wire::client::Value;

/// Memory that a program may take beyond what its machine holds, in bytes.
const ROOM_BYTES: usize = 8 << 20;
/// A program is stopped after this many ticks.
const TICKS_MAX: u32 = 50;
/// A program is stopped after this many calls.
const CALLS_MAX: u32 = 200;
/// Maximum number of messages from a machine until a stopped program ends.
const ASKS_MAX: u32 = 10_000;
/// Source length at which a program stops growing, in bytes.
const SOURCE_BYTES_MAX: usize = 4_000;
/// Maximum nesting depth of expressions and blocks.
const DEPTH_MAX: usize = 6;

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-2",
    "100",
    "8000",
    "1e6",
    "1e7",
    "0.5",
    "-0.5",
    "255",
    "256",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967296",
    "2^53",
    "-2^53",
    "2^63",
    "1e308",
    "-1e308",
    "5e-324",
    "1/0",
    "-1/0",
    "0/0",
    "'10'",
    "'0x10'",
    "'1e3'",
];

const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'x'",
    "'abc'",
    "'%'",
    "'%d'",
    "'%s'",
    "'%q'",
    "'%5.3f'",
    "'%99d'",
    "'%c'",
    "'.'",
    "'.-'",
    "'a?'",
    "'a*'",
    "'(a)'",
    "'()'",
    "'('",
    "'['",
    "'[^%s]+'",
    "'%b()'",
    "'%f[%w]'",
    "'%1'",
    "'%0%0'",
    "'^a$'",
    "'\\0'",
    "'\\255\\254'",
    "'\\027Lua'",
    "'k'",
    "'v'",
    "'[1,{\"a\":null}]'",
    "'{\"a\":[1e3,\"\\\\u0041\"]}'",
    "'[[['",
    "'\\145\\145'",
    "'\\221\\255\\255\\255\\255'",
    "'>I4'",
    "'c0'",
    "'s'",
    "'i16'",
    "'!8d'",
    "'return 1'",
    "'return ...'",
    "'while true do end'",
    "'((('",
    "'local a = '",
    "'stop'",
    "'step'",
    "'count'",
    "'setpause'",
    "'setstepmul'",
    "'restart'",
    "'collect'",
    "'#'",
    "'n'",
];

/// Functions that a program may call, some of them absent from the sandbox, with the types of valid arguments: string,
/// number, table, function, coroutine, pattern, replacement, anything.
const FUNCTIONS: &[(&str, &str)] = &[
    ("string.byte", "snn"),
    ("string.char", "nnn"),
    ("string.find", "spn"),
    ("string.format", "saa"),
    ("string.gmatch", "sp"),
    ("string.gsub", "spr"),
    ("string.len", "s"),
    ("string.lower", "s"),
    ("string.match", "spn"),
    ("string.rep", "sn"),
    ("string.reverse", "s"),
    ("string.sub", "snn"),
    ("string.upper", "s"),
    ("string.dump", "f"),
    ("table.concat", "tsnn"),
    ("table.foreach", "tf"),
    ("table.foreachi", "tf"),
    ("table.getn", "t"),
    ("table.insert", "ta"),
    ("table.insert", "tna"),
    ("table.maxn", "t"),
    ("table.remove", "tn"),
    ("table.sort", "tf"),
    ("table.sort", "t"),
    ("table.setn", "tn"),
    ("math.abs", "n"),
    ("math.ceil", "n"),
    ("math.floor", "n"),
    ("math.fmod", "nn"),
    ("math.frexp", "n"),
    ("math.huge", ""),
    ("math.ldexp", "nn"),
    ("math.log", "n"),
    ("math.max", "nnn"),
    ("math.min", "nnn"),
    ("math.modf", "n"),
    ("math.pow", "nn"),
    ("math.random", "nn"),
    ("math.randomseed", "n"),
    ("math.sqrt", "n"),
    ("cjson.encode", "t"),
    ("cjson.encode", "a"),
    ("cjson.decode", "s"),
    ("cjson.new", ""),
    ("cjson.encode_sparse_array", "ann"),
    ("cjson.encode_max_depth", "n"),
    ("cjson.decode_max_depth", "n"),
    ("cjson.encode_number_precision", "n"),
    ("cjson.encode_keep_buffer", "a"),
    ("cjson.encode_invalid_numbers", "a"),
    ("cjson.decode_invalid_numbers", "a"),
    ("cmsgpack.pack", "taa"),
    ("cmsgpack.unpack", "s"),
    ("cmsgpack.unpack_one", "sn"),
    ("cmsgpack.unpack_limit", "snn"),
    ("struct.pack", "saa"),
    ("struct.unpack", "ssn"),
    ("struct.size", "s"),
    ("bit.tobit", "n"),
    ("bit.tohex", "nn"),
    ("bit.bnot", "n"),
    ("bit.band", "nn"),
    ("bit.bor", "nn"),
    ("bit.bxor", "nn"),
    ("bit.lshift", "nn"),
    ("bit.rshift", "nn"),
    ("bit.arshift", "nn"),
    ("bit.rol", "nn"),
    ("bit.ror", "nn"),
    ("bit.bswap", "n"),
    ("pcall", "faa"),
    ("pcall", "ff"),
    ("xpcall", "ff"),
    ("error", "a"),
    ("error", "an"),
    ("assert", "aa"),
    ("coroutine.create", "f"),
    ("coroutine.resume", "caa"),
    ("coroutine.wrap", "f"),
    ("coroutine.yield", "aa"),
    ("coroutine.status", "c"),
    ("coroutine.running", ""),
    ("setmetatable", "tt"),
    ("getmetatable", "a"),
    ("unpack", "tnn"),
    ("select", "naaa"),
    ("next", "ta"),
    ("pairs", "t"),
    ("ipairs", "t"),
    ("type", "a"),
    ("tostring", "a"),
    ("tonumber", "sn"),
    ("load", "f"),
    ("loadstring", "s"),
    ("collectgarbage", "sn"),
    ("gcinfo", ""),
    ("rawget", "ta"),
    ("rawset", "taa"),
    ("rawequal", "aa"),
    ("redis.call", "ss"),
    ("redis.call", "sss"),
    ("redis.pcall", "sss"),
    ("redis.log", "ns"),
    ("redis.sha1hex", "s"),
    ("redis.error_reply", "s"),
    ("redis.status_reply", "s"),
    ("redis.setresp", "n"),
    ("redis.set_repl", "n"),
    ("redis.acl_check_cmd", "ss"),
    ("redis.breakpoint", ""),
    ("redis.debug", "a"),
    ("os.clock", ""),
    ("print", "a"),
    ("setfenv", "nt"),
    ("getfenv", "n"),
    ("require", "s"),
];

const METAMETHODS: &[&str] = &[
    "__index",
    "__newindex",
    "__call",
    "__tostring",
    "__concat",
    "__eq",
    "__lt",
    "__le",
    "__add",
    "__sub",
    "__mul",
    "__div",
    "__mod",
    "__pow",
    "__unm",
    "__len",
    "__gc",
    "__mode",
    "__metatable",
    "__iter",
    "__pairs",
    "__type",
];

const METHODS: &[&str] =
    &["byte", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub", "upper"];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "^", "..", "==", "~=", "<", "<=", ">", ">=", "and", "or"];

const VARIABLES: &[&str] = &["a", "b", "c", "d"];

/// Choices read from bytes.
pub(crate) struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    /// Creates the choices encoded in `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    /// Returns true if all bytes have been used.
    pub(crate) fn are_over(&self) -> bool {
        self.0.len() == 0
    }

    fn below(&mut self, sides: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % sides)
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }
}

/// Returns the source of a program.
pub(crate) fn program(choices: &mut Choices<'_>) -> String {
    let mut writer = Writer { choices, source: String::new(), depth: 0 };
    writer.add("local a, b, c, d = 12, 'text', {1, 2, 3, k = 'v'}, function(...) return ... end\n");
    for _ in 0..1 + writer.below(8) {
        // Most mistakes do not end the program.
        let is_caught = writer.below(4) > 0;
        writer.add(if is_caught { "pcall(function(...) " } else { "" });
        writer.statement();
        writer.add(if is_caught { " end, ...);\n" } else { ";\n" });
    }
    writer.add("return ");
    writer.list(1, 3);
    writer.source
}

struct Writer<'c, 'a> {
    choices: &'c mut Choices<'a>,
    source: String,
    depth: usize,
}

impl Writer<'_, '_> {
    fn add(&mut self, text: &str) {
        self.source.push_str(text);
    }

    fn below(&mut self, sides: usize) -> usize {
        self.choices.below(sides)
    }

    fn pick(&mut self, texts: &[&str]) {
        let text = self.choices.pick(texts);
        self.source.push_str(text);
    }

    fn is_full(&self) -> bool {
        self.depth >= DEPTH_MAX || self.source.len() >= SOURCE_BYTES_MAX
    }

    /// Expressions with commas, from `least` to `most`.
    fn list(&mut self, least: usize, most: usize) {
        let count = least + self.below(most + 1 - least);
        for at in 0..count {
            if at > 0 {
                self.add(", ");
            }
            self.expression();
        }
    }

    /// Statements, from `least` to `most`, each with its end.
    fn block(&mut self, least: usize, most: usize) {
        let count = least + self.below(most + 1 - least);
        for _ in 0..count {
            if self.source.len() < SOURCE_BYTES_MAX {
                self.statement();
                self.add(";\n");
            }
        }
    }

    /// Adds a nested block.
    fn inner(&mut self) {
        self.depth += 1;
        if self.is_full() {
            self.call();
        } else {
            self.block(1, 3);
        }
        self.depth -= 1;
        self.add(" ");
    }

    fn statement(&mut self) {
        match self.below(16) {
            0 => {
                self.pick(VARIABLES);
                self.pick(&[" = redis.pcall(", " = redis.call("]);
                self.argument(b's');
                self.add(", ");
                self.list(1, 2);
                self.add(")");
            }
            1..4 => {
                self.pick(VARIABLES);
                self.add(" = ");
                self.expression();
            }
            4..8 => self.call(),
            8 => {
                self.pick(VARIABLES);
                self.add("[");
                self.expression();
                self.add("] = ");
                self.expression();
            }
            9 => {
                self.add("if ");
                self.expression();
                self.add(" then ");
                self.inner();
                self.add("else ");
                self.inner();
                self.add("end");
            }
            10 => {
                self.add("for i = ");
                self.list(2, 3);
                self.add(" do ");
                self.inner();
                self.add("end");
            }
            11 => {
                self.add("for k, v in ");
                self.list(1, 3);
                self.add(" do ");
                self.inner();
                self.add("end");
            }
            12 => {
                self.add("while ");
                self.expression();
                self.add(" do ");
                self.inner();
                self.add("end");
            }
            13 => {
                self.add("repeat ");
                self.inner();
                self.add("until ");
                self.expression();
            }
            14 => self.recursion(),
            _ => {
                self.add("do return ");
                self.list(0, 2);
                self.add(" end");
            }
        }
    }

    /// Adds a function that calls itself, to some depth or forever.
    fn recursion(&mut self) {
        self.add("local function f(n, ...) if n == 0 then return ");
        self.list(0, 2);
        self.add(" end ");
        self.inner();
        let ways = [
            "return f(n - 1, ...)",
            "return 1, f(n - 1)",
            "pcall(f, n - 1)",
            "f(n - 1) f(n - 1)",
            "coroutine.wrap(f)(n - 1)",
        ];
        self.pick(&ways);
        self.add(" end f(");
        self.pick(&["3", "20", "190", "10000", "1e9", "-1"]);
        self.add(")");
    }

    fn call(&mut self) {
        self.depth += 1;
        let mut fitting = "";
        match self.below(12) {
            0 => {
                self.add("(");
                self.expression();
                self.add("):");
                self.pick(METHODS);
            }
            1 => {
                self.add("(");
                self.expression();
                self.add(")");
            }
            2 => self.pick(VARIABLES),
            _ => {
                let (name, arguments) = FUNCTIONS[self.below(FUNCTIONS.len())];
                self.add(name);
                fitting = arguments;
            }
        }
        self.add("(");
        if self.below(4) > 0 {
            for (at, kind) in fitting.bytes().enumerate() {
                self.add(if at > 0 { ", " } else { "" });
                self.argument(kind);
            }
        } else if !self.is_full() {
            self.list(0, 4);
        }
        self.add(")");
        self.depth -= 1;
    }

    /// Adds an argument, usually of the right type.
    fn argument(&mut self, kind: u8) {
        match kind {
            _ if self.below(8) == 0 => self.expression(),
            b's' if self.below(4) == 0 => self.long_text(),
            b's' => self.pick(TEXTS),
            b'p' => {
                self.pick(TEXTS);
                self.add(" .. ");
                self.pick(TEXTS);
            }
            b'n' => self.pick(NUMBERS),
            b't' if self.is_full() => self.add("c"),
            b't' => self.table(),
            b'c' => {
                self.add("coroutine.create(");
                self.argument(b'f');
                self.add(")");
            }
            b'f' if self.is_full() => {
                self.pick(&["d", "error", "type", "string.rep", "coroutine.yield", "function() while true do end end"]);
            }
            b'f' => self.function(),
            b'r' => {
                let kind = [b's', b't', b'f'][self.below(3)];
                self.argument(kind);
            }
            _ => self.expression(),
        }
    }

    fn expression(&mut self) {
        if self.is_full() {
            match self.below(3) {
                0 => self.pick(NUMBERS),
                1 => self.pick(TEXTS),
                _ => self.pick(VARIABLES),
            }
            return;
        }
        self.depth += 1;
        match self.below(24) {
            0..3 => self.pick(NUMBERS),
            3..6 => self.pick(TEXTS),
            6..9 => self.pick(VARIABLES),
            9..13 => self.call(),
            13 => self.long_text(),
            14 => self.table(),
            15 => self.object(),
            16..18 => self.function(),
            18 => self.pick(&[
                "nil",
                "true",
                "false",
                "_G",
                "KEYS",
                "ARGV",
                "redis",
                "cjson.null",
                "string",
                "''.x",
                "i",
                "k",
                "v",
            ]),
            19 => {
                self.add("(");
                self.expression();
                self.add(" ");
                self.pick(OPERATORS);
                self.add(" ");
                self.expression();
                self.add(")");
            }
            20 => {
                self.pick(&["-", "not ", "#"]);
                self.expression();
            }
            21 => {
                self.add("(");
                self.expression();
                self.add(")[");
                self.expression();
                self.add("]");
            }
            22 => {
                let (name, _) = FUNCTIONS[self.below(FUNCTIONS.len())];
                self.add(name);
            }
            _ => self.add("({...})[1]"),
        }
        self.depth -= 1;
    }

    fn long_text(&mut self) {
        self.add("string.rep(");
        self.pick(TEXTS);
        self.add(", ");
        self.pick(&["20", "1000", "30000", "1000000", "20000000", "2147483647"]);
        self.add(")");
    }

    fn table(&mut self) {
        self.add("{");
        for _ in 0..self.below(4) {
            match self.below(3) {
                0 => {
                    self.add("[");
                    self.expression();
                    self.add("] = ");
                }
                1 => self.pick(&[
                    "ok = ",
                    "err = ",
                    "map = ",
                    "set = ",
                    "double = ",
                    "big_number = ",
                    "verbatim_string = ",
                    "n = ",
                ]),
                _ => {}
            }
            self.expression();
            self.add(", ");
        }
        self.add("}");
    }

    /// A table with metamethods.
    fn object(&mut self) {
        self.add("setmetatable(");
        self.expression();
        self.add(", {");
        for _ in 0..=self.below(3) {
            self.pick(METAMETHODS);
            self.add(" = ");
            if self.below(4) == 0 {
                self.expression();
            } else {
                self.function();
            }
            self.add(", ");
        }
        self.add("})");
    }

    fn function(&mut self) {
        match self.below(4) {
            0 => self.add("function() while true do end end"),
            1 => self.add("function(...) return ... end"),
            _ => {
                self.add("function(x, y, ...) ");
                self.inner();
                self.add("return ");
                self.list(0, 2);
                self.add(" end");
            }
        }
    }
}

/// A reply that a host may give.
fn reply(choices: &mut Choices<'_>, depth: usize) -> Value {
    let text = |choices: &mut Choices<'_>| {
        let length = [0, 1, 3, 100, 5_000, 200_000][choices.below(6)];
        let byte = [b'a', b'0', 0, 0xff][choices.below(4)];
        vec![byte; length]
    };
    let line = |choices: &mut Choices<'_>| String::from_utf8_lossy(&text(choices)).into_owned();
    let count = if depth == 3 { 0 } else { choices.below(4) };
    let some = |choices: &mut Choices<'_>| (0..count).map(|_| reply(choices, depth + 1)).collect::<Vec<_>>();
    match choices.below(16) {
        0 => Value::Simple(line(choices)),
        1 => Value::Error(line(choices)),
        2 => Value::Int([0, 1, -1, i64::MIN, i64::MAX, 1 << 53][choices.below(6)]),
        3 => Value::Null,
        4 => Value::NullArray,
        5 => Value::Array(some(choices)),
        6 => Value::Array(vec![Value::bulk(text(choices)); choices.below(256)]),
        7 => Value::Map((0..count).map(|_| (reply(choices, depth + 1), reply(choices, depth + 1))).collect()),
        8 => Value::Set(some(choices)),
        9 => Value::Push(some(choices)),
        10 => {
            Value::Double([0.0, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE][choices.below(6)])
        }
        11 => Value::Boolean(choices.below(2) == 0),
        12 => Value::BigNumber(line(choices)),
        13 => Value::Verbatim { format: "txt".to_owned(), text: line(choices) },
        _ => Value::Bulk(text(choices)),
    }
}

/// A machine with room for little.
pub(crate) fn machine() -> Machine {
    let about = About {
        version: "7.4.0",
        version_number: 0x0007_0400,
        seed: 1,
        argument_bytes_max: 1 << 20,
        request_bytes_max: 4 << 20,
    };
    let machine = Machine::new(about);
    machine.set_room(Some(ROOM_BYTES));
    machine
}

/// Outcomes of programs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// They replied.
    pub(crate) replies: u32,
    /// They failed.
    pub(crate) failures: u32,
    /// They were stopped.
    pub(crate) stops: u32,
    /// Commands that they called.
    pub(crate) calls: u32,
}

/// Runs `source`, with replies that `choices` decide, and then `return 1`.
///
/// # Panics
/// If the outcome is not a reply, an error or the stop; if a stopped program continues; or if the machine is broken.
pub(crate) fn run(machine: &mut Machine, source: &str, choices: &mut Choices<'_>, tally: &mut Tally) {
    let (mut ticks, mut calls, mut asks) = (0, 0, 0);
    let mut input = begin(machine, source);
    loop {
        let is_stopped = ticks > TICKS_MAX || calls > CALLS_MAX;
        if is_stopped {
            asks += 1;
            assert!(asks < ASKS_MAX, "it is stopped and goes on:\n{source}");
            input = Input::Stop;
        }
        input = match machine.go(input) {
            Ask::Tick => {
                ticks += 1;
                Input::Go
            }
            Ask::Call { request, .. } => {
                calls += 1;
                machine.give_back(request);
                Input::Reply(reply(choices, 0))
            }
            Ask::Check(request) => {
                calls += 1;
                machine.give_back(request);
                Input::Reply(if choices.below(2) == 0 {
                    Value::Boolean(true)
                } else {
                    Value::Error("ERR no".to_owned())
                })
            }
            Ask::Log { .. } => {
                calls += 1;
                Input::Reply(Value::Null)
            }
            Ask::Over(outcome) => {
                match outcome {
                    _ if is_stopped => tally.stops += 1,
                    Ok(Answer::Reply(..)) => tally.replies += 1,
                    Ok(_) => panic!("a program replies:\n{source}"),
                    Err(_) => tally.failures += 1,
                }
                break;
            }
        };
    }
    tally.calls += calls;
    let mut ask = machine.go(begin(machine, "return 1"));
    while matches!(ask, Ask::Tick) {
        ask = machine.go(Input::Go);
    }
    match ask {
        Ask::Over(Ok(Answer::Reply(Value::Int(1), _))) => {}
        Ask::Over(Err(fault)) => panic!("the next program fails: {}\n{source}", fault.reply_text("0")),
        _ => panic!("the next program does other things than it says:\n{source}"),
    }
    // Compiled scripts should not use up the room of the next one.
    assert!(matches!(machine.go(Input::Forget), Ask::Over(Ok(Answer::Done))));
}

fn begin(machine: &Machine, source: &str) -> Input {
    let arguments: [&[u8]; 4] = [b"key", b"value", b"12", b"\0\xff"];
    let mut name = String::new();
    write!(name, "{:040x}", hash(source)).expect("a text takes it");
    let code = Code::Script { name: name.into(), source: Arc::from(source.as_bytes()) };
    machine.task(code, OwnedRequest::of(&arguments).args(), 1)
}

/// Returns the name of a script: a machine caches compiled scripts by name, so each source needs its own.
fn hash(source: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    hasher.finish()
}
