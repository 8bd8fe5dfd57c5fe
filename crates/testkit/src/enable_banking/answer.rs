//! Answers the requests of the simulated Enable Banking.

use std::collections::BTreeMap;
use std::io;

use base::{Timestamp, date_from_days};
use http::Request;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::signature;
use super::{BankAccount, EnableBanking, Fault, PendingList, ReceivedRequest, Session, State};
use crate::tls_server::{self, Answer};

const DAY: i64 = 86_400;
/// What the European standard allows without the person.
const UNATTENDED_MAX: usize = 4;

/// Name, longest consent in days, and for whom.
const BANKS: [(&str, i64, &str); 3] =
    [("Nordbank", 90, "personal"), ("Alpenbank", 365, "personal"), ("Firmenbank", 90, "business")];

type Refusal = (u16, Value);

fn refused(status: u16, code: &str) -> Refusal {
    let body = json!({ "code": status, "error": code, "message": "written for developers" });
    (status, body)
}

pub(super) async fn answer(server: &EnableBanking, request: Request<Incoming>) -> Answer {
    let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
    let now = server.now();
    let is_signed = signature::is_valid(header("authorization").unwrap_or_default(), now);
    let has_presence = header("psu-ip-address").is_some() && header("psu-user-agent").is_some();
    let method = request.method().to_string();
    let path = request.uri().path_and_query().unwrap().to_string();
    let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    if path == "/page" {
        return server.consent_page(&body);
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut state = server.state();
    let received = ReceivedRequest { method: method.clone(), path: path.clone(), has_presence };
    state.requests.push(received);
    let fault = state.faults.iter().position(|(it, _)| path.contains(it));
    let answered = match fault.and_then(|at| state.faults.remove(at)) {
        Some((_, Fault::Cut)) => return tls_server::cut(),
        Some((_, Fault::Response(status, text))) => return tls_server::json(status, text),
        None if !is_signed => Err(refused(401, "UNAUTHORIZED")),
        None => {
            Call { url: &server.url, now, has_presence }.respond(&mut state, &method, &path, &body)
        }
    };
    let (status, body) = match answered {
        Ok(body) => (200, body),
        Err(refused) => refused,
    };
    tls_server::json(status, body.to_string())
}

/// A request, and the time at which it came.
struct Call<'a> {
    url: &'a str,
    now: i64,
    has_presence: bool,
}

/// The value of a parameter.
fn param(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|it| it.split_once('='));
    let found = pairs.find(|(it, _)| *it == name)?.1;
    Some(percent_decode_str(found).decode_utf8().ok()?.into_owned())
}

