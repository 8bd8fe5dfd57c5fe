//! Formats amounts, dates and counts for pages, and masks amounts if the person hides them.

use base::{Currency, Date, Fixed9, Money, Percent, TimeZone, Timestamp, grouped};
use http::HeaderMap;
use maud::{Markup, html};

use wire::json::Number;

use super::cookies;
use crate::WebState;

base::words!(Theme { System => "system", Light => "light", Dark => "dark" });

#[derive(Debug, Clone, Copy)]
/// The person's display settings.
pub(crate) struct View {
    pub(crate) hide_amounts: bool,
    pub(crate) theme: Theme,
    /// The person's time zone; UTC for a visitor who is not signed in.
    pub(crate) timezone: TimeZone,
    pub(crate) today: Date,
}

/// Shown in place of a hidden amount.
const HIDDEN: &str = "•••";

impl View {
    pub(crate) fn new(headers: &HeaderMap, web: &WebState, timezone: TimeZone) -> View {
        let secure = cookies::is_secure(&web.settings.public_url);
        let theme = cookies::get(headers, cookies::THEME, secure).and_then(Theme::parse);
        View {
            hide_amounts: cookies::get(headers, cookies::HIDE, secure) == Some("1"),
            theme: theme.unwrap_or(Theme::System),
            timezone,
            today: web.app.clock.today_in(timezone),
        }
    }

    /// "-$42.10", or dots where amounts are hidden.
    pub(crate) fn money(self, money: Money) -> Markup {
        html! { span.amount { (self.money_text(money)) } }
    }

    /// As `money`, with a plus sign for money in.
    pub(crate) fn signed(self, money: Money) -> Markup {
        let plus = if money.minor() > 0 && !self.hide_amounts { "+" } else { "" };
        html! { span.amount { (plus) (self.money_text(money)) } }
    }

    /// An amount, or "Unknown".
    pub(crate) fn money_or_unknown(self, money: Option<Money>) -> Markup {
        match money {
            Some(money) => self.money(money),
            None => html! { span.soft { "Unknown" } },
        }
    }

    /// An amount that the API's types hold as a decimal number.
    pub(crate) fn decimal(self, number: &Number, currency: Currency) -> Markup {
        match Money::parse(number.as_str(), currency) {
            Ok(money) => self.money(money),
            Err(_) => html! { span.amount { (number.as_str()) } },
        }
    }

    pub(crate) fn money_text(self, money: Money) -> String {
        if self.hide_amounts { hidden(money.currency()) } else { money.pretty() }
    }

    /// The stored amount of a form field, or dots. `or_stored` reads them as the stored amount again.
    pub(crate) fn field_text(self, stored: &str) -> String {
        let is_shown = !self.hide_amounts || stored.is_empty();
        if is_shown { stored.to_owned() } else { HIDDEN.to_owned() }
    }

    /// Masks the amounts in a sentence if amounts are hidden.
    pub(crate) fn mask_amounts(self, text: &str) -> String {
        if !self.hide_amounts {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
            let (before, number) = rest.split_at(start);
            let is_part = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',');
            let end = number.find(|it| !is_part(it)).unwrap_or(number.len());
            // A full stop or comma at the end belongs to the sentence.
            let digits = number[..end].trim_end_matches(['.', ',']);
            let after = &number[digits.len()..];
            out.push_str(before);
            let is_amount = before.ends_with(['$', '€', '£', '¥']) || starts_with_currency(after);
            out.push_str(if is_amount { HIDDEN } else { digits });
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// A number of shares or units, which is hidden with the amounts because prices are public.
    pub(crate) fn quantity_text(self, quantity: Fixed9) -> String {
        if self.hide_amounts {
            return HIDDEN.to_owned();
        }
        let text = quantity.to_string();
        let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |it| ("-", it));
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{}{point}{rest}", grouped(whole))
    }

    /// A price, which may have more decimals than its currency: "$184.2550".
    pub(crate) fn price_text(self, price: Fixed9, currency: Currency) -> String {
        if self.hide_amounts {
            return hidden(currency);
        }
        let text = price.to_string();
        let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
        let decimals = currency.decimals() as usize;
        let point = if decimals.max(rest.len()) > 0 { "." } else { "" };
        let (before, after) = currency.affixes();
        format!("{before}{}{point}{rest:0<decimals$}{after}", grouped(whole))
    }

    /// A short amount for the axis of a chart: "$150K", "1.5M". Hidden amounts are dots.
    pub(crate) fn axis_text(self, money: Money) -> String {
        if self.hide_amounts {
            return HIDDEN.to_owned();
        }
        let (before, _) = money.currency().affixes();
        let symbol = if before.chars().count() == 1 { before } else { "" };
        let major = money.minor() / 10_i64.pow(money.currency().decimals());
        let sign = if major < 0 { "-" } else { "" };
        format!("{sign}{symbol}{}", short_number(major.unsigned_abs()))
    }

