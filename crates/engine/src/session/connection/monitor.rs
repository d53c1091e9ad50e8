//! A session's part in MONITOR and in memcached's `watch`: shows its client's requests to the monitors.

use crate::client::Client;
use crate::item_log;
use crate::monitors::LineKind;
use crate::session::state::Session;
use crate::worker::Worker;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::Command;
use commands::{ItemEvent, Run, Verb};
use wire::Args;

impl Session {
    /// MONITOR
    pub(in crate::session) fn begin_monitor(&mut self) {
        if !self.client.is_monitor.swap(true, Relaxed) {
            self.worker.engine.monitors.add(&self.client);
        }
    }

    /// Begins to receive item events.
    pub(in crate::session) fn begin_item_log(&mut self, events: &[ItemEvent]) -> Result<(), String> {
        if !self.worker.engine.monitors.add_item_watcher(&self.client, events) {
            return Err("WATCHER_TOO_MANY log watcher limit reached".to_owned());
        }
        self.shows_items = true;
        Ok(())
    }

    /// Stops receiving requests and events.
    pub(in crate::session) fn end_monitor(&mut self) {
        let shows_items = std::mem::take(&mut self.shows_items);
        if self.client.is_monitor.swap(false, Relaxed) || shows_items {
            self.worker.engine.monitors.remove(self.client.id);
        }
    }

    /// Shows the effect of a request of memcached's protocol, as far as its reply shows it.
    #[cold]
    pub(in crate::session) fn log_item(&self, command: &str, args: &Args<'_>, reply: &[u8]) {
        let worker = &self.worker;
        let Some(logged) = item_log::logged(command, args, reply) else { return };
        let (shown, monitors) = (logged.shown(), &worker.engine.monitors);
        if monitors.shows(shown) {
            let line = logged.line(worker.engine.clock.wall_us(), monitors.next_line(), self.client.id);
            monitors.show(shown, line, worker.mail_bytes_max(), &mut worker.executor.invalidated.borrow_mut().clients);
        }
    }

    /// Shows a request that has run, or begun to. EXEC and scripts show themselves, with the commands they run.
    #[cold]
    pub(in crate::session) fn show_request(&self, worker: &Worker, command: &Command, args: &Args<'_>) {
        if !matches!(command.run, Run::Engine(Verb::Exec | Verb::Eval | Verb::ScriptLoad | Verb::Library(_))) {
            self.show_command(worker, command, args);
        }
    }

    /// Returns true if monitors see its requests. The server's own requests are not shown.
    #[inline]
    fn is_watched_by_monitors(&self, worker: &Worker) -> bool {
        worker.engine.monitors.any() && self.client.id != Client::OF_SERVER
    }

    /// Shows one request.
    pub(in crate::session) fn show_command(&self, worker: &Worker, command: &Command, args: &Args<'_>) {
        if self.is_watched_by_monitors(worker) && commands::is_shown(command) {
            self.show_line(worker, self.line(worker, command, args, Asker::Client));
        }
    }

    /// Records a request inside an EXEC or a script, to be shown when that has ended. Leaves out requests that
    /// MONITOR's backlog has no room for.
    #[inline]
    pub(in crate::session) fn note_shown(&mut self, worker: &Worker, command: &Command, args: &Args<'_>, asker: Asker) {
        if self.is_watched_by_monitors(worker) && commands::is_shown(command) {
            let line = self.line(worker, command, args, asker);
            let Some(outbox) = &mut self.outbox else { return };
            let bytes_max = worker.mail_bytes_max();
            if bytes_max == 0 || outbox.shown_bytes <= bytes_max {
                outbox.shown_bytes += line.len() as u64;
                outbox.shown.push(line);
            }
        }
    }

    /// Shows and logs what an EXEC or a script has recorded, if it has completed.
    pub(in crate::session) fn end_outbox(&mut self, worker: &Worker, has_ended: bool) {
        let outbox = self.outbox.take();
        if has_ended && let Some(outbox) = outbox {
            outbox.shown.into_iter().for_each(|line| self.show_line(worker, line));
            outbox.logged.iter().for_each(|(level, text)| worker.engine.scripts.log(*level, text));
        }
    }

    fn line(&self, worker: &Worker, command: &Command, args: &Args<'_>, asker: Asker) -> String {
        let now_us = worker.engine.clock.wall_us();
        let (s, us, database) = (now_us / 1_000_000, now_us % 1_000_000, self.database);
        let asker = match asker {
            Asker::Client => self.client.shown_address(),
            Asker::Script => "lua".to_owned(),
        };
        format!("{s}.{us:06} [{database} {asker}] {}", commands::shown(command, args))
    }

    fn show_line(&self, worker: &Worker, line: String) {
        worker.engine.monitors.show(
            LineKind::Requests,
            line,
            worker.mail_bytes_max(),
            &mut worker.executor.invalidated.borrow_mut().clients,
        );
    }
}

/// The source of a shown request.
#[derive(Clone, Copy)]
pub(in crate::session) enum Asker {
    Client,
    Script,
}
