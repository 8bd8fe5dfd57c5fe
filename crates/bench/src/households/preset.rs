//! The kinds of household, and how they differ.

/// The region of a household: accounts are in US dollars in America, and in euros in Europe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    America,
    Europe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Preset {
    Steady,
    Thin,
    Gig,
    Retired,
    TwoEarners,
    NewUser60d,
    Messy,
}

impl Preset {
    pub(crate) const ALL: &'static [Preset] = &[
        Preset::Steady,
        Preset::Thin,
        Preset::Gig,
        Preset::Retired,
        Preset::TwoEarners,
        Preset::NewUser60d,
        Preset::Messy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Preset::Steady => "steady",
            Preset::Thin => "thin",
            Preset::Gig => "gig",
            Preset::Retired => "retired",
            Preset::TwoEarners => "two_earners",
            Preset::NewUser60d => "new_user_60d",
            Preset::Messy => "messy",
        }
    }

    pub(super) fn profile(self) -> Profile {
        let steady = Profile {
            earners: 1,
            cards: 2,
            more_accounts: true,
            subscriptions: (3, 7),
            activity_percent: 100,
            hints_percent: 90,
            noise_rates: NoiseRates::NONE,
        };
        match self {
            Preset::Steady => steady,
            Preset::Thin => Profile {
                cards: 1,
                more_accounts: false,
                subscriptions: (1, 2),
                activity_percent: 35,
                hints_percent: 60,
                noise_rates: NoiseRates { gaps: 1, ..NoiseRates::NONE },
                ..steady
            },
            Preset::Gig => Profile { earners: 0, hints_percent: 60, ..steady },
            Preset::Retired => Profile { earners: 0, activity_percent: 70, ..steady },
            Preset::TwoEarners => Profile { earners: 2, cards: 3, activity_percent: 140, ..steady },
            Preset::NewUser60d => Profile { hints_percent: 60, ..steady },
            Preset::Messy => Profile {
                hints_percent: 20,
                noise_rates: NoiseRates {
                    duplicates: 12,
                    reversals: 8,
                    broken_keys: 50,
                    days_off: 80,
                    stale: 100,
                    gaps: 2,
                },
                ..steady
            },
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Profile {
    pub(super) earners: usize,
    pub(super) cards: usize,
    /// Whether there are a brokerage, a wallet and a second bank besides checking and savings.
    pub(super) more_accounts: bool,
    pub(super) subscriptions: (i64, i64),
    /// The number of habitual purchases as a percentage of an average household's.
    pub(super) activity_percent: i64,
    /// The percentage of transfer legs whose text has a hint.
    pub(super) hints_percent: i64,
    pub(super) noise_rates: NoiseRates,
}

/// Noise per thousand rows, except `gaps`, which is a count for each account.
#[derive(Clone, Copy)]
pub(super) struct NoiseRates {
    pub(super) duplicates: i64,
    pub(super) reversals: i64,
    pub(super) broken_keys: i64,
    pub(super) days_off: i64,
    /// Per thousand rows with a tip.
    pub(super) stale: i64,
    pub(super) gaps: i64,
}

impl NoiseRates {
    /// Even a good bank has some duplicates and reversals.
    const NONE: NoiseRates =
        NoiseRates { duplicates: 1, reversals: 2, broken_keys: 0, days_off: 0, stale: 0, gaps: 0 };
}
