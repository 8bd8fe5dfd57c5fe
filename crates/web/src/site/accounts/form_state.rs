//! What the forms on an account's page show and where they are sent.

use maud::Markup;
use service::insights::benefits::Product;
use service::ledger::accounts::Account;

use crate::site::fields::{Field, FormError};
use crate::site::form::Form;

/// The initial values of the forms.
pub(super) struct FormState<'a> {
    /// The card product, for credit cards.
    pub(super) product: Option<Product>,
    /// The submitted form and its error, if it is shown again.
    pub(super) sent: Option<(&'a Form, FormError)>,
}

impl FormState<'_> {
    pub(super) fn typed(&self, name: &str, known: &str) -> String {
        match &self.sent {
            Some((form, _)) if form.has(name) => form.text(name).to_owned(),
            _ => known.to_owned(),
        }
    }

    /// Whether a form of the settings is shown again with its error.
    pub(super) fn is_about_settings(&self) -> bool {
        let names = ["name", "type", "due_day", "product", "closed_on"];
        self.sent.as_ref().is_some_and(|(form, _)| names.iter().any(|it| form.has(it)))
    }

    pub(super) fn show(&self, field: &Field<'_>) -> Markup {
        match &self.sent {
            Some((_, wrong)) => field.show(wrong),
            None => field.show(&FormError::default()),
        }
    }
}

/// The address that a form of the account is sent to.
pub(super) fn action(account: &Account, verb: &str) -> String {
    format!("/accounts/{}/{verb}", account.id)
}
