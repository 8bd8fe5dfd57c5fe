//! Classifies the payments of a category as contracts or habits, before any date is examined.

use base::category::Category;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentKind {
    /// Repeated visits without a contract.
    Habit,
    /// Paid by contract: bills, subscriptions, loans, wages.
    Bill,
    /// Cash that is handed in or taken out: no agreement, however regular.
    Cash,
    Other,
}

impl PaymentKind {
    /// A known subscription service is a bill even if its category is habitual, such as a meal kit among groceries.
    pub fn of(category: Option<Category>, known_service: bool, text: &str) -> PaymentKind {
        if known_service {
            return PaymentKind::Bill;
        }
        let Some(category) = category else { return PaymentKind::Other };
        if category.detailed() == "TRANSFER_IN_DEPOSIT" && says_cash(text) {
            return PaymentKind::Cash;
        }
        if BILLS.contains(&category.primary()) || BILLS.contains(&category.detailed()) {
            return PaymentKind::Bill;
        }
        if HABITS.contains(&category.primary()) || HABITS.contains(&category.detailed()) {
            return PaymentKind::Habit;
        }
        PaymentKind::Other
    }
}

/// Whether the text of a deposit speaks of cash, or of a place where cash is handed in. A check may be pay.
fn says_cash(text: &str) -> bool {
    const CASH: &[&str] = &[
        "ATM",
        "BAR",
        "BARGELDEINZAHLUNG",
        "BAREINZAHLUNG",
        "BRANCH",
        "CASH",
        "CONTANTI",
        "COUNTER",
        "EFECTIVO",
        "ESPECES",
        "STORTING",
        "TELLER",
    ];
    const CHECKS: &[&str] = &["CHECK", "CHECKS", "CHEQUE", "CHEQUES", "CHK"];
    let capitals = text.to_uppercase();
    let has = |list: &[&str]| {
        capitals.split(|it: char| !it.is_alphanumeric()).any(|word| list.contains(&word))
    };
    has(CASH) && !has(CHECKS)
}

/// Primary codes stand for all their members, except those in the other list.
const BILLS: &[&str] = &[
    "ENTERTAINMENT_MUSIC_AND_AUDIO",
    "ENTERTAINMENT_TV_AND_MOVIES",
    "GENERAL_SERVICES_CHILDCARE",
    "GENERAL_SERVICES_INSURANCE",
    "GENERAL_SERVICES_STORAGE",
    "HOME_IMPROVEMENT_SECURITY",
    "INCOME_CHILD_SUPPORT",
    "INCOME_LONG_TERM_DISABILITY",
    "INCOME_MILITARY",
    "INCOME_RENTAL",
    "INCOME_RETIREMENT_PENSION",
    "INCOME_SALARY",
    "INCOME_UNEMPLOYMENT",
    "INCOME_WAGES",
    "LOAN_PAYMENTS",
    "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS",
    "RENT_AND_UTILITIES",
];
const HABITS: &[&str] = &[
    "ENTERTAINMENT_CASINOS_AND_GAMBLING",
    "FOOD_AND_DRINK",
    "GENERAL_MERCHANDISE",
    "GENERAL_SERVICES_POSTAGE_AND_SHIPPING",
    "HOME_IMPROVEMENT",
    "MEDICAL_PHARMACIES_AND_SUPPLEMENTS",
    "PERSONAL_CARE",
    "TRANSFER_OUT_WITHDRAWAL",
    "TRANSPORTATION",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str) -> PaymentKind {
        let category = Category::parse(code);
        assert!(category.is_some(), "{code}");
        PaymentKind::of(category, false, "")
    }

    #[test]
    fn shops_and_rides_are_habits_and_agreements_are_bills() {
        for code in [
            "FOOD_AND_DRINK_GROCERIES",
            "FOOD_AND_DRINK_RESTAURANT",
            "FOOD_AND_DRINK_COFFEE",
            "FOOD_AND_DRINK_FAST_FOOD",
            "TRANSPORTATION_GAS",
            "TRANSPORTATION_PUBLIC_TRANSIT",
            "TRANSPORTATION_PARKING",
            "TRANSPORTATION_TAXIS_AND_RIDE_SHARES",
            "GENERAL_MERCHANDISE_SUPERSTORES",
            "TRANSFER_OUT_WITHDRAWAL",
            "MEDICAL_PHARMACIES_AND_SUPPLEMENTS",
            "PERSONAL_CARE_HAIR_AND_BEAUTY",
        ] {
            assert_eq!(of(code), PaymentKind::Habit, "{code}");
        }
        for code in [
            "RENT_AND_UTILITIES_TELEPHONE",
            "LOAN_PAYMENTS_MORTGAGE_PAYMENT",
            "ENTERTAINMENT_TV_AND_MOVIES",
            "GENERAL_SERVICES_INSURANCE",
            "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS",
            "HOME_IMPROVEMENT_SECURITY",
            "INCOME_WAGES",
        ] {
            assert_eq!(of(code), PaymentKind::Bill, "{code}");
        }
        for code in ["TRAVEL_FLIGHTS", "TRANSFER_OUT_SAVINGS", "INCOME_GIG_ECONOMY", "OTHER"] {
            assert_eq!(of(code), PaymentKind::Other, "{code}");
        }
        assert_eq!(PaymentKind::of(None, false, ""), PaymentKind::Other);
    }

    #[test]
    fn a_known_service_is_a_bill_even_among_groceries() {
        let groceries = Category::parse("FOOD_AND_DRINK_GROCERIES");
        assert_eq!(PaymentKind::of(groceries, true, ""), PaymentKind::Bill);
        assert_eq!(PaymentKind::of(None, true, ""), PaymentKind::Bill);
    }

    #[test]
    fn cash_is_told_from_checks_and_pay_by_the_text_of_a_deposit() {
        let deposit = Category::parse("TRANSFER_IN_DEPOSIT");
        for (text, expected) in [
            ("ATM CASH DEPOSIT 1200 MAIN ST", PaymentKind::Cash),
            ("Branch deposit", PaymentKind::Cash),
            ("VERSEMENT ESPECES", PaymentKind::Cash),
            ("ATM CHECK DEPOSIT", PaymentKind::Other),
            ("DEPOSIT", PaymentKind::Other),
            ("MOBILE DEPOSIT", PaymentKind::Other),
        ] {
            assert_eq!(PaymentKind::of(deposit, false, text), expected, "{text}");
        }
        assert_eq!(PaymentKind::of(None, false, "CASH"), PaymentKind::Other);
    }

    #[test]
    fn every_listed_code_exists() {
        for code in BILLS.iter().chain(HABITS) {
            let known = |it: &Category| it.primary() == *code || it.detailed() == *code;
            assert!(Category::ALL.iter().any(known), "{code}");
        }
    }
}
