//! The page of one account: balance, history, unexplained changes, recent transactions and forms.

use axum::extract::Path;
use base::draft::AccountKind;
use base::{AccountId, Money, date_from_days};
use http::StatusCode;
use maud::{Markup, html};
use service::insights::benefits;
use service::ledger::account_terms::{self, PayoffEstimate};
use service::ledger::accounts::{self, Account};
use service::ledger::balances::{self, Chart};
use service::ledger::investments::{self, Holding, Investments, SortBy, View as Order};
use service::ledger::spans::Span;
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;

use super::form_state::FormState;
use super::settings_forms::forms;
use super::{AccountIssue, debt, institution_label, kind_name, list, manual_forms, parse, split};
use crate::site::app_page::AppPage;
use crate::site::chart::{Line, Point, ranges};
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::format::View;
use crate::site::investments::holdings_table;
use crate::site::navigation::NavItem;
use crate::site::person::Person;

const TRANSACTIONS_SHOWN: usize = 20;
const UNEXPLAINED_SHOWN: usize = 8;

pub(in crate::site) async fn get(person: Person, id: Path<String>) -> PageResult {
    let span = person.range;
    show(&person, parse(id)?, span, None).await
}

/// Shows the page again with the error of a submitted form.
pub(super) async fn again(
    person: &Person,
    id: AccountId,
    form: &Form,
    wrong: FormError,
) -> PageResult {
    show(person, id, Span::Year, Some((form, wrong))).await
}

async fn show(
    person: &Person,
    id: AccountId,
    span: Span,
    sent: Option<(&Form, FormError)>,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let account = accounts::get(app, caller, id).await?;
    let product = async {
        match account.kind {
            AccountKind::Credit => benefits::product(app, caller, id).await.map(Some),
            _ => Ok(None),
        }
    };
    let payoff = async {
        match account.kind.is_debt() && account.closed_on.is_none() {
            true => account_terms::payoff(app, caller, &account).await.map(Some),
            false => Ok(None),
        }
    };
    let holdings = async {
        match account.kind {
            AccountKind::Investment => holdings(person, id).await.map(Some),
            _ => Ok(None),
        }
    };
    let (chart, rows, product, payoff, holdings) = tokio::try_join!(
        balances::chart(app, caller, &account, span),
        last_transactions(person, id),
        product,
        payoff,
        holdings,
    )?;
    let is_estimated = |it: &PayoffEstimate| account.kind == AccountKind::Loan || it.is_own_payment;
    let status = if sent.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let forms_state = FormState { product, sent };
    let main = html! {
        (head(person, &account, forms_state.sent.as_ref().map(|(_, wrong)| wrong)))
        (forms(person, &account, &forms_state))
        (balance(person, &account, &chart, span))
        @if let Some(payoff) = payoff.filter(is_estimated) {
            (debt::payoff_card(person.view, &account, &payoff))
        }
        @if let Some(found) = &holdings { (holdings_card(person, &account, found)) }
        (manual_forms::forms(person, &account, &forms_state))
        (unexplained(person.view, &account, &chart))
        (recent(&account, &rows))
        (split::link(&account))
    };
    Ok(AppPage::new(NavItem::Accounts, &account.name).page_with(status, person, main))
}

fn head(person: &Person, account: &Account, wrong: Option<&FormError>) -> Markup {
    let now = person.app().clock.now();
    let kept = institution_label(account);
    html! {
        div {
            p.trail { a href="/accounts" { "Accounts" } span.soft { " / " (kind_name(account.kind)) } }
            div.heading {
                h1 { (account.name) }
                div { (list::badge(person, account)) }
            }
            p.soft {
                @if !kept.is_empty() { (kept) }
                @if account.name != account.bank_name {
                    @if !kept.is_empty() { ", " }
                    "named " (account.bank_name) " by your bank"
                }
            }
        }
        @if let Some(wrong) = wrong { (wrong.summary()) }
        @if account.closed_on.is_none() && let Some(issue) = AccountIssue::of(account, now) {
            p.warning {
                (issue.description())
                @if let Some(at) = account.balance_as_of {
                    " Data from " (person.view.reported_day(at)) "."
                }
                " " (issue.advice(account))
            }
        }
    }
}

fn balance(person: &Person, account: &Account, chart: &Chart, span: Span) -> Markup {
    let view = person.view;
    let money = |minor: i64| Money::new(minor, account.currency);
    let label = if account.kind.is_debt() { "Owed" } else { "Balance" };
    html! {
        section.card aria-labelledby="balance" {
            header {
                div {
                    h2.label id="balance" { (label) }
                    p.big { (view.money_or_unknown(account.balance_current_minor.map(money))) }
                    p.soft { (since(view, account)) }
                }
                (ranges::links(&format!("/accounts/{}", account.id), span))
            }
            (facts(view, account))
            (line(view, account, chart))
        }
    }
}

