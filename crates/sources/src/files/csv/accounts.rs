//! Collects the rows of a table by account, and resolves signs, balances and ids after all rows are read.

use std::collections::BTreeMap;

use base::draft::{AccountDraft, AccountKind, BalanceDraft, TransactionDraft};
use base::{Currency, Date, Money, Timestamp, days_from_date};

use super::mapping::Mapping;
use super::rows::{Entry, Sign};
use super::running_balance::{self, BalanceStep, Proof};
use crate::files::source_category::SourceCategory;
use crate::files::table_amount::Direction;
use crate::files::{ChargeSign, FileAccount, FileQuestion, ParseOptions, Rejections};
use crate::plausibility::is_implausible_amount;
use crate::unique_ids::make_ids_unique;

/// A real file has a handful of accounts; with more, the column is not an account.
const ACCOUNTS_MAX: usize = 200;

#[derive(Default)]
pub(super) struct TableAccounts {
    accounts: Vec<AccountRows>,
    indexes: BTreeMap<(String, String, Currency), usize>,
    last: usize,
}

struct AccountRows {
    number: String,
    name: String,
    currency: Currency,
    /// The card that all rows name; empty if they name several.
    card: Option<String>,
    rows: Vec<TransactionDraft>,
    details: Vec<RowDetails>,
}

/// The values of a row that a draft has no field for.
#[derive(Clone, Copy)]
struct RowDetails {
    line: usize,
    sign: Sign,
    fee_minor: i64,
    balance_minor: Option<i64>,
    category: Option<SourceCategory>,
}

impl TableAccounts {
    pub(super) fn add(&mut self, line: usize, entry: Entry<'_>) -> Result<(), String> {
        let index = self.account_index(&entry)?;
        let account = &mut self.accounts[index];
        if account.card.as_deref().is_some_and(|it| !same(it, entry.card)) {
            account.card = Some(String::new());
        }
        account.details.push(RowDetails {
            line,
            sign: entry.sign,
            fee_minor: entry.fee_minor,
            balance_minor: entry.balance_minor,
            category: entry.category,
        });
        account.rows.push(TransactionDraft {
            external_id: entry.id,
            pending: entry.is_pending,
            settles: None,
            posted_on: entry.posted_on,
            authorized_on: entry.authorized_on,
            amount: Money::new(entry.minor, entry.currency),
            description: entry.description,
            counterparty: entry.counterparty,
            counterparty_logo_url: entry.logo,
            category: None,
        });
        Ok(())
    }

    /// The index of the entry's account, which is added if it is new.
    fn account_index(&mut self, entry: &Entry<'_>) -> Result<usize, String> {
        // Rows of one account usually follow each other.
        if self.accounts.get(self.last).is_some_and(|it| it.is_of(entry)) {
            return Ok(self.last);
        }
        let key = (entry.account.to_owned(), entry.account_name.to_string(), entry.currency);
        self.last = match self.indexes.get(&key) {
            Some(index) => *index,
            None if self.accounts.len() == ACCOUNTS_MAX => {
                return Err(format!("The file has more than {ACCOUNTS_MAX} accounts."));
            }
            None => {
                self.accounts.push(AccountRows {
                    number: key.0.clone(),
                    name: key.1.clone(),
                    currency: entry.currency,
                    card: Some(entry.card.to_owned()),
                    rows: Vec::new(),
                    details: Vec::new(),
                });
                self.indexes.insert(key, self.accounts.len() - 1);
                self.accounts.len() - 1
            }
        };
        Ok(self.last)
    }

    /// The accounts as drafts. `number` is the account number if the file states it above the rows.
    pub(super) fn finish(
        mut self,
        mapping: &Mapping,
        options: &ParseOptions,
        number: Option<String>,
        rejected: &mut Rejections,
    ) -> (Vec<FileAccount>, Vec<FileQuestion>) {
        if mapping.keeps_one_currency {
            let best = |it: &AccountRows| (it.currency == options.currency, it.rows.len());
            let kept = self.accounts.into_iter().max_by_key(best);
            self.accounts = kept.into_iter().collect();
        }
        if let ([account], Some(number)) = (self.accounts.as_mut_slice(), number)
            && account.number.is_empty()
        {
            account.number = number;
        }
        let names = names(&self.accounts, mapping);
        let mut question = None;
        let accounts = self
            .accounts
            .into_iter()
            .zip(names)
            .map(|(account, names)| {
                let (account, open) = account.finish(mapping, options, names, rejected);
                question = question.or(open.map(|read_as| FileQuestion::ChargeSign { read_as }));
                account
            })
            .collect();
        (accounts, question.into_iter().collect())
    }
}

