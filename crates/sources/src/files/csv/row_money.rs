//! The money of a row: its amount, currency and direction, in one column or in two.

use base::{Currency, Money};

use super::cells::{Cells, cell, quote};
use super::currency_evidence::CurrencyEvidence;
use super::reader::Reader;
use crate::files::table_amount::{self, AmountError, DecimalMark, Direction, WrittenAmount};

/// How a row tells money in from money out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Only by the sign of the number; its meaning depends on the file.
    Number,
    /// By CR or DR beside the number.
    Stated(Direction),
    /// By a direction word or a separate column.
    Column,
}

/// The amount of a row.
pub(super) struct RowMoney {
    pub(super) minor: i64,
    pub(super) sign: Sign,
    pub(super) has_plus: bool,
    pub(super) note: Option<String>,
}

/// The currency of the country in which an account with this IBAN is.
pub(super) fn currency_of_iban(number: &str) -> Option<Currency> {
    if number.len() < 15 || !number.as_bytes()[0].is_ascii_uppercase() {
        return None;
    }
    let country = super::account_number::iban(number)?;
    let code = match &country[..2] {
        "AT" | "BE" | "CY" | "DE" | "EE" | "ES" | "FI" | "FR" | "GR" | "HR" | "IE" | "IT"
        | "LT" | "LU" | "LV" | "MT" | "NL" | "PT" | "SI" | "SK" => "EUR",
        "GB" => "GBP",
        "CH" | "LI" => "CHF",
        "SE" => "SEK",
        "NO" => "NOK",
        "DK" => "DKK",
        "PL" => "PLN",
        "CZ" => "CZK",
        "HU" => "HUF",
        "RO" => "RON",
        "BG" => "BGN",
        "TR" => "TRY",
        _ => return None,
    };
    Currency::parse(code).ok()
}

fn rounding_note(text: &str, written: WrittenAmount, currency: Currency) -> String {
    format!("{} was rounded to {}.", quote(text), Money::new(written.minor, currency))
}

