//! FT.AGGREGATE WITHCURSOR and FT.CURSOR: records piece by piece.

use super::SearchCall;
use crate::search::Cursor;
use crate::session::state::Session;
use commands::{Failure, INDEX_CURSORS_MAX, QueryRun};
use search::{CursorOptions, CursorRequest};
use wire::resp::Encoder;
use wire::{Output, Reply};

impl Session {
    /// Writes the first records of a query, and keeps it under a new number if there may be more.
    pub(super) async fn begin_cursor(
        &mut self,
        call: &mut SearchCall<'_>,
        index: Box<[u8]>,
        (run, options): (QueryRun, CursorOptions),
        output: &mut Output,
    ) -> Result<(), Failure> {
        let worker = call.worker;
        if run.has_more() && !worker.engine.indexes.cursors().may_add(&index, run.heap_bytes()) {
            return Err(Failure::text(format!(
                "ERR the index has {INDEX_CURSORS_MAX} cursors already, or all cursors take too much memory: read them to their \
                 end, or delete them with FT.CURSOR DEL"
            )));
        }
        // Numbers of JavaScript have 53 bits; 0 says that there is no more.
        let id = if run.has_more() { (worker.random() >> 11).max(1) } else { 0 };
        let run = self.write_run(call, run, Some(id), output).await;
        if id != 0 {
            let cursor = Cursor { index, run: Box::new(run), position: call.seen };
            worker.engine.indexes.cursors().put(id, cursor, options.idle_ms, worker.engine.clock.now());
        }
        Ok(())
    }

    /// FT.CURSOR
    pub(super) async fn use_cursor(&mut self, call: &mut SearchCall<'_>, output: &mut Output) -> Result<(), Failure> {
        let words: Vec<&[u8]> = call.args.from(1).iter().collect();
        let request = CursorRequest::parse(&words).map_err(|error| Failure::text(error.to_string()))?;
        let (CursorRequest::Read { index, cursor: id, .. } | CursorRequest::Delete { index, cursor: id }) = &request;
        let name = call.index(index).await?.definition.name.clone();
        let worker = call.worker;
        let not_found = || match request {
            CursorRequest::Read { .. } => Failure::text("Cursor not found"),
            CursorRequest::Delete { .. } => Failure::text("Cursor does not exist"),
        };
        let (mut cursor, idle_ms) = worker.engine.indexes.cursors().take(*id, &name).ok_or_else(not_found)?;
        call.seen = call.seen.max(cursor.position);
        let CursorRequest::Read { count, .. } = request else {
            worker.engine.deferred_drop.free(cursor.run);
            Encoder::new(output, self.protocol).ok();
            return Ok(());
        };
        cursor.run.continue_cursor(count);
        if !self.run_query(call, &mut cursor.run).await? {
            return Err(Failure::text("ERR the rows of the cursor have changed"));
        }
        let more = cursor.run.has_more();
        let run = self.write_run(call, *cursor.run, Some(if more { *id } else { 0 }), output).await;
        if more {
            let cursor = Cursor { index: cursor.index, run: Box::new(run), position: call.seen };
            worker.engine.indexes.cursors().put(*id, cursor, Some(idle_ms), worker.engine.clock.now());
        }
        Ok(())
    }
}
