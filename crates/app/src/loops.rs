//! Background loops: each calls one step at an interval, with a time limit. A step that fails or panics is logged and
//! counted, and the loop continues; readiness reports a loop that has stopped.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use service::access::{
    devices, invitations, keys, oauth, oidc, passkeys, password_resets, sessions, sign_ins,
};
use service::ingest::{connections, imports};
use service::ledger::{reference_rates, transactions};
use service::platform::{idempotency, limits, processes};
use service::trading::paper;
use service::{App, actions, backup, insights, mail, retention, webhooks};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// People whose derived data one step recomputes before the loop reports that it is alive.
const PEOPLE_PER_STEP: usize = 50;
/// How long the recompute waits after a change, so that a burst of changes is recomputed once.
const RECOMPUTE_DELAY: Duration = Duration::from_millis(50);
/// The longest rest between two recomputes.
const RECOMPUTE_REST_MAX: Duration = Duration::from_secs(1);
/// Buckets of search text that one step packs; the next step follows a second later.
const BUCKETS_PER_STEP: usize = 2_000;
/// The time limit of a step. A step that takes longer is dropped, and the next one starts.
const STEP_MAX: Duration = Duration::from_secs(60);
/// The time limit of a step that asks providers: they ask banks first, which takes minutes.
const SYNC_STEP_MAX: Duration = Duration::from_secs(900);
/// The time limit of a backup, which is written and read back.
const BACKUP_STEP_MAX: Duration = Duration::from_secs(6 * 3_600);
/// The time limit of a step that sends email, one message after another to a slow server.
const MAIL_STEP_MAX: Duration = Duration::from_secs(900);
/// How late a loop may be on a busy machine before it counts as stopped.
const SLACK: Duration = Duration::from_secs(60);
/// After a panic the next step waits a second, twice as long after each further one, and at most this long.
const BACKOFF_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Loops {
    tasks: JoinSet<()>,
    stop: watch::Receiver<bool>,
}

impl Loops {
    pub(crate) fn new(stop: watch::Receiver<bool>) -> Loops {
        Loops { tasks: JoinSet::new(), stop }
    }

    /// Starts the loops of every server.
    pub(crate) fn start_all(&mut self, app: &App) {
        self.start("renew the process's row", processes::RENEW_SECONDS, app, |app| async move {
            processes::renew_once(&app).await
        });
        self.start("release abandoned idempotency keys", 1, app, |app| async move {
            idempotency::release_abandoned_once(&app).await
        });
        self.start(
            "save key usage",
            5,
            app,
            |app| async move { keys::save_usage_once(&app).await },
        );
        self.start("delete old rate limit counters", 30, app, |app| async move {
            limits::forget_once(&app).await
        });
        let mut is_first = true;
        self.start("queue recomputes for a new day", 60, app, move |app| {
            let is_first = std::mem::take(&mut is_first);
            async move {
                let for_method =
                    if is_first { insights::pipeline::queue_outdated(&app).await? } else { 0 };
                Ok(for_method + insights::pipeline::queue_new_day_once(&app).await?)
            }
        });
        self.start_woken(
            "recompute insights",
            (1, STEP_MAX),
            app,
            change_queued,
            recompute_insights,
        );
        self.start("pack text for search", 1, app, pack_texts);
        self.start("forget sessions", 3_600, app, |app| async move {
            Ok(sessions::forget_once(&app).await? + devices::forget_once(&app).await?)
        });
        self.start("delete expired sign-in data", 300, app, |app| async move {
            let at_the_door = sign_ins::forget_once(&app).await?;
            let unanswered = passkeys::forget_once(&app).await?;
            let unfinished = oidc::forget_once(&app).await?;
            let links =
                invitations::forget_once(&app).await? + password_resets::forget_once(&app).await?;
            Ok(at_the_door + unanswered + unfinished + links)
        });
        self.start("delete expired OAuth tokens", 3_600, app, |app| async move {
            oauth::forget_once(&app).await
        });
        self.start("execute approved actions", 1, app, |app| async move {
            actions::execute_once(&app).await
        });
        self.start(
            "expire proposals",
            5,
            app,
            |app| async move { actions::expire_once(&app).await },
        );
        self.start("book splits and dividends", 900, app, |app| async move {
            paper::settle_once(&app).await
        });
        self.start_connections(app);
        self.start_webhooks(app);
        self.start("delete abandoned staged files", 600, app, |app| async move {
            imports::files::forget_once(&app).await
        });
        self.start("delete old idempotency keys", 600, app, |app| async move {
            idempotency::forget_once(&app).await
        });
        self.start_retention(app);
        if app.sends_mail() {
            self.start_mail(app);
        }
    }

