//! The rows of one account of a table: the balances between them, and what changes in them once all are read.

use base::draft::{BalanceDraft, TradeDraft, TransactionDraft};
use base::{Currency, Money, days_from_date};

use super::charges::OpenRow;
use super::mapping::Mapping;
use super::row_money::Sign;
use super::rows::Entry;
use super::running_balance::{self, BalanceStep, Proof};
use super::trades::RowTrade;
use crate::files::source_category::SourceCategory;
use crate::files::table_amount::Direction;
use crate::files::{Rejections, dates};
use crate::plausibility::is_implausible_amount;
use crate::unique_ids::number_ids;

pub(super) struct AccountRows {
    pub(super) number: String,
    pub(super) name: String,
    /// The type of account in the words of the file; empty if it has none.
    pub(super) account_type: String,
    pub(super) currency: Currency,
    /// The card that all rows with one name; none if no row names one, empty if they name several.
    pub(super) card: Option<String>,
    pub(super) rows: Vec<TransactionDraft>,
    pub(super) details: Vec<RowDetails>,
    /// The trades, by the index of their row.
    pub(super) trades: Vec<(usize, RowTrade)>,
}

/// The values of a row that a draft has no field for.
#[derive(Clone, Copy)]
pub(super) struct RowDetails {
    pub(super) line: usize,
    pub(super) sign: Sign,
    pub(super) has_plus: bool,
    pub(super) fee_minor: i64,
    pub(super) balance_minor: Option<i64>,
    pub(super) category: Option<SourceCategory>,
}

impl AccountRows {
    pub(super) fn is_of(&self, entry: &Entry<'_>) -> bool {
        self.currency == entry.currency
            && same(&self.number, entry.account)
            && same(&self.name, &entry.account_name)
    }

    pub(super) fn add_card(&mut self, card: &str) {
        match &self.card {
            Some(known) if same(known, card) || known.is_empty() => {}
            Some(_) => self.card = Some(String::new()),
            None => self.card = Some(card.to_owned()),
        }
    }

    /// Where only some amounts have a plus and none has a minus, the plus marks money in.
    pub(super) fn settle_pluses(&mut self) {
        let open = || self.rows.iter().zip(&self.details).filter(|(_, it)| it.sign == Sign::Number);
        let is_marked = open().any(|(_, it)| it.has_plus)
            && open().any(|(_, it)| !it.has_plus)
            && open().all(|(row, _)| row.amount.minor() >= 0);
        if is_marked {
            let marked = self.details.iter_mut().filter(|it| it.has_plus);
            marked.for_each(|it| it.sign = Sign::Stated(Direction::In));
        }
    }

    pub(super) fn steps(&self, mapping: &Mapping) -> Vec<BalanceStep> {
        let mut between = 0_i64;
        let mut steps = Vec::new();
        for (row, detail) in self.rows.iter().zip(&self.details) {
            let minor = row.amount.minor().saturating_sub(detail.fee_minor);
            let Some(balance_minor) = detail.balance_minor else {
                if !row.pending && !mapping.unbalanced_is_pending {
                    between = between.saturating_add(minor);
                }
                continue;
            };
            let (day, line) = (days_from_date(row.posted_on), detail.line);
            let between_minor = std::mem::take(&mut between);
            steps.push(BalanceStep { day, line, minor, between_minor, balance_minor });
        }
        steps
    }

    /// The rows whose direction only their sign tells.
    pub(super) fn open_rows(&self) -> impl Iterator<Item = OpenRow<'_>> {
        let open = self.rows.iter().zip(&self.details).filter(|(_, it)| it.sign == Sign::Number);
        open.map(|(row, detail)| OpenRow {
            row,
            category: detail.category,
            has_plus: detail.has_plus,
        })
    }

    pub(super) fn balance(
        &self,
        (steps, proof): (&[BalanceStep], Proof),
        turns: bool,
    ) -> Option<BalanceDraft> {
        let mut balances = self
            .rows
            .iter()
            .zip(&self.details)
            .filter_map(|(row, detail)| detail.balance_minor.map(|it| (row.posted_on, it)));
        let (on, minor) =
            if proof.is_oldest_first { balances.next_back()? } else { balances.next()? };
        let minor = running_balance::closing(steps, proof).unwrap_or(minor);
        let current_minor = if turns { minor.checked_neg()? } else { minor };
        let as_of = dates::midday(on)?;
        Some(BalanceDraft { as_of, current_minor, available_minor: None, limit_minor: None })
    }

    /// Counts rows without a balance as pending, unless no row has one.
    pub(super) fn mark_pending(&mut self) {
        if self.details.iter().any(|it| it.balance_minor.is_some()) {
            for (row, detail) in self.rows.iter_mut().zip(&self.details) {
                row.pending |= detail.balance_minor.is_none();
            }
        }
    }

    /// The trades with the amounts of their rows, and the indexes of these. Pending rows are no trades yet.
    pub(super) fn trades(&mut self) -> Vec<(usize, TradeDraft)> {
        let trades = std::mem::take(&mut self.trades).into_iter();
        let booked = trades.filter(|(row, _)| !self.rows[*row].pending);
        let draft = |(index, trade): (usize, RowTrade)| {
            (index, trade.draft(&self.rows[index], self.details[index].fee_minor))
        };
        booked.map(draft).collect()
    }

    /// Applies the sign of charges, subtracts fees, resolves categories, and makes ids unique. Tells which rows are kept.
    pub(super) fn settle(&mut self, numbers_turn: bool, rejected: &mut Rejections) -> Vec<bool> {
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
        number_ids(&mut self.rows);
        let mut kept = fits.iter();
        self.rows.retain(|_| kept.next().copied().unwrap_or(true));
        fits
    }
}

/// Compares lengths first: usually both are empty, and comparing empty slices is slow on some processors because
/// their pointers are dangling.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}
