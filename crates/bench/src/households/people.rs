//! Payments between people, and refunds. They look like transfers between own accounts and are none.

use super::builder::{HouseholdBuilder, Payment};
use super::calendar::{in_month, month_of};
use super::descriptions::{Channel, fill_template};
use super::merchants::category;
use super::rng::Rng;
use super::{Region, Truth};

const NAMES: &[&str] =
    &["SAM OKAFOR", "PRIYA NAIR", "JONAS WEBER", "MARIA LOPEZ", "CHLOE DUBOIS", "LEE MIN"];

impl HouseholdBuilder {
    /// A positive amount is sent by the friend.
    fn person_to_person(&mut self, rng: &mut Rng, person: &str, on: i64, minor: i64) {
        let templates: &[&str] = match (self.region, minor > 0) {
            (Region::America, true) => {
                &["ZELLE FROM {who} ON {code}", "VENMO CASHOUT {who}", "CASH APP*{who}"]
            }
            (Region::America, false) => {
                &["ZELLE TO {who} ON {code}", "VENMO *{who} {ref}", "CASH APP*{who}*{code}"]
            }
            (Region::Europe, true) => {
                &["GUTSCHRIFT {who}", "Tikkie ID {ref}, van {who}", "Bizum de {who}"]
            }
            (Region::Europe, false) => {
                &["UEBERWEISUNG {who}", "Tikkie ID {ref}, aan {who}", "Bizum a {who}"]
            }
        };
        let code = if minor > 0 {
            "TRANSFER_IN_OTHER_TRANSFER_IN"
        } else {
            "TRANSFER_OUT_OTHER_TRANSFER_OUT"
        };
        let template = *rng.pick(templates);
        let text = fill_template(template, &[("who", person)], rng);
        self.add(self.checking(), on, minor, text, Truth::of(person, category(code)));
    }
}

/// Round amounts in both directions, on any day.
pub(super) fn friends(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    for day in builder.first..=builder.last {
        let person = *rng.pick(NAMES);
        let minor = 500 * rng.between(2, 30);
        let sends = rng.chance(50);
        if builder.likely(rng, 5) {
            builder.person_to_person(rng, person, day, if sends { minor } else { -minor });
        }
    }
}

/// A friend repays a dinner to the cent: two equal and opposite amounts on two accounts that are no transfer.
pub(super) fn repaid(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let restaurants = builder.usual_payees(rng, "FOOD_AND_DRINK_RESTAURANT", 4);
    for month in month_of(builder.first)..=month_of(builder.last) {
        let payee = rng.pick(&restaurants);
        let minor = rng.lognormal(payee.merchant.typical_minor, 300);
        let on = in_month(month, rng.between(1, 28));
        let account = builder.spending_account(rng);
        if builder.likely(rng, 35) {
            builder.pay(rng, &Payment { account, payee, channel: Channel::Shop }, on, -minor);
            let person = *rng.pick(NAMES);
            let back_on = on + rng.between(0, 4);
            builder.person_to_person(rng, person, back_on, minor);
        }
    }
}

/// Refunds, some of them to another card than the purchase.
pub(super) fn refunds(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let shops = builder.usual_payees(rng, "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES", 3);
    for month in month_of(builder.first)..=month_of(builder.last) {
        let payee = rng.pick(&shops);
        let minor = rng.lognormal(payee.merchant.typical_minor, 400);
        let on = in_month(month, rng.between(1, 28));
        let account = builder.spending_account(rng);
        let elsewhere = builder.spending_account(rng);
        let to = if rng.chance(50) { account } else { elsewhere };
        let back = if rng.chance(70) { minor } else { minor / 2 };
        let back_on = on + rng.between(2, 14);
        if builder.likely(rng, 30) {
            let payment = Payment { account, payee, channel: Channel::Shop };
            let bought = builder.pay(rng, &payment, on, -minor).id;
            let payment = Payment { account: to, ..payment };
            let row = builder.pay(rng, &payment, back_on, back.max(1));
            row.truth.refund_of = Some(bought);
            if rng.chance(40) {
                row.text = format!("REFUND {}", row.text);
            }
        }
    }
}
