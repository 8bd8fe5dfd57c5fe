//! The taxonomy of transactions: Plaid's personal finance categories, with labels of our own.

/// A detailed category, which determines its primary category and its label. Ordered by code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Category(u8);

struct Row {
    primary: &'static str,
    detailed: &'static str,
    label: &'static str,
}

/// Lists each primary once and prefixes its members with it.
macro_rules! taxonomy {
    ($($primary:literal { $($member:literal $label:literal),* $(,)? })*) => {
        &[$($(Row {
            primary: $primary,
            detailed: concat!($primary, "_", $member),
            label: $label,
        },)*)*]
    };
}

/// The union of both published versions of Plaid's categories, sorted by code.
const ROWS: &[Row] = taxonomy! {
    "BANK_FEES" {
        "ATM_FEES" "ATM fees",
        "CASH_ADVANCE" "Cash advance fees",
        "FOREIGN_TRANSACTION_FEES" "Foreign transaction fees",
        "INSUFFICIENT_FUNDS" "Insufficient funds fees",
        "INTEREST_CHARGE" "Interest charged",
        "LATE_FEES" "Late fees",
        "OTHER_BANK_FEES" "Bank fees",
        "OVERDRAFT_FEES" "Overdraft fees",
    }
    "ENTERTAINMENT" {
        "CASINOS_AND_GAMBLING" "Gambling",
        "MUSIC_AND_AUDIO" "Music and audio",
        "OTHER_ENTERTAINMENT" "Entertainment",
        "SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS" "Events and outings",
        "TV_AND_MOVIES" "TV and movies",
        "VIDEO_GAMES" "Video games",
    }
    "FOOD_AND_DRINK" {
        "BEER_WINE_AND_LIQUOR" "Beer, wine and liquor",
        "COFFEE" "Coffee shops",
        "FAST_FOOD" "Fast food",
        "GROCERIES" "Groceries",
        "OTHER_FOOD_AND_DRINK" "Food and drink",
        "RESTAURANT" "Restaurants",
        "VENDING_MACHINES" "Vending machines",
    }
    "GENERAL_MERCHANDISE" {
        "BOOKSTORES_AND_NEWSSTANDS" "Books and newspapers",
        "CLOTHING_AND_ACCESSORIES" "Clothing",
        "CONVENIENCE_STORES" "Convenience stores",
        "DEPARTMENT_STORES" "Department stores",
        "DISCOUNT_STORES" "Discount stores",
        "ELECTRONICS" "Electronics",
        "GIFTS_AND_NOVELTIES" "Gifts",
        "OFFICE_SUPPLIES" "Office supplies",
        "ONLINE_MARKETPLACES" "Online shopping",
        "OTHER_GENERAL_MERCHANDISE" "Shopping",
        "PET_SUPPLIES" "Pet supplies",
        "SPORTING_GOODS" "Sporting goods",
        "SUPERSTORES" "Superstores",
        "TOBACCO_AND_VAPE" "Tobacco and vape",
    }
    "GENERAL_SERVICES" {
        "ACCOUNTING_AND_FINANCIAL_PLANNING" "Accounting and financial advice",
        "AUTOMOTIVE" "Car care",
        "CHILDCARE" "Childcare",
        "CONSULTING_AND_LEGAL" "Legal and consulting",
        "EDUCATION" "Education",
        "INSURANCE" "Insurance",
        "OTHER_GENERAL_SERVICES" "Services",
        "POSTAGE_AND_SHIPPING" "Postage and shipping",
        "STORAGE" "Storage",
    }
    "GOVERNMENT_AND_NON_PROFIT" {
        "DONATIONS" "Donations",
        "GOVERNMENT_DEPARTMENTS_AND_AGENCIES" "Government services",
        "OTHER_GOVERNMENT_AND_NON_PROFIT" "Government and non-profit",
        "TAX_PAYMENT" "Taxes",
    }
    "HOME_IMPROVEMENT" {
        "FURNITURE" "Furniture",
        "HARDWARE" "Hardware",
        "OTHER_HOME_IMPROVEMENT" "Home improvement",
        "REPAIR_AND_MAINTENANCE" "Home repairs",
        "SECURITY" "Home security",
    }
    "INCOME" {
        "CHILD_SUPPORT" "Child support",
        "DIVIDENDS" "Dividends",
        "GIG_ECONOMY" "Gig work",
        "INTEREST_EARNED" "Interest earned",
        "LONG_TERM_DISABILITY" "Disability benefits",
        "MILITARY" "Military pay",
        "OTHER" "Other income",
        "OTHER_INCOME" "Other income",
        "RENTAL" "Rental income",
        "RETIREMENT_PENSION" "Pension",
        "SALARY" "Paycheck",
        "TAX_REFUND" "Tax refund",
        "UNEMPLOYMENT" "Unemployment benefits",
        "WAGES" "Paycheck",
    }
    "LOAN_DISBURSEMENTS" {
        "AUTO" "Car loan received",
        "BNPL" "Pay-later credit received",
        "CASH_ADVANCES" "Cash advance received",
        "EWA" "Pay advance received",
        "MORTGAGE" "Mortgage received",
        "OTHER_DISBURSEMENT" "Loan received",
        "PERSONAL" "Personal loan received",
        "STUDENT" "Student loan received",
    }
    "LOAN_PAYMENTS" {
        "CAR_PAYMENT" "Car payment",
        "CASH_ADVANCES" "Cash advance repayment",
        "CREDIT_CARD_PAYMENT" "Card payment",
        "EWA" "Pay advance repayment",
        "MORTGAGE_PAYMENT" "Mortgage",
        "OTHER_PAYMENT" "Loan payment",
        "PERSONAL_LOAN_PAYMENT" "Personal loan payment",
        "STUDENT_LOAN_PAYMENT" "Student loan payment",
    }
    "MEDICAL" {
        "DENTAL_CARE" "Dentist",
        "EYE_CARE" "Eye care",
        "NURSING_CARE" "Nursing care",
        "OTHER_MEDICAL" "Health care",
        "PHARMACIES_AND_SUPPLEMENTS" "Pharmacy",
        "PRIMARY_CARE" "Doctor",
        "VETERINARY_SERVICES" "Vet",
    }
    "OTHER" {
        "OTHER" "Other",
    }
    "PERSONAL_CARE" {
        "GYMS_AND_FITNESS_CENTERS" "Gym and fitness",
        "HAIR_AND_BEAUTY" "Hair and beauty",
        "LAUNDRY_AND_DRY_CLEANING" "Laundry",
        "OTHER_PERSONAL_CARE" "Personal care",
    }
    "RENT_AND_UTILITIES" {
        "GAS_AND_ELECTRICITY" "Gas and electricity",
        "INTERNET_AND_CABLE" "Internet and cable",
        "OTHER_UTILITIES" "Utilities",
        "RENT" "Rent",
        "SEWAGE_AND_WASTE_MANAGEMENT" "Sewage and waste",
        "TELEPHONE" "Phone",
        "WATER" "Water",
    }
    "TRANSFER_IN" {
        "ACCOUNT_TRANSFER" "Transfer from own account",
        "CASH_ADVANCES_AND_LOANS" "Borrowed money",
        "DEPOSIT" "Deposit",
        "INVESTMENT_AND_RETIREMENT_FUNDS" "Transfer from investments",
        "OTHER_TRANSFER_IN" "Transfer in",
        "SAVINGS" "Transfer from savings",
        "WIRE" "Wire received",
    }
    "TRANSFER_OUT" {
        "ACCOUNT_TRANSFER" "Transfer to own account",
        "INVESTMENT_AND_RETIREMENT_FUNDS" "Transfer to investments",
        "OTHER_TRANSFER_OUT" "Transfer out",
        "SAVINGS" "Transfer to savings",
        "WIRE" "Wire sent",
        "WITHDRAWAL" "Cash withdrawal",
    }
    "TRANSPORTATION" {
        "BIKES_AND_SCOOTERS" "Bikes and scooters",
        "GAS" "Fuel",
        "OTHER_TRANSPORTATION" "Transportation",
        "PARKING" "Parking",
        "PUBLIC_TRANSIT" "Public transit",
        "TAXIS_AND_RIDE_SHARES" "Taxis and ride shares",
        "TOLLS" "Tolls",
    }
    "TRAVEL" {
        "FLIGHTS" "Flights",
        "LODGING" "Hotels and lodging",
        "OTHER_TRAVEL" "Travel",
        "RENTAL_CARS" "Rental cars",
    }
};

