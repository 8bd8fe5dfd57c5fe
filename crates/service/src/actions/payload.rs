//! The payload of an action: what is proposed, and its JSON form in the database.

use base::category::Category;
use base::{AccountId, Currency, Date, Fixed9, Money, PaperAccountId, TransactionId};
use calc::paper::{Side, Size};
use serde_json::{Value, json};

use crate::classify::AmountRange;
use crate::classify::overrides::Override;
use crate::classify::rules::NewRule;
use crate::ledger::Direction;
use crate::ledger::annotations::Tags;
use crate::ledger::splits::Part;
use crate::trading::paper::orders::Order;

base::words!(
    /// The type of an action, as the API names it.
    ActionType {
        PaperTrade => "paper_trade.create",
        PaperAccount => "paper_account.create",
        Recategorize => "transaction.recategorize",
        Rename => "transaction.rename",
        LinkTransfer => "transaction.link_transfer",
        Split => "transaction.split",
        Annotate => "transaction.annotate",
        Rule => "rule.create",
        Transfer => "transfer.propose",
        Custom => "custom",
    }
);
db::word_columns!(ActionType);

base::words!(
    /// The kind of an action, by the API's specification.
    Kind {
        Trade => "trade",
        Transfer => "transfer",
        DataFix => "data_fix",
        Automation => "automation",
        AccountCreate => "account_create",
        Unknown => "unknown",
    }
);

impl ActionType {
    pub fn kind(self) -> Kind {
        match self {
            ActionType::PaperTrade => Kind::Trade,
            ActionType::PaperAccount => Kind::AccountCreate,
            ActionType::Recategorize
            | ActionType::Rename
            | ActionType::LinkTransfer
            | ActionType::Split
            | ActionType::Annotate => Kind::DataFix,
            ActionType::Rule => Kind::Automation,
            ActionType::Transfer => Kind::Transfer,
            ActionType::Custom => Kind::Unknown,
        }
    }
}

impl Kind {
    /// Whether the person executes it elsewhere and then confirms it here.
    pub fn is_executed_by_person(self) -> bool {
        matches!(self, Kind::Transfer | Kind::Unknown)
    }
}

/// A part of a proposed split. The amount is in the currency of the transaction, which only its account knows.
#[derive(Debug, Clone)]
pub struct ProposedPart {
    pub amount: Fixed9,
    pub category: Category,
    pub note: String,
}

impl ProposedPart {
    /// The parts in minor units of a currency; `None` if one has more decimals than the currency or is too large.
    pub(super) fn in_currency(parts: &[ProposedPart], currency: Currency) -> Option<Vec<Part>> {
        let part = |it: &ProposedPart| {
            let amount = Money::parse(&it.amount.to_string(), currency).ok()?;
            let (category, note) = (it.category, it.note.clone());
            Some(Part { amount_minor: amount.minor(), category, note })
        };
        parts.iter().map(part).collect()
    }
}

#[derive(Debug, Clone)]
pub enum ActionPayload {
    Trade {
        account: PaperAccountId,
        symbol: String,
        side: Side,
        size: Size,
    },
    PaperAccount {
        name: String,
        cash_minor: i64,
    },
    /// The same correction for several transactions. With `always`, rules apply it to their merchants from now on.
    Correction {
        transactions: Vec<TransactionId>,
        sets: Override,
        always: bool,
    },
    /// Two transactions that are one transfer between own accounts.
    TransferLink {
        transactions: [TransactionId; 2],
    },
    /// One transaction that is split over categories.
    Split {
        transaction: TransactionId,
        parts: Vec<ProposedPart>,
    },
    /// A note, which replaces that of each transaction, and tags, which are added to theirs.
    Annotation {
        transactions: Vec<TransactionId>,
        note: Option<String>,
        tags: Tags,
    },
    Rule(NewRule),
    Transfer {
        from: AccountId,
        to: AccountId,
        amount: Money,
        on: Option<Date>,
    },
    /// Anything else that somebody wants approved. The facts are the proposer's own JSON. They are stored unchanged, so
    /// that no number in them is altered.
    Custom {
        title: String,
        summary: Option<String>,
        facts: Option<String>,
    },
}

