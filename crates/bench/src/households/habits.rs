//! Repeated purchases without a contract, which must not be detected as recurring streams.

use super::builder::{HouseholdBuilder, Payee, Payment};
use super::calendar::{weekday, weekdays};
use super::descriptions::{Channel, fill_template};
use super::merchants::{self, category};
use super::rng::Rng;
use super::{Noise, Preset, Region, Truth};

impl HouseholdBuilder {
    /// A few merchants of one kind that this household uses.
    pub(super) fn usual_payees(&self, rng: &mut Rng, category: &str, most: usize) -> Vec<Payee> {
        let all = merchants::of(self.region, category);
        let count = rng.between(1, most as i64) as usize;
        rng.some(&all, count).into_iter().map(|it| self.payee(rng, *it)).collect()
    }

    /// Whether something happens that has this probability in an average household.
    pub(super) fn likely(&self, rng: &mut Rng, percent: i64) -> bool {
        rng.chance((percent * self.profile.activity_percent / 100).min(95))
    }

    fn buy(&mut self, rng: &mut Rng, payee: &Payee, on: i64, minor: i64) {
        let account = self.spending_account(rng);
        self.pay(rng, &Payment { account, payee, channel: Channel::Shop }, on, -minor);
    }
}

/// A weekly shop on nearly every Saturday, and smaller ones in between.
pub(super) fn groceries(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let shops = builder.usual_payees(rng, "FOOD_AND_DRINK_GROCERIES", 3);
    let account = builder.spending_account(rng);
    for saturday in weekdays(5, builder.first, builder.last).collect::<Vec<_>>() {
        if rng.chance(88) {
            // The weekly shop is always at the same store.
            let minor = rng.lognormal(9_000, 350);
            let payment = Payment { account, payee: &shops[0], channel: Channel::Shop };
            builder.pay(rng, &payment, saturday, -minor);
        }
        if builder.likely(rng, 55) {
            let shop = rng.pick(&shops);
            let minor = rng.lognormal(shop.merchant.typical_minor / 2, 500);
            let day = saturday + rng.between(1, 6);
            builder.buy(rng, shop, day, minor);
        }
    }
}

/// Coffee on workdays, at one of three prices.
pub(super) fn coffee(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = builder.usual_payees(rng, "FOOD_AND_DRINK_COFFEE", 2);
    let typical = payees[0].merchant.typical_minor;
    let prices = [typical - 100, typical, typical + 125];
    let account = builder.spending_account(rng);
    let share = rng.between(25, 65);
    let drinks = rng.chance(75);
    for day in builder.first..=builder.last {
        if drinks && weekday(day) < 5 && builder.likely(rng, share) {
            let minor = *rng.pick(&prices);
            let payment = Payment { account, payee: rng.pick(&payees), channel: Channel::Shop };
            builder.pay(rng, &payment, day, -minor);
        }
    }
}

/// Two fares on a workday, there and back.
pub(super) fn transit(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = builder.usual_payees(rng, "TRANSPORTATION_PUBLIC_TRANSIT", 1);
    let fare = payees[0].merchant.typical_minor;
    let account = builder.spending_account(rng);
    let rides = rng.chance(40) && builder.preset != Preset::Retired;
    for day in builder.first..=builder.last {
        if rides && weekday(day) < 5 && builder.likely(rng, 45) {
            let payment = Payment { account, payee: &payees[0], channel: Channel::Shop };
            builder.pay(rng, &payment, day, -fare);
            builder.pay(rng, &payment, day, -fare);
        }
    }
}

pub(super) fn fuel(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = builder.usual_payees(rng, "TRANSPORTATION_GAS", 3);
    let drives = rng.chance(80);
    let mut day = builder.first + rng.between(0, 9);
    while drives && day <= builder.last {
        let payee = rng.pick(&payees);
        let minor = rng.lognormal(payee.merchant.typical_minor, 220);
        builder.buy(rng, payee, day, minor);
        day += rng.between(6, 13) * 100 / builder.profile.activity_percent.max(50);
    }
}