/// The id and the name of each account. The currency is appended where accounts would otherwise share a name.
fn names(accounts: &[AccountRows], mapping: &Mapping) -> Vec<(String, String)> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for account in accounts {
        *seen.entry((&account.number, &account.name)).or_default() += 1;
    }
    let institution = mapping.institution.as_deref().unwrap_or("Imported account");
    let named = |account: &AccountRows| {
        let shares =
            seen.get(&(account.number.as_str(), account.name.as_str())).is_some_and(|it| *it > 1);
        let currency = match mapping.currencies_are_accounts || shares {
            true => account.currency.code(),
            false => "",
        };
        let id = if account.number.is_empty() { &account.name } else { &account.number };
        let card = account.card.as_deref().unwrap_or_default();
        let name = match (account.name.as_str(), mask(&account.number).or_else(|| mask(card))) {
            ("", Some(mask)) => format!("{institution} {mask}"),
            ("", None) => institution.to_owned(),
            (name, _) => name.to_owned(),
        };
        (joined(id, currency), joined(&name, currency))
    };
    accounts.iter().map(named).collect()
}

fn joined(text: &str, behind: &str) -> String {
    match (text.is_empty(), behind.is_empty()) {
        (true, _) => behind.to_owned(),
        (false, true) => text.to_owned(),
        (false, false) => format!("{text} {behind}"),
    }
}

/// Compares lengths first: usually both are empty, and comparing empty slices is slow on some processors because
/// their pointers are dangling.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

/// The last four digits of a number.
fn mask(number: &str) -> Option<String> {
    let digits: String = number.chars().rev().take_while(char::is_ascii_digit).take(4).collect();
    (digits.len() == 4).then(|| digits.chars().rev().collect())
}

impl AccountRows {
    fn is_of(&self, entry: &Entry<'_>) -> bool {
        self.currency == entry.currency
            && same(&self.number, entry.account)
            && same(&self.name, &entry.account_name)
    }

    /// The account draft, and the assumed sign of charges if the file does not determine it.
    fn finish(
        mut self,
        mapping: &Mapping,
        options: &ParseOptions,
        (external_id, name): (String, String),
        rejected: &mut Rejections,
    ) -> (FileAccount, Option<ChargeSign>) {
        let kind = mapping.account_kind.unwrap_or(AccountKind::Other);
        let proof = running_balance::prove(&self.steps());
        let has_open = self.details.iter().any(|it| it.sign == Sign::Number);
        let (charges, is_open) = self.charges(mapping, options, proof);
        let turns = has_open && charges == ChargeSign::Positive;
        let is_owned = proof.is_some_and(|it| it.adds_up != turns);
        // A deposit account holds the person's own money; balances that contradict this are not used.
        let proof = proof.filter(|_| is_owned || kind != AccountKind::Depository);
        if mapping.unbalanced_is_pending {
            self.mark_pending();
        }
        let balance = proof.and_then(|it| self.balance(it, is_owned == kind.is_debt()));
        self.settle(turns, rejected);
        let mask = mask(&self.number).or_else(|| mask(self.card.as_deref().unwrap_or_default()));
        let draft = AccountDraft {
            mask,
            subtype: mapping.account_subtype.clone(),
            institution_name: mapping.institution.clone(),
            balance,
            transactions: self.rows,
            ..AccountDraft::new(external_id, name, kind, self.currency)
        };
        (FileAccount::new(None, draft), (is_open && has_open).then_some(charges))
    }

    fn steps(&self) -> Vec<BalanceStep> {
        let step = |(row, detail): (&TransactionDraft, &RowDetails)| {
            let minor = row.amount.minor().saturating_sub(detail.fee_minor);
            let day = days_from_date(row.posted_on);
            detail.balance_minor.map(|balance_minor| BalanceStep { day, minor, balance_minor })
        };
        self.rows.iter().zip(&self.details).filter_map(step).collect()
    }

