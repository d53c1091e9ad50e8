//! A world whose queries are compared with its keys.

use super::twin::{
    ALIAS, Declared, Hashes, KEYS, Question, TABLES, Words, check_list, hashes_read, questions, rows, texts, words,
};
use crate::support::{Client, Load, World};
use engine::{ExpireCycle, Indexer};
use wire::client::Value;

/// A world, a client of it in database 0, and what was declared.
pub(crate) struct Bench {
    world: Option<World>,
    pub(crate) client: Client,
    declared: Declared,
    is_journaled: bool,
}

const SETTINGS: [(&str, &str); 1] = [("enable-debug-command", "yes")];

impl Bench {
    pub(crate) fn new() -> Self {
        Self::of(World::new(&SETTINGS), true)
    }

    pub(crate) fn without_journal() -> Self {
        Self::of(World::without_journal(), false)
    }

    fn of(world: World, is_journaled: bool) -> Self {
        let client = world.client();
        Self { world: Some(world), client, declared: Declared::default(), is_journaled }
    }

    pub(crate) fn world(&self) -> &World {
        self.world.as_ref().expect("it is between two worlds only in a restart")
    }

    fn ask(&mut self, words: &[String]) -> Value {
        self.client.value_of(&words.iter().map(String::as_bytes).collect::<Vec<_>>())
    }

    /// Runs a request in database 0.
    pub(crate) fn call(&mut self, words: &[String]) -> Value {
        let reply = self.ask(words);
        self.declared.note(words, &reply);
        reply
    }

    /// Runs a request in database 0, which must not fail.
    pub(crate) fn must(&mut self, line: &str) -> Value {
        let reply = self.call(&words(line));
        assert!(reply.as_error().is_none(), "{line}: {reply:?}");
        reply
    }

    pub(crate) fn call_beside(&mut self, database: usize, words: &[String]) {
        self.must(&format!("SELECT {database}"));
        // FLUSHDB of another database concerns no index.
        self.ask(words);
        self.must("SELECT 0");
    }

    /// Runs requests in one transaction; with `asks`, all queries follow in it.
    pub(crate) fn transact(&mut self, all: &[Words], asks: bool) {
        self.must("MULTI");
        all.iter().for_each(|words| drop(self.ask(words)));
        let questions: Vec<Question> = TABLES.iter().flat_map(|table| questions(table, false)).collect();
        if asks {
            questions.iter().for_each(|question| drop(self.ask(&question.words)));
            KEYS.iter().for_each(|key| drop(self.ask(&words(&format!("HGETALL {key}")))));
        }
        let Value::Array(replies) = self.ask(&words("EXEC")) else { panic!("a transaction is executed") };
        all.iter().zip(&replies).for_each(|(words, reply)| self.declared.note(words, reply));
        if asks {
            let (answers, reads) = replies[all.len()..].split_at(questions.len());
            self.check(&questions, answers, &hashes_read(reads));
        }
    }

    pub(crate) fn run_script(&mut self, all: &[Words]) {
        let calls: Vec<String> = all
            .iter()
            .map(|words| {
                let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
                format!("redis.pcall({})", quoted.join(", "))
            })
            .collect();
        let mut request = words("EVAL");
        request.push(calls.join("\n"));
        request.push(KEYS.len().to_string());
        request.extend(KEYS.iter().map(|key| (*key).to_owned()));
        let reply = self.ask(&request);
        assert!(reply.as_error().is_none(), "{reply:?}");
    }

    pub(crate) fn dump(&mut self, from: &str, to: &str) {
        if let Value::Bulk(payload) = self.ask(&words(&format!("DUMP {from}"))) {
            let reply = self.client.value_of(&[b"RESTORE", to.as_bytes(), b"0", &payload, b"REPLACE"]);
            assert_eq!(reply, Value::Simple("OK".into()));
        }
    }

    pub(crate) fn pass(&self, ms: u64) {
        self.world().advance(ms);
    }

    pub(crate) fn expire(&self) {
        ExpireCycle::new(self.world().engine.clone()).pass();
    }

    pub(crate) fn index(&self) {
        Indexer::new(self.world().engine.clone()).pass();
    }

