//! The rows of an export, as the API writes them. Amounts are read from their digits.

use std::borrow::Cow;

use base::category::Category;
use base::draft::{AccountDraft, AccountKind, AssetClass, BalanceDraft, HoldingDraft};
use base::draft::{PastBalance, SecurityDraft, SecurityKind, TransactionDraft};
use base::{Currency, Date, Fixed9, Money, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::bounds::{is_absurd, is_day};
use crate::files::FileAccount;
use crate::files::decimals::quote;

type Text<'a> = Cow<'a, str>;

#[derive(Deserialize)]
pub(super) struct AccountShape<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    name: Text<'a>,
    mask: Option<Text<'a>>,
    r#type: Text<'a>,
    subtype: Option<Text<'a>>,
    status: Text<'a>,
    currency: Text<'a>,
    #[serde(borrow)]
    balance_current: Option<&'a RawValue>,
    balance_available: Option<&'a RawValue>,
    balance_limit: Option<&'a RawValue>,
    interest_rate_percentage: Option<&'a RawValue>,
    apy_percent_display: Option<Text<'a>>,
    next_payment_due_date: Option<Text<'a>>,
    institution_name: Option<Text<'a>>,
    institution_logo: Option<Text<'a>>,
    as_of: Option<Text<'a>>,
    updated_at: Text<'a>,
}

impl AccountShape<'_> {
    pub(super) fn draft(&self) -> Result<AccountDraft, String> {
        let currency = currency(&self.currency)?;
        let kind = AccountKind::parse(&self.r#type)
            .ok_or_else(|| format!("{} is no type of account", quote(&self.r#type)))?;
        let as_of = self.as_of.as_deref().map(moment).transpose()?;
        let balance = match (self.balance_current, as_of) {
            (Some(current), Some(as_of)) => Some(BalanceDraft {
                as_of,
                current_minor: minor(current, currency)?,
                available_minor: maybe_minor(self.balance_available, currency)?,
                limit_minor: maybe_minor(self.balance_limit, currency)?,
            }),
            _ => None,
        };
        let rate = self.interest_rate_percentage.map(fixed).transpose()?;
        let closed_on = match &*self.status {
            "closed" => Some(day(self.updated_at.get(..10).unwrap_or_default())?),
            _ => None,
        };
        Ok(AccountDraft {
            mask: owned(&self.mask),
            subtype: owned(&self.subtype),
            institution_name: owned(&self.institution_name),
            institution_logo: owned(&self.institution_logo),
            closed_on,
            balance,
            interest_rate: rate,
            apy_display: owned(&self.apy_percent_display),
            next_payment_due_on: self.next_payment_due_date.as_deref().map(day).transpose()?,
            ..AccountDraft::new(&*self.id, &*self.name, kind, currency)
        })
    }
}

#[derive(Deserialize)]
pub(super) struct BalanceShape<'a> {
    #[serde(borrow)]
    pub(super) account_id: Text<'a>,
    date: Text<'a>,
    #[serde(borrow)]
    balance_current: &'a RawValue,
}

impl BalanceShape<'_> {
    pub(super) fn balance(&self, currency: Currency) -> Result<PastBalance, String> {
        let current_minor = minor(self.balance_current, currency)?;
        Ok(PastBalance { on: day(&self.date)?, current_minor })
    }
}

#[derive(Deserialize)]
pub(super) struct TransactionShape<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    pub(super) account_id: Text<'a>,
    account_name: Text<'a>,
    #[serde(borrow)]
    amount: &'a RawValue,
    currency: Text<'a>,
    date_posted: Text<'a>,
    date_authorized: Option<Text<'a>>,
    pending: bool,
    category_tier2: Option<Text<'a>>,
    counterparty_name: Option<Text<'a>>,
    counterparty_logo_url: Option<Text<'a>>,
    original_description: Text<'a>,
}

