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
    description: "All holdings in one answer, grouped by asset class, the most valuable group first. A filter \
                  narrows the groups; `account_total` always tells of everything in scope. What is unknown is \
                  null: a holding without a known cost has no gain, and is left out of both sides of the total's.",
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
            "Only the group of this class.",
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
            "What holdings are sorted by within their group; current_value unless given. Unknown ones come last.",
        ),
        one_of("order", &["asc", "desc"], "The order of the sort; desc unless given."),
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
