//! `evenkeel user`: creates, lists and deletes people, and sets passwords.

use std::io::IsTerminal as _;

use anyhow::{Result, bail};
use base::{Currency, TimeZone};
use serde_json::json;
use service::access::profiles;
use service::access::users::{self, NewUser};
use service::{App, Error};

use super::{generate_password, instant, person, print, print_json, read_line};
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};

/// The most people that are listed.
const LISTED_MAX: usize = 10_000;

pub(crate) async fn run(config: &Config, command: &cli::User) -> Result<()> {
    let want = match command {
        cli::User::Create(_) => IfMissing::Create,
        _ => IfMissing::Fail,
    };
    let app = open::app(config, want).await?;
    match command {
        cli::User::Create(new) => create(&app, new).await,
        cli::User::List { output } => list(&app, output.json).await,
        cli::User::Password { email, password, drop_second_step } => {
            set_password(&app, email, password, *drop_second_step).await
        }
        cli::User::Delete { email, yes } => delete(&app, email, *yes).await,
    }
}

async fn create(app: &App, new: &cli::NewUser) -> Result<()> {
    let currency = Currency::parse(&new.currency.to_uppercase());
    let currency =
        currency.map_err(|error| Error::invalid("currency", format!("currency {error}")));
    let timezone = TimeZone::parse(&new.timezone);
    let timezone =
        timezone.map_err(|error| Error::invalid("timezone", format!("timezone {error}")));
    let (password, made) = choose_password(app, &new.password)?;
    let user = users::create(
        app,
        NewUser {
            email: new.email.clone(),
            preferred_name: new.name.clone(),
            base_currency: currency?,
            timezone: timezone?,
            password: Some(password.clone()),
        },
    );
    let user = user.await?;
    if new.output.json {
        let mut shown = json_of(&user);
        if made {
            shown["password"] = password.into();
        }
        return print_json(&shown);
    }
    print(&format!("Created {} ({}).\n", user.email, user.id))?;
    if made { print(&password_note(&password)) } else { Ok(()) }
}

async fn list(app: &App, as_json: bool) -> Result<()> {
    let users = users::list(app, LISTED_MAX).await?;
    if as_json {
        return print_json(&users.iter().map(json_of).collect());
    }
    if users.is_empty() {
        return print("No accounts yet. Create one with `evenkeel user create EMAIL`.\n");
    }
    let width = users.iter().map(|it| it.email.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for user in &users {
        let name = user.preferred_name.as_deref().unwrap_or("");
        let line = format!("{:width$}  {}  {}  {name}", user.email, user.id, user.base_currency);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    print(&text)
}

async fn set_password(
    app: &App,
    email: &str,
    password: &cli::PasswordFrom,
    drop_second_step: bool,
) -> Result<()> {
    let user = person(app, email).await?;
    let (password, made) = choose_password(app, password)?;
    profiles::reset_password(app, user.id, &password).await?;
    print(&format!("Password of {} changed.\n", user.email))?;
    if drop_second_step {
        profiles::set_second_step(app, &user.owner(), false).await?;
        print(&format!("Two-step sign-in of {} is off.\n", user.email))?;
    }
    if made { print(&password_note(&password)) } else { Ok(()) }
}

async fn delete(app: &App, email: &str, yes: bool) -> Result<()> {
    let user = person(app, email).await?;
    if !yes {
        confirm(&user.email)?;
    }
    users::delete(app, user.id).await?;
    print(&format!("Deleted {} and all their data.\n", user.email))
}

fn confirm(email: &str) -> Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("this permanently deletes {email} and all their data; confirm with --yes");
    }
    eprint!(
        "This permanently deletes {email} and all their data. Type the email address to continue: "
    );
    if read_line()? != email {
        bail!("the address does not match; nothing was deleted");
    }
    Ok(())
}

/// The password, and whether it was generated and must be shown.
fn choose_password(app: &App, password: &cli::PasswordFrom) -> Result<(String, bool)> {
    if password.password_stdin {
        return Ok((read_line()?, false));
    }
    Ok((generate_password(&app.entropy), true))
}

fn password_note(password: &str) -> String {
    format!("Password (shown only once): {password}\n")
}

fn json_of(user: &users::User) -> serde_json::Value {
    json!({
        "id": user.id.to_string(),
        "email": user.email,
        "preferred_name": user.preferred_name,
        "base_currency": user.base_currency.code(),
        "timezone": user.timezone.name(),
        "created_at": instant(user.created_at),
    })
}
