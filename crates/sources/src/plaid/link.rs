//! Hosted Link: the person signs in on Plaid's own page, and comes back. No script of Plaid runs on our pages, and no
//! token is taken from an address: what came of it is read from Plaid.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::accounts::label;
use super::client::Client;
use super::error::PlaidError;
use super::keys::Access;
use crate::provider::{
    BankError, Institution, LinkOutcome, LinkPurpose, LinkRequest, LinkedBank, NewAccess, NewLink,
    Secret,
};

/// How long the page can be used.
const LIFE_SECONDS: i64 = 30 * 60;
/// The longest history that Plaid has. It cannot be extended later.
const HISTORY_DAYS: u32 = 730;

/// What is stored, encrypted, while the person is on Plaid's page.
#[derive(Serialize, Deserialize)]
struct Session {
    link_token: String,
    /// Whether existing access is repaired, so that there is nothing to exchange.
    repairs: bool,
}

#[derive(Deserialize)]
struct Created {
    link_token: String,
    hosted_link_url: Option<String>,
}

pub(super) async fn start(
    client: &Client<'_>,
    request: &LinkRequest,
) -> Result<NewLink, BankError> {
    let access = request.access.as_ref().map(Access::read).transpose()?;
    let created: Created = client
        .post("/link/token/create", &body(request, access.as_ref()))
        .await
        .map_err(|error| error.for_person())?;
    let url = created.hosted_link_url.filter(|it| it.starts_with("https://"));
    let url = url.ok_or_else(|| PlaidError::Unreadable.for_person())?;
    let session = Session { link_token: created.link_token, repairs: access.is_some() };
    let session = Secret::new(serde_json::to_string(&session).unwrap_or_default());
    Ok(NewLink { url, session, life_seconds: LIFE_SECONDS })
}

fn body(request: &LinkRequest, access: Option<&Access>) -> Value {
    let mut hosted = json!({ "url_lifetime_seconds": LIFE_SECONDS });
    if let Some(url) = &request.return_url {
        hosted["completion_redirect_uri"] = url.as_str().into();
    }
    let mut body = json!({
        "client_name": "Evenkeel",
        "language": "en",
        "country_codes": ["US", "CA"],
        "user": { "client_user_id": request.person },
        "hosted_link": hosted,
    });
    if let Some(url) = &request.webhook_url {
        body["webhook"] = url.as_str().into();
    }
    match access {
        Some(access) => {
            body["access_token"] = access.access_token.as_str().into();
            if request.purpose == LinkPurpose::AddAccounts {
                body["update"] = json!({ "account_selection_enabled": true });
            }
        }
        None => {
            // The others are billed when they are first used, so they are only consented to here.
            body["products"] = json!(["transactions"]);
            body["additional_consented_products"] = json!(["investments", "liabilities"]);
            body["transactions"] = json!({ "days_requested": HISTORY_DAYS });
        }
    }
    body
}

#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    link_sessions: Option<Vec<LinkSession>>,
}

#[derive(Deserialize)]
struct LinkSession {
    #[serde(default)]
    finished_at: Option<String>,
    #[serde(default)]
    results: Option<Results>,
    #[serde(default)]
    exit: Option<Exit>,
}

#[derive(Deserialize)]
struct Results {
    #[serde(default)]
    item_add_results: Vec<AddedItem>,
}

#[derive(Deserialize)]
struct AddedItem {
    public_token: String,
    #[serde(default)]
    accounts: Vec<AddedAccount>,
    institution: Option<AddedInstitution>,
}

#[derive(Deserialize)]
struct AddedAccount {
    name: Option<String>,
    mask: Option<String>,
}

#[derive(Deserialize)]
struct AddedInstitution {
    institution_id: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Exit {
    #[serde(default)]
    error: Option<ExitError>,
}

#[derive(Deserialize)]
struct ExitError {
    error_type: String,
    error_code: String,
}

/// Asks what came of a session. The person may have started it several times.
pub(super) async fn finish(
    client: &Client<'_>,
    session: &Secret,
) -> Result<LinkOutcome, BankError> {
    let session: Session = serde_json::from_str(session.expose())
        .map_err(|_| BankError::invalid("This link can't be read any more. Start again."))?;
    let found: Found = client
        .post("/link/token/get", &json!({ "link_token": session.link_token }))
        .await
        .map_err(|error| error.for_person())?;
    let sessions = found.link_sessions.unwrap_or_default();
    let finished = || sessions.iter().filter(|it| it.finished_at.is_some());
    if session.repairs {
        if finished().any(|it| it.exit.is_none()) {
            return Ok(LinkOutcome::Repaired);
        }
    } else {
        let results = sessions.iter().filter_map(|it| it.results.as_ref());
        let banks: Vec<LinkedBank> =
            results.flat_map(|it| &it.item_add_results).map(linked_bank).collect();
        if !banks.is_empty() {
            return Ok(LinkOutcome::Connected(banks));
        }
    }
    match finished().next_back() {
        None => Ok(LinkOutcome::Waiting),
        Some(last) => Ok(LinkOutcome::Canceled(reason(last))),
    }
}

fn reason(session: &LinkSession) -> String {
    let error = session.exit.as_ref().and_then(|it| it.error.as_ref());
    match error {
        Some(error) => {
            let code = error.error_code.clone();
            PlaidError::Code { code, error_type: error.error_type.clone() }.for_person().message
        }
        None => "Nothing was connected: Plaid's page was closed before the end. Start again when \
                 you are ready."
            .to_owned(),
    }
}

/// What `exchange` gets: the public token, with the bank that it is for.
#[derive(Serialize, Deserialize)]
struct ExchangeToken {
    public_token: String,
    institution_id: Option<String>,
    institution_name: Option<String>,
}

fn linked_bank(item: &AddedItem) -> LinkedBank {
    let institution = item.institution.as_ref();
    let token = ExchangeToken {
        public_token: item.public_token.clone(),
        institution_id: institution.and_then(|it| it.institution_id.clone()),
        institution_name: institution.and_then(|it| it.name.clone()),
    };
    let names =
        item.accounts.iter().filter_map(|it| Some((it.name.as_deref()?, it.mask.as_deref())));
    LinkedBank {
        institution: token
            .institution_id
            .clone()
            .zip(token.institution_name.clone())
            .map(|(id, name)| Institution { id, name }),
        accounts: names.map(|(name, mask)| label(name, mask)).collect(),
        token: Secret::new(serde_json::to_string(&token).unwrap_or_default()),
    }
}

#[derive(Deserialize)]
struct Exchanged {
    access_token: String,
    item_id: String,
}

pub(super) async fn exchange(client: &Client<'_>, token: &str) -> Result<NewAccess, BankError> {
    let token: ExchangeToken = serde_json::from_str(token)
        .map_err(|_| BankError::invalid("This link can't be read any more. Start again."))?;
    let body = json!({ "public_token": token.public_token });
    let exchanged: Exchanged = client
        .post("/item/public_token/exchange", &body)
        .await
        .map_err(|error| error.for_person())?;
    let access = Access {
        access_token: exchanged.access_token,
        item_id: exchanged.item_id,
        institution_id: token.institution_id,
        institution_name: token.institution_name,
    };
    let institution = access.institution();
    Ok(NewAccess {
        place: institution.as_ref().map_or_else(|| "Plaid".to_owned(), |it| it.name.clone()),
        external_id: Some(access.item_id.clone()),
        institution,
        access: access.to_secret(),
        ends_at: None,
    })
}
