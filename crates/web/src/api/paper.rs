//! Endpoints of paper trading.

use base::PaperAccountId;
use service::Result;
use service::platform::cursors::Page;
use service::trading::paper;
use wire::v1::{
    Action, PaperAccount, PaperAccounts, PaperActivity, PaperHolding, PaperHoldings, PaperTrade,
    Scope,
};

use super::bodies::{Body, Member};
use super::parameters::{CURSOR, LIMIT, uuid};
use super::payload::SHARES_OR_CASH;
use super::payload::{self, NAME, NOTIONAL, QUANTITY, SIDE, STARTING_CASH, SYMBOL};
use super::propose::{SKIP_APPROVAL, propose, refuse_skipping};
use super::{Answer, Call, Endpoint, Paging, Parameter, Shape, Verb};

const ACCOUNT: Parameter = uuid("accountId", "The paper account.");

pub(super) const ACCOUNTS: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/paper-trading/accounts",
    tag: "Paper trading",
    summary: "List paper accounts",
    description: "Paper accounts trade virtual money at market prices. Oldest account first. `buying_power` is \
        the cash that is not reserved for orders waiting for the market to open. Values that depend on an \
        unknown price are null.",
    scopes: &[Scope::PaperRead],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<PaperAccounts>("PaperAccounts"),
    handle: |call| Box::pin(accounts(call)),
};

async fn accounts(call: Call) -> Result<Answer> {
    let accounts = paper::list_accounts(&call.app, &call.caller).await?;
    Answer::data(&PaperAccounts { accounts: accounts.iter().map(PaperAccount::from).collect() })
}

const NEW_ACCOUNT: &[Member] = &[NAME, STARTING_CASH, SKIP_APPROVAL];

pub(super) const OPEN: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/paper-trading/accounts",
    tag: "Paper trading",
    summary: "Propose a paper account",
    description: "Creates a proposal, which the person approves or rejects at `approval_url`. Follow it at `approval_status_url`; once it is executed, `result.paper_account_id` \
                  names the account.",
    scopes: &[Scope::PaperTrade],
    query: &[],
    path_parameters: &[],
    body: Some(Body {
        name: "NewPaperAccount",
        members: NEW_ACCOUNT,
        rules: &[],
        examples: &[(
            "A named account with $50,000",
            r#"{"name": "Practice", "starting_cash_balance": "50000.00"}"#,
        )],
    }),
    answer: Shape::of::<Action>("Action"),
    handle: |call| Box::pin(open(call)),
};

async fn open(call: Call) -> Result<Answer> {
    let members = call.members(NEW_ACCOUNT)?;
    refuse_skipping(&members)?;
    propose(&call, payload::paper_account(&members)?.into(), |error| error).await
}

pub(super) const HOLDINGS: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/paper-trading/accounts/{accountId}/holdings",
    tag: "Paper trading",
    summary: "List positions of a paper account",
    description: "Most valuable first; positions without a price come last. `cost_basis` is the average cost of \
        the shares held.",
    scopes: &[Scope::PaperRead],
    query: &[],
    path_parameters: &[ACCOUNT],
    body: None,
    answer: Shape::of::<PaperHoldings>("PaperHoldings"),
    handle: |call| Box::pin(holdings(call)),
};

async fn holdings(call: Call) -> Result<Answer> {
    let account = account(&call)?;
    let holdings = paper::list_holdings(&call.app, &call.caller, account).await?;
    Answer::data(&PaperHoldings { holdings: holdings.iter().map(PaperHolding::from).collect() })
}

const HISTORY_QUERY: &[Parameter] = &[
    Parameter {
        description: "The `cursor` of the previous page, unchanged. Valid for 24 hours.",
        ..CURSOR
    },
    LIMIT,
];

