//! Payloads of POST /actions: the members of each action type, and how they are parsed.

use base::category::Category;
use base::{Currency, Money, PaperAccountId, split};
use service::access::users;
use service::actions::{ActionPayload, ActionType, ProposedPart, Side, Size};
use service::classify::AmountRange;
use service::classify::overrides::Override;
use service::classify::rules::NewRule;
use service::ledger::Direction;
use service::ledger::annotations::{NOTE_LENGTH_MAX, TAG_LENGTH_MAX, Tags};
use service::ledger::splits;
use service::{Error, Result};

use super::bodies::{Holds, Member, Rule, Variant};
use super::{Call, Members};

pub(super) const SYMBOL: Member = Member::required(
    "symbol",
    Holds::Text { longest: 10 },
    "The ticker symbol, such as AAPL; case does not matter.",
);
pub(super) const SIDE: Member = Member::required("side", Holds::OneOf(SIDES), "Which way.");
pub(super) const QUANTITY: Member = Member::optional(
    "quantity",
    Holds::Number { decimals: 9 },
    "Number of shares, greater than 0. Either this or `notional`.",
);
pub(super) const NOTIONAL: Member = Member::optional(
    "notional",
    Holds::Number { decimals: 2 },
    "Amount in dollars, greater than 0. Either this or `quantity`.",
);
pub(super) const SHARES_OR_CASH: Rule = Rule::ExactlyOne(&["quantity", "notional"]);
pub(super) const NAME: Member = Member::optional(
    "name",
    Holds::Text { longest: 80 },
    "Name of the account; by default \"Paper account\".",
);
pub(super) const STARTING_CASH: Member = Member::optional(
    "starting_cash_balance",
    Holds::DecimalText,
    "Starting cash in dollars, \"0.01\" to \"1000000000\"; by default \"100000.00\".",
);
const TRANSACTIONS: Member = Member::required(
    "transaction_ids",
    Holds::Ids("txn_"),
    "The transactions to change. If one is unknown, none is changed.",
);
const BOTH_LEGS: Member = Member::required(
    "transaction_ids",
    Holds::Ids("txn_"),
    "Two transactions: money that leaves one account and money that arrives in another.",
);
const ALWAYS: Member = Member::optional(
    "always",
    Holds::Bool,
    "Whether to create a rule for future transactions of these merchants; by default `false`.",
);
const CATEGORY: Member = Member::required(
    "category",
    Holds::Category,
    "A detailed category such as FOOD_AND_DRINK_COFFEE, or its label such as Coffee shops.",
);
const COUNTERPARTY: Member =
    Member::required("counterparty_name", Holds::Text { longest: 80 }, "Name of the counterparty.");

const PART: &[Member] = &[
    Member::required(
        "amount",
        Holds::Amount,
        "With the sign of the transaction, and no more decimals than its currency has.",
    ),
    CATEGORY,
    Member::optional("note", Holds::Text { longest: splits::NOTE_LENGTH_MAX }, "On one line."),
];

const SIDES: &[&str] = &["buy", "sell"];
const DIRECTIONS: &[&str] = &["inflow", "outflow"];
const CASH_DEFAULT_MINOR: i64 = 10_000_000;

