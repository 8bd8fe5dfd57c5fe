//! Moving the transactions of some files into another account.

use base::{AccountId, ImportId, TransactionId};
use service::access::keys::NewKey;
use service::ingest::account_split::{self, Destination};
use service::ingest::imports;
use service::ledger::accounts::{self, Status};
use service::ledger::annotations::{self, Tags};
use service::ledger::transactions::{self, Change, Filter};
use service::platform::cursors::Page;
use service::platform::health::count_miscounted_accounts;
use service::{Caller, Error, insights};
use testkit::{Person, World, new_key};

use super::identity::{commit, commit_into, ofx};

/// A person with one account into which files of two accounts went, and these files' imports, oldest first.
async fn merged(world: &World) -> (Person, AccountId, [ImportId; 2]) {
    let robin = world.person("robin@example.com").await;
    let first = commit(world, &robin, &ofx("123456789", "555551234", &["4.50", "5.50"])).await;
    let account = first.accounts[0];
    world.advance_seconds(60);
    let other = ofx("123456789", "XXXXX1234", &["14.50", "15.50", "16.50"]);
    commit_into(world, &robin, &other, account).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let all = account_split::list_imports(&world.app, &robin.caller, account).await.unwrap();
    assert_eq!(all.iter().map(|it| it.transactions).collect::<Vec<_>>(), [3, 2]);
    (robin, account, [all[1].id, all[0].id])
}

/// The texts of an account's transactions, newest first.
async fn texts(world: &World, caller: &Caller, account: AccountId) -> Vec<String> {
    let filter = Filter { account_id: Some(account), ..Filter::default() };
    let mut texts = Vec::new();
    let page = Page { cursor: None, limit: 100 };
    let visit = |row: &wire::v1::TransactionRow<'_>| texts.push(row.description.to_owned());
    transactions::list(&world.app, caller, &filter, page, visit).await.unwrap();
    texts
}

async fn id_of(world: &World, caller: &Caller, text: &str) -> TransactionId {
    let filter = Filter { q: Some(text.to_owned()), ..Filter::default() };
    let mut found = None;
    let page = Page { cursor: None, limit: 1 };
    transactions::list(&world.app, caller, &filter, page, |row| found = Some(row.id))
        .await
        .unwrap();
    found.unwrap()
}

/// The changes after a cursor, such as "removed 3", and the next cursor.
async fn changes(world: &World, caller: &Caller, cursor: Option<&str>) -> (Vec<String>, String) {
    let mut seen = Vec::new();
    let visit = |change: Change<'_>| {
        seen.push(match change {
            Change::Added(row) => format!("added {}", row.id),
            Change::Updated(row) => format!("updated {}", row.id),
            Change::Removed { id, .. } => format!("removed {id}"),
        });
    };
    let page = Page { cursor, limit: 100 };
    let end = transactions::changes(&world.app, caller, page, visit).await.unwrap();
    (seen, end.next_cursor)
}

#[tokio::test]
async fn the_transactions_of_a_file_move_to_a_new_account_and_back() {
    let world = World::new().await;
    let (robin, account, [_, second]) = merged(&world).await;
    let caller = &robin.caller;
    let noted = id_of(&world, caller, "SHOP 15.50").await;
    let note = ("Mine", Tags::parse("work").unwrap());
    annotations::set(&world.app, caller, noted, note).await.unwrap();
    let to = Destination::New("Joint".to_owned());
    let moved = account_split::move_imports(&world.app, caller, account, vec![second], to).await;
    let moved = moved.unwrap();
    assert_eq!(moved.count, 3);
    assert_eq!(texts(&world, caller, account).await, ["SHOP 5.50", "SHOP 4.50"]);
    let there = ["SHOP 16.50", "SHOP 15.50", "SHOP 14.50"];
    assert_eq!(texts(&world, caller, moved.into).await, there);
    insights::pipeline::run_all(&world.app).await.unwrap();
    assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
    let joint = accounts::get(&world.app, caller, moved.into).await.unwrap();
    assert_eq!((joint.name.as_str(), joint.balance_current_minor), ("Joint", None));
    // The note stays with its transaction.
    assert_eq!(id_of(&world, caller, "SHOP 15.50").await, noted);
    let back = Destination::Existing(account);
    let moved = account_split::move_imports(&world.app, caller, moved.into, vec![second], back);
    assert_eq!(moved.await.unwrap().count, 3);
    assert_eq!(texts(&world, caller, account).await.len(), 5);
}

