use tokio::net::TcpListener;

use super::first_open;

#[tokio::test]
async fn an_address_where_nobody_listens_does_not_hide_the_next() {
    let open = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let closed = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap();
    let addresses = [closed, open.local_addr().unwrap()];
    let (stream, address) = first_open(&addresses).await.unwrap();
    assert_eq!((stream.peer_addr().unwrap(), address), (addresses[1], addresses[1]));
    assert!(first_open(&addresses[..1]).await.is_none());
    assert!(first_open(&[]).await.is_none());
}
