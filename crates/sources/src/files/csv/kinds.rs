//! The kind of account that a table is about: by the account's name, the lines above the titles, the file's name, the
//! columns, and the rows. What remains open is asked.

use base::draft::{AccountKind, TransactionDraft};

use super::words::{contains, has_word, plain};
use crate::files::{FileContents, FileQuestion};

/// A kind with Plaid's subtype.
pub(super) type KindOfAccount = (AccountKind, Option<&'static str>);

/// Words in the name of an account, by the kind they mean; the first that fits decides.
const NAMES: &[(AccountKind, &str, &[&str])] = &[
    (
        AccountKind::Depository,
        "checking",
        &[
            "bank card",
            "compte cheque",
            "compte cheques",
            "compte de cheques",
            "compte de depot",
            "debit card",
            "debit mastercard",
            "ec karte",
            "girocard",
            "mastercard debit",
            "payment card",
            "prepaid card",
            "visa debit",
        ],
    ),
    (
        AccountKind::Credit,
        "credit card",
        &[
            "american express",
            "amex",
            "card",
            "carta di credito",
            "carte de credit",
            "credit card",
            "creditcard",
            "diners",
            "discover",
            "kredietkaart",
            "kreditkarte",
            "kreditkort",
            "mastercard",
            "master card",
            "sapphire",
            "tarjeta",
            "visa",
        ],
    ),
    (AccountKind::Loan, "mortgage", &["home loan", "hypotheek", "hypothek", "mortgage", "mutuo"]),
    (AccountKind::Loan, "auto", &["auto loan", "car loan", "autokredit"]),
    (AccountKind::Loan, "student", &["student loan", "student loans"]),
    (AccountKind::Loan, "home equity", &["heloc", "home equity"]),
    (
        AccountKind::Loan,
        "loan",
        &["darlehen", "kredit", "line of credit", "loan", "pret", "prestamo"],
    ),
    (AccountKind::Investment, "401k", &["401k", "401 k"]),
    (AccountKind::Investment, "ira", &["ira", "sep ira", "traditional ira"]),
    (AccountKind::Investment, "roth", &["roth", "roth ira"]),
    (AccountKind::Investment, "529", &["529"]),
    (
        AccountKind::Investment,
        "brokerage",
        &[
            "aktien",
            "broker",
            "brokerage",
            "coinbase",
            "crypto",
            "depot",
            "etrade",
            "investing",
            "investment",
            "investments",
            "portfolio",
            "retirement",
            "robinhood",
            "stocks",
            "trading",
            "utrade",
            "vanguard",
            "wealthfront",
            "wertpapier",
        ],
    ),
    (AccountKind::Depository, "hsa", &["health savings", "healthequity", "hsa"]),
    (
        AccountKind::Depository,
        "savings",
        &[
            "ahorro",
            "ahorros",
            "emergency fund",
            "epargne",
            "hysa",
            "isa",
            "livret",
            "money market",
            "risparmio",
            "saver",
            "saving",
            "savings",
            "sparen",
            "sparkonto",
            "spaarrekening",
            "tagesgeld",
        ],
    ),
    (
        AccountKind::Depository,
        "checking",
        &[
            "betaalrekening",
            "cash",
            "cash management",
            "checking",
            "cheque account",
            "chequing",
            "compte courant",
            "conto corrente",
            "cuenta corriente",
            "current account",
            "everyday",
            "giro",
            "girokonto",
            "joint account",
            "paypal",
            "spending",
            "venmo",
            "wallet",
        ],
    ),
];

/// The kind that the name of an account or a line above the titles says.
pub(super) fn of_name(name: &str) -> Option<KindOfAccount> {
    let name = plain(&spaced(name));
    let fits = |words: &&[&str]| words.iter().any(|it| contains(&name, it));
    let found = NAMES.iter().find(|(_, _, words)| fits(words));
    found.map(|(kind, subtype, _)| (*kind, Some(*subtype)))
}

/// `CreditCard2026` as three words.
fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    for letter in name.chars() {
        let is_edge = (before.is_lowercase() && letter.is_uppercase())
            || (before.is_alphabetic() && letter.is_ascii_digit() && before != 'k')
            || (before.is_ascii_digit() && letter.is_alphabetic() && letter != 'k');
        if is_edge {
            spaced.push(' ');
        }
        spaced.push(letter);
        before = letter;
    }
    spaced
}

const TRADE_TITLES: &[&str] = &[
    "commission",
    "fees comm",
    "isin",
    "price",
    "quantity",
    "qty",
    "security",
    "security description",
    "shares",
    "symbol",
    "ticker",
    "unit price",
];
const CARD_TITLES: &[&str] = &[
    "card",
    "card member",
    "card no",
    "card number",
    "cardholder",
    "cardmember",
    "kaarthouder",
    "kaartnummer",
    "kredietkaart",
    "kreditkarte",
    "merchant category",
    "mcc",
];
const CHECK_TITLES: &[&str] = &[
    "check",
    "check no",
    "check number",
    "check or slip",
    "cheque",
    "cheque number",
    "saldo na mutatie",
    "sepa",
    "tegenrekening",
];

/// The kind that the column titles say.
pub(super) fn of_titles(titles: &[String]) -> Option<KindOfAccount> {
    let plain: Vec<String> = titles.iter().map(|it| plain(it)).collect();
    let count = |known: &[&str]| plain.iter().filter(|it| known.contains(&it.trim())).count();
    match (count(TRADE_TITLES), count(CARD_TITLES), count(CHECK_TITLES)) {
        (2.., ..) => Some((AccountKind::Investment, Some("brokerage"))),
        (_, 1.., 0) => Some((AccountKind::Credit, Some("credit card"))),
        (_, 0, 1..) => Some((AccountKind::Depository, Some("checking"))),
        _ => None,
    }
}

