//! Irregular events: payments between friends, cash, trips, a hospital bill.

use super::accounts::Account;
use super::calendar::{Day, business_day_on_or_after, is_business_day, weekday};
use super::draw::{Draw, MILD, USUAL};
use super::entry::Entry;
use super::merchants::{Shape, merchant};
use super::places::FRIENDS;
use super::wording::month_day;
use super::world::World;

const MEDICAL: &str = "MEDICAL_OTHER_MEDICAL";
const RESTAURANT: &str = "FOOD_AND_DRINK_RESTAURANT";

/// Payments between friends, which look like own transfers and are not.
pub(super) fn friends(world: &mut World) {
    let mut draw = world.draw("event/friends");
    for day in world.start..=world.today {
        if !is_business_day(day) || !draw.permille(170) {
            continue;
        }
        let friend = *draw.pick(&FRIENDS);
        let minor = draw.around(32_00, &USUAL) / 5_00 * 5_00 + 5_00;
        let (account, minor, words) = match draw.below(4) {
            0 => (
                Account::Checking,
                minor,
                format!("Zelle payment from {friend} {}", draw.digits(11)),
            ),
            1 => {
                let words =
                    format!("VENMO            CASHOUT    {} PPD ID: 5264681992", draw.digits(10));
                (Account::Spending, minor, words)
            }
            2 => (
                Account::Checking,
                -minor,
                format!("Zelle payment to {friend} JPM99{}", draw.code(7)),
            ),
            _ => {
                let words =
                    format!("VENMO            PAYMENT    {} WEB ID: 3264681992", draw.digits(10));
                (Account::Spending, -minor, words)
            }
        };
        let code = if minor > 0 {
            "TRANSFER_IN_OTHER_TRANSFER_IN"
        } else {
            "TRANSFER_OUT_OTHER_TRANSFER_OUT"
        };
        let name = if words.starts_with("Zelle") { "Zelle" } else { "Venmo" };
        let entry = Entry::posted(&mut draw, account, day, minor, words);
        world.add(entry.by(name, code).tag("p2p"));
    }
}

/// Repayments by friends of exactly the price of a dinner: equal and opposite within days, and still not a transfer.
pub(super) fn repayments(world: &mut World) {
    let dinners: Vec<(String, Day, i64)> = world
        .book
        .iter()
        .filter(|it| it.category.detailed() == RESTAURANT && it.minor < -40_00)
        .map(|it| (it.id.clone(), it.posted_on, -it.minor))
        .collect();
    for (id, posted_on, minor) in dinners {
        let mut draw = world.draw(&format!("event/repayment/{id}"));
        let on = business_day_on_or_after(posted_on + draw.between(0, 2));
        if draw.permille(60) && on <= world.today {
            let words = format!("Zelle payment from {} {}", draw.pick(&FRIENDS), draw.digits(11));
            let entry = Entry::posted(&mut draw, Account::Checking, on, minor, words);
            let entry = entry.by("Zelle", "TRANSFER_IN_OTHER_TRANSFER_IN");
            world.add(entry.tag("p2p").tag("exact_repayment"));
        }
    }
}

pub(super) fn cash(world: &mut World) {
    let mut draw = world.draw("event/cash");
    let mut day = world.start + draw.between(0, 13);
    while day <= world.today {
        let minor = draw.between(2, 10) * 20_00;
        let own = draw.permille(700);
        let (number, date) = (draw.digits(6), month_day(day, "/"));
        let words = match own {
            true => format!(
                "ATM WITHDRAWAL                       {number}  {date}{}",
                world.town.street
            ),
            false => format!("NON-CHASE ATM WITHDRAW               {number}  {date}7-ELEVEN"),
        };
        let entry = Entry::posted(&mut draw, Account::Checking, day, -minor, words);
        world.add(entry.by("ATM", "TRANSFER_OUT_WITHDRAWAL"));
        if !own {
            let words = "NON-CHASE ATM FEE-WITH".to_owned();
            let entry = Entry::posted(&mut draw, Account::Checking, day, -3_00, words);
            world.add(entry.by("Chase", "BANK_FEES_ATM_FEES"));
        }
        day += draw.between(9, 24);
    }
}

