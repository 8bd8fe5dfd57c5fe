//! Metrics that capabilities count while they work. `crate::metrics` reports them.

use std::time::Instant;

use base::metrics::{ByLabel, Counter, Histogram, MetricFamily};

/// The outcomes of an attempt to send an email: a `retrying` one is tried again later, the mail server refused a `refused` one
/// for good, and a `dropped` one was too old to try again.
const EMAIL_OUTCOMES: [&str; 4] = ["sent", "retrying", "refused", "dropped"];

/// The counters and histograms of this process. Labels are words of the program, never ids or names.
pub struct Meters {
    /// By what was limited.
    rate_limited: ByLabel<&'static str, Counter>,
    /// By the kind of credential.
    failed_authentications: ByLabel<&'static str, Counter>,
    /// By decision and kind of action.
    decisions: ByLabel<(&'static str, &'static str), Histogram>,
    /// By outcome and kind of action.
    executions: ByLabel<(&'static str, &'static str), Counter>,
    /// By provider and outcome.
    syncs: ByLabel<(&'static str, &'static str), Histogram>,
    /// By provider and reason.
    sync_failures: ByLabel<(&'static str, &'static str), Counter>,
    insight_steps: ByLabel<&'static str, Histogram>,
    /// By format and outcome.
    imports: ByLabel<(&'static str, &'static str), Histogram>,
    /// By format and outcome.
    import_rows: ByLabel<(&'static str, &'static str), Counter>,
    /// By what was leased.
    lost_leases: ByLabel<&'static str, Counter>,
    /// By outcome.
    emails: ByLabel<&'static str, Counter>,
}

impl Default for Meters {
    fn default() -> Meters {
        let lost_leases = ByLabel::<&'static str, Counter>::default();
        // Alerts compare with the count before, so the first loss must not be the first count.
        for of in ["idempotency_key", "import", "sync"] {
            lost_leases.with(&of, |_| {});
        }
        let emails = ByLabel::<&'static str, Counter>::default();
        for outcome in EMAIL_OUTCOMES {
            emails.with(&outcome, |_| {});
        }
        Meters {
            rate_limited: ByLabel::default(),
            failed_authentications: ByLabel::default(),
            decisions: ByLabel::new(Histogram::long),
            executions: ByLabel::default(),
            syncs: ByLabel::new(Histogram::short),
            sync_failures: ByLabel::default(),
            insight_steps: ByLabel::new(Histogram::short),
            imports: ByLabel::new(Histogram::short),
            import_rows: ByLabel::default(),
            lost_leases,
            emails,
        }
    }
}

impl Meters {
    /// Counts something that was refused because there was too much of it.
    pub fn count_rate_limited(&self, limit: &'static str) {
        self.rate_limited.with(&limit, Counter::increment);
    }

    pub fn count_failed_authentication(&self, credential: &'static str) {
        self.failed_authentications.with(&credential, Counter::increment);
    }

    pub(crate) fn count_decision(
        &self,
        decision: &'static str,
        kind: &'static str,
        microseconds: i64,
    ) {
        self.decisions.with(&(decision, kind), |it| it.observe_microseconds(microseconds));
    }

    pub(crate) fn count_execution(&self, outcome: &'static str, kind: &'static str) {
        self.executions.with(&(outcome, kind), Counter::increment);
    }

    pub(crate) fn count_sync(
        &self,
        provider: &'static str,
        failure: Option<&'static str>,
        microseconds: i64,
    ) {
        let outcome = if failure.is_some() { "failed" } else { "succeeded" };
        self.syncs.with(&(provider, outcome), |it| it.observe_microseconds(microseconds));
        if let Some(reason) = failure {
            self.count_sync_failure(provider, reason);
        }
    }

    pub(crate) fn count_sync_failure(&self, provider: &'static str, reason: &'static str) {
        self.sync_failures.with(&(provider, reason), Counter::increment);
    }

    pub(crate) fn count_import(
        &self,
        format: &'static str,
        outcome: &'static str,
        microseconds: i64,
    ) {
        self.imports.with(&(format, outcome), |it| it.observe_microseconds(microseconds));
    }

    pub(crate) fn count_import_rows(&self, format: &'static str, rows: &[(&'static str, usize)]) {
        for (outcome, count) in rows.iter().filter(|it| it.1 > 0) {
            self.import_rows.with(&(format, *outcome), |it| it.add(*count as u64));
        }
    }

    /// Counts work whose outcome was dropped, because another process had taken over its lease.
    pub(crate) fn count_lost_lease(&self, of: &'static str) {
        self.lost_leases.with(&of, Counter::increment);
    }

    /// Counts an attempt to send an email, by one of `EMAIL_OUTCOMES`.
    pub(crate) fn count_email(&self, outcome: &'static str) {
        self.emails.with(&outcome, Counter::increment);
    }

    pub(crate) fn families(&self, lost_deliveries: u64) -> Vec<MetricFamily> {
        let one = |it: &&'static str| [(*it).to_owned()];
        let two = |it: &(&'static str, &'static str)| [it.0.to_owned(), it.1.to_owned()];
        vec![
            MetricFamily::counter("rate_limited", "What was refused by a limit, by limit")
                .with_all(["limit"], &self.rate_limited, one),
            MetricFamily::counter(
                "failed_authentications",
                "Authentications that failed, by credential",
            )
            .with_all(["credential"], &self.failed_authentications, one),
            MetricFamily::histogram(
                "action_decision_seconds",
                "Time from a proposal to its decision",
            )
            .with_all(["decision", "kind"], &self.decisions, two),
            MetricFamily::counter("action_executions", "Executions of approved actions").with_all(
                ["outcome", "kind"],
                &self.executions,
                two,
            ),
            MetricFamily::histogram("sync_seconds", "Time that a bank provider took for a sync")
                .with_all(["provider", "outcome"], &self.syncs, two),
            MetricFamily::counter("sync_failures", "Syncs that failed, by reason").with_all(
                ["provider", "reason"],
                &self.sync_failures,
                two,
            ),
            MetricFamily::histogram("insight_seconds", "Time of each step of a recompute")
                .with_all(["step"], &self.insight_steps, one),
            MetricFamily::histogram("import_seconds", "Time of imports, by format and outcome")
                .with_all(["format", "outcome"], &self.imports, two),
            MetricFamily::counter("import_rows", "Rows of imports, by outcome").with_all(
                ["format", "outcome"],
                &self.import_rows,
                two,
            ),
            MetricFamily::counter("lost_leases", "Work that another process had taken over")
                .with_all(["of"], &self.lost_leases, one)
                .with(&[("of", "delivery")], lost_deliveries),
            MetricFamily::counter("emails", "Attempts to send an email, by outcome").with_all(
                ["outcome"],
                &self.emails,
                one,
            ),
        ]
    }
}

/// Measures the steps of a recompute, one after another. It asks the machine, because the app's clock stands still in tests
/// and benchmarks.
pub(crate) struct StepTimer<'m> {
    meters: &'m Meters,
    started_at: Instant,
}

impl<'m> StepTimer<'m> {
    pub(crate) fn start(meters: &'m Meters) -> StepTimer<'m> {
        StepTimer { meters, started_at: Instant::now() }
    }

    /// Ends a step; the next one begins.
    pub(crate) fn end(&mut self, step: &'static str) {
        let took = self.started_at.elapsed();
        self.meters.insight_steps.with(&step, |it| it.observe_duration(took));
        self.started_at = Instant::now();
    }
}
