//! The two credit cards: one has an annual fee and statement credits, the other carries a debt for several months.

use super::accounts::Account;
use super::calendar::{
    Cadence, Day, add_months, business_day_on_or_after, first_of_month, monthly,
};
use super::draw::{Draw, USUAL};
use super::entry::Entry;
use super::events::shock_day;
use super::merchants::{Merchant, Shape, merchant};
use super::transfers::pull_from_savings;
use super::wording;
use super::world::{Transfer, World};

const RESTAURANT: &str = "FOOD_AND_DRINK_RESTAURANT";

const DINING: [Merchant; 3] = [
    merchant("Grubhub", "GRUBHUB*", Shape::Online, RESTAURANT),
    merchant("The Cheesecake Factory", "CHEESECAKE FACTORY", Shape::Store, RESTAURANT),
    merchant("Five Guys", "FIVE GUYS", Shape::Store, "FOOD_AND_DRINK_FAST_FOOD"),
];
const DUNKIN: [Merchant; 1] =
    [merchant("Dunkin'", "DUNKIN", Shape::Store, "FOOD_AND_DRINK_COFFEE")];
const RESY: [Merchant; 1] = [merchant("Resy", "RESY* LITTLE FINCH", Shape::Plain, RESTAURANT)];

/// Purchases and statement credits of the Gold card. The credits of the current month stay unused, so they are about
/// to expire.
pub(super) fn gold_perks(world: &mut World) {
    annual_fee(world);
    let this_month = first_of_month(world.today);
    for (index, first) in monthly(1, world.start, this_month - 1).into_iter().enumerate() {
        let perks = [
            ("dining", &DINING[..], 24_00, 10_00, "AMEX DINING CREDIT", 720),
            ("dunkin", &DUNKIN[..], 9_40, 7_00, "AMEX DUNKIN' CREDIT", 610),
        ];
        for (name, merchants, median, credit, words, chance) in perks {
            let mut draw = world.draw(&format!("perk/{name}/{index}"));
            if draw.permille(chance) {
                let on = first + draw.between(2, 19);
                let price = draw.around(median, &USUAL).max(credit);
                use_perk(world, &mut draw, merchants, (on, price), (credit, words));
            }
        }
        // The half-yearly dining credit is used in most half-years.
        let mut draw = world.draw(&format!("perk/resy/{index}"));
        if index % 6 == 3 && draw.permille(800) {
            let (on, price) = (first + draw.between(2, 19), draw.between(62_00, 118_00));
            use_perk(world, &mut draw, &RESY, (on, price), (50_00, "AMEX RESY CREDIT"));
        }
    }
}

fn use_perk(
    world: &mut World,
    draw: &mut Draw,
    merchants: &[Merchant],
    (on, price): (Day, i64),
    (credit, words): (i64, &str),
) {
    let merchant = draw.pick(merchants);
    let purchase = world.purchase(draw, Account::Gold, merchant, on, price);
    let credited_on = purchase.posted_on + draw.between(1, 4);
    let entry = Entry::posted(draw, Account::Gold, credited_on, credit, words.to_owned());
    let entry = entry.by("American Express", merchant.category);
    let entry = entry.refund_of(&purchase.id).tag("statement_credit");
    world.add(purchase);
    world.add(entry);
}

fn annual_fee(world: &mut World) {
    let mut draw = world.draw("perk/annual-fee");
    let first = world.start + draw.between(40, 300);
    for on in Cadence::Annually.slots(first, world.today) {
        let words = "ANNUAL MEMBERSHIP FEE".to_owned();
        let entry = Entry::posted(&mut draw, Account::Gold, on, -325_00, words);
        let entry = entry.by("American Express", "BANK_FEES_OTHER_BANK_FEES");
        world.add(entry.stream("fee/gold", Cadence::Annually));
    }
}

const GRACE: Day = 25;

fn closing_day(world: &World, card: Account) -> i8 {
    world.draw(&format!("closing/{}", card.entity())).between(3, 24) as i8
}

