//! The forms on the page of a recurring payment: its name, type and amount, merging and dismissing it.

use base::{Money, StreamId};
use maud::{Markup, html};
use service::insights::recurring::{Kind, Stream, StreamLabels};
use service::ledger::Direction;

use super::kind;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::plain_amount;
use crate::site::person::Person;

/// The types that the person can choose.
const KINDS: [Kind; 3] = [Kind::Bill, Kind::Subscription, Kind::Other];

/// The values of the form for name, type and amount.
#[derive(Default)]
pub(in crate::site) struct LabelsForm {
    pub(super) name: String,
    pub(super) kind: Option<Kind>,
    pub(super) amount: String,
}

impl LabelsForm {
    pub(super) fn stored(stream: &Stream, labels: StreamLabels) -> LabelsForm {
        let amount = labels.amount_minor.map(|it| plain_amount(Money::new(it, stream.currency)));
        LabelsForm {
            name: labels.name.unwrap_or_default(),
            kind: labels.kind,
            amount: amount.unwrap_or_default(),
        }
    }
}

/// The forms of a payment that was neither dismissed nor merged into another.
pub(super) fn forms(
    person: &Person,
    stream: &Stream,
    typed: &LabelsForm,
    others: &[(Stream, String)],
    error: &FormError,
) -> Markup {
    let token = &person.form_token;
    let path = format!("/recurring/{}", stream.id);
    html! {
        div.columns {
            section.card aria-labelledby="manage" {
                h2 id="manage" { "Name, type and amount" }
                (fields::form(&path, token, labels(stream, typed, error)))
            }
            div {
                (merging(person, stream, others))
                section.card aria-labelledby="dismissing" {
                    h2 id="dismissing" { "Not a recurring payment?" }
                    p.soft {
                        "Dismiss it to leave it out of lists, totals, the calendar and forecasts. "
                        "Its transactions stay as they are, and you can bring it back at any time."
                    }
                    (fields::button(&format!("{path}/dismiss"), token, "Dismiss payment", "outlined"))
                }
            }
        }
    }
}

fn labels(stream: &Stream, typed: &LabelsForm, error: &FormError) -> Markup {
    let automatic = [("", "Automatic")].into_iter();
    let kinds: Vec<_> = automatic.chain(KINDS.iter().map(|it| (it.as_str(), kind(*it)))).collect();
    let name = Field::text("name", "Name", &typed.name).optional();
    let label = format!("Amount of the next payments ({})", stream.currency.code());
    let amount = Field::text("amount", &label, &typed.amount).optional();
    html! {
        (error.summary())
        (name.hint("Leave it empty for the automatic name.").show(error))
        @if stream.direction == Direction::Outflow {
            (fields::select("stream_type", "Type", &kinds, typed.kind.map_or("", Kind::as_str)))
        }
        (amount.hint("Leave it empty to use what was paid before.").show(error))
        div.actions { button.outlined type="submit" { "Save changes" } }
    }
}

/// The payments that were merged into this one, and the form that merges it into another.
fn merging(person: &Person, stream: &Stream, others: &[(Stream, String)]) -> Markup {
    let token = &person.form_token;
    let fits = |it: &&(Stream, String)| {
        it.0.id != stream.id
            && (it.0.direction, it.0.currency) == (stream.direction, stream.currency)
    };
    let mut options: Vec<(String, String)> = others
        .iter()
        .filter(fits)
        .map(|(it, account)| (it.id.to_string(), format!("{} ({account})", it.name)))
        .collect();
    options.sort_by(|a, b| a.1.cmp(&b.1));
    let options: Vec<(&str, &str)> = [("", "Choose a payment")]
        .into_iter()
        .chain(options.iter().map(|(id, name)| (id.as_str(), name.as_str())))
        .collect();
    let body = html! {
        (fields::select("into", "Merge into", &options, ""))
        button.outlined type="submit" { "Merge payments" }
    };
    html! {
        @if !stream.merged.is_empty() || options.len() > 1 {
            section.card aria-labelledby="merging" {
                h2 id="merging" { "The same payment twice?" }
                @if !stream.merged.is_empty() {
                    p.soft { "Merged into this payment:" }
                    ul.rows {
                        @for part in &stream.merged {
                            li {
                                span.what { (part.name) }
                                (fields::button(
                                    &format!("/recurring/{}/separate", part.id), token, "Separate", "outlined"))
                            }
                        }
                    }
                }
                @if options.len() > 1 {
                    p.soft {
                        "Merge it if your card or the company's name changed, and one payment is listed as two. \
                         You can separate them again."
                    }
                    (fields::form(&format!("/recurring/{}/merge", stream.id), token, body))
                }
            }
        }
    }
}

/// The note on the page of a payment that was merged into another.
pub(super) fn merged(person: &Person, stream: &Stream, target: StreamId) -> Markup {
    let path = format!("/recurring/{}/separate", stream.id);
    html! {
        section.card aria-labelledby="merging" {
            h2 id="merging" { "You merged this payment into another" }
            p { a href={ "/recurring/" (target) } { "Go to the merged payment" } }
            (fields::button(&path, &person.form_token, "Separate payments", "outlined"))
        }
    }
}

/// The note on the page of a dismissed payment.
pub(super) fn dismissed(person: &Person, stream: &Stream) -> Markup {
    html! {
        section.card aria-labelledby="dismissing" {
            h2 id="dismissing" { "You dismissed this payment" }
            p.soft { "It is in no list, total, calendar or forecast." }
            (restore_button(person, stream))
        }
    }
}

pub(super) fn restore_button(person: &Person, stream: &Stream) -> Markup {
    let path = format!("/recurring/{}/restore", stream.id);
    fields::button(&path, &person.form_token, "Restore payment", "outlined")
}
