//! Stacked bar charts, such as spending by category for each month.

use base::{Currency, Money};
use maud::{Markup, html};

use super::scale::{Scale, decimal};
use super::{Group, HEIGHT, LEFT, WIDTH, figure, grid, time_label};
use crate::site::format::View;

/// One color of the stacks.
pub(crate) struct Series {
    pub(crate) name: String,
    /// The CSS class of its color.
    pub(crate) color: String,
}

pub(crate) struct Stacks<'a> {
    pub(crate) title: &'a str,
    pub(crate) currency: Currency,
    pub(crate) series: &'a [Series],
    /// The stacks, each with one value for each series.
    pub(crate) groups: &'a [Group],
}

impl Stacks<'_> {
    pub(crate) fn draw(&self, view: View) -> Markup {
        let unit = 10_i64.pow(self.currency.decimals());
        let ends = self.groups.iter().flat_map(|it| [sum(it, 1), sum(it, -1)]);
        let ends: Vec<i64> = ends.collect();
        let scale = Scale::new(ends.into_iter(), unit, true);
        let money = |minor: i64| Money::new(minor, self.currency);
        let picture = html! {
            ul.legend {
                @for it in self.series { li { span.swatch.(it.color) {} (it.name) } }
            }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" tabindex="0"
                aria-label={ (self.title) ". Use the arrow keys to read values." } {
                (grid(&scale, &|it| view.axis_text(money(it))))
                @for (index, group) in self.groups.iter().enumerate() {
                    g.group {
                        (self.stack(&scale, index, group))
                        (self.label(index, &group.label()))
                    }
                }
            }
        };
        let mut columns = vec!["Month", "Total"];
        columns.extend(self.series.iter().map(|it| it.name.as_str()));
        let text = |minor: i64| view.money_text(money(minor));
        let row = |it: &Group| {
            let total = it.minor.iter().fold(0_i64, |sum, part| sum.saturating_add(*part));
            let parts = it.minor.iter().map(|part| text(*part));
            (it.name(), [text(total)].into_iter().chain(parts).collect())
        };
        let rows: Vec<(String, Vec<String>)> = self.groups.iter().map(row).collect();
        figure(self.title, picture, &columns, &rows)
    }

    /// The width of a stack with the space beside it, in tenths.
    fn slot(&self) -> i64 {
        (WIDTH - LEFT) * 10 / self.groups.len().max(1) as i64
    }

    /// Amounts are stacked upwards from zero, and those below zero downwards.
    fn stack(&self, scale: &Scale, index: usize, group: &Group) -> Markup {
        let width = (self.slot() * 7 / 10).min(560);
        let x = LEFT * 10 + self.slot() * index as i64 + (self.slot() - width) / 2;
        let (mut above, mut below) = (0_i64, 0_i64);
        let mut pieces = Vec::new();
        for (minor, series) in group.minor.iter().zip(self.series) {
            let end = if *minor < 0 { &mut below } else { &mut above };
            let start = *end;
            *end = end.saturating_add(*minor);
            let (from, to) = (scale.tenths(start), scale.tenths(*end));
            pieces.push((from.min(to), (from - to).abs(), &series.color));
        }
        html! {
            @for (y, height, color) in pieces.into_iter().filter(|it| it.1 > 0) {
                rect.stave.(color) x=(decimal(x)) width=(decimal(width)) y=(decimal(y)) height=(decimal(height)) {}
            }
        }
    }

    /// The label below a stack. Every second or third one is left out if there are many.
    fn label(&self, index: usize, label: &str) -> Markup {
        let every = self.groups.len().div_ceil(7);
        let shown = (self.groups.len() - 1 - index).is_multiple_of(every);
        let x = LEFT * 10 + self.slot() * index as i64 + self.slot() / 2;
        html! {
            @if shown { (time_label(x, label)) }
        }
    }
}

/// The sum of a stack's amounts above zero, or below it.
fn sum(group: &Group, sign: i64) -> i64 {
    let amounts = group.minor.iter().filter(|it| it.signum() == sign);
    amounts.fold(0, |sum, it| sum.saturating_add(*it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::format::Theme;

    #[test]
    fn amounts_below_zero_are_stacked_downwards() {
        let series =
            ["Food", "Travel"].map(|it| Series { name: it.to_owned(), color: "c0".to_owned() });
        let groups = [Group { month: "2026-11-01".parse().unwrap(), minor: vec![10_000, -5_000] }];
        let stacks =
            Stacks { title: "Spending", currency: Currency::USD, series: &series, groups: &groups };
        let today = "2026-11-16".parse().unwrap();
        let timezone = base::TimeZone::utc();
        let view = View { hide_amounts: false, theme: Theme::System, timezone, today };
        let page = stacks.draw(view).into_string();
        assert_eq!(page.matches("<rect").count(), 2);
        assert!(page.contains("$50.00</td><td class=\"figure\">$100.00"), "{page}");
    }
}
