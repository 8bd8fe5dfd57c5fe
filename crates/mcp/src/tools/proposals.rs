//! The tools that propose. None of them changes anything: the person decides on a page of the installation.

use base::{Currency, PaperAccountId};
use service::access::users;
use service::actions::{self, Action, ActionPayload, NewAction, Side, Size, Status};
use service::classify::overrides::Override;
use service::classify::rules::NewRule;
use service::ledger::Direction;
use service::ledger::annotations::Tags;
use service::platform::idempotency::{self, ChangeResponse, StoredResponse};
use service::{Error, Result};
use sha2::{Digest as _, Sha256};
use wire::v1::Scope;

use super::actions::{approval_url, shown};
use crate::arguments::{Argument, Takes, wrong};
use crate::object::Object;
use crate::tool::Type::{self, Object as Record, Text};
use crate::tool::{ACCOUNT_ID, Call, IDEMPOTENCY_KEY, Kind, Needs, Proposed, REASON, Tool};

const OUTPUT: &[(&str, Type)] = &[("action", Record), ("approval_url", Text), ("next_step", Text)];

pub(super) static PROPOSE_CORRECTIONS: Tool = Tool {
    name: "propose_corrections",
    title: "Propose corrections",
    description: "Proposes another category or name, a note or tags for up to 100 transactions (transaction_ids), a split \
        of one over categories (splits), a rule for all transactions with some words (rule_words), or that two transactions \
        are one transfer (transfer). Nothing changes until the person approves.",
    needs: Needs::All(&[Scope::ActionsWrite, Scope::TransactionsRead]),
    kind: Kind::Proposes,
    arguments: &[
        Argument::optional("transaction_ids", Takes::Ids("txn_"), "Either this or rule_words."),
        Argument::optional(
            "rule_words",
            Takes::Text { longest: 100 },
            "Words of the bank's description.",
        ),
        Argument::optional("category", Takes::Text { longest: 80 }, "Code or label."),
        Argument::optional("name", Takes::Text { longest: 80 }, "Name of the counterparty."),
        Argument::optional(
            "always",
            Takes::Bool,
            "Also for future transactions of these merchants.",
        ),
        Argument::optional(
            "transfer",
            Takes::Bool,
            "The two transaction_ids are one transfer between own accounts.",
        ),
        Argument::optional("note", Takes::Text { longest: 500 }, "Replaces the note."),
        Argument::optional("tags", Takes::Texts, "Added to the tags."),
        Argument::optional(
            "splits",
            Takes::Parts,
            "Parts that add up to the amount, with its sign.",
        ),
        ACCOUNT_ID,
        Argument::optional("direction", Takes::OneOf(&["inflow", "outflow"]), ""),
        REASON,
        IDEMPOTENCY_KEY,
    ],
    output: OUTPUT,
    call: |call| Box::pin(corrections(call)),
};

async fn corrections(call: &Call<'_>) -> Result<Object> {
    let arguments = &call.arguments;
    if arguments.bool("transfer")?.unwrap_or(false) {
        return transfer_link(call).await;
    }
    if arguments.has("splits") {
        return split(call).await;
    }
    if arguments.has("note") || arguments.has("tags") {
        return annotation(call).await;
    }
    let category = match arguments.category("category")? {
        Some(choice) => {
            Some(choice.to_set().ok_or_else(|| wrong("category", "must be a category"))?)
        }
        None => None,
    };
    let sets = Override { counterparty: arguments.text("name")?, category };
    if sets.counterparty.is_none() && sets.category.is_none() {
        return Err(wrong("category", "or name must be given"));
    }
    let payload = match (arguments.ids("transaction_ids")?, arguments.text("rule_words")?) {
        (Some(transactions), None) => {
            for name in ["account_id", "direction"] {
                if arguments.has(name) {
                    return Err(wrong(name, "is for rule_words only; leave it out"));
                }
            }
            let always = arguments.bool("always")?.unwrap_or(false);
            ActionPayload::Correction { transactions, sets, always }
        }
        (None, Some(words)) => {
            if arguments.has("always") {
                return Err(wrong("always", "is for transaction_ids only; a rule always applies"));
            }
            ActionPayload::Rule(NewRule {
                words: Some(words),
                account_id: arguments.id("account_id")?,
                direction: arguments.text("direction")?.as_deref().and_then(Direction::parse),
                sets,
                ..NewRule::default()
            })
        }
        _ => return Err(wrong("transaction_ids", "or rule_words must be given, and not both")),
    };
    propose(call, payload).await
}

