//! Buttons with which people show who they are: by a passkey, or at a provider of single sign-on.

use maud::{Markup, html};
use service::access::oidc::LinkedIdentity;
use service::access::passkeys::RelyingParty;

use super::person::Person;
use super::urls;

/// Links that prove one's identity with each provider that one of these identities is from.
pub(super) fn sign_on_proofs(person: &Person, identities: &[LinkedIdentity], next: &str) -> Markup {
    let is_linked = |issuer: &str| identities.iter().any(|it| it.issuer == issuer);
    html! {
        @for provider in person.app().single_sign_on.providers().filter(|it| is_linked(&it.issuer)) {
            @let query = urls::query_string(&[("next", next)]);
            p {
                a.button.outlined href={ "/sign-on/" (provider.name) "/confirm" (query) } {
                    "Confirm with " (provider.label)
                }
            }
        }
    }
}

/// A button that asks the browser for a passkey. The script shows it if the browser supports passkeys on this host.
pub(super) fn passkey_button(
    party: &RelyingParty,
    action: &str,
    label: &str,
    token: &str,
    next: &str,
) -> Markup {
    passkey_box(party, (action, label), token, next, None)
}

/// A passkey button that confirms a sensitive change and then submits the form with that id.
pub(super) fn proof_button(party: &RelyingParty, token: &str, next: &str, form: &str) -> Markup {
    passkey_box(party, ("prove", "Use passkey"), token, next, Some(form))
}

fn passkey_box(
    party: &RelyingParty,
    (action, label): (&str, &str),
    token: &str,
    next: &str,
    form: Option<&str>,
) -> Markup {
    let origin = party.origins.first().map_or("", String::as_str);
    html! {
        div.passkey data-passkey=(action) data-token=(token) data-next=(next) data-origin=(origin)
            data-form=[form] {
            button.outlined type="button" hidden { (label) }
            p.wrong role="alert" hidden {}
            p.soft data-unsupported hidden { "This browser can't use passkeys." }
            p.soft data-elsewhere hidden {
                "To use a passkey, open this page at " a href={ (origin) (next) } { (origin) } "."
            }
            noscript { p.soft { "Passkeys need JavaScript, which is turned off in your browser." } }
        }
    }
}
