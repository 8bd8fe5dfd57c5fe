//! The reverse proxy of an operator: https for `localhost` in front of a program that serves http.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::receiver;

pub struct TlsProxy {
    /// Such as `https://localhost:41234`.
    pub url: String,
    target: Arc<AtomicU16>,
}

impl TlsProxy {
    /// Starts a proxy whose program is not known yet, because a program needs the address of its proxy to start.
    pub async fn start() -> TlsProxy {
        TlsProxy::serve(receiver::server_tls()).await
    }

    /// The same with a certificate that is valid for this long.
    pub async fn start_with_certificate_for(valid_for: Duration) -> TlsProxy {
        TlsProxy::serve(receiver::server_tls_for(valid_for)).await
    }

    async fn serve(tls: Arc<ServerConfig>) -> TlsProxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let target = Arc::new(AtomicU16::new(0));
        tokio::spawn(accept(listener, tls, target.clone()));
        TlsProxy { url, target }
    }

    /// Passes connections on to this port of this machine from now on.
    pub fn pass_on_to(&self, port: u16) {
        self.target.store(port, Ordering::SeqCst);
    }
}

async fn accept(listener: TcpListener, tls: Arc<ServerConfig>, target: Arc<AtomicU16>) {
    let acceptor = TlsAcceptor::from(tls);
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, port) = (acceptor.clone(), target.load(Ordering::SeqCst));
        tokio::spawn(async move {
            let Ok(mut outside) = acceptor.accept(stream).await else { return };
            let Ok(mut inside) = TcpStream::connect(("127.0.0.1", port)).await else { return };
            // Either side may close at any time.
            let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
        });
    }
}
