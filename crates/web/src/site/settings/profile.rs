//! The profile page: name, base currency, time zone and picture.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use base::Currency;
use http::{StatusCode, Uri, header};
use maud::{Markup, html};
use service::Error;
use service::access::images;
use service::access::profiles::{self, Profile};

use super::{Settings, Tab};
use crate::WebState;
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::upload::Upload;
use crate::site::{currencies, error_pages, timezones};

pub(super) async fn get(person: Person) -> PageResult {
    let typed = FormValues::of(&person);
    Ok(Settings::new(Tab::Profile).page(&person, page(&person, &typed, &FormError::default())))
}

pub(super) async fn post(person: Person, form: Form) -> PageResult {
    let typed = FormValues {
        name: form.text("preferred_name").to_owned(),
        currency: form.text("base_currency").to_owned(),
        timezone: form.text("timezone").to_owned(),
    };
    let changed = match typed.profile(&person) {
        Ok(profile) => profiles::update(person.app(), &person.caller, profile).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(()) => Ok(see_other(&person, "/settings", "Profile saved.")),
        Err(error) => again(&person, &typed, error),
    }
}

pub(super) async fn set_image(person: Person, upload: Upload) -> PageResult {
    let kept = match upload.content {
        Some(content) => images::set(person.app(), &person.caller, content).await,
        None => Err(Error::invalid("image", "choose a picture")),
    };
    match kept {
        Ok(_) => Ok(see_other(&person, "/settings", "Picture saved.")),
        Err(error) => again(&person, &FormValues::of(&person), error),
    }
}

pub(super) async fn remove_image(person: Person, _form: Form) -> PageResult {
    match images::remove(person.app(), &person.caller).await {
        Ok(()) | Err(Error::NotFound(_)) => Ok(see_other(&person, "/settings", "Picture removed.")),
        Err(error) => Err(PageError::from(error)),
    }
}

/// Serves a picture. The headers make sure that browsers treat it only as an image.
pub(super) async fn image(
    State(web): State<WebState>,
    Path(address): Path<String>,
    uri: Uri,
) -> Response {
    let found = match images::find(&web.app, &address).await {
        Ok(found) => found,
        Err(error) => return PageError::from(error).into_response(),
    };
    let Some(image) = found else { return error_pages::not_found(uri).await };
    let headers = [
        (header::CONTENT_TYPE, image.media_type.as_str()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    (headers, image.content).into_response()
}

struct FormValues {
    name: String,
    currency: String,
    timezone: String,
}

impl FormValues {
    fn of(person: &Person) -> FormValues {
        FormValues {
            name: person.user.preferred_name.clone().unwrap_or_default(),
            currency: person.user.base_currency.to_string(),
            timezone: person.user.timezone.to_string(),
        }
    }

    fn profile(&self, person: &Person) -> Result<Profile, Error> {
        let wrong = |error| Error::invalid("base_currency", format!("the currency {error}"));
        Ok(Profile {
            preferred_name: Some(self.name.clone()),
            base_currency: Currency::parse(&self.currency).map_err(wrong)?,
            timezone: timezones::parse(&self.timezone, person.user.timezone)?,
        })
    }
}

fn again(person: &Person, typed: &FormValues, error: Error) -> PageResult {
    let wrong = FormError::from_error(error)?;
    let settings = Settings { status: StatusCode::BAD_REQUEST, ..Settings::new(Tab::Profile) };
    Ok(settings.page(person, page(person, typed, &wrong)))
}

fn page(person: &Person, typed: &FormValues, wrong: &FormError) -> Markup {
    let name = Field::text("preferred_name", "Preferred name", &typed.name);
    let options = currencies::options();
    let options: Vec<(&str, &str)> =
        options.iter().map(|(code, name)| (code.as_str(), name.as_str())).collect();
    let about_you = html! {
        (name.optional().autocomplete("nickname").show(wrong))
        (fields::select_with_hint("base_currency", "Base currency", &options, &typed.currency,
            "Totals are shown in this currency. After a change, recalculating may take a moment."))
        (timezones::field(&typed.timezone, false))
        button.primary type="submit" { "Save profile" }
    };
    html! {
        (wrong.summary())
        section.card aria-labelledby="you" {
            h2 id="you" { "You" }
            p.soft { "Signed in as " (person.user.email) "." }
            (fields::form("/settings", &person.form_token, about_you))
        }
        section.card aria-labelledby="picture" {
            h2 id="picture" { "Picture" }
            (picture(person))
        }
    }
}

fn picture(person: &Person) -> Markup {
    let (image, token) = (person.user.image.as_deref(), &person.form_token);
    html! {
        div.picture {
            @match image {
                Some(path) => img src=(path) alt="Your picture" width="96" height="96";,
                None => p.soft { "No picture." },
            }
            form method="post" action="/settings/image" enctype="multipart/form-data" {
                input type="hidden" name="form_token" value=(token);
                div.field {
                    label for="f-image" { "Choose a picture" }
                    input id="f-image" name="image" type="file"
                        accept="image/png,image/jpeg,image/webp" required
                        aria-describedby="h-image";
                    p.soft id="h-image" {
                        "PNG, JPEG or WebP, up to 256 KB and 1024 by 1024 pixels. Apps with access to your \
                         profile can see it."
                    }
                }
                button type="submit" { "Upload picture" }
            }
            @if image.is_some() {
                (fields::button("/settings/image/remove", token, "Remove picture", "danger"))
            }
        }
    }
}
