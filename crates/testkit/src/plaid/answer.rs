//! Answers the requests of the simulated Plaid.

use std::io;

use http::Request;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::pages::Refusal;
use super::{Fault, Link, Plaid, ReceivedRequest, State, fields};
use crate::openapi::Document;
use crate::tls_server::{self, Answer};

const NOT_FOUND: Refusal = (404, "INVALID_REQUEST", "NOT_FOUND");
const BAD_TOKEN: Refusal = (400, "INVALID_INPUT", "INVALID_ACCESS_TOKEN");

pub(super) async fn answer(plaid: &Plaid, request: Request<Incoming>) -> Answer {
    let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
    let keys_match = header("plaid-client-id") == Some(Plaid::CLIENT_ID)
        && header("plaid-secret") == Some(Plaid::SECRET)
        && header("plaid-version") == Some("2020-09-14");
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    if let Some(token) = path.strip_prefix("/hosted/") {
        return plaid.hosted_page(token, &body);
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let hangs = plaid.state().hanging.contains(body["access_token"].as_str().unwrap_or_default());
    if hangs {
        std::future::pending::<()>().await;
    }
    let mut state = plaid.state();
    state.requests.push(ReceivedRequest { path: path.clone(), body: body.clone() });
    let fault = state.faults.iter().position(|(it, _)| *it == path);
    let fault = fault.and_then(|at| state.faults.remove(at));
    check(|document| document.check_request(&path, &body));
    let answered = match fault {
        Some((_, Fault::Cut)) => return tls_server::cut(),
        Some((_, Fault::Response(status, text))) => return tls_server::json(status, text),
        Some((_, Fault::Error(status, kind, code))) => Err((status, kind, code)),
        None if !keys_match => Err((400, "INVALID_INPUT", "INVALID_API_KEYS")),
        None => match fields::unknown(&path, &body) {
            Some(_) => Err((400, "INVALID_REQUEST", "UNKNOWN_FIELDS")),
            None => respond(plaid, &mut state, &path, &body),
        },
    };
    match answered {
        Ok(mut body) => {
            body["request_id"] = "Ab1Cd2Ef3Gh4Ij5".into();
            check(|document| document.check_answer(&path, 200, &body));
            tls_server::json(200, body.to_string())
        }
        Err((status, kind, code)) => {
            let body = json!({
                "error_type": kind, "error_code": code, "error_message": "written for developers",
                "display_message": null, "documentation_url": "https://plaid.com/docs/errors/",
                "suggested_action": null, "request_id": "Ab1Cd2Ef3Gh4Ij5",
            });
            check(|document| document.check_answer(&path, status, &body));
            tls_server::json(status, body.to_string())
        }
    }
}

/// Fails if a request of ours or an answer of this server differs from Plaid's own document, where there is one.
fn check(differences: impl FnOnce(&Document) -> Vec<String>) {
    let found = Document::of_plaid().map(differences).unwrap_or_default();
    assert!(found.is_empty(), "not as Plaid's document says:\n{}", found.join("\n"));
}

fn respond(plaid: &Plaid, state: &mut State, path: &str, body: &Value) -> Result<Value, Refusal> {
    match path {
        "/link/token/create" => return create_link(plaid, state, body),
        "/link/token/get" => return get_link(state, body),
        "/item/public_token/exchange" => return exchange(state, body),
        "/sandbox/public_token/create" => return create_public_token(state, body),
        "/webhook_verification_key/get" => {
            let signer = state.signer.as_ref().filter(|it| body["key_id"] == it.key_id.as_str());
            let refused = (400, "INVALID_INPUT", "INVALID_WEBHOOK_VERIFICATION_KEY_ID");
            return Ok(json!({ "key": signer.ok_or(refused)?.jwk() }));
        }
        _ => {}
    }
    let token = body["access_token"].as_str().unwrap_or_default();
    let item = state.items.get_mut(token).filter(|it| !it.is_removed).ok_or(BAD_TOKEN)?;
    if path == "/sandbox/item/reset_login" {
        item.error = Some(("ITEM_ERROR", "ITEM_LOGIN_REQUIRED"));
        return Ok(json!({ "reset_login": true }));
    }
    if path == "/item/remove" {
        item.is_removed = true;
        return Ok(json!({}));
    }
    if let Some((kind, code)) = item.error {
        return Err((400, kind, code));
    }
    match path {
        "/accounts/get" => Ok(json!({ "accounts": item.accounts, "item": describe(item) })),
        "/transactions/sync" => item.page(body),
        "/investments/holdings/get" if item.has("investment") => Ok(json!({
            "accounts": item.investment_accounts(), "holdings": item.holdings,
            "securities": item.securities,
            "item": describe(item), "is_investments_fallback_item": false,
        })),
        "/investments/transactions/get" if item.has("investment") => {
            let (from, to) = (body["start_date"].as_str(), body["end_date"].as_str());
            let offset = body["options"]["offset"].as_u64().unwrap_or(0) as usize;
            let count = body["options"]["count"].as_u64().unwrap_or(100) as usize;
            let inside = |it: &&Value| it["date"].as_str() >= from && it["date"].as_str() <= to;
            let all: Vec<&Value> = item.investments.iter().filter(inside).collect();
            let page: Vec<&&Value> = all.iter().skip(offset).take(count).collect();
            Ok(json!({
                "accounts": item.investment_accounts(), "investment_transactions": page,
                "total_investment_transactions": all.len(), "securities": item.securities,
                "item": describe(item),
            }))
        }
        "/investments/holdings/get" | "/investments/transactions/get" => {
            Err((400, "ITEM_ERROR", "NO_INVESTMENT_ACCOUNTS"))
        }
        "/liabilities/get" => Ok(json!({
            "accounts": item.accounts, "liabilities": item.liabilities, "item": describe(item),
        })),
        _ => Err(NOT_FOUND),
    }
}

fn describe(item: &super::Item) -> Value {
    json!({
        "item_id": item.id, "institution_id": item.institution.0,
        "institution_name": item.institution.1, "webhook": null, "error": null,
        "available_products": [], "billed_products": ["transactions"],
        "consent_expiration_time": null, "update_type": "background",
    })
}

impl super::Item {
    /// The accounts as answers about investments have them, with a further balance.
    fn investment_accounts(&self) -> Vec<Value> {
        let mut accounts = self.accounts.clone();
        for account in &mut accounts {
            account["balances"]["margin_loan_amount"] = Value::Null;
        }
        accounts
    }

    fn has(&self, kind: &str) -> bool {
        self.accounts.iter().any(|it| it["type"] == kind)
    }
}

fn create_link(plaid: &Plaid, state: &mut State, body: &Value) -> Result<Value, Refusal> {
    let missing = (400, "INVALID_REQUEST", "MISSING_FIELDS");
    let name = body["client_name"].as_str().ok_or(missing)?;
    let updates = body.get("access_token").and_then(Value::as_str).map(str::to_owned);
    let is_whole = body["language"].is_string()
        && body["country_codes"].is_array()
        && body["user"]["client_user_id"].is_string()
        && body["hosted_link"].is_object()
        && name.len() <= 30
        && updates.is_some() != body["products"].is_array();
    if !is_whole {
        return Err(missing);
    }
    if updates.as_ref().is_some_and(|it| !state.items.contains_key(it)) {
        return Err(BAD_TOKEN);
    }
    state.made += 1;
    let token = format!("link-sandbox-{:08}", state.made);
    let return_url = body["hosted_link"]["completion_redirect_uri"].as_str().map(str::to_owned);
    state.links.insert(token.clone(), Link { updates, return_url, sessions: Vec::new() });
    Ok(json!({
        "link_token": token, "expiration": "2026-03-10T16:00:00Z",
        "hosted_link_url": format!("{}/hosted/{token}", plaid.url),
    }))
}

fn get_link(state: &State, body: &Value) -> Result<Value, Refusal> {
    let token = body["link_token"].as_str().unwrap_or_default();
    let refused = (400, "INVALID_INPUT", "INVALID_LINK_TOKEN");
    let link = state.links.get(token).ok_or(refused)?;
    Ok(json!({
        "link_token": token, "created_at": "2026-03-10T12:00:00Z",
        "expiration": "2026-03-10T16:00:00Z", "link_sessions": link.sessions,
        "metadata": {
            "initial_products": ["transactions"], "webhook": null, "country_codes": ["US", "CA"],
            "language": "en", "redirect_uri": null, "client_name": "Evenkeel",
        },
    }))
}

/// Signs in to the prepared bank without a page, which only the sandbox can.
fn create_public_token(state: &mut State, body: &Value) -> Result<Value, Refusal> {
    let refused = (400, "INVALID_INPUT", "INVALID_INSTITUTION");
    let bank = state.prepared.take().filter(|it| body["institution_id"] == it.institution.0);
    let bank = bank.ok_or(refused)?;
    let (public, _) = state.add_item(bank.institution, bank.accounts);
    Ok(json!({ "public_token": public }))
}

fn exchange(state: &mut State, body: &Value) -> Result<Value, Refusal> {
    let token = body["public_token"].as_str().unwrap_or_default();
    let refused = (400, "INVALID_INPUT", "INVALID_PUBLIC_TOKEN");
    let access = state.public_tokens.remove(token).ok_or(refused)?;
    let item = state.items.get(&access).ok_or(refused)?;
    Ok(json!({ "access_token": access, "item_id": item.id }))
}