    /// Restarts from the journal, and the store if `is_saved`. With `meanwhile`, these writes come before all is loaded.
    pub(crate) fn restart(&mut self, is_saved: bool, meanwhile: Option<&[Words]>) {
        if !self.is_journaled {
            return;
        }
        if is_saved {
            self.must("SAVE");
        }
        let load = if meanwhile.is_some() { Load::Wanted } else { Load::AtOnce };
        let before = self.world.take().expect("it is there between any two steps");
        let world = before.restarted(&SETTINGS, load);
        self.client = world.client();
        self.world = Some(world);
        if let Some(all) = meanwhile {
            all.iter().for_each(|words| drop(self.call(words)));
            self.world().load_all();
        }
    }

    pub(crate) fn reload(&mut self) {
        if self.is_journaled {
            self.must("DEBUG RELOAD");
        }
    }

    /// Reads every key.
    pub(crate) fn hashes(&mut self) -> Hashes {
        let replies: Vec<Value> = KEYS.iter().map(|key| self.ask(&words(&format!("HGETALL {key}")))).collect();
        hashes_read(&replies)
    }

    pub(crate) fn drop_all(&mut self, table: &str) {
        let before = self.hashes();
        if self.call(&words(&format!("FT.DROPINDEX {table} DD"))) == Value::Simple("OK".into()) {
            let left = self.hashes();
            let expected: Hashes =
                before.iter().filter(|(key, _)| !rows(table, &before).contains_key(*key)).map(owned).collect();
            assert_eq!(left, expected, "FT.DROPINDEX {table} DD left this");
        }
    }

    /// Deletes the rows of a table that have the tag `red`.
    pub(crate) fn delete_by(&mut self, table: &str, query: &str) {
        assert_eq!(query, "@t:{red}");
        let before = self.hashes();
        let reply = self.call(&["FT.DELETEBY", table, query].map(str::to_owned));
        let question = &questions(table, false)[1];
        assert_eq!(question.words[2], query);
        if reply.as_error().is_none() {
            let gone = question.expected(&before);
            assert_eq!(reply, Value::Int(gone.len() as i64), "FT.DELETEBY {table}: {gone:?}");
            let expected: Hashes = before.iter().filter(|(key, _)| !gone.contains_key(*key)).map(owned).collect();
            assert_eq!(self.hashes(), expected, "FT.DELETEBY {table} left this");
        } else {
            assert!(!self.declared.tables.contains_key(table), "{reply:?}");
        }
    }

    /// Asks everything, and compares the replies with the keys.
    pub(crate) fn compare(&mut self) {
        let list = self.ask(&words("FT._LIST"));
        check_list(&list, &self.declared);
        let of = |table: &&str| questions(table, self.declared.tables.get(*table) == Some(&true));
        let questions: Vec<Question> = TABLES.iter().flat_map(of).collect();
        let answers: Vec<Value> = questions.iter().map(|question| self.ask(&question.words)).collect();
        let by_alias = self.ask(&words(&format!("FT.SEARCH {ALIAS} * NOCONTENT LIMIT 0 1000")));
        let hashes = self.hashes();
        self.check(&questions, &answers, &hashes);
        match (&self.declared.alias, &by_alias) {
            (None, Value::Error(_)) => {}
            (Some(table), Value::Array(items)) => {
                let mut found = texts(&items[1..]);
                found.sort();
                assert_eq!(found, rows(table, &hashes).into_keys().collect::<Vec<_>>(), "by its other name");
            }
            (declared, reply) => panic!("{reply:?} by the name of {declared:?}"),
        }
    }

    fn check(&self, questions: &[Question], answers: &[Value], hashes: &Hashes) {
        for (question, answer) in questions.iter().zip(answers) {
            match answer.as_error() {
                Some(error) => {
                    let is_declared = self.declared.tables.contains_key(question.table());
                    assert!(!is_declared, "{:?}: {error}", question.words);
                }
                None => question.check(answer, hashes),
            }
        }
    }
}

/// The threads of a journal do not end by themselves.
impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(world) = self.world.take().filter(|_| self.is_journaled) {
            world.stopped();
        }
    }
}

fn owned((key, fields): (&String, &super::twin::Fields)) -> (String, super::twin::Fields) {
    (key.clone(), fields.clone())
}
