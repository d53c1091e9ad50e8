//! The clients' actions: writes of unique values to keys of their own, reads of each other's keys, moves of the
//! elements of one queue, and arbitrary commands on a few shared keys.

use crate::client::{Client, let_others_go_on, number};
use crate::forge;
use crate::request::{Request, TOKEN, Touch};
use crate::world::Workload;
use wire::client::Value;

/// The shared keys.
pub(crate) const SHARED: [&str; 6] = ["shared:0", "shared:1", "shared:2", "shared:3", "shared:4", "shared:5"];

impl Client {
    /// Performs actions until the world stops.
    pub(crate) async fn run(mut self) {
        while !self.shared.stop.get() {
            match self.shared.workload {
                Workload::Mixed => self.do_anything().await,
                Workload::Values if self.below(2) == 0 => self.do_anything().await,
                Workload::Values if self.below(4) == 0 => self.hand_big_on().await,
                Workload::Values => self.use_big().await,
                Workload::Databases => self.do_without_facts().await,
                Workload::Script(..) => return,
            }
            let_others_go_on().await;
        }
    }

    async fn do_anything(&mut self) {
        match self.below(29) {
            0 => self.write_register().await,
            1 => self.read_register().await,
            2 => self.push_list().await,
            3 => self.read_list().await,
            4 => self.write_trio().await,
            5 | 6 => self.push_element().await,
            7 | 8 => self.move_element().await,
            9 => self.write_fleeting().await,
            10 => self.read_fleeting().await,
            11 => self.count_up().await,
            12 => self.wait_shared().await,
            13 => self.disturb().await,
            14 => self.transact_shared().await,
            15..=18 => self.call_recorded().await,
            19 => self.use_big().await,
            20..=23 => self.use_rows().await,
            _ => self.use_shared().await,
        }
    }

    /// Performs actions that record no facts which a flush could invalidate.
    async fn do_without_facts(&mut self) {
        match self.below(6) {
            0 => self.wait_shared().await,
            1 => self.disturb().await,
            2 => self.transact_shared().await,
            3 => self.use_shared().await,
            _ => self.use_databases().await,
        }
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.shared.random.below(bound)
    }

    pub(crate) fn one_of<'a>(&self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }

    /// Returns a word that is unique in a world.
    pub(crate) fn token(&self) -> String {
        let number = {
            let mut facts = self.shared.facts.borrow_mut();
            facts.tokens += 1;
            facts.tokens
        };
        format!("{TOKEN}{number}.{}", forge::marks(self.below(120) as usize, number))
    }

    fn any_client(&self) -> u64 {
        self.below(crate::life::CLIENTS as u64)
    }

    async fn write_register(&mut self) {
        let key = format!("reg:{}", self.number);
        let value = self.shared.facts.borrow_mut().send(&key);
        if self.call(Request::on(&["SET", &key, &value.to_string()], &[&key])).await == Value::Simple("OK".into()) {
            self.shared.facts.borrow_mut().confirm(&key, value);
        }
    }

    async fn read_register(&mut self) {
        let key = format!("reg:{}", self.any_client());
        if let Some(value) = number(&self.call(Request::on(&["GET", &key], &[&key])).await) {
            self.shared.facts.borrow_mut().confirm(&key, value);
        }
    }

    async fn push_list(&mut self) {
        let key = format!("list:{}", self.number);
        let value = self.shared.facts.borrow_mut().send(&key);
        let padding = forge::marks(self.below(300) as usize, value);
        let item = format!("{value} {padding}");
        if let Value::Int(len) = self.call(Request::on(&["RPUSH", &key, &item], &[&key])).await {
            assert!(len as u64 <= value, "{key} has {len} items after the push of the {value}th");
            self.shared.facts.borrow_mut().confirm(&key, len as u64);
        }
    }

    async fn read_list(&mut self) {
        let key = format!("list:{}", self.any_client());
        if let Value::Array(items) = self.call(Request::on(&["LRANGE", &key, "0", "-1"], &[&key])).await {
            self.shared.facts.borrow_mut().confirm(&key, items.len() as u64);
        }
    }

    async fn write_trio(&mut self) {
        let key = format!("trio:{}", self.number);
        let value = self.shared.facts.borrow_mut().send(&key);
        let sets = trio(self.number).map(|key| Request::on(&["SET", &key, &value.to_string()], &[&key]));
        let replies = self.send(&Request::transaction(sets.to_vec(), &[])).await.unwrap_or_default();
        if matches!(replies.last(), Some(Value::Array(results)) if results.len() == 3) {
            self.shared.facts.borrow_mut().confirm(&key, value);
        }
    }

