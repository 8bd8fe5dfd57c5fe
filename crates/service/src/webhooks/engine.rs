//! Sending: many at once, bounded for each endpoint and in all, each settled together with others that ended meanwhile.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::EndpointId;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use net::{Failure, Limits, Outgoing};
use tokio::sync::{Notify, mpsc, watch};

use super::claim::{self, Job};
use super::secrets::signature;
use super::settle::{self, Outcome};
use crate::{App, Result};

/// At once to one endpoint: enough to keep a fast one busy, little enough to spare a slow one.
const PER_ENDPOINT: usize = 64;
const IN_ALL: usize = 2_048;
/// Outcomes written in one transaction.
const SETTLED_TOGETHER: usize = 512;
/// How often one looks without being told: another process, or a retry, may have made something due.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    whole: Duration::from_secs(15),
    body_max: 64 * 1_024,
};
/// Of an answer that is shown to whoever keeps the endpoint.
const BODY_KEPT: usize = 1_024;

/// Makes every attempt that is due, and settles them: one step, as tests drive it.
pub async fn deliver_once(app: &App) -> Result<usize> {
    let jobs = claim::claim(app, |_| PER_ENDPOINT, IN_ALL).await?;
    let count = jobs.len();
    let sent: FuturesUnordered<_> = jobs.into_iter().map(|job| attempt(app, job)).collect();
    let outcomes: Vec<Outcome> = sent.collect().await;
    settle::settle(app, outcomes).await?;
    Ok(count)
}

/// Sends until told to stop; what is under way then is finished and settled.
pub async fn run(app: App, mut stop: watch::Receiver<bool>) {
    let busy = Arc::new(Busy::default());
    let (tell, outcomes) = mpsc::channel(4 * SETTLED_TOGETHER);
    let settling = tokio::spawn(settle_all(app.clone(), outcomes));
    let mut commits = app.db.commits();
    loop {
        app.post.news.store(false, Ordering::Release);
        let claimed = claim::claim(&app, |it| busy.room(it), busy.left()).await;
        let claimed = claimed.unwrap_or_else(|error| {
            tracing::warn!(%error, "what is to be sent could not be claimed; it is tried again");
            Vec::new()
        });
        let found = !claimed.is_empty();
        for job in claimed {
            let (app, busy, tell) = (app.clone(), busy.clone(), tell.clone());
            busy.begin(job.to.id);
            tokio::spawn(async move {
                let endpoint = job.to.id;
                let outcome = attempt(&app, job).await;
                // The receiver lives as long as anything is sent.
                let _ = tell.send(outcome).await;
                busy.end(endpoint);
            });
        }
        if *stop.borrow() {
            break;
        }
        if found {
            continue;
        }
        tokio::select! {
            () = until_news(&app, &mut commits) => {}
            () = busy.ended.notified() => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            _ = stop.wait_for(|stopped| *stopped) => break,
        }
    }
    drop(tell);
    if settling.await.is_err() {
        tracing::error!("settling deliveries panicked; they are sent again");
    }
}

async fn until_news(app: &App, commits: &mut watch::Receiver<u64>) {
    loop {
        if app.post.news.load(Ordering::Acquire) {
            return;
        }
        if commits.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

async fn settle_all(app: App, mut outcomes: mpsc::Receiver<Outcome>) {
    let mut batch = Vec::with_capacity(SETTLED_TOGETHER);
    while outcomes.recv_many(&mut batch, SETTLED_TOGETHER).await > 0 {
        // What cannot be settled is sent again after its lease: twice, but never not at all.
        if let Err(error) = settle::settle(&app, std::mem::take(&mut batch)).await {
            tracing::warn!(%error, "deliveries could not be settled; they are sent again");
        }
    }
}

/// How much is under way, by endpoint.
#[derive(Default)]
struct Busy {
    counts: Mutex<HashMap<EndpointId, usize>>,
    ended: Notify,
}

impl Busy {
    fn room(&self, endpoint: EndpointId) -> usize {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        PER_ENDPOINT.saturating_sub(counts.get(&endpoint).copied().unwrap_or(0))
    }

    fn left(&self) -> usize {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        IN_ALL.saturating_sub(counts.values().sum())
    }

    fn begin(&self, endpoint: EndpointId) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(endpoint).or_default() +=
            1;
    }

    fn end(&self, endpoint: EndpointId) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&endpoint) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&endpoint);
            }
        }
        drop(counts);
        self.ended.notify_one();
    }
}

/// One request, and what came of it.
pub(super) async fn attempt(app: &App, job: Job) -> Outcome {
    let at = app.clock.now();
    let id = job.event.to_string();
    let signature = signature(&job.to.secrets, &id, at, &job.body);
    let request = Outgoing::post(job.to.url.clone(), job.body.clone())
        .header("content-type", "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", at.as_second().to_string())
        .header("webhook-signature", signature)
        // Endpoints of different people never share a connection.
        .reusing(job.to.id.to_string());
    let reply = match &app.post.door {
        Some(door) => door.send(request, LIMITS).await,
        None => Err(Failure::Tls),
    };
    let duration_ms = (app.clock.now().as_microsecond() - at.as_microsecond()).max(0) / 1_000;
    let mut outcome = Outcome::new(job, at, duration_ms);
    match reply {
        Ok(reply) => {
            let is_good = (200..300).contains(&reply.status);
            outcome.code = Some(i64::from(reply.status));
            outcome.body = Some(kept(&reply.body));
            outcome.retry_after = reply.header("retry-after").map(str::to_owned);
            outcome.error = reply.flaw().filter(|_| !is_good).map(Failure::word);
            outcome.is_good = is_good;
        }
        Err(failure) => outcome.error = Some(failure.word()),
    }
    outcome
}

/// The beginning, as text that every database keeps.
fn kept(body: &[u8]) -> String {
    let end = body.len().min(BODY_KEPT);
    String::from_utf8_lossy(&body[..end]).replace('\0', "\u{fffd}")
}
