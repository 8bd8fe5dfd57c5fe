//! Moving the transactions of some imports into another account, where files of two accounts went into one.

use axum::extract::Path;
use base::{AccountId, ImportId};
use http::StatusCode;
use maud::{Markup, html};
use service::ingest::account_split::{self, AccountImport, Destination};
use service::ledger::accounts::{self, Account, Status};
use service::{Error, Result};

use super::{manual_forms, parse};
use crate::site::app_page::{AppPage, see_other};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::plural;
use crate::site::navigation::NavItem;
use crate::site::person::Person;

/// The link to the page, on the page of an account that files can go into.
pub(super) fn link(account: &Account) -> Markup {
    html! {
        @if manual_forms::is_manual(account) {
            p.soft {
                "Are transactions of another account in here? "
                a href={ "/accounts/" (account.id) "/split" } { "Move them to their own account" }
            }
        }
    }
}

pub(in crate::site) async fn get(person: Person, id: Path<String>) -> PageResult {
    show(&person, parse(id)?, &FormValues::default(), &FormError::default()).await
}

pub(in crate::site) async fn post(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let typed = FormValues::read(&form);
    let done = async {
        let (imports, into) = (typed.imports()?, typed.destination()?);
        account_split::move_imports(person.app(), &person.caller, id, imports, into).await
    };
    match done.await {
        Ok(moved) => {
            let many = plural(moved.count as i64, "transaction", "transactions");
            let message = format!("{many} moved here. Set the balance if it isn't right.");
            Ok(see_other(&person, &format!("/accounts/{}", moved.into), &message))
        }
        Err(error) => {
            let checks = [typed.imports().map(drop), typed.destination().map(drop)];
            show(&person, id, &typed, &FormError::from_error(error)?.and(checks)).await
        }
    }
}

/// The values of the form, so that they are kept if the form is shown again.
#[derive(Default)]
struct FormValues {
    imports: Vec<String>,
    /// The id of an account, or empty for a new one.
    into: String,
    name: String,
}

impl FormValues {
    fn read(form: &Form) -> FormValues {
        FormValues {
            imports: form.all("import").map(str::to_owned).collect(),
            into: form.text("into").to_owned(),
            name: form.text("name").to_owned(),
        }
    }

    fn imports(&self) -> Result<Vec<ImportId>> {
        let unknown = || Error::invalid("import", "choose from the imports of this account");
        let ids = self.imports.iter().map(|it| ImportId::parse(it));
        let ids: Vec<ImportId> = ids.collect::<Result<_, _>>().map_err(|_| unknown())?;
        match ids.is_empty() {
            true => Err(Error::invalid("import", "choose at least one import")),
            false => Ok(ids),
        }
    }

    fn destination(&self) -> Result<Destination> {
        let unknown = |_| Error::invalid("into", "choose one of your accounts");
        match (self.into.as_str(), self.name.is_empty()) {
            ("", true) => Err(Error::invalid("name", "enter a name for the new account")),
            ("", false) => Ok(Destination::New(self.name.clone())),
            (id, _) => AccountId::parse(id).map(Destination::Existing).map_err(unknown),
        }
    }
}

async fn show(person: &Person, id: AccountId, typed: &FormValues, wrong: &FormError) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let account = accounts::get(app, caller, id).await?;
    let imports = account_split::list_imports(app, caller, id).await?;
    let filter = accounts::Filter { status: Status::All, include_hidden: true };
    let mut others = accounts::list(app, caller, filter).await?;
    others
        .retain(|it| it.id != id && it.currency == account.currency && manual_forms::is_manual(it));
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let main = html! {
        p.trail { a href={ "/accounts/" (id) } { "Back to " (account.name) } }
        h1 { "Move transactions to another account" }
        @if imports.is_empty() {
            div.empty {
                h2 { "No imported files" }
                p { "No transactions of this account came from a file." }
                a.button href={ "/transactions?account=" (id) } { "Show transactions" }
            }
        } @else {
            p {
                "If files of two accounts went into " (account.name) ", choose the files of the other account. Your \
                 categories, notes and attachments move with the transactions. Reported balances stay here."
            }
            section.card aria-label="Files" {
                (wrong.summary())
                (fields::form(&format!("/accounts/{id}/split"), &person.form_token, body(person, &imports, &others, (typed, wrong))))
            }
        }
    };
    let page = AppPage::new(NavItem::Accounts, "Move transactions");
    Ok(page.page_with(status, person, main))
}

fn body(
    person: &Person,
    imports: &[AccountImport],
    others: &[Account],
    (typed, wrong): (&FormValues, &FormError),
) -> Markup {
    let ids: Vec<String> = others.iter().map(|it| it.id.to_string()).collect();
    let mut accounts = vec![("", "New account")];
    accounts.extend(ids.iter().map(String::as_str).zip(others.iter().map(|it| it.name.as_str())));
    html! {
        fieldset {
            legend { "Files" }
            @for import in imports {
                @let id = import.id.to_string();
                (fields::check("import", &id, &label(person, import), typed.imports.contains(&id)))
            }
        }
        (fields::select("into", "Move to", &accounts, &typed.into))
        (Field::text("name", "Name of the new account", &typed.name).optional().show(wrong))
        button.primary type="submit" { "Move transactions" }
    }
}

/// "march.csv: 42 transactions from Sun 1 Mar to Tue 31 Mar, imported on Wed 1 Apr".
fn label(person: &Person, import: &AccountImport) -> String {
    let view = person.view;
    let name = import.name.as_deref().unwrap_or("Import");
    let count = plural(import.transactions, "transaction", "transactions");
    let (first, last) = (view.day(import.first_on), view.day(import.last_on));
    format!(
        "{name}: {count} from {first} to {last}, imported on {}",
        view.day_at(import.imported_at)
    )
}
