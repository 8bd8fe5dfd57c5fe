//! Metrics: the counters and histograms that every crate counts with, and the families in which they are reported.
//! Counting is a few atomic additions, so it may happen anywhere. `web` writes the families as text.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// A number that only rises while the process runs.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn increment(&self) {
        self.add(1);
    }

    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The unit of the values in a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, which are reported as seconds.
    Seconds,
    /// Things, such as transactions in a commit.
    Things,
}

/// The upper bounds of a histogram's buckets, in ascending order. A last bucket without a bound is added.
#[derive(Debug)]
pub struct Buckets {
    pub unit: Unit,
    pub bounds: &'static [u64],
}

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;

/// For requests, statements and other work that takes from half a millisecond to a minute.
pub static SHORT: Buckets = Buckets {
    unit: Unit::Seconds,
    bounds: &[
        MILLISECOND / 2,
        MILLISECOND,
        5 * MILLISECOND / 2,
        5 * MILLISECOND,
        10 * MILLISECOND,
        25 * MILLISECOND,
        50 * MILLISECOND,
        100 * MILLISECOND,
        250 * MILLISECOND,
        500 * MILLISECOND,
        SECOND,
        5 * SECOND / 2,
        5 * SECOND,
        10 * SECOND,
        30 * SECOND,
        60 * SECOND,
    ],
};

/// For what waits for retries or people: from a tenth of a second to a week.
pub static LONG: Buckets = Buckets {
    unit: Unit::Seconds,
    bounds: &[
        100 * MILLISECOND,
        SECOND,
        5 * SECOND,
        30 * SECOND,
        60 * SECOND,
        300 * SECOND,
        900 * SECOND,
        3_600 * SECOND,
        6 * 3_600 * SECOND,
        86_400 * SECOND,
        3 * 86_400 * SECOND,
        7 * 86_400 * SECOND,
    ],
};

