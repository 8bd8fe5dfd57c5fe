//! The accounts that a process keeps in memory for the list: a change by another process is seen at once.

use service::App;
use service::access::keys::NewKey;
use service::ledger::Direction;
use service::ledger::accounts;
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World};

use super::everything;
use crate::listed::{self, descriptions};

/// A process that has listed the transactions, so that it keeps the accounts, and another one.
struct Household {
    world: World,
    reader: App,
    robin: Person,
}

impl Household {
    async fn new() -> Household {
        let world = World::new().await;
        let reader = world.other_process().await;
        let robin = world.someone().await;
        let two = ["A", "B"].map(|name| checking(name).with(txn("2026-03-01", -1, name)));
        robin.import(statement(two)).await;
        let household = Household { world, reader, robin };
        assert_eq!(household.listed(&everything()).await, ["B", "A"]);
        household
    }

    /// The descriptions that the reader lists, compared with what a process lists that keeps nothing.
    async fn listed(&self, filter: &Filter) -> Vec<String> {
        let page = async |app: &App| {
            let page = Page { cursor: None, limit: 1 };
            let (_, end) = listed::page(app, &self.robin.caller, filter, page).await.unwrap();
            let rows = listed::all(app, &self.robin.caller, filter).await;
            (end.total_count, rows)
        };
        let (total, rows) = page(&self.reader).await;
        let expected = page(&self.world.other_process().await).await;
        assert_eq!((total, &rows), (expected.0, &expected.1));
        descriptions(&rows).into_iter().map(Into::into).collect()
    }

    async fn writes(&self) -> (&App, base::AccountId) {
        (&self.world.app, self.robin.account("A").await)
    }
}

#[tokio::test]
async fn a_name_that_another_process_changes_is_shown_at_once() {
    let household = Household::new().await;
    let (writer, a) = household.writes().await;
    accounts::rename(writer, &household.robin.caller, a, Some("Groceries")).await.unwrap();
    household.listed(&everything()).await;
    let of_a = Filter { account_id: Some(a), ..everything() };
    let rows = listed::all(&household.reader, &household.robin.caller, &of_a).await;
    assert!(rows[0].json.contains("\"account_name\":\"Groceries\""), "{}", rows[0].json);
}

#[tokio::test]
async fn accounts_that_another_process_hides_and_shows_again_leave_and_return_at_once() {
    let household = Household::new().await;
    let (writer, a) = household.writes().await;
    let b = household.robin.account("B").await;
    let set = async |id, hidden| {
        accounts::set_hidden(writer, &household.robin.caller, id, hidden).await.unwrap();
    };
    set(a, true).await;
    assert_eq!(household.listed(&everything()).await, ["B"]);
    set(b, true).await;
    assert_eq!(household.listed(&everything()).await, [""; 0]);
    set(a, false).await;
    assert_eq!(household.listed(&everything()).await, ["A"]);
}

#[tokio::test]
async fn accounts_that_another_process_imports_are_listed_and_counted_at_once() {
    let household = Household::new().await;
    // A filter without a match tells no stamp with its rows.
    let early = Filter { end_on: Some(testkit::day("2026-02-01")), ..everything() };
    assert_eq!(household.listed(&early).await, [""; 0]);
    let third = checking("C").with(txn("2026-01-31", -1, "C"));
    household.robin.import(statement([third])).await;
    assert_eq!(household.listed(&early).await, ["C"]);
    assert_eq!(household.listed(&everything()).await, ["B", "A", "C"]);
    let c = Filter { account_id: Some(household.robin.account("C").await), ..everything() };
    let fourth = checking("C").with(txn("2026-03-02", -1, "C again"));
    household.robin.import(statement([fourth])).await;
    assert_eq!(household.listed(&c).await, ["C again", "C"]);
}

#[tokio::test]
async fn a_page_that_begins_before_a_change_goes_on_after_it() {
    let household = Household::new().await;
    let (writer, a) = household.writes().await;
    let caller = &household.robin.caller;
    let page = Page { cursor: None, limit: 1 };
    let (_, end) = listed::page(&household.reader, caller, &everything(), page).await.unwrap();
    accounts::set_hidden(writer, caller, a, true).await.unwrap();
    let next = Page { cursor: end.next_cursor.as_deref(), limit: 1 };
    let (rows, end) = listed::page(&household.reader, caller, &everything(), next).await.unwrap();
    assert_eq!((rows.len(), end.next_cursor), (0, None));
}

#[tokio::test]
async fn totals_and_counts_that_were_kept_follow_changes_by_other_processes() {
    let household = Household::new().await;
    let (writer, a) = household.writes().await;
    let caller = &household.robin.caller;
    let spent = Filter { direction: Some(Direction::Outflow), ..everything() };
    let figures = async || {
        let totals = transactions::totals(&household.reader, caller, &spent).await.unwrap();
        let page = Page { cursor: None, limit: 1 };
        let (_, end) = listed::page(&household.reader, caller, &spent, page).await.unwrap();
        let sums: Vec<(i64, i64)> = totals.iter().map(|it| (it.count, it.out_minor)).collect();
        (sums, end.total_count)
    };
    assert_eq!(figures().await, (vec![(2, -2)], Some(2)));
    household.robin.import(statement([checking("C").with(txn("2026-03-02", -5, "C"))])).await;
    assert_eq!(figures().await, (vec![(3, -7)], Some(3)));
    accounts::set_hidden(writer, caller, a, true).await.unwrap();
    assert_eq!(figures().await, (vec![(2, -6)], Some(2)));
}

#[tokio::test]
async fn figures_that_were_kept_for_the_person_are_not_shown_to_a_limited_key() {
    let household = Household::new().await;
    let a = household.robin.account("A").await;
    let limited = NewKey { accounts: Some(vec![a]), ..testkit::new_key() };
    let key = household.robin.key(limited).await;
    let spent = Filter { direction: Some(Direction::Outflow), ..everything() };
    for (caller, count) in [(&household.robin.caller, 2), (&key.caller, 1)] {
        let totals = transactions::totals(&household.reader, caller, &spent).await.unwrap();
        assert_eq!(totals[0].count, count);
        let page = Page { cursor: None, limit: 1 };
        let (_, end) = listed::page(&household.reader, caller, &spent, page).await.unwrap();
        assert_eq!(end.total_count, Some(count));
    }
}
