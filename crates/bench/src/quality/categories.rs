//! Scores categories, in total and by the stage that set them.

use std::collections::BTreeMap;

use base::category::Category;
use calc::enrich::CategorySource;

use super::classes::Classes;
use super::share::Share;

#[derive(Debug, Clone, Default)]
pub(super) struct Score {
    /// Rows that have a category.
    pub(super) covered: Share,
    /// Share of all rows; a row without a category counts as wrong.
    pub(super) tier1: Share,
    pub(super) detailed: Share,
    pub(super) by_stage: BTreeMap<CategorySource, (Share, Share)>,
    pub(super) wrong: Classes,
}

impl Score {
    pub(super) fn count(
        &mut self,
        truth: Category,
        (found, stage): (Option<Category>, CategorySource),
        example: impl FnOnce() -> String,
    ) {
        let tier1 = found.is_some_and(|it| it.primary() == truth.primary());
        let detailed = found.is_some_and(|it| same(it, truth));
        self.covered.count(found.is_some());
        self.tier1.count(tier1);
        self.detailed.count(detailed);
        let of_stage = self.by_stage.entry(stage).or_default();
        of_stage.0.count(tier1);
        of_stage.1.count(detailed);
        if !tier1 {
            let found = found.map_or("nothing", Category::primary);
            let class = format!("{} taken for {found} by {}", truth.primary(), stage.as_str());
            self.wrong.count(class, example);
        }
    }

    pub(super) fn add(&mut self, other: &Score) {
        self.covered.add(other.covered);
        self.tier1.add(other.tier1);
        self.detailed.add(other.detailed);
        for (stage, (tier1, detailed)) in &other.by_stage {
            let ours = self.by_stage.entry(*stage).or_default();
            ours.0.add(*tier1);
            ours.1.add(*detailed);
        }
        self.wrong.add(&other.wrong);
    }
}

/// Whether two categories mean the same. Two versions of the taxonomy have different names for a few.
pub(super) fn same(one: Category, other: Category) -> bool {
    let newer = |it: Category| match it.detailed() {
        "INCOME_WAGES" => "INCOME_SALARY",
        "INCOME_OTHER_INCOME" => "INCOME_OTHER",
        code => code,
    };
    newer(one) == newer(other)
}
