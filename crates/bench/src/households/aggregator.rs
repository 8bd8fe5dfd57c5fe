//! A household as an aggregator reports it, with the aggregator's ids, names and categories.

use base::category::Category;

use super::World;
use super::rng::Rng;

impl World {
    /// Adds the names and categories that files lack, right 95 times in 100. Half of the wrong categories have the
    /// right primary category, the others are any.
    pub(crate) fn through_aggregator(mut self, seed: u64) -> World {
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
            // Aggregators replace the texts they know with names, and repeat the others.
            it.draft.counterparty = Some(match rng.chance(95) {
                true => it.truth.merchant.clone(),
                false => it.draft.description.clone(),
            });
        }
        self
    }
}
