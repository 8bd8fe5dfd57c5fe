//! Consent: the person consents on the bank's page and comes back with a code.

use base::Timestamp;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::access::{Access, Account};
use super::banks;
use super::client::Client;
use super::error::EnableError;
use crate::percent::percent_encode;
use crate::provider::{
    BankError, Context, LinkOutcome, LinkRequest, LinkedBank, NewAccess, NewLink, Secret,
};

/// How long a started consent is waited for.
const LIFE_SECONDS: i64 = 30 * 60;

/// What is stored, encrypted, while the person is on the bank's page.
#[derive(Clone, Serialize, Deserialize)]
struct Session {
    state: String,
    bank: String,
    country: String,
    /// The end of the consent that was asked for, in seconds since 1970.
    valid_until: i64,
    /// The accounts of the consent that is renewed.
    known: Vec<Account>,
}

/// What `exchange` needs.
#[derive(Serialize, Deserialize)]
struct Granted {
    code: String,
    session: Session,
}

#[derive(Deserialize)]
struct Started {
    url: String,
}

fn unreadable_link() -> BankError {
    BankError::invalid("This consent can't be read any more. Start again.")
}

pub(super) async fn start(context: &Context, request: &LinkRequest) -> Result<NewLink, BankError> {
    // A renewal goes to the bank of the access that it renews.
    let known = request.access.as_ref().map(Access::read).transpose()?;
    let id = match (&known, &request.bank) {
        (Some(access), _) => banks::institution(&access.country, &access.bank).id,
        (None, Some(bank)) => bank.clone(),
        (None, None) => return Err(BankError::invalid("Choose your country and your bank first.")),
    };
    let return_url = request.return_url.as_ref().ok_or_else(|| {
        BankError::invalid(
            "Enable Banking sends your browser back to an https address. Set public_url to one \
             that your browser can reach, and add it to your application.",
        )
    })?;
    let bank = banks::find(context, &id).await?;
    let until = bank.consent_until(context.now);
    let body = json!({
        "access": { "valid_until": until.to_string(), "balances": true, "transactions": true },
        "aspsp": { "name": bank.name, "country": bank.country },
        "state": request.state,
        "redirect_url": return_url,
        "psu_type": bank.person_type(),
    });
    let started = Client::new(context, None)?.post::<Started>("/auth", &body).await;
    let started = started.map_err(|error| match error.is_redirect_refused() {
        true => BankError::invalid(format!(
            "Your Enable Banking application doesn't know this installation. Add {return_url} to \
             its redirect addresses in the control panel."
        )),
        false => error.for_person(),
    })?;
    if !started.url.starts_with("https://") {
        return Err(EnableError::Unreadable.for_person());
    }
    let session = Session {
        state: request.state.clone(),
        bank: bank.name,
        country: bank.country,
        valid_until: until.as_second(),
        known: known.map(|it| it.accounts).unwrap_or_default(),
    };
    let session = Secret::new(serde_json::to_string(&session).unwrap_or_default());
    Ok(NewLink { url: started.url, session, life_seconds: LIFE_SECONDS })
}

/// What the browser came back with.
pub(super) fn finish(session: &Secret, returned: Option<&str>) -> Result<LinkOutcome, BankError> {
    let session: Session = serde_json::from_str(session.expose()).map_err(|_| unreadable_link())?;
    let Some(query) = returned else { return Ok(LinkOutcome::Waiting) };
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|it| it.split_once('='));
        let found = pairs.find(|(it, _)| *it == name)?.1.replace('+', " ");
        Some(percent_decode_str(&found).decode_utf8().ok()?.into_owned())
    };
    // Somebody else's code must not end up with this person.
    if value("state").as_deref() != Some(session.state.as_str()) {
        return Ok(LinkOutcome::Waiting);
    }
    if value("error").is_some() {
        return Ok(LinkOutcome::Canceled(
            "Nothing was connected: you or your bank did not give consent. Start again when you \
             are ready."
                .to_owned(),
        ));
    }
    let Some(code) = value("code") else { return Ok(LinkOutcome::Waiting) };
    let granted = serde_json::to_string(&Granted { code, session }).unwrap_or_default();
    let token = Secret::new(granted);
    // A second consent at the same bank may be for another login, and costs nothing.
    Ok(LinkOutcome::Connected(vec![LinkedBank { token, institution: None, accounts: Vec::new() }]))
}

