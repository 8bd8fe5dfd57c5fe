//! The catalog of card products, one file per product in `data/cards`: facts in our own words, each with its sources
//! and their dates.

mod rows;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use base::category::Category;
use base::{Currency, Date, divide_half_even};

use super::text::Words;

#[derive(Debug)]
pub struct Card {
    pub id: String,
    pub issuer: String,
    pub network: Network,
    pub currency: Currency,
    /// The names that statements and banks use for it.
    pub names: Vec<String>,
    /// Words that only occur in the names of other products of the issuer.
    pub not_names: Vec<String>,
    pub fees: Vec<Fee>,
    pub benefits: Vec<Benefit>,
    pub sources: Vec<Source>,
    /// The day on which the entry was last checked against its sources.
    pub verified_on: Date,
}

/// An annual fee, with the first and last day on which it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fee {
    pub amount_minor: i64,
    pub from: Option<Date>,
    pub to: Option<Date>,
}

#[derive(Debug)]
pub struct Benefit {
    /// Unique within its card.
    pub id: String,
    pub title: String,
    pub description: String,
    pub kind: Kind,
    pub area: Area,
    /// The maximum of one use; none if the benefit has no value in money.
    pub amount_minor: Option<i64>,
    /// How many uses a period has.
    pub uses: i64,
    /// Months whose period has a different amount.
    pub overrides: Vec<(i8, i64)>,
    pub cadence: Cadence,
    pub alignment: Alignment,
    pub enrollment_required: bool,
    /// The spending in a year that unlocks the benefit.
    pub spend_gate_minor: Option<i64>,
    /// Whether statements show its use. If not, only the person's mark counts.
    pub observable: bool,
    pub eligible: Eligible,
    pub posting_days: PostingDays,
    pub valid_from: Option<Date>,
    pub valid_to: Option<Date>,
    /// Words that occur in the statement line of the credit, in any order.
    pub(super) credit_patterns: Vec<Words>,
}

/// The purchases that trigger the credit.
#[derive(Debug, Default)]
pub struct Eligible {
    pub categories: Vec<Category>,
    /// Categories that may explain a credit that came, but do not promise one.
    pub possible_categories: Vec<Category>,
    pub(super) merchants: Vec<Words>,
    pub(super) except: Vec<Words>,
}

/// How long after the purchase the credit appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PostingDays {
    pub typical: i64,
    pub max: i64,
}

#[derive(Debug)]
pub struct Source {
    pub at: String,
    /// The date stated in the source itself.
    pub dated: Option<Date>,
    pub seen_on: Date,
}

base::words!(Network { Amex => "amex", Mastercard => "mastercard", Visa => "visa" });

base::words!(
    Kind {
        StatementCredit => "statement_credit",
        /// Paid by the partner, so that the bank never reports it.
        PartnerCredit => "partner_credit",
        Points => "points",
        Membership => "membership",
        Status => "status",
        FreeNight => "free_night",
    }
);

base::words!(
    BenefitType {
        Credit => "credit",
        Points => "points",
        Membership => "membership",
        Insurance => "insurance",
        Perk => "perk",
    }
);

impl Kind {
    pub fn benefit_type(self) -> BenefitType {
        match self {
            Kind::StatementCredit | Kind::PartnerCredit => BenefitType::Credit,
            Kind::Points => BenefitType::Points,
            Kind::Membership => BenefitType::Membership,
            Kind::Status | Kind::FreeNight => BenefitType::Perk,
        }
    }
}

base::words!(
    Area {
        Dining => "dining",
        Entertainment => "entertainment",
        Lodging => "lodging",
        Rides => "rides",
        Shopping => "shopping",
        Streaming => "streaming",
        Travel => "travel",
        Wellness => "wellness",
    }
);

base::words!(
    Cadence {
        Monthly => "monthly",
        Quarterly => "quarterly",
        SemiAnnual => "semi_annual",
        Annual => "annual",
        Every4Years => "every_4_years",
        OneTime => "one_time",
    }
);

impl Cadence {
    /// The length of a period in months; none for a one-time benefit.
    pub(super) fn months(self) -> Option<i64> {
        match self {
            Cadence::Monthly => Some(1),
            Cadence::Quarterly => Some(3),
            Cadence::SemiAnnual => Some(6),
            Cadence::Annual => Some(12),
            Cadence::Every4Years => Some(48),
            Cadence::OneTime => None,
        }
    }
}

base::words!(
    Alignment {
        Calendar => "calendar",
        Anniversary => "anniversary",
        /// From the first closing date after the anniversary: how one issuer counts its year.
        StatementYear => "statement_year",
    }
);

impl Card {
    /// The annual fee in force on a day.
    pub fn fee_minor(&self, on: Date) -> i64 {
        let holds = |it: &&Fee| is_within(on, it.from, it.to);
        self.fees.iter().find(holds).map_or(0, |it| it.amount_minor)
    }

    pub fn find_benefit(&self, id: &str) -> Option<&Benefit> {
        self.benefits.iter().find(|it| it.id == id)
    }
}

impl Benefit {
    pub fn is_valid(&self, on: Date) -> bool {
        is_within(on, self.valid_from, self.valid_to)
    }

    /// Whether the person has to do something before it counts: enroll, or spend enough.
    pub fn activation_required(&self) -> bool {
        self.enrollment_required || self.spend_gate_minor.is_some()
    }

    /// The maximum of a period that begins in the month.
    pub(super) fn period_minor(&self, month: i8) -> i64 {
        let other = self.overrides.iter().find(|(it, _)| *it == month).map(|(_, minor)| *minor);
        other.unwrap_or(self.amount_minor.unwrap_or(0)).saturating_mul(self.uses)
    }

    /// The maximum value in a year: the sum of its periods. A four-year benefit counts a quarter of its amount per
    /// year; a one-time benefit counts in full.
    pub fn annual_value_minor(&self) -> i64 {
        match self.cadence.months() {
            None => self.period_minor(1),
            Some(48) => divide_half_even(i128::from(self.period_minor(1)), 4) as i64,
            Some(months) => (1..=12)
                .step_by(months as usize)
                .map(|month| self.period_minor(month))
                .fold(0, i64::saturating_add),
        }
    }
}

fn is_within(on: Date, from: Option<Date>, to: Option<Date>) -> bool {
    from.is_none_or(|it| it <= on) && to.is_none_or(|it| on <= it)
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((
            concat!($name, ".toml"),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/cards/", $name, ".toml")),
        )),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "amex-blue-cash-preferred",
    "amex-delta-gold",
    "amex-delta-reserve",
    "amex-gold",
    "amex-hilton-aspire",
    "amex-marriott-brilliant",
    "amex-platinum",
    "bank-of-america-premium-rewards",
    "capital-one-venture-x",
    "chase-freedom-unlimited",
    "chase-sapphire-preferred",
    "chase-sapphire-reserve",
    "chase-united-explorer",
    "citi-strata-elite",
    "citi-strata-premier",
    "us-bank-altitude-reserve",
    "wells-fargo-autograph-journey",
];

static CARDS: LazyLock<Vec<Card>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| match rows::read(text) {
        Ok(card) => card,
        Err(reason) => panic!("{name}: {reason}; the catalog is part of the program"),
    };
    FILES.iter().map(read).collect()
});

/// All products, sorted by id.
pub fn cards() -> &'static [Card] {
    &CARDS
}

pub fn find_card(id: &str) -> Option<&'static Card> {
    CARDS.iter().find(|it| it.id == id)
}