/// Restaurant bills, with a tip in America. Some banks do not remove the pending row.
pub(super) fn restaurants(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let mut payees = builder.usual_payees(rng, "FOOD_AND_DRINK_RESTAURANT", 8);
    payees.extend(builder.usual_payees(rng, "FOOD_AND_DRINK_FAST_FOOD", 4));
    for day in builder.first..=builder.last {
        if !builder.likely(rng, if weekday(day) >= 4 { 35 } else { 14 }) {
            continue;
        }
        let payee = rng.pick(&payees);
        let bill = rng.lognormal(payee.merchant.typical_minor, 380);
        let account = builder.spending_account(rng);
        let payment = Payment { account, payee, channel: Channel::Shop };
        if builder.region == Region::Europe || payee.merchant.category.ends_with("FAST_FOOD") {
            builder.pay(rng, &payment, day, -bill);
            continue;
        }
        let total = bill * rng.between(115, 120) / 100;
        let posted = day + rng.between(0, 2);
        let stale = rng.per_mille(builder.profile.noise_rates.stale);
        let row = builder.pay(rng, &payment, posted, -total).tag(Noise::Tip);
        row.authorized = Some(day);
        let (text, truth) = (row.text.clone(), row.truth.clone());
        if stale {
            let row = builder.add(account, day, -bill, text, truth).tag(Noise::Stale);
            row.pending = true;
        }
    }
}

/// Two to six online orders a month, of varying amounts.
pub(super) fn marketplace(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = builder.usual_payees(rng, "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", 2);
    let account = builder.spending_account(rng);
    for day in builder.first..=builder.last {
        if builder.likely(rng, 13) {
            let payee = rng.pick(&payees);
            let minor = rng.lognormal(payee.merchant.typical_minor, 700);
            let payment = Payment { account, payee, channel: Channel::Online };
            builder.pay(rng, &payment, day, -minor);
        }
    }
}

/// Cash withdrawals of round amounts.
pub(super) fn cash(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let template = match builder.region {
        Region::America => "ATM WITHDRAWAL {id} {code} MAIN ST",
        Region::Europe => "GELDAUTOMAT {id} BARGELDAUSZAHLUNG",
    };
    let machine = rng.between(1_000, 9_999).to_string();
    let usual = *rng.pick(&[4_000, 6_000, 10_000]);
    let truth = Truth::of("ATM", category("TRANSFER_OUT_WITHDRAWAL"));
    let mut day = builder.first + rng.between(0, 20);
    while day <= builder.last {
        let minor = if rng.chance(60) { usual } else { 2_000 * rng.between(1, 10) };
        let text = fill_template(template, &[("id", &machine)], rng);
        builder.add(builder.checking(), day, -minor, text, truth.clone());
        day += rng.between(9, 40);
    }
}

/// Every 30 to 44 days at nearly the same price, which is still a habit and no contract.
pub(super) fn salon(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = builder.usual_payees(rng, "PERSONAL_CARE_HAIR_AND_BEAUTY", 1);
    let account = builder.spending_account(rng);
    let price = rng.lognormal(payees[0].merchant.typical_minor, 300);
    let mut day = builder.first + rng.between(0, 40);
    while day <= builder.last {
        let minor = rng.around(price, 90).max(500);
        let payment = Payment { account, payee: &payees[0], channel: Channel::Shop };
        builder.pay(rng, &payment, day, -minor);
        day += rng.between(30, 44);
    }
}

/// The same price about every other Saturday, by chance and not by contract.
pub(super) fn parking(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let payees = builder.usual_payees(rng, "TRANSPORTATION_PARKING", 1);
    let account = builder.spending_account(rng);
    let parks = rng.chance(50);
    for saturday in weekdays(5, builder.first, builder.last).collect::<Vec<_>>() {
        if parks && rng.chance(50) {
            let payment = Payment { account, payee: &payees[0], channel: Channel::Shop };
            builder.pay(rng, &payment, saturday, -1_200);
        }
    }
}
