//! Accounts: listing, hiding, renaming, closing and reopening them.

use base::AccountId;
use base::draft::AccountKind;
use service::access::keys::NewKey;
use service::ledger::accounts::{self, Account, Filter, Status};
use service::ledger::balances::{self, Range};
use service::ledger::transactions;
use service::platform::audit;
use service::{Error, Scopes};
use testkit::draft::{account, brokerage, card, checking, statement, txn};
use testkit::{Person, World, day, new_key};
use wire::v1::{self, Scope};

use crate::{is_not_found, param};

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
async fn accounts_are_listed_by_type_and_then_by_name() {
    let world = World::new().await;
    let robin = household(&world).await;
    let found = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    assert_eq!(names(&found), ["Everyday", "Savings", "Visa", "Mortgage", "Brokerage", "House"]);
}

#[tokio::test]
async fn each_filter_lists_the_matching_accounts() {
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
async fn unknown_values_are_null_and_never_zero() {
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
async fn a_key_lists_only_its_accounts_and_needs_the_scope() {
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
    assert!(matches!(refused, Err(Error::Forbidden(it)) if it.has(Scope::AccountsRead)));
}

#[tokio::test]
async fn only_the_owner_hides_an_account_and_unhiding_restores_it() {
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
    // An import does not unhide it.
    robin.import(statement([card("Visa").balance("2026-03-09T08:00:00Z", 5)])).await;
    assert_eq!(accounts::list(&world.app, &robin.caller, OPEN).await.unwrap().len(), hidden.len());
    accounts::set_hidden(&world.app, &robin.caller, visa, false).await.unwrap();
    let shown = accounts::list(&world.app, &robin.caller, OPEN).await.unwrap();
    assert_eq!(names(&shown), names(&before));
}

#[tokio::test]
async fn a_person_without_accounts_has_an_empty_list() {
    let world = World::new().await;
    household(&world).await;
    let kim = world.someone().await;
    assert!(accounts::list(&world.app, &kim.caller, OPEN).await.unwrap().is_empty());
}

/// Actions and details of the audit trail, oldest first.
async fn trail(world: &World, person: &Person) -> Vec<(String, String)> {
    let mut entries = audit::list(&world.app, &person.caller, None, 100).await.unwrap();
    entries.reverse();
    entries.into_iter().map(|it| (it.action, it.details)).collect()
}

async fn get(world: &World, person: &Person, id: AccountId) -> Account {
    accounts::get(&world.app, &person.caller, id).await.unwrap()
}

#[tokio::test]
async fn a_custom_account_name_survives_imports_until_it_is_cleared() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("TOTAL CHKG 4821")])).await;
    let id = robin.account("TOTAL CHKG 4821").await;
    accounts::rename(&world.app, &robin.caller, id, Some("  Everyday ")).await.unwrap();
    let mut renamed = checking("TOTAL CHKG 4821").with(txn("2026-03-01", -5, "SHOP").id("a"));
    renamed.name = "CHECKING PLUS".to_owned();
    robin.import(statement([renamed])).await;
    let found = get(&world, &robin, id).await;
    assert_eq!((found.name.as_str(), found.bank_name.as_str()), ("Everyday", "CHECKING PLUS"));
    assert_eq!(v1::Account::from(&found).name, "Everyday");
    let mut names = Vec::new();
    let page = service::platform::cursors::Page { cursor: None, limit: 10 };
    transactions::list(&world.app, &robin.caller, &Default::default(), page, |it| {
        let mut json = Vec::new();
        it.write(&mut json);
        names.push(String::from_utf8(json).unwrap());
    })
    .await
    .unwrap();
    assert!(names[0].contains("\"account_name\":\"Everyday\""), "{names:?}");
    accounts::rename(&world.app, &robin.caller, id, Some(" ")).await.unwrap();
    assert_eq!(get(&world, &robin, id).await.name, "CHECKING PLUS");
    let expected = [
        "Renamed the account TOTAL CHKG 4821 to Everyday",
        "Renamed the account Everyday to CHECKING PLUS",
    ];
    let trail = trail(&world, &robin).await;
    assert!(trail.iter().map(|(_, details)| details.as_str()).eq(expected), "{trail:?}");
}

