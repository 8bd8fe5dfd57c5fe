//! One entry of a CAMT statement and its transaction details.

use super::values::{WrittenDate, credit, non_placeholder};

#[derive(Default)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) amount: String,
    pub(super) currency: Option<String>,
    pub(super) credit: Option<bool>,
    /// A credit/debit indicator that is neither CRDT nor DBIT, to be quoted in the rejection.
    pub(super) odd_indicator: Option<String>,
    pub(super) is_reversal: bool,
    pub(super) status: String,
    pub(super) booked: WrittenDate,
    pub(super) valued: WrittenDate,
    /// A date that cannot be parsed, to be quoted in the rejection.
    pub(super) odd_day: Option<String>,
    pub(super) servicer_reference: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) information: Option<String>,
    /// The same amount in other currencies, and the rate between two of them.
    pub(super) values: Vec<Value>,
    pub(super) exchange: Exchange,
    pub(super) details: Vec<Detail>,
    /// The number of details in the file, even if not all are kept.
    pub(super) details_count: usize,
}

/// An amount as written, with its currency.
pub(super) struct Value {
    pub(super) amount: String,
    pub(super) currency: String,
}

/// A rate as written: one unit of `unit` is worth `rate` of the other currency.
#[derive(Default)]
pub(super) struct Exchange {
    pub(super) source: Option<String>,
    pub(super) unit: Option<String>,
    pub(super) rate: Option<String>,
}

#[derive(Default)]
pub(super) struct Detail {
    pub(super) amount: Option<String>,
    pub(super) currency: Option<String>,
    pub(super) credit: Option<bool>,
    pub(super) references: References,
    debtor: Party,
    creditor: Party,
    remittance: String,
    structured: Option<String>,
    information: Option<String>,
    pub(super) transacted: WrittenDate,
}

#[derive(Default)]
pub(super) struct References {
    pub(super) servicer: Option<String>,
    pub(super) transaction: Option<String>,
    pub(super) end_to_end: Option<String>,
}

#[derive(Default)]
struct Party {
    name: Option<String>,
    ultimate: Option<String>,
}

impl Entry {
    pub(super) fn leaf(&mut self, path: &[&str], text: &str, currency: Option<&str>) {
        match path {
            ["Amt"] => {
                self.amount = text.to_owned();
                self.currency = currency.map(str::to_owned);
            }
            ["CdtDbtInd"] => match credit(text) {
                Some(credit) => self.credit = Some(credit),
                None => self.odd_indicator = Some(text.to_owned()),
            },
            ["RvslInd"] => self.is_reversal = matches!(text, "true" | "1"),
            ["Sts"] | ["Sts", "Cd" | "Prtry"] => self.status = text.to_owned(),
            ["BookgDt", "Dt" | "DtTm"] => self.booked = self.day(text),
            ["ValDt", "Dt" | "DtTm"] => self.valued = self.day(text),
            ["AcctSvcrRef"] => self.servicer_reference = non_placeholder(text),
            ["NtryRef"] => self.reference = non_placeholder(text),
            ["AddtlNtryInf"] => self.information = non_placeholder(text),
            ["AmtDtls", rest @ ..] => self.amount_details(rest, text, currency),
            _ => {}
        }
    }

    /// Handles the amount details of the entry, or of its only detail.
    pub(super) fn amount_details(&mut self, path: &[&str], text: &str, currency: Option<&str>) {
        let kept = || Some(text.to_owned());
        match path {
            // A batch may have thousands of details, whose values do not concern the entry.
            [_, "Amt"] if self.values.len() < 10 => {
                let (amount, currency) = (text.to_owned(), currency.unwrap_or_default().to_owned());
                self.values.push(Value { amount, currency });
            }
            [_, "CcyXchg", "SrcCcy"] => self.exchange.source = kept(),
            [_, "CcyXchg", "UnitCcy"] => self.exchange.unit = kept(),
            [_, "CcyXchg", "XchgRate"] => self.exchange.rate = kept(),
            _ => {}
        }
    }

