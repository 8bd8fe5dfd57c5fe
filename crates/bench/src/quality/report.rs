//! Prints the figures, always in the same order.

use super::adversarial::KNOWN_FAILURES;
use super::share::{Share, Spread, mean};
use super::{categories, descriptors, recurring, transfers};

const CLASSES_MAX: usize = 10;
/// Presets of people with regular pay.
const REGULAR_PAY: &[&str] = &["steady", "thin", "retired", "two_earners"];

/// The scores of one household.
pub(super) struct Figures {
    pub(super) group: &'static str,
    pub(super) recurring: recurring::Score,
    pub(super) transfers: transfers::Score,
    pub(super) categories: categories::Score,
    /// Relative to the true income.
    pub(super) income_error: Option<f64>,
}

pub(super) fn households(title: &str, all: &[Figures]) {
    println!("\n== {} households, {title}", all.len());
    print_recurring(all);
    print_transfers(all);
    println!("\nincome of an average month (indicative; presets with regular pay)");
    let regular = |it: &&str| REGULAR_PAY.contains(it);
    for group in groups(all).iter().filter(|it| regular(it)) {
        let errors: Vec<f64> = of(all, group).filter_map(|it| it.income_error).collect();
        if let Some(mean) = mean(&errors) {
            println!("  {group:<20} mean relative error {mean:.3}");
        }
    }
    println!("\ncategories of rows without a category from their source");
    print_categories(&pooled_categories(all));
}

pub(super) fn demo(all: &[Figures]) {
    println!(
        "\n== {} demo households, with and without the aggregator's names and categories",
        all.len()
    );
    print_recurring(all);
    print_transfers(all);
    for group in groups(all) {
        println!("\ncategories, {group}");
        let mut pooled = categories::Score::default();
        of(all, group).for_each(|it| pooled.add(&it.categories));
        print_categories(&pooled);
    }
}

fn print_recurring(all: &[Figures]) {
    println!("\nrecurring streams{:>23}{:>38}", "precision", "recall");
    let mut total = recurring::Score::default();
    for group in groups(all) {
        let mut pooled = recurring::Score::default();
        of(all, group).for_each(|it| pooled.add(&it.recurring));
        println!("  {group:<20} {:<37} {}", pooled.precision, pooled.recall_of_all());
        total.add(&pooled);
    }
    println!("  {:<20} {:<37} {}", "all", total.precision, total.recall_of_all());
    spread("precision", all.iter().map(|it| it.recurring.precision));
    spread("recall", all.iter().map(|it| it.recurring.recall_of_all()));
    for (cadence, share) in &total.recall {
        println!("  recall, {:<20} {share}", cadence.as_str());
    }
    for (what, share) in [
        ("too short, found all the same", total.short),
        ("true streams in fragments", total.fragmented),
        ("found streams that merge", total.merged),
        ("frequency right", total.frequency),
        ("goes on or has ended", total.status),
        ("next day exact", total.next_exact),
        ("next day within 1", total.next_within_1),
        ("next day within 3", total.next_within_3),
    ] {
        println!("  {what:<30} {share}");
    }
    total.wrong.print("wrong streams", CLASSES_MAX);
    total.missed.print("missed streams", CLASSES_MAX);
}

fn print_transfers(all: &[Figures]) {
    let line = |group: &str, it: &transfers::Score| {
        println!("  {group:<20} {:<37} {}", it.flag_precision, it.flag_recall);
        println!("  {:<20} {:<37} {}", "  pairs", it.pair_precision, it.pair_recall);
        println!("  {:<20} {:<37} {}", "  if suggestions held", "", it.suggested_recall);
    };
    println!("\nown transfers{:>27}{:>38}", "precision", "recall");
    let mut total = transfers::Score::default();
    for group in groups(all) {
        let mut pooled = transfers::Score::default();
        of(all, group).for_each(|it| pooled.add(&it.transfers));
        line(group, &pooled);
        total.add(&pooled);
    }
    line("all", &total);
    spread("flag precision", all.iter().map(|it| it.transfers.flag_precision));
    spread("flag recall", all.iter().map(|it| it.transfers.flag_recall));
    total.wrong.print("wrong pairs", CLASSES_MAX);
    total.missed.print("missed pairs [what is hard about either leg]", CLASSES_MAX);
}

