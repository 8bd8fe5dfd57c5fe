//! One transaction of an OFX bank or card statement.

use std::borrow::Cow;

use base::Currency;
use base::draft::TransactionDraft;

use super::amounts::WrittenAmount;
use super::values::date;
use crate::files::plain_amount::quote;
use crate::files::source_category;
use crate::files::text::joined;

/// Longer than the standard allows; a longer text is not an id.
const ID_MAX: usize = 255;

/// The values of a row as written in the file.
#[derive(Debug, Default)]
pub(super) struct Row<'a> {
    pending: bool,
    kind: Option<Cow<'a, str>>,
    posted: Option<Cow<'a, str>>,
    authorized: Option<Cow<'a, str>>,
    amount: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    corrected_id: Option<Cow<'a, str>>,
    correction: Option<Cow<'a, str>>,
    check: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    long_name: Option<Cow<'a, str>>,
    memo: Option<Cow<'a, str>>,
    /// The merchant category code, which OFX calls the standard industrial code.
    merchant_code: Option<Cow<'a, str>>,
    payee: Option<Cow<'a, str>>,
    pub(super) currency: Option<Cow<'a, str>>,
    pub(super) rate: Option<Cow<'a, str>>,
}

/// The action that a row requests.
#[derive(Debug)]
pub(super) enum Entry {
    New(TransactionDraft),
    /// Removes the transaction with that id.
    Delete(String),
    Replace(String, TransactionDraft),
}

impl<'a> Row<'a> {
    pub(super) fn new(pending: bool) -> Row<'a> {
        Row { pending, ..Row::default() }
    }

    /// Sets a value if rows have one of that name. The first one counts: later ones belong to something else.
    pub(super) fn set(&mut self, name: &str, value: Cow<'a, str>) -> Option<Cow<'a, str>> {
        let slot = match name {
            "TRNTYPE" => &mut self.kind,
            "DTPOSTED" => &mut self.posted,
            // Pending rows have no posting date, only the transaction date.
            "DTTRAN" if self.pending => &mut self.posted,
            "TRNAMT" => &mut self.amount,
            "FITID" => &mut self.id,
            "NAME" => &mut self.name,
            "MEMO" => &mut self.memo,
            // By the standard an aggregate with a NAME. Some banks write the name itself.
            "PAYEE" => &mut self.payee,
            "DTUSER" => &mut self.authorized,
            "CHECKNUM" => &mut self.check,
            "EXTDNAME" => &mut self.long_name,
            "CORRECTFITID" => &mut self.corrected_id,
            "CORRECTACTION" => &mut self.correction,
            "CURRENCY" => &mut self.currency,
            "SIC" => &mut self.merchant_code,
            _ => return Some(value),
        };
        slot.get_or_insert(value);
        None
    }

    /// The action, and a note if the amount was changed on the way.
    pub(super) fn read(self, currency: Currency) -> Result<(Entry, Option<String>), String> {
        let corrected = self.corrected_id.as_deref().filter(|it| is_id(it)).map(str::to_owned);
        match (corrected, self.correction.as_deref()) {
            (None, _) => self.draft(currency).map(|(row, note)| (Entry::New(row), note)),
            (Some(id), Some("DELETE")) => Ok((Entry::Delete(id), None)),
            (Some(id), Some("REPLACE")) => {
                self.draft(currency).map(|(row, note)| (Entry::Replace(id, row), note))
            }
            (Some(id), action) => Err(format!(
                "the transaction corrects {}, but CORRECTACTION is {} instead of REPLACE or DELETE",
                quote(&id),
                action.map_or("missing".to_owned(), quote)
            )),
        }
    }

    fn draft(self, currency: Currency) -> Result<(TransactionDraft, Option<String>), String> {
        let posted = self.posted.as_deref().ok_or("the transaction has no date (DTPOSTED)")?;
        let posted_on = date(posted).ok_or_else(|| no_date(posted))?;
        let text = self.amount.as_deref().ok_or("the transaction has no amount (TRNAMT)")?;
        let (own, rate) = (self.currency.as_deref(), self.rate.as_deref());
        let (amount, note) = WrittenAmount { text, currency: own, rate }.read(currency)?;
        let category = self.merchant_code.as_deref().and_then(source_category::of_merchant_code);
        let category = category.and_then(|it| it.facing(amount.minor() > 0));
        let draft = TransactionDraft {
            external_id: self.id.as_deref().filter(|it| is_id(it)).map(str::to_owned),
            pending: self.pending,
            settles: None,
            posted_on,
            authorized_on: self.authorized.as_deref().and_then(date),
            amount,
            description: self.description(),
            counterparty: self.payee.map(Cow::into_owned),
            counterparty_logo_url: None,
            category,
        };
        Ok((draft, note))
    }

    fn description(&self) -> String {
        let name = self.long_name.as_deref().or(self.name.as_deref()).or(self.payee.as_deref());
        match (name, self.memo.as_deref()) {
            (Some(name), Some(memo)) => joined(name, memo),
            (Some(words), None) | (None, Some(words)) => words.to_owned(),
            (None, None) => match (self.check.as_deref(), self.kind.as_deref()) {
                (Some(number), _) => format!("Check {number}"),
                (None, kind) => in_words(kind.unwrap_or_default()).to_owned(),
            },
        }
    }
}

pub(super) fn no_date(text: &str) -> String {
    format!("the date {} is no day such as 20240131", quote(text))
}

/// Whether the text is a usable id. Some banks write zeros for a missing id.
pub(super) fn is_id(id: &str) -> bool {
    id.len() <= ID_MAX && id.bytes().any(|it| it != b'0')
}

/// The description of rows without any text of their own.
fn in_words(kind: &str) -> &'static str {
    match kind {
        "ATM" => "ATM",
        "CASH" => "Cash withdrawal",
        "CHECK" => "Check",
        "CREDIT" => "Credit",
        "DEBIT" => "Debit",
        "DEP" => "Deposit",
        "DIRECTDEBIT" => "Direct debit",
        "DIRECTDEP" => "Direct deposit",
        "DIV" => "Dividend",
        "FEE" => "Fee",
        "HOLD" => "Hold",
        "INT" => "Interest",
        "PAYMENT" => "Payment",
        "POS" => "Purchase",
        "REPEATPMT" => "Repeating payment",
        "SRVCHG" => "Service charge",
        "XFER" => "Transfer",
        _ => "Transaction",
    }
}
