//! A request and its answer on a connection: their bodies tell the connection when the server waits for its client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::Body;
use bytes::{Buf as _, Bytes};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};

use super::connection::Connection;

/// One request and its answer. It begins when the request's head is complete, and ends when the answer has been
/// handed over or given up.
#[derive(Debug)]
pub(super) struct Exchange {
    connection: Arc<Connection>,
    id: u64,
}

impl Exchange {
    pub(super) fn begin(connection: &Arc<Connection>) -> Exchange {
        Exchange { connection: connection.clone(), id: connection.begin_exchange() }
    }

    pub(super) fn reader(&self) -> BodyReader {
        BodyReader { connection: self.connection.clone(), id: self.id }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.connection.end_exchange(self.id);
    }
}

pub(super) struct BodyReader {
    connection: Arc<Connection>,
    id: u64,
}

/// A request's body that ends with an error when its client sends too slowly.
pub(super) struct RequestBody {
    inner: Incoming,
    reader: BodyReader,
    is_read: bool,
}

impl RequestBody {
    pub(super) fn new(inner: Incoming, reader: BodyReader) -> RequestBody {
        RequestBody { inner, reader, is_read: false }
    }
}

impl hyper::body::Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let BodyReader { connection, id } = &self.reader;
        if connection.is_body_overdue(*id) {
            return Poll::Ready(Some(Err("the body did not arrive in time".into())));
        }
        let polled = {
            let this = &mut *self;
            Pin::new(&mut this.inner).poll_frame(context)
        };
        self.is_read |= matches!(polled, Poll::Ready(None));
        let BodyReader { connection, id } = &self.reader;
        match &polled {
            Poll::Pending => connection.wait_for_client(*id, Some(context.waker())),
            Poll::Ready(frame) => connection.note_progress(*id, bytes_of(frame)),
        }
        polled.map(|it| it.map(|it| it.map_err(BoxError::from)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.is_read && !self.inner.is_end_stream() {
            self.reader.connection.note_unread_body();
        }
    }
}

/// An answer's body. Between two of its parts the server waits for the client to take the first. A panic while a part
/// is made breaks the answer off and leaves the rest of the program alone.
pub(super) struct ResponseBody {
    inner: Body,
    exchange: Exchange,
}

impl ResponseBody {
    pub(super) fn new(inner: Body, exchange: Exchange) -> ResponseBody {
        ResponseBody { inner, exchange }
    }
}

impl hyper::body::Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Exchange { connection, id } = &self.exchange;
        connection.note_progress(*id, 0);
        let inner = &mut self.inner;
        let poll = AssertUnwindSafe(|| Pin::new(inner).poll_frame(context));
        let Ok(polled) = catch_unwind(poll) else {
            // The panic hook has logged the location.
            return Poll::Ready(Some(Err("a part of the answer could not be made".into())));
        };
        let Exchange { connection, id } = &self.exchange;
        if let Poll::Ready(Some(Ok(_))) = &polled {
            connection.note_progress(*id, bytes_of_ready(&polled));
            connection.wait_for_client(*id, None);
        }
        polled.map(|it| it.map(|it| it.map_err(BoxError::from)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

fn bytes_of<E>(frame: &Option<Result<Frame<Bytes>, E>>) -> usize {
    let data = frame.as_ref().and_then(|it| it.as_ref().ok()).and_then(Frame::data_ref);
    data.map_or(0, Bytes::remaining)
}

fn bytes_of_ready<E>(polled: &Poll<Option<Result<Frame<Bytes>, E>>>) -> usize {
    match polled {
        Poll::Ready(frame) => bytes_of(frame),
        Poll::Pending => 0,
    }
}
