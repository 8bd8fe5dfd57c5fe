//! The manager of webhook endpoints: the signed-in person or a portal guest, with the page layout for each.

use std::collections::HashMap;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse as _, Response};
use base::{KeyId, Timestamp};
use futures_util::FutureExt as _;
use http::StatusCode;
use http::request::Parts;
use maud::{Markup, html};
use service::access::{keys, sessions};
use service::platform::limits;
use service::webhooks::portal::{self, PortalSession};
use service::webhooks::{Endpoint, EndpointStatus};
use service::{App, Caller, Error};

use crate::WebState;
use crate::site::app_page;
use crate::site::assets::Asset;
use crate::site::errors::PageError;
use crate::site::form::{self, Form};
use crate::site::format::View;
use crate::site::person::{self, Person};
use crate::site::settings::{Settings, Tab};
use crate::site::{cookies, fields, logo};

/// The path of these pages for the signed-in person.
pub(super) const HOME: &str = "/settings/webhooks";
/// The path of these pages for portal guests.
pub(super) const PORTAL: &str = "/portal/webhooks";

/// The signed-in person, or a portal guest who sees the endpoints of one API key.
pub(crate) enum EndpointManager {
    Person(Box<Person>),
    PortalGuest(Box<PortalGuest>),
}

pub(crate) struct PortalGuest {
    web: WebState,
    pass: PortalSession,
    view: View,
    form_token: String,
    notice: Option<String>,
}

/// A form sent by an endpoint manager, checked against their cookie.
pub(super) struct ManagerForm(pub(super) Form);

/// The section of the webhook pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Endpoints,
    Events,
    Attempts,
    Failed,
}

const SECTIONS: [(Section, &str, &str); 4] = [
    (Section::Endpoints, "", "Endpoints"),
    (Section::Events, "/events", "Events"),
    (Section::Attempts, "/attempts", "Attempts"),
    (Section::Failed, "/failed", "Failed"),
];

/// Whether a path belongs to the portal. Only the path decides which cookie is read.
fn is_portal(path: &str) -> bool {
    path.starts_with(PORTAL)
}

impl FromRequestParts<WebState> for EndpointManager {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        web: &WebState,
    ) -> Result<EndpointManager, Response> {
        if !is_portal(parts.uri.path()) {
            let person = Person::from_request_parts(parts, web).await?;
            return Ok(EndpointManager::Person(Box::new(person)));
        }
        match guest(parts, web).boxed().await {
            Ok(Some(guest)) => Ok(EndpointManager::PortalGuest(Box::new(guest))),
            Ok(None) => Err(closed().into_response()),
            Err(error) => Err(PageError::from(error).into_response()),
        }
    }
}

async fn guest(parts: &Parts, web: &WebState) -> service::Result<Option<PortalGuest>> {
    let secure = cookies::is_secure(&web.settings.public_url);
    let Some(token) = cookies::get(&parts.headers, cookies::PORTAL, secure) else {
        return Ok(None);
    };
    let Some(pass) = portal::find_session(&web.app, token).await? else { return Ok(None) };
    Ok(Some(PortalGuest {
        view: View::new(&parts.headers, web, pass.caller.timezone),
        pass,
        form_token: sessions::form_token(&web.app, token),
        notice: person::notice(&parts.headers, secure),
        web: web.clone(),
    }))
}

fn closed() -> PageError {
    let message = "Portal links are valid for an hour. Ask the person who sent it for a new one.";
    PageError::new(StatusCode::FORBIDDEN, "Your portal session has ended", message)
}

impl FromRequest<WebState> for ManagerForm {
    type Rejection = Response;

    async fn from_request(request: Request, web: &WebState) -> Result<ManagerForm, Response> {
        let portal = is_portal(request.uri().path());
        let cookie = if portal { cookies::PORTAL } else { cookies::SESSION };
        form::read(request, web, cookie).boxed().await.map(ManagerForm)
    }
}

impl EndpointManager {
    pub(super) fn app(&self) -> &App {
        match self {
            EndpointManager::Person(it) => it.app(),
            EndpointManager::PortalGuest(it) => &it.web.app,
        }
    }

    pub(super) fn caller(&self) -> &Caller {
        match self {
            EndpointManager::Person(it) => &it.caller,
            EndpointManager::PortalGuest(it) => &it.pass.caller,
        }
    }

    pub(super) fn view(&self) -> View {
        match self {
            EndpointManager::Person(it) => it.view,
            EndpointManager::PortalGuest(it) => it.view,
        }
    }

    /// Counts an action that sends an event against the rate limit.
    pub(super) async fn count(&self) -> service::Result<()> {
        let rate_limit = limits::count_request(self.app(), self.caller().credential_id()).await?;
        if rate_limit.accepted {
            return Ok(());
        }
        let retry_after_seconds = rate_limit.reset_seconds.max(1);
        Err(Error::Limited { retry_after_seconds, what: "messages" })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.app().clock.now()
    }

