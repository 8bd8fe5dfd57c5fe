//! Changing selected transactions, undoing, hiding and marking one, saved filters, order, refunds and files.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use service::insights::pipeline;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::transactions::{household, id_of};
use super::{HOSTILE, assert_escaped};
use crate::browser::{Browser, encode};
use crate::client::Client;

/// The path of the undo button on a page.
fn undo_path(page: &str) -> String {
    let start = page.find("/transactions/edits/edit_").unwrap_or_else(|| panic!("{page}"));
    let end = start + page[start..].find('"').unwrap();
    page[start..end].to_owned()
}

#[tokio::test]
async fn a_bulk_edit_is_undone_from_its_message_and_from_the_page_of_edits() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "kroger").await.to_string();
    let next = ("next", "/transactions?q=kroger");
    let change = [next, ("id", id.as_str()), ("add_tags", "work"), ("note", HOSTILE)];
    let page = browser.submit("/transactions/bulk", &change).await.good();
    assert!(page.contains("1 transaction changed.") && page.contains("#work"), "{page}");
    assert_escaped(&page);
    let page = browser.submit(&undo_path(&page), &[next]).await.good();
    assert!(page.contains("Undone. 1 transaction restored.") && !page.contains("#work"), "{page}");
    let marked = [next, ("id", id.as_str()), ("transfer", "transfer")];
    let page = browser.submit("/transactions/bulk", &marked).await.good();
    assert!(
        page.contains("1 transaction changed.") && page.contains("class=\"transfer\""),
        "{page}"
    );
    browser.submit(&undo_path(&page), &[next]).await.good();
    // The message and its button are shown once.
    let page = browser.get("/transactions").await.good();
    assert!(!page.contains("edits/edit_"), "{page}");
    browser.submit("/transactions/bulk", &change).await.good();
    let page = browser.get("/transactions/edits").await.good();
    assert!(page.contains("Added #work, set the note") && page.contains("Undone"), "{page}");
    let note = [("note", "later"), ("tags", "work")];
    browser.submit(&format!("/transactions/{id}/note"), &note).await.good();
    let refused = browser.submit(&undo_path(&page), &[]).await.good();
    assert!(refused.contains("This transaction has changed since"), "{refused}");
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    let theirs = other.post(&undo_path(&page), &[]).await;
    assert_eq!(theirs.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn all_of_the_page_and_all_that_match_change_together() {
    let world = World::new().await;
    let robin = world.someone().await;
    let rows = (0..60)
        .map(|it| txn("2026-03-03", -100 - it, &format!("KIOSK {it}")).id(&format!("k{it}")));
    robin.import(statement([checking("Everyday").with_all(rows)])).await;
    pipeline::run_all(&world.app).await.unwrap();
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/transactions?q=kiosk").await.good();
    assert!(page.contains("Select all 60 that match"), "{page}");
    let shown: Vec<&str> =
        page.split("name=\"shown\" value=\"").skip(1).map(|it| &it[..30]).collect();
    assert_eq!(shown.len(), 50);
    let mut fields = vec![("page", "yes"), ("category", "TRAVEL_FLIGHTS")];
    fields.extend(shown.iter().map(|it| ("shown", *it)));
    let page = browser.submit("/transactions/bulk", &fields).await.good();
    assert!(page.contains("50 transactions set to Flights."), "{page}");
    let all = |matching| {
        [("all", "yes"), ("query", "?q=kiosk"), ("matching", matching), ("visibility", "hidden")]
    };
    let page = browser.submit("/transactions/bulk", &all("59")).await.good();
    assert!(
        page.contains("60 transactions match now, not 59. Check the list and try again."),
        "{page}"
    );
    let page = browser.submit("/transactions/bulk", &all("60")).await.good();
    assert!(page.contains("60 transactions hidden."), "{page}");
    let page = browser.submit(&undo_path(&page), &[]).await.good();
    assert!(page.contains("60 transactions restored."), "{page}");
}

#[tokio::test]
async fn one_transaction_is_hidden_shown_and_marked_as_a_transfer() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "kroger").await;
    let path = format!("/transactions/{id}");
    let page = browser.submit(&format!("{path}/visibility"), &[("is", "hidden")]).await.good();
    assert!(page.contains("You hid this transaction") && page.contains("Show this transaction"));
    assert!(!browser.get("/transactions").await.good().contains("KROGER"));
    let listed = browser.get("/transactions?status=hidden").await.good();
    assert!(listed.contains("KROGER"), "{listed}");
    let page = browser.submit(&undo_path(&page), &[("next", &path)]).await.good();
    assert!(page.contains("Hide this transaction"), "{page}");
    let page = browser.submit(&format!("{path}/mark"), &[("is", "transfer")]).await.good();
    assert!(page.contains("You marked this as a transfer"), "{page}");
    let page = browser.submit(&format!("{path}/mark"), &[("is", "")]).await.good();
    assert!(page.contains("Mark as transfer"), "{page}");
    for (action, is) in [("visibility", "odd"), ("mark", "odd")] {
        let refused = browser.post(&format!("{path}/{action}"), &[("is", is)]).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn filters_are_saved_used_and_deleted() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/transactions?q=kroger+last+month&sort=largest").await.good();
    assert!(page.contains("Save this filter"), "{page}");
    let fields = [("name", HOSTILE), ("query", "?q=kroger+2026&sort=largest&evil=1")];
    let page = browser.submit("/transactions/filters", &fields).await.good();
    assert_escaped(&page);
    assert!(page.contains("KROGER") && !page.contains("Save this filter"), "{page}");
    let list = browser.get("/transactions").await.good();
    assert!(list.contains("href=\"/transactions?q=kroger%202026&amp;sort=largest\""), "{list}");
    assert!(!list.contains("evil"), "{list}");
    let page = browser.get("/transactions/filters").await.good();
    assert_escaped(&page);
    assert!(page.contains("<span class=\"soft\">“kroger 2026”</span>"), "{page}");
    let start = page.find("/transactions/filters/flt_").unwrap();
    let delete = page[start..start + page[start..].find('"').unwrap()].to_owned();
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    assert_eq!(other.post(&delete, &[]).await.status, StatusCode::NOT_FOUND);
    assert!(!other.get("/transactions/filters").await.good().contains("flt_"));
    let page = browser.submit(&delete, &[]).await.good();
    assert!(page.contains("No saved filters yet"), "{page}");
    for (name, query, message) in [
        ("", "?q=a", "Name must have 1 to 40 characters"),
        ("A", "", "Filter the list first"),
        ("A", "?status=odd", "Filter the list first"),
    ] {
        let fields = [("name", name), ("query", query)];
        let page = browser.submit("/transactions/filters", &fields).await.good();
        assert!(page.contains(message), "{message}\n{page}");
    }
}

