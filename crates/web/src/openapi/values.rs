//! Response members whose values come from a known set, as named schemas. The sets are open: a new value can be added
//! within a version of the API, so a client must accept values that it does not know. They are written as plain text
//! with `x-extensible-enum`, because generators make a closed type of `enum` and a wrapper class of `anyOf`.

use base::category::Category;
use base::draft::{AccountKind, AssetClass, SecurityKind, Source};
use serde_json::{Value, json};
use service::actions::{ActionType, DecisionMethod, Kind, Proposer, Side, Status};
use service::insights::{benefits, recurring, spending::GroupBy};
use service::ledger::attachments::MediaType;
use service::ledger::{Direction, accounts::ConnectionStatus, goals, spans::Interval};
use service::trading::paper::EntryKind;
use service::webhooks::{DeliveryStatus, DisabledReason, EndpointStatus, EventStatus};
use wire::v1::{Code, EventType};

use super::Schemas;

/// A set of known values, and the members that have one of them.
struct ValueSet {
    name: &'static str,
    description: &'static str,
    values: fn() -> Vec<&'static str>,
    members: &'static [(&'static str, &'static str)],
}

/// The values of a type that `base::words!` defines.
macro_rules! words_of {
    ($type:ty) => {
        || <$type>::ALL.iter().map(|it| it.as_str()).collect()
    };
}

const fn set(
    name: &'static str,
    description: &'static str,
    values: fn() -> Vec<&'static str>,
    members: &'static [(&'static str, &'static str)],
) -> ValueSet {
    ValueSet { name, description, values, members }
}

