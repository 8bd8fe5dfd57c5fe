//! Descriptors with their truth, one a line: the hold-out, and outside files in the same columns.

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

/// Where a descriptor stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) inflow: bool,
    pub(super) kind: AccountKind,
    pub(super) subtype: Option<&'a str>,
}

/// What the tables say of a text, with nothing known but where it stands.
pub(super) fn judged(text: &str, context: Context, amount_minor: i64) -> Enriched {
    let facts = TransactionFacts {
        account: AccountId::from_bytes([0; 16]),
        account_kind: context.kind,
        account_subtype: context.subtype,
        inflow: context.inflow,
        amount_minor,
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
    /// Pairs of rows of one merchant whose texts have one key.
    pub(super) key_stability: Share,
    /// The same for the rows' keys, which for a known merchant are the merchant's own.
    pub(super) merchant_stability: Share,
    /// Keys that rows of several merchants have, of all keys of rows that name a merchant.
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
        let said = judged(row.text, row.context, row.amount_minor);
        let tier = score.by_tier.entry(row.tier.to_owned()).or_default();
        for part in [&mut score.all, tier] {
            part.count(row.category, (said.category, said.category_source), || shown(row, &said));
        }
        if let Some(merchant) = row.merchant {
            keys.entry(said.key.clone()).or_default().insert(merchant);
            merchants.entry(merchant).or_default().push((clean(row.text).key, said.key));
        }
    }
    for rows in merchants.values() {
        for (place, one) in rows.iter().enumerate() {
            for other in &rows[place + 1..] {
                score.key_stability.count(one.0 == other.0);
                score.merchant_stability.count(one.1 == other.1);
            }
        }
    }
    for (key, of) in &keys {
        score.collisions.count(of.len() > 1);
        if of.len() > 1 {
            let of: Vec<&str> = of.iter().copied().collect();
            score.colliding.push(format!("{key}: {}", of.join(", ")));
        }
    }
    score
}

fn shown(row: &Descriptor, said: &Enriched) -> String {
    let category = said.category.map_or("nothing", Category::detailed);
    let truth = row.category.detailed();
    format!("{:?} (key {:?}): truly {truth}, said {category}", row.text, said.key)
}

/// The share of rows whose primary is one of those that their label accepts. What a label accepts
/// stands in `labels.tsv` beside the file; one that is not there accepts its category's primary.
pub(super) fn accepted(rows: &[Descriptor], file: &Path) -> Vec<(String, Share)> {
    let labels = std::fs::read_to_string(file.with_file_name("labels.tsv")).unwrap_or_default();
    let labels = labels.lines().filter(|it| !it.starts_with('#'));
    let labels: BTreeMap<&str, &str> =
        labels.filter_map(|it| Some((it.split('\t').next()?, it.split('\t').nth(2)?))).collect();
    let mut shares: BTreeMap<&str, Share> = BTreeMap::new();
    for row in rows {
        let said = judged(row.text, row.context, row.amount_minor).category.map(Category::primary);
        let primaries = labels.get(row.label).copied().unwrap_or(row.category.primary());
        let right = said.is_some_and(|said| primaries.split(',').any(|it| it == said));
        shares.entry(row.label).or_default().count(right);
    }
    shares.into_iter().map(|(label, share)| (label.to_owned(), share)).collect()
}
