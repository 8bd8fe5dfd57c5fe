//! Form handlers of a webhook endpoint: test, update, enable, disable, rotate and delete.

use axum::extract::Path;
use http::StatusCode;
use service::webhooks::{self, EndpointChange, EndpointStatus, changes};

use super::create::{ChosenTypes, described, secret_card};
use super::manager::{EndpointManager, ManagerForm, Section};
use super::{detail, parse};
use crate::site::errors::PageResult;
use crate::site::fields::FormError;

/// Sends a test event and shows the result.
pub(super) async fn test(
    manager: EndpointManager,
    Path(id): Path<String>,
    ManagerForm(form): ManagerForm,
) -> PageResult {
    let id = parse(&id)?;
    let asked = Some(form.text("event_type")).filter(|it| !it.is_empty());
    manager.count().await?;
    let trial = webhooks::test(manager.app(), manager.caller(), id, asked).await?;
    let endpoint = webhooks::get(manager.app(), manager.caller(), id).await?;
    detail::show(&manager, &endpoint, Some(&trial), &FormError::default()).await
}

pub(super) async fn change(
    manager: EndpointManager,
    Path(id): Path<String>,
    ManagerForm(form): ManagerForm,
) -> PageResult {
    let before = webhooks::get(manager.app(), manager.caller(), parse(&id)?).await?;
    let url = form.text("url").to_owned();
    let changing = async {
        webhooks::check_url(manager.app(), &url).await?;
        let change = EndpointChange {
            description: Some(described(form.text("description"))),
            filter_types: Some(ChosenTypes::read(&form).filter()?),
            url: Some(url.clone()),
            status: None,
        };
        update(&manager, before.id, change).await
    };
    match changing.await {
        Ok(()) => Ok(manager.see_other(&format!("/{}", before.id), "Endpoint saved.")),
        Err(error) => detail::show(&manager, &before, None, &FormError::from_error(error)?).await,
    }
}

pub(super) async fn enable(
    manager: EndpointManager,
    Path(id): Path<String>,
    _form: ManagerForm,
) -> PageResult {
    set(&manager, &id, EndpointStatus::Active, "Endpoint enabled. It will receive new events.")
        .await
}

pub(super) async fn disable(
    manager: EndpointManager,
    Path(id): Path<String>,
    _form: ManagerForm,
) -> PageResult {
    set(&manager, &id, EndpointStatus::Disabled, "Endpoint disabled.").await
}

async fn set(
    manager: &EndpointManager,
    id: &str,
    status: EndpointStatus,
    message: &str,
) -> PageResult {
    let id = parse(id)?;
    let change = EndpointChange { status: Some(status), ..EndpointChange::default() };
    update(manager, id, change).await?;
    Ok(manager.see_other(&format!("/{id}"), message))
}

async fn update(
    manager: &EndpointManager,
    id: base::EndpointId,
    change: EndpointChange,
) -> service::Result<()> {
    changes::update(manager.app(), manager.caller(), id, change).await.map(|_| ())
}

/// Rotates the signing secret and shows the new one, once.
pub(super) async fn rotate(
    manager: EndpointManager,
    Path(id): Path<String>,
    _form: ManagerForm,
) -> PageResult {
    let id = parse(&id)?;
    let (secret, _) = changes::rotate_secret(manager.app(), manager.caller(), id).await?;
    let endpoint = webhooks::get(manager.app(), manager.caller(), id).await?;
    let main = secret_card(&manager, &endpoint, "Signing secret rotated", &secret);
    Ok(manager.page(StatusCode::OK, Section::Endpoints, main))
}

pub(super) async fn delete(
    manager: EndpointManager,
    Path(id): Path<String>,
    _form: ManagerForm,
) -> PageResult {
    let id = parse(&id)?;
    changes::delete(manager.app(), manager.caller(), id).await?;
    Ok(manager.see_other("", "Endpoint deleted."))
}
