//! Random requests, made from numbers drawn by proptest or a generator.

#![allow(dead_code, reason = "each test file uses its part of this")]

use crate::syntax;
use commands::{CommandSpec, Group};
use std::cell::RefCell;

/// Returns the words of a command's name.
pub(crate) fn name(command: &CommandSpec) -> Vec<Vec<u8>> {
    command.name.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

/// Returns true if a word of a syntax line stands for a key.
pub(crate) fn is_key(name: &str) -> bool {
    ["key", "newkey", "source", "destination", "destkey", "sourcekey", "key1", "key2"].contains(&name)
}

/// Returns the meaning of `name` in the syntax of `command`, if it differs from the usual one; else `name`.
fn meant<'a>(command: &CommandSpec, name: &'a str) -> &'a str {
    match (command.group, name) {
        (Group::Generic, "start" | "end") => "bound",
        (Group::Bitmap, "offset") => "bit offset",
        (Group::Bitmap, "value") if command.name == "SETBIT" => "bit",
        (Group::Bitmap, "value" | "increment") => "number",
        (Group::Stream, "id") if command.name == "XREADGROUP" => "unread",
        (Group::Stream, "id" | "start" | "end" | "last-id" | "max-deleted-id" | "threshold") => "stream id",
        (Group::Stream, "min-idle-time" | "idle" | "entries-added" | "entries-read" | "milliseconds") => "few",
        (Group::Tagged, "value") => "tagged value",
        (Group::Tagged, "type") => "value type",
        (Group::Memcached, "value") => "item",
        (Group::Search, "count" | "nargs" | "num" | "offset" | "read_size") => "few of a search",
        (Group::Search, "min" | "max" | "value") => "search number",
        (Group::Search, "prefix") => "search prefix",
        (Group::Search, "index") => "search index",
        (Group::Search, "field" | "attribute" | "property" | "identifier" | "sortby" | "arg" | "name") => {
            "search field"
        }
        (Group::Queue, "count" | "milliseconds" | "bytes") => "few of a queue",
        (Group::Queue, "message") => "value",
        (_, "ifeq-value" | "ifne-value") => "value",
        (_, "ifdeq-digest" | "ifdne-digest") => "digest",
        (_, name) => name,
    }
}

/// Returns `count` pseudo-random numbers that never change for a seed.
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<u32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    (0..count).map(next).collect()
}

/// A source of choices: the numbers of proptest, then zeros.
pub(crate) struct Dice<'a> {
    numbers: std::slice::Iter<'a, u32>,
    /// The latest receipts of queue messages.
    pub(crate) receipts: Vec<Vec<u8>>,
    /// Some keys, elements and names in values are long.
    are_long: bool,
}

/// Arguments that may be any bytes: with keys, the arguments that a frame repeats.
const FREE: &[&str] = &[
    "value",
    "element",
    "pivot",
    "item",
    "member",
    "member1",
    "member2",
    "field",
    "group",
    "consumer",
    "message",
    "tagged value",
    "dedup-id",
    "name",
    "flag",
];

impl<'a> Dice<'a> {
    pub(crate) fn new(numbers: &'a [u32]) -> Self {
        Self { numbers: numbers.iter(), receipts: Vec::new(), are_long: false }
    }

    /// Like [`Self::new`], but some keys, elements and names are long, and some arguments empty.
    pub(crate) fn long(numbers: &'a [u32]) -> Self {
        Self { are_long: true, ..Self::new(numbers) }
    }

    /// Returns true if all numbers have been used.
    pub(crate) fn is_over(&self) -> bool {
        self.numbers.len() == 0
    }

    /// Returns a request of `command` according to its syntax, with each value made by `value` from its name.
    pub(crate) fn request(
        &mut self,
        command: &CommandSpec,
        value: &dyn Fn(&mut Self, &str) -> Vec<u8>,
    ) -> Vec<Vec<u8>> {
        let mut words = name(command);
        let shared = RefCell::new(self);
        syntax::parse(command.syntax).write(&mut words, &mut |sides| shared.borrow_mut().below(sides), &mut |name| {
            let dice = &mut *shared.borrow_mut();
            if is_key(name) && dice.below(2) == 0 {
                dice.home(command.group)
            } else {
                value(dice, meant(command, name))
            }
        });
        let dice = shared.into_inner();
        dice.count_fields(command, &mut words);
        dice.name_entry(command, &mut words);
        words
    }

