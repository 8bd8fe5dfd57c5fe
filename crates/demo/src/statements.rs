//! Converts the simulated transactions into statement drafts, as an aggregator would deliver them.

use base::draft::TransactionDraft;
use base::draft::{AccountDraft, AccountKind, BalanceDraft, HoldingDraft, PastBalance};
use base::draft::{AssetClass, RateDraft, SecurityDraft, SecurityKind, Source, Statement};
use base::{Currency, Fixed9, Money, Timestamp, date_from_days};
use xxhash_rust::xxh3::xxh3_64;

use super::accounts::{Account, Bank};
use super::calendar::{Day, add_months, business_day_on_or_before, month_ends, monthly};
use super::draw::Draw;
use super::entry::Entry;
use super::portfolio::{Position, SECURITIES, fixed_price};
use super::world::World;
use super::{abroad, cards, transfers};

pub(super) fn all(world: &World, hints: bool) -> Vec<Statement> {
    let of = |bank: Bank| {
        let mut statement = empty(world, bank, world.as_of);
        let accounts = Account::ALL.into_iter().filter(|it| it.facts().bank == bank);
        statement.accounts = accounts.map(|it| account(world, it, hints)).collect();
        if bank == Bank::N26 {
            statement.rates = rates(world);
        }
        statement
    };
    Bank::ALL.into_iter().map(of).collect()
}

/// A statement of the bank without accounts.
pub(super) fn empty(world: &World, bank: Bank, as_of: Timestamp) -> Statement {
    let entity = format!("connection/{}", bank.name());
    Statement {
        source: Source::Demo,
        connection: format!("demo-{}", world.draw(&entity).id()),
        institution: Some(bank.name().to_owned()),
        as_of,
        accounts: Vec::new(),
        rates: Vec::new(),
    }
}

/// The draft of an account without balances and transactions.
pub(super) fn bare_account(world: &World, account: Account) -> AccountDraft {
    let (facts, identity) = (account.facts(), world.identity(account));
    let closed = account == Account::College && world.college_closed_on <= world.today;
    let rate = facts.rate.map(|it| Fixed9::from_billionths(i128::from(it) * 10_000_000));
    let pays = facts.kind == AccountKind::Depository;
    AccountDraft {
        mask: Some(identity.mask.clone()),
        subtype: Some(facts.subtype.to_owned()),
        institution_name: Some(facts.bank.name().to_owned()),
        closed_on: closed.then(|| date_from_days(world.college_closed_on)),
        interest_rate: rate.filter(|_| facts.kind.is_debt()),
        apy_display: facts.rate.filter(|_| pays).map(|it| format!("{}.{:02}%", it / 100, it % 100)),
        next_payment_due_on: next_due(world, account).map(date_from_days),
        ..AccountDraft::new(&identity.external_id, facts.name, facts.kind, account.currency())
    }
}

fn account(world: &World, account: Account, hints: bool) -> AccountDraft {
    let entries = world.book.iter().filter(|it| it.account == account);
    let transactions: Vec<TransactionDraft> =
        entries.map(|it| transaction(world, it, hints)).collect();
    let held: i64 = pending(world, account).map(|it| it.pending_minor.min(0)).sum();
    let signed = worth(world, account, world.today);
    AccountDraft {
        balance: Some(balance(account, world.as_of, signed, held)),
        past_balances: past_balances(world, account),
        transactions,
        holdings: account.is_invested().then(|| holdings(world, account)),
        ..bare_account(world, account)
    }
}

/// The balance of an account. `signed` counts debts as negative; `held` is the total of pending debits, as a negative
/// number.
pub(super) fn balance(account: Account, as_of: Timestamp, signed: i64, held: i64) -> BalanceDraft {
    let facts = account.facts();
    let current_minor = if facts.kind.is_debt() { -signed } else { signed };
    let available_minor = match facts.kind {
        AccountKind::Depository => Some(signed + held),
        AccountKind::Credit => facts.limit_minor.map(|limit| limit + signed + held),
        _ => None,
    };
    BalanceDraft { as_of, current_minor, available_minor, limit_minor: facts.limit_minor }
}

/// The pending transactions of an account.
pub(super) fn pending(world: &World, account: Account) -> impl Iterator<Item = &Entry> {
    world.book.iter().filter(move |it| it.account == account && is_pending(world, it))
}

pub(super) fn is_pending(world: &World, entry: &Entry) -> bool {
    entry.posted_on > world.today
}

/// The total value of an account: cash and positions. Contributions to the retirement plan become positions at once.
fn worth(world: &World, account: Account, day: Day) -> i64 {
    let cash = if account == Account::Retirement { 0 } else { world.balance(account, day) };
    cash + world.portfolio.value(account, day)
}

/// Recorded balances: at month ends, and weekly for investment accounts.
fn past_balances(world: &World, account: Account) -> Vec<PastBalance> {
    let last = match account {
        Account::College => world.college_closed_on.min(world.today) - 1,
        _ => world.today - 1,
    };
    let past = |day: Day, signed: i64| {
        let current_minor = balance(account, world.as_of, signed, 0).current_minor;
        PastBalance { on: date_from_days(day), current_minor }
    };
    if account.is_invested() {
        let weeks = (world.start..=last).rev().step_by(7);
        return weeks.map(|day| past(day, worth(world, account, day))).collect();
    }
    let daily = world.daily_balances(account);
    let ends = month_ends(world.start, last).into_iter();
    ends.map(|day| past(day, daily[(day - world.start + 1) as usize])).collect()
}

