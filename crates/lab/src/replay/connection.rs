//! A connection of the replay: one call under way, behind a SELECT of ours if another database is selected.
//!
//! ```text
//!  begin --> out | sent ... not yet sent | --> socket --> heard | SELECT's reply | the call's reply | --> take_reply
//! ```

use super::plan::PlannedCall;
use crate::calls::scanner::Scanner;
use crate::protocol::Protocol;
use crate::resp;
use crate::socket::{self, SendBuffer};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Where connections lead, and what waits for all of them.
pub(super) struct Net {
    pub(super) address: SocketAddr,
    pub(super) poll: OwnedFd,
}

/// A call whose reply has not come.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    /// The place among the calls of the plan.
    pub(super) call: usize,
    /// When it was due, or sent if calls have no due times.
    pub(super) begin: Instant,
    pub(super) may_wait: bool,
}

/// A connection, or the place of one that is closed.
#[derive(Default)]
pub(super) struct Connection {
    stream: Option<TcpStream>,
    under_way: Option<UnderWay>,
    /// True while the reply of a SELECT comes before that of the call.
    selects: bool,
    /// The database that is selected.
    database: u32,
    out: SendBuffer,
    heard: Vec<u8>,
    /// The length of the complete reply at the front of what was heard.
    reply_bytes: usize,
    scanner: Scanner,
}

/// The outcome of sending or reading.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PlayState {
    /// The reply is not complete.
    Waits,
    Reply,
    /// The server closed the connection.
    Closed,
}

impl Connection {
    pub(super) fn under_way(&self) -> Option<UnderWay> {
        self.under_way
    }

    /// Sends a call. A closed connection is opened first, and nothing waits for the end of that: the socket takes bytes
    /// once it is connected.
    ///
    /// # Errors
    /// The system refuses, as when too many files are open.
    pub(super) fn begin(
        &mut self,
        net: &Net,
        place: u64,
        planned: &PlannedCall,
        bytes: &[u8],
        under_way: UnderWay,
    ) -> io::Result<PlayState> {
        if self.stream.is_none() {
            self.open(net, place)?;
        }
        let other = planned.database.filter(|database| *database != self.database);
        if let Some(database) = other {
            resp::encode(&mut self.out.bytes, &[b"SELECT", database.to_string().as_bytes()]);
            self.database = database;
        }
        self.selects = other.is_some();
        self.database = planned.selects.unwrap_or(self.database);
        self.out.bytes.extend_from_slice(bytes);
        self.under_way = Some(under_way);
        self.flush(net, place)
    }

    fn open(&mut self, net: &Net, place: u64) -> io::Result<()> {
        let stream = socket::connect(net.address)?;
        socket::watch(&net.poll, place, &stream)?;
        *self = Self { stream: Some(stream), ..Self::default() };
        Ok(())
    }

    /// Closes it, and forgets the call under way.
    pub(super) fn close(&mut self) -> Option<UnderWay> {
        std::mem::take(self).under_way
    }

    /// Sends as much as the socket takes, and has the poll wait for the rest.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn flush(&mut self, net: &Net, place: u64) -> io::Result<PlayState> {
        let Some(stream) = &mut self.stream else { return Ok(PlayState::Waits) };
        match self.out.flush(stream, &net.poll, place) {
            Err(error) if is_end(&error) => Ok(PlayState::Closed),
            done => done.map(|()| PlayState::Waits),
        }
    }

    /// Reads once.
    ///
    /// # Errors
    /// Nobody listens, or the server breaks the protocol or refuses the database.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<PlayState> {
        let Some(stream) = &mut self.stream else { return Ok(PlayState::Waits) };
        let bytes = match stream.read(room) {
            Ok(0) => return Ok(PlayState::Closed),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(PlayState::Waits);
            }
            Err(error) if is_end(&error) => return Ok(PlayState::Closed),
            done => done?,
        };
        self.heard.extend_from_slice(&room[..bytes]);
        loop {
            let Some(reply) = self.scanner.scan(Protocol::Resp, &self.heard)? else { return Ok(PlayState::Waits) };
            if self.under_way.is_none() {
                return Err(io::Error::other("more came than was asked for"));
            }
            if !self.selects {
                self.reply_bytes = reply.length;
                return Ok(PlayState::Reply);
            }
            if self.heard.starts_with(b"-") {
                let why = String::from_utf8_lossy(&self.heard[reply.text]).into_owned();
                return Err(io::Error::other(format!("the server refuses a database of the capture: {why}")));
            }
            self.selects = false;
            self.heard.drain(..reply.length);
        }
    }

    /// Hands the complete reply over, and returns the call that it belongs to.
    pub(super) fn take_reply<T>(&mut self, take: impl FnOnce(UnderWay, &[u8]) -> T) -> Option<T> {
        let under_way = self.under_way.take()?;
        let taken = take(under_way, &self.heard[..self.reply_bytes]);
        self.heard.drain(..self.reply_bytes);
        Some(taken)
    }
}

/// Returns true if the error says that the server closed the connection.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
}
