//! One connection: input, turns of its session, output, in that order, one after another.
//!
//! ```text
//! wait for bytes --> one read --> turn --> wait until durable --> one write --> wait for bytes
//!                                 ^ |                              |
//!              more is there:     | | a request that must          | the socket takes no more:
//!              yield, then -------' | wait: watched by `slow`      | `drain`
//!                                   v                              v
//! ```
//!
//! While output waits for the socket no request is run, so a slow reader slows itself. Rarely used state is boxed, and
//! buffers are lent by the worker, so an idle connection is small.

mod flush;
mod input;
mod moving;
mod password;
mod slow;
mod socket;

use crate::worker::WorkerContext;
use engine::{Next, Session};
use input::Input;
pub(crate) use moving::MovingConnection;
pub(crate) use socket::READ_BYTES_MAX;
use socket::{Gone, Socket};
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tracing::{debug, warn};
use wire::Output;

/// One connection, served by one worker.
pub(crate) struct Connection {
    context: Rc<WorkerContext>,
    socket: Socket,
    session: Session,
    input: Input,
    output: Output,
}

/// Why a connection ends. Pending output has been written, or can no longer be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The peer closed, or the connection broke.
    Gone,
    /// The session is done, after QUIT or a protocol error.
    Done,
    /// A browser is speaking HTTP.
    Http,
    /// CLIENT KILL, the setting `timeout`, or a server stop.
    Asked,
    /// Its pending output exceeds the limit.
    OutputTooLong,
    /// Its pending input exceeds the limit.
    InputTooLong,
    /// Memory is short, and much of it is pending input or output of this connection.
    OutOfMemory,
}

impl From<Gone> for End {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl Connection {
    /// Creates a connection over a non-blocking `socket`.
    ///
    /// # Errors
    /// Fails if the event loop cannot take any more.
    pub(crate) fn new(context: Rc<WorkerContext>, socket: OwnedFd, session: Session) -> io::Result<Self> {
        let socket = Socket::new(socket)?;
        Ok(Self { context, socket, session, input: Input::default(), output: Output::new() })
    }

    /// Serves the connection until it ends; returns the worker to which it is to move instead, if it is.
    pub(crate) async fn serve(&mut self) -> Option<usize> {
        let end = loop {
            let next = match self.turn() {
                Ok(next) => next,
                Err(end) => break end,
            };
            if let Some(delay) = self.session.take_auth_delay()
                && let Err(end) = Box::pin(self.delay_answer(delay)).await
            {
                break end;
            }
            if !self.output.is_empty()
                && let Err(end) = self.flush().await
            {
                break end;
            }
            self.context.keep_buffer(&mut self.output);
            if self.is_asked_to_close() {
                break End::Asked;
            }
            if matches!(next, Next::Input(_) | Next::Again)
                && let Some(worker) = self.destination()
            {
                return Some(worker);
            }
            let went_on = match next {
                Next::Http => Err(End::Http),
                _ if self.session.is_closing() => Err(End::Done),
                Next::Close => Err(End::Done),
                // Input may have arrived while output was written.
                Next::Input(_) if !self.socket.may_read() && !self.input.is_due() => {
                    poll_fn(|context| self.poll_input(context)).await
                }
                Next::Input(_) | Next::Again => {
                    tokio::task::yield_now().await;
                    Ok(())
                }
                Next::Gate => {
                    self.session.gate_open_or_busy().await;
                    Ok(())
                }
                Next::Paced(wait_ms) => {
                    self.session.paced(wait_ms).await;
                    Ok(())
                }
                Next::Slow(slow) => Box::pin(self.run_slowly(slow)).await,
            };
            if let Err(end) = went_on {
                break end;
            }
        };
        self.note_end(end);
        self.session.give_back().await;
        None
    }

    /// Closes the connection.
    pub(crate) fn leave(self) {
        self.context.leave();
        if !self.output.is_empty() {
            // It may hold the last clone of a big value.
            self.context.worker.engine.deferred_drop.free(Box::new(self.output));
        }
    }

    /// Reads once if that is needed and may help, and runs the available input. Keeps nothing lent by the worker but
    /// the output buffer.
    fn turn(&mut self) -> Result<Next, End> {
        self.context.beat();
        if self.input.is_due() {
            return Ok(self.run_own());
        }
        if self.session.has_messages() {
            self.output.give_buffer(self.context.lend_buffer());
            if self.session.take_messages(&mut self.output) {
                return Ok(Next::Again);
            }
        }
        // Replies are sent before the connection may turn out to be closed.
        if !self.socket.may_read() || !self.output.is_empty() {
            return Ok(Next::Input(1));
        }
        if self.input.is_own() { self.read_own() } else { self.read_lent() }
    }

