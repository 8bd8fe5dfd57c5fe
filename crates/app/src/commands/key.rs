//! `evenkeel key`: creates, lists and revokes API keys.

use anyhow::{Context as _, Result, bail};
use base::{AccountId, Date, KeyId, Timestamp};
use serde_json::json;
use service::access::keys::{self, ApiKey, NewKey};
use service::{App, Scopes};

use super::{instant, named_or_only_person, print, print_json, rotate_key};
use crate::cli;
use crate::config::Config;
use crate::data_dir;
use crate::open::{self, IfMissing};

pub(crate) async fn run(config: &Config, command: &cli::Key) -> Result<()> {
    if let cli::Key::RotateInstallation { new_key_file } = command {
        return rotate_key::run(config, new_key_file.as_deref()).await;
    }
    let app = open::app(config, IfMissing::Fail).await?;
    match command {
        cli::Key::RotateInstallation { .. } => Ok(()),
        cli::Key::Create(new) => create(&app, new, &url(config)).await,
        cli::Key::List { person, output } => list(&app, person, output.json).await,
        cli::Key::Revoke { id, person } => revoke(&app, person, id).await,
    }
}

async fn create(app: &App, new: &cli::NewKey, url: &str) -> Result<()> {
    let user = named_or_only_person(app, new.person.user.as_deref()).await?;
    let scopes = match &new.scopes {
        _ if new.read_only => Scopes::read_only(),
        Some(words) => Scopes::parse(words).map_err(service::Error::from)?,
        None => Scopes::all(),
    };
    let account = |text: &String| {
        AccountId::parse(text.trim()).with_context(|| format!("{text} is not an account id"))
    };
    let accounts = new.accounts.as_ref().map(|ids| ids.iter().map(account).collect());
    let expires = new.expires.as_deref().map(|it| expiry(it, app.clock.now()));
    let new_key = NewKey {
        name: new.name.clone(),
        scopes,
        accounts: accounts.transpose()?,
        expires_at: expires.transpose()?,
    };
    let (key, secret) = keys::create(app, &user.owner(), new_key).await?;
    if new.output.json {
        let mut shown = json_of(&key);
        shown["key"] = secret.into();
        return print_json(&shown);
    }
    print(&format!(
        "{secret}\n\nThis is {}'s key \"{}\", shown this once. Try it:\n\n  {}\n",
        user.email,
        key.name,
        curl(&secret, url, "/v1/me")
    ))
}

async fn list(app: &App, person: &cli::PersonArgs, as_json: bool) -> Result<()> {
    let user = named_or_only_person(app, person.user.as_deref()).await?;
    let keys = keys::list(app, &user.owner()).await?;
    if as_json {
        return print_json(&keys.iter().map(json_of).collect());
    }
    if keys.is_empty() {
        return print(&format!("{} has no API keys.\n", user.email));
    }
    let width = keys.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let now = app.clock.now();
    let mut text = String::new();
    for key in &keys {
        let used = match key.last_used_at {
            Some(at) => format!("last used {at:.0}"),
            None => "never used".to_owned(),
        };
        text.push_str(&format!(
            "{}  {:width$}  ...{}  {}, {used}\n",
            key.id,
            key.name,
            key.hint,
            state(key, now)
        ));
    }
    print(&text)
}

async fn revoke(app: &App, person: &cli::PersonArgs, id: &str) -> Result<()> {
    let user = named_or_only_person(app, person.user.as_deref()).await?;
    let key = KeyId::parse(id).with_context(|| format!("{id} is not a key id"))?;
    match keys::revoke(app, &user.owner(), key).await {
        Ok(()) => print("Key revoked. It stops working within a second.\n"),
        Err(service::Error::NotFound(_)) => {
            bail!(
                "{} does not have this key, or it is already revoked; see `evenkeel key list`",
                user.email
            )
        }
        Err(error) => Err(error.into()),
    }
}

fn state(key: &ApiKey, now: Timestamp) -> String {
    match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {at:.0}"),
        (None, Some(at)) if at <= now => format!("expired {at:.0}"),
        (None, Some(at)) => format!("valid until {at:.0}"),
        (None, None) => "valid".to_owned(),
    }
}

fn json_of(key: &ApiKey) -> serde_json::Value {
    let text = |at: Option<Timestamp>| at.map(instant);
    json!({
        "id": key.id.to_string(),
        "name": key.name,
        "hint": key.hint,
        "scopes": key.scopes.iter().map(|it| it.as_str()).collect::<Vec<_>>(),
        "limited_to_accounts": key.limited,
        "expires_at": text(key.expires_at),
        "last_used_at": text(key.last_used_at),
        "last_used_address": key.last_used_address,
        "revoked_at": text(key.revoked_at),
        "created_at": instant(key.created_at),
    })
}

/// Parses an expiry: `90d` from now, or the end of a date.
fn expiry(text: &str, now: Timestamp) -> Result<Timestamp> {
    const DAY: i64 = 86_400_000_000;
    let days = text.strip_suffix('d').and_then(|it| it.parse::<i64>().ok());
    let micros = match (days, text.parse::<Date>()) {
        (Some(days), _) => {
            days.checked_mul(DAY).and_then(|it| it.checked_add(now.as_microsecond()))
        }
        (None, Ok(date)) => Some((base::days_from_date(date) + 1) * DAY),
        (None, Err(_)) => None,
    };
    let at = micros.and_then(|it| Timestamp::from_microsecond(it).ok());
    at.with_context(|| {
        format!("--expires must be days such as 90d or a date such as 2027-12-31, not {text}")
    })
}

/// The server's address from the settings, or where it last listened.
pub(crate) fn url(config: &Config) -> String {
    let known = config.public_url.clone().or_else(|| data_dir::saved_address(config));
    known.unwrap_or_else(|| format!("http://{}", config.listen))
}

/// A command to paste into a shell.
pub(crate) fn curl(secret: &str, url: &str, path: &str) -> String {
    format!("curl -H 'Authorization: Bearer {secret}' '{url}{path}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_number_of_days_or_the_end_of_a_date() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("90d", "2026-05-30T12:00:00Z"),
            ("1d", "2026-03-02T12:00:00Z"),
            ("2026-12-31", "2027-01-01T00:00:00Z"),
        ] {
            assert_eq!(expiry(text, now).unwrap().to_string(), expected);
        }
        for bad in ["", "d", "90", "soon", "2026-02-30", "9223372036854775807d"] {
            assert!(expiry(bad, now).is_err(), "{bad}");
        }
    }
}