    /// Returns a key that few commands of other groups use, so that it mostly holds this group's type.
    fn home(&mut self, group: Group) -> Vec<u8> {
        match group {
            Group::Generic => {
                self.pick(&["string", "list", "hash", "set", "bitmap", "hyperloglog", "stream", "tagged", "queue"])
            }
            Group::Tagged => self.pick(&["tagged", "tagged", "ordered", "unique"]),
            Group::List => self.pick(&["list", "list", "queue"]),
            Group::Search => b"hash".into(),
            Group::Set => self.pick(&["set", "another set"]),
            group => group.name().into(),
        }
    }

    /// Returns a likely version of an item: one of the first of the first millisecond.
    fn version(&mut self) -> Vec<u8> {
        let first = 1_700_000_000_000u64 << 16;
        match self.below(4) {
            0 => self.pick(&["0", "9", "18446744073709551615", "x"]),
            _ => (first + 1 + self.below(6) as u64).to_string().into_bytes(),
        }
    }

    /// Mostly gives a new entry an id that other requests may name too.
    fn name_entry(&mut self, command: &CommandSpec, words: &mut [Vec<u8>]) {
        let any = words.iter_mut().find(|word| command.name == "XADD" && *word == b"*");
        if let Some(any) = any.filter(|_| self.below(16) > 0) {
            *any = self.value("stream id");
        }
    }