    fn day(&mut self, text: &str) -> WrittenDate {
        let when = WrittenDate::read(text);
        if when.day.is_none() {
            self.odd_day = Some(text.to_owned());
        }
        when
    }

    /// The other party of a payment. A reversal names the parties of the original payment.
    pub(super) fn counterparty<'a>(&self, detail: &'a Detail, credit: bool) -> Option<&'a str> {
        let party = if credit != self.is_reversal { &detail.debtor } else { &detail.creditor };
        party.name.as_deref().or(party.ultimate.as_deref())
    }

    /// The description: counterparty and remittance information, or the best text there is.
    pub(super) fn description(
        &self,
        detail: Option<&Detail>,
        counterparty: Option<&str>,
    ) -> String {
        let text = |it: &Detail| match non_placeholder(&it.remittance).as_deref() {
            None | Some("") => it.information.clone(),
            text => text.map(str::to_owned),
        };
        let memo = detail.and_then(text).or_else(|| self.information.clone());
        let memo = memo.or_else(|| detail.and_then(|it| it.structured.clone()));
        match (counterparty, memo) {
            (Some(name), Some(memo)) if memo.contains(name) => memo,
            (Some(name), Some(memo)) => format!("{name} {memo}"),
            (Some(name), None) => name.to_owned(),
            (None, Some(memo)) => memo,
            (None, None) => self.any_reference(detail).cloned().unwrap_or_default(),
        }
    }

    /// A reference to describe an entry without any text. The entry's own one is last: it is often only a number.
    fn any_reference<'a>(&'a self, detail: Option<&'a Detail>) -> Option<&'a String> {
        let of_detail = detail.map(|it| &it.references);
        of_detail
            .and_then(|it| it.end_to_end.as_ref())
            .or(self.servicer_reference.as_ref())
            .or(of_detail.and_then(|it| it.servicer.as_ref().or(it.transaction.as_ref())))
            .or(self.reference.as_ref())
    }
}

impl Detail {
    pub(super) fn leaf(&mut self, path: &[&str], text: &str, currency: Option<&str>) {
        let kept = || Some(text.to_owned());
        match path {
            // Version 08 has the amount directly; in 02 it is nested in the amount details.
            ["Amt"] | ["AmtDtls", "TxAmt", "Amt"] if self.amount.is_none() || path.len() == 1 => {
                self.amount = kept();
                self.currency = currency.map(str::to_owned);
            }
            ["CdtDbtInd"] => self.credit = credit(text),
            ["Refs", "AcctSvcrRef"] => self.references.servicer = non_placeholder(text),
            ["Refs", "TxId" | "UETR"] => self.references.transaction = non_placeholder(text),
            ["Refs", "EndToEndId"] => self.references.end_to_end = non_placeholder(text),
            ["RltdPties", "Dbtr", "Nm"] | ["RltdPties", "Dbtr", "Pty", "Nm"] => {
                self.debtor.name = kept();
            }
            ["RltdPties", "Cdtr", "Nm"] | ["RltdPties", "Cdtr", "Pty", "Nm"] => {
                self.creditor.name = kept();
            }
            ["RltdPties", "UltmtDbtr", "Nm"] | ["RltdPties", "UltmtDbtr", "Pty", "Nm"] => {
                self.debtor.ultimate = kept();
            }
            ["RltdPties", "UltmtCdtr", "Nm"] | ["RltdPties", "UltmtCdtr", "Pty", "Nm"] => {
                self.creditor.ultimate = kept();
            }
            ["RmtInf", "Ustrd"] => {
                let gap = if self.remittance.is_empty() { "" } else { " " };
                self.remittance.extend([gap, text]);
            }
            ["RmtInf", "Strd", "CdtrRefInf", "Ref"] => self.structured = non_placeholder(text),
            ["AddtlTxInf"] => self.information = non_placeholder(text),
            ["RltdDts", "AccptncDtTm" | "TxDtTm"] => self.transacted = WrittenDate::read(text),
            _ => {}
        }
    }
}
