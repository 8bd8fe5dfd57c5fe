//! Round trips to a provider's page: starting one, waiting for what comes of it, and repairing a connection.
//!
//! The provider's page is opened by a link and not by a redirect after a form, which the content security policy would
//! refuse.

use axum::extract::{Path, RawQuery};
use axum::response::{IntoResponse as _, Redirect};
use base::ConnectionId;
use base::draft::Source;
use http::StatusCode;
use maud::{Markup, html};
use service::ingest::connections::{self, LinkAddresses, LinkState, LinkTarget};

use super::add_parts::region_of;
use super::{HOME, add, detail, new_page, parse, url_of};
use crate::site::app_page::{AppPage, see_other};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::urls;

pub(super) fn url_of_link(id: &str) -> String {
    format!("{HOME}/links/{id}")
}

/// The addresses that a provider is told: where the browser comes back to, and where webhooks arrive if this
/// installation has a public name.
pub(super) fn addresses(person: &Person, source: Source) -> LinkAddresses {
    let source = source.as_str().replace('_', "-");
    let base = person.public_url().trim_end_matches('/');
    let is_https = base.starts_with("https://");
    LinkAddresses {
        return_url: is_https.then(|| format!("{base}{HOME}/{source}/back")),
        webhook_url: is_public(base).then(|| format!("{base}{HOME}/{source}/webhook")),
    }
}

/// Whether an address has https and a name that others may resolve. A name at home gets no webhooks, which only means
/// that it is synced on a schedule.
fn is_public(base: &str) -> bool {
    let Some(host) = base.strip_prefix("https://") else { return false };
    let name = host.split([':', '/']).next().unwrap_or_default();
    let ending = name.rsplit('.').next().unwrap_or_default();
    let local = ["local", "localhost", "lan", "home", "internal", "test", "example", "invalid"];
    name.contains('.')
        && !host.starts_with('[')
        && !local.contains(&ending)
        && !ending.bytes().all(|it| it.is_ascii_digit())
}

/// Starts connecting a bank through Plaid.
pub(super) async fn start(person: Person, form: Form) -> PageResult {
    let source = Source::Plaid;
    let started = connections::start_link(
        person.app(),
        &person.caller,
        LinkTarget::New(source),
        addresses(&person, source),
    );
    match started.await {
        Ok(link) => Ok(Redirect::to(&url_of_link(&link.id)).into_response()),
        Err(error) => {
            let wrong = FormError::from_error(error)?;
            let region = region_of(&form);
            add::show(&person, StatusCode::BAD_REQUEST, region, &wrong, "").await
        }
    }
}

/// Starts repairing a connection, adding accounts to it, or connecting it again.
pub(super) async fn repair(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let target = match form.text("remedy") {
        "repair" => LinkTarget::Repair(id),
        "add_accounts" => LinkTarget::AddAccounts(id),
        "reconnect" => LinkTarget::Reconnect(id),
        _ => return Err(PageError::not_found()),
    };
    let source = connections::get(person.app(), &person.caller, id).await?.source;
    let addresses = addresses(&person, source);
    match connections::start_link(person.app(), &person.caller, target, addresses).await {
        Ok(link) => Ok(Redirect::to(&url_of_link(&link.id)).into_response()),
        Err(error) => {
            let wrong = FormError::from_error(error)?;
            detail::show(&person, id, StatusCode::BAD_REQUEST, &wrong).await
        }
    }
}

/// The browser comes back from Plaid's page. The address has no token in it: what happened is read from Plaid.
pub(super) async fn back_from_plaid(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let found = connections::find_link(person.app(), &person.caller, Source::Plaid).await?;
    back(&person, found, query.as_deref()).await
}

/// The browser comes back from a bank's page, with a code for the link that `state` names. A link is found only by the
/// person who started it.
pub(super) async fn back_from_bank(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let link = query.as_deref().and_then(|it| urls::find_param(it, "state"));
    back(&person, link, query.as_deref()).await
}

