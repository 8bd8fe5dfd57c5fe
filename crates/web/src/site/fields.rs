//! Form fields with labels, hints and error messages, and parsers for what people type into them.

use base::{Currency, Date, Money, MoneyError};
use maud::{Markup, html};
use service::{Error, Result};

use super::errors::sentence;
use super::form::TOKEN_FIELD;

/// A POST form with its anti-forgery token.
pub(crate) fn form(action: &str, token: &str, body: Markup) -> Markup {
    html! {
        form method="post" action=(action) {
            input type="hidden" name=(TOKEN_FIELD) value=(token);
            (body)
        }
    }
}

/// A POST form with a single button.
pub(crate) fn button(action: &str, token: &str, label: &str, class: &str) -> Markup {
    form(action, token, html! { button.(class) type="submit" { (label) } })
}

/// The error of a form that is shown again, and the field it is about.
#[derive(Default)]
pub(crate) struct FormError {
    pub(crate) param: Option<String>,
    pub(crate) message: String,
    /// Fields with other errors, and their messages.
    pub(crate) more: Vec<(String, String)>,
}

impl FormError {
    /// An error that is about no field.
    pub(crate) fn general(message: String) -> FormError {
        FormError { message, ..FormError::default() }
    }

    /// Converts an error that the person can correct. Other errors are returned and get an error page.
    pub(crate) fn from_error(error: Error) -> Result<FormError> {
        match error {
            Error::Invalid { param, message } => {
                Ok(FormError { param, message: sentence(&message), more: Vec::new() })
            }
            Error::Conflict { message, .. } => Ok(FormError::general(sentence(&message))),
            other => Err(other),
        }
    }

    /// Adds what else is wrong, so that the person can correct everything at once.
    pub(crate) fn and(mut self, checks: impl IntoIterator<Item = Result<()>>) -> FormError {
        for error in checks.into_iter().filter_map(Result::err) {
            if let Error::Invalid { param: Some(param), message } = error
                && self.at(&param).is_none()
            {
                self.more.push((param, sentence(&message)));
            }
        }
        self
    }

    /// The message, if it is about that field.
    fn at(&self, name: &str) -> Option<&str> {
        if self.param.as_deref() == Some(name) {
            return Some(&self.message);
        }
        self.more.iter().find(|(param, _)| param == name).map(|(_, message)| message.as_str())
    }

    /// The message above the form, which screen readers announce first.
    pub(crate) fn summary(&self) -> Markup {
        html! {
            @if !self.message.is_empty() {
                p.wrong role="alert" {
                    (self.message)
                    @for (_, message) in &self.more { " " (message) }
                }
            }
        }
    }
}

/// An input of a form.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// text, email, password, date, number or search.
    pub(crate) kind: &'a str,
    pub(crate) value: &'a str,
    pub(crate) hint: &'a str,
    /// The HTML autocomplete hint, such as `current-password`.
    pub(crate) autocomplete: &'a str,
    pub(crate) required: bool,
    /// A prefix for ids, if several forms on a page have a field of this name.
    pub(crate) form: &'a str,
}

