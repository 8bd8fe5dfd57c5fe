//! The settings of single sign-on, most of which exist once for each provider.

use super::key::Key;
use super::value::Kind;

pub(super) const PROVIDER_KEYS: &[Key] = &[
    Key {
        name: "oidc.ca_file",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "Certificate authorities in PEM to trust for providers of single sign-on, besides the system's.",
    },
    Key {
        name: "oidc.*.issuer",
        kind: Kind::Issuer,
        default: None,
        secret: false,
        about: "A provider of single sign-on (OpenID Connect), exactly as it calls itself.",
    },
    Key {
        name: "oidc.*.client_id",
        kind: Kind::Text,
        default: None,
        secret: false,
        about: "The id that the provider gave this installation.",
    },
    Key {
        name: "oidc.*.client_secret",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "The secret that the provider gave this installation; none for a public client.",
    },
    Key {
        name: "oidc.*.label",
        kind: Kind::Text,
        default: None,
        secret: false,
        about: "The provider's name on buttons; by default NAME with a capital letter.",
    },
    Key {
        name: "oidc.*.scopes",
        kind: Kind::Words,
        default: Some("openid, profile, email"),
        secret: false,
        about: "Scopes to ask the provider for; add groups if your provider needs it.",
    },
    Key {
        name: "oidc.*.groups_claim",
        kind: Kind::Text,
        default: Some("groups"),
        secret: false,
        about: "The claim that lists a person's groups; dots lead inside, as in realm_access.roles.",
    },
    Key {
        name: "oidc.*.create_for_domains",
        kind: Kind::Words,
        default: Some(""),
        secret: false,
        about: "People whose verified email is in one of these domains get an account when they first sign in.",
    },
    Key {
        name: "oidc.*.create_for_groups",
        kind: Kind::Words,
        default: Some(""),
        secret: false,
        about: "People in one of these groups get an account when they first sign in.",
    },
    Key {
        name: "oidc.*.admin_groups",
        kind: Kind::Words,
        default: Some(""),
        secret: false,
        about: "People in one of these groups are admins, others are not; by default the provider does not decide.",
    },
    Key {
        name: "oidc.*.link_verified_email",
        kind: Kind::Switch,
        default: Some("false"),
        secret: false,
        about: "Whether an email that the provider has verified leads to the account with the same email.",
    },
];
