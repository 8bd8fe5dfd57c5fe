//! A TCP proxy to PostgreSQL whose connections a test can cut, silence, slow down and restore.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Proxy {
    port: u16,
    link: watch::Sender<Link>,
    /// How many more messages to the server are passed on.
    messages_left: Arc<AtomicI64>,
    delay_millis: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Up,
    Cut,
    Silent,
    AnswersLost,
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
        let delay_millis = Arc::new(AtomicU64::new(0));
        let target = Target {
            server: server.to_owned(),
            link: link.clone(),
            messages_left: messages_left.clone(),
            delay_millis: delay_millis.clone(),
        };
        tokio::spawn(listen(listener, target, watched));
        let url = format!("postgres://{user}@127.0.0.1:{port}/{path}");
        (Proxy { port, link, messages_left, delay_millis }, url)
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

    /// Passes messages on to the server, which executes them, but no answers back. Connections that lost an answer stay
    /// silent forever.
    pub fn lose_answers(&self) {
        self.link.send_replace(Link::AnswersLost);
    }

    /// Delays each message by this time, in both directions.
    pub fn slow_down(&self, delay: Duration) {
        let millis = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        self.delay_millis.store(millis, Ordering::SeqCst);
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

    /// New connections work again, without delay.
    pub fn restore(&self) {
        self.delay_millis.store(0, Ordering::SeqCst);
        self.messages_left.store(i64::MAX, Ordering::SeqCst);
        self.link.send_replace(Link::Up);
    }
}

#[derive(Clone)]
struct Target {
    server: String,
    link: watch::Sender<Link>,
    messages_left: Arc<AtomicI64>,
    delay_millis: Arc<AtomicU64>,
}

impl Target {
    async fn delay(&self) {
        let millis = self.delay_millis.load(Ordering::SeqCst);
        if millis > 0 {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
    }

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
                self.delay().await;
                to_server.write_all(&message[..length]).await?;
                if self.messages_left.fetch_sub(1, Ordering::SeqCst) <= 1 {
                    self.link.send_replace(Link::Cut);
                }
            }
        };
        let to_client_loop = async {
            let (mut message, mut is_lost) = (vec![0; 64 * 1024], false);
            loop {
                let length = from_server.read(&mut message).await?;
                if length == 0 {
                    return to_client.shutdown().await;
                }
                self.delay().await;
                is_lost |= *self.link.borrow() == Link::AnswersLost;
                if !is_lost {
                    to_client.write_all(&message[..length]).await?;
                }
            }
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
    let is_broken = |it: &Link| matches!(it, Link::Cut | Link::Silent);
    let broken = async { link.wait_for(is_broken).await.map(|it| *it) };
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
