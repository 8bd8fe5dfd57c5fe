//! The form that chooses which accounts of a connection to add.

use axum::extract::Path;
use base::ConnectionId;
use base::draft::AccountKind;
use http::StatusCode;
use maud::{Markup, html};
use service::ingest::connections::{
    self, AddAccount, Choice, OfferStatus, OfferedAccount, OwedSign, Selection,
};
use service::ledger::accounts::Account;

use super::{detail, parse, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::person::Person;

pub(super) fn card(
    person: &Person,
    id: ConnectionId,
    offered: &[OfferedAccount],
    own: &[Account],
) -> Markup {
    let action = format!("{}/accounts", url_of(id));
    html! {
        section.card aria-labelledby="offers" {
            h2 id="offers" { "Available accounts" }
            @if offered.is_empty() {
                p.soft { "None yet. They appear here after the first update." }
            } @else {
                p { "Choose which accounts to add. Not every bank reports the account type, so check each one." }
                (fields::form(&action, &person.form_token, html! {
                    ul.rows.offers {
                        @for (index, it) in offered.iter().enumerate() {
                            (row(person, index, it, own, same_account(it, offered, own)))
                        }
                    }
                    button.primary type="submit" { "Save choices" }
                }))
            }
        }
    }
}

/// The person's account, from a file or another connection, that is probably the same as an offered one: it has the
/// same last digits, or the same name at the same bank. None if there are several.
fn same_account<'a>(
    it: &OfferedAccount,
    offered: &[OfferedAccount],
    own: &'a [Account],
) -> Option<&'a Account> {
    if it.status != OfferStatus::Undecided {
        return None;
    }
    let words: Vec<&str> = it.name.split(|c: char| !c.is_alphanumeric()).collect();
    let bank = it.institution_name.as_deref().map(str::to_lowercase);
    let name = it.name.to_lowercase();
    let is_same = |own: &&Account| {
        let digits = own.mask.as_deref().and_then(|it| it.get(it.len().checked_sub(4)?..));
        let has_name = own.name.to_lowercase() == name || own.bank_name.to_lowercase() == name;
        let own_bank = own.institution_name.as_deref().map(str::to_lowercase);
        digits.is_some_and(|it| words.contains(&it))
            || has_name && bank.is_some() && own_bank == bank
    };
    let is_free = |own: &&Account| {
        Some(own.currency) == it.currency
            && own.kind.is_debt() == it.kind.is_debt()
            && own.closed_on.is_none()
            && !offered.iter().any(|other| other.account == Some(own.id))
    };
    let mut found = own.iter().filter(is_free).filter(is_same);
    found.next().filter(|_| found.next().is_none())
}

fn row(
    person: &Person,
    index: usize,
    it: &OfferedAccount,
    own: &[Account],
    same: Option<&Account>,
) -> Markup {
    html! {
        li {
            span.what {
                (it.name)
                @if let Some(bank) = &it.institution_name { span.soft { (bank) } }
                @if let Some(balance) = it.balance { span { (person.view.signed(balance)) } }
            }
            @if it.status == OfferStatus::Unsupported {
                span.wrong { (it.reason.as_deref().unwrap_or("This account can't be added.")) }
            } @else {
                input type="hidden" name=(format!("id{index}")) value=(it.external_id);
                @if let Some(same) = same {
                    p.soft {
                        "You may have this account already, as " (same.name)
                        ". Added to it, each transaction is kept once."
                    }
                }
                (goes(index, it, own, same))
                (kinds(index, it))
                (owed(index, it))
            }
        }
    }
}

fn goes(index: usize, it: &OfferedAccount, own: &[Account], same: Option<&Account>) -> Markup {
    let chosen = match (it.status, it.account, same) {
        (OfferStatus::Skipped, _, _) => "none".to_owned(),
        (OfferStatus::Added, Some(account), _) => account.to_string(),
        (_, _, Some(same)) => same.id.to_string(),
        _ => "new".to_owned(),
    };
    let mut options = vec![("new".to_owned(), "New account".to_owned())];
    let same = own.iter().filter(|own| Some(own.currency) == it.currency);
    options.extend(same.map(|own| (own.id.to_string(), format!("Add to {}", own.name))));
    options.push(("none".to_owned(), "Don't add".to_owned()));
    let options: Vec<(&str, &str)> =
        options.iter().map(|(value, shown)| (value.as_str(), shown.as_str())).collect();
    fields::select(&format!("goes{index}"), "Add to", &options, &chosen)
}

const KINDS: [(&str, &str); 5] = [
    ("depository", "Checking or savings"),
    ("credit", "Credit card"),
    ("loan", "Loan"),
    ("investment", "Investments"),
    ("other", "Other"),
];

fn kinds(index: usize, it: &OfferedAccount) -> Markup {
    fields::select(&format!("kind{index}"), "Type", &KINDS, it.kind.as_str())
}

fn owed(index: usize, it: &OfferedAccount) -> Markup {
    let options = [("negative", "Shown as negative"), ("positive", "Shown as positive")];
    let chosen = if it.owed == OwedSign::Positive { "positive" } else { "negative" };
    html! {
        @if it.kind.is_debt() {
            (fields::select(&format!("owed{index}"), "Amount owed", &options, chosen))
        }
    }
}

pub(super) async fn post(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let offered = connections::list_offers(person.app(), &person.caller, id).await?;
    let choices: Vec<Choice> =
        (0..offered.len()).filter_map(|index| choice(&form, index, &offered)).collect();
    let adds_any = choices.iter().any(|it| !matches!(it.selection, Selection::Skip));
    match connections::choose(person.app(), &person.caller, id, choices).await {
        Ok(()) => {
            let message = match adds_any {
                true => "Saved. Your accounts are being added. Older transactions will follow.",
                false => "Saved.",
            };
            Ok(see_other(&person, &url_of(id), message))
        }
        Err(error) => {
            let wrong = FormError::from_error(error)?;
            detail::show(&person, id, StatusCode::BAD_REQUEST, &wrong).await
        }
    }
}

fn choice(form: &Form, index: usize, offered: &[OfferedAccount]) -> Option<Choice> {
    let external_id = form.text(&format!("id{index}"));
    let known = offered.iter().find(|it| it.external_id == external_id)?;
    let owed = match form.text(&format!("owed{index}")) {
        "positive" => OwedSign::Positive,
        "negative" => OwedSign::Negative,
        _ => known.owed,
    };
    let kind = AccountKind::parse(form.text(&format!("kind{index}"))).unwrap_or(known.kind);
    let subtype = known.subtype.clone().filter(|_| kind == known.kind);
    let selection = match form.text(&format!("goes{index}")) {
        "none" => Selection::Skip,
        "new" => Selection::Add(AddAccount { kind, subtype, name: None, owed }),
        account => Selection::MergeInto { account: base::AccountId::parse(account).ok()?, owed },
    };
    Some(Choice { external_id: external_id.to_owned(), selection })
}
