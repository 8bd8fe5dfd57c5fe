//! Explains a score: its band, the component that costs most, and the changes that would raise it most.

use base::words;

use super::method::{BEYOND, ONE, STEP_OBLIGATIONS_PERCENT};
use super::{Component, GradedComponents, Inputs, Part, Ratio, Reason, Score};
use crate::income::narrow;

words!(
    Band {
        Steady => "steady",
        Mixed => "mixed",
        Fragile => "fragile",
    }
);

impl Score {
    /// The band of the rounded score. The displayed number is rounded too, so an 80 never reads "mixed".
    pub fn band(self) -> Band {
        match self.whole() {
            80.. => Band::Steady,
            40..80 => Band::Mixed,
            _ => Band::Fragile,
        }
    }
}

/// A suggested change, with the gain calculated from the person's own numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub kind: StepKind,
    /// The amount of money it takes, once or per month; none for one bad month fewer.
    pub amount_minor: Option<i64>,
    pub evenkeel_gain: Score,
    /// The part of the score that gains most; `part_gain` is its gain.
    pub part: Part,
    pub part_gain: Score,
}

words!(
    StepKind {
        MoreAtHand => "more_at_hand",
        FewerObligations => "fewer_obligations",
        FewerBadMonths => "fewer_bad_months",
    }
);

pub(super) fn largest_drag(reasons: &[Reason]) -> Option<Component> {
    let worst = reasons.iter().rev().max_by_key(|it| it.lost)?;
    (worst.lost > Score::default()).then_some(worst.component)
}

pub(super) fn steps(inputs: &Inputs, now: &GradedComponents) -> Vec<Step> {
    let mut steps: Vec<Step> = StepKind::ALL
        .iter()
        .filter_map(|kind| {
            let (changed, amount_minor) = apply_step(*kind, inputs);
            let then = GradedComponents::of(&changed);
            let gain = |part: Part| Score(then.part(part).0 - now.part(part).0);
            // `max_by_key` returns the last of equal gains; reversed, that is the first part.
            let part = Part::ALL.iter().rev().copied().max_by_key(|it| gain(*it))?;
            Some(Step {
                kind: *kind,
                amount_minor,
                evenkeel_gain: Score(then.evenkeel().0 - now.evenkeel().0),
                part,
                part_gain: gain(part),
            })
        })
        .filter(|it| it.evenkeel_gain > Score::default())
        .collect();
    steps.sort_by_key(|it| std::cmp::Reverse(it.evenkeel_gain));
    steps
}

/// The inputs after the step, and the amount of money it takes.
fn apply_step(kind: StepKind, inputs: &Inputs) -> (Inputs, Option<i64>) {
    let mut changed = *inputs;
    match kind {
        StepKind::MoreAtHand => {
            let more = inputs.shock_floor_minor.max(0) / 2;
            changed.liquid_minor = inputs.liquid_minor.saturating_add(more);
            (changed, Some(more))
        }
        StepKind::FewerObligations => {
            let part = i128::from(inputs.income_minor) * STEP_OBLIGATIONS_PERCENT / 100;
            let part = narrow(part.max(0));
            let debt = part.min(inputs.debt_minor.max(0));
            // The rest of the reduction comes from the rent, which is part of the expenses too.
            let rent = (part - debt).min(inputs.rent_minor.max(0));
            changed.debt_minor -= debt;
            changed.rent_minor -= rent;
            changed.expenses_minor = inputs.expenses_minor.saturating_sub(rent);
            (changed, Some(debt.saturating_add(rent)))
        }
        StepKind::FewerBadMonths => {
            changed.distress_months = inputs.distress_months.saturating_sub(1);
            (changed, None)
        }
    }
}

impl Reason {
    /// The quantity in a sentence for the person.
    pub fn text(&self) -> String {
        let tenths = |value: i128| {
            let rounded = (value * 10 + ONE / 2).div_euclid(ONE);
            let sign = if rounded < 0 { "-" } else { "" };
            format!("{sign}{}.{}", rounded.abs() / 10, rounded.abs() % 10)
        };
        let quantity = self.quantity.billionths();
        let percent = tenths(quantity * 100);
        // A ratio to no income or no spending is a number too large to show.
        let is_beyond = quantity.abs() >= BEYOND / 2;
        match self.component {
            Component::Margin | Component::Obligations if is_beyond => {
                "You had no income in this period.".to_owned()
            }
            Component::Runway if is_beyond => "You had no spending in this period.".to_owned(),
            Component::Runway => {
                let months = tenths(quantity);
                format!(
                    "Your cash, less unpaid card purchases, covers {months} months of spending and debt payments."
                )
            }
            Component::Shock if quantity >= ONE => {
                "Your cash covers a sudden bill in full.".to_owned()
            }
            Component::Shock => format!("Your cash covers {percent}% of a sudden bill."),
            Component::CreditSlack => format!("You use {percent}% of your card limits."),
            Component::Margin if quantity < 0 => {
                let beyond = tenths(-quantity * 100);
                format!("Spending and debt payments are {beyond}% higher than your income.")
            }
            Component::Margin => {
                format!("{percent}% of your income remains after spending and debt payments.")
            }
            Component::Obligations => {
                format!("Rent and debt payments take {percent}% of your income.")
            }
            Component::LowDays if percent == "0.0" => {
                "You always had at least a week of expenses available.".to_owned()
            }
            Component::LowDays => {
                format!("On {percent}% of days, you had less than a week of expenses available.")
            }
            Component::Distress => {
                let months = quantity / ONE;
                format!("{months} of the last 12 months had an overdraft or a late fee.")
            }
            Component::Steadiness => {
                format!("Your income varies by {percent}% from month to month.")
            }
            Component::SurplusMonths => {
                let Ratio { part, whole } = self.months.unwrap_or(Ratio { part: 0, whole: 0 });
                format!("In {part} of {whole} months, your income covered your spending.")
            }
        }
    }

    /// The breakpoints of the curve around the quantity; twice the same one beyond the outer breakpoints.
    pub fn between(&self) -> (super::Breakpoint, super::Breakpoint) {
        let curve = self.component.curve();
        let passed = curve
            .iter()
            .take_while(|(at, _)| i128::from(*at) * (ONE / 1000) <= self.quantity.billionths())
            .count();
        let last = curve.len() - 1;
        (curve[passed.saturating_sub(1)], curve[passed.min(last)])
    }
}
