//! Collects the rows of a table by account, and resolves signs, balances and ids after all rows are read.

use std::collections::BTreeMap;

use base::draft::{AccountDraft, AccountKind, TransactionDraft};
use base::{Currency, Money};

use super::account_names::{self, AccountLabels};
use super::account_number;
use super::account_rows::{AccountRows, RowDetails};
use super::balance_notes;
use super::charges;
use super::kinds::{self, KindOfAccount, MoneySigns};
use super::mapping::Mapping;
use super::repeated_rows;
use super::row_money::Sign;
use super::rows::Entry;
use super::running_balance::{self, Proof};
use super::stated_change;
use crate::files::table_amount::Direction;
use crate::files::{ChargeSign, FileAccount, FileQuestion, Notes, ParseOptions, Rejections};

/// A real file has a handful of accounts; with more, the column is not an account.
const ACCOUNTS_MAX: usize = 200;
/// Longer descriptions are not continued by the rows below.
const CONTINUED_BYTES_MAX: usize = 1_000;

#[derive(Default)]
pub(super) struct TableAccounts {
    pub(super) accounts: Vec<AccountRows>,
    indexes: BTreeMap<(String, String, Currency), usize>,
    last: usize,
    pub(super) notes: Notes,
}

/// What holds for all accounts of a table.
pub(super) struct TableFacts<'a> {
    pub(super) mapping: &'a Mapping,
    pub(super) options: &'a ParseOptions,
    /// The account number, if the file states it above the rows.
    pub(super) number: Option<String>,
    /// The kind of account that the lines above the titles or the titles say.
    pub(super) kind: Option<KindOfAccount>,
}

/// What an account leaves open.
struct OpenQuestions {
    /// The assumed sign of charges.
    charges: Option<ChargeSign>,
    /// Whether the kind of account is only assumed.
    kind: bool,
}

/// A row that was added, by its account and its place in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowPlace(usize, usize);

impl TableAccounts {
    pub(super) fn add(&mut self, line: usize, entry: Entry<'_>) -> Result<(), String> {
        let index = self.account_index(&entry)?;
        if let Some(note) = entry.note {
            self.notes.add(Some(line), note);
        }
        let account = &mut self.accounts[index];
        if !entry.card.is_empty() {
            account.add_card(entry.card);
        }
        let row = account.rows.len();
        account.trades.extend(entry.trade.map(|it| (row, it)));
        account.details.push(RowDetails {
            line,
            sign: entry.sign,
            has_plus: entry.has_plus,
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

    /// The row that was added last.
    pub(super) fn last_row(&self) -> Option<RowPlace> {
        let row = self.accounts.get(self.last)?.rows.len().checked_sub(1)?;
        Some(RowPlace(self.last, row))
    }

    /// Appends text to the description of a row.
    pub(super) fn continue_description(&mut self, RowPlace(account, row): RowPlace, text: &str) {
        let row = self.accounts.get_mut(account).and_then(|it| it.rows.get_mut(row));
        if let Some(row) = row.filter(|it| it.description.len() < CONTINUED_BYTES_MAX) {
            row.description.push(' ');
            row.description.push_str(text);
        }
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
                    account_type: entry.account_type.to_owned(),
                    currency: entry.currency,
                    card: None,
                    rows: Vec::new(),
                    details: Vec::new(),
                    trades: Vec::new(),
                });
                self.indexes.insert(key, self.accounts.len() - 1);
                self.accounts.len() - 1
            }
        };
        Ok(self.last)
    }

    /// The accounts as drafts, with the questions and notes about them.
    pub(super) fn finish(
        mut self,
        facts: &TableFacts<'_>,
        rejected: &mut Rejections,
    ) -> (Vec<FileAccount>, Vec<FileQuestion>, Notes) {
        let TableFacts { mapping, options, .. } = facts;
        if mapping.keeps_one_currency {
            let best = |it: &AccountRows| (it.currency == options.currency, it.rows.len());
            self.accounts.sort_by_key(|it| std::cmp::Reverse(best(it)));
            let others = self.accounts.split_off(1.min(self.accounts.len()));
            others.iter().for_each(|it| self.warn_left_out(it));
        }
        for account in &mut self.accounts {
            repeated_rows::leave_out(account, &mut self.notes);
        }
        if let [account] = self.accounts.as_mut_slice()
            && account.number.is_empty()
        {
            let card = account.card_number(facts);
            account.number = facts.number.clone().or(card).unwrap_or_default();
        }
        self.note_other_currencies(mapping);
        let labels: Vec<_> = self.accounts.iter().map(AccountRows::labels).collect();
        let names = account_names::ids_and_names(&labels, mapping);
        let shared = self.shared_charges(mapping);
        let (mut charges, mut kinds, mut notes) = (None, Vec::new(), self.notes);
        let mut accounts = Vec::with_capacity(self.accounts.len());
        for (index, (account, names)) in self.accounts.into_iter().zip(names).enumerate() {
            let (account, open) = account.finish((facts, shared), names, rejected, &mut notes);
            charges = charges.or(open.charges);
            let read_as = account.draft.kind;
            kinds
                .extend(open.kind.then_some(FileQuestion::AccountKind { account: index, read_as }));
            accounts.push(account);
        }
        let charges = charges.map(|read_as| FileQuestion::ChargeSign { read_as });
        (accounts, charges.into_iter().chain(kinds).collect(), notes)
    }
}

