//! What the person says of their transactions, as forms send it.

use axum::extract::Path;
use base::TransactionId;
use base::category::Category;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::rules::{self, NewRule};
use service::classify::transfers;
use service::insights::transaction_detail::{self, TransactionDetail};
use service::{Error, insights};

use super::detail;
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::format::plural;
use crate::site::person::Person;
use crate::site::urls;

/// Several from the list at once.
pub(in crate::site) async fn several(person: Person, form: Form) -> PageResult {
    let next = urls::local_path(form.text("next"));
    let ids: Option<Vec<TransactionId>> =
        form.all("id").map(|it| TransactionId::parse(it).ok()).collect();
    let ids = ids.ok_or_else(PageError::not_found)?;
    if ids.is_empty() {
        return Ok(see_other(&person, next, "Tick at least one transaction first."));
    }
    let Some(category) = category(form.text("category")) else {
        return Ok(see_other(&person, next, "Choose a category first."));
    };
    let count = ids.len() as i64;
    let word = Override { counterparty: None, category: Some(category) };
    corrections::correct(person.app(), &person.caller, ids, word).await?;
    let many = plural(count, "transaction is", "transactions are");
    let said = format!("{many} now {}.", category.label());
    Ok(see_other(&person, next, &said))
}

/// One: its name, its category, and whether that holds for all of its merchant.
pub(in crate::site) async fn correct(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let transaction = transaction_detail::get(app, caller, id).await?;
    let here = detail::address_of(id, form.text("back"));
    let always = form.has("always");
    let word = said(&transaction, form.text("name"), form.text("category"), always);
    if word.counterparty.is_none() && word.category.is_none() {
        return Ok(see_other(&person, &here, "Nothing was changed."));
    }
    let (outcome, saved) = match (always, form.has("past")) {
        (true, true) => (
            corrections::correct_always(app, caller, id, word).await.map(|_| ()),
            "Saved. The rule holds from now on; earlier ones follow in a moment.",
        ),
        (true, false) => (
            corrections::correct_from_now_on(app, caller, id, word).await.map(|_| ()),
            "Saved. The rule holds from now on; earlier ones stay as they are.",
        ),
        (false, _) => (corrections::correct(app, caller, vec![id], word).await, "Saved."),
    };
    match outcome.map_err(FormError::from_error) {
        Ok(()) => Ok(see_other(&person, &here, saved)),
        Err(Ok(wrong)) => Ok(detail::page(&person, &transaction, form.text("back"), &wrong)),
        Err(Err(error)) => Err(PageError::from(error)),
    }
}

/// What differs from what is known. A rule says the category also where it is the present one.
fn said(transaction: &TransactionDetail, name: &str, code: &str, always: bool) -> Override {
    let known = transaction.counterparty.as_deref().unwrap_or_default();
    let counterparty = (!name.is_empty() && name != known).then(|| name.to_owned());
    let chosen = category(code).filter(|it| always || transaction.category != Some(*it));
    Override { counterparty, category: chosen }
}

/// Only what is offered: a code of a whole group is no answer.
fn category(code: &str) -> Option<Category> {
    Category::ALL.into_iter().find(|it| it.detailed() == code)
}

/// All of its merchant, by a rule.
pub(in crate::site) async fn hide(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let transaction = transaction_detail::get(app, caller, id).await?;
    let like = Some(transaction.description.clone());
    let rule = NewRule { like, hides: true, ..NewRule::default() };
    match rules::create(app, caller, rule).await.map_err(FormError::from_error) {
        Ok(_) => {
            // Worked out at once, so that the list it came from no longer shows them.
            insights::pipeline::run_for(app, caller.user).await?;
            let said = "Such transactions are hidden now. Balances still count them.";
            Ok(see_other(&person, &detail::address_of(id, form.text("back")), said))
        }
        Err(Ok(wrong)) => Ok(detail::page(&person, &transaction, form.text("back"), &wrong)),
        Err(Err(error)) => Err(PageError::from(error)),
    }
}

/// Takes the person's own word back.
pub(in crate::site) async fn undo(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let here = detail::address_of(id, form.text("back"));
    match corrections::undo(person.app(), &person.caller, id).await {
        Ok(()) => Ok(see_other(&person, &here, "Your correction was taken back.")),
        // Sent twice, and done already; whether the transaction is there shows the page.
        Err(Error::NotFound("correction")) => Ok(see_other(&person, &here, "")),
        Err(error) => Err(PageError::from(error)),
    }
}

/// Whether this one and another are one move between own accounts.
pub(in crate::site) async fn transfer(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let read = |text: &str| TransactionId::parse(text).map_err(|_| PageError::not_found());
    let (id, other) = (read(&id)?, read(form.text("other"))?);
    let transaction = transaction_detail::get(app, caller, id).await?;
    let leaves = transaction.amount.minor() < 0;
    let (outflow, inflow) = if leaves { (id, other) } else { (other, id) };
    let here = detail::address_of(id, form.text("back"));
    if form.text("is") == "transfer" {
        transfers::confirm(app, caller, outflow, inflow).await?;
        Ok(see_other(&person, &here, "Both are now one transfer between your accounts."))
    } else {
        transfers::refuse(app, caller, outflow, inflow).await?;
        Ok(see_other(&person, &here, "They are no longer taken for one transfer."))
    }
}
