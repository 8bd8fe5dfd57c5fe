//! Form handlers for corrections: category, name, rules, hiding and transfers.

use axum::extract::Path;
use base::TransactionId;
use base::category::Category;
use service::classify::bulk_edits::{self, BulkChange};
use service::classify::corrections;
use service::classify::overrides::{Override, TransferMark, Visibility};
use service::classify::rules::{self, CreatedRule, NewRule};
use service::classify::transfers;
use service::insights::transaction_detail::{self, TransactionDetail};
use service::{Error, insights};

use super::{address_of, detail};
use crate::site::app_page::{see_other, see_other_with_undo};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::person::Person;

/// Corrects the name and category of one transaction, optionally as a rule for its merchant.
pub(in crate::site) async fn correct(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let transaction = transaction_detail::get(app, caller, id).await?;
    let here = address_of(id, form.text("back"));
    let always = form.has("always");
    let correction = changed_values(&transaction, form.text("name"), form.text("category"), always);
    if correction.counterparty.is_none() && correction.category.is_none() {
        return Ok(see_other(&person, &here, "No changes."));
    }
    let outcome = match (always, form.has("past")) {
        (true, true) => {
            let created = corrections::correct_always(app, caller, id, correction).await;
            let saved = "Saved. The rule will also apply to past transactions in a moment.";
            created.map(|it| format!("{saved}{}", replaced_text(&it)))
        }
        (true, false) => {
            let created = corrections::correct_from_now_on(app, caller, id, correction).await;
            created.map(|it| {
                format!("Saved. The rule applies to new transactions.{}", replaced_text(&it))
            })
        }
        (false, _) => {
            let corrected = corrections::correct(app, caller, vec![id], correction).await;
            corrected.map(|()| "Saved.".to_owned())
        }
    };
    match outcome.map_err(FormError::from_error) {
        Ok(saved) => Ok(see_other(&person, &here, &saved)),
        Err(Ok(wrong)) => Ok(detail::page(&person, &transaction, form.text("back"), &wrong)),
        Err(Err(error)) => Err(PageError::from(error)),
    }
}

/// Says that a rule took the place of older ones, which the person may not expect.
fn replaced_text(created: &CreatedRule) -> &'static str {
    match created.replaced.len() {
        0 => "",
        1 => " It replaced your older rule for this merchant.",
        _ => " It replaced your older rules for this merchant.",
    }
}

/// The values that differ from the current ones. A rule includes the category even if it is unchanged.
fn changed_values(
    transaction: &TransactionDetail,
    name: &str,
    code: &str,
    always: bool,
) -> Override {
    let known = transaction.counterparty.as_deref().unwrap_or_default();
    let counterparty = (!name.is_empty() && name != known).then(|| name.to_owned());
    let chosen = category(code).filter(|it| always || transaction.category != Some(*it));
    Override { counterparty, category: chosen }
}

/// Parses a detailed category code; primary categories are not accepted.
fn category(code: &str) -> Option<Category> {
    Category::ALL.into_iter().find(|it| it.detailed() == code)
}

/// Creates a rule that hides all transactions of the merchant.
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
        Ok(created) => {
            // Recomputed at once, so that the list no longer shows them.
            insights::pipeline::run_for(app, caller.user).await?;
            let message = "These transactions are now hidden. Balances are not affected.";
            let message = format!("{message}{}", replaced_text(&created));
            Ok(see_other(&person, &address_of(id, form.text("back")), &message))
        }
        Err(Ok(wrong)) => Ok(detail::page(&person, &transaction, form.text("back"), &wrong)),
        Err(Err(error)) => Err(PageError::from(error)),
    }
}

/// Removes the person's correction.
pub(in crate::site) async fn undo(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let here = address_of(id, form.text("back"));
    match corrections::undo(person.app(), &person.caller, id).await {
        Ok(()) => Ok(see_other(&person, &here, "Correction removed.")),
        // The form was sent twice, and the correction is already removed.
        Err(Error::NotFound("correction")) => Ok(see_other(&person, &here, "")),
        Err(error) => Err(PageError::from(error)),
    }
}

/// Links or unlinks two transactions as a transfer between own accounts.
pub(in crate::site) async fn transfer(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let read = |text: &str| TransactionId::parse(text).map_err(|_| PageError::not_found());
    let (id, other) = (read(&id)?, read(form.text("other"))?);
    let transaction = transaction_detail::get(app, caller, id).await?;
    let is_outflow = transaction.amount.minor() < 0;
    let (outflow, inflow) = if is_outflow { (id, other) } else { (other, id) };
    let here = address_of(id, form.text("back"));
    if form.text("is") == "transfer" {
        transfers::confirm(app, caller, outflow, inflow).await?;
        Ok(see_other(&person, &here, "Linked as a transfer between your accounts."))
    } else {
        transfers::refuse(app, caller, outflow, inflow).await?;
        Ok(see_other(&person, &here, "No longer linked as a transfer."))
    }
}

/// Hides or shows one transaction.
pub(in crate::site) async fn set_visibility(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let visibility = Visibility::parse(form.text("is")).ok_or_else(PageError::not_found)?;
    let message = match visibility {
        Visibility::Hidden => "Hidden from lists and totals. The balance still includes it.",
        Visibility::Shown => "Shown in lists and totals again.",
    };
    let change = BulkChange { visibility: Some(visibility), ..BulkChange::default() };
    change_one(&person, &id, form.text("back"), (change, message)).await
}

/// Marks one transaction as a transfer or as none, or removes the mark.
pub(in crate::site) async fn mark(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let mark = match form.text("is") {
        "" => None,
        word => Some(TransferMark::parse(word).ok_or_else(PageError::not_found)?),
    };
    let message = match mark {
        Some(TransferMark::Transfer) => {
            "Marked as a transfer. It no longer counts as money in or out."
        }
        Some(TransferMark::NoTransfer) => "Marked as not a transfer. It counts as money in or out.",
        None => "Your mark is removed.",
    };
    let change = BulkChange { transfer: Some(mark), ..BulkChange::default() };
    change_one(&person, &id, form.text("back"), (change, message)).await
}

/// Changes one transaction in a way that can be undone.
async fn change_one(
    person: &Person,
    id: &str,
    back: &str,
    (change, message): (BulkChange, &str),
) -> PageResult {
    let id = TransactionId::parse(id).map_err(|_| PageError::not_found())?;
    let edit = bulk_edits::apply(person.app(), &person.caller, vec![id], change).await?;
    Ok(see_other_with_undo(person, &address_of(id, back), message, edit))
}
