//! Worked examples of the method, and a test of every rule.

use super::*;

#[test]
fn a_card_payment_adds_up_as_in_the_worked_example() {
    let legs = [
        transfer_leg(1, CHECKING, 3, -124_357, "AMEX EPAYMENT"),
        transfer_leg(2, AMEX, 4, 124_357, "PAYMENT THANK YOU"),
    ];
    check(&legs, "1>2:23");
    let pair = &found(&legs).pairs[0];
    assert_eq!((pair.kind, pair.fee_minor, pair.ambiguous), (TransferKind::CardPayment, 0, false));
    let texts: Vec<String> = pair.evidence.iter().map(|it| it.text()).collect();
    assert_eq!(
        texts,
        [
            "The money arrived a day after it left.",
            "No other transaction within a month has this amount.",
            "The outgoing description mentions a transfer.",
            "The incoming description mentions a transfer.",
            "The outgoing description names the institution of the other account.",
        ]
    );
}

#[test]
fn a_dinner_on_a_card_and_a_friends_share_of_it_are_not_a_pair() {
    let mut repaid = leg(2, CHECKING, 1, 4_280, "ZELLE FROM SAM");
    repaid.words.person = true;
    check(&[leg(1, AMEX, 0, -4_280, "RESTAURANT"), repaid], "");
}

#[test]
fn equal_amounts_a_day_apart_without_a_hint_are_not_suggested() {
    let legs = [leg(1, CHECKING, 0, -10_000, "ACH DEBIT"), leg(2, SAVINGS, 1, 10_000, "DEPOSIT")];
    check(&legs, "");
}

/// A standing order of which the person confirmed the first payments is recognized by its next one.
#[test]
fn confirmed_pairs_count_as_repetitions() {
    let pair = |number: u64, day: i64, lag: i64| {
        let sent = leg(number, CHECKING, day, -40_000, "ACH DEBIT");
        [sent, leg(number + 1, SAVINGS, day + lag, 40_000, "DEPOSIT")]
    };
    let confirmed = TransferOverrides {
        confirmed: [(id(1), id(2)), (id(3), id(4))].into(),
        ..TransferOverrides::default()
    };
    let legs = [pair(1, 0, 0), pair(3, 30, 0), pair(5, 60, 0)].concat();
    check(&legs, "1>2:11 3>4:11 5>6:11");
    assert_eq!(shown(&found_with(&legs, &confirmed)), "1>2:10 3>4:10 5>6:11");
    // Legs that no search would pair are no repetition: too far apart, or of two amounts.
    let far = [pair(1, 0, 0), pair(3, 30, 6), pair(5, 60, 0)].concat();
    assert_eq!(shown(&found_with(&far, &confirmed)), "1>2:10 3>4:10 5>6:6?");
    let mut unequal = legs;
    unequal[3].amount_minor -= 1;
    assert_eq!(shown(&found_with(&unequal, &confirmed)), "1>2:10 3>4:10 5>6:6?");
}

/// Checks which provider categories are trusted.
#[test]
fn two_transfer_categories_make_a_pair_and_a_purchase_category_prevents_one() {
    let legs = |out: &str, into: &str| {
        [
            categorized(leg(1, CHECKING, 0, -50_000, "WEB ID 1"), out),
            categorized(leg(2, SAVINGS, 0, 50_000, "PPD ID 2"), into),
        ]
    };
    check(&legs("TRANSFER_OUT_SAVINGS", "TRANSFER_IN_ACCOUNT_TRANSFER"), "1>2:14");
    check(&legs("TRANSFER_OUT_SAVINGS", ""), "1>2:10");
    check(&legs("TRANSFER_OUT_SAVINGS", "TRANSFER_IN_DEPOSIT"), "1>2:10");
    check(&legs("", "INCOME_OTHER_INCOME"), "1>2:6?");
    check(&legs("", ""), "1>2:6?");
    let outside =
        ["GENERAL_MERCHANDISE_ELECTRONICS", "TRANSFER_OUT_WITHDRAWAL", "BANK_FEES_LATE_FEES"];
    for code in outside {
        check(&legs(code, "TRANSFER_IN_ACCOUNT_TRANSFER"), "");
    }
    check(&legs("TRANSFER_OUT_SAVINGS", "INCOME_WAGES"), "");
    check(&legs("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", ""), "1>2:6?");
    check(&legs("LOAN_PAYMENTS_CAR_PAYMENT", ""), "1>2:6?");
}

