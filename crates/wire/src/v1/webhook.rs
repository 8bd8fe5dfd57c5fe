//! Webhook endpoints, deliveries and the event log.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::json::Moment;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Endpoints {
    pub endpoints: Vec<Endpoint>,
}

/// A webhook endpoint.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Endpoint {
    #[schema(example = "ep_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "https://example.com/hooks/evenkeel")]
    pub url: String,
    #[schema(example = "Household dashboard")]
    pub description: Option<String>,
    /// Empty means every type.
    #[schema(example = json!(["transaction.created", "balance.updated"]))]
    pub filter_types: Vec<String>,
    #[schema(example = "active")]
    pub status: &'static str,
    /// Null while it is active.
    pub disabled_reason: Option<String>,
    /// The first failure since the last success.
    pub failing_since: Option<Moment>,
    pub last_delivery_at: Option<Moment>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EndpointWithSecret {
    #[serde(flatten)]
    pub endpoint: Endpoint,
    /// The secret, shown only once. Null in a repeated idempotent response.
    #[schema(example = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=")]
    pub secret: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RotatedSecret {
    #[schema(example = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=")]
    pub secret: Option<String>,
    /// Until this time, deliveries are also signed with the previous secret.
    pub previous_secret_expires_at: Moment,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Deleted {
    #[schema(example = true)]
    pub deleted: bool,
}

/// All event types, and one page of the event log.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Events {
    pub event_types: Vec<EventTypeShape>,
    /// The events of the last 90 days that this key may see or that were sent to its endpoints, newest first.
    pub events: Vec<LoggedEvent>,
}

/// An event of the log, in the form that receivers get, with what became of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LoggedEvent {
    #[schema(example = "evt_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "transaction.created")]
    pub r#type: String,
    pub created_at: Moment,
    #[schema(example = "2026-04-10")]
    pub api_version: &'static str,
    /// The payload's `data`; null once it was deleted after 30 days.
    #[schema(
        value_type = Option<Object>,
        example = json!({
            "account_id": "acc_01kny3v1m8f2x9q4t7r5c6b8de",
            "transaction_ids": ["txn_01kny3v1m8f2x9q4t7r5c6b8de"],
            "count": 1
        })
    )]
    pub data: Option<Box<RawValue>>,
    /// Over its deliveries to this key's endpoints, the first of these that one of them has: failed, retrying, pending,
    /// delivered; no_endpoint if it has none.
    #[schema(example = "delivered")]
    pub status: &'static str,
    pub deliveries: Vec<EventDelivery>,
}

/// The delivery of an event to one endpoint.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EventDelivery {
    #[schema(example = "ep_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub endpoint_id: String,
    #[schema(example = "delivered")]
    pub status: &'static str,
    #[schema(example = 1)]
    pub attempts: i64,
    /// When the next attempt is due; null if none is planned.
    pub next_attempt_at: Option<Moment>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ReplayedEvent {
    #[schema(example = "evt_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub event_id: String,
    /// The deliveries that were queued.
    pub deliveries: Vec<EventDelivery>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EventTypeShape {
    #[schema(example = "transaction.created")]
    pub r#type: &'static str,
    #[schema(example = "New transactions were synced.")]
    pub description: &'static str,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PortalLink {
    #[schema(example = "http://127.0.0.1:4680/portal/ekl_...")]
    pub url: String,
    pub expires_at: Moment,
}

/// One attempt to deliver an event.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
pub struct Delivery {
    #[schema(example = "att_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "ep_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub endpoint_id: String,
    #[schema(example = "evt_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub event_id: String,
    #[schema(example = "transaction.created")]
    pub event_type: String,
    #[schema(example = "https://example.com/hooks/evenkeel")]
    pub url: String,
    /// The attempt number, starting at 1.
    #[schema(example = 1)]
    pub attempt: i64,
    #[schema(example = 8)]
    pub max_attempts: i64,
    #[schema(example = "scheduled")]
    pub trigger: String,
    #[schema(example = "succeeded")]
    pub status: String,
    #[schema(example = 200)]
    pub response_status_code: Option<i64>,
    pub response_body: Option<String>,
    /// Null if there was a response.
    pub error: Option<String>,
    #[schema(example = 84)]
    pub duration_ms: i64,
    pub attempted_at: Moment,
    /// The time of the next attempt; null if none is planned.
    pub next_attempt_at: Option<Moment>,
    #[schema(example = "delivered")]
    pub event_status: String,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeliveryTest {
    #[schema(example = "evt_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub event_id: String,
    #[schema(example = "webhook.test")]
    pub event_type: String,
    #[schema(example = "ep_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub endpoint_id: String,
    /// Whether the endpoint answered with a 2xx status in time.
    #[schema(example = true)]
    pub delivered: bool,
    pub delivery: Delivery,
}
