//! Scores: resilience to a shock, room in a month, and stability of ordinary life, and their blend, each with its
//! reasons.

mod contributions;
mod curve_chart;
mod explain;
#[cfg(test)]
mod households;
mod inputs;
mod method;
#[cfg(test)]
mod tests;

use base::{Fixed9, divide_half_even};

pub use contributions::{Contribution, contributions};
pub use curve_chart::curve_svg;
pub use explain::{Band, Step, StepKind};
pub use inputs::{Coverage, Credit, Inputs, Missing, Ratio, coverage, inputs};
pub use method::{Breakpoint, Component, HISTORY_DAYS_MIN, Part, VERSION};

use method::{BEYOND, ONE, points};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scores {
    /// The version of the method.
    pub version: u32,
    pub evenkeel: Score,
    pub recovery: Score,
    pub capacity: Score,
    pub baseline: Score,
    /// The known components, in the order of the method.
    pub components: Vec<Reason>,
    /// The component that costs the most points; none if all are at their best.
    pub largest_drag: Option<Component>,
    /// Suggested changes, the most helpful first.
    pub steps: Vec<Step>,
}

/// Points from 0 to 100 in billionths, rounded once for display.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i128);

impl Score {
    /// Rounded half up.
    pub fn whole(self) -> i64 {
        self.rounded(ONE) as i64
    }

    /// In hundredths of a point.
    pub fn hundredths(self) -> i64 {
        self.rounded(ONE / 100) as i64
    }

    fn rounded(self, unit: i128) -> i128 {
        (self.0 + unit / 2).div_euclid(unit)
    }
}

/// The result of one component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub component: Component,
    /// The input of the curve: months, a fraction, or a count.
    pub quantity: Fixed9,
    /// What a component counts that is a share of months; none for the others.
    pub months: Option<Ratio>,
    pub points: Score,
    /// The weight in the blend, after sharing the weight of unknown components.
    pub weight: Fixed9,
    /// Points that the blend loses because of it.
    pub lost: Score,
}

pub fn score(inputs: &Inputs) -> Scores {
    let graded = GradedComponents::of(inputs);
    let components = graded.reasons(inputs);
    Scores {
        version: VERSION,
        evenkeel: graded.evenkeel(),
        recovery: graded.part(Part::Recovery),
        capacity: graded.part(Part::Capacity),
        baseline: graded.part(Part::Baseline),
        largest_drag: explain::largest_drag(&components),
        steps: explain::steps(inputs, &graded),
        components,
    }
}

/// The known components with their quantities and points.
struct GradedComponents(Vec<(Component, i128, i128)>);

impl GradedComponents {
    fn of(inputs: &Inputs) -> GradedComponents {
        let all = Component::ALL.iter().copied();
        let known = all.filter_map(|it| Some((it, quantity(it, inputs)?)));
        GradedComponents(known.map(|(it, quantity)| (it, quantity, points(it, quantity))).collect())
    }

    fn part(&self, part: Part) -> Score {
        let of_part = || self.0.iter().filter(|(it, ..)| it.part() == part);
        let sum: i128 = of_part().map(|(it, _, points)| it.weight_percent() * points).sum();
        Score(sum / self.weights(part))
    }

    /// The known weight of a part; at least two components are always known.
    fn weights(&self, part: Part) -> i128 {
        let of_part = self.0.iter().filter(|(it, ..)| it.part() == part);
        of_part.map(|(it, ..)| it.weight_percent()).sum()
    }

    fn evenkeel(&self) -> Score {
        let parts = Part::ALL.iter().copied();
        Score(parts.map(|it| it.weight_percent() * self.part(it).0).sum::<i128>() / 100)
    }

    fn reasons(&self, inputs: &Inputs) -> Vec<Reason> {
        let reason = |(component, quantity, points): &(Component, i128, i128)| {
            let part = component.part();
            let weight = component.weight_percent() * part.weight_percent() * ONE;
            let weight = divide_half_even(weight, self.weights(part) * 100);
            Reason {
                component: *component,
                quantity: Fixed9::from_billionths(*quantity),
                months: inputs.surplus_months.filter(|_| *component == Component::SurplusMonths),
                points: Score(*points),
                weight: Fixed9::from_billionths(weight),
                lost: Score(weight * (100 * ONE - points) / ONE),
            }
        };
        self.0.iter().map(reason).collect()
    }
}

/// The input of a component's curve, in billionths; none if it is unknown.
fn quantity(component: Component, inputs: &Inputs) -> Option<i128> {
    let whole = |it: i64| i128::from(it).max(0);
    let income = whole(inputs.income_minor);
    let need = whole(inputs.expenses_minor) + whole(inputs.debt_minor);
    // Unpaid card purchases count as spent. Debt carried longer does not: it shows in interest and in the use of the
    // limit.
    let unpaid = whole(inputs.card_balance_minor).min(whole(inputs.card_purchases_minor));
    let net = (whole(inputs.liquid_minor) - unpaid).max(0);
    match component {
        Component::Runway => Some(ratio(net, need)),
        Component::Shock => Some(ratio(2 * net, need.max(2 * whole(inputs.shock_floor_minor)))),
        Component::CreditSlack => {
            inputs.credit.map(|it| ratio(whole(it.used_minor), whole(it.limit_minor)))
        }
        Component::Margin => Some(ONE - ratio(need, income)),
        Component::Obligations => {
            Some(ratio(whole(inputs.rent_minor) + whole(inputs.debt_minor), income))
        }
        Component::LowDays => Some(inputs.low_days.share()),
        Component::Distress => Some(i128::from(inputs.distress_months) * ONE),
        Component::Steadiness => inputs.cv.map(Fixed9::billionths),
        Component::SurplusMonths => inputs.surplus_months.map(Ratio::share),
    }
}

impl Ratio {
    fn share(self) -> i128 {
        ratio(i128::from(self.part), i128::from(self.whole))
    }
}

fn ratio(part: i128, whole: i128) -> i128 {
    match whole {
        0 if part == 0 => 0,
        0 => BEYOND,
        _ => divide_half_even(part * ONE, whole),
    }
}
