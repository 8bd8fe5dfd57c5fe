//! Webhook deliveries: test events, delivery attempts and the portal.

use service::Result;
use service::platform::cursors::Page;
use service::webhooks::{self, AttemptFilter};
use wire::json::Moment;
use wire::v1::{Delivery, DeliveryTest, EventType, Pagination, PortalLink, Scope};

use super::super::bodies::{Body, Holds, Member};
use super::super::idempotent::{ChangeAnswers, change_prepared};
use super::super::parameters::{CURSOR, LIMIT, one_of};
use super::super::{Answer, Call, Endpoint, Paging, Parameter, Shape, Takes, Verb};
use super::{ID, TAG, id};

const TRY: &[Member] = &[Member::optional(
    "event_type",
    Holds::OneOf(&EventType::NAMES),
    "The event type to send; by default `webhook.test`.",
)];

pub(crate) const TEST: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/webhooks/endpoints/{endpoint_id}/test",
    tag: TAG,
    summary: "Send a test event",
    description: "Sends one event at once, even to a disabled endpoint, and waits up to 15 seconds for the \
        result. The event is signed like any other; its `data` has `test: true`. The response is 200 whatever \
        the endpoint answered: see `delivered`. Tests are not retried and don't affect endpoint health.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[ID],
    body: Some(Body {
        name: "WebhookTest",
        members: TRY,
        rules: &[],
        examples: &[("Any type", r#"{"event_type": "transaction.created"}"#)],
    }),
    answer: Shape::of::<DeliveryTest>("DeliveryTest"),
    handle: |call| Box::pin(test(call)),
};

async fn test(call: Call) -> Result<Answer> {
    let (id, members) = (id(&call)?, call.members(TRY)?);
    let event_type = members.one_of("event_type", &EventType::NAMES)?;
    let prepare = webhooks::send_test(&call.app, &call.caller, id, event_type.as_deref());
    let (app, caller) = (call.app.clone(), call.caller.clone());
    let work = move |tx: &mut service::Tx<'_>, sent: webhooks::SentTest| {
        let it = webhooks::save_test(&app, tx, &caller, sent)?;
        let first = Answer::data(&DeliveryTest {
            event_id: it.event.to_string(),
            event_type: it.event_type,
            endpoint_id: it.endpoint.to_string(),
            delivered: it.delivered,
            delivery: (&it.attempt).into(),
        })?;
        Ok(ChangeAnswers { first, again: None })
    };
    change_prepared(&call, prepare, work).await
}

pub(crate) const PORTAL: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/webhooks/portal",
    tag: TAG,
    summary: "Open the webhook portal",
    description: "Creates a link to pages where a person can manage this key's endpoints, attempts and events, \
        and nothing else. The link works once, within ten minutes. Opening it does not use it up; the button on \
        the page does.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<PortalLink>("PortalLink"),
    handle: |call| Box::pin(portal(call)),
};

async fn portal(call: Call) -> Result<Answer> {
    let (app, caller) = (call.app.clone(), call.caller.clone());
    let make = move |tx: &mut service::Tx<'_>| webhooks::portal::create_link(&app, tx, &caller);
    let (token, expires_at) = call.app.db.write(make).await?;
    let url = format!("{}{}", call.public_url, webhooks::portal::link_path(&token));
    Answer::data(&PortalLink { url, expires_at: Moment(expires_at) })
}

pub(crate) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/webhooks/deliveries",
    tag: TAG,
    summary: "List deliveries",
    description: "All delivery attempts of the last 90 days to this key's endpoints, newest first, in pages.",
    scopes: &[Scope::WebhooksManage],
    query: &[
        CURSOR,
        LIMIT,
        Parameter { description: "Only attempts to this endpoint.", ..ID },
        Parameter {
            name: "event_id",
            takes: Takes::Id("evt_"),
            description: "Only attempts of this event.",
            example: "evt_01kny3v1m8f2x9q4t7r5c6b8de",
        },
        one_of("event_type", &EventType::NAMES, "Only attempts of this event type."),
        one_of("status", &["succeeded", "failed"], "Only attempts with this result."),
    ],
    path_parameters: &[],
    body: None,
    answer: Shape { paging: Paging::Within, ..Shape::of::<Delivery>("WebhookDelivery") },
    handle: |call| Box::pin(list(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let query = &call.query;
    let filter = AttemptFilter {
        endpoint: query.id("endpoint_id")?,
        event: query.id("event_id")?,
        event_type: query.text("event_type")?.map(str::to_owned),
        status: query.text("status")?.map(str::to_owned),
    };
    let limit = query.whole(&LIMIT)? as usize;
    let page = Page { cursor: query.text("cursor")?, limit };
    if let Some(endpoint) = filter.endpoint {
        webhooks::get(&call.app, &call.caller, endpoint).await?;
    }
    let listed = webhooks::list_attempts(&call.app, &call.caller, &filter, page).await?;
    let rows: Vec<Delivery> = listed.attempts.iter().map(Delivery::from).collect();
    let pagination = Pagination {
        count: rows.len(),
        has_more: listed.next_cursor.is_some(),
        next_cursor: listed.next_cursor,
        total_count: None,
        limit,
    };
    Answer::list(&rows, &pagination)
}