    /// Mostly corrects the counts of `FIELDS numfields` and `IDS numids`.
    fn count_fields(&mut self, command: &CommandSpec, words: &mut [Vec<u8>]) {
        let Some(at) = words.iter().position(|word| word == b"FIELDS" || word == b"IDS") else { return };
        if self.below(4) > 0 {
            let each = if command.syntax.contains("field value") { 2 } else { 1 };
            words[at + 1] = ((words.len() - at - 2) / each).to_string().into_bytes();
        }
    }

    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.numbers.next().map_or(0, |number| *number as usize % sides)
    }

    fn pick(&mut self, words: &[&str]) -> Vec<u8> {
        words[self.below(words.len())].into()
    }

    /// Returns a payload as DUMP might return it for some type.
    fn payload(&mut self) -> Vec<u8> {
        use values::{Collection, List, LongString, Set, Value, set::SetForm};
        let many = 1 + self.below(2) * 20_000;
        let texts = (0..many).map(|at| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_string().into_bytes());
        rdb::dump(&match self.below(4) {
            0 => Value::Text(LongString::of(b"restored")),
            1 => Value::Text(LongString::of(&texts.collect::<Vec<_>>().concat())),
            2 => {
                let mut list = List::new();
                texts.for_each(|text| list.push(blocks::End::Tail, &text));
                list.into_value()
            }
            _ => {
                let mut set = Set::new();
                texts.for_each(|text| assert!(set.add(&text, SetForm::Hashed)));
                set.into_value()
            }
        })
    }

    /// Returns a plausible value for that name in commands on indexes.
    fn search_value(&mut self, name: &str) -> Option<Vec<u8>> {
        Some(match name {
            "search index" => self.pick(&["index", "index", "another index", "alias", "x"]),
            "alias" => self.pick(&["alias", "another alias", "index", "f"]),
            "query" => self.pick(&["*", "*", "*", "@f:[1 20]", "@f:{a}", "a", "-@g:[0 1]", "(", "@x:a"]),
            "few of a search" => self.pick(&["1", "1", "1", "0", "2", "x"]),
            "search number" => self.pick(&["1", "(12", "-inf", "20", "x"]),
            "search prefix" => self.pick(&["", "h", "hash"]),
            "search field" | "field_name" | "numeric_field" | "geo_field" | "numeric-field" => {
                self.pick(&["f", "f", "@f", "g", "h", "__key"])
            }
            "lang_attribute" | "score_attribute" => self.pick(&["l", "f"]),
            "default_lang" | "language" => self.pick(&["english", "german", "x"]),
            "default_score" => self.pick(&["1", "0.5", "2"]),
            "filter" => self.pick(&["exists(@f)", "1", "@f == 12", "("]),
            "expression" => self.pick(&["upper(@__key)", "1 + 2", "@f * 2", "("]),
            "function" => self.pick(&["COUNT", "SUM", "TOLIST", "COUNT_DISTINCT", "X"]),
            "options" => self.pick(&["TEXT", "TAG", "NUMERIC", "SORTABLE"]),
            "option" => self.pick(&["VERBATIM", "NOCONTENT", "x"]),
            "cursor_id" => self.pick(&["1", "2", "3", "x"]),
            _ => return None,
        })
    }

    /// Returns a plausible value for that name.
    pub(crate) fn value(&mut self, name: &str) -> Vec<u8> {
        const INTS: &[&str] =
            &["0", "1", "-1", "2", "3", "-2", "5", "100", "-100", "9223372036854775807", "-9223372036854775808", "x"];
        if let Some(value) = self.search_value(name) {
            return value;
        }
        match name {
            _ if self.are_long && self.below(20) == 0 => Vec::new(),
            // Few distinct ones, so that they recur; longer than the rest of most requests.
            name if self.are_long && (is_key(name) || FREE.contains(&name)) && self.below(4) == 0 => {
                vec![b'l'; [5_000, 70_000][self.below(2)]]
            }
            name if is_key(name) => self.pick(&["a", "b", "c", "d", "a key"]),
            "value" | "element" | "pivot" => match self.below(12) {
                0 => vec![b'x'; 20_000 + self.below(3)],
                1 => vec![b'y'; 70_000],
                _ => self.pick(&["", "a", "b", "cc", "12", "-7", "1.5", "12345678901", "\x00\r\n", "abcabba"]),
            },
            "item" => match self.below(3) {
                0 => self.pick(&["1", "9", "99", "18446744073709551615"]),
                _ => self.value("value"),
            },
            // Digests of the empty string, of `a` and of another string; and no digest.
            "digest" => self.pick(&["2d06800538d394c2", "E6C632B61E964E1F", "0123456789abcdef", "12"]),
            "member" | "member1" | "member2" => {
                self.pick(&["a", "b", "cc", "", "12", "-7", "3", "4", "5", "70000000000", "a longer member"])
            }
            "field" => self.pick(&["f", "g", "h", "", "a long field", "12"]),
            "longitude" => self.pick(&["13.361389", "15.087269", "13.36", "-122.4", "180", "-180", "0", "181", "x"]),
            "latitude" => self.pick(&["38.115556", "37.502669", "38.2", "37.7", "85.05112878", "-85", "0", "90", "x"]),
            "radius" | "width" | "height" => {
                self.pick(&["200", "100000", "2e5", "1e6", "500.5", "0", "3", "4e7", "inf", "-1", "x"])
            }
            "score" | "weight" => self.pick(&["1", "2", "2.5", "-1", "0", "inf", "-inf", "1e20", "x", "7"]),
            "exptime" => self.pick(&["0", "0", "1", "100", "2592000", "1700000100", "-1", "x"]),
            "flags" => self.pick(&["0", "0", "7", "4294967295", "x"]),
            "version" => self.version(),
            "delta" => self.pick(&["1", "7", "18446744073709551615", "0", "x"]),
            "flag" => match self.below(8) {
                0 => [b"C".to_vec(), self.version()].concat(),
                _ => self.pick(&[
                    "v", "c", "t", "k", "f", "h", "l", "s", "q", "b", "u", "I", "x", "N30", "N0", "T20", "T0", "T-1",
                    "R50", "F5", "J3", "D2", "MA", "MP", "ME", "MR", "MD", "MI", "Oab", "E9", "Z",
                ]),
            },
            "bound" => self.pick(&["-", "+", "-", "+", "[a", "(a", "[b", "(c", "[list", "(set", "[", "("]),
            "min" | "max" => self.pick(&["-", "+", "[m", "(n", "[o", "-inf", "+inf", "(1", "2", "0", "(7", "x"]),
            "serialized-value" => self.payload(),
            "ttl" => self.pick(&["0", "0", "1000", "x"]),
            "frequency" => self.pick(&["0", "255", "256"]),
            "seconds" | "milliseconds" => self.pick(&["1", "10", "100", "1000", "0", "-1", "100000", "x"]),
            "unix-time-seconds" => self.pick(&["1700000001", "1700000100", "33177117420", "1", "0", "x"]),
            "unix-time-milliseconds" => self.pick(&["1700000000001", "1700000100000", "33177117420000", "1", "-1"]),
            "timeout" => self.pick(&["0.01", "1", "0", "-1", "x"]),
            "stream id" => match self.below(3) {
                0 => self.pick(&["0", "-", "+", "$", ">", "7-*", "5-1", "(1-1", "0-0", "9", "x"]),
                _ => format!("{}-{}", self.below(6), self.below(2)).into_bytes(),
            },
            "prefix" => self.pick(&["tagged", "ordered", "a", "t", "", "u"]),
            "tagged value" => self.pick(&["a", "b", "cc", "12", "-7", "", "d"]),
            "value type" => self.pick(&["int", "bytes", "text", "x"]),
            "bytes" => self.pick(&["1", "2", "0", "x"]),
            "bits" => self.pick(&["1", "3", "2", "3", "32", "0", "x"]),
            "name" => self.pick(&["a", "b", "c", "hidden"]),
            "name=n" => self.pick(&["a=1", "a=7", "b=2", "b=0", "a=8", "x"]),
            "condition" => self.pick(&["a=1", "a!=0", "b>=1", "a=0|1", "b<2", "b<=1", "c=0", "a>", "x"]),
            "from" => self.pick(&["0", "0", "1", "@1", "@3", "-1"]),
            "pos" => self.pick(&["0", "-1", "1", "-2", "100", "x"]),
            "by" => self.pick(&["1", "-1", "3", "x"]),
            "few of a queue" => self.pick(&["1", "2", "7", "600", "0", "-1", "x"]),
            "dedup-id" => self.pick(&["a", "b", "c", ""]),
            "receipt" => match self.receipts.len() {
                0 => self.pick(&["17-2", "x"]),
                count => {
                    let at = self.below(count);
                    self.receipts[at].clone()
                }
            },
            "unread" => self.pick(&[">", ">", ">", "0", "5-1", "x"]),
            "few" => self.pick(&["0", "0", "0", "5", "-1", "x"]),
            "group" | "consumer" => self.pick(&["g", "g", "h"]),
            "pattern" => self.pick(&["*", "a*", "?", "[a-c]", "", "x"]),
            "cursor" => self.pick(&["0", "1", "281474976710655", "99999999999", "x"]),
            "type" => self.pick(&["string", "list", "hash", "set", "zset", "stream", "tagged"]),
            "db" | "destination-db" | "index1" | "index2" => self.pick(&["0", "1", "2", "3", "9", "x"]),
            "numkeys" | "numfields" | "numids" => self.pick(&["1", "1", "2", "3", "0", "x"]),
            "offset" => self.pick(&["0", "1", "5", "30", "17000", "70000", "-1", "536870912", "x"]),
            "bit offset" => self.pick(&["0", "1", "7", "8", "30", "#0", "#3", "9000", "150000", "-1", "x"]),
            "bit" => self.pick(&["0", "1", "1", "2", "x"]),
            "encoding" => self.pick(&["u1", "i1", "u4", "i5", "u8", "i8", "u16", "i37", "u63", "i64", "u64"]),
            "increment" | "decrement" => self.pick(&["1", "-1", "10", "0.1", "1e3", "x", "9223372036854775807"]),
            _ => self.pick(INTS),
        }
    }
}
