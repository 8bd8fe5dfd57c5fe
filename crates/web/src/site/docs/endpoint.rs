//! The reference of one endpoint: description, parameters, response and errors.

use maud::{Markup, html};
use wire::v1::Code;

use super::super::snippet::{self, prose};
use super::words::words_of;
use super::{body, endpoint_id, endpoint_path, introduction, members, try_form};
use crate::api::{ENDPOINTS, Endpoint, Parameter, Takes, Verb};
use crate::openapi::{self, Schemas, examples};

pub(super) fn section(endpoint: &Endpoint, public_url: &str, schemas: &Schemas) -> Markup {
    let id = endpoint_id(endpoint);
    let example = examples::answer(endpoint, schemas);
    let url = format!("{public_url}/v1{}", sample_path(endpoint));
    let curl = match endpoint.method {
        Verb::Get => snippet::curl(&url),
        Verb::Post => snippet::curl_post(&url, body::first(endpoint)),
        Verb::Put | Verb::Delete => {
            named(endpoint, &snippet::curl_post(&url, body::first(endpoint)))
        }
    };
    html! {
        article.endpoint aria-labelledby=(id) {
            h2 id=(id) { a.anchor href={ "#" (id) } { (endpoint.summary) } }
            p.route {
                span.verb { (endpoint.method.as_str()) }
                code { "/v1" (endpoint.path) }
                @if !endpoint.scopes.is_empty() {
                    span.soft {
                        "requires"
                        @for scope in endpoint.scopes {
                            " " a href={ "/docs#" (introduction::scope_id(*scope)) } { code { (scope.as_str()) } }
                        }
                    }
                }
            }
            p.about { (prose(endpoint.description)) }
            div.pair {
                div {
                    h3 { "Parameters" }
                    (parameters(endpoint))
                    @if endpoint.method != Verb::Get {
                        p.soft {
                            "Retry safely with an "
                            a href="/docs/idempotency" { "Idempotency-Key" } "."
                        }
                    }
                    @if let Some(body) = &endpoint.body { h3 { "Body" } (body::table(body)) }
                }
                div.aside {
                    (snippet::current("Request", &curl, &format!("curl-{id}")))
                    @if let Some(body) = &endpoint.body { (body::more(body)) }
                }
            }
            (try_form::form(endpoint, public_url))
            div.pair {
                div {
                    h3 { "Response" }
                    (answer(endpoint, schemas))
                    h3 { "Errors" }
                    ul.chips { @for code in openapi::errors_of(endpoint) { li { (chip(code)) } } }
                }
                div.aside { (snippet::block("200 example", &snippet::json(&example))) }
            }
        }
    }
}

/// The `curl` command of a POST, changed to another method.
fn named(endpoint: &Endpoint, post: &str) -> String {
    let rest = post.trim_start_matches("curl ").trim_start_matches("-X POST ");
    format!("curl -X {} {rest}", endpoint.method.as_str())
}

/// The response. If an earlier endpoint has the same one, it links there.
fn answer(endpoint: &Endpoint, schemas: &Schemas) -> Markup {
    let same = |it: &&Endpoint| {
        (it.answer.name, it.answer.paging) == (endpoint.answer.name, endpoint.answer.paging)
    };
    let first = ENDPOINTS.iter().find(same).map(endpoint_path);
    match first.filter(|it| *it != endpoint_path(endpoint)) {
        Some(first) => html! {
            p { "Same as " a href=(first) { "this endpoint" } "." }
        },
        None => members::answer(endpoint, schemas),
    }
}

fn chip(code: Code) -> Markup {
    html! {
        a href={ "/docs/errors/" (code.slug()) } { (code.status()) " " code { (code.as_str()) } }
    }
}

/// The path with example values for its parameters.
fn sample_path(endpoint: &Endpoint) -> String {
    let mut path = endpoint.path.to_owned();
    for parameter in endpoint.path_parameters {
        path = path.replace(&format!("{{{}}}", parameter.name), parameter.example);
    }
    path
}

fn parameters(endpoint: &Endpoint) -> Markup {
    if endpoint.path_parameters.is_empty() && endpoint.query.is_empty() {
        return html! { p.soft { "None." } };
    }
    html! {
        table.parameters {
            (snippet::columns(["Name", "Type", "Description"]))
            tbody {
                @for it in endpoint.path_parameters { (row(it, true)) }
                @for it in endpoint.query { (row(it, false)) }
            }
        }
    }
}

fn row(parameter: &Parameter, in_path: bool) -> Markup {
    html! {
        tr {
            th scope="row" {
                code { (parameter.name) }
                @if in_path { span.soft { "in the path" } }
            }
            td { (takes(parameter.takes)) }
            td { (prose(parameter.description)) }
        }
    }
}

fn takes(takes: Takes) -> Markup {
    html! {
        @match takes {
            Takes::Text { longest } => { "text" span.soft { "up to " (longest) " characters" } }
            Takes::Id(prefix) => { "an id" span.soft { code { (prefix) "..." } } }
            Takes::Uuid => { "an id" span.soft { "a UUID" } }
            Takes::Date => { "a date" span.soft { code { "YYYY-MM-DD" } } }
            Takes::Instant => { "a timestamp" span.soft { "RFC 3339" } }
            Takes::Bool => { code { "true" } " or " code { "false" } }
            Takes::Whole { least, most, default } => {
                (least) " to " (most)
                span.soft { (default) " by default" }
            }
            Takes::OneOf(words) => { (words_of(words)) }
            Takes::Category => {
                details {
                    summary { "a category" }
                    (words_of(&openapi::primary_categories()))
                }
            }
        }
    }
}
