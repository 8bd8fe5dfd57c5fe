//! The scoring method in one place: components, weights, curves and windows. After changing a number, raise the
//! version and render the charts again.

use base::words;

/// Reported with every result, so that a change of method is not mistaken for a change of finances.
pub const VERSION: u32 = 1;

pub const HISTORY_DAYS_MIN: i64 = 60;
pub(super) const LIQUID_DAYS: usize = 30;
pub(super) const LOW_DAYS: usize = 90;
pub(super) const DISTRESS_MONTHS: i64 = 12;
pub(super) const PURCHASE_DAYS: i64 = 30;

/// The sizes of the suggested steps: half of an unexpected expense more in liquid money, this share of income less in
/// obligations, one bad month fewer.
pub(super) const STEP_OBLIGATIONS_PERCENT: i128 = 5;

/// Curves and quantities are in billionths.
pub(super) const ONE: i128 = 1_000_000_000;

/// The result of a division by zero: more than any curve reaches.
pub(super) const BEYOND: i128 = i64::MAX as i128 * ONE;

words!(
    Part {
        /// Could you recover from a shock?
        Recovery => "recovery",
        /// How much room does a month leave?
        Capacity => "capacity",
        /// Does ordinary life stay above water?
        Baseline => "baseline",
    }
);

impl Part {
    pub fn weight_percent(self) -> i128 {
        match self {
            // A cushion separates people who are doing well from others more than anything else.
            Part::Recovery => 40,
            Part::Capacity | Part::Baseline => 30,
        }
    }
}

words!(
    Component {
        Runway => "runway",
        Shock => "shock",
        CreditSlack => "credit_slack",
        Margin => "margin",
        Obligations => "obligations",
        LowDays => "low_days",
        Distress => "distress",
        Steadiness => "steadiness",
        SurplusMonths => "surplus_months",
    }
);

/// A breakpoint of a curve: at this quantity, in thousandths, it gives these points out of 100.
pub type Breakpoint = (i64, i64);

impl Component {
    pub fn part(self) -> Part {
        match self {
            Component::Runway | Component::Shock | Component::CreditSlack => Part::Recovery,
            Component::Margin | Component::Obligations => Part::Capacity,
            Component::LowDays
            | Component::Distress
            | Component::Steadiness
            | Component::SurplusMonths => Part::Baseline,
        }
    }

    /// The weight within its part. If a component is unknown, the others share its weight.
    pub fn weight_percent(self) -> i128 {
        match self {
            Component::Runway | Component::Margin => 60,
            Component::Obligations => 40,
            Component::LowDays => 35,
            Component::Distress => 25,
            Component::Shock
            | Component::CreditSlack
            | Component::Steadiness
            | Component::SurplusMonths => 20,
        }
    }

    /// The points by quantity: linear between breakpoints and flat beyond the outer ones.
    pub fn curve(self) -> &'static [Breakpoint] {
        match self {
            Component::Runway => &[(0, 0), (250, 25), (1_000, 50), (3_000, 75), (6_000, 100)],
            Component::Shock | Component::SurplusMonths => &[(0, 0), (1_000, 100)],
            Component::CreditSlack => &[(100, 100), (300, 75), (500, 50), (750, 25), (1_000, 0)],
            Component::Margin => &[(-150, 0), (-50, 25), (0, 50), (100, 75), (200, 100)],
            Component::Obligations => &[(280, 100), (360, 85), (430, 60), (500, 40), (700, 0)],
            Component::LowDays => &[(0, 100), (750, 0)],
            Component::Distress => &[(0, 100), (1_000, 60), (3_000, 40), (5_000, 20), (7_000, 0)],
            Component::Steadiness => &[(0, 100), (100, 90), (360, 50), (720, 0)],
        }
    }
}

/// The points of a quantity, both in billionths. Every step rounds down, so that the curve is monotonic.
pub(super) fn points(component: Component, quantity: i128) -> i128 {
    let curve = component.curve();
    let scaled =
        |(at, points): Breakpoint| (i128::from(at) * (ONE / 1000), i128::from(points) * ONE);
    let after = curve.iter().position(|it| scaled(*it).0 >= quantity);
    match after {
        None => scaled(curve[curve.len() - 1]).1,
        Some(0) => scaled(curve[0]).1,
        Some(index) => {
            let ((x0, y0), (x1, y1)) = (scaled(curve[index - 1]), scaled(curve[index]));
            y0 + ((y1 - y0) * (quantity - x0)).div_euclid(x1 - x0)
        }
    }
}
