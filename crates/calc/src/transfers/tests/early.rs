//! Payments that a card shows days before the bank does.

use super::*;

#[test]
fn three_days_early_the_outflow_must_say_that_it_is_a_payment() {
    // The amount is rare, and the card says that it was paid. Two days early this is enough.
    let legs = |lag: i64, text: &str| {
        let paid = transfer_leg(2, AMEX, 9 + lag, 31_417, "PAYMENT RECEIVED");
        [leg(1, CHECKING, 9, -31_417, text), paid]
    };
    check(&legs(-2, "ACH DEBIT"), "1>2:12");
    check(&legs(-3, "ACH DEBIT"), "");
    check(&legs(-3, "AMEX EPAYMENT"), "1>2:17");
    // The nearer of two payments is the one that was credited.
    let legs = [
        transfer_leg(1, CHECKING, 5, -31_417, "AMEX EPAYMENT"),
        transfer_leg(2, CHECKING, 9, -31_417, "AMEX EPAYMENT"),
        transfer_leg(3, AMEX, 5, 31_417, "PAYMENT RECEIVED"),
    ];
    check(&legs, "1>3:20");
}
