//! Sums by group. A month's categories and counterparties are looked up once, so that adding a flow is by index.

use std::cmp::Reverse;
use std::collections::HashMap;

use base::category::Category;
use base::{AccountId, Date};

use crate::insights::cash_flow::{IndexedFlow, UnpackedMonth};

base::words!(
    /// What spending is grouped by.
    #[derive(Default)]
    GroupBy {
        #[default]
        Category => "category",
        Merchant => "merchant",
        Account => "account",
        Month => "month",
    }
);

/// The key of spending without a category, and of spending without a known merchant.
pub(super) const UNCATEGORIZED: &str = "UNCATEGORIZED";
/// The key of what has no merchant.
pub const UNKNOWN: &str = "unknown";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) key: String,
    pub(super) label: String,
    pub(super) account: Option<AccountId>,
    pub(super) minor: i64,
    pub(super) count: i64,
    /// The same group's spending in the earlier period.
    pub(super) before_minor: i64,
}

impl Group {
    /// The rest that is not listed, as one group.
    pub(super) fn sum_of(rest: &[Group]) -> Option<Group> {
        let sum = |part: fn(&Group) -> i64| rest.iter().map(part).fold(0, i64::saturating_add);
        (!rest.is_empty()).then(|| Group {
            key: "other".to_owned(),
            label: "Other".to_owned(),
            account: None,
            minor: sum(|it| it.minor),
            count: sum(|it| it.count),
            before_minor: sum(|it| it.before_minor),
        })
    }
}

#[derive(Default)]
pub(super) struct Groups {
    indexes: HashMap<String, usize>,
    groups: Vec<Group>,
}

/// The groups of one month's accounts, categories or counterparties, by their index in the month.
pub(super) struct MonthGroups {
    by: GroupBy,
    indexes: Vec<usize>,
}

impl MonthGroups {
    pub(super) fn of(&self, flow: &IndexedFlow) -> usize {
        self.indexes[match self.by {
            GroupBy::Category => flow.category,
            GroupBy::Merchant => flow.counterparty,
            GroupBy::Account => flow.account,
            GroupBy::Month => 0,
        }]
    }
}

impl Groups {
    pub(super) fn indexes_of(
        &mut self,
        by: GroupBy,
        is_detailed: bool,
        start: Date,
        month: &UnpackedMonth<'_>,
    ) -> MonthGroups {
        let indexes = match by {
            GroupBy::Category => {
                month.categories.iter().map(|it| self.of_category(*it, is_detailed)).collect()
            }
            GroupBy::Merchant => {
                month.counterparties.iter().map(|it| self.of_merchant(it)).collect()
            }
            GroupBy::Account => month.accounts.iter().map(|it| self.of_account(*it)).collect(),
            GroupBy::Month => {
                let key = format!("{:04}-{:02}", start.year(), start.month());
                vec![self.index_of(&key, || start.strftime("%B %Y").to_string())]
            }
        };
        MonthGroups { by, indexes }
    }

    fn of_category(&mut self, category: Option<Category>, is_detailed: bool) -> usize {
        let Some(category) = category else {
            return self.index_of(UNCATEGORIZED, || "No category".to_owned());
        };
        if is_detailed {
            self.index_of(category.detailed(), || category.label().to_owned())
        } else {
            self.index_of(category.primary(), || category.primary_label())
        }
    }

    fn of_merchant(&mut self, counterparty: &str) -> usize {
        match counterparty {
            "" => self.index_of(UNKNOWN, || "No merchant".to_owned()),
            name => self.index_of(name, || name.to_owned()),
        }
    }

    fn of_account(&mut self, account: AccountId) -> usize {
        let index = self.index_of(&account.to_string(), String::new);
        self.groups[index].account = Some(account);
        index
    }

    fn index_of(&mut self, key: &str, label: impl FnOnce() -> String) -> usize {
        if let Some(index) = self.indexes.get(key) {
            return *index;
        }
        let index = self.groups.len();
        self.indexes.insert(key.to_owned(), index);
        self.groups.push(Group { key: key.to_owned(), label: label(), ..Group::default() });
        index
    }

    /// Adds the amount of a flow, which is negative if money goes out. `is_new` says that its transaction was not yet
    /// counted in this group.
    pub(super) fn add(&mut self, index: usize, minor: i64, is_new: bool) {
        let group = &mut self.groups[index];
        group.minor = group.minor.saturating_sub(minor);
        group.count += i64::from(is_new);
    }

    /// The groups with spending in one of the periods: months oldest first, others largest first.
    pub(super) fn sorted(mut self, by: GroupBy, earlier: Option<&Groups>) -> Vec<Group> {
        // The months of an earlier period are other months, so they are compared by their order, not here.
        let earlier = earlier.filter(|_| by != GroupBy::Month);
        for before in earlier.into_iter().flat_map(|it| &it.groups).filter(|it| it.count > 0) {
            let index = self.index_of(&before.key, || before.label.clone());
            self.groups[index].account = before.account;
            self.groups[index].before_minor = before.minor;
        }
        let mut groups: Vec<Group> =
            self.groups.into_iter().filter(|it| it.count > 0 || it.before_minor != 0).collect();
        match by {
            GroupBy::Month => groups.sort_by(|a, b| a.key.cmp(&b.key)),
            _ => groups.sort_by(|a, b| {
                let size = |it: &Group| (Reverse(it.minor), Reverse(it.before_minor));
                size(a).cmp(&size(b)).then_with(|| a.key.cmp(&b.key))
            }),
        }
        groups
    }
}
