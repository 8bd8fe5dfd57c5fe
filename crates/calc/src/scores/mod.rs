//! How well a person could take a shock, how much room a month leaves, and whether ordinary life
//! stays above water: three scores and their blend, each with the reasons it is made of.

mod explain;
#[cfg(test)]
mod households;
mod inputs;
mod method;
mod picture;
#[cfg(test)]
mod tests;

use base::{Fixed9, divide_half_even};

pub use explain::{Band, Step, StepKind};
pub use inputs::{Coverage, Credit, Inputs, Missing, Ratio, coverage, inputs};
pub use method::{Bend, Component, HISTORY_DAYS_MIN, Part, VERSION};
pub use picture::curve_svg;

use method::{BEYOND, ONE, points};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scores {
    /// Of the method.
    pub version: u32,
    pub evenkeel: Score,
    pub recovery: Score,
    pub capacity: Score,
    pub baseline: Score,
    /// What could be told, in the order of the method.
    pub components: Vec<Reason>,
    /// The component that costs the most; none when everything is at its best.
    pub largest_drag: Option<Component>,
    /// What would change, the most helpful first.
    pub steps: Vec<Step>,
}

/// Points from 0 to 100 in billionths. They are rounded once, where they are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i128);

impl Score {
    /// Half goes up.
    pub fn whole(self) -> i64 {
        self.rounded(ONE) as i64
    }

    /// Hundredths of a point.
    pub fn hundredths(self) -> i64 {
        self.rounded(ONE / 100) as i64
    }

    fn rounded(self, unit: i128) -> i128 {
        (self.0 + unit / 2).div_euclid(unit)
    }
}

/// One component of one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub component: Component,
    /// What the curve was asked: months, a share of one, or a count.
    pub quantity: Fixed9,
    pub points: Score,
    /// Of the blend, after the weight of what could not be told was shared out.
    pub weight: Fixed9,
    /// Points that the blend lacks because of it.
    pub lost: Score,
}

pub fn score(inputs: &Inputs) -> Scores {
    let graded = Graded::of(inputs);
    let components = graded.reasons();
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

/// The components that could be told, with their quantities and points.
struct Graded(Vec<(Component, i128, i128)>);

impl Graded {
    fn of(inputs: &Inputs) -> Graded {
        let all = Component::ALL.iter().copied();
        let known = all.filter_map(|it| Some((it, quantity(it, inputs)?)));
        Graded(known.map(|(it, quantity)| (it, quantity, points(it, quantity))).collect())
    }

    fn part(&self, part: Part) -> Score {
        let of_part = || self.0.iter().filter(|(it, ..)| it.part() == part);
        let sum: i128 = of_part().map(|(it, _, points)| it.weight_percent() * points).sum();
        Score(sum / self.weights(part))
    }

    /// How much of the weight of a part could be told; at least two components always can.
    fn weights(&self, part: Part) -> i128 {
        let of_part = self.0.iter().filter(|(it, ..)| it.part() == part);
        of_part.map(|(it, ..)| it.weight_percent()).sum()
    }

    fn evenkeel(&self) -> Score {
        let parts = Part::ALL.iter().copied();
        Score(parts.map(|it| it.weight_percent() * self.part(it).0).sum::<i128>() / 100)
    }

    fn reasons(&self) -> Vec<Reason> {
        let reason = |(component, quantity, points): &(Component, i128, i128)| {
            let part = component.part();
            let weight = component.weight_percent() * part.weight_percent() * ONE;
            let weight = divide_half_even(weight, self.weights(part) * 100);
            Reason {
                component: *component,
                quantity: Fixed9::from_billionths(*quantity),
                points: Score(*points),
                weight: Fixed9::from_billionths(weight),
                lost: Score(weight * (100 * ONE - points) / ONE),
            }
        };
        self.0.iter().map(reason).collect()
    }
}

/// What the curve of a component is asked, in billionths; none where nothing is known of it.
fn quantity(component: Component, inputs: &Inputs) -> Option<i128> {
    let whole = |it: i64| i128::from(it).max(0);
    let income = whole(inputs.income_minor);
    let need = whole(inputs.expenses_minor) + whole(inputs.debt_minor);
    // What was bought on cards and is not yet paid is as good as spent. Debt that is carried longer
    // is not: it shows in interest and in how much of the limit is used.
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
