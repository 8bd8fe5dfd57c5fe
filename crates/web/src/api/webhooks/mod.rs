//! Webhook endpoints: created, read, updated and deleted by the API key that owns them.

pub(super) mod deliveries;
pub(super) mod events;

use base::EndpointId;
use service::webhooks::{
    self, DESCRIPTION_LENGTH_MAX, EndpointChange, EndpointStatus, NewEndpoint, URL_LENGTH_MAX,
};
use service::{Result, Tx};
use wire::json::Moment;
use wire::v1::{self, Deleted, EndpointWithSecret, Endpoints, EventType, RotatedSecret, Scope};

use super::bodies::{Body, Holds, Member};
use super::idempotent::{ChangeAnswers, change_prepared};
use super::{Answer, Call, Endpoint, Members, Parameter, Shape, Takes, Verb, change};

const TAG: &str = "Webhooks";
const STATUSES: &[&str] = &["active", "disabled"];

const URL: Member = Member::required(
    "url",
    Holds::Url { longest: URL_LENGTH_MAX },
    "The https address that events are sent to. All addresses of its host must be public, or in a network that the operator allows.",
);
const DESCRIPTION: Member = Member::optional(
    "description",
    Holds::TextOrNull { longest: DESCRIPTION_LENGTH_MAX },
    "Your description, on one line.",
);
const FILTER_TYPES: Member = Member::optional(
    "filter_types",
    Holds::SomeOf(&EventType::NAMES),
    "Event types to send; an empty or missing list means all, including future types.",
);

const NEW: &[Member] = &[URL, DESCRIPTION, FILTER_TYPES];

const CHANGED: &[Member] = &[
    Member { required: false, ..URL },
    Member { description: "Your description, on one line; null clears it.", ..DESCRIPTION },
    Member { description: "Event types to send; an empty list means all.", ..FILTER_TYPES },
    Member::optional(
        "status",
        Holds::OneOf(STATUSES),
        "`disabled` stops deliveries and drops pending ones; `active` resumes with new events.",
    ),
];

const ID: Parameter = Parameter {
    name: "endpoint_id",
    takes: Takes::Id("ep_"),
    description: "The endpoint.",
    example: "ep_01kny3v1m8f2x9q4t7r5c6b8de",
};

pub(super) const CREATE: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/webhooks/endpoints",
    tag: TAG,
    summary: "Create a webhook endpoint",
    description: "Events are sent to the endpoint from now on. `secret` signs them and is returned only once: a \
        response repeated for its Idempotency-Key has null instead. A key can have five active endpoints, and \
        sees only its own.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[],
    body: Some(Body {
        name: "NewWebhookEndpoint",
        members: NEW,
        rules: &[],
        examples: &[
            ("Every event", r#"{"url": "https://example.com/hooks/evenkeel"}"#),
            (
                "Some of them",
                r#"{
  "url": "https://example.com/hooks/evenkeel",
  "description": "Household dashboard",
  "filter_types": ["transaction.created", "balance.updated"]
}"#,
            ),
        ],
    }),
    answer: Shape::of::<EndpointWithSecret>("EndpointWithSecret"),
    handle: |call| Box::pin(create(call)),
};

async fn create(call: Call) -> Result<Answer> {
    let members = call.members(NEW)?;
    let new = NewEndpoint {
        url: members.required("url", members.text("url")?)?,
        description: description(&members)?.flatten(),
        filter_types: members.texts("filter_types")?.unwrap_or_default(),
    };
    let (app, caller, url) = (call.app.clone(), call.caller.clone(), new.url.clone());
    let prepare = webhooks::check_url(&call.app, &url);
    let work = move |tx: &mut Tx<'_>, ()| {
        let (endpoint, secret) = webhooks::create(&app, tx, &caller, &new)?;
        let respond = |secret: Option<String>| {
            Answer::data(&EndpointWithSecret { endpoint: (&endpoint).into(), secret })
        };
        Ok(ChangeAnswers { first: respond(Some(secret))?, again: Some(respond(None)?) })
    };
    change_prepared(&call, prepare, work).await
}

