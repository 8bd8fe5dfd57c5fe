//! The sending loop: many requests in flight at once, their results written in batches.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use base::EndpointId;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use crate::claim;
use crate::context::Webhooks;
use crate::delivery::{Delivery, LEASE, Lease};
use crate::error::{Error, Result};
use crate::limiter::{DispatchedDelivery, IN_FLIGHT_MAX, IN_FLIGHT_PER_ENDPOINT_MAX};
use crate::outcome::Outcome;
use crate::send::send;
use crate::settle::settle;
use crate::version_check::VersionCheck;

/// Outcomes written in one transaction.
const SETTLE_BATCH: usize = 512;
/// How long a small batch of outcomes waits for more before it is written.
const SETTLE_DELAY: Duration = Duration::from_millis(50);
/// Released deliveries written in one transaction.
const RELEASE_BATCH: usize = 4_096;
/// A request starts only while its lease lasts this much longer, in microseconds: the attempt must end before the
/// lease.
const LEASE_LEFT_MIN: i64 = 20 * 1_000_000;
/// How often to look for due deliveries without a notification: a retry may be due, or another process may have died.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Sends every delivery that is due and writes the results: one step, as tests drive it.
pub async fn deliver_once(webhooks: &Webhooks) -> Result<usize> {
    let batches = claim::claim(webhooks, |_| IN_FLIGHT_PER_ENDPOINT_MAX, IN_FLIGHT_MAX).await?;
    let requests = batches.into_iter().flat_map(|batch| {
        let lease = batch.lease;
        batch.deliveries.into_iter().map(move |it| send_leased(webhooks, it, lease))
    });
    let sent: FuturesUnordered<_> = requests.collect();
    let count = sent.len();
    let outcomes: Vec<Outcome> = sent.collect().await;
    settle(webhooks, outcomes).await?;
    Ok(count)
}

/// Sends deliveries until `stop` is set; requests in flight then end and are settled. Deliveries that this process
/// writes are dispatched by their commit; all others are claimed after a notification, or by polling. `on_step` is
/// called before each claim.
pub async fn run(
    webhooks: Webhooks,
    poll_interval: Duration,
    on_step: impl Fn() + Send + Sync,
    mut stop: watch::Receiver<bool>,
) {
    let (settle, outcomes) = mpsc::channel(4 * SETTLE_BATCH);
    let (release, released) = mpsc::unbounded_channel();
    let results = Results { settle, release };
    let settling = tokio::spawn(settle_all(webhooks.clone(), outcomes));
    let releasing = tokio::spawn(release_all(webhooks.clone(), released));
    let mut dispatched = webhooks.limiter.start_sending();
    let sending = async {
        while let Some(it) = dispatched.recv().await {
            spawn_send(&webhooks, it, &results);
        }
    };
    let claiming = async {
        keep_claiming(&webhooks, poll_interval, &on_step, &results, &mut stop).await;
        webhooks.limiter.stop_sending();
    };
    tokio::join!(sending, claiming);
    drop(results);
    let _ = tokio::join!(settling, releasing);
}

/// Turns a panic into an error, so that it costs only its batch, whose deliveries are sent again after their lease.
async fn catch_panic(work: impl Future<Output = Result<()>>) -> Result<()> {
    let panicked = |_| Err(Error::internal("a batch of deliveries panicked"));
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(panicked)
}

/// The channels for dispatched deliveries that are finished: with an outcome to settle, or released unsent.
#[derive(Clone)]
struct Results {
    settle: mpsc::Sender<Outcome>,
    release: mpsc::UnboundedSender<(Delivery, Lease)>,
}

async fn keep_claiming(
    webhooks: &Webhooks,
    poll_interval: Duration,
    on_step: &(impl Fn() + Send + Sync),
    results: &Results,
    stop: &mut watch::Receiver<bool>,
) {
    let limiter = webhooks.limiter.clone();
    let mut notifications = webhooks.db.listen(move |changed| {
        // Another process changed an endpoint; any other text only says that there is work.
        if let Ok(endpoint) = EndpointId::parse(changed) {
            limiter.invalidate(endpoint);
        }
    });
    let mut poll = tokio::time::interval(poll_interval);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = webhooks.limiter.claim_requested() => {}
            () = next_notification(&mut notifications) => {}
            _ = poll.tick() => {}
            _ = stop.wait_for(|stopped| *stopped) => return,
        }
        on_step();
        claim_all(webhooks, results).await;
    }
}

