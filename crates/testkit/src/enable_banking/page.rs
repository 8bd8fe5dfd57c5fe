//! The bank's page, on which the person consents or does not.

use super::EnableBanking;
use crate::tls_server::{self, Answer};

const PAGE: &str = "<!doctype html><html lang=en><title>Nordbank</title><link rel=icon href=data:,><body>\
    <h1>Nordbank</h1><form method=post><button name=action value=consent>Share my accounts</button>\
    <button name=action value=refuse>Refuse</button></form></body></html>";

impl EnableBanking {
    /// The page itself, or what comes of its form: an empty body asks for the page.
    pub(super) fn consent_page(&self, form: &[u8]) -> Answer {
        let query = match form {
            b"" => return tls_server::html(PAGE.to_owned()),
            b"action=consent" => self.consent(),
            _ => self.refuse_consent(),
        };
        let auth = self.last_auth();
        let back = auth["redirect_url"].as_str().unwrap_or_default();
        tls_server::see_other(&format!("{back}?{query}"))
    }
}
