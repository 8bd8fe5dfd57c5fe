//! Tests of money in from those who are usually paid.

use base::draft::AccountKind;

use super::cascade::{category, facts_for, plain};

#[test]
fn money_from_wallets_tax_offices_and_employers_is_not_a_purchase() {
    let paid = facts_for(AccountKind::Depository, true);
    for (description, code) in [
        ("PAYPAL TRANSFER", "TRANSFER_IN_OTHER_TRANSFER_IN"),
        ("VENMO CASHOUT", "TRANSFER_IN_OTHER_TRANSFER_IN"),
        ("CASH APP*CASH OUT", "TRANSFER_IN_OTHER_TRANSFER_IN"),
        ("IRS USATAXPYMT 041522", "INCOME_TAX_REFUND"),
        ("HMRC NDDS REFUND", "INCOME_TAX_REFUND"),
        ("KROGER CO PAYROLL", "INCOME_SALARY"),
        ("WALGREENS PHARMACY STORES DIRECT DEP", "INCOME_SALARY"),
        ("PAYROLL STANDING OAK MEDICAL GROUP", "INCOME_SALARY"),
        ("STRIPE TRANSFER ST-A1B2", "INCOME_OTHER"),
        ("EBAY COM PAYOUT", "INCOME_OTHER"),
        ("CREDIT CARD PAYMENT", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
        ("DEPOSIT PAYROLL STANDING OAK", "INCOME_SALARY"),
        ("DEPOSIT", "TRANSFER_IN_DEPOSIT"),
        ("TITLEMAX FUNDING", "LOAN_DISBURSEMENTS_PERSONAL"),
        ("POSHMARK INC", "INCOME_GIG_ECONOMY"),
        ("USERTESTING INC", "INCOME_OTHER"),
        ("BLUE BARN LLP DES:PAY ID:77 INDN:SAM LEE CO ID:1 PPD", "INCOME_SALARY"),
        ("VERIZON WIRELESS DES:EXPENSE ID:77 INDN:SAM LEE", "INCOME_OTHER"),
        ("VERIZON WIRELESS DES:CREDITS ID:77 INDN:SAM LEE CO ID:1 CCD", "INCOME_OTHER"),
        ("EBAY COMMERCE 8842", "INCOME_OTHER"),
        ("ROUND UP SAVINGS DEPOSIT", "TRANSFER_IN_SAVINGS"),
    ] {
        assert_eq!(plain(description, &paid).category, Some(category(code)), "{description}");
    }
}

#[test]
fn a_refund_has_the_category_of_the_purchase() {
    let back = facts_for(AccountKind::Depository, true);
    for (description, code) in [
        ("REFUND KROGER", "FOOD_AND_DRINK_GROCERIES"),
        ("PURCHASE RETURN LUIGI PIZZERIA", "FOOD_AND_DRINK_RESTAURANT"),
    ] {
        assert_eq!(plain(description, &back).category, Some(category(code)), "{description}");
    }
}

#[test]
fn money_from_a_person_is_a_transfer() {
    let paid = facts_for(AccountKind::Depository, true);
    for sender in ["PAYPAL *SAM LEE", "SUSAN QUINTERO", "R HOLLIS RENT SHARE", "HOLLIS R T LUNCH"] {
        let expected = Some(category("TRANSFER_IN_OTHER_TRANSFER_IN"));
        assert_eq!(plain(sender, &paid).category, expected, "{sender}");
    }
    for sender in ["SUSAN QUINTERO LLC", "QUINTERO HOLLIS", "SUSAN", "QUINTERO MEDIA I"] {
        assert_eq!(plain(sender, &paid).category, None, "{sender}");
    }
    let spent = facts_for(AccountKind::Depository, false);
    assert_ne!(
        plain("SUSAN QUINTERO", &spent).category.map(|it| it.primary()),
        Some("TRANSFER_OUT")
    );
}
