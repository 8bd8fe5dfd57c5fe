//! Whoever looks after endpoints on these pages, and the frame that is drawn around them.

use std::collections::HashMap;

use axum::extract::FromRequestParts;
use axum::response::Response;
use base::{KeyId, Timestamp};
use http::StatusCode;
use http::request::Parts;
use maud::{Markup, html};
use service::keys;
use service::webhooks::{Endpoint, Status};
use service::{App, Caller};

use crate::Door;
use crate::site::assets::Asset;
use crate::site::person::Person;
use crate::site::settings::{Settings, Tab};
use crate::site::shell::see_other;

/// Where these pages are for the signed-in person.
pub(super) const HOME: &str = "/settings/webhooks";

pub(crate) struct Keeper(Person);

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

impl FromRequestParts<Door> for Keeper {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Keeper, Response> {
        Person::from_request_parts(parts, door).await.map(Keeper)
    }
}

impl Keeper {
    pub(super) fn app(&self) -> &App {
        self.0.app()
    }

    pub(super) fn caller(&self) -> &Caller {
        &self.0.caller
    }

    pub(super) fn now(&self) -> Timestamp {
        self.app().clock.now()
    }

    pub(super) fn form_token(&self) -> &str {
        &self.0.form_token
    }

    /// The address of one of these pages.
    pub(super) fn at(&self, rest: &str) -> String {
        format!("{HOME}{rest}")
    }

    /// The keys that a new endpoint may be for.
    pub(super) async fn keys(&self) -> service::Result<Vec<(KeyId, String)>> {
        let now = self.now();
        let all = keys::list(self.app(), self.caller()).await?;
        let used = all.into_iter().filter(|it| it.is_active(now));
        Ok(used.map(|it| (it.id, it.name)).collect())
    }

    /// What the keys are called, also those that have ended.
    pub(super) async fn key_names(&self) -> service::Result<HashMap<KeyId, String>> {
        let all = keys::list(self.app(), self.caller()).await?;
        Ok(all.into_iter().map(|it| (it.id, it.name)).collect())
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
        let settings = Settings { tab: Tab::Webhooks, status, scripts: &[Asset::Copying] };
        settings.page(&self.0, inner)
    }

    /// Goes on to one of these pages, and says once what was done.
    pub(super) fn see_other(&self, rest: &str, said: &str) -> Response {
        see_other(&self.0, &self.at(rest), said)
    }
}

/// Why an endpoint gets nothing, in words; none while it does.
pub(crate) fn trouble(endpoint: &Endpoint) -> Option<&'static str> {
    if endpoint.status == Status::Active {
        return None;
    }
    Some(match endpoint.disabled_reason.as_deref() {
        Some("gone") => "It answered that it is gone (410), so nothing more is sent there.",
        Some("failing") => "Nothing has arrived there for five days, so nothing more is sent.",
        _ => "It was switched off by hand. Nothing is sent there.",
    })
}

/// Whether somebody should look: it was not switched off on purpose.
pub(crate) fn needs_a_look(endpoint: &Endpoint) -> bool {
    endpoint.status == Status::Disabled && endpoint.disabled_reason.as_deref() != Some("manual")
}
