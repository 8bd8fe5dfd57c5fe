//! Pairs that other programs got wrong, as their users reported.

use super::*;

/// A failure reported in maybe-finance/maybe, pull request 1585.
#[test]
fn only_a_card_or_loan_may_show_a_payment_days_before_the_bank() {
    let legs = |account, lag: i64| {
        let text = "PAYMENT RECEIVED";
        [
            transfer_leg(1, CHECKING, 9, -30_000, "AUTOPAY"),
            transfer_leg(2, account, 9 + lag, 30_000, text),
        ]
    };
    for account in [AMEX, MORTGAGE] {
        check(&legs(account, -1), "1>2:13");
        check(&legs(account, -2), "1>2:12");
        check(&legs(account, -3), "1>2:11");
        check(&legs(account, -4), "1>2:10");
        check(&legs(account, -5), "");
    }
    check(&legs(SAVINGS, -1), "");
    check(&legs(SAVINGS, 0), "1>2:14");
    check(&legs(SAVINGS, 5), "1>2:9?");
    check(&legs(SAVINGS, 6), "");
}

/// A failure reported in securo-finance/securo, issue 648.
#[test]
fn a_friends_repayment_is_not_paired_with_the_exact_purchase() {
    let mut repaid = leg(2, WALLET, 0, 6_317, "PAYMENT FROM SAM");
    repaid.words.person = true;
    let mut bought = leg(1, CHECKING, 0, -6_317, "TRADER JOES");
    check(&[bought.clone(), repaid.clone()], "");
    bought.merchant = true;
    repaid.words.transfer = true;
    check(&[bought, repaid], "");
}

/// A failure reported in securo-finance/securo, issue 973.
#[test]
fn two_equal_transfers_of_one_day_are_separated_by_the_accounts_they_name() {
    let legs = [
        transfer_leg(1, CHECKING, 0, -50_000, "TRANSFER TO ALLY X8888"),
        transfer_leg(2, CHECKING, 0, -50_000, "TRANSFER TO ALLY X2222"),
        transfer_leg(3, SAVINGS, 2, 50_000, "TRANSFER FROM CHASE"),
        transfer_leg(4, VACATION, 0, 50_000, "TRANSFER FROM CHASE"),
    ];
    check(&legs, "1>4:26 2>3:24");
}

/// A failure reported in we-promise/sure, issue 3308 and pull request 3309.
#[test]
fn amounts_near_an_exchange_rate_need_words_on_both_legs_and_no_manual_account() {
    let legs = |account, sent: &str, minor| {
        let arrived = transfer_leg(2, account, 1, minor, "TRANSFER IN");
        [transfer_leg(1, CHECKING, 0, -110_000, sent), Leg { currency: Currency::EUR, ..arrived }]
    };
    check(&legs(EUROS, "TRANSFER OUT", 98_000), "1>2:13?");
    check(&legs(EUROS, "TRANSFER OUT", 102_000), "1>2:13?");
    check(&legs(EUROS, "TRANSFER TO WISE", 98_000), "1>2:19");
    assert_eq!(found(&legs(EUROS, "TRANSFER TO WISE", 98_000)).pairs[0].fee_minor, 0);
    check(&legs(EUROS, "TRANSFER TO WISE", 97_999), "");
    check(&legs(EUROS, "TRANSFER TO WISE", 102_001), "");
    check(&legs(MANUAL, "TRANSFER OUT", 100_000), "");
    for silent in 0..2 {
        let mut legs = legs(EUROS, "TRANSFER TO WISE", 100_000);
        legs[silent].words.transfer = false;
        check(&legs, "");
    }
    let franc = Currency::parse("CHF").unwrap();
    let mut unknown = legs(EUROS, "TRANSFER TO WISE", 100_000);
    unknown[1].currency = franc;
    check(&unknown, "");
}

/// A failure reported in we-promise/sure, issue 2954.
#[test]
fn amounts_repeated_every_month_are_not_evidence_and_a_refusal_is_kept() {
    let mut legs = Vec::new();
    for month in 0..6 {
        legs.push(leg(month * 2, CHECKING, 30 * month as i64, -1_599, "STREAMING"));
        legs.push(leg(month * 2 + 1, SAVINGS, 30 * month as i64 + 1, 1_599, "INTEREST"));
    }
    check(&legs, "");
    let legs = [
        transfer_leg(1, CHECKING, 0, -30_000, "TRANSFER"),
        transfer_leg(2, SAVINGS, 0, 30_000, "TRANSFER"),
        transfer_leg(3, SAVINGS, 3, 30_000, "TRANSFER"),
    ];
    check(&legs, "1>2:14");
    let refused =
        TransferOverrides { refused: [(id(1), id(2))].into(), ..TransferOverrides::default() };
    assert_eq!(shown(&found_with(&legs, &refused)), "1>3:11");
}

/// A failure reported in we-promise/sure, issue 2596.
#[test]
fn a_purchase_through_a_wallet_is_not_paired_and_the_persons_override_is_kept() {
    let mut bought = leg(3, WALLET, 1, -2_999, "SPOTIFY");
    bought.merchant = true;
    let mut refunded = leg(4, CHECKING, 2, 2_999, "SPOTIFY REFUND");
    (refunded.merchant, refunded.words.refund) = (true, true);
    let legs = [
        transfer_leg(1, CHECKING, 0, -2_999, "PAYPAL INST XFER"),
        transfer_leg(2, WALLET, 1, 2_999, "BANK DEPOSIT TO PP ACCOUNT"),
        bought,
        refunded,
    ];
    check(&legs, "1>2:19");
    let overrides =
        TransferOverrides { not_transfers: [id(2)].into(), ..TransferOverrides::default() };
    assert_eq!(shown(&found_with(&legs, &overrides)), "");
}