fn closings(world: &World, card: Account) -> Vec<Day> {
    monthly(closing_day(world, card), world.start, world.today)
}

/// The date of the next payment due: for the last statement, or for the coming one.
pub(super) fn next_due(world: &World, card: Account) -> Option<Day> {
    let last = *closings(world, card).last()?;
    let due = last + GRACE;
    Some(if due > world.today { due } else { add_months(last, 1) + GRACE })
}

/// Pays the Gold card in full from the joint account, by autopay.
pub(super) fn pay_gold(world: &mut World) {
    let mut draw = world.draw("payment/gold");
    for closing in closings(world, Account::Gold) {
        let owed = -world.balance(Account::Gold, closing);
        let leaves_on = business_day_on_or_after(closing + GRACE);
        let words = (
            format!("AMERICAN EXPRESS ACH PMT    M{} WEB ID: 2005032111", draw.digits(4)),
            "AUTOPAY PAYMENT - THANK YOU".to_owned(),
        );
        let arrives_on = leaves_on + draw.between(-1, 2);
        let legs = (Account::Checking, Account::Gold);
        pay(world, &mut draw, legs, (leaves_on, arrives_on, owed), words);
    }
}

/// Pays the Freedom card in full until the hospital bill. After it, part of the debt is carried for months, one
/// payment is missed, and interest and a late fee follow.
pub(super) fn pay_freedom(world: &mut World) {
    let mut draw = world.draw("payment/freedom");
    let shock = shock_day(world);
    let mut carried = 0;
    let mut months = 0;
    for closing in closings(world, Account::Freedom) {
        charge_interest(world, &mut draw, closing, carried);
        let owed = -world.balance(Account::Freedom, closing);
        let leaves_on = business_day_on_or_after(closing + GRACE);
        months += i64::from(closing > shock);
        carried = match months {
            1..=6 => (1_750_00 - 300_00 * (months - 1)).min(owed),
            _ => 0,
        };
        if months == 3 {
            late_fee(world, &mut draw, leaves_on + 1);
            carried = owed;
            continue;
        }
        let minor = owed - carried;
        if minor > 1_900_00 {
            pull_from_savings(world, &mut draw, leaves_on - 3, minor - 1_400_00);
        }
        let words = (
            wording::ach(Account::Spending, "CHASE CREDIT CRD", "AUTOPAY", "PPD"),
            format!("AUTOMATIC PAYMENT - THANK YOU {}", draw.digits(8)),
        );
        let arrives_on = leaves_on + draw.between(-1, 1);
        let legs = (Account::Spending, Account::Freedom);
        pay(world, &mut draw, legs, (leaves_on, arrives_on, minor), words);
    }
}

fn pay(
    world: &mut World,
    draw: &mut Draw,
    (from, to): (Account, Account),
    (leaves_on, arrives_on, minor): (Day, Day, i64),
    words: (String, String),
) {
    let stream = format!("payment/{}", to.entity());
    let transfer = Transfer {
        from,
        to,
        minor,
        leaves_on,
        arrives_on,
        kind: "card_payment",
        words,
        categories: ("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
        stream: Some((&stream, Cadence::Monthly)),
    };
    world.transfer(draw, transfer);
}

fn charge_interest(world: &mut World, draw: &mut Draw, closing: Day, carried: i64) {
    let interest = carried * Account::Freedom.facts().rate.unwrap_or(0) / 120_000;
    if interest > 0 {
        let words = "PURCHASE INTEREST CHARGE".to_owned();
        let entry = Entry::posted(draw, Account::Freedom, closing, -interest, words);
        world.add(entry.by("Chase", "BANK_FEES_INTEREST_CHARGE"));
    }
}

fn late_fee(world: &mut World, draw: &mut Draw, on: Day) {
    let entry = Entry::posted(draw, Account::Freedom, on, -40_00, "LATE FEE".to_owned());
    world.add(entry.by("Chase", "BANK_FEES_LATE_FEES"));
}