    async fn push_element(&mut self) {
        let element = {
            let mut facts = self.shared.facts.borrow_mut();
            let element = facts.elements.len() as u64 + 1;
            facts.elements.insert(element, Default::default());
            element
        };
        if let Value::Int(_) = self.call(Request::on(&["RPUSH", "jobs", &element.to_string()], &["jobs"])).await {
            self.shared.facts.borrow_mut().elements.entry(element).or_default().pushed = true;
        }
    }

    async fn move_element(&mut self) {
        let target = format!("done:{}", self.number);
        let timeout = self.one_of(&["0", "0.001", "0.02", "0.3"]);
        let request = Request::on(&["BLMOVE", "jobs", &target, "LEFT", "RIGHT", timeout], &["jobs"]);
        if let Some(element) = number(&self.call(request).await) {
            let mut facts = self.shared.facts.borrow_mut();
            let known = facts.elements.get_mut(&element).expect("only what was pushed is moved");
            assert_eq!(known.moved_to.replace(self.number), None, "element {element} was given twice");
        }
    }

    async fn write_fleeting(&mut self) {
        let key = format!("fleeting:{}", self.number);
        self.shared.facts.borrow_mut().gone.insert(key.clone(), false);
        let span_ms = (1 + self.below(30)).to_string();
        self.call(Request::on(&["SET", &key, "here", "PX", &span_ms], &[&key])).await;
    }

    async fn read_fleeting(&mut self) {
        let key = format!("fleeting:{}", self.number);
        let gone = self.call(Request::on(&["GET", &key], &[&key])).await == Value::Null;
        self.shared.facts.borrow_mut().gone.insert(key, gone);
    }

    /// Reads a number under WATCH and writes its successor: no two clients may succeed from the same number.
    async fn count_up(&mut self) {
        let read = [Request::on(&["WATCH", "count"], &["count"]), Request::on(&["GET", "count"], &["count"])];
        let Ok(replies) = self.send(&read).await else { return };
        let next = number(&replies[1]).unwrap_or(0) + 1;
        if replies.iter().any(|reply| reply.as_error().is_some()) {
            return;
        }
        self.shared.facts.borrow_mut().count_to(next);
        let set = Request::on(&["SET", "count", &next.to_string()], &["count"]);
        let replies = self.send(&Request::transaction(vec![set], &["count"])).await.unwrap_or_default();
        if matches!(replies.last(), Some(Value::Array(_))) {
            let is_new = self.shared.facts.borrow_mut().counts.insert(next);
            assert!(is_new, "two clients have counted up to {next}");
        }
    }

    /// Blocks on shared keys, which may hold anything.
    async fn wait_shared(&mut self) {
        let (from, other) = (self.one_of(&SHARED), self.one_of(&SHARED));
        let timeout = self.one_of(&["0", "0.002", "0.1"]);
        let request = match self.below(5) {
            3 => Request::on(&["BZPOPMIN", from, timeout], &[from]),
            4 if from != other => Request::on(&["BZPOPMAX", from, other, timeout], &[from, other]),
            0 => Request::on(&["BLMOVE", from, other, "RIGHT", "LEFT", timeout], &[from]),
            1 => Request::on(&["BRPOP", from, timeout], &[from]),
            _ if from == other => Request::on(&["BLPOP", from, timeout], &[from]),
            _ => Request::on(&["BLPOP", from, other, timeout], &[from, other]),
        };
        self.call(request).await;
    }

    /// Runs commands that block others, or wake them.
    async fn disturb(&mut self) {
        let id = (1 + self.below(12)).to_string();
        match self.below(15) {
            0 => drop(self.call(Request::plain(&["DEBUG", "RELOAD"])).await),
            12 | 13 => self.checkpoint().await,
            1 => drop(self.call(Request::plain(&["CLIENT", "KILL", "ID", &id])).await),
            2 => drop(self.call(Request::plain(&["CLIENT", "UNBLOCK", &id])).await),
            3 => drop(self.call(Request::plain(&["CLIENT", "UNBLOCK", &id, "ERROR"])).await),
            4 => drop(self.call(Request::plain(&["CLIENT", "PAUSE", "3", "WRITE"])).await),
            5 => drop(self.call(Request::plain(&["KEYS", "shared*"])).await),
            6 => drop(self.call(Request::plain(&["KEYRANGE", "[shared", "+", "LIMIT", "9"])).await),
            14 => drop(self.call(Request::plain(&["DBSIZE"])).await),
            7 => drop(self.call(Request::plain(&["RANDOMKEY"])).await),
            8 => self.be_durable().await,
            9 => self.exchange_databases().await,
            10 => self.flush_database().await,
            _ => self.use_database().await,
        }
    }

