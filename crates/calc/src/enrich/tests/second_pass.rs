//! Tests of the second pass: unknown wrapping, and known names inside other words.

use base::draft::AccountKind;

use crate::enrich::{CategorySource, clean, merchant_key};

use super::cascade::{category, facts, facts_for, plain};

/// Spellings of one merchant each, as banks wrap them.
const SPELLINGS: &[&[&str]] = &[
    &[
        "RAISING CANES",
        "SIGNATURE POS DEBIT 04/11 4410 TX DALLAS RAISING CANE'S",
        "0412 POS SIG RAISING CANES 0417 DENTON TX",
        "POS WITHDRAWAL - RAISING CANES 11204 NW 31ST ST AP TULSA OKUS - CARD ENDING IN 2210",
    ],
    &[
        "WALGREENS",
        "SIGNATURE POS DEBIT 05/02 4410 OH DAYTON WALGREENS",
        "WALGREENS STORE 12 ATM/POS",
        "POS PURCHASE (EFFEC 05/02) WALGREENS #1204 CARD NO. 4410",
        "5512 WALGREENS #1204 05/02 PURCHASE 800-555-0142 OH",
    ],
    &[
        "AUNTIE ANNES",
        "RECUR PAYMENT 06/01 4410 CA AUNTIE ANNES",
        "DEBIT CARD PURCHASE XXXXX4410 AUNTIE ANNES 204 DAYTON OH",
        "AUNTIE ANNES DAYTON /OH US CARD PURCHASE",
    ],
    &[
        "NETFLIX.COM",
        "RECUR PAYMENT 06/01 4410 CA NETFLIX.COM NETFLIX.COM",
        "NETFLIX.COM 06/03 PURCHASE XXX-XX01234 CA",
        "4410 RECURRING DEBIT CARD NETFLIX.COM",
    ],
    &[
        "LYFT *RIDE",
        "PAYPAL DES:INST XFER ID:LYFT INDN:SAM CARTER CO ID:PAYPALSI77 WEB",
        "DEBIT CARD PURCHASE XXXXX4410 LYFT *2 RIDES 04-30 LYFT.COM CA",
    ],
    &[
        "DUKE ENERGY",
        "DUKEENERGYCORPOR WEB_PAY JUN 22 00060012 NULL NULL",
        "DUKE ENERGY 1234 WEB PAY",
    ],
    &[
        "KROGER",
        "XXXXX4410 PURCHASE KROGER FUEL 04/11",
        "POS SIG 04/11 VISA #4410 KROGER 812-555-0142 IN",
    ],
    &[
        "PICK N PAY",
        "POS Purchase PnP Fam Hilltop 412345*6789 04 Nov",
        "PNP EXPRESS 0044 (CARD 4410)",
    ],
];

#[test]
fn spellings_of_one_merchant_have_one_key() {
    let (mut same, mut all) = (0, 0);
    let mut apart = Vec::new();
    for spellings in SPELLINGS {
        for (at, one) in spellings.iter().enumerate() {
            for other in &spellings[at + 1..] {
                all += 1;
                if merchant_key(one) == merchant_key(other) {
                    same += 1;
                } else {
                    apart.push(format!(
                        "{one} is {}, {other} is {}",
                        merchant_key(one),
                        merchant_key(other)
                    ));
                }
            }
        }
    }
    assert!(same * 100 >= all * 93, "{same} of {all}: {apart:#?}");
}

#[test]
fn the_wrapping_of_an_unknown_bank_is_removed() {
    for (description, key) in [
        ("SIGNATURE POS DEBIT 04/11 4410 KY LEXINGTON BLUE KETTLE", "BLUE KETTLE"),
        (
            "POS WITHDRAWAL - 3110 BLUE KETTLE 11204 NW 31ST ST TULSA OKUS - CARD ENDING IN 1",
            "BLUE KETTLE",
        ),
        ("BLUE KETTLE 05/31 PURCHASE SHOP.COM PA", "BLUE KETTLE"),
        ("BLUE KETTLE 412-555-0142 CAFE", "BLUE KETTLE"),
        ("BLUE KETTLE PAYMENTS DEBIT CARD", "BLUE KETTLE PAYMENTS"),
        ("PAYPAL DES:ECHECK ID:KETTLE INDN:SAM CARTER CO ID:PAYP", "KETTLE"),
        // The words of a bank stay, and so does a name that would be nothing but a keyword.
        ("ATM WITHDRAWAL 1204 MAIN ST", "ATM WITHDRAWAL MAIN ST"),
        ("CAFE 1204 KETTLE", "CAFE KETTLE"),
    ] {
        assert_eq!(clean(description).key, key, "{description}");
    }
}

