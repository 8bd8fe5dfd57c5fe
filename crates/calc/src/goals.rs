//! Allocates the balances of linked accounts to goals, so that no money counts towards two goals.

use std::collections::BTreeMap;

use base::AccountId;

/// The input for one goal, in order of priority.
#[derive(Debug, Clone)]
pub struct GoalInput {
    pub target_minor: i64,
    /// Savings besides the linked accounts.
    pub saved_minor: i64,
    /// Each account with its countable balance, negative for a debt. A repeated account counts once.
    pub accounts: Vec<(AccountId, i64)>,
}

/// The amount of each goal, in the given order. An account linked to several goals fills the first up to its target,
/// then the next; the last gets the rest, so that a goal with its own account gets all of it.
pub fn allocate(goals: &[GoalInput]) -> Vec<i64> {
    let mut last_linked: BTreeMap<AccountId, usize> = BTreeMap::new();
    let mut left: BTreeMap<AccountId, i64> = BTreeMap::new();
    for (index, goal) in goals.iter().enumerate() {
        for (account, minor) in &goal.accounts {
            last_linked.insert(*account, index);
            left.insert(*account, *minor);
        }
    }
    let mut shares = Vec::with_capacity(goals.len());
    for (index, goal) in goals.iter().enumerate() {
        let mut has = goal.saved_minor;
        let mut accounts: Vec<AccountId> = goal.accounts.iter().map(|it| it.0).collect();
        accounts.sort_unstable();
        accounts.dedup();
        for account in accounts {
            let Some(left) = left.get_mut(&account) else { continue };
            let missing = goal.target_minor.saturating_sub(has).max(0);
            let takes = if last_linked.get(&account) == Some(&index) {
                *left
            } else {
                missing.min((*left).max(0))
            };
            *left = left.saturating_sub(takes);
            has = has.saturating_add(takes);
        }
        shares.push(has);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn account(number: u8) -> AccountId {
        AccountId::from_bytes([number; 16])
    }

    fn goal(target_minor: i64, accounts: &[(u8, i64)]) -> GoalInput {
        let accounts = accounts.iter().map(|(it, minor)| (account(*it), *minor)).collect();
        GoalInput { target_minor, saved_minor: 0, accounts }
    }

    #[test]
    fn an_account_linked_to_one_goal_counts_in_full() {
        assert_eq!(allocate(&[goal(1_000, &[(1, 4_000)])]), [4_000]);
        assert_eq!(allocate(&[goal(1_000, &[(1, -300)])]), [-300], "a debt counts against it");
    }

    #[test]
    fn a_shared_account_fills_goals_in_order_and_the_last_gets_the_rest() {
        let goals = [goal(5_000, &[(1, 8_000)]), goal(10_000, &[(1, 8_000)])];
        assert_eq!(allocate(&goals), [5_000, 3_000]);
        let goals = [goal(5_000, &[(1, 18_000)]), goal(10_000, &[(1, 18_000)])];
        assert_eq!(allocate(&goals), [5_000, 13_000]);
        let goals = [goal(5_000, &[(1, 2_000), (2, 9_000)]), goal(100, &[(1, 2_000)])];
        assert_eq!(allocate(&goals), [11_000 - 2_000 + 2_000, 0]);
    }

    #[test]
    fn manual_savings_leave_more_of_a_shared_account_for_other_goals() {
        let mut first = goal(5_000, &[(1, 8_000)]);
        first.saved_minor = 4_000;
        assert_eq!(allocate(&[first, goal(10_000, &[(1, 8_000)])]), [5_000, 7_000]);
    }

    proptest! {
        #[test]
        fn no_money_counts_twice(
            balances in prop::collection::vec(-1_000_i64..10_000, 4),
            links in prop::collection::vec(
                (1_i64..9_000, prop::collection::btree_set(0_u8..4, 0..4)), 1..6),
        ) {
            let goals: Vec<GoalInput> = links
                .iter()
                .map(|(target, accounts)| {
                    let of = |it: &u8| (*it, balances[usize::from(*it)]);
                    goal(*target, &accounts.iter().map(of).collect::<Vec<_>>())
                })
                .collect();
            let linked: std::collections::BTreeSet<u8> =
                links.iter().flat_map(|it| it.1.iter().copied()).collect();
            let there: i64 = linked.iter().map(|it| balances[usize::from(*it)]).sum();
            prop_assert_eq!(allocate(&goals).iter().sum::<i64>(), there);
        }
    }
}
