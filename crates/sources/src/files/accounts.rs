//! Combines the statements of each account, for the formats that state opening and closing balances, and checks that
//! they add up.

use std::collections::BTreeMap;

use base::draft::{AccountDraft, AccountKind, BalanceDraft, PastBalance, TransactionDraft};
use base::{Currency, Date, Money};

use super::FileAccount;
use super::limits::{ACCOUNTS_MAX, counted};
use crate::unique_ids::deduplicate_across;

/// The identity of an account, as stated in the file.
#[derive(Debug, Default)]
pub(super) struct AccountIdentity {
    /// Empty if the file names none.
    pub(super) number: String,
    pub(super) name: Option<String>,
    /// A BIC or a routing number.
    pub(super) bank: Option<String>,
    pub(super) institution: Option<String>,
}

pub(super) struct StatementAccounts {
    accounts: Vec<CollectedAccount>,
    /// Account indexes by number: some banks keep several currencies under one number.
    indexes: BTreeMap<String, Vec<(Currency, usize)>>,
    rows: usize,
    rows_max: usize,
}

struct CollectedAccount {
    account: FileAccount,
    /// The number of each row's statement.
    statements: Vec<usize>,
    /// Every stated closing balance with its date.
    closings: Vec<(Date, BalanceDraft)>,
    /// The sum of the changes that its statements state; none if one does not.
    change_minor: Option<i64>,
}

/// The content of one statement.
#[derive(Default)]
pub(super) struct StatementContent {
    pub(super) rows: Vec<TransactionDraft>,
    pub(super) closing: Option<(Date, BalanceDraft)>,
    /// The closing minus the opening balance, if both are stated.
    pub(super) change_minor: Option<i64>,
}

impl StatementAccounts {
    pub(super) fn new(rows_max: usize) -> StatementAccounts {
        StatementAccounts { accounts: Vec::new(), indexes: BTreeMap::new(), rows: 0, rows_max }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Counts rows against the limit. Call it before keeping rows, even if their account is not known yet.
    pub(super) fn admit(&mut self, rows: usize) -> Result<(), String> {
        if self.rows.saturating_add(rows) > self.rows_max {
            return Err(format!("the file has more than {} rows", counted(self.rows_max)));
        }
        self.rows += rows;
        Ok(())
    }

    pub(super) fn add(
        &mut self,
        identity: AccountIdentity,
        currency: Currency,
        statement: StatementContent,
    ) -> Result<(), String> {
        let indexes = self.indexes.get(&identity.number).map_or(&[][..], Vec::as_slice);
        let index = match indexes.iter().find(|(it, _)| *it == currency) {
            Some((_, index)) => *index,
            None if self.accounts.len() == ACCOUNTS_MAX => {
                return Err(format!("the file has more than {ACCOUNTS_MAX} accounts"));
            }
            None => {
                let external_id = match indexes.is_empty() {
                    true => identity.number.clone(),
                    false => format!("{}/{currency}", identity.number),
                };
                let indexes = self.indexes.entry(identity.number.clone()).or_default();
                indexes.push((currency, self.accounts.len()));
                let bank = identity.bank.clone();
                let account = FileAccount::new(bank, draft(identity, external_id, currency));
                let change_minor = Some(0);
                self.accounts.push(CollectedAccount {
                    account,
                    statements: Vec::new(),
                    closings: Vec::new(),
                    change_minor,
                });
                self.accounts.len() - 1
            }
        };
        if let Some(collected) = self.accounts.get_mut(index) {
            let number = collected.statements.last().map_or(0, |it| it + 1);
            let rows = &mut collected.account.draft.transactions;
            rows.extend(statement.rows);
            collected.statements.resize(rows.len(), number);
            collected.closings.extend(statement.closing);
            let both = collected.change_minor.zip(statement.change_minor);
            collected.change_minor = both.and_then(|(sum, it)| sum.checked_add(it));
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<FileAccount> {
        self.accounts.into_iter().map(CollectedAccount::finish).collect()
    }
}

impl CollectedAccount {
    /// The latest closing balance becomes the current one, those of earlier days past balances.
    fn finish(self) -> FileAccount {
        let mut account = self.account;
        let count = account.draft.transactions.len();
        deduplicate_across(&mut account.draft.transactions, &self.statements);
        // A statement that is in the file twice counts once.
        let is_whole = account.draft.transactions.len() == count;
        account.stated_change_minor = self.change_minor.filter(|_| is_whole);
        let mut closings = self.closings;
        // The sort is stable: of two balances on one day, the later in the file counts.
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

fn draft(identity: AccountIdentity, external_id: String, currency: Currency) -> AccountDraft {
    let number: Vec<char> = identity.number.chars().collect();
    let mask = number.last_chunk::<4>().map(|it| it.iter().collect::<String>());
    let unnamed = || match &mask {
        Some(mask) => format!("Account {mask}"),
        None => "Account".to_owned(),
    };
    let name = identity.name.unwrap_or_else(unnamed);
    AccountDraft {
        mask,
        institution_name: identity.institution,
        ..AccountDraft::new(external_id, name, AccountKind::Depository, currency)
    }
}

/// The warning if a statement's entries do not add up to its closing balance.
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
             closes with {}, which differs by {}; entries may be missing or wrong",
            shown(opening.into()),
            shown(entries),
            shown(closing.into()),
            shown(difference)
        )
    })
}

/// The warning if entries differ from the count and sum that a statement states for them.
pub(super) fn counts_differ(
    name: &str,
    (count, sum): (usize, i128),
    (stated_count, stated_minor): (usize, i64),
    currency: Currency,
) -> Option<String> {
    let is_same = count == stated_count && sum == i128::from(stated_minor);
    (!is_same).then(|| {
        let sum = i64::try_from(sum).map_or_else(
            |_| "more than can be counted".to_owned(),
            |minor| Money::new(minor, currency).to_string(),
        );
        format!(
            "the statement states {stated_count} {name} of {} in all, but has {count} of {sum}; entries may be missing \
             or wrong",
            Money::new(stated_minor, currency)
        )
    })
}

/// The text, cut to fit in a sentence.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
