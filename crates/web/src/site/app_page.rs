//! The frame of the signed-in pages: where one is, where one can go, and what the page before wanted to say.

use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

use super::assets::Asset;
use super::format::{Theme, View};
use super::person::Person;
use super::visitor::Visitor;
use super::{cookies, fields, logo, urls};

/// The entry of the navigation that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NavItem {
    Overview,
    Approvals,
    Accounts,
    Transactions,
    Investments,
    Paper,
    Goals,
    Recurring,
    Income,
    Scores,
    Benefits,
    Import,
    Connections,
    Settings,
}

const NAV_ITEMS: [(NavItem, &str, &str); 14] = [
    (NavItem::Overview, "/", "Overview"),
    (NavItem::Approvals, "/approvals", "Approvals"),
    (NavItem::Accounts, "/accounts", "Accounts"),
    (NavItem::Transactions, "/transactions", "Transactions"),
    (NavItem::Investments, "/investments", "Investments"),
    (NavItem::Paper, "/paper", "Paper trading"),
    (NavItem::Goals, "/goals", "Goals"),
    (NavItem::Recurring, "/recurring", "Recurring"),
    (NavItem::Income, "/income", "Income"),
    (NavItem::Scores, "/scores", "Scores"),
    (NavItem::Benefits, "/benefits", "Benefits"),
    (NavItem::Import, "/import", "Import"),
    (NavItem::Connections, "/connections", "Connections"),
    (NavItem::Settings, "/settings", "Settings"),
];
/// Those within a thumb's reach on a phone; the rest is behind "More".
const BOTTOM_BAR_ITEMS: [NavItem; 4] =
    [NavItem::Overview, NavItem::Approvals, NavItem::Accounts, NavItem::Transactions];

pub(crate) struct AppPage<'a> {
    pub(crate) place: NavItem,
    pub(crate) title: &'a str,
    /// Beside the one that every page has.
    pub(crate) scripts: &'static [Asset],
    /// Whether what it shows is fetched anew when an action is made or moves.
    pub(crate) live: bool,
    /// Whether it shows work under way: without scripts it is asked for again every other second.
    pub(crate) waits: bool,
}

/// A page with one thing to decide.
pub(crate) struct Decision<'a> {
    pub(crate) status: StatusCode,
    pub(crate) title: &'a str,
    pub(crate) live: bool,
}

