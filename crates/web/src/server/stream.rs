//! A client's socket that reports reads and writes to its connection, and that closes without losing an answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::connection::Connection;

/// How long, and for how many bytes, a closed connection still reads what its client sends.
const LINGER: Duration = Duration::from_secs(3);
const LINGER_BYTES_MAX: usize = 64 << 20;

pub(super) struct ClientStream {
    socket: TcpStream,
    connection: Arc<Connection>,
    closing: Option<Lingering>,
}

/// A connection whose answer is sent while its client may still be sending. If the socket were closed with unread bytes
/// in it, the kernel would reset the connection, and the client would lose the answer that tells it why.
struct Lingering {
    until: Pin<Box<Sleep>>,
    bytes_left: usize,
}

impl ClientStream {
    pub(super) fn new(socket: TcpStream, connection: Arc<Connection>) -> ClientStream {
        ClientStream { socket, connection, closing: None }
    }

    /// Reads and discards bytes until the client closes its side or the limits are reached.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(lingering) = &mut self.closing else { return Poll::Ready(()) };
        let mut discarded = [0_u8; 16 * 1_024];
        while lingering.bytes_left > 0 {
            let mut into = ReadBuf::new(&mut discarded);
            match Pin::new(&mut self.socket).poll_read(context, &mut into) {
                Poll::Ready(Ok(())) if !into.filled().is_empty() => {
                    lingering.bytes_left = lingering.bytes_left.saturating_sub(into.filled().len());
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return lingering.until.as_mut().poll(context),
            }
        }
        Poll::Ready(())
    }

    fn note(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Pending => self.connection.note_write_blocked(),
            Poll::Ready(Ok(bytes)) => self.connection.note_written(*bytes),
            Poll::Ready(Err(_)) => {}
        }
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(context, into);
        if into.filled().len() > before {
            self.connection.note_read();
        }
        read
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.note(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.closing.is_none() {
            ready!(Pin::new(&mut self.socket).poll_shutdown(context))?;
            if !self.connection.has_unread_body() {
                return Poll::Ready(Ok(()));
            }
            let until = Box::pin(tokio::time::sleep(LINGER));
            self.closing = Some(Lingering { until, bytes_left: LINGER_BYTES_MAX });
        }
        self.poll_linger(context).map(Ok)
    }
}
