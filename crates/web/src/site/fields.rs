//! Forms and their fields, each with its label, its hint and what is wrong with it.

use base::{Currency, Date, Money, MoneyError};
use maud::{Markup, html};
use service::{Error, Result};

use super::errors::sentence;
use super::form::TOKEN_FIELD;

/// A form that changes something: it carries the token without which it is refused.
pub(crate) fn form(action: &str, token: &str, body: Markup) -> Markup {
    html! {
        form method="post" action=(action) {
            input type="hidden" name=(TOKEN_FIELD) value=(token);
            (body)
        }
    }
}

/// A single button that changes something.
pub(crate) fn button(action: &str, token: &str, label: &str, class: &str) -> Markup {
    form(action, token, html! { button.(class) type="submit" { (label) } })
}

/// What was typed and what is wrong with it, when a form is shown again.
#[derive(Default)]
pub(crate) struct FormError {
    pub(crate) param: Option<String>,
    pub(crate) message: String,
}

impl FormError {
    /// What the person can mend; everything else is a page of its own.
    pub(crate) fn from_error(error: Error) -> Result<FormError> {
        match error {
            Error::Invalid { param, message } => {
                Ok(FormError { param, message: sentence(&message) })
            }
            Error::Conflict { message, .. } => {
                Ok(FormError { param: None, message: sentence(&message) })
            }
            other => Err(other),
        }
    }

    /// At the field it is about.
    fn at(&self, name: &str) -> Option<&str> {
        (self.param.as_deref() == Some(name)).then_some(self.message.as_str())
    }

    /// Above the form: read out first, whatever field it is about.
    pub(crate) fn summary(&self) -> Markup {
        html! {
            @if !self.message.is_empty() {
                p.wrong role="alert" { (self.message) }
            }
        }
    }
}

/// One field of a form.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// text, email, password, date, number or search.
    pub(crate) kind: &'a str,
    pub(crate) value: &'a str,
    pub(crate) hint: &'a str,
    /// What the browser may fill in, such as `current-password`.
    pub(crate) autocomplete: &'a str,
    pub(crate) required: bool,
    /// Tells fields of one name apart where several forms are on one page.
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

/// A choice among words; each is its value and what is shown for it.
pub(crate) fn select(name: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
    let id = format!("f-{name}");
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name=(name) {
                @for (value, shown) in options {
                    option value=(value) selected[*value == chosen] { (shown) }
                }
            }
        }
    }
}

/// A box to tick.
pub(crate) fn check(name: &str, value: &str, label: &str, ticked: bool) -> Markup {
    html! {
        label.check {
            input type="checkbox" name=(name) value=(value) checked[ticked];
            span { (label) }
        }
    }
}

/// A day as a form gives it; none where nothing is given.
pub(crate) fn day(param: &str, text: &str) -> Result<Option<Date>> {
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = if text.len() == 10 && text.is_ascii() { text.parse().ok() } else { None };
    let wrong = || Error::invalid(param, "give the day as a date such as 2026-03-10");
    parsed.map(Some).ok_or_else(wrong)
}

/// An amount as people type it: a sign of the currency and commas between thousands do no harm, but a comma that could
/// mean cents is refused rather than read as a hundred times as much.
pub(crate) fn amount(param: &str, text: &str, currency: Currency) -> Result<Money> {
    let (before, after) = currency.affixes();
    let bare = text.replace([' ', '\u{a0}'], "");
    let bare = bare.replace(before.trim(), "").replace(after.trim(), "");
    let whole = bare.split('.').next().unwrap_or_default();
    let groups_fit = whole.split(',').skip(1).all(|it| it.len() == 3);
    let commas_in_cents = bare[whole.len()..].contains(',');
    let wrong = || {
        let message = format!("write the amount like {}", plain_example(currency));
        Error::invalid(param, message)
    };
    if !groups_fit || commas_in_cents {
        return Err(wrong());
    }
    Money::parse(&bare.replace(',', ""), currency).map_err(|error| match error {
        MoneyError::OutOfRange => Error::invalid(param, "the amount is too large to be true"),
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
    fn an_amount_is_read_as_it_was_meant_or_not_at_all() {
        let read = |text: &str| amount("amount", text, Currency::USD).map(Money::minor).ok();
        for (text, minor) in
            [("12", 1_200), ("$1,234.56", 123_456), ("-0.05", -5), ("1,234,567", 123_456_700)]
        {
            assert_eq!(read(text), Some(minor), "{text}");
        }
        for text in ["", "12,34", "1,2345", "1.234,56", "12.345", "1,,000", "$", "ten", "٣"] {
            assert_eq!(read(text), None, "{text}");
        }
        let said = amount("amount", "12,34", Currency::USD).unwrap_err().to_string();
        assert!(said.contains("1234.56"), "{said}");
    }

    #[test]
    fn a_day_is_a_date_or_nothing() {
        assert_eq!(day("on", "").unwrap(), None);
        assert!(day("on", "2026-03-10").unwrap().is_some());
        assert!(day("on", "2026-02-30").is_err() && day("on", "+002026-03-10").is_err());
    }
}
