//! The queue of email. A message is queued in the transaction of what it is about, and sent by a background step, so that
//! a slow mail server never holds a request. A row says what the message is about and not its text, so that links with
//! secrets are never stored.

use base::metrics::MetricFamily;
use base::{Timestamp, UserId};
use db::{Param, params};
use net::{EmailAddress, Mailbox, SmtpClient};

use crate::{App, Error, Result, Tx};

/// How long a process may take to send a message before another takes it over; longer than an exchange with a server.
const LEASE_MICROSECONDS: i64 = 300 * SECOND;
const SECOND: i64 = 1_000_000;
/// The waits between attempts. The last one repeats until the message is too old.
const WAIT_SECONDS: [i64; 6] = [60, 300, 900, 3_600, 10_800, 21_600];
/// A message that could not be sent for so long is dropped.
const LIFE_MICROSECONDS: i64 = 3 * 86_400 * SECOND;
/// The most messages that are counted.
const COUNTED_MAX: i64 = 100_000;

base::words!(MailKind {
    PasswordReset => "password_reset",
    Invitation => "invitation",
    PasswordChanged => "password_changed",
    EmailChanged => "email_changed",
    PasskeyAdded => "passkey_added",
    PasskeyRemoved => "passkey_removed",
    SecondStepChanged => "second_step_changed",
    RecoveryCodesCreated => "recovery_codes_created",
    BackupLate => "backup_late",
    ConnectionNeedsAttention => "connection_needs_attention",
});
db::word_columns!(MailKind);

/// How email is sent.
#[derive(Clone)]
pub struct Mailer {
    pub client: SmtpClient,
    pub from: Mailbox,
    /// The address of this installation, for links.
    pub public_url: String,
}

/// A message that this process is sending.
#[derive(Debug, Clone)]
pub(crate) struct ClaimedMail {
    pub(crate) user: UserId,
    pub(crate) id: [u8; 16],
    pub(crate) kind: MailKind,
    pub(crate) recipient: String,
    pub(crate) about: Option<[u8; 16]>,
    pub(crate) created_at: Timestamp,
    attempts: i64,
    leased_until: i64,
}

/// Queues a message to the person themselves.
pub(crate) fn notify(tx: &mut Tx<'_>, app: &App, user: UserId, kind: MailKind) -> Result<()> {
    if app.mail.is_none() {
        return Ok(());
    }
    match tx.first(EMAIL, params![user], |row| row.get::<String>(0))? {
        Some(email) => queue(tx, app, (user, kind), &email, None),
        None => Ok(()),
    }
}

/// Queues a message, if the operator has set up a mail server. An address that no message can be sent to is left out.
pub(crate) fn queue(
    tx: &mut Tx<'_>,
    app: &App,
    (user, kind): (UserId, MailKind),
    recipient: &str,
    about: Option<[u8; 16]>,
) -> Result<()> {
    if app.mail.is_none() || !is_sendable(recipient) {
        return Ok(());
    }
    let (id, now) = (app.entropy.bytes(), tx.now()?);
    let row = [
        Param::from(user),
        Param::Id(Some(id)),
        Param::from(kind.as_str()),
        Param::from(recipient),
        Param::Id(about),
        Param::from(now),
    ];
    tx.execute(INSERT, &row)?;
    Ok(())
}

/// Whether messages can be sent to an address: one that is not plain ASCII has none.
pub fn is_sendable(address: &str) -> bool {
    EmailAddress::parse(address).is_some()
}

/// How many messages wait, and how long the oldest has waited, for metrics.
pub(crate) async fn figures(app: &App) -> Result<Vec<MetricFamily>> {
    let now = app.db.now().await?.as_microsecond();
    let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?));
    let waiting = app.db.first(WAITING, params![COUNTED_MAX], read).await?;
    let (count, oldest) = waiting.unwrap_or_default();
    let waited = oldest.map_or(0, |it| (now - it).max(0) / SECOND);
    Ok(vec![
        MetricFamily::gauge("emails_waiting", "Emails that are not sent yet, at most 100000")
            .with(&[], count),
        MetricFamily::gauge("email_oldest_wait_seconds", "How long the oldest of them has waited")
            .with(&[], waited),
    ])
}

