//! A wait for journal room, as the watchdog sees it.

use crate::engine::Engine;
use std::sync::Arc;

/// A request that waits for journal room, while it lives.
pub(crate) struct RoomWait {
    engine: Arc<Engine>,
    place: (u16, u64),
}

impl Drop for RoomWait {
    fn drop(&mut self) {
        self.engine.watch.lock_waits().remove(&self.place);
    }
}

impl RoomWait {
    /// Records that the last request begun by a worker starts to wait for journal room.
    pub(crate) fn begin(engine: &Arc<Engine>, worker: usize) -> Self {
        Self { place: engine.watch.begin_room_wait(worker), engine: engine.clone() }
    }
}
