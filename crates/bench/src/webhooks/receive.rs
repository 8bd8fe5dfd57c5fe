//! The webhook receiver, a separate process with real TLS that only records what it receives.

use std::collections::HashSet;
use std::convert::Infallible;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use base::Clock;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// The path of a request, and the id of its event.
type Arrival = (String, String);

#[derive(Default)]
struct Log {
    seen: HashSet<Arrival>,
    /// All arrivals with their time in microseconds.
    list: Vec<(Arrival, i64)>,
}

#[derive(Default)]
struct Receiver {
    log: Mutex<Log>,
    arrived: Notify,
}

/// Prints its port and its certificate, then runs commands from standard input: `wait N` answers once N different
/// events have arrived, `take` prints the arrivals and clears them.
pub(crate) async fn receive(protocol: &str) -> anyhow::Result<()> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{}\n{}", listener.local_addr()?.port(), cert.pem().trim());
    let receiver = Arc::new(Receiver::default());
    tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), receiver.clone()));
    let mut commands = BufReader::new(tokio::io::stdin()).lines();
    while let Some(command) = commands.next_line().await? {
        match command.split_once(' ') {
            Some(("wait", count)) => {
                receiver.wait(count.parse().context("wait needs a count")?).await;
                println!("done");
            }
            _ => receiver.print()?,
        }
    }
    Ok(())
}

impl Receiver {
    fn record(&self, arrival: Arrival) {
        let at = Clock::System.now().as_microsecond();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.seen.insert(arrival.clone());
        log.list.push((arrival, at));
        drop(log);
        self.arrived.notify_waiters();
    }

    async fn wait(&self, count: usize) {
        loop {
            let arrived = self.arrived.notified();
            if self.log.lock().unwrap_or_else(PoisonError::into_inner).seen.len() >= count {
                return;
            }
            arrived.await;
        }
    }

    fn print(&self) -> anyhow::Result<()> {
        let log = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        let mut out = std::io::stdout().lock();
        for ((path, id), at) in log.list {
            writeln!(out, "{path} {id} {at}")?;
        }
        writeln!(out, "end")?;
        Ok(out.flush()?)
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, receiver: Arc<Receiver>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (tls, receiver) = (tls.clone(), receiver.clone());
        tokio::spawn(async move {
            let service =
                hyper::service::service_fn(move |request| answer(receiver.clone(), request));
            if let Ok(stream) = tls.accept(stream).await {
                let server = auto::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            }
        });
    }
}

async fn answer(
    receiver: Arc<Receiver>,
    request: Request<Incoming>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, mut body) = request.into_parts();
    while let Some(Ok(_)) = body.frame().await {}
    let id = head.headers.get("webhook-id").and_then(|it| it.to_str().ok()).unwrap_or_default();
    receiver.record((head.uri.path().to_owned(), id.to_owned()));
    let mut response = Response::new(Empty::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
