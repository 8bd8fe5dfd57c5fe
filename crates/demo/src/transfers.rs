//! Transfers between own accounts: recurring plans, the car loan, and month-end sweeps.

use super::accounts::Account;
use super::calendar::{Cadence, Day, business_day_on_or_after, business_day_on_or_before, monthly};
use super::draw::Draw;
use super::entry::Entry;
use super::events::shock_day;
use super::wording::{ach, month_day};
use super::world::{Transfer, Unreported, World};

const OUT: &str = "TRANSFER_OUT_ACCOUNT_TRANSFER";
const IN: &str = "TRANSFER_IN_ACCOUNT_TRANSFER";
const SAVINGS: (&str, &str) = ("TRANSFER_OUT_SAVINGS", "TRANSFER_IN_SAVINGS");
const TO_INVEST: (&str, &str) =
    ("TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS", "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS");

/// Recurring transfers.
pub(super) fn plans(world: &mut World) {
    emergency_plan(world);
    let mut draw = world.draw("transfer/small-savings");
    for slot in monthly(20, world.start, world.today) {
        let words = same_bank(world, &mut draw, Account::Checking, Account::Savings, slot);
        let legs = transfer_between(Account::Checking, Account::Savings, 150_00, slot, slot);
        let stream = Some(("transfer/small-savings", Cadence::Monthly));
        let categories = SAVINGS;
        world.transfer(&mut draw, Transfer { words, categories, kind: "savings", stream, ..legs });
    }
    let mut draw = world.draw("transfer/household");
    let share = draw.between(29, 33) * 50_00;
    for slot in monthly(3, world.start, world.today) {
        let leaves_on = business_day_on_or_after(slot);
        let arrives_on = business_day_on_or_after(leaves_on + 1);
        let words = ally_to_chase(world);
        let legs =
            transfer_between(Account::Spending, Account::Checking, share, leaves_on, arrives_on);
        let stream = Some(("transfer/household", Cadence::Monthly));
        world.transfer(&mut draw, Transfer { words, stream, ..legs });
    }
    let mut draw = world.draw("transfer/gifts");
    for slot in monthly(10, world.start, world.today) {
        let words = (
            format!("Internet transfer to Surprise Fund XXXXXX{}", world.mask(Account::Gifts)),
            format!("Internet transfer from Spending XXXXXX{}", world.mask(Account::Spending)),
        );
        let legs = transfer_between(Account::Spending, Account::Gifts, 60_00, slot, slot);
        let stream = Some(("transfer/gifts", Cadence::Monthly));
        let categories = SAVINGS;
        world.transfer(&mut draw, Transfer { words, categories, kind: "savings", stream, ..legs });
    }
}

/// A transfer to the high-yield savings account on the day after each first paycheck.
fn emergency_plan(world: &mut World) {
    let mut draw = world.draw("transfer/emergency");
    let minor = draw.between(9, 13) * 25_00;
    let paid = |it: &&Entry| it.label.stream.as_deref() == Some("income/first");
    let paydays: Vec<Day> = world.book.iter().filter(paid).map(|it| it.posted_on).collect();
    for payday in paydays {
        let leaves_on = business_day_on_or_after(payday + 1);
        let arrives_on = business_day_on_or_after(leaves_on + draw.between(0, 2));
        let words = to_high_yield(world);
        let legs =
            transfer_between(Account::Checking, Account::HighYield, minor, leaves_on, arrives_on);
        let stream = Some(("transfer/emergency", Cadence::Biweekly));
        let categories = SAVINGS;
        world.transfer(&mut draw, Transfer { words, categories, kind: "savings", stream, ..legs });
    }
}

