//! When a loan will be paid off, and days of the month on which something is due.

use base::{Date, Fixed9, divide_half_even};
use jiff::ToSpan as _;

/// Loans that take longer than this have no estimate: a hundred years.
const PAYMENTS_MAX: i32 = 1_200;

/// A loan with a monthly payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loan {
    pub owed_minor: i64,
    /// Yearly interest in percent, such as 6.5. A month costs a twelfth of it.
    pub yearly_percent: Fixed9,
    pub payment_minor: i64,
    pub next_payment_on: Date,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payoff {
    pub payments: i32,
    pub last_payment_on: Date,
    pub last_payment_minor: i64,
    /// The interest of all payments together.
    pub interest_minor: i64,
}

/// The estimate for a loan whose interest is added once a month, rounded half to even, before each payment. None if
/// nothing is owed, if the payment does not exceed the interest, or if it takes longer than a hundred years.
pub fn estimate(loan: Loan) -> Option<Payoff> {
    let rate = loan.yearly_percent.billionths();
    let mut owed = i128::from(loan.owed_minor);
    let payment = i128::from(loan.payment_minor);
    if owed <= 0 || rate < 0 {
        return None;
    }
    let mut all_interest = 0_i128;
    for number in 1..=PAYMENTS_MAX {
        let interest = divide_half_even(owed.checked_mul(rate)?, 1_200 * 1_000_000_000);
        if payment <= interest {
            return None;
        }
        all_interest += interest;
        owed += interest;
        if owed <= payment {
            return Some(Payoff {
                payments: number,
                last_payment_on: loan.next_payment_on.saturating_add((number - 1).months()),
                last_payment_minor: i64::try_from(owed).ok()?,
                interest_minor: i64::try_from(all_interest).ok()?,
            });
        }
        owed -= payment;
    }
    None
}

/// The next date on a day of the month, `from` included. A month without that day has it on its last day. None if the
/// day is not 1 to 31.
pub fn next_on_day(day: i64, from: Date) -> Option<Date> {
    if !(1..=31).contains(&day) {
        return None;
    }
    let in_month = |month: Date| {
        let last = month.last_of_month();
        let on = i8::try_from(day).unwrap_or(31).min(last.day());
        Date::new(month.year(), month.month(), on).ok()
    };
    let this_month = in_month(from)?;
    if this_month >= from {
        return Some(this_month);
    }
    in_month(from.first_of_month().saturating_add(1.month()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn loan(owed_minor: i64, percent: &str, payment_minor: i64) -> Loan {
        let yearly_percent = Fixed9::parse(percent).unwrap();
        Loan { owed_minor, yearly_percent, payment_minor, next_payment_on: day("2026-01-31") }
    }

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn worked_examples() {
        // 10,000 at 6 %, 500 a month: -ln(1 - 0.005 * 10000 / 500) / ln(1.005) = 21.1, so 22 payments.
        let found = estimate(loan(1_000_000, "6", 50_000)).unwrap();
        assert_eq!((found.payments, found.last_payment_on), (22, day("2027-10-31")));
        assert_eq!((found.interest_minor, found.last_payment_minor), (56_251, 6_251));
        // A mortgage of 250,000 at 6.5 % over thirty years: 1,580.17 a month, and 38 cents of rounding at the end.
        let found = estimate(loan(25_000_000, "6.5", 158_017)).unwrap();
        assert_eq!((found.payments, found.interest_minor), (361, 31_886_158));
        assert_eq!(found.last_payment_minor, 38);
        // Without interest it is a division.
        let found = estimate(loan(100_000, "0", 10_000)).unwrap();
        assert_eq!((found.payments, found.last_payment_minor), (10, 10_000));
        assert_eq!(found.interest_minor, 0);
    }

    #[test]
    fn a_payment_that_covers_only_the_interest_never_ends() {
        assert_eq!(estimate(loan(1_000_000, "6", 5_000)), None, "exactly the interest");
        assert!(estimate(loan(1_000_000, "6", 5_001)).is_none(), "longer than a hundred years");
        assert_eq!(estimate(loan(1_000_000, "6", 0)), None);
        assert_eq!(estimate(loan(0, "6", 50_000)), None, "nothing is owed");
        assert_eq!(estimate(loan(-500, "6", 50_000)), None);
    }

    #[test]
    fn a_day_of_the_month_comes_in_every_month() {
        let next = |it, from: &str| next_on_day(it, day(from)).map(|it| it.to_string());
        assert_eq!(next(15, "2026-02-10").as_deref(), Some("2026-02-15"));
        assert_eq!(next(15, "2026-02-15").as_deref(), Some("2026-02-15"));
        assert_eq!(next(15, "2026-02-16").as_deref(), Some("2026-03-15"));
        assert_eq!(next(31, "2026-02-10").as_deref(), Some("2026-02-28"));
        assert_eq!(next(30, "2026-12-31").as_deref(), Some("2027-01-30"));
        assert_eq!(next(0, "2026-02-10"), None);
        assert_eq!(next(32, "2026-02-10"), None);
    }

    proptest! {
        #[test]
        fn payments_add_up_to_the_debt_and_its_interest(
            owed in 1_i64..10_000_000_000, rate in 0_i64..40_000, payment in 1_i64..1_000_000_000,
        ) {
            let percent = Fixed9::from_billionths(i128::from(rate) * 1_000_000);
            let of = Loan { yearly_percent: percent, ..loan(owed, "0", payment) };
            if let Some(found) = estimate(of) {
                let paid = i128::from(payment) * i128::from(found.payments - 1)
                    + i128::from(found.last_payment_minor);
                prop_assert_eq!(paid, i128::from(owed) + i128::from(found.interest_minor));
                prop_assert!((1..=payment).contains(&found.last_payment_minor));
                let faster = Loan { payment_minor: payment + 1_000, ..of };
                let faster = estimate(faster).unwrap();
                prop_assert!(faster.payments <= found.payments);
                prop_assert!(faster.interest_minor <= found.interest_minor);
            }
        }
    }
}