    /// Reads into the worker's scratch, and runs from there.
    fn read_lent(&mut self) -> Result<Next, End> {
        let Self { context, socket, session, input, output } = self;
        let mut scratch = context.scratch.borrow_mut();
        scratch.clear();
        scratch.extend_from_slice(input.rest());
        let read_bytes = socket.read(&mut scratch)?;
        context.worker.counters().input_bytes.add(read_bytes as u64);
        if read_bytes == 0 {
            return Ok(Next::Input(1));
        }
        output.give_buffer(context.lend_buffer());
        let turn = session.run_turn(&scratch, &mut context.ranges.borrow_mut(), output);
        input.replace(&scratch[turn.used..], at_least(&turn.next), |bytes| context.worker.engine.memory.take(bytes));
        Ok(turn.next)
    }

    /// Reads into the connection's own buffer, and runs from there once all missing bytes have arrived.
    fn read_own(&mut self) -> Result<Next, End> {
        let Self { context, socket, session, input, output } = self;
        if input.bytes_wanted() as u64 > context.worker.settings().query_buffer_bytes_max {
            return Err(End::InputTooLong);
        }
        if !context.worker.may_receive(input.lacking_bytes() as u64) {
            session.refuse_input(output);
            return Ok(Next::Close);
        }
        let Some(room) = input.room().map_err(|_| End::InputTooLong)? else { return Ok(Next::Again) };
        let read_bytes = socket.read(room)?;
        context.worker.counters().input_bytes.add(read_bytes as u64);
        Ok(if self.input.is_due() { self.run_own() } else { Next::Input(1) })
    }

    fn run_own(&mut self) -> Next {
        let Self { context, session, input, output, .. } = self;
        output.give_buffer(context.lend_buffer());
        let turn = session.run_turn(input.rest(), &mut context.ranges.borrow_mut(), output);
        input.advance(turn.used, at_least(&turn.next));
        turn.next
    }

    /// Ready when there is input, a message to send, or a reason to end.
    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<Result<(), End>> {
        if self.session.client().is_closing(Some(context)) {
            return Poll::Ready(Err(End::Asked));
        }
        if self.session.poll_messages(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        ready!(self.socket.poll_read(context))?;
        Poll::Ready(Ok(()))
    }

    fn is_asked_to_close(&self) -> bool {
        self.session.client().is_closing(None)
    }

    fn note_cut_off(&self, waiting_bytes: u64) {
        let client = self.session.client();
        self.context.worker.counters().slow_readers.add(1);
        warn!(
            "client {} at {} does not read its output: disconnected with {waiting_bytes} bytes waiting, see \
             client-output-buffer-limit",
            client.id, client.address
        );
    }

    /// Counts a browser, and logs a warning.
    fn note_http(&self) {
        let (client, crew) = (self.session.client(), self.context.crew());
        self.context.worker.counters().http.add(1);
        if let Some(left_out) = crew.warnings.http.spend(Instant::now()) {
            warn!(
                "Possible SECURITY ATTACK detected: client {} at {} speaks HTTP, as a browser does when a web page attacks a \
                 server on its own machine or network. The connection was closed before any of it was run{left_out}",
                client.id, client.address
            );
        }
    }

    fn note_end(&self, end: End) {
        let client = self.session.client();
        let (id, address) = (client.id, &client.address);
        let cut_off_bytes = client.cut_off_bytes();
        match end {
            End::Asked if cut_off_bytes > 0 => self.note_cut_off(cut_off_bytes),
            End::Gone | End::Done | End::Asked => debug!("client {id} at {address} is gone: {end:?}"),
            End::Http => self.note_http(),
            End::OutputTooLong => {
                self.note_cut_off(self.output.bytes_pending() as u64 + client.mail_bytes.load(Relaxed));
            }
            End::OutOfMemory => {
                let (input_bytes, output_bytes) = (self.input.bytes_wanted(), self.output.bytes_pending());
                warn!(
                    "memory is short: client {id} at {address} was disconnected with {input_bytes} bytes of requests \
                     and {output_bytes} bytes of replies waiting"
                );
            }
            End::InputTooLong => {
                let waiting_bytes = self.input.bytes_wanted();
                warn!(
                    "client {id} at {address} exceeds the query buffer limit: disconnected at {waiting_bytes} \
                     bytes, see client-query-buffer-limit"
                );
            }
        }
    }
}

fn at_least(next: &Next) -> usize {
    match next {
        Next::Input(at_least) => *at_least,
        _ => 1,
    }
}