/// The transaction's id. A pending transaction gets another id once it is booked.
pub(super) fn external_id(world: &World, entry: &Entry) -> String {
    match is_pending(world, entry) {
        true => world.draw(&format!("pending/{}", entry.id)).id(),
        false => entry.id.clone(),
    }
}

fn transaction(world: &World, entry: &Entry, hints: bool) -> TransactionDraft {
    let pending = is_pending(world, entry);
    let minor = if pending { entry.pending_minor } else { entry.minor };
    let seen_on = if pending { entry.authorized_on } else { None };
    TransactionDraft {
        external_id: Some(external_id(world, entry)),
        pending,
        posted_on: date_from_days(seen_on.unwrap_or(entry.posted_on)),
        amount: Money::new(minor, entry.account.currency()),
        ..booked(entry, hints)
    }
}

/// The draft of a booked transaction.
pub(super) fn booked(entry: &Entry, hints: bool) -> TransactionDraft {
    let hinted = hints && is_hinted(entry);
    let named = hinted && entry.label.pair.is_none();
    TransactionDraft {
        external_id: Some(entry.id.clone()),
        pending: false,
        settles: None,
        posted_on: date_from_days(entry.posted_on),
        authorized_on: entry.authorized_on.map(date_from_days),
        amount: Money::new(entry.minor, entry.account.currency()),
        description: entry.description.clone(),
        counterparty: named.then(|| entry.merchant.clone().into_owned()),
        counterparty_logo_url: None,
        category: hinted.then_some(entry.category),
    }
}

/// Whether the aggregator adds a name and a category: for about 85 of 100 rows, and never for paper checks.
fn is_hinted(entry: &Entry) -> bool {
    xxh3_64(entry.id.as_bytes()) % 1000 < 855 && !entry.label.tags.contains(&"paper_check")
}

fn next_due(world: &World, account: Account) -> Option<Day> {
    match account {
        Account::Gold | Account::Freedom => cards::next_due(world, account),
        Account::CarLoan => {
            let last = monthly(transfers::LOAN_DAY, world.start, world.today).pop()?;
            Some(add_months(last, 1))
        }
        _ => None,
    }
}

fn holdings(world: &World, account: Account) -> Vec<HoldingDraft> {
    let positions = world.portfolio.positions(account, world.today);
    let mut holdings: Vec<HoldingDraft> =
        positions.iter().map(|it| holding(world, account, it)).collect();
    if account != Account::Retirement {
        holdings.push(cash_holding(world, world.balance(account, world.today)));
    }
    holdings
}

fn holding(world: &World, account: Account, position: &Position) -> HoldingDraft {
    let facts = &SECURITIES[position.security];
    let day = business_day_on_or_before(world.today);
    let price = |day| fixed_price(world.portfolio.price(position.security, day));
    // A security without a symbol has no price, only the value that the plan states.
    let priced = facts.symbol.is_some();
    let value = position.quantity.times_price(price(day), account.currency().decimals());
    HoldingDraft {
        security: SecurityDraft {
            external_id: world.draw(&format!("security/{}", position.security)).id(),
            symbol: facts.symbol.map(str::to_owned),
            name: facts.name.to_owned(),
            kind: facts.kind,
            asset_class: facts.class,
            currency: Currency::USD,
            price: priced.then(|| price(day)),
            previous_close: priced.then(|| price(business_day_on_or_before(day - 1))),
            priced_at: priced
                .then(|| world.portfolio.priced_at(position.security).unwrap_or(world.as_of)),
        },
        quantity: position.quantity,
        cost_basis_minor: position.cost_minor,
        institution_value_minor: value,
    }
}

fn cash_holding(world: &World, minor: i64) -> HoldingDraft {
    HoldingDraft {
        security: SecurityDraft {
            external_id: Draw::new(world.seed, 0, "security/cash").id(),
            symbol: Some("SPAXX".to_owned()),
            name: "Fidelity Government Money Market Fund".to_owned(),
            kind: SecurityKind::Cash,
            asset_class: AssetClass::Cash,
            currency: Currency::USD,
            price: Some(Fixed9::ONE),
            previous_close: Some(Fixed9::ONE),
            priced_at: Some(world.as_of),
        },
        quantity: Fixed9::from_billionths(i128::from(minor) * 10_000_000),
        cost_basis_minor: Some(minor),
        institution_value_minor: Some(minor),
    }
}

fn rates(world: &World) -> Vec<RateDraft> {
    let rate = |(day, rate): (Day, i64)| RateDraft {
        from: Currency::EUR,
        to: Currency::USD,
        on: date_from_days(day),
        rate: fixed_price(rate),
    };
    abroad::rates(world.seed, world.start, world.today).into_iter().map(rate).collect()
}