#[test]
fn a_payment_category_counts_only_for_a_matching_account() {
    let legs = |account, code: &str| {
        [
            categorized(leg(1, CHECKING, 0, -50_000, "WEB ID 1"), code),
            leg(2, account, 0, 50_000, "PPD ID 2"),
        ]
    };
    check(&legs(AMEX, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"), "1>2:12");
    check(&legs(MORTGAGE, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"), "1>2:8?");
    check(&legs(MORTGAGE, "LOAN_PAYMENTS_MORTGAGE_PAYMENT"), "1>2:12");
}

#[test]
fn an_inflow_on_a_card_without_words_counts_as_a_payment() {
    let sent = leg(1, CHECKING, 1, -41_233, "ACH");
    let arrived = leg(2, AMEX, 0, 41_233, "ACH");
    check(&[sent.clone(), arrived.clone()], "1>2:11");
    check(&[sent.clone(), Leg { merchant: true, ..arrived.clone() }], "");
    let refund = TextFlags { refund: true, ..TextFlags::default() };
    check(&[sent, Leg { words: refund, ..arrived }], "");
}

#[test]
fn the_accounts_determine_the_kind_of_a_transfer() {
    let kind = |from, to| {
        let legs =
            [transfer_leg(1, from, 0, -700, "TRANSFER"), transfer_leg(2, to, 0, 700, "TRANSFER")];
        found(&legs).pairs[0].kind.as_str()
    };
    assert_eq!(kind(CHECKING, AMEX), "card_payment");
    assert_eq!(kind(SAVINGS, MORTGAGE), "loan_payment");
    assert_eq!(kind(CHECKING, BROKERAGE), "investment");
    assert_eq!(kind(BROKERAGE, VACATION), "investment");
    assert_eq!(kind(BROKERAGE, CHECKING), "investment");
    assert_eq!(kind(CHECKING, SAVINGS), "savings");
    assert_eq!(kind(SAVINGS, CHECKING), "savings");
}

#[test]
fn money_leaves_a_card_only_as_a_cash_advance_or_balance_transfer() {
    let legs = |to, text: &str| {
        [transfer_leg(1, AMEX, 0, -90_000, text), transfer_leg(2, to, 0, 90_000, "TRANSFER")]
    };
    check(&legs(CHECKING, "TRANSFER"), "");
    check(&legs(CHECKING, "CASH ADVANCE"), "1>2:14");
    check(&legs(CHECKING, "Balance-transfer check"), "1>2:14");
    check(&legs(CAPITAL_ONE, "CASH ADVANCE"), "");
    check(&legs(CAPITAL_ONE, "PAYMENT"), "");
    check(&legs(CAPITAL_ONE, "BALANCE TRANSFER"), "1>2:14");
}

#[test]
fn a_payment_to_a_card_that_is_not_linked_is_not_paired() {
    let autopay = transfer_leg(1, CHECKING, 0, -41_233, "DISCOVER CREDIT CRD AUTOPAY");
    let autopay = categorized(autopay, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT");
    check(std::slice::from_ref(&autopay), "");
    check(&[autopay, leg(2, SAVINGS, 4, 30_000, "DEPOSIT")], "");
}

#[test]
fn a_small_fee_is_accepted_if_both_texts_mention_a_transfer() {
    let legs = |sent: i64, text: &str, arrived: i64| {
        [
            transfer_leg(1, CHECKING, 0, -sent, text),
            transfer_leg(2, SAVINGS, 1, arrived, "WIRE TRANSFER"),
        ]
    };
    check(&legs(20_500, "TRANSFER TO ALLY", 20_000), "1>2:19");
    check(&legs(20_501, "TRANSFER TO ALLY", 20_000), "");
    check(&legs(100_000, "TRANSFER TO ALLY", 99_000), "1>2:19");
    check(&legs(100_000, "TRANSFER TO ALLY", 98_999), "");
    check(&legs(20_000, "TRANSFER TO ALLY", 20_001), "");
    check(&legs(20_500, "TRANSFER", 20_000), "1>2:13");
    let pair = &found(&legs(20_300, "TRANSFER TO ALLY", 20_000)).pairs[0];
    assert_eq!(pair.fee_minor, 300);
    let fee_text = Evidence::Fee(base::Money::new(300, Currency::USD)).text();
    assert_eq!(pair.evidence.last().unwrap().text(), fee_text);
    assert_eq!(fee_text, "A fee of 3.00 USD was charged.");
    for silent in 0..2 {
        let mut legs = legs(20_300, "TRANSFER TO ALLY", 20_000);
        legs[silent].words.transfer = false;
        check(&legs, "");
    }
}

#[test]
fn an_exact_amount_is_preferred_to_one_with_a_fee() {
    let legs = [
        transfer_leg(1, CHECKING, 0, -20_000, "TRANSFER TO ALLY"),
        transfer_leg(2, SAVINGS, 0, 19_800, "TRANSFER"),
        transfer_leg(3, BROKERAGE, 2, 20_000, "TRANSFER"),
    ];
    check(&legs, "1>3:12");
}

#[test]
fn an_odd_amount_counts_only_if_nothing_else_has_it_within_a_month() {
    let legs = |minor: i64| [leg(1, CHECKING, 0, -minor, "ACH"), leg(2, SAVINGS, 1, minor, "ACH")];
    check(&legs(2_501), "1>2:9?");
    check(&legs(2_499), "");
    check(&legs(3_000), "");
    for (day, minor, expected) in
        [(-30, -2_501, ""), (-31, -2_501, "1>2:9?"), (31, 2_501, ""), (32, 2_501, "1>2:9?")]
    {
        let third = leg(3, AMEX, day, minor, "ACH");
        let [first, second] = legs(2_501);
        check(&[first, second, third], expected);
    }
}

#[test]
fn partners_that_differ_only_in_their_ids_are_marked_as_ambiguous() {
    let out = |number| transfer_leg(number, CHECKING, 0, -50_000, "TRANSFER");
    let into = |number, account| transfer_leg(number, account, 0, 50_000, "TRANSFER");
    check(&[out(1), out(2), into(3, SAVINGS), into(4, VACATION)], "1>3:14~ 2>4:14~");
    check(&[out(1), into(3, SAVINGS), into(4, VACATION)], "1>3:14~");
    check(&[out(1), out(2), into(3, SAVINGS)], "1>3:14~");
    let named = transfer_leg(1, CHECKING, 0, -50_000, "TRANSFER TO X8888");
    let late = transfer_leg(2, BROKERAGE, -1, -50_000, "TRANSFER");
    check(&[named, late, into(3, SAVINGS), into(4, VACATION)], "1>4:20 2>3:13");
    let better = transfer_leg(1, CHECKING, 0, -50_000, "TRANSFER TO VACATION");
    check(&[better, into(3, SAVINGS), into(4, VACATION)], "1>4:20");
}

#[test]
fn with_equal_points_the_nearer_day_wins() {
    let legs = [
        transfer_leg(1, CHECKING, 0, -50_000, "TRANSFER"),
        leg(2, SAVINGS, 2, 50_000, "SENT FROM CHASE"),
        transfer_leg(3, VACATION, 0, 50_000, "TRANSFER"),
    ];
    check(&legs[..2], "1>2:14");
    check(&legs, "1>3:14");
}

#[test]
fn authorization_dates_break_a_tie() {
    let authorized =
        |leg: Leg, day: i64| Leg { authorized_on: Some(date_from_days(ZERO + day)), ..leg };
    let out = authorized(transfer_leg(1, CHECKING, 2, -50_000, "TRANSFER"), 0);
    let near = authorized(transfer_leg(4, VACATION, 2, 50_000, "TRANSFER"), 0);
    let far = authorized(transfer_leg(3, SAVINGS, 2, 50_000, "TRANSFER"), 1);
    check(&[out, near, far], "1>4:14");
}

#[test]
fn a_confirmed_pair_is_kept_and_its_legs_are_in_no_other_pair() {
    let legs = [
        transfer_leg(1, CHECKING, 0, -50_000, "TRANSFER"),
        transfer_leg(2, SAVINGS, 0, 50_000, "TRANSFER"),
        leg(3, VACATION, 40, 49_000, "?"),
    ];
    let confirmed =
        TransferOverrides { confirmed: [(id(1), id(3))].into(), ..TransferOverrides::default() };
    let found = found_with(&legs, &confirmed);
    assert_eq!(shown(&found), "1>3:10");
    assert_eq!((found.pairs[0].fee_minor, found.pairs[0].kind), (1_000, TransferKind::Savings));
    assert_eq!(found.pairs[0].evidence, [Evidence::Confirmed]);
    assert_eq!(shown(&found_with(&legs[..2], &confirmed)), "");
    for conflicting in [
        TransferOverrides { not_transfers: [id(3)].into(), ..confirmed.clone() },
        TransferOverrides { refused: [(id(1), id(3))].into(), ..confirmed.clone() },
        TransferOverrides { confirmed: [(id(3), id(1))].into(), ..TransferOverrides::default() },
        TransferOverrides { confirmed: [(id(2), id(3))].into(), ..TransferOverrides::default() },
    ] {
        assert_eq!(shown(&found_with(&legs, &conflicting)), "");
    }
}

#[test]
fn a_suggestion_never_uses_the_leg_of_a_pair() {
    let legs = [
        transfer_leg(1, CHECKING, 0, -20_000, "TRANSFER TO ALLY"),
        transfer_leg(2, SAVINGS, 0, 19_700, "TRANSFER"),
        leg(3, BROKERAGE, 2, 20_000, "DEPOSIT"),
    ];
    check(&legs[..2], "1>2:20");
    check(&[legs[0].clone(), legs[2].clone()], "1>3:8?");
    check(&legs, "1>2:20");
    let legs = [
        transfer_leg(1, CHECKING, 0, -20_000, "TRANSFER TO X2222"),
        leg(2, BROKERAGE, 0, -20_000, "ACH"),
        leg(3, SAVINGS, 0, 20_000, "ACH"),
        leg(4, VACATION, 0, 20_000, "ACH"),
    ];
    check(&legs, "1>3:16 2>4:6?");
}

#[test]
fn legs_of_unknown_accounts_only_make_an_amount_common() {
    let legs = [leg(1, CHECKING, 0, -7_777, "A"), leg(2, SAVINGS, 0, 7_777, "B")];
    check(&legs, "1>2:10");
    let stranger = leg(3, 200, 0, 7_777, "C");
    check(&[&legs[..], &[stranger]].concat(), "1>2:6?");
}

#[test]
fn too_many_equal_amounts_give_no_pair() {
    let pair_count = |count: u64, arrived: i64| {
        let mut legs = vec![transfer_leg(1, CHECKING, 0, -500, "TRANSFER")];
        legs.extend((0..count).map(|it| transfer_leg(10 + it, SAVINGS, 0, arrived, "TRANSFER")));
        found(&legs).pairs.len()
    };
    for arrived in [500, 499] {
        assert_eq!((pair_count(32, arrived), pair_count(33, arrived)), (1, 0));
    }
}

#[test]
fn a_text_names_an_account_as_banks_write_it() {
    use Naming::{Institution, Mask, Nickname, Role};
    let named = |account: u8, text: &str| {
        let legs = [
            transfer_leg(1, CHECKING, 0, -500, text),
            transfer_leg(2, account, 0, 500, "TRANSFER"),
        ];
        let found = found(&legs);
        let evidence = found.pairs[0].evidence.iter();
        evidence.copied().find_map(|it| match it {
            Evidence::NamesOther(_, by) => Some(by),
            _ => None,
        })
    };
    for (account, text, expected) in [
        (SAVINGS, "ONLINE TRANSFER TO SAV ...2222", Some(Mask)),
        (SAVINGS, "Transfer to account ending in 2222", Some(Mask)),
        (SAVINGS, "TRANSFER XXXXXX2222", Some(Mask)),
        (SAVINGS, "TRANSFER REF 12222", None),
        (SAVINGS, "TRANSFER REF X12222", None),
        (SAVINGS, "TRANSFER TO SAVINGS", Some(Role)),
        (SAVINGS, "TRANSFER FROM SAVINGS", None),
        (SAVINGS, "SAVINGS BANK ACCOUNT", None),
        (SAVINGS, "ally transfer", Some(Institution)),
        (SAVINGS, "REALLY", None),
        (SAVINGS, "ALLY TRANSFER TO 8888", None),
        (VACATION, "to vacation", Some(Nickname)),
        (AMEX, "AMEX EPAYMENT", Some(Institution)),
        (AMEX, "AMERICAN EXPRESS ACH PMT", Some(Institution)),
        (AMEX, "EXPRESS ACH PMT", None),
        (AMEX, "PLATINUM CARD", None),
        (CAPITAL_ONE, "CAPITALONE PMT", Some(Institution)),
        (CAPITAL_ONE, "Capital-One", Some(Institution)),
        (CAPITAL_ONE, "CAPITAL PMT ONE", None),
        (CAPITAL_ONE, "PAY QUICKSILVER", Some(Nickname)),
        (BROKERAGE, "SCHWAB MONEYLINK", Some(Institution)),
        (BROKERAGE, "", None),
        (WALLET, "CHASE", None),
    ] {
        assert_eq!(named(account, text), expected, "{text}");
    }
}

#[test]
fn a_year_is_not_a_mask_unless_the_text_marks_it_as_one() {
    let mut accounts = accounts();
    accounts[1].mask = Some("2026".to_owned());
    let points = |text: &str| {
        let legs = [
            transfer_leg(1, CHECKING, 0, -500, text),
            transfer_leg(2, SAVINGS, 0, 500, "TRANSFER"),
        ];
        pair(&accounts, &legs, &TransferOverrides::default(), &convert).pairs[0].points_halves
    };
    assert_eq!(points("TRANSFER 03/04/2026"), 14);
    assert_eq!(points("TRANSFER TO X2026"), 20);
    assert_eq!(points("ACCOUNT ENDING IN 2026"), 20);
}

#[test]
fn names_that_are_too_short_do_not_match() {
    let mut accounts = accounts();
    accounts[1].name = "Sam".to_owned();
    accounts[1].institution = Some("Q".to_owned());
    accounts[1].mask = Some("77".to_owned());
    for text in ["SAM", "Q", "77", "X77"] {
        let legs = [
            transfer_leg(1, CHECKING, 0, -500, text),
            transfer_leg(2, SAVINGS, 0, 500, "TRANSFER"),
        ];
        let found = pair(&accounts, &legs, &TransferOverrides::default(), &convert);
        assert_eq!(shown(&found), "1>2:14", "{text}");
    }
}

#[test]
fn a_name_of_both_accounts_is_ignored_but_their_institution_counts() {
    let mut accounts = accounts();
    accounts[0].name = "Vacation".to_owned();
    accounts[0].mask = Some("8888".to_owned());
    let points = |text: &str| {
        let legs = [
            transfer_leg(1, CHECKING, 0, -500, text),
            transfer_leg(2, VACATION, 0, 500, "TRANSFER"),
        ];
        pair(&accounts, &legs, &TransferOverrides::default(), &convert).pairs[0].points_halves
    };
    assert_eq!(points("VACATION 8888"), 14);
    assert_eq!(points("ALLY VACATION 8888"), 20);
}

#[test]
fn two_account_names_outweigh_a_wallet_listed_as_a_merchant() {
    let sent = leg(1, CHECKING, 0, -500, "PAYPAL INST");
    let arrived = leg(2, WALLET, 0, 500, "ADDED FROM CHASE");
    let sent = Leg { merchant: true, ..sent };
    check(&[sent.clone(), arrived.clone()], "1>2:10");
    check(&[categorized(sent, "TRANSFER_OUT_WITHDRAWAL"), arrived], "1>2:10");
}

#[test]
fn a_banks_own_name_does_not_identify_another_account_there() {
    let mut accounts = accounts();
    accounts[1].institution = Some("Chase".to_owned());
    let legs = [
        transfer_leg(1, CHECKING, 0, -500, "CHASE TRANSFER"),
        transfer_leg(2, SAVINGS, 0, 500, "CHASE TRANSFER"),
    ];
    let found = pair(&accounts, &legs, &TransferOverrides::default(), &convert);
    assert_eq!(shown(&found), "1>2:14");
}
