//! Search over everything: pages, things to do, accounts, goals, categories and transactions. The search dialog shows the same.

use axum::extract::RawQuery;
use base::category::Category;
use maud::{Markup, html};
use service::ledger::accounts::{self, Status};
use service::ledger::goals;
use service::ledger::transactions::Filter;

use super::app_page::AppPage;
use super::errors::PageResult;
use super::fields::{Field, FormError};
use super::icons;
use super::navigation::{self, NavItem};
use super::person::Person;
use super::transactions::recent::Recent;
use super::{settings, urls};

const ACCOUNTS_MAX: usize = 5;
const GOALS_MAX: usize = 5;
const CATEGORIES_MAX: usize = 4;
const TRANSACTIONS_MAX: usize = 6;
const TEXT_MAX: usize = 100;

/// Things to do that have a page of their own.
const ACTIONS: [(&str, &str); 10] = [
    ("Import bank files", "/import"),
    ("Connect a bank", "/connections/add"),
    ("Add a manual account", "/accounts/new"),
    ("Create goal", "/goals/new"),
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
    actions: Vec<(&'static str, &'static str)>,
    accounts: Vec<(String, String)>,
    goals: Vec<(String, String)>,
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
        let accounts = accounts
            .into_iter()
            .filter(|it| matches(&it.name) || it.institution_name.as_deref().is_some_and(matches));
        let goals = goals::list(person.app(), &person.caller, None).await?;
        let goals = goals.into_iter().filter(|it| matches(&it.name));
        let by_text = Filter { q: Some(text.to_owned()), ..Filter::default() };
        Ok(Found {
            pages,
            actions: ACTIONS.into_iter().filter(|(name, _)| matches(name)).collect(),
            accounts: accounts
                .take(ACCOUNTS_MAX)
                .map(|it| (it.name, format!("/accounts/{}", it.id)))
                .collect(),
            goals: goals.take(GOALS_MAX).map(|it| (it.name, format!("/goals/{}", it.id))).collect(),
            categories: Category::ALL
                .into_iter()
                .filter(|it| matches(it.label()))
                .take(CATEGORIES_MAX)
                .collect(),
            transactions: Some(Recent::find(person, &by_text, TRANSACTIONS_MAX).await?),
        })
    }

    fn show(&self, person: &Person, text: &str) -> Markup {
        let links = |title: &str, found: &[(&'static str, &'static str)]| {
            html! {
                @if !found.is_empty() {
                    h2 { (title) }
                    ul.rows { @for (name, href) in found { li { a href=(href) { (name) } } } }
                }
            }
        };
        let is_empty = self.pages.is_empty()
            && self.actions.is_empty()
            && self.accounts.is_empty()
            && self.goals.is_empty()
            && self.categories.is_empty()
            && self.transactions.as_ref().is_none_or(Recent::is_empty);
        html! {
            @if is_empty { p.soft { "Nothing found for “" (text) "”." } }
            (links("Pages", &self.pages))
            (links("Actions", &self.actions))
            @for (title, found) in [("Accounts", &self.accounts), ("Goals", &self.goals)] {
                @if !found.is_empty() {
                    h2 { (title) }
                    ul.rows { @for (name, href) in found { li { a href=(href) { (name) } } } }
                }
            }
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