    pub(super) fn form_token(&self) -> &str {
        match self {
            EndpointManager::Person(it) => &it.form_token,
            EndpointManager::PortalGuest(it) => &it.form_token,
        }
    }

    /// The URL of one of these pages.
    pub(super) fn at(&self, rest: &str) -> String {
        let home = match self {
            EndpointManager::Person(_) => HOME,
            EndpointManager::PortalGuest(_) => PORTAL,
        };
        format!("{home}{rest}")
    }

    /// The API keys that a new endpoint can belong to.
    pub(super) async fn keys(&self) -> service::Result<Vec<(KeyId, String)>> {
        match self {
            EndpointManager::Person(it) => {
                let (now, all) = (self.now(), keys::list(it.app(), &it.caller).await?);
                let used = all.into_iter().filter(|it| it.is_active(now));
                // Several keys may have the same name.
                Ok(used.map(|it| (it.id, format!("{}, ending in {}", it.name, it.hint))).collect())
            }
            EndpointManager::PortalGuest(it) => Ok(vec![(it.pass.key, it.pass.key_name.clone())]),
        }
    }

    /// The names of all keys, including revoked ones.
    pub(super) async fn key_names(&self) -> service::Result<HashMap<KeyId, String>> {
        match self {
            EndpointManager::Person(it) => {
                let all = keys::list(it.app(), &it.caller).await?;
                Ok(all.into_iter().map(|it| (it.id, it.name)).collect())
            }
            EndpointManager::PortalGuest(_) => Ok(self.keys().await?.into_iter().collect()),
        }
    }

    pub(super) fn page(&self, status: StatusCode, part: Section, main: Markup) -> Response {
        let inner = html! {
            nav aria-label="Webhooks" {
                ul.chips {
                    @for (it, rest, name) in SECTIONS {
                        @let current = (it == part).then_some("page");
                        li { a href=(self.at(rest)) aria-current=[current] { (name) } }
                    }
                }
            }
            (main)
        };
        match self {
            EndpointManager::Person(person) => {
                let settings = Settings { tab: Tab::Webhooks, status, scripts: &[Asset::Copying] };
                settings.page(person, inner)
            }
            EndpointManager::PortalGuest(guest) => guest.page(status, inner),
        }
    }

    /// Redirects to one of these pages with a message.
    pub(super) fn see_other(&self, rest: &str, message: &str) -> Response {
        let public_url = match self {
            EndpointManager::Person(it) => it.public_url(),
            EndpointManager::PortalGuest(it) => &it.web.settings.public_url,
        };
        app_page::redirect_with_notice(public_url, &self.at(rest), message)
    }
}

impl PortalGuest {
    /// The page layout for guests, without links to the rest of the site.
    fn page(&self, status: StatusCode, main: Markup) -> Response {
        let leave =
            fields::button("/portal/webhooks/leave", &self.form_token, "Leave portal", "quiet");
        let body = html! {
            body.app.guest {
                a.skip href="#main" { "Skip to content" }
                header.top { div.bar { span.brand { (logo::svg()) span { "Evenkeel" } } (leave) } }
                div.content {
                    main id="main" tabindex="-1" {
                        div.lead-in {
                            h1 { "Webhooks" }
                            p.soft { "Endpoints of the API key \"" (self.pass.key_name) "\"." }
                        }
                        @if let Some(notice) = &self.notice {
                            p.notice role="status" { (notice) }
                        }
                        (main)
                    }
                }
            }
        };
        let page = app_page::document(self.view, "Webhooks", &[Asset::Copying], &body);
        let mut response = app_page::send(status, page);
        if self.notice.is_some() {
            app_page::clear_notice(&self.web.settings.public_url, &mut response);
        }
        response
    }
}

/// Why an endpoint is disabled; none while it is active.
pub(crate) fn disabled_text(endpoint: &Endpoint) -> Option<&'static str> {
    if endpoint.status == EndpointStatus::Active {
        return None;
    }
    Some(match endpoint.disabled_reason.as_deref() {
        Some("gone") => "Disabled because it responded with 410 Gone.",
        Some("failing") => "Disabled after five days of failed deliveries.",
        Some(KEY_REVOKED) => "Disabled because its API key was revoked.",
        _ => "Disabled manually.",
    })
}

const KEY_REVOKED: &str = "key_ended";

/// Whether its API key is revoked, so that it can't be enabled again.
pub(super) fn is_key_revoked(endpoint: &Endpoint) -> bool {
    endpoint.disabled_reason.as_deref() == Some(KEY_REVOKED)
}

/// Whether it was disabled because of failures, and not on purpose.
pub(crate) fn needs_attention(endpoint: &Endpoint) -> bool {
    let on_purpose = [Some("manual"), Some(KEY_REVOKED)];
    endpoint.status == EndpointStatus::Disabled
        && !on_purpose.contains(&endpoint.disabled_reason.as_deref())
}
