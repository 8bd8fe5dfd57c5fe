//! The currency of a table without a column of currencies: as the lines above it, its titles or its balances name it, else
//! as its columns suggest, else the person's own.

use base::Currency;

use super::sample::Row;
use super::titles;
use super::words::{contains, plain};
use crate::files::table_amount;

/// The currency of a table whose amounts name none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CurrencyEvidence {
    /// The file names it.
    Named(Currency),
    /// Something in the file is usual in the country of this currency.
    Suggested(Currency, &'static str),
    /// Nothing in the file tells.
    Nothing,
}

impl CurrencyEvidence {
    /// Why the file suggests its currency.
    pub(super) fn reason(self) -> Option<&'static str> {
        match self {
            CurrencyEvidence::Suggested(_, reason) => Some(reason),
            CurrencyEvidence::Named(_) | CurrencyEvidence::Nothing => None,
        }
    }
}

/// The parts of a table in which a currency may be named.
pub(super) struct TableTexts<'a> {
    pub(super) above: &'a [Row],
    pub(super) titles: &'a [String],
    /// The first rows.
    pub(super) rows: &'a [Row],
    pub(super) balance: Option<usize>,
    pub(super) amounts: &'a [usize],
    pub(super) account: Option<usize>,
    pub(super) descriptions: &'a [usize],
}

/// Labels of a currency, in small letters without accents.
const LABELS: &[&str] = &[
    "account currency",
    "ccy",
    "currency",
    "currency code",
    "devise",
    "devise du compte",
    "divisa",
    "kontowahrung",
    "moeda",
    "moneda",
    "munt",
    "valuta",
    "waehrung",
    "wahrung",
    "waluta",
    "валюта",
];

/// Codes that are no words in other languages, so that they may stand anywhere.
const CLEAR_CODES: &[&str] = &[
    "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS",
    "INR", "JPY", "KRW", "MXN", "MYR", "NGN", "NOK", "NZD", "PHP", "PKR", "PLN", "RON", "RUB",
    "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
];

/// What suggests currencies: words in titles or above them, the likeliest currency first, and the reason. If the person's
/// own currency is among them, it is meant.
const TITLE_HINTS: &[(&[&str], &[&str], &str)] = &[
    (&["sort code"], &["GBP"], "it has sort codes"),
    (&["ifsc", "ifsc code", "ifs code", "rtgs neft ifsc"], &["INR"], "it has an IFSC"),
    (
        &[
            "withdrawal amt",
            "deposit amt",
            "chq ref no",
            "chq ref number",
            "chq no",
            "chqno",
            "tran date",
            "txn date",
        ],
        &["INR"],
        "its columns are those of Indian banks",
    ),
    (&["bsb", "bsb number"], &["AUD"], "it has a BSB"),
    (&["clabe"], &["MXN"], "it has a CLABE"),
    (&["cnpj", "lancamento", "historico", "agencia"], &["BRL"], "its titles are Brazilian"),
    (
        &["kwota", "kwota operacji", "saldo po operacji", "data operacji"],
        &["PLN"],
        "its titles are Polish",
    ),
    (&["částka", "objem", "castka", "zůstatek"], &["CZK"], "its titles are Czech"),
    (&["belopp", "bokforingsdag", "bokforingsdatum"], &["SEK"], "its titles are Swedish"),
    (&["beløb", "belob", "bogforingsdato"], &["DKK"], "its titles are Danish"),
    (&["beløp", "belop", "bokforingsdato", "inn pa konto"], &["NOK"], "its titles are Norwegian"),
    (&["összeg", "osszeg"], &["HUF"], "its titles are Hungarian"),
    (&["tutar", "islem tutari", "işlem tutarı", "bakiye"], &["TRY"], "its titles are Turkish"),
    (
        &["сумма", "сумма операции", "расход", "приход"],
        &["RUB", "KZT", "BYN"],
        "its titles are Russian",
    ),
    (
        &["お取引日", "お預入れ", "お引出し", "差引残高", "摘要", "利用金額", "ご利用金額"],
        &["JPY"],
        "its titles are Japanese",
    ),
    (&["交易金额", "交易日期", "金额", "账户余额"], &["CNY"], "its titles are Chinese"),
    (&["거래일시", "출금액", "입금액", "거래후잔액"], &["KRW"], "its titles are Korean"),
    (
        &[
            "betrag",
            "umsatz",
            "buchungstag",
            "buchungstext",
            "verwendungszweck",
            "buchungsdatum",
            "soll",
            "haben",
        ],
        &["EUR", "CHF"],
        "its titles are German",
    ),
    (&["bedrag", "tegenrekening", "omschrijving", "af bij"], &["EUR"], "its titles are Dutch"),
    (
        &["importo", "descrizione", "causale", "dare", "avere"],
        &["EUR", "CHF"],
        "its titles are Italian",
    ),
    (&["määrä", "maara", "saaja maksaja", "kirjauspaiva"], &["EUR"], "its titles are Finnish"),
    (
        &["montant", "libelle", "date operation", "date de comptabilisation"],
        &["EUR", "CHF", "CAD"],
        "its titles are French",
    ),
];

