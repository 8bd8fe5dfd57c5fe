//! Whoever looks after endpoints on these pages, and the frame that is drawn around them.

use std::collections::HashMap;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse as _, Response};
use base::{KeyId, Timestamp};
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

/// Where these pages are for the signed-in person.
pub(super) const HOME: &str = "/settings/webhooks";
/// And for whoever came by a link.
pub(super) const PORTAL: &str = "/portal/webhooks";

/// The person themselves, or somebody who sees what one key has and nothing else.
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

/// A form of whoever keeps the endpoints, with the token of their own cookie.
pub(super) struct ManagerForm(pub(super) Form);

/// Which of the pages is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Endpoints,
    Attempts,
    Failed,
}

const SECTIONS: [(Section, &str, &str); 3] = [
    (Section::Endpoints, "", "Endpoints"),
    (Section::Attempts, "/attempts", "Attempts"),
    (Section::Failed, "/failed", "Not delivered"),
];

/// The address alone decides whose cookie is looked at: one opens nothing of the other.
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
        match guest(parts, web).await {
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
        pass,
        view: View::new(&parts.headers, web),
        form_token: sessions::form_token(&web.app, token),
        notice: person::notice(&parts.headers, secure),
        web: web.clone(),
    }))
}

fn closed() -> PageError {
    let said = "A link opens these pages for an hour, as long as its key is in use. Ask whoever \
                gave it to you for a new one.";
    PageError::new(StatusCode::FORBIDDEN, "The portal is closed", said)
}

impl FromRequest<WebState> for ManagerForm {
    type Rejection = Response;

    async fn from_request(request: Request, web: &WebState) -> Result<ManagerForm, Response> {
        let portal = is_portal(request.uri().path());
        let cookie = if portal { cookies::PORTAL } else { cookies::SESSION };
        form::read(request, web, cookie).await.map(ManagerForm)
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

    /// Whoever makes this server send something does not do so more often than their requests are allowed to.
    pub(super) async fn count(&self) -> service::Result<()> {
        let standing = limits::take(self.app(), self.caller().credential_id()).await?;
        if standing.accepted {
            return Ok(());
        }
        let retry_after_seconds = standing.reset_seconds.max(1);
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

    /// The address of one of these pages.
    pub(super) fn at(&self, rest: &str) -> String {
        let home = match self {
            EndpointManager::Person(_) => HOME,
            EndpointManager::PortalGuest(_) => PORTAL,
        };
        format!("{home}{rest}")
    }

    /// The keys that a new endpoint may be for.
    pub(super) async fn keys(&self) -> service::Result<Vec<(KeyId, String)>> {
        match self {
            EndpointManager::Person(it) => {
                let (now, all) = (self.now(), keys::list(it.app(), &it.caller).await?);
                let used = all.into_iter().filter(|it| it.is_active(now));
                // Several may have one name.
                Ok(used.map(|it| (it.id, format!("{}, ending in {}", it.name, it.hint))).collect())
            }
            EndpointManager::PortalGuest(it) => Ok(vec![(it.pass.key, it.pass.key_name.clone())]),
        }
    }

    /// What the keys are called, also those that have ended.
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

    /// Goes on to one of these pages, and says once what was done.
    pub(super) fn see_other(&self, rest: &str, said: &str) -> Response {
        let public_url = match self {
            EndpointManager::Person(it) => it.public_url(),
            EndpointManager::PortalGuest(it) => &it.web.settings.public_url,
        };
        app_page::redirect_with_notice(public_url, &self.at(rest), said)
    }
}

impl PortalGuest {
    /// A frame that leads to nothing else of this site.
    fn page(&self, status: StatusCode, main: Markup) -> Response {
        let leave = fields::button("/portal/webhooks/leave", &self.form_token, "Leave", "quiet");
        let body = html! {
            body.app.guest {
                a.skip href="#main" { "Skip to the content" }
                header.top { div.bar { span.brand { (logo::svg()) span { "Evenkeel" } } (leave) } }
                div.content {
                    main id="main" tabindex="-1" {
                        div.lead-in {
                            h1 { "Webhooks" }
                            p.soft { "What the key \"" (self.pass.key_name) "\" has, and nothing else." }
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

/// Why an endpoint gets nothing, in words; none while it does.
pub(crate) fn disabled_text(endpoint: &Endpoint) -> Option<&'static str> {
    if endpoint.status == EndpointStatus::Active {
        return None;
    }
    Some(match endpoint.disabled_reason.as_deref() {
        Some("gone") => "It answered that it is gone (410), so nothing more is sent there.",
        Some("failing") => "Nothing has arrived there for five days, so nothing more is sent.",
        Some(KEY_REVOKED) => "Its API key has ended, and so has it. Nothing is sent there.",
        _ => "It was switched off by hand. Nothing is sent there.",
    })
}

const KEY_REVOKED: &str = "key_ended";

/// Whether it can never be switched on again.
pub(super) fn is_key_revoked(endpoint: &Endpoint) -> bool {
    endpoint.disabled_reason.as_deref() == Some(KEY_REVOKED)
}

/// Whether somebody should look: it was not switched off on purpose.
pub(crate) fn needs_attention(endpoint: &Endpoint) -> bool {
    let on_purpose = [Some("manual"), Some(KEY_REVOKED)];
    endpoint.status == EndpointStatus::Disabled
        && !on_purpose.contains(&endpoint.disabled_reason.as_deref())
}
