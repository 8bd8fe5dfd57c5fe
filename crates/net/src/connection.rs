//! A connection to a server: one request at a time with HTTP/1.1, or many at once with HTTP/2.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{Fuse, FusedFuture as _};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::message::{ConnectionUse, HttpResponse, PreparedRequest};
use crate::read_budget::{BudgetedStream, ReadBudget};

const HEADERS_MAX: u32 = 32 * 1024;
/// Bytes allowed per response besides its body: headers, interim responses, and TLS records.
const OVERHEAD_BYTES: u64 = 96 * 1024;
/// Bytes allowed per byte of body: a body sent in chunks of one byte is this much longer on the wire.
const FRAMING_FACTOR: u64 = 8;

pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    pub(crate) opened_at: Instant,
    protocol: Protocol,
    /// Counts below TLS, so that every byte is counted.
    budget: Arc<ReadBudget>,
}

enum Protocol {
    Http1(Http1),
    Http2(Arc<Http2>),
}

/// The connection ended before the whole response was read.
pub(crate) struct ConnectionLost {
    /// Whether it ended before any byte of a response, so that the request can be retried.
    pub(crate) before_response: bool,
}

impl From<ConnectionLost> for Failure {
    fn from(_: ConnectionLost) -> Failure {
        Failure::Broken
    }
}

impl Connection {
    pub(crate) async fn start<S>(
        stream: S,
        is_http2: bool,
        peer: SocketAddr,
        budget: Arc<ReadBudget>,
    ) -> Result<Connection, Failure>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let protocol = match is_http2 {
            true => Http2::start(stream).await.map(|it| Protocol::Http2(Arc::new(it))),
            false => Http1::start(stream).await.map(Protocol::Http1),
        };
        let protocol = protocol.map_err(|_| Failure::Broken)?;
        Ok(Connection { peer, opened_at: Instant::now(), protocol, budget })
    }

    /// Another handle to the same connection, if it is HTTP/2.
    pub(crate) fn share(&self) -> Option<Connection> {
        let Protocol::Http2(http2) = &self.protocol else { return None };
        let protocol = Protocol::Http2(http2.clone());
        let (peer, opened_at) = (self.peer, self.opened_at);
        Some(Connection { peer, opened_at, protocol, budget: self.budget.clone() })
    }

    /// Whether it would still accept a request, as far as this side knows.
    pub(crate) fn is_open(&mut self) -> bool {
        match &mut self.protocol {
            Protocol::Http1(http1) => http1.is_open(),
            Protocol::Http2(http2) => !http2.is_retired.load(Relaxed) && !http2.sender.is_closed(),
        }
    }

    /// Sends a request. Returns the connection if it is HTTP/1.1 and can be reused; an HTTP/2 connection is reused
    /// through its other handles.
    pub(crate) async fn send(
        mut self,
        request: &PreparedRequest,
        connection_use: ConnectionUse,
        body_max: usize,
    ) -> Result<(HttpResponse, Option<Connection>), ConnectionLost> {
        let more = OVERHEAD_BYTES.saturating_add(FRAMING_FACTOR.saturating_mul(body_max as u64));
        match &mut self.protocol {
            Protocol::Http1(http1) => {
                self.budget.grant(more, more);
                let response = http1.send(request.request(connection_use), body_max).await?;
                let is_reusable = !response.truncated && http1.is_open();
                Ok((response, is_reusable.then_some(self)))
            }
            Protocol::Http2(http2) => {
                // At most as many responses are in flight as there are handles.
                let in_flight_max = Arc::strong_count(http2) as u64;
                self.budget.grant(more, more.saturating_mul(in_flight_max));
                let request = request.request(ConnectionUse::Http2);
                Ok((http2.send(request, body_max).await?, None))
            }
        }
    }
}

/// HTTP/1.1. The task that sends a request also drives the connection, so that no other task has to be woken; between
/// requests nothing drives it.
struct Http1 {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Fuse<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Counts above TLS, to tell whether any byte of a response arrived.
    plaintext: Arc<ReadBudget>,
}