/// The day of the emergency room visit, after which the card carries a debt for months.
pub(super) fn shock_day(world: &World) -> Day {
    world.start + world.draw("event/shock").between(330, 470)
}

pub(super) fn shocks(world: &mut World) {
    let mut draw = world.draw("event/shock/rows");
    let day = shock_day(world);
    let hospital = merchant("St. Luke's Hospital", "ST LUKES HOSP ER", Shape::Plain, MEDICAL);
    let imaging = merchant("Bay Imaging", "BAY IMAGING CONSULT", Shape::Plain, MEDICAL);
    let rows = [(hospital, 0, 1_640_00), (imaging, 12, 286_00), (hospital, 33, 148_00)];
    for (merchant, after, median) in rows {
        let price = draw.around(median, &MILD);
        let entry = world.purchase(&mut draw, Account::Freedom, &merchant, day + after, price);
        world.add(entry.tag("shock"));
    }
    let mut draw = world.draw("event/car-repair");
    let garage =
        merchant("Pep Boys", "PEP BOYS STORE", Shape::Store, "GENERAL_SERVICES_AUTOMOTIVE");
    let (on, price) = (world.start + draw.between(110, 260), draw.between(620_00, 980_00));
    let entry = world.purchase(&mut draw, Account::Checking, &garage, on, price);
    world.add(entry.tag("shock"));

    let mut draw = world.draw("event/plumber");
    let (on, price) = (world.start + draw.between(400, 640), draw.between(240_00, 420_00));
    let (on, words) = (business_day_on_or_after(on), "CHECK # 208".to_owned());
    let entry = Entry::posted(&mut draw, Account::Checking, on, -price, words);
    let entry = entry.by("Rossi Plumbing", "HOME_IMPROVEMENT_REPAIR_AND_MAINTENANCE");
    world.add(entry.tag("paper_check"));
}

struct Stop {
    words: &'static str,
    name: &'static str,
    category: &'static str,
    /// Days from arrival; negative for bookings in advance.
    day: Day,
    median: i64,
}

const fn stop(
    words: &'static str,
    name: &'static str,
    category: &'static str,
    day: Day,
    median: i64,
) -> Stop {
    Stop { words, name, category, day, median }
}

const SEATTLE: [Stop; 7] = [
    stop("ALASKA AIR  0272148816402 SEATTLE WA", "Alaska Airlines", "TRAVEL_FLIGHTS", -45, 412_00),
    stop("HOTEL ANDRA SEATTLE WA", "Hotel Andra", "TRAVEL_LODGING", 3, 586_00),
    stop("HERTZ RENT-A-CAR SEATAC WA", "Hertz", "TRAVEL_RENTAL_CARS", 3, 168_00),
    stop("PIKE PLACE CHOWDER SEATTLE WA", "Pike Place Chowder", RESTAURANT, 1, 38_00),
    stop("SQ *FREMONT BREWING SEATTLE WA", "Fremont Brewing", RESTAURANT, 1, 44_00),
    stop(
        "SEATTLE AQUARIUM SEATTLE WA",
        "Seattle Aquarium",
        "ENTERTAINMENT_SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS",
        2,
        79_00,
    ),
    stop("GOOD TO GO TOLLS 866-936-8246 WA", "Good To Go", "TRANSPORTATION_TOLLS", 2, 9_00),
];

