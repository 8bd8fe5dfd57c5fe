//! Column mappings: which column of a table has which meaning. Detected automatically, stored as JSON, and edited by
//! the user in a form.

use std::collections::BTreeMap;
use std::fmt;

use base::draft::AccountKind;
use base::{Currency, words};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::dialect::{Delimiter, tidy};
use crate::files::table_amount::DecimalMark;
use crate::files::{ChargeSign, DateOrder};

words!(
    /// The meaning of a column, in the order in which a form lists them.
    Field {
        Date => "date",
        Authorized => "authorized",
        Amount => "amount",
        OtherAmount => "other_amount",
        Debit => "debit",
        Credit => "credit",
        Direction => "direction",
        Fee => "fee",
        Balance => "balance",
        Description => "description",
        Counterparty => "counterparty",
        Category => "category",
        MerchantCode => "merchant_code",
        Status => "status",
        Currency => "currency",
        Account => "account",
        AccountName => "account_name",
        AccountType => "account_type",
        Card => "card",
        Id => "id",
        Logo => "logo",
    }
);

impl Field {
    /// The label in a form.
    pub fn label(self) -> &'static str {
        match self {
            Field::Date => "Date",
            Field::Authorized => "Date of purchase",
            Field::Amount => "Amount",
            Field::OtherAmount => "Amount in another currency",
            Field::Debit => "Money out",
            Field::Credit => "Money in",
            Field::Direction => "In or out",
            Field::Fee => "Fee",
            Field::Balance => "Balance",
            Field::Description => "Description",
            Field::Counterparty => "Other party",
            Field::Category => "Category",
            Field::MerchantCode => "Merchant code",
            Field::Status => "Status",
            Field::Currency => "Currency",
            Field::Account => "Account number",
            Field::AccountName => "Account name",
            Field::AccountType => "Account type",
            Field::Card => "Card number",
            Field::Id => "Id",
            Field::Logo => "Logo",
        }
    }

    /// One sentence that helps the user to choose the column.
    pub fn help(self) -> &'static str {
        match self {
            Field::Date => "When the transaction was booked.",
            Field::Authorized => "When the purchase was made, if the file says so as well.",
            Field::Amount => {
                "One amount for money in and out. Negative amounts are usually money out."
            }
            Field::OtherAmount => {
                "The amount of rows whose amount is empty, in the currency that the title names."
            }
            Field::Debit => "The amount paid out.",
            Field::Credit => "The amount received.",
            Field::Direction => "A word that says whether the amount left or came in.",
            Field::Fee => "A fee that is charged in addition to the amount.",
            Field::Balance => "The account balance after the transaction.",
            Field::Description => "The bank's description. Several columns can be joined.",
            Field::Counterparty => "Who was paid, or who paid.",
            Field::Category => "The bank's category; known words become Evenkeel's categories.",
            Field::MerchantCode => "The four digits of the kind of merchant (MCC or SIC).",
            Field::Status => "A word that says whether the transaction is booked.",
            Field::Currency => "The currency of the amount, such as USD.",
            Field::Account => "The number of your own account.",
            Field::AccountName => "The name of your own account.",
            Field::AccountType => "The kind of your own account, such as Savings or Visa.",
            Field::Card => "The number of your card, or its last digits.",
            Field::Id => "The bank's own number of the transaction.",
            Field::Logo => "The address of a picture of the other party.",
        }
    }

    /// How many columns may have this meaning. Of two currencies or counterparties, the first is for money out, the
    /// second for money in.
    pub fn columns_max(self) -> usize {
        match self {
            Field::Description | Field::Status => 8,
            Field::Currency | Field::Counterparty => 2,
            _ => 1,
        }
    }

    /// Whether a column with this meaning cannot have another: the same column cannot be the date and the amount.
    fn is_exclusive(self) -> bool {
        use Field::{
            Amount, Authorized, Balance, Credit, Date, Debit, Direction, Fee, OtherAmount,
        };
        matches!(
            self,
            Date | Authorized | Amount | OtherAmount | Debit | Credit | Direction | Fee | Balance
        )
    }
}

/// A column by its title, or by its number (from 1) if its title is missing or not unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Column {
    Number(usize),
    Title(String),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Number(number) => write!(f, "column {number}"),
            Column::Title(title) => write!(f, "\u{201c}{title}\u{201d}"),
        }
    }
}

/// How a table is read. Values that are none are derived from the file, and asked of the user where it is ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mapping {
    pub delimiter: Delimiter,
    /// Lines above the titles, or above the first row if there are no titles.
    pub skip_lines: usize,
    pub has_header: bool,
    pub columns: BTreeMap<Field, Vec<Column>>,
    pub decimal_mark: Option<DecimalMark>,
    pub date_order: Option<DateOrder>,
    pub charges: Option<ChargeSign>,
    /// Which of the columns for money out and money in is which was only assumed; the rows decide, or the user.
    pub sides_are_assumed: bool,
    /// Words in the direction column for money out. Without words for money in, every other word means money in.
    pub out_words: Vec<String>,
    pub in_words: Vec<String>,
    /// Words for an exchange between two own currencies: one amount leaves and the other arrives.
    pub both_words: Vec<String>,
    /// Words in the status column for pending rows; `ignored_words` are for rows that will never be booked.
    pub pending_words: Vec<String>,
    pub ignored_words: Vec<String>,
    /// A row without a balance is pending if other rows have one.
    pub unbalanced_is_pending: bool,
    /// Each currency is a separate account, and its name includes the currency.
    pub currencies_are_accounts: bool,
    /// Only rows in the account's currency count; others are steps of an exchange.
    pub keeps_one_currency: bool,
    /// Text that begins like a formula is prefixed with an apostrophe, which is removed.
    pub formulas_are_marked: bool,
    pub institution: Option<String>,
    #[serde(serialize_with = "write_kind", deserialize_with = "read_kind")]
    pub account_kind: Option<AccountKind>,
    pub account_subtype: Option<String>,
    /// The currency of files without a currency column.
    pub currency: Option<String>,
}