    pub(crate) async fn exchange_databases(&mut self) {
        let touches = vec![Touch::Database(1), Touch::Database(2)];
        self.call(Request { touches, ..Request::plain(&["SWAPDB", "1", "2"]) }).await;
    }

    pub(crate) async fn flush_database(&mut self) {
        let flush = Request { touches: vec![Touch::Database(1)], ..Request::plain(&["FLUSHDB"]) };
        let back = Request::plain(&["SELECT", "0"]);
        // Whether or not it succeeded, the next connection starts in database 0.
        drop(self.send(&[Request::plain(&["SELECT", "1"]), flush, back]).await);
    }

    /// Runs a command across databases 0 and 1.
    async fn use_database(&mut self) {
        let (key, token) = (self.one_of(&SHARED), self.token());
        let between = vec![Touch::Key(0, key.to_owned()), Touch::Key(1, key.to_owned())];
        let request = match self.below(3) {
            0 => Request { touches: between, ..Request::plain(&["COPY", key, key, "DB", "1", "REPLACE"]) },
            1 => Request { touches: between, ..Request::plain(&["MOVE", key, "1"]) },
            _ => {
                let there = [
                    Request::plain(&["SELECT", "1"]),
                    Request::within(1, &["LPUSH", key, &token], &[key]),
                    Request::within(1, &["LRANGE", key, "0", "-1"], &[key]),
                    Request::plain(&["SELECT", "0"]),
                ];
                return drop(self.send(&there).await);
            }
        };
        self.call(request).await;
    }

    async fn use_shared(&mut self) {
        let request = self.shared_request();
        self.call(request).await;
    }

    async fn transact_shared(&mut self) {
        let watched = self.one_of(&SHARED);
        let watch = Request::on(&["WATCH", watched], &[watched]);
        let is_watched = self.below(2) == 0 && self.call(watch).await == Value::Simple("OK".into());
        let watched: &[&str] = if is_watched { &[watched] } else { &[] };
        let requests: Vec<Request> = (0..1 + self.below(4)).map(|_| self.shared_request()).collect();
        drop(self.send(&Request::transaction(requests, watched)).await);
    }

    fn shared_request(&self) -> Request {
        let (key, other, token) = (self.one_of(&SHARED), self.one_of(&SHARED), self.token());
        let (key, other, token) = (key, other, &*token);
        let one = |words: &[&str]| Request::on(words, &[key]);
        let both = |words: &[&str]| Request::on(words, &[key, other]);
        let span_ms = (1 + self.below(50)).to_string();
        let field = self.one_of(&["f", "g", "h"]);
        match self.below(68) {
            60..=67 => self.queue_request(key, other),
            51..=59 => self.sorted_request(key, other),
            24 => one(&["HSET", key, field, token]),
            25 => one(&["HSET", key, "f", token, "h", &self.token(), field, "last"]),
            26 => one(&["HGETALL", key]),
            27 => one(&["HDEL", key, field]),
            28 => one(&["HPEXPIRE", key, &span_ms, "FIELDS", "2", field, "g"]),
            29 => one(&["HPERSIST", key, "FIELDS", "1", field]),
            30 => one(&["HSETEX", key, "PX", &span_ms, "FIELDS", "1", field, token]),
            31 => one(&["HGETDEL", key, "FIELDS", "1", field]),
            32 => one(&["HINCRBY", key, "count", "1"]),
            33 => one(&["HSETNX", key, field, token]),
            34 => one(&["HSCAN", key, "0", "COUNT", "2"]),
            // Makes the hash large.
            35 => one(&["HSET", key, field, &format!("{token}{}", "x".repeat(80))]),
            36 => one(&["HGETEX", key, "PX", &span_ms, "FIELDS", "1", field]),
            37 | 38 => one(&["SADD", key, token]),
            39 => one(&["SADD", key, token, "1", "2", &span_ms]),
            40 => one(&["SREM", key, "1", &span_ms]),
            41 => one(&["SPOP", key]),
            42 => one(&["SPOP", key, "3"]),
            43 => both(&["SMOVE", key, other, "2"]),
            44 => one(&["SMEMBERS", key]),
            45 => both(&["SUNIONSTORE", key, key, other]),
            46 => both(&["SDIFFSTORE", key, key, other]),
            47 => both(&["SINTERCARD", "2", key, other]),
            48 => one(&["SISMEMBER", key, token]),
            49 if self.below(4) == 0 => self.many_members(key),
            0 => one(&["SET", key, token]),
            1 => one(&["SET", key, token, "PX", &span_ms]),
            2 => one(&["APPEND", key, token]),
            3 => one(&["GETDEL", key]),
            4 => one(&["GETEX", key, "PX", &span_ms]),
            5 => one(&["DEL", key]),
            6 => both(&["RENAME", key, other]),
            7 => both(&["COPY", key, other, "REPLACE"]),
            8 => one(&["PEXPIRE", key, &span_ms]),
            9 => one(&["PERSIST", key]),
            10 => one(&["LPUSH", key, token]),
            11 => one(&["RPUSH", key, token, &self.token()]),
            12 => one(&["LPOP", key]),
            13 => one(&["RPOP", key, "2"]),
            14 => both(&["LMOVE", key, other, "LEFT", "RIGHT"]),
            15 => one(&["LTRIM", key, "0", "2"]),
            16 => one(&["LSET", key, "0", token]),
            17 => one(&["LRANGE", key, "0", "-1"]),
            18 => one(&["GET", key]),
            19 => both(&["MSETNX", key, token, other, token]),
            20 => both(&["DEL", key, other]),
            21 => one(&["SETRANGE", key, "3", token]),
            22 => both(&["EXISTS", key, other]),
            _ => one(&["RPUSH", key, token]),
        }
    }

