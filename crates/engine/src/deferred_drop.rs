//! Dropping big values on a thread of its own.

use base::primitives::Mutex;
use std::any::Any;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The queue to the thread that drops big values.
pub struct DeferredDrop {
    sender: Sender<Box<dyn Any + Send>>,
    receiver: Mutex<Option<Receiver<Box<dyn Any + Send>>>>,
}

impl Default for DeferredDrop {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }
}

impl DeferredDrop {
    /// Gives a value away to be dropped. Without a thread that does so, it is dropped with the engine.
    pub fn free(&self, garbage: Box<dyn Any + Send>) {
        // The receiver lives as long as the engine or its thread does.
        let _ = self.sender.send(garbage);
    }

    /// Returns [`DeferredDrop::free`] for another thread, which may outlive the engine.
    pub fn remote(&self) -> impl Fn(Box<dyn Any + Send>) + Send + Sync + use<> {
        let sender = self.sender.clone();
        move |garbage| drop(sender.send(garbage))
    }

    /// Returns the receiving end, for the thread that drops; once.
    pub fn receiver(&self) -> Option<Receiver<Box<dyn Any + Send>>> {
        self.receiver.lock().expect("no holder panics").take()
    }
}
