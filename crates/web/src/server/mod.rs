//! The HTTP server: accepts connections, bounds how many there are and how long a client may keep one waiting, and
//! drains them at the end.

mod connection;
mod exchange;
mod limits;
mod meters;
mod registry;
mod stream;
mod transfer;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::MissedTickBehavior;
use tower::Service as _;

use connection::{Closing, Connection};
use exchange::{Exchange, RequestBody, ResponseBody};
use meters::Refused;
use registry::Registry;
use stream::ClientStream;

pub use limits::ServerLimits;
pub use meters::ConnectionMeters;

/// How often deadlines are checked.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// Room for one request head. Larger heads are answered with 431.
const HEAD_BYTES_MAX: usize = 64 * 1_024;
const HTTP2_STREAMS_MAX: u32 = 64;
const HTTP2_SEND_BUFFER_BYTES: usize = 64 * 1_024;
/// Sent to a client that finds every connection busy.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

/// Serves until `stop` resolves, then lets every request in flight finish.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ServerLimits,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (builder, drain_max) = (Arc::new(http_builder()), limits.drain_max);
    let meters = limits.meters.clone();
    let registry = Arc::new(Registry::new(limits));
    let mut sweeps = tokio::time::interval(SWEEP_INTERVAL);
    sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = accept(&listener, &meters) => accepted,
            _ = sweeps.tick() => {
                registry.sweep();
                continue;
            }
            () = &mut stop => break,
        };
        match registry.admit(peer.ip()) {
            Some(connection) => {
                let (builder, router) = (builder.clone(), router.clone());
                tokio::spawn(run(builder, router, stream, peer, connection));
            }
            None => {
                let _ = stream.try_write(BUSY);
            }
        }
    }
    drop(listener);
    registry.drain();
    let drained = async {
        while !registry.is_empty() {
            tokio::select! {
                () = registry.changed() => {}
                _ = sweeps.tick() => registry.sweep(),
            }
        }
    };
    if tokio::time::timeout(drain_max, drained).await.is_err() {
        tracing::warn!("some requests did not finish in time; their connections are closed");
        registry.cut_all();
    }
    Ok(())
}

/// Request heads have no deadline of hyper's own: the registry's sweep covers them, also before hyper knows which
/// version of HTTP a client speaks.
fn http_builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(HEAD_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_send_buf_size(HTTP2_SEND_BUFFER_BYTES);
    builder
}

async fn accept(listener: &TcpListener, meters: &ConnectionMeters) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return (stream, peer);
            }
            // Out of file descriptors, or the client hung up before it was accepted. Both pass.
            Err(error) => {
                meters.count_refused(Refused::NotAccepted);
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// One connection from its first byte to its last.
async fn run(
    builder: Arc<Builder<TokioExecutor>>,
    router: Router,
    stream: TcpStream,
    peer: SocketAddr,
    connection: registry::Admitted,
) {
    let handle: Arc<Connection> = connection.handle();
    let service = {
        let handle = handle.clone();
        hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let exchange = Exchange::begin(&handle);
            let mut request = request.map(|body| RequestBody::new(body, exchange.reader()));
            request.extensions_mut().insert(ConnectInfo(peer));
            let answer = router.clone().call(request);
            async move {
                let Ok(response) = answer.await;
                Ok::<_, std::convert::Infallible>(
                    response.map(|body| ResponseBody::new(body, exchange)),
                )
            }
        })
    };
    let io = TokioIo::new(ClientStream::new(stream, handle.clone()));
    let mut http = std::pin::pin!(builder.serve_connection(io, service));
    // An error means that the client hung up or sent no HTTP, and needs no handling.
    tokio::select! {
        _ = http.as_mut() => return,
        () = handle.reached(Closing::Graceful) => http.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = http => {}
        () = handle.reached(Closing::Cut) => {}
    }
}