impl<'a> AppPage<'a> {
    pub(crate) fn new(place: NavItem, title: &'a str) -> AppPage<'a> {
        AppPage { place, title, scripts: &[], live: false, waits: false }
    }

    pub(crate) fn page(&self, person: &Person, main: Markup) -> Response {
        self.page_with(StatusCode::OK, person, main)
    }

    /// With a status of its own: a form that is shown again because something is wrong answers 400.
    pub(crate) fn page_with(&self, status: StatusCode, person: &Person, main: Markup) -> Response {
        let body = html! {
            body.app {
                a.skip href="#main" { "Skip to the content" }
                (self.side(person))
                div.content {
                    (top(person))
                    main id="main" tabindex="-1" data-live=[self.live.then_some("")] {
                        @if let Some(notice) = &person.notice {
                            p.notice role="status" { (notice) }
                        }
                        (main)
                    }
                }
                (self.near(person))
            }
        };
        let again = html! { noscript { meta http-equiv="refresh" content="2"; } };
        let head = if self.waits {
            again
        } else {
            html! {}
        };
        let page = document_with(person.view, self.title, self.scripts, &head, &body);
        let mut response = send(status, page);
        if person.notice.is_some() {
            clear_notice(person.public_url(), &mut response);
        }
        response
    }

    fn entry(&self, person: &Person, (place, href, name): (NavItem, &str, &str)) -> Markup {
        let current = (self.place == place).then_some("page");
        html! {
            li {
                a href=(href) aria-current=[current] {
                    (name)
                    @if place == NavItem::Approvals { (waiting(person.pending)) }
                }
            }
        }
    }

    /// Beside the page where there is room, and behind "More" where there is not.
    fn side(&self, person: &Person) -> Markup {
        html! {
            div.sidebar id="menu" popover {
                a.brand href="/" { (logo::svg()) span { "Evenkeel" } }
                nav aria-label="Pages" {
                    ul { @for place in NAV_ITEMS { (self.entry(person, place)) } }
                    ul.lower {
                        li { a href="/docs/start" { "Use the API" } }
                        li { (fields::button("/sign-out", &person.form_token, "Sign out", "link")) }
                    }
                }
            }
        }
    }

    fn near(&self, person: &Person) -> Markup {
        html! {
            nav.near aria-label="Most used pages" {
                ul {
                    @for place in NAV_ITEMS.into_iter().filter(|it| BOTTOM_BAR_ITEMS.contains(&it.0)) {
                        (self.entry(person, place))
                    }
                    li { button type="button" popovertarget="menu" { "More" } }
                }
            }
        }
    }
}

/// How many proposals wait, beside the word; the script of open pages keeps it true.
fn waiting(pending: i64) -> Markup {
    let hidden = pending == 0;
    html! {
        span.waiting data-waiting hidden[hidden] {
            " " span.number { (pending) } span.hush { " waiting for you" }
        }
    }
}

/// How one looks at pages: amounts hidden or shown, light or dark.
fn top(person: &Person) -> Markup {
    let view = person.view;
    let (hide, label) = match view.hide_amounts {
        true => ("0", "Show amounts"),
        false => ("1", "Hide amounts"),
    };
    let (theme, named) = match view.theme {
        Theme::System => (Theme::Dark, "Go dark"),
        Theme::Dark => (Theme::Light, "Go light"),
        Theme::Light => (Theme::System, "Follow the system"),
    };
    let switch = |name: &str, value: &str, label: &str| {
        let inner = html! {
            input type="hidden" name="next" value=(person.here);
            button.quiet type="submit" name=(name) value=(value) { (label) }
        };
        fields::form("/view", &person.form_token, inner)
    };
    html! {
        div.switches {
            (switch("hide", hide, label))
            (switch("theme", theme.as_str(), named))
        }
    }
}

/// A page with one thing to decide, and nothing else to press.
pub(crate) fn decision(status: StatusCode, person: &Person, title: &str, card: Markup) -> Response {
    send(status, document(person.view, title, &[], &lone(card, false)))
}

/// The same, with what the page before wanted to say, and kept true while it is open.
pub(crate) fn decision_with(person: &Person, about: &Decision<'_>, card: Markup) -> Response {
    let scripts = &[Asset::Passkeys];
    let page = document(person.view, about.title, scripts, &lone(card, about.live));
    let mut response = send(about.status, page);
    if person.notice.is_some() {
        clear_notice(person.public_url(), &mut response);
    }
    response
}

/// It is said once.
pub(super) fn clear_notice(public_url: &str, response: &mut Response) {
    let line = cookies::set(cookies::NOTICE, "", Some(0), cookies::is_secure(public_url));
    response.headers_mut().append(header::SET_COOKIE, line);
}

/// A page at the door: the mark and one card.
pub(crate) fn auth_page(
    visitor: &Visitor,
    title: &str,
    scripts: &[Asset],
    card: Markup,
) -> Response {
    auth_page_with(StatusCode::OK, visitor, title, scripts, card)
}

pub(crate) fn auth_page_with(
    status: StatusCode,
    visitor: &Visitor,
    title: &str,
    scripts: &[Asset],
    card: Markup,
) -> Response {
    visitor.remember(send(status, document(visitor.view, title, scripts, &lone(card, false))))
}

fn lone(card: Markup, live: bool) -> Markup {
    html! {
        body.single-card {
            main id="main" data-live=[live.then_some("")] {
                p.brand { (logo::svg()) span { "Evenkeel" } }
                div.card { (card) }
            }
        }
    }
}

pub(super) fn document(view: View, title: &str, scripts: &[Asset], body: &Markup) -> Markup {
    document_with(view, title, scripts, &html! {}, body)
}

fn document_with(
    view: View,
    title: &str,
    scripts: &[Asset],
    head: &Markup,
    body: &Markup,
) -> Markup {
    let theme = (view.theme != Theme::System).then_some(view.theme.as_str());
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                title { (title) " · Evenkeel" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex, nofollow";
                link rel="icon" type="image/svg+xml" href=(Asset::Logo.href());
                link rel="stylesheet" href=(Asset::Style.href());
                link rel="stylesheet" href=(Asset::App.href());
                script src=(Asset::Pages.href()) defer {}
                script src=(Asset::Live.href()) defer {}
                @for script in scripts { script src=(script.href()) defer {} }
                (head)
            }
            (body)
        }
    }
}

/// Pages with personal figures are kept by nobody.
pub(super) fn send(status: StatusCode, page: Markup) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "private, no-store"),
    ];
    (status, headers, page.into_string()).into_response()
}

/// What to do after a form did its work: go on, and say once what was done.
pub(crate) fn see_other(person: &Person, next: &str, said: &str) -> Response {
    redirect_with_notice(person.public_url(), next, said)
}

/// The same for whoever is not the person.
pub(super) fn redirect_with_notice(public_url: &str, next: &str, said: &str) -> Response {
    let mut response = Redirect::to(urls::local_path(next)).into_response();
    if !said.is_empty() {
        let secure = cookies::is_secure(public_url);
        let line = cookies::set(cookies::NOTICE, &urls::encode(said), Some(60), secure);
        response.headers_mut().append(header::SET_COOKIE, line);
    }
    let no_store = HeaderValue::from_static("private, no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, no_store);
    response
}
