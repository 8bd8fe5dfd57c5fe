//! Habits: repeated purchases that are not a contract.

use super::accounts::Account;
use super::calendar::{Day, weekday};
use super::draw::{Draw, MILD, Spread, USUAL, WIDE};
use super::merchants::{self, Merchant, Shape, merchant};
use super::world::World;

enum Price {
    Around(i64, &'static Spread),
    OneOf(&'static [i64]),
}

struct Habit {
    entity: &'static str,
    merchants: &'static [Merchant],
    /// How many of the merchants this household uses.
    merchant_count: usize,
    /// Chance on each day of the week from Monday, in thousandths.
    chances: [u64; 7],
    accounts: &'static [Account],
    price: Price,
    tipped: bool,
}

use Account::{Checking, Freedom, Gold, Spending};
use Price::{Around, OneOf};

const HABITS: [Habit; 15] = [
    Habit {
        entity: "habit/groceries",
        merchants: &merchants::GROCERS,
        merchant_count: 4,
        chances: [180, 120, 220, 150, 200, 650, 380],
        accounts: &[Gold, Gold, Checking],
        price: Around(64_00, &USUAL),
        tipped: false,
    },
    Habit {
        entity: "habit/first-coffee",
        merchants: &merchants::CAFES,
        merchant_count: 2,
        chances: [420, 420, 420, 420, 420, 250, 250],
        accounts: &[Gold],
        price: OneOf(&[4_75, 5_45, 5_45, 6_25]),
        tipped: false,
    },
    Habit {
        entity: "habit/second-coffee",
        merchants: &merchants::CAFES,
        merchant_count: 3,
        chances: [330, 330, 330, 330, 330, 80, 80],
        accounts: &[Spending, Spending, Freedom],
        price: OneOf(&[3_95, 4_50, 7_20]),
        tipped: false,
    },
    Habit {
        entity: "habit/lunch",
        merchants: &merchants::LUNCHES,
        merchant_count: 5,
        chances: [480, 480, 480, 480, 480, 200, 200],
        accounts: &[Freedom, Freedom, Spending],
        price: Around(13_40, &USUAL),
        tipped: false,
    },
    Habit {
        entity: "habit/dinner",
        merchants: &merchants::RESTAURANTS,
        merchant_count: 6,
        chances: [70, 70, 70, 120, 350, 400, 200],
        accounts: &[Gold, Gold, Gold, Freedom],
        price: Around(54_00, &USUAL),
        tipped: true,
    },
    Habit {
        entity: "habit/fuel",
        merchants: &merchants::FUEL_STATIONS,
        merchant_count: 2,
        chances: [140; 7],
        accounts: &[Freedom],
        price: Around(44_00, &MILD),
        tipped: false,
    },
    Habit {
        entity: "habit/marketplace",
        merchants: &merchants::MARKETPLACES,
        merchant_count: 4,
        chances: [190; 7],
        accounts: &[Gold, Freedom],
        price: Around(31_00, &WIDE),
        tipped: false,
    },
    Habit {
        entity: "habit/superstore",
        merchants: &merchants::SUPERSTORES,
        merchant_count: 3,
        chances: [50, 50, 50, 50, 50, 300, 250],
        accounts: &[Freedom, Checking],
        price: Around(52_00, &USUAL),
        tipped: false,
    },
    Habit {
        entity: "habit/clothes",
        merchants: &merchants::CLOTHES,
        merchant_count: 4,
        chances: [45; 7],
        accounts: &[Gold, Freedom],
        price: Around(58_00, &USUAL),
        tipped: false,
    },
    Habit {
        entity: "habit/pharmacy",
        merchants: &merchants::PHARMACIES,
        merchant_count: 2,
        chances: [60; 7],
        accounts: &[Checking, Freedom],
        price: Around(17_50, &WIDE),
        tipped: false,
    },
    Habit {
        entity: "habit/rides",
        merchants: &merchants::RIDES,
        merchant_count: 2,
        chances: [50, 50, 50, 50, 180, 180, 50],
        accounts: &[Gold],
        price: Around(18_00, &USUAL),
        tipped: true,
    },
    Habit {
        entity: "habit/corner-shop",
        merchants: &merchants::CORNER_SHOPS,
        merchant_count: 3,
        chances: [130; 7],
        accounts: &[Spending],
        price: Around(7_80, &WIDE),
        tipped: false,
    },
    Habit {
        entity: "habit/leisure",
        merchants: &merchants::LEISURE,
        merchant_count: 7,
        chances: [60, 60, 60, 60, 90, 140, 110],
        accounts: &[Freedom, Spending],
        price: Around(26_00, &WIDE),
        tipped: false,
    },
    Habit {
        entity: "habit/home",
        merchants: &merchants::HOME,
        merchant_count: 3,
        chances: [20, 20, 20, 20, 20, 110, 90],
        accounts: &[Checking, Freedom],
        price: Around(48_00, &WIDE),
        tipped: false,
    },
    Habit {
        entity: "habit/laundry",
        merchants: &merchants::LAUNDRY,
        merchant_count: 1,
        chances: [90, 0, 0, 60, 0, 120, 0],
        accounts: &[Spending],
        price: Around(21_00, &MILD),
        tipped: false,
    },
];

pub(super) fn daily_life(world: &mut World) {
    for habit in &HABITS {
        let mut draw = world.draw(habit.entity);
        let chosen = draw.choose(habit.merchants, habit.merchant_count);
        for day in world.start..=world.today {
            if draw.permille(habit.chances[weekday(day)]) {
                let merchant = **draw.pick_favorite(&chosen);
                buy(world, &mut draw, habit, &merchant, day);
            }
        }
    }
    just_now(world);
    transit(world);
    parking(world);
    occasional_visits(world);
}

fn buy(world: &mut World, draw: &mut Draw, habit: &Habit, merchant: &Merchant, on: Day) {
    let account = *draw.pick(habit.accounts);
    let price = match habit.price {
        // Prices rise by three percent a year.
        Around(median, spread) => {
            draw.around(median * (36_500 + 3 * (on - world.start)) / 36_500, spread)
        }
        OneOf(prices) => *draw.pick(prices),
    };
    let entry = world.purchase(draw, account, merchant, on, price);
    if habit.tipped && draw.permille(850) {
        let tip = price * draw.between(15, 20) / 100;
        world.add(entry.settled_for(-price - tip).tag("tip"));
    } else {
        world.add(entry);
    }
}

/// Purchases of today that are not booked yet, so that there is always something pending.
fn just_now(world: &mut World) {
    let mut draw = world.draw("habit/just-now");
    let purchases: [(&[Merchant], Account, i64); 3] = [
        (&merchants::GROCERS, Freedom, 0),
        (&merchants::RESTAURANTS, Gold, 18),
        (&merchants::CAFES, Gold, 0),
    ];
    for (merchants, account, tip_percent) in purchases {
        let (merchant, price) = (*draw.pick(merchants), draw.between(5_00, 62_00));
        let entry = world.purchase(&mut draw, account, &merchant, world.today, price);
        let entry = entry.settled_for(-price - price * tip_percent / 100);
        world.add(if tip_percent > 0 { entry.tag("tip") } else { entry });
    }
}

/// A transit fare on most working days: always the same amount, and still not a contract.
fn transit(world: &mut World) {
    let (name, core) = world.town.transit;
    let fare = merchant(name, core, Shape::Plain, "TRANSPORTATION_PUBLIC_TRANSIT");
    let mut draw = world.draw("habit/transit");
    for day in world.start..=world.today {
        if weekday(day) < 5 && draw.permille(590) {
            let price = world.town.fare_minor;
            let entry = world.purchase(&mut draw, Account::Freedom, &fare, day, price);
            world.add(entry);
        }
    }
}

fn parking(world: &mut World) {
    let mut draw = world.draw("habit/parking");
    for day in world.start..=world.today {
        if weekday(day) == 5 && draw.permille(500) {
            let merchant = &merchants::PARKING[0];
            let entry = world.purchase(&mut draw, Account::Freedom, merchant, day, 12_00);
            world.add(entry);
        }
    }
}

/// Visits some weeks apart, which look monthly and are not.
fn occasional_visits(world: &mut World) {
    let vet = merchant(
        "Elm Street Vet",
        "ELM STREET VETERINAR",
        Shape::Plain,
        "MEDICAL_VETERINARY_SERVICES",
    );
    let dentist =
        merchant("Bright Dental", "BRIGHT DENTAL GROUP", Shape::Plain, "MEDICAL_DENTAL_CARE");
    let doctor =
        merchant("Family Practice", "FAMILY PRACTICE ASSOC", Shape::Plain, "MEDICAL_PRIMARY_CARE");
    let mechanic =
        merchant("Jiffy Lube", "JIFFY LUBE", Shape::Store, "GENERAL_SERVICES_AUTOMOTIVE");
    let salon = *world.draw("salon").pick(&merchants::SALONS);
    let barber = *world.draw("barber").pick(&merchants::BARBERS);
    let visits = [
        ("habit/salon", salon, (30, 44), 96_00, Gold, true),
        ("habit/barber", barber, (24, 38), 32_00, Spending, true),
        ("habit/vet", vet, (120, 210), 148_00, Checking, false),
        ("habit/dentist", dentist, (165, 205), 62_00, Freedom, false),
        ("habit/doctor", doctor, (70, 160), 35_00, Checking, false),
        ("habit/mechanic", mechanic, (100, 140), 84_00, Freedom, false),
    ];
    for (entity, merchant, (low, high), median, account, tipped) in visits {
        let mut draw = world.draw(entity);
        let mut day = world.start + draw.between(0, high);
        while day <= world.today {
            let price = draw.around(median, &MILD);
            let entry = world.purchase(&mut draw, account, &merchant, day, price);
            let tip = if tipped { price * draw.between(15, 20) / 100 } else { 0 };
            let entry = entry.settled_for(-price - tip);
            world.add(if tip > 0 { entry.tag("tip") } else { entry });
            day += draw.between(low, high);
        }
    }
}
