//! The form that chooses which accounts of a connection to add.

use base::ConnectionId;
use maud::{Markup, html};
use service::ingest::connections::{self, OfferStatus, OfferedAccount, OwedSign};
use service::ledger::accounts::Account;

use super::url_of;
use crate::site::fields;
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
                            (row(person, index, it, own, connections::find_same_account(it, offered, own)))
                        }
                    }
                    button.primary type="submit" { "Save choices" }
                }))
            }
        }
    }
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
    list((&format!("goes{index}"), "Add to"), it, &options, &chosen)
}

/// A list of choices for an account. Its accessible name has the account in it, because every account has such a list.
fn list(
    (name, label): (&str, &str),
    it: &OfferedAccount,
    options: &[(&str, &str)],
    chosen: &str,
) -> Markup {
    let id = format!("f-{name}");
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name=(name) aria-label={ (label) ": " (it.name) } {
                @for (value, shown) in options {
                    option value=(value) selected[*value == chosen] { (shown) }
                }
            }
        }
    }
}

const KINDS: [(&str, &str); 5] = [
    ("depository", "Checking or savings"),
    ("credit", "Credit card"),
    ("loan", "Loan"),
    ("investment", "Investments"),
    ("other", "Other"),
];

fn kinds(index: usize, it: &OfferedAccount) -> Markup {
    list((&format!("kind{index}"), "Type"), it, &KINDS, it.kind.as_str())
}

fn owed(index: usize, it: &OfferedAccount) -> Markup {
    let options = [("negative", "Shown as negative"), ("positive", "Shown as positive")];
    let chosen = if it.owed == OwedSign::Positive { "positive" } else { "negative" };
    html! {
        @if it.kind.is_debt() {
            (list((&format!("owed{index}"), "Amount owed"), it, &options, chosen))
        }
    }
}
