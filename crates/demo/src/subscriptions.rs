//! Subscriptions and memberships: fixed card charges that begin, end, rise and skip.

use super::accounts::Account;
use super::calendar::{Cadence, Day, day_of_month, monthly};
use super::draw::Draw;
use super::merchants::Shape::Online;
use super::merchants::{APPLE, Merchant, SUBSCRIPTIONS, merchant};
use super::world::World;

/// A fixed charge on a card over a period of time; most rise once.
struct Plan<'a> {
    entity: &'a str,
    merchant: Merchant,
    account: Account,
    price: i64,
    cadence: Cadence,
    from: Day,
    until: Day,
    rises: bool,
}

pub(super) fn subscriptions(world: &mut World) {
    let mut draw = world.draw("subscriptions");
    let (start, today) = (world.start, world.today);
    let chosen = draw.choose(&SUBSCRIPTIONS, 6);
    for (index, (merchant, prices)) in chosen.into_iter().enumerate() {
        let entity = format!("subscription/{}", merchant.name);
        let mut draw = world.draw(&entity);
        let account = *draw.pick(&[Account::Gold, Account::Freedom, Account::Freedom]);
        let first = start + draw.between(0, 29);
        // The first ended months ago, the second began recently after a trial, the others are active.
        let (from, until) = match index {
            0 => (first, today - draw.between(140, 190)),
            1 => (today - draw.between(96, 120), today),
            _ => (first, today),
        };
        let (price, rises) = (draw.between(prices[0], prices[1]), draw.permille(700) && index > 1);
        let price = if prices[0] == prices[1] { price } else { price / 100 * 100 + 99 };
        let (merchant, cadence) = (*merchant, Cadence::Monthly);
        if index == 1 {
            trial(world, &merchant, account, from - 14);
        }
        let entity = entity.as_str();
        let plan = Plan { entity, merchant, account, price, cadence, from, until, rises };
        add_charges(world, plan);
    }
    apple(world);
    meal_kit(world);
    memberships(world);
}

fn trial(world: &mut World, merchant: &Merchant, account: Account, on: Day) {
    let mut draw = world.draw("subscription/trial");
    let entry = world.purchase(&mut draw, account, merchant, on, 1_00);
    world.add(entry.tag("trial"));
}

/// Two contracts under one merchant name, which differ only in the amount.
fn apple(world: &mut World) {
    for (entity, merchant, price) in APPLE {
        let mut draw = world.draw(entity);
        let account = Account::Freedom;
        let (from, until) = (world.start + draw.between(0, 27), world.today);
        let (cadence, rises) = (Cadence::Monthly, price > 5_00);
        add_charges(world, Plan { entity, merchant, account, price, cadence, from, until, rises });
    }
}

/// A gym billed on the last day of the month, yearly memberships, and an internet provider that raises its price.
fn memberships(world: &mut World) {
    let gym = merchant(
        "Planet Fitness",
        "PLANET FIT CLUB FEES",
        Online,
        "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS",
    );
    let internet =
        merchant("Xfinity", "COMCAST CABLE COMM", Online, "RENT_AND_UTILITIES_INTERNET_AND_CABLE");
    let prime = merchant(
        "Amazon Prime",
        "Amazon Prime*Annual",
        Online,
        "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES",
    );
    let costco =
        merchant("Costco", "COSTCO *ANNUAL RENEWAL", Online, "GENERAL_MERCHANDISE_SUPERSTORES");
    let lemonade = merchant("Lemonade", "LEMONADE INSURANCE", Online, "GENERAL_SERVICES_INSURANCE");
    let domain =
        merchant("Namecheap", "NAME-CHEAP.COM*", Online, "GENERAL_SERVICES_OTHER_GENERAL_SERVICES");
    let plans = [
        ("subscription/gym", gym, 24_99, Cadence::Monthly, true),
        ("subscription/internet", internet, 74_95, Cadence::Monthly, true),
        ("subscription/prime", prime, 139_00, Cadence::Annually, false),
        ("subscription/costco", costco, 65_00, Cadence::Annually, false),
        ("subscription/renters", lemonade, 187_00, Cadence::Annually, true),
        ("subscription/domain", domain, 15_98, Cadence::Annually, false),
    ];
    for (entity, merchant, price, cadence, rises) in plans {
        let mut draw = world.draw(entity);
        let span = if cadence == Cadence::Annually { 364 } else { 27 };
        let from = match entity {
            "subscription/gym" => monthly(31, world.start, world.today)[0],
            _ => world.start + draw.between(3, span),
        };
        let (account, until) = (*draw.pick(&[Account::Gold, Account::Freedom]), world.today);
        add_charges(world, Plan { entity, merchant, account, price, cadence, from, until, rises });
    }
}

fn add_charges(world: &mut World, plan: Plan<'_>) {
    let mut draw = world.draw(&format!("{}/rows", plan.entity));
    let span = plan.until - plan.from;
    let rise_on = plan.from + span * draw.between(25, 80) / 100;
    let jitters = draw.permille(333);
    let (mut price, mut risen) = (plan.price, false);
    for slot in slots(&plan) {
        let on = if jitters { slot + draw.between(0, 1) } else { slot };
        let rises_now = plan.rises && !risen && slot >= rise_on;
        if rises_now {
            price = rise(&mut draw, price);
            risen = true;
        }
        let entry = world.purchase(&mut draw, plan.account, &plan.merchant, on, price);
        let entry = entry.stream(plan.entity, plan.cadence);
        world.add(if rises_now { entry.tag("price_rise") } else { entry });
    }
}

/// The dates of a plan. A month-end anchor stays at the month's end: February must not turn the 31st into the 28th
/// for good.
fn slots(plan: &Plan<'_>) -> Vec<Day> {
    match plan.cadence {
        Cadence::Monthly if day_of_month(plan.from + 1) == 1 => monthly(31, plan.from, plan.until),
        cadence => cadence.slots(plan.from, plan.until),
    }
}

/// A price rise of 8 to 30 percent; prices that end in 99 keep that ending.
fn rise(draw: &mut Draw, price: i64) -> i64 {
    let raised = price * draw.between(1080, 1300) / 1000;
    if price % 100 == 99 || price % 100 == 49 { raised / 100 * 100 + 99 } else { raised / 50 * 50 }
}

/// A weekly meal kit with skipped weeks.
fn meal_kit(world: &mut World) {
    let kit = merchant("HelloFresh", "HELLOFRESH", Online, "FOOD_AND_DRINK_GROCERIES");
    let mut draw = world.draw("subscription/meal-kit");
    let from = world.start + draw.between(250, 330);
    let until = from + draw.between(180, 300);
    for slot in Cadence::Weekly.slots(from, until.min(world.today)) {
        if draw.permille(150) {
            continue;
        }
        let entry = world.purchase(&mut draw, Account::Gold, &kit, slot, 71_93);
        world.add(entry.stream("subscription/meal-kit", Cadence::Weekly));
    }
}