/// Signs that several currencies share, the likeliest first.
const SIGN_HINTS: &[(&str, &[&str], &str)] = &[
    (
        "$",
        &["USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "CLP", "COP", "ARS"],
        "its amounts have a dollar sign",
    ),
    ("¥", &["JPY", "CNY"], "its amounts have a yen sign"),
    ("kr", &["SEK", "NOK", "DKK", "ISK"], "its amounts are in crowns"),
];

/// Words in descriptions, by the currency of the country in which payments are called so.
const TEXT_HINTS: &[(&[&str], &str, &str)] = &[
    (&["imps", "neft", "upi"], "INR", "it has payments by UPI, NEFT or IMPS"),
    (&["interac"], "CAD", "it has payments by Interac"),
    (&["pix"], "BRL", "it has payments by Pix"),
    (
        &["bacs", "faster payment", "faster payments"],
        "GBP",
        "it has payments by Bacs or Faster Payments",
    ),
];

/// How many rows must have words that suggest a currency: a single one may be a coincidence.
const TEXTS_MIN: usize = 2;
/// Only this much of a cell is searched.
const CELL_BYTES: usize = 200;

impl TableTexts<'_> {
    pub(super) fn evidence(&self, own: Currency) -> CurrencyEvidence {
        let named = self.named_above().or_else(|| self.named_by_title());
        if let Some(named) = named.or_else(|| self.named_by_balance()) {
            return CurrencyEvidence::Named(named);
        }
        let suggested = self.hinted_by_signs(own).or_else(|| self.hinted_by_titles(own));
        let suggested = suggested.or_else(|| self.hinted_by_account());
        match suggested.or_else(|| self.hinted_by_texts()) {
            Some((currency, reason)) => CurrencyEvidence::Suggested(currency, reason),
            None => CurrencyEvidence::Nothing,
        }
    }

    /// The currency that a line above the titles names: beside a label, by its code, or in an amount.
    fn named_above(&self) -> Option<Currency> {
        let mut named = self.above.iter().flat_map(|row| {
            row.cells.iter().enumerate().flat_map(|(column, cell)| {
                let text = cut(cell);
                let (label, inside) = text.split_once(':').unwrap_or((text, ""));
                let is_label = LABELS.contains(&plain(label).trim());
                let beside = row.cells.get(column + 1).map_or("", String::as_str);
                let value = if inside.trim().is_empty() { beside } else { inside };
                let labelled = Currency::parse(&value.trim().to_uppercase()).ok();
                let amount = Some(text).filter(|it| table_amount::looks_like(it));
                let by_amount = amount.and_then(table_amount::named_currency);
                labelled.filter(|_| is_label).or(by_amount).or_else(|| clear_code(text))
            })
        });
        let first = named.next()?;
        named.all(|it| it == first).then_some(first)
    }

    /// The currency that titles name, if they name only one.
    fn named_by_title(&self) -> Option<Currency> {
        let is_money = |it: &&String| {
            let title = plain(it);
            ["original", "foreign", "local", "rate"].iter().all(|word| !contains(&title, word))
        };
        let titles = self.titles.iter().filter(is_money);
        let mut named = titles.filter_map(|it| titles::currency(it));
        let first = named.next()?;
        Currency::parse(first).ok().filter(|_| named.all(|it| it == first))
    }

    /// The currency that the balances name, as in `£120.00`.
    fn named_by_balance(&self) -> Option<Currency> {
        let column = self.balance?;
        let cells = self.rows.iter().filter_map(|it| it.cells.get(column));
        let mut named = cells.filter_map(|it| table_amount::named_currency(it));
        let first = named.next()?;
        named.all(|it| it == first).then_some(first)
    }

    fn hinted_by_signs(&self, own: Currency) -> Option<(Currency, &'static str)> {
        let columns = self.amounts.iter().chain(&self.balance);
        let cells = columns.flat_map(|it| self.rows.iter().filter_map(|row| row.cells.get(*it)));
        let amounts: Vec<&String> = cells.filter(|it| table_amount::looks_like(it)).collect();
        let has = |sign: &str| amounts.iter().any(|it| it.contains(sign));
        let (_, codes, reason) = SIGN_HINTS.iter().find(|it| has(it.0))?;
        Some((likeliest(codes, own)?, reason))
    }

    fn hinted_by_titles(&self, own: Currency) -> Option<(Currency, &'static str)> {
        let above = self.above.iter().flat_map(|it| &it.cells);
        let texts: Vec<String> = self.titles.iter().chain(above).map(|it| plain(cut(it))).collect();
        let fits = |words: &[&str]| {
            texts.iter().any(|text| {
                words.iter().any(|it| {
                    text.trim() == *it || text.trim_start().starts_with(&format!("{it} "))
                })
            })
        };
        let (_, codes, reason) = TITLE_HINTS.iter().find(|(words, ..)| fits(words))?;
        Some((likeliest(codes, own)?, reason))
    }

    /// British account numbers begin with a sort code.
    fn hinted_by_account(&self) -> Option<(Currency, &'static str)> {
        let column = self.account?;
        let mut cells = self.rows.iter().filter_map(|it| it.cells.get(column));
        let is_british = cells.next().is_some_and(|it| has_sort_code(it));
        let pound = Currency::parse("GBP").ok().filter(|_| is_british)?;
        Some((pound, "its account numbers begin with a sort code"))
    }

    fn hinted_by_texts(&self) -> Option<(Currency, &'static str)> {
        let text = |row: &Row| {
            let cells = self.descriptions.iter().filter_map(|it| row.cells.get(*it));
            cells.map(|it| plain(cut(it))).collect::<String>()
        };
        let texts: Vec<String> = self.rows.iter().map(text).collect();
        let count = |words: &[&str]| {
            texts.iter().filter(|text| words.iter().any(|it| contains(text, it))).count()
        };
        let (_, code, reason) = TEXT_HINTS.iter().find(|it| count(it.0) >= TEXTS_MIN)?;
        Some((Currency::parse(code).ok()?, reason))
    }
}

