//! The column titles that banks use, in the languages of the known files.

use std::borrow::Cow;

use super::mapping::{Field, plain};
pub(super) use super::title_words::WORDS;
use super::words::has_word;

pub(super) const OUT_WORDS: &[&str] = &[
    "debit",
    "dr",
    "d",
    "out",
    "o",
    "withdrawal",
    "af",
    "soll",
    "s",
    "débit",
    "debet",
    "cargo",
    "debito",
    "débito",
    "db",
    "sortie",
    "ausgabe",
    "belastung",
    "lastschrift",
    "expense",
    "purchase",
    "sale",
    "charge",
    "check",
    "cheque",
    "atm",
    "fee",
    "pos",
    "withdraw",
    "sent",
    "outgoing",
    "outflow",
    "debited",
    "buy",
    "money out",
    "uscita",
    "ut",
    "tax",
    "transfer_out",
    "transfer out",
];
pub(super) const IN_WORDS: &[&str] = &[
    "credit",
    "cr",
    "c",
    "in",
    "i",
    "deposit",
    "bij",
    "haben",
    "h",
    "crédit",
    "kredit",
    "abono",
    "credito",
    "crédito",
    "entrée",
    "einnahme",
    "gutschrift",
    "income",
    "refund",
    "return",
    "directdep",
    "dividend",
    "received",
    "incoming",
    "inflow",
    "dep",
    "credited",
    "money in",
    "salary",
    "entrata",
    "sell",
    "interest",
    "transfer_in",
    "transfer in",
];
pub(super) const PENDING_WORDS: &[&str] =
    &["pending", "vorgemerkt", "in behandeling", "en attente", "pendiente"];
pub(super) const IGNORED_WORDS: &[&str] =
    &["declined", "reverted", "cancelled", "canceled", "failed"];

/// How well a title names a field: the lower the better; none if it does not.
pub(super) fn rank(field: Field, title: &str) -> Option<usize> {
    let is_remarked = title.contains('(') && currency(title).is_none();
    let title = bare(title);
    let (_, words) = WORDS.iter().find(|(it, _)| *it == field)?;
    let exact = words.iter().position(|it| *it == title);
    let rank = exact.or_else(|| beginning(field, &title).map(|it| words.len() + it))?;
    // A column is the better one without a remark such as in "Amount (credit)".
    Some(rank * 2 + usize::from(is_remarked))
}

/// Titles of a second text about a transaction, such as the shop beside "Withdrawal POS".
const MORE_TEXT: &[&str] = &[
    "additional details",
    "description 2",
    "description2",
    "detail de l'ecriture",
    "détail de l'écriture",
    "extended description",
    "memo",
    "note",
    "notes",
    "sub description",
    "sub-description",
];

pub(super) fn is_more_text(title: &str) -> bool {
    MORE_TEXT.contains(&bare(title).as_str())
}

/// The first words of longer titles, such as "Date de l'opération".
fn beginning(field: Field, title: &str) -> Option<usize> {
    let words: &[&str] = match field {
        Field::Date => &["date", "datum", "fecha", "data", "dato", "дата", "transaction date"],
        Field::Amount => &[
            "amount",
            "betrag",
            "bedrag",
            "montant",
            "importe",
            "importo",
            "belopp",
            "beløb",
            "kwota",
            "částka",
            "valor",
            "сумма",
        ],
        Field::Balance => &["balance", "running balance", "saldo", "solde", "kontostand"],
        Field::Description => &[
            "description",
            "libellé",
            "omschrijving",
            "verwendungszweck",
            "details",
            "descrizione",
            "descripción",
            "descrição",
            "beskrivelse",
        ],
        _ => return None,
    };
    let is_start = |it: &&str| title.strip_prefix(*it).is_some_and(|rest| rest.starts_with(' '));
    let found = words.iter().position(is_start)?;
    (field != Field::Amount || !has_word(title, OTHER_AMOUNTS)).then_some(found)
}

