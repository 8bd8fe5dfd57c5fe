//! Who households pay: names of our own choosing, each with what it really is.

mod america;
mod contracts;
mod europe;

use base::category::Category;

use super::Region;

pub(super) use contracts::{
    AMERICAN_SUBSCRIPTIONS, Contract, EMPLOYERS_AMERICA, EMPLOYERS_EUROPE, GIG, INSURERS,
    SUBSCRIPTIONS, TWICE, UTILITIES,
};

/// Merchants of one kind.
pub(super) struct Group {
    pub(super) category: &'static str,
    /// The median of what one visit costs, in minor units.
    pub(super) typical_minor: i64,
    /// Whether they are small, and so often paid through somebody else's terminal.
    pub(super) small: bool,
    /// As a person says it, and as banks print it.
    pub(super) names: &'static [(&'static str, &'static str)],
}

/// One merchant, taken out of its group.
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
    let wanted = groups(region).iter().filter(|it| it.category == category);
    wanted.flat_map(Group::merchants).collect()
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

/// Reads a code as it is written here. A slip of the pen is an error, not some neighbour of it.
pub(super) fn category(code: &str) -> Category {
    let found = Category::parse(code).filter(|it| it.detailed() == code);
    found.expect("the code is in the taxonomy, which a test holds for all that is written here")
}