    /// An amount without cents, for charts and large figures.
    pub(crate) fn whole_money_text(self, money: Money) -> String {
        if self.hide_amounts { hidden(money.currency()) } else { money.pretty_whole() }
    }

    /// "Tue 3 Nov", with the year if it is not the current one.
    pub(crate) fn day(self, on: Date) -> String {
        if on.year() == self.today.year() {
            on.strftime("%a %-d %b").to_string()
        } else {
            on.strftime("%a %-d %b %Y").to_string()
        }
    }

    /// As `day`, on one line.
    pub(crate) fn unbroken_day(self, on: Date) -> Markup {
        html! { span.unbroken { (self.day(on)) } }
    }

    /// "October", with the year if it is not the current one.
    pub(crate) fn month(self, first: Date) -> String {
        let pattern = if first.year() == self.today.year() { "%B" } else { "%B %Y" };
        first.strftime(pattern).to_string()
    }

    /// "today", "tomorrow", "yesterday", or the date.
    pub(crate) fn relative_day(self, on: Date) -> String {
        match base::days_from_date(on) - base::days_from_date(self.today) {
            0 => "today".to_owned(),
            1 => "tomorrow".to_owned(),
            -1 => "yesterday".to_owned(),
            _ => self.day(on),
        }
    }

    /// The date of a reported balance, as `relative_day` shows it.
    pub(crate) fn reported_day(self, at: Timestamp) -> String {
        self.relative_day(self.timezone.date_of_report(at))
    }

    /// The date of a moment, as `day` shows it.
    pub(crate) fn day_at(self, at: Timestamp) -> String {
        self.day(self.timezone.date_at(at))
    }

    /// A moment in the person's time zone, such as "14:05 EST" by "%H:%M %Z".
    pub(crate) fn local(self, at: Timestamp, pattern: &str) -> String {
        self.timezone.local(at).strftime(pattern).to_string()
    }

    /// A time to the second with its time zone, to compare with logs.
    pub(crate) fn exact_time(self, at: Timestamp) -> String {
        self.local(at, "%Y-%m-%d %H:%M:%S %Z")
    }

    /// "5 minutes ago", "yesterday", or the date if it is earlier.
    pub(crate) fn time_ago(self, at: Timestamp, now: Timestamp) -> String {
        let seconds = now.as_second() - at.as_second();
        match seconds {
            ..60 => "just now".to_owned(),
            60..120 => "a minute ago".to_owned(),
            120..3_600 => format!("{} minutes ago", seconds / 60),
            3_600..7_200 => "an hour ago".to_owned(),
            7_200..86_400 => format!("{} hours ago", seconds / 3_600),
            _ if self.timezone.date_at(at).tomorrow().ok() == Some(self.timezone.date_at(now)) => {
                "yesterday".to_owned()
            }
            _ => self.local(at, "%a %-d %b %Y"),
        }
    }

    /// "in 5 minutes", or the date if it is more than two days ahead.
    pub(crate) fn time_until(self, at: Timestamp, now: Timestamp) -> String {
        let seconds = at.as_second() - now.as_second();
        match seconds {
            ..60 => "in a moment".to_owned(),
            60..7_200 => format!("in {}", plural(seconds / 60, "minute", "minutes")),
            7_200..172_800 => format!("in {} hours", seconds / 3_600),
            _ => self.local(at, "%a %-d %b %Y"),
        }
    }
}

