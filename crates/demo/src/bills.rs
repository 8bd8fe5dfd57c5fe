//! Housing and its bills, paid by ACH debit: some vary with the season, others have a fixed price.

use super::accounts::Account;
use super::calendar::{Cadence, Day, business_day_on_or_after, day_of_month, monthly};
use super::draw::MILD;
use super::entry::Entry;
use super::wording;
use super::world::World;

/// How a company appears on an ACH debit: its name, the entry description, and the entry class.
type Debit = (&'static str, &'static str, &'static str);

struct Bill {
    entity: &'static str,
    name: &'static str,
    category: &'static str,
    account: Account,
    debit: Debit,
    price: [i64; 2],
    /// How far the price follows the seasons, in thousandths; zero is a fixed price.
    season: i64,
}

const INSURANCE: &str = "GENERAL_SERVICES_INSURANCE";

const BILLS: [Bill; 4] = [
    Bill {
        entity: "bill/car-insurance",
        name: "GEICO",
        category: INSURANCE,
        account: Account::Checking,
        debit: ("GEICO *AUTO", "PREM COLL", "PPD"),
        price: [128_00, 176_00],
        season: 0,
    },
    Bill {
        entity: "bill/phone",
        name: "Verizon",
        category: "RENT_AND_UTILITIES_TELEPHONE",
        account: Account::Spending,
        debit: ("VERIZON WIRELESS", "PAYMENTS", "WEB"),
        price: [108_00, 146_00],
        season: 0,
    },
    Bill {
        entity: "bill/student-loan",
        name: "Nelnet",
        category: "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT",
        account: Account::Spending,
        debit: ("NELNET", "STDNT LOAN", "PPD"),
        price: [186_00, 244_00],
        season: 0,
    },
    Bill {
        entity: "bill/heating",
        name: "National Fuel",
        category: "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY",
        account: Account::Checking,
        debit: ("NATL FUEL RESOUR", "UTIL PYMT", "WEB"),
        price: [62_00, 84_00],
        season: 350,
    },
];

/// How far each month's energy use lies above or below the yearly mean, in thousandths.
const SEASON: [i64; 12] = [1000, 850, 450, 0, -450, -800, -1000, -850, -450, 0, 450, 850];

pub(super) fn home(world: &mut World) {
    let mut draw = world.draw("bill/home");
    let owned = draw.permille(400);
    let (name, category, debit): (_, _, Debit) = match owned {
        true => (
            "Rocket Mortgage",
            "LOAN_PAYMENTS_MORTGAGE_PAYMENT",
            ("ROCKET MORTGAGE", "LOAN", "PPD"),
        ),
        false => (
            "Alder Court Apartments",
            "RENT_AND_UTILITIES_RENT",
            ("ALDER CRT APTS", "WEB PMTS", "WEB"),
        ),
    };
    let mut price = draw.between(2_150_00, 2_550_00) / 5_00 * 5_00;
    let step_after = draw.between(150, 330);
    for (index, slot) in monthly(1, world.start, world.today).into_iter().enumerate() {
        let rises = index > 0 && (slot - world.start - step_after).rem_euclid(365) < 31;
        if rises {
            price = price * draw.between(1020, 1065) / 1000;
        }
        let on = business_day_on_or_after(slot);
        let words = wording::ach(Account::Checking, debit.0, debit.1, debit.2);
        let entry = Entry::posted(&mut draw, Account::Checking, on, -price, words);
        let entry = entry.by(name, category).stream("bill/home", Cadence::Monthly);
        world.add(if rises { entry.tag("price_rise") } else { entry });
    }
}

pub(super) fn bills(world: &mut World) {
    for bill in BILLS {
        monthly_bill(world, &bill, None);
    }
    let (name, core) = world.town.power;
    let power = Bill {
        entity: "bill/power",
        name,
        category: "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY",
        account: Account::Checking,
        debit: (core, "BILLPAY", "WEB"),
        price: [96_00, 138_00],
        season: 220,
    };
    monthly_bill(world, &power, None);
    // Due nine days ago and not paid, so that a missed bill can be detected.
    let life = Bill {
        entity: "bill/life-insurance",
        name: "Northwestern Mutual",
        category: INSURANCE,
        account: Account::Checking,
        debit: ("NWESTERN MUTUAL", "ISA PAYMNT", "PPD"),
        price: [41_00, 58_00],
        season: 0,
    };
    monthly_bill(world, &life, Some(world.today - 9));
    water(world);
    after_school(world);
}

/// `missed_on` sets the day of the month and leaves out the last payment.
fn monthly_bill(world: &mut World, bill: &Bill, missed_on: Option<Day>) {
    let mut draw = world.draw(bill.entity);
    let base = draw.between(bill.price[0], bill.price[1]);
    let anchor = missed_on.map_or(draw.between(2, 27) as i8, day_of_month);
    let jitter = if bill.season > 0 { 2 } else { 0 };
    let rise_on = world.start + draw.between(150, 560);
    let mut risen = false;
    for slot in monthly(anchor, world.start, world.today) {
        if missed_on.is_some_and(|missed| slot >= missed) {
            break;
        }
        let month = base::date_from_days(slot).month() as usize - 1;
        let seasonal = base * (1_000_000 + SEASON[month] * bill.season) / 1_000_000;
        let price = if bill.season > 0 { draw.around(seasonal, &MILD) } else { base };
        let price = if slot >= rise_on { price * 1085 / 1000 } else { price };
        let on = business_day_on_or_after(slot + draw.between(0, jitter));
        let words = wording::ach(bill.account, bill.debit.0, bill.debit.1, bill.debit.2);
        let entry = Entry::posted(&mut draw, bill.account, on, -price, words);
        let entry = entry.by(bill.name, bill.category).stream(bill.entity, Cadence::Monthly);
        let first_risen = slot >= rise_on && !risen && bill.season == 0;
        risen |= slot >= rise_on;
        world.add(if first_risen { entry.tag("price_rise") } else { entry });
    }
}

fn water(world: &mut World) {
    let mut draw = world.draw("bill/water");
    let first = world.start + draw.between(4, 60);
    for slot in Cadence::Quarterly.slots(first, world.today) {
        let (name, core) = world.town.water;
        let (on, price) = (business_day_on_or_after(slot), draw.around(118_00, &MILD));
        let words = wording::ach(Account::Checking, core, "ONLINE PMT", "WEB");
        let entry = Entry::posted(&mut draw, Account::Checking, on, -price, words);
        let entry = entry.by(name, "RENT_AND_UTILITIES_WATER");
        world.add(entry.stream("bill/water", Cadence::Quarterly));
    }
}

/// After-school care, paid every other week by paper check: the descriptor does not name the payee.
fn after_school(world: &mut World) {
    let mut draw = world.draw("bill/after-school");
    let first = world.start + draw.between(0, 13);
    let price = draw.between(150, 195) * 1_00;
    for (index, slot) in Cadence::Biweekly.slots(first, world.today).into_iter().enumerate() {
        let on = business_day_on_or_after(slot);
        let words = format!("CHECK # {}", 1042 + index);
        let entry = Entry::posted(&mut draw, Account::Checking, on, -price, words);
        let entry = entry.by("Sunflower After School", "GENERAL_SERVICES_CHILDCARE");
        world.add(entry.stream("bill/after-school", Cadence::Biweekly).tag("paper_check"));
    }
}
