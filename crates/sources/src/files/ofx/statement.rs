//! One OFX statement: its account, its rows and balances, and the account draft built from it.

use std::borrow::Cow;

use base::draft::{AccountDraft, AccountKind, BalanceDraft, TradeDraft, TransactionDraft};
use base::{Currency, Date, Timestamp};
use jiff::civil::DateTime;

use super::position::{self, ParsedPosition, Securities};
use super::row::Entry;
use super::values::{date_and_time, midday, moment};
use crate::files::plain_amount::{Comma, amount, plain};
use crate::files::{FileAccount, Rejections};
use crate::json_decimal::parse_json_decimal;
use crate::plausibility::is_implausible_amount;
use crate::unique_ids::deduplicate_ids;

/// An amount with its date, and its line.
#[derive(Debug, Default)]
pub(super) struct StatedAmount<'a> {
    pub(super) line: usize,
    pub(super) amount: Option<Cow<'a, str>>,
    pub(super) at: Option<Cow<'a, str>>,
}

#[derive(Debug)]
pub(super) struct Statement<'a> {
    /// The aggregate of the statement: STMTRS, CCSTMTRS or INVSTMTRS.
    pub(super) wrapper: &'static str,
    pub(super) line: usize,
    pub(super) currency: Currency,
    /// Whether the file names the currency of this statement.
    pub(super) names_currency: bool,
    pub(super) bank: Option<Cow<'a, str>>,
    /// Some banks number accounts by branch.
    pub(super) branch: Option<Cow<'a, str>>,
    pub(super) number: Option<Cow<'a, str>>,
    pub(super) account_type: Option<Cow<'a, str>>,
    pub(super) rate: Option<Cow<'a, str>>,
    pub(super) at: Option<Cow<'a, str>>,
    pub(super) ledger: StatedAmount<'a>,
    pub(super) available: StatedAmount<'a>,
    pub(super) cash: StatedAmount<'a>,
    pub(super) rows: Vec<TransactionDraft>,
    pub(super) trades: Vec<TradeDraft>,
    /// Rows whose description still needs the name of a security, with its id.
    pub(super) unnamed: Vec<(usize, Cow<'a, str>)>,
    removed: Vec<String>,
    /// Indexes of rows that replace another row with the same id.
    kept: Vec<usize>,
    /// All positions or none: a position missing from a list counts as sold.
    pub(super) positions: Option<Vec<ParsedPosition<'a>>>,
    pub(super) lacks_positions: bool,
}

/// The key that identifies statements of the same account in a file.
pub(super) type Identity<'a> = (&'static str, Option<String>, Cow<'a, str>, Currency);

/// The day of a balance whose own date is missing or unreadable.
#[derive(Debug, Clone, Copy)]
pub(super) struct BalanceDay {
    /// The day on which the bank made the file.
    pub(super) made_on: Option<Date>,
    pub(super) today: Date,
}