pub(super) const PAYLOADS: &[Variant] = &[
    Variant {
        word: "paper_trade.create",
        about: "A paper trade; the same as POST /paper-trading/accounts/{accountId}/trades. Needs `paper:trade`.",
        rules: &[SHARES_OR_CASH],
        members: &[
            Member::required("account_id", Holds::Uuid, "The paper account."),
            SYMBOL,
            SIDE,
            QUANTITY,
            NOTIONAL,
        ],
    },
    Variant {
        word: "paper_account.create",
        about: "A paper account; the same as POST /paper-trading/accounts. Needs `paper:trade`.",
        rules: &[],
        members: &[NAME, STARTING_CASH],
    },
    Variant {
        word: "transaction.recategorize",
        about: "Changes the category of transactions. Needs `actions:write` and `transactions:read`.",
        rules: &[],
        members: &[TRANSACTIONS, CATEGORY, ALWAYS],
    },
    Variant {
        word: "transaction.rename",
        about: "Changes the counterparty of transactions. Needs `actions:write` and `transactions:read`.",
        rules: &[],
        members: &[TRANSACTIONS, COUNTERPARTY, ALWAYS],
    },
    Variant {
        word: "transaction.link_transfer",
        about: "Marks two transactions as one transfer between the person's own accounts, so that they count neither as \
                income nor as spending. Needs `actions:write` and `transactions:read`.",
        rules: &[],
        members: &[BOTH_LEGS],
    },
    Variant {
        word: "transaction.split",
        about: "Splits a transaction over categories. Figures by category then count the parts. Needs `actions:write` and \
                `transactions:read`.",
        rules: &[],
        members: &[
            Member::required("transaction_id", Holds::Id("txn_"), "The transaction to split."),
            Member::required(
                "splits",
                Holds::Objects { members: PART, least: split::PARTS_MIN, most: split::PARTS_MAX },
                "The parts, which add up to the amount of the transaction.",
            ),
        ],
    },
    Variant {
        word: "transaction.annotate",
        about: "Sets the note of transactions, adds tags to them, or both. Needs `actions:write` and `transactions:read`.",
        rules: &[Rule::AtLeastOne(["note", "tags"])],
        members: &[
            TRANSACTIONS,
            Member::optional(
                "note",
                Holds::Text { longest: NOTE_LENGTH_MAX },
                "Replaces the note of each transaction.",
            ),
            Member::optional(
                "tags",
                Holds::Texts { longest: TAG_LENGTH_MAX },
                "Added to the tags of each transaction, such as `summer-trip`.",
            ),
        ],
    },
    Variant {
        word: "rule.create",
        about: "Creates a rule for past and future transactions that sets a category, a counterparty or both. Needs \
                `actions:write`.",
        rules: &[
            Rule::ExactlyOne(&["words", "like"]),
            Rule::AtLeastOne(["category", "counterparty_name"]),
        ],
        members: &[
            Member::optional(
                "words",
                Holds::Text { longest: 100 },
                "Applies to transactions with these words in the bank's description. Either this or `like`.",
            ),
            Member::optional(
                "like",
                Holds::Text { longest: 500 },
                "Applies to the merchant of a transaction with this description. Either this or `words`.",
            ),
            Member::optional("account_id", Holds::Id("acc_"), "Only in this account."),
            Member::optional(
                "cash_flow_direction",
                Holds::OneOf(DIRECTIONS),
                "Only money in, or only money out.",
            ),
            Member::optional(
                "amount_min",
                Holds::Number { decimals: 2 },
                "Only amounts of at least this size, whether money in or out.",
            ),
            Member::optional(
                "amount_max",
                Holds::Number { decimals: 2 },
                "Only amounts of at most this size, whether money in or out.",
            ),
            Member::optional(
                "currency",
                Holds::Text { longest: 3 },
                "ISO 4217 currency code of the amounts; by default the person's base currency.",
            ),
            Member { required: false, ..CATEGORY },
            Member { required: false, ..COUNTERPARTY },
        ],
    },
    Variant {
        word: "transfer.propose",
        about: "A transfer between linked accounts. The person makes it at their bank and confirms it: \
                `decision_needs.client_execution` is true. Needs `actions:write` and `accounts:read`.",
        rules: &[],
        members: &[
            Member::required("from_account_id", Holds::Id("acc_"), "The account to transfer from."),
            Member::required("to_account_id", Holds::Id("acc_"), "The account to transfer to."),
            Member::required(
                "amount",
                Holds::Number { decimals: 2 },
                "Amount, greater than 0, with no more decimals than its currency has.",
            ),
            Member::optional(
                "currency",
                Holds::Text { longest: 3 },
                "ISO 4217 currency code; by default the person's base currency.",
            ),
            Member::optional("date", Holds::Date, "Date of the transfer."),
        ],
    },
    Variant {
        word: "custom",
        about: "Any other question with a yes or no. The person acts on it elsewhere and confirms it: \
                `decision_needs.client_execution` is true. Needs `actions:write`.",
        rules: &[],
        members: &[
            Member::required(
                "title",
                Holds::Text { longest: 120 },
                "The question, in a few words.",
            ),
            Member::optional(
                "summary_markdown",
                Holds::Text { longest: 4_000 },
                "Details, in Markdown.",
            ),
            Member::optional(
                "data",
                Holds::Json,
                "Your own data, up to 16,000 bytes, stored as it is.",
            ),
        ],
    },
];

