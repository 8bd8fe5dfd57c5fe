//! The income page: average monthly income, where it goes, its sources and the method.

mod blocks;

use base::{Currency, Money};
use maud::{Markup, html};
use service::insights::income::{self, Income, IncomeReport, InflowLabel};
use service::ledger::net_worth;
use service::ledger::rates::UsedRate;
use wire::v1::Excluded;

use super::app_page::AppPage;
use super::chart::{Bars, Group};
use super::errors::PageResult;
use super::excluded;
use super::format::{View, plural};
use super::navigation::NavItem;
use super::person::Person;

pub(super) async fn get(person: Person) -> PageResult {
    let (report, rates) = tokio::try_join!(
        income::analyze(person.app(), &person.caller),
        net_worth::used_rates(person.app(), &person.caller)
    )?;
    let IncomeReport { income, currency, excluded } = &*report;
    let page = IncomePage { income, currency: *currency, excluded, rates, view: person.view };
    let main = html! {
        h1 { "Income" }
        @if page.is_empty() { (nothing()) } @else { (page.show()) }
    };
    Ok(AppPage::new(NavItem::Income, "Income").page(&person, main))
}

fn nothing() -> Markup {
    html! {
        div.empty {
            h2 { "No income yet" }
            p { "Import transactions to see your monthly income and where it goes." }
            a.button href="/import" { "Import bank files" }
        }
    }
}

struct IncomePage<'a> {
    income: &'a Income,
    currency: Currency,
    /// Money in that is in no amount because there is no exchange rate for it.
    excluded: &'a [Excluded],
    rates: Vec<UsedRate>,
    view: View,
}

