//! Profile images: small images, at an address that cannot be guessed.

use service::access::images::{self, Image, MediaType};
use service::access::users;
use testkit::{World, new_key};

use crate::{is_not_found, param};

pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let sides = [width.to_be_bytes(), height.to_be_bytes()].concat();
    [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], &sides, b"\x08\x02\0\0\0"].concat()
}

fn address(path: &str) -> &str {
    path.strip_prefix("/images/").unwrap()
}

#[tokio::test]
async fn an_image_is_found_by_its_address_until_it_is_replaced() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    let first = images::set(&world.app, &robin.caller, png(10, 10)).await.unwrap();
    let kims = images::set(&world.app, &kim.caller, png(20, 20)).await.unwrap();
    let found = images::find(&world.app, address(&first)).await.unwrap();
    assert_eq!(found, Some(Image { media_type: MediaType::Png, content: png(10, 10) }));
    let user = users::get(&world.app, &robin.caller).await.unwrap();
    assert_eq!(user.image.as_deref(), Some(first.as_str()));

    let second = images::set(&world.app, &robin.caller, png(30, 30)).await.unwrap();
    assert_ne!(first, second, "caches may keep the first image forever");
    assert_eq!(images::find(&world.app, address(&first)).await.unwrap(), None);
    images::remove(&world.app, &robin.caller).await.unwrap();
    assert_eq!(images::find(&world.app, address(&second)).await.unwrap(), None);
    assert_eq!(users::get(&world.app, &robin.caller).await.unwrap().image, None);
    is_not_found(images::remove(&world.app, &robin.caller).await);
    assert!(images::find(&world.app, address(&kims)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_file_that_is_too_large_or_not_an_image_is_refused() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut heavy = png(10, 10);
    heavy.resize(images::BYTES_MAX + 1, 0);
    let script = b"<svg onload=alert(1) xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec();
    for bad in [heavy, png(1_025, 10), png(10, 1_025), png(0, 10), script, Vec::new()] {
        let outcome = images::set(&world.app, &robin.caller, bad).await;
        assert_eq!(param(outcome), "image");
    }
    let mut largest = png(1_024, 1_024);
    largest.resize(images::BYTES_MAX, 0);
    images::set(&world.app, &robin.caller, largest).await.unwrap();
}

#[tokio::test]
async fn an_invalid_address_is_not_found_and_a_key_cannot_change_the_image() {
    let world = World::new().await;
    let robin = world.someone().await;
    images::set(&world.app, &robin.caller, png(10, 10)).await.unwrap();
    for wrong in ["", "img_", "../img_x", "img_00000000000000000000000000000000000000"] {
        assert_eq!(images::find(&world.app, wrong).await.unwrap(), None, "{wrong}");
    }
    let key = robin.key(new_key()).await;
    is_not_found(images::set(&world.app, &key.caller, png(10, 10)).await);
    is_not_found(images::remove(&world.app, &key.caller).await);
}
