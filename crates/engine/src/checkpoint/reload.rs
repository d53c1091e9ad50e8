//! DEBUG RELOAD: stores everything, and loads it in place of the current keys.

use super::{Checkpointer, Reason};
use crate::loading::Gathering;

impl Checkpointer {
    /// Stores everything and loads it. The gate is up during loading.
    ///
    /// # Errors
    /// Returns the error in words; all keys are then unchanged.
    pub(super) async fn reload(&mut self) -> Result<(), String> {
        self.checkpoint(Reason::Asked).await;
        if let Some(fault) = self.engine.checkpoints.status().last.and_then(|ended| ended.fault) {
            return Err(fault);
        }
        let Self { hands, store, usages, .. } = self;
        let _raised = hands.raise().await;
        let end = hands.journal.next();
        hands.durable(end).await?;
        let keyspace = &hands.engine.keyspace;
        let mut other = keyspace.empty_like();
        other.shut();
        let mut gathering = Gathering::new(&other, store);
        hands.journal.replay(store.least_position()..end, &mut gathering).map_err(|error| error.to_string())?;
        let loading = gathering.finish(store);
        loading.run(&other)?;
        *usages = loading.take_usages();
        keyspace.exchange(&other);
        hands.engine.indexes.reopen(keyspace);
        hands.engine.deferred_drop.free(Box::new(other));
        Ok(())
    }
}
