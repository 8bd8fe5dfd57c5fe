//! The HTTP client for bank providers, with their settings and the key that decrypts stored access.

use std::sync::Arc;

use base::draft::Source;
use sources::provider::Secret;
use tokio::sync::Notify;

use super::connection::conflict;
use super::vault::Vault;
use super::webhook_keys::WebhookKeys;
use crate::Result;
use crate::platform::installation::Key;

/// The operator's settings for a provider.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    pub source: Source,
    /// Keys for everybody who has none of their own.
    pub keys: Option<Arc<Secret>>,
    /// The address of its API, if it is not the usual one.
    pub url: Option<Arc<str>>,
}

pub(crate) struct BankClient {
    /// None where this machine has no certificate authorities, so that no connection would be safe.
    http: Option<net::HttpClient>,
    providers: Vec<ProviderSettings>,
    pub(super) vault: Vault,
    pub(super) webhook_keys: WebhookKeys,
    /// Wakes the loop that syncs when a person or a webhook has made a connection due.
    pub(super) sync_queued: Notify,
    /// Wakes the loop that ends access when a person has disconnected.
    pub(super) revocation_queued: Notify,
}

impl BankClient {
    pub(crate) fn new(
        http: Option<net::HttpClient>,
        providers: Vec<ProviderSettings>,
        key: &Key,
    ) -> BankClient {
        let (vault, webhook_keys) = (Vault::new(key), WebhookKeys::default());
        let (sync_queued, revocation_queued) = (Notify::new(), Notify::new());
        BankClient { http, providers, vault, webhook_keys, sync_queued, revocation_queued }
    }

    pub(super) fn settings(&self, source: Source) -> Option<&ProviderSettings> {
        self.providers.iter().find(|it| it.source == source)
    }

    pub(super) fn http(&self) -> Result<&net::HttpClient> {
        self.http.as_ref().ok_or_else(|| {
            conflict(
                "Evenkeel can't connect securely: this server has no certificate authorities. \
                 Install the package ca-certificates and restart the server.",
            )
        })
    }
}
