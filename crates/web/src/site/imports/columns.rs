//! The form that maps the columns of a CSV file to fields.

use maud::{Markup, html};
use service::ingest::imports::files::csv::{
    Column, DecimalMark, Delimiter, Detection, Field, Sheet, SheetColumn,
};
use service::ingest::imports::files::{ChargeSign, DateOrder, Preview, csv};

use crate::site::fields;
use crate::site::person::Person;

/// The fields that most files have; the others are under "More columns".
const FIRST: [Field; 6] =
    [Field::Date, Field::Description, Field::Amount, Field::Debit, Field::Credit, Field::Balance];
/// With a lower confidence the form is open from the start.
const SURE: u8 = 80;
const SAMPLES: usize = 3;
const SAMPLE_CHARS: usize = 24;
const TITLE_CHARS: usize = 60;

/// A column as a form value: by its title, so that the choice survives a change of the skipped lines.
pub(super) fn column_text(column: &Column) -> String {
    match column {
        Column::Title(title) => format!("t:{title}"),
        Column::Number(number) => format!("n:{number}"),
    }
}

pub(super) fn parse_column(text: &str) -> Option<Column> {
    match text.split_once(':')? {
        ("t", title) => Some(Column::Title(title.to_owned())),
        ("n", number) => number.parse().ok().map(Column::Number),
        _ => None,
    }
}

/// The form field name for a field.
pub(super) fn name(field: Field) -> String {
    format!("column_{}", field.as_str())
}

pub(super) fn card(person: &Person, preview: &Preview) -> Markup {
    let Some(table) = &preview.table else { return html! {} };
    let is_unsure =
        table.confidence < SURE && preview.choices.mapping.is_none() && !preview.remembered;
    let more: Vec<Field> = Field::ALL.iter().copied().filter(|it| !FIRST.contains(it)).collect();
    let is_wrong = |field: &Field| preview.complaints.iter().any(|it| it.field == Some(*field));
    html! {
        details.card.folded open[is_unsure || !preview.complaints.is_empty()] id="columns" {
            summary { "Columns" }
            div.inside {
                input type="hidden" name="editing" value="1";
                (presets())
                div.filters.columns-of {
                    @for field in FIRST { (select(person, preview, table, field)) }
                }
                (form_of_file(table))
                details id="more-columns" open[more.iter().any(is_wrong)] {
                    summary { "More columns" }
                    div.filters.columns-of {
                        @for field in &more { (select(person, preview, table, *field)) }
                        (words(table))
                    }
                }
                p.soft { "We'll remember your changes for files with the same columns." }
            }
        }
    }
}

fn presets() -> Markup {
    html! {
        div.field {
            label for="f-preset" { "Use a bank's format" }
            select id="f-preset" name="preset" {
                option value="" { "Custom" }
                @for name in csv::presets() { option value=(name) { (name) } }
            }
        }
    }
}

/// Select boxes for the columns of a field: one for each chosen column, and one more.
fn select(person: &Person, preview: &Preview, table: &Detection, field: Field) -> Markup {
    let chosen = table.mapping.columns.get(&field).map(Vec::as_slice).unwrap_or_default();
    let lists = (chosen.len() + 1).min(field.columns_max()).max(1);
    let (name, wrong) = (name(field), complaints(preview, field));
    let help = format!("h-{name}");
    html! {
        div.field {
            @for index in 0..lists {
                @let id = if index == 0 { format!("f-{name}") } else { format!("f-{name}-{index}") };
                label.hush[index > 0] for=(id) {
                    (field.label()) @if index > 0 { ", column " (index + 1) }
                }
                select id=(id) name=(name) aria-describedby=(help)
                    aria-invalid=[(!wrong.is_empty()).then_some("true")] {
                    option value="" { (if index == 0 { "Not in this file" } else { "None" }) }
                    (options(person, &table.sheet, chosen.get(index)))
                }
            }
            div id=(help) {
                @for text in &wrong { p.wrong { (text) } }
                p.soft { (field.help()) }
            }
        }
    }
}

fn complaints(preview: &Preview, field: Field) -> Vec<&str> {
    let of_field = preview.complaints.iter().filter(|it| it.field == Some(field));
    of_field.map(|it| it.text.as_str()).collect()
}