    /// The sign of charges, and whether it is only assumed. In most files most rows are charges.
    fn charges(
        &self,
        mapping: &Mapping,
        options: &ParseOptions,
        proof: Option<Proof>,
    ) -> (ChargeSign, bool) {
        let is_deposit = mapping.account_kind == Some(AccountKind::Depository);
        match mapping.charges.or(options.charges) {
            // The balances of a deposit account contradict the preset: only the user can decide.
            Some(charges) if is_deposit && proof.is_some_and(|it| it.contradicts(charges)) => {
                let other = match charges {
                    ChargeSign::Negative => ChargeSign::Positive,
                    ChargeSign::Positive => ChargeSign::Negative,
                };
                return options.charges.map_or((other, true), |answer| (answer, false));
            }
            Some(charges) => return (charges, false),
            None => {}
        }
        if let Some(proof) = proof {
            return (
                if proof.adds_up { ChargeSign::Negative } else { ChargeSign::Positive },
                false,
            );
        }
        let is_stated =
            |direction| self.details.iter().any(|it| it.sign == Sign::Stated(direction));
        match (is_stated(Direction::In), is_stated(Direction::Out)) {
            (true, false) => return (ChargeSign::Positive, false),
            (false, true) => return (ChargeSign::Negative, false),
            _ => {}
        }
        let open = self.rows.iter().zip(&self.details).filter(|(_, it)| it.sign == Sign::Number);
        let (count, positive) = open.fold((0_usize, 0_usize), |(count, positive), (row, _)| {
            (count + 1, positive + usize::from(row.amount.minor() > 0))
        });
        let is_card = positive * 3 > count * 2;
        (if is_card { ChargeSign::Positive } else { ChargeSign::Negative }, true)
    }

    fn balance(&self, proof: Proof, turns: bool) -> Option<BalanceDraft> {
        let mut balances = self
            .rows
            .iter()
            .zip(&self.details)
            .filter_map(|(row, detail)| detail.balance_minor.map(|it| (row.posted_on, it)));
        let (on, minor) =
            if proof.is_oldest_first { balances.next_back()? } else { balances.next()? };
        let current_minor = if turns { minor.checked_neg()? } else { minor };
        let as_of = midday(on)?;
        Some(BalanceDraft { as_of, current_minor, available_minor: None, limit_minor: None })
    }

    /// Counts rows without a balance as pending, unless no row has one.
    fn mark_pending(&mut self) {
        if self.details.iter().any(|it| it.balance_minor.is_some()) {
            for (row, detail) in self.rows.iter_mut().zip(&self.details) {
                row.pending |= detail.balance_minor.is_none();
            }
        }
    }

    /// Applies the sign of charges, subtracts fees, resolves categories, and makes ids unique.
    fn settle(&mut self, numbers_turn: bool, rejected: &mut Rejections) {
        let mut fits = Vec::with_capacity(self.rows.len());
        for (row, detail) in self.rows.iter_mut().zip(&self.details) {
            let turns = numbers_turn && detail.sign == Sign::Number;
            let minor = row.amount.minor();
            let minor = if turns { minor.checked_neg() } else { Some(minor) };
            let minor = minor.and_then(|it| it.checked_sub(detail.fee_minor));
            let minor = minor.filter(|it| !is_implausible_amount(*it));
            match minor {
                Some(minor) => {
                    row.amount = Money::new(minor, self.currency);
                    row.category = detail.category.and_then(|it| it.facing(minor > 0));
                }
                None => rejected.add(detail.line, "The amount is larger than any we can keep."),
            }
            fits.push(minor.is_some());
        }
        if self.rows.iter().any(|it| it.external_id.is_some()) {
            let distinct = make_ids_unique(&mut self.rows);
            fits.iter_mut().zip(distinct).for_each(|(fits, distinct)| *fits &= distinct);
        }
        let mut fits = fits.into_iter();
        self.rows.retain(|_| fits.next().unwrap_or(true));
    }
}

fn midday(on: Date) -> Option<Timestamp> {
    let seconds = days_from_date(on).checked_mul(86_400)?.checked_add(43_200)?;
    Timestamp::from_second(seconds).ok()
}