fn print_categories(score: &categories::Score) {
    category_line("all", score);
    println!("  {:<20} {}", "  covered", score.covered);
    for (stage, (tier1, detailed)) in &score.by_stage {
        println!("  by {:<17} {tier1:<37} {detailed}", stage.as_str());
    }
    score.wrong.print("wrong at tier 1", CLASSES_MAX);
}

fn category_line(name: &str, score: &categories::Score) {
    println!("  {name:<20} {:<37} {}", score.tier1, score.detailed);
}

pub(super) fn descriptors(title: &str, score: &descriptors::Score) {
    println!("\n== {title}{:>26}{:>38}", "tier 1", "detailed");
    for (tier, of_tier) in &score.by_tier {
        category_line(tier, of_tier);
    }
    category_line("without bare", &score.without("bare"));
    print_categories(&score.all);
    println!("  one merchant, one key from its text  {}", score.key_stability);
    println!("  one merchant, one key of its rows    {}", score.merchant_stability);
    println!("  keys that two merchants share        {}", score.collisions);
    for it in score.colliding.iter().take(3 * CLASSES_MAX) {
        println!("            {it}");
    }
}

pub(super) fn accepted(labels: &[(String, Share)]) {
    println!("\nan external file, primary categories that its labels accept");
    for (label, share) in labels {
        println!("  {label:<20} {share}");
    }
    println!("  {:<20} {}", "all", labels.iter().map(|it| it.1).sum::<Share>());
}

pub(super) fn adversarial(outcomes: &[(&str, Option<String>)]) {
    let failed = outcomes.iter().filter_map(|(name, actual)| Some((name, actual.as_ref()?)));
    let right = outcomes.len() - failed.clone().count();
    println!("\n== reported faults: {right} of {} right", outcomes.len());
    for (name, actual) in failed {
        let known = KNOWN_FAILURES.iter().find(|it| it.0 == *name);
        let reason = known.map_or(String::new(), |it| format!(" (known: {})", it.1));
        println!("  {name}: {actual}{reason}");
    }
}

/// Prints the goals. Returns whether all are reached.
pub(super) fn goals(frozen: &[Figures], held_out: &descriptors::Score) -> bool {
    let sum = |share: fn(&Figures) -> Share| frozen.iter().map(share).sum::<Share>();
    let goals = [
        ("recurring precision", sum(|it| it.recurring.precision), 0.97),
        ("recurring recall", sum(|it| it.recurring.recall_of_all()), 0.95),
        ("transfer precision", sum(|it| it.transfers.flag_precision), 0.99),
        ("transfer recall", sum(|it| it.transfers.flag_recall), 0.90),
        ("held-out categories at tier 1", held_out.all.tier1, 0.90),
    ];
    println!("\n== goals, on frozen seeds and fixtures");
    let mut all_reached = true;
    for (what, share, least) in goals {
        let reached = share.ratio().is_some_and(|it| it >= least);
        let word = if reached { "reached" } else { "missed" };
        println!("  {what:<30} {share:<37} at least {least:.2}: {word}");
        all_reached &= reached;
    }
    all_reached
}

fn spread(what: &str, shares: impl Iterator<Item = Share>) {
    if let Some(spread) = Spread::of(shares) {
        println!("  {what:<20} {spread}");
    }
}

fn pooled_categories(all: &[Figures]) -> categories::Score {
    let mut pooled = categories::Score::default();
    all.iter().for_each(|it| pooled.add(&it.categories));
    pooled
}

/// The groups, in order of appearance.
fn groups(all: &[Figures]) -> Vec<&'static str> {
    let mut groups: Vec<&'static str> = all.iter().map(|it| it.group).collect();
    groups.dedup();
    groups
}

fn of<'a>(all: &'a [Figures], group: &'a str) -> impl Iterator<Item = &'a Figures> {
    all.iter().filter(move |it| it.group == group)
}
