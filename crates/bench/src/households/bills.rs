//! Bills of a household: housing, utilities, insurance, loans, childcare.

use super::accounts::Role;
use super::builder::{HouseholdBuilder, Payment, Plan};
use super::calendar::{Cadence, in_month, month_of, on_or_after};
use super::descriptions::Channel;
use super::merchants::{Contract, INSURERS, Merchant, UTILITIES};
use super::rng::Rng;
use super::transfers::{Legs, Movement};
use super::{Amounts, Preset, Region, TransferKind};

fn contract(name: &'static str, raw: &'static str, category: &'static str, minor: i64) -> Contract {
    Merchant { name, raw, category, typical_minor: minor, small: false }
}

/// The day of a contract, in a month of 31 days. One in four is on a day that short months do not have.
pub(super) fn anchor(rng: &mut Rng) -> i64 {
    let day = if rng.chance(25) { rng.between(29, 31) } else { rng.between(1, 28) };
    in_month(24_000 + *rng.pick(&[0, 2, 4, 6, 7, 9, 11]), day)
}

/// The index of a region in tables that have America's part first and Europe's second.
pub(super) fn region_index(region: Region) -> usize {
    usize::from(region == Region::Europe)
}

/// Rent or mortgage: a quarter to three eighths of the net income, with one increase a year.
pub(super) fn housing(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let minor = builder.net_monthly * rng.between(25, 38) / 100 / 100 * 100;
    let step = rng.between(20, 80);
    let step_month = month_of(builder.first) + rng.between(1, 12);
    let day = *rng.pick(&[1, 1, 1, 3, 5]);
    let due = Cadence::Monthly.due(in_month(24_000, day), builder.first, builder.horizon());
    let days: Vec<i64> = due.into_iter().map(|it| on_or_after(it, builder.region)).collect();
    let price = move |day: i64| {
        let steps = (month_of(day) - step_month).div_euclid(12) + 1;
        (0..steps).fold(minor, |minor, _| minor * (1000 + step) / 1000)
    };
    let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
    if let Some(loan) = builder.find(Role::Loan) {
        let (from, kind) = (builder.checking(), TransferKind::LoanPayment);
        let legs = Legs { from, to: loan, kind, lag: (0, 2) };
        let amounts: Vec<i64> = plan.days.iter().map(|it| price(*it)).collect();
        return builder
            .standing_order(rng, &legs, plan, |_, index| Movement::plain(amounts[index]));
    }
    let landlords: &[(&str, &str)] = match builder.region {
        Region::America => &[
            ("Oakridge Property Management", "OAKRIDGE PROP MGMT WEB PMTS"),
            ("Bilt Rewards", "BILT RENT"),
            ("Hernandez Properties", "HERNANDEZ PROPERTIES"),
        ],
        Region::Europe => &[
            ("Hausverwaltung Schulte", "HAUSVERWALTUNG SCHULTE"),
            ("Woonstichting De Linde", "WOONSTICHTING DE LINDE"),
        ],
    };
    let lenders = [("Mr. Cooper", "MR COOPER MTG PAY"), ("Hypotheekbank", "HYPOTHEEKBANK NV")];
    let merchant = if rng.chance(25) {
        let (name, raw) = lenders[region_index(builder.region)];
        contract(name, raw, "LOAN_PAYMENTS_MORTGAGE_PAYMENT", minor)
    } else {
        let (name, raw) = *rng.pick(landlords);
        contract(name, raw, "RENT_AND_UTILITIES_RENT", minor)
    };
    let payee = builder.payee(rng, merchant);
    let payment = Payment { account: builder.checking(), payee: &payee, channel: Channel::Debit };
    builder.series(rng, &payment, plan, |_, day| -price(day));
}

/// The seasonal change of metered bills in thousandths, highest in January, lowest in July.
const WAVE: [i64; 12] = [1000, 866, 500, 0, -500, -866, -1000, -866, -500, 0, 500, 866];

pub(super) fn utilities(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let all = UTILITIES[region_index(builder.region)];
    let mut categories: Vec<&str> = all.iter().map(|it| it.category).collect();
    categories.dedup();
    for category in categories {
        let candidates: Vec<Contract> =
            all.iter().filter(|it| it.category == category).copied().collect();
        let chosen = *rng.pick(&candidates);
        let payee = builder.payee(rng, chosen);
        // The percentage of households with the contract, its cadence, and whether it is metered.
        let (likelihood, cadence, usage) = match category {
            "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY" => (92, Cadence::Monthly, true),
            "RENT_AND_UTILITIES_WATER" => (60, Cadence::Monthly, true),
            "RENT_AND_UTILITIES_SEWAGE_AND_WASTE_MANAGEMENT" => (35, Cadence::Quarterly, false),
            _ => (92, Cadence::Monthly, false),
        };
        let base = rng.lognormal(chosen.typical_minor, 250);
        let amplitude = rng.between(150, 350);
        let due = cadence.due(anchor(rng), builder.first, builder.horizon());
        let jitter = if usage { 2 } else { 0 };
        let days = due.into_iter().map(|it| it + rng.between(-jitter, jitter)).collect();
        let amounts = if usage { Amounts::Varying } else { Amounts::Fixed };
        let account =
            if rng.chance(60) { builder.checking() } else { builder.spending_account(rng) };
        if rng.chance(likelihood) {
            let payment = Payment { account, payee: &payee, channel: Channel::Debit };
            builder.series(rng, &payment, Plan { cadence, amounts, days }, |rng, day| {
                if !usage {
                    return -base;
                }
                let wave = WAVE[month_of(day).rem_euclid(12) as usize];
                -rng.around(base + base * amplitude / 1000 * wave / 1000, 50).max(500)
            });
        }
    }
}

