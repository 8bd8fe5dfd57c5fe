//! Descriptors with their truth, one per line: the held-out file, and external files with the same columns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, Money};
use calc::enrich::{Enriched, History, Rules, TransactionFacts, clean, enrich};

use super::categories;
use super::share::Share;

pub(super) const HELD_OUT: &str = include_str!("../../../../fixtures/descriptors.tsv");

pub(super) struct Descriptor<'a> {
    pub(super) text: &'a str,
    pub(super) context: Context<'a>,
    amount_minor: i64,
    merchant: Option<&'a str>,
    category: Category,
    tier: &'a str,
    label: &'a str,
}

/// The direction and account of a descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) inflow: bool,
    pub(super) kind: AccountKind,
    pub(super) subtype: Option<&'a str>,
}

/// Classifies a text by its context and amount alone.
pub(super) fn classify(text: &str, context: Context, amount_minor: i64) -> Enriched {
    let facts = TransactionFacts {
        account: AccountId::from_bytes([0; 16]),
        account_kind: context.kind,
        account_subtype: context.subtype,
        inflow: context.inflow,
        amount_minor,
        currency: base::Currency::USD,
        source_counterparty: None,
        source_category: None,
        imported_at_ms: None,
        transfer: None,
        user_override: None,
    };
    enrich(&clean(text), &facts, &Rules::new(Vec::new()), &History::empty())
}

pub(super) fn read(text: &str) -> anyhow::Result<Vec<Descriptor<'_>>> {
    let lines = text.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    lines.map(|line| row(line).with_context(|| format!("a row of descriptors: {line}"))).collect()
}

fn row(line: &str) -> anyhow::Result<Descriptor<'_>> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [text, direction, kind, subtype, amount, currency, merchant, category, _, tier, label] =
        columns[..]
    else {
        anyhow::bail!("there must be 11 columns");
    };
    let kind = AccountKind::parse(kind).context("no such kind of account")?;
    let subtype = (subtype != "-").then_some(subtype);
    Ok(Descriptor {
        text,
        context: Context { inflow: direction == "inflow", kind, subtype },
        amount_minor: Money::parse(amount, Currency::parse(currency)?)?.minor(),
        merchant: (merchant != "-").then_some(merchant),
        category: Category::parse(category).context("no such category")?,
        tier,
        label,
    })
}

#[derive(Debug, Default)]
pub(super) struct Score {
    pub(super) all: categories::Score,
    pub(super) by_tier: BTreeMap<String, categories::Score>,
    /// Pairs of rows of one merchant whose texts have the same key.
    pub(super) key_stability: Share,
    /// The same for the rows' keys, which for a known merchant are the merchant's own.
    pub(super) merchant_stability: Share,
    /// Keys that several merchants share, of all keys of rows with a merchant.
    pub(super) collisions: Share,
    pub(super) colliding: Vec<String>,
}

impl Score {
    pub(super) fn without(&self, tier: &str) -> categories::Score {
        let mut rest = categories::Score::default();
        let others = self.by_tier.iter().filter(|it| it.0 != tier);
        others.for_each(|it| rest.add(it.1));
        rest
    }
}

pub(super) fn score(rows: &[Descriptor]) -> Score {
    let mut score = Score::default();
    let mut merchants: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    let mut keys: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        let found = classify(row.text, row.context, row.amount_minor);
        let tier = score.by_tier.entry(row.tier.to_owned()).or_default();
        for part in [&mut score.all, tier] {
            part.count(row.category, (found.category, found.category_source), || {
                shown(row, &found)
            });
        }
        if let Some(merchant) = row.merchant {
            keys.entry(found.key.clone()).or_default().insert(merchant);
            merchants.entry(merchant).or_default().push((clean(row.text).key, found.key));
        }
    }
    for rows in merchants.values() {
        for (index, one) in rows.iter().enumerate() {
            for other in &rows[index + 1..] {
                score.key_stability.count(one.0 == other.0);
                score.merchant_stability.count(one.1 == other.1);
            }
        }
    }
    for (key, sharing) in &keys {
        score.collisions.count(sharing.len() > 1);
        if sharing.len() > 1 {
            let sharing: Vec<&str> = sharing.iter().copied().collect();
            score.colliding.push(format!("{key}: {}", sharing.join(", ")));
        }
    }
    score
}

fn shown(row: &Descriptor, found: &Enriched) -> String {
    let category = found.category.map_or("nothing", Category::detailed);
    let truth = row.category.detailed();
    format!("{:?} (key {:?}): expected {truth}, found {category}", row.text, found.key)
}

/// The share of rows whose primary category is one that their label accepts. The accepted ones are in `labels.tsv`
/// beside the file; a label that is not there accepts the primary of its category.
pub(super) fn accepted(rows: &[Descriptor], file: &Path) -> Vec<(String, Share)> {
    let labels = std::fs::read_to_string(file.with_file_name("labels.tsv")).unwrap_or_default();
    let labels = labels.lines().filter(|it| !it.starts_with('#'));
    let labels: BTreeMap<&str, &str> =
        labels.filter_map(|it| Some((it.split('\t').next()?, it.split('\t').nth(2)?))).collect();
    let mut shares: BTreeMap<&str, Share> = BTreeMap::new();
    for row in rows {
        let found =
            classify(row.text, row.context, row.amount_minor).category.map(Category::primary);
        let primaries = labels.get(row.label).copied().unwrap_or(row.category.primary());
        let right = found.is_some_and(|found| primaries.split(',').any(|it| it == found));
        shares.entry(row.label).or_default().count(right);
    }
    shares.into_iter().map(|(label, share)| (label.to_owned(), share)).collect()
}