const COAST: [Stop; 4] = [
    stop("AIRBNB * HMX2QK8WTA 855-424-7262 CA", "Airbnb", "TRAVEL_LODGING", -30, 498_00),
    stop("THE CRAB SHACK SEASIDE OR", "The Crab Shack", RESTAURANT, 1, 86_00),
    stop("TILLAMOOK CREAMERY TILLAMOOK OR", "Tillamook Creamery", RESTAURANT, 2, 41_00),
    stop(
        "OREGON STATE PARKS SALEM OR",
        "Oregon State Parks",
        "GOVERNMENT_AND_NON_PROFIT_GOVERNMENT_DEPARTMENTS_AND_AGENCIES",
        1,
        15_00,
    ),
];

const LISBON: [Stop; 5] = [
    stop(
        "TAP AIR PORTUGAL 0472199385512 LISBOA",
        "TAP Air Portugal",
        "TRAVEL_FLIGHTS",
        -60,
        1_184_00,
    ),
    stop("PASTEIS DE BELEM LISBOA PRT", "Pasteis de Belem", "FOOD_AND_DRINK_COFFEE", 1, 14_00),
    stop("TIME OUT MARKET LISBOA PRT", "Time Out Market", RESTAURANT, 2, 63_00),
    stop(
        "OCEANARIO DE LISBOA PRT",
        "Oceanario",
        "ENTERTAINMENT_SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS",
        3,
        54_00,
    ),
    stop("UBER *TRIP LISBOA PRT", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", 4, 11_00),
];

/// The day of arrival in Lisbon. The euro account is used around it.
pub(super) fn lisbon_day(world: &World) -> Day {
    world.start + world.draw("event/lisbon").between(560, 620)
}

pub(super) fn journeys(world: &mut World) {
    let mut draw = world.draw("event/journeys");
    let seattle = world.start + draw.between(90, 140);
    let coast = world.start + draw.between(270, 310);
    let lisbon = lisbon_day(world);
    let journeys = [
        ("seattle", seattle, &SEATTLE[..], Account::Gold),
        ("coast", coast, &COAST[..], Account::Gold),
        ("lisbon", lisbon, &LISBON[..], Account::Freedom),
    ];
    for (name, arrival, stops, account) in journeys {
        let mut draw = world.draw(&format!("event/journey/{name}"));
        for stop in stops {
            travel(world, &mut draw, account, arrival, stop);
        }
    }
}

fn travel(world: &mut World, draw: &mut Draw, account: Account, arrival: Day, stop: &Stop) {
    let on = arrival + stop.day;
    let (posted_on, minor) = (on + draw.between(1, 3), -draw.around(stop.median, &MILD));
    let entry = Entry::posted(draw, account, posted_on, minor, stop.words.to_owned());
    world.add(entry.by(stop.name, stop.category).authorized(on));
    if account == Account::Freedom && stop.words.ends_with("PRT") {
        let words = "FOREIGN TRANSACTION FEE".to_owned();
        let fee = Entry::posted(draw, account, posted_on, minor * 3 / 100, words);
        world.add(fee.by("Chase", "BANK_FEES_FOREIGN_TRANSACTION_FEES"));
    }
}

pub(super) fn giving(world: &mut World) {
    let mut draw = world.draw("event/giving");
    let charity = merchant(
        "Doctors Without Borders",
        "DOCTORS W/O BORDERS",
        Shape::Online,
        "GOVERNMENT_AND_NON_PROFIT_DONATIONS",
    );
    let post =
        merchant("USPS", "USPS PO 0558", Shape::Plain, "GENERAL_SERVICES_POSTAGE_AND_SHIPPING");
    for day in world.start..=world.today {
        if base::date_from_days(day).month() == 12 && weekday(day) == 1 {
            let price = draw.between(2, 8) * 25_00;
            let entry = world.purchase(&mut draw, Account::Gold, &charity, day, price);
            world.add(entry);
        }
        if weekday(day) == 2 && draw.permille(90) {
            let price = draw.around(11_30, &USUAL);
            let entry = world.purchase(&mut draw, Account::Checking, &post, day, price);
            world.add(entry);
        }
    }
}
