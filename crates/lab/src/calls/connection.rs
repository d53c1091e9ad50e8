//! A connection: bytes that wait to be sent, calls that wait for replies, and the beginning of a reply.
//!
//! ```text
//!  calls --> out | sent ... not yet sent | --> socket --> room of the thread --> replies, checked in order
//!              under_way: oldest first                       '--> heard: a reply whose end is missing
//! ```

use super::check::{CheckedLine, ReplyVerdict, check_deletion};
use super::scanner::Scanner;
use crate::socket::{self, SendBuffer};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Instant;

/// A call whose reply has not come.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallUnderWay {
    /// The number within the party.
    pub(super) call: u64,
    /// The line among those of the party.
    pub(super) line: u32,
    /// True if the reply to come is that of the deletion with which the call ends.
    pub(super) is_deletion: bool,
    /// When the call was sent, or due at a pace.
    pub(super) begin: Instant,
}

/// A connection of a party, or the place of one that is closed.
pub(super) struct PartyConnection {
    pub(super) party: usize,
    stream: Option<TcpStream>,
    /// Calls made since it was opened.
    pub(super) made: u64,
    pub(super) under_way: VecDeque<CallUnderWay>,
    /// True if it is listed as free for a call that becomes due.
    pub(super) is_free: bool,
    out: SendBuffer,
    heard: Vec<u8>,
    scanner: Scanner,
}

/// The rules by which replies are checked, and calls repeated that find nothing yet.
pub(super) struct Repeating<'a> {
    pub(super) lines: &'a [CheckedLine],
    pub(super) noise: &'a [u8],
    /// True if no call is repeated any more.
    pub(super) is_over: bool,
}

/// The replies found in some bytes.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The starts of the calls that are complete.
    pub(super) completed: Vec<Instant>,
    pub(super) found_nothing: u64,
}

impl PartyConnection {
    pub(super) fn new(party: usize) -> Self {
        Self {
            party,
            stream: None,
            made: 0,
            under_way: VecDeque::new(),
            is_free: false,
            out: SendBuffer::default(),
            heard: Vec::new(),
            scanner: Scanner::default(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Begins to connect, as [`socket::connect`].
    ///
    /// # Errors
    /// As there.
    pub(super) fn open(&mut self, poll: &OwnedFd, place: u64, address: SocketAddr) -> io::Result<()> {
        self.watch(poll, place, socket::connect(address)?)
    }

    /// Connects, and waits for the end of it.
    ///
    /// # Errors
    /// The server refuses.
    pub(super) fn open_and_wait(&mut self, poll: &OwnedFd, place: u64, address: SocketAddr) -> io::Result<()> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        self.watch(poll, place, stream)
    }

    fn watch(&mut self, poll: &OwnedFd, place: u64, stream: TcpStream) -> io::Result<()> {
        socket::watch(poll, place, &stream)?;
        self.stream = Some(stream);
        self.made = 0;
        self.out.begin();
        Ok(())
    }

    /// Closes it. No call may be under way: then nothing is left unread, and the server sees an orderly end.
    pub(super) fn close(&mut self) {
        assert!(self.under_way.is_empty(), "only a connection without calls is closed");
        self.stream = None;
    }

    /// Adds a call to the bytes to send.
    pub(super) fn add(&mut self, line: &CheckedLine, under_way: CallUnderWay, noise: &[u8]) {
        line.template.append(&mut self.out.bytes, under_way.call, noise);
        self.under_way.push_back(under_way);
        self.made += 1;
    }

    /// Sends as much as the socket takes, and has the poll wait for the rest.
    ///
    /// # Errors
    /// The connection broke.
    pub(super) fn flush(&mut self, poll: &OwnedFd, place: u64) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        self.out.flush(stream, poll, place)
    }

    /// Reads once and takes all replies that are complete.
    ///
    /// # Errors
    /// The connection broke, or a reply is not as expected.
    pub(super) fn read(&mut self, room: &mut [u8], repeating: &Repeating<'_>, heard: &mut Heard) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let bytes = match stream.read(room) {
            Ok(0) => return Err(io::Error::other("the server closed a connection")),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(());
            }
            done => done?,
        };
        if self.heard.is_empty() {
            let taken = self.take_replies(&room[..bytes], repeating, heard)?;
            self.heard.extend_from_slice(&room[taken..bytes]);
        } else {
            let mut all = std::mem::take(&mut self.heard);
            all.extend_from_slice(&room[..bytes]);
            let taken = self.take_replies(&all, repeating, heard)?;
            all.drain(..taken);
            self.heard = all;
        }
        Ok(())
    }

    /// Takes the complete replies at the front of `bytes`, and returns their length.
    fn take_replies(&mut self, bytes: &[u8], repeating: &Repeating<'_>, heard: &mut Heard) -> io::Result<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let Some(under_way) = self.under_way.front().copied() else {
                return Err(io::Error::other("more came than was asked for"));
            };
            if under_way.is_deletion {
                let Some(length) = check_deletion(&mut self.scanner, &bytes[at..])? else { break };
                self.under_way.pop_front();
                heard.completed.push(under_way.begin);
                at += length;
                continue;
            }
            let line = &repeating.lines[under_way.line as usize];
            let checked = line.check(&mut self.scanner, &bytes[at..], under_way.call)?;
            let Some((length, verdict)) = checked else { break };
            self.under_way.pop_front();
            match verdict {
                ReplyVerdict::Met => heard.completed.push(under_way.begin),
                ReplyVerdict::FoundNothing => {
                    heard.completed.push(under_way.begin);
                    heard.found_nothing += 1;
                }
                ReplyVerdict::Again => {
                    heard.found_nothing += 1;
                    if !repeating.is_over {
                        line.template.append(&mut self.out.bytes, under_way.call, repeating.noise);
                        self.under_way.push_back(under_way);
                    }
                }
                ReplyVerdict::Delete(id) => {
                    self.out.bytes.extend_from_slice(b"delete ");
                    self.out.bytes.extend_from_slice(&bytes[at + id.start..at + id.end]);
                    self.out.bytes.extend_from_slice(b"\r\n");
                    self.under_way.push_back(CallUnderWay { is_deletion: true, ..under_way });
                }
            }
            at += length;
        }
        Ok(at)
    }
}
