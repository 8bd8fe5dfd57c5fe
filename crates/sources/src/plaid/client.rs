//! Requests to Plaid: every call is a POST of JSON with the developer's keys in its headers.

use std::time::Duration;

use net::{HttpClient, HttpRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::PlaidError;
use super::keys::Keys;
use crate::provider::{BankError, Context, ErrorKind, Remedy, send_json};

const VERSION: &str = "2020-09-14";
/// The first request for investments waits until Plaid has asked the bank, which takes a minute or two.
const WITHIN: Duration = Duration::from_secs(150);

pub(super) struct Client<'a> {
    http: &'a HttpClient,
    keys: Keys,
    url: String,
}

impl<'a> Client<'a> {
    pub(super) fn new(context: &'a Context) -> Result<Client<'a>, BankError> {
        let missing = || {
            let kind = ErrorKind::NeedsPerson(Some(Remedy::ChangeKeys));
            BankError::new(kind, "Enter your Plaid keys first: Plaid needs them for every request.")
        };
        let keys = Keys::read(context.keys.as_deref().ok_or_else(missing)?)?;
        let url = context.url.as_deref().unwrap_or(keys.environment.url());
        Ok(Client { http: &context.http, url: url.trim_end_matches('/').to_owned(), keys })
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, PlaidError> {
        let request = HttpRequest::post(format!("{}{path}", self.url), body.to_string())
            .header("content-type", "application/json")
            .header("plaid-client-id", &self.keys.client_id)
            .header("plaid-secret", &self.keys.secret)
            .header("plaid-version", VERSION);
        Ok(send_json(self.http, request, WITHIN).await?)
    }
}
