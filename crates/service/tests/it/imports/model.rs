//! Random statements, compared with a naive model of what the person should see afterwards.

use std::collections::BTreeMap;

use base::{TransactionId, date_from_days, days_from_date};
use proptest::prelude::*;
use service::ledger::transactions::{self, Filter};
use service::platform::health::count_miscounted_accounts;
use testkit::draft::{Txn, checking, statement, txn};
use testkit::{World, day};

use crate::check_property;
use crate::listed::{self, Listed};

/// Something that happens at a bank that assigns ids. `which` selects one of its transactions.
#[derive(Debug, Clone)]
enum BankEvent {
    Spends {
        day: i64,
        minor: i64,
        pending: bool,
    },
    Posts {
        which: usize,
        later_days: i64,
        minor: i64,
    },
    Corrects {
        which: usize,
        minor: i64,
    },
    Removes {
        which: usize,
    },
    /// The bank sends all of its transactions, or every second or third.
    Sends {
        every: usize,
    },
}

fn events() -> impl Strategy<Value = Vec<BankEvent>> {
    let minor = -90_000_i64..90_000;
    let one = prop_oneof![
        4 => (0_i64..200, minor.clone(), any::<bool>())
            .prop_map(|(day, minor, pending)| BankEvent::Spends { day, minor, pending }),
        2 => (any::<usize>(), 0_i64..40, minor.clone())
            .prop_map(|(which, later_days, minor)| BankEvent::Posts { which, later_days, minor }),
        1 => (any::<usize>(), minor).prop_map(|(which, minor)| BankEvent::Corrects { which, minor }),
        1 => any::<usize>().prop_map(|which| BankEvent::Removes { which }),
        2 => (1_usize..4).prop_map(|every| BankEvent::Sends { every }),
    ];
    proptest::collection::vec(one, 1..40)
}

/// A transaction at the bank, and its state when it was last imported.
#[derive(Debug, Clone)]
struct BankTransaction {
    /// Part of the description, so that no two transactions look alike.
    number: usize,
    external_id: String,
    settles: Option<String>,
    day: i64,
    minor: i64,
    pending: bool,
    imported: Option<Imported>,
}

#[derive(Debug, Clone, PartialEq)]
struct Imported {
    day: i64,
    minor: i64,
    pending: bool,
    id: Option<TransactionId>,
}

impl BankTransaction {
    fn draft(&self) -> Txn {
        let on = date_from_days(self.day).to_string();
        let draft = txn(&on, self.minor, &format!("Shop{}", self.number)).id(&self.external_id);
        let draft = if self.pending { draft.pending() } else { draft };
        match &self.settles {
            Some(settled) => draft.settling(settled),
            None => draft,
        }
    }
}

#[derive(Debug, Default)]
struct Bank {
    transactions: Vec<BankTransaction>,
    /// Ids removed since the last statement, and whether they were imported.
    removed: Vec<(String, bool)>,
    numbers: usize,
}

