//! Random statements against a naive model of what a person would expect to see afterwards.

use std::collections::BTreeMap;

use base::{TransactionId, date_from_days, days_from_date};
use proptest::prelude::*;
use service::ledger::transactions::{self, Filter};
use service::platform::health::count_miscounted_accounts;
use testkit::draft::{Txn, checking, statement, txn};
use testkit::{World, day};

use crate::law;
use crate::listed::{self, Listed};

/// Something that happens at a bank which gives ids; numbers choose among what is there.
#[derive(Debug, Clone)]
enum Happening {
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
    /// The bank sends what it has, all or every so many.
    Sends {
        every: usize,
    },
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let minor = -90_000_i64..90_000;
    let one = prop_oneof![
        4 => (0_i64..200, minor.clone(), any::<bool>())
            .prop_map(|(day, minor, pending)| Happening::Spends { day, minor, pending }),
        2 => (any::<usize>(), 0_i64..40, minor.clone())
            .prop_map(|(which, later_days, minor)| Happening::Posts { which, later_days, minor }),
        1 => (any::<usize>(), minor).prop_map(|(which, minor)| Happening::Corrects { which, minor }),
        1 => any::<usize>().prop_map(|which| Happening::Removes { which }),
        2 => (1_usize..4).prop_map(|every| Happening::Sends { every }),
    ];
    proptest::collection::vec(one, 1..40)
}

/// A transaction at the bank, and what we made of it when we last heard.
#[derive(Debug, Clone)]
struct AtBank {
    /// Its first number, part of every description, so that no two look alike.
    number: usize,
    external_id: String,
    settles: Option<String>,
    day: i64,
    minor: i64,
    pending: bool,
    heard: Option<Heard>,
}

#[derive(Debug, Clone, PartialEq)]
struct Heard {
    day: i64,
    minor: i64,
    pending: bool,
    id: Option<TransactionId>,
}

impl AtBank {
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
    has: Vec<AtBank>,
    /// Taken back since the last statement, under the id that we know, if we have heard of it.
    removed: Vec<(String, bool)>,
    numbers: usize,
}

impl Bank {
    fn next(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    fn let_happen(&mut self, happening: &Happening) {
        let number = self.next();
        let first_day = days_from_date(day("2025-08-01"));
        match *happening {
            Happening::Spends { day, minor, pending } => self.has.push(AtBank {
                number,
                external_id: format!("id{number}"),
                settles: None,
                day: first_day + day,
                minor,
                pending,
                heard: None,
            }),
            Happening::Posts { which, later_days, minor } => {
                let pending: Vec<&mut AtBank> =
                    self.has.iter_mut().filter(|it| it.pending).collect();
                let count = pending.len();
                if let Some(it) = pending.into_iter().nth(which % count.max(1)) {
                    // Only what we have heard of can be settled; the rest simply posts.
                    it.settles = it.heard.as_ref().map(|_| it.external_id.clone());
                    it.external_id = format!("id{number}");
                    (it.pending, it.minor, it.day) = (false, minor, it.day + later_days);
                }
            }
            Happening::Corrects { which, minor } => {
                let count = self.has.len();
                if let Some(it) = self.has.get_mut(which % count.max(1)) {
                    it.minor = minor;
                }
            }
            Happening::Removes { which } => {
                if !self.has.is_empty() {
                    let gone = self.has.remove(which % self.has.len());
                    // A posted one that we only know as pending is taken back under its old id.
                    let heard = gone.heard.is_some();
                    self.removed.push((gone.settles.unwrap_or(gone.external_id), heard));
                }
            }
            Happening::Sends { .. } => {}
        }
    }
}

#[test]
fn what_a_bank_with_ids_sends_is_what_we_have() {
    law(40, happenings(), async |world, happenings| {
        check_bank(world, &happenings).await;
        assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
    });
}

async fn check_bank(world: &World, happenings: &[Happening]) {
    let person = world.someone().await;
    let mut bank = Bank::default();
    for happening in happenings.iter().chain([&Happening::Sends { every: 1 }]) {
        bank.let_happen(happening);
        let Happening::Sends { every } = happening else { continue };
        let mut expected = service::ingest::imports::Summary::default();
        let mut account = checking("Everyday");
        for it in bank.has.iter_mut().step_by(*every) {
            account = account.with(it.draft());
            let known = it.heard.clone();
            let id = known.as_ref().and_then(|it| it.id);
            let heard = Heard { day: it.day, minor: it.minor, pending: it.pending, id };
            match known {
                None => expected.new += 1,
                Some(known) if known == heard && it.settles.is_none() => expected.seen += 1,
                Some(_) => expected.changed += 1,
            }
            it.heard = Some(heard);
            it.settles = None;
        }
        // The bank does not know which of its transactions we have heard of.
        for (external_id, heard) in std::mem::take(&mut bank.removed) {
            account = account.without(&external_id);
            expected.removed += usize::from(heard);
        }
        assert_eq!(person.import(statement([account])).await, expected);
        check_listed(world, &person, &mut bank).await;
    }
}

/// Our list is the bank's, and what we have heard of before still has the id it had.
async fn check_listed(world: &World, person: &testkit::Person, bank: &mut Bank) {
    let rows = listed::all(&world.app, &person.caller, &Filter::default()).await;
    let mut by_name: BTreeMap<&str, &Listed> =
        rows.iter().map(|it| (it.description.as_str(), it)).collect();
    assert_eq!(by_name.len(), rows.len(), "something is there twice");
    for it in &mut bank.has {
        let Some(heard) = &mut it.heard else { continue };
        let name = format!("Shop{}", it.number);
        let row = by_name.remove(name.as_str()).unwrap_or_else(|| panic!("{name} is missing"));
        let shown = (days_from_date(row.posted_on), row.minor, row.pending);
        assert_eq!(shown, (heard.day, heard.minor, heard.pending), "{name}");
        assert_eq!(row.id, *heard.id.get_or_insert(row.id), "{name} has another id");
    }
    assert!(by_name.is_empty(), "these were taken back: {by_name:?}");
    let (_, end) =
        listed::first_page(&world.app, &person.caller, &Filter::default()).await.unwrap();
    assert_eq!(end.total_count, Some(rows.len() as i64));
}

/// Files without ids: each holds every transaction of some days, and they overlap.
#[test]
fn overlapping_files_without_ids_add_up_to_each_purchase_once() {
    let purchases = proptest::collection::vec((0_i64..30, 1_i64..4, 0_usize..3), 0..40);
    let files = proptest::collection::vec((0_i64..30, 0_i64..15), 1..6);
    law(40, (purchases, files), async |world, (purchases, files)| {
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
