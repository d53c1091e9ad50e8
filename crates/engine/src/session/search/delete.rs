//! FT.DELETEBY and FT.DROPINDEX: rows are found first, then removed some at a time, each time if they still match.

use super::{Prepared, QUERY_BYTES_MAX, SearchCall, WORK_AT_ONCE};
use crate::session::replies::read;
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use commands::registry::Command;
use commands::{DELETE_MATCHING, DROP_DECLARATION, DeleteQuery, Failure};
use search::{Definition, Work, deletes_hashes};
use std::pin::Pin;
use std::sync::Arc;
use wire::client::Value;
use wire::resp::Encoder;
use wire::{Args, Output, OwnedRequest, Reply};

/// Keys removed under one hold of their shards.
const REMOVED_AT_ONCE: usize = 64;

impl Session {
    /// FT.DELETEBY
    pub(super) async fn delete_by(&mut self, call: &mut SearchCall<'_>, output: &mut Output) -> Result<(), Failure> {
        let args = *call.args;
        let count = self.delete_matching(call, &args).await?;
        Encoder::new(output, self.protocol).int(count as i64);
        Ok(())
    }

    /// FT.DROPINDEX: with DD, the hashes first.
    pub(super) async fn drop_index(&mut self, call: &mut SearchCall<'_>, output: &mut Output) -> Result<(), Failure> {
        let words: Vec<&[u8]> = call.args.from(2).iter().collect();
        let deletes = deletes_hashes(&words).map_err(|error| Failure::text(error.to_string()))?;
        let index = call.index(call.args.get(1)).await?;
        let name = index.definition.name.clone();
        if deletes {
            let request = OwnedRequest::of(&[b"FT.DELETEBY", &*name, b"*"]);
            self.delete_matching(call, &request.args()).await?;
        }
        let request = OwnedRequest::of(&[b"FT.DROPINDEX", &*name]);
        match self.run_part(call, call.command.part(&DROP_DECLARATION), &request).await {
            Value::Error(error) => return Err(Failure::Counted(error)),
            _ => Encoder::new(output, self.protocol).ok(),
        }
        Ok(())
    }

    /// Removes the hashes that match a request of FT.DELETEBY. Returns their number.
    async fn delete_matching(&mut self, call: &mut SearchCall<'_>, args: &Args<'_>) -> Result<u64, Failure> {
        let parse = |definition: &Arc<Definition>| {
            let query = DeleteQuery::parse(args, definition)?;
            let timeout_ms = query.timeout_ms();
            Ok((query, timeout_ms))
        };
        let Prepared { query, clone, .. } = call.prepare(args.get(1), parse).await?;
        let mut run = query.begin(clone, call.now());
        while !run.step(&mut Work::new(WORK_AT_ONCE)) {
            if run.heap_bytes() > QUERY_BYTES_MAX {
                return Err(Failure::text("ERR too many rows match to be deleted at once: delete them in parts"));
            }
            call.rest().await?;
        }
        // What is found is removed: a time limit in between would leave a part.
        call.timeout_ms = None;
        let mut count = 0;
        loop {
            let keys = run.next_keys(REMOVED_AT_ONCE);
            if keys.is_empty() {
                return Ok(count);
            }
            let request = commands::delete_matching(args, &keys);
            match self.run_part(call, call.command.part(&DELETE_MATCHING), &request).await {
                Value::Error(error) => return Err(Failure::Counted(error)),
                value => count += value.as_int().map_or(0, |count| count as u64),
            }
            call.rest().await?;
        }
    }

    /// Runs a part of a command as a transaction of its own, in database 0. Returns its reply.
    async fn run_part(&mut self, call: &mut SearchCall<'_>, part: Command, request: &OwnedRequest) -> Value {
        let (args, mut output) = (request.args(), Output::new());
        let database = std::mem::replace(&mut self.database, 0);
        // A recursive future must be boxed.
        let running: Pin<Box<dyn Future<Output = _> + '_>> =
            Box::pin(self.run_until_done(call.worker, part, &args, Suspend::Shards(Vec::new()), &mut output));
        call.pace.wait(running).await;
        self.database = database;
        read(output)
    }
}
