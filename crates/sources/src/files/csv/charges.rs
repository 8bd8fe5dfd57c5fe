//! The sign that a table gives to money out, from what its rows say: categories, words such as "deposit" and
//! "withdrawal", names of shops, and the signs themselves.

use base::draft::{AccountKind, TransactionDraft};

use super::words::has_word;
use crate::files::ChargeSign;
use crate::files::source_category::SourceCategory;

/// Enough rows to judge by.
const ROWS_MAX: usize = 2_000;

/// Words of money that arrives, on whatever account.
const IN_WORDS: &[&str] = &[
    "abono",
    "bank credit",
    "bijschrijving",
    "bonifico a vostro favore",
    "cash back",
    "cashback",
    "credit adjustment",
    "ddeposit",
    "deposit",
    "deposito",
    "depot",
    "devolucion",
    "dir dep",
    "direct dep",
    "dividend",
    "einzahlung",
    "erstattung",
    "gehalt",
    "gutschrift",
    "ingreso",
    "interest credit",
    "interest earned",
    "interest paid",
    "interest payment",
    "lohn",
    "merchandise return",
    "nomina",
    "payment from",
    "payment received",
    "payment thank you",
    "paycheck",
    "payroll",
    "rebate",
    "received from",
    "refund",
    "reimbursement",
    "remboursement",
    "rimborso",
    "salaire",
    "salaris",
    "salary",
    "stipendio",
    "tax refund",
    "terugbetaling",
    "thank you",
    "transfer credit",
    "transfer from",
    "vir recu",
    "virement recu",
    "wages",
    "zinsgutschrift",
];

/// Words of money that leaves, and shops.
const OUT_WORDS: &[&str] = &[
    "7 eleven",
    "abbuchung",
    "abonnement",
    "achat",
    "addebito",
    "airbnb",
    "albert heijn",
    "aldi",
    "alquiler",
    "amazon",
    "amzn",
    "apple com bill",
    "at t",
    "atm",
    "bankomat",
    "best buy",
    "betaalautomaat",
    "bill pay",
    "bill payment",
    "cafe",
    "card purchase",
    "cargo",
    "carrefour",
    "carte",
    "cash withdrawal",
    "check",
    "cheque",
    "chevron",
    "chipotle",
    "coffee",
    "comcast",
    "commission",
    "compra",
    "costco",
    "cotisation",
    "cvs",
    "debit card",
    "debit purchase",
    "direct debit",
    "doordash",
    "edeka",
    "electric",
    "exxon",
    "fee",
    "fuel",
    "gas station",
    "geldautomaat",
    "google cloud",
    "groceries",
    "grocery",
    "home depot",
    "hotel",
    "hulu",
    "huur",
    "ikea",
    "incasso",
    "insurance",
    "kartenzahlung",
    "kaufland",
    "kroger",
    "landlord",
    "lastschrift",
    "lidl",
    "loyer",
    "lyft",
    "market",
    "mcdonald s",
    "mcdonalds",
    "miete",
    "mortgage",
    "netflix",
    "pagamento",
    "parking",
    "payment to",
    "penny",
    "pharmacy",
    "pinbetaling",
    "pizza",
    "pos",
    "prelevement",
    "prelievo",
    "prlv",
    "purchase",
    "recibo",
    "rent",
    "restaurant",
    "retrait",
    "rewe",
    "safeway",
    "sainsburys",
    "service charge",
    "shell",
    "spar",
    "spotify",
    "starbucks",
    "store",
    "subscription",
    "supermarket",
    "supermarkt",
    "t mobile",
    "target",
    "tesco",
    "trader joe",
    "transfer debit",
    "transfer to",
    "uber",
    "verizon",
    "walgreens",
    "walmart",
    "whole foods",
    "withdrawal",
];

/// Whether the row says that money arrived (true) or left (false); none if it says neither or both.
pub(super) fn told_inflow(description: &str, category: Option<SourceCategory>) -> Option<bool> {
    if let Some(inflow) = category.and_then(SourceCategory::usual_inflow) {
        return Some(inflow);
    }
    let [arrives, leaves] = [IN_WORDS, OUT_WORDS].map(|words| has_word(description, words));
    (arrives != leaves).then_some(arrives)
}

/// A row whose direction only its sign tells.
pub(super) struct OpenRow<'a> {
    pub(super) row: &'a TransactionDraft,
    pub(super) category: Option<SourceCategory>,
}

