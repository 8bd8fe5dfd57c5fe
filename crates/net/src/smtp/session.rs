//! One session with a server: greeting, encryption, login, message.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::replies::{self, Reply};
use super::{Login, Message, SmtpError};

/// How long the polite end of a session may take. The message is delivered by then.
const QUIT_MAX: Duration = Duration::from_secs(2);

pub(super) enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

pub(super) struct Session {
    stream: BufReader<Stream>,
    /// The extensions that the server announced in its answer to EHLO, in upper case.
    extensions: Vec<String>,
}

impl Session {
    pub(super) fn new(stream: Stream) -> Session {
        Session { stream: BufReader::new(stream), extensions: Vec::new() }
    }

    /// Waits for the server's greeting, and answers it.
    pub(super) async fn greet(&mut self, own_name: &str) -> Result<(), SmtpError> {
        let greeting = replies::read(&mut self.stream).await?;
        accept(greeting, 220, SmtpError::RefusedForNow)?;
        self.say_hello(own_name).await
    }

    pub(super) async fn say_hello(&mut self, own_name: &str) -> Result<(), SmtpError> {
        let reply = self.command(&format!("EHLO {own_name}")).await?;
        let reply = accept(reply, 250, SmtpError::RefusedForNow)?;
        self.extensions = reply.lines.iter().skip(1).map(|it| it.to_ascii_uppercase()).collect();
        Ok(())
    }

    /// Asks for encryption, and returns the bare stream for it. What arrived before is not from the server that the
    /// certificate will name, so nothing of it may be left.
    pub(super) async fn start_tls(mut self) -> Result<TcpStream, SmtpError> {
        if !self.extensions.iter().any(|it| it.trim() == "STARTTLS") {
            return Err(SmtpError::NoStartTls);
        }
        let reply = self.command("STARTTLS").await?;
        accept(reply, 220, SmtpError::RefusedForNow)?;
        match (self.stream.buffer().is_empty(), self.stream.into_inner()) {
            (true, Stream::Plain(stream)) => Ok(stream),
            _ => Err(SmtpError::Malformed),
        }
    }

    pub(super) async fn log_in(&mut self, login: &Login) -> Result<(), SmtpError> {
        let offered: Vec<&str> = self
            .extensions
            .iter()
            .filter_map(|it| it.strip_prefix("AUTH "))
            .flat_map(str::split_whitespace)
            .collect();
        let reply = if offered.contains(&"PLAIN") {
            let secret = STANDARD.encode(format!("\0{}\0{}", login.user, login.password));
            self.command(&format!("AUTH PLAIN {secret}")).await?
        } else if offered.contains(&"LOGIN") {
            let reply = self.command("AUTH LOGIN").await?;
            accept(reply, 334, SmtpError::LoginRefused)?;
            let reply = self.command(&STANDARD.encode(&login.user)).await?;
            accept(reply, 334, SmtpError::LoginRefused)?;
            self.command(&STANDARD.encode(&login.password)).await?
        } else {
            return Err(SmtpError::NoLogin);
        };
        accept(reply, 235, SmtpError::LoginRefused).map(drop)
    }

    pub(super) async fn deliver(&mut self, message: &Message) -> Result<(), SmtpError> {
        let reply = self.command(&format!("MAIL FROM:<{}>", message.from.address())).await?;
        accept(reply, 250, SmtpError::SenderRefused)?;
        let reply = self.command(&format!("RCPT TO:<{}>", message.to)).await?;
        let code = if reply.code == 251 { 251 } else { 250 };
        accept(reply, code, SmtpError::RecipientRefused)?;
        let reply = self.command("DATA").await?;
        accept(reply, 354, SmtpError::MessageRefused)?;
        // A line that begins with a dot gets another one, so that none of them ends the message.
        let text = message.write();
        let lines = text.strip_suffix("\r\n").unwrap_or(&text).split("\r\n");
        let stuffed: Vec<String> = lines
            .map(|it| if it.starts_with('.') { format!(".{it}") } else { it.to_owned() })
            .collect();
        let reply = self.command(&format!("{}\r\n.", stuffed.join("\r\n"))).await?;
        accept(reply, 250, SmtpError::MessageRefused).map(drop)
    }

    /// Ends the session. A server that does not answer is left.
    pub(super) async fn quit(mut self) {
        let _ = timeout(QUIT_MAX, self.command("QUIT")).await;
    }

    async fn command(&mut self, line: &str) -> Result<Reply, SmtpError> {
        let sent = async {
            self.stream.write_all(format!("{line}\r\n").as_bytes()).await?;
            self.stream.flush().await
        };
        sent.await.map_err(|_| SmtpError::Broken)?;
        replies::read(&mut self.stream).await
    }
}

/// The reply if it has this code. Other codes refuse for now, or for good for the given reason.
fn accept(
    reply: Reply,
    code: u16,
    refused: impl Fn(String) -> SmtpError,
) -> Result<Reply, SmtpError> {
    match reply.code {
        found if found == code => Ok(reply),
        _ if reply.is_temporary() => Err(SmtpError::RefusedForNow(reply.shown())),
        _ => Err(refused(reply.shown())),
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Encrypted(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Encrypted(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
