//! The overview: the figures of the whole household at once.

use service::{Result, summary};

use crate::object::Object;
use crate::tool::Type::{List, Number, Object as Record, OptionalNumber, OptionalObject, Text};
use crate::tool::{Call, Kind, Needs, Tool};

pub(super) static GET_OVERVIEW: Tool = Tool {
    name: "get_overview",
    title: "Overview",
    description: "Net worth, cash flow of 30 days, and the key figures of every area, in the base currency. Start here. \
        Unknown is null. excluded lists amounts without an exchange rate.",
    needs: Needs::All(&summary::SCOPES),
    kind: Kind::Reads,
    arguments: &[],
    output: &[
        ("as_of", Text),
        ("currency", Text),
        ("net_worth", OptionalNumber),
        ("total_assets", OptionalNumber),
        ("total_liabilities", OptionalNumber),
        ("net_worth_change", OptionalObject),
        ("breakdown", List),
        ("excluded", List),
        ("exchange_rates", List),
        ("accounts", Record),
        ("cash_flow", Record),
        ("investments", Record),
        ("goals", Record),
        ("recurring", Record),
        ("scores", OptionalObject),
        ("pending_actions", Number),
    ],
    call: |call| Box::pin(get(call)),
};

async fn get(call: &Call<'_>) -> Result<Object> {
    Object::of(&summary::get(call.app, call.caller).await?)
}
