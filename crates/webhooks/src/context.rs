//! The context that every webhook operation takes: database, clock, randomness, HTTP client, secrets key and limiter.

use std::ops::Deref;
use std::sync::Arc;

use base::{Clock, Entropy, IdMaker};
use db::{Db, Tx};

use crate::endpoint::DisabledEndpoint;
use crate::error::Result;
use crate::limiter::DeliveryLimiter;
use crate::metrics::Meters;
use crate::secrets::SecretCipher;
use crate::version_check::VersionChecks;

/// Called in the transaction that disables an endpoint automatically, such as after five days of failures, so that the
/// layer above can record it there.
pub type OnDisabled = fn(&mut Tx<'_>, &DisabledEndpoint) -> Result<()>;

/// Everything a webhook operation needs; clones share it.
#[derive(Clone)]
pub struct Webhooks(Arc<Parts>);

pub struct Parts {
    pub(crate) db: Db,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) ids: IdMaker,
    /// None where this machine trusts no certificate authority, so that nothing can be sent.
    pub(crate) client: Option<net::HttpClient>,
    pub(crate) cipher: SecretCipher,
    pub(crate) limiter: DeliveryLimiter,
    pub(crate) version_checks: VersionChecks,
    pub(crate) on_disabled: OnDisabled,
    pub(crate) meters: Meters,
    pub(crate) tracer: trace::Tracer,
}

impl Deref for Webhooks {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The values that a context is made of.
pub struct Setup {
    pub db: Db,
    pub clock: Clock,
    pub entropy: Entropy,
    pub ids: IdMaker,
    /// The HTTP client; none where nothing can be sent.
    pub client: Option<net::HttpClient>,
    /// Encrypts the signing secrets of endpoints in the database.
    pub secrets_key: [u8; 32],
    pub on_disabled: OnDisabled,
    /// Records deliveries as traces, if the operator wants them.
    pub tracer: trace::Tracer,
}

impl Webhooks {
    pub fn new(setup: Setup) -> Webhooks {
        let Setup { db, clock, entropy, ids, client, secrets_key, on_disabled, tracer } = setup;
        let cipher = SecretCipher::new(secrets_key);
        Webhooks(Arc::new(Parts {
            db,
            clock,
            entropy,
            ids,
            client,
            cipher,
            limiter: DeliveryLimiter::default(),
            version_checks: VersionChecks::default(),
            on_disabled,
            meters: Meters::default(),
            tracer,
        }))
    }
}
