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

use crate::Door;
use crate::site::assets::Asset;
use crate::site::form::{self, Form};
use crate::site::person::{self, Person};
use crate::site::settings::{Settings, Tab};
use crate::site::shell;
use crate::site::show::View;
use crate::site::trouble::Trouble;
use crate::site::{cookies, fields, mark};

/// Where these pages are for the signed-in person.
pub(super) const HOME: &str = "/settings/webhooks";
/// And for whoever came by a link.
pub(super) const PORTAL: &str = "/portal/webhooks";

/// The person themselves, or somebody who sees what one key has and nothing else.
pub(crate) enum Keeper {
    Person(Box<Person>),
    Guest(Box<Guest>),
}

pub(crate) struct Guest {
    door: Door,
    pass: PortalSession,
    view: View,
    form_token: String,
    notice: Option<String>,
}

/// A form of whoever keeps the endpoints, with the token of their own cookie.
pub(super) struct KeeperForm(pub(super) Form);

/// Which of the pages is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Endpoints,
    Attempts,
    Failed,
}

const PARTS: [(Part, &str, &str); 3] = [
    (Part::Endpoints, "", "Endpoints"),
    (Part::Attempts, "/attempts", "Attempts"),
    (Part::Failed, "/failed", "Not delivered"),
];

/// The address alone decides whose cookie is looked at: one opens nothing of the other.
fn is_portal(path: &str) -> bool {
    path.starts_with(PORTAL)
}

impl FromRequestParts<Door> for Keeper {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Keeper, Response> {
        if !is_portal(parts.uri.path()) {
            let person = Person::from_request_parts(parts, door).await?;
            return Ok(Keeper::Person(Box::new(person)));
        }
        match guest(parts, door).await {
            Ok(Some(guest)) => Ok(Keeper::Guest(Box::new(guest))),
            Ok(None) => Err(closed().into_response()),
            Err(error) => Err(Trouble::from(error).into_response()),
        }
    }
}

async fn guest(parts: &Parts, door: &Door) -> service::Result<Option<Guest>> {
    let secure = cookies::is_secure(&door.settings.public_url);
    let Some(token) = cookies::get(&parts.headers, cookies::PORTAL, secure) else {
        return Ok(None);
    };
    let Some(pass) = portal::find_session(&door.app, token).await? else { return Ok(None) };
    Ok(Some(Guest {
        pass,
        view: View::new(&parts.headers, door),
        form_token: sessions::form_token(&door.app, token),
        notice: person::notice(&parts.headers, secure),
        door: door.clone(),
    }))
}

fn closed() -> Trouble {
    let said = "A link opens these pages for an hour, as long as its key is in use. Ask whoever \
                gave it to you for a new one.";
    Trouble::new(StatusCode::FORBIDDEN, "The portal is closed", said)
}

impl FromRequest<Door> for KeeperForm {
    type Rejection = Response;

    async fn from_request(request: Request, door: &Door) -> Result<KeeperForm, Response> {
        let portal = is_portal(request.uri().path());
        let cookie = if portal { cookies::PORTAL } else { cookies::SESSION };
        form::read(request, door, cookie).await.map(KeeperForm)
    }
}

impl Keeper {
    pub(super) fn app(&self) -> &App {
        match self {
            Keeper::Person(it) => it.app(),
            Keeper::Guest(it) => &it.door.app,
        }
    }

    pub(super) fn caller(&self) -> &Caller {
        match self {
            Keeper::Person(it) => &it.caller,
            Keeper::Guest(it) => &it.pass.caller,
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
            Keeper::Person(it) => &it.form_token,
            Keeper::Guest(it) => &it.form_token,
        }
    }

    /// The address of one of these pages.
    pub(super) fn at(&self, rest: &str) -> String {
        let home = match self {
            Keeper::Person(_) => HOME,
            Keeper::Guest(_) => PORTAL,
        };
        format!("{home}{rest}")
    }

