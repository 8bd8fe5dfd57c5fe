//! The settings of email.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use net::{Login, Mailbox, Security, SmtpSettings};

use super::key::Key;
use super::layers::Settings;
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

pub(crate) struct MailSettings {
    pub(crate) smtp: SmtpSettings,
    pub(crate) from: Mailbox,
    pub(crate) public_url: String,
    pub(crate) ca_file: Option<PathBuf>,
}

pub(super) fn settings(all: &Settings) -> Result<Option<MailSettings>> {
    let Some(host) = all.maybe_text("mail.server") else { return Ok(None) };
    let plain = |it: char| it.is_ascii_alphanumeric() || "-._:[]".contains(it);
    ensure!(host.chars().all(plain), "mail.server must be a host name such as smtp.example.com");
    let from = all.maybe_text("mail.from").context("mail.server needs mail.from; set it")?;
    let from = Mailbox::parse(&from);
    let from = from.context("mail.from must look like Evenkeel <money@example.com>")?;
    let public_url = all.maybe_text("public_url");
    let public_url =
        public_url.context("mail.server needs public_url, so that links in messages lead here")?;
    let (user, password) = (all.maybe_text("mail.user"), all.maybe_text("mail.password"));
    ensure!(
        user.is_some() == password.is_some(),
        "mail.user and mail.password belong together; set both or neither"
    );
    let own_name = public_url.split("://").nth(1).and_then(|it| it.split(':').next());
    let own_name = own_name.filter(|it| !it.starts_with('[')).unwrap_or("localhost").to_owned();
    let smtp = SmtpSettings {
        host,
        port: u16::try_from(all.count("mail.port")?)?,
        security: match all.text("mail.security")?.as_str() {
            "tls" => Security::Tls,
            "none" => Security::None,
            _ => Security::StartTls,
        },
        login: user.zip(password).map(|(user, password)| Login { user, password }),
        own_name,
    };
    let ca_file = all.maybe_text("mail.ca_file").map(PathBuf::from);
    Ok(Some(MailSettings { smtp, from, public_url, ca_file }))
}
