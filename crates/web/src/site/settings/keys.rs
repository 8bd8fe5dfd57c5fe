//! The API keys page: list, create and revoke keys. A new key is shown once.

use axum::extract::Path;
use base::{AccountId, KeyId, Timestamp};
use http::StatusCode;
use maud::{Markup, html};
use service::access::keys::{self, ApiKey, NewKey};
use service::ledger::accounts::{self, Account, Status};
use service::{Error, Scopes};
use wire::v1::Scope;

use super::{Settings, Tab};
use crate::api::{ENDPOINTS, Verb};
use crate::site::app_page::see_other;
use crate::site::assets::Asset;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::snippet;

const DAY_SECONDS: i64 = 86_400;
/// The choices for a key's expiry in days, or `never`.
const LIVES: [(&str, &str); 4] =
    [("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("never", "Never")];

pub(super) async fn get(person: Person) -> PageResult {
    show(&person, StatusCode::OK, &FormValues::default(), &FormError::default()).await
}

/// Creates a key and shows it. It is shown only on this page and is not stored.
pub(super) async fn post(person: Person, form: Form) -> PageResult {
    let typed = FormValues::read(&form);
    let made = match new_key(&person, &typed).await {
        Ok(new) => keys::create(person.app(), &person.caller, new).await,
        Err(error) => Err(error),
    };
    match made {
        Ok((key, secret)) => {
            Ok(settings(StatusCode::OK).page(&person, made_page(&person, &key, &secret)))
        }
        Err(error) => {
            let wrong = FormError::from_error(error)?.and(typed.checks(person.app().clock.now()));
            show(&person, StatusCode::BAD_REQUEST, &typed, &wrong).await
        }
    }
}

pub(super) async fn revoke(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    let id = KeyId::parse(&id).map_err(|_| PageError::not_found())?;
    keys::revoke(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, "/settings/keys", "Key revoked."))
}

/// The values of the form, so that they are kept if the form is shown again.
struct FormValues {
    name: String,
    access: String,
    scopes: Vec<String>,
    reach: String,
    accounts: Vec<String>,
    life: String,
}

impl Default for FormValues {
    fn default() -> FormValues {
        FormValues {
            name: String::new(),
            access: "read_only".to_owned(),
            scopes: Vec::new(),
            reach: "all".to_owned(),
            accounts: Vec::new(),
            life: "365".to_owned(),
        }
    }
}

impl FormValues {
    fn read(form: &Form) -> FormValues {
        let all = |name| form.all(name).map(str::to_owned).collect();
        FormValues {
            name: form.text("name").to_owned(),
            access: form.text("access").to_owned(),
            scopes: all("scope"),
            reach: form.text("reach").to_owned(),
            accounts: all("account"),
            life: form.text("life").to_owned(),
        }
    }

    /// Each field on its own, so that all errors are shown at once.
    fn checks(&self, now: Timestamp) -> [Result<(), Error>; 4] {
        let name = match self.name.trim().is_empty() {
            true => Err(Error::invalid("name", "enter a name")),
            false => Ok(()),
        };
        let expiry = self.expires_at(now).map(drop);
        [name, self.scopes().map(drop), self.accounts().map(drop), expiry]
    }

    fn scopes(&self) -> Result<Scopes, Error> {
        match self.access.as_str() {
            "everything" => Ok(Scopes::all()),
            "read_only" => Ok(Scopes::read_only()),
            "custom" if self.scopes.is_empty() => {
                Err(Error::invalid("scope", "choose at least one permission"))
            }
            "custom" => Ok(Scopes::parse(&self.scopes.join(" "))?),
            _ => Err(Error::invalid("access", "choose the key's permissions")),
        }
    }

    fn accounts(&self) -> Result<Option<Vec<AccountId>>, Error> {
        match self.reach.as_str() {
            "all" => Ok(None),
            "some" if self.accounts.is_empty() => {
                Err(Error::invalid("account", "choose at least one account"))
            }
            "some" => {
                let unknown = || Error::invalid("account", "one of the accounts doesn't exist");
                let ids = self.accounts.iter().map(|it| AccountId::parse(it));
                ids.collect::<Result<_, _>>().map(Some).map_err(|_| unknown())
            }
            _ => Err(Error::invalid("reach", "choose the key's accounts")),
        }
    }

    fn expires_at(&self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let wrong = || Error::invalid("life", "choose when the key expires");
        if !LIVES.iter().any(|(value, _)| *value == self.life) {
            return Err(wrong());
        }
        let Ok(days) = self.life.parse::<i64>() else { return Ok(None) };
        Timestamp::from_second(now.as_second() + days * DAY_SECONDS).map(Some).map_err(|_| wrong())
    }
}

/// Checks that no active key has the same name. This also keeps a page reload from creating a second key.
async fn new_key(person: &Person, typed: &FormValues) -> Result<NewKey, Error> {
    let now = person.app().clock.now();
    let known = keys::list(person.app(), &person.caller).await?;
    if known.iter().any(|it| it.name == typed.name && it.is_active(now)) {
        let message = "you already have a key with this name. Keys can't be shown again. If you lost it, revoke it \
                       and create a new one";
        return Err(Error::invalid("name", message));
    }
    Ok(NewKey {
        name: typed.name.clone(),
        scopes: typed.scopes()?,
        accounts: typed.accounts()?,
        expires_at: typed.expires_at(now)?,
    })
}

fn settings(status: StatusCode) -> Settings {
    Settings { tab: Tab::Keys, status, scripts: &[Asset::Copying] }
}

async fn show(
    person: &Person,
    status: StatusCode,
    typed: &FormValues,
    wrong: &FormError,
) -> PageResult {
    let keys = keys::list(person.app(), &person.caller).await?;
    let filter = accounts::Filter { status: Status::All, include_hidden: true };
    let accounts = accounts::list(person.app(), &person.caller, filter).await?;
    let main = html! {
        (wrong.summary())
        section.card aria-labelledby="keys" {
            h2 id="keys" { "Your keys" }
            p.soft {
                "Programs use a key to access your data through the API. They can propose changes, but only you \
                 can approve them. " a href="/docs/start" { "How to use a key" }
            }
            @if keys.is_empty() {
                p { "You have no API keys yet. Create one below." }
            } @else {
                ul.key-list { @for key in &keys { (row(person, key, &accounts)) } }
            }
        }
        section.card aria-labelledby="new" {
            h2 id="new" { "Create API key" }
            (fields::form("/settings/keys", &person.form_token, new_form(typed, &accounts, wrong)))
        }
    };
    Ok(settings(status).page(person, main))
}

fn row(person: &Person, key: &ApiKey, accounts: &[Account]) -> Markup {
    let now = person.app().clock.now();
    let day = |at: Timestamp| person.view.day_at(at);
    let (state, badge) = match (key.revoked_at, key.is_active(now)) {
        (Some(_), _) => ("Revoked", "badge"),
        (None, false) => ("Expired", "badge warn"),
        (None, true) => ("Active", "badge good"),
    };
    let used = match (key.last_used_at, &key.last_used_address) {
        (Some(at), Some(address)) => format!("{} from {address}", person.view.time_ago(at, now)),
        (Some(at), None) => person.view.time_ago(at, now),
        (None, _) => "Never".to_owned(),
    };
    html! {
        li {
            div.heading {
                h3 { (key.name) " " code.soft { "ek_…" (key.hint) } }
                span class=(badge) { (state) }
            }
            dl.key-facts {
                div { dt { "Permissions" } dd { (scopes_text(key.scopes)) } }
                div { dt { "Accounts" } dd { (accounts_text(key, accounts)) } }
                @if let Some(at) = key.revoked_at {
                    div { dt { "Revoked" } dd { (day(at)) } }
                } @else {
                    div { dt { "Expires" } dd { (key.expires_at.map_or("Never".to_owned(), day)) } }
                }
                div { dt { "Last used" } dd { (used) } }
                div { dt { "Requests today" } dd { (key.requests_today) } }
            }
            @if key.is_active(now) { (ending(person, key)) }
        }
    }
}

/// The revoke button with an explanation.
fn ending(person: &Person, key: &ApiKey) -> Markup {
    let action = format!("/settings/keys/{}/revoke", key.id);
    html! {
        details.confirm {
            summary { "Revoke" span.hush { " " (key.name) } }
            p { "Programs using this key lose access immediately. This can't be undone." }
            (fields::button(&action, &person.form_token, "Revoke key", "danger"))
        }
    }
}

fn scopes_text(scopes: Scopes) -> String {
    if scopes == Scopes::all() {
        "Everything".to_owned()
    } else if scopes == Scopes::read_only() {
        "Read only".to_owned()
    } else {
        let words: Vec<&str> = scopes.iter().map(Scope::as_str).collect();
        words.join(", ")
    }
}

fn accounts_text(key: &ApiKey, accounts: &[Account]) -> String {
    if !key.limited {
        return "All".to_owned();
    }
    let name = |id: &AccountId| accounts.iter().find(|it| it.id == *id).map(|it| it.name.as_str());
    let names: Vec<&str> = key.accounts.iter().filter_map(name).collect();
    if names.is_empty() { "None".to_owned() } else { names.join(", ") }
}

fn new_form(typed: &FormValues, accounts: &[Account], wrong: &FormError) -> Markup {
    let name = Field::text("name", "Name", &typed.name);
    let hint = "For example, the program that will use it.";
    let scoped = |it: Scope| typed.scopes.iter().any(|word| word == it.as_str());
    let ticked = |it: &Account| typed.accounts.iter().any(|id| *id == it.id.to_string());
    html! {
        (name.hint(hint).show(wrong))
        fieldset {
            legend { "Permissions" }
            (choice("access", "read_only", "Read only", &typed.access))
            (choice("access", "everything", "Full access: read and propose", &typed.access))
            (choice("access", "custom", "Custom", &typed.access))
        }
        fieldset.only-scopes {
            legend { "Allowed actions" }
            @for scope in Scope::ALL {
                (fields::check("scope", scope.as_str(), scope.describe(), scoped(scope)))
            }
        }
        fieldset {
            legend { "Accounts" }
            (choice("reach", "all", "All accounts, including new ones", &typed.reach))
            (choice("reach", "some", "Selected accounts", &typed.reach))
        }
        fieldset.only-accounts {
            legend { "Selected accounts" }
            @for account in accounts {
                (fields::check("account", &account.id.to_string(), &named(account), ticked(account)))
            }
            @if accounts.is_empty() { p.soft { "You have no accounts yet." } }
        }
        (fields::select("life", "Expires after", &LIVES, &typed.life))
        button.primary type="submit" { "Create key" }
    }
}

fn named(account: &Account) -> String {
    match &account.mask {
        Some(mask) => format!("{} (…{mask})", account.name),
        None => account.name.clone(),
    }
}

fn choice(name: &str, value: &str, label: &str, chosen: &str) -> Markup {
    html! {
        label.check {
            input type="radio" name=(name) value=(value) checked[value == chosen] required;
            span { (label) }
        }
    }
}

fn made_page(person: &Person, key: &ApiKey, secret: &str) -> Markup {
    html! {
        section.card aria-labelledby="made" {
            h2 id="made" { "Key \"" (key.name) "\" created" }
            p.warning {
                "Copy this key now. You won't see it again. If you lose it, revoke it and create a new one."
            }
            (snippet::text("Your new key", secret))
            @if let Some(command) = first_request(person.public_url(), key.scopes, secret) {
                p { "Try it in your terminal:" }
                (snippet::text("First request", &command))
            }
            p {
                a.button.outlined href="/settings/keys" { "I've copied it" }
            }
        }
    }
}

/// An example request that the key is allowed to send; none if it can read nothing.
fn first_request(url: &str, scopes: Scopes, secret: &str) -> Option<String> {
    let may = |path: &str| {
        ENDPOINTS.iter().find(|it| {
            it.path == path
                && it.method == Verb::Get
                && it.scopes.iter().all(|one| scopes.has(*one))
        })
    };
    let plain = ENDPOINTS.iter().filter(|it| it.path_parameters.is_empty()).map(|it| it.path);
    let endpoint = std::iter::once("/accounts").chain(plain).find_map(may)?;
    Some(format!("curl '{url}/v1{}' \\\n  -H 'Authorization: Bearer {secret}'", endpoint.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_is_one_that_the_key_may_send() {
        let only = |scope| Scopes::from_iter([scope]);
        let path = |scopes| {
            let command = first_request("https://money.example", scopes, "ek_1")?;
            Some(command.split('\'').nth(1)?.strip_prefix("https://money.example/v1")?.to_owned())
        };
        assert_eq!(path(Scopes::all()).as_deref(), Some("/accounts"));
        assert_eq!(path(only(Scope::GoalsRead)).as_deref(), Some("/goals"));
        assert_eq!(path(only(Scope::PaperTrade)), None);
    }
}
