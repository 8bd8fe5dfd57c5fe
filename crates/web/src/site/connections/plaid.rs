//! The part of the page to add a bank that is about Plaid: its keys, and the button that connects a bank.

use base::draft::Source;
use maud::{Markup, html};
use service::ingest::connections::{self, Connection, KeysStatus};

use super::add_parts::{Region, already, elsewhere, heading, region_field};
use crate::site::fields::{self, Field, FormError};
use crate::site::person::Person;

/// The bank logins that Plaid's Trial plan has room for. Plaid does not say that an ended one gives its place back.
const TRIAL_LOGINS: i64 = 10;

pub(super) async fn status(person: &Person) -> service::Result<KeysStatus> {
    connections::keys_status(person.app(), &person.caller, Source::Plaid).await
}

pub(super) fn card(
    person: &Person,
    region: Region,
    status: KeysStatus,
    connected: &[Connection],
    wrong: &FormError,
) -> Markup {
    html! {
        section.card aria-labelledby="plaid" {
            (heading("plaid", "Plaid", "Free for ten bank logins"))
            p { "Plaid connects to most banks in the US and Canada. You sign in to your bank on Plaid's page." }
            @if status.is_any() {
                (already(connected, Source::Plaid))
                @if status.is_own { (places(status.logins)) }
                (fields::form("/connections/plaid/link", &person.form_token, html! {
                    (region_field(region))
                    button.primary type="submit" { "Connect a bank with Plaid" }
                }))
            }
            @if status.is_own {
                details.confirm {
                    summary { "Change or delete your Plaid keys" }
                    (keys_form(person, region, wrong))
                    (fields::button("/connections/plaid/keys/delete", &person.form_token, "Delete keys", "danger"))
                }
            } @else if status.is_installations {
                details.confirm {
                    summary { "Use your own Plaid keys" }
                    (keys_form(person, region, wrong))
                }
            } @else { (steps(person, region, wrong)) }
        }
    }
}

/// How many places of the Trial plan are used, with a warning when few are left.
fn places(used: i64) -> Markup {
    html! {
        p.soft {
            "Trial plan: " (used) " of " (TRIAL_LOGINS) " bank logins used since you entered your keys. \
             Disconnected banks count too."
        }
        @if used >= TRIAL_LOGINS {
            p.wrong { "Plaid may refuse more banks until you change your plan." }
        }
    }
}

fn steps(person: &Person, region: Region, wrong: &FormError) -> Markup {
    let base = person.public_url().trim_end_matches('/');
    let back = base.starts_with("https://").then(|| format!("{base}/connections/plaid/back"));
    html! {
        ol.steps {
            li {
                p {
                    strong { "Create a Plaid account." } " "
                    (elsewhere("https://dashboard.plaid.com/signup", "Sign up in Plaid's dashboard"))
                    " and choose the Trial plan. It's free and needs no company or contract."
                }
            }
            li {
                p {
                    strong { "Copy your keys." } " The client id and the production secret are on the page "
                    (elsewhere("https://dashboard.plaid.com/developers/keys", "Keys")) "."
                    @if let Some(back) = &back {
                        " On the page " (elsewhere("https://dashboard.plaid.com/developers/api", "API"))
                        ", add " code { (back) } " to the allowed redirect addresses."
                    }
                }
            }
            li {
                p { strong { "Enter the keys here." } " Then sign in to your bank on Plaid's page." }
                (keys_form(person, region, wrong))
            }
        }
    }
}

fn keys_form(person: &Person, region: Region, wrong: &FormError) -> Markup {
    let id = Field::text("client_id", "Client id", "");
    let secret = Field::text("secret", "Secret", "")
        .kind("password")
        .hint("It is stored encrypted, and used only for requests to Plaid.");
    let environments = [("production", "Production"), ("sandbox", "Sandbox, with test data")];
    fields::form(
        "/connections/plaid/keys",
        &person.form_token,
        html! {
            (region_field(region))
            (id.show(wrong))
            (secret.show(wrong))
            (fields::select("environment", "Environment", &environments, "production"))
            button.outlined type="submit" { "Save keys" }
        },
    )
}
