//! One database belongs to one installation.

use base::Entropy;
use service::platform::installation::{Key, claim};
use testkit::World;

use crate::param;

#[tokio::test]
async fn the_first_key_is_kept_and_another_is_refused() {
    let world = World::new().await;
    let (ours, other) = (Key::generate(&Entropy::seeded(1)), Key::generate(&Entropy::seeded(2)));
    for _ in 0..2 {
        claim(&world.app.db, &ours).await.unwrap();
    }
    assert_eq!(param(claim(&world.app.db, &other).await), "installation_key");
    claim(&world.app.db, &ours).await.unwrap();
}

#[tokio::test]
async fn of_two_concurrent_first_claims_one_succeeds() {
    let world = World::new().await;
    let (ours, other) = (Key::generate(&Entropy::seeded(1)), Key::generate(&Entropy::seeded(2)));
    let other_process = world.other_process().await;
    let (one, two) = tokio::join!(claim(&world.app.db, &ours), claim(&other_process.db, &other));
    assert_ne!(one.is_ok(), two.is_ok());
}

#[tokio::test]
async fn the_key_itself_is_not_in_the_database() {
    let world = World::new().await;
    let key = Key::generate(&Entropy::seeded(3));
    claim(&world.app.db, &key).await.unwrap();
    let stored = world.stored().await;
    assert_eq!(stored["installation"].len(), 1);
    assert!(!format!("{stored:?}").contains(&key.to_hex()[..16]));
}

#[test]
fn a_key_round_trips_through_its_text_and_other_text_is_refused() {
    let key = Key::generate(&Entropy::seeded(4));
    let text = key.to_hex();
    assert_eq!(Key::parse(&format!(" {text}\n")).unwrap().to_hex(), text);
    for bad in ["", "00", &text[1..], &format!("{text}00"), &text.replace('a', "g"), "é"] {
        assert!(bad == text || Key::parse(bad).is_none(), "{bad}");
    }
    assert_ne!(key.derive("cursors"), key.derive("secrets"));
}
