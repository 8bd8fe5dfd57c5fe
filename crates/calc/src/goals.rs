//! Allocates the balances of linked accounts to goals, so that no money counts towards two goals, and projects when a
//! goal will be reached.

use std::collections::BTreeMap;

use base::{AccountId, Date, date_from_days, days_from_date};

/// The pace is that of the last half year, and not known before a month has passed.
const PACE_DAYS: i64 = 183;
const PACE_DAYS_MIN: i64 = 28;
/// A goal that would take longer has no date: fifty years.
const AHEAD_DAYS_MAX: i128 = 18_263;
/// A month has 30.44 days on average.
const MONTH_HUNDREDTH_DAYS: i128 = 3_044;

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

/// The projection of a goal at the pace of the last half year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection {
    /// How much the goal grows in a month of 30.44 days, negative if its value falls.
    pub monthly_minor: i64,
    /// When the target is reached. None if the pace does not lead there within fifty years.
    pub reached_on: Option<Date>,
}

/// Projects a goal from its values, oldest first. None if they span less than four weeks, or if it is reached.
pub fn project(values: &[(Date, i64)], target_minor: i64) -> Option<Projection> {
    let (last_on, last) = values.last().copied()?;
    let since = days_from_date(last_on) - PACE_DAYS;
    let (first_on, first) = values.iter().copied().find(|it| days_from_date(it.0) >= since)?;
    let days = days_from_date(last_on) - days_from_date(first_on);
    if days < PACE_DAYS_MIN || last >= target_minor {
        return None;
    }
    let gained = i128::from(last) - i128::from(first);
    let monthly = gained * MONTH_HUNDREDTH_DAYS / (i128::from(days) * 100);
    let left = i128::from(target_minor) - i128::from(last);
    let reached_on = (gained > 0)
        .then(|| (left * i128::from(days) + gained - 1) / gained)
        .filter(|it| *it <= AHEAD_DAYS_MAX)
        .map(|it| date_from_days(days_from_date(last_on) + it as i64));
    let monthly_minor = i64::try_from(monthly).unwrap_or(i64::MAX);
    Some(Projection { monthly_minor, reached_on })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn a_steady_pace_reaches_the_target_on_a_date() {
        // 1,000 in 100 days; 500 more take 50 days. A month of 30.44 days adds 304.40.
        let values = [(day("2026-01-01"), 0), (day("2026-04-11"), 100_000)];
        let found = project(&values, 150_000).unwrap();
        assert_eq!(found.reached_on, Some(day("2026-05-31")));
        assert_eq!(found.monthly_minor, 30_440);
        // Only the last half year counts.
        let earlier = [(day("2020-01-01"), 1_000_000), values[0], values[1]];
        assert_eq!(project(&earlier, 150_000), Some(found));
    }

    #[test]
    fn a_goal_that_does_not_grow_has_no_date_and_a_reached_or_new_one_no_projection() {
        let falling = [(day("2026-01-01"), 500), (day("2026-03-01"), 400)];
        let found = project(&falling, 1_000).unwrap();
        assert_eq!((found.reached_on, found.monthly_minor < 0), (None, true));
        let slow = [(day("2026-01-01"), 0), (day("2026-03-01"), 1)];
        assert_eq!(project(&slow, 1_000_000).unwrap().reached_on, None, "beyond fifty years");
        assert_eq!(project(&falling, 400), None, "reached");
        let new = [(day("2026-01-01"), 0), (day("2026-01-20"), 900)];
        assert_eq!(project(&new, 1_000), None, "less than four weeks");
        assert_eq!(project(&[], 1_000), None);
    }

    proptest! {
        #[test]
        fn the_pace_leads_to_the_target_on_the_projected_day_and_not_before(
            days in 28_i64..183, gained in 1_i64..10_000_000, left in 1_i64..10_000_000,
        ) {
            let from = days_from_date(day("2026-01-01"));
            let values = [(date_from_days(from), 0), (date_from_days(from + days), gained)];
            let found = project(&values, gained + left).unwrap();
            if let Some(on) = found.reached_on {
                let ahead = i128::from(days_from_date(on) - from - days);
                let (gained, left) = (i128::from(gained), i128::from(left));
                prop_assert!(gained * ahead >= left * i128::from(days));
                prop_assert!(gained * (ahead - 1) < left * i128::from(days));
            }
        }
    }

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