impl TransactionShape<'_> {
    pub(super) fn draft(&self) -> Result<TransactionDraft, String> {
        let currency = currency(&self.currency)?;
        Ok(TransactionDraft {
            external_id: Some(self.id.to_string()).filter(|it| !it.is_empty()),
            pending: self.pending,
            settles: None,
            posted_on: day(&self.date_posted)?,
            authorized_on: self.date_authorized.as_deref().map(day).transpose()?,
            amount: Money::new(minor(self.amount, currency)?, currency),
            description: self.original_description.to_string(),
            counterparty: owned(&self.counterparty_name),
            counterparty_logo_url: owned(&self.counterparty_logo_url),
            category: self.category_tier2.as_deref().and_then(Category::parse),
        })
    }

    /// All that a list of transactions alone says of an account.
    pub(super) fn account(&self) -> FileAccount {
        let currency = currency(&self.currency).unwrap_or(Currency::USD);
        let (id, name) = (&*self.account_id, &*self.account_name);
        FileAccount { bank: None, draft: AccountDraft::new(id, name, AccountKind::Other, currency) }
    }
}

#[derive(Deserialize)]
pub(super) struct HeldShape<'a> {
    #[serde(borrow)]
    pub(super) account_id: Text<'a>,
    security_id: Text<'a>,
    symbol: Option<Text<'a>>,
    name: Text<'a>,
    security_type: Text<'a>,
    asset_class: Text<'a>,
    currency: Text<'a>,
    #[serde(borrow)]
    quantity: &'a RawValue,
    last_price: Option<&'a RawValue>,
    last_price_at: Option<Text<'a>>,
    current_value: Option<&'a RawValue>,
    cost_basis_total: Option<&'a RawValue>,
}

impl HeldShape<'_> {
    pub(super) fn draft(&self) -> Result<HoldingDraft, String> {
        let currency = currency(&self.currency)?;
        let price = self.last_price.map(fixed).transpose()?;
        let value = maybe_minor(self.current_value, currency)?;
        Ok(HoldingDraft {
            security: SecurityDraft {
                external_id: self.security_id.to_string(),
                symbol: owned(&self.symbol),
                name: self.name.to_string(),
                kind: SecurityKind::parse(&self.security_type).unwrap_or(SecurityKind::Other),
                asset_class: AssetClass::parse(&self.asset_class).unwrap_or(AssetClass::Other),
                currency,
                price,
                previous_close: None,
                priced_at: self.last_price_at.as_deref().map(moment).transpose()?,
            },
            quantity: fixed(self.quantity)?,
            cost_basis_minor: maybe_minor(self.cost_basis_total, currency)?,
            institution_value_minor: value.filter(|_| price.is_none()),
        })
    }
}

fn owned(text: &Option<Text<'_>>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}

fn currency(code: &str) -> Result<Currency, String> {
    Currency::parse(code).map_err(|_| format!("{} is no currency", quote(code)))
}

fn day(text: &str) -> Result<Date, String> {
    let day = text.parse().ok().filter(|it| is_day(*it));
    day.ok_or_else(|| format!("{} is no day such as 2026-01-31", quote(text)))
}

fn moment(text: &str) -> Result<Timestamp, String> {
    let is_near = |it: &Timestamp| (0..7_000_000_000).contains(&it.as_second());
    let moment = text.parse().ok().filter(is_near);
    moment.ok_or_else(|| format!("{} is no moment such as 2026-01-31T12:00:00Z", quote(text)))
}

fn minor(number: &RawValue, currency: Currency) -> Result<i64, String> {
    let minor = Money::parse(number.get(), currency).ok().map(Money::minor);
    let minor = minor.filter(|it| !is_absurd(*it));
    minor.ok_or_else(|| format!("{} is no amount in {currency}", quote(number.get())))
}

fn maybe_minor(number: Option<&RawValue>, currency: Currency) -> Result<Option<i64>, String> {
    number.filter(|it| it.get() != "null").map(|it| minor(it, currency)).transpose()
}

fn fixed(number: &RawValue) -> Result<Fixed9, String> {
    Fixed9::parse(number.get()).map_err(|_| format!("{} is no number", quote(number.get())))
}