const CARD_ROWS: &[&str] = &[
    "annual membership fee",
    "autopay payment",
    "cash advance",
    "foreign transaction fee",
    "interest charge",
    "interest charged",
    "late fee",
    "minimum payment",
    "payment received",
    "payment thank you",
    "purchase interest",
    "thank you",
];
const BANK_ROWS: &[&str] = &[
    "abbuchung",
    "ach",
    "atm",
    "atm withdrawal",
    "bankomat",
    "bill pay",
    "carte",
    "cash withdrawal",
    "check",
    "cheque",
    "dauerauftrag",
    "ddeposit",
    "debit card",
    "deposit",
    "dir dep",
    "direct debit",
    "direct dep",
    "gehalt",
    "incasso",
    "interest paid",
    "internet transfer",
    "lastschrift",
    "lohn",
    "miete",
    "mortgage",
    "nomina",
    "paycheck",
    "payroll",
    "pinbetaling",
    "ppd",
    "prlv",
    "rent",
    "salaire",
    "salaris",
    "salary",
    "sepa",
    "ueberweisung",
    "uberweisung",
    "vir",
    "virement",
    "wages",
    "wire",
    "withdrawal",
];
const TRADE_ROWS: &[&str] = &[
    "bought",
    "buy",
    "cash dividend",
    "dividend",
    "qualified dividend",
    "reinvest",
    "sell",
    "sold",
];
const SAVINGS_ROWS: &[&str] =
    &["interest", "interest credit", "interest earned", "interest paid", "transfer", "zinsen"];

/// Enough rows to judge by.
const ROWS_MAX: usize = 500;

/// What the balances and signs of the rows say.
#[derive(Clone, Copy)]
pub(super) struct MoneySigns {
    /// Whether charges are positive numbers, as cards write them.
    pub(super) has_positive_charges: bool,
    /// Whether the running balance is own money; none without a running balance.
    pub(super) is_owned: Option<bool>,
    /// Whether some running balance is below zero.
    pub(super) is_overdrawn: bool,
}

/// The kind that the rows say.
pub(super) fn of_rows(rows: &[TransactionDraft], signs: MoneySigns) -> Option<KindOfAccount> {
    let card = (AccountKind::Credit, Some("credit card"));
    let checking = (AccountKind::Depository, Some("checking"));
    let (mut cards, mut banks, mut trades, mut quiet) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut count = 0;
    for row in rows.iter().take(ROWS_MAX) {
        count += 1;
        cards += usize::from(has_word(&row.description, CARD_ROWS));
        banks += usize::from(has_word(&row.description, BANK_ROWS));
        trades += usize::from(has_word(&row.description, TRADE_ROWS));
        quiet += usize::from(has_word(&row.description, SAVINGS_ROWS));
    }
    if trades * 2 > count {
        return Some((AccountKind::Investment, Some("brokerage")));
    }
    match signs.is_owned {
        Some(false) => return Some(card),
        Some(true) if !signs.is_overdrawn || banks > cards => {
            let is_savings = quiet == count && count > 1;
            let subtype = if is_savings { "savings" } else { "checking" };
            return Some((AccountKind::Depository, Some(subtype)));
        }
        Some(true) if cards > 0 => return Some(card),
        _ => {}
    }
    match () {
        () if signs.has_positive_charges && banks <= cards => Some(card),
        () if cards > banks => Some(card),
        () if banks > cards => Some(checking),
        () => None,
    }
}

/// Answers the open questions about kinds by the file's name.
pub fn apply_file_name(reading: &mut FileContents, file_name: &str) {
    let Some((kind, subtype)) = of_name(file_name) else { return };
    let accounts = &mut reading.accounts;
    reading.questions.retain(|it| match it {
        FileQuestion::AccountKind { account, .. } => match accounts.get_mut(*account) {
            Some(account) => {
                account.set_kind(kind, subtype);
                false
            }
            None => true,
        },
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_kind() {
        use AccountKind::{Credit, Depository, Investment, Loan};
        for (name, expected) in [
            ("Everyday Checking", Some((Depository, "checking"))),
            ("CreditCard_2026.csv", Some((Credit, "credit card"))),
            ("Blue Visa ...1234", Some((Credit, "credit card"))),
            ("Debit card", Some((Depository, "checking"))),
            ("Roth IRA", Some((Investment, "ira"))),
            ("My 401k", Some((Investment, "401k"))),
            ("High Yield Savings", Some((Depository, "savings"))),
            ("Auto Loan", Some((Loan, "auto"))),
            ("Home Mortgage", Some((Loan, "mortgage"))),
            ("Transactions", None),
            ("1234", None),
            ("", None),
        ] {
            let expected = expected.map(|(kind, subtype)| (kind, Some(subtype)));
            assert_eq!(of_name(name), expected, "{name}");
        }
    }

    #[test]
    fn titles_say_the_kind() {
        let of = |titles: &[&str]| {
            let titles: Vec<String> = titles.iter().map(|it| (*it).to_owned()).collect();
            of_titles(&titles).map(|(kind, _)| kind)
        };
        assert_eq!(of(&["Date", "Symbol", "Quantity", "Amount"]), Some(AccountKind::Investment));
        assert_eq!(of(&["Date", "Card No.", "Amount"]), Some(AccountKind::Credit));
        assert_eq!(of(&["Date", "Check Number", "Amount"]), Some(AccountKind::Depository));
        assert_eq!(of(&["Date", "Description", "Amount"]), None);
    }
}
