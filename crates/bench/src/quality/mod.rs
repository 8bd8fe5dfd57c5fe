//! Measures the quality of the results, on households and descriptors whose truth is known.
//!
//! Frozen seeds give figures that only a code change can move; the goals apply to them. Fresh seeds show whether the
//! code is overfitted to the frozen ones.

mod adversarial;
mod case;
mod categories;
mod classes;
mod descriptors;
mod product;
mod real_descriptors;
mod recurring;
mod report;
mod share;
#[cfg(test)]
mod tests;
mod transfers;

use std::path::Path;

use anyhow::Context as _;
use base::Timestamp;

use crate::households::{GENERATOR_VERSION, Preset, household};
use case::Case;
use product::Answer;
use report::Figures;

const MONTHS: u32 = 18;
const FROZEN_SEEDS: std::ops::RangeInclusive<u64> = 1..=8;
const DEMO_SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const DEMO_AS_OF: &str = "2026-06-15T12:00:00Z";

/// `origin` is a hexadecimal number, such as a commit id, from which fresh seeds are derived. Returns whether the
/// figures of the frozen seeds reach the goals.
pub(crate) async fn measure(
    seeds: u64,
    origin: &str,
    external: Option<&Path>,
) -> anyhow::Result<bool> {
    println!("households of generator {GENERATOR_VERSION}, {MONTHS} months each");
    let frozen = measure_seeds(FROZEN_SEEDS).await?;
    report::households("frozen seeds", &frozen);
    // Far above any seed chosen by hand.
    let digits = origin.get(..origin.len().min(12)).unwrap_or_default();
    let first = u64::from_str_radix(digits, 16).context("ORIGIN must be hexadecimal")? | 1 << 60;
    if seeds > 0 {
        let fresh = measure_seeds(first..=first + seeds - 1).await?;
        report::households(&format!("fresh seeds from {first}"), &fresh);
    }
    let as_of: Timestamp = DEMO_AS_OF.parse()?;
    let mut demo = Vec::new();
    for hints in [true, false] {
        for seed in DEMO_SEEDS {
            demo.push(figures(&Case::of_demo(seed, as_of, hints)).await?);
        }
    }
    report::demo(&demo);
    let held_out = descriptors::score(&descriptors::read(descriptors::HELD_OUT)?);
    report::descriptors("held-out descriptors", &held_out);
    match real_descriptors::file() {
        Some(file) => real_descriptors::report(&file)?,
        None => println!("\nSKIPPED: there are no real descriptors beside the project"),
    }
    report::adversarial(&adversarial::check().await?);
    if let Some(file) = external {
        let text = std::fs::read_to_string(file).context("reading the external file")?;
        let rows = descriptors::read(&text)?;
        report::descriptors("an external file", &descriptors::score(&rows));
        report::accepted(&descriptors::accepted(&rows, file));
    }
    Ok(report::goals(&frozen, &held_out))
}

async fn measure_seeds(seeds: std::ops::RangeInclusive<u64>) -> anyhow::Result<Vec<Figures>> {
    let mut all = Vec::new();
    for preset in Preset::ALL {
        for seed in seeds.clone() {
            let world = household(*preset, seed, MONTHS);
            all.push(figures(&Case::of_world(preset.name(), world)?).await?);
        }
    }
    Ok(all)
}

async fn figures(case: &Case) -> anyhow::Result<Figures> {
    let answer = product::run_case(case).await?;
    Ok(Figures {
        group: case.group,
        recurring: recurring::score(case, &answer),
        transfers: transfers::score(case, &answer),
        categories: categories_of(case, &answer),
        income_error: income_error(case, &answer),
    })
}

fn categories_of(case: &Case, answer: &Answer) -> categories::Score {
    let mut score = categories::Score::default();
    for (row, found) in case.rows.iter().zip(&answer.rows) {
        let Some(found) = found else { continue };
        score.count(row.category, (found.category, found.stage), || {
            let category = found.category.map_or("nothing", |it| it.detailed());
            let truth = row.category.detailed();
            let noise = &row.noise;
            format!(
                "{:?} (key {:?}): expected {truth}, found {category} [{noise}]",
                row.description, found.key
            )
        });
    }
    score
}

/// The relative error of the monthly income, compared with the rows that truly are income.
fn income_error(case: &Case, answer: &Answer) -> Option<f64> {
    let (window, found) = &answer.income;
    let earned = case.rows.iter().filter(|it| it.income && window.contains(it.posted_on));
    let earned: i64 = earned.map(|it| it.amount_minor).sum();
    share::relative_error(*found, earned / window.months.max(1))
}