impl IncomePage<'_> {
    fn is_empty(&self) -> bool {
        let it = self.income;
        it.monthly_income_minor == 0
            && it.expenses.total.amount_minor == 0
            && it.debt.total.amount_minor == 0
    }

    fn money(&self, minor: i64) -> Markup {
        self.view.money(Money::new(minor, self.currency))
    }

    fn show(&self) -> Markup {
        html! {
            (self.headline())
            (excluded::wire_note(self.view, self.excluded))
            (excluded::daily_rates(self.view, self.currency, &self.rates))
            (self.unclassified())
            (self.chart())
            (self.allocation())
            div.columns {
                (self.sources())
                (self.left_out())
            }
            (method())
        }
    }

    fn headline(&self) -> Markup {
        let window = &self.income.window;
        let (start, end) = (self.view.day(window.start), self.view.day(window.end));
        let month = |on: base::Date| on.strftime("%B %Y").to_string();
        let spread = &self.income.variability;
        html! {
            div.lead-in {
                p.big { (self.money(self.income.monthly_income_minor)) span.per { " a month" } }
                p.soft {
                    @if window.complete {
                        "Average of " (plural(window.months, "month", "months")) ", "
                        (month(window.start)) " to " (month(window.end)) "."
                    } @else {
                        "Based on the last 30 days, " (start) " to " (end) ". There isn't a full month of data yet."
                    }
                }
            }
            @if window.complete && window.months > 1 {
                dl.tiles.sums {
                    div.tile { dt { "Lowest month" } dd { (self.money(spread.min_minor)) } }
                    div.tile { dt { "Highest month" } dd { (self.money(spread.max_minor)) } }
                    div.tile { dt { "Range" } dd { (self.money(spread.range_minor)) } }
                    @if let Some(word) = self.steadiness() {
                        div.tile { dt { "Stability" } dd { (word) } }
                    }
                }
            }
        }
    }

    /// Money in that is neither income nor anything else that is known, so that nobody takes it for income.
    fn unclassified(&self) -> Markup {
        html! {
            @if self.income.unclassified_minor > 0 {
                p.warning {
                    "Unclassified: we could not classify " (self.money(self.income.unclassified_minor))
                    " a month of deposits, so they are not counted as income. Choose a category for each of them below."
                }
            }
        }
    }

    /// How much monthly income varies, in words.
    fn steadiness(&self) -> Option<&'static str> {
        let billionths = self.income.cv?.billionths();
        Some(match billionths {
            ..50_000_001 => "Very steady",
            50_000_001..150_000_001 => "Steady",
            150_000_001..350_000_001 => "Varies",
            _ => "Varies a lot",
        })
    }

    fn chart(&self) -> Markup {
        let month = |it: &income::Month| Group {
            month: it.start,
            minor: vec![it.received_minor, it.spent_minor],
        };
        let groups: Vec<Group> = self.income.months.iter().map(month).collect();
        let bars = Bars {
            title: "Income and spending by month",
            currency: self.currency,
            series: &["Income", "Spending"],
            groups: &groups,
        };
        html! {
            @if self.income.window.complete && groups.len() > 1 {
                section.card aria-labelledby="months" {
                    h2 id="months" { "By month" }
                    p.soft { "Here, income counts in the month in which it arrived. The averages above count a paycheck in the \
                              month in which it was earned." }
                    (bars.draw(self.view))
                }
            }
        }
    }

    fn sources(&self) -> Markup {
        html! {
            section.card aria-labelledby="sources" {
                h2 id="sources" { "Sources, per month" }
                @if self.income.sources.is_empty() {
                    p.soft { "No income in this period." }
                }
                ul.rows {
                    @for source in &self.income.sources {
                        li {
                            div.what {
                                (source.payer)
                                span.soft { (label(source.label)) ", last " (self.view.day(source.last_on)) }
                            }
                            (self.money(source.monthly_minor))
                        }
                    }
                }
            }
        }
    }

    /// Money in that does not count as income, so that people can find it.
    fn left_out(&self) -> Markup {
        const SHOWN: usize = 8;
        // Deposits that need a decision come first; the others stay newest first.
        let mut uncounted: Vec<_> = self.income.uncounted.iter().collect();
        uncounted.sort_by_key(|it| it.label != InflowLabel::Unclassified);
        html! {
            @if !self.income.uncounted.is_empty() {
                section.card aria-labelledby="uncounted" {
                    h2 id="uncounted" { "Not counted as income" }
                    ul.rows {
                        @for it in uncounted.iter().take(SHOWN) {
                            li {
                                div.what {
                                    a href={ "/transactions/" (it.id) "?back=/income" } { (it.payer) }
                                    span.soft { (label(it.label)) ", " (self.view.day(it.on)) }
                                }
                                (self.money(it.amount_minor))
                            }
                        }
                    }
                    @if self.income.uncounted.len() > SHOWN {
                        p.soft { "Showing " (SHOWN) " of " (self.income.uncounted.len()) ": unclassified deposits first, then the newest." }
                    }
                }
            }
        }
    }
}

fn label(label: InflowLabel) -> &'static str {
    match label {
        InflowLabel::InternalTransfer => "Transfer between your accounts",
        InflowLabel::Refund => "Refund",
        InflowLabel::LoanProceeds => "Loan",
        InflowLabel::TaxRefund => "Tax refund",
        InflowLabel::Passive => "Interest, dividends or rent",
        InflowLabel::Earned => "Paycheck",
        InflowLabel::Benefits => "Benefits",
        InflowLabel::Gig => "Gig work",
        InflowLabel::OtherIncome => "Other income",
        InflowLabel::Unclassified => "Unclassified",
    }
}

fn method() -> Markup {
    html! {
        section.card aria-labelledby="how" {
            h2 id="how" { "How this is calculated" }
            p {
                "Paychecks, benefits, gig work, interest and similar deposits count as income. Transfers between \
                 your accounts, refunds and loans don't. Each paycheck counts toward the month it was earned, so a \
                 month with three paydays isn't overstated. Income is then split into expenses, debt, savings, \
                 investments and what is left over. Card purchases count when you make them, not when you pay the \
                 card. "
                a href="/docs" { "Get this data from the API" }
                "."
            }
        }
    }
}
