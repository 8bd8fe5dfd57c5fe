//! Builders for drafts: `statement([checking("Everyday").with(txn("2026-03-01", -4210, "KROGER"))])`.

use std::ops::{Deref, DerefMut};

use base::category::Category;
use base::draft::{
    AccountDraft, AccountKind, AssetClass, BalanceDraft, HoldingDraft, PastBalance, RateDraft,
    SecurityDraft, SecurityKind, Source, Statement, TradeDraft, TradeKind, TransactionDraft,
};
use base::{Currency, Fixed9, Money};

use crate::{at, day};

/// A statement from a file, as of the start of the tests. Other values can be set on the fields.
pub fn statement(accounts: impl IntoIterator<Item = Account>) -> Statement {
    Statement {
        source: Source::File,
        connection: "bank".to_owned(),
        institution: Some("Harbor Federal Bank".to_owned()),
        as_of: at("2026-03-10T12:00:00Z"),
        accounts: accounts.into_iter().map(|it| it.0).collect(),
        rates: Vec::new(),
    }
}

pub fn rate(from: &str, to: &str, on: &str, rate: &str) -> RateDraft {
    let currency = |code| Currency::parse(code).unwrap();
    RateDraft {
        from: currency(from),
        to: currency(to),
        on: day(on),
        rate: Fixed9::parse(rate).unwrap(),
    }
}

/// An account draft. Values without a method can be set on the fields.
#[derive(Clone)]
pub struct Account(AccountDraft);

pub fn checking(name: &str) -> Account {
    account(name, AccountKind::Depository, "checking")
}

pub fn card(name: &str) -> Account {
    account(name, AccountKind::Credit, "credit card")
}

pub fn brokerage(name: &str) -> Account {
    account(name, AccountKind::Investment, "brokerage")
}

/// An account in US dollars with only a name, which is also its external id.
pub fn account(name: &str, kind: AccountKind, subtype: &str) -> Account {
    Account(AccountDraft {
        subtype: Some(subtype.to_owned()),
        ..AccountDraft::new(name, name, kind, Currency::USD)
    })
}

impl Account {
    /// Must be called before `with`, because transactions take the account's currency.
    pub fn in_currency(mut self, code: &str) -> Account {
        self.currency = Currency::parse(code).unwrap();
        self
    }

    pub fn with(mut self, txn: Txn) -> Account {
        let Txn(mut draft) = txn;
        draft.amount = Money::new(draft.amount.minor(), self.currency);
        self.transactions.push(draft);
        self
    }

    pub fn with_all(self, txns: impl IntoIterator<Item = Txn>) -> Account {
        txns.into_iter().fold(self, Account::with)
    }

    /// The source withdrew the transaction with this id.
    pub fn without(mut self, external_id: &str) -> Account {
        self.removed.push(external_id.to_owned());
        self
    }

    pub fn balance(mut self, as_of: &str, current_minor: i64) -> Account {
        self.balance = Some(BalanceDraft {
            as_of: at(as_of),
            current_minor,
            available_minor: None,
            limit_minor: None,
        });
        self
    }

    pub fn past_balance(mut self, on: &str, current_minor: i64) -> Account {
        self.past_balances.push(PastBalance { on: day(on), current_minor });
        self
    }

    pub fn closed_on(mut self, on: &str) -> Account {
        self.closed_on = Some(day(on));
        self
    }

    pub fn trading(mut self, trades: impl IntoIterator<Item = TradeDraft>) -> Account {
        self.trades.extend(trades);
        self
    }

    /// All positions of the account; an empty list means that it has none.
    pub fn holding(mut self, positions: impl IntoIterator<Item = Position>) -> Account {
        self.holdings = Some(positions.into_iter().map(|it| it.0).collect());
        self
    }
}

/// A trade of a security with this symbol, with what was paid or received.
pub fn trade(on: &str, kind: &str, symbol: &str, quantity: &str, minor: i64) -> TradeDraft {
    TradeDraft {
        external_id: Some(format!("{on} {kind} {symbol}")),
        security: symbol.to_owned(),
        on: day(on),
        kind: TradeKind::parse(kind).unwrap(),
        quantity: Fixed9::parse(quantity).unwrap(),
        per: None,
        amount_minor: Some(minor),
    }
}

impl Deref for Account {
    type Target = AccountDraft;

    fn deref(&self) -> &AccountDraft {
        &self.0
    }
}

impl DerefMut for Account {
    fn deref_mut(&mut self) -> &mut AccountDraft {
        &mut self.0
    }
}

#[derive(Clone)]
pub struct Txn(TransactionDraft);

/// A posted transaction without further data.
pub fn txn(posted_on: &str, minor: i64, description: &str) -> Txn {
    Txn(TransactionDraft {
        external_id: None,
        pending: false,
        settles: None,
        posted_on: day(posted_on),
        authorized_on: None,
        amount: Money::new(minor, Currency::USD),
        description: description.to_owned(),
        counterparty: None,
        counterparty_logo_url: None,
        category: None,
    })
}

impl Txn {
    pub fn id(mut self, external_id: &str) -> Txn {
        self.0.external_id = Some(external_id.to_owned());
        self
    }

    /// Replaces the amount.
    pub fn minor(mut self, minor: i64) -> Txn {
        self.0.amount = Money::new(minor, self.0.amount.currency());
        self
    }

    pub fn pending(mut self) -> Txn {
        self.0.pending = true;
        self
    }

    pub fn settling(mut self, external_id: &str) -> Txn {
        self.0.settles = Some(external_id.to_owned());
        self
    }

    pub fn authorized_on(mut self, on: &str) -> Txn {
        self.0.authorized_on = Some(day(on));
        self
    }

    pub fn from(mut self, counterparty: &str) -> Txn {
        self.0.counterparty = Some(counterparty.to_owned());
        self
    }

    /// A detailed category, such as FOOD_AND_DRINK_GROCERIES.
    pub fn category(mut self, detailed: &str) -> Txn {
        self.0.category = Some(Category::parse(detailed).unwrap());
        self
    }
}

#[derive(Clone)]
pub struct Position(HoldingDraft);

/// A stock in US dollars without price and cost.
pub fn position(symbol: &str, quantity: &str) -> Position {
    Position(HoldingDraft {
        security: SecurityDraft {
            external_id: symbol.to_owned(),
            symbol: Some(symbol.to_owned()),
            name: format!("{symbol} Inc."),
            kind: SecurityKind::Equity,
            asset_class: AssetClass::Equity,
            currency: Currency::USD,
            price: None,
            previous_close: None,
            priced_at: None,
        },
        quantity: Fixed9::parse(quantity).unwrap(),
        cost_basis_minor: None,
        institution_value_minor: None,
    })
}

impl Position {
    /// Today's price and the previous close.
    pub fn priced(mut self, price: &str, previous_close: &str) -> Position {
        self.security.price = Some(Fixed9::parse(price).unwrap());
        self.security.previous_close = Some(Fixed9::parse(previous_close).unwrap());
        self.security.priced_at = Some(at("2026-03-10T11:00:00Z"));
        self
    }

    pub fn cost(mut self, minor: i64) -> Position {
        self.cost_basis_minor = Some(minor);
        self
    }

    pub fn class(mut self, class: AssetClass) -> Position {
        self.security.asset_class = class;
        self
    }
}

impl Deref for Position {
    type Target = HoldingDraft;

    fn deref(&self) -> &HoldingDraft {
        &self.0
    }
}

impl DerefMut for Position {
    fn deref_mut(&mut self) -> &mut HoldingDraft {
        &mut self.0
    }
}
