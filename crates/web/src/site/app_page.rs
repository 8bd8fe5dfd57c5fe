//! The layout of the signed-in pages: navigation, display settings, messages and the content.

use axum::response::{IntoResponse as _, Redirect, Response};
use base::EditId;
use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

use super::assets::Asset;
use super::format::{Theme, View};
use super::navigation::{self, NavItem};
use super::person::Person;
use super::visitor::Visitor;
use super::{cookies, fields, logo, public_page, urls};

pub(crate) struct AppPage<'a> {
    pub(crate) place: NavItem,
    pub(crate) title: &'a str,
    /// Scripts in addition to those that every page loads.
    pub(crate) scripts: &'static [Asset],
    /// Whether the page refreshes itself when an action is proposed or changes.
    pub(crate) live: bool,
    /// Whether the page shows work in progress. Without scripts it reloads every two seconds.
    pub(crate) waits: bool,
}

/// Settings of a page with a single decision.
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

    /// Renders the page with a status. A form that is shown again with an error answers 400.
    pub(crate) fn page_with(&self, status: StatusCode, person: &Person, main: Markup) -> Response {
        let body = html! {
            body.app {
                a.skip href="#main" { "Skip to content" }
                (navigation::sidebar(self.place, person))
                div.content {
                    (top(person))
                    main id="main" tabindex="-1" data-live=[self.live.then_some("")] {
                        (notice(person))
                        (main)
                    }
                    (foot())
                }
                (navigation::tabs(self.place, person))
                (palette())
                (shortcuts())
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
        if person.chose_range() {
            let secure = cookies::is_secure(person.public_url());
            let age = Some(cookies::YEAR_SECONDS);
            let line = cookies::set(cookies::RANGE, person.range.as_str(), age, secure);
            response.headers_mut().append(header::SET_COOKIE, line);
        }
        response
    }
}

/// The message of the previous page, with a button to undo the edit that it is about.
fn notice(person: &Person) -> Markup {
    let undo = |edit: &EditId| {
        let inner = html! {
            input type="hidden" name="next" value=(person.here);
            button.link type="submit" { "Undo" }
        };
        fields::form(&format!("/transactions/edits/{edit}/undo"), &person.form_token, inner)
    };
    html! {
        @match (&person.notice, &person.undo) {
            (Some(notice), Some(edit)) => div.notice.undoable role="status" { p { (notice) } (undo(edit)) },
            (Some(notice), None) => p.notice role="status" { (notice) },
            (None, _) => {},
        }
    }
}

/// The switches for hidden amounts and the theme.
fn top(person: &Person) -> Markup {
    let view = person.view;
    let (hide, label) = match view.hide_amounts {
        true => ("0", "Show amounts"),
        false => ("1", "Hide amounts"),
    };
    let switch = |inner: Markup| {
        let next = html! { input type="hidden" name="next" value=(person.here); };
        fields::form("/view", &person.form_token, html! { (next) (inner) })
    };
    // Only the style knows which theme the system has, and shows the button for the other one.
    let themes = match view.theme {
        Theme::System => html! {
            button.quiet.in-light type="submit" name="theme" value="dark" { "Use dark theme" }
            button.quiet.in-dark type="submit" name="theme" value="light" { "Use light theme" }
        },
        Theme::Dark => {
            html! { button.quiet type="submit" name="theme" value="light" { "Use light theme" } }
        }
        Theme::Light => {
            html! { button.quiet type="submit" name="theme" value="system" { "Use system theme" } }
        }
    };
    html! {
        header.switches {
            a.quiet href="/search" data-open="palette" { "Search" }
            (switch(html! { button.quiet type="submit" name="hide" value=(hide) { (label) } }))
            (switch(themes))
        }
    }
}

/// The search dialog. A script opens it and fills it from the search page.
fn palette() -> Markup {
    html! {
        dialog.palette id="palette" aria-label="Search everything" {
            input type="search" aria-label="Search everything" placeholder="Search pages, accounts and transactions"
                autocomplete="off";
            div data-results {}
        }
    }
}

/// The help sheet with the keyboard shortcuts.
fn shortcuts() -> Markup {
    let keys = [
        ("Ctrl K or /", "Search everything"),
        ("?", "Show this help"),
        ("g o", "Go to overview"),
        ("g a", "Go to accounts"),
        ("g t", "Go to transactions"),
        ("g s", "Go to spending"),
        ("g r", "Go to recurring"),
        ("g i", "Go to income"),
        ("g p", "Go to approvals"),
        ("← →", "Read the values of a focused chart"),
    ];
    html! {
        dialog.palette id="shortcuts" aria-labelledby="shortcuts-title" {
            h2 id="shortcuts-title" { "Keyboard shortcuts" }
            dl.facts-of { @for (key, what) in keys { div { dt { kbd { (key) } } dd { (what) } } } }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// A page with a single decision and no navigation.
pub(crate) fn decision(status: StatusCode, person: &Person, title: &str, card: Markup) -> Response {
    send(status, document(person.view, title, &[], &single_card(card, false)))
}

/// As `decision`, with the message of the previous page and live updates.
pub(crate) fn decision_with(person: &Person, about: &Decision<'_>, card: Markup) -> Response {
    let scripts = &[Asset::Passkeys];
    let page = document(person.view, about.title, scripts, &single_card(card, about.live));
    let mut response = send(about.status, page);
    if person.notice.is_some() {
        clear_notice(person.public_url(), &mut response);
    }
    response
}

/// Deletes the message cookies, so that a message is shown once.
pub(super) fn clear_notice(public_url: &str, response: &mut Response) {
    for name in [cookies::NOTICE, cookies::UNDO] {
        let line = cookies::set(name, "", Some(0), cookies::is_secure(public_url));
        response.headers_mut().append(header::SET_COOKIE, line);
    }
}

/// A page for visitors who are not signed in: the logo and one card.
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
    visitor
        .remember(send(status, document(visitor.view, title, scripts, &single_card(card, false))))
}

fn single_card(card: Markup, live: bool) -> Markup {
    html! {
        body.single-card {
            main id="main" data-live=[live.then_some("")] {
                p.brand { (logo::svg()) span { "Evenkeel" } }
                div.card { (card) }
            }
            (foot())
        }
    }
}

/// The version, with the changes that it brought. Nothing is requested from elsewhere to find a newer one.
fn foot() -> Markup {
    html! {
        footer.foot {
            p { "Evenkeel " (env!("CARGO_PKG_VERSION")) }
            ul {
                li { a href=(public_page::CHANGES_PATH) { "What's new" } }
                li { a href="/docs" { "API docs" } }
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
                meta name="theme-color" content="#fbfbf9" media="(prefers-color-scheme: light)";
                meta name="theme-color" content="#0f171c" media="(prefers-color-scheme: dark)";
                link rel="icon" type="image/svg+xml" href=(Asset::Logo.href());
                link rel="apple-touch-icon" href=(Asset::TouchIcon.href());
                link rel="manifest" href="/manifest.webmanifest";
                link rel="stylesheet" href=(Asset::Style.href());
                link rel="stylesheet" href=(Asset::App.href());
                script src=(Asset::Pages.href()) defer {}
                script src=(Asset::Live.href()) defer {}
                script src=(Asset::Palette.href()) defer {}
                @for script in scripts { script src=(script.href()) defer {} }
                (head)
            }
            (body)
        }
    }
}

/// Sends a page that must not be cached, because it shows personal data.
pub(super) fn send(status: StatusCode, page: Markup) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "private, no-store"),
    ];
    (status, headers, page.into_string()).into_response()
}

/// Redirects after a form was handled, with a message that the next page shows once.
pub(crate) fn see_other(person: &Person, next: &str, message: &str) -> Response {
    redirect_with_notice(person.public_url(), next, message)
}

/// As `see_other`, with a button beside the message that undoes an edit.
pub(super) fn see_other_with_undo(
    person: &Person,
    next: &str,
    message: &str,
    edit: EditId,
) -> Response {
    let mut response = see_other(person, next, message);
    let secure = cookies::is_secure(person.public_url());
    let line = cookies::set(cookies::UNDO, &edit.to_string(), Some(60), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    response
}

/// As `see_other`, for pages without a signed-in person.
pub(super) fn redirect_with_notice(public_url: &str, next: &str, message: &str) -> Response {
    let mut response = Redirect::to(urls::local_path(next)).into_response();
    if !message.is_empty() {
        let secure = cookies::is_secure(public_url);
        let line = cookies::set(cookies::NOTICE, &urls::encode(message), Some(60), secure);
        response.headers_mut().append(header::SET_COOKIE, line);
    }
    let no_store = HeaderValue::from_static("private, no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, no_store);
    response
}
