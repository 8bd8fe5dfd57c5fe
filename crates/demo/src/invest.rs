//! Brokerage and retirement activity: purchases, dividends and a sale.

use base::Fixed9;

use super::accounts::Account;
use super::calendar::{Cadence, Day, business_day_on_or_after};
use super::draw::Draw;
use super::entry::Entry;
use super::portfolio::{AAPL, BND, Lot, SECURITIES, VTI, VXUS, value};
use super::world::World;

/// A purchase after each deposit, a dividend each quarter, and one sale.
pub(super) fn activity(world: &mut World) {
    world.open(Account::Brokerage, 318_42);
    world.open(Account::Roth, 41_07);
    let deposits: Vec<(Account, Day, i64)> = world
        .book
        .iter()
        .filter(|it| matches!(it.account, Account::Brokerage | Account::Roth))
        .map(|it| (it.account, it.posted_on, it.minor))
        .collect();
    let mut draw = world.draw("invest/buys");
    for (index, (account, arrived_on, minor)) in deposits.into_iter().enumerate() {
        let on = business_day_on_or_after(arrived_on + 1);
        let security = match account {
            Account::Brokerage => VTI,
            _ if index % 3 == 0 => BND,
            _ => VXUS,
        };
        if on <= world.today {
            let cost = world.portfolio.buy(account, security, on, minor);
            trade(world, &mut draw, (account, on, -cost), "YOU BOUGHT", security);
        }
    }
    dividends(world);
    sale(world);
}

fn trade(
    world: &mut World,
    draw: &mut Draw,
    row: (Account, Day, i64),
    verb: &str,
    security: usize,
) {
    let (account, on, minor) = row;
    let facts = &SECURITIES[security];
    let symbol = facts.symbol.unwrap_or("");
    let words = format!("{verb} {} ({symbol}) (Cash)", facts.name.to_uppercase());
    let code = match minor {
        ..0 => "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS",
        _ => "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS",
    };
    let entry = Entry::posted(draw, account, on, minor, words);
    world.add(entry.by("Fidelity Investments", code).tag("trade"));
}

fn dividends(world: &mut World) {
    for account in [Account::Brokerage, Account::Roth] {
        for (security, facts) in SECURITIES.iter().enumerate().filter(|it| it.1.dividend > 0) {
            let stream = format!("dividend/{}/{security}", account.entity());
            let mut draw = world.draw(&stream);
            let first = world.start + draw.between(5, 80);
            for slot in Cadence::Quarterly.slots(first, world.today) {
                let on = business_day_on_or_after(slot);
                let held = world.portfolio.positions(account, on);
                let Some(position) = held.iter().find(|it| it.security == security) else {
                    continue;
                };
                let worth = value(position.quantity, world.portfolio.price(security, on));
                let minor = worth * facts.dividend / 1_000_000;
                let (name, symbol) = (facts.name.to_uppercase(), facts.symbol.unwrap_or(""));
                let words = format!("DIVIDEND RECEIVED {name} ({symbol}) (Cash)");
                let entry = Entry::posted(&mut draw, account, on, minor, words);
                let entry = entry.by("Fidelity Investments", "INCOME_DIVIDENDS");
                world.add(entry.stream(&stream, Cadence::Quarterly).income("passive"));
            }
        }
    }
}

/// Sells a few shares at their average cost.
fn sale(world: &mut World) {
    let mut draw = world.draw("invest/sale");
    let on = business_day_on_or_after(world.start + draw.between(380, 460));
    let held = world.portfolio.positions(Account::Brokerage, on);
    let Some(position) = held.into_iter().find(|it| it.security == AAPL) else { return };
    let sold = Fixed9::from_billionths(5_000_000_000);
    let share = |cost: i64| {
        let part = i128::from(cost) * sold.billionths() / position.quantity.billionths();
        -i64::try_from(part).unwrap_or(0)
    };
    let proceeds = value(sold, world.portfolio.price(AAPL, on));
    world.portfolio.lots.push(Lot {
        account: Account::Brokerage,
        security: AAPL,
        on,
        quantity: Fixed9::from_billionths(-sold.billionths()),
        cost_minor: position.cost_minor.map(share),
    });
    trade(world, &mut draw, (Account::Brokerage, on, proceeds), "YOU SOLD", AAPL);
}
