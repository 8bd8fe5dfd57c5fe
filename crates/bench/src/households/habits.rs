//! What is bought again and again without any contract: the negatives of recurring streams.

use super::calendar::{weekday, weekdays};
use super::merchants::{self, category};
use super::rng::Rng;
use super::stage::{Payee, Stage, Way};
use super::words::{Channel, sentence};
use super::{Noise, Preset, Region, Truth};

impl Stage {
    /// A few merchants of one kind that this household goes to.
    pub(super) fn haunts(&self, rng: &mut Rng, category: &str, most: usize) -> Vec<Payee> {
        let all = merchants::of(self.region, category);
        let count = rng.between(1, most as i64) as usize;
        rng.some(&all, count).into_iter().map(|it| self.payee(rng, *it)).collect()
    }

    /// How likely something is that would have so many percent in a usual household.
    pub(super) fn likely(&self, rng: &mut Rng, percent: i64) -> bool {
        rng.chance((percent * self.profile.bustle_percent / 100).min(95))
    }

    fn buy(&mut self, rng: &mut Rng, payee: &Payee, on: i64, minor: i64) {
        let account = self.spending_account(rng);
        self.pay(rng, &Way { account, payee, channel: Channel::Shop }, on, -minor);
    }
}

/// Nearly every Saturday, and something in between.
pub(super) fn groceries(stage: &mut Stage, rng: &mut Rng) {
    let shops = stage.haunts(rng, "FOOD_AND_DRINK_GROCERIES", 3);
    let account = stage.spending_account(rng);
    for saturday in weekdays(5, stage.first, stage.last).collect::<Vec<_>>() {
        if rng.chance(88) {
            // The weekly shop is at one place, out of habit.
            let minor = rng.lognormal(9_000, 350);
            let way = Way { account, payee: &shops[0], channel: Channel::Shop };
            stage.pay(rng, &way, saturday, -minor);
        }
        if stage.likely(rng, 55) {
            let shop = rng.pick(&shops);
            let minor = rng.lognormal(shop.merchant.typical_minor / 2, 500);
            let day = saturday + rng.between(1, 6);
            stage.buy(rng, shop, day, minor);
        }
    }
}

/// On working days, at one of three prices.
pub(super) fn coffee(stage: &mut Stage, rng: &mut Rng) {
    let payees = stage.haunts(rng, "FOOD_AND_DRINK_COFFEE", 2);
    let typical = payees[0].merchant.typical_minor;
    let prices = [typical - 100, typical, typical + 125];
    let account = stage.spending_account(rng);
    let share = rng.between(25, 65);
    let drinks = rng.chance(75);
    for day in stage.first..=stage.last {
        if drinks && weekday(day) < 5 && stage.likely(rng, share) {
            let minor = *rng.pick(&prices);
            let way = Way { account, payee: rng.pick(&payees), channel: Channel::Shop };
            stage.pay(rng, &way, day, -minor);
        }
    }
}

/// One fare, there and back.
pub(super) fn transit(stage: &mut Stage, rng: &mut Rng) {
    let payees = stage.haunts(rng, "TRANSPORTATION_PUBLIC_TRANSIT", 1);
    let fare = payees[0].merchant.typical_minor;
    let account = stage.spending_account(rng);
    let rides = rng.chance(40) && stage.preset != Preset::Retired;
    for day in stage.first..=stage.last {
        if rides && weekday(day) < 5 && stage.likely(rng, 45) {
            let way = Way { account, payee: &payees[0], channel: Channel::Shop };
            stage.pay(rng, &way, day, -fare);
            stage.pay(rng, &way, day, -fare);
        }
    }
}

pub(super) fn fuel(stage: &mut Stage, rng: &mut Rng) {
    let payees = stage.haunts(rng, "TRANSPORTATION_GAS", 3);
    let drives = rng.chance(80);
    let mut day = stage.first + rng.between(0, 9);
    while drives && day <= stage.last {
        let payee = rng.pick(&payees);
        let minor = rng.lognormal(payee.merchant.typical_minor, 220);
        stage.buy(rng, payee, day, minor);
        day += rng.between(6, 13) * 100 / stage.profile.bustle_percent.max(50);
    }
}

