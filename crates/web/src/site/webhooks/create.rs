//! A new endpoint: the form, and the secret, shown once.

use base::KeyId;
use http::StatusCode;
use maud::{Markup, html};
use service::webhooks::{self, Endpoint, NewEndpoint};
use service::{Error, Result};
use wire::v1::EventType;

use super::manager::{EndpointManager, ManagerForm, Section};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::snippet;

/// What was typed, so that a form that is shown again has it still.
#[derive(Default)]
pub(super) struct FormValues {
    key: String,
    url: String,
    description: String,
    types: Vec<String>,
}

impl FormValues {
    fn read(form: &Form) -> FormValues {
        FormValues {
            key: form.text("key").to_owned(),
            url: form.text("url").to_owned(),
            description: form.text("description").to_owned(),
            types: form.all("type").map(str::to_owned).collect(),
        }
    }
}

/// Answers with the secret itself, which is shown nowhere else.
pub(super) async fn post(manager: EndpointManager, ManagerForm(form): ManagerForm) -> PageResult {
    let typed = FormValues::read(&form);
    match make(&manager, &typed).await {
        Ok((endpoint, secret)) => {
            let title = "The endpoint is made";
            let main = secret_card(&manager, &endpoint, title, &secret);
            Ok(manager.page(StatusCode::OK, Section::Endpoints, main))
        }
        Err(error) => super::show(&manager, &typed, &FormError::from_error(error)?).await,
    }
}

async fn make(manager: &EndpointManager, typed: &FormValues) -> Result<(Endpoint, String)> {
    let key = KeyId::parse(&typed.key);
    let key = key.map_err(|_| Error::invalid("key", "choose one of your active keys"))?;
    webhooks::check_url(manager.app(), &typed.url).await?;
    let new = NewEndpoint {
        url: typed.url.clone(),
        description: described(&typed.description),
        filter_types: typed.types.clone(),
    };
    let (mine, caller) = (manager.app().clone(), manager.caller().clone());
    let create =
        move |tx: &mut service::Tx<'_>| webhooks::create_for_key(&mine, tx, &caller, key, &new);
    manager.app().db.write(create).await
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
    let url = Field::text("url", "Address", &typed.url).kind("url");
    let url = url.hint("It must begin with https:// and be reachable from this server.");
    let inner = html! {
        (url.show(wrong))
        (Field::text("description", "Description", &typed.description).optional().show(wrong))
        (fields::select("key", "For the key", &options, &typed.key))
        (type_boxes(&typed.types))
        button.primary type="submit" { "Make the endpoint" }
    };
    html! {
        section.card aria-labelledby="new" {
            h2 id="new" { "Make a new endpoint" }
            @if keys.is_empty() {
                p {
                    "An endpoint belongs to an API key and hears of what the key may see. "
                    a href="/settings/keys" { "Make a key first" }
                }
            } @else {
                p.soft { "It hears of what its key may see, and ends with the key. In the API only that key sees it." }
                (fields::form(&manager.at(""), manager.form_token(), inner))
            }
        }
    }
}

/// Nothing ticked means everything, also what is added later.
pub(super) fn type_boxes(ticked: &[String]) -> Markup {
    html! {
        fieldset {
            legend { "What it hears of (tick nothing for everything)" }
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
                "Copy the secret now. It is shown this once. Your receiver needs it to know that a \
                 message came from here."
            }
            (snippet::text("Signing secret", secret))
            p {
                a href="/docs/webhooks" { "How to verify a message" }
                " in Rust, Python, JavaScript, Go and shell."
            }
            p {
                a.button.outlined href=(manager.at(&format!("/{}", endpoint.id))) {
                    "Done, I have copied it"
                }
            }
        }
    }
}
