//! The HTTP client for SimpleFIN servers, with the key that decrypts stored access URLs.

use super::connection::conflict;
use super::vault::Vault;
use crate::Result;
use crate::platform::installation::Key;

pub(crate) struct BankClient {
    /// None where this machine has no certificate authorities, so that no connection would be safe.
    http: Option<net::HttpClient>,
    pub(super) vault: Vault,
}

impl BankClient {
    pub(crate) fn new(http: Option<net::HttpClient>, key: &Key) -> BankClient {
        BankClient { http, vault: Vault::new(key) }
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
