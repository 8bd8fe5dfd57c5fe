//! Access: people, sign-in, sessions, passkeys, API keys and OAuth apps.

pub(crate) mod codes;
pub mod devices;
pub mod images;
pub mod invitations;
pub mod keys;
pub mod oauth;
pub mod oidc;
pub mod passkeys;
pub mod password_resets;
pub mod passwords;
pub mod profiles;
pub mod recovery;
pub(crate) mod scopes;
pub mod sessions;
pub mod sign_ins;
pub(crate) mod tokens;
pub mod users;
