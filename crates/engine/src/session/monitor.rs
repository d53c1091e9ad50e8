//! A session's part in MONITOR: showing what it is asked for.

use super::{Ran, Session};
use crate::worker::Worker;
use commands::table::Row;
use commands::{Run, Verb};
use std::sync::atomic::Ordering::Relaxed;
use wire::Args;

impl Session {
    /// MONITOR
    pub(super) fn begin_monitor(&mut self) {
        if !self.client.is_monitor.swap(true, Relaxed) {
            self.worker.engine.monitors.add(&self.client);
        }
    }

    /// It is shown nothing more.
    pub(super) fn end_monitor(&mut self) {
        if self.client.is_monitor.swap(false, Relaxed) {
            self.worker.engine.monitors.remove(self.client.id);
        }
    }

    /// Shows a request that has run, or begun to. EXEC shows itself, behind what it runs.
    #[cold]
    pub(super) fn show_request(&self, worker: &Worker, ran: &Ran, args: &Args<'_>) {
        if let Ran::Done(row) | Ran::NotNow(row, _) = ran
            && !matches!(row.run, Run::Engine(Verb::Exec))
        {
            self.show_row(worker, row, args);
        }
    }

    /// Shows one request.
    pub(super) fn show_row(&self, worker: &Worker, row: &Row, args: &Args<'_>) {
        if !commands::is_shown(row) || !worker.engine.monitors.any() {
            return;
        }
        let now_us = worker.engine.clock.wall_us();
        let (s, us, database) = (now_us / 1_000_000, now_us % 1_000_000, self.database);
        let line = format!("{s}.{us:06} [{database} {}] {}", self.client.address, commands::shown(row, args));
        worker.engine.monitors.show(line, worker.mail_bytes_max(), &mut worker.told.borrow_mut().clients);
    }
}
