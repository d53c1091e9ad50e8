//! A connection to a server over a socket, for transcripts. Tests of other crates include this file by its path.

use commands::testing::transcript::Endpoint;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use wire::OwnedRequest;
use wire::client::{Parser, Value};
use wire::resp;

/// A connection.
pub(crate) struct Socket {
    stream: TcpStream,
    parser: Parser,
    is_resp3: bool,
}

impl Socket {
    /// Connects to `address` (`host:port`) and asks for RESP3 if wanted.
    pub(crate) fn connect(address: &str, is_resp3: bool) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.set_nodelay(true)?;
        let mut socket = Self { stream, parser: Parser::new(), is_resp3 };
        if is_resp3 {
            socket.ask(&[b"HELLO".to_vec(), b"3".to_vec()])?;
        }
        Ok(socket)
    }

    /// Returns the reply to a request.
    pub(crate) fn ask(&mut self, words: &[Vec<u8>]) -> io::Result<Value> {
        let mut bytes = Vec::new();
        resp::request(&mut bytes, OwnedRequest::of(words).args());
        self.stream.write_all(&bytes)?;
        let mut buffer = [0; 16 << 10];
        loop {
            if let Some(value) = self.parser.next_value().map_err(|error| io::Error::other(format!("{error:?}")))? {
                return Ok(value);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.parser.feed(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Endpoint for Socket {
    fn call(&mut self, words: &[Vec<u8>]) -> Value {
        self.ask(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    fn advance(&mut self, ms: u64) {
        std::thread::sleep(Duration::from_millis(ms + 5));
    }

    fn is_resp3(&self) -> bool {
        self.is_resp3
    }
}
