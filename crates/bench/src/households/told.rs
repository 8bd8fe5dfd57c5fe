//! The same household through an aggregator, which adds ids, names and categories of its own.

use base::category::Category;

use super::World;
use super::rng::Rng;

impl World {
    /// Fills what files leave out, right 95 times in 100. Wrong is a near miss as often as not:
    /// another category of the same kind, else any.
    pub(crate) fn told(mut self, seed: u64) -> World {
        for (index, it) in self.transactions.iter_mut().enumerate() {
            let mut rng = Rng::named(seed, &format!("told {index}"));
            let truth = it.truth.category;
            let near: Vec<Category> = Category::ALL
                .into_iter()
                .filter(|other| *other != truth && other.primary() == truth.primary())
                .collect();
            let wrong = if rng.chance(50) && !near.is_empty() {
                *rng.pick(&near)
            } else {
                *rng.pick(&Category::ALL)
            };
            it.draft.external_id = Some(format!("t{index}"));
            it.draft.category = Some(if rng.chance(95) { truth } else { wrong });
            // Aggregators clean the text they know, and repeat it where they do not.
            it.draft.counterparty = Some(match rng.chance(95) {
                true => it.truth.merchant.clone(),
                false => it.draft.description.clone(),
            });
        }
        self
    }
}
