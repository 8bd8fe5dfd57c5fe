//! The security settings: passkeys, second step, password, email, sessions and deleting the account.

use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::{IntoResponse as _, Redirect, Response};
use base::{PasskeyId, SessionId};
use http::{StatusCode, header};
use maud::{Markup, html};
use service::Error;
use service::access::oidc::{self, LinkedIdentity};
use service::access::passkeys::{self, RelyingParty};
use service::access::{profiles, recovery, sessions, sign_ins, users};

use super::security_page::SecurityPage;
use super::{Settings, Tab};
use crate::WebState;
use crate::routing::{get, get_and_post, post};
use crate::site::app_page::see_other;
use crate::site::assets::Asset;
use crate::site::errors::{PageError, PageResult, sentence};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::identity_buttons::{passkey_button, sign_on_proofs};
use crate::site::person::Person;
use crate::site::sensitive::{CONFIRM, Proof};
use crate::site::{cookies, sensitive, urls};

const HERE: &str = "/settings/security";

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route(HERE, get(show))
        .route(CONFIRM, get_and_post(confirm_page, confirm))
        .route("/settings/security/email", post(change_email))
        .route("/settings/security/password", post(change_password))
        .route("/settings/security/second-step", post(set_second_step))
        .route("/settings/security/recovery-codes", post(make_codes))
        .route("/settings/security/sign-on/unlink", post(unlink))
        .route("/settings/security/passkeys/{id}/rename", post(rename_passkey))
        .route("/settings/security/passkeys/{id}/remove", post(remove_passkey))
        .route("/settings/security/sessions/{id}/revoke", post(revoke_session))
        .route("/settings/security/sessions/revoke-others", post(revoke_others))
        .route("/settings/security/delete", post(delete))
}

async fn show(person: Person) -> PageResult {
    page(&person, Outcome::default()).await
}

/// The result of a form, shown on the page.
#[derive(Default)]
struct Outcome {
    /// The form that failed, and its error.
    wrong: Option<(&'static str, FormError)>,
    codes: Vec<String>,
    status: StatusCode,
}

async fn page(person: &Person, outcome: Outcome) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let security_page = SecurityPage {
        person,
        has_password: users::has_password(app, person.user.id).await?,
        passkeys: passkeys::list(app, caller).await?,
        identities: oidc::list(app, caller).await?,
        codes_left: recovery::remaining(app, caller).await?,
        sessions: sessions::list(app, caller).await?,
        fresh: person.session.proved_lately(app.clock.now()),
        confirm: format!("{CONFIRM}{}", urls::query_string(&[("next", HERE)])),
        codes: outcome.codes,
        wrong: outcome.wrong,
    };
    let scripts = &[Asset::Passkeys, Asset::Copying];
    let settings = Settings { tab: Tab::Security, status: outcome.status, scripts };
    Ok(settings.page(person, security_page.show()))
}

/// Shows the page again with the form's error, or redirects to the confirmation page.
async fn again(person: &Person, form: &'static str, error: Error) -> PageResult {
    let (status, wrong) = match error {
        Error::Invalid { param: Some(param), .. } if param == "proof" => {
            let location = format!("{CONFIRM}{}", urls::query_string(&[("next", HERE)]));
            return Ok(Redirect::to(&location).into_response());
        }
        other => sensitive::refusal(other)?,
    };
    page(person, Outcome { wrong: Some((form, wrong)), codes: Vec::new(), status }).await
}

async fn done(
    person: &Person,
    form: &'static str,
    work: Result<(), Error>,
    message: &str,
) -> PageResult {
    match work {
        Ok(()) => Ok(see_other(person, HERE, message)),
        Err(error) => again(person, form, error).await,
    }
}

async fn change_email(person: Person, form: Form) -> PageResult {
    let (password, email) = (form.raw("password"), form.text("email"));
    let work = profiles::change_email(person.app(), &person.caller, password, email).await;
    done(&person, "email", work, "Email changed.").await
}

async fn change_password(person: Person, form: Form) -> PageResult {
    let (present, new) = (form.raw("password"), form.raw("new_password"));
    let work = profiles::change_password(person.app(), &person.caller, present, new).await;
    let message = "Password changed. You were signed out on all other devices.";
    done(&person, "password", work, message).await
}

async fn set_second_step(person: Person, form: Form) -> PageResult {
    let on = form.text("on") == "1";
    let work = profiles::set_second_step(person.app(), &person.caller, on).await;
    let message = if on { "Two-step sign-in is on." } else { "Two-step sign-in is off." };
    done(&person, "second-step", work, message).await
}

/// Creates recovery codes. They are shown only on this page, so it does not redirect.
async fn make_codes(person: Person, _form: Form) -> PageResult {
    match recovery::create(person.app(), &person.caller).await {
        Ok(codes) => page(&person, Outcome { codes, ..Outcome::default() }).await,
        Err(error) => again(&person, "codes", error).await,
    }
}

