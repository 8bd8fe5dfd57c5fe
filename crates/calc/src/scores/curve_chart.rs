//! Renders the curve of a component as SVG, from the method itself so that it is always accurate.

use std::fmt::Write as _;

use super::method::{Breakpoint, Component};

const LEFT: i64 = 44;
const RIGHT: i64 = 396;
const TOP: i64 = 52;
const BOTTOM: i64 = 192;

/// The name of the quantity, and its unit.
fn caption(component: Component) -> (&'static str, &'static str, Unit) {
    match component {
        Component::Runway => ("Runway", "months of need at hand", Unit::Number),
        Component::Shock => ("Shock", "part of a sudden bill covered", Unit::Percent),
        Component::CreditSlack => ("Credit slack", "part of card limits used", Unit::Percent),
        Component::Margin => ("Margin", "part of income left over", Unit::Percent),
        Component::Obligations => ("Obligations", "rent and debt of income", Unit::Percent),
        Component::LowDays => ("Low days", "days with less than a week's need", Unit::Percent),
        Component::Distress => ("Distress", "months of 12 with a bad event", Unit::Number),
        Component::Steadiness => ("Steadiness", "how much income varies", Unit::Percent),
        Component::SurplusMonths => {
            ("Surplus months", "months that paid for themselves", Unit::Percent)
        }
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Number,
    Percent,
}

impl Unit {
    /// Formats thousandths for the axis.
    fn write(self, thousandths: i64) -> String {
        match self {
            Unit::Percent => format!("{} %", thousandths / 10),
            Unit::Number if thousandths % 1000 == 0 => (thousandths / 1000).to_string(),
            Unit::Number => {
                let decimals = format!("{:03}", thousandths % 1000);
                format!("{}.{}", thousandths / 1000, decimals.trim_end_matches('0'))
            }
        }
    }
}

/// A card with its own background, so that it is readable on light and dark pages.
pub fn curve_svg(component: Component) -> String {
    let (title, axis, unit) = caption(component);
    let curve = component.curve();
    let plot = Plot::of(curve);
    let mut svg = String::from(HEAD);
    let _ = write!(
        svg,
        "<title>{title}: points by {axis}</title>\n\
         <rect class=\"ground\" width=\"420\" height=\"250\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"16\" y=\"26\">{title}</text>\n\
         <text x=\"404\" y=\"26\" text-anchor=\"end\">{axis}</text>\n"
    );
    for points in [0, 25, 50, 75, 100] {
        let y = Plot::y(points);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y}H{RIGHT}\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{points}</text>\n",
            LEFT - 8,
            y + 4
        );
    }
    let _ = writeln!(svg, "<path class=\"curve\" d=\"{}\"/>", plot.path(curve));
    let falls = curve[0].1 > curve[curve.len() - 1].1;
    let mut free_from = LEFT;
    for (at, points) in curve.iter().copied() {
        let (x, y) = (plot.x(at), Plot::y(points));
        // A label that would overlap the previous one stands a line lower.
        let lower = x < free_from;
        let label_y = BOTTOM + if lower { 34 } else { 18 };
        free_from = if lower { free_from } else { x + 36 };
        let (beside, anchor) = if falls { (x + 6, "start") } else { (x - 6, "end") };
        let _ = write!(
            svg,
            "<circle class=\"bend\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>\n\
             <text class=\"points\" x=\"{beside}\" y=\"{}\" text-anchor=\"{anchor}\">\
             {points}</text>\n\
             <text x=\"{x}\" y=\"{label_y}\" text-anchor=\"middle\">{}</text>\n",
            y - 6,
            unit.write(at)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

const HEAD: &str = "\
<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 420 250\" \
width=\"420\" height=\"250\" role=\"img\">
<style>
text{font:12px system-ui,sans-serif;fill:#414a54}
.title{font-weight:600;font-size:14px;fill:#11181f}
.points{font-weight:600;fill:#11181f}
.ground{fill:#f6f8fa;stroke:#d5dbe1}
.grid{stroke:#d5dbe1}
.curve{fill:none;stroke:#0b6bcb;stroke-width:2.5;stroke-linejoin:round}
.bend{fill:#0b6bcb}
@media (prefers-color-scheme:dark){
text{fill:#b6c0cb}
.title,.points{fill:#f0f4f8}
.ground{fill:#161c23;stroke:#333d48}
.grid{stroke:#333d48}
.curve{stroke:#6cb2ff}
.bend{fill:#6cb2ff}
}
</style>
";

/// Maps thousandths of the quantity to coordinates: the breakpoints fill the width except for a margin, which shows
/// that the curve continues flat.
struct Plot {
    first: i64,
    width: i64,
}

impl Plot {
    const BEYOND: i64 = 24;

    fn of(curve: &[Breakpoint]) -> Plot {
        let (first, last) = (curve[0].0, curve[curve.len() - 1].0);
        Plot { first, width: last - first }
    }

    fn x(&self, at: i64) -> i64 {
        let room = RIGHT - LEFT - 2 * Plot::BEYOND;
        LEFT + Plot::BEYOND + (at - self.first) * room / self.width
    }

    fn y(points: i64) -> i64 {
        BOTTOM - points * (BOTTOM - TOP) / 100
    }

    fn path(&self, curve: &[Breakpoint]) -> String {
        let mut path = format!("M{LEFT} {}", Plot::y(curve[0].1));
        for (at, points) in curve {
            let _ = write!(path, "L{} {}", self.x(*at), Plot::y(*points));
        }
        path + &format!("H{RIGHT}")
    }
}
