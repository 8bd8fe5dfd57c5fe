//! Households with ground truth, on which the quality of detection is measured. Their author is not
//! the detectors' author, and neither tunes to the other.
#![cfg_attr(
    not(test),
    expect(dead_code, reason = "some of the truth is kept for measurements to come")
)]

mod accounts;
mod banks;
mod big;
mod bills;
mod calendar;
mod errands;
mod finish;
mod habits;
mod merchants;
mod noise;
mod pay;
mod people;
mod phrases;
mod preset;
mod rng;
mod stage;
mod subscriptions;
mod told;
mod transfers;
mod words;

#[cfg(test)]
mod tests;

use base::Date;
use base::category::Category;
use base::draft::{AccountDraft, TransactionDraft};

pub(crate) use big::big;
pub(crate) use calendar::Cadence;
pub(crate) use preset::{Preset, Region};

use stage::Stage;

/// Goes up with every change of what a seed gives, so that a measurement says what it was made on.
pub(crate) const GENERATOR_VERSION: u32 = 1;

/// One household as its banks would tell it, and beside it what is really true.
pub(crate) struct World {
    pub(crate) region: Region,
    /// The window, both ends in it.
    pub(crate) since: Date,
    pub(crate) as_of: Date,
    /// Without their transactions, which are below.
    pub(crate) accounts: Vec<AccountDraft>,
    /// By day.
    pub(crate) transactions: Vec<Labelled>,
    /// `Truth::stream` is an index into these.
    pub(crate) streams: Vec<Stream>,
}

pub(crate) struct Labelled {
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
    /// Both legs of a movement between own accounts have the same number.
    pub(crate) pair: Option<u32>,
    /// Also on a leg whose other leg is not in view.
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

/// What makes a row harder than it need be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// The description lost its merchant, or most of it.
    BrokenKey,
    /// The day is one off, as where a bank's midnight is not the person's.
    DayOff,
    /// The same row once more.
    Duplicate,
    /// The two legs differ by a fee.
    Fee,
    /// Neither the other account nor a word of transfer is in the description.
    NoHint,
    /// The other leg is outside the window, or was never delivered.
    OtherLegMissing,
    /// Taken back within days, with the row that takes it back.
    Reversed,
    /// Still pending, though what it became is there too.
    Stale,
    /// The posted amount has a tip that the pending one had not.
    Tip,
    /// The first charge of a contract, far below its price.
    Trial,
}

/// A contract, wage or standing order that really exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) account: usize,
    pub(crate) merchant: String,
    pub(crate) category: Category,
    pub(crate) cadence: Cadence,
    pub(crate) amounts: Amounts,
    /// When the next one will post; none when it ended within the window.
    pub(crate) next_on: Option<Date>,
    /// Posted in the window, duplicates aside.
    pub(crate) occurrences: usize,
    /// Too few of them to know that it repeats: missing it is no fault.
    pub(crate) short: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amounts {
    /// One price, with a rise now and then.
    Fixed,
    Varying,
}

/// The household of that number. `months` is how far back its banks remember, except for
/// [`Preset::NewUser60d`], whose banks tell 60 days.
pub(crate) fn household(preset: Preset, seed: u64, months: u32) -> World {
    let mut stage = Stage::new(preset, seed, months);
    for entity in ENTITIES {
        stage.play(entity, 0);
    }
    // A statement is the sum of what was bought, so it comes last.
    stage.play(&CARD_AUTOPAY, 0);
    finish::finish(stage)
}

/// Something that happens to a household, with a stream of chance under its own name.
struct Entity {
    name: &'static str,
    happen: fn(&mut Stage, &mut rng::Rng),
}

const fn entity(name: &'static str, happen: fn(&mut Stage, &mut rng::Rng)) -> Entity {
    Entity { name, happen }
}

const ENTITIES: &[Entity] = &[
    entity("pay", pay::wages),
    entity("second pay", pay::second_wages),
    entity("pension", pay::pension),
    entity("gig", pay::gig),
    entity("interest", pay::interest),
    entity("tax refund", pay::tax_refund),
    entity("home", bills::home),
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
