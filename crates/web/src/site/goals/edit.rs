//! The form to create or edit a goal, and the page of one goal around it.

use axum::extract::Path;
use base::{AccountId, Currency, Date, Money};
use http::StatusCode;
use maud::{Markup, html};
use service::ledger::accounts::{self, Account, Filter};
use service::ledger::goals::{self, Details, Kind, NewGoal, Status};
use service::{Error, Result};

use super::{detail, kind_name, parse, status_name};
use crate::site::app_page::{self, AppPage};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::{self, View};
use crate::site::navigation::NavItem;
use crate::site::person::Person;

/// The values of the form as text, so that they are kept if the form is shown again.
#[derive(Clone, Default)]
struct GoalForm {
    name: String,
    kind: String,
    status: String,
    target: String,
    saved: String,
    target_on: String,
    accounts: Vec<String>,
    currency: Option<Currency>,
}

impl GoalForm {
    fn of(details: &Details) -> GoalForm {
        let goal = &details.goal;
        let plain = |minor| format::plain_amount(Money::new(minor, goal.currency));
        GoalForm {
            name: goal.name.clone(),
            kind: goal.kind.as_str().to_owned(),
            status: goal.status.as_str().to_owned(),
            target: plain(goal.target_minor),
            saved: if details.saved_minor == 0 {
                String::new()
            } else {
                plain(details.saved_minor)
            },
            target_on: goal.target_on.map(|it| it.to_string()).unwrap_or_default(),
            accounts: details.accounts.iter().map(ToString::to_string).collect(),
            currency: Some(goal.currency),
        }
    }

    fn typed(form: &Form, currency: Currency) -> GoalForm {
        let text = |name: &str| form.text(name).to_owned();
        GoalForm {
            name: text("name"),
            kind: text("kind"),
            status: text("status"),
            target: text("target_amount"),
            saved: text("saved_amount"),
            target_on: text("target_date"),
            accounts: form.all("accounts").map(str::to_owned).collect(),
            currency: Some(currency),
        }
    }

    /// As it is shown where amounts are hidden.
    fn masked(self, view: View) -> GoalForm {
        let [target, saved] = [&self.target, &self.saved].map(|it| view.field_text(it));
        GoalForm { target, saved, ..self }
    }

    /// With the stored amounts in place of hidden ones.
    fn unmasked(&self, stored: &GoalForm) -> GoalForm {
        let target = format::or_stored(&self.target, &stored.target).to_owned();
        let saved = format::or_stored(&self.saved, &stored.saved).to_owned();
        GoalForm { target, saved, ..self.clone() }
    }

    fn saved_minor(&self, currency: Currency) -> Result<i64> {
        match self.saved.is_empty() {
            true => Ok(0),
            false => Ok(fields::amount("saved_amount", &self.saved, currency)?.minor()),
        }
    }

    fn target_on(&self) -> Result<Option<Date>> {
        let wrong = "enter a date such as 2027-06-30, or leave it empty";
        let day = |text: &str| text.parse().map_err(|_| Error::invalid("target_date", wrong));
        if self.target_on.is_empty() { Ok(None) } else { day(&self.target_on).map(Some) }
    }

    /// Each field on its own, so that all errors are shown at once.
    fn checks(&self, currency: Currency) -> [Result<()>; 4] {
        let name = match self.name.trim().is_empty() {
            true => Err(Error::invalid("name", "Name must have 1 to 80 characters")),
            false => Ok(()),
        };
        let target = fields::amount("target_amount", &self.target, currency).map(drop);
        [name, target, self.saved_minor(currency).map(drop), self.target_on().map(drop)]
    }

    /// Parses the values; the error names the field.
    fn read(&self, currency: Currency) -> Result<NewGoal> {
        let id = |text: &String| {
            let unknown = "choose from your accounts";
            AccountId::parse(text).map_err(|_| Error::invalid("accounts", unknown))
        };
        Ok(NewGoal {
            name: self.name.clone(),
            kind: Kind::parse(&self.kind).unwrap_or(Kind::Custom),
            status: Status::parse(&self.status).unwrap_or(Status::Active),
            target: fields::amount("target_amount", &self.target, currency)?,
            saved_minor: self.saved_minor(currency)?,
            target_on: self.target_on()?,
            accounts: self.accounts.iter().map(id).collect::<Result<_>>()?,
        })
    }
}

pub(in crate::site) async fn new(person: Person) -> PageResult {
    let draft = GoalForm { currency: Some(person.user.base_currency), ..GoalForm::default() };
    show_form(&person, "New goal", "/goals/new", &draft, None).await
}

