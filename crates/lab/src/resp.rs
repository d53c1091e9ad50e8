//! A small blocking client: just enough RESP2 to prepare data, check answers and time calls.
//!
//! It trusts nothing: a reply that breaks the protocol is an error of the step, and reads give up after [`SILENCE`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum time that a server may stay silent before a step fails. Writers may have to wait for gigabytes to be
/// checkpointed.
const SILENCE: Duration = Duration::from_secs(180);
/// Lines longer than this are no reply of ours.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// Longest rest of a slow reader: it must notice in time that all is over.
const REST_MAX: Duration = Duration::from_millis(50);

/// One connection.
pub(crate) struct Client {
    reader: BufReader<Source>,
}

/// The source of replies: a socket, read at full speed or more slowly.
struct Source {
    stream: TcpStream,
    slow: Option<Slow>,
}

/// A reader that keeps to a rate and gives up when all is over.
struct Slow {
    /// 0 for as fast as they come.
    bytes_per_s: u64,
    begin: Instant,
    read_bytes: u64,
    over: Arc<AtomicBool>,
}

impl Slow {
    /// Waits until the next bytes are due.
    fn wait(&self) -> io::Result<()> {
        let due_s = if self.bytes_per_s == 0 { 0.0 } else { self.read_bytes as f64 / self.bytes_per_s as f64 };
        let due = self.begin + Duration::from_secs_f64(due_s);
        loop {
            let rest = due.saturating_duration_since(Instant::now());
            if self.over.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if rest.is_zero() {
                return Ok(());
            }
            thread::sleep(rest.min(REST_MAX));
        }
    }
}

impl Read for Source {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let Some(slow) = &mut self.slow else { return self.stream.read(room) };
        slow.wait()?;
        let bytes = self.stream.read(room)?;
        slow.read_bytes += bytes as u64;
        Ok(bytes)
    }
}

/// Appends a command in its wire form.
pub(crate) fn encode(out: &mut Vec<u8>, words: &[&[u8]]) {
    let number = |out: &mut Vec<u8>, mark: char, value: usize| {
        write!(out, "{mark}{value}\r\n").expect("writing to a Vec");
    };
    number(out, '*', words.len());
    for word in words {
        number(out, '$', word.len());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// The words of a line: blanks are between them, but not between double quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(place, part)| if place % 2 == 0 { part.split_whitespace().collect() } else { vec![part] })
        .collect()
}

/// A command given as [`words`].
pub(crate) fn encode_line(line: &str) -> Vec<u8> {
    let words: Vec<&[u8]> = words(line).into_iter().map(str::as_bytes).collect();
    let mut out = Vec::new();
    encode(&mut out, &words);
    out
}

impl Client {
    /// Connects to a server.
    ///
    /// # Errors
    /// Nobody listens.
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        Ok(Self { reader: BufReader::with_capacity(64 * 1024, Source { stream, slow: None }) })
    }

    /// Limits reading to `bytes_per_s` bytes per second (0 for no limit) from now on, and stops once `over` is set.
    pub(crate) fn read_at(&mut self, bytes_per_s: u64, over: Arc<AtomicBool>) {
        let slow = Slow { bytes_per_s, begin: Instant::now(), read_bytes: 0, over };
        self.reader.get_mut().slow = Some(slow);
    }

    /// Sends bytes that [`encode`] made.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().stream.write_all(bytes)
    }

    /// Reads replies and forgets them.
    ///
    /// # Errors
    /// One is an error, breaks the protocol, or does not come.
    pub(crate) fn skip_replies(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            self.reply(&mut None)?;
        }
        Ok(())
    }

    /// Sends one command; its reply as text, elements of arrays with a blank between, a null as `(nil)`.
    ///
    /// # Errors
    /// As [`Client::skip_replies`].
    pub(crate) fn call(&mut self, line: &str) -> io::Result<String> {
        self.send(&encode_line(line))?;
        self.reply_text()
    }

    /// The next reply in the same form.
    ///
    /// # Errors
    /// As [`Client::skip_replies`].
    pub(crate) fn reply_text(&mut self) -> io::Result<String> {
        let mut text = Some(Vec::new());
        self.reply(&mut text)?;
        Ok(String::from_utf8_lossy(&text.unwrap_or_default()).into_owned())
    }

    /// The connection itself, once every reply has been read.
    pub(crate) fn into_stream(self) -> TcpStream {
        assert!(self.reader.buffer().is_empty(), "nothing is left unread");
        self.reader.into_inner().stream
    }

    /// One whole reply; its text is kept when the caller brought a place for it.
    fn reply(&mut self, text: &mut Option<Vec<u8>>) -> io::Result<()> {
        let mut open = 1_u64;
        while open > 0 {
            open -= 1;
            let line = self.line()?;
            let (mark, rest) = line.split_first().ok_or_else(|| broken("an empty line"))?;
            match mark {
                b'+' | b':' => keep(text, rest),
                b'-' => return Err(io::Error::other(String::from_utf8_lossy(rest).into_owned())),
                b'$' => match number(rest)? {
                    None => keep(text, b"(nil)"),
                    Some(bytes) => self.bulk(bytes, text)?,
                },
                b'*' => open += number(rest)?.unwrap_or(0),
                _ => return Err(broken("an unknown type")),
            }
        }
        Ok(())
    }

    fn bulk(&mut self, bytes: u64, text: &mut Option<Vec<u8>>) -> io::Result<()> {
        if text.is_some() {
            let mut body = Vec::new();
            (&mut self.reader).take(bytes + 2).read_to_end(&mut body)?;
            keep(text, body.strip_suffix(b"\r\n").ok_or_else(|| broken("a cut string"))?);
            return Ok(());
        }
        let mut left = usize::try_from(bytes + 2).map_err(|_| broken("a huge string"))?;
        while left > 0 {
            let ready = self.reader.fill_buf()?.len().min(left);
            if ready == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.reader.consume(ready);
            left -= ready;
        }
        Ok(())
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::with_capacity(16);
        (&mut self.reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let whole = line.strip_suffix(b"\r\n").ok_or_else(|| broken("a cut line"))?.len();
        line.truncate(whole);
        Ok(line)
    }
}