const SETS: &[ValueSet] = &[
    set(
        "ErrorCode",
        "The code of an error, for programs. Each has a page under `/docs/errors/`.",
        words_of!(Code),
        &[("ErrorDetail", "code")],
    ),
    set(
        "AccountType",
        "Plaid's type of an account.",
        words_of!(AccountKind),
        &[("Account", "type"), ("BreakdownPart", "type")],
    ),
    set(
        "AttachmentType",
        "The type of an attachment, detected from its content.",
        words_of!(MediaType),
        &[("Attachment", "media_type"), ("AttachmentContent", "media_type")],
    ),
    set(
        "AccountStatus",
        "Whether an account is open.",
        || vec!["open", "closed"],
        &[("Account", "status"), ("PaperAccount", "status")],
    ),
    set(
        "ConnectionStatus",
        "The state of the connection that an account is synced by.",
        words_of!(ConnectionStatus),
        &[("Account", "connection_status")],
    ),
    set(
        "AccountSource",
        "Where the data of an account comes from.",
        words_of!(Source),
        &[("Account", "external_source")],
    ),
    set(
        "BalanceSource",
        "`reported` by the institution, `inferred` from transactions, or `carried` over from the last known day.",
        || vec!["reported", "inferred", "carried"],
        &[("DailyBalance", "source"), ("NetWorthPoint", "source")],
    ),
    set(
        "NetWorthInterval",
        "The distance between two points.",
        words_of!(Interval),
        &[("NetWorthHistory", "interval")],
    ),
    set(
        "CashFlowDirection",
        "Money in or money out.",
        words_of!(Direction),
        &[
            ("Transaction", "cash_flow_direction"),
            ("TransactionWithLinks", "cash_flow_direction"),
            ("Stream", "cash_flow_direction"),
        ],
    ),
    set(
        "PrimaryCategory",
        "Plaid's primary category.",
        super::primary_categories,
        &[
            ("Transaction", "category_tier1"),
            ("TransactionWithLinks", "category_tier1"),
            ("Stream", "category_tier1"),
            ("Split", "category_tier1"),
        ],
    ),
    set(
        "DetailedCategory",
        "Plaid's detailed category.",
        || Category::ALL.iter().map(|it| it.detailed()).collect(),
        &[
            ("Transaction", "category_tier2"),
            ("TransactionWithLinks", "category_tier2"),
            ("Stream", "category_tier2"),
            ("Split", "category_tier2"),
        ],
    ),
    set(
        "SpendingGrouping",
        "What spending is grouped by.",
        words_of!(GroupBy),
        &[("Spending", "group_by")],
    ),
    set(
        "AssetClass",
        "The asset class of a holding.",
        words_of!(AssetClass),
        &[("Holding", "asset_class"), ("HoldingGroup", "asset_class")],
    ),
    set(
        "SecurityType",
        "The type of a security.",
        words_of!(SecurityKind),
        &[("Holding", "security_type"), ("PaperHolding", "security_type")],
    ),
    set("GoalType", "What a goal is for.", words_of!(goals::Kind), &[("Goal", "goal_type")]),
    set("GoalStatus", "The status of a goal.", words_of!(goals::Status), &[("Goal", "status")]),
    set(
        "StreamType",
        "What a recurring stream is.",
        words_of!(recurring::Kind),
        &[("Stream", "stream_type")],
    ),
    set(
        "StreamFrequency",
        "How often a recurring stream recurs.",
        words_of!(recurring::Frequency),
        &[("Stream", "frequency")],
    ),
    set(
        "StreamStatus",
        "Whether the next payment of a recurring stream is expected.",
        words_of!(recurring::Status),
        &[("Stream", "status")],
    ),
    set(
        "StreamConfidence",
        "`early` if it was seen twice and is of a kind that usually recurs, otherwise `mature`.",
        words_of!(recurring::Confidence),
        &[("Stream", "confidence")],
    ),
    set(
        "BenefitCategory",
        "What a benefit is spent on.",
        words_of!(benefits::Area),
        &[("Benefit", "category")],
    ),
    set(
        "BenefitType",
        "The type of a benefit.",
        words_of!(benefits::BenefitType),
        &[("Benefit", "benefit_type")],
    ),
    set(
        "BenefitFrequency",
        "How often a benefit is renewed.",
        words_of!(benefits::Cadence),
        &[("Benefit", "frequency")],
    ),
    set(
        "CycleAlignment",
        "Whether cycles follow the calendar or the account's own year.",
        || vec!["calendar", "anniversary"],
        &[("Benefit", "cycle_alignment")],
    ),
    set(
        "BenefitStatus",
        "How much of a benefit is used in its current cycle.",
        words_of!(benefits::Status),
        &[("Benefit", "status")],
    ),
    set(
        "PaperActivityType",
        "The type of a paper account's activity.",
        || vec!["trade", "dividend", "split", "deposit", "reservation"],
        &[("PaperActivity", "type"), ("PaperTrade", "type")],
    ),
    set(
        "PaperActivitySubtype",
        "The subtype of a paper account's activity.",
        words_of!(EntryKind),
        &[("PaperActivity", "subtype")],
    ),
    set(
        "TradeSide",
        "Buy or sell.",
        words_of!(Side),
        &[("PaperTrade", "subtype"), ("TradeDetails", "side")],
    ),
    set(
        "TradeDetailsKind",
        "A trade in a paper account, or in a linked brokerage account.",
        || vec!["paper_trade", "trade"],
        &[("TradeDetails", "kind")],
    ),
    set(
        "TradeInputMode",
        "Whether the trade was proposed as a number of shares or as an amount.",
        || vec!["shares", "dollars"],
        &[("TradeDetails", "input_mode")],
    ),
    set(
        "PriceChangeDirection",
        "The direction of the price since the previous close.",
        || vec!["positive", "negative", "neutral"],
        &[("TradeDetails", "price_change_direction")],
    ),
    set(
        "TradeAccountSource",
        "The kind of account that a trade is for.",
        || vec!["paper"],
        &[("TradeAccount", "source")],
    ),
    set(
        "AvailableAmountState",
        "Whether the available amount is known.",
        || vec!["available", "unavailable"],
        &[("TradeAccount", "available_amount_state")],
    ),
    set(
        "ActionType",
        "The type of an action.",
        words_of!(ActionType),
        &[("Action", "action_type"), ("Approval", "action_type")],
    ),
    set(
        "ActionKind",
        "The kind of an action: several types can be of one kind.",
        words_of!(Kind),
        &[("Action", "action_kind"), ("Approval", "action_kind")],
    ),
    set(
        "ActionStatus",
        "The status of an action. The last five are final.",
        words_of!(Status),
        &[("Action", "status"), ("Approval", "status")],
    ),
    set(
        "DecisionMethod",
        "How the person decided.",
        words_of!(DecisionMethod),
        &[("Action", "decision_method"), ("Approval", "decision_method")],
    ),
    set("ProposerType", "Who proposed an action.", words_of!(Proposer), &[("ProposedBy", "type")]),
    set("DeciderType", "Who decided an action.", || vec!["person"], &[("DecidedBy", "type")]),
    set(
        "EventTypeName",
        "The type of an event.",
        || EventType::NAMES.to_vec(),
        &[
            ("DeliveryTest", "event_type"),
            ("Endpoint", "filter_types"),
            ("EndpointWithSecret", "filter_types"),
            ("EventTypeShape", "type"),
            ("LoggedEvent", "type"),
            ("WebhookDelivery", "event_type"),
        ],
    ),
    set(
        "EndpointStatus",
        "Whether events are sent to a webhook endpoint.",
        words_of!(EndpointStatus),
        &[("Endpoint", "status"), ("EndpointWithSecret", "status")],
    ),
    set(
        "DisabledReason",
        "Why a webhook endpoint is disabled.",
        words_of!(DisabledReason),
        &[("Endpoint", "disabled_reason"), ("EndpointWithSecret", "disabled_reason")],
    ),
    set(
        "EventStatus",
        "The status of an event over its deliveries.",
        words_of!(EventStatus),
        &[("LoggedEvent", "status")],
    ),
    set(
        "DeliveryStatus",
        "The status of the delivery of an event to an endpoint.",
        words_of!(DeliveryStatus),
        &[("EventDelivery", "status"), ("WebhookDelivery", "event_status")],
    ),
    set(
        "AttemptStatus",
        "The result of an attempt.",
        || vec!["succeeded", "failed"],
        &[("WebhookDelivery", "status")],
    ),
    set(
        "AttemptTrigger",
        "Who asked for an attempt: the retry schedule, a person or key that sent the event again, or a test.",
        || vec!["scheduled", "manual", "test"],
        &[("WebhookDelivery", "trigger")],
    ),
    set(
        "AttemptError",
        "Why an attempt got no complete response.",
        || {
            vec![
                "timeout",
                "dns",
                "connect",
                "tls",
                "blocked_address",
                "redirect",
                "body_too_large",
            ]
        },
        &[("WebhookDelivery", "error")],
    ),
];

