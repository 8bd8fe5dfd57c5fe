//! Tests of the pool of connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::time::advance;

use super::{CONNECTIONS_PER_SCOPE, CONNECTIONS_TOTAL, Pool, PoolKey};
use crate::connection::Connection;
use crate::guard::Guard;
use crate::read_budget::ReadBudget;

fn key(scope: &str, origin: &str) -> PoolKey {
    PoolKey { scope: scope.to_owned(), origin: origin.into() }
}

/// A connection to a host that is identified by its port, and the other end of it.
async fn connection(port: u16) -> (Connection, DuplexStream) {
    let (near, far) = tokio::io::duplex(64);
    let peer = SocketAddr::from(([192, 168, 1, 1], port));
    (Connection::start(near, false, peer, ReadBudget::new(0)).await.unwrap(), far)
}

async fn put(pool: &Arc<Pool>, key: &PoolKey, port: u16) -> DuplexStream {
    let (connection, far) = connection(port).await;
    pool.put(key, connection);
    far
}

fn take(pool: &Pool, key: &PoolKey) -> Option<u16> {
    pool.take(key, &Guard::Any).map(|it| it.peer.port())
}

#[tokio::test(start_paused = true)]
async fn the_most_recently_used_connection_is_taken_first_and_only_for_its_key() {
    let pool = Arc::<Pool>::default();
    let here = key("a", "https://a");
    let _far = (put(&pool, &here, 1).await, put(&pool, &here, 2).await);
    let _elsewhere = put(&pool, &key("a", "https://b"), 3).await;
    assert_eq!(take(&pool, &key("b", "https://a")), None);
    assert_eq!(take(&pool, &key("a", "https://c")), None);
    assert_eq!(take(&pool, &here), Some(2));
    assert_eq!(take(&pool, &here), Some(1));
    assert_eq!(take(&pool, &here), None);
    assert_eq!(take(&pool, &key("a", "https://b")), Some(3));
    assert_eq!(pool.scopes().connections, 0);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_server_closed_is_skipped() {
    let pool = Arc::<Pool>::default();
    let here = key("a", "https://a");
    let _open = put(&pool, &here, 1).await;
    drop(put(&pool, &here, 2).await);
    assert_eq!(take(&pool, &here), Some(1));
    assert_eq!(take(&pool, &here), None);
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_an_unsolicited_response_is_skipped() {
    use tokio::io::AsyncWriteExt as _;
    let pool = Arc::<Pool>::default();
    let here = key("a", "https://a");
    let mut far = put(&pool, &here, 1).await;
    far.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    assert_eq!(take(&pool, &here), None);
}

#[tokio::test(start_paused = true)]
async fn a_connection_to_an_address_that_is_no_longer_allowed_is_dropped() {
    let pool = Arc::<Pool>::default();
    let here = key("a", "https://a");
    let _far = (put(&pool, &here, 1).await, put(&pool, &here, 2).await);
    let listed = Guard::Public { allow: vec!["192.168.1.1".parse().unwrap()] };
    assert!(pool.take(&here, &listed).is_some());
    assert!(pool.take(&here, &Guard::Public { allow: Vec::new() }).is_none());
    assert_eq!(take(&pool, &here), None, "the connection was dropped");
}

#[tokio::test(start_paused = true)]
async fn a_connection_expires_after_thirty_idle_seconds() {
    let pool = Arc::<Pool>::default();
    let here = key("a", "https://a");
    let _far = (put(&pool, &here, 1).await, put(&pool, &here, 2).await);
    advance(Duration::from_millis(29_999)).await;
    assert_eq!(take(&pool, &here), Some(2));
    advance(Duration::from_millis(1)).await;
    assert_eq!(take(&pool, &here), None);
}

#[tokio::test(start_paused = true)]
async fn a_connection_expires_after_a_minute_even_if_it_is_busy() {
    let pool = Arc::<Pool>::default();
    let here = key("a", "https://a");
    let _far = put(&pool, &here, 1).await;
    for _ in 0..2 {
        advance(Duration::from_secs(29)).await;
        let connection = pool.take(&here, &Guard::Any).unwrap();
        pool.put(&here, connection);
    }
    advance(Duration::from_millis(1_999)).await;
    let connection = pool.take(&here, &Guard::Any).unwrap();
    advance(Duration::from_millis(1)).await;
    pool.put(&here, connection);
    assert_eq!(pool.scopes().connections, 0);
}

#[tokio::test(start_paused = true)]
async fn expired_connections_and_empty_scopes_are_removed() {
    use tokio::io::AsyncReadExt as _;
    let pool = Arc::<Pool>::default();
    let mut far = put(&pool, &key("a", "https://a"), 1).await;
    let opening = pool.opening("b");
    tokio::time::sleep(Duration::from_secs(36)).await;
    assert_eq!(far.read(&mut [0]).await.unwrap(), 0, "closed from our side");
    assert!(Arc::ptr_eq(&opening, &pool.opening("b")), "a request still waits in this scope");
    assert_eq!(pool.scopes().by_name.len(), 1);
    drop(opening);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(pool.scopes().by_name.is_empty() && !pool.scopes().is_sweeping);
}

#[tokio::test(start_paused = true)]
async fn a_full_scope_drops_its_least_recently_used_connection() {
    let pool = Arc::<Pool>::default();
    let here = key("a", "https://a");
    let mut far = Vec::new();
    for port in 0..=u16::try_from(CONNECTIONS_PER_SCOPE).unwrap() {
        far.push(put(&pool, &here, port).await);
    }
    assert_eq!(pool.scopes().connections, CONNECTIONS_PER_SCOPE);
    let mut ports = std::iter::from_fn(|| take(&pool, &here));
    assert_eq!(ports.next(), Some(u16::try_from(CONNECTIONS_PER_SCOPE).unwrap()));
    assert_eq!(ports.last(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_drops_its_least_recently_used_connection() {
    let pool = Arc::<Pool>::default();
    let mut far = Vec::new();
    for port in 0..u16::try_from(CONNECTIONS_TOTAL).unwrap() {
        advance(Duration::from_millis(1)).await;
        far.push(put(&pool, &key(&port.to_string(), "https://a"), port).await);
    }
    assert_eq!(pool.scopes().connections, CONNECTIONS_TOTAL);
    // The first is used again, so it is no longer the least recently used.
    let first = key("0", "https://a");
    let connection = pool.take(&first, &Guard::Any).unwrap();
    pool.put(&first, connection);
    advance(Duration::from_millis(1)).await;
    far.push(put(&pool, &key("new", "https://a"), 9_999).await);
    assert_eq!(pool.scopes().connections, CONNECTIONS_TOTAL);
    assert_eq!(take(&pool, &key("1", "https://a")), None);
    for (scope, port) in [("0", 0), ("2", 2), ("new", 9_999)] {
        assert_eq!(take(&pool, &key(scope, "https://a")), Some(port));
    }
}
