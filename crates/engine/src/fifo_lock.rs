//! A FIFO lock for tasks of one worker: the first in the queue proceeds, and the next when it leaves.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// The queued tasks, the first in front.
#[derive(Default)]
pub(crate) struct FifoLock {
    places: RefCell<VecDeque<(u64, Option<Waker>)>>,
    next: Cell<u64>,
}

/// A position in the queue: when dropped, the next task moves up.
pub(crate) struct LinePlace<'t> {
    fifo_lock: &'t FifoLock,
    number: u64,
}

impl FifoLock {
    /// Waits until all earlier tasks have left. If dropped, it leaves the queue too.
    pub(crate) async fn enter(&self) -> LinePlace<'_> {
        let place = LinePlace { fifo_lock: self, number: self.next.get() };
        self.next.set(place.number + 1);
        self.places.borrow_mut().push_back((place.number, None));
        poll_fn(|context| {
            let mut places = self.places.borrow_mut();
            if places.front().is_some_and(|(first, _)| *first == place.number) {
                return Poll::Ready(());
            }
            let at = places.binary_search_by_key(&place.number, |(number, _)| *number).expect("it stands there");
            places[at].1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
        place
    }
}

impl Drop for LinePlace<'_> {
    fn drop(&mut self) {
        let mut places = self.fifo_lock.places.borrow_mut();
        let at = places.binary_search_by_key(&self.number, |(number, _)| *number).expect("it stands there");
        places.remove(at);
        let waker = places.front_mut().and_then(|(_, waker)| waker.take());
        drop(places);
        waker.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::Context;

    #[test]
    fn a_waiter_proceeds_when_all_before_it_have_left() {
        let line = FifoLock::default();
        let context = &mut Context::from_waker(Waker::noop());
        let (mut first, mut second) = (pin!(line.enter()), Box::pin(line.enter()));
        let mut third = pin!(line.enter());
        let Poll::Ready(place) = first.as_mut().poll(context) else { panic!("nobody is before it") };
        assert!(second.as_mut().poll(context).is_pending());
        assert!(third.as_mut().poll(context).is_pending());
        drop(second);
        assert!(third.as_mut().poll(context).is_pending());
        drop(place);
        assert!(third.as_mut().poll(context).is_ready());
    }
}
