//! Manual accounts: creating one, setting its balance and adding transactions.

use axum::extract::Path;
use base::draft::AccountKind;
use base::{Currency, Money};
use http::StatusCode;
use maud::html;
use service::ingest::manual::{self, NewAccount};
use service::ledger::accounts::{self, Account};
use service::{Error, Result};

use super::changes::{answer, answer_with};
use super::{kind_name, parse};
use crate::site::app_page::{AppPage, see_other};
use crate::site::currencies;
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::View;
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::transactions::entry::EntryForm;

/// The values typed into the form for a new account.
#[derive(Default)]
struct FormValues {
    name: String,
    kind: String,
    currency: String,
    balance: String,
}

impl FormValues {
    fn read(&self) -> Result<NewAccount> {
        let currency = self.currency()?;
        let balance_minor = self.balance_minor(currency)?;
        let name = self.name()?.to_owned();
        Ok(NewAccount { name, kind: self.kind()?, currency, balance_minor })
    }

    fn name(&self) -> Result<&str> {
        let missing = || Error::invalid("name", "enter a name for the account");
        Some(self.name.as_str()).filter(|it| !it.is_empty()).ok_or_else(missing)
    }

    fn kind(&self) -> Result<AccountKind> {
        let missing = || Error::invalid("kind", "choose an account type");
        AccountKind::parse(&self.kind).ok_or_else(missing)
    }

    fn currency(&self) -> Result<Currency> {
        let unknown = |_| Error::invalid("currency", "choose a currency");
        Currency::parse(&self.currency).map_err(unknown)
    }

    fn balance_minor(&self, currency: Currency) -> Result<Option<i64>> {
        match self.balance.is_empty() {
            true => Ok(None),
            false => Ok(Some(fields::amount("balance", &self.balance, currency)?.minor())),
        }
    }

    /// Each field on its own, so that all errors are shown at once.
    fn checks(&self) -> [Result<()>; 4] {
        let currency = self.currency();
        let balance = self.balance_minor(*currency.as_ref().unwrap_or(&Currency::USD));
        [self.name().map(drop), self.kind().map(drop), currency.map(drop), balance.map(drop)]
    }
}

pub(in crate::site) async fn new(person: Person) -> PageResult {
    let currency = person.user.base_currency.code().to_owned();
    Ok(form_page(&person, &FormValues { currency, ..FormValues::default() }, &FormError::default()))
}

pub(in crate::site) async fn create(person: Person, form: Form) -> PageResult {
    let text = |name: &str| form.text(name).to_owned();
    let typed = FormValues {
        name: text("name"),
        kind: text("kind"),
        currency: text("currency"),
        balance: text("balance"),
    };
    let made = async { manual::create_account(person.app(), &person.caller, typed.read()?).await };
    match made.await {
        Ok(id) => {
            let message = "Account added. Add its transactions below.";
            Ok(see_other(&person, &format!("/accounts/{id}"), message))
        }
        Err(error) => {
            let wrong = FormError::from_error(error)?.and(typed.checks());
            Ok(form_page(&person, &typed, &wrong))
        }
    }
}

fn form_page(person: &Person, typed: &FormValues, wrong: &FormError) -> axum::response::Response {
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let kinds: Vec<(&str, &str)> =
        AccountKind::ALL.iter().map(|it| (it.as_str(), kind_name(*it))).collect();
    let currencies = currencies::options();
    let currencies: Vec<(&str, &str)> =
        currencies.iter().map(|(code, name)| (code.as_str(), name.as_str())).collect();
    let body = html! {
        (Field::text("name", "Name", &typed.name).hint("For example: Wallet, House, Loan from Kim.").show(wrong))
        (fields::select("kind", "Type", &kinds, &typed.kind))
        (fields::select("currency", "Currency", &currencies, &typed.currency))
        (Field::text("balance", "Current balance", &typed.balance).optional()
            .hint("For a card or loan, enter what you owe. Leave empty if you don't know.").show(wrong))
        button.primary type="submit" { "Add account" }
    };
    let main = html! {
        p.trail { a href="/accounts" { "Accounts" } }
        h1 { "Add a manual account" }
        p { "For anything without a bank feed: cash, a house, a loan to a friend. You update its balance and \
             transactions yourself." }
        section.card aria-label="New account" {
            (wrong.summary())
            (fields::form("/accounts/new", &person.form_token, body))
        }
    };
    AppPage::new(NavItem::Accounts, "Add a manual account").page_with(status, person, main)
}

/// Sets the balance of a manual account.
pub(in crate::site) async fn set_balance(
    person: Person,
    id: Path<String>,
    form: Form,
) -> PageResult {
    let id = parse(id)?;
    let (app, caller) = (person.app(), &person.caller);
    let account = accounts::get(app, caller, id).await?;
    let mut message = String::new();
    let done = async {
        if form.text("balance").is_empty() {
            return Err(Error::invalid("balance", "enter the balance, such as 120.50"));
        }
        let now = fields::amount("balance", form.text("balance"), account.currency)?;
        message = balance_message(person.view, &account, now);
        manual::set_balance(app, caller, id, now.minor()).await
    };
    let done = done.await;
    answer(&person, id, &form, done, &message).await
}

fn balance_message(view: View, account: &Account, now: Money) -> String {
    let now = view.money_text(now);
    match account.balance_current_minor {
        Some(minor) => {
            let was = view.money_text(Money::new(minor, account.currency));
            format!("Balance changed from {was} to {now}.")
        }
        None => format!("Balance set to {now}."),
    }
}

/// Adds a transaction to a manual account.
pub(in crate::site) async fn add_transaction(
    person: Person,
    id: Path<String>,
    form: Form,
) -> PageResult {
    let id = parse(id)?;
    let (app, caller) = (person.app(), &person.caller);
    let account = accounts::get(app, caller, id).await?;
    let typed = EntryForm::typed(&form);
    let done = async {
        let entry = typed.read(account.currency)?;
        manual::create_transaction(app, caller, id, entry).await
    };
    let done = done.await.map(|_| ()).map_err(FormError::from_error);
    let done = done.map_err(|it| it.map(|wrong| wrong.and(typed.checks(account.currency))));
    answer_with(&person, id, &form, done, "Transaction added.").await
}
