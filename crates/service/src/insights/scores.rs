//! Scores: one observation a day, with its reasons, or the data that is still missing.

use base::{Date, Money};
use calc::income::Income;
use calc::ledger::Ledger;
use calc::scores::{
    Coverage, Missing, Scores, Step, StepKind, contributions, coverage, inputs, score,
};
use db::{Tx, params};
use serde::{Deserialize, Serialize};
use wire::json::Day;
use wire::v1::{self, Code, Event, Scope};

use crate::classify::recompute::Recompute;
use crate::insights::income;
use crate::{App, Caller, Error, Result};

/// The scores of one day, each from 0 to 100.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub observed_on: Date,
    pub evenkeel: i64,
    pub recovery: i64,
    pub capacity: i64,
    pub baseline: i64,
    pub explanation: Explanation,
}

/// The reasons for the scores of a day, stored with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The version of the method.
    pub version: u32,
    /// `steady`, `mixed` or `fragile`.
    pub band: String,
    pub reasons: Vec<Reason>,
    /// The component that costs the most points.
    pub largest_drag: Option<String>,
    /// Changes that would raise the scores, the most effective first.
    pub next_steps: Vec<String>,
    /// A sentence on the accounts and months that the scores cover.
    pub coverage: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub component: String,
    pub part: String,
    /// The quantity in a sentence, for example "You use 10.3% of your card limits."
    #[serde(rename = "said")]
    pub text: String,
    pub points_hundredths: i64,
    /// Points that the overall score loses by it.
    pub lost_hundredths: i64,
    /// What it adds to the overall score, in tenths of a point, of those that it could add. Both are zero in scores that
    /// were stored before they were known.
    #[serde(default)]
    pub earned_tenths: i64,
    #[serde(default)]
    pub possible_tenths: i64,
}

impl From<&Observation> for v1::Scores {
    fn from(it: &Observation) -> v1::Scores {
        v1::Scores {
            observation_date: Day(it.observed_on),
            recovery: it.recovery,
            capacity: it.capacity,
            baseline: it.baseline,
            evenkeel: it.evenkeel,
        }
    }
}

pub async fn get(app: &App, caller: &Caller) -> Result<Observation> {
    caller.require(Scope::ScoresRead)?;
    match latest(app, caller).await? {
        Latest::Observed(observation) => Ok(observation),
        Latest::NotReady(message) => Err(Error::Conflict { code: Code::ScoresNotReady, message }),
    }
}

/// The latest observation, or a sentence on the data that is missing for one.
pub(crate) enum Latest {
    Observed(Observation),
    NotReady(String),
}

pub(crate) async fn latest(app: &App, caller: &Caller) -> Result<Latest> {
    if income::is_limited(caller) {
        let income::AnalyzedLedger { ledger, income, currency, .. } =
            income::build_ledger(app, caller).await?;
        let observed = observe(&ledger, &income, app.today(caller), currency);
        return Ok(match observed {
            Ok(observation) => Latest::Observed(observation),
            Err(missing) => Latest::NotReady(sentence(&missing)),
        });
    }
    let computed = app.db.first(MISSING, params![caller.user], |row| row.get(0)).await?;
    let found = match computed {
        None => None,
        Some(Some(missing)) => return Ok(Latest::NotReady(missing)),
        Some(None) => app.db.first(LATEST, params![caller.user, app.today(caller)], read).await?,
    };
    Ok(match found {
        Some(observation) => Latest::Observed(observation),
        None => Latest::NotReady(NOT_COMPUTED.to_owned()),
    })
}

/// The observations of some days, oldest first.
pub async fn history(app: &App, caller: &Caller, from: Date, to: Date) -> Result<Vec<Observation>> {
    caller.require(Scope::ScoresRead)?;
    if income::is_limited(caller) {
        return Err(Error::NotFound("scores"));
    }
    Ok(app.db.all(BETWEEN, params![caller.user, from, to], read).await?)
}

/// Observes the scores of today, and announces a changed number. Returns a sentence on the data that is missing, if any.
pub(super) fn recompute(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    ledger: &Ledger,
    income: &Income,
) -> Result<Option<String>> {
    let observed = match observe(ledger, income, run.today, run.currency) {
        Ok(observed) => observed,
        Err(missing) => return Ok(Some(sentence(&missing))),
    };
    let before = tx.first(LATEST, params![run.user, run.today], read)?;
    if before.as_ref() == Some(&observed) {
        return Ok(None);
    }
    let text = serde_json::to_string(&observed.explanation);
    let text = text.map_err(|error| {
        Error::internal(format!("cannot write the reasons for scores as JSON: {error}"))
    })?;
    let Observation { observed_on, evenkeel, recovery, capacity, baseline, .. } = observed;
    tx.execute(
        SAVE,
        params![run.user, observed_on, evenkeel, recovery, capacity, baseline, &text],
    )?;
    let numbers = |it: &Observation| [it.evenkeel, it.recovery, it.capacity, it.baseline];
    if before.as_ref().map(numbers) != Some(numbers(&observed)) {
        run.events.push(Event::ScoreUpdated { observation_date: Day(observed_on) });
    }
    Ok(None)
}

