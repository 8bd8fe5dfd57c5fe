//! Column settings: shown with samples, edited, checked, and remembered.

use http::StatusCode;
use testkit::World;

use super::{TABLE, change_fields, import, robin, upload};

#[tokio::test]
async fn column_settings_are_edited_and_apply_to_the_next_file_with_the_same_columns() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "bank.csv", TABLE).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("Words: CORNER CAFE · CITY POWER · ACME PAYROLL"), "{page}");
    let page = change_fields(&mut browser, &at, &[("column_description", "t:Extra")]).await;
    assert!(page.contains("<td class=\"what\">three"), "{page}");
    assert!(page.contains("Using your column settings below."), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let next = TABLE.replace("2026-02", "2026-03").replace("one", "four");
    let at = upload(&mut browser, "bank.csv", &next).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("from an earlier file"), "{page}");
    assert!(page.contains("<td class=\"what\">four"), "{page}");
    // Equal columns do not prove that it is the same account.
    assert!(page.contains("A file like it went into this account before"), "{page}");
}

#[tokio::test]
async fn an_invalid_mapping_is_reported_and_other_choices_are_kept() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "bank.csv", TABLE).await;
    let changes = [("name_0", "Holidays"), ("kind_0", "credit"), ("column_description", "t:Extra")];
    change_fields(&mut browser, &at, &changes).await;
    let page =
        change_fields(&mut browser, &at, &[("column_amount", ""), ("sign", "positive")]).await;
    assert!(page.contains("We can't read the file with these columns."), "{page}");
    assert!(page.contains("<p class=\"wrong\">Choose the column with the amount"), "{page}");
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Fix the column settings below first"), "{}", refused.text);
    let page = change_fields(&mut browser, &at, &[("column_amount", "t:Words")]).await;
    assert!(page.contains("3 lines can't be read"), "{page}");
    let page = change_fields(&mut browser, &at, &[("column_amount", "t:Moved")]).await;
    for text in ["value=\"Holidays\"", "<td class=\"what\">one", "+$12.50", "\"credit\" selected"] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[tokio::test]
async fn changed_columns_are_previewed_before_they_are_imported() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "bank.csv", TABLE).await;
    let shown = import(&mut browser, &at, &[("column_description", "t:Extra")]).await;
    assert_eq!(shown.status, StatusCode::BAD_REQUEST);
    assert!(shown.text.contains("Review the rows"), "{}", shown.text);
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
}

#[tokio::test]
async fn settings_of_header_lines_are_remembered_for_similar_files() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "bank.csv", TABLE).await;
    // The first row is then read as the titles.
    let bare = [("has_header", "1"), ("skip_lines", "1")];
    let page = change_fields(&mut browser, &at, &bare).await;
    assert!(page.contains("is chosen as Date"), "{page}");
    let columns = [
        ("column_date", "n:1"),
        ("column_amount", "n:2"),
        ("column_description", "n:3"),
        ("column_balance", ""),
        ("sign", "negative"),
    ];
    let page = change_fields(&mut browser, &at, &columns).await;
    assert!(page.contains("CITY POWER") && !page.contains("<td class=\"what\">CORNER"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let at = upload(&mut browser, "bank.csv", &TABLE.replace("2026-02", "2026-03")).await;
    assert!(browser.get(&at).await.good().contains("from an earlier file"));
}

#[tokio::test]
async fn the_columns_of_a_bank_can_be_chosen_by_its_name() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let table = "Transaction Date,Post Date,Description,Category,Type,Amount,Memo\n\
        02/13/2026,02/14/2026,CORNER CAFE,Food,Sale,-12.50,\n";
    let at = upload(&mut browser, "card.csv", table).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("Recognized as Chase card ("), "{page}");
    let page = change_fields(&mut browser, &at, &[("preset", "American Express")]).await;
    assert!(page.contains("Using your column settings below."), "{page}");
    let page = change_fields(&mut browser, &at, &[("preset", "Chase card")]).await;
    assert!(page.contains("<td class=\"what\">CORNER CAFE"), "{page}");
    assert!(
        change_fields(&mut browser, &at, &[("preset", "No such bank")])
            .await
            .contains("CORNER CAFE")
    );
    // Settings that are kept as detected need no second preview.
    let at = upload(&mut browser, "card.csv", table).await;
    assert!(change_fields(&mut browser, &at, &[]).await.contains("Recognized as Chase card ("));
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
}

#[tokio::test]
async fn hidden_amounts_are_nowhere_in_the_preview() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "bank.csv", TABLE).await;
    browser.post("/view", &[("hide", "1"), ("next", "/")]).await;
    let page = browser.get(&at).await.good();
    assert!(
        page.contains("$•••") && !page.contains("12.50 ·") && !page.contains("80.00"),
        "{page}"
    );
}

#[tokio::test]
async fn settings_of_one_account_do_not_apply_to_another() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "bank.csv", TABLE).await;
    change_fields(&mut browser, &at, &[("name_0", "Holidays"), ("sign", "negative")]).await;
    // With a column of account names the rows belong to three accounts, none of which has settings.
    let page = change_fields(&mut browser, &at, &[("column_account_name", "t:Extra")]).await;
    assert_eq!(page.matches("class=\"destination\"").count(), 3, "{page}");
    assert!(!page.contains("Holidays") && page.contains("Rows of three"), "{page}");
}
