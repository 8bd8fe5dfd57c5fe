//! What can be proposed, and how it is written down: plain JSON that reads back to the very same thing.

use base::category::Category;
use base::{AccountId, Currency, Date, Fixed9, Money, PaperAccountId, TransactionId};
use calc::paper::{Side, Size};
use serde_json::{Value, json};

use crate::classify::overrides::Override;
use crate::classify::rules::NewRule;
use crate::ledger::Direction;
use crate::trading::paper::orders::Order;

base::words!(
    /// What exactly is proposed.
    ActionType {
        PaperTrade => "paper_trade.create",
        PaperAccount => "paper_account.create",
        Recategorize => "transaction.recategorize",
        Rename => "transaction.rename",
        Rule => "rule.create",
        Transfer => "transfer.propose",
        Custom => "custom",
    }
);

base::words!(
    /// What kind of thing it is, by the specification.
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
            ActionType::Recategorize | ActionType::Rename => Kind::DataFix,
            ActionType::Rule => Kind::Automation,
            ActionType::Transfer => Kind::Transfer,
            ActionType::Custom => Kind::Unknown,
        }
    }
}

impl Kind {
    /// Whether the person carries it out elsewhere, and says so.
    pub fn is_for_the_person(self) -> bool {
        matches!(self, Kind::Transfer | Kind::Unknown)
    }
}

#[derive(Debug, Clone)]
pub enum What {
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
    /// The same word for each of them, and by a rule for all of their merchants if it is to hold always.
    Fix {
        transactions: Vec<TransactionId>,
        word: Override,
        always: bool,
    },
    Rule(NewRule),
    Transfer {
        from: AccountId,
        to: AccountId,
        amount: Money,
        on: Option<Date>,
    },
    /// Anything that somebody wants a yes or a no for. The facts are the proposer's own and mean nothing to us: they
    /// are kept as the JSON they came as, so that no number in them changes.
    Custom {
        title: String,
        summary: Option<String>,
        facts: Option<String>,
    },
}

impl What {
    pub fn action_type(&self) -> ActionType {
        match self {
            What::Trade { .. } => ActionType::PaperTrade,
            What::PaperAccount { .. } => ActionType::PaperAccount,
            What::Fix { word, .. } if word.counterparty.is_some() => ActionType::Rename,
            What::Fix { .. } => ActionType::Recategorize,
            What::Rule(_) => ActionType::Rule,
            What::Transfer { .. } => ActionType::Transfer,
            What::Custom { .. } => ActionType::Custom,
        }
    }

    pub(crate) fn order(&self) -> Option<Order> {
        match self {
            What::Trade { account, symbol, side, size } => {
                Some(Order { account: *account, symbol: symbol.clone(), side: *side, size: *size })
            }
            _ => None,
        }
    }

    pub(super) fn write(&self) -> Value {
        match self {
            What::Trade { account, symbol, side, size } => {
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
            What::PaperAccount { name, cash_minor } => {
                json!({ "name": name, "starting_cash_minor": cash_minor })
            }
            What::Fix { transactions, word, always } => {
                let ids: Vec<String> = transactions.iter().map(ToString::to_string).collect();
                json!({ "transaction_ids": ids, "word": written(word), "always": always })
            }
            What::Rule(rule) => json!({
                "like": rule.like,
                "words": rule.words,
                "account_id": rule.account_id.map(|it| it.to_string()),
                "direction": rule.direction.map(Direction::as_str),
                "word": written(&rule.sets),
            }),
            What::Transfer { from, to, amount, on } => json!({
                "from_account_id": from.to_string(),
                "to_account_id": to.to_string(),
                "amount_minor": amount.minor(),
                "currency": amount.currency().code(),
                "date": on.map(|it| it.to_string()),
            }),
            What::Custom { title, summary, facts } => {
                json!({ "title": title, "summary_markdown": summary, "facts": facts })
            }
        }
    }

    /// None for what we never wrote.
    pub(super) fn read(kind: ActionType, payload: &str) -> Option<What> {
        let it: Value = serde_json::from_str(payload).ok()?;
        let text = |name: &str| it[name].as_str();
        match kind {
            ActionType::PaperTrade => Some(What::Trade {
                account: PaperAccountId::parse(text("account_id")?).ok()?,
                symbol: text("symbol")?.to_owned(),
                side: Side::parse(text("side")?)?,
                size: match text("quantity") {
                    Some(quantity) => Size::Shares(Fixed9::parse(quantity).ok()?),
                    None => Size::Cash(it["notional_minor"].as_i64()?),
                },
            }),
            ActionType::PaperAccount => Some(What::PaperAccount {
                name: text("name")?.to_owned(),
                cash_minor: it["starting_cash_minor"].as_i64()?,
            }),
            ActionType::Recategorize | ActionType::Rename => {
                let ids = it["transaction_ids"].as_array()?.iter();
                let ids = ids.map(|it| TransactionId::parse(it.as_str()?).ok());
                Some(What::Fix {
                    transactions: ids.collect::<Option<_>>()?,
                    word: word(&it["word"])?,
                    always: it["always"].as_bool()?,
                })
            }
            ActionType::Rule => Some(What::Rule(NewRule {
                like: text("like").map(str::to_owned),
                words: text("words").map(str::to_owned),
                account_id: text("account_id").map(AccountId::parse).transpose().ok()?,
                direction: match text("direction") {
                    Some(word) => Some(Direction::parse(word)?),
                    None => None,
                },
                sets: word(&it["word"])?,
                ..NewRule::default()
            })),
            ActionType::Transfer => Some(What::Transfer {
                from: AccountId::parse(text("from_account_id")?).ok()?,
                to: AccountId::parse(text("to_account_id")?).ok()?,
                amount: Money::new(
                    it["amount_minor"].as_i64()?,
                    Currency::parse(text("currency")?).ok()?,
                ),
                on: text("date").map(str::parse).transpose().ok()?,
            }),
            ActionType::Custom => Some(What::Custom {
                title: text("title")?.to_owned(),
                summary: text("summary_markdown").map(str::to_owned),
                facts: text("facts").map(str::to_owned),
            }),
        }
    }
}

fn written(word: &Override) -> Value {
    json!({
        "counterparty_name": word.counterparty,
        "category": word.category.map(Category::detailed),
    })
}

fn word(it: &Value) -> Option<Override> {
    let category = match it["category"].as_str() {
        Some(category) => Some(Category::parse(category)?),
        None => None,
    };
    Some(Override { counterparty: it["counterparty_name"].as_str().map(str::to_owned), category })
}