fn options(person: &Person, sheet: &Sheet, chosen: Option<&Column>) -> Markup {
    let index = chosen.and_then(|it| place_of(it, sheet));
    html! {
        @if let (Some(column), None) = (chosen, index) {
            option value=(column_text(column)) selected { (column) " (not in this file)" }
        }
        @for (at, it) in sheet.columns.iter().enumerate() {
            // The chosen value is kept as it was written, so that submitting an unchanged form changes nothing.
            @let column = chosen.filter(|_| index == Some(at)).unwrap_or(&it.column);
            option value=(column_text(column)) selected[index == Some(at)] {
                (short(&it.title, TITLE_CHARS)) (samples(person, it))
            }
        }
    }
}

/// The position of a column. Titles are compared without regard to case.
fn place_of(column: &Column, sheet: &Sheet) -> Option<usize> {
    match column {
        Column::Number(number) => number.checked_sub(1).filter(|it| *it < sheet.columns.len()),
        Column::Title(title) => {
            let title = title.to_lowercase();
            sheet.columns.iter().position(|it| it.title.to_lowercase() == title)
        }
    }
}

/// Sample values of a column. They may be amounts, so they are hidden with amounts.
fn samples(person: &Person, column: &SheetColumn) -> String {
    let samples = column.samples.iter().take(SAMPLES);
    let shown: Vec<String> = samples.map(|it| short(it, SAMPLE_CHARS)).collect();
    match person.view.hide_amounts || shown.is_empty() {
        true => String::new(),
        false => format!(": {}", shown.join(" \u{b7} ")),
    }
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

/// The settings for the whole file: date order, signs, decimals and delimiter.
fn form_of_file(table: &Detection) -> Markup {
    let mapping = &table.mapping;
    let delimiters = Delimiter::ALL.iter().map(|it| (it.as_str(), delimiter_name(*it)));
    let delimiters: Vec<(&str, &str)> = delimiters.collect();
    let dates = [
        ("", "Automatic"),
        (DateOrder::DayFirst.as_str(), "Day first: 31/12"),
        (DateOrder::MonthFirst.as_str(), "Month first: 12/31"),
    ];
    let marks = [
        ("", "Automatic"),
        (DecimalMark::Dot.as_str(), "Period: 1,234.50"),
        (DecimalMark::Comma.as_str(), "Comma: 1.234,50"),
    ];
    let signs = [
        ("", "Automatic"),
        (ChargeSign::Negative.as_str(), "Negative: -12.50"),
        (ChargeSign::Positive.as_str(), "Positive: 12.50"),
    ];
    let order = mapping.date_order.map_or("", DateOrder::as_str);
    let mark = mapping.decimal_mark.map_or("", DecimalMark::as_str);
    let sign = mapping.charges.map_or("", ChargeSign::as_str);
    html! {
        div.filters {
            (fields::select("date_order", "Date format", &dates, order))
            (fields::select("sign", "Money out is", &signs, sign))
            (fields::select("decimal_mark", "Decimal mark", &marks, mark))
            (fields::select("delimiter", "Column separator", &delimiters, mapping.delimiter.as_str()))
            div.field {
                label for="f-skip_lines" { "Lines to skip" }
                input id="f-skip_lines" name="skip_lines" type="number" min="0" max="1000"
                    value=(mapping.skip_lines);
            }
        }
        (fields::check("has_header", "1", "First row has column titles", mapping.has_header))
    }
}

fn delimiter_name(delimiter: Delimiter) -> &'static str {
    match delimiter {
        Delimiter::Comma => "Comma",
        Delimiter::Semicolon => "Semicolon",
        Delimiter::Tab => "Tab",
        Delimiter::Pipe => "Pipe",
    }
}

/// The fields for text columns: words for money out, and a fixed currency.
fn words(table: &Detection) -> Markup {
    let mapping = &table.mapping;
    html! {
        div.field {
            label for="f-out_words" { "Words for money out" }
            input id="f-out_words" name="out_words" value=(mapping.out_words.join(", "))
                autocomplete="off" aria-describedby="h-out_words";
            p.soft id="h-out_words" { "For a column that marks money in or out. For example: debit, out." }
        }
        div.field {
            label for="f-currency" { "Currency" }
            input id="f-currency" name="currency" value=(mapping.currency.as_deref().unwrap_or(""))
                autocomplete="off" aria-describedby="h-currency";
            p.soft id="h-currency" { "For files without a currency column. For example: USD." }
        }
    }
}
