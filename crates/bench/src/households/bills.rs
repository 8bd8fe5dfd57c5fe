//! What is owed for living somewhere: home, utilities, insurance, loans, childcare.

use super::accounts::Role;
use super::calendar::{Cadence, in_month, month_of, on_or_after};
use super::merchants::{Contract, INSURERS, Merchant, UTILITIES};
use super::rng::Rng;
use super::stage::{Plan, Stage, Way};
use super::transfers::{Legs, Movement};
use super::words::Channel;
use super::{Amounts, Preset, Region, TransferKind};

fn contract(name: &'static str, raw: &'static str, category: &'static str, minor: i64) -> Contract {
    Merchant { name, raw, category, typical_minor: minor, small: false }
}

/// The day a contract was made, in one of the long months; one in four is on a day that the short
/// ones have not.
pub(super) fn anchor(rng: &mut Rng) -> i64 {
    let day = if rng.chance(25) { rng.between(29, 31) } else { rng.between(1, 28) };
    in_month(24_000 + *rng.pick(&[0, 2, 4, 6, 7, 9, 11]), day)
}

/// The index into tables that hold America's side and Europe's.
pub(super) fn side(region: Region) -> usize {
    usize::from(region == Region::Europe)
}

/// A quarter to three eighths of the net income, with one step a year.
pub(super) fn home(stage: &mut Stage, rng: &mut Rng) {
    let minor = stage.net_monthly * rng.between(25, 38) / 100 / 100 * 100;
    let step = rng.between(20, 80);
    let step_month = month_of(stage.first) + rng.between(1, 12);
    let day = *rng.pick(&[1, 1, 1, 3, 5]);
    let due = Cadence::Monthly.due(in_month(24_000, day), stage.first, stage.horizon());
    let days: Vec<i64> = due.into_iter().map(|it| on_or_after(it, stage.region)).collect();
    let price = move |day: i64| {
        let steps = (month_of(day) - step_month).div_euclid(12) + 1;
        (0..steps).fold(minor, |minor, _| minor * (1000 + step) / 1000)
    };
    let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
    if let Some(loan) = stage.find(Role::Loan) {
        let (from, kind) = (stage.checking(), TransferKind::LoanPayment);
        let legs = Legs { from, to: loan, kind, lag: (0, 2) };
        let amounts: Vec<i64> = plan.days.iter().map(|it| price(*it)).collect();
        return stage.standing_order(rng, &legs, plan, |_, index| Movement::plain(amounts[index]));
    }
    let landlords: &[(&str, &str)] = match stage.region {
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
        let (name, raw) = lenders[side(stage.region)];
        contract(name, raw, "LOAN_PAYMENTS_MORTGAGE_PAYMENT", minor)
    } else {
        let (name, raw) = *rng.pick(landlords);
        contract(name, raw, "RENT_AND_UTILITIES_RENT", minor)
    };
    let payee = stage.payee(rng, merchant);
    let way = Way { account: stage.checking(), payee: &payee, channel: Channel::Debit };
    stage.series(rng, &way, plan, |_, day| -price(day));
}

/// The year's wave in thousandths, highest in January, lowest in July.
const WAVE: [i64; 12] = [1000, 866, 500, 0, -500, -866, -1000, -866, -500, 0, 500, 866];

pub(super) fn utilities(stage: &mut Stage, rng: &mut Rng) {
    let all = UTILITIES[side(stage.region)];
    let mut categories: Vec<&str> = all.iter().map(|it| it.category).collect();
    categories.dedup();
    for category in categories {
        let candidates: Vec<Contract> =
            all.iter().filter(|it| it.category == category).copied().collect();
        let chosen = *rng.pick(&candidates);
        let payee = stage.payee(rng, chosen);
        // How many have it in their own name, how often it comes, and whether it is metered.
        let (wanted, cadence, usage) = match category {
            "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY" => (92, Cadence::Monthly, true),
            "RENT_AND_UTILITIES_WATER" => (60, Cadence::Monthly, true),
            "RENT_AND_UTILITIES_SEWAGE_AND_WASTE_MANAGEMENT" => (35, Cadence::Quarterly, false),
            _ => (92, Cadence::Monthly, false),
        };
        let base = rng.lognormal(chosen.typical_minor, 250);
        let amplitude = rng.between(150, 350);
        let due = cadence.due(anchor(rng), stage.first, stage.horizon());
        let jitter = if usage { 2 } else { 0 };
        let days = due.into_iter().map(|it| it + rng.between(-jitter, jitter)).collect();
        let amounts = if usage { Amounts::Varying } else { Amounts::Fixed };
        let account = if rng.chance(60) { stage.checking() } else { stage.spending_account(rng) };
        if rng.chance(wanted) {
            let way = Way { account, payee: &payee, channel: Channel::Debit };
            stage.series(rng, &way, Plan { cadence, amounts, days }, |rng, day| {
                if !usage {
                    return -base;
                }
                let wave = WAVE[month_of(day).rem_euclid(12) as usize];
                -rng.around(base + base * amplitude / 1000 * wave / 1000, 50).max(500)
            });
        }
    }
}

