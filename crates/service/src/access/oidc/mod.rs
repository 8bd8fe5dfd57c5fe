//! Single sign-on: people sign in with their account at a provider of OpenID Connect that the operator has set up. An
//! account here belongs to an identity there by issuer and subject, never by email alone.

mod claims;
mod exchange;
mod finish;
mod flows;
mod id_token;
mod identities;
mod metadata;
mod provider;
mod start;

pub use finish::{Callback, Outcome, finish};
pub use flows::forget_once;
pub use identities::{LinkedIdentity, list, unlink};
pub use metadata::check_issuer;
pub use provider::{ProviderSettings, SingleSignOn};
pub use start::{Browser, start_link, start_proof, start_sign_in};

pub(crate) fn statements() -> Vec<&'static str> {
    [finish::STATEMENTS, flows::STATEMENTS, identities::STATEMENTS].concat()
}