pub(in crate::site) async fn create(person: Person, form: Form) -> PageResult {
    let currency = person.user.base_currency;
    let draft = GoalForm::typed(&form, currency);
    let made = async {
        let new = draft.read(currency)?;
        goals::create(person.app(), &person.caller, new).await
    };
    match made.await {
        Ok(_) => Ok(app_page::see_other(&person, "/goals", "Goal created.")),
        Err(error) => {
            let wrong = FormError::from_error(error)?.and(draft.checks(currency));
            show_form(&person, "New goal", "/goals/new", &draft, Some(wrong)).await
        }
    }
}

pub(in crate::site) async fn edit(person: Person, Path(id): Path<String>) -> PageResult {
    let id = parse(&id)?;
    let (app, caller) = (person.app(), &person.caller);
    let (details, values) =
        tokio::try_join!(goals::get(app, caller, id), goals::history(app, caller, id))?;
    let draft = GoalForm::of(&details).masked(person.view);
    let main = html! {
        p.trail { a href="/goals" { "Goals" } }
        h1 { (details.goal.name) }
        (detail::progress(&person, &details.goal, &values))
        section.card aria-labelledby="edit" {
            h2 id="edit" { "Edit goal" }
            (form(&person, &format!("/goals/{id}"), &draft, &FormError::default()).await?)
        }
        (detail::deleting(&person, &details.goal))
    };
    Ok(AppPage::new(NavItem::Goals, &details.goal.name).page(&person, main))
}

pub(in crate::site) async fn change(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = parse(&id)?;
    let details = goals::get(person.app(), &person.caller, id).await?;
    let currency = details.goal.currency;
    let draft = GoalForm::typed(&form, currency);
    let unmasked = draft.unmasked(&GoalForm::of(&details));
    let made = async {
        let new = unmasked.read(currency)?;
        goals::update(person.app(), &person.caller, id, new).await
    };
    match made.await {
        Ok(()) => Ok(app_page::see_other(&person, "/goals", "Goal saved.")),
        Err(error) => {
            let wrong = FormError::from_error(error)?.and(unmasked.checks(currency));
            show_form(&person, "Edit goal", &format!("/goals/{id}"), &draft, Some(wrong)).await
        }
    }
}

async fn show_form(
    person: &Person,
    title: &str,
    action: &str,
    draft: &GoalForm,
    wrong: Option<FormError>,
) -> PageResult {
    let status = if wrong.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let wrong = wrong.unwrap_or_default();
    let main = html! {
        p.trail { a href="/goals" { "Goals" } }
        h1 { (title) }
        section.card aria-label=(title) {
            (wrong.summary())
            (form(person, action, draft, &wrong).await?)
        }
    };
    Ok(AppPage::new(NavItem::Goals, title).page_with(status, person, main))
}

async fn form(
    person: &Person,
    action: &str,
    draft: &GoalForm,
    wrong: &FormError,
) -> Result<Markup> {
    let filter = Filter { status: accounts::Status::Open, include_hidden: true };
    let accounts = accounts::list(person.app(), &person.caller, filter).await?;
    Ok(fields::form(action, &person.form_token, body(draft, &accounts, wrong)))
}

fn body(draft: &GoalForm, accounts: &[Account], wrong: &FormError) -> Markup {
    let kinds: Vec<(&str, &str)> =
        Kind::ALL.iter().map(|it| (it.as_str(), kind_name(*it))).collect();
    let statuses: Vec<(&str, &str)> =
        Status::ALL.iter().map(|it| (it.as_str(), status_name(*it))).collect();
    let currency = draft.currency.map(|it| it.to_string()).unwrap_or_default();
    let amount = format!("Amount ({currency})");
    html! {
        (Field::text("name", "Name", &draft.name).show(wrong))
        (fields::select("kind", "Type", &kinds, &draft.kind))
        (Field::text("target_amount", &amount, &draft.target).show(wrong))
        (Field::text("target_date", "Target date", &draft.target_on).kind("date").optional()
            .hint("Optional.").show(wrong))
        (Field::text("saved_amount", "Saved elsewhere", &draft.saved).optional()
            .hint("Money saved outside the accounts below.").show(wrong))
        @if !accounts.is_empty() {
            fieldset {
                legend { "Linked accounts" }
                @for account in accounts {
                    @let id = account.id.to_string();
                    @let ticked = draft.accounts.contains(&id);
                    (fields::check("accounts", &id, &account.name, ticked))
                }
            }
        }
        @if !draft.status.is_empty() {
            (fields::select("status", "Status", &statuses, &draft.status))
        }
        button.primary type="submit" { "Save goal" }
    }
}
