//! Decides whether a payment whose other leg is missing goes towards a linked card or loan.

use base::category::Category;
use base::draft::AccountKind;

use super::Account;
use super::naming::{AccountWords, Text};

/// The linked cards and loans of a person, hidden and closed ones too.
#[derive(Debug, Default)]
pub struct LinkedDebts(Vec<LinkedDebt>);

#[derive(Debug)]
struct LinkedDebt {
    kind: AccountKind,
    subtype: Option<String>,
    words: AccountWords,
}

/// The recipient of a payment, by its text.
#[derive(Debug, Clone, Copy)]
pub struct Payee<'a> {
    pub merchant_key: &'a str,
    pub counterparty: &'a str,
    /// Whether the key is that of a certain lender or card issuer.
    pub is_issuer: bool,
}

impl LinkedDebts {
    pub fn of<'a>(accounts: impl IntoIterator<Item = &'a Account>) -> LinkedDebts {
        let debts = accounts.into_iter().filter(|it| it.kind.is_debt());
        let debt = |it: &Account| LinkedDebt {
            kind: it.kind,
            subtype: it.subtype.clone(),
            words: AccountWords::of(it),
        };
        LinkedDebts(debts.map(debt).collect())
    }

    /// Whether an outflow in this category pays one of them. A text that names no issuer pays what is linked; one that
    /// names the issuer of another card or loan pays that one.
    pub fn is_paid_by(&self, category: Category, payee: Payee<'_>) -> bool {
        if category.primary() != "LOAN_PAYMENTS" {
            return false;
        }
        let fitting: Vec<&LinkedDebt> =
            self.0.iter().filter(|it| it.is_of(category.detailed())).collect();
        let text = Text::of(&format!("{} {}", payee.merchant_key, payee.counterparty));
        // A debt without a name of its own may be the one that is paid.
        let may_be = |it: &&LinkedDebt| !it.words.has_name() || it.words.is_named_in(&text);
        !fitting.is_empty() && (fitting.iter().any(may_be) || !payee.is_issuer)
    }
}

impl LinkedDebt {
    /// Whether payments of this category pay this kind of debt. A loan of unknown purpose may have any.
    fn is_of(&self, code: &str) -> bool {
        let subtype = self.subtype.as_deref().unwrap_or_default();
        let is_for = |purpose: &[&str]| purpose.contains(&subtype) || !is_specific(subtype);
        match (self.kind, code) {
            (AccountKind::Credit, _) => code == "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT",
            (_, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT") => false,
            (_, "LOAN_PAYMENTS_MORTGAGE_PAYMENT") => is_for(MORTGAGES),
            (_, "LOAN_PAYMENTS_CAR_PAYMENT") => is_for(&["auto"]),
            (_, "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT") => is_for(&["student"]),
            (_, "LOAN_PAYMENTS_PERSONAL_LOAN_PAYMENT") => is_for(&["consumer", "personal"]),
            _ => true,
        }
    }
}

const MORTGAGES: &[&str] = &["construction", "home equity", "mortgage"];

fn is_specific(subtype: &str) -> bool {
    MORTGAGES.contains(&subtype) || ["auto", "student", "consumer", "personal"].contains(&subtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(kind: AccountKind, subtype: &str, name: &str, institution: &str) -> Account {
        Account {
            id: base::AccountId::from_bytes([1; 16]),
            kind,
            subtype: Some(subtype.to_owned()),
            institution: (!institution.is_empty()).then(|| institution.to_owned()),
            name: name.to_owned(),
            mask: None,
            manual: false,
        }
    }

    fn is_paid(linked: &[Account], code: &str, key: &str, is_issuer: bool) -> bool {
        let payee = Payee { merchant_key: key, counterparty: "", is_issuer };
        let category = Category::parse(&format!("LOAN_PAYMENTS_{code}")).unwrap();
        LinkedDebts::of(linked).is_paid_by(category, payee)
    }

    #[test]
    fn a_payment_goes_to_the_linked_debt_unless_it_names_another_issuer() {
        let visa = account(AccountKind::Credit, "credit card", "Sapphire", "Chase");
        let nameless = account(AccountKind::Credit, "credit card", "Visa", "");
        let checking = account(AccountKind::Depository, "checking", "Everyday", "Chase");
        let house = account(AccountKind::Loan, "mortgage", "Home", "Rocket Mortgage");
        let card = "CREDIT_CARD_PAYMENT";
        for (linked, code, key, is_issuer, expected) in [
            (&visa, card, "CHASE CARD", true, true),
            (&visa, card, "CREDIT CARD AUTOPAY", false, true),
            (&visa, card, "SYNCHRONY BANK", true, false),
            (&visa, "CAR_PAYMENT", "CHASE AUTO", false, false),
            (&nameless, card, "SYNCHRONY BANK", true, true),
            (&checking, card, "CHASE CARD", true, false),
            (&house, "MORTGAGE_PAYMENT", "MORTGAGE PYMT", false, true),
            (&house, "MORTGAGE_PAYMENT", "ROCKET MORTGAGE", true, true),
            (&house, "MORTGAGE_PAYMENT", "MR COOPER", true, false),
            (&house, "STUDENT_LOAN_PAYMENT", "LOAN PAYMENT", false, false),
            (&house, card, "CREDIT CARD AUTOPAY", false, false),
        ] {
            let found = is_paid(std::slice::from_ref(linked), code, key, is_issuer);
            assert_eq!(found, expected, "{} {code} {key}", linked.name);
        }
        assert!(is_paid(&[house, visa], card, "CHASE CARD", true));
        assert!(!is_paid(&[], card, "CREDIT CARD AUTOPAY", false));
    }
}
