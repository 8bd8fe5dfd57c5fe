//! Grouped bar charts, such as income and spending by month.

use base::{Currency, Date, Money};
use maud::{Markup, html};

use super::scale::{Scale, decimal};
use super::{HEIGHT, LEFT, WIDTH, figure, grid, series, time_label};
use crate::site::format::View;

/// The bars of a month.
pub(crate) struct Group {
    /// Its first day.
    pub(crate) month: Date,
    /// One value for each series of the chart.
    pub(crate) minor: Vec<i64>,
}

impl Group {
    /// The label below its bars: "Nov", or the year in January.
    pub(super) fn label(&self) -> String {
        let pattern = if self.month.month() == 1 { "%Y" } else { "%b" };
        self.month.strftime(pattern).to_string()
    }

    /// Its name in the table, such as "Nov 2026".
    pub(super) fn name(&self) -> String {
        self.month.strftime("%b %Y").to_string()
    }
}

pub(crate) struct Bars<'a> {
    pub(crate) title: &'a str,
    pub(crate) currency: Currency,
    /// The names of the series.
    pub(crate) series: &'a [&'a str],
    pub(crate) groups: &'a [Group],
}

impl Bars<'_> {
    pub(crate) fn draw(&self, view: View) -> Markup {
        let unit = 10_i64.pow(self.currency.decimals());
        let amounts = self.groups.iter().flat_map(|it| it.minor.iter().copied());
        let scale = Scale::new(amounts, unit, true);
        let money = |minor: i64| Money::new(minor, self.currency);
        let picture = html! {
            ul.legend {
                @for (index, name) in self.series.iter().enumerate() {
                    li { span.swatch.(series(index)) {} (name) }
                }
            }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" tabindex="0"
                aria-label={ (self.title) ". Use the arrow keys to read values." } {
                (grid(&scale, &|it| view.axis_text(money(it))))
                @for (group_index, group) in self.groups.iter().enumerate() {
                    g.group {
                        @for (index, minor) in group.minor.iter().enumerate() {
                            (self.bar(&scale, (group_index, index), *minor))
                        }
                        (self.label(group_index, &group.label()))
                    }
                }
            }
        };
        let mut columns = vec!["Month"];
        columns.extend(self.series);
        let text = |it: &i64| view.money_text(money(*it));
        let rows: Vec<(String, Vec<String>)> =
            self.groups.iter().map(|it| (it.name(), it.minor.iter().map(text).collect())).collect();
        figure(self.title, picture, &columns, &rows)
    }

    /// The width of a group in tenths. The axis labels are left of the first group.
    fn group_width(&self) -> i64 {
        (WIDTH - LEFT) * 10 / self.groups.len().max(1) as i64
    }

    fn bar(&self, scale: &Scale, (group_index, index): (usize, usize), minor: i64) -> Markup {
        let group = self.group_width();
        let width = (group * 7 / 10 / self.series.len().max(1) as i64).min(480);
        let used = width * self.series.len() as i64;
        let x = LEFT * 10 + group * group_index as i64 + (group - used) / 2 + width * index as i64;
        let (zero, end) = (scale.tenths(0), scale.tenths(minor));
        html! {
            rect.stave.(series(index)) rx="3" x=(decimal(x)) width=(decimal(width * 9 / 10))
                y=(decimal(zero.min(end))) height=(decimal((zero - end).abs())) {}
        }
    }

    /// The label below a group. Some are left out if there are many, so that they do not overlap.
    fn label(&self, group_index: usize, label: &str) -> Markup {
        let x = LEFT * 10 + self.group_width() * group_index as i64 + self.group_width() / 2;
        html! {
            @if self.is_labeled(group_index) { (time_label(x, label)) }
        }
    }

    /// Whether the group at an index has a label below it. At most seven groups have one. Within a year, the last month has one; in longer charts
    /// every January has one, because its label is the year.
    fn is_labeled(&self, group_index: usize) -> bool {
        let step = self.groups.len().div_ceil(7);
        if self.groups.len() <= 12 {
            return (self.groups.len() - 1 - group_index).is_multiple_of(step);
        }
        let step = [2, 3, 4, 6].into_iter().find(|it| *it >= step).unwrap_or(12);
        (self.groups[group_index].month.month() as usize - 1).is_multiple_of(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(first: &str, months: i64) -> Vec<String> {
        let first: Date = first.parse().unwrap();
        let month = |it| first.checked_add(jiff::Span::new().months(it)).unwrap();
        let group = |it| Group { month: month(it), minor: vec![100] };
        let groups: Vec<Group> = (0..months).map(group).collect();
        let bars = Bars {
            title: "Amounts",
            currency: Currency::USD,
            series: &["Amount"],
            groups: &groups,
        };
        let shown = (0..groups.len()).filter(|it| bars.is_labeled(*it));
        shown.map(|it| groups[it].label()).collect()
    }

    #[test]
    fn labels_name_the_year_if_a_month_occurs_twice() {
        assert_eq!(labels("2025-11-01", 12), ["Dec", "Feb", "Apr", "Jun", "Aug", "Oct"]);
        assert_eq!(labels("2025-06-01", 13), ["Jul", "Sep", "Nov", "2026", "Mar", "May"]);
        assert_eq!(labels("2024-11-01", 24), ["2025", "May", "Sep", "2026", "May", "Sep"]);
        assert_eq!(labels("2024-01-01", 36), ["2024", "Jul", "2025", "Jul", "2026", "Jul"]);
    }
}
