//! Income: two paychecks with different cadences, gig work, tax refunds, interest.

use base::date_from_days;

use super::accounts::Account;
use super::calendar::{Cadence, Day, business_day_on_or_after, business_day_on_or_before};
use super::calendar::{month_ends, monthly, weekday};
use super::draw::{Draw, MILD, USUAL};
use super::entry::Entry;
use super::places::{FIRST_EMPLOYERS, SECOND_EMPLOYERS};
use super::wording;
use super::world::World;

/// The two paychecks: an hourly wage every other Friday, and a salary twice a month. A payday on a weekend or holiday
/// moves to the business day before.
pub(super) fn paychecks(world: &mut World) {
    let mut draw = world.draw("income/first");
    let (name, company) = *draw.pick(&FIRST_EMPLOYERS);
    let base = draw.between(2_080_00, 2_420_00);
    let friday = (world.start..).find(|day| weekday(*day) == 4).unwrap_or(world.start);
    let first = friday + 7 * draw.between(0, 1);
    for slot in Cadence::Biweekly.slots(first, world.today + 3) {
        let (on, early) = payday(&mut draw, slot);
        let pay = raised(base, slot - world.start);
        // The mean of two draws, because hours vary only a little.
        let minor = (draw.around(pay, &MILD) + draw.around(pay, &MILD)) / 2;
        let words = wording::payroll(&mut draw, company, on);
        let entry = Entry::posted(&mut draw, Account::Checking, on, minor, words);
        let entry = entry.by(name, "INCOME_SALARY").income("earned");
        let entry = entry.stream("income/first", Cadence::Biweekly);
        world.add(if early { entry.tag("early_pay") } else { entry });
    }

    let mut draw = world.draw("income/second");
    let (name, company) = *draw.pick(&SECOND_EMPLOYERS);
    let base = draw.between(1_780_00, 2_050_00) + draw.between(0, 99);
    for slot in Cadence::SemiMonthly.slots(world.start, world.today + 3) {
        let (on, early) = payday(&mut draw, slot);
        let minor = raised(base, slot - world.start);
        let words = wording::ach(Account::Spending, company, "DIRECT DEP", "PPD");
        let entry = Entry::posted(&mut draw, Account::Spending, on, minor, words);
        let entry = entry.by(name, "INCOME_SALARY").income("earned");
        let entry = entry.stream("income/second", Cadence::SemiMonthly);
        world.add(if early { entry.tag("early_pay") } else { entry });
    }
    year_end_bonus(world, name, company, base);
}

fn year_end_bonus(world: &mut World, name: &'static str, company: &str, base: i64) {
    let mut draw = world.draw("income/bonus");
    for day in world.start..=world.today {
        let date = date_from_days(day);
        if date.month() == 12 && date.day() == 19 {
            let on = business_day_on_or_before(day);
            let minor = base * draw.between(350, 600) / 1000;
            let words = wording::ach(Account::Spending, company, "BONUS", "PPD");
            let entry = Entry::posted(&mut draw, Account::Spending, on, minor, words);
            world.add(entry.by(name, "INCOME_SALARY").income("earned").tag("bonus"));
        }
    }
}

/// The day of a paycheck, and whether it came early: one in 25 does, at banks with early direct deposit.
fn payday(draw: &mut Draw, slot: Day) -> (Day, bool) {
    let on = business_day_on_or_before(slot);
    if draw.permille(40) { (business_day_on_or_before(on - 1), true) } else { (on, false) }
}

/// The base pay with a raise of four percent a year.
fn raised(base: i64, days: Day) -> i64 {
    base * (1000 + 40 * (days / 365)) / 1000
}

/// Pay for deliveries, on Mondays after a week with work.
pub(super) fn gig_work(world: &mut World) {
    let mut draw = world.draw("income/gig");
    for day in world.start..=world.today {
        if weekday(day) != 0 || !draw.permille(560) {
            continue;
        }
        let (on, minor) = (business_day_on_or_after(day), draw.around(86_00, &USUAL));
        let id = draw.code(12);
        let person = format!("{} {}", world.people.second, world.people.family).to_uppercase();
        let words = format!("DOORDASH, INC. DES:DASHER PAY ID:ST-{id} INDN:{person} CO ID:PPD");
        let entry = Entry::posted(&mut draw, Account::Spending, on, minor, words);
        world.add(entry.by("DoorDash", "INCOME_GIG_ECONOMY").income("gig"));
    }
}

