//! Columns: shown with what is in them, edited, complained of, and remembered.

use http::StatusCode;
use testkit::World;

use super::{TABLE, dropped, import, robin, say};

#[tokio::test]
async fn columns_are_edited_and_the_next_file_with_the_same_ones_is_read_so() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = dropped(&mut browser, "bank.csv", TABLE).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("Words: CORNER CAFE · CITY POWER · ACME PAYROLL"), "{page}");
    let page = say(&mut browser, &at, &[("column_description", "t:Note")]).await;
    assert!(page.contains("<td class=\"what\">three"), "{page}");
    assert!(page.contains("Using your column settings below."), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let next = TABLE.replace("2026-02", "2026-03").replace("one", "four");
    let at = dropped(&mut browser, "bank.csv", &next).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("from an earlier file"), "{page}");
    assert!(page.contains("<td class=\"what\">four") && page.contains("3 new"), "{page}");
}

#[tokio::test]
async fn a_wrong_mapping_is_complained_of_and_no_other_choice_is_lost() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = dropped(&mut browser, "bank.csv", TABLE).await;
    let changes = [("name_0", "Holidays"), ("kind_0", "credit"), ("column_description", "t:Note")];
    say(&mut browser, &at, &changes).await;
    let page = say(&mut browser, &at, &[("column_amount", ""), ("sign", "positive")]).await;
    assert!(page.contains("We can't read the file with these columns."), "{page}");
    assert!(page.contains("<p class=\"wrong\">Choose the column with the amount"), "{page}");
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Fix the column settings below first"), "{}", refused.text);
    let page = say(&mut browser, &at, &[("column_amount", "t:Words")]).await;
    assert!(page.contains("3 lines can't be read"), "{page}");
    let page = say(&mut browser, &at, &[("column_amount", "t:Moved")]).await;
    for said in ["value=\"Holidays\"", "<td class=\"what\">one", "+$12.50", "\"credit\" selected"] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

#[tokio::test]
async fn columns_that_changed_are_looked_at_before_they_are_imported() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = dropped(&mut browser, "bank.csv", TABLE).await;
    let shown = import(&mut browser, &at, &[("column_description", "t:Note")]).await;
    assert_eq!(shown.status, StatusCode::BAD_REQUEST);
    assert!(shown.text.contains("Review the rows"), "{}", shown.text);
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
}

#[tokio::test]
async fn a_choice_of_lines_and_delimiters_is_remembered_for_what_the_file_shows_first() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = dropped(&mut browser, "bank.csv", TABLE).await;
    // The first row is taken for the titles then.
    let bare = [("has_header", "1"), ("skip_lines", "1")];
    let page = say(&mut browser, &at, &bare).await;
    assert!(page.contains("is chosen as Date"), "{page}");
    let columns = [
        ("column_date", "n:1"),
        ("column_amount", "n:2"),
        ("column_description", "n:3"),
        ("column_balance", ""),
        ("sign", "negative"),
    ];
    let page = say(&mut browser, &at, &columns).await;
    assert!(page.contains("CITY POWER") && !page.contains("<td class=\"what\">CORNER"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let at = dropped(&mut browser, "bank.csv", &TABLE.replace("2026-02", "2026-03")).await;
    assert!(browser.get(&at).await.good().contains("from an earlier file"));
}

#[tokio::test]
async fn the_columns_of_a_bank_can_be_chosen_by_its_name() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let table = "Transaction Date,Post Date,Description,Category,Type,Amount,Memo\n\
        02/13/2026,02/14/2026,CORNER CAFE,Food,Sale,-12.50,\n";
    let at = dropped(&mut browser, "card.csv", table).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("Recognized as Chase card ("), "{page}");
    let page = say(&mut browser, &at, &[("preset", "American Express")]).await;
    assert!(page.contains("Using your column settings below."), "{page}");
    let page = say(&mut browser, &at, &[("preset", "Chase card")]).await;
    assert!(page.contains("<td class=\"what\">CORNER CAFE"), "{page}");
    assert!(say(&mut browser, &at, &[("preset", "No such bank")]).await.contains("CORNER CAFE"));
    // Whoever agrees with what was found out has nothing to look at twice.
    let at = dropped(&mut browser, "card.csv", table).await;
    assert!(say(&mut browser, &at, &[]).await.contains("Recognized as Chase card ("));
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
}

#[tokio::test]
async fn hidden_amounts_are_in_no_corner_of_the_preview() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = dropped(&mut browser, "bank.csv", TABLE).await;
    browser.post("/view", &[("hide", "1"), ("next", "/")]).await;
    let page = browser.get(&at).await.good();
    assert!(
        page.contains("$•••") && !page.contains("12.50 ·") && !page.contains("80.00"),
        "{page}"
    );
}

#[tokio::test]
async fn what_was_said_of_an_account_is_not_taken_for_another_one() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = dropped(&mut browser, "bank.csv", TABLE).await;
    say(&mut browser, &at, &[("name_0", "Holidays"), ("sign", "negative")]).await;
    // With a column of account names the rows are of three accounts, none of which was spoken of.
    let page = say(&mut browser, &at, &[("column_account_name", "t:Note")]).await;
    assert_eq!(page.matches("class=\"destination\"").count(), 3, "{page}");
    assert!(!page.contains("Holidays") && page.contains("Rows of three"), "{page}");
}
