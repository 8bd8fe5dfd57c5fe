//! The server that simulated banks share: HTTP over real TLS for `localhost`, on a free port.

use std::future::Future;
use std::io;

use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::receiver;

pub(crate) type Answer = io::Result<Response<Full<Bytes>>>;

/// A server that has a port and does not answer yet.
pub(crate) struct TlsServer {
    listener: TcpListener,
    /// Such as `https://localhost:41234`.
    pub(crate) url: String,
}

impl TlsServer {
    pub(crate) async fn bind() -> TlsServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        TlsServer { listener, url }
    }

    /// Answers requests from now on. An error of `answer` closes the connection without a response.
    pub(crate) fn serve<F, A>(self, answer: F)
    where
        F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Answer> + Send,
    {
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(receiver::server_tls());
            while let Ok((stream, _)) = self.listener.accept().await {
                let (acceptor, answer) = (acceptor.clone(), answer.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(answer);
                    let _ =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
    }
}

/// A response in JSON.
pub(crate) fn json(status: u16, body: String) -> Answer {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Full::new(Bytes::from(body))).map_err(io::Error::other)
}

/// A page.
pub(crate) fn html(body: String) -> Answer {
    let response = Response::builder().header("content-type", "text/html; charset=utf-8");
    response.body(Full::new(Bytes::from(body))).map_err(io::Error::other)
}

/// Sends the browser to another address after a form.
pub(crate) fn see_other(url: &str) -> Answer {
    let response = Response::builder().status(303).header("location", url);
    response.body(Full::default()).map_err(io::Error::other)
}

/// A connection that is closed without a response.
pub(crate) fn cut() -> Answer {
    Err(io::Error::other("cut on purpose"))
}