fn observe(
    ledger: &Ledger,
    income: &Income,
    today: Date,
    currency: base::Currency,
) -> Result<Observation, Vec<Missing>> {
    let scores = score(&inputs(ledger, income)?);
    Ok(Observation {
        observed_on: today,
        evenkeel: scores.evenkeel.whole(),
        recovery: scores.recovery.whole(),
        capacity: scores.capacity.whole(),
        baseline: scores.baseline.whole(),
        explanation: explain(&scores, &coverage(ledger, income), currency),
    })
}

fn explain(scores: &Scores, coverage: &Coverage, currency: base::Currency) -> Explanation {
    let points = contributions(scores);
    let reasons = scores.components.iter().zip(&points).map(|(it, points)| Reason {
        component: it.component.as_str().to_owned(),
        part: it.component.part().as_str().to_owned(),
        text: it.text(),
        points_hundredths: it.points.hundredths(),
        lost_hundredths: it.lost.hundredths(),
        earned_tenths: points.earned_tenths,
        possible_tenths: points.possible_tenths,
    });
    let money = |minor: i64| Money::new(minor, currency).pretty();
    let mut covers = format!(
        "Based on {} linked accounts over {} months. We recognized {}.{}% of the money that came in.",
        coverage.accounts,
        coverage.months,
        coverage.explained_percent_tenths / 10,
        coverage.explained_percent_tenths % 10
    );
    if coverage.unseen_card_payments_minor > 0 {
        covers += &format!(
            " {} went to cards that aren't linked.",
            money(coverage.unseen_card_payments_minor)
        );
    }
    Explanation {
        version: scores.version,
        band: scores.evenkeel.band().as_str().to_owned(),
        reasons: reasons.collect(),
        largest_drag: scores.largest_drag.map(|it| it.as_str().to_owned()),
        next_steps: scores.steps.iter().map(|it| step(it, &money)).collect(),
        coverage: covers,
    }
}

fn step(step: &Step, money: &dyn Fn(i64) -> String) -> String {
    let tenths = |hundredths: i64| format!("{}.{}", hundredths / 100, hundredths % 100 / 10);
    let amount = money(step.amount_minor.unwrap_or(0));
    let change = match step.kind {
        StepKind::MoreAtHand => format!("Saving {amount} more"),
        StepKind::FewerObligations => format!("Cutting rent and debt payments by {amount} a month"),
        StepKind::FewerBadMonths => "One fewer month with an overdraft or a late fee".to_owned(),
    };
    format!("{change} would raise your score by {}.", tenths(step.evenkeel_gain.hundredths()))
}

fn sentence(missing: &[Missing]) -> String {
    let parts: Vec<String> = missing.iter().map(ToString::to_string).collect();
    format!("scores need {}", parts.join(", and "))
}

fn read(row: &db::Row<'_>) -> db::Result<Observation> {
    let text: &str = row.get(5)?;
    let bad = |error: serde_json::Error| db::Error::Decode { column: 5, reason: error.to_string() };
    Ok(Observation {
        observed_on: row.get(0)?,
        evenkeel: row.get(1)?,
        recovery: row.get(2)?,
        capacity: row.get(3)?,
        baseline: row.get(4)?,
        explanation: serde_json::from_str(text).map_err(bad)?,
    })
}

const NOT_COMPUTED: &str = "import transactions to see your scores";
const MISSING: &str = "select scores_missing from insights where user_id = $1";
// A person who moved west may have an observation of a date that has not begun there.
const LATEST: &str =
    "select observed_on, evenkeel, recovery, capacity, baseline, explanation from scores
    where user_id = $1 and observed_on <= $2 order by observed_on desc limit 1";
const BETWEEN: &str =
    "select observed_on, evenkeel, recovery, capacity, baseline, explanation from scores
    where user_id = $1 and observed_on between $2 and $3 order by observed_on";
const SAVE: &str =
    "insert into scores (user_id, observed_on, evenkeel, recovery, capacity, baseline, explanation)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict (user_id, observed_on) do update set
    evenkeel = excluded.evenkeel, recovery = excluded.recovery, capacity = excluded.capacity,
    baseline = excluded.baseline, explanation = excluded.explanation";

pub(super) const STATEMENTS: &[&str] = &[MISSING, LATEST, BETWEEN, SAVE];
