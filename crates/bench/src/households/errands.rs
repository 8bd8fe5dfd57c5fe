//! Irregular spending: errands of every kind, tolls, and unplanned bills.

use super::builder::{HouseholdBuilder, Payee, Payment};
use super::descriptions::Channel;
use super::merchants::{self, Group, Merchant};
use super::rng::Rng;

/// Payees of all everyday kinds, each with the household's own branches.
fn everyday_payees(builder: &HouseholdBuilder, rng: &mut Rng) -> Vec<Payee> {
    let is_no_tax = |it: &Merchant| !it.category.ends_with("TAX_PAYMENT");
    let all = merchants::groups(builder.region).iter().flat_map(Group::merchants).filter(is_no_tax);
    all.map(|merchant| builder.payee(rng, merchant)).collect()
}

pub(super) fn errands(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = everyday_payees(builder, rng);
    for day in builder.first..=builder.last {
        while builder.likely(rng, 22) {
            run(builder, rng, &payees, day);
        }
    }
}

/// Adds `count` errands on random days, to fill a household up to a size.
pub(super) fn many(builder: &mut HouseholdBuilder, rng: &mut Rng, count: usize) {
    let payees = everyday_payees(builder, rng);
    for _ in 0..count {
        let day = rng.between(builder.first, builder.last);
        run(builder, rng, &payees, day);
    }
}

fn run(builder: &mut HouseholdBuilder, rng: &mut Rng, payees: &[Payee], day: i64) {
    let payee = rng.pick(payees);
    let minor = rng.lognormal(payee.merchant.typical_minor, 600);
    let channel = if rng.chance(75) { Channel::Shop } else { Channel::Online };
    let account = builder.spending_account(rng);
    builder.pay(rng, &Payment { account, payee, channel }, day, -minor);
}

/// Recharges of a toll tag: one price, frequent, and on no schedule.
pub(super) fn tolls(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = builder.usual_payees(rng, "TRANSPORTATION_TOLLS", 1);
    let account = builder.spending_account(rng);
    let drives = rng.chance(30);
    let mut day = builder.first + rng.between(0, 30);
    while drives && day <= builder.last {
        let payment = Payment { account, payee: &payees[0], channel: Channel::Online };
        builder.pay(rng, &payment, day, -2_500);
        day += rng.between(9, 50);
    }
}

/// Unplanned bills, such as a dentist, a car repair or a tax. Four in ten households have one a year.
pub(super) fn shock(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let kinds = [
        "MEDICAL_DENTAL_CARE",
        "GENERAL_SERVICES_AUTOMOTIVE",
        "GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT",
    ];
    let mut day = builder.first;
    while day <= builder.last {
        let kind = *rng.pick(&kinds);
        let payees = builder.usual_payees(rng, kind, 1);
        let minor = rng.lognormal(150_000, 300);
        let on = day + rng.between(0, 364);
        let account = builder.spending_account(rng);
        if rng.chance(40) {
            let payment = Payment { account, payee: &payees[0], channel: Channel::Online };
            builder.pay(rng, &payment, on, -minor);
        }
        day += 365;
    }
}