const COUNT: usize = ROWS.len();

/// A hash table from codes to indexes, with linear probing. Every row of a page is looked up, and this is several times
/// faster than a binary search.
static SLOTS: [u8; 512] = {
    let mut slots = [EMPTY; 512];
    let mut index = 0;
    while index < COUNT {
        let mut slot = slot_of(ROWS[index].detailed.as_bytes());
        while slots[slot] != EMPTY {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = index as u8;
        index += 1;
    }
    slots
};
const EMPTY: u8 = u8::MAX;

/// Hashes the length and the last eight letters, which differ for nearly all codes.
const fn slot_of(code: &[u8]) -> usize {
    let tail = match code.last_chunk::<8>() {
        Some(tail) => u64::from_le_bytes(*tail),
        None => 0,
    };
    ((tail ^ code.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

impl Category {
    pub const ALL: [Category; COUNT] = {
        let mut all = [Category(0); COUNT];
        let mut index = 0;
        while index < COUNT {
            all[index] = Category(index as u8);
            index += 1;
        }
        all
    };

    /// Parses a detailed code. A code that is newer than this table, or a bare primary code, becomes the general member
    /// of its primary.
    pub fn parse(code: &str) -> Option<Category> {
        let mut slot = slot_of(code.as_bytes());
        while SLOTS[slot] != EMPTY {
            let found = Category(SLOTS[slot]);
            if found.detailed() == code {
                return Some(found);
            }
            slot = (slot + 1) % SLOTS.len();
        }
        general_member(code)
    }

    /// Tier 2, such as FOOD_AND_DRINK_GROCERIES.
    pub fn detailed(self) -> &'static str {
        self.row().detailed
    }

    /// Tier 1, such as FOOD_AND_DRINK.
    pub fn primary(self) -> &'static str {
        self.row().primary
    }

    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// The words of tier 1, such as "Food and drink".
    pub fn primary_label(self) -> String {
        let words =
            self.primary().to_lowercase().replace("non_profit", "non-profit").replace('_', " ");
        words[..1].to_uppercase() + &words[1..]
    }

    fn row(self) -> &'static Row {
        &ROWS[usize::from(self.0)]
    }
}

impl std::fmt::Debug for Category {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.detailed())
    }
}

