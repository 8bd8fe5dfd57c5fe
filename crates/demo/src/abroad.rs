//! The euro account, the transfers and purchases on it, and the EUR/USD exchange rates.

use super::accounts::Account;
use super::calendar::{Day, business_day_on_or_after, month_ends};
use super::draw::{Draw, MILD};
use super::entry::Entry;
use super::events::lisbon_day;
use super::world::{Transfer, World};

/// The EUR/USD rate (dollars per euro, in ten-thousandths) on the first day, on the last day of each month and today.
pub(super) fn rates(seed: u64, start: Day, today: Day) -> Vec<(Day, i64)> {
    let mut draw = Draw::new(seed, 0, "rate/eur-usd");
    let mut rate = draw.between(1_0650, 1_1150);
    let mut rates = vec![(start, rate)];
    for day in month_ends(start + 1, today - 1).into_iter().chain([today]) {
        rate += draw.between(-150, 160);
        rates.push((day, rate));
    }
    rates
}

fn rate_on(rates: &[(Day, i64)], day: Day) -> i64 {
    rates.iter().rev().find(|(on, _)| *on <= day).map_or(1_0850, |(_, rate)| *rate)
}

pub(super) fn holiday_account(world: &mut World) {
    world.open(Account::Euro, 640_00);
    let rates = rates(world.seed, world.start, world.today);
    let arrival = lisbon_day(world);
    let mut draw = world.draw("transfer/euro");
    for leaves_on in [world.start + 120, arrival - 75, arrival - 20] {
        let leaves_on = business_day_on_or_after(leaves_on);
        let arrives_on = business_day_on_or_after(leaves_on + draw.between(1, 2));
        let dollars = draw.between(6, 12) * 50_00;
        exchange(world, &mut draw, (leaves_on, arrives_on), dollars, rate_on(&rates, leaves_on));
    }
    let rows = [
        ("Lastschrift AIRBNB IRELAND UC", "Airbnb", "TRAVEL_LODGING", -58, 384_00),
        (
            "Kartenzahlung CONTINENTE BOM DIA LISBOA",
            "Continente",
            "FOOD_AND_DRINK_GROCERIES",
            0,
            32_00,
        ),
        ("Kartenzahlung CERVEJARIA RAMIRO LISBOA", "Ramiro", "FOOD_AND_DRINK_RESTAURANT", 1, 78_00),
        ("Kartenzahlung CP COMBOIOS SINTRA", "CP", "TRANSPORTATION_PUBLIC_TRANSIT", 2, 9_20),
        ("Kartenzahlung BOLT.EU/O/2409", "Bolt", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", 3, 8_40),
        (
            "Kartenzahlung LIVRARIA BERTRAND LISBOA",
            "Bertrand",
            "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS",
            4,
            24_00,
        ),
    ];
    for (words, name, code, after, median) in rows {
        let minor = -draw.around(median, &MILD);
        let on = arrival + after;
        let entry = Entry::posted(&mut draw, Account::Euro, on, minor, words.to_owned());
        world.add(entry.by(name, code));
    }
}

/// Adds a transfer with one leg in dollars and one in euros. The provider keeps 0.6 % as its fee.
fn exchange(
    world: &mut World,
    draw: &mut Draw,
    (leaves_on, arrives_on): (Day, Day),
    dollars: i64,
    rate: i64,
) {
    let person = format!("{} {}", world.people.first, world.people.family);
    let transfer = Transfer {
        from: Account::Checking,
        to: Account::Euro,
        minor: dollars,
        leaves_on,
        arrives_on,
        kind: "exchange",
        words: (
            format!("WISE US INC      WISE       {} WEB ID: 1453233521", draw.digits(8)),
            format!("SEPA-Gutschrift Wise {person}"),
        ),
        categories: ("TRANSFER_OUT_ACCOUNT_TRANSFER", "TRANSFER_IN_ACCOUNT_TRANSFER"),
        stream: None,
    };
    let before = world.book.len();
    world.transfer(draw, transfer);
    for entry in world.book[before..].iter_mut().filter(|it| it.account == Account::Euro) {
        entry.minor = dollars * 9_940 / rate;
        entry.pending_minor = entry.minor;
    }
}
