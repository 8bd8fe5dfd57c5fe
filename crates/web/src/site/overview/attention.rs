//! Overview cards for what needs attention: approvals, connections, missed bills, expiring benefits and upcoming bills.

use base::{Date, Money, days_from_date};
use maud::{Markup, html};
use service::insights::recurring::{Status, Stream};
use service::ledger::Direction;
use service::ledger::accounts::Account;

use super::OverviewData;
use crate::site::accounts::AccountIssue;
use crate::site::format::{View, plural};
use crate::site::person::Person;
use crate::site::webhooks;

const BILL_DAYS: i64 = 14;
/// How long a missed bill or a price change is shown.
const NEWS_DAYS: i64 = 31;
/// The maximum number of rows of each kind.
const SHOWN_MAX: usize = 5;

pub(super) fn card(person: &Person, data: &OverviewData) -> Markup {
    let view = person.view;
    let rows: Vec<Markup> = [
        pending(data.pending_actions),
        connections(person, &data.accounts),
        endpoints(data),
        late_backup(data),
        outdated_splits(data),
        missed(view, data),
        rises(view, data),
        expiring(view, data),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        section.card aria-labelledby="needs" {
            h2 id="needs" { "Needs attention" }
            @if rows.is_empty() {
                p.soft { "Nothing needs your attention." }
            } @else {
                ul.rows { @for row in &rows { (row) } }
            }
        }
    }
}

fn pending(count: i64) -> Vec<Markup> {
    let row = html! {
        li {
            span.what {
                a href="/approvals" { (plural(count, "proposal", "proposals")) }
                span.soft { "Nothing happens until you approve." }
            }
            span.badge.warn { "Review" }
        }
    };
    if count > 0 { vec![row] } else { Vec::new() }
}

/// One row for each institution with outdated or failed connections.
fn connections(person: &Person, accounts: &[Account]) -> Vec<Markup> {
    let now = person.app().clock.now();
    let shown = accounts.iter().filter(|it| it.hidden_at.is_none() && it.closed_on.is_none());
    let mut groups: Vec<(AccountIssue, Vec<&Account>)> = Vec::new();
    for account in shown {
        let Some(issue) = AccountIssue::of(account, now) else { continue };
        match groups.iter_mut().find(|(it, of)| {
            *it == issue
                && of[0].institution_name == account.institution_name
                && (account.institution_name.is_some())
        }) {
            Some((_, of)) => of.push(account),
            None => groups.push((issue, vec![account])),
        }
    }
    groups.iter().map(|(issue, of)| connection(person.view, *issue, of)).collect()
}

fn connection(view: View, issue: AccountIssue, of: &[&Account]) -> Markup {
    let (first, count) = (of[0], of.len() as i64);
    let href = if count == 1 { format!("/accounts/{}", first.id) } else { "/accounts".to_owned() };
    let name = first.institution_name.as_deref().unwrap_or(&first.name);
    let since = of.iter().filter_map(|it| it.balance_as_of).min();
    html! {
        li {
            span.what {
                a href=(href) { (name) }
                @if count > 1 { " " span.count { (plural(count, "account", "accounts")) } }
                span.soft {
                    (issue.description())
                    @if let Some(at) = since { " Data from " (view.reported_day(at)) "." }
                    " " (issue.advice(first))
                }
            }
            span.badge.warn { (issue.name()) }
        }
    }
}

/// Webhook endpoints that were disabled because of failures.
fn endpoints(data: &OverviewData) -> Vec<Markup> {
    let row = |it: &service::webhooks::Endpoint| {
        html! {
            li {
                span.what {
                    a href={ "/settings/webhooks/" (it.id) } { (it.url) }
                    span.soft { (webhooks::disabled_text(it).unwrap_or_default()) }
                }
                span.badge.warn { "Disabled" }
            }
        }
    };
    let lost = data.endpoints.iter().filter(|it| webhooks::needs_attention(it));
    lost.take(SHOWN_MAX).map(row).collect()
}

fn late_backup(data: &OverviewData) -> Vec<Markup> {
    let row = html! {
        li {
            span.what {
                a href="/settings/backups" { "Backups" }
                span.soft { "The next backup is late." }
            }
            span.badge.warn { "Late" }
        }
    };
    if data.is_backup_late { vec![row] } else { Vec::new() }
}

/// Transactions whose amount changed after the person split them.
fn outdated_splits(data: &OverviewData) -> Vec<Markup> {
    let count = data.outdated_splits.len() as i64;
    let Some(first) = data.outdated_splits.first() else { return Vec::new() };
    vec![html! {
        li {
            span.what {
                a href={ "/transactions/" (first) } { (plural(count, "split transaction", "split transactions")) }
                span.soft { "The amount changed, so the split no longer counts." }
            }
            span.badge.warn { "Check" }
        }
    }]
}