#[derive(Deserialize)]
struct NewSession {
    session_id: String,
    accounts: Vec<SessionAccount>,
    access: Option<Validity>,
}

#[derive(Deserialize)]
struct Validity {
    valid_until: Option<String>,
}

#[derive(Deserialize)]
struct SessionAccount {
    uid: Option<String>,
    identification_hash: Option<String>,
    #[serde(default)]
    identification_hashes: Option<Vec<String>>,
    account_id: Option<AccountId>,
    name: Option<String>,
    details: Option<String>,
    product: Option<String>,
    currency: Option<String>,
    cash_account_type: Option<String>,
}

#[derive(Deserialize)]
struct AccountId {
    iban: Option<String>,
}

pub(super) async fn exchange(client: &Client<'_>, token: &str) -> Result<NewAccess, BankError> {
    let Granted { code, session } = serde_json::from_str(token).map_err(|_| unreadable_link())?;
    let created: NewSession = client
        .post("/sessions", &json!({ "code": code }))
        .await
        .map_err(|error| error.for_person())?;
    let given = created.access.and_then(|it| it.valid_until);
    let given = given.and_then(|it| it.parse::<Timestamp>().ok()).map(Timestamp::as_second);
    let valid_until = given.unwrap_or(session.valid_until);
    let access = Access {
        session_id: created.session_id,
        bank: session.bank.clone(),
        country: session.country.clone(),
        valid_until: Some(valid_until),
        accounts: accounts(created.accounts, &session.known),
    };
    Ok(NewAccess {
        access: access.to_secret(),
        place: session.bank.clone(),
        external_id: Some(access.session_id.clone()),
        institution: Some(banks::institution(&session.country, &session.bank)),
        ends_at: Timestamp::from_second(valid_until).ok(),
    })
}

/// The accounts of a session. Those of the consent that is renewed keep their ids.
fn accounts(listed: Vec<SessionAccount>, known: &[Account]) -> Vec<Account> {
    let mut all: Vec<Account> = Vec::new();
    for mut it in listed.into_iter().filter_map(account) {
        let is_same = |old: &&Account| {
            let stable = |it: &Account| [vec![it.hash.clone()], it.hashes.clone()].concat();
            let old_ids = stable(old);
            old.currency == it.currency && stable(&it).iter().any(|id| old_ids.contains(id))
        };
        if let Some(old) = known.iter().find(is_same) {
            it.hash.clone_from(&old.hash);
        }
        // Accounts in several currencies may share an IBAN and what is computed from it.
        if all.iter().any(|other| other.hash == it.hash) {
            it.hashes.push(it.hash.clone());
            it.hash = format!("{}-{}", it.hash, it.currency.as_deref().unwrap_or(&it.uid));
        }
        all.push(it);
    }
    all
}

/// None without an id to ask by. An account without a stable id is known by its IBAN, or else by its session's id.
fn account(it: SessionAccount) -> Option<Account> {
    let uid = it.uid?;
    let iban = it.account_id.and_then(|it| it.iban);
    let hash = it.identification_hash.or_else(|| iban.clone()).unwrap_or_else(|| uid.clone());
    let named = [it.name, it.product, it.details].into_iter().flatten();
    let name = named.map(|it| it.trim().to_owned()).find(|it| !it.is_empty());
    Some(Account {
        uid,
        hash,
        hashes: it.identification_hashes.unwrap_or_default(),
        name: name.unwrap_or_else(|| "Account".to_owned()),
        currency: it.currency,
        iban,
        kind: it.cash_account_type,
    })
}

/// The path of a session, whose id is the provider's text.
pub(super) fn session_path(id: &str) -> String {
    format!("/sessions/{}", percent_encode(id))
}
