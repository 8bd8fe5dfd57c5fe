//! The page that splits a transaction over categories. It works without scripts: a button adds rows.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use base::category::Category;
use base::split::PARTS_MAX;
use base::{Money, TransactionId};
use http::StatusCode;
use maud::{Markup, html};
use service::Error;
use service::insights::transaction_detail::{self, TransactionDetail};
use service::ledger::splits::{self, Part};

use super::{address_of, category};
use crate::site::app_page::{AppPage, see_other};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::format::{or_stored, plain_amount};
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::urls;

/// The rows of a new split, and how many the button adds.
const ROWS_FIRST: usize = 3;
const ROWS_MORE: usize = 3;

/// A row of the form as text, so that it is kept if the form is shown again.
#[derive(Clone, Default)]
struct Row {
    category: String,
    amount: String,
    note: String,
}

impl Row {
    fn is_empty(&self) -> bool {
        self.category.is_empty() && self.amount.is_empty() && self.note.is_empty()
    }
}

pub(in crate::site) async fn get(
    person: Person,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResult {
    let transaction = find(&person, &id).await?;
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let back = pairs.iter().find(|(name, _)| name == "back").map_or("", |(_, it)| it.as_str());
    let rows = rows_of(&transaction).into_iter();
    let masked = |it: Row| Row { amount: person.view.field_text(&it.amount), ..it };
    let rows = rows.map(masked).collect();
    Ok(page(&person, &transaction, back, (rows, &FormError::default())))
}

/// Saves the split, or shows the form with more rows.
pub(in crate::site) async fn save(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let transaction = find(&person, &id).await?;
    let back = form.text("back");
    let mut rows = typed_rows(&form);
    if form.text("do") == "more" {
        rows.extend(vec![Row::default(); ROWS_MORE]);
        return Ok(page(&person, &transaction, back, (rows, &FormError::default())));
    }
    let saved = async {
        let parts = read_parts(&person, &transaction, &unmasked(&transaction, &rows))?;
        splits::set(person.app(), &person.caller, transaction.id, parts).await
    };
    match saved.await.map_err(FormError::from_error) {
        Ok(()) => Ok(see_other(&person, &address_of(transaction.id, back), "Split saved.")),
        Err(Ok(wrong)) => Ok(page(&person, &transaction, back, (rows, &wrong))),
        Err(Err(error)) => Err(PageError::from(error)),
    }
}

/// Makes the transaction whole again.
pub(in crate::site) async fn remove(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    splits::remove(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, &address_of(id, form.text("back")), "Split removed."))
}

async fn find(person: &Person, id: &str) -> Result<TransactionDetail, PageError> {
    let id = TransactionId::parse(id).map_err(|_| PageError::not_found())?;
    Ok(transaction_detail::get(person.app(), &person.caller, id).await?)
}

/// The stored parts, or the category of the whole in the first row.
fn rows_of(transaction: &TransactionDetail) -> Vec<Row> {
    let currency = transaction.amount.currency();
    match &transaction.split {
        Some(split) => split
            .parts
            .iter()
            .map(|it| Row {
                category: it.category.detailed().to_owned(),
                amount: plain_amount(Money::new(it.amount_minor.saturating_abs(), currency)),
                note: it.note.clone(),
            })
            .collect(),
        None => {
            let category = transaction.category.map_or("", Category::detailed).to_owned();
            let mut rows = vec![Row { category, ..Row::default() }];
            rows.resize(ROWS_FIRST, Row::default());
            rows
        }
    }
}

fn typed_rows(form: &Form) -> Vec<Row> {
    let text = |it: &str| it.trim().to_owned();
    let categories = form.all("category").zip(form.all("amount")).zip(form.all("note"));
    let rows = categories.map(|((category, amount), note)| Row {
        category: text(category),
        amount: text(amount),
        note: text(note),
    });
    rows.take(PARTS_MAX).collect()
}

/// The rows with the stored amounts in place of hidden ones.
fn unmasked(transaction: &TransactionDetail, rows: &[Row]) -> Vec<Row> {
    let stored = rows_of(transaction).into_iter().chain(std::iter::repeat_with(Row::default));
    let rows = rows.iter().cloned().zip(stored);
    rows.map(|(row, stored)| Row {
        amount: or_stored(&row.amount, &stored.amount).to_owned(),
        ..row
    })
    .collect()
}