fn outflows(data: &OverviewData) -> impl Iterator<Item = (&Stream, &str)> {
    let active = |it: &&(Stream, String)| {
        it.0.direction == Direction::Outflow && it.0.status == Status::Active
    };
    data.streams.streams.iter().filter(active).map(|(it, account)| (it, account.as_str()))
}

fn is_news(view: View, on: Date) -> bool {
    (0..=NEWS_DAYS).contains(&(days_from_date(view.today) - days_from_date(on)))
}

fn missed(view: View, data: &OverviewData) -> Vec<Markup> {
    let late = outflows(data).filter_map(|(it, account)| {
        let on = it.missed_on.iter().copied().max()?;
        (on > it.last_on && is_news(view, on)).then_some((on, it, account))
    });
    let row = |(on, stream, account): (Date, &Stream, &str)| {
        html! {
            li {
                span.what {
                    a href={ "/recurring/" (stream.id) } { (stream.name) }
                    span.soft {
                        "Expected " (view.relative_day(on)) " from " (account) " but not found. Check if it was paid."
                    }
                }
                span.badge.warn { "Missed" }
            }
        }
    };
    late.map(row).take(SHOWN_MAX).collect()
}

fn rises(view: View, data: &OverviewData) -> Vec<Markup> {
    let risen = outflows(data).filter_map(|(it, _)| {
        let last = it.price_changes.iter().max_by_key(|change| change.on)?;
        let has_risen = last.to_minor.saturating_abs() > last.from_minor.saturating_abs();
        (has_risen && is_news(view, last.on)).then_some((it, last))
    });
    let rows = risen.map(|(stream, change)| {
        let money = |minor: i64| Money::new(minor.saturating_abs(), stream.currency);
        html! {
            li {
                span.what {
                    a href={ "/recurring/" (stream.id) } { (stream.name) }
                    span.soft {
                        "Price increased " (view.relative_day(change.on)) ", was " (view.money(money(change.from_minor))) "."
                    }
                }
                (view.money(money(change.to_minor)))
            }
        }
    });
    rows.take(SHOWN_MAX).collect()
}

fn expiring(view: View, data: &OverviewData) -> Vec<Markup> {
    let benefits = &data.expiring.benefits;
    let row = |benefit: &wire::v1::Benefit| {
        let currency = base::Currency::parse(&benefit.currency).unwrap_or(data.worth.currency);
        html! {
            li {
                span.what {
                    a href="/benefits" { (benefit.name) }
                    span.soft {
                        (benefit.account_name) ". Use it by " (view.relative_day(benefit.expires_on.0)) "."
                    }
                }
                span { (view.decimal(&benefit.remaining_amount, currency)) span.soft { "left" } }
            }
        }
    };
    let mut rows: Vec<Markup> = benefits.iter().take(SHOWN_MAX).map(row).collect();
    if let Some(more) = benefits.len().checked_sub(SHOWN_MAX).filter(|it| *it > 0) {
        rows.push(html! {
            li { a href="/benefits" { (plural(more as i64, "more benefit", "more benefits")) " expiring soon" } }
        });
    }
    rows
}

/// Bills that are late or due within two weeks, the earliest first.
pub(super) fn bills(person: &Person, data: &OverviewData) -> Markup {
    let view = person.view;
    let due = |it: &Stream| {
        let days = days_from_date(it.next_expected_on?) - days_from_date(view.today);
        (days <= BILL_DAYS).then_some(it.next_expected_on?)
    };
    let mut soon: Vec<(Date, &Stream, &str)> =
        outflows(data).filter_map(|(it, account)| Some((due(it)?, it, account))).collect();
    soon.sort_by_key(|(on, it, _)| (*on, it.id));
    html! {
        section.card aria-labelledby="bills" {
            header { h2 id="bills" { "Upcoming bills" } a.more href="/recurring" { "View all" } }
            @if outflows(data).next().is_none() {
                p.soft {
                    "Bills and subscriptions appear here after about three payments."
                }
            } @else if soon.is_empty() {
                p.soft { "Nothing is due in the next two weeks." }
            }
            @if !soon.is_empty() {
                ul.rows {
                    @for (on, stream, account) in soon.iter().take(BILLS_MAX) { (bill(view, *on, stream, account)) }
                }
            }
        }
    }
}

const BILLS_MAX: usize = 8;

fn bill(view: View, on: Date, stream: &Stream, account: &str) -> Markup {
    let amount = Money::new(stream.expected_minor().saturating_abs(), stream.currency);
    html! {
        li {
            span.what {
                a href={ "/recurring/" (stream.id) } { (stream.name) }
                span.soft { (view.relative_day(on)) ", from " (account) }
            }
            span {
                @if on < view.today { span.badge.warn { "Late" } " " }
                @if stream.is_amount_estimated() { span.soft.about { "about " } }
                (view.money(amount))
            }
        }
    }
}