/// The person's own currency if it is one of these, else the first.
fn likeliest(codes: &[&str], own: Currency) -> Option<Currency> {
    let code = codes.iter().find(|it| **it == own.code()).or(codes.first())?;
    Currency::parse(code).ok()
}

/// The code of a currency as a word of its own, in capital letters.
fn clear_code(text: &str) -> Option<Currency> {
    let mut words = text.split(|it: char| !it.is_alphanumeric());
    let code = words.find(|it| CLEAR_CODES.contains(it))?;
    Currency::parse(code).ok()
}

/// Whether an account number begins with a sort code, as in `20-00-00 12345678` or `200000-12345678`.
fn has_sort_code(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    let shape: String = text.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    ["00-00-00 00000000", "000000-00000000", "000000 00000000"].contains(&shape.as_str())
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(CELL_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(rows: &[&str], own: &str) -> CurrencyEvidence {
        let row = |(line, text): (usize, &&str)| Row {
            line,
            cells: text.split(',').map(str::to_owned).collect(),
        };
        let rows: Vec<Row> = rows.iter().enumerate().map(row).collect();
        let titles = ["Date", "Text", "Amount", "Balance"].map(str::to_owned);
        let texts = TableTexts {
            above: &[],
            titles: &titles,
            rows: &rows,
            balance: Some(3),
            amounts: &[2],
            account: None,
            descriptions: &[1],
        };
        texts.evidence(Currency::parse(own).unwrap())
    }

    #[test]
    fn signs_and_words_suggest_a_currency_and_a_single_word_does_not() {
        let code = |rows: &[&str], own: &str| match evidence(rows, own) {
            CurrencyEvidence::Named(currency) => format!("{currency}"),
            CurrencyEvidence::Suggested(currency, _) => format!("{currency}?"),
            CurrencyEvidence::Nothing => "-".to_owned(),
        };
        assert_eq!(code(&["2026-03-02,x,$5,"], "EUR"), "USD?");
        assert_eq!(code(&["2026-03-02,x,$5,"], "CAD"), "CAD?");
        assert_eq!(code(&["2026-03-02,x,5,£7"], "CAD"), "GBP");
        assert_eq!(code(&["2026-03-02,x,5,£7", "2026-03-02,x,5,€7"], "CAD"), "-");
        assert_eq!(code(&["2026-03-02,UPI-A,5,", "2026-03-02,UPI-B,5,"], "USD"), "INR?");
        assert_eq!(code(&["2026-03-02,UPI-A,5,", "2026-03-02,x,5,"], "USD"), "-");
    }

    #[test]
    fn british_account_numbers_begin_with_a_sort_code() {
        assert!(has_sort_code("11-22-33 12345678"));
        for other in ["11-22-33", "2026-03-02 12345678", "11-22-33 1234567é", "ééééééééééé"]
        {
            assert!(!has_sort_code(other), "{other}");
        }
    }
}
