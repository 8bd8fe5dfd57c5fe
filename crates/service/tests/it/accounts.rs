//! Linked accounts: which are shown, in what order, and to whom.

use base::draft::AccountKind;
use service::accounts::{self, Account, Filter, Status};
use service::keys::NewKey;
use service::{Error, Scopes};
use testkit::draft::{account, brokerage, card, checking, statement};
use testkit::{Person, World, new_key};
use wire::v1::{self, Scope};

use crate::is_not_found;

const OPEN: Filter = Filter { status: Status::Open, include_hidden: false };

fn names(accounts: &[Account]) -> Vec<&str> {
    accounts.iter().map(|it| it.name.as_str()).collect()
}

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    robin
        .import(statement([
            brokerage("Brokerage"),
            card("Visa"),
            checking("Savings"),
            checking("Everyday"),
            checking("Old").closed_on("2025-06-30"),
            checking("Secret"),
            checking("Old secret").closed_on("2025-06-30"),
            account("House", AccountKind::Other, "property"),
            account("Mortgage", AccountKind::Loan, "mortgage"),
        ]))
        .await;
    for name in ["Secret", "Old secret"] {
        let id = robin.account(name).await;
        accounts::set_hidden(&world.app, &robin.caller, id, true).await.unwrap();
    }
    robin
}

#[tokio::test]
async fn accounts_come_by_type_and_then_by_name() {
    let world = World::new().await;
    let robin = household(&world).await;
    let found = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    assert_eq!(names(&found), ["Everyday", "Savings", "Visa", "Mortgage", "Brokerage", "House"]);
}

#[tokio::test]
async fn each_filter_shows_what_it_names() {
    let world = World::new().await;
    let robin = household(&world).await;
    let list = async |status, include_hidden| {
        let filter = Filter { status, include_hidden };
        accounts::list(&world.app, &robin.caller, filter).await.unwrap()
    };
    assert_eq!(names(&list(Status::Closed, false).await), ["Old"]);
    assert_eq!(names(&list(Status::Closed, true).await), ["Old", "Old secret"]);
    assert_eq!(list(Status::Open, true).await.len(), 7);
    assert_eq!(list(Status::All, false).await.len(), 7);
    assert_eq!(list(Status::All, true).await.len(), 9);
}

#[tokio::test]
async fn what_is_unknown_is_null_and_never_zero() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("Everyday")])).await;
    let found = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    let shown = v1::Account::from(&found[0]);
    assert!(shown.balance_current.is_none() && shown.balance_available.is_none());
    assert!(shown.balance_limit.is_none() && shown.as_of.is_none());
    assert!(shown.interest_rate_percentage.is_none() && shown.apy_percent_display.is_none());
    assert!(shown.next_payment_due_date.is_none() && shown.mask.is_none());
    assert_eq!((shown.status, shown.hidden, shown.r#type), ("open", false, "depository"));
    let empty = checking("Everyday").balance("2026-03-09T08:00:00Z", 0);
    robin.import(statement([empty])).await;
    let found = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    let shown = v1::Account::from(&found[0]);
    assert_eq!(shown.balance_current.unwrap().as_str(), "0.00");
}

#[tokio::test]
async fn a_key_sees_its_accounts_and_needs_the_scope() {
    let world = World::new().await;
    let robin = household(&world).await;
    let accounts = Some(vec![robin.account("Visa").await, robin.account("Secret").await]);
    let key = robin.key(NewKey { accounts, ..new_key() }).await;
    let found = accounts::list(&world.app, &key.caller, OPEN).await.unwrap();
    assert_eq!(names(&found), ["Visa"]);
    let all = Filter { status: Status::All, include_hidden: true };
    let found = accounts::list(&world.app, &key.caller, all).await.unwrap();
    assert_eq!(names(&found), ["Secret", "Visa"]);
    let scopes: Scopes = [Scope::GoalsRead].into_iter().collect();
    let blind = robin.key(NewKey { scopes, ..new_key() }).await;
    let refused = accounts::list(&world.app, &blind.caller, OPEN).await;
    assert!(matches!(refused, Err(Error::Forbidden(Scope::AccountsRead))));
}

#[tokio::test]
async fn hiding_is_the_persons_own_and_loses_nothing() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let visa = robin.account("Visa").await;
    is_not_found(accounts::set_hidden(&world.app, &kim.caller, visa, true).await);
    let nothing = base::AccountId::from_bytes([3; 16]);
    is_not_found(accounts::set_hidden(&world.app, &robin.caller, nothing, true).await);
    let key = robin.key(new_key()).await;
    is_not_found(accounts::set_hidden(&world.app, &key.caller, visa, true).await);
    let before = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    accounts::set_hidden(&world.app, &robin.caller, visa, true).await.unwrap();
    let hidden = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    assert_eq!(hidden.len(), before.len() - 1);
    // An import does not bring it back into view.
    robin.import(statement([card("Visa").balance("2026-03-09T08:00:00Z", 5)])).await;
    assert_eq!(accounts::list(&world.app, &robin.caller, OPEN).await.unwrap().len(), hidden.len());
    accounts::set_hidden(&world.app, &robin.caller, visa, false).await.unwrap();
    let shown = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    assert_eq!(names(&shown), names(&before));
}

#[tokio::test]
async fn one_without_accounts_has_an_empty_list() {
    let world = World::new().await;
    household(&world).await;
    let kim = world.someone().await;
    assert!(accounts::list(&world.app, &kim.caller, OPEN).await.unwrap().is_empty());
}
