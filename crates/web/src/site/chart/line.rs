//! Line charts over days: solid for reported values, dotted for estimated ones.

use base::{Currency, Date, Money, days_from_date};
use maud::{Markup, html};

use super::scale::{Scale, decimal};
use super::{FOOT, HEIGHT, WIDTH, figure};
use crate::site::format::View;

pub(crate) struct Point {
    pub(crate) on: Date,
    pub(crate) minor: i64,
    /// Whether the value was reported by a bank rather than estimated.
    pub(crate) reported: bool,
}

impl From<&service::ledger::balances::Point> for Point {
    fn from(it: &service::ledger::balances::Point) -> Point {
        Point { on: it.on, minor: it.minor, reported: it.reported }
    }
}

pub(crate) struct Line<'a> {
    pub(crate) title: &'a str,
    pub(crate) currency: Currency,
    /// The points, ordered by day.
    pub(crate) points: &'a [Point],
}

/// A line chart of plain numbers, such as scores.
pub(crate) struct NumberLine<'a> {
    pub(crate) title: &'a str,
    pub(crate) points: &'a [Point],
}

impl NumberLine<'_> {
    pub(crate) fn draw(&self, view: View) -> Markup {
        Drawing { title: self.title, points: self.points, unit: 1 }.draw(
            view,
            &|it| it.to_string(),
            &|it| it.to_string(),
        )
    }
}

impl Line<'_> {
    pub(crate) fn draw(&self, view: View) -> Markup {
        let unit = 10_i64.pow(self.currency.decimals());
        let money = |minor: i64| Money::new(minor, self.currency);
        Drawing { title: self.title, points: self.points, unit }.draw(
            view,
            &|it| view.whole_money_text(money(it)),
            &|it| view.money_text(money(it)),
        )
    }
}

struct Drawing<'a> {
    title: &'a str,
    points: &'a [Point],
    /// How many minor units make one major unit.
    unit: i64,
}

/// Formats a value.
type FormatValue<'a> = &'a dyn Fn(i64) -> String;

impl Drawing<'_> {
    fn draw(&self, view: View, label: FormatValue<'_>, value: FormatValue<'_>) -> Markup {
        let scale = Scale::new(self.points.iter().map(|it| it.minor), self.unit, false);
        let coordinates: Vec<String> =
            self.points.iter().map(|it| self.place(&scale, it)).collect();
        let picture = html! {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" tabindex="0"
                aria-label={ (self.title) ". Use the arrow keys to read values." } {
                @for line in &scale.lines {
                    line.grid x1="0" x2=(WIDTH) y1=(scale.y(*line)) y2=(scale.y(*line)) {}
                    text.label x="0" y=(scale.y(*line)) dy="-5" { (label(*line)) }
                }
                @for (reported, run) in self.runs(&coordinates) {
                    polyline.(if reported { "solid" } else { "dotted" }) points=(run) {}
                }
                polyline.track points=(coordinates.join(" ")) {}
                line.cursor x1="0" x2="0" y1="0" y2=(HEIGHT - FOOT) {}
                circle.dot r="5" {}
                (self.days(view))
            }
            @if !scale.starts_at_zero { p.soft { "The scale does not start at zero." } }
        };
        let rows: Vec<(String, Vec<String>)> =
            self.points.iter().map(|it| (view.day(it.on), vec![value(it.minor)])).collect();
        figure(self.title, picture, &["Day", "Amount"], &rows)
    }

    fn place(&self, scale: &Scale, point: &Point) -> String {
        let (first, last) = match (self.points.first(), self.points.last()) {
            (Some(first), Some(last)) => (days_from_date(first.on), days_from_date(last.on)),
            _ => (0, 0),
        };
        let x = (days_from_date(point.on) - first) * WIDTH * 10 / (last - first).max(1);
        format!("{},{}", decimal(x), scale.y(point.minor))
    }

    /// Stretches of reported or estimated points. Each begins where the one before ended, so that the line has no gaps.
    fn runs(&self, coordinates: &[String]) -> Vec<(bool, String)> {
        let mut runs: Vec<(bool, Vec<&str>)> = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            match runs.last_mut() {
                Some((reported, run)) if *reported == point.reported => {
                    run.push(&coordinates[index]);
                }
                last => {
                    let joint = last.and_then(|(_, run)| run.last().copied());
                    let run = joint.into_iter().chain([coordinates[index].as_str()]).collect();
                    runs.push((point.reported, run));
                }
            }
        }
        runs.into_iter().map(|(reported, run)| (reported, run.join(" "))).collect()
    }

    fn days(&self, view: View) -> Markup {
        let at = |index: usize| self.points.get(index).map(|it| view.day(it.on));
        let last = self.points.len().saturating_sub(1);
        html! {
            @if let Some(day) = at(0) { text.label x="0" y=(HEIGHT - 6) { (day) } }
            @if last > 0 && let Some(day) = at(last) {
                text.label.end x=(WIDTH) y=(HEIGHT - 6) { (day) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::format::Theme;

    #[test]
    fn estimated_stretches_are_dotted_and_join_the_reported_ones() {
        let point = |on: &str, minor, reported| Point { on: on.parse().unwrap(), minor, reported };
        let points = [
            point("2026-03-01", 100, false),
            point("2026-03-02", 300, true),
            point("2026-03-03", 200, true),
        ];
        let drawing = Drawing { title: "Net worth", points: &points, unit: 100 };
        let line = Line { title: "Net worth", currency: Currency::USD, points: &points };
        let coordinates: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let expected = [(false, "a".to_owned()), (true, "a b c".to_owned())];
        assert_eq!(drawing.runs(&coordinates), expected);
        let today = "2026-03-10".parse().unwrap();
        let timezone = base::TimeZone::utc();
        let hidden = View { hide_amounts: true, theme: Theme::System, timezone, today };
        let page = line.draw(hidden).into_string();
        assert!(!page.contains("3.00") && page.contains("Show as table"), "{page}");
    }
}