/// Parses the payload of an action type.
pub(super) async fn read(call: &Call, body: &Members, kind: ActionType) -> Result<ActionPayload> {
    let variant = PAYLOADS.iter().find(|it| it.word == kind.as_str());
    let known = variant.ok_or_else(|| Error::internal("a type without a payload"))?.members;
    let payload = body.required("payload", body.object("payload", known)?)?;
    match kind {
        ActionType::PaperTrade => {
            let account = payload.required("account_id", payload.id("account_id")?)?;
            trade(&payload, account)
        }
        ActionType::PaperAccount => paper_account(&payload),
        ActionType::Recategorize => {
            let category = payload.required("category", category(&payload)?)?;
            fix(&payload, Override { counterparty: None, category: Some(category) })
        }
        ActionType::Rename => {
            let name = payload.text("counterparty_name")?;
            let name = payload.required("counterparty_name", name)?;
            fix(&payload, Override { counterparty: Some(name), category: None })
        }
        ActionType::LinkTransfer => {
            let ids = payload.required("transaction_ids", payload.ids("transaction_ids")?)?;
            let transactions = ids
                .try_into()
                .map_err(|_| payload.refuse("transaction_ids", "must name two transactions"))?;
            Ok(ActionPayload::TransferLink { transactions })
        }
        ActionType::Split => Ok(ActionPayload::Split {
            transaction: payload.required("transaction_id", payload.id("transaction_id")?)?,
            parts: payload
                .required("splits", payload.objects("splits", PART)?)?
                .iter()
                .map(part)
                .collect::<Result<_>>()?,
        }),
        ActionType::Annotate => {
            let tags = payload.texts("tags")?.unwrap_or_default();
            let has_blank = tags.iter().any(|it| it.contains(char::is_whitespace));
            let tags = Tags::parse(&tags.join(" ")).ok().filter(|_| !has_blank);
            let message =
                "must be up to 20 tags of letters, digits or hyphens, such as summer-trip";
            let ids = payload.ids("transaction_ids")?;
            Ok(ActionPayload::Annotation {
                transactions: payload.required("transaction_ids", ids)?,
                note: payload.filled_text("note")?,
                tags: tags.ok_or_else(|| payload.refuse("tags", message))?,
            })
        }
        ActionType::Rule => rule(&payload, currency(call, &payload).await?),
        ActionType::Transfer => transfer(&payload, currency(call, &payload).await?),
        ActionType::Custom => Ok(ActionPayload::Custom {
            title: payload.required("title", payload.text("title")?)?,
            summary: payload.filled_text("summary_markdown")?,
            facts: payload.json("data")?,
        }),
    }
}

pub(super) fn trade(members: &Members, account: PaperAccountId) -> Result<ActionPayload> {
    let symbol = members.required("symbol", members.text("symbol")?)?;
    let side = members.one_of("side", SIDES)?.as_deref().and_then(Side::parse);
    let side = members.required("side", side)?;
    let quantity = members.quantity("quantity")?;
    let notional = members.money("notional", Currency::USD)?;
    let size = match (quantity, notional) {
        (Some(quantity), None) => Size::Shares(quantity),
        (None, Some(notional)) => Size::Cash(notional.minor()),
        (Some(_), Some(_)) => {
            return Err(members.refuse("notional", "cannot be given together with quantity"));
        }
        (None, None) => return Err(members.refuse("quantity", "or notional must be given")),
    };
    Ok(ActionPayload::Trade { account, symbol, side, size })
}

