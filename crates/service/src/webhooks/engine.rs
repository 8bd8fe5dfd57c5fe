//! Sending: many at once, each settled together with others that ended meanwhile.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use net::{Failure, Limits, Outgoing};
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use super::claim::{self, Job};
use super::seats::{IN_ALL, PER_ENDPOINT, Ride};
use super::settle::{self, Outcome};
use super::signatures::signature;
use crate::{App, Result};

/// Outcomes written in one transaction.
const SETTLED_TOGETHER: usize = 512;
/// So long outcomes wait for others to be written with, while there are few.
const GATHERED_FOR: Duration = Duration::from_millis(50);
const RETURNED_TOGETHER: usize = 4_096;
/// Who was in line for longer lets others take it: an attempt must end before its lease does.
const SETS_OUT_BEFORE_END: i64 = 20 * 1_000_000;
/// How often one looks without being told: a retry may be due, or another process may have gone.
pub const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The name of the loop that sends, among the background loops of this process.
pub const SEND_LOOP: &str = "send webhooks";

const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    whole: Duration::from_secs(15),
    body_max: 64 * 1_024,
};
/// Of an answer that is shown to whoever keeps the endpoint.
const BODY_KEPT: usize = 1_024;

/// Makes every attempt that is due, and settles them: one step, as tests drive it.
pub async fn deliver_once(app: &App) -> Result<usize> {
    let batches = claim::claim(app, |_| PER_ENDPOINT, IN_ALL).await?;
    let jobs = batches.into_iter().flat_map(|it| {
        let until = it.until;
        it.jobs.into_iter().map(move |job| attempt_leased(app, job, until))
    });
    let sent: FuturesUnordered<_> = jobs.collect();
    let count = sent.len();
    let outcomes: Vec<Outcome> = sent.collect().await;
    settle::settle(app, outcomes).await?;
    Ok(count)
}

/// Sends until told to stop; what is under way then is finished and settled. What this process writes is handed over
/// with its commit; whatever else is due is claimed when somebody tells of it, and looked for every so often.
pub async fn run(app: App, look_again: Duration, mut stop: watch::Receiver<bool>) {
    let (tell, outcomes) = mpsc::channel(4 * SETTLED_TOGETHER);
    let (give_back, given_back) = mpsc::unbounded_channel();
    let ends = Ends { tell, give_back };
    let settling = tokio::spawn(settle_all(app.clone(), outcomes));
    let returning = tokio::spawn(return_all(app.clone(), given_back));
    let mut rides = app.post.seats.open();
    let riding = async {
        while let Some(ride) = rides.recv().await {
            set_out(&app, ride, &ends);
        }
    };
    let claiming = async {
        keep_claiming(&app, look_again, &ends, &mut stop).await;
        app.post.seats.close();
    };
    tokio::join!(riding, claiming);
    drop(ends);
    let _ = tokio::join!(settling, returning);
}

/// A panic in one batch costs that batch, whose deliveries are sent again after their lease, and not all that follow.
async fn without_panic(work: impl Future<Output = Result<()>>) -> Result<()> {
    let panicked = |_| Err(crate::Error::internal("a batch of deliveries panicked"));
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(panicked)
}

/// What becomes of a ride: an outcome, or nothing, because it never set out.
#[derive(Clone)]
struct Ends {
    tell: mpsc::Sender<Outcome>,
    give_back: mpsc::UnboundedSender<(Job, i64)>,
}

async fn keep_claiming(
    app: &App,
    look_again: Duration,
    ends: &Ends,
    stop: &mut watch::Receiver<bool>,
) {
    let mut told = app.db.listen();
    let mut looks = tokio::time::interval(look_again);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = app.post.seats.wanted() => {}
            () = until_told(&mut told) => {}
            _ = looks.tick() => {}
            _ = stop.wait_for(|stopped| *stopped) => return,
        }
        app.background.note_step(SEND_LOOP);
        claim_all(app, ends).await;
    }
}

/// Another process may have written something.
async fn until_told(told: &mut watch::Receiver<u64>) {
    if told.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn claim_all(app: &App, ends: &Ends) {
    let seats = &app.post.seats;
    let recalls = seats.recalls();
    let claimed = claim::claim(app, |it| seats.room(it), seats.left()).await;
    let claimed = claimed.unwrap_or_else(|error| {
        tracing::warn!(%error, "what is to be sent could not be claimed; it is tried again");
        Vec::new()
    });
    for batch in claimed {
        for job in batch.jobs {
            match seats.take(batch.endpoint, recalls) {
                Some(seat) => set_out(app, Ride { job, seat, until: batch.until }, ends),
                None => drop(ends.give_back.send((job, batch.until))),
            }
        }
        seats.mark(batch.endpoint, batch.is_behind);
    }
}

fn set_out(app: &App, Ride { job, seat, until }: Ride, ends: &Ends) {
    let (app, ends) = (app.clone(), ends.clone());
    tokio::spawn(async move {
        // The receivers live as long as anything is sent.
        let Some(way) = seat.way().await else {
            let _ = ends.give_back.send((job, until));
            return;
        };
        let left = until - app.clock.now().as_microsecond();
        if left < SETS_OUT_BEFORE_END {
            return;
        }
        // Boxed, so that those in line take little room.
        let outcome = Box::pin(attempt_leased(&app, job, until)).await;
        let is_good = outcome.is_good;
        let _ = ends.tell.send(outcome).await;
        seat.finish(way, claim::LEASE - left, is_good);
    });
}

/// What stood in line when this process stopped, or the line was recalled, is for whoever looks next, and at once.
async fn return_all(app: App, mut given_back: mpsc::UnboundedReceiver<(Job, i64)>) {
    let mut batch = Vec::new();
    while given_back.recv_many(&mut batch, RETURNED_TOGETHER).await > 0 {
        let given_back = claim::give_back(&app, std::mem::take(&mut batch));
        if let Err(error) = without_panic(given_back).await {
            tracing::warn!(%error, "deliveries could not be given back; they are sent later");
        }
        app.post.seats.want();
    }
}

async fn settle_all(app: App, mut outcomes: mpsc::Receiver<Outcome>) {
    let mut batch = Vec::with_capacity(SETTLED_TOGETHER);
    while outcomes.recv_many(&mut batch, SETTLED_TOGETHER).await > 0 {
        let gathering = async {
            while batch.len() < SETTLED_TOGETHER {
                let room = SETTLED_TOGETHER - batch.len();
                if outcomes.recv_many(&mut batch, room).await == 0 {
                    return;
                }
            }
        };
        // Too late is as good as enough.
        let _ = tokio::time::timeout(GATHERED_FOR, gathering).await;
        // What cannot be settled is sent again after its lease: twice, but never not at all.
        let settled = settle::settle(&app, std::mem::take(&mut batch));
        if let Err(error) = without_panic(settled).await {
            tracing::warn!(%error, "deliveries could not be settled; they are sent again");
        }
    }
}

/// One request for a claimed delivery, to be settled under the lease of the claim.
async fn attempt_leased(app: &App, job: Job, until: i64) -> Outcome {
    Outcome { leased_until: Some(until), ..attempt(app, job).await }
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
