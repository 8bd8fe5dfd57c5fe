//! Money between people, and money that comes back: what looks like a transfer and is none.

use super::calendar::{in_month, month_of};
use super::merchants::category;
use super::rng::Rng;
use super::stage::{Stage, Way};
use super::words::{Channel, sentence};
use super::{Region, Truth};

const NAMES: &[&str] =
    &["SAM OKAFOR", "PRIYA NAIR", "JONAS WEBER", "MARIA LOPEZ", "CHLOE DUBOIS", "LEE MIN"];

impl Stage {
    /// Positive is what the friend sends.
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
        let text = sentence(template, &[("who", person)], rng);
        self.add(self.checking(), on, minor, text, Truth::of(person, category(code)));
    }
}

/// Round amounts, both ways, on any day.
pub(super) fn friends(stage: &mut Stage, rng: &mut Rng) {
    for day in stage.first..=stage.last {
        let person = *rng.pick(NAMES);
        let minor = 500 * rng.between(2, 30);
        let sends = rng.chance(50);
        if stage.likely(rng, 5) {
            stage.person_to_person(rng, person, day, if sends { minor } else { -minor });
        }
    }
}

/// A friend pays back a dinner to the cent: equal and opposite, on two accounts, and no transfer.
pub(super) fn repaid(stage: &mut Stage, rng: &mut Rng) {
    let tables = stage.haunts(rng, "FOOD_AND_DRINK_RESTAURANT", 4);
    for month in month_of(stage.first)..=month_of(stage.last) {
        let payee = rng.pick(&tables);
        let minor = rng.lognormal(payee.merchant.typical_minor, 300);
        let on = in_month(month, rng.between(1, 28));
        let account = stage.spending_account(rng);
        if stage.likely(rng, 35) {
            stage.pay(rng, &Way { account, payee, channel: Channel::Shop }, on, -minor);
            let person = *rng.pick(NAMES);
            let back_on = on + rng.between(0, 4);
            stage.person_to_person(rng, person, back_on, minor);
        }
    }
}

/// Some refunds go to another card than was used.
pub(super) fn refunds(stage: &mut Stage, rng: &mut Rng) {
    let shops = stage.haunts(rng, "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES", 3);
    for month in month_of(stage.first)..=month_of(stage.last) {
        let payee = rng.pick(&shops);
        let minor = rng.lognormal(payee.merchant.typical_minor, 400);
        let on = in_month(month, rng.between(1, 28));
        let account = stage.spending_account(rng);
        let elsewhere = stage.spending_account(rng);
        let to = if rng.chance(50) { account } else { elsewhere };
        let back = if rng.chance(70) { minor } else { minor / 2 };
        let back_on = on + rng.between(2, 14);
        if stage.likely(rng, 30) {
            let way = Way { account, payee, channel: Channel::Shop };
            let bought = stage.pay(rng, &way, on, -minor).id;
            let way = Way { account: to, ..way };
            let row = stage.pay(rng, &way, back_on, back.max(1));
            row.truth.refund_of = Some(bought);
            if rng.chance(40) {
                row.text = format!("REFUND {}", row.text);
            }
        }
    }
}
