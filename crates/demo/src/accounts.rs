//! The accounts of the household and the banks that hold them.

use base::Currency;
use base::draft::AccountKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bank {
    Chase,
    Amex,
    Ally,
    Toyota,
    Fidelity,
    N26,
}

impl Bank {
    pub(super) const ALL: [Bank; 6] =
        [Bank::Chase, Bank::Amex, Bank::Ally, Bank::Toyota, Bank::Fidelity, Bank::N26];

    pub(super) fn name(self) -> &'static str {
        match self {
            Bank::Chase => "Chase",
            Bank::Amex => "American Express",
            Bank::Ally => "Ally Bank",
            Bank::Toyota => "Toyota Financial Services",
            Bank::Fidelity => "Fidelity Investments",
            Bank::N26 => "N26",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Account {
    /// The joint account: the first paycheck, the home and most bills.
    Checking,
    Savings,
    Freedom,
    /// An old student account, closed during the two years.
    College,
    Gold,
    HighYield,
    /// The second person's own account, with the second paycheck.
    Spending,
    /// A savings account for surprises, hidden from view.
    Gifts,
    CarLoan,
    Brokerage,
    Roth,
    Retirement,
    /// A savings account in euros, used for holidays.
    Euro,
}

pub(super) struct Facts {
    pub(super) bank: Bank,
    pub(super) name: &'static str,
    pub(super) kind: AccountKind,
    pub(super) subtype: &'static str,
    /// Credit limit in minor units.
    pub(super) limit_minor: Option<i64>,
    /// Yearly interest rate in hundredths of a percent: charged on debts, earned on savings.
    pub(super) rate: Option<i64>,
}

impl Account {
    pub(super) const ALL: [Account; 13] = [
        Account::Checking,
        Account::Savings,
        Account::Freedom,
        Account::College,
        Account::Gold,
        Account::HighYield,
        Account::Spending,
        Account::Gifts,
        Account::CarLoan,
        Account::Brokerage,
        Account::Roth,
        Account::Retirement,
        Account::Euro,
    ];

    /// The key of the account's own random stream.
    pub(super) fn entity(self) -> &'static str {
        match self {
            Account::Checking => "account/checking",
            Account::Savings => "account/savings",
            Account::Freedom => "account/freedom",
            Account::College => "account/college",
            Account::Gold => "account/gold",
            Account::HighYield => "account/high-yield",
            Account::Spending => "account/spending",
            Account::Gifts => "account/gifts",
            Account::CarLoan => "account/car-loan",
            Account::Brokerage => "account/brokerage",
            Account::Roth => "account/roth",
            Account::Retirement => "account/retirement",
            Account::Euro => "account/euro",
        }
    }

    pub(super) fn currency(self) -> Currency {
        if self == Account::Euro { Currency::EUR } else { Currency::USD }
    }

    pub(super) fn is_invested(self) -> bool {
        self.facts().kind == AccountKind::Investment
    }

    pub(super) fn facts(self) -> Facts {
        use AccountKind::{Credit, Depository, Investment, Loan};
        let plain = |bank, name, kind, subtype| Facts {
            bank,
            name,
            kind,
            subtype,
            limit_minor: None,
            rate: None,
        };
        let paying = |facts: Facts, rate| Facts { rate: Some(rate), ..facts };
        match self {
            Account::Checking => plain(Bank::Chase, "Total Checking", Depository, "checking"),
            Account::Savings => {
                paying(plain(Bank::Chase, "Chase Savings", Depository, "savings"), 1)
            }
            Account::Freedom => Facts {
                limit_minor: Some(12_000_00),
                ..paying(plain(Bank::Chase, "Freedom Unlimited", Credit, "credit card"), 2449)
            },
            Account::College => plain(Bank::Chase, "College Checking", Depository, "checking"),
            Account::Gold => {
                paying(plain(Bank::Amex, "American Express Gold Card", Credit, "credit card"), 2899)
            }
            Account::HighYield => {
                paying(plain(Bank::Amex, "High Yield Savings", Depository, "savings"), 390)
            }
            Account::Spending => plain(Bank::Ally, "Spending Account", Depository, "checking"),
            Account::Gifts => {
                paying(plain(Bank::Ally, "Surprise Fund", Depository, "savings"), 360)
            }
            Account::CarLoan => paying(plain(Bank::Toyota, "Auto Loan", Loan, "auto"), 589),
            Account::Brokerage => {
                plain(Bank::Fidelity, "Individual - TOD", Investment, "brokerage")
            }
            Account::Roth => plain(Bank::Fidelity, "ROTH IRA", Investment, "roth"),
            Account::Retirement => plain(Bank::Fidelity, "401(K) Plan", Investment, "401k"),
            Account::Euro => paying(plain(Bank::N26, "Urlaubskonto", Depository, "savings"), 125),
        }
    }
}
