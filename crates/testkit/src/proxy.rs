//! A wire to a server that a test can cut, silence and mend.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Proxy {
    port: u16,
    line: watch::Sender<Line>,
    /// How many messages to the server may still pass.
    left: Arc<AtomicI64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Whole,
    Cut,
    Silent,
}

impl Proxy {
    /// To the server of a `postgres://` address.
    pub async fn to(url: &str) -> (Proxy, String) {
        let (_, rest) = url.split_once("://").unwrap();
        let (address, path) = rest.split_once('/').unwrap();
        let (user, server) = address.rsplit_once('@').unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (line, watched) = watch::channel(Line::Whole);
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let wire = Wire { server: server.to_owned(), line: line.clone(), left: left.clone() };
        tokio::spawn(listen(listener, wire, watched));
        (Proxy { port, line, left }, format!("postgres://{user}@127.0.0.1:{port}/{path}"))
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends every connection, and every new one at once.
    pub fn cut(&self) {
        self.line.send_replace(Line::Cut);
    }

    /// Keeps every connection, and says nothing on it any more: what is silent now stays so for ever.
    pub fn silence(&self) {
        self.line.send_replace(Line::Silent);
    }

    /// Lets so many more messages pass to the server, over all connections, and is cut after the last of them: the server
    /// does what it says, and nobody hears the answer.
    pub fn cut_after(&self, messages: i64) {
        self.left.store(messages, Ordering::SeqCst);
        if messages <= 0 {
            self.cut();
        }
    }

    /// How many more may pass before it is cut.
    pub fn left(&self) -> i64 {
        self.left.load(Ordering::SeqCst)
    }

    /// New connections work again.
    pub fn mend(&self) {
        self.left.store(i64::MAX, Ordering::SeqCst);
        self.line.send_replace(Line::Whole);
    }
}

#[derive(Clone)]
struct Wire {
    server: String,
    line: watch::Sender<Line>,
    left: Arc<AtomicI64>,
}

impl Wire {
    async fn carry(&self, client: &mut TcpStream) -> std::io::Result<()> {
        let mut server = TcpStream::connect(&self.server).await?;
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let asking = async {
            let mut message = vec![0; 64 * 1024];
            loop {
                let length = from_client.read(&mut message).await?;
                if length == 0 {
                    return to_server.shutdown().await;
                }
                to_server.write_all(&message[..length]).await?;
                if self.left.fetch_sub(1, Ordering::SeqCst) <= 1 {
                    self.line.send_replace(Line::Cut);
                }
            }
        };
        let answering = async {
            copy(&mut from_server, &mut to_client).await?;
            to_client.shutdown().await
        };
        tokio::try_join!(asking, answering).map(|_| ())
    }
}

async fn listen(listener: TcpListener, wire: Wire, line: watch::Receiver<Line>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(carry(client, wire.clone(), line.clone()));
    }
}

async fn carry(mut client: TcpStream, wire: Wire, mut line: watch::Receiver<Line>) {
    let broken = async { line.wait_for(|it| *it != Line::Whole).await.map(|it| *it) };
    let copying = wire.carry(&mut client);
    tokio::pin!(copying);
    tokio::select! {
        biased;
        state = broken => if matches!(state, Ok(Line::Silent)) {
            // Both ends stay open, and neither hears of the other again.
            std::future::pending().await
        },
        _ = &mut copying => {}
    }
}
