//! A session without a server, and a keyspace without an engine.

use base::Ms;
use base::hash::KeyHasher;
use base::limits::SHARDS;
use commands::registry::{self, Lookup};
use commands::{
    ClientFilter, Failure, FunctionStats, ItemEvent, MemoryFigures, ReplyMode, Run, RunningFunction, Saving, Session,
    SlowEntry, SlowEvents, Switch, Topic, Tracking,
};
use keyspace::{Held, Keyspace, Log, Tx};
use std::sync::Arc;
use wire::client::{Parser, Value};
use wire::resp::{Encoder, Protocol};
use wire::{Output, OwnedRequest, Reply};

/// A session that records its calls.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) name: String,
    pub(crate) library: (String, String),
    pub(crate) speaks_resp3: bool,
    pub(crate) is_in: bool,
    pub(crate) password: Option<&'static str>,
    /// The recorded calls, in order.
    pub(crate) asked: Vec<String>,
    pub(crate) filter: ClientFilter,
    /// Number of connections that a KILL finds.
    pub(crate) killed: u64,
    pub(crate) slow: Vec<SlowEntry>,
    pub(crate) latency_monitor: Vec<SlowEvents>,
    pub(crate) tracked: Option<Tracking>,
    pub(crate) figures: MemoryFigures,
    pub(crate) now_us: u64,
    pub(crate) refusal: Option<&'static str>,
    /// Its subscriptions, with their topics.
    pub(crate) listens: Vec<(Topic, Vec<u8>)>,
}

impl Fake {
    /// Creates an authenticated session.
    pub(crate) fn new() -> Self {
        Self { is_in: true, ..Self::default() }
    }

    fn note(&mut self, what: impl Into<String>) {
        self.asked.push(what.into());
    }

    fn outcome(&self) -> Result<(), String> {
        self.refusal.map_or(Ok(()), |text| Err(text.to_owned()))
    }

    /// Runs a request as a client in RESP2 would see it.
    pub(crate) fn call(&mut self, request: &str) -> String {
        self.call_in(Protocol::Resp2, request)
    }

    /// Like [`Fake::call`], in RESP3.
    pub(crate) fn call3(&mut self, request: &str) -> String {
        self.call_in(Protocol::Resp3, request)
    }

    fn call_in(&mut self, protocol: Protocol, request: &str) -> String {
        self.value(protocol, request).map_or_else(|| "(nothing)".to_owned(), |value| value.to_string())
    }

    /// Returns the reply; `None` if there is none.
    pub(crate) fn value(&mut self, protocol: Protocol, request: &str) -> Option<Value> {
        self.value_of(protocol, &request.split(' ').collect::<Vec<_>>())
    }

    /// Like [`Fake::value`], for arguments of any bytes.
    pub(crate) fn value_of<W: AsRef<[u8]>>(&mut self, protocol: Protocol, words: &[W]) -> Option<Value> {
        let owned = OwnedRequest::of(words);
        let args = owned.args();
        reply_of(protocol, |reply| {
            let Lookup::Command(command) = registry::find(&args) else { panic!("{args:?}: no such command") };
            assert!(command.arity.allows(args.len()), "{args:?}: the engine refuses the count");
            match command.run {
                Run::Session(handler) | Run::Parts { at_once: handler, .. } => handler(self, &args, reply),
                _ => panic!("{args:?}: not of the session"),
            }
        })
    }
}

/// Returns the parsed reply of `write`.
pub(crate) fn reply_of(protocol: Protocol, write: impl FnOnce(&mut dyn Reply) -> Result<(), Failure>) -> Option<Value> {
    let mut output = Output::new();
    let mark = output.mark();
    let outcome = write(&mut Encoder::new(&mut output, protocol));
    if let Err(failure) = outcome {
        output.truncate(mark);
        Encoder::new(&mut output, protocol).error(&failure.to_string());
    }
    let mut parser = Parser::new();
    while let Some(bytes) = output.front() {
        let count = bytes.len();
        if count == 0 {
            break;
        }
        parser.feed(bytes);
        output.consume(count);
    }
    let value = parser.next_value().expect("replies are well formed");
    assert_eq!(parser.next_value(), Ok(None), "one reply");
    value
}

/// A keyspace of two databases at a given time.
pub(crate) struct World {
    pub(crate) keyspace: Keyspace,
    pub(crate) now: Ms,
}

impl World {
    pub(crate) fn new(hash_key: u8) -> Self {
        Self { keyspace: Keyspace::new(KeyHasher::new([hash_key; 16]), 2), now: 1_700_000_000_000 }
    }

    /// Runs `work` on `database` with every shard held.
    pub(crate) fn tx<R>(&self, database: u32, work: impl FnOnce(&mut Tx) -> R) -> R {
        let held = Held::under_gate(&self.keyspace);
        let mut log = Log::default();
        work(&mut Tx::new(&self.keyspace, held, database, self.now, &mut log, u64::MAX))
    }

