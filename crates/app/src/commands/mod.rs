//! Commands other than the server and the demo.

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod benefit;
pub(crate) mod connect;
mod connect_europe;
mod connect_link;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod healthy;
pub(crate) mod import;
pub(crate) mod key;
pub(crate) mod mail;
pub(crate) mod mcp_stdio;
pub(crate) mod migrate;
pub(crate) mod rates;
mod rotate_key;
pub(crate) mod shard;
pub(crate) mod sync;
pub(crate) mod user;

use std::io::{self, BufRead as _};

use anyhow::{Context as _, Result, bail};
use base::{Entropy, Timestamp};
use service::App;
use service::access::users;

pub(crate) use crate::output::{print, print_json};

/// An instant in JSON output, as the API writes it: in UTC with milliseconds.
pub(crate) fn instant(at: Timestamp) -> String {
    let mut text = Vec::with_capacity(24);
    base::write_instant(&mut text, at.as_microsecond());
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads one line of standard input, without its line break.
pub(crate) fn read_line() -> Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("cannot read from standard input")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A password of 100 random bits, in unambiguous letters and short groups.
pub(crate) fn generate_password(entropy: &Entropy) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
    let bytes: [u8; 20] = entropy.bytes();
    let mut password = String::new();
    for (index, byte) in bytes.into_iter().enumerate() {
        if index > 0 && index % 5 == 0 {
            password.push('-');
        }
        password.push(char::from(LETTERS[usize::from(byte % 32)]));
    }
    password
}

/// The person with that email address.
pub(crate) async fn person(app: &App, email: &str) -> Result<users::User> {
    let found = users::find_by_email(app, email).await?;
    match found {
        Some(user) => Ok(user),
        None => bail!("no account has the email address {email}; see `evenkeel user list`"),
    }
}

/// The named person, or the only one.
pub(crate) async fn named_or_only_person(app: &App, email: Option<&str>) -> Result<users::User> {
    if let Some(email) = email {
        return person(app, email).await;
    }
    let mut first = users::list(app, 2).await?;
    match (first.pop(), first.pop()) {
        (Some(only), None) => Ok(only),
        (None, _) => bail!("no account exists yet; create one with `evenkeel user create EMAIL`"),
        (Some(_), Some(_)) => {
            bail!("there are several accounts; choose one with --user EMAIL")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_password_is_long_enough_and_readable() {
        let password = generate_password(&Entropy::seeded(1));
        assert_eq!((password.len(), password.matches('-').count()), (23, 3));
        assert!(password.len() >= service::access::passwords::LENGTH_MIN);
        assert_ne!(password, generate_password(&Entropy::seeded(2)));
    }
}