pub(super) fn paper_account(members: &Members) -> Result<ActionPayload> {
    let cash = members.money_text("starting_cash_balance", Currency::USD)?;
    Ok(ActionPayload::PaperAccount {
        name: members.text("name")?.unwrap_or_else(|| "Paper account".to_owned()),
        cash_minor: cash.map_or(CASH_DEFAULT_MINOR, |it| it.minor()),
    })
}

fn fix(payload: &Members, correction: Override) -> Result<ActionPayload> {
    let transactions = payload.ids("transaction_ids")?;
    Ok(ActionPayload::Correction {
        transactions: payload.required("transaction_ids", transactions)?,
        sets: correction,
        always: payload.bool("always")?.unwrap_or(false),
    })
}

fn part(members: &Members) -> Result<ProposedPart> {
    Ok(ProposedPart {
        amount: members.required("amount", members.quantity("amount")?)?,
        category: members.required("category", category(members)?)?,
        note: members.text("note")?.unwrap_or_default(),
    })
}

/// The currency that the payload names, or the person's own.
async fn currency(call: &Call, payload: &Members) -> Result<Currency> {
    match payload.text("currency")? {
        Some(code) => {
            Currency::parse(&code).map_err(|it| payload.refuse("currency", &it.to_string()))
        }
        None => users::base_currency(&call.app, &call.caller).await,
    }
}

fn rule(payload: &Members, currency: Currency) -> Result<ActionPayload> {
    let size = |name: &str| match payload.money(name, currency)?.map(Money::minor) {
        Some(..0) => Err(payload.refuse(name, "must not be negative")),
        minor => Ok(minor),
    };
    let (least_minor, most_minor) = (size("amount_min")?, size("amount_max")?);
    if least_minor.zip(most_minor).is_some_and(|(least, most)| least > most) {
        return Err(payload.refuse("amount_max", "must not be less than amount_min"));
    }
    let has_amounts = least_minor.is_some() || most_minor.is_some();
    let amounts = AmountRange { currency, least_minor, most_minor };
    let direction = payload.one_of("cash_flow_direction", DIRECTIONS)?;
    Ok(ActionPayload::Rule(NewRule {
        like: payload.filled_text("like")?,
        words: payload.filled_text("words")?,
        account_id: payload.id("account_id")?,
        direction: direction.as_deref().and_then(Direction::parse),
        amounts: has_amounts.then_some(amounts),
        sets: Override {
            counterparty: payload.text("counterparty_name")?,
            category: category(payload)?,
        },
        ..NewRule::default()
    }))
}

fn transfer(payload: &Members, currency: Currency) -> Result<ActionPayload> {
    let from = payload.id("from_account_id")?;
    let to = payload.id("to_account_id")?;
    Ok(ActionPayload::Transfer {
        from: payload.required("from_account_id", from)?,
        to: payload.required("to_account_id", to)?,
        amount: payload.required("amount", payload.money("amount", currency)?)?,
        on: payload.date("date")?,
    })
}

/// Parses a category by code, label or group code. A misspelled code is refused instead of matched to a similar group,
/// because the person would be asked about the wrong category.
fn category(payload: &Members) -> Result<Option<Category>> {
    let Some(text) = payload.text("category")? else { return Ok(None) };
    let same = |it: &&Category| it.detailed() == text || it.label().eq_ignore_ascii_case(&text);
    let group = || {
        let is_group = Category::ALL.iter().any(|it| it.primary() == text);
        if is_group { Category::parse(&text) } else { None }
    };
    if let Some(found) = Category::ALL.iter().find(same).copied().or_else(group) {
        return Ok(Some(found));
    }
    let known = Category::ALL.iter().map(|it| it.detailed());
    let typed: String = text.chars().take(64).collect();
    let suggestion = match base::nearest(&typed, known, typed.chars().count() / 3) {
        Some(code) => format!("; did you mean {code}?"),
        None => String::new(),
    };
    let message = "must be a category such as FOOD_AND_DRINK_COFFEE, or its label";
    Err(payload.refuse("category", &format!("{message}{suggestion}")))
}
