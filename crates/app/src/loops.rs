//! Background loops: each calls one step on an interval, with a bound, and logs what goes wrong.

use std::future::Future;
use std::time::Duration;

use service::{
    App, actions, connections, idempotency, imports, insights, invitations, keys, limits, oauth,
    paper, passkeys, sessions, sign_ins, webhooks,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// People whose figures one step works out; the next step comes a second later.
const PEOPLE_A_STEP: usize = 50;
/// A step that takes longer is given up; the next one starts afresh.
const STEP_MAX: Duration = Duration::from_secs(60);
/// Servers that are asked for accounts may take minutes, because they ask banks first.
const ASKING_MAX: Duration = Duration::from_secs(900);

pub(crate) struct Loops {
    tasks: JoinSet<()>,
    stop: watch::Receiver<bool>,
}

impl Loops {
    pub(crate) fn new(stop: watch::Receiver<bool>) -> Loops {
        Loops { tasks: JoinSet::new(), stop }
    }

    /// The loops of every server.
    pub(crate) fn start_all(&mut self, app: &App) {
        self.start(
            "save key usage",
            5,
            app,
            |app| async move { keys::save_usage_once(&app).await },
        );
        self.start("forget request marks", 30, app, |app| async move {
            limits::forget_once(&app).await
        });
        let mut is_first = true;
        self.start("wake for a new day", 60, app, move |app| {
            let is_first = std::mem::take(&mut is_first);
            async move {
                let for_method = if is_first { insights::wake_for_method(&app).await? } else { 0 };
                Ok(for_method + insights::wake_once(&app).await?)
            }
        });
        self.start("work out insights", 1, app, |app| async move {
            let mut done = 0;
            while done < PEOPLE_A_STEP && insights::run_once(&app).await? > 0 {
                done += 1;
            }
            Ok(done)
        });
        self.start("forget sessions", 3_600, app, |app| async move {
            sessions::forget_once(&app).await
        });
        self.start("forget what was left at the door", 300, app, |app| async move {
            let at_the_door = sign_ins::forget_once(&app).await?;
            let unanswered = passkeys::forget_once(&app).await?;
            Ok(at_the_door + unanswered + invitations::forget_once(&app).await?)
        });
        self.start("forget what apps no longer hold", 3_600, app, |app| async move {
            oauth::forget_once(&app).await
        });
        self.start("carry out what was approved", 1, app, |app| async move {
            actions::execute_once(&app).await
        });
        self.start("let proposals expire", 5, app, |app| async move {
            actions::expire_once(&app).await
        });
        self.start("book splits and dividends", 900, app, |app| async move {
            paper::settle_once(&app).await
        });
        self.start_within("ask connections", (60, ASKING_MAX), app, |app| async move {
            connections::sync_once(&app).await
        });
        self.tasks.spawn(webhooks::run(app.clone(), webhooks::LOOK_AGAIN, self.stop.clone()));
        let replays = webhooks::run_replays(app.clone(), webhooks::LOOK_AGAIN, self.stop.clone());
        self.tasks.spawn(replays);
        self.start("end webhooks whose key has ended", 60, app, |app| async move {
            webhooks::end_once(&app).await
        });
        self.start("forget old events and attempts", 600, app, |app| async move {
            webhooks::forget_once(&app).await
        });
        self.start("forget files that nobody came back for", 600, app, |app| async move {
            imports::files::forget_once(&app).await
        });
        self.start("forget idempotency keys", 600, app, |app| async move {
            idempotency::forget_once(&app).await
        });
    }

    /// Calls `step` every so many seconds until the program stops; a step under way is finished.
    pub(crate) fn start<F, S>(&mut self, name: &'static str, seconds: u64, app: &App, step: F)
    where
        F: FnMut(App) -> S + Send + 'static,
        S: Future<Output = service::Result<usize>> + Send,
    {
        self.start_within(name, (seconds, STEP_MAX), app, step);
    }

    /// The same for steps that may take so long.
    fn start_within<F, S>(
        &mut self,
        name: &'static str,
        (seconds, most): (u64, Duration),
        app: &App,
        mut step: F,
    ) where
        F: FnMut(App) -> S + Send + 'static,
        S: Future<Output = service::Result<usize>> + Send,
    {
        let (app, mut stop) = (app.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_secs(seconds.max(1)));
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    _ = stop.wait_for(|stopped| *stopped) => return,
                }
                match tokio::time::timeout(most, step(app.clone())).await {
                    Ok(Ok(count)) => tracing::debug!(name, count, "a background step is done"),
                    Ok(Err(error)) => {
                        let error = crate::sentence(&error.into());
                        tracing::warn!(name, error, "a background step failed; it is tried again");
                    }
                    Err(_) => tracing::warn!(name, "a background step took too long"),
                }
            }
        });
    }

    /// Waits until every loop has ended.
    pub(crate) async fn join(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}
