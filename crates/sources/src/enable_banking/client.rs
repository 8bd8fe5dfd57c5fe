//! Requests to Enable Banking, each authorized by a token that is signed with the person's key.

use std::time::Duration;

use net::{HttpClient, HttpRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::EnableError;
use super::keys::Keys;
use crate::provider::{BankError, Context, ErrorKind, Presence, Remedy, send_json};

const URL: &str = "https://api.enablebanking.com";
/// Banks are slow.
const WITHIN: Duration = Duration::from_secs(100);

pub(super) struct Client<'a> {
    http: &'a HttpClient,
    authorization: String,
    url: String,
    /// The person who waits for the answer. Requests in the background must not claim one.
    presence: Option<Presence>,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        context: &'a Context,
        presence: Option<Presence>,
    ) -> Result<Client<'a>, BankError> {
        let change_keys =
            |message| BankError::new(ErrorKind::NeedsPerson(Some(Remedy::ChangeKeys)), message);
        let keys = context.keys.as_deref().ok_or_else(|| {
            change_keys(
                "Enter the id and the private key of your Enable Banking application first.",
            )
        })?;
        let token = Keys::read(keys)?.token(context.now).ok_or_else(|| {
            change_keys("The private key of your application can't sign. Enter it again.")
        })?;
        let url = context.url.as_deref().unwrap_or(URL).trim_end_matches('/').to_owned();
        let authorization = format!("Bearer {token}");
        Ok(Client { http: &context.http, authorization, url, presence })
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, EnableError> {
        self.send(HttpRequest::get(format!("{}{path}", self.url))).await
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, EnableError> {
        let request = HttpRequest::post(format!("{}{path}", self.url), body.to_string());
        self.send(request.header("content-type", "application/json")).await
    }

    pub(super) async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, EnableError> {
        self.send(HttpRequest::delete(format!("{}{path}", self.url))).await
    }

    async fn send<T: DeserializeOwned>(&self, request: HttpRequest) -> Result<T, EnableError> {
        let mut request = request
            .header("authorization", &self.authorization)
            .header("accept", "application/json");
        if let Some(presence) = &self.presence {
            request = request
                .header("psu-ip-address", &presence.address)
                .header("psu-user-agent", &presence.user_agent);
        }
        Ok(send_json(self.http, request, WITHIN).await?)
    }
}
