//! Counts what comes in over a connection, and ends it when that is more than any answer needs:
//! heads without end, endless interim answers and floods of control frames all cost time to read
//! although no bound on a body ever sees them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that came, and how many may.
#[derive(Debug)]
pub(crate) struct Meter {
    heard: AtomicU64,
    most: AtomicU64,
}

impl Meter {
    pub(crate) fn new(most: u64) -> Arc<Meter> {
        Arc::new(Meter { heard: AtomicU64::new(0), most: AtomicU64::new(most) })
    }

    pub(crate) fn heard(&self) -> u64 {
        self.heard.load(Relaxed)
    }

    /// Lets so many more in, but never more than `ahead` from here, so that a modest past does not
    /// save up for a flood.
    pub(crate) fn grant(&self, more: u64, ahead: u64) {
        let heard = self.heard();
        let granted = |most: u64| most.saturating_add(more).min(heard.saturating_add(ahead));
        self.most.update(Relaxed, Relaxed, granted);
    }

    fn count(&self, bytes: u64) -> io::Result<()> {
        let heard = self.heard.fetch_add(bytes, Relaxed) + bytes;
        match heard <= self.most.load(Relaxed) {
            true => Ok(()),
            false => Err(io::Error::other("more came than any answer needs")),
        }
    }
}

/// A stream whose incoming bytes are counted.
pub(crate) struct Metered<S> {
    stream: S,
    meter: Arc<Meter>,
}

impl<S> Metered<S> {
    pub(crate) fn new(stream: S, meter: Arc<Meter>) -> Metered<S> {
        Metered { stream, meter }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let came = buf.filled().len() - before;
        Poll::Ready(self.meter.count(came as u64))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
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

    use super::{Meter, Metered};

    #[tokio::test]
    async fn what_is_granted_comes_in_and_not_a_byte_more() {
        let (mut far, near) = tokio::io::duplex(64);
        let meter = Meter::new(3);
        let mut near = Metered::new(near, meter.clone());
        far.write_all(b"abcdef").await.unwrap();
        let mut read = [0; 3];
        near.read_exact(&mut read).await.unwrap();
        assert!(near.read_u8().await.is_err());
        assert_eq!(meter.heard(), 4);
        meter.grant(2, 2);
        assert!(near.read_u8().await.is_ok());
        assert!(near.read_u8().await.is_err());
    }

    #[tokio::test]
    async fn what_was_not_used_is_not_saved_up() {
        let (mut far, near) = tokio::io::duplex(64);
        let meter = Meter::new(0);
        let mut near = Metered::new(near, meter.clone());
        for _ in 0..10 {
            meter.grant(2, 3);
        }
        far.write_all(b"abcdef").await.unwrap();
        for _ in 0..3 {
            near.read_u8().await.unwrap();
        }
        assert!(near.read_u8().await.is_err());
    }
}
