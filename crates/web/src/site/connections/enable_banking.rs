//! The part of the page to add a bank that is about Enable Banking: the person's application, the country and the bank.

use base::draft::Source;
use maud::{Markup, html};
use service::ingest::connections::{self, Connection, KeysStatus};

use super::HOME;
use super::add_parts::{already, elsewhere, heading};
use crate::site::fields::{self, Field, FormError};
use crate::site::person::Person;

pub(super) const BANKS: &str = "/connections/enable-banking/banks";
const DELETE: &str = "/connections/enable-banking/keys/delete";
const CONTROL_PANEL: &str = "https://enablebanking.com/cp/applications";

/// Countries of the European Economic Area and the United Kingdom, where Enable Banking has banks.
pub(super) const COUNTRIES: [(&str, &str); 31] = [
    ("AT", "Austria"),
    ("BE", "Belgium"),
    ("BG", "Bulgaria"),
    ("HR", "Croatia"),
    ("CY", "Cyprus"),
    ("CZ", "Czechia"),
    ("DK", "Denmark"),
    ("EE", "Estonia"),
    ("FI", "Finland"),
    ("FR", "France"),
    ("DE", "Germany"),
    ("GR", "Greece"),
    ("HU", "Hungary"),
    ("IS", "Iceland"),
    ("IE", "Ireland"),
    ("IT", "Italy"),
    ("LV", "Latvia"),
    ("LI", "Liechtenstein"),
    ("LT", "Lithuania"),
    ("LU", "Luxembourg"),
    ("MT", "Malta"),
    ("NL", "Netherlands"),
    ("NO", "Norway"),
    ("PL", "Poland"),
    ("PT", "Portugal"),
    ("RO", "Romania"),
    ("SK", "Slovakia"),
    ("SI", "Slovenia"),
    ("ES", "Spain"),
    ("SE", "Sweden"),
    ("GB", "United Kingdom"),
];

pub(super) async fn status(person: &Person) -> service::Result<KeysStatus> {
    connections::keys_status(person.app(), &person.caller, Source::EnableBanking).await
}

pub(super) fn card(
    person: &Person,
    status: KeysStatus,
    connected: &[Connection],
    wrong: &FormError,
) -> Markup {
    html! {
        section.card aria-labelledby="enable-banking" {
            (heading("enable-banking", "Enable Banking", "Free for your own accounts"))
            p {
                "Enable Banking connects to banks in Europe. You consent on your bank's page, for up to 180 days, and \
                 then again. Evenkeel reminds you."
            }
            @if status.is_any() {
                (already(connected, Source::EnableBanking))
                form method="get" action=(BANKS) {
                    (fields::select("country", "Country of your bank", &COUNTRIES, "DE"))
                    button.primary type="submit" { "Choose your bank" }
                }
                details.confirm {
                    summary { "Change or delete your application" }
                    (keys_form(person, wrong))
                    (fields::button(DELETE, &person.form_token, "Delete application", "danger"))
                }
            } @else { (steps(person, wrong)) }
        }
    }
}

fn steps(person: &Person, wrong: &FormError) -> Markup {
    let base = person.public_url().trim_end_matches('/');
    let is_https = base.starts_with("https://");
    html! {
        ol.steps {
            li {
                p {
                    strong { "Register an application." } " In "
                    (elsewhere(CONTROL_PANEL, "Enable Banking's control panel"))
                    ", add one for production, with the redirect address "
                    code { (base) (HOME) "/enable-banking/back" }
                    ". Your browser downloads its private key."
                }
                @if !is_https {
                    p.wrong {
                        "Enable Banking needs an https address. Set public_url to one that your browser can reach."
                    }
                }
            }
            li {
                p {
                    strong { "Link your accounts there." }
                    " Sign in to each of your banks once in the control panel. That makes the application active, free \
                     of charge, for these accounts."
                }
            }
            li {
                p { strong { "Enter the application here." } " Then choose your bank." }
                (keys_form(person, wrong))
            }
        }
    }
}

fn keys_form(person: &Person, wrong: &FormError) -> Markup {
    let id = Field::text("application_id", "Application id", "");
    fields::form(
        "/connections/enable-banking/keys",
        &person.form_token,
        html! {
            (id.show(wrong))
            div.field {
                label for="f-private_key" { "Private key" }
                textarea id="f-private_key" name="private_key" rows="4" required autocomplete="off"
                    spellcheck="false" {}
                p.soft { "The whole file. It is stored encrypted, and used only to sign requests." }
            }
            button.outlined type="submit" { "Save application" }
        },
    )
}
