//! The page of Hosted Link: the person signs in to the bank that a test has prepared, or leaves.

use serde_json::Value;

use super::Plaid;
use crate::tls_server::{self, Answer};

/// The bank on the page, and its accounts.
pub(super) struct PreparedBank {
    pub(super) institution: (String, String),
    pub(super) accounts: Vec<Value>,
}

impl Plaid {
    /// Lets the page sign in to this bank from now on.
    pub fn prepare_bank(&self, institution_id: &str, name: &str, accounts: Vec<Value>) {
        let institution = (institution_id.to_owned(), name.to_owned());
        self.state().prepared = Some(PreparedBank { institution, accounts });
    }

    /// The item that was signed in to last.
    pub fn last_item(&self) -> String {
        self.state().items.values().last().expect("somebody signed in").id.clone()
    }

    /// The page itself, or what comes of its form: an empty body asks for the page.
    pub(super) fn hosted_page(&self, token: &str, form: &[u8]) -> Answer {
        let link =
            self.state().links.get(token).map(|it| (it.updates.is_some(), it.return_url.clone()));
        let Some((repairs, return_url)) = link else {
            return tls_server::json(404, "{}".to_owned());
        };
        match form {
            b"" => return tls_server::html(page(repairs)),
            b"action=leave" => self.close_page(),
            _ if repairs => self.sign_in_again(),
            _ => {
                let bank = self.state().prepared.take().expect("a test prepared a bank");
                let (id, name) = &bank.institution;
                self.sign_in(id, name, bank.accounts);
            }
        }
        match return_url {
            Some(url) => tls_server::see_other(&url),
            None => {
                tls_server::html(document("<h1>You are done</h1><p>You can close this page.</p>"))
            }
        }
    }
}

fn page(repairs: bool) -> String {
    let verb = if repairs { "Sign in again" } else { "Sign in to First Platypus Bank" };
    document(&format!(
        "<h1>Plaid</h1><form method=post><button name=action value=sign-in>{verb}</button>\
         <button name=action value=leave>Leave</button></form>"
    ))
}

fn document(body: &str) -> String {
    // Without the link, browsers would ask for an icon.
    format!(
        "<!doctype html><html lang=en><title>Plaid</title><link rel=icon href=data:,><body>{body}</body></html>"
    )
}
