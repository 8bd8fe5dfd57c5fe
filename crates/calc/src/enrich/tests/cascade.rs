//! Tests of the order of sources, and of their results.

use base::AccountId;
use base::category::Category;
use base::draft::AccountKind;

use super::rules::{keyed, rule};
use crate::enrich::*;

pub(super) fn category(code: &str) -> Category {
    let found = Category::parse(code).unwrap();
    assert_eq!(found.detailed(), code);
    found
}

pub(super) fn account(number: u8) -> AccountId {
    AccountId::from_bytes([number; 16])
}

/// A purchase from a checking account.
pub(super) fn facts() -> TransactionFacts<'static> {
    TransactionFacts {
        account: account(1),
        account_kind: AccountKind::Depository,
        account_subtype: None,
        inflow: false,
        amount_minor: 12_34,
        currency: Currency::USD,
        source_counterparty: None,
        source_category: None,
        transfer: None,
        imported_at_ms: None,
        user_override: None,
    }
}

pub(super) fn facts_for(kind: AccountKind, inflow: bool) -> TransactionFacts<'static> {
    TransactionFacts { account_kind: kind, inflow, ..facts() }
}

/// Enriches a row without rules and without history.
pub(super) fn plain(description: &str, facts: &TransactionFacts<'_>) -> Enriched {
    enrich(&clean(description), facts, &Rules::none(), &History::empty())
}

#[track_caller]
fn check(
    description: &str,
    facts: &TransactionFacts<'_>,
    code: &str,
    category_source: CategorySource,
    name: Option<&str>,
) {
    let found = plain(description, facts);
    let expected = (!code.is_empty()).then(|| category(code));
    assert_eq!(
        (found.category, found.category_source),
        (expected, category_source),
        "{description}"
    );
    assert_eq!(found.counterparty.as_deref(), name, "{description}");
}

#[test]
fn each_source_decides_when_those_before_it_do_not() {
    let correction =
        TransactionOverride { category: Some(category("TRAVEL_LODGING")), ..Default::default() };
    let rules = Rules::new(vec![keyed(1, "KROGER", "MEDICAL_DENTAL_CARE")]);
    let provided = Some(category("GENERAL_MERCHANDISE_SUPERSTORES"));
    let mut row =
        TransactionFacts { user_override: Some(&correction), source_category: provided, ..facts() };
    row.transfer = Some(TransferKind::Savings);
    let mut seen = Vec::new();
    let cleaned = clean("KROGER #12");
    seen.push(enrich(&cleaned, &row, &rules, &History::empty()));
    row.user_override = None;
    seen.push(enrich(&cleaned, &row, &rules, &History::empty()));
    seen.push(enrich(&cleaned, &row, &Rules::none(), &History::empty()));
    row.transfer = None;
    seen.push(enrich(&cleaned, &row, &Rules::none(), &History::empty()));
    row.source_category = None;
    seen.push(enrich(&cleaned, &row, &Rules::none(), &History::empty()));
    seen.push(plain("LUIGI PIZZERIA", &row));
    seen.push(plain("QXB", &row));
    let found: Vec<_> = seen.iter().map(|it| (it.category, it.category_source)).collect();
    assert_eq!(
        found,
        [
            (Some(category("TRAVEL_LODGING")), CategorySource::User),
            (Some(category("MEDICAL_DENTAL_CARE")), CategorySource::Rule),
            (Some(category("TRANSFER_OUT_SAVINGS")), CategorySource::Structure),
            (provided, CategorySource::Provider),
            (Some(category("FOOD_AND_DRINK_GROCERIES")), CategorySource::Merchant),
            (Some(category("FOOD_AND_DRINK_RESTAURANT")), CategorySource::Keyword),
            (None, CategorySource::None),
        ]
    );
}

#[test]
fn the_provider_category_other_yields_to_the_merchant() {
    let row = TransactionFacts { source_category: Some(category("OTHER_OTHER")), ..facts() };
    check("KROGER", &row, "FOOD_AND_DRINK_GROCERIES", CategorySource::Merchant, Some("Kroger"));
}

