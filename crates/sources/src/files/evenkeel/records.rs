//! The rows of an export, as the API writes them. Amounts are parsed from their digits.

use base::category::Category;
use base::draft::{AccountDraft, AccountKind, AssetClass, BalanceDraft, HoldingDraft};
use base::draft::{PastBalance, SecurityDraft, SecurityKind, TransactionDraft};
use base::{Currency, Date, Fixed9, Money, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::files::FileAccount;
use crate::files::plain_amount::quote;
use crate::plausibility::{is_implausible_amount, is_plausible_date};

#[derive(Deserialize)]
pub(super) struct AccountRecord {
    pub(super) id: String,
    name: String,
    mask: Option<String>,
    r#type: String,
    subtype: Option<String>,
    status: String,
    currency: String,
    balance_current: Option<Box<RawValue>>,
    balance_available: Option<Box<RawValue>>,
    balance_limit: Option<Box<RawValue>>,
    interest_rate_percentage: Option<Box<RawValue>>,
    apy_percent_display: Option<String>,
    next_payment_due_date: Option<String>,
    institution_name: Option<String>,
    institution_logo: Option<String>,
    as_of: Option<String>,
    updated_at: String,
}

impl AccountRecord {
    pub(super) fn draft(&self) -> Result<AccountDraft, String> {
        let currency = currency(&self.currency)?;
        let kind = AccountKind::parse(&self.r#type)
            .ok_or_else(|| format!("{} is no type of account", quote(&self.r#type)))?;
        let as_of = self.as_of.as_deref().map(moment).transpose()?;
        let balance = match (&self.balance_current, as_of) {
            (Some(current), Some(as_of)) => Some(BalanceDraft {
                as_of,
                current_minor: minor(current, currency)?,
                available_minor: maybe_minor(self.balance_available.as_deref(), currency)?,
                limit_minor: maybe_minor(self.balance_limit.as_deref(), currency)?,
            }),
            _ => None,
        };
        let rate = self.interest_rate_percentage.as_deref().map(fixed).transpose()?;
        let closed_on = match self.status.as_str() {
            "closed" => Some(day(self.updated_at.get(..10).unwrap_or_default())?),
            _ => None,
        };
        Ok(AccountDraft {
            mask: self.mask.clone(),
            subtype: self.subtype.clone(),
            institution_name: self.institution_name.clone(),
            institution_logo: self.institution_logo.clone(),
            closed_on,
            balance,
            interest_rate: rate,
            apy_display: self.apy_percent_display.clone(),
            next_payment_due_on: self.next_payment_due_date.as_deref().map(day).transpose()?,
            ..AccountDraft::new(&self.id, &self.name, kind, currency)
        })
    }
}

#[derive(Deserialize)]
pub(super) struct BalanceRecord {
    pub(super) account_id: String,
    date: String,
    balance_current: Box<RawValue>,
}

impl BalanceRecord {
    pub(super) fn balance(&self, currency: Currency) -> Result<PastBalance, String> {
        let current_minor = minor(&self.balance_current, currency)?;
        Ok(PastBalance { on: day(&self.date)?, current_minor })
    }
}

#[derive(Deserialize)]
pub(super) struct TransactionRecord {
    id: String,
    pub(super) account_id: String,
    account_name: String,
    amount: Box<RawValue>,
    currency: String,
    date_posted: String,
    date_authorized: Option<String>,
    pending: bool,
    category_tier2: Option<String>,
    counterparty_name: Option<String>,
    counterparty_logo_url: Option<String>,
    original_description: String,
}

impl TransactionRecord {
    pub(super) fn draft(&self) -> Result<TransactionDraft, String> {
        let currency = currency(&self.currency)?;
        Ok(TransactionDraft {
            external_id: Some(self.id.clone()).filter(|it| !it.is_empty()),
            pending: self.pending,
            settles: None,
            posted_on: day(&self.date_posted)?,
            authorized_on: self.date_authorized.as_deref().map(day).transpose()?,
            amount: Money::new(minor(&self.amount, currency)?, currency),
            description: self.original_description.clone(),
            counterparty: self.counterparty_name.clone(),
            counterparty_logo_url: self.counterparty_logo_url.clone(),
            category: self.category_tier2.as_deref().and_then(Category::parse),
        })
    }

    /// The account as far as a transaction describes it, for a list of transactions without accounts.
    pub(super) fn account(&self) -> FileAccount {
        let currency = currency(&self.currency).unwrap_or(Currency::USD);
        let (id, name) = (&self.account_id, &self.account_name);
        FileAccount::new(None, AccountDraft::new(id, name, AccountKind::Other, currency))
    }
}

#[derive(Deserialize)]
pub(super) struct HoldingRecord {
    pub(super) account_id: String,
    security_id: String,
    symbol: Option<String>,
    name: String,
    security_type: String,
    asset_class: String,
    currency: String,
    quantity: Box<RawValue>,
    last_price: Option<Box<RawValue>>,
    last_price_at: Option<String>,
    current_value: Option<Box<RawValue>>,
    cost_basis_total: Option<Box<RawValue>>,
}

impl HoldingRecord {
    pub(super) fn draft(&self) -> Result<HoldingDraft, String> {
        let currency = currency(&self.currency)?;
        let price = self.last_price.as_deref().map(fixed).transpose()?;
        let value = maybe_minor(self.current_value.as_deref(), currency)?;
        Ok(HoldingDraft {
            security: SecurityDraft {
                external_id: self.security_id.clone(),
                symbol: self.symbol.clone(),
                name: self.name.clone(),
                kind: SecurityKind::parse(&self.security_type).unwrap_or(SecurityKind::Other),
                asset_class: AssetClass::parse(&self.asset_class).unwrap_or(AssetClass::Other),
                currency,
                price,
                previous_close: None,
                priced_at: self.last_price_at.as_deref().map(moment).transpose()?,
            },
            quantity: fixed(&self.quantity)?,
            cost_basis_minor: maybe_minor(self.cost_basis_total.as_deref(), currency)?,
            institution_value_minor: value.filter(|_| price.is_none()),
        })
    }
}

fn currency(code: &str) -> Result<Currency, String> {
    Currency::parse(code).map_err(|_| format!("{} is no currency", quote(code)))
}

fn day(text: &str) -> Result<Date, String> {
    let day = text.parse().ok().filter(|it| is_plausible_date(*it));
    day.ok_or_else(|| format!("{} is no day such as 2026-01-31", quote(text)))
}

fn moment(text: &str) -> Result<Timestamp, String> {
    let is_near = |it: &Timestamp| (0..7_000_000_000).contains(&it.as_second());
    let moment = text.parse().ok().filter(is_near);
    moment.ok_or_else(|| format!("{} is no moment such as 2026-01-31T12:00:00Z", quote(text)))
}

fn minor(number: &RawValue, currency: Currency) -> Result<i64, String> {
    let minor = Money::parse(number.get(), currency).ok().map(Money::minor);
    let minor = minor.filter(|it| !is_implausible_amount(*it));
    minor.ok_or_else(|| format!("{} is no amount in {currency}", quote(number.get())))
}

fn maybe_minor(number: Option<&RawValue>, currency: Currency) -> Result<Option<i64>, String> {
    number.filter(|it| it.get() != "null").map(|it| minor(it, currency)).transpose()
}

fn fixed(number: &RawValue) -> Result<Fixed9, String> {
    Fixed9::parse(number.get()).map_err(|_| format!("{} is no number", quote(number.get())))
}
