//! Merging accounts that are offered under a new id or were imported from files.

use base::draft::AccountKind;
use service::ingest::connections::{AddAccount, Choice, OfferStatus, OwedSign, Selection};
use testkit::draft::{checking, statement, txn};

use super::{ConnectionsFixture, add_choice};
use crate::{is_conflict, is_not_found, param};

fn merge_into(external_id: &str, account: base::AccountId) -> Choice {
    let selection = Selection::MergeInto { account, owed: OwedSign::Negative };
    Choice { external_id: external_id.to_owned(), selection }
}

#[tokio::test]
async fn an_institution_that_was_added_again_continues_without_duplicates() {
    for keeps_old in [true, false] {
        let (fixture, id) = ConnectionsFixture::synced().await;
        let before = fixture.rows().await;
        let account = fixture.account("Everyday Checking").await.id;
        fixture.server.relink("CON-1", keeps_old);
        fixture.sync(id).await;
        assert_eq!(fixture.connection(id).await.open_offers, 2);
        fixture.choose(id, vec![merge_into("ACT-checking-NEW", account)]).await.unwrap();
        assert_eq!(fixture.sync(id).await.summary.new, 0);
        let after = fixture.rows().await;
        let ids = |rows: &[crate::listed::Listed]| rows.iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(ids(&after), ids(&before), "{keeps_old}");
        assert_eq!(fixture.accounts().await.len(), 3);
        let offered = fixture.offered(id).await;
        let offer = |name: &str| offered.iter().find(|it| it.external_id == name).unwrap();
        assert_eq!(
            (offer("ACT-checking").status, offer("ACT-checking").account),
            (OfferStatus::Skipped, None)
        );
        assert_eq!(offer("ACT-checking-NEW").account, Some(account));
        fixture.sync(id).await;
        assert_eq!(
            fixture.account("Everyday Checking").await.connection_status.as_str(),
            "connected"
        );
    }
}

#[tokio::test]
async fn an_account_from_files_can_be_merged_with_its_transactions() {
    let fixture = ConnectionsFixture::new().await;
    let file = statement([checking("From a file")
        .with(txn("2026-03-01", 250_000, "PAYROLL"))
        .with(txn("2026-02-01", -3_320, "GROCER 12"))
        .with(txn("2025-12-01", -100, "LONG AGO"))]);
    fixture.robin.import(file).await;
    let account = fixture.account("From a file").await.id;
    let id = fixture.claim().await;
    fixture.choose(id, vec![merge_into("ACT-checking", account)]).await.unwrap();
    let summary = fixture.sync(id).await.summary;
    assert_eq!(summary.new, 1);
    assert_eq!(fixture.descriptions().await, ["COFFEE?", "PAYROLL", "GROCER 12", "LONG AGO"]);
    let all = fixture.accounts().await;
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].id, all[0].source.as_str()), (account, "simplefin"));
    assert_eq!(
        (all[0].name.as_str(), all[0].balance_current_minor),
        ("Everyday Checking", Some(10_023))
    );
}

#[tokio::test]
async fn accounts_that_do_not_match_cannot_be_merged() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let euros = statement([checking("Euros").in_currency("EUR").with(txn("2026-03-01", 1, "X"))]);
    fixture.robin.import(euros).await;
    let euros = fixture.account("Euros").await.id;
    fixture.server.relink("CON-1", true);
    fixture.sync(id).await;
    let refused = fixture.choose(id, vec![merge_into("ACT-checking-NEW", euros)]).await;
    assert_eq!(param(refused), "account");
    let stranger = base::AccountId::from_bytes([7; 16]);
    is_not_found(fixture.choose(id, vec![merge_into("ACT-checking-NEW", stranger)]).await);
    // An account that was added on its own cannot be merged into another.
    let loan = fixture.account("Car Loan").await.id;
    is_conflict(fixture.choose(id, vec![merge_into("ACT-checking", loan)]).await);
    let add =
        AddAccount { kind: AccountKind::Loan, subtype: None, name: None, owed: OwedSign::Negative };
    let other = Choice { external_id: "ACT-checking".to_owned(), selection: Selection::Add(add) };
    assert_eq!(param(fixture.choose(id, vec![other]).await), "kind");
}

#[tokio::test]
async fn adding_a_skipped_account_again_continues_in_the_same_account() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let account = fixture.account("Everyday Checking").await.id;
    let skip = Choice { external_id: "ACT-checking".to_owned(), selection: Selection::Skip };
    fixture.choose(id, vec![skip]).await.unwrap();
    fixture.sync(id).await;
    let offered = fixture.offered(id).await;
    let checking = offered.iter().find(|it| it.external_id == "ACT-checking").unwrap();
    assert_eq!(checking.status, OfferStatus::Skipped);
    fixture.choose(id, vec![add_choice(checking)]).await.unwrap();
    assert_eq!(fixture.sync(id).await.summary.new, 0);
    assert_eq!(fixture.account("Everyday Checking").await.id, account);
    assert_eq!(fixture.accounts().await.len(), 3);
}
