//! A household far larger than life, to measure speed on.

use super::accounts::{Held, Role};
use super::errands;
use super::finish::finish;
use super::stage::Stage;
use super::{CARD_AUTOPAY, ENTITIES, Entity, Preset, World};

const MONTHS: u32 = 120;
const ACCOUNTS: usize = 12;

/// Ten years in twelve accounts, of about that many rows: a family that grows until it has made
/// them.
pub(crate) fn big(seed: u64, rows: usize) -> World {
    let mut stage = Stage::new(Preset::TwoEarners, seed, MONTHS);
    for nth in 0..ACCOUNTS.saturating_sub(stage.accounts.len()) {
        let card = Held::new(stage.seed, stage.region, Role::Card, stage.profile.cards + nth);
        stage.accounts.push(card);
    }
    for entity in ENTITIES {
        stage.play(entity, 0);
    }
    let habits: Vec<&Entity> = ENTITIES.iter().filter(|it| HABITS.contains(&it.name)).collect();
    let mut members = 1;
    let mut last_member = 0;
    // Another member only if it surely fits, even one who does twice what the last one did.
    while stage.rows.len() + 2 * last_member.max(1_000) < rows {
        let before = stage.rows.len();
        for habit in &habits {
            stage.play(habit, members);
        }
        last_member = stage.rows.len() - before;
        members += 1;
    }
    // Paying the cards comes last, and makes two rows a month for each.
    let payments = stage.cards().len() * MONTHS as usize * 2;
    let left = rows.saturating_sub(stage.rows.len() + payments);
    stage.act(("many errands", 0), |stage, rng| errands::many(stage, rng, left));
    stage.play(&CARD_AUTOPAY, 0);
    finish(stage)
}

const HABITS: &[&str] =
    &["groceries", "coffee", "transit", "fuel", "restaurants", "marketplace", "salon", "parking"];
