//! A TCP proxy to PostgreSQL whose connections a test can cut, silence and restore.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Proxy {
    port: u16,
    link: watch::Sender<Link>,
    /// How many more messages to the server are passed on.
    messages_left: Arc<AtomicI64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Up,
    Cut,
    Silent,
}

impl Proxy {
    /// Starts a proxy to the server of a `postgres://` URL, and returns the URL through the proxy.
    pub async fn to(url: &str) -> (Proxy, String) {
        let (_, rest) = url.split_once("://").unwrap();
        let (address, path) = rest.split_once('/').unwrap();
        let (user, server) = address.rsplit_once('@').unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (link, watched) = watch::channel(Link::Up);
        let messages_left = Arc::new(AtomicI64::new(i64::MAX));
        let target = Target {
            server: server.to_owned(),
            link: link.clone(),
            messages_left: messages_left.clone(),
        };
        tokio::spawn(listen(listener, target, watched));
        (Proxy { port, link, messages_left }, format!("postgres://{user}@127.0.0.1:{port}/{path}"))
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Closes every connection, and every new one immediately.
    pub fn cut(&self) {
        self.link.send_replace(Link::Cut);
    }

    /// Keeps every connection open but passes nothing on. Existing connections stay silent forever.
    pub fn silence(&self) {
        self.link.send_replace(Link::Silent);
    }

    /// Passes on this many more messages to the server, over all connections, and cuts after the last one: the server
    /// executes it, and the client does not receive the answer.
    pub fn cut_after(&self, messages: i64) {
        self.messages_left.store(messages, Ordering::SeqCst);
        if messages <= 0 {
            self.cut();
        }
    }

    /// How many more messages pass before the connections are cut.
    pub fn messages_left(&self) -> i64 {
        self.messages_left.load(Ordering::SeqCst)
    }

    /// New connections work again.
    pub fn restore(&self) {
        self.messages_left.store(i64::MAX, Ordering::SeqCst);
        self.link.send_replace(Link::Up);
    }
}

#[derive(Clone)]
struct Target {
    server: String,
    link: watch::Sender<Link>,
    messages_left: Arc<AtomicI64>,
}

impl Target {
    async fn copy(&self, client: &mut TcpStream) -> std::io::Result<()> {
        let mut server = TcpStream::connect(&self.server).await?;
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let to_server_loop = async {
            let mut message = vec![0; 64 * 1024];
            loop {
                let length = from_client.read(&mut message).await?;
                if length == 0 {
                    return to_server.shutdown().await;
                }
                to_server.write_all(&message[..length]).await?;
                if self.messages_left.fetch_sub(1, Ordering::SeqCst) <= 1 {
                    self.link.send_replace(Link::Cut);
                }
            }
        };
        let to_client_loop = async {
            tokio::io::copy(&mut from_server, &mut to_client).await?;
            to_client.shutdown().await
        };
        tokio::try_join!(to_server_loop, to_client_loop).map(|_| ())
    }
}

async fn listen(listener: TcpListener, target: Target, link: watch::Receiver<Link>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(forward(client, target.clone(), link.clone()));
    }
}

async fn forward(mut client: TcpStream, target: Target, mut link: watch::Receiver<Link>) {
    let broken = async { link.wait_for(|it| *it != Link::Up).await.map(|it| *it) };
    let copying = target.copy(&mut client);
    tokio::pin!(copying);
    tokio::select! {
        biased;
        state = broken => if matches!(state, Ok(Link::Silent)) {
            // Both ends stay open, and nothing is passed on any more.
            std::future::pending().await
        },
        _ = &mut copying => {}
    }
}