impl ActionPayload {
    pub fn action_type(&self) -> ActionType {
        match self {
            ActionPayload::Trade { .. } => ActionType::PaperTrade,
            ActionPayload::PaperAccount { .. } => ActionType::PaperAccount,
            ActionPayload::Correction { sets, .. } if sets.counterparty.is_some() => {
                ActionType::Rename
            }
            ActionPayload::Correction { .. } => ActionType::Recategorize,
            ActionPayload::TransferLink { .. } => ActionType::LinkTransfer,
            ActionPayload::Split { .. } => ActionType::Split,
            ActionPayload::Annotation { .. } => ActionType::Annotate,
            ActionPayload::Rule(_) => ActionType::Rule,
            ActionPayload::Transfer { .. } => ActionType::Transfer,
            ActionPayload::Custom { .. } => ActionType::Custom,
        }
    }

    pub(crate) fn order(&self) -> Option<Order> {
        match self {
            ActionPayload::Trade { account, symbol, side, size } => {
                Some(Order { account: *account, symbol: symbol.clone(), side: *side, size: *size })
            }
            _ => None,
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            ActionPayload::Trade { account, symbol, side, size } => {
                let (quantity, notional) = match size {
                    Size::Shares(quantity) => (Some(quantity.to_string()), None),
                    Size::Cash(minor) => (None, Some(*minor)),
                };
                json!({
                    "account_id": account.to_string(),
                    "symbol": symbol,
                    "side": side.as_str(),
                    "quantity": quantity,
                    "notional_minor": notional,
                })
            }
            ActionPayload::PaperAccount { name, cash_minor } => {
                json!({ "name": name, "starting_cash_minor": cash_minor })
            }
            ActionPayload::Correction { transactions, sets, always } => {
                let ids: Vec<String> = transactions.iter().map(ToString::to_string).collect();
                json!({ "transaction_ids": ids, "word": override_json(sets), "always": always })
            }
            ActionPayload::TransferLink { transactions } => {
                json!({ "transaction_ids": transactions.map(|it| it.to_string()) })
            }
            ActionPayload::Split { transaction, parts } => {
                let part = |it: &ProposedPart| {
                    json!({
                        "amount": it.amount.to_string(),
                        "category": it.category.detailed(),
                        "note": it.note,
                    })
                };
                let parts: Vec<Value> = parts.iter().map(part).collect();
                json!({ "transaction_id": transaction.to_string(), "splits": parts })
            }
            ActionPayload::Annotation { transactions, note, tags } => {
                let ids: Vec<String> = transactions.iter().map(ToString::to_string).collect();
                json!({ "transaction_ids": ids, "note": note, "tags": tags.text() })
            }
            ActionPayload::Rule(rule) => rule_json(rule),
            ActionPayload::Transfer { from, to, amount, on } => json!({
                "from_account_id": from.to_string(),
                "to_account_id": to.to_string(),
                "amount_minor": amount.minor(),
                "currency": amount.currency().code(),
                "date": on.map(|it| it.to_string()),
            }),
            ActionPayload::Custom { title, summary, facts } => {
                json!({ "title": title, "summary_markdown": summary, "facts": facts })
            }
        }
    }