pub(super) const TRADES: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/paper-trading/accounts/{accountId}/trades",
    tag: "Paper trading",
    summary: "List trades of a paper account",
    description: "Buys and sells, newest first, in pages: while `has_more` is true, send `cursor` back. There are \
        `trade_count` of them. The starting cash, dividends and splits are in \
        `/paper-trading/accounts/{accountId}/activity`.",
    scopes: &[Scope::PaperRead],
    query: HISTORY_QUERY,
    path_parameters: &[ACCOUNT],
    body: None,
    answer: Shape { paging: Paging::Beside, ..Shape::of::<PaperTrade>("PaperTrade") },
    handle: |call| Box::pin(trades(call)),
};

async fn trades(call: Call) -> Result<Answer> {
    let page = history_page(&call)?;
    let history = paper::list_trades(&call.app, &call.caller, account(&call)?, page).await?;
    let rows: Vec<PaperTrade> =
        history.rows.iter().map(|it| it.to_wire(call.caller.timezone)).collect();
    Answer::history(&rows, history.next_cursor.as_deref())
}

pub(super) const ACTIVITY: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/paper-trading/accounts/{accountId}/activity",
    tag: "Paper trading",
    summary: "List activity of a paper account",
    description: "Everything that changed cash or shares, newest first, in pages like the trades: the starting cash, \
        trades, dividends, splits, and cash that was reserved for an order while it waited for the market to open. \
        The amounts add up to `cash_balance`.",
    scopes: &[Scope::PaperRead],
    query: HISTORY_QUERY,
    path_parameters: &[ACCOUNT],
    body: None,
    answer: Shape { paging: Paging::Beside, ..Shape::of::<PaperActivity>("PaperActivity") },
    handle: |call| Box::pin(activity(call)),
};

async fn activity(call: Call) -> Result<Answer> {
    let page = history_page(&call)?;
    let history = paper::list_activity(&call.app, &call.caller, account(&call)?, page).await?;
    let rows: Vec<PaperActivity> =
        history.rows.iter().map(|it| it.to_wire(call.caller.timezone)).collect();
    Answer::history(&rows, history.next_cursor.as_deref())
}

fn history_page(call: &Call) -> Result<Page<'_>> {
    let limit = call.query.whole(&LIMIT)? as usize;
    Ok(Page { cursor: call.query.text("cursor")?, limit })
}

const NEW_TRADE: &[Member] = &[SYMBOL, SIDE, QUANTITY, NOTIONAL, SKIP_APPROVAL];

pub(super) const TRADE: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/paper-trading/accounts/{accountId}/trades",
    tag: "Paper trading",
    summary: "Propose a paper trade",
    description: "Creates a proposal, which the person approves or rejects at `approval_url`. Give exactly one \
        of `quantity` and `notional`. A trade that is not possible now is refused at once; it is checked again \
        on approval: it is filled at the price of that moment, unless \
                  that has moved by more than 2 % from what the person saw. While the market is closed an approved \
                  order waits for the opening, or is filled at the last price, as the operator chose. Follow it at \
                  `approval_status_url`; once it is executed, `result.trade_id` names the trade.",
    scopes: &[Scope::PaperTrade],
    query: &[],
    path_parameters: &[ACCOUNT],
    body: Some(Body {
        name: "NewPaperTrade",
        members: NEW_TRADE,
        rules: &[SHARES_OR_CASH],
        examples: &[
            ("Three shares", r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#),
            ("A trade for $500", r#"{"symbol": "VTI", "side": "buy", "notional": 500.00}"#),
        ],
    }),
    answer: Shape::of::<Action>("Action"),
    handle: |call| Box::pin(trade(call)),
};

async fn trade(call: Call) -> Result<Answer> {
    let account = account(&call)?;
    let members = call.members(NEW_TRADE)?;
    refuse_skipping(&members)?;
    propose(&call, payload::trade(&members, account)?.into(), |error| error).await
}

fn account(call: &Call) -> Result<PaperAccountId> {
    call.path_id(0, "paper account")
}
