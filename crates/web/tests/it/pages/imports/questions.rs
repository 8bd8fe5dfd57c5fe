//! Open questions about a file: each has an example, and nothing is imported before they are answered.

use base::{Currency, FileId};
use http::StatusCode;
use service::ingest::imports::files::{self, Choices};
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::{change_fields, import, robin, upload};

/// A table that shows neither the order of its dates nor the meaning of its signs.
const AMBIGUOUS: &str = "Date,Amount,Description\n03/04/2026,12.50,CORNER SEVEN\n05/06/2026,80.00,CITY POWER\n\
    02/01/2026,3.00,KIOSK\n";

#[tokio::test]
async fn open_questions_have_an_example_and_block_the_import_until_answered() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "open.csv", AMBIGUOUS).await;
    let page = browser.get(&at).await.good();
    for text in [
        "What date is 05/06?",
        "5 June 2026 (day first)",
        "6 May 2026 (month first)",
        "Is $80.00 for “CITY POWER” money out or money in?",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Answer the questions below first"), "{}", refused.text);
    let refused = import(&mut browser, &at, &[("dates", "day_first")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        !refused.text.contains("What date is") && refused.text.contains("money out or money in")
    );
    let page = change_fields(&mut browser, &at, &[("charges", "positive")]).await;
    assert!(!page.contains("about this file"), "{page}");
    assert!(page.contains("-$12.50") && page.contains("Fri 3 Apr"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    // The answers apply to the next file of the same kind.
    let next = AMBIGUOUS.replace("/2026", "/2025");
    let at = upload(&mut browser, "again.csv", &next).await;
    let page = browser.get(&at).await.good();
    assert!(!page.contains("about this file") && page.contains("Thu 3 Apr 2025"), "{page}");
}

#[tokio::test]
async fn a_file_that_names_no_account_asks_for_it_once() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let everyday = checking("Everyday").with(txn("2026-02-13", -1_250, "CORNER CAFE").id("a"));
    robin.import(statement([everyday])).await;
    let at = upload(&mut browser, "bank.csv", super::TABLE).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("The file doesn't name its account"), "{page}");
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Choose an account for this file"), "{}", refused.text);
    let refused = import(&mut browser, &at, &[("goes_0", "none")]).await;
    assert!(
        refused.text.contains("Choose where to import at least one account"),
        "{}",
        refused.text
    );
    let id = robin.account("Everyday").await.to_string();
    let page = change_fields(&mut browser, &at, &[("goes_0", &id)]).await;
    assert!(page.contains("2 new, 1 already imported"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let at = upload(&mut browser, "bank.csv", super::TABLE).await;
    assert!(browser.get(&at).await.good().contains("Nothing new in this file"));
}

/// A format that has no field for the currency.
const QUICKEN: &str = "!Type:Bank\nD03/25/2026\nT-5.00\nPCorner Cafe\n^\n";

#[tokio::test]
async fn the_currency_of_a_file_that_names_none_can_be_chosen() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "cafe.qif", QUICKEN).await;
    let page = browser.get(&at).await.good();
    for text in
        ["Its amounts were read as USD. If they are in another currency, choose it", "-$5.00"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    let page = change_fields(&mut browser, &at, &[("file_currency", "PLN")]).await;
    assert!(page.contains("-5.00\u{a0}PLN"), "{page}");
    assert!(!page.contains("were read as"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let page = browser.get("/transactions?period=all").await.good();
    assert!(page.contains("Corner Cafe") && page.contains("PLN"), "{page}");

    // For a CSV file the choice is stored with the columns, for the next file with them.
    let at = upload(&mut browser, "export.csv", PLAIN).await;
    assert!(browser.get(&at).await.good().contains("Its amounts were read as USD."));
    let page =
        change_fields(&mut browser, &at, &[("file_currency", "CHF"), ("kind_0", "savings")]).await;
    assert!(page.contains("CHF") && !page.contains("were read as"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let at = upload(&mut browser, "next.csv", &PLAIN.replace("2026-02", "2026-03")).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("CHF") && !page.contains("were read as"), "{page}");
    // A choice for that file alone, as the command line makes it, counts more than the remembered one.
    let id = FileId::parse(at.rsplit('/').next().unwrap()).unwrap();
    let choices = Choices { currency: Some(Currency::EUR), ..Choices::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(preview.accounts[0].currency, Currency::EUR);
}

/// Nothing in it tells the kind of account.
const PLAIN: &str = "Date,Amount,Description\n2026-02-13,-12.50,ALPHA\n2026-02-14,-80.00,BETA\n2026-02-15,-3.00,GAMMA\n";

#[tokio::test]
async fn the_type_of_a_new_account_is_asked_if_the_file_does_not_tell_it() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "export.csv", PLAIN).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("Choose a type") && page.contains("what type of account"), "{page}");
    let refused = import(&mut browser, &at, &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("Choose the type of the new account first"), "{}", refused.text);
    let answers = [("kind_0", "savings"), ("name_0", "Nest egg")];
    assert_eq!(import(&mut browser, &at, &answers).await.location(), at);
    let account = robin.account("Nest egg").await;
    let account = service::ledger::accounts::get(&world.app, &robin.caller, account).await.unwrap();
    assert_eq!(account.subtype.as_deref(), Some("savings"));
}

#[tokio::test]
async fn the_account_of_an_earlier_file_is_suggested_and_taken_only_when_the_person_imports() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "checking.csv", PLAIN).await;
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let at = upload(&mut browser, "next.csv", &PLAIN.replace("2026-02", "2026-03")).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("A file like it went into this account before"), "{page}");
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    let done = browser.get(&at).await.good();
    assert!(done.contains("3 new transactions"), "{done}");
}

#[tokio::test]
async fn balances_that_do_not_add_up_are_noted_before_the_import() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let table = super::TABLE.to_owned()
        + "2026-02-16,-7.00,KIOSK,four,1800.50\n2026-02-17,-0.50,KIOSK,five,1300.00\n\
           2026-02-18,-1.00,KIOSK,six,1299.00\n";
    let at = upload(&mut browser, "bank.csv", &table).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("This file may be incomplete"), "{page}");
    assert!(page.contains("Line 6: The balances do not follow from the rows"), "{page}");
}