/// The sign of charges, and whether it is only assumed, so that the person has to confirm it.
pub(super) fn decide<'a>(
    rows: impl Iterator<Item = OpenRow<'a>>,
    kind: Option<AccountKind>,
    signs_are_assumed: bool,
) -> (ChargeSign, bool) {
    let (mut negative, mut positive) = (0_usize, 0_usize);
    let (mut below, mut above) = (0_usize, 0_usize);
    for OpenRow { row, category } in rows.take(ROWS_MAX) {
        let is_above = row.amount.minor() > 0;
        match row.amount.minor() {
            0 => continue,
            _ if is_above => above += 1,
            _ => below += 1,
        }
        let told = told_inflow(&row.description, category)
            .or_else(|| row.counterparty.as_deref().and_then(|it| told_inflow(it, None)));
        match told {
            Some(inflow) if inflow == is_above => negative += 1,
            Some(_) => positive += 1,
            None => {}
        }
    }
    if negative > positive * 3 {
        return (ChargeSign::Negative, false);
    }
    if positive > negative * 3 {
        return (ChargeSign::Positive, false);
    }
    if signs_are_assumed {
        return (ChargeSign::Negative, true);
    }
    match (below, above, kind) {
        // Nobody writes only payments and deposits, and these as negative numbers.
        (1.., 0, _) => (ChargeSign::Negative, positive > 0),
        (1.., _, Some(AccountKind::Depository | AccountKind::Investment)) => {
            (ChargeSign::Negative, false)
        }
        (_, 1.., Some(AccountKind::Credit)) if above > below * 2 => (ChargeSign::Positive, false),
        // Most rows are charges.
        (below, above, _) if below >= above.max(2) => (ChargeSign::Negative, positive > negative),
        (below, above, _) if above > below * 2 => (ChargeSign::Positive, true),
        _ => (ChargeSign::Negative, true),
    }
}

#[cfg(test)]
mod tests {
    use base::{Currency, Date, Money};

    use super::*;
    use crate::files::source_category;

    fn decided(rows: &[(i64, &str, &str)], kind: Option<AccountKind>) -> (ChargeSign, bool) {
        let drafts: Vec<_> = rows
            .iter()
            .map(|(minor, description, category)| {
                let row = TransactionDraft {
                    external_id: None,
                    pending: false,
                    settles: None,
                    posted_on: Date::constant(2026, 1, 5),
                    authorized_on: None,
                    amount: Money::new(*minor, Currency::USD),
                    description: (*description).to_owned(),
                    counterparty: None,
                    counterparty_logo_url: None,
                    category: None,
                };
                (row, source_category::of_words(category))
            })
            .collect();
        decide(
            drafts.iter().map(|(row, category)| OpenRow { row, category: *category }),
            kind,
            false,
        )
    }

    #[test]
    fn words_and_categories_decide_without_a_question() {
        use ChargeSign::{Negative, Positive};
        let none: Option<AccountKind> = None;
        for (rows, expected) in [
            (&[(500, "PAYROLL ACME", ""), (20, "ODD SHOP", "")][..], (Negative, false)),
            (&[(500, "STARBUCKS 123", ""), (20, "ODD SHOP", "")], (Positive, false)),
            (&[(500, "ODD SHOP", "Automotive")], (Positive, false)),
            (&[(-500, "PAYMENT - THANK YOU", ""), (7, "X", "")], (Positive, false)),
            (&[(-500, "X", ""), (-20, "Y", "")], (Negative, false)),
            (&[(-500, "X", ""), (-20, "Y", ""), (7, "Z", "")], (Negative, false)),
            // Nothing tells.
            (&[(500, "X", ""), (20, "Y", "")], (Positive, true)),
            (&[(-500, "X", ""), (20, "Y", "")], (Negative, true)),
            (&[(-500, "REFUND", ""), (-20, "PURCHASE", "")], (Negative, true)),
        ] {
            assert_eq!(decided(rows, none), expected, "{rows:?}");
        }
    }

    #[test]
    fn the_kind_of_account_helps() {
        let rows = [(500, "X", ""), (20, "Y", ""), (30, "Y", ""), (-7, "Z", "")];
        let of = |kind| decided(&rows, Some(kind));
        assert_eq!(of(AccountKind::Credit), (ChargeSign::Positive, false));
        assert_eq!(of(AccountKind::Depository), (ChargeSign::Negative, false));
        assert_eq!(decided(&rows, None), (ChargeSign::Positive, true));
    }
}
