//! A limit on the bytes read from a connection. Endless headers, interim responses and HTTP/2 control frames cost time
//! to read although no limit on the body ever sees them; this ends the connection when more arrives than any response
//! needs.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The number of bytes read so far, and the number allowed.
#[derive(Debug)]
pub(crate) struct ReadBudget {
    read: AtomicU64,
    allowed: AtomicU64,
}

impl ReadBudget {
    pub(crate) fn new(allowed: u64) -> Arc<ReadBudget> {
        Arc::new(ReadBudget { read: AtomicU64::new(0), allowed: AtomicU64::new(allowed) })
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// Allows `more` bytes, but never more than `ahead` from here, so that unused budget cannot be saved up for a
    /// flood.
    pub(crate) fn grant(&self, more: u64, ahead: u64) {
        let read = self.bytes_read();
        let granted = |allowed: u64| allowed.saturating_add(more).min(read.saturating_add(ahead));
        self.allowed.update(Relaxed, Relaxed, granted);
    }

    fn count(&self, bytes: u64) -> io::Result<()> {
        let read = self.read.fetch_add(bytes, Relaxed) + bytes;
        match read <= self.allowed.load(Relaxed) {
            true => Ok(()),
            false => Err(io::Error::other("the server sent more than any response needs")),
        }
    }
}

/// A stream whose incoming bytes are counted against a budget.
pub(crate) struct BudgetedStream<S> {
    stream: S,
    budget: Arc<ReadBudget>,
}

impl<S> BudgetedStream<S> {
    pub(crate) fn new(stream: S, budget: Arc<ReadBudget>) -> BudgetedStream<S> {
        BudgetedStream { stream, budget }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BudgetedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let read = buf.filled().len() - before;
        Poll::Ready(self.budget.count(read as u64))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BudgetedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::{BudgetedStream, ReadBudget};

    #[tokio::test]
    async fn the_granted_bytes_are_read_and_not_one_more() {
        let (mut far, near) = tokio::io::duplex(64);
        let budget = ReadBudget::new(3);
        let mut near = BudgetedStream::new(near, budget.clone());
        far.write_all(b"abcdef").await.unwrap();
        let mut read = [0; 3];
        near.read_exact(&mut read).await.unwrap();
        assert!(near.read_u8().await.is_err());
        assert_eq!(budget.bytes_read(), 4);
        budget.grant(2, 2);
        assert!(near.read_u8().await.is_ok());
        assert!(near.read_u8().await.is_err());
    }

    #[tokio::test]
    async fn unused_budget_is_not_saved_up() {
        let (mut far, near) = tokio::io::duplex(64);
        let budget = ReadBudget::new(0);
        let mut near = BudgetedStream::new(near, budget.clone());
        for _ in 0..10 {
            budget.grant(2, 3);
        }
        far.write_all(b"abcdef").await.unwrap();
        for _ in 0..3 {
            near.read_u8().await.unwrap();
        }
        assert!(near.read_u8().await.is_err());
    }
}
