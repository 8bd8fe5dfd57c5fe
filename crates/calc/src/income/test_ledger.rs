//! Builds ledgers for tests.

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Date, TransactionId, date_from_days, days_from_date};

use crate::ledger::{Account, Entry, EntryFlags, Frequency, Ledger, Pay, PayStream};

/// Indexes of the accounts of every test ledger.
pub(crate) const CHECKING: usize = 0;
pub(crate) const SAVINGS: usize = 1;
pub(crate) const CARD: usize = 2;
pub(crate) const BROKERAGE: usize = 3;
pub(crate) const LOAN: usize = 4;

const ACCOUNTS: [(AccountKind, &str); 5] = [
    (AccountKind::Depository, "checking"),
    (AccountKind::Depository, "savings"),
    (AccountKind::Credit, "credit card"),
    (AccountKind::Investment, "brokerage"),
    (AccountKind::Loan, "auto"),
];

pub(crate) fn date(text: &str) -> Date {
    text.parse().unwrap()
}

pub(crate) fn after(on: Date, days: i64) -> Date {
    date_from_days(days_from_date(on) + days)
}

pub(crate) fn book(as_of: Date) -> Ledger {
    let mut ledger = Ledger {
        as_of,
        accounts: Vec::new(),
        entries: Vec::new(),
        pays: Vec::new(),
        shock_floor_minor: 200_000,
    };
    for (kind, subtype) in ACCOUNTS {
        open(&mut ledger, kind, subtype);
    }
    ledger
}

pub(crate) fn open(ledger: &mut Ledger, kind: AccountKind, subtype: &str) -> usize {
    let index = ledger.accounts.len();
    ledger.accounts.push(Account {
        id: AccountId::from_bytes((index as u128).to_be_bytes()),
        kind,
        subtype: Some(subtype.to_owned()),
        balance_minor: Some(0),
        limit_minor: None,
        daily: Vec::new(),
    });
    index
}

/// Adds an entry, which can be changed further. An empty category means none.
pub(crate) fn enter<'a>(
    ledger: &'a mut Ledger,
    account: usize,
    on: Date,
    amount_minor: i64,
    category: &str,
) -> &'a mut Entry {
    let number = ledger.entries.len() as u128;
    ledger.entries.push(Entry {
        id: TransactionId::from_bytes(number.to_be_bytes()),
        account,
        on,
        amount_minor,
        category: (!category.is_empty()).then(|| Category::parse(category).unwrap()),
        key: String::new(),
        flags: EntryFlags::default(),
        transfer: None,
        pays_linked_debt: amount_minor < 0 && category == "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT",
        pay: None,
        linked_purchase: None,
        comparable_minor: amount_minor,
        whole_minor: None,
    });
    ledger.entries.last_mut().unwrap()
}

/// Adds a mature stream of equal wages on all these days.
pub(crate) fn pay(ledger: &mut Ledger, frequency: Frequency, slots: &[Date], amount_minor: i64) {
    let stream = ledger.pays.len();
    for slot_on in slots.iter().copied() {
        let entry = enter(ledger, CHECKING, slot_on, amount_minor, "INCOME_WAGES");
        entry.key = format!("EMPLOYER {stream}");
        entry.pay = Some(Pay { stream, slot_on });
    }
    ledger.pays.push(PayStream {
        payer: format!("Employer {stream}"),
        frequency,
        mature: true,
        person: false,
        slots: slots.to_vec(),
    });
}

/// The nominal days of a schedule from its first up to `until`.
pub(crate) fn slots(frequency: Frequency, first: Date, until: Date) -> Vec<Date> {
    let by_days = |step: i64| (0..).map(move |it| after(first, it * step));
    let by_months = |step: i64| {
        (0..).map(move |it| {
            let month = i64::from(first.year()) * 12 + i64::from(first.month()) - 1 + it * step;
            let (year, month) = (month.div_euclid(12) as i16, month.rem_euclid(12) as i8 + 1);
            let start = Date::new(year, month, 1).unwrap();
            Date::new(year, month, first.day().min(start.days_in_month())).unwrap()
        })
    };
    let within = |it: &Date| *it <= until;
    match frequency {
        Frequency::Weekly => by_days(7).take_while(within).collect(),
        Frequency::Biweekly => by_days(14).take_while(within).collect(),
        Frequency::SemiMonthly => {
            // The other payday of a month keeps its own day, whichever comes first.
            let other = if first.day() > 15 { first.day() - 15 } else { first.day() + 15 };
            let both = by_months(1).take_while(within).flat_map(|it| {
                let other = Date::new(it.year(), it.month(), other.min(it.days_in_month()));
                [it, other.unwrap()]
            });
            let mut both: Vec<Date> = both.filter(|it| *it >= first && within(it)).collect();
            // The earlier day of the last month may be within the range when the later is not.
            let next = by_months(1).find(|it| !within(it)).unwrap();
            let early = Date::new(next.year(), next.month(), other.min(next.days_in_month()));
            both.extend(early.ok().filter(|it| within(it)));
            both.sort();
            both
        }
        Frequency::Monthly => by_months(1).take_while(within).collect(),
        Frequency::Quarterly => by_months(3).take_while(within).collect(),
        Frequency::SemiAnnually => by_months(6).take_while(within).collect(),
        Frequency::Annually => by_months(12).take_while(within).collect(),
    }
}
