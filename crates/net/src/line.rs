//! A connection on which requests are asked: one after the other in HTTP/1.1, side by side in
//! HTTP/2.

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

use crate::message::{Manner, Prepared};
use crate::meter::{Meter, Metered};
use crate::{Failure, Reply};

const LONGEST_HEAD: u32 = 32 * 1024;
/// What comes besides a body: the head, heads before it, and what TLS says for itself.
const AROUND_A_BODY: u64 = 96 * 1024;
/// A body in pieces of one byte each is so much longer on its way.
const FRAMING: u64 = 8;

pub(crate) struct Line {
    pub(crate) peer: SocketAddr,
    pub(crate) opened: Instant,
    talk: Talk,
    /// Counts below TLS, so that nothing is read that nobody counted.
    wire: Arc<Meter>,
}

enum Talk {
    One(One),
    Many(Arc<Many>),
}

/// The connection broke.
pub(crate) struct Lost {
    /// Whether it broke before anything of an answer came.
    pub(crate) unheard: bool,
}

impl From<Lost> for Failure {
    fn from(_: Lost) -> Failure {
        Failure::Broken
    }
}

impl Line {
    pub(crate) async fn over<S>(
        stream: S,
        is_shared: bool,
        peer: SocketAddr,
        wire: Arc<Meter>,
    ) -> Result<Line, Failure>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let talk = match is_shared {
            true => Many::begin(stream).await.map(|it| Talk::Many(Arc::new(it))),
            false => One::begin(stream).await.map(Talk::One),
        };
        let talk = talk.map_err(|_| Failure::Broken)?;
        Ok(Line { peer, opened: Instant::now(), talk, wire })
    }

    /// Another hold on the same connection, where several may have one.
    pub(crate) fn share(&self) -> Option<Line> {
        let Talk::Many(many) = &self.talk else { return None };
        let talk = Talk::Many(many.clone());
        Some(Line { peer: self.peer, opened: self.opened, talk, wire: self.wire.clone() })
    }

    /// Whether it would still take a request, as far as can be seen from here.
    pub(crate) fn is_open(&mut self) -> bool {
        match &mut self.talk {
            Talk::One(one) => one.is_open(),
            Talk::Many(many) => !many.spoilt.load(Relaxed) && !many.sender.is_closed(),
        }
    }

    /// Asks, and gives the line back if it can be asked again and nobody else holds it.
    pub(crate) async fn ask(
        mut self,
        request: &Prepared,
        manner: Manner,
        body_max: usize,
    ) -> Result<(Reply, Option<Line>), Lost> {
        let more = AROUND_A_BODY.saturating_add(FRAMING.saturating_mul(body_max as u64));
        match &mut self.talk {
            Talk::One(one) => {
                self.wire.grant(more, more);
                let reply = one.ask(request.request(manner), body_max).await?;
                let stays = !reply.truncated && one.is_open();
                Ok((reply, stays.then_some(self)))
            }
            Talk::Many(many) => {
                // As many answers are on their way as there are others who hold it.
                let side_by_side = Arc::strong_count(many) as u64;
                self.wire.grant(more, more.saturating_mul(side_by_side));
                let reply = many.ask(request.request(Manner::Shared), body_max).await?;
                Ok((reply, None))
            }
        }
    }
}

/// HTTP/1.1. Whoever asks moves the bytes too, so that no other task has to be woken; between
/// requests nobody does.
struct One {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Fuse<Pin<Box<dyn Future<Output = ()> + Send>>>,
    words: Arc<Meter>,
}

impl One {
    async fn begin<S>(stream: S) -> hyper::Result<One>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let words = Meter::new(u64::MAX);
        let stream = TokioIo::new(Metered::new(stream, words.clone()));
        let mut client = http1::Builder::new();
        client.max_header_size(LONGEST_HEAD as usize);
        let (sender, connection) = client.handshake(stream).await?;
        let driver: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(connection.map(drop));
        Ok(One { sender, driver: driver.fuse(), words })
    }

    fn is_open(&mut self) -> bool {
        // Takes notice of a farewell, and of words that nobody asked for.
        let _ = self.driver.poll_unpin(&mut Context::from_waker(Waker::noop()));
        !self.driver.is_terminated() && self.sender.is_ready()
    }

    async fn ask(&mut self, request: Request<Full<Bytes>>, body_max: usize) -> Result<Reply, Lost> {
        let before = self.words.heard();
        let mut exchange = pin!(async {
            let response = self.sender.send_request(request).await?;
            read(response, body_max).await
        });
        let driver = &mut self.driver;
        let reply = poll_fn(|cx| {
            if let ended @ Poll::Ready(_) = exchange.as_mut().poll(cx) {
                return ended;
            }
            // When the connection ends, what came over it may still wait to be read.
            let _ = driver.poll_unpin(cx);
            exchange.as_mut().poll(cx)
        });
        reply.await.map_err(|_| Lost { unheard: self.words.heard() == before })
    }
}

/// HTTP/2, driven by tasks that end when nobody holds the connection any more.
struct Many {
    sender: http2::SendRequest<Full<Bytes>>,
    _tasks: Arc<Tasks>,
    /// Set once something did not end well: the others may finish, nobody else begins.
    spoilt: AtomicBool,
}

type Tasks = Mutex<JoinSet<()>>;

impl Many {
    async fn begin<S>(stream: S) -> hyper::Result<Many>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let tasks = Arc::<Tasks>::default();
        let crew = Crew(Arc::downgrade(&tasks));
        let mut client = http2::Builder::new(crew.clone());
        client.max_header_list_size(LONGEST_HEAD);
        // Until the other side has said how many it takes, the others wait.
        client.initial_max_send_streams(1);
        client.initial_stream_window_size(64 * 1024);
        client.initial_connection_window_size(1024 * 1024);
        let (sender, connection) = client.handshake(TokioIo::new(stream)).await?;
        crew.execute(connection.map(drop));
        Ok(Many { sender, _tasks: tasks, spoilt: AtomicBool::new(false) })
    }

    async fn ask(&self, request: Request<Full<Bytes>>, body_max: usize) -> Result<Reply, Lost> {
        let mut seat = Seat { many: self, ended_well: false };
        let asked = self.sender.clone().send_request(request);
        let response = asked.await.map_err(|_| Lost { unheard: true })?;
        let reply = read(response, body_max).await.map_err(|_| Lost { unheard: false })?;
        seat.ended_well = !reply.truncated;
        Ok(reply)
    }
}

/// A request on its way. One that is left before its end, for whatever reason, spoils the line.
struct Seat<'a> {
    many: &'a Many,
    ended_well: bool,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        if !self.ended_well {
            self.many.spoilt.store(true, Relaxed);
        }
    }
}

/// Who works for a connection, for as long as somebody holds it: a peer that takes no farewell
/// could keep a task for ever.
#[derive(Clone)]
struct Crew(Weak<Tasks>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Crew {
    fn execute(&self, work: F) {
        let Some(tasks) = self.0.upgrade() else { return };
        let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }
}

async fn read(response: Response<Incoming>, body_max: usize) -> hyper::Result<Reply> {
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
    Ok(Reply { status: head.status.as_u16(), headers: head.headers, body: kept.into(), truncated })
}