impl Call<'_> {
    fn respond(
        &self,
        state: &mut State,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, Refusal> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let no_session = || refused(404, "SESSION_DOES_NOT_EXIST");
        match (method, parts.as_slice()) {
            ("GET", ["application"]) => Ok(json!({
                "kid": EnableBanking::APPLICATION, "active": true, "environment": "PRODUCTION",
                "redirect_urls": [state.return_url()],
            })),
            ("GET", ["aspsps"]) => Ok(banks(&param(query, "country").unwrap_or_default())),
            ("POST", ["auth"]) => self.open_page(state, body),
            ("POST", ["sessions"]) => self.create_session(state, body),
            ("GET", ["sessions", id]) => {
                let session = state.sessions.get(*id).ok_or_else(no_session)?;
                let listed =
                    session.accounts.values().map(|uid| match state.quirks.lists_objects {
                        true => json!({ "uid": uid }),
                        false => json!(uid),
                    });
                let accounts: Vec<Value> = listed.collect();
                Ok(json!({ "status": "AUTHORIZED", "accounts": accounts }))
            }
            ("DELETE", ["sessions", id]) => {
                state.sessions.remove(*id).ok_or_else(no_session)?;
                Ok(json!({ "message": "OK" }))
            }
            ("GET", ["accounts", uid, what]) => self.account_data(state, uid, what, query),
            _ => Err(refused(404, "NOT_FOUND")),
        }
    }

    /// Checks the request for a consent as the real server does, and opens the bank's page.
    fn open_page(&self, state: &mut State, body: &Value) -> Result<Value, Refusal> {
        if body["redirect_url"] != state.return_url() {
            return Err(refused(400, "REDIRECT_URI_NOT_ALLOWED"));
        }
        let bank = BANKS.iter().find(|it| body["aspsp"]["name"] == it.0);
        let bank = bank.ok_or_else(|| refused(400, "WRONG_ASPSP_PROVIDED"))?;
        let until = body["access"]["valid_until"].as_str().unwrap_or_default();
        let until: Timestamp =
            until.parse().map_err(|_| refused(422, "WRONG_REQUEST_PARAMETERS"))?;
        let is_good = until.as_second() <= self.now + bank.1 * DAY
            && body["psu_type"] == bank.2
            && body["state"].is_string();
        if !is_good {
            return Err(refused(422, "WRONG_REQUEST_PARAMETERS"));
        }
        state.last_auth = Some(body.clone());
        Ok(json!({
            "url": format!("{}/page", self.url), "authorization_id": "a1", "psu_id_hash": "p1",
        }))
    }

    fn create_session(&self, state: &mut State, body: &Value) -> Result<Value, Refusal> {
        let code = body["code"].as_str().unwrap_or_default();
        if !state.codes.remove(code) {
            return Err(refused(400, "WRONG_AUTHORIZATION_CODE"));
        }
        state.made += 1;
        let (id, made) = (format!("session{}", state.made), state.made);
        let uid = |it: &BankAccount| format!("uid{made}-{}", it.hash);
        let ids: BTreeMap<String, String> =
            state.accounts.iter().map(|it| (it.hash.clone(), uid(it))).collect();
        let hash = |it: &BankAccount| match state.quirks.changes_hashes {
            true => format!("new-{}", it.hash),
            false => it.hash.clone(),
        };
        let describe = |it: &BankAccount| {
            json!({
                "uid": uid(it), "identification_hash": hash(it), "name": it.name,
                "identification_hashes": [it.hash, hash(it)], "currency": "EUR",
                "cash_account_type": "CACC", "account_id": { "iban": it.iban },
                "account_servicer": { "name": "Nordbank" }, "product": null, "details": null,
            })
        };
        let accounts: Vec<Value> = state.accounts.iter().map(describe).collect();
        state.sessions.insert(id.clone(), Session { created_at: self.now, accounts: ids });
        let auth = state.last_auth.clone().unwrap_or_default();
        Ok(json!({
            "session_id": id, "accounts": accounts, "aspsp": auth["aspsp"],
            "access": auth["access"], "psu_type": auth["psu_type"],
        }))
    }

    fn account_data(
        &self,
        state: &mut State,
        uid: &str,
        what: &str,
        query: &str,
    ) -> Result<Value, Refusal> {
        let not_found = || refused(404, "ACCOUNT_DOES_NOT_EXIST");
        let uid = percent_decode_str(uid).decode_utf8_lossy();
        let sessions = state.sessions.values();
        let found = sessions
            .flat_map(|session| session.accounts.iter().map(move |it| (session, it)))
            .find(|(_, (_, it))| **it == *uid);
        let (created_at, hash) =
            found.map(|(session, it)| (session.created_at, it.0.clone())).ok_or_else(not_found)?;
        if let Some((broken, status)) = &state.quirks.broken_account
            && *broken == hash
        {
            return Err(refused(*status, "ASPSP_ERROR"));
        }
        if state.quirks.needs_presence && !self.has_presence {
            return Err(refused(422, "PSU_HEADER_NOT_PROVIDED"));
        }
        if what == "transactions" {
            let from = param(query, "date_from").unwrap_or_default();
            self.check_period(state, created_at, &from)?;
            self.count(state, &hash, query)?;
        }
        let account = state.accounts.iter().find(|it| it.hash == hash).ok_or_else(not_found)?;
        match what {
            "balances" if state.quirks.balances_fail => Err(refused(500, "ASPSP_ERROR")),
            "balances" => Ok(json!({ "balances": account.balances })),
            "transactions" => transactions(state, account, query),
            _ => Err(not_found()),
        }
    }

    /// Counts what is fetched without the person. Pages, and pending transactions alone, belong to the same fetch.
    fn count(&self, state: &mut State, hash: &str, query: &str) -> Result<(), Refusal> {
        let is_further = query.contains("continuation_key") || query.contains("PDNG");
        if self.has_presence || is_further {
            return Ok(());
        }
        let today = self.now.div_euclid(DAY);
        let count = state.unattended.entry((hash.to_owned(), today)).or_insert(0);
        *count += 1;
        let is_allowed = *count <= UNATTENDED_MAX;
        is_allowed.then_some(()).ok_or_else(|| refused(429, "ASPSP_RATE_LIMIT_EXCEEDED"))
    }

    /// Refuses a period that goes back too far.
    fn check_period(&self, state: &State, created_at: i64, from: &str) -> Result<(), Refusal> {
        let quirks = &state.quirks;
        let is_late = quirks.history_seconds.is_some_and(|it| self.now - created_at > it);
        let days_max = if is_late { Some((90, false)) } else { quirks.days_max };
        let Some((days, says_it)) = days_max else { return Ok(()) };
        let first = date_from_days(self.now.div_euclid(DAY) - days).to_string();
        if from >= first.as_str() {
            return Ok(());
        }
        let (status, mut body) = refused(422, "WRONG_TRANSACTIONS_PERIOD");
        if says_it {
            body["detail"] = json!({ "date_from": first });
        }
        Err((status, body))
    }
}