/// Two equal transfers to one broker on one day, which differ only in the account number.
pub(super) fn investing(world: &mut World) {
    let mut draw = world.draw("transfer/investing");
    let minor = draw.between(5, 7) * 50_00;
    for slot in monthly(17, world.start, world.today) {
        let leaves_on = business_day_on_or_after(slot);
        let arrives_on = business_day_on_or_after(leaves_on + 1);
        for (to, stream) in
            [(Account::Brokerage, "transfer/brokerage"), (Account::Roth, "transfer/roth")]
        {
            let words = (
                ach(Account::Checking, "FID BKG SVC LLC", "MONEYLINE", "PPD"),
                format!("Electronic Funds Transfer Received {} (Cash)", world.mask(to)),
            );
            let legs = transfer_between(Account::Checking, to, minor, leaves_on, arrives_on);
            let stream = Some((stream, Cadence::Monthly));
            let (categories, kind) = (TO_INVEST, "investment_contribution");
            world.transfer(&mut draw, Transfer { words, categories, kind, stream, ..legs });
        }
    }
}

pub(super) const LOAN_DAY: i8 = 15;

/// Car loan payments. The whole payment is one transfer; the lender books the month's interest separately.
pub(super) fn car_loan(world: &mut World) {
    let mut draw = world.draw("loan/car");
    let (owed, payment) = (draw.between(19_500_00, 24_500_00), draw.between(398_00, 446_00));
    world.open(Account::CarLoan, -owed);
    let rate = Account::CarLoan.facts().rate.unwrap_or(0);
    for slot in monthly(LOAN_DAY, world.start, world.today) {
        let on = business_day_on_or_after(slot);
        let interest = -world.balance(Account::CarLoan, on) * rate / 120_000;
        let words = "INTEREST CHARGED".to_owned();
        let entry = Entry::posted(&mut draw, Account::CarLoan, on, -interest, words);
        let entry = entry.by("Toyota Financial Services", "BANK_FEES_INTEREST_CHARGE");
        world.add(entry.stream("loan/car/interest", Cadence::Monthly));
        let words = (
            ach(Account::Checking, "TOYOTA ACH RTL", "TFS PYMT", "PPD"),
            "PAYMENT RECEIVED - THANK YOU".to_owned(),
        );
        let arrives_on = on + draw.between(0, 1);
        let legs = transfer_between(Account::Checking, Account::CarLoan, payment, on, arrives_on);
        let categories = ("LOAN_PAYMENTS_CAR_PAYMENT", "LOAN_PAYMENTS_CAR_PAYMENT");
        let stream = Some(("loan/car", Cadence::Monthly));
        let kind = "loan_payment";
        world.transfer(&mut draw, Transfer { words, categories, kind, stream, ..legs });
    }
}

/// One-off transfers: money from savings after the hospital bill, an unreported change of the savings balance, and
/// the remaining balance of the closed student account.
pub(super) fn exceptions(world: &mut World) {
    world.open(Account::Savings, 6_400_00);
    let mut draw = world.draw("transfer/shock");
    let on = business_day_on_or_after(shock_day(world) + 3);
    let words = same_bank(world, &mut draw, Account::Savings, Account::Checking, on);
    let legs = transfer_between(Account::Savings, Account::Checking, 1_200_00, on, on);
    let (categories, kind) = (SAVINGS, "savings");
    world.transfer(&mut draw, Transfer { words, categories, kind, ..legs });

    let mut draw = world.draw("unreported");
    let on = world.start + draw.between(250, 320);
    let minor = -draw.between(360_00, 420_00) - 17;
    world.unreported = Some(Unreported { account: Account::Savings, on, minor });

    let mut draw = world.draw("transfer/college");
    let on = business_day_on_or_before(world.college_closed_on - 1);
    world.open(Account::College, draw.between(380_00, 640_00));
    let left = world.balance(Account::College, world.today);
    let words = same_bank(world, &mut draw, Account::College, Account::Checking, on);
    let legs = transfer_between(Account::College, Account::Checking, left, on, on);
    world.transfer(&mut draw, Transfer { words, ..legs });
}

