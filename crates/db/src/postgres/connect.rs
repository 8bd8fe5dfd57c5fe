//! Connects to a PostgreSQL server.

use tokio_postgres::{Client, Config, NoTls};

use super::address::Address;
use crate::error::{Error, Result};

/// Opens a connection to the address with this configuration.
pub(super) async fn connect(address: &Address, config: &Config) -> Result<Client> {
    let opening = async {
        if let Some(tls) = address.tls.connector()? {
            let (client, connection) = config.connect(tls).await?;
            tokio::spawn(async move { log_end(connection.await) });
            Ok::<_, Error>(client)
        } else {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(async move { log_end(connection.await) });
            Ok(client)
        }
    };
    tokio::time::timeout(address.open_timeout(), opening).await.map_err(timed_out)?
}

pub(super) fn timed_out(_: tokio::time::error::Elapsed) -> Error {
    Error::unavailable("PostgreSQL did not answer in time")
}

fn log_end(ended: Result<(), tokio_postgres::Error>) {
    if let Err(error) = ended {
        tracing::warn!(%error, "a connection to PostgreSQL ended");
    }
}
