//! Metrics of this process, and figures of the whole installation, which every process reports alike.

use std::time::Duration;

use base::Timestamp;
use base::metrics::MetricFamily;
use tokio::sync::Mutex;

use crate::ingest::connections;
use crate::insights::pipeline;
use crate::platform::background::LoopReport;
use crate::platform::mail_queue;
use crate::{App, Result, actions, backup};

/// Figures are read from the database at most this often.
const KEPT_MICROSECONDS: i64 = 5_000_000;
/// How long reading them may take. A scraper that gets no answer would miss everything else, too.
const READ_MAX: Duration = Duration::from_secs(3);

/// The figures that were read last.
#[derive(Default)]
pub(crate) struct Figures(Mutex<Option<(Timestamp, Vec<MetricFamily>)>>);

/// Every family of metrics, also those that have counted nothing yet.
pub async fn collect(app: &App) -> Vec<MetricFamily> {
    let build = [("version", env!("CARGO_PKG_VERSION")), ("engine", app.db.engine().as_str())];
    let mut all = vec![
        MetricFamily::gauge("build_info", "The version of the program and its database engine")
            .with(&build, 1_i64),
    ];
    all.extend(app.meters.families(app.webhooks.lost_leases()));
    all.extend(app.webhooks.metrics());
    all.push(app.tracer.metrics());
    all.extend(app.db.metrics());
    all.extend(background(&app.background.report()));
    all.extend(disk(app));
    all.extend(figures(app).await);
    all
}

fn background(loops: &[LoopReport]) -> Vec<MetricFamily> {
    let mut alive = MetricFamily::gauge("background_alive", "Whether a background loop is running");
    let mut failures = MetricFamily::counter("background_failures", "Background steps that failed");
    let mut panics = MetricFamily::counter("background_panics", "Background steps that panicked");
    for it in loops {
        let labels = [("loop", it.name)];
        alive.add(&labels, i64::from(it.is_alive));
        failures.add(&labels, it.failures);
        panics.add(&labels, it.panics);
    }
    vec![alive, failures, panics]
}

/// The disk of a SQLite file.
fn disk(app: &App) -> Vec<MetricFamily> {
    let mut free = MetricFamily::gauge("disk_free_bytes", "Free space on the disk of the database");
    let mut least = MetricFamily::gauge(
        "disk_free_min_bytes",
        "Free space below which the server is not ready",
    );
    if let Some(disk) = app.readiness.disk() {
        least.add(&[], disk.free_bytes_min);
        if let Some(bytes) = db::free_bytes(&disk.folder) {
            free.add(&[], bytes);
        }
    }
    vec![free, least]
}

/// Figures from the database: read by one scrape at a time, and kept for some seconds.
async fn figures(app: &App) -> Vec<MetricFamily> {
    let mut kept = app.figures.0.lock().await;
    let now = app.clock.now();
    if let Some((read_at, families)) = &*kept
        && (0..KEPT_MICROSECONDS).contains(&(now.as_microsecond() - read_at.as_microsecond()))
    {
        return families.clone();
    }
    let up = |is_up: bool| {
        MetricFamily::gauge("database_up", "Whether the database answered the figures in time")
            .with(&[], i64::from(is_up))
    };
    let families = match tokio::time::timeout(READ_MAX, read(app)).await {
        Ok(Ok(mut families)) => {
            families.push(up(true));
            families
        }
        Ok(Err(error)) => {
            tracing::warn!(error = error.with_causes(), "metrics could not be read");
            vec![up(false)]
        }
        Err(_) => {
            tracing::warn!("metrics could not be read in time");
            vec![up(false)]
        }
    };
    *kept = Some((now, families.clone()));
    families
}

async fn read(app: &App) -> Result<Vec<MetricFamily>> {
    let mut all = app.webhooks.figures().await?;
    all.push(actions::figures(app).await?);
    all.extend(connections::figures(app).await?);
    all.extend(pipeline::figures(app).await?);
    all.extend(mail_queue::figures(app).await?);
    all.extend(backup::figures(app).await);
    Ok(all)
}
