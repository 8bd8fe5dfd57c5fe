//! Guessing made slow: failures are counted by account, by browser and by address group, and too many are refused for a
//! while.
//!
//! An attempt is counted before it is looked at and taken back when it was right, so that many at once gain nothing. A
//! right one clears no earlier failures: somebody who guesses must not profit from the owner's own sign-ins.

use base::{AddressGroup, CLOCK_SKEW_MICROSECONDS, Timestamp, UserId};
use db::params;
use sha2::{Digest as _, Sha256};

use crate::access::devices::KnownDevice;
use crate::{App, Error, Result, Tx};

const SECOND: i64 = 1_000_000;
const QUARTER_HOUR: i64 = 15 * 60;
const DAY: i64 = 86_400;

/// What failures are counted by. Nobody needs to exist for it: unknown addresses are counted the same.
#[derive(Debug, Clone)]
pub(crate) enum Subject<'a> {
    /// Wrong passwords for an account, from all browsers that are not known together.
    Account(&'a str),
    /// Wrong recovery codes for an account, from all browsers that are not known together.
    SecondStep(&'a str),
    /// Wrong passwords from a browser in which the person signed in before. Nobody else can use them up.
    Device(&'a KnownDevice),
    DeviceSecondStep(&'a KnownDevice),
    /// Wrong passwords of a person who is signed in and is asked again.
    Confirmation(UserId),
    /// Wrong passkeys behind a right password. Counted for the audit trail alone, and never refused.
    WrongPasskey(UserId),
    Address(AddressGroup),
    /// Challenges for passkeys that an address group asked for.
    Challenges(AddressGroup),
    DeviceChallenges([u8; 32]),
    /// Other emails that a person tried for their account.
    EmailChange(UserId),
}

/// At most so many failures in so long.
struct Limit {
    failures: i64,
    window_seconds: i64,
}

/// Guesses at a secret: slow within a quarter of an hour, and few in a day.
const GUESSES: &[Limit] = &[
    Limit { failures: 10, window_seconds: QUARTER_HOUR },
    Limit { failures: 100, window_seconds: DAY },
];
const ADDRESS: &[Limit] = &[Limit { failures: 50, window_seconds: QUARTER_HOUR }];
const EMAIL_CHANGES: &[Limit] = &[Limit { failures: 5, window_seconds: QUARTER_HOUR }];
const CHALLENGES: &[Limit] = &[Limit { failures: 200, window_seconds: QUARTER_HOUR }];

impl Subject<'_> {
    fn limits(&self) -> &'static [Limit] {
        match self {
            Subject::Account(_)
            | Subject::SecondStep(_)
            | Subject::Device(_)
            | Subject::DeviceSecondStep(_)
            | Subject::Confirmation(_)
            | Subject::WrongPasskey(_) => GUESSES,
            Subject::Address(_) => ADDRESS,
            Subject::Challenges(_) | Subject::DeviceChallenges(_) => CHALLENGES,
            Subject::EmailChange(_) => EMAIL_CHANGES,
        }
    }

    /// How long a failure can count.
    fn longest_seconds(&self) -> i64 {
        self.limits().iter().map(|it| it.window_seconds).max().unwrap_or_default()
    }

    fn hash(&self) -> [u8; 32] {
        let text = match self {
            Subject::Account(email) => format!("account {email}"),
            Subject::SecondStep(email) => format!("second step {email}"),
            Subject::Device(device) => format!("device {device}"),
            Subject::DeviceSecondStep(device) => format!("device second step {device}"),
            Subject::Confirmation(user) => format!("confirmation {user}"),
            Subject::WrongPasskey(user) => format!("wrong passkey {user}"),
            Subject::Address(group) => format!("address {group}"),
            Subject::Challenges(group) => format!("questions {group}"),
            Subject::DeviceChallenges(hash) => format!("device questions {hash:?}"),
            Subject::EmailChange(user) => format!("email change {user}"),
        };
        Sha256::digest(text).into()
    }
}

/// An attempt under way, counted as failed until it is settled.
pub(crate) struct Attempt {
    id: [u8; 16],
    subjects: Vec<[u8; 32]>,
}

/// Counts an attempt, or refuses it where there were too many; a refused one does not count.
pub(crate) async fn attempt(app: &App, subjects: &[Subject<'_>]) -> Result<Attempt> {
    let (id, now) = (app.entropy.bytes(), app.clock.now());
    let made = Attempt { id, subjects: subjects.iter().map(Subject::hash).collect() };
    let expiry = |it: &Subject<'_>| now.as_microsecond() + it.longest_seconds() * SECOND;
    let marks: Vec<_> = made.subjects.iter().copied().zip(subjects.iter().map(expiry)).collect();
    app.db
        .write(move |tx| {
            for (subject, expires_at) in &marks {
                tx.execute(MARK, params![&subject[..], &id[..], now, *expires_at])?;
            }
            Ok::<_, Error>(())
        })
        .await?;
    // Only what is committed is seen by others who try at this moment, so the counting comes afterwards.
    let wait = wait_seconds(app, subjects, &made.subjects, now).await?;
    if wait > 0 {
        made.withdraw(app).await?;
        return Err(Error::Limited { retry_after_seconds: wait, what: "attempts" });
    }
    Ok(made)
}

/// How long until all limits have room for the attempt; 0 where they have now.
async fn wait_seconds(
    app: &App,
    subjects: &[Subject<'_>],
    hashes: &[[u8; 32]],
    now: Timestamp,
) -> Result<i64> {
    // Failures from before the clock was set back would count until the clock has caught up with them.
    let (now, latest) = (now.as_microsecond(), now.as_microsecond() + CLOCK_SKEW_MICROSECONDS);
    let mut longest = 0;
    for (subject, hash) in subjects.iter().zip(hashes) {
        for limit in subject.limits() {
            let since = now - limit.window_seconds * SECOND;
            let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?));
            let counted = app.db.first(COUNT, params![&hash[..], since, latest], read).await?;
            let (count, oldest) = counted.unwrap_or_default();
            if count > limit.failures {
                // Rounded up: whoever waits exactly this long is let in.
                let until = oldest.unwrap_or(now) - since;
                longest = longest.max((until + SECOND - 1) / SECOND).max(1);
            }
        }
    }
    Ok(longest)
}

impl Attempt {
    /// It was neither right nor wrong.
    async fn withdraw(&self, app: &App) -> Result<()> {
        let mine = Attempt { id: self.id, subjects: self.subjects.clone() };
        app.db.write(move |tx| mine.succeed(tx)).await
    }

    /// It was right: this attempt is forgotten, and what went wrong before still counts.
    pub(crate) fn succeed(&self, tx: &mut Tx<'_>) -> Result<()> {
        for subject in &self.subjects {
            tx.execute(UNMARK, params![&subject[..], &self.id[..]])?;
        }
        Ok(())
    }

    /// It was wrong, at this moment.
    pub(crate) fn fail(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
        for subject in &self.subjects {
            tx.execute(FAILED, params![&subject[..], &self.id[..], now])?;
        }
        Ok(())
    }
}

/// Forgets what went wrong for an account, on the operator's word.
pub(crate) fn clear_account(tx: &mut Tx<'_>, email: &str) -> Result<()> {
    for subject in [Subject::Account(email), Subject::SecondStep(email)] {
        tx.execute(CLEAR, params![&subject.hash()[..]])?;
    }
    Ok(())
}

/// Forgets failures that no longer count; a background step.
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
