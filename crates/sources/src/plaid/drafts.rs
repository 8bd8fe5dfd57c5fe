//! Converts what Plaid returned into account drafts, by the person's choices for each account.

use std::collections::{BTreeMap, HashMap};

use base::category::Category;
use base::draft::{
    AccountDraft, AccountKind, AssetClass, BalanceDraft, HoldingDraft, SecurityDraft, SecurityKind,
    TradeDraft, TradeKind, TransactionDraft,
};
use base::{Currency, Fixed9, Money, Timestamp};

use super::accounts::Account;
use super::investments::{Holding, InvestmentTransaction, Investments, Security};
use super::liabilities::Terms;
use super::numbers;
use super::transactions::{Changes, Transaction};
use crate::provider::{AccountChoice, DraftAccounts, OwedSign};

/// Everything that one sync read.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    pub(super) accounts: Vec<Account>,
    pub(super) institution: Option<String>,
    pub(super) changes: Changes,
    /// None if they were not asked for.
    pub(super) investments: Option<Investments>,
    pub(super) terms: HashMap<String, Terms>,
}

impl DraftAccounts for Fetched {
    fn drafts(
        &self,
        choices: &BTreeMap<String, AccountChoice>,
        at: Timestamp,
    ) -> Vec<AccountDraft> {
        let chosen = self.accounts.iter().filter_map(|it| Some((it, choices.get(&it.account_id)?)));
        chosen.filter_map(|(account, choice)| self.draft(account, choice, at)).collect()
    }
}

impl Fetched {
    /// How many rows cannot be read.
    pub(super) fn rejected(&self) -> usize {
        let currency = |id: &str| self.accounts.iter().find(|it| it.account_id == id)?.currency();
        let rows = self.changes.transactions.iter();
        rows.filter(|it| match currency(&it.account_id) {
            Some(currency) => transaction_draft(it, currency).is_none(),
            None => false,
        })
        .count()
    }

    fn draft(
        &self,
        account: &Account,
        choice: &AccountChoice,
        at: Timestamp,
    ) -> Option<AccountDraft> {
        let currency = account.currency()?;
        let id = account.account_id.as_str();
        let rows = self.changes.transactions.iter().filter(|it| it.account_id == id);
        let mut transactions: Vec<TransactionDraft> =
            rows.filter_map(|it| transaction_draft(it, currency)).collect();
        let (mut holdings, mut trades) = (None, Vec::new());
        if let (Some(found), AccountKind::Investment) = (&self.investments, choice.kind) {
            let own = found.transactions.iter().filter(|it| it.account_id == id);
            for row in own {
                transactions.extend(cash_draft(row, currency));
                trades.extend(trade_draft(row, currency));
            }
            let own = found.holdings.iter().filter(|it| it.account_id == id);
            let drafts = own.filter_map(|it| {
                holding_draft(it, found.securities.get(&it.security_id)?, currency, at)
            });
            holdings = Some(drafts.collect());
        }
        transactions
            .sort_by(|a, b| (a.posted_on, &a.external_id).cmp(&(b.posted_on, &b.external_id)));
        // Plaid names the account of a removed transaction; one without an account may be of any.
        let removed = self.changes.removed.iter();
        let removed = removed.filter(|it| it.account_id.as_deref().is_none_or(|it| it == id));
        let terms = self.terms.get(id).copied().unwrap_or_default();
        Some(AccountDraft {
            mask: account.mask.clone().filter(|it| !it.is_empty()),
            subtype: choice.subtype.clone(),
            institution_name: self.institution.clone(),
            balance: balance(account, choice, currency, at),
            interest_rate: terms.interest_rate,
            next_payment_due_on: terms.next_payment_due_on,
            transactions,
            removed: removed.map(|it| it.transaction_id.clone()).collect(),
            holdings,
            trades,
            ..AccountDraft::new(id, account.display_name(), choice.kind, currency)
        })
    }
}