impl Reader<'_> {
    /// Sets the currency of amounts that name none, if the mapping leaves it open.
    pub(super) fn settle_currency(&mut self, found: CurrencyEvidence) {
        match found {
            _ if !self.currency_is_open => {}
            CurrencyEvidence::Named(currency) => self.currency = currency,
            CurrencyEvidence::Suggested(currency, _) if !self.currency_is_chosen => {
                self.currency = currency;
            }
            CurrencyEvidence::Suggested(..) | CurrencyEvidence::Nothing => {}
        }
    }

    pub(super) fn row_currency(
        &self,
        cells: Cells<'_>,
        direction: Option<Direction>,
    ) -> Result<Currency, String> {
        if let Some((_, currency)) = self.filled_other_amount(cells) {
            return Ok(currency);
        }
        let column = match (self.currencies.as_slice(), direction) {
            ([], _) => return Ok(self.named_currency(cells).unwrap_or(self.currency)),
            ([_, arrives, ..], Some(Direction::In)) => *arrives,
            ([first, ..], _) => *first,
        };
        match cell(cells, Some(column)) {
            "" => Ok(self.currency),
            "€" => Ok(Currency::EUR),
            // The code of the ruble before 1998, which Russian banks still write.
            "RUR" => Currency::parse("RUB").map_err(|_| String::new()),
            code => Currency::parse(code)
                .or_else(|_| Currency::parse(&code.to_ascii_uppercase()))
                .map_err(|_| format!("{} is no currency; expected one such as USD.", quote(code))),
        }
    }

    /// Whether money out and money in each have their own column of currencies, so that a row may be an exchange.
    fn has_sides(&self) -> bool {
        self.currencies.len() > 1 && self.amount.is_none() && self.direction.is_none()
    }

    /// The directions by the filled columns of amounts. Of an exchange for what is no currency, such as coins, only the
    /// side that is money is read.
    pub(super) fn filled_sides(&self, cells: Cells<'_>) -> [Option<Option<Direction>>; 2] {
        if !self.has_sides() {
            return [Some(None), None];
        }
        let both = [Direction::Out, Direction::In];
        let [out, into] = both.map(|it| self.has_side(cells, it));
        let [out_is_money, into_is_money] =
            both.map(|it| self.row_currency(cells, Some(it)).is_ok());
        let is_exchange = out && into;
        let side = |is_read: bool, it: Direction| is_read.then_some(Some(it));
        let sides = [
            side(out && (out_is_money || !is_exchange || !into_is_money), Direction::Out),
            side(into && (into_is_money || !is_exchange), Direction::In),
        ];
        if out || into { sides } else { [Some(None), None] }
    }

    fn has_side(&self, cells: Cells<'_>, direction: Direction) -> bool {
        let column = if direction == Direction::Out { self.debit } else { self.credit };
        cell(cells, column).bytes().any(|it| matches!(it, b'1'..=b'9'))
    }

    /// The note on the side of an exchange that is no money.
    pub(super) fn unread_side_note(
        &self,
        cells: Cells<'_>,
        direction: Option<Direction>,
    ) -> Option<String> {
        if !self.has_sides() {
            return None;
        }
        let (other, column) = match direction? {
            Direction::Out => (Direction::In, self.credit),
            Direction::In => (Direction::Out, self.debit),
        };
        let reason = self.row_currency(cells, Some(other)).err()?;
        let amount = quote(cell(cells, column));
        let is_unread = self.has_side(cells, other);
        is_unread
            .then(|| format!("The other side of the exchange, {amount}, is not imported: {reason}"))
    }

    /// The column of amounts in another currency, if the row has its amount there.
    fn filled_other_amount(&self, cells: Cells<'_>) -> Option<(usize, Currency)> {
        let is_filled = |column: usize| !cell(cells, Some(column)).is_empty();
        let other = self.other_amount.filter(|(column, _)| is_filled(*column))?;
        (!self.amount.is_some_and(is_filled)).then_some(other)
    }

    /// The currency that the amount itself names, such as `12.50 SGD`.
    fn named_currency(&self, cells: Cells<'_>) -> Option<Currency> {
        if !self.currency_is_open {
            return None;
        }
        let columns = [self.amount, self.debit, self.credit];
        let columns = columns.into_iter().flatten().filter(|_| self.currency_is_named);
        let mut named =
            columns.filter_map(|it| table_amount::named_currency(cell(cells, Some(it))));
        let by_account =
            || currency_of_iban(cell(cells, self.account)).filter(|_| !self.currency_is_chosen);
        named.next().or_else(by_account)
    }

    pub(super) fn money(
        &self,
        cells: Cells<'_>,
        direction: Option<Direction>,
        currency: Currency,
    ) -> Result<RowMoney, String> {
        let by_side = |value: i64, direction: Direction| {
            let away = value.saturating_abs().saturating_neg();
            (if direction == Direction::Out { away } else { value.saturating_abs() }, Sign::Column)
        };
        let other = self.filled_other_amount(cells).map(|(column, _)| column);
        let column = match (other.or(self.amount), direction) {
            (Some(column), _) => Some(column),
            (None, Some(Direction::Out)) => self.debit,
            (None, Some(Direction::In)) => self.credit,
            (None, None) => return self.split(cells, currency),
        };
        let Some(written) = self.number(cells, column, currency)? else {
            return Err(self.no_amount());
        };
        let (minor, sign) = match (direction, written.direction) {
            (Some(direction), _) => by_side(written.minor, direction),
            (None, Some(direction)) => {
                (by_side(written.minor, direction).0, Sign::Stated(direction))
            }
            (None, None) => (written.minor, Sign::Number),
        };
        let note =
            written.is_rounded.then(|| rounding_note(cell(cells, column), written, currency));
        Ok(RowMoney { minor, sign, has_plus: written.has_plus, note })
    }

    /// Reads separate columns for money out and money in. Some banks write a minus in one of them; the column
    /// decides, unless only some of its amounts have one.
    fn split(&self, cells: Cells<'_>, currency: Currency) -> Result<RowMoney, String> {
        let out = self.number(cells, self.debit, currency)?;
        let into = self.number(cells, self.credit, currency)?;
        let is_nothing = |it: Option<WrittenAmount>| it.is_none_or(|it| it.minor == 0);
        let [out_reverses, into_reverses] = self.has_reversals;
        let side = |it: WrittenAmount, reverses: bool| match reverses {
            true => it.minor,
            false => it.minor.saturating_abs(),
        };
        let (minor, written, column) = match (out, into) {
            (None, None) => return Err(self.no_amount()),
            (Some(out), into) if is_nothing(into) => {
                (side(out, out_reverses).saturating_neg(), out, self.debit)
            }
            (out, Some(into)) if is_nothing(out) => (side(into, into_reverses), into, self.credit),
            _ => {
                let (out, into) = (cell(cells, self.debit), cell(cells, self.credit));
                let (out, into) = (quote(out), quote(into));
                return Err(format!(
                    "Both {out} went out and {into} came in; expected one of them."
                ));
            }
        };
        let sign = if self.mapping.sides_are_assumed { Sign::Number } else { Sign::Column };
        let note =
            written.is_rounded.then(|| rounding_note(cell(cells, column), written, currency));
        Ok(RowMoney { minor, sign, has_plus: false, note })
    }

    fn no_amount(&self) -> String {
        format!("The amount is missing; expected a number such as {}.", self.sample_amount())
    }

    fn sample_amount(&self) -> &'static str {
        if self.mark == DecimalMark::Dot { "-12.34" } else { "-12,34" }
    }

    pub(super) fn optional(
        &self,
        cells: Cells<'_>,
        column: Option<usize>,
        currency: Currency,
    ) -> Result<Option<i64>, String> {
        Ok(self.number(cells, column, currency)?.map(|it| it.minor))
    }

    fn number(
        &self,
        cells: Cells<'_>,
        column: Option<usize>,
        currency: Currency,
    ) -> Result<Option<WrittenAmount>, String> {
        let text = cell(cells, column);
        if text.is_empty() {
            return Ok(None);
        }
        table_amount::read(text, self.mark, currency).map(Some).map_err(|error| {
            let text = quote(text);
            match error {
                AmountError::NotANumber => {
                    let sample = self.sample_amount();
                    format!("{text} is no amount; expected a number such as {sample}.")
                }
                AmountError::TooLarge => format!("{text} is larger than any amount we can keep."),
                AmountError::OtherCurrency(other) => {
                    format!("{text} is in {other}; expected {currency}.")
                }
            }
        })
    }
}