/// Words in titles of amounts that are not the amount of the row.
const OTHER_AMOUNTS: &[&str] = &[
    "commission",
    "cost",
    "currency",
    "devise",
    "fee",
    "fees",
    "foreign",
    "local",
    "original",
    "split",
    "tax",
    "valuta",
    "vat",
];

/// Words in titles of numbers that are no amounts of money that moved.
const OTHER_NUMBERS: &[&str] = &[
    "account",
    "balance",
    "basis",
    "check",
    "cheque",
    "code",
    "commission",
    "cost",
    "count",
    "coupon",
    "exchange rate",
    "fee",
    "fees",
    "gain",
    "id",
    "kontostand",
    "koers",
    "limit",
    "loss",
    "market value",
    "closing value",
    "mcc",
    "nr",
    "num",
    "number",
    "percent",
    "points",
    "postcode",
    "price",
    "qty",
    "quantity",
    "rate",
    "ref",
    "reference",
    "saldo",
    "sequence",
    "shares",
    "solde",
    "tax",
    "unit price",
    "units",
    "unitprice",
    "volgnr",
    "year",
    "zip",
];

/// Whether a title names a number that is no amount of money that moved, such as a price.
pub(super) fn is_other_number(title: &str) -> bool {
    has_word(&separated(title), OTHER_NUMBERS)
}

/// Words in titles of what a position is worth and what it cost.
const WORTHS: &[&str] = &[
    "book value",
    "closing price",
    "closing value",
    "cost basis",
    "cost share",
    "current value",
    "gain loss",
    "holding period",
    "market value",
    "total gain",
    "unrealized gain",
    "unrealized gain loss",
    "unrealised gain",
];

/// Whether the titles are those of a list of positions or tax lots: what they are worth and what they cost, but no
/// amount that moved, or no date on which it did.
pub(super) fn are_of_positions(titles: &[String]) -> bool {
    let has = |field: Field| {
        let words = WORDS.iter().filter(|(it, _)| *it == field).flat_map(|(_, words)| *words);
        let words: Vec<&str> = words.copied().collect();
        titles.iter().any(|it| words.contains(&bare(it).as_str()))
    };
    let worths = titles.iter().filter(|it| has_word(&separated(it), WORTHS)).count();
    let has_amount = || [Field::Amount, Field::Debit, Field::Credit].into_iter().any(has);
    worths >= 2 && !(has_amount() && has(Field::Date))
}

/// Whether a title names the other side of a transaction.
pub(super) fn is_counterparty(title: &str) -> bool {
    const WORDS: &[&str] = &[
        "auftraggeber",
        "beguenstigter",
        "begunstigter",
        "beneficiary",
        "counterparty",
        "empfanger",
        "partner",
        "payee",
        "tegenpartij",
        "zahlungsbeteiligter",
        "zahlungspflichtiger",
    ];
    has_word(title, WORDS)
}

/// The column of types, in a table that names the sender and the receiver of each payment.
pub(super) fn requests(titles: &[String]) -> Option<usize> {
    let find = |word: &str| titles.iter().position(|it| it.eq_ignore_ascii_case(word));
    find("from").and(find("to")).and(find("type"))
}

/// How many of the titles name a field.
pub(super) fn known(titles: &[String]) -> usize {
    let names_field =
        |title: &&String| WORDS.iter().any(|(field, _)| rank(*field, title).is_some());
    titles.iter().filter(names_field).count()
}

/// The title as separate words: `running_balance` and `RunningBalance` become `running balance`.
pub(super) fn separated(title: &str) -> Cow<'_, str> {
    let is_joined = |(before, letter): (char, char)| before.is_lowercase() && letter.is_uppercase();
    let has_edge = || title.chars().zip(title.chars().skip(1)).any(is_joined);
    if !title.contains('_') && !has_edge() {
        return Cow::Borrowed(title);
    }
    let mut separated = String::with_capacity(title.len() + 4);
    let mut before = ' ';
    for letter in title.chars() {
        if is_joined((before, letter)) {
            separated.push(' ');
        }
        separated.push(if letter == '_' { ' ' } else { letter });
        before = letter;
    }
    Cow::Owned(separated)
}

