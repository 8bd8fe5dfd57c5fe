//! Generated households with ground truth, on which the quality of detection is measured. Generator and detectors have
//! different authors, and neither is tuned to the other.
#![cfg_attr(not(test), expect(dead_code, reason = "some of the truth is for later measurements"))]

mod accounts;
mod aggregator;
mod banks;
mod bills;
mod builder;
mod calendar;
mod descriptions;
mod errands;
mod finish;
mod habits;
mod large;
mod merchants;
mod noise;
mod pay;
mod people;
mod phrases;
mod preset;
mod rng;
mod subscriptions;
mod transfers;

#[cfg(test)]
mod tests;

use base::Date;
use base::category::Category;
use base::draft::{AccountDraft, TransactionDraft};

pub(crate) use calendar::Cadence;
pub(crate) use large::large_household;
pub(crate) use preset::{Preset, Region};

use builder::HouseholdBuilder;

/// Increased whenever the household of a seed changes, so that measurements name the data they were made on.
pub(crate) const GENERATOR_VERSION: u32 = 1;

/// One household as its banks report it, with the ground truth.
pub(crate) struct World {
    pub(crate) region: Region,
    /// The first and the last day of the data, both included.
    pub(crate) since: Date,
    pub(crate) as_of: Date,
    /// The accounts without their transactions, which are in `transactions`.
    pub(crate) accounts: Vec<AccountDraft>,
    /// Sorted by day.
    pub(crate) transactions: Vec<LabeledTransaction>,
    /// `Truth::stream` is an index into these.
    pub(crate) streams: Vec<Stream>,
}

pub(crate) struct LabeledTransaction {
    /// An index into `World::accounts`.
    pub(crate) account: usize,
    pub(crate) draft: TransactionDraft,
    pub(crate) truth: Truth,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) merchant: String,
    pub(crate) category: Category,
    pub(crate) stream: Option<u32>,
    pub(crate) cadence: Option<Cadence>,
    /// The same number on both legs of a transfer between own accounts.
    pub(crate) pair: Option<u32>,
    /// Also set on a leg whose other leg is not in the data.
    pub(crate) transfer: Option<TransferKind>,
    pub(crate) income: bool,
    /// An index into `World::transactions`.
    pub(crate) refund_of: Option<u32>,
    pub(crate) noise: Vec<Noise>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransferKind {
    Between,
    CardPayment,
    Investment,
    LoanPayment,
    Savings,
}

/// A distortion that makes a row harder to classify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// The description lost most or all of its merchant.
    BrokenKey,
    /// The date is one day off, as with a bank in another time zone.
    DayOff,
    /// The row is a duplicate.
    Duplicate,
    /// The two legs differ by a fee.
    Fee,
    /// The description names neither the other account nor a transfer.
    NoHint,
    /// The other leg is outside the window, or was never delivered.
    OtherLegMissing,
    /// The row was reversed within days; the reversal has this too.
    Reversed,
    /// Still pending, although its posted row is in the data too.
    Stale,
    /// The posted amount includes a tip that the pending amount did not.
    Tip,
    /// The first charge of a contract, far below its price.
    Trial,
}

/// A recurring stream that really exists: a contract, wage or standing order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) account: usize,
    pub(crate) merchant: String,
    pub(crate) category: Category,
    pub(crate) cadence: Cadence,
    pub(crate) amounts: Amounts,
    /// The day of the next occurrence; none if the stream ended within the window.
    pub(crate) next_on: Option<Date>,
    /// Occurrences posted in the window, without duplicates.
    pub(crate) occurrences: usize,
    /// Whether the occurrences are too few to show that it repeats. Missing such a stream is not counted as an error.
    pub(crate) short: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amounts {
    /// One price, with occasional increases.
    Fixed,
    Varying,
}

/// The household of a seed. `months` is the length of its history, except for [`Preset::NewUser60d`], which has 60
/// days.
pub(crate) fn household(preset: Preset, seed: u64, months: u32) -> World {
    let mut builder = HouseholdBuilder::new(preset, seed, months);
    for entity in ENTITIES {
        builder.run(entity, 0);
    }
    // A card statement is the sum of its purchases, so card payments come last.
    builder.run(&CARD_AUTOPAY, 0);
    finish::finish(builder)
}

/// A generator of one kind of transactions, such as wages or groceries. Its name seeds its own random numbers.
struct Entity {
    name: &'static str,
    generate: fn(&mut HouseholdBuilder, &mut rng::Rng),
}

const fn entity(name: &'static str, generate: fn(&mut HouseholdBuilder, &mut rng::Rng)) -> Entity {
    Entity { name, generate }
}

const ENTITIES: &[Entity] = &[
    entity("pay", pay::wages),
    entity("second pay", pay::second_wages),
    entity("pension", pay::pension),
    entity("gig", pay::gig),
    entity("interest", pay::interest),
    entity("tax refund", pay::tax_refund),
    entity("home", bills::housing),
    entity("utilities", bills::utilities),
    entity("insurance", bills::insurance),
    entity("loans", bills::loans),
    entity("childcare", bills::childcare),
    entity("other card", bills::unlinked_card),
    entity("subscriptions", subscriptions::monthly),
    entity("two contracts", subscriptions::twice),
    entity("annual fees", subscriptions::annual),
    entity("yearly policies", subscriptions::policies),
    entity("trial", subscriptions::trial),
    entity("meal kit", subscriptions::meal_kit),
    entity("groceries", habits::groceries),
    entity("coffee", habits::coffee),
    entity("transit", habits::transit),
    entity("fuel", habits::fuel),
    entity("restaurants", habits::restaurants),
    entity("marketplace", habits::marketplace),
    entity("cash", habits::cash),
    entity("salon", habits::salon),
    entity("parking", habits::parking),
    entity("tolls", errands::tolls),
    entity("errands", errands::errands),
    entity("shock", errands::shock),
    entity("savings", transfers::savings),
    entity("brokerage", transfers::brokerage),
    entity("equal pair", transfers::equal_pair),
    entity("wallet", transfers::wallet_hop),
    entity("cash out", transfers::cash_out),
    entity("friends", people::friends),
    entity("repaid", people::repaid),
    entity("refunds", people::refunds),
];

const CARD_AUTOPAY: Entity = entity("card autopay", transfers::card_autopay);
