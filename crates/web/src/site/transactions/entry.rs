//! The form fields of a manual transaction.

use base::category::Category;
use base::{Currency, Date};
use maud::{Markup, html};
use service::ingest::manual::ManualTransaction;
use service::insights::transaction_detail::TransactionDetail;
use service::{Error, Result};

use super::category;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::{self, View};

/// The values of the form as text, so that they are kept if the form is shown again.
#[derive(Clone, Default)]
pub(in crate::site) struct EntryForm {
    on: String,
    way: String,
    amount: String,
    description: String,
    category: String,
}

impl EntryForm {
    pub(in crate::site) fn new(today: Date) -> EntryForm {
        EntryForm { on: today.to_string(), ..EntryForm::default() }
    }

    pub(in crate::site) fn typed(form: &Form) -> EntryForm {
        let text = |name: &str| form.text(name).to_owned();
        EntryForm {
            on: text("on"),
            way: text("way"),
            amount: text("amount"),
            description: text("description"),
            category: text("category"),
        }
    }

    pub(super) fn of(it: &TransactionDetail) -> EntryForm {
        let way = if it.amount.minor() > 0 { "in" } else { "out" };
        let amount = format::plain_amount(it.amount);
        EntryForm {
            on: it.posted_on.to_string(),
            way: way.to_owned(),
            amount: amount.trim_start_matches('-').to_owned(),
            description: it.description.clone(),
            category: it.source_category.map_or("", Category::detailed).to_owned(),
        }
    }

    /// Parses the values; the error names the field.
    pub(in crate::site) fn read(&self, currency: Currency) -> Result<ManualTransaction> {
        let category = Category::ALL.into_iter().find(|it| it.detailed() == self.category);
        Ok(ManualTransaction {
            on: self.date()?,
            amount_minor: self.amount_minor(currency)?,
            description: self.description()?,
            category,
        })
    }

    /// Each field on its own, so that all errors are shown at once.
    pub(in crate::site) fn checks(&self, currency: Currency) -> [Result<()>; 3] {
        let amount = self.amount_minor(currency).map(drop);
        [self.date().map(drop), amount, self.description().map(drop)]
    }

    fn date(&self) -> Result<Date> {
        fields::day("on", &self.on)?.ok_or_else(|| Error::invalid("on", "enter a date"))
    }

    fn amount_minor(&self, currency: Currency) -> Result<i64> {
        let amount = fields::amount("amount", &self.amount, currency)?.minor();
        if amount < 0 {
            let message = "enter the amount without a sign, and choose money in or money out";
            return Err(Error::invalid("amount", message));
        }
        match self.way.as_str() {
            "in" => Ok(amount),
            "out" => Ok(-amount),
            _ => Err(Error::invalid("amount", "choose money in or money out")),
        }
    }

    fn description(&self) -> Result<String> {
        match self.description.is_empty() {
            true => Err(Error::invalid("description", "enter a description")),
            false => Ok(self.description.clone()),
        }
    }

    pub(in crate::site) fn fields(&self, currency: Currency, wrong: &FormError) -> Markup {
        let directions = [("out", "Money out"), ("in", "Money in")];
        let label = format!("Amount ({})", currency.code());
        html! {
            (Field::text("on", "Date", &self.on).kind("date").show(wrong))
            (fields::select("way", "Direction", &directions, &self.way))
            (Field::text("amount", &label, &self.amount).hint("Enter a positive amount.").show(wrong))
            (Field::text("description", "Description", &self.description).show(wrong))
        }
    }

    /// The category field of a new transaction. Later changes are made on the transaction's page.
    pub(in crate::site) fn category(&self) -> Markup {
        html! {
            div.field {
                label for="f-category" { "Category" }
                select id="f-category" name="category" {
                    option value="" { "Detect automatically" }
                    (category::options(&self.category, false))
                }
            }
        }
    }

    /// As it is shown where amounts are hidden.
    pub(super) fn masked(self, view: View) -> EntryForm {
        EntryForm { amount: view.field_text(&self.amount), ..self }
    }

    /// With the stored amount in place of a hidden one, and with the category, for which the edit form has no field.
    pub(super) fn with_stored(&self, it: &TransactionDetail) -> EntryForm {
        let stored = EntryForm::of(it);
        let amount = format::or_stored(&self.amount, &stored.amount).to_owned();
        EntryForm { amount, category: stored.category, ..self.clone() }
    }
}
