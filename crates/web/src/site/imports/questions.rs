//! Questions about an import file that only the person can answer, each with an example from the file.

use base::{Date, Money};
use maud::{Markup, html};
use service::ingest::imports::files::{ChargeSign, DateOrder, FileQuestion, Preview, RowPreview};

use crate::site::person::Person;

/// The open questions, and the answered ones, whose answers can be changed.
pub(super) fn card(person: &Person, preview: &Preview) -> Markup {
    let mut questions = Vec::new();
    for question in &preview.doubts {
        questions.push(match question {
            FileQuestion::Dates { read_as } => dates(preview, *read_as, None),
            FileQuestion::ChargeSign { read_as } => charges(person, preview, *read_as, None),
            FileQuestion::CardBalance { account } => balance(person, preview, *account, None),
            // Asked beside the account.
            FileQuestion::AccountKind { .. } => continue,
        });
    }
    if let Some(order) = preview.choices.dates {
        questions.push(dates(preview, order, Some(order)));
    }
    if let Some(sign) = preview.choices.charges {
        questions.push(charges(person, preview, sign, Some(sign)));
    }
    for (index, choice) in preview.choices.accounts.range(..preview.accounts.len()) {
        if let Some(owed) = choice.owed {
            questions.push(balance(person, preview, *index, Some(owed)));
        }
    }
    html! {
        @if !questions.is_empty() {
            section.card aria-labelledby="questions" {
                h2 id="questions" { (heading(questions.len())) }
                @for one in questions { (one) }
            }
        }
    }
}

/// "Two questions about this file".
fn heading(count: usize) -> String {
    const WORDS: [&str; 9] =
        ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
    let word = count.checked_sub(1).and_then(|it| WORDS.get(it));
    let count_word = word.map_or_else(|| count.to_string(), |it| (*it).to_owned());
    let noun = if count == 1 { "question" } else { "questions" };
    format!("{count_word} {noun} about this file")
}

fn question(name: &str, asked: &str, answers: [(&str, String); 2], chosen: Option<&str>) -> Markup {
    html! {
        fieldset {
            legend { strong { (asked) } }
            @for (value, label) in answers {
                label.check {
                    input type="radio" name=(name) value=(value) checked[chosen == Some(value)]
                        required;
                    span { (label) }
                }
            }
        }
    }
}

fn all_rows(preview: &Preview) -> impl Iterator<Item = &RowPreview> {
    preview.accounts.iter().flat_map(|it| &it.rows)
}

fn dates(preview: &Preview, read_as: DateOrder, chosen: Option<DateOrder>) -> Markup {
    let is_ambiguous = |it: &Date| it.day() <= 12 && i16::from(it.day()) != i16::from(it.month());
    let day = all_rows(preview).map(|it| it.on).find(is_ambiguous);
    let Some(day) = day else {
        let answers = [
            (DateOrder::DayFirst.as_str(), "Day first".to_owned()),
            (DateOrder::MonthFirst.as_str(), "Month first".to_owned()),
        ];
        return question(
            "dates",
            "How are dates written in this file?",
            answers,
            chosen.map(DateOrder::as_str),
        );
    };
    // The two numbers as they appear in the file.
    let (first, second) = match read_as {
        DateOrder::DayFirst => (day.day(), day.month()),
        DateOrder::MonthFirst => (day.month(), day.day()),
    };
    let date_text = |month: i8, of_month: i8| {
        let date = Date::new(day.year(), month, of_month);
        date.map_or_else(|_| String::new(), |it| it.strftime("%-d %B %Y").to_string())
    };
    let asked = format!("What date is {first:02}/{second:02}?");
    let answers = [
        (DateOrder::DayFirst.as_str(), format!("{} (day first)", date_text(second, first))),
        (DateOrder::MonthFirst.as_str(), format!("{} (month first)", date_text(first, second))),
    ];
    question("dates", &asked, answers, chosen.map(DateOrder::as_str))
}

fn charges(
    person: &Person,
    preview: &Preview,
    read_as: ChargeSign,
    chosen: Option<ChargeSign>,
) -> Markup {
    let written = |it: &RowPreview| match read_as {
        ChargeSign::Negative => it.amount.minor(),
        ChargeSign::Positive => it.amount.minor().saturating_neg(),
    };
    // A number without a sign is ambiguous, so it makes the best example.
    let found = all_rows(preview).find(|it| written(it) > 0).or_else(|| all_rows(preview).next());
    let Some(row) = found else { return html! {} };
    let amount = Money::new(written(row), row.amount.currency());
    let is_positive = amount.minor() > 0;
    let asked = format!(
        "Is {} for \u{201c}{}\u{201d} money out or money in?",
        person.view.money_text(amount),
        row.description
    );
    let (out, into) = match is_positive {
        true => (ChargeSign::Positive, ChargeSign::Negative),
        false => (ChargeSign::Negative, ChargeSign::Positive),
    };
    let answers = [
        (out.as_str(), "Money out: a purchase or payment".to_owned()),
        (into.as_str(), "Money in: a deposit or refund".to_owned()),
    ];
    question("charges", &asked, answers, chosen.map(ChargeSign::as_str))
}

fn balance(person: &Person, preview: &Preview, index: usize, chosen: Option<bool>) -> Markup {
    let Some(account) = preview.accounts.get(index) else { return html! {} };
    // The amount is shown without its sign, which depends on the answer.
    let shown = account.balance.map(|it| Money::new(it.minor().saturating_abs(), it.currency()));
    let amount = shown.map_or_else(String::new, |it| person.view.money_text(it));
    let asked = format!("Do you owe the balance of {amount} on {}?", account.name);
    let answers =
        [("yes", "Yes, I owe this".to_owned()), ("no", "No, it's a credit balance".to_owned())];
    let chosen = chosen.map(|it| if it { "yes" } else { "no" });
    question(&format!("owed_{index}"), &asked, answers, chosen)
}
