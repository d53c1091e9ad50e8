//! Rows of an index: each client writes some of its own, and all search for them.
//!
//! ```text
//!   row:0 row:1 ...               n rises with each write; t says whether it is even
//!   row:0:a row:0:b  row:1:a ...  written by one transaction, so a query finds the same n in both
//!   shared:0 ...                  whatever they hold
//! ```
//!
//! A query begun after a write was acknowledged must find it, and what a query has shown must survive a crash, like
//! what a read of the key has shown.

use crate::client::{Client, number};
use crate::life::CLIENTS;
use crate::request::{Request, Touch};
use std::collections::BTreeMap;
use wire::client::Value;

/// The index.
const INDEX: &str = "rows";
const DECLARATION: &str = "FT.CREATE rows ON HASH PREFIX 2 row: shared: SCHEMA n NUMERIC SORTABLE t TAG f TEXT";

/// The rows that a query shows: keys with their numbers.
type ShownRows = BTreeMap<String, u64>;

/// Returns the two keys that one MULTI of a client writes.
pub(crate) fn pair(number: usize) -> [String; 2] {
    ["a", "b"].map(|part| format!("row:{number}:{part}"))
}

/// Returns the key of the rising row of a client.
pub(crate) fn row(number: usize) -> String {
    format!("row:{number}")
}

impl Client {
    /// Declares, writes or searches.
    pub(crate) async fn use_rows(&mut self) {
        match self.below(16) {
            0 => self.declare().await,
            1..=4 => self.write_row().await,
            5 | 6 => self.write_pair().await,
            7 => self.search_in_transaction().await,
            8 => self.aggregate().await,
            _ => self.search().await,
        }
    }

    async fn declare(&mut self) {
        let line = match self.below(8) {
            0 => "FT.DROPINDEX rows",
            1 => "FT.ALTER rows SCHEMA ADD h TEXT",
            2 => "FT._LIST",
            _ => DECLARATION,
        };
        let words: Vec<&str> = line.split(' ').collect();
        let touches = if words[0] == "FT.DROPINDEX" { Vec::new() } else { vec![Touch::Indexes] };
        self.call(Request { touches, ..Request::plain(&words) }).await;
    }

    async fn write_row(&mut self) {
        let key = row(self.number);
        let value = self.shared.facts.borrow_mut().send(&key);
        let (n, parity) = (value.to_string(), parity(value));
        if let Value::Int(_) = self.call(Request::on(&["HSET", &key, "n", &n, "t", parity], &[&key])).await {
            self.shared.facts.borrow_mut().confirm(&key, value);
        }
    }

    async fn write_pair(&mut self) {
        let key = format!("pair:{}", self.number);
        let value = self.shared.facts.borrow_mut().send(&key);
        let (n, parity) = (value.to_string(), parity(value));
        let sets = pair(self.number).map(|key| Request::on(&["HSET", &key, "n", &n, "t", parity], &[&key]));
        let replies = self.send(&Request::transaction(sets.to_vec(), &[])).await.unwrap_or_default();
        if matches!(replies.last(), Some(Value::Array(_))) {
            self.shared.facts.borrow_mut().confirm(&key, value);
        }
    }

    async fn search(&mut self) {
        let of_all = self.below(4) > 0;
        let query = if of_all { self.one_of(&["*", "@n:[1 inf]", "-@t:{none}"]) } else { "@t:{even}" };
        let mut words = vec!["FT.SEARCH", INDEX, query, "LIMIT", "0", "100"];
        match self.below(3) {
            // The whole hashes, read beside the index.
            0 => {}
            1 => words.extend(["RETURN", "2", "n", "t"]),
            _ => words.extend(["RETURN", "1", "n", "SORTBY", "n", "DESC"]),
        }
        let floor = self.confirmed();
        // What it has seen is compared with the facts: its clone may be older than the end of the journal is when it
        // has run.
        let reply = self.call(Request::plain(&words)).await;
        let Some(shown) = shown(&reply) else { return };
        self.judge(&shown, &floor, of_all);
        assert!(of_all || shown.iter().all(|(key, n)| is_shared(key) || n.is_multiple_of(2)), "{query}: {shown:?}");
    }