fn since(view: View, account: &Account) -> Markup {
    html! {
        @if let Some(on) = account.closed_on {
            "Closed on " (view.day(on)) ". Its history is kept."
        } @else if let Some(at) = account.balance_as_of {
            "As of " (view.reported_day(at))
        }
    }
}

fn facts(view: View, account: &Account) -> Markup {
    let money = |minor: i64| view.money(Money::new(minor, account.currency));
    let mut facts: Vec<(&str, Markup)> = Vec::new();
    if let Some(minor) = account.balance_available_minor {
        facts.push(("Available", money(minor)));
    }
    if let Some(minor) = account.balance_limit_minor {
        facts.push(("Limit", money(minor)));
    }
    if let Some(rate) = account.interest_rate {
        facts.push(("Interest rate", html! { (rate.to_string()) "%" }));
    }
    if let Some(apy) = &account.apy_display {
        facts.push(("APY", html! { (apy) }));
    }
    facts.extend(debt::dates(view, account));
    html! {
        @if !facts.is_empty() {
            dl.numbers.amounts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
        }
    }
}

fn line(view: View, account: &Account, chart: &Chart) -> Markup {
    let points: Vec<Point> = chart.points.iter().map(Point::from).collect();
    let title = if account.kind.is_debt() { "Owed over time" } else { "Balance over time" };
    html! {
        @if points.len() > 1 {
            (Line { title, currency: account.currency, points: &points }.draw(view))
        } @else {
            p.soft { "The chart appears once we have balances for two days." }
        }
    }
}

fn unexplained(view: View, account: &Account, chart: &Chart) -> Markup {
    html! {
        @if !chart.unexplained.is_empty() {
            section.card aria-labelledby="unexplained" {
                h2 id="unexplained" { "Unexplained balance changes" }
                p.soft {
                    "On these days the balance changed without a matching transaction. A statement may be missing."
                }
                ul.rows {
                    @for (on, minor) in chart.unexplained.iter().take(UNEXPLAINED_SHOWN) {
                        li {
                            span.what { (view.day(*on)) }
                            (view.signed(Money::new(*minor, account.currency)))
                        }
                    }
                }
            }
        }
    }
}

/// The holdings of an investment account, most valuable first.
async fn holdings(person: &Person, id: AccountId) -> service::Result<Investments> {
    let order = Order { asset_class: None, sort_by: SortBy::CurrentValue, descending: true };
    investments::list(person.app(), &person.caller, Some(id), order).await
}

fn holdings_card(person: &Person, account: &Account, found: &Investments) -> Markup {
    let holdings: Vec<&Holding> =
        found.portfolio.groups.iter().flat_map(|it| &it.holdings).collect();
    html! {
        section.card aria-labelledby="holdings" {
            header {
                h2 id="holdings" { "Holdings" }
                a.more href="/investments" { "All investments" }
            }
            @if holdings.is_empty() {
                p.soft { "Your bank or file reports no holdings for this account, only its balance." }
            } @else {
                (holdings_table(person.view, &account.name, &holdings))
            }
        }
    }
}

/// The newest transactions as table rows, grouped by day.
async fn last_transactions(person: &Person, id: AccountId) -> service::Result<Vec<Markup>> {
    let filter = Filter { account_id: Some(id), ..Filter::default() };
    let page = Page { cursor: None, limit: TRANSACTIONS_SHOWN };
    let (view, mut rows, mut day) = (person.view, Vec::new(), None);
    transactions::list(person.app(), &person.caller, &filter, page, |it| {
        let class = match (it.pending, it.is_internal_transfer) {
            (true, _) => "pending",
            (false, true) => "transfer",
            (false, false) => "",
        };
        let new_day = day.replace(it.posted_on_days) != Some(it.posted_on_days);
        rows.push(html! {
            @if new_day {
                tr.date {
                    th colspan="2" scope="colgroup" { (view.day(date_from_days(it.posted_on_days))) }
                }
            }
            tr.(class) {
                th scope="row" {
                    a href={ "/transactions/" (it.id) } { (it.counterparty.unwrap_or(it.description)) }
                    @if it.pending { " " span.badge { "Pending" } }
                    @if let Some(category) = it.category { span.soft { (category.label()) } }
                }
                td.figure { (view.signed(it.amount)) }
            }
        });
    })
    .await?;
    Ok(rows)
}

fn recent(account: &Account, rows: &[Markup]) -> Markup {
    html! {
        section.card aria-labelledby="happened" {
            header {
                h2 id="happened" { "Transactions" }
                a.more href={ "/transactions?account=" (account.id) } { "View all" }
            }
            @if rows.is_empty() {
                p.soft { "No transactions yet." }
            } @else {
                table.happened {
                    thead {
                        tr {
                            th scope="col" { "Description" }
                            th.figure scope="col" { "Amount" }
                        }
                    }
                    tbody { @for row in rows { (row) } }
                }
            }
        }
    }
}
