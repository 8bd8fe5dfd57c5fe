//! Income: wages, pensions, payouts, interest, tax refunds.

use super::accounts::Role;
use super::builder::{HouseholdBuilder, Payment, Plan};
use super::calendar::weekdays;
use super::calendar::{Cadence, in_month, is_business, month_of, on_or_after, on_or_before};
use super::descriptions::Channel;
use super::merchants::{EMPLOYERS_AMERICA, EMPLOYERS_EUROPE, GIG, Merchant, category};
use super::rng::Rng;
use super::{Amounts, Preset, Region, Truth};

pub(super) fn wages(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    if builder.profile.earners >= 1 {
        earn(builder, rng, false);
    }
}

pub(super) fn second_wages(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    if builder.profile.earners >= 2 {
        earn(builder, rng, true);
    }
}

fn earn(builder: &mut HouseholdBuilder, rng: &mut Rng, second: bool) {
    let employers = match builder.region {
        Region::America => EMPLOYERS_AMERICA,
        Region::Europe => EMPLOYERS_EUROPE,
    };
    // Two earners have different employers, so each picks from one half of the list.
    let (one, other) = employers.split_at(employers.len() / 2);
    let employer = *rng.pick(if second { other } else { one });
    let payee = builder.payee(rng, employer);
    let cadences = [Cadence::Biweekly, Cadence::Weekly, Cadence::Semimonthly, Cadence::Monthly];
    let cadence = cadences[rng.weighted(&[43, 27, 20, 10])];
    let monthly =
        if second { builder.net_monthly * rng.between(50, 110) / 100 } else { builder.net_monthly };
    let each = match cadence {
        Cadence::Biweekly => monthly * 12 / 26,
        Cadence::Weekly => monthly * 12 / 52,
        Cadence::Semimonthly => monthly / 2,
        _ => monthly,
    };
    // Weekly wages come on a Thursday or Friday, monthly ones around the start, middle or end of the month.
    let anchor = match cadence {
        Cadence::Biweekly | Cadence::Weekly => {
            let weekday = rng.between(3, 4);
            weekdays(weekday, builder.first + 7 * rng.between(0, 1), builder.last + 30).next()
        }
        Cadence::Semimonthly => Some(in_month(month_of(builder.first), *rng.pick(&[1, 5, 15]))),
        _ => Some(in_month(24_000, *rng.pick(&[1, 15, 25, 28, 31]))),
    };
    let mut days = cadence.due(anchor.unwrap_or(builder.first), builder.first, builder.horizon());
    for day in &mut days {
        *day = on_or_before(*day, builder.region);
        if rng.chance(4) {
            *day = on_or_before(*day - 1, builder.region);
        }
    }
    let hourly = rng.chance(35);
    let has_bonus = rng.chance(5);
    let raise = rng.between(0, 45);
    let first_month = month_of(builder.first);
    let account = if second { builder.find(Role::SecondChecking) } else { None };
    let payment = Payment {
        account: account.unwrap_or(builder.checking()),
        payee: &payee,
        channel: Channel::Credit,
    };
    let amounts = if hourly { Amounts::Varying } else { Amounts::Fixed };
    let mut last_bonus = 0;
    builder.series(rng, &payment, Plan { cadence, amounts, days }, |rng, day| {
        let years = (month_of(day) - first_month) / 12;
        let rate = each * (1000 + raise * years) / 1000;
        let paid = rng.around(rate, if hourly { 80 } else { 3 });
        let month = month_of(day);
        // One payment in June and one in December is half as large again.
        if has_bonus && matches!(month % 12, 5 | 11) && month != last_bonus {
            last_bonus = month;
            return paid * 3 / 2;
        }
        paid
    });
}

