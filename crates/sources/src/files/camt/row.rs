//! Interprets one CAMT entry: its sign, date and id, and the transactions it stands for.

use base::draft::TransactionDraft;
use base::{Currency, Date, Money, divide_half_even};

use super::entry::{Detail, Entry};
use super::statement::Balance;
use crate::files::accounts::cut;
use crate::files::plain_amount::{Comma, ParsedAmount, amount, plain, rounding_note};
use crate::json_decimal::parse_json_decimal;
use crate::plausibility::is_implausible_amount;

pub(super) fn signed(balance: &Balance, currency: Currency) -> Result<i64, String> {
    if let Some(other) = balance.currency.as_deref().filter(|it| *it != currency.code()) {
        return Err(format!("the amount is in {}, but the account is in {currency}", cut(other)));
    }
    let amount = unsigned(&balance.amount, currency)?.minor();
    // Some banks leave out the indicator, which must be there: a credit is likelier, and the check of the sum shows it.
    Ok(if balance.credit == Some(false) { -amount } else { amount })
}

/// Amounts have no sign in CAMT: CRDT and DBIT give the direction.
pub(super) fn unsigned(text: &str, currency: Currency) -> Result<ParsedAmount, String> {
    if text.is_empty() {
        return Err("the amount is missing".to_owned());
    }
    let parsed = amount(text, Comma::Improper, currency)?;
    match text.starts_with('-') && parsed.minor() != 0 {
        true => Err(format!("the amount is \"{}\", but it must have no sign", cut(text))),
        false => Ok(parsed),
    }
}

/// The amount of an entry in the currency of the account, and a note if it was rounded or converted.
fn entry_amount(entry: &Entry, currency: Currency) -> Result<(Money, Option<String>), String> {
    let code = currency.code();
    let Some(other) = entry.currency.as_deref().filter(|it| *it != code) else {
        let parsed = unsigned(&entry.amount, currency)?;
        let note = parsed.is_rounded.then(|| rounding_note(&entry.amount, parsed.money));
        return Ok((parsed.money, note));
    };
    let stated = entry.values.iter().find(|it| it.currency == code);
    let stated = stated.and_then(|it| unsigned(&it.amount, currency).ok()).map(|it| it.money);
    let money = stated.or_else(|| converted(entry, other, currency)).ok_or_else(|| {
        format!("the amount is in {}, but the account is in {currency}", cut(other))
    })?;
    let amount = cut(&entry.amount);
    Ok((money, Some(format!("{amount} {} was booked as {money}, as the file says", cut(other)))))
}

/// The amount of an entry in another currency, at the rate beside it.
fn converted(entry: &Entry, other: &str, currency: Currency) -> Option<Money> {
    let exchange = &entry.exchange;
    let rate = parse_json_decimal(&plain(exchange.rate.as_deref()?, Comma::Decimal)?)?;
    let rate = Some(rate.billionths()).filter(|it| *it > 0)?;
    let other_currency = Currency::parse(other).ok()?;
    let foreign = i128::from(unsigned(&entry.amount, other_currency).ok()?.minor());
    let scale = |of: Currency| 10_i128.pow(of.decimals());
    let unit = exchange.unit.as_deref().or(exchange.source.as_deref())?;
    let minor = if unit == other {
        let product = foreign.checked_mul(rate)?.checked_mul(scale(currency))?;
        divide_half_even(product, 1_000_000_000 * scale(other_currency))
    } else if unit == currency.code() {
        let product = foreign.checked_mul(1_000_000_000)?.checked_mul(scale(currency))?;
        divide_half_even(product, rate.checked_mul(scale(other_currency))?)
    } else {
        return None;
    };
    let minor = i64::try_from(minor).ok().filter(|it| !is_implausible_amount(*it))?;
    Some(Money::new(minor, currency))
}

/// An interpreted entry.
pub(super) struct Row {
    pub(super) pending: bool,
    on: Date,
    pub(super) amount: Money,
    pub(super) credit: bool,
    id: Option<String>,
    /// What was changed on the way.
    pub(super) note: Option<String>,
}

