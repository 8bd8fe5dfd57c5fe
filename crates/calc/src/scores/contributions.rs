//! The contribution of each component to the overall score, in tenths of a point that add up exactly.

use super::method::ONE;
use super::{Component, Scores};

/// The points of one component, of those that it could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contribution {
    pub component: Component,
    pub earned_tenths: i64,
    pub possible_tenths: i64,
}

/// The contributions of all known components. The possible points add up to 100. The earned ones add up to the overall
/// score in tenths, rounded down, which rounds to the score that is shown.
pub fn contributions(scores: &Scores) -> Vec<Contribution> {
    let weights: Vec<i128> =
        scores.components.iter().map(|it| it.weight.billionths() * 100).collect();
    let earned: Vec<i128> =
        scores.components.iter().map(|it| it.weight.billionths() * it.points.0 / ONE).collect();
    let possible = spread(&weights, 1_000, &vec![1_000; weights.len()]);
    let total = scores.evenkeel.0.div_euclid(ONE / 10);
    let earned = spread(&earned, total as i64, &possible);
    let parts = scores.components.iter().zip(earned.into_iter().zip(possible));
    parts
        .map(|(it, (earned_tenths, possible_tenths))| Contribution {
            component: it.component,
            earned_tenths,
            possible_tenths,
        })
        .collect()
}

/// Rounds amounts in billionths to tenths that add up to the total: rounded down, and the rest to those that lost most,
/// none of them above its limit.
fn spread(amounts: &[i128], total_tenths: i64, limits: &[i64]) -> Vec<i64> {
    let tenth = ONE / 10;
    let mut rounded: Vec<i64> = amounts
        .iter()
        .zip(limits)
        .map(|(it, limit)| (it.div_euclid(tenth) as i64).min(*limit))
        .collect();
    let mut rest = total_tenths - rounded.iter().sum::<i64>();
    let mut order: Vec<usize> = (0..amounts.len()).collect();
    order.sort_by_key(|it| (std::cmp::Reverse(amounts[*it].rem_euclid(tenth)), *it));
    while rest != 0 {
        let step = rest.signum();
        let fits = |it: &&usize| (0..=limits[**it]).contains(&(rounded[**it] + step));
        let open: Vec<usize> = order.iter().filter(fits).copied().collect();
        if open.is_empty() {
            break;
        }
        for index in open.into_iter().take(rest.unsigned_abs() as usize) {
            rounded[index] += step;
            rest -= step;
        }
    }
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scores::{Credit, Inputs, Ratio, score};
    use base::Fixed9;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn points_add_up_to_the_score_and_none_exceeds_what_is_possible(
            income in 0_i64..1_000_000, expenses in 0_i64..1_000_000, debt in 0_i64..200_000,
            liquid in 0_i64..5_000_000, low in 0_u32..=90, distress in 0_u32..12,
            credit in proptest::option::of(0_i64..100_000), cv in proptest::option::of(0_i64..2_000),
            surplus in proptest::option::of(0_u32..=12),
        ) {
            let inputs = Inputs {
                income_minor: income,
                expenses_minor: expenses,
                debt_minor: debt,
                rent_minor: expenses / 3,
                liquid_minor: liquid,
                card_balance_minor: 0,
                card_purchases_minor: 0,
                shock_floor_minor: 40_000,
                credit: credit.map(|used_minor| Credit { used_minor, limit_minor: 100_000 }),
                low_days: Ratio { part: low, whole: 90 },
                distress_months: distress,
                cv: cv.map(|it| Fixed9::from_billionths(i128::from(it) * 1_000_000)),
                surplus_months: surplus.map(|part| Ratio { part, whole: 12 }),
            };
            let scores = score(&inputs);
            let parts = contributions(&scores);
            let earned: i64 = parts.iter().map(|it| it.earned_tenths).sum();
            let possible: i64 = parts.iter().map(|it| it.possible_tenths).sum();
            prop_assert_eq!(possible, 1_000);
            prop_assert_eq!((earned + 5).div_euclid(10), scores.evenkeel.whole());
            for it in &parts {
                prop_assert!((0..=it.possible_tenths).contains(&it.earned_tenths), "{it:?}");
            }
        }
    }
}