/// Refuses the arguments of another kind of correction.
fn refuse_others(call: &Call<'_>, kind: &str, others: &[&str]) -> Result<()> {
    let names = ["rule_words", "category", "name", "always", "account_id", "direction"];
    match names.iter().chain(others).find(|it| call.arguments.has(it)) {
        Some(name) => {
            Err(wrong(name, &format!("cannot be given together with {kind}; leave it out")))
        }
        None => Ok(()),
    }
}

async fn split(call: &Call<'_>) -> Result<Object> {
    let arguments = &call.arguments;
    refuse_others(call, "splits", &["note", "tags"])?;
    let ids = arguments.ids("transaction_ids")?.unwrap_or_default();
    let [transaction] = ids
        .try_into()
        .map_err(|_| wrong("transaction_ids", "must name one transaction to split"))?;
    let parts = arguments.parts("splits")?.unwrap_or_default();
    propose(call, ActionPayload::Split { transaction, parts }).await
}

async fn annotation(call: &Call<'_>) -> Result<Object> {
    let arguments = &call.arguments;
    refuse_others(call, "note or tags", &[])?;
    let tags = arguments.texts("tags")?.unwrap_or_default();
    let payload = ActionPayload::Annotation {
        transactions: arguments.ids("transaction_ids")?.unwrap_or_default(),
        note: arguments.text("note")?,
        tags: Tags::parse(&tags.join(" "))?,
    };
    propose(call, payload).await
}

async fn transfer_link(call: &Call<'_>) -> Result<Object> {
    let arguments = &call.arguments;
    refuse_others(call, "transfer", &["note", "tags", "splits"])?;
    let ids = arguments.ids("transaction_ids")?.unwrap_or_default();
    let transactions =
        ids.try_into().map_err(|_| wrong("transaction_ids", "must name two transactions"))?;
    propose(call, ActionPayload::TransferLink { transactions }).await
}

pub(super) static PROPOSE_PAPER_TRADE: Tool = Tool {
    name: "propose_paper_trade",
    title: "Propose a paper trade",
    description: "Proposes to buy or sell a security in a paper account, with virtual money. Give quantity or notional \
        (dollars). Nothing is traded until the person approves.",
    needs: Needs::All(&[Scope::PaperTrade]),
    kind: Kind::Proposes,
    arguments: &[
        Argument::required("account_id", Takes::Uuid, "From list_paper_accounts."),
        Argument::required("symbol", Takes::Text { longest: 10 }, ""),
        Argument::required("side", Takes::OneOf(&["buy", "sell"]), ""),
        Argument::optional("quantity", Takes::Number, ""),
        Argument::optional("notional", Takes::Number, ""),
        REASON,
        IDEMPOTENCY_KEY,
    ],
    output: OUTPUT,
    call: |call| Box::pin(paper_trade(call)),
};

async fn paper_trade(call: &Call<'_>) -> Result<Object> {
    let arguments = &call.arguments;
    let account: Option<PaperAccountId> = arguments.id("account_id")?;
    let side = arguments.text("side")?.as_deref().and_then(Side::parse);
    let size = match (arguments.number("quantity")?, arguments.money("notional", Currency::USD)?) {
        (Some(quantity), None) => Size::Shares(quantity),
        (None, Some(notional)) => Size::Cash(notional.minor()),
        _ => return Err(wrong("quantity", "or notional must be given, and not both")),
    };
    let payload = ActionPayload::Trade {
        account: arguments.required("account_id", account)?,
        symbol: arguments.required("symbol", arguments.text("symbol")?)?,
        side: arguments.required("side", side)?,
        size,
    };
    propose(call, payload).await
}

pub(super) static PROPOSE_TRANSFER: Tool = Tool {
    name: "propose_transfer",
    title: "Propose a transfer",
    description: "Suggests that the person moves money between two of their accounts. No money moves here: they make the \
        transfer at their bank and confirm it.",
    needs: Needs::All(&[Scope::ActionsWrite, Scope::AccountsRead]),
    kind: Kind::Proposes,
    arguments: &[
        Argument::required("from_account_id", Takes::Id("acc_"), ""),
        Argument::required("to_account_id", Takes::Id("acc_"), ""),
        Argument::required("amount", Takes::Number, "Greater than 0."),
        Argument::optional("currency", Takes::Text { longest: 3 }, "By default the base currency."),
        Argument::optional("date", Takes::Date, ""),
        REASON,
        IDEMPOTENCY_KEY,
    ],
    output: OUTPUT,
    call: |call| Box::pin(transfer(call)),
};

