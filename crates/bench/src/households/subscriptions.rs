//! Subscriptions: most monthly, some yearly, some that begin with a trial or skip a week.

use super::bills::{anchor, region_index};
use super::builder::{HouseholdBuilder, Payment, Plan};
use super::calendar::{Cadence, in_month};
use super::descriptions::Channel;
use super::merchants::{
    AMERICAN_SUBSCRIPTIONS, Contract, INSURERS, Merchant, OFTEN_TWICE, SUBSCRIPTIONS, category,
};
use super::rng::Rng;
use super::{Amounts, Noise, Preset, Region, Truth};

/// One contract at one price, which may rise once.
fn subscribe(
    builder: &mut HouseholdBuilder,
    rng: &mut Rng,
    contract: Contract,
    account: usize,
    minor: i64,
) {
    let payee = builder.payee(rng, contract);
    let jitter = i64::from(rng.chance(33));
    let (first, last) = (builder.first, builder.last);
    // A quarter of the contracts begin or end within the window.
    let changes_on = rng.between(first + (last - first) / 5, last - (last - first) / 5);
    let (from, to) = match rng.weighted(&[75, 13, 12]) {
        0 => (first, builder.horizon()),
        1 => (changes_on, builder.horizon()),
        _ => (first, changes_on),
    };
    let mut days = Cadence::Monthly.due(anchor(rng), from, to);
    for day in &mut days {
        *day += rng.between(0, jitter);
    }
    let rises_on = if rng.chance(70) { rng.between(first, last) } else { i64::MAX };
    let risen = minor * rng.between(108, 130) / 100;
    let payment = Payment { account, payee: &payee, channel: Channel::Online };
    let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
    builder.series(rng, &payment, plan, |_, day| if day < rises_on { -minor } else { -risen });
}

pub(super) fn monthly(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let (least, most) = builder.profile.subscriptions;
    let count = rng.between(least, most) as usize;
    let offered = match builder.region {
        Region::America => [SUBSCRIPTIONS, AMERICAN_SUBSCRIPTIONS].concat(),
        Region::Europe => SUBSCRIPTIONS.to_vec(),
    };
    for contract in rng.some(&offered, count) {
        let account = builder.spending_account(rng);
        subscribe(builder, rng, *contract, account, contract.typical_minor);
    }
}

pub(super) fn twice(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let contract = *rng.pick(OFTEN_TWICE);
    if rng.chance(40) {
        let account = builder.spending_account(rng);
        let higher_price = contract.typical_minor * rng.between(2, 4) + 100;
        subscribe(builder, rng, contract, account, contract.typical_minor);
        subscribe(builder, rng, contract, account, higher_price);
    }
}

const YEARLY: &[Contract] = &[
    Merchant {
        name: "Amazon Prime",
        raw: "AMAZON PRIME*",
        category: "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES",
        typical_minor: 13_900,
        small: false,
    },
    Merchant {
        name: "Motorists' Club",
        raw: "MOTORISTS CLUB MEMBERSHIP",
        category: "GENERAL_SERVICES_AUTOMOTIVE",
        typical_minor: 9_600,
        small: false,
    },
    Merchant {
        name: "Namecheap",
        raw: "NAME-CHEAP.COM*",
        category: "GENERAL_SERVICES_OTHER_GENERAL_SERVICES",
        typical_minor: 1_698,
        small: false,
    },
];

/// One or two yearly charges, among them the annual fee of a card.
pub(super) fn annual(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    if !rng.chance(60) {
        return;
    }
    let plan = |builder: &HouseholdBuilder, rng: &mut Rng| {
        let from = in_month(24_000 + rng.between(0, 11), rng.between(1, 31));
        let days = Cadence::Annual.due(from, builder.first, builder.horizon());
        Plan { cadence: Cadence::Annual, amounts: Amounts::Fixed, days }
    };
    let contract = *rng.pick(YEARLY);
    let payee = builder.payee(rng, contract);
    let payment =
        Payment { account: builder.spending_account(rng), payee: &payee, channel: Channel::Online };
    let days = plan(builder, rng);
    builder.series(rng, &payment, days, |_, _| -contract.typical_minor);
    if rng.chance(50) {
        let account = *rng.pick(&builder.cards());
        let minor = *rng.pick(&[-9_500, -12_000, -25_000]);
        let name = builder.accounts[account].bank.name;
        let truth = Truth::of(name, category("BANK_FEES_OTHER_BANK_FEES"));
        let plan = plan(builder, rng);
        builder.statement_lines(account, "ANNUAL MEMBERSHIP FEE", truth, plan, |_| minor);
    }
}