/// Adds the sets as schemas, and replaces each of their members by a reference.
pub(super) fn add(schemas: &mut Schemas) {
    for set in SETS {
        let values = (set.values)();
        for (name, member) in set.members {
            let schema = schemas.get_mut(*name).and_then(|it| it["properties"].get_mut(*member));
            if let Some(schema) = schema {
                refer(schema, set.name);
            }
        }
        let description = format!("{} More values can be added at any time.", set.description);
        schemas.insert(
            set.name.to_owned(),
            json!({
                "type": "string",
                "description": description,
                "x-extensible-enum": values,
                "examples": [values[0]],
            }),
        );
    }
}

/// Replaces a member's type, or the type of its items, by a reference. Its description and example stay.
fn refer(schema: &mut Value, name: &str) {
    let to = json!({ "$ref": format!("#/components/schemas/{name}") });
    if schema["type"] == "array" {
        schema["items"] = to;
        return;
    }
    let is_nullable = super::is_nullable(schema);
    let Some(members) = schema.as_object_mut() else { return };
    members.remove("type");
    // Beside a reference, the example of the reference's target would be shown.
    if let Some(example) = members.remove("example") {
        members.insert("examples".to_owned(), json!([example]));
    }
    match is_nullable {
        true => members.insert("oneOf".to_owned(), json!([to, { "type": "null" }])),
        false => members.insert("$ref".to_owned(), to["$ref"].clone()),
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_set_has_its_own_name_and_values_and_has_found_its_members() {
        let schemas = super::super::schemas();
        let mut names = BTreeSet::new();
        for set in SETS {
            assert!(names.insert(set.name), "{} is there twice", set.name);
            let values = (set.values)();
            assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), values.len(), "{}", set.name);
            for (name, member) in set.members {
                let schema = schemas[*name]["properties"][*member].to_string();
                let reference = format!("\"#/components/schemas/{}\"", set.name);
                assert!(schema.contains(&reference), "{name}.{member}: {schema}");
                // The example is one of the values.
                let example = &schemas[*name]["properties"][*member]["examples"][0];
                let is_known = |it: &Value| it.as_str().is_some_and(|it| values.contains(&it));
                assert!(example.is_null() || is_known(example), "{name}.{member}: {example}");
            }
        }
    }

    /// Names of members that have a value from a known set.
    const NAMES: [&str; 8] =
        ["type", "status", "kind", "source", "frequency", "confidence", "trigger", "interval"];
    const ENDINGS: [&str; 7] =
        ["_type", "_status", "_kind", "_method", "_direction", "_mode", "_alignment"];

    #[test]
    fn no_member_with_known_values_is_plain_text() {
        for (name, schema) in super::super::schemas() {
            for (member, shape) in schema["properties"].as_object().into_iter().flatten() {
                let is_text = shape["type"].to_string().contains("string");
                let is_set = NAMES.contains(&member.as_str())
                    || ENDINGS.iter().any(|it| member.ends_with(it));
                // The type of an error is the address of its page.
                let is_address = (name.as_str(), member.as_str()) == ("ErrorDetail", "type");
                assert!(!is_text || !is_set || is_address, "{name}.{member} is in no set");
            }
        }
    }
}