/// With a tip in America; some banks forget to take the pending row away.
pub(super) fn restaurants(stage: &mut Stage, rng: &mut Rng) {
    let mut payees = stage.haunts(rng, "FOOD_AND_DRINK_RESTAURANT", 8);
    payees.extend(stage.haunts(rng, "FOOD_AND_DRINK_FAST_FOOD", 4));
    for day in stage.first..=stage.last {
        if !stage.likely(rng, if weekday(day) >= 4 { 35 } else { 14 }) {
            continue;
        }
        let payee = rng.pick(&payees);
        let bill = rng.lognormal(payee.merchant.typical_minor, 380);
        let account = stage.spending_account(rng);
        let way = Way { account, payee, channel: Channel::Shop };
        if stage.region == Region::Europe || payee.merchant.category.ends_with("FAST_FOOD") {
            stage.pay(rng, &way, day, -bill);
            continue;
        }
        let total = bill * rng.between(115, 120) / 100;
        let posted = day + rng.between(0, 2);
        let stale = rng.per_mille(stage.profile.mess.stale);
        let row = stage.pay(rng, &way, posted, -total).tag(Noise::Tip);
        row.authorized = Some(day);
        let (text, truth) = (row.text.clone(), row.truth.clone());
        if stale {
            let row = stage.add(account, day, -bill, text, truth).tag(Noise::Stale);
            row.pending = true;
        }
    }
}

/// Two to six parcels a month, never twice for the same.
pub(super) fn marketplace(stage: &mut Stage, rng: &mut Rng) {
    let payees = stage.haunts(rng, "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", 2);
    let account = stage.spending_account(rng);
    for day in stage.first..=stage.last {
        if stage.likely(rng, 13) {
            let payee = rng.pick(&payees);
            let minor = rng.lognormal(payee.merchant.typical_minor, 700);
            let way = Way { account, payee, channel: Channel::Online };
            stage.pay(rng, &way, day, -minor);
        }
    }
}

/// Round amounts from a machine.
pub(super) fn cash(stage: &mut Stage, rng: &mut Rng) {
    let template = match stage.region {
        Region::America => "ATM WITHDRAWAL {id} {code} MAIN ST",
        Region::Europe => "GELDAUTOMAT {id} BARGELDAUSZAHLUNG",
    };
    let machine = rng.between(1_000, 9_999).to_string();
    let usual = *rng.pick(&[4_000, 6_000, 10_000]);
    let truth = Truth::of("ATM", category("TRANSFER_OUT_WITHDRAWAL"));
    let mut day = stage.first + rng.between(0, 20);
    while day <= stage.last {
        let minor = if rng.chance(60) { usual } else { 2_000 * rng.between(1, 10) };
        let text = sentence(template, &[("id", &machine)], rng);
        stage.add(stage.checking(), day, -minor, text, truth.clone());
        day += rng.between(9, 40);
    }
}

/// Every 30 to 44 days at nearly the same price, which is a habit all the same.
pub(super) fn salon(stage: &mut Stage, rng: &mut Rng) {
    let payees = stage.haunts(rng, "PERSONAL_CARE_HAIR_AND_BEAUTY", 1);
    let account = stage.spending_account(rng);
    let price = rng.lognormal(payees[0].merchant.typical_minor, 300);
    let mut day = stage.first + rng.between(0, 40);
    while day <= stage.last {
        let minor = rng.around(price, 90).max(500);
        let way = Way { account, payee: &payees[0], channel: Channel::Shop };
        stage.pay(rng, &way, day, -minor);
        day += rng.between(30, 44);
    }
}

/// The same price every other Saturday or so, by chance and not by contract.
pub(super) fn parking(stage: &mut Stage, rng: &mut Rng) {
    let payees = stage.haunts(rng, "TRANSPORTATION_PARKING", 1);
    let account = stage.spending_account(rng);
    let parks = rng.chance(50);
    for saturday in weekdays(5, stage.first, stage.last).collect::<Vec<_>>() {
        if parks && rng.chance(50) {
            let way = Way { account, payee: &payees[0], channel: Channel::Shop };
            stage.pay(rng, &way, saturday, -1_200);
        }
    }
}
