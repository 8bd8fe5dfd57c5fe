//! A household far larger than real ones, to measure speed on.

use super::accounts::{LinkedAccount, Role};
use super::builder::HouseholdBuilder;
use super::errands;
use super::finish::finish;
use super::{CARD_AUTOPAY, ENTITIES, Entity, Preset, World};

const MONTHS: u32 = 120;
const ACCOUNTS: usize = 12;

/// A household of ten years with twelve accounts and about `rows` rows: members are added until it has them.
pub(crate) fn large_household(seed: u64, rows: usize) -> World {
    let mut builder = HouseholdBuilder::new(Preset::TwoEarners, seed, MONTHS);
    for nth in 0..ACCOUNTS.saturating_sub(builder.accounts.len()) {
        let card = LinkedAccount::new(
            builder.seed,
            builder.region,
            Role::Card,
            builder.profile.cards + nth,
        );
        builder.accounts.push(card);
    }
    for entity in ENTITIES {
        builder.run(entity, 0);
    }
    let habits: Vec<&Entity> = ENTITIES.iter().filter(|it| HABITS.contains(&it.name)).collect();
    let mut members = 1;
    let mut last_member = 0;
    // Adds a member only if even twice the rows of the last one would fit.
    while builder.rows.len() + 2 * last_member.max(1_000) < rows {
        let before = builder.rows.len();
        for habit in &habits {
            builder.run(habit, members);
        }
        last_member = builder.rows.len() - before;
        members += 1;
    }
    // Card payments come last, and make two rows a month for each card.
    let payments = builder.cards().len() * MONTHS as usize * 2;
    let left = rows.saturating_sub(builder.rows.len() + payments);
    builder.run_named(("many errands", 0), |builder, rng| errands::many(builder, rng, left));
    builder.run(&CARD_AUTOPAY, 0);
    finish(builder)
}

const HABITS: &[&str] =
    &["groceries", "coffee", "transit", "fuel", "restaurants", "marketplace", "salon", "parking"];