async fn back(person: &Person, link: Option<String>, query: Option<&str>) -> PageResult {
    let Some(id) = link else { return Ok(Redirect::to(HOME).into_response()) };
    match connections::check_link(person.app(), &person.caller, &id, query).await {
        Err(service::Error::NotFound(_)) => Err(PageError::not_found()),
        // A provider that cannot be reached now is asked again by the page of the link.
        _ => Ok(Redirect::to(&url_of_link(&id)).into_response()),
    }
}

/// The page of a round trip. While the person is on the provider's page, it asks again by itself.
pub(super) async fn get(person: Person, Path(id): Path<String>) -> PageResult {
    let state = match connections::check_link(person.app(), &person.caller, &id, None).await {
        Ok(state) => state,
        Err(service::Error::Conflict { message, .. }) => LinkState::Ended { message },
        Err(error) => return Err(error.into()),
    };
    let page = new_page("Connect a bank");
    match state {
        LinkState::Done { connection } => done(&person, connection).await,
        LinkState::Waiting { url } => {
            let page = AppPage { waits: true, ..page };
            let comes_back = person.public_url().starts_with("https://");
            Ok(page.page(&person, waiting(&url, comes_back)))
        }
        LinkState::Duplicate { message } => {
            let main = duplicate(&person, &id, &message);
            Ok(page.page(&person, main))
        }
        LinkState::Ended { message } => {
            let main = html! {
                h1 { "Connect a bank" }
                section.card { p.wrong role="alert" { (message) } a.button href=(HOME) { "Back to connections" } }
            };
            Ok(page.page(&person, main))
        }
    }
}

/// Leads to the page of the connection, after it was connected or repaired.
async fn done(person: &Person, connection: ConnectionId) -> PageResult {
    let found = connections::get(person.app(), &person.caller, connection).await?;
    let message = match found.open_offers {
        0 => "Signed in. The connection is updated now.",
        _ => "Connected. Now choose which accounts to add.",
    };
    Ok(see_other(person, &url_of(connection), message))
}

/// The page that leads to the provider's page. A provider sends the browser back only to an https address; otherwise its
/// page opens in a new tab, so that this one stays open and goes on by itself.
fn waiting(url: &str, comes_back: bool) -> Markup {
    let target = (!comes_back).then_some("_blank");
    html! {
        h1 { "Connect a bank" }
        section.card data-commit="2000" {
            p {
                "Sign in to your bank on the next page. It belongs to the service that connects to your bank; Evenkeel \
                 never sees your password."
            }
            a.button.primary href=(url) target=[target] rel="noreferrer" { "Continue to your bank" }
            @if comes_back {
                p.soft { "Your bank's page sends you back here when you are done." }
            } @else {
                p.soft { "It opens in a new tab. When you are done there, come back: this page goes on by itself." }
            }
        }
    }
}

fn duplicate(person: &Person, id: &str, message: &str) -> Markup {
    let action = |what: &str| format!("{}/{what}", url_of_link(id));
    html! {
        h1 { "This bank is connected already" }
        section.card {
            p { (message) }
            (fields::button(&action("discard"), &person.form_token, "Discard the second connection", "primary"))
            (fields::button(&action("keep"), &person.form_token, "Keep both", "outlined"))
        }
    }
}

pub(super) async fn keep(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    connections::keep_duplicate(person.app(), &person.caller, &id).await?;
    Ok(Redirect::to(&url_of_link(&id)).into_response())
}

pub(super) async fn discard(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    connections::discard_duplicate(person.app(), &person.caller, &id).await?;
    Ok(see_other(&person, HOME, "The second connection was discarded."))
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn webhooks_are_asked_for_only_at_a_public_name() {
        for public in ["https://money.robin.net", "https://a.b.dev:8443"] {
            assert!(is_public(public), "{public}");
        }
        for private in [
            "http://money.robin.net",
            "https://localhost:4680",
            "https://192.168.1.5",
            "https://[::1]:4680",
            "https://nas.local",
            "https://box.home",
            "https://nas",
        ] {
            assert!(!is_public(private), "{private}");
        }
    }
}
