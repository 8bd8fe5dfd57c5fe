//! Banks and cards of the United States and Canada.

use base::draft::AccountKind::{Credit as Card, Depository, Investment};

use super::super::mapping::Field::{
    Account, AccountType, Amount, Authorized, Balance, Card as CardNumber, Category, Counterparty,
    Credit, Date, Debit, Description, Direction, Id, OtherAmount, Status,
};
use super::{Form, Kind, PLAIN, Preset, Trait};
use crate::files::ChargeSign::Positive;
use crate::files::DateOrder::{DayFirst, MonthFirst};
use crate::files::table_amount::DecimalMark::Dot;

const US: Preset =
    Preset { currency: Some("USD"), dates: Some(MonthFirst), mark: Some(Dot), ..PLAIN };
const US_CARD: Preset = Preset { kind: Some(Card), subtype: Some("credit card"), ..US };
const US_BANK: Preset = Preset { kind: Some(Depository), ..US };

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "Chase checking and savings",
        institution: "Chase",
        form: Form::Has(&["details", "posting date", "description", "amount", "type", "balance"]),
        columns: &[
            (Date, "posting date"),
            (Description, "description"),
            (Amount, "amount"),
            (Balance, "balance"),
        ],
        traits: &[Trait::UnbalancedIsPending],
        ..US_BANK
    },
    Preset {
        name: "Chase card",
        institution: "Chase",
        form: Form::Has(&[
            "transaction date",
            "post date",
            "description",
            "category",
            "type",
            "amount",
        ]),
        columns: &[
            (Date, "post date"),
            (Authorized, "transaction date"),
            (Description, "description"),
            (Description, "memo"),
            (Amount, "amount"),
            (CardNumber, "card"),
            (Category, "category"),
        ],
        ..US_CARD
    },
    Preset {
        name: "Chase card, until 2017",
        institution: "Chase",
        form: Form::Only(&["type", "trans date", "post date", "description", "amount"]),
        columns: &[
            (Date, "post date"),
            (Authorized, "trans date"),
            (Description, "description"),
            (Amount, "amount"),
        ],
        ..US_CARD
    },
    Preset {
        name: "American Express",
        institution: "American Express",
        form: Form::Has(&[
            "date",
            "description",
            "amount",
            "extended details",
            "appears on your statement as",
            "city/state",
            "reference",
        ]),
        columns: &[
            (Date, "date"),
            (Description, "description"),
            (Amount, "amount"),
            (CardNumber, "account #"),
            (Category, "category"),
            (Id, "reference"),
        ],
        charges: Some(Positive),
        ..US_CARD
    },
    Preset {
        name: "American Express, United Kingdom",
        institution: "American Express",
        form: Form::Has(&[
            "date",
            "description",
            "amount",
            "extended details",
            "appears on your statement as",
            "town/city",
            "postcode",
            "reference",
        ]),
        columns: &[
            (Date, "date"),
            (Description, "description"),
            (Amount, "amount"),
            (CardNumber, "account #"),
            (Category, "category"),
            (Id, "reference"),
        ],
        currency: Some("GBP"),
        dates: Some(DayFirst),
        charges: Some(Positive),
        ..US_CARD
    },
    // Its titles are too generic to recognize, so only the user can choose it.
    Preset {
        name: "American Express, three columns",
        institution: "American Express",
        form: Form::Chosen,
        columns: &[(Date, "date"), (Description, "description"), (Amount, "amount")],
        charges: Some(Positive),
        ..US_CARD
    },
    Preset {
        name: "Bank of America",
        institution: "Bank of America",
        form: Form::Only(&["date", "description", "amount", "running bal."]),
        columns: &[
            (Date, "date"),
            (Description, "description"),
            (Amount, "amount"),
            (Balance, "running bal."),
        ],
        ..US_BANK
    },
    Preset {
        name: "Bank of America card",
        institution: "Bank of America",
        form: Form::Has(&["posted date", "reference number", "payee", "address", "amount"]),
        columns: &[
            (Date, "posted date"),
            (Id, "reference number"),
            (Description, "payee"),
            (Amount, "amount"),
        ],
        ..US_CARD
    },
    Preset {
        name: "Capital One card",
        institution: "Capital One",
        form: Form::Has(&[
            "transaction date",
            "posted date",
            "card no.",
            "description",
            "category",
            "debit",
            "credit",
        ]),
        columns: &[
            (Date, "posted date"),
            (Authorized, "transaction date"),
            (CardNumber, "card no."),
            (Category, "category"),
            (Description, "description"),
            (Debit, "debit"),
            (Credit, "credit"),
        ],
        ..US_CARD
    },
    Preset {
        name: "Capital One 360",
        institution: "Capital One",
        form: Form::Has(&[
            "account number",
            "transaction date",
            "transaction amount",
            "transaction type",
            "transaction description",
            "balance",
        ]),
        columns: &[
            (Account, "account number"),
            (Date, "transaction date"),
            (Amount, "transaction amount"),
            (Direction, "transaction type"),
            (Description, "transaction description"),
            (Balance, "balance"),
        ],
        out_words: &["debit"],
        in_words: &["credit"],
        ..US_BANK
    },
    Preset {
        name: "Citi card",
        institution: "Citi",
        form: Form::Has(&["status", "date", "description", "debit", "credit"]),
        columns: &[
            (Status, "status"),
            (Date, "date"),
            (Description, "description"),
            (Debit, "debit"),
            (Credit, "credit"),
        ],
        pending_words: &["pending"],
        ..US_CARD
    },
    Preset {
        name: "Discover",
        institution: "Discover",
        form: Form::Has(&["trans. date", "post date", "description", "amount", "category"]),
        columns: &[
            (Date, "post date"),
            (Authorized, "trans. date"),
            (Description, "description"),
            (Category, "category"),
            (Amount, "amount"),
        ],
        charges: Some(Positive),
        ..US_CARD
    },
    Preset {
        name: "Wells Fargo",
        institution: "Wells Fargo",
        form: Form::Bare(&[Kind::Date, Kind::Amount, Kind::Word(&["*"]), Kind::Any, Kind::Text]),
        columns: &[(Date, "1"), (Amount, "2"), (Description, "5")],
        ..US
    },
    Preset {
        name: "US Bank",
        institution: "U.S. Bank",
        form: Form::Only(&["date", "transaction", "name", "memo", "amount"]),
        columns: &[
            (Date, "date"),
            (Description, "name"),
            (Description, "memo"),
            (Amount, "amount"),
        ],
        ..US
    },
    Preset {
        name: "PNC",
        institution: "PNC",
        form: Form::Only(&["date", "description", "withdrawals", "deposits", "balance"]),
        columns: &[
            (Date, "date"),
            (Description, "description"),
            (Debit, "withdrawals"),
            (Credit, "deposits"),
            (Balance, "balance"),
        ],
        ..US_BANK
    },
    Preset {
        name: "Apple Card",
        institution: "Apple Card",
        form: Form::Has(&[
            "transaction date",
            "clearing date",
            "description",
            "merchant",
            "category",
            "type",
            "amount (usd)",
        ]),
        columns: &[
            (Date, "clearing date"),
            (Authorized, "transaction date"),
            (Description, "description"),
            (Counterparty, "merchant"),
            (Category, "category"),
            (Amount, "amount (usd)"),
        ],
        charges: Some(Positive),
        ..US_CARD
    },
    Preset {
        name: "Ally",
        institution: "Ally",
        form: Form::Only(&["date", "time", "amount", "type", "description"]),
        columns: &[(Date, "date"), (Amount, "amount"), (Description, "description")],
        ..US_BANK
    },
    Preset {
        name: "Schwab Bank",
        institution: "Charles Schwab",
        form: Form::Has(&[
            "date",
            "type",
            "description",
            "withdrawal",
            "deposit",
            "runningbalance",
        ]),
        columns: &[
            (Date, "date"),
            (Status, "status"),
            (Description, "description"),
            (Debit, "withdrawal"),
            (Credit, "deposit"),
            (Balance, "runningbalance"),
        ],
        pending_words: &["pending"],
        ..US_BANK
    },
    Preset {
        name: "USAA, older",
        institution: "USAA",
        form: Form::Bare(&[
            Kind::Word(&["posted", "pending", "forecasted"]),
            Kind::Blank,
            Kind::Date,
            Kind::Any,
            Kind::Any,
            Kind::Any,
            Kind::Amount,
        ]),
        columns: &[
            (Status, "1"),
            (Date, "3"),
            (Description, "4"),
            (Description, "5"),
            (Amount, "7"),
        ],
        pending_words: &["pending"],
        ignored_words: &["forecasted"],
        ..US
    },
    Preset {
        name: "Fidelity history",
        institution: "Fidelity",
        form: Form::Has(&["run date", "action", "symbol", "amount ($)", "settlement date"]),
        columns: &[
            (Date, "run date"),
            (Description, "action"),
            (Description, "symbol"),
            (Description, "security description"),
            (Amount, "amount ($)"),
            (Account, "account number"),
        ],
        kind: Some(Investment),
        subtype: Some("brokerage"),
        ..US
    },
    Preset {
        name: "RBC Royal Bank",
        institution: "RBC",
        form: Form::Has(&[
            "account type",
            "account number",
            "transaction date",
            "description 1",
            "cad$",
            "usd$",
        ]),
        columns: &[
            (AccountType, "account type"),
            (Account, "account number"),
            (Date, "transaction date"),
            (Description, "description 1"),
            (Description, "description 2"),
            (Amount, "cad$"),
            (OtherAmount, "usd$"),
        ],
        currency: Some("CAD"),
        ..US
    },
    Preset {
        name: "TD Canada Trust",
        institution: "TD Canada Trust",
        form: Form::Bare(&[
            Kind::Date,
            Kind::Text,
            Kind::MaybeAmount,
            Kind::MaybeAmount,
            Kind::MaybeAmount,
        ]),
        columns: &[(Date, "1"), (Description, "2"), (Debit, "3"), (Credit, "4"), (Balance, "5")],
        currency: Some("CAD"),
        ..US
    },
];
