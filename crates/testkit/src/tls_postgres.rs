//! A minimal PostgreSQL server that accepts only TLS and answers every statement with the number of the connection, to
//! test certificates.

use std::io::Result;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::receiver::server_tls;

const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const READY: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
/// One column of text.
const COLUMNS: &[u8] = b"T\0\0\0\x1a\0\x01n\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
const DONE: &[u8] = b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

/// Its certificate is for `localhost`, signed by `receiver::authority`.
pub struct TlsPostgres {
    pub port: u16,
}

impl TlsPostgres {
    pub async fn start() -> TlsPostgres {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let mut number = 1_u8;
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, number));
                number += 1;
            }
        });
        TlsPostgres { port }
    }
}

async fn serve(mut stream: TcpStream, number: u8) -> Result<()> {
    let mut request = [0; 8];
    stream.read_exact(&mut request).await?;
    if request != SSL_REQUEST {
        return Ok(());
    }
    stream.write_all(b"S").await?;
    let mut stream = TlsAcceptor::from(server_tls()).accept(stream).await?;
    let length = stream.read_i32().await?;
    skip(&mut stream, length).await?;
    stream.write_all(READY).await?;
    loop {
        let kind = stream.read_u8().await?;
        let length = stream.read_i32().await?;
        skip(&mut stream, length).await?;
        if kind == b'X' {
            return Ok(());
        }
        // One row with one value of one byte.
        let row = [b'D', 0, 0, 0, 11, 0, 1, 0, 0, 0, 1, number];
        stream.write_all(&[COLUMNS, &row, DONE].concat()).await?;
    }
}

/// Skips the rest of a message. The length includes its own four bytes.
async fn skip(stream: &mut (impl AsyncRead + Unpin), length: i32) -> Result<()> {
    let mut rest = vec![0; usize::try_from(length - 4).unwrap_or(0)];
    stream.read_exact(&mut rest).await?;
    Ok(())
}