impl Bank {
    fn next(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    fn apply(&mut self, event: &BankEvent) {
        let number = self.next();
        let first_day = days_from_date(day("2025-08-01"));
        match *event {
            BankEvent::Spends { day, minor, pending } => self.transactions.push(BankTransaction {
                number,
                external_id: format!("id{number}"),
                settles: None,
                day: first_day + day,
                minor,
                pending,
                imported: None,
            }),
            BankEvent::Posts { which, later_days, minor } => {
                let pending: Vec<&mut BankTransaction> =
                    self.transactions.iter_mut().filter(|it| it.pending).collect();
                let count = pending.len();
                if let Some(it) = pending.into_iter().nth(which % count.max(1)) {
                    // Only imported transactions can be settled; the others simply post.
                    it.settles = it.imported.as_ref().map(|_| it.external_id.clone());
                    it.external_id = format!("id{number}");
                    (it.pending, it.minor, it.day) = (false, minor, it.day + later_days);
                }
            }
            BankEvent::Corrects { which, minor } => {
                let count = self.transactions.len();
                if let Some(it) = self.transactions.get_mut(which % count.max(1)) {
                    it.minor = minor;
                }
            }
            BankEvent::Removes { which } => {
                if !self.transactions.is_empty() {
                    let gone = self.transactions.remove(which % self.transactions.len());
                    // A posted transaction that was imported only as pending is removed under its old id.
                    let imported = gone.imported.is_some();
                    self.removed.push((gone.settles.unwrap_or(gone.external_id), imported));
                }
            }
            BankEvent::Sends { .. } => {}
        }
    }
}

#[test]
fn imported_transactions_match_those_of_a_bank_with_ids() {
    check_property(40, events(), async |world, events| {
        check_bank(world, &events).await;
        assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
    });
}

async fn check_bank(world: &World, events: &[BankEvent]) {
    let person = world.someone().await;
    let mut bank = Bank::default();
    for event in events.iter().chain([&BankEvent::Sends { every: 1 }]) {
        bank.apply(event);
        let BankEvent::Sends { every } = event else { continue };
        let mut expected = service::ingest::imports::Summary::default();
        let mut account = checking("Everyday");
        for it in bank.transactions.iter_mut().step_by(*every) {
            account = account.with(it.draft());
            let known = it.imported.clone();
            let id = known.as_ref().and_then(|it| it.id);
            let imported = Imported { day: it.day, minor: it.minor, pending: it.pending, id };
            match known {
                None => expected.new += 1,
                Some(known) if known == imported && it.settles.is_none() => expected.seen += 1,
                Some(_) => expected.changed += 1,
            }
            it.imported = Some(imported);
            it.settles = None;
        }
        // The bank does not know which of its transactions were imported.
        for (external_id, imported) in std::mem::take(&mut bank.removed) {
            account = account.without(&external_id);
            expected.removed += usize::from(imported);
        }
        assert_eq!(person.import(statement([account])).await, expected);
        check_listed(world, &person, &mut bank).await;
    }
}

/// The listed transactions are the bank's, and those imported before keep their id.
async fn check_listed(world: &World, person: &testkit::Person, bank: &mut Bank) {
    let rows = listed::all(&world.app, &person.caller, &Filter::default()).await;
    let mut by_name: BTreeMap<&str, &Listed> =
        rows.iter().map(|it| (it.description.as_str(), it)).collect();
    assert_eq!(by_name.len(), rows.len(), "a transaction is listed twice");
    for it in &mut bank.transactions {
        let Some(imported) = &mut it.imported else { continue };
        let name = format!("Shop{}", it.number);
        let row = by_name.remove(name.as_str()).unwrap_or_else(|| panic!("{name} is missing"));
        let shown = (days_from_date(row.posted_on), row.minor, row.pending);
        assert_eq!(shown, (imported.day, imported.minor, imported.pending), "{name}");
        assert_eq!(row.id, *imported.id.get_or_insert(row.id), "{name} has another id");
    }
    assert!(by_name.is_empty(), "these were removed: {by_name:?}");
    let (_, end) =
        listed::first_page(&world.app, &person.caller, &Filter::default()).await.unwrap();
    assert_eq!(end.total_count, Some(rows.len() as i64));
}

/// Each file has every transaction of some days, without ids, and the files overlap.
#[test]
fn overlapping_files_without_ids_import_each_purchase_once() {
    let purchases = proptest::collection::vec((0_i64..30, 1_i64..4, 0_usize..3), 0..40);
    let files = proptest::collection::vec((0_i64..30, 0_i64..15), 1..6);
    check_property(40, (purchases, files), async |world, (purchases, files)| {
        check_files(world, &purchases, &files).await;
    });
}

async fn check_files(world: &World, purchases: &[(i64, i64, usize)], files: &[(i64, i64)]) {
    let person = world.someone().await;
    let first = days_from_date(day("2026-01-01"));
    let mut covered = [false; 64];
    for (start, length) in files {
        let days = *start..start + length;
        let within = purchases.iter().filter(|(day, ..)| days.contains(day));
        let drafts = within.map(|(day, minor, shop)| {
            let on = date_from_days(first + day).to_string();
            txn(&on, -minor * 100, ["CAFE", "SHOP", "FUEL"][*shop])
        });
        person.import(statement([checking("Everyday").with_all(drafts)])).await;
        days.for_each(|day| covered[day as usize] = true);
    }
    let mut expected: Vec<(i64, i64, &str)> = purchases
        .iter()
        .filter(|(day, ..)| covered[*day as usize])
        .map(|(day, minor, shop)| (first + day, -minor * 100, ["CAFE", "SHOP", "FUEL"][*shop]))
        .collect();
    expected.sort_unstable();
    let rows = listed::all(&world.app, &person.caller, &transactions::Filter::default()).await;
    let mut found: Vec<(i64, i64, &str)> = rows
        .iter()
        .map(|it| (days_from_date(it.posted_on), it.minor, it.description.as_str()))
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}