    /// Parses stored JSON; `None` if it is invalid.
    pub(super) fn parse(action_type: ActionType, payload: &str) -> Option<ActionPayload> {
        let it: Value = serde_json::from_str(payload).ok()?;
        let text = |name: &str| it[name].as_str();
        match action_type {
            ActionType::PaperTrade => Some(ActionPayload::Trade {
                account: PaperAccountId::parse(text("account_id")?).ok()?,
                symbol: text("symbol")?.to_owned(),
                side: Side::parse(text("side")?)?,
                size: match text("quantity") {
                    Some(quantity) => Size::Shares(Fixed9::parse(quantity).ok()?),
                    None => Size::Cash(it["notional_minor"].as_i64()?),
                },
            }),
            ActionType::PaperAccount => Some(ActionPayload::PaperAccount {
                name: text("name")?.to_owned(),
                cash_minor: it["starting_cash_minor"].as_i64()?,
            }),
            ActionType::Recategorize | ActionType::Rename => Some(ActionPayload::Correction {
                transactions: read_transactions(&it)?,
                sets: read_override(&it["word"])?,
                always: it["always"].as_bool()?,
            }),
            ActionType::LinkTransfer => Some(ActionPayload::TransferLink {
                transactions: read_transactions(&it)?.try_into().ok()?,
            }),
            ActionType::Split => {
                let parts = it["splits"].as_array()?.iter().map(read_part);
                Some(ActionPayload::Split {
                    transaction: TransactionId::parse(text("transaction_id")?).ok()?,
                    parts: parts.collect::<Option<_>>()?,
                })
            }
            ActionType::Annotate => Some(ActionPayload::Annotation {
                transactions: read_transactions(&it)?,
                note: text("note").map(str::to_owned),
                tags: Tags::parse(text("tags")?).ok()?,
            }),
            ActionType::Rule => Some(ActionPayload::Rule(NewRule {
                like: text("like").map(str::to_owned),
                words: text("words").map(str::to_owned),
                account_id: text("account_id").map(AccountId::parse).transpose().ok()?,
                direction: match text("direction") {
                    Some(word) => Some(Direction::parse(word)?),
                    None => None,
                },
                amounts: match &it["amounts"] {
                    Value::Null => None,
                    amounts => Some(read_amounts(amounts)?),
                },
                sets: read_override(&it["word"])?,
                ..NewRule::default()
            })),
            ActionType::Transfer => Some(ActionPayload::Transfer {
                from: AccountId::parse(text("from_account_id")?).ok()?,
                to: AccountId::parse(text("to_account_id")?).ok()?,
                amount: Money::new(
                    it["amount_minor"].as_i64()?,
                    Currency::parse(text("currency")?).ok()?,
                ),
                on: text("date").map(str::parse).transpose().ok()?,
            }),
            ActionType::Custom => Some(ActionPayload::Custom {
                title: text("title")?.to_owned(),
                summary: text("summary_markdown").map(str::to_owned),
                facts: text("facts").map(str::to_owned),
            }),
        }
    }
}

fn override_json(sets: &Override) -> Value {
    json!({
        "counterparty_name": sets.counterparty,
        "category": sets.category.map(Category::detailed),
    })
}

fn rule_json(rule: &NewRule) -> Value {
    let mut rule_json = json!({
        "like": rule.like,
        "words": rule.words,
        "account_id": rule.account_id.map(|it| it.to_string()),
        "direction": rule.direction.map(Direction::as_str),
        "word": override_json(&rule.sets),
    });
    // Left out if there are none, as in payloads that were stored before rules could ask for amounts.
    if let Some(range) = rule.amounts {
        rule_json["amounts"] = amounts_json(range);
    }
    rule_json
}

fn amounts_json(range: AmountRange) -> Value {
    json!({
        "currency": range.currency.code(),
        "least_minor": range.least_minor,
        "most_minor": range.most_minor,
    })
}

fn read_amounts(it: &Value) -> Option<AmountRange> {
    Some(AmountRange {
        currency: Currency::parse(it["currency"].as_str()?).ok()?,
        least_minor: it["least_minor"].as_i64(),
        most_minor: it["most_minor"].as_i64(),
    })
}

fn read_transactions(payload: &Value) -> Option<Vec<TransactionId>> {
    let ids = payload["transaction_ids"].as_array()?.iter();
    ids.map(|it| TransactionId::parse(it.as_str()?).ok()).collect()
}

fn read_part(part: &Value) -> Option<ProposedPart> {
    Some(ProposedPart {
        amount: Fixed9::parse(part["amount"].as_str()?).ok()?,
        category: Category::parse(part["category"].as_str()?)?,
        note: part["note"].as_str()?.to_owned(),
    })
}

fn read_override(it: &Value) -> Option<Override> {
    let category = match it["category"].as_str() {
        Some(category) => Some(Category::parse(category)?),
        None => None,
    };
    Some(Override { counterparty: it["counterparty_name"].as_str().map(str::to_owned), category })
}
