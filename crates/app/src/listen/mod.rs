//! `evenkeel listen`: a webhook receiver for development. It shows, verifies and forwards deliveries.

pub(crate) mod certificate;
mod forward;
mod shown;

use std::collections::HashSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use base::Clock;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use service::webhooks::{SignedMessage, SigningSecret, VerificationError, verify};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::cli;
use crate::commands::print;
use crate::config::Config;
use crate::data_dir;
use crate::serve;
use forward::Forward;

/// The largest request body accepted; events are far smaller.
const BODY_MAX: usize = 1024 * 1024;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How many event ids are remembered to recognize repeated deliveries.
const REMEMBERED: usize = 100_000;

struct Receiver {
    secrets: Vec<SigningSecret>,
    forward: Option<Forward>,
    seen: Mutex<HashSet<String>>,
}

pub(crate) async fn run(config: &Config, args: &cli::Listen) -> Result<()> {
    let secret = |text: &String| {
        SigningSecret::parse(text).with_context(|| {
            "--secret must be the endpoint's secret from when it was created: whsec_ and 44 characters"
        })
    };
    let secrets = args.secret.iter().map(secret).collect::<Result<Vec<_>>>()?;
    let forward = args.forward.as_deref().map(Forward::new).transpose()?;
    if !args.listen.contains(':') {
        bail!("--listen must be an address and a port, such as 127.0.0.1:4690");
    }
    // Checked before we create files there.
    let is_known = data_dir::key_file(config).exists() || config.installation_key.is_some();
    certificate::prepare(config)?;
    let acceptor = certificate::acceptor(config)?;
    let stop = serve::stop_on_signal(true)?;
    let listener = TcpListener::bind(&args.listen).await.with_context(|| {
        format!(
            "cannot listen on {}; stop the program that uses it, or choose another address with --listen",
            args.listen
        )
    })?;
    print(&shown::greeting(config, args, listener.local_addr()?, is_known)?)?;
    let receiver = Arc::new(Receiver { secrets, forward, seen: Mutex::default() });
    tokio::select! {
        () = accept(listener, acceptor, receiver) => Ok(()),
        () = serve::until(stop) => Ok(()),
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, receiver: Arc<Receiver>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(serve(stream, peer, acceptor.clone(), receiver.clone()));
            }
            // Most likely out of file descriptors: wait for other connections to close.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    acceptor: TlsAcceptor,
    receiver: Arc<Receiver>,
) {
    let _ = stream.set_nodelay(true);
    let greeted = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await;
    let Ok(Ok(stream)) = greeted else {
        let now = Clock::System.now();
        let _ = print(&shown::failed_handshake(now, peer));
        return;
    };
    let service = service_fn(move |request| {
        let receiver = receiver.clone();
        async move { Ok::<_, Infallible>(receiver.answer(request).await) }
    });
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new()).header_read_timeout(HANDSHAKE_TIMEOUT);
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

impl Receiver {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        if head.method != Method::POST {
            let message = "evenkeel listen only accepts webhooks, which are POST requests\n";
            return respond(StatusCode::METHOD_NOT_ALLOWED, message.to_owned());
        }
        let Ok(body) = Limited::new(body, BODY_MAX).collect().await else {
            return respond(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the request body is not an event\n".to_owned(),
            );
        };
        let body = body.to_bytes();
        let now = Clock::System.now();
        let verdict = self.verdict(&head.headers, &body, now);
        let again = self.is_known(text(&head.headers, "webhook-id"));
        let line = shown::event(now, &head.headers, &body, &verdict, again);
        if let Some(reason) = verdict.refusal() {
            let _ = print(&format!("{line}  answered 400\n"));
            return respond(StatusCode::BAD_REQUEST, format!("{reason}\n"));
        }
        let Some(forward) = &self.forward else {
            let _ = print(&format!("{line}\n"));
            return respond(StatusCode::NO_CONTENT, String::new());
        };
        let forwarded = forward.send(&head.headers, body).await;
        let _ = print(&format!("{line}  {}\n", forwarded.message));
        forwarded.response
    }

    fn verdict(&self, headers: &HeaderMap, body: &[u8], now: base::Timestamp) -> Verdict {
        if self.secrets.is_empty() {
            return Verdict::NotChecked;
        }
        let signed = SignedMessage {
            id: text(headers, "webhook-id"),
            timestamp: text(headers, "webhook-timestamp"),
            signature: text(headers, "webhook-signature"),
            body,
        };
        match verify(&self.secrets, &signed, now) {
            Ok(()) => Verdict::Verified,
            Err(reason) => Verdict::Refused(reason),
        }
    }

    fn is_known(&self, id: Option<&str>) -> bool {
        let Some(id) = id else { return false };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        !seen.insert(id.to_owned())
    }
}

/// The result of checking a delivery's signature.
enum Verdict {
    Verified,
    /// No secret was given to check it with.
    NotChecked,
    Refused(VerificationError),
}

impl Verdict {
    fn refusal(&self) -> Option<&VerificationError> {
        match self {
            Verdict::Refused(reason) => Some(reason),
            _ => None,
        }
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn respond(status: StatusCode, message: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(message)));
    *response.status_mut() = status;
    response
}