    fn start_mail(&mut self, app: &App) {
        self.start_within("send email", (5, MAIL_STEP_MAX), app, |app| async move {
            mail::send_once(&app).await
        });
        self.start("send alerts", 300, app, |app| async move { mail::alert_once(&app).await });
    }

    fn start_retention(&mut self, app: &App) {
        self.start(
            "delete old data",
            60,
            app,
            |app| async move { retention::sweep_once(&app).await },
        );
        self.start_within(
            "write scheduled backups",
            (60, BACKUP_STEP_MAX),
            app,
            |app| async move { backup::run_once(&app).await },
        );
        self.start("shrink the database file", 600, app, |app| async move {
            retention::shrink_once(&app).await
        });
    }

    fn start_connections(&mut self, app: &App) {
        self.keep_running(connections::SYNC_LOOP, app, connections::run_syncs);
        self.start("fetch exchange rates", 600, app, |app| async move {
            reference_rates::fetch_once(&app).await
        });
        self.start_within(
            "poll bank sign-in results",
            (20, SYNC_STEP_MAX),
            app,
            |app| async move { connections::poll_once(&app).await },
        );
        self.start_woken(
            "end access at providers",
            (60, SYNC_STEP_MAX),
            app,
            |app| async move { connections::revocation_queued(&app).await },
            |app| async move { connections::revoke_once(&app).await },
        );
    }

    fn start_webhooks(&mut self, app: &App) {
        self.keep_running(webhooks::SEND_LOOP, app, |app, stop| {
            webhooks::run(app, webhooks::POLL_INTERVAL, stop)
        });
        self.keep_running(webhooks::REPLAY_LOOP, app, |app, stop| {
            webhooks::run_replays(app, webhooks::POLL_INTERVAL, stop)
        });
        self.start("delete webhook endpoints of revoked keys", 60, app, |app| async move {
            webhooks::disable_ended_once(&app).await
        });
        self.start("disable failing webhook endpoints", 60, app, |app| async move {
            webhooks::disable_failing_once(&app).await
        });
        self.start("delete old events and attempts", 600, app, |app| async move {
            webhooks::delete_expired_once(&app).await
        });
    }