impl Row {
    /// Interprets an entry; `statement_day` is the day of entries without a date.
    pub(super) fn read(
        entry: &Entry,
        currency: Currency,
        statement_day: Option<Date>,
    ) -> Result<Row, String> {
        let (unsigned, mut note) = entry_amount(entry, currency)?;
        let credit = match (&entry.odd_indicator, entry.credit) {
            (Some(odd), _) => {
                return Err(format!("\"{}\" stands where CRDT or DBIT should", cut(odd)));
            }
            (None, Some(credit)) => credit,
            (None, None) => return Err("neither CRDT nor DBIT tells its sign".to_owned()),
        };
        let on = match (entry.booked.day.or(entry.valued.day), &entry.odd_day) {
            (Some(on), _) => on,
            (None, Some(odd)) => {
                return Err(format!("the date is \"{}\", but must be like 2026-03-31", cut(odd)));
            }
            (None, None) => {
                let day = statement_day.ok_or("the booking date is missing")?;
                let text =
                    format!("the entry has no date; {day}, the day of the statement, was used");
                note.get_or_insert(text);
                day
            }
        };
        let pending = match entry.status.as_str() {
            "" | "BOOK" => false,
            "PDNG" => true,
            odd => {
                return Err(format!("the status is \"{}\", but must be BOOK or PDNG", cut(odd)));
            }
        };
        let minor = if credit { unsigned.minor() } else { -unsigned.minor() };
        let counted = |it: &String| format!("{it}:{on}:{minor}");
        // Most banks number this reference from 1 in each statement, so it is not unique.
        let id = entry.servicer_reference.clone().or_else(|| entry.reference.as_ref().map(counted));
        Ok(Row { pending, on, amount: Money::new(minor, currency), credit, id, note })
    }

    /// One transaction, or one for each payment of a batch if their amounts add up to that of the entry.
    pub(super) fn drafts(&self, entry: &Entry) -> Vec<TransactionDraft> {
        if let Some(amounts) = self.parts(entry) {
            let parts = entry.details.iter().zip(&amounts).zip(1..);
            return parts
                .map(|((detail, amount), number)| {
                    let id = self.id.as_ref().map(|it| part_id(it, entry, detail, number));
                    self.draft(entry, Some(detail), *amount, id)
                })
                .collect();
        }
        let detail = entry.details.first().filter(|_| entry.details_count == 1);
        vec![self.draft(entry, detail, self.amount, self.id.clone())]
    }

    fn parts(&self, entry: &Entry) -> Option<Vec<Money>> {
        if entry.details_count < 2 || entry.details.len() < entry.details_count {
            return None;
        }
        let currency = self.amount.currency();
        let mut amounts = Vec::with_capacity(entry.details.len());
        let mut sum = 0_i128;
        for detail in &entry.details {
            if detail.currency.as_deref().is_some_and(|it| it != currency.code()) {
                return None;
            }
            let amount = unsigned(detail.amount.as_deref()?, currency).ok()?;
            let credit = detail.credit.unwrap_or(self.credit);
            let minor = if credit { amount.minor() } else { -amount.minor() };
            sum += i128::from(minor);
            amounts.push(Money::new(minor, currency));
        }
        (sum == i128::from(self.amount.minor())).then_some(amounts)
    }

    fn draft(
        &self,
        entry: &Entry,
        detail: Option<&Detail>,
        amount: Money,
        external_id: Option<String>,
    ) -> TransactionDraft {
        let credit = detail.and_then(|it| it.credit).unwrap_or(self.credit);
        let counterparty = detail.and_then(|it| entry.counterparty(it, credit));
        TransactionDraft {
            external_id,
            pending: self.pending,
            settles: None,
            posted_on: self.on,
            authorized_on: detail.and_then(|it| it.transacted.day),
            amount,
            description: entry.description(detail, counterparty),
            counterparty: counterparty.map(str::to_owned),
            counterparty_logo_url: None,
            category: None,
        }
    }
}

/// The id of a payment in a batch. A batch is delivered as a whole, so the number always means the same payment.
fn part_id(id: &str, entry: &Entry, detail: &Detail, number: usize) -> String {
    let references = &detail.references;
    let own =
        references.servicer.as_ref().filter(|it| Some(*it) != entry.servicer_reference.as_ref());
    let own = own.or(references.transaction.as_ref()).or(references.end_to_end.as_ref());
    match own {
        Some(own) => format!("{id}/{number}/{own}"),
        None => format!("{id}/{number}"),
    }
}
