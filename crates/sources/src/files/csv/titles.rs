//! The column titles that banks use, in the languages of the known files.

use super::mapping::{Field, plain};

/// The titles of each field, the likeliest first. Earlier fields choose their column first.
pub(super) const WORDS: &[(Field, &[&str])] = &[
    (
        Field::Date,
        &[
            "posting date",
            "posted date",
            "post date",
            "date posted",
            "booking date",
            "buchungstag",
            "buchungsdatum",
            "buchung",
            "boekdatum",
            "boekingsdatum",
            "date comptable",
            "date de comptabilisation",
            "date d'opération",
            "date operation",
            "fecha contable",
            "fecha operación",
            "fecha de operación",
            "completed date",
            "settlement date",
            "date",
            "datum",
            "fecha",
            "transaction date",
            "transaction date & time",
            "trans date",
            "trans. date",
            "value date",
            "valuta",
            "valutadatum",
            "date valeur",
            "fecha valor",
        ],
    ),
    (
        Field::Authorized,
        &[
            "transaction date",
            "trans. date",
            "trans date",
            "purchase date",
            "date of purchase",
            "authorized date",
            "authorised date",
            "kaufdatum",
            "started date",
        ],
    ),
    (
        Field::Debit,
        &[
            "debit",
            "debits",
            "debit amount",
            "withdrawal",
            "withdrawals",
            "withdrawal amount",
            "money out",
            "paid out",
            "outflow",
            "expense",
            "spent",
            "soll",
            "ausgabe",
            "ausgaben",
            "belastung",
            "débit",
            "cargo",
            "cargos",
            "debe",
        ],
    ),
    (
        Field::Credit,
        &[
            "credit",
            "credits",
            "credit amount",
            "deposit",
            "deposits",
            "deposit amount",
            "money in",
            "paid in",
            "inflow",
            "income",
            "received",
            "haben",
            "einnahme",
            "einnahmen",
            "gutschrift",
            "crédit",
            "abono",
            "abonos",
            "haber",
        ],
    ),
    (
        Field::Amount,
        &[
            "amount",
            "transaction amount",
            "net amount",
            "betrag",
            "umsatz",
            "bedrag",
            "montant",
            "importe",
            "cantidad",
            "monto",
            "value",
            "total",
        ],
    ),
    (
        Field::Balance,
        &[
            "balance",
            "running balance",
            "running bal.",
            "running bal",
            "account balance",
            "ending balance",
            "available balance",
            "saldo",
            "kontostand",
            "saldo na mutatie",
            "saldo nach buchung",
            "solde",
        ],
    ),
    (
        Field::Direction,
        &[
            "debit/credit",
            "credit/debit",
            "dr/cr",
            "cr/dr",
            "credit debit indicator",
            "direction",
            "transaction type",
            "type",
            "soll/haben",
            "af bij",
            "af/bij",
            "sens",
        ],
    ),
    (
        Field::Description,
        &[
            "description",
            "original description",
            "transaction description",
            "transaction details",
            "narrative",
            "details",
            "particulars",
            "memo",
            "verwendungszweck",
            "buchungstext",
            "beschreibung",
            "omschrijving",
            "mededelingen",
            "libellé",
            "libelle",
            "concepto",
            "descripción",
            "descripcion",
            "payee",
            "merchant",
            "name",
            "naam",
        ],
    ),
    (
        Field::Counterparty,
        &[
            "payee",
            "merchant",
            "merchant name",
            "counterparty",
            "beneficiary",
            "name",
            "payee name",
            "empfänger",
            "auftraggeber/empfänger",
            "empfänger/auftraggeber",
            "beguenstigter/zahlungspflichtiger",
            "naam tegenpartij",
            "naam",
            "bénéficiaire",
            "beneficiario",
        ],
    ),
    (
        Field::Currency,
        &["currency", "ccy", "währung", "waehrung", "munt", "devise", "divisa", "moneda"],
    ),
    (
        Field::Account,
        &[
            "account number",
            "account no",
            "account no.",
            "account",
            "iban",
            "kontonummer",
            "konto",
            "auftragskonto",
            "rekening",
            "compte",
            "cuenta",
        ],
    ),
    (Field::AccountName, &["account name"]),
    (
        Field::Category,
        &[
            "category",
            "categories",
            "transaction category",
            "spending category",
            "merchant category",
            "master category",
            "category group/category",
            "kategorie",
            "catégorie",
            "categoría",
            "categoria",
            "categorie",
        ],
    ),
    (
        Field::MerchantCode,
        &["mcc", "mcc code", "merchant category code", "sic", "sic code", "merchant code"],
    ),
    (Field::Status, &["status", "state", "estado", "statut"]),
    (Field::Id, &["transaction id", "reference number", "transaction reference", "fitid", "id"]),
];

pub(super) const OUT_WORDS: &[&str] =
    &["debit", "dr", "d", "out", "withdrawal", "af", "soll", "s", "débit", "cargo"];
pub(super) const IN_WORDS: &[&str] =
    &["credit", "cr", "c", "in", "deposit", "bij", "haben", "h", "crédit", "abono"];
pub(super) const PENDING_WORDS: &[&str] =
    &["pending", "vorgemerkt", "in behandeling", "en attente", "pendiente"];
pub(super) const IGNORED_WORDS: &[&str] =
    &["declined", "reverted", "cancelled", "canceled", "failed"];

/// How well a title names a field: the lower the better; none if it does not.
pub(super) fn rank(field: Field, title: &str) -> Option<usize> {
    let title = bare(title);
    let (_, words) = WORDS.iter().find(|(it, _)| *it == field)?;
    words.iter().position(|it| *it == title)
}

/// How many of the titles name a field.
pub(super) fn known(titles: &[String]) -> usize {
    let names_field =
        |title: &&String| WORDS.iter().any(|(field, _)| rank(*field, title).is_some());
    titles.iter().filter(names_field).count()
}

/// The title without a suffix in parentheses, such as a currency.
fn bare(title: &str) -> String {
    let title = plain(title);
    let end = title.find(['(', '[']).filter(|it| *it > 0).unwrap_or(title.len());
    title[..end].trim_end_matches([' ', ':', '*']).to_owned()
}

/// The currency that a title names in parentheses.
pub(super) fn currency(title: &str) -> Option<&'static str> {
    let inside = title.split(['(', '[']).nth(1)?.trim_end_matches([')', ']']).trim().to_uppercase();
    match inside.as_str() {
        "€" => Some("EUR"),
        "£" => Some("GBP"),
        code => base::Currency::codes().find(|it| *it == code),
    }
}