#[tokio::test]
async fn the_list_is_sorted_by_date_or_amount() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let mut order = async |query: &str| {
        let page = browser.get(&format!("/transactions?{query}")).await.good();
        let names = ["PAYROLL", "TO SAVINGS", "KROGER", "Corner"];
        let mut found: Vec<(usize, &str)> =
            names.iter().filter_map(|it| Some((page.find(*it)?, *it))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, it)| it).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(order("sort=oldest").await, "PAYROLL, TO SAVINGS, KROGER, Corner");
    assert_eq!(order("sort=largest").await, "PAYROLL, TO SAVINGS, KROGER, Corner");
    assert_eq!(order("sort=smallest").await, "Corner, KROGER, TO SAVINGS, PAYROLL");
    assert_eq!(order("sort=smallest&q=r").await, "Corner, KROGER, TO SAVINGS, PAYROLL");
    assert_eq!(order("sort=largest&q=kro").await, "KROGER");
    let odd = browser.get("/transactions?sort=odd").await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_refund_is_linked_to_its_purchase_and_unlinked() {
    let world = World::new().await;
    let robin = household(&world).await;
    let back = txn("2026-03-06", 4_210, "QXB RETURNS").id("back");
    robin.import(statement([checking("Everyday").with(back)])).await;
    pipeline::run_all(&world.app).await.unwrap();
    let mut browser = Browser::of(&world, &robin).await;
    let refund = id_of(&world, &robin, "qxb").await;
    let purchase = id_of(&world, &robin, "kroger").await.to_string();
    let path = format!("/transactions/{refund}");
    assert!(browser.get(&path).await.good().contains("Link to the purchase it refunds"));
    let page = browser.get(&format!("{path}/refund")).await.good();
    assert!(page.contains("Likely purchases") && page.contains("Kroger"), "{page}");
    let none = browser.get(&format!("{path}/refund?q={}", encode(HOSTILE))).await.good();
    assert_escaped(&none);
    assert!(none.contains("No purchases found"), "{none}");
    let found = browser.get(&format!("{path}/refund?q=kroger")).await.good();
    assert!(found.contains(&purchase), "{found}");
    let linked = browser.submit(&format!("{path}/refund"), &[("purchase", &purchase)]).await.good();
    assert!(linked.contains("Refund of") && linked.contains("Remove link"), "{linked}");
    let client = Client::of(&world, &robin).await;
    let of_refund = client.get(&format!("/v1{path}")).await.data();
    assert_eq!(of_refund["refund_of"], json!(purchase));
    assert_eq!((&of_refund["refunds"], &of_refund["id"]), (&json!([]), &json!(refund.to_string())));
    let of_purchase = client.get(&format!("/v1/transactions/{purchase}")).await.data();
    assert_eq!(of_purchase["refund_of"], Value::Null);
    assert_eq!(of_purchase["refunds"], json!([refund.to_string()]));
    let page = browser.get(&format!("/transactions/{purchase}")).await.good();
    assert!(page.contains("Refunded"), "{page}");
    let page = browser.submit(&format!("{path}/unlink"), &[]).await.good();
    assert!(page.contains("Link to the purchase it refunds"), "{page}");
    let odd = browser.get(&format!("/transactions/{purchase}/refund")).await;
    assert_eq!(odd.status, StatusCode::NOT_FOUND, "a purchase is no refund");
    let itself = [("purchase", refund.to_string())];
    let itself = [(itself[0].0, itself[0].1.as_str())];
    let refused = browser.post(&format!("{path}/refund"), &itself).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn files_are_attached_and_only_ever_downloaded() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "kroger").await;
    let path = format!("/transactions/{id}");
    let token = browser.form_token();
    let sent = browser
        .upload(&format!("{path}/attachments"), &token, "receipt.pdf", b"%PDF-1.7 mine")
        .await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER);
    let page = browser.get(&path).await.good();
    let start = page.find(&format!("{path}/attachments/doc_")).unwrap_or_else(|| panic!("{page}"));
    let file = page[start..start + page[start..].find('"').unwrap()].to_owned();
    let download = browser.get(&file).await;
    assert_eq!(
        (download.status, download.bytes.as_slice()),
        (StatusCode::OK, &b"%PDF-1.7 mine"[..])
    );
    assert!(download.header("content-disposition").starts_with("attachment; filename=\""));
    assert_eq!(download.header("x-content-type-options"), "nosniff");
    assert!(download.header("content-security-policy").contains("sandbox"));
    assert_eq!(download.header("content-type"), "application/pdf");
    assert_eq!(download.header("cache-control"), "private, no-store");
    let html = browser.upload(&format!("{path}/attachments"), &token, "a.pdf", b"<script>").await;
    assert_eq!(html.status, StatusCode::SEE_OTHER);
    let page = browser.get(&path).await.good();
    assert!(page.contains("was not attached. The file must be a PDF"), "{page}");
    let forged = browser.upload(&format!("{path}/attachments"), "odd", "a.pdf", b"%PDF-1.7").await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    assert_eq!(other.get(&file).await.status, StatusCode::NOT_FOUND);
    let stolen = other.post(&format!("{file}/delete"), &[]).await;
    assert_eq!(stolen.status, StatusCode::NOT_FOUND);
    let page = browser.submit(&format!("{file}/delete"), &[]).await.good();
    assert!(page.contains("File deleted.") && !page.contains("attachments/doc_"), "{page}");
    let anonymous = Browser::new(&world).send(Method::GET, &file, String::new()).await;
    assert_eq!(anonymous.status, StatusCode::SEE_OTHER);
}
