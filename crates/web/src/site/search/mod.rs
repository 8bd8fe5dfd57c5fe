//! Search over everything: pages, things to do, accounts, recurring payments, goals, rules, categories and transactions.
//! The search dialog shows the same.

mod switches;

use axum::extract::RawQuery;
use base::category::Category;
use maud::{Markup, html};
use service::classify::rules;
use service::insights::recurring;
use service::ledger::accounts::{self, Account, ConnectionStatus, Status};
use service::ledger::goals;
use service::ledger::transactions::Filter;

use crate::site::app_page::AppPage;
use crate::site::errors::PageResult;
use crate::site::fields::{Field, FormError};
use crate::site::icons;
use crate::site::navigation::{self, NavItem};
use crate::site::person::Person;
use crate::site::transactions::recent::Recent;
use crate::site::{settings, urls};
use switches::Switch;

const ACCOUNTS_MAX: usize = 5;
const GOALS_MAX: usize = 5;
const STREAMS_MAX: usize = 5;
const RULES_MAX: usize = 5;
const CATEGORIES_MAX: usize = 4;
const TRANSACTIONS_MAX: usize = 6;
const TEXT_MAX: usize = 100;

/// Things to do that have a page of their own.
const ACTIONS: [(&str, &str); 11] = [
    ("Import bank files", "/import"),
    ("Connect a bank", "/connections/add"),
    ("Add a manual account", "/accounts/new"),
    ("Create goal", "/goals/new"),
    ("New rule", "/settings/rules/new"),
    ("Create API key", "/settings/keys"),
    ("Add webhook endpoint", "/settings/webhooks"),
    ("Download your data", "/settings/data"),
    ("Change password", "/settings/security"),
    ("Add a passkey", "/settings/security"),
    ("Change currency or time zone", "/settings"),
];

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let asked = query.as_deref().and_then(|it| urls::find_param(it, "q")).unwrap_or_default();
    let text: String = asked.trim().chars().take(TEXT_MAX).collect();
    let found = Found::read(&person, &text).await?;
    let main = html! {
        h1 { "Search" }
        form method="get" action="/search" role="search" {
            div.ask {
                (Field::text("q", "Search everything", &text).kind("search").optional().show(&FormError::default()))
                button.primary type="submit" { "Search" }
            }
        }
        div data-results { (found.show(&person, &text)) }
    };
    Ok(AppPage::new(NavItem::Nowhere, "Search").page(&person, main))
}

/// What a text was found in. An empty text finds the pages.
#[derive(Default)]
struct Found {
    pages: Vec<(&'static str, &'static str)>,
    actions: Vec<(String, String)>,
    switches: Vec<Switch>,
    /// The names and addresses of the person's own things, by their kind.
    own: Vec<(&'static str, Vec<(String, String)>)>,
    categories: Vec<Category>,
    transactions: Option<Recent>,
}

impl Found {
    async fn read(person: &Person, text: &str) -> service::Result<Found> {
        let sought = text.to_lowercase();
        let matches = |name: &str| name.to_lowercase().contains(&sought);
        let mut pages: Vec<_> = navigation::pages().filter(|(name, _)| matches(name)).collect();
        if text.is_empty() {
            return Ok(Found { pages, ..Found::default() });
        }
        let settings = settings::pages(person).filter(|(name, _)| matches(name));
        let settings: Vec<_> =
            settings.filter(|(_, href)| pages.iter().all(|it| it.1 != *href)).collect();
        pages.extend(settings);
        let all = accounts::Filter { status: Status::All, include_hidden: false };
        let accounts = accounts::list(person.app(), &person.caller, all).await?;
        let mut actions: Vec<(String, String)> =
            ACTIONS.into_iter().map(|(name, href)| (name.to_owned(), href.to_owned())).collect();
        actions.extend(accounts.iter().filter(|it| takes_transactions(it)).map(|it| {
            (format!("Add a transaction to {}", it.name), format!("/accounts/{}#write", it.id))
        }));
        actions.retain(|(name, _)| matches(name));
        let by_text = Filter { q: Some(text.to_owned()), ..Filter::default() };
        Ok(Found {
            pages,
            actions,
            switches: Switch::offered(person).filter(|it| matches(it.name)).collect(),
            own: own(person, accounts, &matches).await?,
            categories: Category::ALL
                .into_iter()
                .filter(|it| matches(it.label()))
                .take(CATEGORIES_MAX)
                .collect(),
            transactions: Some(Recent::find(person, &by_text, TRANSACTIONS_MAX).await?),
        })
    }