fn transactions(state: &State, account: &BankAccount, query: &str) -> Result<Value, Refusal> {
    let quirks = &state.quirks;
    let from = param(query, "date_from").unwrap_or_default();
    let is_pending = |it: &Value| it["status"] == "PDNG";
    let wants_pending = param(query, "transaction_status").as_deref() == Some("PDNG");
    if let (true, PendingList::Refused(status)) = (wants_pending, quirks.pending) {
        return Err(refused(status, "WRONG_REQUEST_PARAMETERS"));
    }
    let start = match param(query, "continuation_key") {
        None => 0,
        Some(_) if quirks.refuses_continuation => {
            return Err(refused(400, "WRONG_CONTINUATION_KEY"));
        }
        Some(key) => key.trim_start_matches("key ").parse::<usize>().unwrap_or(0),
    };
    let date = |it: &Value| {
        let dates = ["booking_date", "value_date"].map(|name| it[name].as_str());
        dates.into_iter().flatten().next().unwrap_or("9999").to_owned()
    };
    let is_listed = |it: &&Value| match (wants_pending, quirks.pending) {
        (true, _) => is_pending(it),
        (false, PendingList::WithBooked) => true,
        (false, PendingList::Separate | PendingList::Refused(_)) => !is_pending(it),
    };
    let is_inside = |it: &&Value| quirks.ignores_date_from || date(it) >= from;
    let rows: Vec<&Value> =
        account.transactions.iter().filter(is_inside).filter(is_listed).collect();
    let page = if quirks.page == 0 { rows.len() } else { quirks.page };
    let end = (start + page).min(rows.len());
    let next = (end < rows.len()).then(|| format!("key {end}"));
    Ok(json!({ "transactions": rows[start.min(end)..end], "continuation_key": next }))
}

fn banks(country: &str) -> Value {
    let bank = |(name, days, kind): &(&str, i64, &str)| {
        json!({
            "name": name, "country": country, "maximum_consent_validity": days * DAY,
            "psu_types": [kind], "auth_methods": [], "required_psu_headers": [],
            "logo": "https://logo.example/x.png", "bic": null, "beta": false,
        })
    };
    json!({ "aspsps": BANKS.iter().map(bank).collect::<Vec<_>>() })
}
