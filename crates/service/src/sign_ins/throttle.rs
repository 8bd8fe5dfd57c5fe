//! Guessing made slow: failures are counted by account and by address, and too many close the door for a while.
//!
//! An attempt is counted before it is looked at and taken back when it was right, so that many at once gain nothing.

use std::net::IpAddr;

use base::{Timestamp, UserId};
use db::params;
use sha2::{Digest as _, Sha256};

use crate::{App, Error, Result, Tx};

const WINDOW_SECONDS: i64 = 15 * 60;

/// What failures are counted by. Nobody needs to exist for it: unknown addresses are counted the same.
#[derive(Debug, Clone)]
pub(crate) enum Subject<'a> {
    Account(&'a str),
    /// The second step of an account. A right password does not clear it.
    SecondStep(&'a str),
    Address(&'a str),
    /// Questions that an address had us make up.
    Questions(&'a str),
    /// Other emails that a person tried for their account.
    EmailChange(UserId),
}

impl Subject<'_> {
    fn most(&self) -> i64 {
        match self {
            Subject::EmailChange(_) => 5,
            Subject::Account(_) | Subject::SecondStep(_) => 10,
            Subject::Address(_) => 50,
            Subject::Questions(_) => 200,
        }
    }

    fn hash(&self) -> [u8; 32] {
        let text = match self {
            Subject::Account(email) => format!("account {email}"),
            Subject::SecondStep(email) => format!("second step {email}"),
            Subject::Address(address) => format!("address {}", network(address)),
            Subject::Questions(address) => format!("questions {}", network(address)),
            Subject::EmailChange(user) => format!("email change {user}"),
        };
        Sha256::digest(text).into()
    }
}

/// One household has a whole network of IPv6 addresses, and so would a guesser.
fn network(address: &str) -> String {
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(it)) if it.to_ipv4_mapped().is_none() => {
            let [a, b, c, d, ..] = it.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}")
        }
        _ => address.to_owned(),
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
    let marked = made.subjects.clone();
    app.db
        .write(move |tx| {
            for subject in &marked {
                tx.execute(MARK, params![&subject[..], &id[..], now])?;
            }
            Ok::<_, Error>(())
        })
        .await?;
    // Only what is committed is seen by others who try at this moment, so the counting comes afterwards.
    let since = now.as_microsecond() - WINDOW_SECONDS * 1_000_000;
    for (subject, hash) in subjects.iter().zip(&made.subjects) {
        let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<Timestamp>>(1)?));
        let (count, oldest) =
            app.db.first(COUNT, params![&hash[..], since], read).await?.unwrap_or_default();
        if count > subject.most() {
            made.withdraw(app).await?;
            let until = oldest.unwrap_or(now).as_microsecond() - since;
            // Rounded up: whoever waits exactly this long is let in.
            let retry_after_seconds = (until + 999_999) / 1_000_000;
            return Err(Error::Limited { retry_after_seconds, what: "attempts" });
        }
    }
    Ok(made)
}

impl Attempt {
    /// It was neither right nor wrong.
    async fn withdraw(&self, app: &App) -> Result<()> {
        let (id, subjects) = (self.id, self.subjects.clone());
        app.db
            .write(move |tx| {
                for subject in &subjects {
                    tx.execute(UNMARK, params![&subject[..], &id[..]])?;
                }
                Ok::<_, Error>(())
            })
            .await
    }

    /// It was right: this attempt is forgotten, and of those subjects all that went wrong before.
    pub(crate) fn succeed(&self, tx: &mut Tx<'_>, cleared: &[Subject<'_>]) -> Result<()> {
        for subject in &self.subjects {
            tx.execute(UNMARK, params![&subject[..], &self.id[..]])?;
        }
        for subject in cleared {
            tx.execute(CLEAR, params![&subject.hash()[..]])?;
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

/// Forgets failures that no longer count; a background step.
pub(super) fn forget(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64> {
    let before = now.as_microsecond() - WINDOW_SECONDS * 1_000_000;
    Ok(tx.execute(FORGET, params![before])?)
}

const MARK: &str = "insert into sign_in_failures (subject, id, failed_at) values ($1, $2, $3)";
const COUNT: &str = "select count(*), min(failed_at) from sign_in_failures
    where subject = $1 and failed_at > $2";
const UNMARK: &str = "delete from sign_in_failures where subject = $1 and id = $2";
const CLEAR: &str = "delete from sign_in_failures where subject = $1";
const FAILED: &str = "update sign_in_failures set failed_at = $3 where subject = $1 and id = $2";
const FORGET: &str = "delete from sign_in_failures where failed_at <= $1";

pub(super) const STATEMENTS: &[&str] = &[MARK, COUNT, UNMARK, CLEAR, FAILED, FORGET];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_is_one_address_and_ipv4_is_as_it_is() {
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_ne!(network("::ffff:192.0.2.1"), network("::ffff:192.0.2.2"));
    }
}
