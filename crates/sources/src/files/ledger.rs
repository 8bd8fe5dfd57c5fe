//! Statements of bank accounts put together: those of one account in one place, its balances in order, and whether each
//! adds up. For the formats in which a bank states what an account opened and closed with.

use std::collections::BTreeMap;

use base::draft::{AccountDraft, AccountKind, BalanceDraft, PastBalance, TransactionDraft};
use base::{Currency, Date, Money};

use super::FileAccount;
use super::limits::{ACCOUNTS_MAX, counted};
use crate::apart::tell_apart;

/// Whose account it is, as the statement says.
#[derive(Debug, Default)]
pub(super) struct Holder {
    /// Empty where the file names none.
    pub(super) number: String,
    pub(super) name: Option<String>,
    /// A BIC or a routing number.
    pub(super) bank: Option<String>,
    pub(super) institution: Option<String>,
}

pub(super) struct Ledger {
    accounts: Vec<Kept>,
    /// By number: some banks keep several currencies under one.
    places: BTreeMap<String, Vec<(Currency, usize)>>,
    rows: usize,
    rows_max: usize,
}

struct Kept {
    account: FileAccount,
    /// Every closing balance that was told, with its day.
    closings: Vec<(Date, BalanceDraft)>,
}

impl Ledger {
    pub(super) fn new(rows_max: usize) -> Ledger {
        Ledger { accounts: Vec::new(), places: BTreeMap::new(), rows: 0, rows_max }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// To be asked before rows are kept, even if their account is not known yet.
    pub(super) fn admit(&mut self, rows: usize) -> Result<(), String> {
        if self.rows.saturating_add(rows) > self.rows_max {
            return Err(format!("the file has more than {} rows", counted(self.rows_max)));
        }
        self.rows += rows;
        Ok(())
    }

    pub(super) fn add(
        &mut self,
        holder: Holder,
        currency: Currency,
        rows: Vec<TransactionDraft>,
        closing: Option<(Date, BalanceDraft)>,
    ) -> Result<(), String> {
        let places = self.places.get(&holder.number).map_or(&[][..], Vec::as_slice);
        let place = match places.iter().find(|(it, _)| *it == currency) {
            Some((_, place)) => *place,
            None if self.accounts.len() == ACCOUNTS_MAX => {
                return Err(format!("the file has more than {ACCOUNTS_MAX} accounts"));
            }
            None => {
                let external_id = match places.is_empty() {
                    true => holder.number.clone(),
                    false => format!("{}/{currency}", holder.number),
                };
                let places = self.places.entry(holder.number.clone()).or_default();
                places.push((currency, self.accounts.len()));
                let bank = holder.bank.clone();
                let account = FileAccount { bank, draft: draft(holder, external_id, currency) };
                self.accounts.push(Kept { account, closings: Vec::new() });
                self.accounts.len() - 1
            }
        };
        if let Some(kept) = self.accounts.get_mut(place) {
            kept.account.draft.transactions.extend(rows);
            kept.closings.extend(closing);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<FileAccount> {
        self.accounts.into_iter().map(Kept::finish).collect()
    }
}

impl Kept {
    /// The latest closing is the balance, those of earlier days are its past.
    fn finish(self) -> FileAccount {
        let mut account = self.account;
        tell_apart(&mut account.draft.transactions);
        let mut closings = self.closings;
        // Stable: of two on one day, the later in the file counts.
        closings.sort_by_key(|(day, balance)| (*day, balance.as_of));
        let latest = closings.last().copied();
        account.draft.balance = latest.map(|(_, balance)| balance);
        let by_day: BTreeMap<Date, i64> =
            closings.iter().map(|(day, balance)| (*day, balance.current_minor)).collect();
        let earlier = by_day.into_iter().filter(|(day, _)| latest.is_some_and(|it| *day < it.0));
        account.draft.past_balances =
            earlier.map(|(on, current_minor)| PastBalance { on, current_minor }).collect();
        account
    }
}

fn draft(holder: Holder, external_id: String, currency: Currency) -> AccountDraft {
    let number: Vec<char> = holder.number.chars().collect();
    let mask = number.last_chunk::<4>().map(|it| it.iter().collect::<String>());
    let unnamed = || match &mask {
        Some(mask) => format!("Account {mask}"),
        None => "Account".to_owned(),
    };
    let name = holder.name.unwrap_or_else(unnamed);
    AccountDraft {
        mask,
        institution_name: holder.institution,
        ..AccountDraft::new(external_id, name, AccountKind::Depository, currency)
    }
}

/// What is wrong when a statement does not come to what it says it closes with.
pub(super) fn unbalanced(
    opening: i64,
    entries: i128,
    closing: i64,
    currency: Currency,
) -> Option<String> {
    let difference = i128::from(closing) - i128::from(opening) - entries;
    let shown = |minor: i128| match i64::try_from(minor) {
        Ok(minor) => Money::new(minor, currency).to_string(),
        Err(_) => "more than can be counted".to_owned(),
    };
    (difference != 0).then(|| {
        format!(
            "the statement does not add up: it opens with {}, its entries come to {}, and it \
             closes with {}, which differs by {}; its entries were kept, but some may be missing",
            shown(opening.into()),
            shown(entries),
            shown(closing.into()),
            shown(difference)
        )
    })
}

/// What the file says, short enough for a sentence.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
