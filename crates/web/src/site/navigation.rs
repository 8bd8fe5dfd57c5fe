//! The navigation of the signed-in pages: groups beside the page on wide screens, five tabs on phones.

use maud::{Markup, html};

use super::icons::{self, Icon};
use super::person::Person;
use super::{fields, logo};

/// The navigation entry that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NavItem {
    Overview,
    Accounts,
    Transactions,
    Spending,
    Recurring,
    Income,
    Investments,
    Goals,
    Scores,
    Benefits,
    Approvals,
    Paper,
    Assistants,
    Connections,
    Import,
    Rules,
    Settings,
    /// A page without an entry, such as an error.
    Nowhere,
}

/// A page with its icon, path and name.
type Entry = (NavItem, Icon, &'static str, &'static str);

const SETTINGS: Entry = (NavItem::Settings, icons::SETTINGS, "/settings", "Settings");

/// The groups with their entries.
const GROUPS: [(&str, &[Entry]); 4] = [
    (
        "Money",
        &[
            (NavItem::Overview, icons::OVERVIEW, "/", "Overview"),
            (NavItem::Accounts, icons::ACCOUNTS, "/accounts", "Accounts"),
            (NavItem::Transactions, icons::TRANSACTIONS, "/transactions", "Transactions"),
            (NavItem::Spending, icons::SPENDING, "/spending", "Spending"),
            (NavItem::Recurring, icons::RECURRING, "/recurring", "Recurring"),
            (NavItem::Income, icons::INCOME, "/income", "Income"),
        ],
    ),
    (
        "Wealth",
        &[
            (NavItem::Investments, icons::INVESTMENTS, "/investments", "Investments"),
            (NavItem::Goals, icons::GOALS, "/goals", "Goals"),
            (NavItem::Scores, icons::SCORES, "/scores", "Scores"),
            (NavItem::Benefits, icons::BENEFITS, "/benefits", "Benefits"),
        ],
    ),
    (
        "Approvals",
        &[
            (NavItem::Approvals, icons::APPROVALS, "/approvals", "Inbox"),
            (NavItem::Paper, icons::PAPER, "/paper", "Paper trading"),
            (NavItem::Assistants, icons::ASSISTANTS, "/settings/assistants", "Assistants"),
        ],
    ),
    (
        "Data",
        &[
            (NavItem::Connections, icons::CONNECTIONS, "/connections", "Connections"),
            (NavItem::Import, icons::IMPORT, "/import", "Import"),
            (NavItem::Rules, icons::RULES, "/settings/rules", "Rules"),
        ],
    ),
];

/// The tabs on phones; the fifth is "More".
const TABS: [Entry; 4] = [
    (NavItem::Overview, icons::OVERVIEW, "/", "Overview"),
    (NavItem::Transactions, icons::TRANSACTIONS, "/transactions", "Transactions"),
    (NavItem::Spending, icons::SPENDING, "/spending", "Spending"),
    (NavItem::Approvals, icons::APPROVALS, "/approvals", "Approvals"),
];

/// The names and paths of all pages in the navigation.
pub(super) fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    let entries = GROUPS.into_iter().flat_map(|(_, entries)| entries.iter().copied());
    entries.chain([SETTINGS]).map(|(_, _, href, name)| (name, href))
}

/// The sidebar on wide screens, and the menu behind "More" on narrow ones.
pub(super) fn sidebar(place: NavItem, person: &Person) -> Markup {
    html! {
        aside.sidebar id="menu" aria-label="Menu" popover {
            a.brand href="/" { (logo::svg()) span { "Evenkeel" } }
            nav aria-label="Pages" {
                @for (name, entries) in GROUPS {
                    div.pages-of {
                        p.label id={ "nav-" (name) } { (name) }
                        ul aria-labelledby={ "nav-" (name) } { @for it in entries { (entry(place, person, *it)) } }
                    }
                }
                ul.lower {
                    (entry(place, person, SETTINGS))
                    li { a href="/docs/start" { (icons::API.draw()) span { "Use the API" } } }
                    li {
                        (fields::form("/sign-out", &person.form_token, html! {
                            button.link type="submit" { (icons::SIGN_OUT.draw()) span { "Sign out" } }
                        }))
                    }
                }
            }
        }
    }
}

/// The bar at the bottom on phones.
pub(super) fn tabs(place: NavItem, person: &Person) -> Markup {
    // A page that has no tab of its own is found under "More".
    let is_more = place != NavItem::Nowhere && TABS.iter().all(|it| it.0 != place);
    let current = is_more.then_some("true");
    html! {
        nav.near aria-label="Most used pages" {
            ul {
                @for it in TABS { (entry(place, person, it)) }
                li { button type="button" popovertarget="menu" aria-current=[current] { (icons::MORE.draw()) span { "More" } } }
            }
        }
    }
}

fn entry(place: NavItem, person: &Person, (item, icon, href, name): Entry) -> Markup {
    let current = (place == item).then_some("page");
    html! {
        li {
            a href=(href) aria-current=[current] {
                (icon.draw())
                span { (name) }
                @if item == NavItem::Approvals { (pending_badge(person.pending)) }
            }
        }
    }
}

/// The number of pending approvals. The live script keeps it up to date.
fn pending_badge(pending: i64) -> Markup {
    let hidden = pending == 0;
    html! {
        span.waiting data-waiting hidden[hidden] {
            " " span.number { (pending) } span.hush { " waiting for you" }
        }
    }
}
