//! The settings of email: their names, types and defaults.

use super::key::Key;
use super::value::Kind;

pub(super) const MAIL_KEYS: &[Key] = &[
    Key {
        name: "mail.server",
        kind: Kind::Text,
        default: None,
        secret: false,
        about: "Host name of the mail server (SMTP) that messages are sent through; by default no email is sent.",
    },
    Key {
        name: "mail.port",
        kind: Kind::Count { from: 1, to: 65_535 },
        default: Some("587"),
        secret: false,
        about: "Port of the mail server: usually 587 with starttls, 465 with tls.",
    },
    Key {
        name: "mail.security",
        kind: Kind::Word(&["starttls", "tls", "none"]),
        default: Some("starttls"),
        secret: false,
        about: "How the connection is encrypted; none is accepted only for a server on this machine.",
    },
    Key {
        name: "mail.user",
        kind: Kind::Text,
        default: None,
        secret: false,
        about: "User name at the mail server; by default Evenkeel does not sign in.",
    },
    Key {
        name: "mail.password",
        kind: Kind::Secret,
        default: None,
        secret: true,
        about: "Password at the mail server.",
    },
    Key {
        name: "mail.from",
        kind: Kind::Text,
        default: None,
        secret: false,
        about: "Sender of messages, such as Evenkeel <money@example.com>.",
    },
    Key {
        name: "mail.ca_file",
        kind: Kind::Path,
        default: None,
        secret: false,
        about: "PEM file of certificate authorities to trust for the mail server, in addition to the system's.",
    },
];