/// A problem with a mapping: a sentence for the user, and the form field it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub field: Option<Field>,
    pub text: String,
}

/// The resolved mapping: column indexes, counted from 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    columns: BTreeMap<Field, Vec<usize>>,
}

impl Layout {
    pub(super) fn one(&self, field: Field) -> Option<usize> {
        self.all(field).first().copied()
    }

    pub(super) fn all(&self, field: Field) -> &[usize] {
        self.columns.get(&field).map_or(&[], Vec::as_slice)
    }
}

impl Mapping {
    /// All problems that keep the mapping from being used on a table with these titles; empty if there are none.
    pub fn check(&self, titles: &[String]) -> Vec<Complaint> {
        let mut complaints = self.missing();
        let mut add = |field, text: String| complaints.push(Complaint { field, text });
        let mut used: BTreeMap<usize, Field> = BTreeMap::new();
        for (field, columns) in &self.columns {
            let label = field.label();
            let most = field.columns_max();
            if columns.len() > most {
                let text = format!("Choose no more than {most} for \u{201c}{label}\u{201d}.");
                add(Some(*field), text);
            }
            for column in columns {
                let Some(index) = index_of(column, titles) else {
                    let text = format!("The file has no {column}, which is chosen as {label}.");
                    add(Some(*field), text);
                    continue;
                };
                if !field.is_exclusive() {
                    continue;
                }
                if let Some(other) = used.insert(index, *field) {
                    let other = other.label();
                    let text = format!("{column} is chosen as {other} and as {label}.");
                    add(Some(*field), upper_first(&text));
                }
            }
        }
        if let Some(code) = &self.currency
            && Currency::parse(code).is_err()
        {
            add(Some(Field::Currency), format!("{code} is no currency; write USD or EUR."));
        }
        complaints
    }

    fn missing(&self) -> Vec<Complaint> {
        let has = |field: Field| self.columns.get(&field).is_some_and(|it| !it.is_empty());
        let mut found = Vec::new();
        let mut add = |field, text: &str| found.push(Complaint { field, text: text.to_owned() });
        if !has(Field::Date) && !has(Field::Authorized) {
            add(Some(Field::Date), "Choose the column with the date.");
        }
        let is_split = has(Field::Debit) || has(Field::Credit);
        match (has(Field::Amount), is_split) {
            (false, false) => {
                add(
                    Some(Field::Amount),
                    "Choose the column with the amount, or those with money out and in.",
                );
            }
            (true, true) => {
                add(Some(Field::Amount), "Choose either one amount, or money out and money in.");
            }
            _ => {}
        }
        if has(Field::Direction) && self.out_words.is_empty() {
            add(Some(Field::Direction), "Say which words mean that money left the account.");
        }
        found
    }

    /// The column indexes, or the first problem.
    pub(super) fn layout(&self, titles: &[String]) -> Result<Layout, String> {
        if let Some(complaint) = self.check(titles).into_iter().next() {
            return Err(complaint.text);
        }
        let find = |columns: &Vec<Column>| {
            columns.iter().filter_map(|column| index_of(column, titles)).collect()
        };
        let columns = self.columns.iter().map(|(field, columns)| (*field, find(columns))).collect();
        Ok(Layout { columns })
    }
}

fn index_of(column: &Column, titles: &[String]) -> Option<usize> {
    match column {
        Column::Number(number) => number.checked_sub(1).filter(|it| *it < titles.len()),
        Column::Title(title) => {
            let title = plain(title);
            titles.iter().position(|it| plain(it) == title)
        }
    }
}

/// The normalized form in which titles are compared.
pub(super) fn plain(title: &str) -> String {
    tidy(title).trim_matches('"').to_lowercase()
}

fn upper_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |it| it.to_uppercase().chain(letters).collect())
}

/// Serializes these enums by their stored words.
macro_rules! stored_as_words {
    ($($name:ty),*) => {
        $(impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let word = String::deserialize(from)?;
                <$name>::parse(&word).ok_or_else(|| D::Error::custom("an unknown word"))
            }
        })*
    };
}

stored_as_words!(ChargeSign, DateOrder, DecimalMark, Delimiter, Field);

fn write_kind<S: Serializer>(kind: &Option<AccountKind>, to: S) -> Result<S::Ok, S::Error> {
    kind.map(AccountKind::as_str).serialize(to)
}

fn read_kind<'de, D: Deserializer<'de>>(from: D) -> Result<Option<AccountKind>, D::Error> {
    let word: Option<String> = Option::deserialize(from)?;
    let kind = |it: &str| AccountKind::parse(it).ok_or_else(|| D::Error::custom("an unknown word"));
    word.as_deref().map(kind).transpose()
}
