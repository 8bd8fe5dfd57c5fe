//! Handles the form that chooses which accounts of a connection to add.

use axum::extract::Path;
use base::draft::AccountKind;
use http::StatusCode;
use service::ingest::connections::{self, AddAccount, Choice, OfferedAccount, OwedSign, Selection};

use super::{detail, parse, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::person::Person;

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