async fn unlink(person: Person, form: Form) -> PageResult {
    let work = oidc::unlink(person.app(), &person.caller, form.raw("issuer")).await;
    done(&person, "sign-on", work, "Unlinked.").await
}

async fn rename_passkey(person: Person, Path(id): Path<String>, form: Form) -> PageResult {
    let id = PasskeyId::parse(&id).map_err(|_| PageError::not_found())?;
    let work = passkeys::rename(person.app(), &person.caller, id, form.text("name")).await;
    done(&person, "passkeys", work, "Passkey renamed.").await
}

async fn remove_passkey(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    let id = PasskeyId::parse(&id).map_err(|_| PageError::not_found())?;
    let work = passkeys::remove(person.app(), &person.caller, id).await;
    done(&person, "passkeys", work, "Passkey removed.").await
}

async fn revoke_session(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    let id = SessionId::parse(&id).map_err(|_| PageError::not_found())?;
    sessions::revoke(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, HERE, "Signed out of that device."))
}

async fn revoke_others(person: Person, _form: Form) -> PageResult {
    sessions::revoke_others(person.app(), &person.caller).await?;
    Ok(see_other(&person, HERE, "Signed out on all other devices."))
}

async fn delete(person: Person, form: Form) -> PageResult {
    if !form.has("sure") {
        let message = "check the box to confirm";
        return again(&person, "delete", Error::invalid("sure", message)).await;
    }
    match profiles::delete(person.app(), &person.caller, form.raw("password")).await {
        Ok(()) => Ok(signed_out(&person)),
        Err(error) => again(&person, "delete", error).await,
    }
}

fn signed_out(person: &Person) -> Response {
    let secure = cookies::is_secure(person.public_url());
    let mut response = Redirect::to("/sign-in").into_response();
    let line = cookies::set(cookies::SESSION, "", Some(0), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    response
}

async fn confirm_page(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let next = pairs.iter().find(|(name, _)| name == "next").map_or(HERE, |(_, it)| it.as_str());
    confirm_card(&person, urls::local_path(next), StatusCode::OK, &FormError::default()).await
}

async fn confirm(person: Person, form: Form) -> PageResult {
    let next = urls::local_path(form.text("next"));
    let password = form.raw("password");
    match sign_ins::prove_by_password(person.app(), &person.caller, password).await {
        Ok(()) => Ok(see_other(&person, next, "Confirmed. We won't ask again for ten minutes.")),
        Err(error) => {
            let (status, wrong) = sensitive::refusal(error)?;
            confirm_card(&person, next, status, &wrong).await
        }
    }
}

/// The download that `next` points to, if any.
fn download(next: &str) -> Option<&'static sensitive::Sensitive> {
    let path = next.split('?').next().unwrap_or_default();
    let is_it = |it: &&sensitive::Sensitive| it.path == path && it.proof == Proof::Download;
    sensitive::SENSITIVE.iter().find(is_it)
}

async fn confirm_card(
    person: &Person,
    next: &str,
    status: StatusCode,
    wrong: &FormError,
) -> PageResult {
    let has_password = users::has_password(person.app(), person.user.id).await?;
    let has_passkey = !passkeys::list(person.app(), &person.caller).await?.is_empty();
    let identities = oidc::list(person.app(), &person.caller).await?;
    let main = confirm_markup(person, next, wrong, (has_password, has_passkey, identities));
    let settings = Settings { tab: Tab::Security, status, scripts: &[Asset::Passkeys] };
    Ok(settings.page(person, main))
}

fn confirm_markup(
    person: &Person,
    next: &str,
    wrong: &FormError,
    (has_password, has_passkey, identities): (bool, bool, Vec<LinkedIdentity>),
) -> Markup {
    let password = Field::text("password", "Password", "").autocomplete("current-password");
    let fields = html! {
        input type="hidden" name="next" value=(next);
        (password.kind("password").show(wrong))
        button.primary type="submit" { "Confirm" }
    };
    html! {
        section.card aria-labelledby="confirm" {
            h2 id="confirm" { "Confirm it's you" }
            p {
                @if download(next).is_some() { "Your download starts when you confirm. " }
                "We won't ask again for ten minutes."
            }
            (wrong.summary())
            @if has_password { (fields::form(CONFIRM, &person.form_token, fields)) }
            @if has_passkey {
                @match RelyingParty::from_url(person.public_url()) {
                    Ok(party) => {
                        (passkey_button(&party, "prove", "Use passkey", &person.form_token, next))
                    }
                    Err(reason) => p.warning { (sentence(reason)) },
                }
            }
            (sign_on_proofs(person, &identities, next))
            @if !has_password && !has_passkey && identities.is_empty() {
                p { "Sign out, sign in again and come back." }
            }
            p.soft { a href=(download(next).map_or(HERE, |it| it.back)) { "Go back" } }
        }
    }
}
