//! The interface of a session to handlers of connection and server commands.

use crate::checkpoint::orders::{Patience, Reason};
use crate::client::Client;
use crate::info;
use crate::latency::by_powers_us;
use crate::session::state::Session;
use base::cost::{self, Work};
use base::primitives::atomic::Ordering::Relaxed;
use commands::{ClientFilter, MemoryFigures, ReplyMode, Saving, SlowEntry, SlowEvents, Switch, Topic};
use std::sync::Arc;
use wire::resp::Protocol;

impl commands::Session for Session {
    fn id(&self) -> u64 {
        self.client.id
    }

    fn name(&self) -> String {
        self.client.attributes().name
    }

    fn set_name(&mut self, name: &str) {
        self.client.change_attributes(|attributes| name.clone_into(&mut attributes.name));
    }

    fn set_library(&mut self, name: Option<&str>, version: Option<&str>) {
        self.client.change_attributes(|attributes| {
            if let Some(name) = name {
                name.clone_into(&mut attributes.library);
            }
            if let Some(version) = version {
                version.clone_into(&mut attributes.version);
            }
        });
    }

    fn protocol(&self) -> u8 {
        match self.protocol {
            Protocol::Resp2 | Protocol::Memcache => 2,
            Protocol::Resp3 => 3,
        }
    }

    fn set_protocol(&mut self, protocol: u8) {
        self.protocol = if protocol == 3 { Protocol::Resp3 } else { Protocol::Resp2 };
        self.client.protocol.store(u32::from(protocol), Relaxed);
    }

    fn is_authenticated(&self) -> bool {
        self.authenticated
    }

    fn needs_password(&self) -> bool {
        self.worker.settings().requirepass.is_some()
    }

    fn authenticate(&mut self, user: &[u8], password: &[u8]) -> bool {
        self.try_passwords(user, &[password])
    }

    fn databases(&self) -> u32 {
        self.worker.engine.keyspace.map().databases()
    }

    fn select(&mut self, database: u32) {
        self.database = database;
        self.client.database.store(database, Relaxed);
    }

    fn is_in_transaction(&self) -> bool {
        self.multi.is_some()
    }

    fn quit(&mut self) {
        self.closing = true;
    }

    fn reset(&mut self) {
        self.drop_queue();
        self.unsubscribe_from_all();
        self.unwatch();
        self.untrack();
        self.end_monitor();
        self.select(0);
        self.set_protocol(2);
        self.client.change_attributes(|attributes| attributes.name.clear());
        self.reply_mode = ReplyMode::On;
        self.durable_always = false;
        self.client.no_evict.store(false, Relaxed);
        self.client.no_touch.store(false, Relaxed);
        self.lock_again();
    }

    fn set_reply_mode(&mut self, mode: ReplyMode) {
        // With replies off there is nothing to skip.
        if (self.reply_mode, mode) != (ReplyMode::Off, ReplyMode::Skip) {
            self.reply_mode = mode;
        }
    }

    fn set_switch(&mut self, switch: Switch, on: bool) {
        match switch {
            Switch::NoEvict => self.client.no_evict.store(on, Relaxed),
            Switch::NoTouch => self.client.no_touch.store(on, Relaxed),
        }
    }

    fn set_durable(&mut self, always: bool) {
        self.durable_always = always;
    }

    fn subscribe(&mut self, topic: Topic, name: &[u8]) {
        self.subscribe_to(topic, name);
    }

    fn unsubscribe(&mut self, topic: Topic, name: &[u8]) {
        self.unsubscribe_from(topic, name);
    }

    fn subscriptions(&self, topic: Topic, names_max: usize) -> Vec<Vec<u8>> {
        self.names(topic).take(names_max).map(|name| name.to_vec()).collect()
    }

    fn subscriptions_count(&self, topic: Topic) -> usize {
        match topic {
            Topic::Shard => self.names_count(Topic::Shard),
            _ => self.names_count(Topic::Channel) + self.names_count(Topic::Pattern),
        }
    }

    fn publish(&mut self, topic: Topic, channel: &[u8], message: &[u8]) -> usize {
        self.say(topic, channel, message)
    }

