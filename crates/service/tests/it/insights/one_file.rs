//! A household in one file, as budget programs export it: accounts have kinds and names of their own, but no institution
//! and no digits.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base::draft::{AccountKind, Statement};
use base::{date_from_days, days_from_date};
use service::classify::transfers;
use service::ingest::imports::files;
use service::ledger::accounts;
use testkit::draft::{Account, account, card, checking, statement, txn};
use testkit::{Person, World};

use super::{day, recompute_all};
use crate::listed;

/// The transfers of a household: the ids of both legs.
struct TestHousehold {
    accounts: [Account; 3],
    pairs: BTreeSet<(String, String)>,
}

impl TestHousehold {
    /// Everyday life of three accounts over 18 months. Savings leave on payday, each card payment is credited between four
    /// days before and two days after it leaves, and friends repay exact amounts.
    fn new(with_names: bool) -> TestHousehold {
        let mut accounts = [
            checking("Checking"),
            account("Savings", AccountKind::Depository, "savings"),
            card("Credit Card"),
        ];
        if with_names {
            let names = [("Chase", "1111"), ("Ally Bank", "2222"), ("American Express", "3333")];
            for (account, (institution, mask)) in accounts.iter_mut().zip(names) {
                account.institution_name = Some(institution.to_owned());
                account.mask = Some(mask.to_owned());
            }
        }
        let mut household = TestHousehold { accounts, pairs: BTreeSet::new() };
        let first = days_from_date(day("2024-09-06"));
        for index in 0..38 {
            household.moves(index, (first + index * 14, index % 2), 25_000, 1);
            household.buys(index, first + index * 14);
        }
        for index in 38..56 {
            let on = first + (index - 38) * 30 + 4;
            household.moves(index, (on, (index * 5) % 7 - 4), 61_013 + index * 1_717, 2);
        }
        household
    }

    fn add(&mut self, account: usize, on: i64, minor: i64, text: (&str, &str), id: &str) {
        let row = txn(&date_from_days(on).to_string(), minor, text.0).id(id);
        let row = if text.1.is_empty() { row } else { row.category(text.1) };
        self.accounts[account] = self.accounts[account].clone().with(row);
    }

    fn moves(&mut self, index: i64, (on, lag): (i64, i64), minor: i64, to: usize) {
        let (out, into) = match to {
            1 => (
                ("Transfer to Savings", "TRANSFER_OUT_ACCOUNT_TRANSFER"),
                ("Transfer from Checking", "TRANSFER_IN_ACCOUNT_TRANSFER"),
            ),
            _ => (
                ("Card Payment", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
                ("Payment Thank You", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
            ),
        };
        let ids = (format!("out {index}"), format!("in {index}"));
        self.add(0, on, -minor, out, &ids.0);
        self.add(to, on + lag, minor, into, &ids.1);
        self.pairs.insert(ids);
    }

    /// Purchases on the card, and money from friends with the same amounts.
    fn buys(&mut self, index: i64, on: i64) {
        let minor = 4_213 + index * 311;
        self.add(2, on + 1, -minor, ("Blue Harbor Grill", ""), &format!("dinner {index}"));
        let friend = ("Zelle From Sam", "TRANSFER_IN_OTHER_TRANSFER_IN");
        self.add(0, on + 2, minor, friend, &format!("friend {index}"));
        self.add(
            0,
            on + 3,
            -minor,
            ("Kroger", "FOOD_AND_DRINK_GROCERIES"),
            &format!("food {index}"),
        );
    }

    /// The same as a file of Mint, which names the account in a column and has its own words for categories.
    fn mint_file(&self) -> String {
        let mut text =
            "\"Date\",\"Description\",\"Original Description\",\"Amount\",\"Transaction Type\",\
            \"Category\",\"Account Name\",\"Labels\",\"Notes\"\n"
                .to_owned();
        for account in &self.accounts {
            for row in &account.transactions {
                let minor = row.amount.minor();
                let category = match row.description.as_str() {
                    "Card Payment" | "Payment Thank You" => "Credit Card Payment",
                    "Blue Harbor Grill" => "Restaurants",
                    "Kroger" => "Groceries",
                    _ => "Transfer",
                };
                let (on, name) = (row.posted_on.strftime("%-m/%d/%Y"), &row.description);
                let amount = format!("{}.{:02}", minor.abs() / 100, minor.abs() % 100);
                let way = if minor < 0 { "debit" } else { "credit" };
                writeln!(
                    text,
                    "\"{on}\",\"{name}\",\"{name}\",\"{amount}\",\"{way}\",\"{category}\",\"{}\",\"\",\"\"",
                    account.name
                )
                .unwrap();
            }
        }
        text
    }

    fn statement(&self) -> Statement {
        Statement { institution: None, ..statement(self.accounts.clone()) }
    }
}

/// The pairs that were found, by the ids of their legs in the file.
async fn found(world: &World, person: &Person) -> BTreeSet<(String, String)> {
    let rows = listed::all(&world.app, &person.caller, &Default::default()).await;
    let pairs = transfers::list(&world.app, &person.caller).await.unwrap();
    let name = |id| {
        let row = rows.iter().find(|it| it.id == id).unwrap();
        (row.description.clone(), row.minor)
    };
    let paired = pairs.iter().filter(|it| it.paired);
    paired.map(|it| (format!("{:?}", name(it.outflow)), format!("{:?}", name(it.inflow)))).collect()
}

#[tokio::test]
async fn transfers_of_one_file_are_found_as_well_as_those_of_bank_statements() {
    for with_names in [false, true] {
        let world = World::new().await;
        let robin = world.someone().await;
        let household = TestHousehold::new(with_names);
        robin.import(household.statement()).await;
        let recall = recall(&world, &robin, &household).await;
        assert!(recall >= 95, "{recall} % with names: {with_names}");
    }
}

#[tokio::test]
async fn transfers_of_a_mint_file_are_found_too() {
    let world = World::new().await;
    let robin = world.someone().await;
    let household = TestHousehold::new(false);
    let (app, caller) = (&world.app, &robin.caller);
    let file = files::stage(app, caller, "mint.csv", household.mint_file().into_bytes());
    let file = file.await.unwrap();
    let committed = files::commit(app, caller, file).await.unwrap();
    let rows: usize = household.accounts.iter().map(|it| it.transactions.len()).sum();
    assert_eq!((committed.summary.new, committed.accounts.len()), (rows, 3));
    for (name, kind) in [
        ("Checking", AccountKind::Depository),
        ("Savings", AccountKind::Depository),
        ("Credit Card", AccountKind::Credit),
    ] {
        let id = robin.account(name).await;
        assert_eq!(accounts::get(app, caller, id).await.unwrap().kind, kind, "{name}");
    }
    let recall = recall(&world, &robin, &household).await;
    assert!(recall >= 95, "{recall} %");
}

/// The percentage of the household's transfers that are found. Others are never found.
async fn recall(world: &World, robin: &Person, household: &TestHousehold) -> usize {
    recompute_all(world).await;
    let listed = transfers::list(&world.app, &robin.caller).await.unwrap();
    let count = listed.iter().filter(|it| it.paired).count();
    let texts = found(world, robin).await;
    let is_true = |(out, into): &&(String, String)| {
        out.contains("Transfer to") && into.contains("Transfer from")
            || out.contains("Card Payment") && into.contains("Thank You")
    };
    assert!(texts.iter().all(|it| is_true(&it)), "{texts:?}");
    count * 100 / household.pairs.len()
}