    fn show(&self, person: &Person, text: &str) -> Markup {
        let is_empty = self.pages.is_empty()
            && self.actions.is_empty()
            && self.switches.is_empty()
            && self.own.iter().all(|(_, found)| found.is_empty())
            && self.categories.is_empty()
            && self.transactions.as_ref().is_none_or(Recent::is_empty);
        html! {
            @if is_empty { p.soft { "Nothing found for “" (text) "”." } }
            (links("Pages", &self.pages))
            @if !self.actions.is_empty() || !self.switches.is_empty() {
                h2 { "Actions" }
                ul.rows {
                    @for (name, href) in &self.actions { li { a href=(href) { (name) } } }
                    @for it in &self.switches { li { (it.button(person)) } }
                }
            }
            @for (title, found) in &self.own { (links(title, found)) }
            @if !self.categories.is_empty() {
                h2 { "Categories" }
                ul.rows {
                    @for it in &self.categories {
                        li {
                            span.what.marked {
                                (icons::primary_mark(it.primary()))
                                a href={ "/transactions" (urls::query_string(&[("category", it.detailed())])) } { (it.label()) }
                            }
                        }
                    }
                }
            }
            @if let Some(found) = self.transactions.as_ref().filter(|it| !it.is_empty()) {
                h2 { "Transactions" }
                (found.list(person))
                p { a href={ "/transactions" (urls::query_string(&[("q", text)])) } { "All matching transactions" } }
            }
        }
    }
}

fn links<T: AsRef<str>>(title: &str, found: &[(T, T)]) -> Markup {
    html! {
        @if !found.is_empty() {
            h2 { (title) }
            ul.rows { @for (name, href) in found { li { a href=(href.as_ref()) { (name.as_ref()) } } } }
        }
    }
}

/// Whether the person enters the transactions of an account.
fn takes_transactions(account: &Account) -> bool {
    account.connection_status == ConnectionStatus::Manual && account.closed_on.is_none()
}

/// The person's own things whose name matches.
async fn own(
    person: &Person,
    accounts: Vec<Account>,
    matches: &(impl Fn(&str) -> bool + Sync),
) -> service::Result<Vec<(&'static str, Vec<(String, String)>)>> {
    let (app, caller) = (person.app(), &person.caller);
    let all = recurring::Filter { status: None, account_id: None, direction: None };
    let (goals, streams, rules) = tokio::try_join!(
        goals::list(app, caller, None),
        recurring::list(app, caller, all),
        rules::list(app, caller),
    )?;
    let accounts = accounts
        .into_iter()
        .filter(|it| matches(&it.name) || it.institution_name.as_deref().is_some_and(matches));
    let accounts = accounts.map(|it| (it.name, format!("/accounts/{}", it.id)));
    let streams = streams.streams.into_iter().filter(|(it, _)| matches(&it.name));
    let streams = streams.map(|(it, _)| (it.name, format!("/recurring/{}", it.id)));
    let goals = goals.into_iter().filter(|it| matches(&it.name));
    let goals = goals.map(|it| (it.name, format!("/goals/{}", it.id)));
    let rules = rules.into_iter().filter_map(|rule| {
        let names = [rule.merchant, rule.words, rule.counterparty];
        let name = names.into_iter().flatten().find(|it| matches(it))?;
        Some((format!("Rule for {name}"), format!("/settings/rules/{}", rule.id)))
    });
    Ok(vec![
        ("Accounts", accounts.take(ACCOUNTS_MAX).collect()),
        ("Recurring payments", streams.take(STREAMS_MAX).collect()),
        ("Goals", goals.take(GOALS_MAX).collect()),
        ("Rules", rules.take(RULES_MAX).collect()),
    ])
}
