//! The endpoint of holdings.

use base::draft::AssetClass;
use service::Result;
use service::ledger::investments::{self, SortBy, View};
use wire::v1::{Investments, Scope};

use super::parameters::{ACCOUNT_ID, one_of};
use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/investments",
    tag: "Investments",
    summary: "List holdings",
    description: "All holdings in one response, grouped by asset class, the most valuable group first. Filters \
        apply to the groups; `account_total` always covers everything in scope. Unknown values are null: a \
        holding without a known cost has no gain, and is excluded from the total gain.",
    scopes: &[Scope::InvestmentsRead],
    query: &[
        one_of(
            "asset_class",
            &[
                "alternative",
                "cash",
                "crypto",
                "derivative",
                "equity",
                "fixed_income",
                "fund",
                "other",
            ],
            "Only this asset class.",
        ),
        one_of(
            "sort_by",
            &[
                "symbol",
                "last_price",
                "day_change",
                "total_gain_loss",
                "current_value",
                "quantity",
                "cost_basis_total",
            ],
            "How holdings are sorted within their group; by default current_value. Unknown values come last.",
        ),
        one_of("order", &["asc", "desc"], "The sort order; by default desc."),
        ACCOUNT_ID,
    ],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Investments>("Investments"),
    handle: |call| Box::pin(list(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let sort_by = match call.query.text("sort_by")? {
        Some(word) => investments::parse_sort(word)?,
        None => SortBy::CurrentValue,
    };
    let view = View {
        asset_class: call.query.text("asset_class")?.and_then(AssetClass::parse),
        sort_by,
        descending: call.query.text("order")? != Some("asc"),
    };
    let account = call.query.id("account_id")?;
    let found = investments::list(&call.app, &call.caller, account, view).await?;
    Answer::data(&Investments::from(&found))
}