    /// Runs a request on database 0.
    pub(crate) fn call(&self, request: &str) -> String {
        let words: Vec<&str> = request.split(' ').collect();
        let owned = OwnedRequest::of(&words);
        let args = owned.args();
        let Lookup::Command(command) = registry::find(&args) else { panic!("{request}: no such command") };
        assert!(command.arity.allows(args.len()), "{request}: the engine refuses the count");
        let value = self.tx(0, |tx| {
            reply_of(Protocol::Resp2, |reply| match command.run {
                Run::Local(handler) | Run::Gather { at_once: handler, .. } => handler(tx, &args, reply),
                Run::Sweep(begin) => {
                    let mut sweep = begin(&args, 0)?;
                    for shard in sweep.first_shard()..SHARDS {
                        if sweep.visit(tx, shard) == commands::SweepNext::Over {
                            break;
                        }
                    }
                    sweep.finish(reply)
                }
                _ => panic!("{request}: not of the keyspace"),
            })
        });
        value.expect("a reply").to_string()
    }
}

impl Session for Fake {
    fn id(&self) -> u64 {
        7
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn set_name(&mut self, name: &str) {
        self.name = name.to_owned();
    }

    fn set_library(&mut self, name: Option<&str>, version: Option<&str>) {
        name.into_iter().for_each(|name| self.library.0 = name.to_owned());
        version.into_iter().for_each(|version| self.library.1 = version.to_owned());
    }

    fn protocol(&self) -> u8 {
        if self.speaks_resp3 { 3 } else { 2 }
    }

    fn set_protocol(&mut self, protocol: u8) {
        self.speaks_resp3 = protocol == 3;
    }

    fn is_authenticated(&self) -> bool {
        self.is_in
    }

    fn needs_password(&self) -> bool {
        self.password.is_some()
    }

    fn authenticate(&mut self, user: &[u8], password: &[u8]) -> bool {
        let right = user == b"default" && self.password.is_none_or(|right| right.as_bytes() == password);
        self.is_in |= right;
        right
    }

    fn databases(&self) -> u32 {
        16
    }

    fn select(&mut self, database: u32) {
        self.note(format!("select {database}"));
    }

    fn is_in_transaction(&self) -> bool {
        false
    }

    fn quit(&mut self) {
        self.note("quit");
    }

    fn reset(&mut self) {
        self.note("reset");
    }

    fn set_reply_mode(&mut self, mode: ReplyMode) {
        self.note(format!("reply {mode:?}"));
    }

    fn set_switch(&mut self, switch: Switch, on: bool) {
        self.note(format!("{switch:?} {on}"));
    }

    fn set_durable(&mut self, always: bool) {
        self.note(format!("durable {always}"));
    }

    fn subscribe(&mut self, topic: Topic, name: &[u8]) {
        let one = (topic, name.to_vec());
        if !self.listens.contains(&one) {
            self.listens.push(one);
        }
    }

    fn unsubscribe(&mut self, topic: Topic, name: &[u8]) {
        self.listens.retain(|(of, listened)| *of != topic || listened != name);
    }

    fn subscriptions(&self, topic: Topic, names_max: usize) -> Vec<Vec<u8>> {
        let names = self.listens.iter().filter(|(of, _)| *of == topic).map(|(_, name)| name.clone());
        names.take(names_max).collect()
    }

    fn subscriptions_count(&self, topic: Topic) -> usize {
        self.listens.iter().filter(|(of, _)| (*of == Topic::Shard) == (topic == Topic::Shard)).count()
    }

    fn publish(&mut self, topic: Topic, channel: &[u8], message: &[u8]) -> usize {
        self.note(format!("{topic:?} {}: {}", channel.escape_ascii(), message.escape_ascii()));
        self.subscribers_count(topic, channel)
    }

    fn is_long_way(&self, channel: &[u8]) -> bool {
        channel == b"long"
    }

    fn publish_part(
        &mut self,
        channel: &[u8],
        message: &[u8],
        after: Option<&Arc<[u8]>>,
    ) -> (usize, Option<Arc<[u8]>>) {
        match after {
            None => (self.publish(Topic::Channel, channel, message), Some(b"pattern".as_slice().into())),
            Some(_) => (1, None),
        }
    }

    fn channels(&self, topic: Topic, pattern: Option<&[u8]>, part: usize) -> Option<Vec<Vec<u8>>> {
        let all = self.subscriptions(topic, usize::MAX).into_iter();
        let all = all.filter(|name| pattern.is_none_or(|pattern| name.starts_with(pattern)));
        (part == 0).then(|| all.collect())
    }

    fn channels_count(&self, topic: Topic) -> usize {
        self.subscriptions(topic, usize::MAX).len()
    }

    fn subscribers_count(&self, topic: Topic, channel: &[u8]) -> usize {
        self.subscriptions(topic, usize::MAX).iter().filter(|name| *name == channel).count()
    }

    fn patterns_count(&self) -> usize {
        self.subscriptions(Topic::Pattern, usize::MAX).len()
    }

    fn is_listening(&self) -> bool {
        !self.speaks_resp3 && !self.listens.is_empty()
    }

    fn monitor(&mut self) -> Result<(), String> {
        self.note("monitor");
        self.outcome()
    }

    fn watch_items(&mut self, events: &[ItemEvent]) -> Result<(), String> {
        self.note(format!("watch_items {events:?}"));
        self.outcome()
    }

    fn has_client(&self, id: u64) -> bool {
        id == 7 || id == 5
    }

    fn tracking(&self) -> Option<Tracking> {
        self.tracked.clone()
    }

    fn track(&mut self, tracking: Tracking) {
        self.tracked = Some(tracking);
    }

    fn untrack(&mut self) {
        self.tracked = None;
    }

    fn client_lines(&self, filter: &ClientFilter) -> String {
        format!("{filter:?}")
    }

    fn client_line(&self) -> String {
        "id=7\n".to_owned()
    }

    fn kill(&mut self, filter: &ClientFilter) -> u64 {
        self.filter = filter.clone();
        self.killed
    }

    fn unblock(&mut self, id: u64, with_error: bool) -> bool {
        self.note(format!("unblock {id} {with_error}"));
        id == 5
    }

    fn unpause(&mut self) {
        self.note("unpause");
    }

    fn knows_script(&self, name: &str) -> bool {
        name.starts_with('a')
    }

    fn flush_scripts(&mut self) {
        self.note("flush scripts");
    }

    fn kill_script(&mut self, functions: bool) -> Result<(), String> {
        self.note(format!("kill script {functions}"));
        self.outcome()
    }

    fn function_stats(&self) -> Result<FunctionStats, String> {
        let command = vec![b"FCALL".to_vec(), b"loop".to_vec(), b"0".to_vec()];
        let running = RunningFunction { name: "loop".to_owned(), command, took_ms: 7 };
        Ok(FunctionStats { running: Some(running), libraries_count: 2, functions_count: 3 })
    }

    fn begin_checkpoint(&mut self, saving: Saving) -> Result<bool, String> {
        self.note("checkpoint");
        if self.asked.iter().filter(|asked| *asked == "checkpoint").count() > 1 {
            return Err("ERR Background save already in progress".into());
        }
        Ok(saving != Saving::Later)
    }

    fn saved_ms(&self) -> u64 {
        1_700_000_000_999
    }

    fn now_us(&self) -> u64 {
        self.now_us
    }

    fn config_get(&self, patterns: &[&[u8]]) -> Vec<(String, String)> {
        patterns.iter().map(|name| (String::from_utf8_lossy(name).into_owned(), "1".to_owned())).collect()
    }

    fn config_set(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<(), String> {
        for (name, value) in pairs {
            self.note(format!("set {} {}", name.escape_ascii(), value.escape_ascii()));
        }
        self.outcome()
    }

    fn config_rewrite(&mut self) -> Result<(), String> {
        self.outcome()
    }

    fn reset_statistics(&mut self) {
        self.note("resetstat");
    }

    fn reset_item_statistics(&mut self) {
        self.note("reset items");
    }

    fn reset_queue_statistics(&mut self) {
        self.note("reset queues");
    }

    fn count_prefixes(&mut self, on: bool) {
        self.note(if on { "count prefixes" } else { "count no prefixes" });
    }

    fn prefix_counts(&self) -> Vec<(Vec<u8>, commands::PrefixCounts)> {
        Vec::new()
    }

    fn info(&self, sections: &[String]) -> String {
        sections.join("+")
    }

    fn memcached_facts(&self, topic: &str) -> Option<commands::Facts> {
        topic.is_empty().then(|| vec![(b"pid".to_vec(), "7".to_owned())])
    }

    fn queue_facts(&self, topic: &str) -> Option<commands::Facts> {
        topic.is_empty().then(|| vec![(b"get_cmds".to_vec(), "3".to_owned())])
    }

    fn slowlog(&self, entries_max: usize) -> Vec<SlowEntry> {
        self.slow.iter().take(entries_max).cloned().collect()
    }

    fn slowlog_len(&self) -> usize {
        self.slow.len()
    }

    fn slowlog_reset(&mut self) {
        self.slow.clear();
    }

    fn latency(&self) -> Vec<SlowEvents> {
        self.latency_monitor.clone()
    }

    fn latency_reset(&mut self, events: &[&[u8]]) -> usize {
        let before = self.latency_monitor.len();
        self.latency_monitor
            .retain(|latency_monitor| !events.is_empty() && !events.contains(&latency_monitor.event.as_bytes()));
        before - self.latency_monitor.len()
    }

    fn latency_histograms(&self) -> Vec<(String, Vec<(u64, u64)>)> {
        vec![("get".to_owned(), vec![(1, 3), (8, 4)]), ("client|id".to_owned(), vec![(2, 1)])]
    }

    fn password_digest(&self) -> Option<String> {
        self.password.map(|password| format!("digest of {password}"))
    }

    fn secret_bytes(&mut self, count: usize) -> Vec<u8> {
        vec![0xa5; count]
    }

    fn memory(&self) -> MemoryFigures {
        self.figures.clone()
    }

    fn may_debug(&self) -> bool {
        true
    }

    fn set_active_expire(&mut self, on: bool) {
        self.note(format!("active expire {on}"));
    }
}
