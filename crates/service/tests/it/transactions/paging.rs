//! Paging stays consistent whatever happens between two pages.

use std::collections::{BTreeMap, BTreeSet};

use base::{date_from_days, days_from_date};
use proptest::prelude::*;
use service::platform::cursors::Page;
use testkit::draft::{Account, checking, statement, txn};
use testkit::{Person, World, day};

use super::everything;
use crate::check_property;
use crate::listed::{self, Listed};

#[tokio::test]
async fn a_page_knows_whether_there_is_another() {
    let world = World::new().await;
    let robin = world.someone().await;
    let page = async |limit| {
        let page = Page { cursor: None, limit };
        listed::page(&world.app, &robin.caller, &everything(), page).await.unwrap()
    };
    let (rows, end) = page(50).await;
    assert_eq!((rows.len(), end.next_cursor, end.total_count), (0, None, Some(0)));
    let ten = (0..10).map(|it| txn("2026-03-01", -it, "T"));
    robin.import(statement([checking("A").with_all(ten)])).await;
    for (limit, count, more) in [(9, 9, true), (10, 10, false), (11, 10, false), (1, 1, true)] {
        let (rows, end) = page(limit).await;
        assert_eq!((rows.len(), end.next_cursor.is_some()), (count, more), "limit {limit}");
    }
}

/// A change of the list between two pages.
#[derive(Debug, Clone)]
enum ListChange {
    Appears { day: i64 },
    Disappears { which: usize },
    AccountAppears { days: Vec<i64> },
}

fn list_change() -> impl Strategy<Value = ListChange> {
    prop_oneof![
        4 => (0_i64..20).prop_map(|day| ListChange::Appears { day }),
        4 => any::<usize>().prop_map(|which| ListChange::Disappears { which }),
        1 => proptest::collection::vec(0_i64..20, 0..10)
            .prop_map(|days| ListChange::AccountAppears { days }),
    ]
}

fn draft(number: usize, on: i64) -> testkit::draft::Txn {
    let on = date_from_days(days_from_date(day("2026-01-01")) + on).to_string();
    txn(&on, -1 - number as i64, &format!("T{number}")).id(&number.to_string())
}

/// The expected list, by transaction number.
#[derive(Default)]
struct ExpectedList {
    present: BTreeSet<usize>,
    numbers: usize,
    accounts: usize,
}

impl ExpectedList {
    fn add(&mut self, account: Account, days: &[i64]) -> Account {
        days.iter().fold(account, |account, on| {
            self.numbers += 1;
            self.present.insert(self.numbers);
            account.with(draft(self.numbers, *on))
        })
    }

    async fn change(&mut self, person: &Person, change: &ListChange) {
        let account = match change {
            ListChange::Appears { day } => self.add(checking("A"), &[*day]),
            ListChange::AccountAppears { days } => {
                self.accounts += 1;
                self.add(checking(&format!("B{}", self.accounts)), days)
            }
            ListChange::Disappears { which } => {
                let count = self.present.len().max(1);
                let Some(gone) = self.present.iter().nth(which % count).copied() else { return };
                self.present.remove(&gone);
                // The account is not known here, so the removal is sent for all; accounts without the transaction
                // ignore it.
                let others = (1..=self.accounts).map(|it| format!("B{it}"));
                let names = others.chain(["A".to_owned()]);
                let all: Vec<Account> =
                    names.map(|it| checking(&it).without(&gone.to_string())).collect();
                person.import(statement(all)).await;
                return;
            }
        };
        person.import(statement([account])).await;
    }
}

#[test]
fn a_transaction_that_is_not_removed_is_listed_exactly_once() {
    let start = proptest::collection::vec(0_i64..20, 0..30);
    let steps = proptest::collection::vec(
        (1_usize..6, proptest::collection::vec(list_change(), 0..4)),
        1..30,
    );
    check_property(40, (start, steps), async |world, (start, steps)| {
        let person = world.someone().await;
        let mut expected = ExpectedList::default();
        let account = expected.add(checking("A"), &start);
        person.import(statement([account])).await;
        let mut throughout = expected.present.clone();
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        let mut last: Option<Listed> = None;
        let mut cursor: Option<String> = None;
        let rest = std::iter::repeat_n((5, Vec::new()), 100);
        for (limit, changes) in steps.into_iter().chain(rest) {
            let page = Page { cursor: cursor.as_deref(), limit };
            let page = listed::page(&world.app, &person.caller, &everything(), page).await;
            let (rows, end) = page.unwrap();
            for row in rows {
                let number: usize = row.description[1..].parse().unwrap();
                assert!(expected.present.contains(&number), "{number} was removed before");
                assert!(last.is_none_or(|it| (it.posted_on, it.id) > (row.posted_on, row.id)));
                *seen.entry(number).or_default() += 1;
                last = Some(row);
            }
            cursor = end.next_cursor;
            if cursor.is_none() {
                break;
            }
            for change in &changes {
                expected.change(&person, change).await;
                throughout.retain(|it| expected.present.contains(it));
            }
        }
        assert!(cursor.is_none(), "the list does not end");
        assert!(seen.values().all(|it| *it == 1), "listed twice: {seen:?}");
        let missed: Vec<_> = throughout.iter().filter(|it| !seen.contains_key(it)).collect();
        assert!(missed.is_empty(), "missed: {missed:?}");
    });
}

#[tokio::test]
async fn a_list_can_be_paged_one_by_one_to_its_end() {
    let world = World::new().await;
    let robin = world.someone().await;
    let many = (0..23).map(|it| draft(it, (it as i64 * 5) % 4));
    robin.import(statement([checking("A").with_all(many)])).await;
    let all = listed::all(&world.app, &robin.caller, &everything()).await;
    let (mut cursor, mut walked) = (None, Vec::new());
    for _ in 0..23 {
        let page = Page { cursor: cursor.as_deref(), limit: 1 };
        let (rows, end) =
            listed::page(&world.app, &robin.caller, &everything(), page).await.unwrap();
        walked.extend(rows);
        cursor = end.next_cursor;
    }
    assert!(cursor.is_none());
    assert_eq!(walked, all);
}