/// Three yearly policies at one insurer, which together look like one contract every four months.
pub(super) fn policies(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    if !rng.chance(15) {
        return;
    }
    let insurer = *rng.pick(INSURERS[region_index(builder.region)]);
    let payee = builder.payee(rng, insurer);
    let begins = rng.between(0, 3);
    for policy in 0..3 {
        let from = in_month(24_000 + begins + 4 * policy, rng.between(1, 28));
        let days = Cadence::Annual.due(from, builder.first, builder.horizon());
        let minor = rng.lognormal(21_000, 400);
        let payment =
            Payment { account: builder.checking(), payee: &payee, channel: Channel::Debit };
        let plan = Plan { cadence: Cadence::Annual, amounts: Amounts::Fixed, days };
        builder.series(rng, &payment, plan, |_, _| -minor);
    }
}

/// A trial at no or a small price, then the full price.
pub(super) fn trial(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let trials = [
        ("Headspace", "HEADSPACE", 1_299),
        ("Skillshare", "SKILLSHARE.COM", 1_400),
        ("Ancestry", "ANCESTRY.COM", 2_499),
    ];
    let (name, raw, minor) = *rng.pick(&trials);
    let category = "GENERAL_SERVICES_OTHER_GENERAL_SERVICES";
    let merchant = Merchant { name, raw, category, typical_minor: minor, small: false };
    let payee = builder.payee(rng, merchant);
    let account = builder.spending_account(rng);
    let begins = rng.between(builder.first, (builder.first + builder.last) / 2);
    let first_minor = *rng.pick(&[0, 100, minor / 10]);
    // The full price begins after the trial, which is not a month long.
    let paid_from = begins + *rng.pick(&[7, 14, 30]);
    let mut days = Cadence::Monthly.due(paid_from, paid_from, builder.horizon());
    days.insert(0, begins);
    if rng.chance(30) {
        let payment = Payment { account, payee: &payee, channel: Channel::Online };
        let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
        builder.series(
            rng,
            &payment,
            plan,
            |_, day| if day < paid_from { -first_minor } else { -minor },
        );
        if let Some(row) = builder.rows.iter_mut().find(|it| it.origin == ("trial", 0, 0)) {
            row.tag(Noise::Trial);
        }
    }
}

/// Every week, except for the one in five that is skipped.
pub(super) fn meal_kit(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let kits = [
        [("HelloFresh", "HELLOFRESH"), ("Blue Apron", "BLUE APRON LLC")],
        [("HelloFresh", "HELLOFRESH SE"), ("Marley Spoon", "MARLEY SPOON SE")],
    ];
    let (name, raw) = *rng.pick(&kits[usize::from(builder.region == Region::Europe)]);
    let minor = rng.between(4_800, 8_900);
    let category = "FOOD_AND_DRINK_GROCERIES";
    let merchant = Merchant { name, raw, category, typical_minor: minor, small: false };
    let payee = builder.payee(rng, merchant);
    let account = builder.spending_account(rng);
    let weeks = rng.between(8, 60) * 7;
    let begins = rng.between(builder.first, builder.last - 42);
    let weekly = Cadence::Weekly.due(begins, begins, (begins + weeks).min(builder.last + 28));
    let mut days = weekly;
    days.retain(|_| !rng.chance(20));
    if rng.chance(25) && !matches!(builder.preset, Preset::Thin | Preset::Retired) {
        let payment = Payment { account, payee: &payee, channel: Channel::Online };
        let plan = Plan { cadence: Cadence::Weekly, amounts: Amounts::Fixed, days };
        builder.series(rng, &payment, plan, |_, _| -minor);
    }
}