/// Transfers money out of savings when a card bill is larger than usual.
pub(super) fn pull_from_savings(world: &mut World, draw: &mut Draw, on: Day, minor: i64) {
    let leaves_on = business_day_on_or_before(on);
    let arrives_on = business_day_on_or_after(leaves_on + 1);
    let minor = (minor / 50_00 + 1) * 50_00;
    let words = (
        format!("ACH Withdrawal Ally Bank ...{}", world.mask(Account::Spending)),
        ach(Account::Spending, "AMEX PERSONAL SA", "TRANSFER", "PPD"),
    );
    let legs =
        transfer_between(Account::HighYield, Account::Spending, minor, leaves_on, arrives_on);
    let (categories, kind) = (SAVINGS, "savings");
    world.transfer(draw, Transfer { words, categories, kind, ..legs });
}

/// Transfers the surplus of each month, as far as all later payments allow. Both accounts open with enough to stay
/// above their floor.
pub(super) fn sweeps(world: &mut World) {
    sweep(world, Account::Spending, Account::Checking, (350_00, 900_00, 26));
    sweep(world, Account::Checking, Account::HighYield, (260_00, 2_300_00, 27));
}

fn sweep(world: &mut World, from: Account, to: Account, (floor, typical, day): (i64, i64, i8)) {
    let mut draw = world.draw(&format!("sweep/{}", from.entity()));
    let mut daily = world.daily_balances(from);
    let lowest = daily.iter().copied().min().unwrap_or(0);
    let opening = typical.max(floor - lowest);
    world.open(from, opening);
    daily.iter_mut().for_each(|balance| *balance += opening);
    for slot in monthly(day, world.start, world.today) {
        let leaves_on = business_day_on_or_after(slot);
        let arrives_on = business_day_on_or_after(leaves_on + 1);
        let at = (leaves_on - world.start + 1) as usize;
        let ahead = daily.iter().skip(at).copied().min().unwrap_or(0);
        let minor = (ahead - floor) / 50_00 * 50_00;
        if minor < 200_00 || arrives_on > world.today || !draw.permille(800) {
            continue;
        }
        daily.iter_mut().skip(at).for_each(|balance| *balance -= minor);
        let words =
            if to == Account::HighYield { to_high_yield(world) } else { ally_to_chase(world) };
        let legs = transfer_between(from, to, minor, leaves_on, arrives_on);
        let savings = to == Account::HighYield;
        let categories = if savings { SAVINGS } else { (OUT, IN) };
        let kind = if savings { "savings" } else { "transfer" };
        world.transfer(&mut draw, Transfer { words, categories, kind, ..legs });
    }
}

fn transfer_between(
    from: Account,
    to: Account,
    minor: i64,
    leaves_on: Day,
    arrives_on: Day,
) -> Transfer<'static> {
    Transfer {
        from,
        to,
        minor,
        leaves_on,
        arrives_on,
        kind: "transfer",
        words: (String::new(), String::new()),
        categories: (OUT, IN),
        stream: None,
    }
}

fn same_bank(
    world: &World,
    draw: &mut Draw,
    from: Account,
    to: Account,
    on: Day,
) -> (String, String) {
    let short = |account| if account == Account::Savings { "SAV" } else { "CHK" };
    let (number, date) = (draw.digits(11), month_day(on, "/"));
    let (to_mask, from_mask) = (world.mask(to), world.mask(from));
    (
        format!("Online Transfer to {} ...{to_mask} transaction#: {number} {date}", short(to)),
        format!("Online Transfer from {} ...{from_mask} transaction#: {number}", short(from)),
    )
}

fn to_high_yield(world: &World) -> (String, String) {
    (
        ach(Account::Checking, "AMEX PERSONAL SA", "TRANSFER", "WEB"),
        format!("ACH Deposit JPMorgan Chase ...{}", world.mask(Account::Checking)),
    )
}

fn ally_to_chase(world: &World) -> (String, String) {
    let person = format!("{} {}", world.people.second, world.people.family).to_uppercase();
    (
        format!("Requested transfer to JPMorgan Chase XXXXXX{}", world.mask(Account::Checking)),
        format!("ALLY BANK        P2P        {person} WEB ID: 9833122002"),
    )
}