#[test]
fn the_counterparty_has_its_own_order_of_sources() {
    let counterparty = Some("Mine".to_owned());
    let correction = TransactionOverride { counterparty, ..Default::default() };
    let naming =
        Rule { words: Some("blue".to_owned()), counterparty: Some("Ruled".to_owned()), ..rule(1) };
    let rules = Rules::new(vec![naming]);
    let cleaned = clean("SQ *BLUE BOTTLE #1");
    let mut row = TransactionFacts {
        user_override: Some(&correction),
        source_counterparty: Some("Told"),
        ..facts()
    };
    let mut names = Vec::new();
    names.push(enrich(&cleaned, &row, &rules, &History::empty()));
    row.user_override = None;
    names.push(enrich(&cleaned, &row, &rules, &History::empty()));
    names.push(enrich(&cleaned, &row, &Rules::none(), &History::empty()));
    row.source_counterparty = Some(" ");
    names.push(enrich(&cleaned, &row, &Rules::none(), &History::empty()));
    names.push(plain("ACME WIDGETS INC PAYROLL", &facts()));
    names.push(plain("THE HOUSE OF JAM-MAKERS KFZ 2", &facts()));
    let names: Vec<_> = names.iter().map(|it| it.counterparty.as_deref().unwrap()).collect();
    let expected = [
        "Mine",
        "Ruled",
        "Told",
        "Blue Bottle Coffee",
        "Acme Widgets",
        "The House of Jam-Makers KFZ 2",
    ];
    assert_eq!(names, expected);
}

/// Banks that name the shop in a column of its own often write only a reference into the text.
#[test]
fn a_merchant_that_only_the_counterparty_names_is_known() {
    let row = TransactionFacts { source_counterparty: Some("REWE Markt GmbH"), ..facts() };
    let text = "2026-08-30T18:12 Debitk.1 2028-12";
    let found = plain(text, &row);
    assert_eq!(found.category.map(Category::detailed), Some("FOOD_AND_DRINK_GROCERIES"));
    assert_eq!(found.key, merchant_key("REWE SAGT DANKE 4711"));
    // The text itself comes first.
    let found = plain("NETFLIX.COM", &row);
    assert_eq!(found.key, merchant_key("NETFLIX.COM"));
}

