use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::time::advance;

use super::{IN_ALL, PER_SCOPE, Place, Pool};
use crate::Guard;
use crate::line::Line;
use crate::meter::Meter;

fn place(scope: &str, origin: &str) -> Place {
    Place { scope: scope.to_owned(), origin: origin.into() }
}

/// A line to a host that is told by its port, and the other end of it.
async fn line(port: u16) -> (Line, DuplexStream) {
    let (near, far) = tokio::io::duplex(64);
    let peer = SocketAddr::from(([192, 168, 1, 1], port));
    (Line::over(near, false, peer, Meter::new(0)).await.unwrap(), far)
}

async fn keep(pool: &Arc<Pool>, place: &Place, port: u16) -> DuplexStream {
    let (line, far) = line(port).await;
    pool.keep(place, line);
    far
}

fn taken(pool: &Pool, place: &Place) -> Option<u16> {
    pool.take(place, &Guard::Any).map(|it| it.peer.port())
}

#[tokio::test(start_paused = true)]
async fn the_one_used_last_is_used_first_and_only_in_its_place() {
    let pool = Arc::<Pool>::default();
    let here = place("a", "https://a");
    let _far = (keep(&pool, &here, 1).await, keep(&pool, &here, 2).await);
    let _elsewhere = keep(&pool, &place("a", "https://b"), 3).await;
    assert_eq!(taken(&pool, &place("b", "https://a")), None);
    assert_eq!(taken(&pool, &place("a", "https://c")), None);
    assert_eq!(taken(&pool, &here), Some(2));
    assert_eq!(taken(&pool, &here), Some(1));
    assert_eq!(taken(&pool, &here), None);
    assert_eq!(taken(&pool, &place("a", "https://b")), Some(3));
    assert_eq!(pool.shelves().kept, 0);
}

#[tokio::test(start_paused = true)]
async fn one_that_the_other_side_has_closed_is_passed_over() {
    let pool = Arc::<Pool>::default();
    let here = place("a", "https://a");
    let _open = keep(&pool, &here, 1).await;
    drop(keep(&pool, &here, 2).await);
    assert_eq!(taken(&pool, &here), Some(1));
    assert_eq!(taken(&pool, &here), None);
}

#[tokio::test(start_paused = true)]
async fn one_on_which_somebody_speaks_unasked_is_passed_over() {
    use tokio::io::AsyncWriteExt as _;
    let pool = Arc::<Pool>::default();
    let here = place("a", "https://a");
    let mut far = keep(&pool, &here, 1).await;
    far.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    assert_eq!(taken(&pool, &here), None);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_no_longer_let_out_is_not_used_again() {
    let pool = Arc::<Pool>::default();
    let here = place("a", "https://a");
    let _far = (keep(&pool, &here, 1).await, keep(&pool, &here, 2).await);
    let listed = Guard::Public { allow: vec!["192.168.1.1".parse().unwrap()] };
    assert!(pool.take(&here, &listed).is_some());
    assert!(pool.take(&here, &Guard::Public { allow: Vec::new() }).is_none());
    assert_eq!(taken(&pool, &here), None, "it is gone for good");
}

#[tokio::test(start_paused = true)]
async fn thirty_seconds_without_use_are_enough() {
    let pool = Arc::<Pool>::default();
    let here = place("a", "https://a");
    let _far = (keep(&pool, &here, 1).await, keep(&pool, &here, 2).await);
    advance(Duration::from_millis(29_999)).await;
    assert_eq!(taken(&pool, &here), Some(2));
    advance(Duration::from_millis(1)).await;
    assert_eq!(taken(&pool, &here), None);
}

#[tokio::test(start_paused = true)]
async fn after_a_minute_a_connection_is_too_old_however_busy_it_was() {
    let pool = Arc::<Pool>::default();
    let here = place("a", "https://a");
    let _far = keep(&pool, &here, 1).await;
    for _ in 0..2 {
        advance(Duration::from_secs(29)).await;
        let line = pool.take(&here, &Guard::Any).unwrap();
        pool.keep(&here, line);
    }
    advance(Duration::from_millis(1_999)).await;
    let line = pool.take(&here, &Guard::Any).unwrap();
    advance(Duration::from_millis(1)).await;
    pool.keep(&here, line);
    assert_eq!(pool.shelves().kept, 0);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_comes_back_for_is_closed_and_forgotten() {
    use tokio::io::AsyncReadExt as _;
    let pool = Arc::<Pool>::default();
    let mut far = keep(&pool, &place("a", "https://a"), 1).await;
    let opening = pool.opening("b");
    tokio::time::sleep(Duration::from_secs(36)).await;
    assert_eq!(far.read(&mut [0]).await.unwrap(), 0, "closed from our side");
    assert!(Arc::ptr_eq(&opening, &pool.opening("b")), "somebody still waits there");
    assert_eq!(pool.shelves().by_scope.len(), 1);
    drop(opening);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(pool.shelves().by_scope.is_empty() && !pool.shelves().is_swept);
}

#[tokio::test(start_paused = true)]
async fn a_scope_keeps_no_more_than_its_share_and_gives_up_the_idlest() {
    let pool = Arc::<Pool>::default();
    let here = place("a", "https://a");
    let mut far = Vec::new();
    for port in 0..=u16::try_from(PER_SCOPE).unwrap() {
        far.push(keep(&pool, &here, port).await);
    }
    assert_eq!(pool.shelves().kept, PER_SCOPE);
    let mut ports = std::iter::from_fn(|| taken(&pool, &here));
    assert_eq!(ports.next(), Some(u16::try_from(PER_SCOPE).unwrap()));
    assert_eq!(ports.last(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn all_together_keep_no_more_than_theirs_and_give_up_the_idlest() {
    let pool = Arc::<Pool>::default();
    let mut far = Vec::new();
    for port in 0..u16::try_from(IN_ALL).unwrap() {
        advance(Duration::from_millis(1)).await;
        far.push(keep(&pool, &place(&port.to_string(), "https://a"), port).await);
    }
    assert_eq!(pool.shelves().kept, IN_ALL);
    // The first is used, and so no longer the idlest.
    let first = place("0", "https://a");
    let line = pool.take(&first, &Guard::Any).unwrap();
    pool.keep(&first, line);
    advance(Duration::from_millis(1)).await;
    far.push(keep(&pool, &place("new", "https://a"), 9_999).await);
    assert_eq!(pool.shelves().kept, IN_ALL);
    assert_eq!(taken(&pool, &place("1", "https://a")), None);
    for (scope, port) in [("0", 0), ("2", 2), ("new", 9_999)] {
        assert_eq!(taken(&pool, &place(scope, "https://a")), Some(port));
    }
}
