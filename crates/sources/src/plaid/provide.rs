//! Plaid as a bank provider.

use base::Timestamp;
use base::draft::Source;
use serde::de::IgnoredAny;
use serde_json::json;

use super::client::Client;
use super::keys::{Access, Keys, UNREADABLE};
use super::{link, sync, webhook};
use crate::provider::{
    AccountProblem, BankError, ConnectMethod, Context, LinkOutcome, LinkRequest, NewAccess,
    NewLink, Provider, Reply, Response, Schedule, Secret, SyncRequest, WebhookError, WebhookNews,
};

#[derive(Debug)]
pub struct Plaid;

/// Plaid itself asks a bank one to four times a day; the rest is for the first hour, webhooks and the person.
const SYNCS_A_DAY: i64 = 48;
const INTERVAL_SECONDS: i64 = 6 * 3_600;

impl Provider for Plaid {
    fn source(&self) -> Source {
        Source::Plaid
    }

    fn name(&self) -> &'static str {
        "Plaid"
    }

    fn id_prefix(&self) -> &'static str {
        "plaid:"
    }

    fn schedule(&self) -> Schedule {
        Schedule {
            syncs_a_day: SYNCS_A_DAY,
            attended_syncs_a_day: None,
            history_syncs_a_day: 0,
            interval_seconds: INTERVAL_SECONDS,
            window_days: None,
        }
    }

    fn method(&self) -> ConnectMethod {
        ConnectMethod::Link
    }

    fn needs_keys(&self) -> bool {
        true
    }

    fn check_keys(&self, keys: &Secret) -> Result<(), BankError> {
        Keys::read(keys).map(drop)
    }

    fn start_link<'a>(
        &'a self,
        context: &'a Context,
        request: &'a LinkRequest,
    ) -> Reply<'a, NewLink> {
        Box::pin(async move { link::start(&Client::new(context)?, request).await })
    }

    fn finish_link<'a>(
        &'a self,
        context: &'a Context,
        session: &'a Secret,
        _returned: Option<&'a str>,
    ) -> Reply<'a, LinkOutcome> {
        Box::pin(async move { link::finish(&Client::new(context)?, session).await })
    }

    fn exchange<'a>(&'a self, context: &'a Context, token: &'a str) -> Reply<'a, NewAccess> {
        Box::pin(async move { link::exchange(&Client::new(context)?, token).await })
    }

    fn sync<'a>(
        &'a self,
        context: &'a Context,
        access: &'a Secret,
        request: &'a SyncRequest,
    ) -> Reply<'a, Response> {
        Box::pin(async move { sync::sync(context, &Access::read(access)?, request).await })
    }

    fn revokes(&self) -> bool {
        true
    }

    fn disconnect<'a>(&'a self, context: &'a Context, access: &'a Secret) -> Reply<'a, ()> {
        Box::pin(async move {
            let access = Access::read(access)?;
            let body = json!({ "access_token": access.access_token });
            let removed = Client::new(context)?.post::<IgnoredAny>("/item/remove", &body).await;
            removed.map(drop).map_err(|error| error.for_person())
        })
    }

    fn webhook_key_id(&self, signature: &str) -> Option<String> {
        webhook::key_id(signature)
    }

    fn webhook_login(&self, body: &[u8]) -> Option<String> {
        webhook::login(body)
    }

    fn webhook_key<'a>(&'a self, context: &'a Context, key_id: &'a str) -> Reply<'a, String> {
        Box::pin(async move { webhook::fetch_key(&Client::new(context)?, key_id).await })
    }

    fn read_webhook(
        &self,
        key: &str,
        signature: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<WebhookNews, WebhookError> {
        webhook::read(key, signature, body, now)
    }

    fn problem_message(&self, problem: AccountProblem, bank: &str) -> String {
        match problem {
            AccountProblem::Incomplete => AccountProblem::incomplete_message(bank),
            AccountProblem::SignIn => format!(
                "{bank} needs you to sign in again. Select Repair; the next sync gets what is \
                 missing."
            ),
            AccountProblem::Unlisted => format!(
                "{bank} no longer shares this account. If it was closed, close it here, too. \
                 Otherwise select Add accounts and choose it again."
            ),
            AccountProblem::Unusable => AccountProblem::unusable_message(bank),
        }
    }

    fn unreadable_message(&self) -> String {
        UNREADABLE.to_owned()
    }
}
