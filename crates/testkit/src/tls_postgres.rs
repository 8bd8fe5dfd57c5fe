//! A server that greets as PostgreSQL does, over TLS and only so, and agrees to everything: for what certificates it takes
//! to be spoken to.

use std::io::Result;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::receiver::server_tls;

const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
const DONE: &[u8] = b"C\0\0\0\x08SET\0Z\0\0\0\x05I";

/// Its certificate is for `localhost`, by `receiver::authority`.
pub struct TlsPostgres {
    pub port: u16,
}

impl TlsPostgres {
    pub async fn start() -> TlsPostgres {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(greet(stream));
            }
        });
        TlsPostgres { port }
    }
}

async fn greet(mut stream: TcpStream) -> Result<()> {
    let mut request = [0; 8];
    stream.read_exact(&mut request).await?;
    if request != SSL_REQUEST {
        return Ok(());
    }
    stream.write_all(b"S").await?;
    let mut stream = TlsAcceptor::from(server_tls()).accept(stream).await?;
    let length = stream.read_i32().await?;
    skip(&mut stream, length).await?;
    stream.write_all(WELCOME).await?;
    loop {
        let kind = stream.read_u8().await?;
        let length = stream.read_i32().await?;
        skip(&mut stream, length).await?;
        if kind == b'X' {
            return Ok(());
        }
        stream.write_all(DONE).await?;
    }
}

/// The rest of a message, whose length counts itself.
async fn skip(stream: &mut (impl AsyncRead + Unpin), length: i32) -> Result<()> {
    let mut rest = vec![0; usize::try_from(length - 4).unwrap_or(0)];
    stream.read_exact(&mut rest).await?;
    Ok(())
}