#[test]
fn a_known_name_inside_other_words_is_found_for_purchases_only() {
    let found = plain("QXB TERMINAL PAN WALGREENS", &facts());
    assert_eq!(
        (found.key.as_str(), found.category, found.category_source),
        (
            "WALGREENS",
            Some(category("MEDICAL_PHARMACIES_AND_SUPPLEMENTS")),
            CategorySource::Merchant
        )
    );
    let back = super::cascade::facts_for(base::draft::AccountKind::Depository, true);
    assert_eq!(plain("QXB TERMINAL PAN WALGREENS", &back).category, None);
}

#[test]
fn everyday_words_cities_and_people_are_not_merchants_inside_other_words() {
    for description in [
        "LUIGI THREE BROTHERS",
        "JANES UNITED GARAGE",
        "ZWIEBELHOF TARGET PRACTICE",
        "ZELLE TO MARTA LIND",
        "ZELLE PAYMENT TO LUIGI WALGREENS",
    ] {
        assert_eq!(clean(description).merchant, None, "{description}");
    }
}

#[test]
fn brands_have_a_category_and_no_name() {
    let found = plain("POS PURCHASE STER-KINEKOR 1204", &facts());
    assert_eq!(found.category.map(|it| it.primary()), Some("ENTERTAINMENT"));
    let found = plain("BRIGGS EQUIPMENT NEWTOWN", &facts());
    assert_eq!(found.category, Some(category("HOME_IMPROVEMENT_HARDWARE")));
    assert_eq!(found.category_source, CategorySource::Merchant);
}

#[test]
fn cut_and_joined_words_are_keywords() {
    for (description, primary) in [
        ("GOLDEN LANTERN RESTAURAN", "FOOD_AND_DRINK"),
        ("HARTLEY VETERINAR", "MEDICAL"),
        ("RADIOLOGYGROUPOF WEBPAYMENT", "MEDICAL"),
    ] {
        let found = plain(description, &facts());
        assert_eq!(found.category.map(|it| it.primary()), Some(primary), "{description}");
        assert_eq!(found.category_source, CategorySource::Keyword, "{description}");
    }
}