/// Reads the parts. One amount may be empty, and gets what the others leave.
fn read_parts(
    person: &Person,
    transaction: &TransactionDetail,
    rows: &[Row],
) -> service::Result<Vec<Part>> {
    let whole = transaction.amount;
    let wrong = |message: &str| Error::invalid("splits", message);
    let mut parts = Vec::new();
    let mut rest = None;
    for row in rows.iter().filter(|it| !it.is_empty()) {
        let category = Category::ALL.into_iter().find(|it| it.detailed() == row.category);
        let category = category.ok_or_else(|| wrong("choose a category for each part"))?;
        let mut amount_minor = 0;
        if row.amount.is_empty() {
            if rest.replace(parts.len()).is_some() {
                return Err(wrong("only one part can have an empty amount"));
            }
        } else {
            let typed = fields::amount("splits", &row.amount, whole.currency())?.minor();
            amount_minor =
                if whole.minor() < 0 { typed.saturating_abs().saturating_neg() } else { typed };
        }
        parts.push(Part { amount_minor, category, note: row.note.clone() });
    }
    let sum = parts.iter().fold(0_i64, |sum, it| sum.saturating_add(it.amount_minor));
    let left = whole.minor().saturating_sub(sum);
    match rest {
        Some(index) => parts[index].amount_minor = left,
        None if left != 0 && parts.len() > 1 => {
            let view = person.view;
            let [sum, left] =
                [sum, left].map(|it| view.money_text(Money::new(it, whole.currency())));
            return Err(wrong(&format!(
                "the parts add up to {sum}, and {left} is missing; leave one amount empty to give it the rest"
            )));
        }
        None => {}
    }
    Ok(parts)
}

fn page(
    person: &Person,
    transaction: &TransactionDetail,
    back: &str,
    (mut rows, wrong): (Vec<Row>, &FormError),
) -> Response {
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    rows.truncate(PARTS_MAX);
    rows.resize(rows.len().max(2), Row::default());
    let name = transaction.counterparty.as_deref().unwrap_or(&transaction.description);
    let body = html! {
        input type="hidden" name="back" value=(back);
        ol.parts { @for (index, row) in rows.iter().enumerate() { (part_row(index, row)) } }
        div.actions {
            button.primary type="submit" name="do" value="save" { "Save split" }
            @if rows.len() < PARTS_MAX {
                button.outlined type="submit" name="do" value="more" { "Add more parts" }
            }
        }
    };
    let action = format!("/transactions/{}/split", transaction.id);
    let main = html! {
        p.trail { a href=(address_of(transaction.id, back)) { "Back to transaction" } }
        div.lead-in {
            h1 { "Split " (name) }
            p.big { (person.view.signed(transaction.amount)) }
            p.soft { "The parts must add up to this amount. Leave one amount empty for the rest." }
        }
        (wrong.summary())
        section.card aria-label="Parts" { (fields::form(&action, &person.form_token, body)) }
    };
    AppPage::new(NavItem::Transactions, "Split transaction").page_with(status, person, main)
}

fn part_row(index: usize, row: &Row) -> Markup {
    let number = index + 1;
    html! {
        li.part {
            p.label { "Part " (number) }
            div.field {
                label for={ "f-category-" (number) } { "Category" span.hush { " of part " (number) } }
                select id={ "f-category-" (number) } name="category" {
                    option value="" { "Choose a category" }
                    (category::options(&row.category, false))
                }
            }
            div.field {
                label for={ "f-amount-" (number) } { "Amount" span.hush { " of part " (number) } }
                input id={ "f-amount-" (number) } name="amount" type="text" inputmode="decimal"
                    autocomplete="off" value=(row.amount);
            }
            div.field {
                label for={ "f-note-" (number) } { "Note" span.hush { " of part " (number) } }
                input id={ "f-note-" (number) } name="note" type="text" maxlength="100" autocomplete="off"
                    value=(row.note);
            }
        }
    }
}
