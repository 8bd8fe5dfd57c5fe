//! A simulated mail server: it takes messages without encryption or login, and refuses or hangs up as a test asks.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use net::{Mailbox, Security, SmtpClient, SmtpSettings};
use service::platform::mail_queue::Mailer;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub struct SmtpServer {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    messages: Vec<ReceivedMail>,
    faults: VecDeque<(&'static str, &'static str)>,
    connections: usize,
}

/// A message that the server took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMail {
    pub to: String,
    /// Headers and body as they arrived.
    pub raw: String,
}

impl ReceivedMail {
    /// The text, decoded.
    pub fn text(&self) -> String {
        let body = self.raw.split_once("\r\n\r\n").map_or("", |it| it.1);
        body.replace("=\r\n", "").replace("=3D", "=").replace("\r\n", "\n")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let head = self.raw.split_once("\r\n\r\n")?.0;
        head.split("\r\n").find_map(|it| it.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The address in the text that begins with this.
    pub fn link(&self, beginning: &str) -> Option<String> {
        self.text().split_whitespace().find(|it| it.starts_with(beginning)).map(str::to_owned)
    }
}

impl SmtpServer {
    pub const PUBLIC_URL: &str = "https://money.example.com";

    pub async fn start() -> SmtpServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        tokio::spawn(serve(listener, state.clone()));
        SmtpServer { port, state }
    }

    /// Sends through this server.
    pub fn mailer(&self) -> Mailer {
        let settings = SmtpSettings {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            security: Security::None,
            login: None,
            own_name: "money.example.com".to_owned(),
        };
        let client = SmtpClient::new(settings, None).unwrap();
        Mailer {
            client: client.with_exchange_max(Duration::from_secs(60)),
            from: Mailbox::parse("Evenkeel <money@example.com>").unwrap(),
            public_url: SmtpServer::PUBLIC_URL.to_owned(),
        }
    }

    /// The next command that begins with this gets this reply. An empty reply closes the connection.
    pub fn fail_next(&self, command: &'static str, reply: &'static str) {
        self.state.lock().unwrap().faults.push_back((command, reply));
    }

    pub fn messages(&self) -> Vec<ReceivedMail> {
        self.state.lock().unwrap().messages.clone()
    }

    pub fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) -> Infallible {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        state.lock().unwrap().connections += 1;
        tokio::spawn(converse(stream, state.clone()));
    }
}

/// Speaks with one client; none when the connection ends.
async fn converse(stream: TcpStream, state: Arc<Mutex<State>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 ready\r\n").await.ok()?;
    let mut to = String::new();
    loop {
        let line = read_line(&mut stream).await?;
        let fault = {
            let mut state = state.lock().unwrap();
            let found = state.faults.iter().position(|it| line.starts_with(it.0));
            found.and_then(|it| state.faults.remove(it)).map(|it| it.1)
        };
        let reply = match (fault, line.split_whitespace().next()) {
            (Some(""), _) => return None,
            (Some(reply), _) => reply.to_owned(),
            (None, Some("EHLO")) => "250-localhost\r\n250 8BITMIME".to_owned(),
            (None, Some("RCPT")) => {
                to = line.trim_start_matches("RCPT TO:<").trim_end_matches('>').to_owned();
                "250 ok".to_owned()
            }
            (None, Some("DATA")) => {
                stream.write_all(b"354 go on\r\n").await.ok()?;
                let raw = read_message(&mut stream).await?;
                state.lock().unwrap().messages.push(ReceivedMail { to: to.clone(), raw });
                "250 taken".to_owned()
            }
            (None, Some("QUIT")) => "221 bye".to_owned(),
            _ => "250 ok".to_owned(),
        };
        stream.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
    }
}

async fn read_message(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut lines = Vec::new();
    loop {
        match read_line(stream).await?.as_str() {
            "." => return Some(lines.join("\r\n")),
            line => lines.push(line.strip_prefix('.').unwrap_or(line).to_owned()),
        }
    }
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}
