//! A delivery: one event to be sent to one endpoint, and the destination it goes to.

use std::sync::Arc;

use base::{Clock, EndpointId, EventId, KeyId, Timestamp, UserId};
use bytes::Bytes;

use crate::endpoint::EndpointRef;
use crate::error::Result;
use crate::secrets::SecretCipher;
use crate::signatures::SigningSecret;

/// How long a claimed delivery belongs to its process, in microseconds. An attempt takes at most fifteen seconds; a
/// process that has not settled it after this long is dead.
pub(crate) const LEASE: i64 = 45 * 1_000_000;

/// The lease of a claimed delivery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    /// When it ends and other processes may claim the delivery, by the database's time, in microseconds. Also the
    /// fencing token.
    pub(crate) until: i64,
    /// When it was taken, by this process's clock. Only differences of this clock are used, so that it does not matter
    /// whether it is right.
    taken_at: i64,
}

impl Lease {
    /// A lease that begins at `now` by the database's time. `taken_at` was read from this process's clock before.
    pub(crate) fn new(now: Timestamp, taken_at: Timestamp) -> Lease {
        Lease { until: now.as_microsecond() + LEASE, taken_at: taken_at.as_microsecond() }
    }

    /// How long this process has had the lease, in microseconds. The whole lease if its clock was set back
    /// meanwhile, because the age is then unknown.
    pub(crate) fn age(self, clock: &Clock) -> i64 {
        match clock.now().as_microsecond() - self.taken_at {
            age @ 0.. => age,
            _ => LEASE,
        }
    }
}

base::words!(
    /// The cause of an attempt.
    Trigger {
        /// A new event, or the retry schedule.
        Scheduled => "scheduled",
        /// A person or a key, who resent or replayed an event. It is not retried.
        Manual => "manual",
        /// A test event. It is not retried.
        Test => "test",
    }
);

base::words!(AttemptStatus { Succeeded => "succeeded", Failed => "failed" });

base::words!(DeliveryStatus {
    Failed => "failed",
    Retrying => "retrying",
    Pending => "pending",
    Delivered => "delivered",
});

db::word_columns!(Trigger, AttemptStatus, DeliveryStatus);

impl From<AttemptStatus> for DeliveryStatus {
    /// The status of a test event, which has one attempt and no delivery.
    fn from(status: AttemptStatus) -> DeliveryStatus {
        match status {
            AttemptStatus::Succeeded => DeliveryStatus::Delivered,
            AttemptStatus::Failed => DeliveryStatus::Failed,
        }
    }
}

/// One event to be sent to one endpoint.
pub(crate) struct Delivery {
    pub(crate) to: Arc<Destination>,
    pub(crate) event: EventId,
    pub(crate) event_type: String,
    /// Attempts that were made before.
    pub(crate) attempts: i64,
    pub(crate) body: Bytes,
    pub(crate) trigger: Trigger,
}

/// The URL and secret to send with, read at each attempt: a new URL or secret also applies to deliveries that were waiting.
pub(crate) struct Destination {
    pub(crate) user: UserId,
    pub(crate) id: EndpointId,
    pub(crate) key: KeyId,
    pub(crate) url: String,
    /// Rises with every change of the endpoint that concerns deliveries.
    pub(crate) version: i64,
    /// The secrets that sign, newest first.
    pub(crate) secrets: Vec<SigningSecret>,
}

impl Destination {
    pub(crate) fn endpoint_ref(&self) -> EndpointRef {
        EndpointRef { user: self.user, key: self.key, id: self.id }
    }
}

/// A destination as it is stored, with encrypted secrets.
pub(crate) struct EncryptedDestination {
    user: UserId,
    pub(crate) id: EndpointId,
    pub(crate) key: KeyId,
    url: String,
    secret: Vec<u8>,
    previous: Option<(Vec<u8>, Timestamp)>,
    version: i64,
}

impl EncryptedDestination {
    pub(crate) fn decrypt(&self, cipher: &SecretCipher, now: Timestamp) -> Result<Destination> {
        let EncryptedDestination { user, id, key, url, secret, version, .. } = self;
        let newest = cipher.decrypt(*id, secret)?;
        let previous = self.previous_secrets(cipher, now)?.into_iter().map(|it| it.0);
        let secrets = std::iter::once(newest).chain(previous).collect();
        let (user, id, key, url, version) = (*user, *id, *key, url.clone(), *version);
        Ok(Destination { user, id, key, url, version, secrets })
    }

    /// The replaced secrets that still sign, newest first, each with the moment until which it does.
    fn previous_secrets(
        &self,
        cipher: &SecretCipher,
        now: Timestamp,
    ) -> Result<Vec<(SigningSecret, Timestamp)>> {
        let Some((encrypted, until)) = &self.previous else { return Ok(Vec::new()) };
        let mut all = cipher.decrypt_previous(self.id, encrypted, *until)?;
        all.retain(|it| it.1 > now);
        Ok(all)
    }

    /// The replaced secrets after a rotation, which makes the present secret one of them until `until`.
    pub(crate) fn previous_after_rotation(
        &self,
        cipher: &SecretCipher,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<(SigningSecret, Timestamp)>> {
        let mut all = vec![(cipher.decrypt(self.id, &self.secret)?, until)];
        all.extend(self.previous_secrets(cipher, now)?);
        Ok(all)
    }

    /// Decrypts, or logs the error and returns none. The endpoint's deliveries then wait, and those of others do not.
    pub(crate) fn decrypt_or_log(
        &self,
        cipher: &SecretCipher,
        now: Timestamp,
    ) -> Option<Destination> {
        let decrypted = self.decrypt(cipher, now);
        if let Err(error) = &decrypted {
            tracing::error!(
                %error,
                endpoint = %self.id,
                "the secret of a webhook endpoint cannot be decrypted; nothing is sent to it"
            );
        }
        decrypted.ok()
    }
}

/// Reads the columns user_id, id, key_id, url, secret, previous_secret, previous_until, version.
pub(crate) fn read_destination(row: &db::Row<'_>) -> db::Result<EncryptedDestination> {
    let (previous, until): (Option<Vec<u8>>, Option<Timestamp>) = (row.get(5)?, row.get(6)?);
    Ok(EncryptedDestination {
        user: row.get(0)?,
        id: row.get(1)?,
        key: row.get(2)?,
        url: row.get(3)?,
        secret: row.get(4)?,
        previous: previous.zip(until),
        version: row.get(7)?,
    })
}
