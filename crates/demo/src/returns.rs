//! Refunds: returned goods, and a reversed double charge.

use super::accounts::Account;
use super::entry::Entry;
use super::world::World;

const RETURNABLE: [&str; 5] = [
    "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES",
    "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES",
    "GENERAL_MERCHANDISE_DEPARTMENT_STORES",
    "GENERAL_MERCHANDISE_SPORTING_GOODS",
    "HOME_IMPROVEMENT_HARDWARE",
];

/// One purchase in fourteen is returned, in full or in part, and sometimes refunded to another card.
pub(super) fn refunds(world: &mut World) {
    let bought: Vec<Entry> = world
        .book
        .iter()
        .filter(|it| RETURNABLE.contains(&it.category.detailed()) && it.label.stream.is_none())
        .cloned()
        .collect();
    for purchase in bought {
        // Seeded by the purchase, so that one more purchase does not change the refunds of others.
        let mut draw = world.draw(&format!("refund/{}", purchase.id));
        let on = purchase.posted_on + draw.between(3, 16);
        if !draw.permille(70) || on > world.today || purchase.minor > -8_00 {
            continue;
        }
        let whole = draw.permille(650);
        let minor =
            if whole { -purchase.minor } else { -purchase.minor * draw.between(25, 80) / 100 };
        let elsewhere = purchase.account == Account::Gold && draw.permille(110);
        let account = if elsewhere { Account::Freedom } else { purchase.account };
        let words = match account {
            Account::Checking => format!("POS RETURN {}", purchase.description),
            Account::Gold => purchase.description.clone(),
            _ if draw.permille(300) => format!("REFUND {}", purchase.description),
            _ => purchase.description.clone(),
        };
        let entry = Entry::posted(&mut draw, account, on, minor, words);
        let entry = entry.by(purchase.merchant.clone(), purchase.category.detailed());
        let entry = entry.refund_of(&purchase.id);
        let entry = if whole { entry } else { entry.tag("partial_refund") };
        world.add(if elsewhere { entry.tag("other_card") } else { entry });
    }
}

/// A restaurant charge that is booked twice and reversed.
pub(super) fn double_charge(world: &mut World) {
    let mut draw = world.draw("event/double-charge");
    let after = world.start + draw.between(460, 560);
    let is_dinner = |it: &&Entry| {
        it.category.detailed() == "FOOD_AND_DRINK_RESTAURANT"
            && it.account == Account::Gold
            && it.posted_on > after
            && it.posted_on + 9 < world.today
    };
    let first = world.book.iter().filter(is_dinner).min_by_key(|it| (it.posted_on, it.id.clone()));
    let Some(dinner) = first.cloned() else { return };
    let twin = Entry { id: draw.id(), ..dinner.clone() }.tag("duplicate");
    let on = dinner.posted_on + draw.between(3, 6);
    let words = format!("{} REVERSAL", dinner.description.trim_end());
    let back = Entry::posted(&mut draw, Account::Gold, on, -twin.minor, words);
    let back = back.by(dinner.merchant.clone(), dinner.category.detailed());
    let back = back.refund_of(&twin.id).tag("reversal");
    world.add(twin);
    world.add(back);
}
