//! Suggests the kind of an account by its name. SimpleFIN does not say, and the person can correct it.

use base::Money;
use base::draft::AccountKind;

use super::OwedSign;

/// The first line with a word of the name decides.
const WORDS: [(&[&str], AccountKind, &str); 19] = [
    (&["401k", "401(k)", "401 k"], AccountKind::Investment, "401k"),
    (&["403b", "403(b)"], AccountKind::Investment, "403b"),
    (&["roth"], AccountKind::Investment, "roth"),
    (&["hsa", "health savings"], AccountKind::Depository, "hsa"),
    (&["529"], AccountKind::Investment, "529"),
    (&["ira", "rollover"], AccountKind::Investment, "ira"),
    (&["pension"], AccountKind::Investment, "pension"),
    (&["mortgage", "heloc", "home equity"], AccountKind::Loan, "mortgage"),
    (&["student loan", "navient", "nelnet", "mohela"], AccountKind::Loan, "student"),
    (&["auto loan", "car loan", "vehicle loan"], AccountKind::Loan, "auto"),
    (&["loan", "financing"], AccountKind::Loan, "loan"),
    (&["line of credit"], AccountKind::Loan, "line of credit"),
    (&["money market"], AccountKind::Depository, "money market"),
    (&["certificate", "cd"], AccountKind::Depository, "cd"),
    (&["savings", "saver", "saving"], AccountKind::Depository, "savings"),
    (&["checking", "chequing", "spending", "current account"], AccountKind::Depository, "checking"),
    (
        &["brokerage", "individual", "investment", "investments", "invest", "stock", "trust"],
        AccountKind::Investment,
        "brokerage",
    ),
    (&["prepaid", "gift card"], AccountKind::Depository, "prepaid"),
    (
        &[
            "credit",
            "card",
            "visa",
            "mastercard",
            "amex",
            "american express",
            "discover",
            "platinum",
            "sapphire",
            "freedom",
            "rewards",
            "signature",
            "preferred",
        ],
        AccountKind::Credit,
        "credit card",
    ),
];

/// Suggests kind and subtype. An account with positions is an investment account, whatever its name.
pub fn suggest_kind(name: &str, has_holdings: bool) -> (AccountKind, &'static str) {
    let name = format!(" {} ", spaced(name));
    let has = |words: &[&str]| words.iter().any(|it| name.contains(&format!(" {} ", spaced(it))));
    let found = WORDS.iter().find(|(words, _, _)| has(words));
    match found {
        Some((_, AccountKind::Depository, "hsa")) if has_holdings => {
            (AccountKind::Investment, "hsa")
        }
        Some((_, kind, subtype)) if !has_holdings || *kind == AccountKind::Investment => {
            (*kind, subtype)
        }
        _ if has_holdings => (AccountKind::Investment, "brokerage"),
        _ => (AccountKind::Depository, "checking"),
    }
}

/// Lower-case letters and digits, words separated by one space.
fn spaced(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Suggests the sign of a debt on such an account. Cards are nearly always negative; loans are often stated as the
/// positive amount left to pay.
pub fn suggest_owed(kind: AccountKind, balance: Option<Money>) -> OwedSign {
    match balance {
        Some(balance) if kind == AccountKind::Loan && balance.minor() > 0 => OwedSign::Positive,
        _ => OwedSign::Negative,
    }
}

#[cfg(test)]
mod tests {
    use base::Currency;

    use super::*;

    #[test]
    fn names_suggest_kinds() {
        use AccountKind::{Credit, Depository, Investment, Loan};
        for (name, has_holdings, kind, subtype) in [
            ("SimpleFIN Savings", false, Depository, "savings"),
            ("SimpleFIN Checking", false, Depository, "checking"),
            ("Sapphire Reserve (1234)", false, Credit, "credit card"),
            ("Visa Signature", false, Credit, "credit card"),
            ("30-Year Fixed Mortgage", false, Loan, "mortgage"),
            ("Student Loan 01", false, Loan, "student"),
            ("ACME 401(k) Plan", true, Investment, "401k"),
            ("Roth IRA", false, Investment, "roth"),
            ("Rollover IRA", true, Investment, "ira"),
            ("Individual - TOD", true, Investment, "brokerage"),
            ("Money Market Savings", false, Depository, "money market"),
            ("Health Savings Account", true, Investment, "hsa"),
            ("HSA", false, Depository, "hsa"),
            ("Joint", true, Investment, "brokerage"),
            ("Joint", false, Depository, "checking"),
            ("12 Month CD", false, Depository, "cd"),
            ("Miracle Fund", false, Depository, "checking"),
        ] {
            assert_eq!(suggest_kind(name, has_holdings), (kind, subtype), "{name}");
        }
    }

    #[test]
    fn only_a_loan_that_is_positive_is_owed_as_a_positive() {
        let money = |minor| Some(Money::new(minor, Currency::USD));
        assert_eq!(suggest_owed(AccountKind::Loan, money(5)), OwedSign::Positive);
        assert_eq!(suggest_owed(AccountKind::Loan, money(-5)), OwedSign::Negative);
        assert_eq!(suggest_owed(AccountKind::Credit, money(5)), OwedSign::Negative);
        assert_eq!(suggest_owed(AccountKind::Loan, None), OwedSign::Negative);
    }
}
