//! The form that sends a real request from the reference. The script sends it; without scripts the button is disabled.

use maud::{Markup, html};

use super::endpoint_id;
use crate::api::{Endpoint, Parameter, Takes};
use crate::openapi;

pub(super) fn form(endpoint: &Endpoint, public_url: &str) -> Markup {
    let id = endpoint_id(endpoint);
    html! {
        details.try {
            summary { span.h { "Try it" } span.soft { "Sends a real request with your key." } }
            form data-id=(id) data-method=(endpoint.method.as_str()) data-path=(endpoint.path)
                data-base={ (public_url) "/v1" } {
                @if !endpoint.path_parameters.is_empty() || !endpoint.query.is_empty() {
                    div.fields {
                        @for it in endpoint.path_parameters { (field(it, &id, true)) }
                        @for it in endpoint.query { (field(it, &id, false)) }
                    }
                }
                @if let Some((_, example)) = endpoint.body.and_then(|it| it.examples.first()) {
                    div.field {
                        label for={ (id) "-body" } { "Body" }
                        textarea id={ (id) "-body" } name="body" rows="4" data-place="body"
                            spellcheck="false" autocapitalize="none" { (example) }
                    }
                }
                div.sending {
                    button.primary type="submit" disabled { "Send" }
                    button type="reset" disabled { "Clear" }
                    a.need href="#api-key" { "Enter your API key first" }
                }
            }
            p.outcome role="status" {}
            div.reply hidden {
                dl.heads {}
                pre tabindex="0" role="group" aria-label="Response body" { code {} }
                button.next type="button" { "Next page" }
            }
        }
    }
}

fn field(parameter: &Parameter, form: &str, in_path: bool) -> Markup {
    let id = format!("{form}-{}", parameter.name);
    html! {
        div.field {
            label for=(id) {
                code { (parameter.name) }
                @if in_path { span.soft { " required" } }
            }
            (control(parameter, &id, in_path))
        }
    }
}

fn control(parameter: &Parameter, id: &str, in_path: bool) -> Markup {
    let (name, example) = (parameter.name, parameter.example);
    let input = |kind: &str, placeholder: &str, list: Option<&str>| {
        html! {
            input id=(id) name=(name) type=(kind) placeholder=(placeholder) list=[list]
                required[in_path] data-place=(if in_path { "path" } else { "query" })
                autocomplete="off" spellcheck="false" autocapitalize="none";
        }
    };
    match parameter.takes {
        Takes::Text { .. } | Takes::Instant | Takes::Uuid => input("text", example, None),
        // The script suggests ids from earlier responses.
        Takes::Id(prefix) => {
            let list = format!("{id}-ids");
            html! {
                (input("text", &format!("{prefix}..."), Some(&list)))
                datalist id=(list) data-prefix=(prefix) {}
            }
        }
        Takes::Date => input("date", "", None),
        Takes::Whole { least, most, default } => html! {
            input id=(id) name=(name) type="number" min=(least) max=(most) placeholder=(default)
                data-place="query";
        },
        // A select box, because a checkbox cannot tell "false" from "not set".
        Takes::Bool => choice(id, name, &["true", "false"]),
        Takes::OneOf(words) => choice(id, name, words),
        Takes::Category => choice(id, name, &openapi::primary_categories()),
    }
}

fn choice(id: &str, name: &str, words: &[&str]) -> Markup {
    html! {
        select id=(id) name=(name) data-place="query" {
            option value="" { "not set" }
            @for word in words { option value=(word) { (word) } }
        }
    }
}