fn keep(text: &mut Option<Vec<u8>>, piece: &[u8]) {
    if let Some(text) = text {
        if !text.is_empty() {
            text.push(b' ');
        }
        text.extend_from_slice(piece);
    }
}

/// A count or a length; -1 stands for null.
fn number(digits: &[u8]) -> io::Result<Option<u64>> {
    let value: i64 =
        std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or_else(|| broken("a bad length"))?;
    Ok(u64::try_from(value).ok())
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the server sent {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A client whose server has said `reply` and gone.
    fn client_hearing(reply: &'static [u8]) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::connect(listener.local_addr().unwrap()).unwrap();
        listener.accept().unwrap().0.write_all(reply).unwrap();
        client
    }

    fn heard(reply: &'static [u8]) -> io::Result<String> {
        let mut text = Some(Vec::new());
        client_hearing(reply).reply(&mut text)?;
        Ok(String::from_utf8(text.unwrap()).unwrap())
    }

    #[test]
    fn commands_have_their_published_wire_form() {
        assert_eq!(encode_line("LLEN  mylist"), b"*2\r\n$4\r\nLLEN\r\n$6\r\nmylist\r\n");
    }

    #[test]
    fn quoted_words_keep_their_spaces() {
        assert_eq!(words(r#"EVAL "return 'a  b'"  0 """#), ["EVAL", "return 'a  b'", "0", ""]);
    }

    #[test]
    fn replies_become_text() {
        assert_eq!(heard(b"+OK\r\n").unwrap(), "OK");
        assert_eq!(heard(b":-7\r\n").unwrap(), "-7");
        assert_eq!(heard(b"$5\r\na\r\nbc\r\n").unwrap(), "a\r\nbc");
        assert_eq!(heard(b"$-1\r\n").unwrap(), "(nil)");
        assert_eq!(heard(b"*3\r\n$1\r\na\r\n*1\r\n:2\r\n$1\r\nc\r\n").unwrap(), "a 2 c");
        assert_eq!(heard(b"*0\r\n").unwrap(), "");
    }

    #[test]
    fn errors_and_broken_replies_are_errors() {
        assert_eq!(heard(b"-ERR no\r\n").unwrap_err().to_string(), "ERR no");
        for broken in [&b"?x\r\n"[..], b"$x\r\n", b"+cut", b"$5\r\nab", b"*2\r\n:1\r\n", b"\r\n", b""] {
            heard(broken).unwrap_err();
        }
    }

    #[test]
    fn skipped_replies_are_whole_replies() {
        let mut client = client_hearing(b"*2\r\n$3\r\nabc\r\n:1\r\n+OK\r\n:9\r\n");
        client.skip_replies(2).unwrap();
        let mut text = Some(Vec::new());
        client.reply(&mut text).unwrap();
        assert_eq!(text.unwrap(), b"9");
        client.skip_replies(1).unwrap_err();
    }
}