impl Http1 {
    async fn start<S>(stream: S) -> hyper::Result<Http1>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let plaintext = ReadBudget::new(u64::MAX);
        let stream = TokioIo::new(BudgetedStream::new(stream, plaintext.clone()));
        let mut client = http1::Builder::new();
        client.max_header_size(HEADERS_MAX as usize);
        let (sender, connection) = client.handshake(stream).await?;
        let driver: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(connection.map(drop));
        Ok(Http1 { sender, driver: driver.fuse(), plaintext })
    }

    fn is_open(&mut self) -> bool {
        // One poll notices that the server has closed the connection, or has sent something without a request.
        let _ = self.driver.poll_unpin(&mut Context::from_waker(Waker::noop()));
        !self.driver.is_terminated() && self.sender.is_ready()
    }

    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
        body_max: usize,
    ) -> Result<HttpResponse, ConnectionLost> {
        let before = self.plaintext.bytes_read();
        let mut exchange = pin!(async {
            let response = self.sender.send_request(request).await?;
            read_response(response, body_max).await
        });
        let driver = &mut self.driver;
        let response = poll_fn(|cx| {
            if let ended @ Poll::Ready(_) = exchange.as_mut().poll(cx) {
                return ended;
            }
            // When the connection ends, its last bytes may still be waiting to be read.
            let _ = driver.poll_unpin(cx);
            exchange.as_mut().poll(cx)
        });
        let lost = |_| ConnectionLost { before_response: self.plaintext.bytes_read() == before };
        response.await.map_err(lost)
    }
}

/// HTTP/2, driven by tasks that end when the last handle is dropped.
struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    _tasks: Arc<Tasks>,
    /// Set after a request that did not complete: those in flight may finish, new ones use another connection.
    is_retired: AtomicBool,
}

type Tasks = Mutex<JoinSet<()>>;

impl Http2 {
    async fn start<S>(stream: S) -> hyper::Result<Http2>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let tasks = Arc::<Tasks>::default();
        let executor = ConnectionExecutor(Arc::downgrade(&tasks));
        let mut client = http2::Builder::new(executor.clone());
        client.max_header_list_size(HEADERS_MAX);
        // Until the server has sent its limit of concurrent streams, only one is opened.
        client.initial_max_send_streams(1);
        client.initial_stream_window_size(64 * 1024);
        client.initial_connection_window_size(1024 * 1024);
        let (sender, connection) = client.handshake(TokioIo::new(stream)).await?;
        executor.execute(connection.map(drop));
        Ok(Http2 { sender, _tasks: tasks, is_retired: AtomicBool::new(false) })
    }

    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        body_max: usize,
    ) -> Result<HttpResponse, ConnectionLost> {
        let mut in_flight = InFlight { http2: self, is_complete: false };
        let sent = self.sender.clone().send_request(request);
        let response = sent.await.map_err(|_| ConnectionLost { before_response: true })?;
        let response = read_response(response, body_max).await;
        let response = response.map_err(|_| ConnectionLost { before_response: false })?;
        in_flight.is_complete = !response.truncated;
        Ok(response)
    }
}

/// A request in flight. If it is dropped before it is complete, for whatever reason, the connection is retired.
struct InFlight<'a> {
    http2: &'a Http2,
    is_complete: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.is_complete {
            self.http2.is_retired.store(true, Relaxed);
        }
    }
}

/// Spawns the tasks of a connection so that they end with its last handle. Otherwise a server that never closes its
/// side could keep a task alive forever.
#[derive(Clone)]
struct ConnectionExecutor(Weak<Tasks>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for ConnectionExecutor {
    fn execute(&self, task: F) {
        let Some(tasks) = self.0.upgrade() else { return };
        let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

/// Reads a response, and its body up to `body_max` bytes.
async fn read_response(
    response: Response<Incoming>,
    body_max: usize,
) -> hyper::Result<HttpResponse> {
    let (head, mut body) = response.into_parts();
    let mut kept = Vec::new();
    let mut truncated = false;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let room = body_max - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            truncated = true;
            break;
        }
    }
    let (status, headers) = (head.status.as_u16(), head.headers);
    Ok(HttpResponse { status, headers, body: kept.into(), truncated })
}
