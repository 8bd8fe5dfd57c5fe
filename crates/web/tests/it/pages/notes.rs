//! Notes and tags of transactions: written on the page of a transaction, shown and found in the list.

use http::StatusCode;
use testkit::World;

use super::transactions::{household, id_of};
use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

#[tokio::test]
async fn a_note_and_tags_are_saved_shown_and_filtered_for() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    assert!(!browser.get("/transactions").await.good().contains("All tags"));
    let path = format!("/transactions/{}", id_of(&world, &robin, "KROGER").await);
    let fields = [("note", HOSTILE), ("tags", "#Party, kim"), ("back", "/transactions")];
    let page = browser.submit(&format!("{path}/note"), &fields).await.good();
    assert_escaped(&page);
    assert!(page.contains("value=\"kim party\"") && page.contains("Saved."), "{page}");
    for list in ["/transactions", "/transactions?tag=kim", "/transactions?q=%23Kim+kroger"] {
        let page = browser.get(list).await.good();
        assert_escaped(&page);
        assert!(page.contains("/transactions?tag=party") && page.contains("All tags"), "{page}");
        assert_eq!(page.contains("ACME PAYROLL"), list == "/transactions", "{list}");
    }
    let wrong = browser.get("/transactions?tag=%3Cb%3E").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("This is not a tag."), "{}", wrong.text);
    let typed = [("note", "Kept"), ("tags", "per%cent")];
    let refused = browser.post(&format!("{path}/note"), &typed).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    for part in ["Kept</textarea>", "value=\"per%cent\"", "no spaces, such as summer-trip"] {
        assert!(refused.text.contains(part), "{part}: {}", refused.text);
    }
    let csv = browser.get("/transactions.csv?tag=kim").await.good();
    assert!(csv.lines().nth(1).unwrap().ends_with(",kim party,"), "{csv}");
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    let sent = other.post(&format!("{path}/note"), &[("note", "Mine")]).await;
    assert_eq!(sent.status, StatusCode::NOT_FOUND);
}
