//! How well an endpoint responds: the success rate and response times of its newest attempts.

use base::{EndpointId, Timestamp};
use db::params;

use crate::context::Webhooks;
use crate::delivery::{AttemptStatus, Trigger};
use crate::endpoint::EndpointOwner;
use crate::error::Result;

/// The newest attempts that are read, so that the figures cost the same for every endpoint.
pub const ATTEMPTS_READ: i64 = 200;

/// Figures of the newest attempts. Test events do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointHealth {
    pub attempts: usize,
    pub succeeded: usize,
    /// Half of the attempts took at most this long.
    pub median_ms: i64,
    /// 95 of 100 attempts took at most this long.
    pub p95_ms: i64,
    /// When the oldest of the attempts was made.
    pub since: Timestamp,
}

struct Counted {
    has_succeeded: bool,
    duration_ms: i64,
    at: Timestamp,
}

/// None if nothing but tests was sent.
pub async fn get(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    endpoint: EndpointId,
) -> Result<Option<EndpointHealth>> {
    let (all_keys, key) = owner.key_params();
    let values = params![owner.user, endpoint, all_keys, key, ATTEMPTS_READ];
    let rows = webhooks.db.all(NEWEST, values, |row| {
        let counted = Counted {
            has_succeeded: row.get::<AttemptStatus>(1)? == AttemptStatus::Succeeded,
            duration_ms: row.get(2)?,
            at: row.get(3)?,
        };
        Ok((row.get::<Trigger>(0)? != Trigger::Test).then_some(counted))
    });
    Ok(summarize(rows.await?.into_iter().flatten().collect()))
}

/// Summarizes attempts, newest first.
fn summarize(attempts: Vec<Counted>) -> Option<EndpointHealth> {
    let since = attempts.last()?.at;
    let mut durations: Vec<i64> = attempts.iter().map(|it| it.duration_ms).collect();
    durations.sort_unstable();
    // The smallest duration that at least this many of 100 attempts do not exceed.
    let percentile = |of_100: usize| durations[(durations.len() * of_100).div_ceil(100) - 1];
    Some(EndpointHealth {
        attempts: attempts.len(),
        succeeded: attempts.iter().filter(|it| it.has_succeeded).count(),
        median_ms: percentile(50),
        p95_ms: percentile(95),
        since,
    })
}

// The condition on the user is written so that it matches no index, as in `attempts`.
const NEWEST: &str = "select trigger_kind, status, duration_ms, attempted_at from attempts
    where endpoint_id = $2 and coalesce(user_id, $1) = $1 and ($3 = 'all' or key_id = $4)
    order by id desc limit $5";

pub(crate) const STATEMENTS: &[&str] = &[NEWEST];

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(durations: &[i64]) -> Vec<Counted> {
        let attempt = |(index, duration_ms): (usize, &i64)| Counted {
            has_succeeded: index % 4 != 0,
            duration_ms: *duration_ms,
            at: Timestamp::UNIX_EPOCH,
        };
        durations.iter().enumerate().map(attempt).collect()
    }

    #[test]
    fn rates_and_percentiles_are_those_of_the_attempts() {
        assert_eq!(summarize(Vec::new()), None);
        let one = summarize(attempts(&[7])).unwrap();
        assert_eq!((one.attempts, one.succeeded, one.median_ms, one.p95_ms), (1, 0, 7, 7));
        let hundred: Vec<i64> = (1..=100).rev().collect();
        let all = summarize(attempts(&hundred)).unwrap();
        assert_eq!((all.attempts, all.succeeded, all.median_ms, all.p95_ms), (100, 75, 50, 95));
    }
}
