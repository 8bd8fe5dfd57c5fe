//! The list of accounts by type, with a total for each type.

use axum::extract::RawQuery;
use base::Money;
use base::draft::AccountKind;
use maud::{Markup, html};
use service::ledger::accounts::{self, Account, Filter, Status};
use service::ledger::net_worth::{self, NetWorth};

use super::{AccountIssue, institution_label, kind_name, signed_balance};
use crate::site::app_page::AppPage;
use crate::site::errors::PageResult;
use crate::site::excluded;
use crate::site::format::plural;
use crate::site::icons;
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::urls;

pub(in crate::site) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let show_all = query.and_then(|it| urls::find_param(&it, "show")).as_deref() == Some("all");
    let (app, caller) = (person.app(), &person.caller);
    let filter = Filter { status: Status::All, include_hidden: true };
    let (accounts, worth) =
        tokio::try_join!(accounts::list(app, caller, filter), net_worth::get(app, caller))?;
    let main =
        if accounts.is_empty() { empty() } else { page(&person, &accounts, &worth, show_all) };
    Ok(AppPage::new(NavItem::Accounts, "Accounts").page(&person, main))
}

fn empty() -> Markup {
    html! {
        h1 { "Accounts" }
        div.empty {
            h2 { "No accounts yet" }
            p { "Your accounts will appear here by type, with their balances." }
            a.button href="/import" { "Import bank files" }
            " " a href="/accounts/new" { "Add a manual account" }
        }
    }
}

fn is_hidden_or_closed(account: &Account) -> bool {
    account.hidden_at.is_some() || account.closed_on.is_some()
}

fn page(person: &Person, accounts: &[Account], worth: &NetWorth, show_all: bool) -> Markup {
    let view = person.view;
    let hidden = accounts.iter().filter(|it| is_hidden_or_closed(it)).count();
    let open = accounts.len() - hidden;
    let total = worth.minor().map(|it| Money::new(it, worth.currency));
    html! {
        div.heading {
            h1 { "Accounts" }
            span {
                a href="/import" { "Import files" } " or "
                a href="/accounts/new" { "add a manual account" }
            }
        }
        p {
            (plural(open as i64, "open account", "open accounts")) ", total "
            a href="/" { strong { (view.money_or_unknown(total)) } } "."
        }
        (excluded::note(view, &worth.excluded))
        (excluded::rates(view, worth.currency, &worth.rates))
        @for kind in AccountKind::ALL { (section(person, accounts, worth, (*kind, show_all))) }
        @if hidden > 0 {
            p {
                @if show_all {
                    a href="/accounts" { "Hide closed and hidden accounts" }
                } @else {
                    a href="/accounts?show=all" {
                        "Show " (plural(hidden as i64, "hidden or closed account", "hidden or closed accounts"))
                    }
                }
            }
        }
    }
}

fn section(
    person: &Person,
    accounts: &[Account],
    worth: &NetWorth,
    (kind, show_all): (AccountKind, bool),
) -> Markup {
    let shown = |it: &&Account| it.kind == kind && (show_all || !is_hidden_or_closed(it));
    let shown: Vec<&Account> = accounts.iter().filter(shown).collect();
    let part = worth.parts.iter().find(|it| it.kind == kind);
    html! {
        @if !shown.is_empty() {
            section.card id=(kind.as_str()) aria-label=(kind_name(kind)) {
                header {
                    h2 { (kind_name(kind)) }
                    @if let Some(part) = part {
                        strong {
                            (person.view.money_or_unknown(part.minor.map(|it| Money::new(it, worth.currency))))
                        }
                    }
                }
                ul.rows { @for account in shown { (row(person, account)) } }
            }
        }
    }
}

fn row(person: &Person, account: &Account) -> Markup {
    let view = person.view;
    html! {
        li {
            span.what.marked {
                (icons::initials_mark(account.institution_name.as_deref().unwrap_or(&account.name)))
                span {
                    a href={ "/accounts/" (account.id) } { (account.name) } " " (badge(person, account))
                    span.soft { (institution_label(account)) }
                }
            }
            span {
                (view.money_or_unknown(signed_balance(account)))
                span.soft {
                    @if let Some(at) = account.balance_as_of { (view.reported_day(at)) }
                }
            }
        }
    }
}

/// The status badge of an account: closed, hidden or a problem.
pub(super) fn badge(person: &Person, account: &Account) -> Markup {
    let now = person.app().clock.now();
    html! {
        @if account.closed_on.is_some() {
            span.badge { "Closed" }
        } @else if let Some(issue) = AccountIssue::of(account, now) {
            span.badge.warn { (issue.name()) }
        }
        @if account.hidden_at.is_some() { " " span.badge { "Hidden" } }
    }
}
