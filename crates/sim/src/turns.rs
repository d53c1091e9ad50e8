//! Client actions that stress turns of the store: big values that share leaves and move between shards, databases that
//! are flushed and swapped, and checkpoints in between.

use crate::act::SHARED;
use crate::client::Client;
use crate::request::{Request, Touch};
use wire::client::Value;

/// Keys of big values, shared by all clients.
const BIG: [&str; 6] = ["big:0", "big:1", "big:2", "big:3", "big:4", "big:5"];
/// Databases that are filled and emptied.
const FLEETING: [u32; 2] = [1, 2];

impl Client {
    /// Creates, extends, moves or deletes one of [`BIG`].
    pub(crate) async fn use_big(&mut self) {
        let (key, other) = (self.one_of(&BIG), self.one_of(&BIG));
        let one = |words: &[&str]| Request::on(words, &[key]);
        let both = |words: &[&str]| Request::on(words, &[key, other]);
        let (item, at) = (self.long(900), self.below(8).to_string());
        let request = match self.below(16) {
            0..=4 => self.push_big(key),
            5 | 6 => both(&["COPY", key, other, "REPLACE"]),
            7 | 8 => both(&["RENAME", key, other]),
            9 => one(&["DEL", key]),
            10 => one(&["LSET", key, &at, &item]),
            11 => one(&["LTRIM", key, &at, "24"]),
            12 => one(&["LPOP", key, "3"]),
            13 => one(&["SET", key, &self.long(20_000)]),
            14 => one(&["SETRANGE", key, &(1000 * self.below(12)).to_string(), &item]),
            _ => one(&["PEXPIRE", key, &(10 + self.below(300)).to_string()]),
        };
        self.call(request).await;
    }

    fn push_big(&self, key: &str) -> Request {
        let mut words = vec!["RPUSH".to_owned(), key.to_owned()];
        words.extend((0..3 + self.below(10)).map(|_| self.long(900)));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Request::on(&words, &[key])
    }

    /// Copies a value, deletes the original, renames the copy and changes it, with a checkpoint after every step.
    pub(crate) async fn hand_big_on(&mut self) {
        let (key, copy, last) = (self.one_of(&BIG), self.one_of(&BIG), self.one_of(&BIG));
        let item = self.long(900);
        let steps = [
            self.push_big(key),
            self.push_big(key),
            Request::on(&["COPY", key, copy, "REPLACE"], &[key, copy]),
            Request::on(&["DEL", key], &[key]),
            Request::on(&["RENAME", copy, last], &[copy, last]),
            Request::on(&["LSET", last, "0", &item], &[last]),
            Request::on(&["COPY", last, key, "REPLACE"], &[last, key]),
            Request::on(&["LPOP", last, "6"], &[last]),
        ];
        for step in steps {
            self.call(step).await;
            self.checkpoint().await;
        }
    }

    /// Fills, swaps and flushes databases, with a checkpoint between all steps, or occasionally.
    pub(crate) async fn use_databases(&mut self) {
        let often = self.below(2) == 0;
        for _ in 0..4 {
            match self.below(10) {
                0..=4 => self.fill_database().await,
                5 => self.exchange_databases().await,
                6 | 7 => self.flush_database().await,
                8 => self.exchange_with_first().await,
                _ => self.flush_all().await,
            }
            if often || self.below(4) == 0 {
                self.checkpoint().await;
            }
        }
    }

    async fn fill_database(&mut self) {
        let database = FLEETING[self.below(2) as usize];
        let key = self.one_of(&SHARED);
        let requests = [
            Request::plain(&["SELECT", &database.to_string()]),
            Request::within(database, &["RPUSH", key, &self.long(300)], &[key]),
            Request::within(database, &["SET", &format!("{key}:text"), &self.long(300), "PX", "200"], &[]),
            self.push_big(self.one_of(&BIG)).into_database(database),
            Request::plain(&["SELECT", "0"]),
        ];
        drop(self.send(&requests).await);
    }

    async fn exchange_with_first(&mut self) {
        let touches = vec![Touch::Database(0), Touch::Database(1)];
        self.call(Request { touches, ..Request::plain(&["SWAPDB", "0", "1"]) }).await;
    }

    async fn flush_all(&mut self) {
        let touches = (0..=2).map(Touch::Database).collect();
        self.call(Request { touches, ..Request::plain(&["FLUSHALL"]) }).await;
    }

    /// Requests a checkpoint, and usually waits for it.
    pub(crate) async fn checkpoint(&mut self) {
        let words: &[&str] = match self.below(10) {
            0 => &["BGSAVE"],
            1 => &["DEBUG", "RELOAD"],
            _ => &["SAVE"],
        };
        let reply = self.call(Request::plain(words)).await;
        assert!(reply != Value::Null, "{words:?} has an answer");
    }

    /// Returns up to `bytes_max` letters that compress hardly at all.
    fn long(&self, bytes_max: u64) -> String {
        let bytes = 1 + self.below(bytes_max);
        let mut word = self.token();
        while (word.len() as u64) < bytes {
            word.push_str(&format!("{:016x}", self.shared.random.next()));
        }
        word
    }
}
