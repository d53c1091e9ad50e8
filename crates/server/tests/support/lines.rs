//! A connection to the memcached port or the queue port.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// A connection that reads one answer at a time. A further request after it marks its end.
pub(crate) struct Lines {
    stream: TcpStream,
    last: &'static str,
    answered: &'static str,
}

impl Lines {
    /// A connection to the memcached port.
    pub(crate) fn connect(port: u16) -> Self {
        Self::with(port, "mn\r\n", "MN\r\n")
    }

    /// A connection to the queue port.
    pub(crate) fn of_queues(port: u16) -> Self {
        Self::with(port, "version\r\n", "VERSION 0.2.1\r\n")
    }

    fn with(port: u16, last: &'static str, answered: &'static str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream, last, answered }
    }

    /// Sends bytes alone.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Returns the answers to `bytes`, which must not contain the request that marks the end.
    #[track_caller]
    pub(crate) fn ask(&mut self, bytes: impl AsRef<[u8]>) -> String {
        let mut lines = bytes.as_ref().split_inclusive(|&byte| byte == b'\n');
        assert!(lines.all(|line| line != self.last.as_bytes()), "{:?} is asked twice", self.last);
        self.send([bytes.as_ref(), self.last.as_bytes()].concat());
        self.until_last()
    }

    /// Returns the answers before the one that marks the end.
    #[track_caller]
    pub(crate) fn until_last(&mut self) -> String {
        let (mut answer, mut piece) = (Vec::new(), vec![0; 64 << 10]);
        let end = format!("\r\n{}", self.answered);
        loop {
            let count = self.stream.read(&mut piece).unwrap();
            assert!(count > 0, "closed behind {:?}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&piece[..count]);
            if answer == self.answered.as_bytes() || answer.ends_with(end.as_bytes()) {
                answer.truncate(answer.len() - self.answered.len());
                return String::from_utf8_lossy(&answer).into_owned();
            }
        }
    }

    /// Returns everything that arrives before the server closes the connection.
    #[track_caller]
    pub(crate) fn until_closed(&mut self) -> String {
        let (mut answer, mut piece) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return String::from_utf8_lossy(&answer).into_owned(),
                Ok(count) => answer.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return String::from_utf8_lossy(&answer).into_owned();
                }
                Err(error) => panic!("the connection stays open: {error}"),
            }
        }
    }
}