    /// Calls `step` at an interval until the program stops, and lets a running step finish.
    pub(crate) fn start<F, S>(&mut self, name: &'static str, seconds: u64, app: &App, step: F)
    where
        F: FnMut(App) -> S + Send + 'static,
        S: Future<Output = service::Result<usize>> + Send,
    {
        self.start_within(name, (seconds, STEP_MAX), app, step);
    }

    /// Like `start`, with a time limit for each step.
    fn start_within<F, S>(
        &mut self,
        name: &'static str,
        limits: (u64, Duration),
        app: &App,
        step: F,
    ) where
        F: FnMut(App) -> S + Send + 'static,
        S: Future<Output = service::Result<usize>> + Send,
    {
        self.start_woken(name, limits, app, |_| std::future::pending(), step);
    }

    /// Like `start_within`, and calls `step` before the interval is over when `wake` completes.
    fn start_woken<F, S, W>(
        &mut self,
        name: &'static str,
        (seconds, most): (u64, Duration),
        app: &App,
        wake: impl Fn(App) -> W + Send + Sync + 'static,
        mut step: F,
    ) where
        F: FnMut(App) -> S + Send + 'static,
        S: Future<Output = service::Result<usize>> + Send,
        W: Future<Output = ()> + Send,
    {
        let (app, mut stop) = (app.clone(), self.stop.clone());
        let interval = Duration::from_secs(seconds.max(1));
        app.background.start(name, interval + most + SLACK);
        self.tasks.spawn(async move {
            let mut ticks = tokio::time::interval(interval);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = wake(app.clone()) => {}
                    _ = stop.wait_for(|stopped| *stopped) => return,
                }
                // Called inside the block, so that a panic while the step's future is created is caught too.
                let bounded = async { tokio::time::timeout(most, step(app.clone())).await };
                match AssertUnwindSafe(bounded).catch_unwind().await {
                    Ok(Ok(Ok(count))) => {
                        app.background.record_step(name);
                        tracing::debug!(name, count, "background step finished");
                    }
                    Ok(Ok(Err(error))) => {
                        app.background.record_failure(name);
                        let error = crate::sentence(&error.into());
                        tracing::warn!(name, error, "background step failed; it will be retried");
                    }
                    Ok(Err(_)) => {
                        app.background.record_failure(name);
                        tracing::warn!(name, "background step timed out");
                    }
                    Err(_) => back_off(&app, name, &mut stop).await,
                }
            }
        });
    }

    /// Runs a task until the program stops, and restarts it if it ends before.
    fn keep_running<F, R>(&mut self, name: &'static str, app: &App, run: F)
    where
        F: Fn(App, watch::Receiver<bool>) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send,
    {
        let (app, mut stop) = (app.clone(), self.stop.clone());
        app.background.start(name, STEP_MAX + BACKOFF_MAX + SLACK);
        self.tasks.spawn(async move {
            while !*stop.borrow() {
                let running = async { run(app.clone(), stop.clone()).await };
                if AssertUnwindSafe(running).catch_unwind().await.is_err() {
                    back_off(&app, name, &mut stop).await;
                }
            }
        });
    }

    /// Waits until every loop has ended.
    pub(crate) async fn join(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Waits until a change in this process has queued a recompute. Changes of other processes wake those.
async fn change_queued(app: App) {
    app.db.work_queued().await;
    tokio::time::sleep(RECOMPUTE_DELAY).await;
}

async fn recompute_insights(app: App) -> service::Result<usize> {
    let (began, mut done) = (app.clock.now(), 0);
    while done < PEOPLE_PER_STEP && insights::pipeline::run_once(&app).await? > 0 {
        done += 1;
    }
    if done == PEOPLE_PER_STEP {
        app.db.wake_worker();
        return Ok(done);
    }
    // Rests as long as it worked: somebody who changes their data all the time would otherwise keep a core busy.
    let worked = app.clock.now().duration_since(began);
    tokio::time::sleep(worked.unsigned_abs().min(RECOMPUTE_REST_MAX)).await;
    Ok(done)
}

async fn pack_texts(app: App) -> service::Result<usize> {
    let mut packed = 0;
    while packed < BUCKETS_PER_STEP {
        match transactions::index_once(&app).await? {
            0 => break,
            more => packed += more,
        }
    }
    Ok(packed)
}

/// Counts a panic, which the panic hook has logged with its location, and waits before the next step.
async fn back_off(app: &App, name: &'static str, stop: &mut watch::Receiver<bool>) {
    let in_a_row = app.background.record_panic(name);
    let wait = Duration::from_secs(1 << in_a_row.clamp(1, 7).saturating_sub(1)).min(BACKOFF_MAX);
    let seconds = wait.as_secs();
    tracing::error!(name, in_a_row, seconds, "background loop panicked; restarting it");
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        _ = stop.wait_for(|stopped| *stopped) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use testkit::World;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_step_that_panics_is_told_and_tried_again() {
        let world = World::new().await;
        let (stop, stopped) = watch::channel(false);
        let mut loops = Loops::new(stopped);
        // Nothing below uses the database, so the test's clock can jump.
        tokio::time::pause();
        let steps = Arc::new(AtomicUsize::new(0));
        let counted = steps.clone();
        loops.start("count", 1, &world.app, move |_| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            assert!(!(2..6).contains(&number), "a fault in step {number}");
            async { Ok(0) }
        });
        let report = async |until: usize| {
            while steps.load(Ordering::Relaxed) < until {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            world.app.background.report().remove(0)
        };
        assert!(report(2).await.is_alive);
        let dead = report(5).await;
        assert_eq!((dead.is_alive, dead.panics), (false, 3));
        assert_eq!(world.app.background.find_dead(), Some("count"));
        assert!(report(8).await.is_alive, "it was started again by itself");
        stop.send_replace(true);
        loops.join().await;
    }

    #[tokio::test]
    async fn a_step_is_woken_before_its_interval_is_over() {
        let world = World::new().await;
        let (stop, stopped) = watch::channel(false);
        let mut loops = Loops::new(stopped);
        tokio::time::pause();
        let (wake, steps) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let (woken, counted) = (wake.clone(), steps.clone());
        let wait = move |_| {
            let woken = woken.clone();
            async move { woken.notified().await }
        };
        let limits = (86_400, STEP_MAX);
        loops.start_woken("count", limits, &world.app, wait, move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Ok(0) }
        });
        for count in 1..5 {
            // The first step needs no wake. Time jumps only as far as these sleeps.
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(steps.load(Ordering::Relaxed), count);
            wake.notify_one();
        }
        stop.send_replace(true);
        loops.join().await;
    }

    #[tokio::test]
    async fn what_runs_by_itself_is_started_again_until_the_program_stops() {
        let world = World::new().await;
        let (stop, stopped) = watch::channel(false);
        let mut loops = Loops::new(stopped);
        tokio::time::pause();
        let starts = Arc::new(AtomicUsize::new(0));
        let counted = starts.clone();
        loops.keep_running("run", &world.app, move |app, mut stop| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            async move {
                app.background.record_step("run");
                assert!(number > 2, "a fault in start {number}");
                let _ = stop.wait_for(|stopped| *stopped).await;
            }
        });
        while starts.load(Ordering::Relaxed) < 4 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(world.app.background.report()[0].panics, 3);
        stop.send_replace(true);
        loops.join().await;
    }
}