/// The general member of the longest primary that the code equals or begins with. Every primary has a member whose name
/// starts with OTHER; a test checks that.
fn general_member(code: &str) -> Option<Category> {
    let belongs = |row: &Row| match code.strip_prefix(row.primary) {
        Some(rest) => rest.is_empty() || rest.starts_with('_'),
        None => false,
    };
    let is_general = |row: &Row| row.detailed[row.primary.len()..].starts_with("_OTHER");
    let candidates = ROWS.iter().enumerate().filter(|(_, row)| belongs(row) && is_general(row));
    // If a primary has two general members, the first is the newer version's: INCOME_OTHER, not INCOME_OTHER_INCOME.
    let best = candidates.min_by_key(|(_, row)| std::cmp::Reverse(row.primary.len()))?;
    Some(Category(best.0 as u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_code_parses_to_itself_and_leads_with_its_primary() {
        for category in Category::ALL {
            assert_eq!(Category::parse(category.detailed()), Some(category));
            assert!(category.detailed().starts_with(category.primary()));
        }
        let codes: BTreeSet<&str> = Category::ALL.iter().map(|it| it.detailed()).collect();
        let primaries: BTreeSet<&str> = Category::ALL.iter().map(|it| it.primary()).collect();
        assert_eq!((codes.len(), primaries.len()), (126, 18));
        assert!(Category::ALL.is_sorted_by_key(|it| it.detailed()));
    }

    #[test]
    fn only_codes_that_mean_the_same_in_both_versions_share_a_label() {
        let mut by_label: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for category in Category::ALL {
            assert!(!category.label().is_empty() && !category.label().contains('_'));
            by_label.entry(category.label()).or_default().push(category.detailed());
        }
        let shared: Vec<_> = by_label.into_iter().filter(|(_, codes)| codes.len() > 1).collect();
        assert_eq!(
            shared,
            [
                ("Other income", vec!["INCOME_OTHER", "INCOME_OTHER_INCOME"]),
                ("Paycheck", vec!["INCOME_SALARY", "INCOME_WAGES"]),
            ]
        );
    }

    #[test]
    fn an_unknown_code_falls_back_to_the_general_member_of_its_primary() {
        for (code, expected) in [
            ("INCOME_CONTRACTOR", "INCOME_OTHER"),
            ("TRANSFER_OUT_CRYPTO", "TRANSFER_OUT_OTHER_TRANSFER_OUT"),
            ("LOAN_PAYMENTS_BNPL", "LOAN_PAYMENTS_OTHER_PAYMENT"),
            ("FOOD_AND_DRINK", "FOOD_AND_DRINK_OTHER_FOOD_AND_DRINK"),
            ("OTHER", "OTHER_OTHER"),
            ("OTHER_THINGS", "OTHER_OTHER"),
        ] {
            assert_eq!(Category::parse(code).map(Category::detailed), Some(expected), "{code}");
        }
    }

    #[test]
    fn every_bare_primary_has_a_general_member() {
        for category in Category::ALL {
            let general = Category::parse(category.primary()).unwrap();
            assert_eq!(general.primary(), category.primary());
        }
    }

    #[test]
    fn a_code_without_a_known_primary_is_refused() {
        for code in ["", "FOOD", "INCOMES", "TRAVELLING_FAR", "food_and_drink", " INCOME", "_"] {
            assert_eq!(Category::parse(code), None, "{code}");
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_without_panic_and_keeps_its_primary(code in "[A-Z_é]{0,40}") {
            if let Some(category) = Category::parse(&code) {
                prop_assert!(code.starts_with(category.primary()));
            }
        }
    }
}
