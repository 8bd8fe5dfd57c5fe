//! Evidence for or against a pair: its weight and its text.

use base::Money;
use base::category::Category;
use base::draft::AccountKind;

use super::{ACCEPT_HALVES, LegText, TextFlags};

/// The most that a text can add beyond its keywords.
pub(super) const NAMING_HALVES: i32 = 6;
pub(super) const REPEATED_HALVES: i32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Outflow,
    Inflow,
}

/// How a text names the account on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Naming {
    Mask,
    Institution,
    Nickname,
    /// Its kind after a preposition, such as TO SAVINGS.
    Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// The person confirmed it.
    Confirmed,
    /// Days from the outflow to the inflow.
    Lag(i64),
    TransferWords(Side),
    NamesOther(Side, Naming),
    TransferCategory(Side),
    RareAmount,
    /// At least two more transfers of the same amount between the same accounts, weeks apart: a standing order.
    Repeated,
    /// A card or loan received money without any text; that usually is a payment.
    PaysDebt,
    /// A shop, a service, a fee, pay: money that entered or left the person's accounts.
    Outside(Side),
    CashWithdrawal(Side),
    Person(Side),
    Refund(Side),
    Fee(Money),
    ExchangeRate,
}

impl Evidence {
    pub fn points_halves(self) -> i32 {
        match self {
            Evidence::Confirmed => ACCEPT_HALVES,
            Evidence::Lag(days) => 6 - days.unsigned_abs().min(6) as i32,
            Evidence::TransferWords(_) | Evidence::TransferCategory(_) => 4,
            Evidence::NamesOther(..) => NAMING_HALVES,
            Evidence::RareAmount => 4,
            Evidence::Repeated => REPEATED_HALVES,
            Evidence::PaysDebt => 2,
            Evidence::Outside(_) | Evidence::CashWithdrawal(_) | Evidence::Refund(_) => -8,
            Evidence::Person(_) => -6,
            Evidence::Fee(_) | Evidence::ExchangeRate => 0,
        }
    }

    /// Whether the outflow itself says that it pays or moves money to another account.
    pub(super) fn is_payment(self) -> bool {
        matches!(
            self,
            Evidence::TransferWords(Side::Outflow)
                | Evidence::TransferCategory(Side::Outflow)
                | Evidence::NamesOther(Side::Outflow, _)
        )
    }

    /// One sentence for the person.
    pub fn text(self) -> String {
        let side = |side| match side {
            Side::Outflow => "outgoing",
            Side::Inflow => "incoming",
        };
        match self {
            Evidence::Confirmed => "You confirmed that these belong together.".to_owned(),
            Evidence::Lag(0) => "Both are on the same day.".to_owned(),
            Evidence::Lag(1) => "The money arrived a day after it left.".to_owned(),
            Evidence::Lag(-1) => "The payment was credited a day before the money left.".to_owned(),
            Evidence::Lag(days) if days > 0 => {
                format!("The money arrived {days} days after it left.")
            }
            Evidence::Lag(days) => {
                format!(
                    "The payment was credited {} days before the money left.",
                    days.unsigned_abs()
                )
            }
            Evidence::TransferWords(it) => {
                format!("The {} description mentions a transfer.", side(it))
            }
            Evidence::NamesOther(it, by) => {
                let by = match by {
                    Naming::Mask => "the last digits of the other account",
                    Naming::Institution => "the institution of the other account",
                    Naming::Nickname => "the other account",
                    Naming::Role => "the kind of the other account",
                };
                format!("The {} description names {by}.", side(it))
            }
            Evidence::TransferCategory(it) => {
                format!("The category of the {} side is a transfer or payment.", side(it))
            }
            Evidence::Repeated => {
                "The same amount was transferred this way several times.".to_owned()
            }
            Evidence::RareAmount => {
                "No other transaction within a month has this amount.".to_owned()
            }
            Evidence::PaysDebt => {
                "Money received by a card or loan is usually a payment.".to_owned()
            }
            Evidence::Outside(it) => {
                format!("The {} side looks like a purchase, a fee or pay.", side(it))
            }
            Evidence::CashWithdrawal(it) => {
                format!("The {} side is a cash withdrawal.", side(it))
            }
            Evidence::Person(it) => {
                format!("The {} side is a payment with another person.", side(it))
            }
            Evidence::Refund(it) => format!("The {} side looks like a refund.", side(it)),
            Evidence::Fee(fee) => format!("A fee of {fee} was charged."),
            Evidence::ExchangeRate => "The amounts match at that day's exchange rate.".to_owned(),
        }
    }
}

/// The evidence of one leg by itself, given the kind of account that receives the money.
pub(super) fn of_leg(
    text: &LegText,
    side: Side,
    reaches: AccountKind,
) -> impl Iterator<Item = Evidence> + Clone {
    let TextFlags { transfer, refund, person } = text.words;
    let meaning = text.category.map_or(Meaning::Nothing, |it| Meaning::of(it, reaches));
    let outside = text.merchant || meaning == Meaning::Outside;
    let is_silent = !(transfer || refund || person || outside) && meaning == Meaning::Nothing;
    let pays_debt = side == Side::Inflow && reaches.is_debt() && is_silent;
    [
        transfer.then_some(Evidence::TransferWords(side)),
        (meaning == Meaning::Transfer).then_some(Evidence::TransferCategory(side)),
        pays_debt.then_some(Evidence::PaysDebt),
        outside.then_some(Evidence::Outside(side)),
        (meaning == Meaning::Cash && !outside).then_some(Evidence::CashWithdrawal(side)),
        person.then_some(Evidence::Person(side)),
        refund.then_some(Evidence::Refund(side)),
    ]
    .into_iter()
    .flatten()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Transfer,
    Outside,
    Cash,
    Nothing,
}

impl Meaning {
    fn of(category: Category, reaches: AccountKind) -> Meaning {
        match (category.primary(), category.detailed()) {
            (_, "TRANSFER_OUT_WITHDRAWAL") => Meaning::Cash,
            // A check or cash deposit, as often as a transfer.
            (_, "TRANSFER_IN_DEPOSIT") => Meaning::Nothing,
            ("TRANSFER_IN" | "TRANSFER_OUT", _) => Meaning::Transfer,
            // A payment to a card that is not linked must not match a savings account.
            (_, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT") if reaches == AccountKind::Credit => {
                Meaning::Transfer
            }
            (_, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT") => Meaning::Nothing,
            ("LOAN_PAYMENTS", _) if reaches.is_debt() => Meaning::Transfer,
            ("LOAN_PAYMENTS" | "LOAN_DISBURSEMENTS" | "OTHER", _) => Meaning::Nothing,
            (_, "INCOME_OTHER" | "INCOME_OTHER_INCOME") => Meaning::Nothing,
            _ => Meaning::Outside,
        }
    }
}
