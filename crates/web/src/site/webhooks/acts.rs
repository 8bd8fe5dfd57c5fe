//! What the buttons of an endpoint do.

use axum::extract::Path;
use http::StatusCode;
use service::webhooks::{self, EndpointChange, EndpointStatus};

use super::create::{described, secret_card};
use super::keeper::{Keeper, KeeperForm, Part};
use super::{one, parse};
use crate::site::fields::Wrong;
use crate::site::trouble::Shown;

/// One attempt, with the answer on the page that comes back.
pub(super) async fn test(
    keeper: Keeper,
    Path(id): Path<String>,
    KeeperForm(form): KeeperForm,
) -> Shown {
    let id = parse(&id)?;
    let asked = Some(form.text("event_type")).filter(|it| !it.is_empty());
    keeper.count().await?;
    let trial = webhooks::test(keeper.app(), keeper.caller(), id, asked).await?;
    let endpoint = webhooks::get(keeper.app(), keeper.caller(), id).await?;
    one::show(&keeper, &endpoint, Some(&trial), &Wrong::default()).await
}

pub(super) async fn change(
    keeper: Keeper,
    Path(id): Path<String>,
    KeeperForm(form): KeeperForm,
) -> Shown {
    let before = webhooks::get(keeper.app(), keeper.caller(), parse(&id)?).await?;
    let url = form.text("url").to_owned();
    let change = EndpointChange {
        description: Some(described(form.text("description"))),
        filter_types: Some(form.all("type").map(str::to_owned).collect()),
        url: Some(url.clone()),
        status: None,
    };
    let changed = match webhooks::check_url(keeper.app(), &url).await {
        Ok(()) => update(&keeper, before.id, change).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(()) => Ok(keeper.see_other(&format!("/{}", before.id), "The endpoint is changed.")),
        Err(error) => one::show(&keeper, &before, None, &Wrong::from_error(error)?).await,
    }
}

pub(super) async fn enable(keeper: Keeper, Path(id): Path<String>, _form: KeeperForm) -> Shown {
    set(&keeper, &id, EndpointStatus::Active, "It is on again and hears of what happens from now.")
        .await
}

pub(super) async fn disable(keeper: Keeper, Path(id): Path<String>, _form: KeeperForm) -> Shown {
    set(&keeper, &id, EndpointStatus::Disabled, "It is off. Nothing is sent there.").await
}

async fn set(keeper: &Keeper, id: &str, status: EndpointStatus, said: &str) -> Shown {
    let id = parse(id)?;
    let change = EndpointChange { status: Some(status), ..EndpointChange::default() };
    update(keeper, id, change).await?;
    Ok(keeper.see_other(&format!("/{id}"), said))
}

async fn update(
    keeper: &Keeper,
    id: base::EndpointId,
    change: EndpointChange,
) -> service::Result<()> {
    let (mine, caller) = (keeper.app().clone(), keeper.caller().clone());
    let update = move |tx: &mut service::Tx<'_>| webhooks::update(&mine, tx, &caller, id, &change);
    keeper.app().db.write(update).await.map(|_| ())
}

/// Answers with the new secret, which is shown nowhere else.
pub(super) async fn rotate(keeper: Keeper, Path(id): Path<String>, _form: KeeperForm) -> Shown {
    let id = parse(&id)?;
    let (mine, caller) = (keeper.app().clone(), keeper.caller().clone());
    let rotate = move |tx: &mut service::Tx<'_>| webhooks::rotate_secret(&mine, tx, &caller, id);
    let (secret, _) = keeper.app().db.write(rotate).await?;
    let endpoint = webhooks::get(keeper.app(), keeper.caller(), id).await?;
    let main = secret_card(&keeper, &endpoint, "The secret is changed", &secret);
    Ok(keeper.page(StatusCode::OK, Part::Endpoints, main))
}

pub(super) async fn delete(keeper: Keeper, Path(id): Path<String>, _form: KeeperForm) -> Shown {
    let id = parse(&id)?;
    let (mine, caller) = (keeper.app().clone(), keeper.caller().clone());
    let delete = move |tx: &mut service::Tx<'_>| webhooks::delete(&mine, tx, &caller, id);
    keeper.app().db.write(delete).await?;
    Ok(keeper.see_other("", "The endpoint is deleted."))
}