impl BalanceDay {
    /// The day on which the file was made, else the day of the last row, else today.
    fn moment(self, rows: &[TransactionDraft]) -> Timestamp {
        let last = rows.iter().map(|it| it.posted_on).max();
        let day = self.made_on.or(last).unwrap_or(self.today);
        midday(day).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl<'a> Statement<'a> {
    pub(super) fn new(wrapper: &'static str, line: usize, currency: Currency) -> Statement<'a> {
        Statement {
            wrapper,
            line,
            currency,
            names_currency: false,
            bank: None,
            branch: None,
            number: None,
            account_type: None,
            rate: None,
            at: None,
            ledger: StatedAmount::default(),
            available: StatedAmount::default(),
            cash: StatedAmount::default(),
            rows: Vec::new(),
            trades: Vec::new(),
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
        Some((subtype, self.bank_and_branch(), number, self.currency))
    }

    /// The bank as `BANKID`, or as `BANKID-BRANCHID` where the file names a branch.
    fn bank_and_branch(&self) -> Option<String> {
        let is_named = |it: &&str| it.bytes().any(|it| it.is_ascii_alphanumeric() && it != b'0');
        let branch = self.branch.as_deref().filter(is_named);
        let bank = self.bank.as_deref()?;
        Some(branch.map_or_else(|| bank.to_owned(), |branch| format!("{bank}-{branch}")))
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

    /// Merges a later statement of the same account.
    pub(super) fn join(&mut self, mut later: Statement<'a>) {
        let before = self.rows.len();
        let is_newer = later.stated_at() >= self.stated_at();
        self.rows.append(&mut later.rows);
        self.trades.append(&mut later.trades);
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

    fn stated_at(&self) -> Option<DateTime> {
        self.ledger.at.as_deref().or(self.at.as_deref()).and_then(date_and_time)
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

    /// The account draft, and whether the sign of its balance is ambiguous. `day` is the day of balances without one.
    pub(super) fn finish(
        mut self,
        securities: &Securities<'_>,
        institution: &Institution<'_>,
        day: BalanceDay,
        rejected: &mut Rejections,
    ) -> (FileAccount, bool) {
        let otherwise_at = day.moment(&self.rows);
        if self.lacks_positions {
            self.positions = None;
        }
        let (kind, subtype) = self.kind();
        let (balance, is_ambiguous) = self.balance(kind, otherwise_at, rejected);
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
        let bank = self.bank_and_branch();
        let number = self.number.as_deref().unwrap_or_default();
        let mask = last_four(number).map(str::to_owned);
        let name = name(subtype, mask.as_deref());
        let rate =
            self.rate.as_deref().and_then(|it| parse_json_decimal(&plain(it, Comma::Decimal)?));
        let draft = AccountDraft {
            mask,
            subtype: Some(subtype.to_owned()),
            institution_name: institution.name.as_deref().map(str::to_owned),
            balance,
            interest_rate: rate,
            transactions: self.rows,
            removed: self.removed,
            holdings,
            trades: self.trades,
            ..AccountDraft::new(number, name, kind, self.currency)
        };
        let bank = bank.or_else(|| institution.number.as_deref().map(str::to_owned));
        (FileAccount::new(bank, draft), is_ambiguous)
    }

    /// Removes rows that the statement itself deletes, and makes ids unique.
    fn settle(&mut self) {
        self.removed.sort_unstable();
        self.removed.dedup();
        if !self.removed.is_empty() {
            self.drop_removed();
        }
        deduplicate_ids(&mut self.rows);
    }

    /// Removes deleted rows. A correction may come before or after the row it corrects, and may keep its id.
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
        // Zeros in place of the date and of the amount stand for a balance that the bank does not state.
        let written_at = self.ledger.at.as_deref();
        if ledger == 0 && written_at.is_some_and(|it| moment(it).is_none()) {
            return (None, false);
        }
        let available = self.money(&self.available, rejected);
        let is_debt = kind.is_debt();
        let balance = BalanceDraft {
            as_of: written_at.and_then(moment).unwrap_or(otherwise_at),
            // By the standard a debt is negative; issuers who write a positive number nearly always mean a debt as
            // well.
            current_minor: if is_debt { ledger.abs() } else { ledger },
            // A negative available credit is not usable: those issuers repeat the balance there.
            available_minor: available.filter(|it| !is_debt || *it >= 0),
            limit_minor: None,
        };
        (Some(balance), is_debt && ledger > 0)
    }

    /// The cash, and the total of cash and positions.
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
        let balance = sum.filter(|it| !is_implausible_amount(*it)).map(|current_minor| {
            BalanceDraft { as_of, current_minor, available_minor: None, limit_minor: None }
        });
        (cash, balance)
    }

    fn money(&self, stated: &StatedAmount<'_>, rejected: &mut Rejections) -> Option<i64> {
        match amount(stated.amount.as_deref()?, Comma::Decimal, self.currency) {
            Ok(money) => Some(money.minor()),
            Err(reason) => {
                rejected.add(stated.line, format!("the balance is left out: {reason}"));
                None
            }
        }
    }
}

/// The institution that sent the file.
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
