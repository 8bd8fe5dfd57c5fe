//! What one process tells the others on the same PostgreSQL: that there is something to do. A hint, no more: who misses
//! it finds the work by looking.

use std::future::poll_fn;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls};

use crate::postgres::Address;
use crate::{Error, Result};

/// Names of channels belong to one database of a server.
pub(crate) const TELL: &str = "notify evenkeel_work";
const HEAR: &str = "listen evenkeel_work";
/// Between tries to reach a server that is gone.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Counts what is told, until nobody is interested any more.
pub(crate) async fn hear(address: Address, told: watch::Sender<u64>) {
    loop {
        tokio::select! {
            ended = listen(&address, &told) => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "nothing is heard from other processes for now");
                }
            }
            () = told.closed() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(TRY_AGAIN) => {}
            () = told.closed() => return,
        }
    }
}

async fn listen(address: &Address, told: &watch::Sender<u64>) -> Result<()> {
    let config = address.config();
    if let Some(tls) = address.tls().connector()? {
        let (client, connection) = config.connect(tls).await?;
        listen_on(client, connection, told).await
    } else {
        let (client, connection) = config.connect(NoTls).await?;
        listen_on(client, connection, told).await
    }
}

async fn listen_on<S, T>(
    client: Client,
    mut connection: Connection<S, T>,
    told: &watch::Sender<u64>,
) -> Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let news = || told.send_modify(|it| *it = it.wrapping_add(1));
    let asking = async {
        client.batch_execute(HEAR).await?;
        // Something may have been told while nobody was here to hear it.
        news();
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    };
    let hearing = async {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(_) = message? {
                news();
            }
        }
        Ok::<_, tokio_postgres::Error>(())
    };
    let ended = tokio::select! { it = asking => it, it = hearing => it };
    ended.map_err(Error::from)
}
