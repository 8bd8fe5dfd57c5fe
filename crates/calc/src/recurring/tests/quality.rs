//! Precision and recall of stream detection on generated households.
//!
//! Run with `--nocapture` to see the numbers, and the missed streams.

use super::households::{END, Household, Noise, Truth};
use super::*;

const CLEAN: Noise = Noise { missing: 0, broken_keys: 0, without_category: 0 };
const USUAL: Noise = Noise { missing: 1, broken_keys: 2, without_category: 10 };

#[derive(Debug, Default)]
struct Score {
    /// True streams with as many payments as their frequency needs, and how many of them were found.
    truths: usize,
    known: usize,
    found: usize,
    right: usize,
    right_frequency: usize,
    merged: usize,
    split: usize,
}

impl Score {
    fn of(seeds: std::ops::Range<u64>, noise: Noise) -> Score {
        let mut score = Score::default();
        for seed in seeds {
            score.add(&Household::of(seed, noise));
        }
        score
    }

    fn add(&mut self, household: &Household) {
        let mut known = vec![0; household.truths.len()];
        for (index, group) in household.groups.iter().enumerate() {
            for stream in detect_streams(group, date_from_days(END)) {
                let right = household.truths.iter().position(|it| is_right(&stream, index, it));
                match right {
                    Some(at) => {
                        known[at] += 1;
                        let is_same = household.truths[at].frequency == stream.frequency;
                        self.right_frequency += usize::from(is_same);
                    }
                    None => println!("  not true: {:?} {}", group.payment_kind, line(&stream)),
                }
                let parts = household.truths.iter().filter(|it| shared(&stream, it) >= 2);
                self.merged += usize::from(parts.count() > 1);
                self.found += 1;
                self.right += usize::from(right.is_some());
            }
        }
        for (truth, count) in household.truths.iter().zip(known) {
            let enough = truth.ids.len() >= truth.frequency.cadence().occurrences_min;
            self.truths += usize::from(enough);
            self.known += usize::from(enough && count > 0);
            self.split += usize::from(count > 1);
            if enough && count == 0 {
                println!("  not found: {} x{}", truth.frequency.as_str(), truth.ids.len());
            }
        }
    }

    /// Precision and recall in thousandths.
    fn precision_and_recall(&self, name: &str) -> (usize, usize) {
        let (precision, recall) =
            (self.right * 1_000 / self.found, self.known * 1_000 / self.truths);
        println!("{name}: precision {precision}, recall {recall} of a thousand; {self:?}");
        (precision, recall)
    }
}

fn shared(stream: &Stream, truth: &Truth) -> usize {
    stream.members.iter().filter(|it| truth.ids.contains(&it.id)).count()
}

/// Whether four of five of its payments belong to the true stream, and it has half of that stream's payments.
fn is_right(stream: &Stream, group: usize, truth: &Truth) -> bool {
    let shared = shared(stream, truth);
    group == truth.group && shared * 5 >= stream.members.len() * 4 && shared * 2 >= truth.ids.len()
}

fn line(stream: &Stream) -> String {
    let days: Vec<_> =
        stream.members.iter().map(|it| format!("{}:{}", it.on, it.amount_minor)).collect();
    let class = stream.amount_class.as_str();
    format!("{} {class} {}", stream.frequency.as_str(), days.join(" "))
}

#[test]
fn nearly_all_streams_are_found_and_nearly_all_found_are_right() {
    for (name, seeds, noise) in [("clean", 0..12, CLEAN), ("usual", 100..112, USUAL)] {
        let score = Score::of(seeds, noise);
        let (precision, recall) = score.precision_and_recall(name);
        assert!(precision >= 970 && recall >= 950);
        assert_eq!((score.merged, score.split), (0, 0));
        assert!(score.right_frequency * 100 >= score.right * 99);
    }
}

#[test]
fn bad_data_costs_some_streams_but_not_many() {
    for (name, noise) in [
        ("no categories", Noise { without_category: 100, ..CLEAN }),
        ("5 % of keys broken", Noise { broken_keys: 5, ..CLEAN }),
        ("15 % of keys broken", Noise { broken_keys: 15, ..CLEAN }),
        ("10 % missing", Noise { missing: 10, ..CLEAN }),
    ] {
        let (precision, recall) = Score::of(200..206, noise).precision_and_recall(name);
        assert!(precision >= 950 && recall >= 930, "{name}");
    }
}

/// Examines every household two months early, and compares with the payments that followed.
#[test]
fn next_payments_come_when_they_were_expected() {
    let (mut hits, mut all) = (0, 0);
    let then = date_from_days(END - 60);
    for seed in 300..310 {
        for group in Household::of(seed, CLEAN).groups {
            for stream in detect_streams(&group, then) {
                let later = detect_streams(&group, date_from_days(END));
                let goes_on = |it: &&Stream| it.members[0].id == stream.members[0].id;
                let Some(whole) = later.iter().find(goes_on) else { continue };
                let (Some(next), Some(came)) =
                    (stream.next_expected_on, whole.members.get(stream.members.len()))
                else {
                    continue;
                };
                let off = days_from_date(came.on) - days_from_date(next);
                all += 1;
                hits += usize::from(off.abs() <= 2);
            }
        }
    }
    println!("{hits} of {all} next payments came within two days");
    assert!(all >= 80 && hits * 100 >= all * 95);
}
