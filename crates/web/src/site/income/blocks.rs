//! How income is divided: expenses, debt, emergency fund, investments and what is left.

use base::Money;
use maud::{Markup, html};
use service::insights::income::{Block, Share};

use super::IncomePage;
use crate::site::format::code_to_words;

impl IncomePage<'_> {
    pub(super) fn allocation(&self) -> Markup {
        let it = self.income;
        let (fund, invested) = (&it.emergency_fund, &it.investments);
        let covered = fund.months_covered_hundredths.map(months);
        html! {
            h2 id="goes" { "Monthly breakdown" }
            div.columns {
                (self.block("Expenses", it.expenses.total, self.parts(&it.expenses)))
                div {
                    (self.block("Debt", it.debt.total, self.parts(&it.debt)))
                    (self.block("Emergency fund", fund.net, html! {
                        (self.part("Deposits", fund.deposits))
                        (self.part("Withdrawals", fund.withdrawals))
                        (self.standing("Savings balance", fund.balance))
                        @if let Some(covered) = covered {
                            tr { th scope="row" { "Covers" } td {} td.figure colspan="2" { (covered) } }
                        }
                    }))
                    (self.block("Investments", invested.net, html! {
                        (self.part("Contributions", invested.contributions))
                        (self.part("Withdrawals", invested.withdrawals))
                        (self.standing("Investment balance", invested.balance))
                    }))
                }
            }
            section.card.rest aria-labelledby="rest" {
                header {
                    h3 id="rest" { "Left over" }
                    strong { (self.money(it.unallocated.amount_minor)) }
                }
                (bar(it.unallocated))
                p.soft {
                    @if it.unallocated.amount_minor < 0 {
                        "Spending, debt payments, saving and investing add up to more than your income. The difference comes from \
                         your balances."
                    } @else {
                        "Income you didn't spend, save or invest. It stays in your accounts."
                    }
                }
            }
        }
    }

    fn block(&self, name: &str, total: Share, rows: Markup) -> Markup {
        let id = name.to_lowercase().replace(' ', "-");
        html! {
            section.card aria-labelledby=(id) {
                header {
                    h3 id=(id) { (name) }
                    span { strong { (self.money(total.amount_minor)) } " " span.soft { (percent(total)) } }
                }
                (bar(total))
                table.shares {
                    caption.hush { (name) " breakdown" }
                    thead.hush { tr {
                        th scope="col" { "Item" } th scope="col" { "Share" }
                        th scope="col" { "Percent of income" } th scope="col" { "Amount" }
                    } }
                    tbody { (rows) }
                }
            }
        }
    }

    /// The parts, largest first.
    fn parts(&self, block: &Block) -> Markup {
        let mut parts: Vec<(&String, &Share)> = block.parts.iter().collect();
        parts.sort_by_key(|(name, share)| (-share.amount_minor, *name));
        html! {
            @for (name, share) in &parts { (self.part(&code_to_words(name), **share)) }
            @if parts.is_empty() { tr { td.soft colspan="4" { "Nothing in this period." } } }
        }
    }

    fn part(&self, name: &str, share: Share) -> Markup {
        html! {
            tr {
                th scope="row" { (name) }
                td.gauge { (bar(share)) }
                td.figure.percent { (percent(share)) }
                td.figure { (self.money(share.amount_minor)) }
            }
        }
    }

    /// A balance, which is not part of the monthly amounts.
    fn standing(&self, name: &str, share: Option<Share>) -> Markup {
        let balance = share.map(|it| Money::new(it.amount_minor, self.currency));
        html! {
            tr {
                th scope="row" { (name) } td {} td {}
                td.figure { (self.view.money_or_unknown(balance)) }
            }
        }
    }
}

/// The share of income as a bar; empty if it is negative or there is no income.
fn bar(share: Share) -> Markup {
    let filled = share.percent_tenths.unwrap_or(0).clamp(0, 1_000);
    html! { progress max="1000" value=(filled) aria-hidden="true" {} }
}

fn percent(share: Share) -> String {
    let Some(tenths) = share.percent_tenths else { return String::new() };
    let sign = if tenths < 0 { "-" } else { "" };
    format!("{sign}{}.{}%", tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10)
}

fn months(hundredths: i64) -> String {
    let tenths = (hundredths + 5) / 10;
    format!("{}.{} months", tenths / 10, tenths % 10)
}
