//! Converts what a bank returned into offers and account drafts, by the person's choices for each account.

use std::collections::BTreeMap;

use base::draft::{AccountDraft, AccountKind, BalanceDraft, TransactionDraft};
use base::{Currency, Money, Timestamp};

use super::access::Account;
use super::rows;
use super::transactions::Balance;
use crate::provider::{AccountChoice, DraftAccounts, Offer, OwedSign, UnsupportedAccount};

#[derive(Debug, Default)]
pub(super) struct Fetched {
    pub(super) bank: String,
    pub(super) accounts: Vec<FetchedAccount>,
}

#[derive(Debug)]
pub(super) struct FetchedAccount {
    pub(super) account: Account,
    pub(super) balance: Option<Balance>,
    /// None if they were not asked for, or could not be read.
    pub(super) rows: Option<Vec<TransactionDraft>>,
    /// How many transactions could not be read.
    pub(super) rejected: usize,
}

impl FetchedAccount {
    pub(super) fn new(account: Account) -> FetchedAccount {
        FetchedAccount { account, balance: None, rows: None, rejected: 0 }
    }

    pub(super) fn currency(&self) -> Option<Currency> {
        let of_account = self.account.currency.as_deref();
        let of_balance = self.balance.as_ref().map(|it| it.balance_amount.currency.as_str());
        Currency::parse(of_account.or(of_balance)?).ok()
    }

    fn signed_balance(&self) -> Option<Money> {
        let balance = self.balance.as_ref()?;
        let indicator = balance.credit_debit_indicator.as_deref();
        rows::signed(&balance.balance_amount, indicator, self.currency()?)
    }

    pub(super) fn offer(&self, bank: &str) -> Result<Offer, UnsupportedAccount> {
        let account = &self.account;
        let Some(currency) = self.currency() else {
            return Err(UnsupportedAccount {
                id: account.hash.clone(),
                name: account.label(),
                reason: "The bank does not say in which currency this account is. It can't be \
                         added."
                    .to_owned(),
            });
        };
        Ok(Offer {
            external_id: account.hash.clone(),
            login: None,
            id: account.hash.clone(),
            name: account.label(),
            institution: Some(bank.to_owned()),
            currency,
            balance: self.signed_balance(),
            kind: account.kind(),
            subtype: account.subtype().map(str::to_owned),
            owed: OwedSign::Negative,
        })
    }
}

impl Account {
    fn kind(&self) -> AccountKind {
        match self.kind.as_deref().unwrap_or_default() {
            "CARD" => AccountKind::Credit,
            "LOAN" => AccountKind::Loan,
            "OTHR" => AccountKind::Other,
            _ => AccountKind::Depository,
        }
    }

    fn subtype(&self) -> Option<&'static str> {
        match self.kind.as_deref().unwrap_or_default() {
            "CARD" => Some("credit card"),
            "SVGS" => Some("savings"),
            "CACC" => Some("checking"),
            _ => None,
        }
    }

    /// The last four characters of the IBAN.
    fn mask(&self) -> Option<String> {
        let iban = self.iban.as_deref().filter(|it| it.is_ascii() && it.len() >= 15)?;
        Some(iban[iban.len() - 4..].to_owned())
    }

    fn label(&self) -> String {
        match self.mask() {
            Some(mask) if !self.name.contains(&mask) => format!("{} ({mask})", self.name),
            _ => self.name.clone(),
        }
    }
}

impl DraftAccounts for Fetched {
    fn drafts(
        &self,
        choices: &BTreeMap<String, AccountChoice>,
        at: Timestamp,
    ) -> Vec<AccountDraft> {
        let chosen =
            self.accounts.iter().filter_map(|it| Some((it, choices.get(&it.account.hash)?)));
        chosen.filter_map(|(it, choice)| self.draft(it, choice, at)).collect()
    }
}

impl Fetched {
    fn draft(
        &self,
        it: &FetchedAccount,
        choice: &AccountChoice,
        at: Timestamp,
    ) -> Option<AccountDraft> {
        let currency = it.currency()?;
        let balance = it.signed_balance().and_then(|raw| {
            let current_minor = match (choice.kind.is_debt(), choice.owed) {
                (true, OwedSign::Negative) => raw.minor().checked_neg()?,
                (true, OwedSign::Positive) | (false, _) => raw.minor(),
            };
            let (available_minor, limit_minor) = (None, None);
            Some(BalanceDraft { as_of: at, current_minor, available_minor, limit_minor })
        });
        Some(AccountDraft {
            mask: it.account.mask(),
            subtype: choice.subtype.clone(),
            institution_name: Some(self.bank.clone()),
            balance,
            transactions: it.rows.clone()?,
            ..AccountDraft::new(it.account.hash.clone(), &it.account.name, choice.kind, currency)
        })
    }
}
