//! Holdings of linked accounts, and paper accounts with theirs.

use base::draft::AssetClass;
use serde::Serialize;
use service::Result;
use service::ledger::investments::{self, SortBy, View};
use service::trading::paper;
use wire::v1::{self, Scope};

use crate::arguments::{Argument, Takes};
use crate::object::{Object, project};
use crate::tool::Type::{List, Object as Record, OptionalText, Text};
use crate::tool::{ACCOUNT_ID, CURSOR, Call, Kind, Needs, Tool};

const FIELDS: &[&str] = &[
    "security_id",
    "symbol",
    "name",
    "security_type",
    "asset_class",
    "currency",
    "quantity",
    "last_price",
    "last_price_at",
    "current_value",
    "day_change",
    "day_change_percent",
    "cost_basis_total",
    "average_cost_basis",
    "total_gain_loss",
    "total_gain_loss_percent",
    "percent_of_account",
];
const DEFAULT_FIELDS: &[&str] = &[
    "symbol",
    "name",
    "asset_class",
    "currency",
    "quantity",
    "last_price",
    "current_value",
    "day_change_percent",
    "total_gain_loss",
    "total_gain_loss_percent",
    "percent_of_account",
];
const CLASSES: &[&str] =
    &["alternative", "cash", "crypto", "derivative", "equity", "fixed_income", "fund", "other"];

pub(super) static LIST_HOLDINGS: Tool = Tool {
    name: "list_holdings",
    title: "Holdings",
    description: "Investments across all accounts, most valuable first, with gains. A holding without a known cost has null \
        gains. Percentages: 25.5 means 25.5%.",
    needs: Needs::All(&[Scope::InvestmentsRead]),
    kind: Kind::Reads,
    arguments: &[
        ACCOUNT_ID,
        Argument::optional("asset_class", Takes::OneOf(CLASSES), ""),
        Argument::optional("fields", Takes::SomeOf(FIELDS), ""),
        CURSOR,
    ],
    output: &[("total", Record), ("holdings", List), ("next_cursor", OptionalText), ("note", Text)],
    call: |call| Box::pin(holdings(call)),
};

async fn holdings(call: &Call<'_>) -> Result<Object> {
    let class = call.arguments.text("asset_class")?;
    let view = View {
        asset_class: class.as_deref().and_then(AssetClass::parse),
        sort_by: SortBy::CurrentValue,
        descending: true,
    };
    let fields = call.arguments.some_of("fields", DEFAULT_FIELDS)?;
    let account = call.arguments.id("account_id")?;
    let found = investments::list(call.app, call.caller, account, view).await?;
    let shown = v1::Investments::from(&found);
    let rows: Vec<&v1::Holding> = shown.groups.iter().flat_map(|it| &it.holdings).collect();
    let mut object = Object::new();
    object.put("total", &shown.account_total)?;
    call.put_list(&mut object, "holdings", &rows, |it| project(it, &fields))?;
    Ok(object)
}

pub(super) static LIST_PAPER_ACCOUNTS: Tool = Tool {
    name: "list_paper_accounts",
    title: "Paper accounts",
    description: "Simulated brokerage accounts with their positions. They hold virtual money only.",
    needs: Needs::All(&[Scope::PaperRead]),
    kind: Kind::Reads,
    arguments: &[CURSOR],
    output: &[("accounts", List), ("next_cursor", OptionalText), ("note", Text)],
    call: |call| Box::pin(paper_accounts(call)),
};

#[derive(Serialize)]
struct AccountWithHoldings {
    #[serde(flatten)]
    account: v1::PaperAccount,
    holdings: Vec<v1::PaperHolding>,
}

const PAPER_FIELDS: &[&str] = &[
    "id",
    "name",
    "status",
    "currency",
    "cash_balance",
    "buying_power",
    "holdings_value",
    "total_value",
    "total_gain_loss",
    "total_gain_loss_percent",
    "trade_count",
    "as_of",
    "holdings",
];

async fn paper_accounts(call: &Call<'_>) -> Result<Object> {
    let accounts = paper::list_accounts(call.app, call.caller).await?;
    let write = |it: &paper::Account| {
        let holdings = it.holdings.iter().map(v1::PaperHolding::from).collect();
        let shown = AccountWithHoldings { account: v1::PaperAccount::from(it), holdings };
        project(&shown, PAPER_FIELDS)
    };
    let mut object = Object::new();
    call.put_list(&mut object, "accounts", &accounts, write)?;
    Ok(object)
}
