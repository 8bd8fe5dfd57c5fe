//! Shares with their confidence intervals, and their spread between households.
#![expect(clippy::float_arithmetic, reason = "statistics about answers, not money")]

use std::fmt;

/// `hits` of `of`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) hits: usize,
    pub(super) of: usize,
}

impl Share {
    pub(super) fn count(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }

    pub(super) fn add(&mut self, other: Share) {
        self.hits += other.hits;
        self.of += other.of;
    }

    /// None if nothing was counted.
    pub(super) fn ratio(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// Wilson's interval at 95 % confidence.
    pub(super) fn interval(self) -> Option<(f64, f64)> {
        const Z: f64 = 1.959_964;
        let (share, of) = (self.ratio()?, self.of as f64);
        let scale = 1.0 + Z * Z / of;
        let center = (share + Z * Z / (2.0 * of)) / scale;
        let half = Z * (share * (1.0 - share) / of + Z * Z / (4.0 * of * of)).sqrt() / scale;
        Some(((center - half).max(0.0), (center + half).min(1.0)))
    }
}

impl std::iter::Sum for Share {
    fn sum<I: Iterator<Item = Share>>(shares: I) -> Share {
        let mut sum = Share::default();
        shares.for_each(|it| sum.add(it));
        sum
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ratio(), self.interval()) {
            (Some(ratio), Some((low, high))) => {
                let Share { hits, of } = self;
                let counted = format!("{hits}/{of}");
                f.pad(&format!("{ratio:.3} [{low:.3} {high:.3}] {counted:<11}"))
            }
            _ => f.pad("-"),
        }
    }
}

/// The worst and the median household, without those in which nothing was counted.
pub(super) struct Spread {
    worst: f64,
    median: f64,
}

impl Spread {
    pub(super) fn of(shares: impl Iterator<Item = Share>) -> Option<Spread> {
        let mut ratios: Vec<f64> = shares.filter_map(Share::ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let (worst, median) = (*ratios.first()?, ratios[ratios.len() / 2]);
        Some(Spread { worst, median })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "households: worst {:.3}, median {:.3}", self.worst, self.median)
    }
}

/// The difference of `found` from `truth`, relative to `truth`.
pub(super) fn relative_error(found: i64, truth: i64) -> Option<f64> {
    (truth != 0).then(|| ((found - truth) as f64 / truth as f64).abs())
}

pub(super) fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}
