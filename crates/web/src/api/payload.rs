//! What can be proposed by POST /actions: the members of each kind of payload, and how they are read.

use base::category::Category;
use base::{Currency, PaperAccountId};
use service::access::users;
use service::actions::{ActionType, Side, Size, What};
use service::classify::enrichment::{NewRule, Word};
use service::insights::recurring::Direction;
use service::{Error, Result};

use super::bodies::{Holds, Member, Variant};
use super::{Call, Members};

pub(super) const SYMBOL: Member = Member::required(
    "symbol",
    Holds::Text { longest: 10 },
    "The ticker, such as AAPL; small letters are made large.",
);
pub(super) const SIDE: Member = Member::required("side", Holds::OneOf(SIDES), "Which way.");
pub(super) const QUANTITY: Member = Member::optional(
    "quantity",
    Holds::Number { decimals: 9 },
    "How many shares, greater than 0. Either this or `notional`.",
);
pub(super) const NOTIONAL: Member = Member::optional(
    "notional",
    Holds::Number { decimals: 2 },
    "For how many dollars, more than 0. Either this or `quantity`.",
);
pub(super) const NAME: Member = Member::optional(
    "name",
    Holds::Text { longest: 80 },
    "What it is called; \"Paper account\" unless given.",
);
pub(super) const STARTING_CASH: Member = Member::optional(
    "starting_cash_balance",
    Holds::DecimalText,
    "The paper dollars it begins with, \"0.01\" to \"1000000000\"; \"100000.00\" unless given.",
);
const TRANSACTIONS: Member = Member::required(
    "transaction_ids",
    Holds::Ids("txn_"),
    "Which transactions; all of them, or none if one is unknown.",
);
const ALWAYS: Member = Member::optional(
    "always",
    Holds::Bool,
    "Whether it is to hold for these merchants from now on, by a rule; `false` unless given.",
);
const CATEGORY: Member = Member::required(
    "category",
    Holds::Category,
    "A detailed category such as FOOD_AND_DRINK_COFFEE, or its label such as Coffee shops.",
);
const COUNTERPARTY: Member = Member::required(
    "counterparty_name",
    Holds::Text { longest: 80 },
    "What to call whoever was paid or who paid.",
);

const SIDES: &[&str] = &["buy", "sell"];
const DIRECTIONS: &[&str] = &["inflow", "outflow"];
const CASH_DEFAULT_MINOR: i64 = 10_000_000;

pub(super) const PAYLOADS: &[Variant] = &[
    Variant {
        word: "paper_trade.create",
        about: "A paper trade; the same as POST /paper-trading/accounts/{accountId}/trades. Needs `paper:trade`.",
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
        members: &[NAME, STARTING_CASH],
    },
    Variant {
        word: "transaction.recategorize",
        about: "Another category for some transactions. Needs `actions:write` and `transactions:read`.",
        members: &[TRANSACTIONS, CATEGORY, ALWAYS],
    },
    Variant {
        word: "transaction.rename",
        about: "Another counterparty for some transactions. Needs `actions:write` and `transactions:read`.",
        members: &[TRANSACTIONS, COUNTERPARTY, ALWAYS],
    },
    Variant {
        word: "rule.create",
        about: "A rule for transactions past and to come, with a category, a counterparty or both. Needs \
                `actions:write`.",
        members: &[
            Member::optional(
                "words",
                Holds::Text { longest: 100 },
                "Holds for transactions with these words in the bank's text. Either this or `like`.",
            ),
            Member::optional(
                "like",
                Holds::Text { longest: 500 },
                "Holds for the merchant of a transaction with this description. Either this or `words`.",
            ),
            Member::optional("account_id", Holds::Id("acc_"), "Only in this account."),
            Member::optional(
                "cash_flow_direction",
                Holds::OneOf(DIRECTIONS),
                "Only for money that comes in, or only for money that goes out.",
            ),
            Member { required: false, ..CATEGORY },
            Member { required: false, ..COUNTERPARTY },
        ],
    },
    Variant {
        word: "transfer.propose",
        about: "Moving money between linked accounts. The person does it at their bank and confirms it: \
                `decision_needs.client_execution` is true. Needs `actions:write` and `accounts:read`.",
        members: &[
            Member::required("from_account_id", Holds::Id("acc_"), "Where it comes from."),
            Member::required("to_account_id", Holds::Id("acc_"), "Where it goes."),
            Member::required(
                "amount",
                Holds::Number { decimals: 2 },
                "How much, greater than 0, with no more decimals than its currency has.",
            ),
            Member::optional(
                "currency",
                Holds::Text { longest: 3 },
                "Its ISO 4217 code; the person's base currency unless given.",
            ),
            Member::optional("date", Holds::Date, "On which day."),
        ],
    },
    Variant {
        word: "custom",
        about: "Anything else that wants a yes or a no. The person carries it out elsewhere and confirms it: \
                `decision_needs.client_execution` is true. Needs `actions:write`.",
        members: &[
            Member::required(
                "title",
                Holds::Text { longest: 120 },
                "What is asked, in a few words.",
            ),
            Member::optional(
                "summary_markdown",
                Holds::Text { longest: 4_000 },
                "More about it, in Markdown.",
            ),
            Member::optional(
                "data",
                Holds::Json,
                "Anything of your own, up to 16,000 bytes. It is kept and never looked at.",
            ),
        ],
    },
];

