//! The request body of an endpoint: every member with its type and description.

use maud::{Markup, html};

use super::super::snippet::{self, prose};
use super::words::words_of;
use crate::api::{Body, Endpoint, Holds, Member};

pub(super) fn table(body: &Body) -> Markup {
    let payloads = body.members.iter().filter_map(|it| match it.holds {
        Holds::ByWord { variants, .. } => Some(variants),
        _ => None,
    });
    html! {
        (rows(body.members))
        @for variant in payloads.flatten() {
            details {
                summary { code { "payload" } " of " code { (variant.word) } }
                p { (prose(variant.about)) }
                (rows(variant.members))
            }
        }
    }
}

fn rows(members: &[Member]) -> Markup {
    html! {
        table.parameters {
            (snippet::columns(["Name", "Type", "Description"]))
            tbody { @for it in members { (row(it)) } }
        }
    }
}

fn row(member: &Member) -> Markup {
    html! {
        tr {
            th scope="row" {
                code { (member.name) }
                @if member.required { span.soft { "required" } }
            }
            td { (holds(member.holds)) }
            td { (prose(member.description)) }
        }
    }
}

fn holds(holds: Holds) -> Markup {
    html! {
        @match holds {
            Holds::Text { longest } => { "text" span.soft { "up to " (longest) " characters" } }
            Holds::TextOrNull { longest } => {
                "text or " code { "null" } span.soft { "up to " (longest) " characters" }
            }
            Holds::Url { longest } => {
                "a URL" span.soft { code { "https://..." } ", up to " (longest) " characters" }
            }
            Holds::Bool => { code { "true" } " or " code { "false" } }
            Holds::False => { code { "false" } }
            Holds::Number { decimals } => { "a number" span.soft { "up to " (decimals) " decimals" } }
            Holds::DecimalText => { "text" span.soft { "a decimal number" } }
            Holds::Whole => { "an integer" }
            Holds::Date => { "a date" span.soft { code { "YYYY-MM-DD" } } }
            Holds::OneOf(words) => { (words_of(words)) }
            Holds::SomeOf(words) => {
                details { summary { "a list of values" } (words_of(words)) }
            }
            Holds::Category => { "a category" }
            Holds::Id(prefix) => { "an id" span.soft { code { (prefix) "..." } } }
            Holds::Uuid => { "an id" span.soft { "a UUID" } }
            Holds::Ids(prefix) => { "1 to 100 ids" span.soft { code { (prefix) "..." } } }
            Holds::Texts { longest } => {
                "a list of texts" span.soft { "up to " (longest) " characters each" }
            }
            Holds::Objects { members, least, most } => {
                (least) " to " (most) " objects"
                @for it in members { span.soft { code { (it.name) } " " (prose(it.description)) } }
            }
            Holds::Amount => { "a number" span.soft { "negative for money out" } }
            Holds::Json | Holds::ByWord { .. } => { "an object" }
        }
    }
}

/// The main example.
pub(super) fn first(endpoint: &Endpoint) -> Option<&'static str> {
    endpoint.body.and_then(|it| it.examples.first()).map(|(_, text)| *text)
}

/// The other examples.
pub(super) fn more(body: &Body) -> Markup {
    html! {
        @for (about, text) in body.examples.iter().skip(1) { (snippet::text(about, text)) }
    }
}
