//! Throttling of sign-in attempts: failures are counted by account, by browser and by address group, and too many of them
//! block further attempts for a while.
//!
//! An attempt counts as failed before the password is checked, and is deleted when it succeeds, so that attempts in
//! parallel gain nothing. A success does not delete earlier failures: an attacker must not profit from the owner's own
//! sign-ins.

use base::{AddressGroup, CLOCK_SKEW_MICROSECONDS, Timestamp, UserId};
use db::params;
use sha2::{Digest as _, Sha256};

use crate::access::devices::KnownDevice;
use crate::{App, Error, Result, Tx};

const SECOND: i64 = 1_000_000;
const QUARTER_HOUR: i64 = 15 * 60;
const DAY: i64 = 86_400;

/// The key that attempts are counted by. Attempts for unknown emails are counted in the same way.
#[derive(Debug, Clone)]
pub(crate) enum ThrottleKey<'a> {
    /// Wrong passwords for an account, from all unknown browsers together.
    Account(&'a str),
    /// Wrong recovery codes for an account, from all unknown browsers together.
    SecondStep(&'a str),
    /// Wrong passwords from a browser in which the person signed in before. Nobody else can use up this allowance.
    Device(&'a KnownDevice),
    DeviceSecondStep(&'a KnownDevice),
    /// Wrong passwords of a signed-in person who must confirm their identity.
    Confirmation(UserId),
    /// Wrong passkeys after a right password. They limit entries in the audit trail, and never block the person.
    WrongPasskey(UserId),
    Address(AddressGroup),
    /// Passkey challenges requested by an address group.
    Challenges(AddressGroup),
    DeviceChallenges([u8; 32]),
    /// Attempts of a person to change their email.
    EmailChange(UserId),
    /// Requests for a link to reset the password of an email.
    PasswordReset(&'a str),
}

/// The most failures within a time window.
struct Limit {
    failures: i64,
    window_seconds: i64,
}

/// Limits on guesses at a secret, for a quarter of an hour and for a day.
const GUESSES: &[Limit] = &[
    Limit { failures: 10, window_seconds: QUARTER_HOUR },
    Limit { failures: 100, window_seconds: DAY },
];
const ADDRESS: &[Limit] = &[Limit { failures: 50, window_seconds: QUARTER_HOUR }];
const EMAIL_CHANGES: &[Limit] = &[Limit { failures: 5, window_seconds: QUARTER_HOUR }];
const PASSWORD_RESETS: &[Limit] = &[
    Limit { failures: 3, window_seconds: QUARTER_HOUR },
    Limit { failures: 10, window_seconds: DAY },
];
const CHALLENGES: &[Limit] = &[Limit { failures: 200, window_seconds: QUARTER_HOUR }];

impl ThrottleKey<'_> {
    fn limits(&self) -> &'static [Limit] {
        match self {
            ThrottleKey::Account(_)
            | ThrottleKey::SecondStep(_)
            | ThrottleKey::Device(_)
            | ThrottleKey::DeviceSecondStep(_)
            | ThrottleKey::Confirmation(_)
            | ThrottleKey::WrongPasskey(_) => GUESSES,
            ThrottleKey::Address(_) => ADDRESS,
            ThrottleKey::Challenges(_) | ThrottleKey::DeviceChallenges(_) => CHALLENGES,
            ThrottleKey::EmailChange(_) => EMAIL_CHANGES,
            ThrottleKey::PasswordReset(_) => PASSWORD_RESETS,
        }
    }

    /// The longest time window of its limits.
    fn longest_seconds(&self) -> i64 {
        self.limits().iter().map(|it| it.window_seconds).max().unwrap_or_default()
    }

    fn hash(&self) -> [u8; 32] {
        let text = match self {
            ThrottleKey::Account(email) => format!("account {email}"),
            ThrottleKey::SecondStep(email) => format!("second step {email}"),
            ThrottleKey::Device(device) => format!("device {device}"),
            ThrottleKey::DeviceSecondStep(device) => format!("device second step {device}"),
            ThrottleKey::Confirmation(user) => format!("confirmation {user}"),
            ThrottleKey::WrongPasskey(user) => format!("wrong passkey {user}"),
            ThrottleKey::Address(group) => format!("address {group}"),
            ThrottleKey::Challenges(group) => format!("questions {group}"),
            ThrottleKey::DeviceChallenges(hash) => format!("device questions {hash:?}"),
            ThrottleKey::EmailChange(user) => format!("email change {user}"),
            ThrottleKey::PasswordReset(email) => format!("password reset {email}"),
        };
        Sha256::digest(text).into()
    }
}

/// An attempt in progress, which counts as failed until it succeeds.
pub(crate) struct Attempt {
    id: [u8; 16],
    hashes: Vec<[u8; 32]>,
}

/// Counts an attempt, or refuses it if there were too many. A refused attempt does not count.
pub(crate) async fn attempt(app: &App, keys: &[ThrottleKey<'_>]) -> Result<Attempt> {
    let (id, now) = (app.entropy.bytes(), app.clock.now());
    let attempt = Attempt { id, hashes: keys.iter().map(ThrottleKey::hash).collect() };
    let expiry = |it: &ThrottleKey<'_>| now.as_microsecond() + it.longest_seconds() * SECOND;
    let marks: Vec<_> = attempt.hashes.iter().copied().zip(keys.iter().map(expiry)).collect();
    app.db
        .write(move |tx| {
            for (hash, expires_at) in &marks {
                tx.execute(MARK, params![&hash[..], &id[..], now, *expires_at])?;
            }
            Ok::<_, Error>(())
        })
        .await?;
    // Attempts in parallel see only committed rows, so the rows are counted after this one is committed.
    let wait = wait_seconds(app, keys, &attempt.hashes, now).await?;
    if wait > 0 {
        attempt.withdraw(app).await?;
        app.meters.count_rate_limited("sign_ins");
        return Err(Error::Limited { retry_after_seconds: wait, what: "attempts" });
    }
    Ok(attempt)
}

/// The time until all limits allow the attempt; 0 if they allow it now.
async fn wait_seconds(
    app: &App,
    keys: &[ThrottleKey<'_>],
    hashes: &[[u8; 32]],
    now: Timestamp,
) -> Result<i64> {
    // Failures in the future were recorded before the clock was set back, and do not count.
    let (now, latest) = (now.as_microsecond(), now.as_microsecond() + CLOCK_SKEW_MICROSECONDS);
    let mut longest = 0;
    for (key, hash) in keys.iter().zip(hashes) {
        for limit in key.limits() {
            let since = now - limit.window_seconds * SECOND;
            let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?));
            let counted = app.db.first(COUNT, params![&hash[..], since, latest], read).await?;
            let (count, oldest) = counted.unwrap_or_default();
            if count > limit.failures {
                // Rounded up, so that an attempt after exactly this time is allowed.
                let until = oldest.unwrap_or(now) - since;
                longest = longest.max((until + SECOND - 1) / SECOND).max(1);
            }
        }
    }
    Ok(longest)
}

impl Attempt {
    /// Deletes an attempt that was refused before the password was checked.
    async fn withdraw(&self, app: &App) -> Result<()> {
        let mine = Attempt { id: self.id, hashes: self.hashes.clone() };
        app.db.write(move |tx| mine.succeed(tx)).await
    }

    /// Deletes a successful attempt. Earlier failures still count.
    pub(crate) fn succeed(&self, tx: &mut Tx<'_>) -> Result<()> {
        for hash in &self.hashes {
            tx.execute(UNMARK, params![&hash[..], &self.id[..]])?;
        }
        Ok(())
    }

    /// Records that the attempt failed at this moment.
    pub(crate) fn fail(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
        for hash in &self.hashes {
            tx.execute(FAILED, params![&hash[..], &self.id[..], now])?;
        }
        Ok(())
    }
}

/// Deletes the failures of an account, at the operator's request.
pub(crate) fn clear_failures(tx: &mut Tx<'_>, email: &str) -> Result<()> {
    for key in [ThrottleKey::Account(email), ThrottleKey::SecondStep(email)] {
        tx.execute(CLEAR, params![&key.hash()[..]])?;
    }
    Ok(())
}

/// Deletes failures that no longer count, for the background step.
pub(super) fn forget(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64> {
    let latest = now.as_microsecond() + CLOCK_SKEW_MICROSECONDS;
    Ok(tx.execute(FORGET, params![now, latest])?)
}

const MARK: &str = "insert into sign_in_failures (subject, id, failed_at, expires_at)
    values ($1, $2, $3, $4)";
const COUNT: &str = "select count(*), min(failed_at) from sign_in_failures
    where subject = $1 and failed_at > $2 and failed_at <= $3";
const UNMARK: &str = "delete from sign_in_failures where subject = $1 and id = $2";
const CLEAR: &str = "delete from sign_in_failures where subject = $1";
const FAILED: &str = "update sign_in_failures set failed_at = $3 where subject = $1 and id = $2";
const FORGET: &str = "delete from sign_in_failures where expires_at <= $1 or failed_at > $2";

pub(super) const STATEMENTS: &[&str] = &[MARK, COUNT, UNMARK, CLEAR, FAILED, FORGET];