/// Waits for a notification that another process wrote deliveries.
async fn next_notification(notifications: &mut watch::Receiver<u64>) {
    if notifications.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn claim_all(webhooks: &Webhooks, results: &Results) {
    let limiter = &webhooks.limiter;
    let generation = limiter.generation();
    let claimed = claim::claim(webhooks, |it| limiter.claimable(it), limiter.free_slots()).await;
    let claimed = claimed.unwrap_or_else(|error| {
        tracing::warn!(%error, "webhook deliveries could not be claimed; trying again");
        Vec::new()
    });
    for batch in claimed {
        let lease = batch.lease;
        for delivery in batch.deliveries {
            match limiter.reserve_claimed(batch.endpoint, generation) {
                Some(slot) => {
                    spawn_send(webhooks, DispatchedDelivery { delivery, slot, lease }, results);
                }
                None => drop(results.release.send((delivery, lease))),
            }
        }
        limiter.set_backlog(batch.endpoint, batch.has_more);
    }
}

fn spawn_send(webhooks: &Webhooks, dispatched: DispatchedDelivery, results: &Results) {
    let DispatchedDelivery { delivery, slot, lease } = dispatched;
    let (webhooks, results) = (webhooks.clone(), results.clone());
    tokio::spawn(async move {
        // Sending to these channels cannot fail: their receivers outlive every delivery.
        let Some(permit) = slot.wait_for_permit().await else {
            let _ = results.release.send((delivery, lease));
            return;
        };
        // Boxed, so that queued deliveries take little memory.
        match Box::pin(webhooks.version_checks.check(&webhooks.db, &delivery.to)).await {
            VersionCheck::Current => {}
            VersionCheck::Changed => {
                webhooks.limiter.invalidate_version(delivery.to.id, delivery.to.version);
                let _ = results.release.send((delivery, lease));
                return;
            }
            // It is sent after its lease.
            VersionCheck::Unknown => return,
        }
        let waited = lease.age(&webhooks.clock);
        if LEASE - waited < LEASE_LEFT_MIN {
            return;
        }
        let outcome = Box::pin(send_leased(&webhooks, delivery, lease)).await;
        let is_success = outcome.is_success;
        let _ = results.settle.send(outcome).await;
        slot.finish(permit, waited, is_success);
    });
}

/// Writes released deliveries back, so that any process can claim them at once. They were queued when this process
/// stopped, or their queue was invalidated.
async fn release_all(webhooks: Webhooks, mut released: mpsc::UnboundedReceiver<(Delivery, Lease)>) {
    let mut batch = Vec::new();
    while released.recv_many(&mut batch, RELEASE_BATCH).await > 0 {
        let release = claim::release(&webhooks, std::mem::take(&mut batch));
        if let Err(error) = catch_panic(release).await {
            tracing::warn!(
                %error,
                "webhook deliveries could not be released; they are sent after their lease"
            );
        }
        webhooks.limiter.request_claim();
    }
}

async fn settle_all(webhooks: Webhooks, mut outcomes: mpsc::Receiver<Outcome>) {
    let mut batch = Vec::with_capacity(SETTLE_BATCH);
    while outcomes.recv_many(&mut batch, SETTLE_BATCH).await > 0 {
        let fill = async {
            while batch.len() < SETTLE_BATCH {
                let free = SETTLE_BATCH - batch.len();
                if outcomes.recv_many(&mut batch, free).await == 0 {
                    return;
                }
            }
        };
        // A batch that is not full in time is written as it is.
        let _ = tokio::time::timeout(SETTLE_DELAY, fill).await;
        // An outcome that cannot be written is sent again after its lease: at least once.
        let settled = settle(&webhooks, std::mem::take(&mut batch));
        if let Err(error) = catch_panic(settled).await {
            tracing::warn!(
                %error,
                "webhook deliveries could not be settled; they are sent again after their lease"
            );
        }
    }
}

/// Sends a claimed delivery. Its outcome is settled under the lease of the claim.
async fn send_leased(webhooks: &Webhooks, delivery: Delivery, lease: Lease) -> Outcome {
    Outcome { leased_until: Some(lease.until), ..send(webhooks, delivery).await }
}