#[test]
fn fees_and_card_payments_are_told_by_two_words() {
    for (description, code) in [
        ("INTERNATIONAL POS FEE VIS 0420", "BANK_FEES_OTHER_BANK_FEES"),
        ("QXB MONTHLY CREDIT FEE", "BANK_FEES_OTHER_BANK_FEES"),
        ("QXB UNPAID ITEM FEE", "BANK_FEES_INSUFFICIENT_FUNDS"),
        ("COMENITY PAY OH WEB PYMT", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
        ("ACME REWARDS MC ACME EPAY", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
        ("CAPITAL ONE AUTO FINANCE CAR PAYMENT", "LOAN_PAYMENTS_CAR_PAYMENT"),
    ] {
        let found = plain(description, &facts());
        assert_eq!(found.category, Some(category(code)), "{description}");
    }
    // A fee of a shop is not the bank's.
    assert_ne!(
        plain("RIVERSIDE CAMPGROUND BOOKING FEE", &facts()).category.map(|it| it.primary()),
        Some("BANK_FEES")
    );
}

#[test]
fn the_wrapping_of_more_banks_is_removed() {
    for (description, key) in [
        ("DEBIT CARD PURCHASE 04/11 03:12P #4410 BLUE BARN TULSA OK", "BLUE BARN"),
        ("PIN POS DEBIT 04/11 4410 OK TULSA BLUE BARN", "BLUE BARN"),
        ("PENDING - BLUE BARN TULSA OK", "BLUE BARN"),
        ("PURCHASE AT BLUE BARN", "BLUE BARN"),
        ("BLUE BARN TULSA OKUSA", "BLUE BARN"),
        ("BLUE BARN WWW.BLUEBARN.C OK", "BLUE BARN"),
        ("BLUE BARN CD 4410 11APR24", "BLUE BARN"),
        ("IN *BLUE BARN 918-555-0142", "BLUE BARN"),
    ] {
        assert_eq!(merchant_key(description), key, "{description}");
    }
}

#[test]
fn a_withdrawal_in_front_of_a_known_merchant_is_a_purchase() {
    let found = plain("WITHDRAWAL KROGER #412", &facts());
    assert_eq!((found.key.as_str(), found.category_source), ("KROGER", CategorySource::Merchant));
    let cash = plain("WITHDRAWAL MAIN STREET", &facts());
    assert_eq!(cash.category, Some(category("TRANSFER_OUT_WITHDRAWAL")));
}

#[test]
fn payments_to_cards_of_shops_and_of_the_bank_are_debt_payments() {
    let paid = facts_for(AccountKind::Depository, false);
    for description in ["ULTA CC PAYMENT", "OLD NAVY VISA EPAY", "ONLINE PAYMENT TULSA"] {
        let found = plain(description, &paid).category;
        let card = Some(category("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"));
        assert_eq!(found, card, "{description}");
    }
    let shop = plain("VISA DEBIT KROGER", &paid).category;
    assert_eq!(shop, Some(category("FOOD_AND_DRINK_GROCERIES")));
}

#[test]
fn a_download_is_not_what_the_marketplace_sells_otherwise() {
    let found = plain("AMZN DIGITAL*A1B2C3 888-555-0142 WA", &facts());
    assert_eq!(found.key, "AMAZON");
    assert_eq!(found.category, Some(category("ENTERTAINMENT_OTHER_ENTERTAINMENT")));
}

#[test]
fn superstores_with_a_supermarket_sell_groceries() {
    for (description, code) in [
        ("WM SUPERCENTER #1204", "FOOD_AND_DRINK_GROCERIES"),
        ("WAL WAL-MART SUPER 1204 DAYTON OH", "FOOD_AND_DRINK_GROCERIES"),
        ("MEIJER # 120 DAYTON OH", "FOOD_AND_DRINK_GROCERIES"),
        ("WAL-MART #1204", "GENERAL_MERCHANDISE_SUPERSTORES"),
        ("WALMART.COM 8005550142", "GENERAL_MERCHANDISE_SUPERSTORES"),
        ("SUPERCUTS 1204", "PERSONAL_CARE_HAIR_AND_BEAUTY"),
    ] {
        let spent = facts_for(AccountKind::Depository, false);
        assert_eq!(plain(description, &spent).category, Some(category(code)), "{description}");
    }
    assert_eq!(merchant_key("WM SUPERCENTER #1204"), merchant_key("WALMART.COM"));
}

#[test]
fn a_merchant_behind_the_word_payment_is_paid() {
    let spent = facts_for(AccountKind::Depository, false);
    let utility = Some(category("RENT_AND_UTILITIES_GAS_AND_ELECTRICITY"));
    assert_eq!(plain("PAYMENT NATIONALGRID_0 DAYTON OH", &spent).category, utility);
    let card = Some(category("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"));
    assert_eq!(plain("PAYMENT CAPITAL ONE", &spent).category, card);
}

#[test]
fn a_payment_by_card_to_a_fund_is_a_donation() {
    let spent = facts_for(AccountKind::Depository, false);
    let given = Some(category("GOVERNMENT_AND_NON_PROFIT_DONATIONS"));
    assert_eq!(plain("DEBIT CARD PURCHASE QUINTERO FUND TX", &spent).category, given);
    assert_ne!(plain("QUINTERO FUND DES:ACH INDN:SAM PPD", &spent).category, given);
}