/// A state pension on a Wednesday that depends on the birthday, or on a fixed day, and for some a company pension.
pub(super) fn pension(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    if builder.preset != Preset::Retired {
        return;
    }
    let (state, company) = match builder.region {
        Region::America => (
            ("Social Security", "SSA TREAS 310 XXSOC SEC"),
            ("Union Pension Trust", "UNION PENSION TR"),
        ),
        Region::Europe => (
            ("Rentenversicherung", "RENTENVERSICHERUNG"),
            ("Stichting Pensioenfonds", "STG PENSIOENFONDS"),
        ),
    };
    let nth = rng.between(2, 4);
    let wednesdays = (month_of(builder.first)..=month_of(builder.horizon()))
        .map(|month| in_month(month, 1))
        .filter_map(|first| weekdays(2, first + 7 * (nth - 1), first + 34).next())
        .collect();
    let ends = Cadence::Monthly.due(in_month(24_000, 31), builder.first, builder.horizon());
    let firsts = Cadence::Monthly.due(in_month(24_000, 1), builder.first, builder.horizon());
    let region = builder.region;
    let shifted = |days: Vec<i64>| days.into_iter().map(|it| on_or_before(it, region)).collect();
    let state_days = if region == Region::America { wednesdays } else { shifted(ends) };
    let company_days: Vec<i64> = shifted(firsts);
    let mut parts = vec![(state, state_days, 60)];
    if rng.chance(70) {
        parts.push((company, company_days, 40));
    }
    for ((name, raw), days, percent) in parts {
        let merchant = Merchant {
            name,
            raw,
            category: "INCOME_RETIREMENT_PENSION",
            typical_minor: builder.net_monthly * percent / 100,
            small: false,
        };
        let payee = builder.payee(rng, merchant);
        let payment =
            Payment { account: builder.checking(), payee: &payee, channel: Channel::Credit };
        let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
        let start = month_of(builder.first) / 12;
        // Pensions rise every year.
        builder.series(rng, &payment, plan, |_, day| {
            merchant.typical_minor * (1000 + 25 * (month_of(day) / 12 - start)) / 1000
        });
    }
}

/// Two to six payouts a week, on irregular days.
pub(super) fn gig(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    if builder.preset != Preset::Gig {
        return;
    }
    let payees: Vec<_> = rng.some(GIG, 2).into_iter().map(|it| builder.payee(rng, *it)).collect();
    for monday in weekdays(0, builder.first - 6, builder.last).collect::<Vec<_>>() {
        for _ in 0..rng.between(2, 6) {
            let payee = rng.pick(&payees);
            let payment = Payment { account: builder.checking(), payee, channel: Channel::Credit };
            let on = on_or_after(monday + rng.between(0, 6), builder.region);
            let minor = rng.lognormal(payee.merchant.typical_minor, 420);
            builder.pay(rng, &payment, on, minor);
        }
    }
}

pub(super) fn interest(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let Some(account) = builder.find(Role::Savings) else { return };
    let name = builder.accounts[account].bank.name;
    let raw = *rng.pick(&["INTEREST PAID", "INTEREST PAYMENT", "Interest Earned"]);
    let typical_minor = rng.lognormal(900, 700);
    let days = Cadence::Monthly.due(in_month(24_000, 31), builder.first, builder.horizon());
    let truth = Truth::of(name, category("INCOME_INTEREST_EARNED"));
    let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Varying, days };
    builder.statement_lines(account, raw, truth, plan, |_| rng.around(typical_minor, 60).max(1));
}

pub(super) fn tax_refund(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let (name, raw) = match builder.region {
        Region::America => ("IRS", "IRS TREAS 310 TAX REF"),
        Region::Europe => ("Finanzamt", "FINANZAMT ERSTATTUNG"),
    };
    let category = "INCOME_TAX_REFUND";
    let merchant = Merchant { name, raw, category, typical_minor: 180_000, small: false };
    let payee = builder.payee(rng, merchant);
    for year in month_of(builder.first) / 12..=month_of(builder.last) / 12 {
        let on = in_month(year * 12 + rng.between(1, 3), rng.between(1, 28));
        let minor = rng.lognormal(merchant.typical_minor, 500);
        if rng.chance(55) && is_business(on, builder.region) {
            let payment =
                Payment { account: builder.checking(), payee: &payee, channel: Channel::Credit };
            builder.pay(rng, &payment, on, minor);
        }
    }
}