    fn is_long_way(&self, channel: &[u8]) -> bool {
        self.outbox.is_none() && self.worker.engine.registry.is_long_way(channel)
    }

    fn publish_part(
        &mut self,
        channel: &[u8],
        message: &[u8],
        after: Option<&Arc<[u8]>>,
    ) -> (usize, Option<Arc<[u8]>>) {
        self.say_part((channel, message), after)
    }

    fn channels(&self, topic: Topic, pattern: Option<&[u8]>, part: usize) -> Option<Vec<Vec<u8>>> {
        self.worker.engine.registry.channels(topic, pattern, part)
    }

    fn channels_count(&self, topic: Topic) -> usize {
        self.worker.engine.registry.names_count(topic)
    }

    fn subscribers_count(&self, topic: Topic, channel: &[u8]) -> usize {
        self.worker.engine.registry.subscribers_count(topic, channel)
    }

    fn patterns_count(&self) -> usize {
        self.worker.engine.registry.names_count(Topic::Pattern)
    }

    fn is_listening(&self) -> bool {
        self.protocol == Protocol::Resp2 && self.is_subscribed()
    }

    fn monitor(&mut self) -> Result<(), String> {
        if self.multi.is_some() {
            return Err("ERR MONITOR isn't allowed for DENY BLOCKING client".to_owned());
        }
        self.begin_monitor();
        Ok(())
    }

    fn watch_items(&mut self, events: &[commands::ItemEvent]) -> Result<(), String> {
        if self.multi.is_some() {
            return Err("ERR MC.WATCH is not allowed inside a transaction".to_owned());
        }
        self.begin_item_log(events)
    }

    fn has_client(&self, id: u64) -> bool {
        self.worker.engine.clients.get(id).is_some()
    }

    fn tracking(&self) -> Option<commands::Tracking> {
        self.tracking_state()
    }

    fn track(&mut self, tracking: commands::Tracking) {
        self.begin_tracking(tracking);
    }

    fn untrack(&mut self) {
        Session::untrack(self);
    }

    fn client_lines(&self, filter: &ClientFilter) -> String {
        let now = self.worker.engine.clock.now();
        let clients = self.worker.engine.clients.select(filter, self.client.id, now);
        clients.iter().map(|client| client.line(now) + "\n").collect()
    }

    fn client_line(&self) -> String {
        self.client.line(self.worker.engine.clock.now()) + "\n"
    }

    fn kill(&mut self, filter: &ClientFilter) -> u64 {
        let now = self.worker.engine.clock.now();
        let clients = self.worker.engine.clients.select(filter, self.client.id, now);
        clients.iter().for_each(|client| self.kill_one(client));
        clients.len() as u64
    }

    fn unblock(&mut self, id: u64, with_error: bool) -> bool {
        let waiter = self.worker.engine.clients.get(id).and_then(|client| client.blocked());
        let Some(waiter) = waiter.filter(|waiter| waiter.claim()) else { return false };
        waiter.answer(if with_error { crate::waiter::Answer::Unblocked } else { crate::waiter::Answer::TimedOut });
        true
    }

    fn unpause(&mut self) {
        self.worker.engine.pause.end();
    }

    fn knows_script(&self, name: &str) -> bool {
        cost::count(Work::Names, 1);
        self.worker.engine.scripts.find(name).is_some()
    }

    fn flush_scripts(&mut self) {
        let engine = &self.worker.engine;
        engine.deferred_drop.free(Box::new(engine.scripts.flush()));
    }

    fn kill_script(&mut self, functions: bool) -> Result<(), String> {
        self.worker.engine.scripts.kill(functions).map_err(str::to_owned)
    }

    fn function_stats(&self) -> Result<commands::FunctionStats, String> {
        let scripts = &self.worker.engine.scripts;
        let has_changed = self.outbox.as_ref().is_some_and(|outbox| outbox.library_changes.is_some());
        scripts.function_stats(has_changed.then(|| scripts.catalogue.counts())).map_err(str::to_owned)
    }

