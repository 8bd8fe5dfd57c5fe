//! The figures of spending that this process keeps: computing one reads the cash flows of its months.

use std::future::Future;

use super::income_reports::Version;
use crate::platform::kept::Kept;
use crate::{App, Caller, Result};

/// A figure can have some hundred groups, about 100 KB.
const FIGURES_MAX: usize = 200;

pub(crate) type KeptFigures<T> = Kept<Version, T, FIGURES_MAX>;

/// Returns the kept figure of what was asked for, or computes and keeps it. A caller who sees only some accounts gets no
/// kept figures.
pub(super) async fn find_or<T: Clone>(
    app: &App,
    caller: &Caller,
    kept: &KeptFigures<T>,
    asked: String,
    compute: impl Future<Output = Result<T>>,
) -> Result<T> {
    let version = match caller.limited_to() {
        Some(_) => None,
        None => Version::get(app, caller.user).await?,
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
