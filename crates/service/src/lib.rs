//! What the product does: one module per capability, with its rules beside its SQL.

pub mod access;
pub mod actions;
pub mod backup;
pub mod chains;
pub mod classify;
mod error;
pub mod exports;
pub mod ingest;
pub mod insights;
pub mod ledger;
pub mod platform;
pub mod schema;
pub mod summary;
pub mod trading;
pub mod webhooks;

use std::ops::Deref;
use std::sync::Arc;

use base::{AccountId, Clock, Entropy, GrantId, IdMaker, KeyId, SessionId, UserId};
use db::Db;
use wire::v1::Scope;

pub use db::Tx;
pub use error::{Error, Result};
pub use wire::v1::Scopes;

/// Everything an operation needs; clones share it.
#[derive(Clone)]
pub struct App(Arc<Parts>);

pub struct Parts {
    pub db: Db,
    pub clock: Clock,
    pub entropy: Entropy,
    pub ids: IdMaker,
    pub cursors: platform::cursors::Seal,
    pub limits: platform::limits::Limiter,
    pub key_cache: access::keys::Cache,
    pub(crate) access_cache: access::oauth::access::Cache,
    pub(crate) hashing: access::users::Hashing,
    pub trading: trading::quotes::Trading,
    pub(crate) quote_cache: trading::quotes::Cache,
    pub(crate) approvals_life_seconds: i64,
    pub(crate) bell: actions::Bell,
    pub background: platform::background::Background,
    pub(crate) readiness: platform::readiness::Readiness,
    pub webhooks: ::webhooks::Webhooks,
    pub(crate) bank_client: ingest::connections::BankClient,
    pub(crate) installation_key: platform::installation::Key,
    pub(crate) commit_progress: ingest::imports::files::CommitProgress,
    pub(crate) import_limits: ingest::imports::files::Limits,
    pub(crate) reading_slots: ingest::imports::files::ReadingSlots,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What the wiring hands in.
pub struct Setup {
    pub db: Db,
    pub clock: Clock,
    pub entropy: Entropy,
    pub installation_key: platform::installation::Key,
    pub rate_limit: platform::limits::Policy,
    pub trading: trading::quotes::Trading,
    /// How long a proposal lives, unless the person says otherwise.
    pub approvals_life_seconds: i64,
    /// The way out for webhooks; none where nothing can be sent.
    pub webhook_client: Option<net::HttpClient>,
    /// The way out to where accounts are asked for; none where nobody can be asked.
    pub bank_client: Option<net::HttpClient>,
    /// The disk to watch; none where the database is elsewhere.
    pub disk: Option<platform::readiness::Disk>,
    /// Bounds on files to import.
    pub imports: ingest::imports::files::Limits,
}

impl App {
    pub fn new(setup: Setup) -> App {
        let Setup { db, clock, entropy, installation_key, rate_limit, .. } = setup;
        let ids = IdMaker::new(clock.clone(), entropy.clone());
        let db = db.with_signer(platform::anchors::signer(&installation_key));
        let webhooks = ::webhooks::Webhooks::new(::webhooks::Setup {
            db: db.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            ids: ids.clone(),
            client: setup.webhook_client,
            secrets_key: installation_key.derive("webhook secrets"),
            on_disabled: webhooks::record_disabled,
        });
        App(Arc::new(Parts {
            cursors: platform::cursors::Seal::new(&installation_key),
            limits: platform::limits::Limiter::new(rate_limit),
            key_cache: access::keys::Cache::default(),
            access_cache: access::oauth::access::Cache::default(),
            hashing: access::users::Hashing::default(),
            trading: setup.trading,
            quote_cache: trading::quotes::Cache::default(),
            approvals_life_seconds: setup.approvals_life_seconds,
            bell: actions::Bell::default(),
            background: platform::background::Background::default(),
            readiness: platform::readiness::Readiness::new(setup.disk),
            webhooks,
            bank_client: ingest::connections::BankClient::new(setup.bank_client, &installation_key),
            db,
            installation_key,
            commit_progress: Default::default(),
            import_limits: setup.imports,
            reading_slots: ingest::imports::files::ReadingSlots::new(setup.imports.readers),
            clock,
            entropy,
            ids,
        }))
    }
}

/// On whose behalf an operation runs, and how far it may go.
#[derive(Clone, Debug)]
pub struct Caller {
    pub user: UserId,
    pub credential: Credential,
}

#[derive(Clone, Debug)]
pub enum Credential {
    /// An API key. `accounts` lists the only ones it may see, when it is limited to some.
    Key { id: KeyId, scopes: Scopes, accounts: Option<Arc<[AccountId]>> },
    /// An app that the person allowed.
    Grant { id: GrantId, scopes: Scopes },
    /// The person themselves, signed in.
    Session { id: SessionId, address: Option<Arc<str>> },
    /// The operator at the machine, on the person's behalf.
    Owner,
}

impl Caller {
    pub fn owner(user: UserId) -> Caller {
        Caller { user, credential: Credential::Owner }
    }

    pub fn require(&self, scope: Scope) -> Result<()> {
        match &self.credential {
            Credential::Owner | Credential::Session { .. } => Ok(()),
            // An endpoint belongs to the key that made it, and outlives no grant.
            Credential::Grant { .. } if scope == Scope::WebhooksManage => Err(Error::KeyRequired),
            Credential::Key { scopes, .. } | Credential::Grant { scopes, .. } => {
                if scopes.has(scope) { Ok(()) } else { Err(Error::Forbidden(scope)) }
            }
        }
    }

    /// Keys and apps read and propose; what is told of the data, hidden or decided is for the person, or the operator on
    /// their behalf. To a key or an app it is as if the thing were not there.
    pub fn require_owner(&self, what: &'static str) -> Result<()> {
        match self.credential {
            Credential::Owner | Credential::Session { .. } => Ok(()),
            Credential::Key { .. } | Credential::Grant { .. } => Err(Error::NotFound(what)),
        }
    }

    /// The session that the caller is signed in with, if it is one.
    pub fn session(&self) -> Option<SessionId> {
        match &self.credential {
            Credential::Session { id, .. } => Some(*id),
            _ => None,
        }
    }

    pub fn may_see(&self, account: AccountId) -> bool {
        self.limited_to().is_none_or(|accounts| accounts.contains(&account))
    }

    /// The only accounts that the caller may see, where it is limited to some.
    pub fn limited_to(&self) -> Option<&Arc<[AccountId]>> {
        match &self.credential {
            Credential::Key { accounts, .. } => accounts.as_ref(),
            _ => None,
        }
    }

    /// What requests are counted by, and idempotent answers kept under.
    pub fn credential_id(&self) -> [u8; 16] {
        match &self.credential {
            Credential::Key { id, .. } => *id.as_bytes(),
            Credential::Grant { id, .. } => *id.as_bytes(),
            Credential::Session { id, .. } => *id.as_bytes(),
            Credential::Owner => *self.user.as_bytes(),
        }
    }
}