#[test]
fn a_transfer_is_categorized_by_its_kind_and_direction() {
    for (transfer, inflow, code) in [
        (TransferKind::CardPayment, false, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
        (TransferKind::CardPayment, true, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
        (TransferKind::LoanPayment, false, "LOAN_PAYMENTS_OTHER_PAYMENT"),
        (TransferKind::Investment, false, "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS"),
        (TransferKind::Investment, true, "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS"),
        (TransferKind::Savings, false, "TRANSFER_OUT_SAVINGS"),
        (TransferKind::Savings, true, "TRANSFER_IN_SAVINGS"),
        (TransferKind::Transfer, false, "TRANSFER_OUT_ACCOUNT_TRANSFER"),
        (TransferKind::Transfer, true, "TRANSFER_IN_ACCOUNT_TRANSFER"),
    ] {
        let row = TransactionFacts { transfer: Some(transfer), inflow, ..facts() };
        check("SOMETHING", &row, code, CategorySource::Structure, None);
    }
}

#[test]
fn a_loan_payment_is_categorized_by_the_loan_or_else_by_the_description() {
    for (subtype, code) in [
        (Some("mortgage"), "LOAN_PAYMENTS_MORTGAGE_PAYMENT"),
        (Some("auto"), "LOAN_PAYMENTS_CAR_PAYMENT"),
        (Some("student"), "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT"),
        (Some("consumer"), "LOAN_PAYMENTS_PERSONAL_LOAN_PAYMENT"),
        (None, "LOAN_PAYMENTS_OTHER_PAYMENT"),
    ] {
        let row =
            TransactionFacts { account_subtype: subtype, ..facts_for(AccountKind::Loan, true) };
        check("THANKS", &row, code, CategorySource::Structure, Some("Thanks"));
    }
    let paying = TransactionFacts { transfer: Some(TransferKind::LoanPayment), ..facts() };
    let mortgage = "LOAN_PAYMENTS_MORTGAGE_PAYMENT";
    check("UNITED BANK MORTGAGE", &paying, mortgage, CategorySource::Structure, None);
    check("PENNYMAC CASH", &paying, mortgage, CategorySource::Structure, Some("PennyMac"));
}

#[test]
fn the_banks_own_phrases_override_the_provider() {
    let (card, cash) = (AccountKind::Credit, AccountKind::Depository);
    for (description, kind, inflow, code) in [
        ("INTEREST PAID", cash, true, "INCOME_INTEREST_EARNED"),
        ("MONTHLY INTEREST PAID", cash, true, "INCOME_INTEREST_EARNED"),
        ("ZINSEN 12/24", cash, true, "INCOME_INTEREST_EARNED"),
        ("INTEREST CHARGE ON PURCHASES", card, false, "BANK_FEES_INTEREST_CHARGE"),
        ("LATE FEE", card, false, "BANK_FEES_LATE_FEES"),
        ("OVERDRAFT FEE 03/12", cash, false, "BANK_FEES_OVERDRAFT_FEES"),
        ("PAYMENT THANK YOU - WEB", card, true, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
        ("AUTOPAY 999990000012345RAUTOPAY", card, true, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
    ] {
        check(description, &facts_for(kind, inflow), code, CategorySource::Structure, None);
    }
    let provided = Some(category("GENERAL_SERVICES_OTHER_GENERAL_SERVICES"));
    let row = TransactionFacts { source_category: provided, ..facts_for(card, false) };
    check("LATE FEE", &row, "BANK_FEES_LATE_FEES", CategorySource::Structure, None);
    let library = plain("CITY LIBRARY LATE FEE", &row);
    assert_eq!((library.category, library.category_source), (provided, CategorySource::Provider));
}

#[test]
fn a_known_merchant_says_more_than_a_coarse_category_of_the_source() {
    let facts = facts_for(AccountKind::Credit, false);
    let said = |code: &str| TransactionFacts { source_category: Some(category(code)), ..facts };
    let travel = said("TRAVEL_OTHER_TRAVEL");
    check(
        "UBER TRIP",
        &travel,
        "TRANSPORTATION_TAXIS_AND_RIDE_SHARES",
        CategorySource::Merchant,
        Some("Uber"),
    );
    let unknown = plain("QUILLFEATHER VENTURES", &travel);
    assert_eq!(unknown.category_source, CategorySource::Provider);
    // A fine category of the source counts more than our tables.
    let fine = plain("UBER TRIP", &said("TRAVEL_FLIGHTS"));
    assert_eq!(fine.category_source, CategorySource::Provider);
}

#[test]
fn toll_passes_and_tire_shops_are_recognized_in_the_spelling_of_cards() {
    for (text, name) in [
        ("E ZPASS NY", "E-ZPass"),
        ("E-ZPASSNY", "E-ZPass"),
        ("DISCOUNT-TIRE-CO AZP 12", "Discount Tire"),
        ("E.ON ENERGIE", "E.ON"),
    ] {
        let found = plain(text, &facts_for(AccountKind::Credit, false));
        assert_eq!(found.counterparty.as_deref(), Some(name), "{text}");
    }
}

#[test]
fn descriptions_without_a_name_have_no_counterparty() {
    for (description, inflow, code) in [
        ("ATM WITHDRAWAL 001234 03/12", false, "TRANSFER_OUT_WITHDRAWAL"),
        ("FOREIGN TRANSACTION FEE", false, "BANK_FEES_FOREIGN_TRANSACTION_FEES"),
        ("ANNUAL MEMBERSHIP FEE", false, "BANK_FEES_OTHER_BANK_FEES"),
        ("ONLINE TRANSFER TO SAV ...1234", false, "TRANSFER_OUT_SAVINGS"),
        ("UMBUCHUNG", true, "TRANSFER_IN_ACCOUNT_TRANSFER"),
        ("CHECK #1023", false, "TRANSFER_OUT_OTHER_TRANSFER_OUT"),
        ("SHARE DRAFT 1023", false, "TRANSFER_OUT_OTHER_TRANSFER_OUT"),
    ] {
        check(
            description,
            &facts_for(AccountKind::Depository, inflow),
            code,
            CategorySource::Keyword,
            None,
        );
    }
    let person = plain("ZELLE TO CASH MOORE", &facts()).counterparty;
    assert_eq!(person.as_deref(), Some("Cash Moore"));
    for description in ["123456", ""] {
        check(description, &facts(), "", CategorySource::None, None);
    }
}

#[test]
fn the_direction_changes_the_category_of_keywords_and_merchants() {
    let (inward, outward) = (facts_for(AccountKind::Depository, true), facts());
    for (description, facts, code, category_source) in [
        ("ACME CORP PAYROLL", &inward, "INCOME_SALARY", CategorySource::Keyword),
        ("ACME CORP PAYROLL", &outward, "", CategorySource::None),
        ("GEHALT FIRMA NORD", &inward, "INCOME_SALARY", CategorySource::Keyword),
        ("GUSTO PAY 123456", &inward, "INCOME_SALARY", CategorySource::Merchant),
        ("GUSTO PAY 123456", &outward, "", CategorySource::None),
        ("UBER *TRIP", &inward, "INCOME_GIG_ECONOMY", CategorySource::Merchant),
        ("UBER *TRIP", &outward, "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", CategorySource::Merchant),
        ("AIRBNB 4029", &inward, "INCOME_RENTAL", CategorySource::Merchant),
        ("KROGER", &inward, "FOOD_AND_DRINK_GROCERIES", CategorySource::Merchant),
        (
            "VANGUARD BUY",
            &outward,
            "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS",
            CategorySource::Merchant,
        ),
        (
            "VANGUARD BUY",
            &inward,
            "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS",
            CategorySource::Merchant,
        ),
        ("WESTERN UNION", &inward, "TRANSFER_IN_OTHER_TRANSFER_IN", CategorySource::Merchant),
        ("NELNET 1234", &inward, "", CategorySource::None),
        (
            "IRS USATAXPYMT",
            &outward,
            "GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT",
            CategorySource::Merchant,
        ),
        (
            "ZELLE FROM SAM CARTER",
            &inward,
            "TRANSFER_IN_OTHER_TRANSFER_IN",
            CategorySource::Keyword,
        ),
        (
            "ZELLE TO SAM CARTER",
            &outward,
            "TRANSFER_OUT_OTHER_TRANSFER_OUT",
            CategorySource::Keyword,
        ),
        ("ZELLE TO SAM CARTER RENT", &outward, "RENT_AND_UTILITIES_RENT", CategorySource::Keyword),
    ] {
        let found = plain(description, facts);
        let expected = (!code.is_empty()).then(|| category(code));
        assert_eq!(
            (found.category, found.category_source),
            (expected, category_source),
            "{description}"
        );
    }
}

#[test]
fn the_longest_phrase_wins_and_compound_words_match() {
    for (description, code) in [
        ("GASTHOF HOTEL CAR RENTAL", "TRAVEL_RENTAL_CARS"),
        ("CITY OF AUSTIN UTILITIES", "RENT_AND_UTILITIES_OTHER_UTILITIES"),
        ("CENTRAL ANIMAL HOSPITAL", "MEDICAL_VETERINARY_SERVICES"),
        ("STADTAPOTHEKE AM MARKT", "MEDICAL_PHARMACIES_AND_SUPPLEMENTS"),
        ("BIRKENAPOTHEKE", "MEDICAL_PHARMACIES_AND_SUPPLEMENTS"),
        ("LOYER MARS", "RENT_AND_UTILITIES_RENT"),
        ("KATHOLISCHE KIRCHE", "GOVERNMENT_AND_NON_PROFIT_DONATIONS"),
    ] {
        assert_eq!(plain(description, &facts()).category, Some(category(code)), "{description}");
    }
}

#[test]
fn every_spelling_of_a_merchant_has_one_key() {
    for texts in [
        ["AMZN MKTP US*TX8R44K21", "AMAZON.COM*2K4TR8MP3 AMZN.COM/BILL WA"],
        ["TESCO STORES 3412 HATFIELD GB", "CARD PAYMENT TO TESCO STORES 2231"],
    ] {
        let keys = texts.map(super::super::merchant_key);
        assert_eq!(keys[0], keys[1], "{texts:?}");
    }
}

#[test]
fn the_provider_category_other_is_used_only_as_a_last_resort() {
    let other = TransactionFacts { source_category: Some(category("OTHER_OTHER")), ..facts() };
    check("ZQX 17", &other, "OTHER_OTHER", CategorySource::Provider, Some("ZQX 17"));
    check("KROGER", &other, "FOOD_AND_DRINK_GROCERIES", CategorySource::Merchant, Some("Kroger"));
}

#[test]
fn keywords_do_not_apply_to_bought_securities() {
    let bought = facts_for(AccountKind::Investment, false);
    check(
        "YOU BOUGHT BIG MARKET FUND",
        &bought,
        "",
        CategorySource::None,
        Some("You Bought Big Market Fund"),
    );
    let paid = facts_for(AccountKind::Investment, true);
    assert_eq!(plain("DIVIDEND RECEIVED", &paid).category, Some(category("INCOME_DIVIDENDS")));
}

#[test]
fn a_refund_from_a_gig_payer_is_not_income() {
    let back = facts_for(AccountKind::Depository, true);
    assert_eq!(plain("UBER TRIP", &back).category, Some(category("INCOME_GIG_ECONOMY")));
    let refund = plain("REFUND UBER TRIP", &back).category.unwrap();
    assert_eq!(refund.primary(), "TRANSPORTATION");
}

#[test]
fn payroll_from_a_shop_is_salary() {
    let paid = facts_for(AccountKind::Depository, true);
    let found = plain("WAITROSE 0339 PAYROLL PPD ID: 123456789", &paid);
    assert_eq!(
        (found.category, found.category_source),
        (Some(category("INCOME_SALARY")), CategorySource::Keyword)
    );
}

#[test]
fn a_restaurant_processor_sets_the_category_only_as_a_last_resort() {
    let restaurant = "FOOD_AND_DRINK_RESTAURANT";
    check("TST* LUIGI", &facts(), restaurant, CategorySource::Keyword, Some("Luigi"));
    let coffee = plain("TST* LUIGI COFFEE", &facts()).category;
    assert_eq!(coffee, Some(category("FOOD_AND_DRINK_COFFEE")));
    check("SQ *QXB", &facts(), "", CategorySource::None, Some("QXB"));
}
