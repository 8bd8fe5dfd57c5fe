//! Creating a webhook endpoint. Its signing secret is shown once.

use base::KeyId;
use http::StatusCode;
use maud::{Markup, html};
use service::webhooks::{self, Endpoint, NewEndpoint, changes};
use service::{Error, Result};
use wire::v1::EventType;

use super::manager::{EndpointManager, ManagerForm, Section};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::snippet;

/// The values of the form, so that they are kept if the form is shown again.
#[derive(Default)]
pub(super) struct FormValues {
    key: String,
    url: String,
    description: String,
    types: ChosenTypes,
}

/// The event types that a form asks for.
#[derive(Default)]
pub(super) struct ChosenTypes {
    /// All types, including future ones.
    pub(super) all: bool,
    pub(super) some: Vec<String>,
}

impl ChosenTypes {
    pub(super) fn read(form: &Form) -> ChosenTypes {
        ChosenTypes { all: form.has("all"), some: form.all("type").map(str::to_owned).collect() }
    }

    /// Those of an endpoint, for which an empty list means all.
    pub(super) fn of(endpoint: &Endpoint) -> ChosenTypes {
        let some = endpoint.filter_types.clone();
        ChosenTypes { all: some.is_empty(), some }
    }

    /// The list to store. An endpoint gets everything only if that was chosen.
    pub(super) fn filter(&self) -> Result<Vec<String>> {
        match (self.all, self.some.is_empty()) {
            (true, _) => Ok(Vec::new()),
            (false, true) => {
                Err(Error::invalid("type", "choose at least one event type, or all events"))
            }
            (false, false) => Ok(self.some.clone()),
        }
    }
}

impl FormValues {
    fn read(form: &Form) -> FormValues {
        FormValues {
            key: form.text("key").to_owned(),
            url: form.text("url").to_owned(),
            description: form.text("description").to_owned(),
            types: ChosenTypes::read(form),
        }
    }

    fn key(&self) -> Result<KeyId> {
        KeyId::parse(&self.key).map_err(|_| Error::invalid("key", "choose an active API key"))
    }
}

/// Creates the endpoint and shows its signing secret, once.
pub(super) async fn post(manager: EndpointManager, ManagerForm(form): ManagerForm) -> PageResult {
    let typed = FormValues::read(&form);
    match make(&manager, &typed).await {
        Ok((endpoint, secret)) => {
            let title = "Endpoint created";
            let main = secret_card(&manager, &endpoint, title, &secret);
            Ok(manager.page(StatusCode::OK, Section::Endpoints, main))
        }
        Err(error) => {
            let wrong = FormError::from_error(error)?.and([
                typed.key().map(drop),
                webhooks::check_url(manager.app(), &typed.url).await,
                typed.types.filter().map(drop),
            ]);
            super::show(&manager, &typed, &wrong).await
        }
    }
}

async fn make(manager: &EndpointManager, typed: &FormValues) -> Result<(Endpoint, String)> {
    let key = typed.key()?;
    webhooks::check_url(manager.app(), &typed.url).await?;
    let new = NewEndpoint {
        url: typed.url.clone(),
        description: described(&typed.description),
        filter_types: typed.types.filter()?,
    };
    changes::create_for_key(manager.app(), manager.caller(), key, new).await
}

pub(super) fn described(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

pub(super) fn card(
    manager: &EndpointManager,
    keys: &[(KeyId, String)],
    typed: &FormValues,
    wrong: &FormError,
) -> Markup {
    let options: Vec<(String, &str)> =
        keys.iter().map(|(id, name)| (id.to_string(), name.as_str())).collect();
    let options: Vec<(&str, &str)> =
        options.iter().map(|(id, name)| (id.as_str(), *name)).collect();
    let url = Field::text("url", "URL", &typed.url).kind("url");
    let url = url.hint("Must start with https:// and be reachable from this server.");
    let inner = html! {
        (url.show(wrong))
        (Field::text("description", "Description", &typed.description).optional().show(wrong))
        (fields::select("key", "API key", &options, &typed.key))
        (type_boxes(&typed.types))
        button.primary type="submit" { "Create endpoint" }
    };
    html! {
        section.card aria-labelledby="new" {
            h2 id="new" { "Create endpoint" }
            @if keys.is_empty() {
                p {
                    "An endpoint belongs to an API key. "
                    a href="/settings/keys" { "Create a key first" }
                }
            } @else {
                p.soft { "Sends events this key can access. Disabled when the key is revoked." }
                (fields::form(&manager.at(""), manager.form_token(), inner))
            }
        }
    }
}

/// Checkboxes for event types.
pub(super) fn type_boxes(chosen: &ChosenTypes) -> Markup {
    let ticked = &chosen.some;
    html! {
        fieldset {
            legend { "Event types" }
            (fields::check("all", "yes", "All events, including types added later", chosen.all))
            @for it in EventType::ALL {
                @let label = format!("{}: {}", it.name, it.description);
                (fields::check("type", it.name, &label, ticked.iter().any(|name| name == it.name)))
            }
        }
    }
}

pub(super) fn secret_card(
    manager: &EndpointManager,
    endpoint: &Endpoint,
    title: &str,
    secret: &str,
) -> Markup {
    html! {
        section.card aria-labelledby="secret" {
            h2 id="secret" { (title) }
            p.warning {
                "Copy the signing secret now. You won't see it again. Your receiver needs it to verify events."
            }
            (snippet::text("Signing secret", secret))
            p {
                a href="/docs/webhooks" { "How to verify events" }
                " in Rust, Python, JavaScript, Go and shell."
            }
            p {
                a.button.outlined href=(manager.at(&format!("/{}", endpoint.id))) {
                    "I've copied it"
                }
            }
        }
    }
}
