//! The settings of email.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use net::{Login, Mailbox, Security, SmtpSettings};

use super::layers::Settings;

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
