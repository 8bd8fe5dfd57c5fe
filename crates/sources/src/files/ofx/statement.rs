//! One statement of an OFX file: whose it is, what it holds, and the account that comes of it.

use std::borrow::Cow;

use base::draft::{AccountDraft, AccountKind, BalanceDraft, TransactionDraft};
use base::{Currency, Timestamp};

use super::position::{self, Held, Securities};
use super::row::Entry;
use super::values::moment;
use crate::apart::tell_apart;
use crate::bounds::is_absurd;
use crate::decimal::nine_places;
use crate::files::decimals::{Comma, amount, plain};
use crate::files::{FileAccount, Rejections};

/// An amount that a statement gives for a moment, and the line of it.
#[derive(Debug, Default)]
pub(super) struct Stated<'a> {
    pub(super) line: usize,
    pub(super) amount: Option<Cow<'a, str>>,
    pub(super) at: Option<Cow<'a, str>>,
}

#[derive(Debug)]
pub(super) struct Statement<'a> {
    /// The aggregate it stands in: STMTRS, CCSTMTRS or INVSTMTRS.
    pub(super) wrapper: &'static str,
    pub(super) line: usize,
    pub(super) currency: Currency,
    pub(super) bank: Option<Cow<'a, str>>,
    pub(super) number: Option<Cow<'a, str>>,
    pub(super) account_type: Option<Cow<'a, str>>,
    pub(super) rate: Option<Cow<'a, str>>,
    pub(super) at: Option<Cow<'a, str>>,
    pub(super) ledger: Stated<'a>,
    pub(super) available: Stated<'a>,
    pub(super) cash: Stated<'a>,
    pub(super) rows: Vec<TransactionDraft>,
    /// The securities whose name the descriptions of these rows still lack.
    pub(super) unnamed: Vec<(usize, Cow<'a, str>)>,
    removed: Vec<String>,
    /// The places of rows that replace one of their own id.
    kept: Vec<usize>,
    /// All of them or none: what a list of positions leaves out counts as sold.
    pub(super) positions: Option<Vec<Held<'a>>>,
    pub(super) lacks_positions: bool,
}

/// What makes two statements of a file those of one account.
pub(super) type Identity<'a> = (&'static str, Option<Cow<'a, str>>, Cow<'a, str>, Currency);

