//! A wire to a server that a test can cut, silence and mend.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Proxy {
    port: u16,
    line: watch::Sender<Line>,
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
        tokio::spawn(listen(listener, server.to_owned(), watched));
        (Proxy { port, line }, format!("postgres://{user}@127.0.0.1:{port}/{path}"))
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

    /// New connections work again.
    pub fn mend(&self) {
        self.line.send_replace(Line::Whole);
    }
}

async fn listen(listener: TcpListener, server: String, line: watch::Receiver<Line>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(carry(client, server.clone(), line.clone()));
    }
}

async fn carry(mut client: TcpStream, server: String, mut line: watch::Receiver<Line>) {
    let broken = async { line.wait_for(|it| *it != Line::Whole).await.map(|it| *it) };
    let copying = async {
        let mut upstream = TcpStream::connect(&server).await?;
        copy_bidirectional(&mut client, &mut upstream).await
    };
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