impl TableAccounts {
    /// The sign of charges in a file with several accounts, which is the same for all of them: by the balances of one
    /// of them, else by all rows.
    fn shared_charges(&self, mapping: &Mapping) -> Option<(ChargeSign, bool)> {
        if self.accounts.len() < 2 {
            return None;
        }
        let proof = |it: &AccountRows| running_balance::prove_in_any_order(&it.steps(mapping));
        match self.accounts.iter().filter_map(proof).find(|it| it.is_sure()) {
            Some(proof) if proof.adds_up => Some((ChargeSign::Negative, false)),
            Some(_) => Some((ChargeSign::Positive, false)),
            None => {
                let rows = self.accounts.iter().flat_map(AccountRows::open_rows);
                Some(charges::decide(rows, None, mapping.sides_are_assumed))
            }
        }
    }
}

impl AccountRows {
    /// The number of the card, if the account is that of one card. The last digits alone are only a mask.
    fn card_number(&self, facts: &TableFacts<'_>) -> Option<String> {
        let kind = facts.mapping.account_kind.or(facts.kind.map(|(kind, _)| kind));
        let is_card = kind == Some(AccountKind::Credit) && self.name.is_empty();
        self.card.clone().filter(|it| is_card && account_number::is_card_number(it))
    }

    fn labels(&self) -> AccountLabels<'_> {
        AccountLabels {
            number: &self.number,
            name: &self.name,
            card: self.card.as_deref().unwrap_or_default(),
            currency: self.currency,
        }
    }

    /// The account draft, and what the file leaves open about it.
    fn finish(
        mut self,
        (facts, shared): (&TableFacts<'_>, Option<(ChargeSign, bool)>),
        (external_id, name): (String, String),
        rejected: &mut Rejections,
        notes: &mut Notes,
    ) -> (FileAccount, OpenQuestions) {
        let mapping = facts.mapping;
        let known = self.known_kind(facts);
        let steps = self.steps(mapping);
        let proof = running_balance::prove_in_any_order(&steps);
        let is_contradicted =
            balance_notes::warn_contradiction(&steps, proof, self.currency, notes);
        self.settle_pluses();
        let has_open = self.details.iter().any(|it| it.sign == Sign::Number);
        let (charges, is_open) = self.charges(facts, proof, (known, shared));
        let turns = has_open && charges == ChargeSign::Positive;
        let is_owned = proof.is_some_and(|it| it.adds_up != turns);
        let signs = MoneySigns {
            has_positive_charges: turns && !is_open,
            is_owned: proof.filter(|it| it.is_sure()).map(|_| is_owned),
            is_overdrawn: steps.iter().any(|it| it.balance_minor < 0),
        };
        let found = known.or_else(|| kinds::of_rows(&self.rows, signs));
        let (kind, subtype) = found.unwrap_or((AccountKind::Depository, None));
        // A deposit account holds the person's own money; balances that contradict this are not used.
        if found.is_some_and(|(kind, _)| kind == AccountKind::Depository)
            && proof.is_some()
            && !is_owned
        {
            balance_notes::warn_opposite(&steps, notes);
        }
        let proof = proof.filter(|_| is_owned || kind != AccountKind::Depository);
        if mapping.unbalanced_is_pending {
            self.mark_pending();
        }
        let trusted = proof.filter(|_| !is_contradicted);
        let change = trusted.and_then(|it| stated_change::find(&self, &steps, it));
        let stated_change_minor = if is_owned { change } else { change.map(i64::saturating_neg) };
        let balance = proof.and_then(|it| self.balance((&steps, it), is_owned == kind.is_debt()));
        let trades = match kind {
            AccountKind::Investment => self.trades(),
            _ => Vec::new(),
        };
        let kept = self.settle(turns, rejected);
        let trades = trades.into_iter().filter(|(row, _)| kept[*row]).map(|it| it.1).collect();
        let mask = self.labels().mask();
        let subtype = subtype.map(str::to_owned).or_else(|| mapping.account_subtype.clone());
        let draft = AccountDraft {
            mask,
            subtype,
            institution_name: mapping.institution.clone(),
            balance,
            transactions: self.rows,
            trades,
            ..AccountDraft::new(external_id, name, kind, self.currency)
        };
        let charges = (is_open && has_open).then_some(charges);
        let account = FileAccount { bank: None, draft, stated_change_minor };
        (account, OpenQuestions { charges, kind: found.is_none() })
    }

    /// The kind of account before its rows are examined: by the mapping, its name, and the rest of the file.
    fn known_kind(&self, facts: &TableFacts<'_>) -> Option<KindOfAccount> {
        let by_name = || kinds::of_name(&self.name).or_else(|| kinds::of_name(&self.number));
        let by_iban = || {
            let is_iban = account_number::iban(&self.number).is_some();
            is_iban.then_some((AccountKind::Depository, Some("checking")))
        };
        let mapped = facts.mapping.account_kind.map(|it| (it, None));
        // Brokers call the part of an account that holds money a cash account.
        let is_traded = facts.kind.is_some_and(|it| it.0 == AccountKind::Investment);
        let by_type = || kinds::of_name(&self.account_type).filter(|_| !is_traded);
        mapped.or_else(by_type).or_else(by_name).or(facts.kind).or_else(by_iban)
    }

    /// The sign of charges, and whether it is only assumed.
    fn charges(
        &self,
        facts: &TableFacts<'_>,
        proof: Option<Proof>,
        (kind, shared): (Option<KindOfAccount>, Option<(ChargeSign, bool)>),
    ) -> (ChargeSign, bool) {
        let TableFacts { mapping, options, .. } = facts;
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
        shared.unwrap_or_else(|| {
            let kind = kind.map(|(kind, _)| kind);
            charges::decide(self.open_rows(), kind, mapping.sides_are_assumed)
        })
    }
}