impl<'a> Field<'a> {
    pub(crate) fn text(name: &'a str, label: &'a str, value: &'a str) -> Field<'a> {
        Field {
            name,
            label,
            kind: "text",
            value,
            hint: "",
            autocomplete: "off",
            required: true,
            form: "",
        }
    }

    pub(crate) fn kind(self, kind: &'a str) -> Field<'a> {
        Field { kind, ..self }
    }

    pub(crate) fn hint(self, hint: &'a str) -> Field<'a> {
        Field { hint, ..self }
    }

    pub(crate) fn autocomplete(self, autocomplete: &'a str) -> Field<'a> {
        Field { autocomplete, ..self }
    }

    pub(crate) fn of_form(self, form: &'a str) -> Field<'a> {
        Field { form, ..self }
    }

    pub(crate) fn optional(self) -> Field<'a> {
        Field { required: false, ..self }
    }

    pub(crate) fn show(&self, wrong: &FormError) -> Markup {
        let (id, hint_id) =
            (format!("f-{}{}", self.form, self.name), format!("h-{}{}", self.form, self.name));
        let error = wrong.at(self.name);
        let described = (error.is_some() || !self.hint.is_empty()).then_some(hint_id.as_str());
        html! {
            div.field {
                label for=(id) { (self.label) }
                input id=(id) name=(self.name) type=(self.kind) value=(self.value)
                    autocomplete=(self.autocomplete) required[self.required]
                    aria-invalid=[error.map(|_| "true")] aria-describedby=[described];
                @if let Some(error) = error {
                    p.wrong id=(hint_id) { (error) }
                } @else if !self.hint.is_empty() {
                    p.soft id=(hint_id) { (self.hint) }
                }
            }
        }
    }
}

/// A select box; each option is its value and label.
pub(crate) fn select(name: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
    select_with_hint(name, label, options, chosen, "")
}

/// A select box with a sentence below it.
pub(crate) fn select_with_hint(
    name: &str,
    label: &str,
    options: &[(&str, &str)],
    chosen: &str,
    hint: &str,
) -> Markup {
    let (id, hint_id) = (format!("f-{name}"), format!("h-{name}"));
    let described_by = (!hint.is_empty()).then_some(&hint_id);
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name=(name) aria-describedby=[described_by] {
                @for (value, shown) in options {
                    option value=(value) selected[*value == chosen] { (shown) }
                }
            }
            @if !hint.is_empty() { p.soft id=(hint_id) { (hint) } }
        }
    }
}

/// A checkbox.
pub(crate) fn check(name: &str, value: &str, label: &str, ticked: bool) -> Markup {
    html! {
        label.check {
            input type="checkbox" name=(name) value=(value) checked[ticked];
            span { (label) }
        }
    }
}

/// Parses a date field; none if it is empty.
pub(crate) fn day(param: &str, text: &str) -> Result<Option<Date>> {
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = if text.len() == 10 && text.is_ascii() { text.parse().ok() } else { None };
    let wrong = || Error::invalid(param, "enter a date such as 2026-03-10");
    parsed.map(Some).ok_or_else(wrong)
}

/// Parses an amount as people type it. A currency sign and commas between thousands are ignored. A comma that could
/// be a decimal comma is refused, so that 12,34 is not read as 1234.
pub(crate) fn amount(param: &str, text: &str, currency: Currency) -> Result<Money> {
    let (before, after) = currency.affixes();
    let bare = text.replace([' ', '\u{a0}'], "");
    let bare = bare.replace(before.trim(), "").replace(after.trim(), "");
    let whole = bare.split('.').next().unwrap_or_default();
    let groups_fit = whole.split(',').skip(1).all(|it| it.len() == 3);
    let commas_in_cents = bare[whole.len()..].contains(',');
    let wrong = || {
        let message = format!("enter an amount such as {}", plain_example(currency));
        Error::invalid(param, message)
    };
    if !groups_fit || commas_in_cents {
        return Err(wrong());
    }
    Money::parse(&bare.replace(',', ""), currency).map_err(|error| match error {
        MoneyError::OutOfRange => Error::invalid(param, "the amount is too large"),
        _ => wrong(),
    })
}

fn plain_example(currency: Currency) -> String {
    super::format::plain_amount(Money::new(123_456, currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_amounts_are_refused() {
        let read = |text: &str| amount("amount", text, Currency::USD).map(Money::minor).ok();
        for (text, minor) in
            [("12", 1_200), ("$1,234.56", 123_456), ("-0.05", -5), ("1,234,567", 123_456_700)]
        {
            assert_eq!(read(text), Some(minor), "{text}");
        }
        for text in ["", "12,34", "1,2345", "1.234,56", "12.345", "1,,000", "$", "ten", "٣"] {
            assert_eq!(read(text), None, "{text}");
        }
        let message = amount("amount", "12,34", Currency::USD).unwrap_err().to_string();
        assert!(message.contains("1234.56"), "{message}");
    }

    #[test]
    fn a_date_field_is_a_valid_date_or_empty() {
        assert_eq!(day("on", "").unwrap(), None);
        assert!(day("on", "2026-03-10").unwrap().is_some());
        assert!(day("on", "2026-02-30").is_err() && day("on", "+002026-03-10").is_err());
    }
}