/// Reads `description`. An empty text clears it, like null.
fn description(members: &Members) -> Result<Option<Option<String>>> {
    let given = members.text_or_null("description")?;
    Ok(given.map(|it| it.filter(|text| !text.is_empty())))
}

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/webhooks/endpoints",
    tag: TAG,
    summary: "List webhook endpoints",
    description: "The endpoints of this key, oldest first, without their secrets.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Endpoints>("Endpoints"),
    handle: |call| Box::pin(list(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let all = webhooks::list(&call.app, &call.caller).await?;
    Answer::data(&Endpoints { endpoints: all.iter().map(v1::Endpoint::from).collect() })
}

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/webhooks/endpoints/{endpoint_id}",
    tag: TAG,
    summary: "Get a webhook endpoint",
    description: "The settings and health of an endpoint.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[ID],
    body: None,
    answer: Shape::of::<v1::Endpoint>("Endpoint"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    shown(&webhooks::get(&call.app, &call.caller, id(&call)?).await?)
}

pub(super) const UPDATE: Endpoint = Endpoint {
    method: Verb::Put,
    path: "/webhooks/endpoints/{endpoint_id}",
    tag: TAG,
    summary: "Update a webhook endpoint",
    description: "Members that are not sent stay unchanged. Setting `status` to `active` re-enables a disabled \
        endpoint, unless the key has five active ones.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[ID],
    body: Some(Body {
        name: "WebhookEndpointChange",
        members: CHANGED,
        rules: &[],
        examples: &[
            ("Stop it", r#"{"status": "disabled"}"#),
            (
                "All events, at another address",
                r#"{"url": "https://example.com/hooks/new", "filter_types": []}"#,
            ),
            ("Without its description", r#"{"description": null}"#),
        ],
    }),
    answer: Shape::of::<v1::Endpoint>("Endpoint"),
    handle: |call| Box::pin(update(call)),
};

async fn update(call: Call) -> Result<Answer> {
    let (id, members) = (id(&call)?, call.members(CHANGED)?);
    let status = members.one_of("status", STATUSES)?;
    let change = EndpointChange {
        url: members.text("url")?,
        description: description(&members)?,
        filter_types: members.texts("filter_types")?,
        status: status.as_deref().and_then(EndpointStatus::parse),
    };
    let (app, caller, url) = (call.app.clone(), call.caller.clone(), change.url.clone());
    let prepare = async {
        let before = webhooks::get(&call.app, &call.caller, id).await?;
        match url.filter(|it| *it != before.url) {
            Some(url) => webhooks::check_url(&call.app, &url).await,
            None => Ok(()),
        }
    };
    let work = move |tx: &mut Tx<'_>, ()| {
        let first = shown(&webhooks::update(&app, tx, &caller, id, &change)?)?;
        Ok(ChangeAnswers { first, again: None })
    };
    change_prepared(&call, prepare, work).await
}

pub(super) const DELETE: Endpoint = Endpoint {
    method: Verb::Delete,
    path: "/webhooks/endpoints/{endpoint_id}",
    tag: TAG,
    summary: "Delete a webhook endpoint",
    description: "Stops all deliveries and deletes their history. The body must be empty.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[ID],
    body: None,
    answer: Shape::of::<Deleted>("Deleted"),
    handle: |call| Box::pin(delete(call)),
};

async fn delete(call: Call) -> Result<Answer> {
    let id = id(&call)?;
    call.members(&[])?;
    let (app, caller) = (call.app.clone(), call.caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        webhooks::delete(&app, tx, &caller, id)?;
        Answer::data(&Deleted { deleted: true })
    };
    change(&call, work).await
}

pub(super) const ROTATE: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/webhooks/endpoints/{endpoint_id}/rotate",
    tag: TAG,
    summary: "Rotate a secret",
    description: "Creates a new secret, returned only once. For a day every delivery has a signature of both \
        secrets, the new one first, so that receivers can switch. The body must be empty.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[ID],
    body: None,
    answer: Shape::of::<RotatedSecret>("RotatedSecret"),
    handle: |call| Box::pin(rotate(call)),
};

async fn rotate(call: Call) -> Result<Answer> {
    let id = id(&call)?;
    call.members(&[])?;
    let (app, caller) = (call.app.clone(), call.caller.clone());
    let work = move |tx: &mut Tx<'_>, ()| {
        let (secret, until) = webhooks::rotate_secret(&app, tx, &caller, id)?;
        let respond = |secret: Option<String>| {
            Answer::data(&RotatedSecret { secret, previous_secret_expires_at: Moment(until) })
        };
        Ok(ChangeAnswers { first: respond(Some(secret))?, again: Some(respond(None)?) })
    };
    change_prepared(&call, std::future::ready(Ok(())), work).await
}

fn id(call: &Call) -> Result<EndpointId> {
    call.path_id(0, "webhook endpoint")
}

fn shown(endpoint: &webhooks::Endpoint) -> Result<Answer> {
    Answer::data(&v1::Endpoint::from(endpoint))
}
