//! The cash flow of the spending page: from incomes to categories and what was left.

use maud::{Markup, html};
use service::insights::spending::history::MoneyFlow;

use super::SpendingPage;
use crate::site::chart::{Sankey, Stream};
use crate::site::excluded;
use crate::site::icons;

/// The most streams on each side; the smallest are summed up.
const SOURCES_MAX: usize = 5;
const TARGETS_MAX: usize = 9;
const GRAY: &str = "c13";
/// The colors of incomes, beginning with that of the category, in an order that is easy to tell apart.
const INCOME_COLORS: [&str; SOURCES_MAX] = ["c12", "c1", "c0", "c2", "c5"];

impl SpendingPage<'_> {
    pub(super) fn flow_card(&self, flow: &MoneyFlow) -> Markup {
        let (sources, targets) = sides(flow);
        html! {
            @if !sources.is_empty() && !targets.is_empty() {
                section.card aria-labelledby="flow" {
                    h2 id="flow" { "Cash flow" }
                    (Sankey { title: "From income to spending", currency: self.currency, sources: &sources,
                        targets: &targets }.draw(self.view()))
                    p.soft { "Transfers between your accounts are not included. Refunds are subtracted." }
                    (excluded::codes_note(flow.excluded.iter().map(|it| it.code())))
                }
            }
        }
    }
}

/// Both sides with the same sum: what is left over is saved, what is missing came from savings.
fn sides(flow: &MoneyFlow) -> (Vec<Stream>, Vec<Stream>) {
    let stream = |name: &str, minor: i64, color: &str| Stream {
        name: name.to_owned(),
        minor,
        color: color.to_owned(),
    };
    let colors = INCOME_COLORS.iter().chain(std::iter::repeat(&GRAY));
    let income = flow.income.iter().zip(colors).map(|((name, minor), color)| {
        let name = if name.is_empty() { "Unknown payer" } else { name };
        stream(name, *minor, color)
    });
    let mut sources = cut(income, SOURCES_MAX, "Other income");
    if flow.unclassified_minor > 0 {
        sources.push(stream("Unclassified", flow.unclassified_minor, GRAY));
    }
    let spending = flow
        .spending
        .iter()
        .map(|(key, label, minor)| stream(label, *minor, &icons::category_color(key)));
    let mut targets = cut(spending, TARGETS_MAX, "Other spending");
    let sum = |side: &[Stream]| side.iter().fold(0_i64, |sum, it| sum.saturating_add(it.minor));
    let left = sum(&sources).saturating_sub(sum(&targets));
    match left {
        1.. => targets.push(stream("Not spent", left, GRAY)),
        0 => {}
        _ => sources.push(stream("From savings", left.saturating_neg(), GRAY)),
    }
    (sources, targets)
}

/// The first streams, and the rest as one. Amounts that are not positive cannot be drawn and are left out.
fn cut(streams: impl Iterator<Item = Stream>, most: usize, rest_name: &str) -> Vec<Stream> {
    let mut kept: Vec<Stream> = streams.filter(|it| it.minor > 0).collect();
    if kept.len() > most {
        let rest = kept.split_off(most - 1);
        let minor = rest.iter().fold(0_i64, |sum, it| sum.saturating_add(it.minor));
        kept.push(Stream { name: rest_name.to_owned(), minor, color: GRAY.to_owned() });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_have_the_same_sum() {
        let flow = |income: i64, spent: &[i64]| MoneyFlow {
            currency: base::Currency::USD,
            income: vec![("Acme".to_owned(), income)],
            unclassified_minor: 5,
            spending: spent
                .iter()
                .map(|it| ("TRAVEL".to_owned(), "Travel".to_owned(), *it))
                .collect(),
            excluded: Default::default(),
        };
        for (income, spent) in [(100, vec![40, 30]), (10, vec![400]), (0, vec![1; 30]), (7, vec![])]
        {
            let (sources, targets) = sides(&flow(income, &spent));
            let sum = |side: &[Stream]| side.iter().map(|it| it.minor).sum::<i64>();
            assert_eq!(sum(&sources), sum(&targets));
            assert!(sources.len() <= SOURCES_MAX + 2 && targets.len() <= TARGETS_MAX + 1);
        }
    }
}
