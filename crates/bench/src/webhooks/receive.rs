//! The other side: a receiver in a process of its own, with real TLS, that counts and does nothing else.

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

/// Where it came to, and which event it was.
type Arrival = (String, String);

#[derive(Default)]
struct Log {
    seen: HashSet<Arrival>,
    /// Everything, with the moment.
    list: Vec<(Arrival, i64)>,
}

#[derive(Default)]
struct Desk {
    log: Mutex<Log>,
    news: Notify,
}

/// Prints its port and its certificate, then does what its input says: `wait N` answers once N different events came,
/// `take` prints what came and begins anew.
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
    let desk = Arc::new(Desk::default());
    tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), desk.clone()));
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while let Some(order) = orders.next_line().await? {
        match order.split_once(' ') {
            Some(("wait", count)) => {
                desk.wait(count.parse().context("wait for how many?")?).await;
                println!("done");
            }
            _ => desk.print()?,
        }
    }
    Ok(())
}

impl Desk {
    fn note(&self, arrival: Arrival) {
        let at = Clock::System.now().as_microsecond();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.seen.insert(arrival.clone());
        log.list.push((arrival, at));
        drop(log);
        self.news.notify_waiters();
    }

    async fn wait(&self, count: usize) {
        loop {
            let news = self.news.notified();
            if self.log.lock().unwrap_or_else(PoisonError::into_inner).seen.len() >= count {
                return;
            }
            news.await;
        }
    }

    fn print(&self) -> anyhow::Result<()> {
        let log = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        let mut out = std::io::stdout().lock();
        for ((place, id), at) in log.list {
            writeln!(out, "{place} {id} {at}")?;
        }
        writeln!(out, "end")?;
        Ok(out.flush()?)
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, desk: Arc<Desk>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (tls, desk) = (tls.clone(), desk.clone());
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| answer(desk.clone(), request));
            if let Ok(stream) = tls.accept(stream).await {
                let server = auto::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            }
        });
    }
}

async fn answer(
    desk: Arc<Desk>,
    request: Request<Incoming>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, mut body) = request.into_parts();
    while let Some(Ok(_)) = body.frame().await {}
    let id = head.headers.get("webhook-id").and_then(|it| it.to_str().ok()).unwrap_or_default();
    desk.note((head.uri.path().to_owned(), id.to_owned()));
    let mut response = Response::new(Empty::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