pub(super) fn insurance(stage: &mut Stage, rng: &mut Rng) {
    let chosen = *rng.pick(INSURERS[side(stage.region)]);
    let payee = stage.payee(rng, chosen);
    let cadence =
        [Cadence::Monthly, Cadence::Semiannual, Cadence::Quarterly][rng.weighted(&[75, 15, 10])];
    let months = match cadence {
        Cadence::Semiannual => 6,
        Cadence::Quarterly => 3,
        _ => 1,
    };
    let price = rng.lognormal(chosen.typical_minor, 200) * months;
    let days = cadence.due(anchor(rng), stage.first, stage.horizon());
    let renewal = month_of(stage.first) + rng.between(2, 12);
    let change = rng.between(-30, 120);
    if rng.chance(80) {
        let way = Way { account: stage.checking(), payee: &payee, channel: Channel::Debit };
        stage.series(rng, &way, Plan { cadence, amounts: Amounts::Fixed, days }, |_, day| {
            if month_of(day) < renewal { -price } else { -price * (1000 + change) / 1000 }
        });
    }
}

/// A car and studies, paid to somebody whose accounts are not linked.
pub(super) fn loans(stage: &mut Stage, rng: &mut Rng) {
    let car = [("Toyota Financial", "TOYOTA ACH RTL"), ("Volkswagen Bank", "VOLKSWAGEN BANK GMBH")];
    let study = [("Nelnet", "NELNET STUDENT LN PYMT"), ("DUO", "DUO HOOFDREKENING")];
    for (names, category, typical, likely) in [
        (car, "LOAN_PAYMENTS_CAR_PAYMENT", 41_000, 45),
        (study, "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT", 23_000, 25),
    ] {
        let (name, raw) = names[side(stage.region)];
        let minor = rng.lognormal(typical, 250);
        let payee = stage.payee(rng, contract(name, raw, category, minor));
        let due = Cadence::Monthly.due(anchor(rng), stage.first, stage.horizon());
        let days = due.into_iter().map(|it| on_or_after(it, stage.region)).collect();
        if rng.chance(likely) && stage.preset != Preset::Retired {
            let way = Way { account: stage.checking(), payee: &payee, channel: Channel::Debit };
            let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
            stage.series(rng, &way, plan, |_, _| -minor);
        }
    }
}

/// Weekly, except in the weeks when everybody is away.
pub(super) fn childcare(stage: &mut Stage, rng: &mut Rng) {
    let names = [
        ("Little Acorns Daycare", "LITTLE ACORNS DAYCARE"),
        ("Kita Regenbogen", "KITA REGENBOGEN"),
    ];
    let (name, raw) = names[side(stage.region)];
    let minor = rng.between(150, 320) * 100;
    let payee = stage.payee(rng, contract(name, raw, "GENERAL_SERVICES_CHILDCARE", minor));
    let mut days =
        Cadence::Weekly.due(stage.first + rng.between(0, 6), stage.first, stage.last + 7);
    days.retain(|_| !rng.chance(6));
    if stage.preset == Preset::TwoEarners && rng.chance(60) {
        let way = Way { account: stage.checking(), payee: &payee, channel: Channel::Debit };
        let plan = Plan { cadence: Cadence::Weekly, amounts: Amounts::Fixed, days };
        stage.series(rng, &way, plan, |_, _| -minor);
    }
}

/// The bill of a card that is not linked: it looks like a transfer, but is spending nobody sees.
pub(super) fn unlinked_card(stage: &mut Stage, rng: &mut Rng) {
    let names =
        [("Synchrony Bank", "SYNCHRONY BANK CC PYMT"), ("Advanzia Bank", "ADVANZIA BANK SA")];
    let (name, raw) = names[side(stage.region)];
    let card = contract(name, raw, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", 31_000);
    let payee = stage.payee(rng, card);
    let due = Cadence::Monthly.due(anchor(rng), stage.first, stage.horizon());
    let days = due.into_iter().map(|it| on_or_after(it, stage.region)).collect();
    if rng.chance(30) {
        let way = Way { account: stage.checking(), payee: &payee, channel: Channel::Debit };
        let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Varying, days };
        stage.series(rng, &way, plan, |rng, _| -rng.lognormal(card.typical_minor, 350));
    }
}