impl Account {
    fn currency(&self) -> Option<Currency> {
        numbers::currency(self.balances.iso_currency_code.as_deref())
    }

    fn display_name(&self) -> &str {
        let official = self.official_name.as_deref().map(str::trim).filter(|it| !it.is_empty());
        if self.name.trim().is_empty() { official.unwrap_or("Account") } else { self.name.trim() }
    }
}

fn balance(
    account: &Account,
    choice: &AccountChoice,
    currency: Currency,
    at: Timestamp,
) -> Option<BalanceDraft> {
    let [current, available, limit] =
        [&account.balances.current, &account.balances.available, &account.balances.limit]
            .map(|it| numbers::minor(it.as_ref(), currency));
    // If the current balance is missing, the available one is there.
    let raw = current.or(available)?;
    let current_minor = match (choice.kind.is_debt(), choice.owed) {
        (true, OwedSign::Negative) => raw.checked_neg()?,
        (true, OwedSign::Positive) | (false, _) => raw,
    };
    let available = available.filter(|_| current.is_some());
    let available_minor = match choice.kind {
        AccountKind::Loan => None,
        AccountKind::Credit => available.filter(|it| *it >= 0),
        _ => available,
    };
    let limit_minor = limit.filter(|it| *it > 0);
    Some(BalanceDraft { as_of: at, current_minor, available_minor, limit_minor })
}