#[tokio::test]
async fn undo_leaves_moved_transactions_in_their_account() {
    let world = World::new().await;
    let (robin, account, [first, second]) = merged(&world).await;
    let caller = &robin.caller;
    // A third file changes a transaction of the first, so its journal has the transaction as it was.
    let again = ofx("123456789", "555551234", &["4.50", "5.50"]).replace("SHOP 4.50", "SHOP IV");
    world.advance_seconds(60);
    commit(&world, &robin, &again).await;
    let third = imports::list(&world.app, caller, None, 1).await.unwrap()[0].id;
    assert!(third != first && third != second);
    let to = Destination::New("Own".to_owned());
    let moved = account_split::move_imports(&world.app, caller, account, vec![first], to).await;
    let into = moved.unwrap().into;
    imports::undo(&world.app, caller, third).await.unwrap();
    assert_eq!(texts(&world, caller, into).await, ["SHOP 5.50", "SHOP 4.50"]);
    assert_eq!(texts(&world, caller, account).await.len(), 3);
    imports::undo(&world.app, caller, second).await.unwrap();
    assert!(texts(&world, caller, account).await.is_empty());
    assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
}

#[tokio::test]
async fn a_key_of_the_old_account_is_told_of_removals_and_others_of_both() {
    let world = World::new().await;
    let (robin, account, [_, second]) = merged(&world).await;
    let limited = robin.key(NewKey { accounts: Some(vec![account]), ..new_key() }).await;
    let (_, of_all) = changes(&world, &robin.caller, None).await;
    let (_, of_key) = changes(&world, &limited.caller, None).await;
    let to = Destination::New("Joint".to_owned());
    let moved = account_split::move_imports(&world.app, &robin.caller, account, vec![second], to);
    moved.await.unwrap();
    let (seen, _) = changes(&world, &limited.caller, Some(&of_key)).await;
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|it| it.starts_with("removed ")), "{seen:?}");
    // A caller that sees both accounts keeps the transactions, because the removals come first.
    let (seen, _) = changes(&world, &robin.caller, Some(&of_all)).await;
    let (removed, updated) = seen.split_at(3);
    assert!(removed.iter().all(|it| it.starts_with("removed ")), "{seen:?}");
    assert!(updated.len() == 3 && updated.iter().all(|it| it.starts_with("updated ")), "{seen:?}");
}

#[tokio::test]
async fn only_own_imports_move_into_own_accounts_of_the_same_currency() {
    let world = World::new().await;
    let (robin, account, [first, _]) = merged(&world).await;
    let kim = world.person("kim@example.com").await;
    let theirs = commit(&world, &kim, &ofx("1", "2", &["1.50"])).await.accounts[0];
    let euros = ofx("9", "8", &["2.50"]).replace("USD", "EUR");
    let euros = commit(&world, &robin, &euros).await.accounts[0];
    let attempt = async |caller: &Caller, from, imports, to| {
        account_split::move_imports(&world.app, caller, from, imports, to).await.unwrap_err()
    };
    let new = || Destination::New("Joint".to_owned());
    let mine = &robin.caller;
    for (error, expected) in [
        (attempt(mine, account, vec![], new()).await, "choose at least one import"),
        (
            attempt(mine, account, vec![first], Destination::Existing(account)).await,
            "another account",
        ),
        (attempt(mine, account, vec![first], Destination::Existing(euros)).await, "same currency"),
        (attempt(mine, account, vec![first], Destination::New(String::new())).await, "1 to 200"),
        (attempt(mine, euros, vec![first], new()).await, "no transactions in this account"),
    ] {
        assert!(
            matches!(&error, Error::Invalid { message, .. } if message.contains(expected)),
            "{error}"
        );
    }
    for error in [
        attempt(mine, theirs, vec![first], new()).await,
        attempt(mine, account, vec![first], Destination::Existing(theirs)).await,
        attempt(&kim.caller, account, vec![first], new()).await,
    ] {
        assert!(matches!(error, Error::NotFound("account")), "{error}");
    }
    let key = robin.key(new_key()).await;
    assert!(account_split::list_imports(&world.app, &key.caller, account).await.is_err());
    attempt(&key.caller, account, vec![first], new()).await;
    // Nothing was created by the attempts.
    let all = accounts::Filter { status: Status::All, include_hidden: true };
    assert_eq!(accounts::list(&world.app, mine, all).await.unwrap().len(), 2);
    assert_eq!(texts(&world, mine, account).await.len(), 5);
}