/// A number of at most two decimals with K, M or B, or all its digits if that would round it.
fn short_number(number: u64) -> String {
    let units = [(1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K")];
    let fits = |unit: u64| number >= unit && number.is_multiple_of(unit / 100);
    let Some((unit, letter)) = units.into_iter().find(|(unit, _)| fits(*unit)) else {
        return grouped(&number.to_string());
    };
    let (whole, hundredths) = (number / unit, number % unit / (unit / 100));
    let decimals = format!(".{hundredths:02}");
    format!(
        "{}{}{letter}",
        grouped(&whole.to_string()),
        decimals.trim_end_matches('0').trim_end_matches('.')
    )
}

fn hidden(currency: Currency) -> String {
    let (before, after) = currency.affixes();
    format!("{before}{HIDDEN}{after}")
}

/// Whether the text starts with a space and the code of a currency.
fn starts_with_currency(text: &str) -> bool {
    let code = text.strip_prefix([' ', '\u{a0}']).and_then(|it| it.get(..3));
    code.is_some_and(|it| Currency::parse(it).is_ok())
}

/// The text of a form field whose stored amount was shown by `field_text`: dots that were left alone keep the amount.
pub(crate) fn or_stored<'a>(typed: &'a str, stored: &'a str) -> &'a str {
    if typed == HIDDEN { stored } else { typed }
}

/// An amount without currency sign or grouping, for form fields.
pub(crate) fn plain_amount(money: Money) -> String {
    let mut digits = Vec::new();
    money.write(&mut digits);
    String::from_utf8_lossy(&digits).into_owned()
}

/// "12.5%".
pub(crate) fn percent(percent: Percent) -> String {
    let mut text = Vec::new();
    percent.write(&mut text);
    format!("{}%", String::from_utf8_lossy(&text))
}

/// "+12.5%", for a change.
pub(crate) fn signed_percent(change: Percent) -> String {
    let plus = if change.0 > 0 { "+" } else { "" };
    format!("{plus}{}", percent(change))
}

/// A count with its noun: "1 account", "2 accounts".
pub(crate) fn plural(count: i64, one: &str, many: &str) -> String {
    format!("{} {}", count_text(count), if count == 1 { one } else { many })
}

/// A code as words: FOOD_AND_DRINK becomes "Food and drink".
pub(crate) fn code_to_words(code: &str) -> String {
    let lowercase = code.to_lowercase().replace("non_profit", "non-profit").replace('_', " ");
    let mut letters = lowercase.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A count with grouped digits: "12,345".
pub(crate) fn count_text(count: i64) -> String {
    grouped(&count.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(timezone: &str) -> View {
        let timezone = TimeZone::parse(timezone).unwrap();
        let today = "2026-03-10".parse().unwrap();
        View { hide_amounts: false, theme: Theme::System, timezone, today }
    }

    fn usd(minor: i64) -> Money {
        Money::new(minor, Currency::USD)
    }

    #[test]
    fn hidden_amounts_show_only_the_currency() {
        let view = View { hide_amounts: true, ..view("UTC") };
        for minor in [-1, 0, 1, 99_999_999] {
            assert_eq!(view.money_text(usd(minor)), "$•••");
            assert_eq!(view.signed(usd(minor)).into_string(), view.money(usd(1)).into_string());
        }
        for (text, masked) in [
            ("Move $1,200.50 on 10 Apr to A", "Move $••• on 10 Apr to A"),
            ("CA$5, then 12.50 CHF.", "CA$•••, then ••• CHF."),
            ("It costs €3.", "It costs €•••."),
            ("12\u{a0}CHF in 2026", "•••\u{a0}CHF in 2026"),
            ("3 of 12 months", "3 of 12 months"),
        ] {
            assert_eq!(view.mask_amounts(text), masked);
        }
        let quantity = Fixed9::parse("1234.5").unwrap();
        assert_eq!(view.quantity_text(quantity), "•••");
        assert_eq!(View { hide_amounts: false, ..view }.quantity_text(quantity), "1,234.5");
    }

    #[test]
    fn axis_labels_are_short_and_exact() {
        let view = view("UTC");
        let text = |major: i64| view.axis_text(usd(major * 100));
        assert_eq!(
            [0, 500, 1_000, 1_250, -20_000].map(text),
            ["$0", "$500", "$1K", "$1.25K", "-$20K"]
        );
        assert_eq!([1_500_000, 1_003_000, 2_000_000_000].map(text), ["$1.5M", "$1,003K", "$2B"]);
        assert_eq!(text(1_234_567), "$1,234,567");
        assert_eq!(view.axis_text(Money::new(15_000_000, Currency::parse("CHF").unwrap())), "150K");
        let hidden = View { hide_amounts: true, ..view };
        assert_eq!(hidden.axis_text(usd(100)), "•••");
    }

    #[test]
    fn days_are_relative_or_dates() {
        let view = view("UTC");
        assert_eq!(view.relative_day("2026-03-11".parse().unwrap()), "tomorrow");
        assert_eq!(view.relative_day("2026-03-12".parse().unwrap()), "Thu 12 Mar");
        assert_eq!(view.day("2025-11-03".parse().unwrap()), "Mon 3 Nov 2025");
    }

    #[test]
    fn times_are_shown_in_the_time_zone_of_the_person() {
        let at: Timestamp = "2026-03-08T06:59:59Z".parse().unwrap();
        let later: Timestamp = "2026-03-08T07:00:00Z".parse().unwrap();
        let new_york = view("America/New_York");
        assert_eq!(new_york.exact_time(at), "2026-03-08 01:59:59 EST");
        // Clocks go forward at 2.
        assert_eq!(new_york.exact_time(later), "2026-03-08 03:00:00 EDT");
        assert_eq!(view("UTC").exact_time(at), "2026-03-08 06:59:59 UTC");
        assert_eq!(view("Pacific/Pago_Pago").day_at(at), "Sat 7 Mar");
        let now: Timestamp = "2026-03-10T09:00:00Z".parse().unwrap();
        assert_eq!(view("Pacific/Pago_Pago").time_ago(at, now), "Sat 7 Mar 2026");
        assert_eq!(view("Pacific/Pago_Pago").time_ago(now, now), "just now");
        let hours_ago = |hours: i64| {
            let at = now.as_second() - hours * 3_600;
            view("UTC").time_ago(Timestamp::from_second(at).unwrap(), now)
        };
        assert_eq!(hours_ago(23), "23 hours ago");
        assert_eq!(hours_ago(24), "yesterday");
        assert_eq!(hours_ago(33), "yesterday");
        assert_eq!(hours_ago(34), "Sun 8 Mar 2026");
    }
}
