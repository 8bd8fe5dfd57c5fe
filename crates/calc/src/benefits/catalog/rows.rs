//! The file format of a product, and the checks that turn it into a `Card`.

use base::category::Category;
use base::{Currency, Date, Money};
use serde::Deserialize;

use super::super::text::Words;
use super::{Alignment, Area, Benefit, Cadence, Card, Eligible, Fee, Kind, Network};
use super::{PostingDays, Source};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CardRow {
    id: String,
    issuer: String,
    network: String,
    #[serde(default = "dollars")]
    currency: String,
    names: Vec<String>,
    not_names: Vec<String>,
    verified_on: String,
    fees: Vec<FeeRow>,
    benefits: Vec<BenefitRow>,
    sources: Vec<SourceRow>,
}

fn dollars() -> String {
    Currency::USD.code().to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeeRow {
    amount: String,
    from: Option<String>,
    to: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BenefitRow {
    id: String,
    title: String,
    description: String,
    kind: String,
    area: String,
    amount: Option<String>,
    #[serde(default = "once")]
    uses: u8,
    #[serde(default)]
    overrides: Vec<OverrideRow>,
    cadence: String,
    alignment: String,
    #[serde(default)]
    enrollment_required: bool,
    spend_gate: Option<String>,
    observable: bool,
    #[serde(default)]
    credit_patterns: Vec<String>,
    posting_days: Option<PostingRow>,
    #[serde(default)]
    eligible: EligibleRow,
    valid_from: Option<String>,
    valid_to: Option<String>,
}

fn once() -> u8 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverrideRow {
    month: i8,
    amount: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PostingRow {
    typical: u16,
    max: u16,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct EligibleRow {
    merchants: Vec<String>,
    except: Vec<String>,
    categories: Vec<String>,
    possible_categories: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceRow {
    at: String,
    dated: Option<String>,
    seen_on: String,
}

pub(super) fn read(text: &str) -> Result<Card, String> {
    let row: CardRow = toml::from_str(text).map_err(|error| error.to_string())?;
    let currency = Currency::parse(&row.currency).map_err(|error| error.to_string())?;
    let fee = |it: FeeRow| {
        Ok::<_, String>(Fee {
            amount_minor: minor(&it.amount, currency)?,
            from: it.from.as_deref().map(date).transpose()?,
            to: it.to.as_deref().map(date).transpose()?,
        })
    };
    let source = |it: SourceRow| {
        Ok::<_, String>(Source {
            at: it.at,
            dated: it.dated.as_deref().map(date).transpose()?,
            seen_on: date(&it.seen_on)?,
        })
    };
    Ok(Card {
        network: word(&row.network, Network::parse)?,
        currency,
        verified_on: date(&row.verified_on)?,
        fees: row.fees.into_iter().map(fee).collect::<Result<_, _>>()?,
        benefits: row
            .benefits
            .into_iter()
            .map(|it| benefit(it, currency))
            .collect::<Result<_, _>>()?,
        sources: row.sources.into_iter().map(source).collect::<Result<_, _>>()?,
        id: row.id,
        issuer: row.issuer,
        names: row.names,
        not_names: row.not_names,
    })
}

fn benefit(row: BenefitRow, currency: Currency) -> Result<Benefit, String> {
    let other = |it: OverrideRow| match it.month {
        1..=12 => Ok((it.month, minor(&it.amount, currency)?)),
        _ => Err(format!("{} is no month", it.month)),
    };
    let days =
        row.posting_days.map(|it| PostingDays { typical: it.typical.into(), max: it.max.into() });
    Ok(Benefit {
        kind: word(&row.kind, Kind::parse)?,
        area: word(&row.area, Area::parse)?,
        amount_minor: row.amount.as_deref().map(|it| minor(it, currency)).transpose()?,
        uses: row.uses.into(),
        overrides: row.overrides.into_iter().map(other).collect::<Result<_, _>>()?,
        cadence: word(&row.cadence, Cadence::parse)?,
        alignment: word(&row.alignment, Alignment::parse)?,
        enrollment_required: row.enrollment_required,
        spend_gate_minor: row.spend_gate.as_deref().map(|it| minor(it, currency)).transpose()?,
        observable: row.observable,
        eligible: Eligible {
            categories: categories(&row.eligible.categories)?,
            possible_categories: categories(&row.eligible.possible_categories)?,
            merchants: phrases(&row.eligible.merchants),
            except: phrases(&row.eligible.except),
        },
        posting_days: days.unwrap_or_default(),
        valid_from: row.valid_from.as_deref().map(date).transpose()?,
        valid_to: row.valid_to.as_deref().map(date).transpose()?,
        credit_patterns: phrases(&row.credit_patterns),
        id: row.id,
        title: row.title,
        description: row.description,
    })
}

fn minor(text: &str, currency: Currency) -> Result<i64, String> {
    Money::parse(text, currency).map(Money::minor).map_err(|error| format!("{text} {error}"))
}

fn date(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| format!("{text} is no date such as 2026-11-15"))
}

fn word<T>(text: &str, parse: fn(&str) -> Option<T>) -> Result<T, String> {
    parse(text).ok_or_else(|| format!("{text} is no known word"))
}

fn categories(codes: &[String]) -> Result<Vec<Category>, String> {
    codes.iter().map(|it| word(it, Category::parse)).collect()
}

fn phrases(texts: &[String]) -> Vec<Words> {
    texts.iter().map(|it| Words::of(it)).collect()
}
