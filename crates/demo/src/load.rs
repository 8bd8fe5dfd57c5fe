//! Load-test data: years of plain transactions per user, generated as fast as possible.

use base::category::Category;
use base::draft::{AccountDraft, AccountKind, BalanceDraft, Source, Statement, TransactionDraft};
use base::{Currency, Date, Money, Timestamp, date_from_days};

use super::calendar::day_of;
use super::draw::{Draw, encode};
use super::merchants::{CAFES, FUEL_STATIONS, GROCERS, HOME, LEISURE, LUNCHES, MARKETPLACES};
use super::merchants::{Merchant, RESTAURANTS, Shape, category};
use super::places::{TOWNS, Town};

/// Name, kind, subtype, and how many of 64 rows belong to the account.
const ACCOUNTS: [(&str, AccountKind, &str, u64); 6] = [
    ("Everyday Checking", AccountKind::Depository, "checking", 24),
    ("Rewards Card", AccountKind::Credit, "credit card", 17),
    ("Second Checking", AccountKind::Depository, "checking", 10),
    ("Travel Card", AccountKind::Credit, "credit card", 8),
    ("Savings", AccountKind::Depository, "savings", 3),
    ("Auto Loan", AccountKind::Loan, "auto", 2),
];
const BANKS: [&str; 2] = ["Harborside Credit Union", "First Prairie Bank"];
const ROWS_PER_YEAR: i64 = 1_250;

/// A merchant with its descriptor prepared for many rows.
struct PreparedMerchant {
    name: &'static str,
    before: String,
    /// The number of random digits between the two parts of the descriptor.
    digits: u32,
    after: String,
    category: Category,
    income: bool,
}

/// One user's statements with `transactions` rows in date order, ending on the day of `as_of`: 1,250 rows a year, as
/// of a busy person, over at least a year. The same seed and index give the same rows.
pub fn load(seed: u64, user_index: u64, transactions: usize, as_of: Timestamp) -> Vec<Statement> {
    let mut draw = Draw::new(seed, user_index, "load");
    let merchants = prepared_merchants(draw.pick(&TOWNS));
    let count = transactions as i64;
    let days = (count * 365 / ROWS_PER_YEAR).max(365);
    let first = day_of(as_of) - days + 1;
    let mut accounts = accounts(&mut draw, transactions, as_of);
    let mut on = (first - 1, Date::MIN);
    for index in 0..count {
        let day = first + index * days / count;
        // Many rows share a day, and converting a day number into a date is slow compared to the rest of a row.
        if day != on.0 {
            on = (day, date_from_days(day));
        }
        let bits = draw.word();
        let account = &mut accounts[account_of(bits & 63)];
        account.transactions.push(row(&mut draw, &merchants, bits >> 6, on.1));
    }
    statements(&mut draw, accounts, as_of)
}

fn row(draw: &mut Draw, merchants: &[PreparedMerchant], bits: u64, on: Date) -> TransactionDraft {
    let merchant = &merchants[(bits & 0xffff) as usize % merchants.len()];
    let spread = (bits >> 16 & 0xffff) as i64;
    let minor = match merchant.income {
        true => 900_00 + spread * 2,
        false => -(2_00 + spread % 70_00),
    };
    let mut id = String::with_capacity(24);
    encode(draw.word(), &mut id);
    encode(draw.word(), &mut id);
    let mut description = String::with_capacity(merchant.before.len() + merchant.after.len() + 8);
    description.push_str(&merchant.before);
    for index in 0..merchant.digits {
        description.push(char::from(b'0' + (bits >> (32 + 4 * index) & 7) as u8));
    }
    description.push_str(&merchant.after);
    TransactionDraft {
        external_id: Some(id),
        pending: false,
        settles: None,
        posted_on: on,
        authorized_on: None,
        amount: Money::new(minor, Currency::USD),
        description,
        counterparty: Some(merchant.name.to_owned()),
        counterparty_logo_url: None,
        category: Some(merchant.category),
    }
}

