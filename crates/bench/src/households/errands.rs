//! What happens now and then: errands of every kind, tolls, and the bill nobody planned.

use super::merchants::{self, Group, Merchant};
use super::rng::Rng;
use super::stage::{Payee, Stage, Way};
use super::words::Channel;

/// Merchants of all everyday kinds, each with the household's own branches.
fn everything(stage: &Stage, rng: &mut Rng) -> Vec<Payee> {
    let taxes = |it: &Merchant| !it.category.ends_with("TAX_PAYMENT");
    let all = merchants::groups(stage.region).iter().flat_map(Group::merchants).filter(taxes);
    all.map(|merchant| stage.payee(rng, merchant)).collect()
}

pub(super) fn errands(stage: &mut Stage, rng: &mut Rng) {
    let payees = everything(stage, rng);
    for day in stage.first..=stage.last {
        while stage.likely(rng, 22) {
            run(stage, rng, &payees, day);
        }
    }
}

/// So many errands on any days, to fill a household up to a size.
pub(super) fn many(stage: &mut Stage, rng: &mut Rng, count: usize) {
    let payees = everything(stage, rng);
    for _ in 0..count {
        let day = rng.between(stage.first, stage.last);
        run(stage, rng, &payees, day);
    }
}

fn run(stage: &mut Stage, rng: &mut Rng, payees: &[Payee], day: i64) {
    let payee = rng.pick(payees);
    let minor = rng.lognormal(payee.merchant.typical_minor, 600);
    let channel = if rng.chance(75) { Channel::Shop } else { Channel::Online };
    let account = stage.spending_account(rng);
    stage.pay(rng, &Way { account, payee, channel }, day, -minor);
}

/// One price whenever the tag is empty: fixed, frequent, and on no calendar.
pub(super) fn tolls(stage: &mut Stage, rng: &mut Rng) {
    let payees = stage.haunts(rng, "TRANSPORTATION_TOLLS", 1);
    let account = stage.spending_account(rng);
    let drives = rng.chance(30);
    let mut day = stage.first + rng.between(0, 30);
    while drives && day <= stage.last {
        let way = Way { account, payee: &payees[0], channel: Channel::Online };
        stage.pay(rng, &way, day, -2_500);
        day += rng.between(9, 50);
    }
}

/// Four in ten households have one a year: a doctor, a car, a tax.
pub(super) fn shock(stage: &mut Stage, rng: &mut Rng) {
    let kinds = [
        "MEDICAL_DENTAL_CARE",
        "GENERAL_SERVICES_AUTOMOTIVE",
        "GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT",
    ];
    let mut day = stage.first;
    while day <= stage.last {
        let kind = *rng.pick(&kinds);
        let payees = stage.haunts(rng, kind, 1);
        let minor = rng.lognormal(150_000, 300);
        let on = day + rng.between(0, 364);
        let account = stage.spending_account(rng);
        if rng.chance(40) {
            let way = Way { account, payee: &payees[0], channel: Channel::Online };
            stage.pay(rng, &way, on, -minor);
        }
        day += 365;
    }
}
