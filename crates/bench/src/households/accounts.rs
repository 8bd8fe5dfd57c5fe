//! The accounts of a household, and their institutions.

use base::Currency;
use base::draft::{AccountDraft, AccountKind};

use super::Region;
use super::banks::{AMERICAN, BROKER, Bank, EUROPEAN, LENDER, WALLET};
use super::descriptions::Printer;
use super::preset::Profile;
use super::rng::Rng;

/// An account, and the bank that prints its statements.
pub(super) struct LinkedAccount {
    pub(super) draft: AccountDraft,
    pub(super) bank: &'static Bank,
    pub(super) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Checking,
    Savings,
    /// At another bank than the first two.
    SecondChecking,
    Card,
    Broker,
    Wallet,
    Loan,
}

impl LinkedAccount {
    pub(super) fn new(seed: u64, region: Region, role: Role, nth: usize) -> LinkedAccount {
        let mut rng = Rng::named(seed, &format!("account {role:?} {nth}"));
        // The last two American banks issue only cards.
        let (banks, with_checking) = match region {
            Region::America => (AMERICAN, AMERICAN.len() - 2),
            Region::Europe => (EUROPEAN, EUROPEAN.len()),
        };
        // Checking and savings are at one bank, and every card is at another.
        let home_bank = Rng::named(seed, "home bank").between(0, with_checking as i64 - 1) as usize;
        let (bank, kind, subtype, name): (&'static Bank, _, _, _) = match role {
            Role::Checking => (&banks[home_bank], AccountKind::Depository, "checking", "Everyday"),
            Role::Savings => (&banks[home_bank], AccountKind::Depository, "savings", "Rainy Day"),
            Role::SecondChecking => (
                &banks[(home_bank + 1) % with_checking],
                AccountKind::Depository,
                "checking",
                "Joint",
            ),
            Role::Card => {
                let other = &banks[(home_bank + 2 + nth) % banks.len()];
                (other, AccountKind::Credit, "credit card", "Card")
            }
            Role::Broker => (&BROKER, AccountKind::Investment, "brokerage", "Brokerage"),
            Role::Wallet => (&WALLET, AccountKind::Depository, "paypal", "Wallet"),
            Role::Loan => (&LENDER, AccountKind::Loan, "mortgage", "Mortgage"),
        };
        let currency = match region {
            Region::America => Currency::USD,
            Region::Europe => Currency::EUR,
        };
        let draft = AccountDraft {
            external_id: format!("{role:?}-{nth}").to_lowercase(),
            name: format!("{} {name}", bank.name),
            mask: Some(format!("{:04}", rng.between(0, 9_999))),
            kind,
            subtype: Some(subtype.to_owned()),
            currency,
            institution_name: Some(bank.name.to_owned()),
            institution_logo: None,
            closed_on: None,
            balance: None,
            past_balances: Vec::new(),
            interest_rate: None,
            apy_display: None,
            next_payment_due_on: None,
            transactions: Vec::new(),
            removed: Vec::new(),
            holdings: None,
            trades: Vec::new(),
        };
        LinkedAccount { draft, bank, role }
    }

    pub(super) fn mask(&self) -> &str {
        self.draft.mask.as_deref().unwrap_or("0000")
    }

    pub(super) fn printer(&self) -> Printer<'_> {
        Printer { bank: self.bank, kind: self.draft.kind, mask: self.mask() }
    }
}

pub(super) fn open(seed: u64, region: Region, profile: &Profile) -> Vec<LinkedAccount> {
    let mut roles = vec![(Role::Checking, 0), (Role::Savings, 0)];
    roles.extend((0..profile.cards).map(|nth| (Role::Card, nth)));
    if profile.more_accounts {
        roles.extend([(Role::SecondChecking, 0), (Role::Broker, 0), (Role::Wallet, 0)]);
    }
    if profile.earners == 2 {
        roles.push((Role::Loan, 0));
    }
    roles.into_iter().map(|(role, nth)| LinkedAccount::new(seed, region, role, nth)).collect()
}
