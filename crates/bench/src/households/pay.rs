//! Money that comes in: wages, pensions, payouts, interest, a tax refund.

use super::accounts::Role;
use super::calendar::weekdays;
use super::calendar::{Cadence, in_month, is_business, month_of, on_or_after, on_or_before};
use super::merchants::{EMPLOYERS_AMERICA, EMPLOYERS_EUROPE, GIG, Merchant, category};
use super::rng::Rng;
use super::stage::{Plan, Stage, Way};
use super::words::Channel;
use super::{Amounts, Preset, Region, Truth};

pub(super) fn wages(stage: &mut Stage, rng: &mut Rng) {
    if stage.profile.earners >= 1 {
        earn(stage, rng, false);
    }
}

pub(super) fn second_wages(stage: &mut Stage, rng: &mut Rng) {
    if stage.profile.earners >= 2 {
        earn(stage, rng, true);
    }
}

fn earn(stage: &mut Stage, rng: &mut Rng, second: bool) {
    let employers = match stage.region {
        Region::America => EMPLOYERS_AMERICA,
        Region::Europe => EMPLOYERS_EUROPE,
    };
    // Two earners work for two employers, so each draws from a half.
    let (one, other) = employers.split_at(employers.len() / 2);
    let employer = *rng.pick(if second { other } else { one });
    let payee = stage.payee(rng, employer);
    let cadences = [Cadence::Biweekly, Cadence::Weekly, Cadence::Semimonthly, Cadence::Monthly];
    let cadence = cadences[rng.weighted(&[43, 27, 20, 10])];
    let monthly =
        if second { stage.net_monthly * rng.between(50, 110) / 100 } else { stage.net_monthly };
    let each = match cadence {
        Cadence::Biweekly => monthly * 12 / 26,
        Cadence::Weekly => monthly * 12 / 52,
        Cadence::Semimonthly => monthly / 2,
        _ => monthly,
    };
    // Weekly wages come on a Thursday or Friday; months end, begin, or have their middle.
    let anchor = match cadence {
        Cadence::Biweekly | Cadence::Weekly => {
            let weekday = rng.between(3, 4);
            weekdays(weekday, stage.first + 7 * rng.between(0, 1), stage.last + 30).next()
        }
        Cadence::Semimonthly => Some(in_month(month_of(stage.first), *rng.pick(&[1, 5, 15]))),
        _ => Some(in_month(24_000, *rng.pick(&[1, 15, 25, 28, 31]))),
    };
    let mut days = cadence.due(anchor.unwrap_or(stage.first), stage.first, stage.horizon());
    for day in &mut days {
        *day = on_or_before(*day, stage.region);
        if rng.chance(4) {
            *day = on_or_before(*day - 1, stage.region);
        }
    }
    let hourly = rng.chance(35);
    let has_bonus = rng.chance(5);
    let raise = rng.between(0, 45);
    let first_month = month_of(stage.first);
    let account = if second { stage.find(Role::SecondChecking) } else { None };
    let way = Way {
        account: account.unwrap_or(stage.checking()),
        payee: &payee,
        channel: Channel::Credit,
    };
    let amounts = if hourly { Amounts::Varying } else { Amounts::Fixed };
    let mut last_bonus = 0;
    stage.series(rng, &way, Plan { cadence, amounts, days }, |rng, day| {
        let years = (month_of(day) - first_month) / 12;
        let rate = each * (1000 + raise * years) / 1000;
        let paid = rng.around(rate, if hourly { 80 } else { 3 });
        let month = month_of(day);
        // One pay of June and one of December is half as large again.
        if has_bonus && matches!(month % 12, 5 | 11) && month != last_bonus {
            last_bonus = month;
            return paid * 3 / 2;
        }
        paid
    });
}

/// The state pays on a Wednesday that the birthday decides, or on a fixed day; a company besides.
pub(super) fn pension(stage: &mut Stage, rng: &mut Rng) {
    if stage.preset != Preset::Retired {
        return;
    }
    let (state, company) = match stage.region {
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
    let wednesdays = (month_of(stage.first)..=month_of(stage.horizon()))
        .map(|month| in_month(month, 1))
        .filter_map(|first| weekdays(2, first + 7 * (nth - 1), first + 34).next())
        .collect();
    let ends = Cadence::Monthly.due(in_month(24_000, 31), stage.first, stage.horizon());
    let firsts = Cadence::Monthly.due(in_month(24_000, 1), stage.first, stage.horizon());
    let region = stage.region;
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
            typical_minor: stage.net_monthly * percent / 100,
            small: false,
        };
        let payee = stage.payee(rng, merchant);
        let way = Way { account: stage.checking(), payee: &payee, channel: Channel::Credit };
        let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
        let start = month_of(stage.first) / 12;
        // What the state pays goes up with the year.
        stage.series(rng, &way, plan, |_, day| {
            merchant.typical_minor * (1000 + 25 * (month_of(day) / 12 - start)) / 1000
        });
    }
}

/// Two to six payouts a week, on days that nobody promised.
pub(super) fn gig(stage: &mut Stage, rng: &mut Rng) {
    if stage.preset != Preset::Gig {
        return;
    }
    let payees: Vec<_> = rng.some(GIG, 2).into_iter().map(|it| stage.payee(rng, *it)).collect();
    for monday in weekdays(0, stage.first - 6, stage.last).collect::<Vec<_>>() {
        for _ in 0..rng.between(2, 6) {
            let payee = rng.pick(&payees);
            let way = Way { account: stage.checking(), payee, channel: Channel::Credit };
            let on = on_or_after(monday + rng.between(0, 6), stage.region);
            let minor = rng.lognormal(payee.merchant.typical_minor, 420);
            stage.pay(rng, &way, on, minor);
        }
    }
}

pub(super) fn interest(stage: &mut Stage, rng: &mut Rng) {
    let Some(account) = stage.find(Role::Savings) else { return };
    let name = stage.accounts[account].bank.name;
    let raw = *rng.pick(&["INTEREST PAID", "INTEREST PAYMENT", "Interest Earned"]);
    let typical_minor = rng.lognormal(900, 700);
    let days = Cadence::Monthly.due(in_month(24_000, 31), stage.first, stage.horizon());
    let truth = Truth::of(name, category("INCOME_INTEREST_EARNED"));
    let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Varying, days };
    stage.statement_lines(account, raw, truth, plan, |_| rng.around(typical_minor, 60).max(1));
}

pub(super) fn tax_refund(stage: &mut Stage, rng: &mut Rng) {
    let (name, raw) = match stage.region {
        Region::America => ("IRS", "IRS TREAS 310 TAX REF"),
        Region::Europe => ("Finanzamt", "FINANZAMT ERSTATTUNG"),
    };
    let category = "INCOME_TAX_REFUND";
    let merchant = Merchant { name, raw, category, typical_minor: 180_000, small: false };
    let payee = stage.payee(rng, merchant);
    for year in month_of(stage.first) / 12..=month_of(stage.last) / 12 {
        let on = in_month(year * 12 + rng.between(1, 3), rng.between(1, 28));
        let minor = rng.lognormal(merchant.typical_minor, 500);
        if rng.chance(55) && is_business(on, stage.region) {
            let way = Way { account: stage.checking(), payee: &payee, channel: Channel::Credit };
            stage.pay(rng, &way, on, minor);
        }
    }
}