/// What the payload of that type says.
pub(super) async fn read(call: &Call, body: &Members, kind: ActionType) -> Result<What> {
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
            fix(&payload, Word { counterparty: None, category: Some(category) })
        }
        ActionType::Rename => {
            let name = payload.text("counterparty_name")?;
            let name = payload.required("counterparty_name", name)?;
            fix(&payload, Word { counterparty: Some(name), category: None })
        }
        ActionType::Rule => rule(&payload),
        ActionType::Transfer => {
            let currency = match payload.text("currency")? {
                Some(code) => Currency::parse(&code)
                    .map_err(|it| payload.refuse("currency", &it.to_string()))?,
                None => users::base_currency(&call.app, &call.caller).await?,
            };
            transfer(&payload, currency)
        }
        ActionType::Custom => Ok(What::Custom {
            title: payload.required("title", payload.text("title")?)?,
            summary: payload.text("summary_markdown")?,
            facts: payload.json("data")?,
        }),
    }
}

pub(super) fn trade(members: &Members, account: PaperAccountId) -> Result<What> {
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
    Ok(What::Trade { account, symbol, side, size })
}

pub(super) fn paper_account(members: &Members) -> Result<What> {
    let cash = members.money_text("starting_cash_balance", Currency::USD)?;
    Ok(What::PaperAccount {
        name: members.text("name")?.unwrap_or_else(|| "Paper account".to_owned()),
        cash_minor: cash.map_or(CASH_DEFAULT_MINOR, |it| it.minor()),
    })
}

fn fix(payload: &Members, word: Word) -> Result<What> {
    let transactions = payload.ids("transaction_ids")?;
    Ok(What::Fix {
        transactions: payload.required("transaction_ids", transactions)?,
        word,
        always: payload.bool("always")?.unwrap_or(false),
    })
}

fn rule(payload: &Members) -> Result<What> {
    let direction = payload.one_of("cash_flow_direction", DIRECTIONS)?;
    Ok(What::Rule(NewRule {
        like: payload.text("like")?,
        words: payload.text("words")?,
        account_id: payload.id("account_id")?,
        direction: direction.as_deref().and_then(Direction::parse),
        word: Word {
            counterparty: payload.text("counterparty_name")?,
            category: category(payload)?,
        },
        ..NewRule::default()
    }))
}

fn transfer(payload: &Members, currency: Currency) -> Result<What> {
    let from = payload.id("from_account_id")?;
    let to = payload.id("to_account_id")?;
    Ok(What::Transfer {
        from: payload.required("from_account_id", from)?,
        to: payload.required("to_account_id", to)?,
        amount: payload.required("amount", payload.money("amount", currency)?)?,
        on: payload.date("date")?,
    })
}

/// By its code, by its label, or a whole group by the group's code. A code with a slip is refused, not taken for the
/// nearest group: the person would be asked about something else than was meant.
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
    let meant = match base::nearest(&typed, known, typed.chars().count() / 3) {
        Some(code) => format!("; did you mean {code}?"),
        None => String::new(),
    };
    let message = "must be a category such as FOOD_AND_DRINK_COFFEE, or its label";
    Err(payload.refuse("category", &format!("{message}{meant}")))
}
