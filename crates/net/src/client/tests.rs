//! Tests of connecting to several addresses.

use tokio::net::TcpListener;

use super::connect_to_any;

#[tokio::test]
async fn the_next_address_is_tried_when_one_refuses() {
    let open = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let closed = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap();
    let addresses = [closed, open.local_addr().unwrap()];
    let (stream, address) = connect_to_any(&addresses).await.unwrap();
    assert_eq!((stream.peer_addr().unwrap(), address), (addresses[1], addresses[1]));
    assert!(connect_to_any(&addresses[..1]).await.is_none());
    assert!(connect_to_any(&[]).await.is_none());
}
