//! Reads the person's choices from the form of the review page.

use base::Currency;
use service::Result;
use service::ingest::imports::files::csv::{Column, DecimalMark, Delimiter, Field, Mapping};
use service::ingest::imports::files::{
    self, ChargeSign, Choices, DateOrder, DestinationChoice, Preview,
};

use super::{accounts, columns};
use crate::site::form::Form;
use crate::site::person::Person;

/// The maximum number of skipped lines.
const SKIPPED_MAX: usize = 1_000;
/// The columns that identify accounts. If they change, earlier account choices no longer apply.
const OF_ACCOUNTS: [Field; 4] = [Field::Account, Field::AccountName, Field::Card, Field::Currency];

pub(super) struct PreviewChoices {
    pub(super) choices: Choices,
    /// Whether the columns changed, so that the person has not seen the resulting rows.
    pub(super) columns_changed: bool,
}

pub(super) async fn read(
    person: &Person,
    preview: &Preview,
    form: &Form,
) -> Result<PreviewChoices> {
    let mut choices = preview.choices.clone();
    let mut mapping = preview.table.as_ref().map(|it| it.mapping.clone());
    let mut columns_changed = false;
    let mut same_accounts = true;
    if let Some(now) = mapping.as_mut().filter(|_| form.has("editing")) {
        let preset = form.text("preset");
        let of_bank = match preset.is_empty() {
            true => None,
            false => files::preset(person.app(), &person.caller, preview.file.id, preset).await?,
        };
        let next = of_bank.unwrap_or_else(|| edited(now, form));
        columns_changed = next != *now;
        same_accounts = OF_ACCOUNTS.iter().all(|it| next.columns.get(it) == now.columns.get(it));
        *now = next;
    }
    let (dates, charges) =
        (DateOrder::parse(form.text("dates")), ChargeSign::parse(form.text("charges")));
    // Only a changed value counts as a choice: what is assumed may change with the columns.
    let currency = Currency::parse(form.text("file_currency")).ok();
    let currency =
        currency.filter(|it| preview.assumed_currency.is_some_and(|assumed| assumed != *it));
    match &mut mapping {
        // For a CSV file the answer is stored with the columns, so that the next file with them does not ask again.
        Some(mapping) => {
            mapping.date_order = dates.or(mapping.date_order);
            mapping.charges = charges.or(mapping.charges);
            mapping.currency = currency.map(|it| it.code().to_owned()).or(mapping.currency.take());
        }
        None => {
            choices.dates = dates.or(choices.dates);
            choices.charges = charges.or(choices.charges);
            choices.currency = currency.or(choices.currency);
        }
    }
    if mapping != preview.table.as_ref().map(|it| it.mapping.clone()) {
        choices.mapping = mapping;
    }
    match same_accounts {
        true => read_accounts(&mut choices, preview, form),
        false => choices.accounts.clear(),
    }
    Ok(PreviewChoices { choices, columns_changed })
}

fn read_accounts(choices: &mut Choices, preview: &Preview, form: &Form) {
    for (index, account) in preview.accounts.iter().enumerate() {
        let text = |name: &str| form.text(&format!("{name}_{index}")).to_owned();
        let mut choice = choices.accounts.get(&index).cloned().unwrap_or_default();
        // Only a changed value counts as a choice: importing another file meanwhile may have changed the default.
        let destination = text("goes");
        if destination != text("was") {
            choice.destination = DestinationChoice::parse(&destination);
        }
        let name = text("name");
        if !name.is_empty() && name != account.name {
            choice.name = Some(name);
        }
        let kind = text("kind");
        let is_new = accounts::is_open(preview, index) || kind != accounts::kind_value(account);
        if let Some((kind, subtype)) = accounts::parse_kind(&kind).filter(|_| is_new) {
            choice.kind = Some(kind);
            choice.subtype = subtype.map(str::to_owned);
        }
        match text("owed").as_str() {
            "yes" => choice.owed = Some(true),
            "no" => choice.owed = Some(false),
            _ => {}
        }
        if choice != files::AccountChoice::default() {
            choices.accounts.insert(index, choice);
        }
    }
}

/// The column mapping from the form. Settings that the form does not show are kept.
fn edited(now: &Mapping, form: &Form) -> Mapping {
    let mut next = now.clone();
    for field in Field::ALL {
        let name = columns::name(*field);
        let chosen: Vec<Column> = form.all(&name).filter_map(columns::parse_column).collect();
        match chosen.is_empty() {
            true => next.columns.remove(field),
            false => next.columns.insert(*field, chosen),
        };
    }
    // Columns that the person has seen are not assumed.
    next.sides_are_assumed &= next.columns == now.columns;
    next.delimiter = Delimiter::parse(form.text("delimiter")).unwrap_or(now.delimiter);
    let skipped = form.text("skip_lines").parse().ok().filter(|it| *it <= SKIPPED_MAX);
    next.skip_lines = skipped.unwrap_or(now.skip_lines);
    next.has_header = form.has("has_header");
    next.date_order = DateOrder::parse(form.text("date_order"));
    next.decimal_mark = DecimalMark::parse(form.text("decimal_mark"));
    next.charges = ChargeSign::parse(form.text("sign"));
    let words = form.text("out_words").split(',').map(str::trim).filter(|it| !it.is_empty());
    next.out_words = words.map(str::to_owned).collect();
    next.currency = Some(form.text("currency").to_uppercase()).filter(|it| !it.is_empty());
    next
}
