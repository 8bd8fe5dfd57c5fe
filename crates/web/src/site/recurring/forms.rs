//! The forms on the page of a recurring payment: its name and type, and dismissing it.

use maud::{Markup, html};
use service::insights::recurring::{Kind, Stream, StreamLabels};
use service::ledger::Direction;

use super::kind;
use crate::site::fields::{self, Field, FormError};
use crate::site::person::Person;

/// The types that the person can choose.
const KINDS: [Kind; 3] = [Kind::Bill, Kind::Subscription, Kind::Other];

/// The forms of a payment that was not dismissed.
pub(super) fn forms(
    person: &Person,
    stream: &Stream,
    labels: &StreamLabels,
    error: &FormError,
) -> Markup {
    let token = &person.form_token;
    let path = format!("/recurring/{}", stream.id);
    let automatic = [("", "Automatic")].into_iter();
    let kinds: Vec<_> = automatic.chain(KINDS.iter().map(|it| (it.as_str(), kind(*it)))).collect();
    let name = Field::text("name", "Name", labels.name.as_deref().unwrap_or_default()).optional();
    let fields = html! {
        (error.summary())
        (name.hint("Leave it empty for the automatic name.").show(error))
        @if stream.direction == Direction::Outflow {
            (fields::select("stream_type", "Type", &kinds, labels.kind.map_or("", Kind::as_str)))
        }
        div.actions { button.outlined type="submit" { "Save changes" } }
    };
    html! {
        section.card aria-labelledby="manage" {
            h2 id="manage" { "Name and type" }
            (fields::form(&path, token, fields))
        }
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
