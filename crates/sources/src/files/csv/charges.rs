//! The sign that a table gives to money out, from what its rows say: categories, words such as "deposit" and
//! "withdrawal", names of shops, and the signs themselves.

use std::collections::BTreeSet;

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
    "income",
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
    "expense",
    "expenses",
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

/// What card issuers write beside a payment to the card. A bare "thank you" is not among them: people write it beside money
/// that they send.
const CARD_PAYMENT_WORDS: &[&str] = &["payment received", "payment thank you"];

/// A row whose direction only its sign tells.
pub(super) struct OpenRow<'a> {
    pub(super) row: &'a TransactionDraft,
    pub(super) category: Option<SourceCategory>,
    /// Whether the row's amount was written with a plus sign.
    pub(super) has_plus: bool,
}

/// What the rows of a table say about the sign of charges.
#[derive(Default)]
struct Evidence {
    below: usize,
    above: usize,
    has_plus: bool,
    /// Rows that say that charges are negative, and that they are positive.
    negative: usize,
    positive: usize,
    /// The first words of the rows that say that charges are positive, each once.
    positive_names: BTreeSet<String>,
    pays_card: bool,
    /// Whether a category of money in is negative, and one of money out is positive.
    turned_categories: [bool; 2],
}

impl Evidence {
    fn add(&mut self, OpenRow { row, category, has_plus }: OpenRow<'_>) {
        let is_above = row.amount.minor() > 0;
        match row.amount.minor() {
            0 => return,
            _ if is_above => self.above += 1,
            _ => self.below += 1,
        }
        self.has_plus |= has_plus;
        match category.and_then(SourceCategory::usual_inflow) {
            Some(true) => self.turned_categories[0] |= !is_above,
            Some(false) => self.turned_categories[1] |= is_above,
            None => {}
        }
        let told = told_inflow(&row.description, category)
            .or_else(|| row.counterparty.as_deref().and_then(|it| told_inflow(it, None)));
        match told {
            Some(inflow) if inflow == is_above => self.negative += 1,
            Some(_) => {
                self.positive += 1;
                let name = row.description.split_whitespace().next().unwrap_or_default();
                self.positive_names.insert(name.to_lowercase());
                self.pays_card |= !is_above && has_word(&row.description, CARD_PAYMENT_WORDS);
            }
            None => {}
        }
    }

    /// Whether the rows prove that charges are positive. If signs go both ways, single words prove nothing: people are
    /// paid by shops, and write words such as "rent" beside money that they receive.
    fn proves_positive(&self, kind: Option<AccountKind>) -> bool {
        let is_own = matches!(kind, Some(AccountKind::Depository | AccountKind::Investment));
        let is_mixed = self.below > 0 && self.above > 0;
        let has_several = self.positive >= HITS_MIN && self.positive_names.len() >= NAMES_MIN;
        if self.turned_categories == [true; 2] && self.negative == 0 && !is_own && !self.has_plus {
            return true;
        }
        let is_likely = self.pays_card || (has_several && self.above > self.below);
        self.positive > self.negative * 3 && (!is_mixed || (is_likely && !is_own && !self.has_plus))
    }
}

/// So many rows with so many names prove that charges are positive, if signs go both ways.
const HITS_MIN: usize = 3;
const NAMES_MIN: usize = 2;

/// The sign of charges, and whether it is only assumed, so that the person has to confirm it.
pub(super) fn decide<'a>(
    rows: impl Iterator<Item = OpenRow<'a>>,
    kind: Option<AccountKind>,
    signs_are_assumed: bool,
) -> (ChargeSign, bool) {
    let mut evidence = Evidence::default();
    rows.take(ROWS_MAX).for_each(|it| evidence.add(it));
    if evidence.negative > evidence.positive * 3 {
        return (ChargeSign::Negative, false);
    }
    if evidence.proves_positive(kind) {
        return (ChargeSign::Positive, false);
    }
    if signs_are_assumed {
        return (ChargeSign::Negative, true);
    }
    let Evidence { below, above, has_plus, negative, positive, .. } = evidence;
    match (below, above, kind) {
        // Nobody writes only payments and deposits, and these as negative numbers.
        (1.., 0, _) => (ChargeSign::Negative, positive > 0),
        (1.., _, Some(AccountKind::Depository | AccountKind::Investment)) => {
            (ChargeSign::Negative, positive > negative * 3)
        }
        // Except on cards, a plus means money in.
        (1.., 1.., kind) if has_plus && kind != Some(AccountKind::Credit) => {
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
            drafts.iter().map(|(row, category)| OpenRow {
                row,
                category: *category,
                has_plus: false,
            }),
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
            // One shop pays, as an employer or to a host, and somebody sends the rent.
            (
                &[(900, "UBER", ""), (800, "UBER", ""), (700, "UBER", ""), (-9, "DINER", "")],
                (Positive, true),
            ),
            (&[(900, "rent", ""), (-9, "X", "")], (Negative, true)),
            // The categories of both rows say the same.
            (&[(10, "A", "Groceries"), (-500, "B", "Salary")], (Positive, false)),
            (&[(-20, "Thank you!", ""), (30, "Tickets", "")], (Negative, true)),
            // Several shops among mostly positive amounts.
            (
                &[(9, "SHELL", ""), (8, "LIDL 2", ""), (7, "CVS", ""), (-20, "X", "")],
                (Positive, false),
            ),
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
        let rented = [(900, "RENT", ""), (900, "RENT", ""), (900, "MIETE", ""), (-7, "Z", "")];
        let landlord = decided(&rented, Some(AccountKind::Depository));
        assert_eq!(landlord, (ChargeSign::Negative, true));
        assert_eq!(decided(&rows, None), (ChargeSign::Positive, true));
    }
}