    /// The keys that a new endpoint may be for.
    pub(super) async fn keys(&self) -> service::Result<Vec<(KeyId, String)>> {
        match self {
            Keeper::Person(it) => {
                let (now, all) = (self.now(), keys::list(it.app(), &it.caller).await?);
                let used = all.into_iter().filter(|it| it.is_active(now));
                // Several may have one name.
                Ok(used.map(|it| (it.id, format!("{}, ending in {}", it.name, it.hint))).collect())
            }
            Keeper::Guest(it) => Ok(vec![(it.pass.key, it.pass.key_name.clone())]),
        }
    }

    /// What the keys are called, also those that have ended.
    pub(super) async fn key_names(&self) -> service::Result<HashMap<KeyId, String>> {
        match self {
            Keeper::Person(it) => {
                let all = keys::list(it.app(), &it.caller).await?;
                Ok(all.into_iter().map(|it| (it.id, it.name)).collect())
            }
            Keeper::Guest(_) => Ok(self.keys().await?.into_iter().collect()),
        }
    }

    pub(super) fn page(&self, status: StatusCode, part: Part, main: Markup) -> Response {
        let inner = html! {
            nav aria-label="Webhooks" {
                ul.chips {
                    @for (it, rest, name) in PARTS {
                        @let current = (it == part).then_some("page");
                        li { a href=(self.at(rest)) aria-current=[current] { (name) } }
                    }
                }
            }
            (main)
        };
        match self {
            Keeper::Person(person) => {
                let settings = Settings { tab: Tab::Webhooks, status, scripts: &[Asset::Copying] };
                settings.page(person, inner)
            }
            Keeper::Guest(guest) => guest.page(status, inner),
        }
    }

    /// Goes on to one of these pages, and says once what was done.
    pub(super) fn see_other(&self, rest: &str, said: &str) -> Response {
        let public_url = match self {
            Keeper::Person(it) => it.public_url(),
            Keeper::Guest(it) => &it.door.settings.public_url,
        };
        shell::go_on(public_url, &self.at(rest), said)
    }
}

impl Guest {
    /// A frame that leads to nothing else of this site.
    fn page(&self, status: StatusCode, main: Markup) -> Response {
        let leave = fields::button("/portal/webhooks/leave", &self.form_token, "Leave", "quiet");
        let body = html! {
            body.app.guest {
                a.skip href="#main" { "Skip to the content" }
                header.top { div.bar { span.brand { (mark::svg()) span { "Evenkeel" } } (leave) } }
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
        let page = shell::document(self.view, "Webhooks", &[Asset::Copying], &body);
        let mut response = shell::send(status, page);
        if self.notice.is_some() {
            shell::forget_notice(&self.door.settings.public_url, &mut response);
        }
        response
    }
}

/// Why an endpoint gets nothing, in words; none while it does.
pub(crate) fn trouble(endpoint: &Endpoint) -> Option<&'static str> {
    if endpoint.status == EndpointStatus::Active {
        return None;
    }
    Some(match endpoint.disabled_reason.as_deref() {
        Some("gone") => "It answered that it is gone (410), so nothing more is sent there.",
        Some("failing") => "Nothing has arrived there for five days, so nothing more is sent.",
        Some(KEY_ENDED) => "Its API key has ended, and so has it. Nothing is sent there.",
        _ => "It was switched off by hand. Nothing is sent there.",
    })
}

const KEY_ENDED: &str = "key_ended";

/// Whether it can never be switched on again.
pub(super) fn has_ended(endpoint: &Endpoint) -> bool {
    endpoint.disabled_reason.as_deref() == Some(KEY_ENDED)
}

/// Whether somebody should look: it was not switched off on purpose.
pub(crate) fn needs_a_look(endpoint: &Endpoint) -> bool {
    let on_purpose = [Some("manual"), Some(KEY_ENDED)];
    endpoint.status == EndpointStatus::Disabled
        && !on_purpose.contains(&endpoint.disabled_reason.as_deref())
}
