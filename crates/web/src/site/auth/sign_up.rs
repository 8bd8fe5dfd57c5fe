//! Pages that create an account: first-time setup, invitations and open sign-up.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect};
use base::{Currency, TimeZone};
use http::{HeaderMap, header};
use maud::{Markup, html};
use service::Error;
use service::access::sign_ins::RegistrationOutcome;
use service::access::users::{self, NewUser};
use service::access::{invitations, passwords, sign_ins};

use super::{sign_in, sign_on_links, start_session};
use crate::site::assets::Asset;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::{Form, PublicForm};
use crate::site::visitor::Visitor;
use crate::site::{app_page, currencies, timezones};

const SCRIPTS: &[Asset] = &[Asset::TimeZone];

/// The values typed into the form.
struct NewUserForm<'a> {
    email: &'a str,
    name: &'a str,
    currency: &'a str,
    /// Empty until the person has sent the form: a script chooses the browser's.
    timezone: &'a str,
}

impl<'a> NewUserForm<'a> {
    fn unknown() -> NewUserForm<'a> {
        NewUserForm { email: "", name: "", currency: "USD", timezone: "" }
    }

    fn of(form: &'a Form) -> NewUserForm<'a> {
        NewUserForm {
            email: form.text("email"),
            name: form.text("name"),
            currency: form.text("currency"),
            timezone: form.text("timezone"),
        }
    }

    fn new_user(&self, form: &Form) -> Result<NewUser, Error> {
        let currency = Currency::parse(&self.currency.to_uppercase());
        let wrong = |error| Error::invalid("currency", format!("the base currency {error}"));
        Ok(NewUser {
            email: self.email.to_owned(),
            preferred_name: Some(self.name.to_owned()),
            base_currency: currency.map_err(wrong)?,
            timezone: timezones::parse(self.timezone, TimeZone::utc())?,
            password: Some(form.raw("password").to_owned()),
        })
    }

    /// What is wrong with each field.
    fn checks(&self, form: &Form) -> [Result<(), Error>; 3] {
        [
            users::check_email(self.email),
            passwords::check(form.raw("password")),
            self.new_user(form).map(|_| ()),
        ]
    }

    fn fields(&self, wrong: &FormError) -> Markup {
        let password_hint = format!("At least {} characters.", passwords::LENGTH_MIN);
        let email = Field::text("email", "Email", self.email).autocomplete("username");
        let password = Field::text("password", "Password", "").autocomplete("new-password");
        let name = Field::text("name", "Your name", self.name).autocomplete("name").optional();
        let options = currencies::options();
        let options: Vec<(&str, &str)> =
            options.iter().map(|(code, label)| (code.as_str(), label.as_str())).collect();
        html! {
            (email.kind("email").show(wrong))
            (password.kind("password").hint(&password_hint).show(wrong))
            (name.hint("How we greet you.").show(wrong))
            (fields::select_with_hint("currency", "Base currency", &options, &self.currency.to_uppercase(),
                "Totals are shown in this currency. You can change it later."))
            (timezones::field(self.timezone, self.timezone.is_empty()))
        }
    }
}

pub(super) async fn setup(visitor: Visitor, headers: HeaderMap) -> PageResult {
    if !sign_ins::is_first_run(&visitor.web.app).await? {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    let card = setup_card(&visitor, &headers, "", &NewUserForm::unknown(), &FormError::default());
    Ok(app_page::auth_page(&visitor, "Set up", SCRIPTS, card))
}

pub(super) async fn set_up(
    visitor: Visitor,
    headers: HeaderMap,
    PublicForm(form): PublicForm,
) -> PageResult {
    let (new_user, code) = (NewUserForm::of(&form), form.text("code"));
    let made = match new_user.new_user(&form) {
        Ok(new) => sign_ins::create_first(&visitor.web.app, code, new, visitor.visit.clone()).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(session) => Ok(start_session(&visitor, &session, "/").await),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            let wrong = wrong.and(new_user.checks(&form));
            let card = setup_card(&visitor, &headers, code, &new_user, &wrong);
            Ok(app_page::auth_page_with(status, &visitor, "Set up", SCRIPTS, card))
        }
    }
}

fn setup_card(
    visitor: &Visitor,
    headers: &HeaderMap,
    code: &str,
    new_user: &NewUserForm<'_>,
    wrong: &FormError,
) -> Markup {
    let hint = "The server printed this code when it started. It confirms that this installation is yours.";
    let fields = html! {
        (Field::text("code", "Setup code", code).hint(hint).show(wrong))
        (new_user.fields(wrong))
        button.primary type="submit" { "Create account" }
    };
    html! {
        h1 { "Set up Evenkeel" }
        p { "Create the first account. You can invite others later." }
        (address_note(&visitor.web.settings.public_url, headers))
        (wrong.summary())
        (fields::form("/setup", &visitor.form_token, fields))
        (sign_on_links(&visitor.web, "/"))
    }
}

/// Says which setting must have the address at which the page was opened. Nothing is said if it has that address.
fn address_note(public_url: &str, headers: &HeaderMap) -> Markup {
    let own = public_url.split_once("://").map_or(public_url, |(_, host)| host);
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok()).unwrap_or(own);
    if host.eq_ignore_ascii_case(own) {
        return html! {};
    }
    html! {
        div.notice {
            p {
                "You opened " strong { (host) } ", but this installation's address is set to " strong { (public_url) }
                ". Invitations, passkeys and assistants use that address. Set " code { "public_url" } " ("
                code { "EVENKEEL_PUBLIC_URL" } ") to the address in your browser, and restart the server."
            }
        }
    }
}