/// None for a row in another currency than its account, or without a date or an amount.
fn transaction_draft(it: &Transaction, currency: Currency) -> Option<TransactionDraft> {
    if it.iso_currency_code.as_deref() != Some(currency.code()) {
        return None;
    }
    let minor = numbers::minor(Some(&it.amount), currency)?.checked_neg()?;
    let merchant = it.counterparties.iter().flatten();
    let merchant = merchant.clone().find(|it| it.kind.as_deref() == Some("merchant"));
    let text = |it: &Option<String>| {
        it.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let category = it.personal_finance_category.as_ref().and_then(|it| it.detailed.as_deref());
    Some(TransactionDraft {
        external_id: Some(it.transaction_id.clone()),
        pending: it.pending,
        settles: text(&it.pending_transaction_id),
        posted_on: numbers::date(Some(&it.date))?,
        authorized_on: numbers::date(it.authorized_date.as_deref()),
        amount: Money::new(minor, currency),
        description: text(&it.original_description).or_else(|| text(&it.name)).unwrap_or_default(),
        counterparty: text(&it.merchant_name).or_else(|| merchant.map(|it| it.name.clone())),
        counterparty_logo_url: text(&it.logo_url)
            .or_else(|| merchant.and_then(|it| text(&it.logo_url)))
            .filter(|it| it.starts_with("https://")),
        category: category.and_then(Category::parse),
    })
}

/// The ids of investment transactions begin with this, so that they never meet those of other transactions.
const INVESTMENT_ID: &str = "inv-";

/// The effect of an investment transaction on the cash of its account. None if it moves no cash.
fn cash_draft(it: &InvestmentTransaction, currency: Currency) -> Option<TransactionDraft> {
    if it.kind == "cancel" || it.iso_currency_code.as_deref() != Some(currency.code()) {
        return None;
    }
    let minor = numbers::minor(it.amount.as_ref(), currency)?.checked_neg()?;
    let category = match it.subtype.as_deref().unwrap_or_default() {
        _ if minor == 0 => return None,
        "dividend" | "qualified dividend" | "non-qualified dividend" => "INCOME_DIVIDENDS",
        "interest" => "INCOME_INTEREST_EARNED",
        "account fee" | "management fee" | "transfer fee" | "trust fee" | "legal fee" => {
            "BANK_FEES_OTHER_BANK_FEES"
        }
        _ => "",
    };
    Some(TransactionDraft {
        external_id: Some(format!("{INVESTMENT_ID}{}", it.investment_transaction_id)),
        pending: false,
        settles: None,
        posted_on: numbers::date(Some(&it.date))?,
        authorized_on: None,
        amount: Money::new(minor, currency),
        description: it.name.trim().to_owned(),
        counterparty: None,
        counterparty_logo_url: None,
        category: Category::parse(category),
    })
}

/// The trade of a security, if its effect on the position is known.
fn trade_draft(it: &InvestmentTransaction, currency: Currency) -> Option<TradeDraft> {
    let quantity = numbers::decimal(it.quantity.as_ref())?.billionths();
    let subtype = it.subtype.as_deref().unwrap_or_default();
    let kind = match (it.kind.as_str(), subtype) {
        (_, "sell short" | "buy to cover" | "split") => return None,
        ("buy", it) if it.contains("reinvestment") => TradeKind::Reinvest,
        ("buy", _) => TradeKind::Buy,
        ("sell", _) => TradeKind::Sell,
        ("transfer", _) if quantity < 0 => TradeKind::TransferOut,
        ("transfer", _) if quantity > 0 => TradeKind::TransferIn,
        _ => return None,
    };
    if quantity == 0 {
        return None;
    }
    Some(TradeDraft {
        external_id: Some(format!("{INVESTMENT_ID}{}", it.investment_transaction_id)),
        security: it.security_id.clone()?,
        on: numbers::date(Some(&it.date))?,
        kind,
        quantity: Fixed9::from_billionths(quantity.abs()),
        per: None,
        amount_minor: numbers::minor(it.amount.as_ref(), currency)
            .filter(|it| *it != 0)
            .map(i64::abs),
    })
}

/// None for a closed position.
fn holding_draft(
    it: &Holding,
    security: &Security,
    account_currency: Currency,
    at: Timestamp,
) -> Option<HoldingDraft> {
    let quantity = numbers::decimal(it.quantity.as_ref()).filter(|it| *it != Fixed9::ZERO)?;
    let code = it.iso_currency_code.as_deref().or(security.iso_currency_code.as_deref());
    let currency = numbers::currency(code).unwrap_or(account_currency);
    let price = numbers::decimal(it.institution_price.as_ref()).filter(|it| *it > Fixed9::ZERO);
    let symbol = security.ticker_symbol.as_deref().map(str::trim).filter(|it| !it.is_empty());
    let name = security.name.as_deref().or(symbol).unwrap_or("Security");
    let (kind, asset_class) = security_kind(security);
    Some(HoldingDraft {
        security: SecurityDraft {
            external_id: security.security_id.clone(),
            symbol: symbol.map(str::to_owned),
            name: name.to_owned(),
            kind,
            asset_class,
            currency,
            price,
            previous_close: None,
            priced_at: price.map(|_| at),
        },
        quantity,
        cost_basis_minor: numbers::minor(it.cost_basis.as_ref(), currency),
        institution_value_minor: numbers::minor(it.institution_value.as_ref(), currency),
    })
}

fn security_kind(security: &Security) -> (SecurityKind, AssetClass) {
    if security.is_cash_equivalent == Some(true) {
        return (SecurityKind::Cash, AssetClass::Cash);
    }
    match security.kind.as_deref().unwrap_or_default() {
        "cash" => (SecurityKind::Cash, AssetClass::Cash),
        "cryptocurrency" => (SecurityKind::Cryptocurrency, AssetClass::Crypto),
        "derivative" => (SecurityKind::Derivative, AssetClass::Derivative),
        "equity" => (SecurityKind::Equity, AssetClass::Equity),
        "etf" => (SecurityKind::Etf, AssetClass::Fund),
        "fixed income" => (SecurityKind::FixedIncome, AssetClass::FixedIncome),
        "mutual fund" => (SecurityKind::MutualFund, AssetClass::Fund),
        _ => (SecurityKind::Other, AssetClass::Other),
    }
}