    /// Returns a queue command: leased or delayed messages are soon ready again, or gone.
    fn queue_request(&self, key: &str, other: &str) -> Request {
        let one = |words: &[&str]| Request::on(words, &[key]);
        let (token, span_ms) = (self.token(), (1 + self.below(50)).to_string());
        match self.below(8) {
            0 | 1 => one(&["Q.PUSH", key, &token]),
            2 => one(&["Q.PUSH", key, &token, "DELAY", &span_ms]),
            3 => one(&["Q.PUSH", key, &token, "ID", self.one_of(&["f", "g", "h"])]),
            4 => one(&["Q.RESERVE", key, "LEASE", &span_ms]),
            5 => Request::on(&["Q.RESERVE", key, other, "COUNT", "3", "LEASE", &span_ms], &[key, other]),
            6 => one(&["Q.LIMIT", key, "TTL", &span_ms, "MAXLEN", "20"]),
            _ => one(&["Q.DROP", key]),
        }
    }

    /// Returns a sorted-set command; some of the sets are large.
    fn sorted_request(&self, key: &str, other: &str) -> Request {
        let one = |words: &[&str]| Request::on(words, &[key]);
        let (score, member, second) = (self.below(20).to_string(), self.token(), format!("m{}", self.below(8)));
        match self.below(10) {
            0 => one(&["ZADD", key, &score, &second]),
            1 => one(&["ZADD", key, "GT", "CH", &score, &member, "0.5", &second]),
            2 => one(&["ZINCRBY", key, "-1.25", &second]),
            3 => one(&["ZREM", key, &second]),
            4 => one(&["ZPOPMIN", key, "2"]),
            5 => one(&["ZREMRANGEBYRANK", key, "3", "5"]),
            6 => Request::on(&["ZRANGESTORE", other, key, "0", "4"], &[key, other]),
            7 => Request::on(&["ZUNIONSTORE", other, "2", key, other], &[key, other]),
            8 => one(&["ZRANGE", key, "0", "-1", "WITHSCORES"]),
            _ => one(&["ZADD", key, &score, &second, "7", &member]),
        }
    }
}

impl Client {
    /// Returns a set command that works without the lock.
    fn many_members(&self, key: &str) -> Request {
        let from = self.below(600);
        let members = (from..from + 700).map(|member| format!("m{member}"));
        let words: Vec<String> = ["SADD".into(), key.to_owned()].into_iter().chain(members).collect();
        Request::on(&words.iter().map(String::as_str).collect::<Vec<_>>(), &[key])
    }
}

/// Returns the three keys that one MULTI of a client writes.
pub(crate) fn trio(number: usize) -> [String; 3] {
    ["a", "b", "c"].map(|part| format!("trio:{number}:{part}"))
}
