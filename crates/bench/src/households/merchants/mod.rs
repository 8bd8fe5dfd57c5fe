//! Merchants that households pay, each with its true category.

mod america;
mod contracts;
mod europe;

use base::category::Category;

use super::Region;

pub(super) use contracts::{
    AMERICAN_SUBSCRIPTIONS, Contract, EMPLOYERS_AMERICA, EMPLOYERS_EUROPE, GIG, INSURERS,
    OFTEN_TWICE, SUBSCRIPTIONS, UTILITIES,
};

/// Merchants of one kind.
pub(super) struct Group {
    pub(super) category: &'static str,
    /// The median price of one visit, in minor units.
    pub(super) typical_minor: i64,
    /// Whether they are small, and so often paid through a payment processor.
    pub(super) small: bool,
    /// Each name as people write it, and as banks print it.
    pub(super) names: &'static [(&'static str, &'static str)],
}

/// One merchant of a group.
#[derive(Clone, Copy)]
pub(super) struct Merchant {
    pub(super) name: &'static str,
    pub(super) raw: &'static str,
    pub(super) category: &'static str,
    pub(super) typical_minor: i64,
    pub(super) small: bool,
}

pub(super) fn groups(region: Region) -> &'static [Group] {
    match region {
        Region::America => america::GROUPS,
        Region::Europe => europe::GROUPS,
    }
}

pub(super) fn of(region: Region, category: &str) -> Vec<Merchant> {
    let matching = groups(region).iter().filter(|it| it.category == category);
    matching.flat_map(Group::merchants).collect()
}

impl Group {
    pub(super) fn merchants(&self) -> impl Iterator<Item = Merchant> {
        self.names.iter().map(|(name, raw)| Merchant {
            name,
            raw,
            category: self.category,
            typical_minor: self.typical_minor,
            small: self.small,
        })
    }
}

/// The category of a code in these tables. A mistyped code panics instead of matching a similar one.
pub(super) fn category(code: &str) -> Category {
    let found = Category::parse(code).filter(|it| it.detailed() == code);
    found.expect("the code is in the taxonomy, which a test checks for all merchants")
}
