//! A connection that moves to another worker, with what it has received and not run.

use super::input::Input;
use super::socket::Socket;
use super::{Connection, Output};
use crate::worker::WorkerContext;
use engine::{Destination, MovingSession, Session};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

/// A connection between two workers.
pub(crate) struct MovingConnection {
    socket: OwnedFd,
    session: MovingSession,
    input: Input,
}

impl Connection {
    /// Returns the worker to which it is to move, if it is.
    #[inline]
    pub(super) fn destination(&mut self) -> Option<usize> {
        let destination = self.session.destination()?;
        let worker = match destination {
            Destination::Worker(worker) => self.context.may_move_to(worker).then_some(worker),
            Destination::Any => self.context.lightest(),
        };
        if worker.is_none() {
            self.session.stay();
        }
        worker
    }

    /// Leaves for another worker.
    pub(crate) fn move_to(self, worker: usize) {
        let Self { context, socket, mut session, input, output: _ } = self;
        let moving = MovingConnection { socket: socket.into_descriptor(), session: session.depart(), input };
        context.hand_over(moving, worker);
    }

    /// Creates a connection that goes on here.
    ///
    /// # Errors
    /// Fails if the event loop cannot take any more.
    pub(crate) fn arrive(context: Rc<WorkerContext>, moving: MovingConnection) -> io::Result<Self> {
        let MovingConnection { socket, session, input } = moving;
        let session = Session::arrive(context.worker.clone(), session);
        Ok(Self { context, socket: Socket::new(socket)?, session, input, output: Output::new() })
    }
}

impl MovingConnection {
    /// Returns the peer's address.
    pub(crate) fn address(&self) -> String {
        self.session.client().address.to_string()
    }

    /// Closes it, at the worker where it has arrived or which it could not leave.
    pub(crate) fn close(self, context: &WorkerContext) {
        drop(Session::arrive(context.worker.clone(), self.session));
    }
}
