//! Runs a household through the product: imports it into its own database, computes the insights, and reads them back.

use std::collections::{BTreeMap, HashMap};

use anyhow::Context as _;
use base::category::Category;
use base::{Clock, Date, TimeZone, TransactionId};
use calc::enrich::CategorySource;
use calc::income::Window;
use calc::recurring::Frequency;
use calc::transfers::TransferKind;
use db::params;
use service::access::users::{self, NewUser};
use service::classify::transfers;
use service::ingest::imports;
use service::insights;
use service::insights::{income, recurring};

use super::case::Case;

/// The product's results. Rows are indices into `Case::rows`.
pub(super) struct Answer {
    /// None if the import left the row out.
    pub(super) rows: Vec<Option<RowAnswer>>,
    pub(super) streams: Vec<Stream>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) income: (Window, i64),
}

#[derive(Debug, Clone)]
pub(super) struct RowAnswer {
    pub(super) key: String,
    pub(super) category: Option<Category>,
    pub(super) stage: CategorySource,
}

#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) rows: Vec<usize>,
    pub(super) name: String,
    pub(super) frequency: Frequency,
    pub(super) next_on: Option<Date>,
}

#[derive(Debug, Clone)]
pub(super) struct Transfer {
    pub(super) outflow: usize,
    pub(super) inflow: usize,
    /// False if it is only suggested.
    pub(super) paired: bool,
    pub(super) kind: TransferKind,
}

pub(super) async fn run_case(case: &Case) -> anyhow::Result<Answer> {
    let folder = tempfile::tempdir().context("a folder for the database")?;
    let database = folder.path().join("quality.db");
    let clock = Clock::frozen_at(&case.as_of.to_string());
    let app = crate::open_at(&database.display().to_string(), clock).await?;
    let person = NewUser {
        email: "person@example.com".to_owned(),
        preferred_name: None,
        base_currency: case.currency,
        timezone: TimeZone::utc(),
        password: None,
    };
    let caller = users::create(&app, person).await?.owner();
    for statement in case.statements.clone() {
        imports::commit(&app, &caller, statement).await?;
    }
    insights::pipeline::run_all(&app).await?;

    let indices: BTreeMap<&(String, String), usize> =
        case.rows.iter().map(|it| &it.name).zip(0..).collect();
    let mut rows: Vec<Option<RowAnswer>> = vec![None; case.rows.len()];
    let mut ids: HashMap<TransactionId, usize> = HashMap::new();
    app.db
        .each(ROWS, params![caller.user], |row| {
            let name: (String, String) = (row.get(0)?, row.get(1)?);
            let Some(index) = indices.get(&name) else { return Ok(()) };
            let category: Option<&str> = row.get(3)?;
            let stage: Option<&str> = row.get(4)?;
            ids.insert(row.get(2)?, *index);
            rows[*index] = Some(RowAnswer {
                key: row.get::<Option<String>>(5)?.unwrap_or_default(),
                category: category.and_then(Category::parse),
                stage: stage.and_then(CategorySource::parse).unwrap_or(CategorySource::None),
            });
            Ok(())
        })
        .await?;

    let all = recurring::Filter { status: None, account_id: None, direction: None };
    let listed = recurring::list(&app, &caller, all).await?;
    let streams = listed.streams.into_iter().map(|(it, _)| Stream {
        rows: it.transactions.iter().filter_map(|id| ids.get(id).copied()).collect(),
        name: it.name,
        frequency: it.frequency,
        next_on: it.next_expected_on,
    });
    let transfers = transfers::list(&app, &caller).await?.into_iter().filter_map(|it| {
        let (outflow, inflow) = (*ids.get(&it.outflow)?, *ids.get(&it.inflow)?);
        Some(Transfer { outflow, inflow, paired: it.paired, kind: it.kind })
    });
    let report = income::analyze(&app, &caller).await?;
    let analyzed = &report.income;
    Ok(Answer {
        rows,
        streams: streams.collect(),
        transfers: transfers.collect(),
        income: (analyzed.window.clone(), analyzed.monthly_income_minor),
    })
}

const ROWS: &str =
    "select a.external_id, t.external_id, t.id, t.category, t.category_stage, t.merchant_key
    from transactions t join accounts a on a.user_id = t.user_id and a.id = t.account_id
    where t.user_id = $1 and t.state <> 'removed'";
