//! What people change about random transactions: they split some, and link refunds to purchases.

use base::category::Category;
use proptest::prelude::*;
use service::Error;
use service::classify::refunds;
use service::ledger::splits::{self, Part};
use testkit::{Person, World};

use crate::listed::{self, Listed};

/// Categories of parts: spending, income, payments of debt, transfers and cash.
const CATEGORIES: [&str; 9] = [
    "FOOD_AND_DRINK_GROCERIES",
    "RENT_AND_UTILITIES_RENT",
    "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES",
    "INCOME_WAGES",
    "INCOME_OTHER_INCOME",
    "LOAN_PAYMENTS_CAR_PAYMENT",
    "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT",
    "TRANSFER_OUT_SAVINGS",
    "TRANSFER_OUT_WITHDRAWAL",
];

/// The numbers choose among the transactions that a household has then.
#[derive(Debug, Clone)]
pub(super) struct OwnChanges {
    /// A transaction, the percentage of its first part, and the categories of both.
    splits: Vec<(usize, i64, usize, usize)>,
    /// An inflow and an outflow.
    links: Vec<(usize, usize)>,
}

/// How many changes were accepted.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Accepted {
    pub(super) splits: usize,
    pub(super) links: usize,
}

pub(super) fn any_changes() -> impl Strategy<Value = OwnChanges> {
    let category = || 0..CATEGORIES.len();
    let split = (any::<usize>(), 1..100_i64, category(), category());
    let link = (any::<usize>(), any::<usize>());
    (prop::collection::vec(split, 0..8), prop::collection::vec(link, 0..8))
        .prop_map(|(splits, links)| OwnChanges { splits, links })
}

impl OwnChanges {
    /// Whether a part may be the payment of a loan or a card.
    pub(super) fn may_pay_debt(&self) -> bool {
        let pays = |it: usize| CATEGORIES[it].starts_with("LOAN_PAYMENTS");
        self.splits.iter().any(|it| pays(it.2) || pays(it.3))
    }

    /// Makes the changes. Those that the product refuses, such as a split of a transfer, are left out.
    pub(super) async fn make(&self, world: &World, person: &Person) -> Accepted {
        let (app, caller) = (&world.app, &person.caller);
        let rows = listed::all(app, caller, &Default::default()).await;
        let (inflows, outflows): (Vec<&Listed>, Vec<&Listed>) =
            rows.iter().partition(|it| it.minor > 0);
        let mut accepted = Accepted::default();
        for (inflow, outflow) in &self.links {
            let (Some(refund), Some(purchase)) = (nth(&inflows, *inflow), nth(&outflows, *outflow))
            else {
                continue;
            };
            let linked = refunds::link(app, caller, refund.id, purchase.id).await;
            accepted.links += usize::from(is_accepted(linked));
        }
        let rows: Vec<&Listed> = rows.iter().collect();
        for (index, percent, one, other) in &self.splits {
            let Some(row) = nth(&rows, *index) else { continue };
            let first = row.minor * percent / 100;
            let parts = [(first, *one), (row.minor - first, *other)].map(part).to_vec();
            let split = splits::set(app, caller, row.id, parts).await;
            accepted.splits += usize::from(is_accepted(split));
        }
        accepted
    }
}

fn part((amount_minor, category): (i64, usize)) -> Part {
    let category = Category::parse(CATEGORIES[category]).unwrap();
    Part { amount_minor, category, note: String::new() }
}

fn nth<'a>(rows: &[&'a Listed], number: usize) -> Option<&'a Listed> {
    rows.get(number.checked_rem(rows.len())?).copied()
}

fn is_accepted(outcome: Result<(), Error>) -> bool {
    assert!(matches!(outcome, Ok(()) | Err(Error::Invalid { .. })), "{outcome:?}");
    outcome.is_ok()
}
