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