pub(super) fn insurance(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let chosen = *rng.pick(INSURERS[region_index(builder.region)]);
    let payee = builder.payee(rng, chosen);
    let cadence =
        [Cadence::Monthly, Cadence::Semiannual, Cadence::Quarterly][rng.weighted(&[75, 15, 10])];
    let months = match cadence {
        Cadence::Semiannual => 6,
        Cadence::Quarterly => 3,
        _ => 1,
    };
    let price = rng.lognormal(chosen.typical_minor, 200) * months;
    let days = cadence.due(anchor(rng), builder.first, builder.horizon());
    let renewal = month_of(builder.first) + rng.between(2, 12);
    let change = rng.between(-30, 120);
    if rng.chance(80) {
        let payment =
            Payment { account: builder.checking(), payee: &payee, channel: Channel::Debit };
        builder.series(rng, &payment, Plan { cadence, amounts: Amounts::Fixed, days }, |_, day| {
            if month_of(day) < renewal { -price } else { -price * (1000 + change) / 1000 }
        });
    }
}

/// A car loan and a student loan, paid to lenders whose accounts are not linked.
pub(super) fn loans(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let car = [("Toyota Financial", "TOYOTA ACH RTL"), ("Volkswagen Bank", "VOLKSWAGEN BANK GMBH")];
    let study = [("Nelnet", "NELNET STUDENT LN PYMT"), ("DUO", "DUO HOOFDREKENING")];
    for (names, category, typical, likely) in [
        (car, "LOAN_PAYMENTS_CAR_PAYMENT", 41_000, 45),
        (study, "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT", 23_000, 25),
    ] {
        let (name, raw) = names[region_index(builder.region)];
        let minor = rng.lognormal(typical, 250);
        let payee = builder.payee(rng, contract(name, raw, category, minor));
        let due = Cadence::Monthly.due(anchor(rng), builder.first, builder.horizon());
        let days = due.into_iter().map(|it| on_or_after(it, builder.region)).collect();
        if rng.chance(likely) && builder.preset != Preset::Retired {
            let payment =
                Payment { account: builder.checking(), payee: &payee, channel: Channel::Debit };
            let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
            builder.series(rng, &payment, plan, |_, _| -minor);
        }
    }
}

/// Weekly, except during vacations.
pub(super) fn childcare(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let names = [
        ("Little Acorns Daycare", "LITTLE ACORNS DAYCARE"),
        ("Kita Regenbogen", "KITA REGENBOGEN"),
    ];
    let (name, raw) = names[region_index(builder.region)];
    let minor = rng.between(150, 320) * 100;
    let payee = builder.payee(rng, contract(name, raw, "GENERAL_SERVICES_CHILDCARE", minor));
    let mut days =
        Cadence::Weekly.due(builder.first + rng.between(0, 6), builder.first, builder.last + 7);
    days.retain(|_| !rng.chance(6));
    if builder.preset == Preset::TwoEarners && rng.chance(60) {
        let payment =
            Payment { account: builder.checking(), payee: &payee, channel: Channel::Debit };
        let plan = Plan { cadence: Cadence::Weekly, amounts: Amounts::Fixed, days };
        builder.series(rng, &payment, plan, |_, _| -minor);
    }
}

/// Payments of a card that is not linked. They look like transfers but are spending.
pub(super) fn unlinked_card(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let names =
        [("Synchrony Bank", "SYNCHRONY BANK CC PYMT"), ("Advanzia Bank", "ADVANZIA BANK SA")];
    let (name, raw) = names[region_index(builder.region)];
    let card = contract(name, raw, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", 31_000);
    let payee = builder.payee(rng, card);
    let due = Cadence::Monthly.due(anchor(rng), builder.first, builder.horizon());
    let days = due.into_iter().map(|it| on_or_after(it, builder.region)).collect();
    if rng.chance(30) {
        let payment =
            Payment { account: builder.checking(), payee: &payee, channel: Channel::Debit };
        let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Varying, days };
        builder.series(rng, &payment, plan, |rng, _| -rng.lognormal(card.typical_minor, 350));
    }
}
