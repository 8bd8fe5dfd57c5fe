//! The figures of spending that this process keeps: computing one reads the cash flows of its months.

use std::future::Future;

use wire::v1;

use super::Months;
use super::history::{History, MoneyFlow};
use crate::insights::income::is_limited;
use crate::insights::income_reports::Version;
use crate::platform::kept::Kept;
use crate::{App, Caller, Result};

/// The figures of a key can have some hundred groups, about 100 KB.
const FIGURES_MAX: usize = 200;

#[derive(Default)]
pub(crate) struct KeptSpending {
    pub(super) spending: Kept<Version, v1::Spending, FIGURES_MAX>,
    pub(super) months: Kept<Version, Months, FIGURES_MAX>,
    pub(super) histories: Kept<Version, History, FIGURES_MAX>,
    pub(super) flows: Kept<Version, MoneyFlow, FIGURES_MAX>,
}

/// Returns the kept figure of what was asked for, or computes and keeps it. A caller who sees only some accounts gets no
/// kept figures.
pub(super) async fn find_or<T: Clone>(
    app: &App,
    caller: &Caller,
    kept: &Kept<Version, T, FIGURES_MAX>,
    asked: String,
    compute: impl Future<Output = Result<T>>,
) -> Result<T> {
    let version = match is_limited(caller) {
        true => None,
        false => Version::get(app, caller.user).await?,
    };
    let Some(version) = version else { return compute.await };
    let key = (caller.user, asked);
    if let Some(figure) = kept.find(&key, version) {
        return Ok(figure);
    }
    let figure = compute.await?;
    kept.insert(key, version, &figure);
    Ok(figure)
}
