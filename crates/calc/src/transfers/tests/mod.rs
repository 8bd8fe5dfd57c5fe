//! Worked examples, known failures of other software, properties, and quality on whole households.

mod early;
mod examples;
mod households;
mod laws;
mod reported_failures;

use base::{AccountId, Fixed9, date_from_days};

use super::*;

/// Day numbers of the tests are relative to this day.
const ZERO: i64 = 20_000;

fn account(number: u8, kind: AccountKind, subtype: &str, names: [&str; 3]) -> Account {
    let [institution, name, mask] = names;
    Account {
        id: AccountId::from_bytes([number; 16]),
        kind,
        subtype: Some(subtype.to_owned()),
        institution: (!institution.is_empty()).then(|| institution.to_owned()),
        name: name.to_owned(),
        mask: (!mask.is_empty()).then(|| mask.to_owned()),
        manual: false,
    }
}

const CHECKING: u8 = 1;
const SAVINGS: u8 = 2;
const AMEX: u8 = 3;
const CAPITAL_ONE: u8 = 4;
const BROKERAGE: u8 = 5;
const WALLET: u8 = 6;
const MORTGAGE: u8 = 7;
const VACATION: u8 = 8;
const EUROS: u8 = 9;
const MANUAL: u8 = 10;

fn accounts() -> Vec<Account> {
    use AccountKind::{Credit, Depository, Investment, Loan};
    let mut accounts = vec![
        account(CHECKING, Depository, "checking", ["Chase", "Total Checking", "1111"]),
        account(SAVINGS, Depository, "savings", ["Ally Bank", "Online Savings", "2222"]),
        account(AMEX, Credit, "credit card", ["American Express", "Platinum Card", "3333"]),
        account(CAPITAL_ONE, Credit, "credit card", ["Capital One", "Quicksilver", "4444"]),
        account(BROKERAGE, Investment, "brokerage", ["Charles Schwab", "Individual", "5555"]),
        account(WALLET, Depository, "paypal", ["PayPal", "PayPal balance", ""]),
        account(MORTGAGE, Loan, "mortgage", ["Rocket Mortgage", "Home loan", "7777"]),
        account(VACATION, Depository, "savings", ["Ally Bank", "Vacation", "8888"]),
        account(EUROS, Depository, "checking", ["Wise", "Euro account", "9999"]),
        account(MANUAL, Depository, "checking", ["", "Cash jar", ""]),
    ];
    accounts[9].manual = true;
    accounts
}

fn id(number: u64) -> TransactionId {
    TransactionId::from_bytes(u128::from(number).to_be_bytes())
}

/// A leg with its text.
#[derive(Debug, Clone)]
struct Leg {
    id: TransactionId,
    account: AccountId,
    on: Date,
    authorized_on: Option<Date>,
    amount_minor: i64,
    currency: Currency,
    description: String,
    category: Option<Category>,
    merchant: bool,
    words: TextFlags,
}

impl Leg {
    fn parts(&self) -> (super::Leg, LegText) {
        let Leg { id, account, on, authorized_on, amount_minor, currency, .. } = *self;
        let leg = super::Leg { id, account, on, authorized_on, amount_minor, currency };
        let Leg { description, category, merchant, words, .. } = self.clone();
        (leg, LegText { description, category, merchant, words })
    }
}

fn pair(
    accounts: &[Account],
    legs: &[Leg],
    overrides: &TransferOverrides,
    convert: &Convert,
) -> PairingResult {
    let (legs, texts): (Vec<_>, Vec<_>) = legs.iter().map(Leg::parts).unzip();
    super::pair(accounts, &legs, &|leg| texts[leg].clone(), overrides, convert)
}

fn components(
    accounts: &[Account],
    legs: &[Leg],
    overrides: &TransferOverrides,
    convert: &Convert,
) -> Vec<Vec<usize>> {
    let (legs, texts): (Vec<_>, Vec<_>) = legs.iter().map(Leg::parts).unzip();
    super::components(accounts, &legs, &|leg| texts[leg].clone(), overrides, convert)
}

/// A plain leg, which tests adapt.
fn leg(number: u64, account: u8, day: i64, amount_minor: i64, description: &str) -> Leg {
    Leg {
        id: id(number),
        account: AccountId::from_bytes([account; 16]),
        on: date_from_days(ZERO + day),
        authorized_on: None,
        amount_minor,
        currency: Currency::USD,
        description: description.to_owned(),
        category: None,
        merchant: false,
        words: TextFlags::default(),
    }
}

/// A leg whose text mentions a transfer.
fn transfer_leg(number: u64, account: u8, day: i64, amount_minor: i64, description: &str) -> Leg {
    let words = TextFlags { transfer: true, ..TextFlags::default() };
    Leg { words, ..leg(number, account, day, amount_minor, description) }
}

fn categorized(leg: Leg, code: &str) -> Leg {
    Leg { category: Category::parse(code), ..leg }
}

/// Converts at 1.10 dollars to the euro on every day.
fn convert(minor: i64, from: Currency, to: Currency, _: Date) -> Option<i64> {
    let mut rates = crate::rates::Rates::new(Currency::USD);
    rates.set(Currency::EUR, Fixed9::parse("1.10").ok()?);
    rates.convert(minor, from, to)
}

fn found(legs: &[Leg]) -> PairingResult {
    found_with(legs, &TransferOverrides::default())
}

fn found_with(legs: &[Leg], overrides: &TransferOverrides) -> PairingResult {
    pair(&accounts(), legs, overrides, &convert)
}

/// One item per pair, by the last bytes of the ids; `?` after a suggestion, `~` after an ambiguous pair.
fn shown(found: &PairingResult) -> String {
    let number = |id: TransactionId| u128::from_be_bytes(*id.as_bytes());
    let describe = |it: &Pair, mark: &str| {
        let unsure = if it.ambiguous { "~" } else { "" };
        format!("{}>{}:{}{mark}{unsure}", number(it.outflow), number(it.inflow), it.points_halves)
    };
    let pairs = found.pairs.iter().map(|it| describe(it, ""));
    pairs.chain(found.suggestions.iter().map(|it| describe(it, "?"))).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(legs: &[Leg], expected: &str) {
    assert_eq!(shown(&found(legs)), expected);
}