#[tokio::test]
async fn an_account_name_is_one_line_of_at_most_80_characters() {
    let world = World::new().await;
    let robin = household(&world).await;
    let id = robin.account("Visa").await;
    for bad in ["x".repeat(81), "a\nb".to_owned()] {
        let refused = accounts::rename(&world.app, &robin.caller, id, Some(&bad)).await;
        assert_eq!(param(refused), "name");
    }
    accounts::rename(&world.app, &robin.caller, id, Some(&"é".repeat(80))).await.unwrap();
}

#[tokio::test]
async fn an_account_closed_by_the_person_stays_closed_and_keeps_its_history() {
    let world = World::new().await;
    let robin = world.someone().await;
    let draft = || {
        checking("Everyday")
            .past_balance("2026-01-01", 900)
            .with(txn("2026-01-05", -400, "SHOP").id("a"))
            .balance("2026-02-01T08:00:00Z", 500)
    };
    robin.import(statement([draft()])).await;
    let id = robin.account("Everyday").await;
    let future = accounts::close(&world.app, &robin.caller, id, day("2026-03-11")).await;
    assert_eq!(param(future), "closed_on");
    is_conflict(accounts::reopen(&world.app, &robin.caller, id).await);
    accounts::close(&world.app, &robin.caller, id, day("2026-02-15")).await.unwrap();
    is_conflict(accounts::close(&world.app, &robin.caller, id, day("2026-02-16")).await);
    // The bank still reports the account as open.
    robin.import(statement([draft()])).await;
    let found = get(&world, &robin, id).await;
    assert_eq!((found.closed_on, found.closed_by_person), (Some(day("2026-02-15")), true));
    let closed = Filter { status: Status::Closed, include_hidden: false };
    let listed = accounts::list(&world.app, &robin.caller, closed).await.unwrap();
    assert_eq!(
        (names(&listed), v1::Account::from(&listed[0]).status),
        (vec!["Everyday"], "closed")
    );
    let range = Range { start_on: Some(day("2026-01-01")), end_on: Some(day("2026-02-20")) };
    let series = balances::list(&world.app, &robin.caller, id, range).await.unwrap();
    let on = |text: &str| series.days.iter().find(|it| it.on == day(text)).unwrap().current_minor;
    assert_eq!((on("2026-01-04"), on("2026-02-14"), on("2026-02-15")), (900, 500, 0));
    accounts::reopen(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(get(&world, &robin, id).await.closed_on, None);
    let actions: Vec<String> = trail(&world, &robin).await.into_iter().map(|it| it.0).collect();
    assert_eq!(actions, ["account.close", "account.reopen"]);
}

#[tokio::test]
async fn an_account_closed_by_the_bank_cannot_be_reopened_by_the_person() {
    let world = World::new().await;
    let robin = household(&world).await;
    let old = robin.account("Old").await;
    is_conflict(accounts::reopen(&world.app, &robin.caller, old).await);
    is_conflict(accounts::close(&world.app, &robin.caller, old, day("2026-01-01")).await);
    let found = get(&world, &robin, old).await;
    assert_eq!((found.closed_on, found.closed_by_person), (Some(day("2025-06-30")), false));
    // If the person and the bank both close an account, the bank's date counts.
    let visa = robin.account("Visa").await;
    accounts::close(&world.app, &robin.caller, visa, day("2026-02-01")).await.unwrap();
    robin.import(statement([card("Visa").closed_on("2026-01-15")])).await;
    assert_eq!(get(&world, &robin, visa).await.closed_on, Some(day("2026-01-15")));
    is_conflict(accounts::reopen(&world.app, &robin.caller, visa).await);
}

#[tokio::test]
async fn only_the_owner_renames_and_closes_an_account() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let visa = robin.account("Visa").await;
    let key = robin.key(new_key()).await;
    let before = world.stored().await;
    for caller in [&kim.caller, &key.caller] {
        is_not_found(accounts::rename(&world.app, caller, visa, Some("Mine")).await);
        is_not_found(accounts::close(&world.app, caller, visa, day("2026-03-01")).await);
        is_not_found(accounts::reopen(&world.app, caller, visa).await);
    }
    is_not_found(accounts::get(&world.app, &kim.caller, visa).await);
    assert_eq!(world.stored().await, before);
}

fn is_conflict<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    assert!(matches!(outcome, Err(Error::Conflict { .. })), "{outcome:?}");
}