async fn transfer(call: &Call<'_>) -> Result<Object> {
    let arguments = &call.arguments;
    let currency = match arguments.text("currency")? {
        Some(code) => Currency::parse(&code).map_err(|it| wrong("currency", &it.to_string()))?,
        None => users::base_currency(call.app, call.caller).await?,
    };
    let payload = ActionPayload::Transfer {
        from: arguments.required("from_account_id", arguments.id("from_account_id")?)?,
        to: arguments.required("to_account_id", arguments.id("to_account_id")?)?,
        amount: arguments.required("amount", arguments.money("amount", currency)?)?,
        on: arguments.date("date")?,
    };
    propose(call, payload).await
}

pub(super) static PROPOSE_CUSTOM: Tool = Tool {
    name: "propose_custom",
    title: "Ask the person",
    description: "Asks the person for a yes or no about anything else, such as cancelling a subscription. They act on it \
        themselves and confirm it.",
    needs: Needs::All(&[Scope::ActionsWrite]),
    kind: Kind::Proposes,
    arguments: &[
        Argument::required("title", Takes::Text { longest: 120 }, "The question in a few words."),
        Argument::optional("summary", Takes::Text { longest: 4_000 }, "Details, in Markdown."),
        REASON,
        IDEMPOTENCY_KEY,
    ],
    output: OUTPUT,
    call: |call| Box::pin(custom(call)),
};

async fn custom(call: &Call<'_>) -> Result<Object> {
    let title = call.arguments.text("title")?;
    let payload = ActionPayload::Custom {
        title: call.arguments.required("title", title)?,
        summary: call.arguments.text("summary")?,
        facts: None,
    };
    propose(call, payload).await
}

/// Stores a proposal, once per idempotency key.
async fn propose(call: &Call<'_>, payload: ActionPayload) -> Result<Object> {
    let reason = call.arguments.text("reason")?.filter(|it| !it.is_empty());
    let new = NewAction { payload, description: None, reason, expires_in_seconds: None };
    let Some(key) = call.arguments.text("idempotency_key")? else {
        let action = actions::propose(call.app, call.caller, new).await.map_err(as_argument)?;
        return proposed(call, &action);
    };
    let key = idempotency::parse_key(&key).map_err(|_| {
        wrong("idempotency_key", "must have 1 to 255 visible ASCII characters, such as a UUID")
    })?;
    let request = idempotency::Request {
        key,
        scope: format!("MCP {}", call.tool.name),
        fingerprint: Sha256::digest(call.arguments.fingerprint()).into(),
    };
    let app = call.app.clone();
    let prepare = async { actions::prepare(call.app, call.caller, new).await.map_err(as_argument) };
    let work = move |tx: &mut service::Tx<'_>, prepared: actions::PreparedAction| {
        let action = prepared.save(&app, tx).map_err(as_argument)?;
        let first = StoredResponse { status: 200, body: action.id.to_string() };
        Ok(ChangeResponse { first, replay: None })
    };
    let done = idempotency::run_prepared(call.app, call.caller, request, prepare, work, |_| None);
    let id = done.await.map_err(as_key)?.response.body;
    actions::notify_changed(call.app);
    let id =
        base::ActionId::parse(&id).map_err(|_| Error::internal("a stored response is no id"))?;
    proposed(call, &actions::get(call.app, call.caller, id).await?)
}

/// The answer to a proposal. If it waits for a decision, the client may be asked to open its page.
fn proposed(call: &Call<'_>, action: &Action) -> Result<Object> {
    if action.status == Status::PendingApproval {
        let approval_url = approval_url(call, action);
        let _ = call.proposed.set(Proposed { id: action.id, approval_url });
    }
    shown(call, action)
}

/// Names an argument as the tool does: proposals of the API have them in a payload and call some otherwise.
fn as_argument(error: Error) -> Error {
    match error {
        Error::Invalid { param, message } => {
            let renamed = |text: &str| {
                let text = text.replace("payload.", "").replace("counterparty_name", "name");
                let text = text.replace("reason_markdown", "reason");
                text.replace("summary_markdown", "summary")
            };
            Error::Invalid { param: param.map(|it| renamed(&it)), message: renamed(&message) }
        }
        other => other,
    }
}

fn as_key(error: Error) -> Error {
    match error {
        Error::Conflict { code, message } => {
            let message = message.replace("Idempotency-Key", "idempotency_key");
            Error::Conflict { code, message }
        }
        other => other,
    }
}
