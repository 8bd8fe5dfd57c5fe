//! Waits for statements that may take minutes. If the answer of one is lost, the process would notice only when the
//! time limit is over, and hold the locks and leases of the transaction until then. So another connection asks the server
//! now and then whether it still executes the statement. That connection is opened for each question, and does not count
//! toward the connections that the process may keep.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio_postgres::SimpleQueryMessage;

use super::address::{ANSWER_TIMEOUT, Address, CONNECT_TIMEOUT};
use super::connect::connect;
use crate::error::Result;

/// How long an answer that was sent may be on its way.
const ARRIVAL_MAX: Duration = Duration::from_secs(5);

/// Waits for an answer of this server process, up to the timeout, or until the server has nothing more to do for it.
pub(super) async fn wait<T>(
    address: &Address,
    process: i32,
    timeout: Duration,
    answer: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let mut answer = pin!(answer);
    let waiting = async {
        loop {
            if let Ok(answer) = tokio::time::timeout(ANSWER_TIMEOUT, &mut answer).await {
                return Ok(answer);
            }
            let is_working = tokio::select! {
                answer = &mut answer => return Ok(answer),
                is_working = is_working(address, process) => is_working,
            };
            if is_working == Some(false) {
                return tokio::time::timeout(ARRIVAL_MAX, &mut answer).await;
            }
        }
    };
    tokio::time::timeout(timeout, waiting).await?
}

/// Whether the server process of a connection is executing a statement; none if the server could not be asked. A server
/// process that waits for its client is not executing one.
async fn is_working(address: &Address, process: i32) -> Option<bool> {
    let client = connect(address, &address.config).await.ok()?;
    let sql = format!(
        "select count(*) from pg_stat_activity where pid = {process} and state = 'active'
        and wait_event is distinct from 'ClientRead'"
    );
    let asking = client.simple_query(&sql);
    let answer = tokio::time::timeout(CONNECT_TIMEOUT, asking).await.ok()?.ok()?;
    answer.iter().find_map(|it| match it {
        SimpleQueryMessage::Row(row) => row.get(0).map(|it| it != "0"),
        _ => None,
    })
}
