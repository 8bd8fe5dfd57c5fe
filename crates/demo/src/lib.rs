//! The household simulator. A seed gives two years of transactions of a two-earner household, the correct labels of
//! each transaction (to measure detection against), and a live feed of new transactions.
//!
//! Nothing here reads a clock: the same seed and moment give the same bytes.

#![expect(clippy::inconsistent_digit_grouping, reason = "12_50 reads as twelve dollars fifty")]

mod abroad;
mod accounts;
mod bills;
mod calendar;
mod cards;
mod draw;
mod entry;
mod events;
mod feed;
mod goals;
mod habits;
mod income;
mod invest;
mod load;
mod merchants;
mod places;
mod portfolio;
mod returns;
mod statements;
mod subscriptions;
#[cfg(test)]
mod tests;
mod transfers;
mod truth;
mod wording;
mod world;

use base::draft::Statement;
use base::{Date, Timestamp, date_from_days};

use accounts::Account;
use world::World;

pub use goals::{GoalSeed, Person};
pub use load::load;
pub use portfolio::{MarketPrice, symbols};
pub use truth::TruthRow;

/// The version of the generated data. Raise it whenever the same seed gives other data, so that measurements name the
/// data they used.
pub const GENERATOR_VERSION: u32 = 1;

pub struct Household {
    world: World,
    hints: bool,
}

/// The one balance change without a transaction, for tests of balance histories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexplained {
    pub account_external_id: String,
    pub on: Date,
    pub amount_minor: i64,
}

impl Household {
    /// Simulates the two years that end on the day of `as_of`.
    pub fn new(seed: u64, as_of: Timestamp) -> Household {
        Household::with_prices(seed, as_of, Vec::new())
    }

    /// Like `new`, with these prices on the last day, so that holdings agree with the market of a demonstration.
    pub fn with_prices(seed: u64, as_of: Timestamp, prices: Vec<MarketPrice>) -> Household {
        let mut world = World::new(seed, as_of);
        generate(&mut world, prices);
        world
            .book
            .sort_by(|a, b| (a.account, a.posted_on, &a.id).cmp(&(b.account, b.posted_on, &b.id)));
        Household { world, hints: true }
    }

    /// Leaves out the merchant names and categories that an aggregator would add, to measure detection on the bank's
    /// descriptors alone.
    pub fn without_hints(mut self) -> Household {
        self.hints = false;
        self
    }

    /// The statements of all banks at `as_of`.
    pub fn statements(&self) -> Vec<Statement> {
        statements::all(&self.world, self.hints)
    }

    /// The correct labels: one row for each transaction of `statements`, including pending ones.
    pub fn truth(&self) -> Vec<TruthRow> {
        self.world.book.iter().map(|entry| truth::row(&self.world, entry)).collect()
    }

    /// New transactions after `after` up to `until`, about one every `every_seconds`, with the balances they lead to.
    /// Stateless: the events of a moment are determined by the moment, so a restart neither repeats nor collides.
    /// After a long gap only the last slots are published.
    ///
    /// `after` must not be before the household's `as_of`. After a restart, create the household with its first
    /// `as_of` again, or balances jump.
    pub fn feed(&self, after: Timestamp, until: Timestamp, every_seconds: u32) -> Vec<Statement> {
        feed::statements(&self.world, self.hints, feed::Window { after, until, every_seconds })
    }

    pub fn goals(&self) -> Vec<GoalSeed> {
        goals::goals(&self.world)
    }

    pub fn person(&self) -> Person {
        goals::person(&self.world)
    }

    /// External ids of the accounts that the demo user hides.
    pub fn hidden_accounts(&self) -> Vec<String> {
        vec![self.world.identity(Account::Gifts).external_id.clone()]
    }

    pub fn unexplained(&self) -> Option<Unexplained> {
        self.world.unreported.map(|it| Unexplained {
            account_external_id: self.world.identity(it.account).external_id.clone(),
            on: date_from_days(it.on),
            amount_minor: it.minor,
        })
    }
}

/// Generates all transactions. Order matters: card payments come after the purchases, sweeps after the bills,
/// interest last, because each depends on the balances before it.
fn generate(world: &mut World, prices: Vec<MarketPrice>) {
    world.portfolio = portfolio::Portfolio::new(world.seed, world.start, world.today, prices);
    world.college_closed_on = world.start + world.draw("account/college/end").between(200, 260);
    world.open(Account::HighYield, 8_750_00);
    world.open(Account::Gifts, 240_00);
    world.open(Account::Gold, -1_184_60);
    world.open(Account::Freedom, -642_15);

    income::paychecks(world);
    income::gig_work(world);
    income::taxes(world);
    income::college_fee(world);
    bills::home(world);
    bills::bills(world);
    subscriptions::subscriptions(world);
    habits::daily_life(world);
    events::friends(world);
    events::cash(world);
    events::shocks(world);
    events::journeys(world);
    events::giving(world);
    cards::gold_perks(world);
    events::repayments(world);
    returns::double_charge(world);
    returns::refunds(world);

    transfers::plans(world);
    transfers::investing(world);
    transfers::car_loan(world);
    transfers::exceptions(world);
    abroad::holiday_account(world);
    income::retirement_contributions(world);
    invest::activity(world);
    cards::pay_gold(world);
    cards::pay_freedom(world);
    transfers::sweeps(world);
    income::interest(world);
}
