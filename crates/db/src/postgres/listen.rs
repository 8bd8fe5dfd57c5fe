//! Notifications between the processes on one PostgreSQL database: that there is work to do. They are only a hint; a
//! process that misses one finds the work by polling.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls};

use super::address::Address;
use crate::error::{Error, Result};

/// Channel names are local to one database of a server.
pub(super) const NOTIFY: &str =
    "select pg_notify('evenkeel_work', what) from unnest(cast($1 as text[])) what";
const LISTEN: &str = "listen evenkeel_work";
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

/// Called with the text of each notification.
pub(crate) type OnNotification = dyn Fn(&str) + Send + Sync;

/// Increments the value for each notification after calling `on_notification` with its text, and reconnects as needed,
/// until every receiver is dropped.
pub(super) async fn listen(
    address: Address,
    notifications: watch::Sender<u64>,
    on_notification: Arc<OnNotification>,
) {
    loop {
        tokio::select! {
            ended = connect_and_listen(&address, &notifications, &*on_notification) => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "listening for PostgreSQL notifications failed; reconnecting");
                }
            }
            () = notifications.closed() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(RECONNECT_AFTER) => {}
            () = notifications.closed() => return,
        }
    }
}

async fn connect_and_listen(
    address: &Address,
    notifications: &watch::Sender<u64>,
    on_notification: &OnNotification,
) -> Result<()> {
    if let Some(tls) = address.tls.connector()? {
        let (client, connection) = address.config.connect(tls).await?;
        listen_on(client, connection, notifications, on_notification).await
    } else {
        let (client, connection) = address.config.connect(NoTls).await?;
        listen_on(client, connection, notifications, on_notification).await
    }
}

async fn listen_on<S, T>(
    client: Client,
    mut connection: Connection<S, T>,
    notifications: &watch::Sender<u64>,
    on_notification: &OnNotification,
) -> Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let increment = || notifications.send_modify(|it| *it = it.wrapping_add(1));
    let subscribing = async {
        client.batch_execute(LISTEN).await?;
        // A notification may have been sent while this process was not connected.
        increment();
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    };
    let receiving = async {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(it) = message? {
                on_notification(it.payload());
                increment();
            }
        }
        Ok::<_, tokio_postgres::Error>(())
    };
    let ended = tokio::select! { it = subscribing => it, it = receiving => it };
    ended.map_err(Error::from)
}