    /// Counts the rows of each number, with a cursor at times.
    async fn aggregate(&mut self) {
        let line = "FT.AGGREGATE rows @n:[1,inf] GROUPBY 1 @t REDUCE COUNT 0 AS c REDUCE MAX 1 @n AS m";
        let words: Vec<String> = line.split(' ').map(|word| word.replace(',', " ")).collect();
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if self.below(2) == 0 {
            words.extend(["WITHCURSOR", "COUNT", "1"]);
        }
        let reply = self.call(Request::plain(&words)).await;
        if let Value::Array(parts) = &reply
            && let [Value::Array(_), Value::Int(cursor @ 1..)] = parts[..]
        {
            self.call(Request::plain(&["FT.CURSOR", "READ", INDEX, &cursor.to_string()])).await;
        }
    }

    /// Writes its row, and finds it in the same transaction.
    async fn search_in_transaction(&mut self) {
        let key = row(self.number);
        let floor = self.confirmed();
        let value = self.shared.facts.borrow_mut().send(&key);
        let (n, parity) = (value.to_string(), parity(value));
        let touches: Vec<Touch> =
            (0..CLIENTS).map(|number| Touch::Key(0, row(number))).chain([Touch::Indexes]).collect();
        let search = Request::plain(&["FT.SEARCH", INDEX, "*", "RETURN", "1", "n", "LIMIT", "0", "100"]);
        let set = Request::on(&["HSET", &key, "n", &n, "t", parity], &[&key]);
        let transaction = Request::transaction(vec![set, Request { touches, ..search }], &[]);
        let replies = self.send(&transaction).await.unwrap_or_default();
        let Some(Value::Array(results)) = replies.last() else { return };
        self.shared.facts.borrow_mut().confirm(&key, value);
        if let Some(shown) = shown(&results[1]) {
            assert_eq!(shown.get(&key), Some(&value), "a transaction does not see its own write");
            self.judge(&shown, &floor, true);
        }
    }

    /// Returns the numbers of all rows that replies have confirmed so far.
    fn confirmed(&self) -> ShownRows {
        let facts = self.shared.facts.borrow();
        let of = |key: String| (facts.rising.get(&key).map_or(0, |rising| rising.confirmed), key);
        let keys = (0..CLIENTS).flat_map(|number| [row(number), format!("pair:{number}")]);
        keys.map(of).map(|(value, key)| (key, value)).collect()
    }

    /// Asserts that a query has missed nothing that was confirmed before it, and notes what it has shown. Without
    /// `of_all`, a row may be missing.
    fn judge(&self, shown: &ShownRows, floor: &ShownRows, of_all: bool) {
        let mut facts = self.shared.facts.borrow_mut();
        let mut note = |key: &str, value: Option<u64>| {
            if value.is_none() && !of_all {
                return;
            }
            let value = value.unwrap_or(0);
            assert!(value >= floor[key], "a query found {value} in {key}, and {} was confirmed before", floor[key]);
            facts.confirm(key, value);
        };
        for number in 0..CLIENTS {
            note(&row(number), shown.get(&row(number)).copied());
            let [one, other] = pair(number).map(|key| shown.get(&key).copied());
            assert_eq!(one, other, "a query found half a transaction of client {number}");
            note(&format!("pair:{number}"), one);
        }
    }
}

fn parity(value: u64) -> &'static str {
    if value.is_multiple_of(2) { "even" } else { "odd" }
}

fn is_shared(key: &str) -> bool {
    key.starts_with("shared:")
}

/// Returns the rows of a reply that have a number; `None` if it is an error.
fn shown(reply: &Value) -> Option<ShownRows> {
    let Value::Array(items) = reply else { return None };
    let rows = items[1..].chunks(2).filter_map(|row| {
        let Value::Array(fields) = &row[1] else { panic!("{row:?} is no row") };
        let at = fields.chunks(2).position(|field| field[0].as_bytes() == Some(b"n"))?;
        let key = String::from_utf8(row[0].as_bytes().expect("a key is a text").to_vec()).expect("keys are texts");
        Some((key, number(&fields[2 * at + 1])?))
    });
    Some(rows.collect())
}