/// Records that a person is alerted to a lasting problem. Returns false if that was recorded before.
pub(crate) fn record_alert_once(
    tx: &mut Tx<'_>,
    user: UserId,
    kind: MailKind,
    about: [u8; 16],
) -> Result<bool> {
    let now = tx.now()?;
    let row = [user.into(), kind.as_str().into(), Param::Id(Some(about)), now.into()];
    Ok(tx.execute(RECORD_ALERT, &row)? == 1)
}

/// Takes the message that is due longest.
pub(crate) async fn claim(app: &App) -> Result<Option<ClaimedMail>> {
    let claim = |tx: &mut Tx<'_>| {
        let now = tx.now()?.as_microsecond();
        let leased_until = now + LEASE_MICROSECONDS;
        let read = |row: &db::Row<'_>| {
            Ok(ClaimedMail {
                user: row.get(0)?,
                id: bytes(row.get(1)?).unwrap_or_default(),
                kind: row.get(2)?,
                recipient: row.get(3)?,
                about: row.get::<Option<&[u8]>>(4)?.and_then(bytes),
                created_at: row.get(5)?,
                attempts: row.get(6)?,
                leased_until,
            })
        };
        Ok::<_, Error>(tx.first(CLAIM, params![now, leased_until], read)?)
    };
    app.db.write(claim).await
}

fn bytes(found: &[u8]) -> Option<[u8; 16]> {
    found.try_into().ok()
}

/// Deletes a message that was sent or can never be.
pub(crate) async fn finish(app: &App, mail: &ClaimedMail) -> Result<()> {
    let (user, id, lease) = (mail.user, mail.id, mail.leased_until);
    let finish = move |tx: &mut Tx<'_>| {
        tx.execute(DELETE, &[user.into(), Param::Id(Some(id)), lease.into()])?;
        Ok::<_, Error>(())
    };
    app.db.write(finish).await
}

/// Leaves a message for a later attempt. Returns false if it has become too old and was deleted.
pub(crate) async fn retry_later(app: &App, mail: &ClaimedMail) -> Result<bool> {
    let (user, id, lease) = (mail.user, mail.id, mail.leased_until);
    let step = usize::try_from(mail.attempts - 1).unwrap_or(0).min(WAIT_SECONDS.len() - 1);
    let oldest = mail.created_at.as_microsecond() + LIFE_MICROSECONDS;
    let retry = move |tx: &mut Tx<'_>| {
        let due_at = tx.now()?.as_microsecond() + WAIT_SECONDS[step] * SECOND;
        let row = [user.into(), Param::Id(Some(id)), lease.into(), due_at.into()];
        let is_kept = due_at <= oldest;
        match is_kept {
            true => tx.execute(RETRY, &row)?,
            false => tx.execute(DELETE, &row[..3])?,
        };
        Ok::<_, Error>(is_kept)
    };
    app.db.write(retry).await
}

const WAITING: &str = "select cast(count(*) as bigint), min(created_at)
    from (select created_at from mail_queue limit $1) as waiting";
const EMAIL: &str = "select email from users where id = $1";
const INSERT: &str = "insert into mail_queue
    (user_id, id, kind, recipient, about, created_at, due_at, attempts)
    values ($1, $2, $3, $4, $5, $6, $6, 0)";
const RECORD_ALERT: &str =
    "insert into mail_alerts (user_id, kind, about, told_at) values ($1, $2, $3, $4)
    on conflict do nothing";
// The claim repeats its test outside the subquery, because another process may have claimed the row meanwhile.
const CLAIM: &str = "update mail_queue set leased_until = $2, attempts = attempts + 1
    where id = (select q.id from mail_queue q
        where q.due_at <= $1 and (q.leased_until is null or q.leased_until <= $1)
        order by q.due_at, q.id limit 1)
    and due_at <= $1 and (leased_until is null or leased_until <= $1)
    returning user_id, id, kind, recipient, about, created_at, attempts";
const DELETE: &str = "delete from mail_queue where user_id = $1 and id = $2 and leased_until = $3";
const RETRY: &str = "update mail_queue set due_at = $4, leased_until = null
    where user_id = $1 and id = $2 and leased_until = $3";

pub(crate) const STATEMENTS: &[&str] =
    &[WAITING, EMAIL, INSERT, RECORD_ALERT, CLAIM, DELETE, RETRY];