pub(super) async fn sign_up_page(visitor: Visitor) -> PageResult {
    require_open(&visitor)?;
    if sign_ins::is_first_run(&visitor.web.app).await? {
        return Ok(Redirect::to("/setup").into_response());
    }
    let card = sign_up_card(&visitor, &NewUserForm::unknown(), &FormError::default());
    Ok(app_page::auth_page(&visitor, "Create an account", SCRIPTS, card))
}

pub(super) async fn sign_up(visitor: Visitor, PublicForm(form): PublicForm) -> PageResult {
    require_open(&visitor)?;
    if sign_ins::is_first_run(&visitor.web.app).await? {
        return Ok(Redirect::to("/setup").into_response());
    }
    let new_user = NewUserForm::of(&form);
    let made = match new_user.new_user(&form) {
        Ok(new) => sign_ins::sign_up(&visitor.web.app, new, visitor.visit.clone()).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(()) => Ok(sign_in::welcome(&visitor, new_user.email)),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            let wrong = wrong.and(new_user.checks(&form));
            let card = sign_up_card(&visitor, &new_user, &wrong);
            Ok(app_page::auth_page_with(status, &visitor, "Create an account", SCRIPTS, card))
        }
    }
}

/// Answers with "not found" if sign-up is closed.
fn require_open(visitor: &Visitor) -> Result<(), PageError> {
    let is_open = visitor.web.settings.sign_up_open && visitor.web.app.password_sign_in;
    if is_open { Ok(()) } else { Err(PageError::not_found()) }
}

fn sign_up_card(visitor: &Visitor, new_user: &NewUserForm<'_>, wrong: &FormError) -> Markup {
    let fields = html! {
        (new_user.fields(wrong))
        button.primary type="submit" { "Create account" }
    };
    html! {
        h1 { "Create an account" }
        (wrong.summary())
        (fields::form("/sign-up", &visitor.form_token, fields))
        p.soft { "Already have an account? " a href="/sign-in" { "Sign in" } "." }
    }
}

pub(super) async fn invitation(visitor: Visitor, Path(token): Path<String>) -> PageResult {
    let Some(found) = invitations::find(&visitor.web.app, &token).await? else {
        return Ok(gone(&visitor));
    };
    let email = found.email.unwrap_or_default();
    let new_user = NewUserForm { email: &email, ..NewUserForm::unknown() };
    let card = invitation_card(&visitor, &token, &new_user, &FormError::default());
    Ok(app_page::auth_page(&visitor, "You're invited", SCRIPTS, card))
}

pub(super) async fn accept(
    visitor: Visitor,
    Path(token): Path<String>,
    PublicForm(form): PublicForm,
) -> PageResult {
    let new_user = NewUserForm::of(&form);
    let made = match new_user.new_user(&form) {
        Ok(new) => {
            let from = visitor.visit.clone();
            sign_ins::accept_invitation(&visitor.web.app, &token, new, from).await
        }
        Err(error) => Err(error),
    };
    match made {
        Ok(RegistrationOutcome::SignedIn { session }) => {
            Ok(start_session(&visitor, &session, "/").await)
        }
        Ok(RegistrationOutcome::SignInNext) => Ok(sign_in::welcome(&visitor, new_user.email)),
        Err(Error::NotFound(_)) => Ok(gone(&visitor)),
        Err(error) => {
            let (status, wrong) = sign_in::refusal(error)?;
            let wrong = wrong.and(new_user.checks(&form));
            let card = invitation_card(&visitor, &token, &new_user, &wrong);
            Ok(app_page::auth_page_with(status, &visitor, "You're invited", SCRIPTS, card))
        }
    }
}

/// The page for an invitation that was used, withdrawn, has expired or never existed.
fn gone(visitor: &Visitor) -> axum::response::Response {
    let card = html! {
        h1 { "This invitation is no longer valid" }
        p { "It was used, withdrawn or has expired. Ask for a new one." }
        p.soft { "Already have an account? " a href="/sign-in" { "Sign in" } "." }
    };
    let status = http::StatusCode::NOT_FOUND;
    app_page::auth_page_with(status, visitor, "This invitation is no longer valid", &[], card)
}

fn invitation_card(
    visitor: &Visitor,
    token: &str,
    new_user: &NewUserForm<'_>,
    wrong: &FormError,
) -> Markup {
    let fields = html! {
        (new_user.fields(wrong))
        button.primary type="submit" { "Create account" }
    };
    html! {
        h1 { "You're invited" }
        (wrong.summary())
        @if visitor.web.app.password_sign_in {
            p { "Create your account. Only you can see your data." }
            (fields::form(&format!("/invite/{token}"), &visitor.form_token, fields))
        } @else {
            @if new_user.email.is_empty() {
                p { "Passwords are turned off here, so this invitation does not work. Ask for one with your email address." }
            } @else {
                p { "Passwords are turned off here. Sign in as " strong { (new_user.email) } " to create your account." }
            }
            (sign_on_links(&visitor.web, "/"))
        }
    }
}