fn prepared_merchants(town: &Town) -> Vec<PreparedMerchant> {
    let tables: [&[Merchant]; 8] =
        [&GROCERS, &CAFES, &LUNCHES, &RESTAURANTS, &FUEL_STATIONS, &MARKETPLACES, &HOME, &LEISURE];
    let prepare = |merchant: &Merchant| PreparedMerchant {
        name: merchant.name,
        before: match merchant.shape {
            Shape::Square => format!("SQ *{}", merchant.core),
            Shape::Toast => format!("TST* {}", merchant.core),
            Shape::Paypal => format!("PAYPAL *{}", merchant.core),
            _ => format!("POS DEBIT {} #", merchant.core),
        },
        digits: if matches!(merchant.shape, Shape::Square | Shape::Toast) { 0 } else { 5 },
        after: format!(" {} {}", town.city, town.state),
        category: category(merchant.category),
        income: false,
    };
    let pay = PreparedMerchant {
        name: "Harbor Design Studio",
        before: "HARBOR DESIGN STUD DIRECT DEP ".to_owned(),
        digits: 6,
        after: " PPD ID: 9111111101".to_owned(),
        category: category("INCOME_SALARY"),
        income: true,
    };
    tables.into_iter().flatten().map(prepare).chain([pay]).collect()
}

/// The account for a random number below 64, by the shares in `ACCOUNTS`.
fn account_of(number: u64) -> usize {
    let mut rest = number;
    for (index, (.., share)) in ACCOUNTS.iter().enumerate() {
        if rest < *share {
            return index;
        }
        rest -= share;
    }
    0
}

fn accounts(draw: &mut Draw, transactions: usize, as_of: Timestamp) -> Vec<AccountDraft> {
    let account = |&(name, kind, subtype, share): &(&str, AccountKind, &str, u64)| AccountDraft {
        external_id: draw.id(),
        name: name.to_owned(),
        mask: Some(draw.digits(4)),
        kind,
        subtype: Some(subtype.to_owned()),
        currency: Currency::USD,
        institution_name: None,
        institution_logo: None,
        closed_on: None,
        balance: Some(BalanceDraft {
            as_of,
            current_minor: draw.between(400_00, 14_000_00),
            available_minor: None,
            limit_minor: None,
        }),
        past_balances: Vec::new(),
        interest_rate: None,
        apy_display: None,
        next_payment_due_on: None,
        transactions: Vec::with_capacity(transactions * (share as usize + 2) / 64),
        removed: Vec::new(),
        holdings: None,
        trades: Vec::new(),
    };
    ACCOUNTS.iter().map(account).collect()
}

/// Two statements: the first half of the accounts at one bank, the others at the second.
fn statements(draw: &mut Draw, accounts: Vec<AccountDraft>, as_of: Timestamp) -> Vec<Statement> {
    let mut accounts = accounts.into_iter();
    let half = ACCOUNTS.len() / BANKS.len();
    let of = |bank: &str| Statement {
        source: Source::Demo,
        connection: format!("demo-{}", draw.id()),
        institution: Some(bank.to_owned()),
        as_of,
        accounts: accounts.by_ref().take(half).collect(),
        rates: Vec::new(),
    };
    BANKS.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn rows(seed: u64, user: u64, count: usize) -> Vec<Statement> {
        load(seed, user, count, "2026-03-14T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_user_gets_the_requested_number_of_sorted_rows_with_unique_ids() {
        for count in [0, 1, 63, 10_000] {
            let statements = rows(1, 7, count);
            let accounts: Vec<_> = statements.iter().flat_map(|it| &it.accounts).collect();
            let ids: BTreeSet<_> =
                accounts.iter().flat_map(|it| &it.transactions).map(|it| &it.external_id).collect();
            assert_eq!(ids.len(), count);
            assert_eq!(accounts.len(), 6);
            for account in accounts {
                assert!(account.transactions.is_sorted_by_key(|it| it.posted_on));
            }
        }
    }

    #[test]
    fn rows_depend_on_the_seed_and_the_user_alone() {
        assert_eq!(format!("{:?}", rows(1, 7, 500)), format!("{:?}", rows(1, 7, 500)));
        assert_ne!(format!("{:?}", rows(1, 7, 500)), format!("{:?}", rows(1, 8, 500)));
        assert_ne!(format!("{:?}", rows(1, 7, 500)), format!("{:?}", rows(2, 7, 500)));
    }

    #[test]
    fn ten_thousand_rows_are_spread_over_eight_years() {
        let statements = rows(3, 0, 10_000);
        let days = statements.iter().flat_map(|it| &it.accounts).flat_map(|it| &it.transactions);
        let (first, last) = days.fold((Date::MAX, Date::MIN), |(first, last), it| {
            (first.min(it.posted_on), last.max(it.posted_on))
        });
        assert_eq!(
            (first.to_string(), last.to_string()),
            ("2018-03-17".into(), "2026-03-14".into())
        );
    }
}