impl<'a> Statement<'a> {
    pub(super) fn new(wrapper: &'static str, line: usize, currency: Currency) -> Statement<'a> {
        Statement {
            wrapper,
            line,
            currency,
            bank: None,
            number: None,
            account_type: None,
            rate: None,
            at: None,
            ledger: Stated::default(),
            available: Stated::default(),
            cash: Stated::default(),
            rows: Vec::new(),
            unnamed: Vec::new(),
            removed: Vec::new(),
            kept: Vec::new(),
            positions: None,
            lacks_positions: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.number.is_none() && self.rows.is_empty() && self.ledger.amount.is_none()
    }

    pub(super) fn has_no_amounts(&self) -> bool {
        self.rows.is_empty() && self.positions.as_ref().is_none_or(Vec::is_empty)
    }

    pub(super) fn identity(&self) -> Option<Identity<'a>> {
        let (_, subtype) = self.kind();
        let number = self.number.clone()?;
        Some((subtype, self.bank.clone(), number, self.currency))
    }

    pub(super) fn enter(&mut self, entry: Entry) {
        match entry {
            Entry::New(row) => self.rows.push(row),
            Entry::Delete(id) => self.removed.push(id),
            Entry::Replace(id, row) => {
                if row.external_id.as_ref() == Some(&id) {
                    self.kept.push(self.rows.len());
                }
                self.removed.push(id);
                self.rows.push(row);
            }
        }
    }

    /// Takes over what a later statement of the same account says.
    pub(super) fn join(&mut self, mut later: Statement<'a>) {
        let before = self.rows.len();
        let is_newer = later.stated_at() >= self.stated_at();
        self.rows.append(&mut later.rows);
        self.unnamed.extend(later.unnamed.into_iter().map(|(at, id)| (before + at, id)));
        self.removed.append(&mut later.removed);
        self.kept.extend(later.kept.into_iter().map(|at| before + at));
        if is_newer && later.ledger.amount.is_some() {
            self.ledger = later.ledger;
            self.available = later.available;
        }
        if is_newer && later.positions.is_some() {
            (self.positions, self.cash, self.at) = (later.positions, later.cash, later.at);
            self.lacks_positions = later.lacks_positions;
        }
    }

    fn stated_at(&self) -> Option<Timestamp> {
        self.ledger.at.as_deref().or(self.at.as_deref()).and_then(moment)
    }

    fn kind(&self) -> (AccountKind, &'static str) {
        match (self.wrapper, self.account_type.as_deref()) {
            ("CCSTMTRS", _) => (AccountKind::Credit, "credit card"),
            ("INVSTMTRS", _) => (AccountKind::Investment, "brokerage"),
            (_, Some("SAVINGS")) => (AccountKind::Depository, "savings"),
            (_, Some("MONEYMRKT")) => (AccountKind::Depository, "money market"),
            (_, Some("CD")) => (AccountKind::Depository, "cd"),
            (_, Some("CREDITLINE")) => (AccountKind::Loan, "line of credit"),
            _ => (AccountKind::Depository, "checking"),
        }
    }

    /// The account, and whether its balance is in doubt. `otherwise_at` is for balances without a moment.
    pub(super) fn finish(
        mut self,
        securities: &Securities<'_>,
        institution: &Institution<'_>,
        otherwise_at: Timestamp,
        rejected: &mut Rejections,
    ) -> (FileAccount, bool) {
        if self.lacks_positions {
            self.positions = None;
        }
        let (kind, subtype) = self.kind();
        let (balance, is_doubtful) = self.balance(kind, otherwise_at, rejected);
        let (cash, balance) = match kind {
            AccountKind::Investment => self.worth(otherwise_at, rejected),
            _ => (None, balance),
        };
        let holdings = self.positions.as_deref().map(|it| {
            let mut holdings = position::holdings(it, securities);
            holdings.extend(cash.map(|it| position::cash(it, self.currency)));
            holdings
        });
        for (at, security) in &self.unnamed {
            let description = &mut self.rows[*at].description;
            description.push(' ');
            description.push_str(position::label(security, securities));
        }
        self.settle();
        let number = self.number.as_deref().unwrap_or_default();
        let mask = last_four(number).map(str::to_owned);
        let name = name(subtype, mask.as_deref());
        let rate = self.rate.as_deref().and_then(|it| nine_places(&plain(it, Comma::Decimal)?));
        let draft = AccountDraft {
            mask,
            subtype: Some(subtype.to_owned()),
            institution_name: institution.name.as_deref().map(str::to_owned),
            balance,
            interest_rate: rate,
            transactions: self.rows,
            removed: self.removed,
            holdings,
            ..AccountDraft::new(number, name, kind, self.currency)
        };
        let bank = self.bank.as_deref().or(institution.number.as_deref()).map(str::to_owned);
        (FileAccount { bank, draft }, is_doubtful)
    }

    /// Drops what the statement itself takes back, and gives each row an id of its own.
    fn settle(&mut self) {
        self.removed.sort_unstable();
        self.removed.dedup();
        if !self.removed.is_empty() {
            self.drop_removed();
        }
        tell_apart(&mut self.rows);
    }

    /// A correction may come with what it corrects, before or after it, and may even keep its id.
    fn drop_removed(&mut self) {
        let id = |at: &usize| self.rows[*at].external_id.clone();
        let mut held: Vec<String> = self.kept.iter().filter_map(id).collect();
        held.sort_unstable();
        let (removed, kept) = (&self.removed, &self.kept);
        let mut at = 0;
        self.rows.retain(|row| {
            at += 1;
            let id = row.external_id.as_ref();
            let is_removed = id.is_some_and(|it| removed.binary_search(it).is_ok());
            !is_removed || kept.binary_search(&(at - 1)).is_ok()
        });
        self.removed.retain(|it| held.binary_search(it).is_err());
    }

    fn balance(
        &self,
        kind: AccountKind,
        otherwise_at: Timestamp,
        rejected: &mut Rejections,
    ) -> (Option<BalanceDraft>, bool) {
        let Some(ledger) = self.money(&self.ledger, rejected) else { return (None, false) };
        let available = self.money(&self.available, rejected);
        let is_debt = kind.is_debt();
        let balance = BalanceDraft {
            as_of: self.ledger.at.as_deref().and_then(moment).unwrap_or(otherwise_at),
            // Owed is negative by the standard; issuers who write a positive nearly always mean owed as well.
            current_minor: if is_debt { ledger.abs() } else { ledger },
            // Less than nothing is no credit that could be used: those issuers repeat the balance there.
            available_minor: available.filter(|it| !is_debt || *it >= 0),
            limit_minor: None,
        };
        (Some(balance), is_debt && ledger > 0)
    }

    /// Cash, and the balance that is cash and positions together.
    fn worth(
        &self,
        otherwise_at: Timestamp,
        rejected: &mut Rejections,
    ) -> (Option<i64>, Option<BalanceDraft>) {
        let cash = self.money(&self.cash, rejected);
        let Some(positions) = &self.positions else { return (cash, None) };
        let mut sum = Some(cash.unwrap_or(0));
        for position in positions {
            let worth = position.worth_minor(self.currency);
            sum = sum.zip(worth).and_then(|(sum, worth)| sum.checked_add(worth));
        }
        let as_of = self.at.as_deref().and_then(moment).unwrap_or(otherwise_at);
        let balance = sum.filter(|it| !is_absurd(*it)).map(|current_minor| BalanceDraft {
            as_of,
            current_minor,
            available_minor: None,
            limit_minor: None,
        });
        (cash, balance)
    }

    fn money(&self, stated: &Stated<'_>, rejected: &mut Rejections) -> Option<i64> {
        match amount(stated.amount.as_deref()?, Comma::Decimal, self.currency) {
            Ok(money) => Some(money.minor()),
            Err(reason) => {
                rejected.add(stated.line, format!("the balance is left out: {reason}"));
                None
            }
        }
    }
}

/// Who sent the file.
#[derive(Debug, Default)]
pub(super) struct Institution<'a> {
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) number: Option<Cow<'a, str>>,
}

fn last_four(number: &str) -> Option<&str> {
    let start = number.char_indices().rev().nth(3).map_or(0, |it| it.0);
    Some(&number[start..]).filter(|it| !it.is_empty())
}

fn name(subtype: &str, mask: Option<&str>) -> String {
    let words = match subtype {
        "savings" => "Savings",
        "money market" => "Money market",
        "cd" => "Certificate of deposit",
        "line of credit" => "Line of credit",
        "credit card" => "Credit card",
        "brokerage" => "Brokerage",
        _ => "Checking",
    };
    match mask {
        Some(mask) => format!("{words} ...{mask}"),
        None => words.to_owned(),
    }
}
