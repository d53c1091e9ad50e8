//! Connections to other servers, in a worker's own event loop.

use engine::event_loop::{Dialer, OutboundConnection};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A TCP connection.
struct Tcp(TcpStream);

/// Returns the dialer of a worker.
pub(crate) fn dialer() -> Dialer {
    Box::new(|host, port| {
        Box::pin(async move {
            let stream = TcpStream::connect((host.as_str(), port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(Tcp(stream)) as Box<dyn OutboundConnection>)
        })
    })
}

impl OutboundConnection for Tcp {
    fn poll_read(&mut self, context: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(into);
        Pin::new(&mut self.0).poll_read(context, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }
}
