//! Line charts over days. Estimated stretches are lighter than reported ones.

use base::{Currency, Date, Money, days_from_date};
use maud::{Markup, html};

use super::scale::{Scale, decimal};
use super::{FOOT, HEIGHT, LEFT, WIDTH, figure, grid, ticks, time_label};
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
            &|it| view.axis_text(money(it)),
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
                (grid(&scale, label))
                polygon.area points=(self.area(&scale, &coordinates)) {}
                @for (reported, run) in self.runs(&coordinates) {
                    @let class = if reported { "reported" } else { "estimated" };
                    polyline.(class) points=(run.join(" ")) {}
                }
                polyline.track points=(coordinates.join(" ")) {}
                line.cursor x1="0" x2="0" y1="0" y2=(HEIGHT - FOOT) {}
                circle.dot r="5" {}
                (self.days())
            }
            (self.note(scale.starts_at_zero))
        };
        let rows: Vec<(String, Vec<String>)> =
            self.points.iter().map(|it| (view.day(it.on), vec![value(it.minor)])).collect();
        figure(self.title, picture, &["Day", "Amount"], &rows)
    }

    /// The note below the chart: whether its scale starts at zero, and whether a part of it is estimated.
    fn note(&self, starts_at_zero: bool) -> Markup {
        let is_estimated = self.points.iter().any(|it| !it.reported);
        html! {
            @if is_estimated || !starts_at_zero {
                p.soft {
                    @if !starts_at_zero { "The scale does not start at zero. " }
                    @if is_estimated { "The fainter part is estimated from transactions." }
                }
            }
        }
    }

    /// The first and the last day.
    fn ends(&self) -> Option<(Date, Date)> {
        Some((self.points.first()?.on, self.points.last()?.on))
    }

    /// The distance of a day from the left, in tenths.
    fn x(&self, on: Date) -> i64 {
        let Some((first, last)) = self.ends() else { return LEFT * 10 };
        let day = |on: Date| days_from_date(on) - days_from_date(first);
        LEFT * 10 + day(on) * (WIDTH - LEFT) * 10 / day(last).max(1)
    }

    fn place(&self, scale: &Scale, point: &Point) -> String {
        format!("{},{}", decimal(self.x(point.on)), scale.y(point.minor))
    }

    /// The area between the line and zero, or the bottom if zero is not on the scale.
    fn area(&self, scale: &Scale, coordinates: &[String]) -> String {
        let base = if scale.starts_at_zero { scale.y(0) } else { decimal((HEIGHT - FOOT) * 10) };
        let x = |it: &str| it.split(',').next().unwrap_or_default().to_owned();
        let (Some(first), Some(last)) = (coordinates.first(), coordinates.last()) else {
            return String::new();
        };
        format!("{},{base} {} {},{base}", x(first), coordinates.join(" "), x(last))
    }

    /// Stretches of reported or estimated points. Each begins where the one before ended, so that the line has no gaps.
    fn runs<'a>(&self, coordinates: &'a [String]) -> Vec<(bool, Vec<&'a str>)> {
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
        runs
    }

    /// The labels below the plot.
    fn days(&self) -> Markup {
        let ticks = self.ends().map(|(first, last)| ticks::between(first, last));
        html! {
            @for (on, name) in ticks.into_iter().flatten() { (time_label(self.x(on), &name)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::format::Theme;

    #[test]
    fn estimated_stretches_are_lighter_and_join_the_reported_ones() {
        let point = |on: &str, minor, reported| Point { on: on.parse().unwrap(), minor, reported };
        let points = [
            point("2026-03-01", 100, false),
            point("2026-03-02", 300, true),
            point("2026-03-03", 200, true),
        ];
        let drawing = Drawing { title: "Net worth", points: &points, unit: 100 };
        let line = Line { title: "Net worth", currency: Currency::USD, points: &points };
        let coordinates: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let expected = [(false, vec!["a"]), (true, vec!["a", "b", "c"])];
        assert_eq!(drawing.runs(&coordinates), expected);
        let today = "2026-03-10".parse().unwrap();
        let timezone = base::TimeZone::utc();
        let hidden = View { hide_amounts: true, theme: Theme::System, timezone, today };
        let page = line.draw(hidden).into_string();
        assert!(!page.contains("3.00") && page.contains("Show as table"), "{page}");
    }
}