/// Tax refunds in spring, and the tax payment for gig work in April.
pub(super) fn taxes(world: &mut World) {
    let mut draw = world.draw("income/taxes");
    for day in world.start..=world.today {
        let date = date_from_days(day);
        let on = business_day_on_or_after(day + draw.between(0, 9));
        let (words, name, minor, code) = match (date.month(), date.day()) {
            (3, 4) => {
                let words = "IRS TREAS 310     TAX REF    PPD ID: 9111736155".to_owned();
                (words, "IRS", draw.between(1_450_00, 2_900_00), "INCOME_TAX_REFUND")
            }
            (3, 16) => {
                let words = wording::ach(Account::Checking, world.town.state_refund, "", "PPD");
                (words, "State tax office", draw.between(180_00, 640_00), "INCOME_TAX_REFUND")
            }
            (4, 8) => {
                let words = format!("IRS USATAXPYMT {} CCD ID: 3387702000", draw.digits(15));
                let minor = -draw.between(240_00, 460_00);
                (words, "IRS", minor, "GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT")
            }
            _ => continue,
        };
        let entry = Entry::posted(&mut draw, Account::Checking, on, minor, words);
        world.add(entry.by(name, code));
    }
}

/// Interest on the last day of each month. Runs after everything else, because it depends on the balances.
pub(super) fn interest(world: &mut World) {
    for account in [Account::Savings, Account::HighYield, Account::Gifts, Account::Euro] {
        let Some(rate) = account.facts().rate else { continue };
        let mut draw = world.draw(&format!("interest/{}", account.entity()));
        for day in month_ends(world.start, world.today) {
            let minor = world.balance(account, day) * rate / 120_000;
            if minor <= 0 {
                continue;
            }
            let words = match account {
                Account::HighYield => "Interest Payment".to_owned(),
                Account::Euro => "Zinsgutschrift".to_owned(),
                Account::Gifts => "Interest Paid".to_owned(),
                _ => format!("INTEREST PAYMENT {}", draw.digits(6)),
            };
            let entry = Entry::posted(&mut draw, account, day, minor, words);
            let entry = entry.by(account.facts().bank.name(), "INCOME_INTEREST_EARNED");
            let stream = format!("interest/{}", account.entity());
            world.add(entry.stream(&stream, Cadence::Monthly).income("passive"));
        }
    }
}

/// The name of each contribution, its stream, and its share of the pay in thousandths.
const SIDES: [(&str, &str, i64); 2] =
    [("EMPLOYEE PRE-TAX", "retirement/employee", 90), ("EMPLOYER MATCH", "retirement/match", 45)];

/// Contributions to the retirement account two days after each first paycheck: the employee's and the employer's.
pub(super) fn retirement_contributions(world: &mut World) {
    let mut draw = world.draw("income/retirement");
    let paid = |it: &&Entry| it.label.stream.as_deref() == Some("income/first");
    let paydays: Vec<(Day, i64)> =
        world.book.iter().filter(paid).map(|it| (it.posted_on, it.minor)).collect();
    for (day, pay) in paydays {
        let on = business_day_on_or_after(day + 2);
        if on > world.today {
            continue;
        }
        for (side, stream, permille) in SIDES {
            let minor = pay * permille / 1000;
            let words = format!("CONTRIBUTION {side}");
            world.portfolio.contribute(on, minor);
            let entry = Entry::posted(&mut draw, Account::Retirement, on, minor, words);
            let entry = entry
                .by("Fidelity Investments", "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS")
                .stream(stream, Cadence::Biweekly);
            world.add(entry);
        }
    }
}

/// The monthly fee of the unused student account, until it is closed.
pub(super) fn college_fee(world: &mut World) {
    let mut draw = world.draw("fee/college");
    for on in monthly(12, world.start, world.college_closed_on - 12) {
        let words = "MONTHLY SERVICE FEE".to_owned();
        let entry = Entry::posted(&mut draw, Account::College, on, -6_00, words);
        let entry = entry.by("Chase", "BANK_FEES_OTHER_BANK_FEES");
        world.add(entry.stream("fee/college", Cadence::Monthly));
    }
}