/// How often values fell into each bucket.
#[derive(Debug)]
pub struct Histogram {
    buckets: &'static Buckets,
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    pub fn new(buckets: &'static Buckets) -> Histogram {
        let counts = (0..=buckets.bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { buckets, counts, sum: AtomicU64::new(0) }
    }

    pub fn short() -> Histogram {
        Histogram::new(&SHORT)
    }

    pub fn long() -> Histogram {
        Histogram::new(&LONG)
    }

    pub fn observe(&self, value: u64) {
        let bucket = self.buckets.bounds.partition_point(|it| *it < value);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    pub fn observe_duration(&self, duration: Duration) {
        self.observe(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Observes a difference of two times of a clock. Zero if the clock was set back.
    pub fn observe_microseconds(&self, microseconds: i64) {
        self.observe(u64::try_from(microseconds).unwrap_or(0).saturating_mul(1_000));
    }

    pub fn read(&self) -> Distribution {
        let counts = self.counts.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        Distribution { buckets: self.buckets, counts, sum: self.sum.load(Ordering::Relaxed) }
    }
}

/// The state of a histogram. `counts` has one entry more than there are bounds.
#[derive(Debug, Clone)]
pub struct Distribution {
    pub buckets: &'static Buckets,
    pub counts: Vec<u64>,
    pub sum: u64,
}

/// Counters or histograms by a label. Labels are words of the program, such as routes, tables and states, so there are few.
/// Only the first use of a label takes the lock for writing.
#[derive(Debug)]
pub struct ByLabel<K, T> {
    members: RwLock<BTreeMap<K, Arc<T>>>,
    new: fn() -> T,
}

impl<K: Ord + Clone, T> ByLabel<K, T> {
    pub fn new(new: fn() -> T) -> ByLabel<K, T> {
        ByLabel { members: RwLock::default(), new }
    }

    /// Calls `count` with the member of a label, which is created by its first use.
    pub fn with<Q>(&self, label: &Q, count: impl FnOnce(&T))
    where
        K: Borrow<Q>,
        Q: Ord + ToOwned<Owned = K> + ?Sized,
    {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(member) = members.get(label) {
            return count(member);
        }
        drop(members);
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        count(members.entry(label.to_owned()).or_insert_with(|| Arc::new((self.new)())));
    }

    /// All members with their labels, in the order of the labels.
    pub fn all(&self) -> Vec<(K, Arc<T>)> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        members.iter().map(|(label, it)| (label.clone(), it.clone())).collect()
    }
}

impl<K: Ord + Clone> Default for ByLabel<K, Counter> {
    fn default() -> ByLabel<K, Counter> {
        ByLabel::new(Counter::default)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// A metric with all of its labels. The name has no prefix and, for a counter, no `_total`.
#[derive(Debug, Clone)]
pub struct MetricFamily {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: MetricKind,
    pub samples: Vec<Sample>,
}

#[derive(Debug, Clone)]
pub struct Sample {
    pub labels: Vec<(&'static str, String)>,
    pub value: MetricValue,
}

#[derive(Debug, Clone)]
pub enum MetricValue {
    Number(i64),
    /// Reported as seconds.
    Nanoseconds(u64),
    Histogram(Distribution),
}

impl MetricFamily {
    pub fn counter(name: &'static str, help: &'static str) -> MetricFamily {
        MetricFamily { name, help, kind: MetricKind::Counter, samples: Vec::new() }
    }

    pub fn gauge(name: &'static str, help: &'static str) -> MetricFamily {
        MetricFamily { name, help, kind: MetricKind::Gauge, samples: Vec::new() }
    }

    pub fn histogram(name: &'static str, help: &'static str) -> MetricFamily {
        MetricFamily { name, help, kind: MetricKind::Histogram, samples: Vec::new() }
    }

    pub fn add(&mut self, labels: &[(&'static str, &str)], value: impl Into<MetricValue>) {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.samples.push(Sample { labels, value: value.into() });
    }

    /// The family with one more sample.
    pub fn with(
        mut self,
        labels: &[(&'static str, &str)],
        value: impl Into<MetricValue>,
    ) -> MetricFamily {
        self.add(labels, value);
        self
    }

    /// The family with a sample for each member, whose label values `values` takes from its key.
    pub fn with_all<K: Ord + Clone, T, const N: usize>(
        mut self,
        names: [&'static str; N],
        members: &ByLabel<K, T>,
        values: impl Fn(&K) -> [String; N],
    ) -> MetricFamily
    where
        for<'v> MetricValue: From<&'v T>,
    {
        for (key, member) in members.all() {
            let labels = names.into_iter().zip(values(&key)).collect();
            self.samples.push(Sample { labels, value: MetricValue::from(&*member) });
        }
        self
    }
}

impl From<&Counter> for MetricValue {
    fn from(counter: &Counter) -> MetricValue {
        MetricValue::from(counter.get())
    }
}

impl From<&Histogram> for MetricValue {
    fn from(histogram: &Histogram) -> MetricValue {
        MetricValue::Histogram(histogram.read())
    }
}

impl From<i64> for MetricValue {
    fn from(number: i64) -> MetricValue {
        MetricValue::Number(number)
    }
}

impl From<u64> for MetricValue {
    fn from(number: u64) -> MetricValue {
        MetricValue::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for MetricValue {
    fn from(number: usize) -> MetricValue {
        MetricValue::from(number as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_falls_into_the_first_bucket_that_is_not_below_it() {
        let histogram = Histogram::short();
        for duration in [
            Duration::from_micros(1),
            Duration::from_micros(500),
            Duration::from_micros(501),
            Duration::from_secs(60),
            Duration::from_secs(3_600),
        ] {
            histogram.observe_duration(duration);
        }
        let read = histogram.read();
        assert_eq!(read.counts.len(), SHORT.bounds.len() + 1);
        assert_eq!((read.counts[0], read.counts[1]), (2, 1));
        assert_eq!(read.counts[15..], [1, 1], "a minute, and more than that");
        assert_eq!(read.sum, 3_660 * SECOND + 1_002_000);
    }

    #[test]
    fn bounds_ascend() {
        for buckets in [&SHORT, &LONG] {
            assert!(buckets.bounds.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn a_clock_that_was_set_back_counts_as_no_time() {
        let histogram = Histogram::long();
        histogram.observe_microseconds(-5);
        assert_eq!((histogram.read().sum, histogram.read().counts[0]), (0, 1));
    }

    #[test]
    fn members_are_created_by_their_first_use_and_listed_in_order() {
        let counters = ByLabel::<String, Counter>::default();
        for label in ["b", "a", "b"] {
            counters.with(label, Counter::increment);
        }
        let family =
            MetricFamily::counter("things", "Things")
                .with_all(["kind"], &counters, |it| [it.clone()]);
        let samples = family.samples.iter().map(|it| (it.labels[0].1.as_str(), &it.value));
        let counted: Vec<(&str, i64)> = samples
            .map(|(label, value)| match value {
                MetricValue::Number(number) => (label, *number),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(counted, [("a", 1), ("b", 2)]);
    }

    #[test]
    fn threads_count_without_losing_any() {
        let (counters, histogram) =
            (ByLabel::<&'static str, Counter>::default(), Histogram::short());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        counters.with(&"same", Counter::increment);
                        histogram.observe(1);
                    }
                });
            }
        });
        assert_eq!(counters.all()[0].1.get(), 4_000);
        assert_eq!(histogram.read().counts[0], 4_000);
    }
}
