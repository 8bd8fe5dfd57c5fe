//! Accounts that come under another name, or were here before.

use base::draft::AccountKind;
use service::ingest::connections::{AddAccount, Choice, OfferStatus, OwedSign, Selection};
use testkit::draft::{checking, statement, txn};

use super::{Home, taken};
use crate::{is_conflict, is_not_found, param};

fn into(external_id: &str, account: base::AccountId) -> Choice {
    let selection = Selection::MergeInto { account, owed: OwedSign::Negative };
    Choice { external_id: external_id.to_owned(), selection }
}

#[tokio::test]
async fn an_institution_that_was_added_again_continues_without_duplicates() {
    for keeps_old in [true, false] {
        let (home, id) = Home::synced().await;
        let before = home.rows().await;
        let account = home.account("Everyday Checking").await.id;
        home.server.relink("CON-1", keeps_old);
        home.sync(id).await;
        assert_eq!(home.connection(id).await.open_offers, 2);
        home.choose(id, vec![into("ACT-checking-NEW", account)]).await.unwrap();
        assert_eq!(home.sync(id).await.summary.new, 0);
        let after = home.rows().await;
        let ids = |rows: &[crate::listed::Listed]| rows.iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(ids(&after), ids(&before), "{keeps_old}");
        assert_eq!(home.accounts().await.len(), 3);
        let offered = home.offered(id).await;
        let of = |name: &str| offered.iter().find(|it| it.external_id == name).unwrap();
        assert_eq!(
            (of("ACT-checking").status, of("ACT-checking").account),
            (OfferStatus::Skipped, None)
        );
        assert_eq!(of("ACT-checking-NEW").account, Some(account));
        home.sync(id).await;
        assert_eq!(home.account("Everyday Checking").await.connection_status.as_str(), "connected");
    }
}

#[tokio::test]
async fn an_account_from_files_can_be_merged_with_its_transactions() {
    let home = Home::new().await;
    let file = statement([checking("From a file")
        .with(txn("2026-03-01", 250_000, "PAYROLL"))
        .with(txn("2026-02-01", -3_320, "GROCER 12"))
        .with(txn("2025-12-01", -100, "LONG AGO"))]);
    home.robin.import(file).await;
    let account = home.account("From a file").await.id;
    let id = home.claim().await;
    home.choose(id, vec![into("ACT-checking", account)]).await.unwrap();
    let summary = home.sync(id).await.summary;
    assert_eq!(summary.new, 1);
    assert_eq!(home.told().await, ["COFFEE?", "PAYROLL", "GROCER 12", "LONG AGO"]);
    let all = home.accounts().await;
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].id, all[0].source.as_str()), (account, "simplefin"));
    assert_eq!(
        (all[0].name.as_str(), all[0].balance_current_minor),
        ("Everyday Checking", Some(10_023))
    );
}

#[tokio::test]
async fn accounts_that_do_not_match_cannot_be_merged() {
    let (home, id) = Home::synced().await;
    let euros = statement([checking("Euros").in_currency("EUR").with(txn("2026-03-01", 1, "X"))]);
    home.robin.import(euros).await;
    let euros = home.account("Euros").await.id;
    home.server.relink("CON-1", true);
    home.sync(id).await;
    let refused = home.choose(id, vec![into("ACT-checking-NEW", euros)]).await;
    assert_eq!(param(refused), "account");
    let stranger = base::AccountId::from_bytes([7; 16]);
    is_not_found(home.choose(id, vec![into("ACT-checking-NEW", stranger)]).await);
    // What came in as an account of its own cannot also be another.
    let loan = home.account("Car Loan").await.id;
    is_conflict(home.choose(id, vec![into("ACT-checking", loan)]).await);
    let take =
        AddAccount { kind: AccountKind::Loan, subtype: None, name: None, owed: OwedSign::Negative };
    let other = Choice { external_id: "ACT-checking".to_owned(), selection: Selection::Add(take) };
    assert_eq!(param(home.choose(id, vec![other]).await), "kind");
}

#[tokio::test]
async fn adding_a_skipped_account_again_continues_in_the_same_account() {
    let (home, id) = Home::synced().await;
    let account = home.account("Everyday Checking").await.id;
    let leave = Choice { external_id: "ACT-checking".to_owned(), selection: Selection::Skip };
    home.choose(id, vec![leave]).await.unwrap();
    home.sync(id).await;
    let offered = home.offered(id).await;
    let checking = offered.iter().find(|it| it.external_id == "ACT-checking").unwrap();
    assert_eq!(checking.status, OfferStatus::Skipped);
    home.choose(id, vec![taken(checking)]).await.unwrap();
    assert_eq!(home.sync(id).await.summary.new, 0);
    assert_eq!(home.account("Everyday Checking").await.id, account);
    assert_eq!(home.accounts().await.len(), 3);
}