    fn begin_checkpoint(&mut self, saving: Saving) -> Result<bool, String> {
        let reason = if saving == Saving::Rewrite { Reason::Rewrite } else { Reason::Asked };
        let patience = match saving {
            // A command in EXEC is not urgent, and may be rerun.
            _ if self.multi.is_some() => Patience::All,
            Saving::Now => Patience::None,
            Saving::Later | Saving::Rewrite => Patience::Other,
        };
        Ok(self.worker.engine.begin_checkpoint(reason, patience)?.is_next)
    }

    fn saved_ms(&self) -> u64 {
        let engine = &self.worker.engine;
        engine.checkpoints.status().saved_ms.max(engine.started_ms)
    }

    fn now_us(&self) -> u64 {
        self.worker.engine.clock.wall_us()
    }

    fn config_get(&self, patterns: &[&[u8]]) -> Vec<(String, String)> {
        self.worker.engine.settings.get(patterns)
    }

    fn config_set(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<(), String> {
        self.worker.engine.settings.set(pairs)
    }

    fn config_rewrite(&mut self) -> Result<(), String> {
        self.worker.engine.settings.rewrite()
    }

    fn reset_statistics(&mut self) {
        self.worker.engine.reset_statistics();
    }

    fn reset_item_statistics(&mut self) {
        self.worker.engine.reset_item_statistics();
    }

    fn reset_queue_statistics(&mut self) {
        self.worker.engine.counters.iter().for_each(|counters| counters.queues.reset());
    }

    fn count_prefixes(&mut self, on: bool) {
        self.worker.engine.prefixes.switch(on);
    }

    fn prefix_counts(&self) -> Vec<(Vec<u8>, commands::PrefixCounts)> {
        self.worker.engine.prefixes.counts()
    }

    fn info(&self, sections: &[String]) -> String {
        info::text(&self.worker.engine, sections)
    }

    fn memcached_facts(&self, topic: &str) -> Option<commands::Facts> {
        crate::memcached::facts(&self.worker.engine, topic)
    }

    fn queue_facts(&self, topic: &str) -> Option<commands::Facts> {
        crate::memcacheq::facts(&self.worker.engine, topic)
    }

    fn slowlog(&self, entries_max: usize) -> Vec<SlowEntry> {
        self.worker.engine.slowlog.newest(entries_max)
    }

    fn slowlog_len(&self) -> usize {
        self.worker.engine.slowlog.len()
    }

    fn slowlog_reset(&mut self) {
        self.worker.engine.slowlog.clear();
    }

    fn latency(&self) -> Vec<SlowEvents> {
        self.worker.engine.latency_monitor.all()
    }

    fn latency_reset(&mut self, events: &[&[u8]]) -> usize {
        self.worker.engine.latency_monitor.forget(events)
    }

    fn latency_histograms(&self) -> Vec<(String, Vec<(u64, u64)>)> {
        let of_command = |(index, command): (usize, &commands::CommandSpec)| {
            let all = self.worker.engine.counters.iter().map(|counters| &counters.by_command[index].latency);
            let buckets = by_powers_us(all);
            (!buckets.is_empty()).then(|| (command.reported_name(), buckets))
        };
        commands::registry::commands().enumerate().filter_map(of_command).collect()
    }

    fn password_digest(&self) -> Option<String> {
        self.worker.settings().requirepass.as_ref().map(crate::settings::Secret::digest)
    }

    fn secret_bytes(&mut self, count: usize) -> Vec<u8> {
        base::hash::secret_bytes(count)
    }

    fn memory(&self) -> MemoryFigures {
        info::memory(&self.worker.engine)
    }

    fn may_debug(&self) -> bool {
        use crate::settings::DebugCommand;
        match self.worker.settings().debug_command {
            DebugCommand::No => false,
            DebugCommand::Local => self.client.is_local,
            DebugCommand::Yes => true,
        }
    }

    fn set_active_expire(&mut self, on: bool) {
        self.worker.engine.active_expire.store(on, Relaxed);
    }
}

impl Session {
    /// Closes another connection at once, or this one after its reply has been written.
    fn kill_one(&mut self, client: &Arc<Client>) {
        if client.id == self.client.id {
            self.closing = true;
        } else {
            client.close();
        }
    }
}