/// The title in small letters and separate words, without a suffix in parentheses, such as a currency.
pub(super) fn bare(title: &str) -> String {
    let title = plain(&separated(title));
    let title = title.trim_start_matches('#');
    let end = title.find(['(', '[']).filter(|it| *it > 0).unwrap_or(title.len());
    let bare = title[..end].trim_end_matches([' ', ':', '*', '#', '.']);
    match bare.rsplit_once(' ') {
        Some((before, code)) if MONEYS.contains(&code) => {
            before.trim_end_matches(" in").trim_end_matches(" en").trim_end().to_owned()
        }
        _ => bare.to_owned(),
    }
}

/// Currencies at the end of a title, such as "Amount EUR". Others could be words.
const MONEYS: &[&str] = &[
    "aud", "brl", "cad", "chf", "czk", "dkk", "eur", "euro", "euros", "gbp", "huf", "inr", "jpy",
    "mxn", "nok", "nzd", "pln", "rub", "sek", "sgd", "usd", "zar",
];

/// The currency that a title names: in parentheses, or as a word such as in `Amount EUR` or `CAD$`.
pub(super) fn currency(title: &str) -> Option<&'static str> {
    let inside = title.split(['(', '[']).nth(1);
    if let Some(inside) = inside.map(|it| it.trim_end_matches([')', ']']).trim().to_uppercase()) {
        return match inside.as_str() {
            "€" | "EURO" => Some("EUR"),
            "£" => Some("GBP"),
            "₹" | "RS" | "RS." => Some("INR"),
            "R$" => Some("BRL"),
            "¥" | "円" => Some("JPY"),
            code => base::Currency::codes().find(|it| *it == code),
        };
    }
    let mut words = title.split([' ', '_', '/']).map(|it| it.trim_end_matches('$').to_lowercase());
    match words.find(|it| MONEYS.contains(&it.as_str()))?.as_str() {
        "euro" | "euros" => Some("EUR"),
        code => base::Currency::codes().find(|it| it.eq_ignore_ascii_case(code)),
    }
}

/// Whether a title is nothing but a currency, such as `CAD$`: the column has the amounts in that currency.
pub(super) fn is_only_currency(title: &str) -> bool {
    MONEYS.contains(&plain(title).trim_end_matches('$').trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_words_are_known_titles() {
        for (title, field) in [
            ("currencyCode", Field::Currency),
            ("currency_code", Field::Currency),
            ("AccountNumber", Field::Account),
            ("account_number", Field::Account),
            ("running_balance", Field::Balance),
            ("RunningBalance", Field::Balance),
            ("booking_date", Field::Date),
            ("transaction_date", Field::Date),
            ("amount_eur", Field::Amount),
        ] {
            assert!(rank(field, title).is_some(), "{title}");
        }
        assert_eq!(rank(Field::Date, "initial_date"), None);
        assert_eq!(separated("IBAN"), "IBAN");
    }

    #[test]
    fn positions_have_a_worth_and_no_amount_that_moved() {
        let are = |titles: &[&str]| {
            let titles: Vec<String> = titles.iter().map(|it| (*it).to_owned()).collect();
            are_of_positions(&titles)
        };
        assert!(are(&["Open Date", "Quantity", "Cost/Share", "Market Value", "Gain/Loss $"]));
        assert!(are(&["Date", "Symbol", "marketValue", "cost_basis"]));
        assert!(!are(&["Date", "Action", "Symbol", "Amount", "Cost Basis", "Gain/Loss"]));
        assert!(!are(&["Date", "Symbol", "Price", "Market Value"]));
    }
}
