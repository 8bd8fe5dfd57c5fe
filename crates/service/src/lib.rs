//! The product's capabilities in groups of modules. Each module holds its rules and its SQL side by side.

pub mod access;
pub mod actions;
pub mod backup;
pub mod chains;
pub mod classify;
mod error;
pub mod exports;
pub mod ingest;
pub mod insights;
pub mod key_rotation;
pub mod ledger;
pub mod mail;
pub mod metrics;
pub mod onboarding;
pub mod placement;
pub mod platform;
pub mod retention;
pub mod schema;
pub mod summary;
pub mod trading;
pub mod webhooks;

use std::ops::Deref;
use std::sync::Arc;

use base::{AccountId, Clock, Date, Entropy, GrantId, IdMaker, KeyId, SessionId, TimeZone, UserId};
use db::Db;
use wire::v1::Scope;

use crate::insights::kept_figures::KeptFigures;

pub use db::Tx;
pub use error::{Error, Result};
pub use wire::v1::Scopes;

/// The state that operations work with: database, clock, caches and clients. Clones share it.
#[derive(Clone)]
pub struct App(Arc<AppState>);

pub struct AppState {
    pub db: Db,
    pub clock: Clock,
    pub entropy: Entropy,
    pub ids: IdMaker,
    pub cursors: platform::cursors::CursorCipher,
    pub limits: platform::limits::Limiter,
    pub key_cache: access::keys::KeyCache,
    pub(crate) income_reports: insights::income::IncomeReports,
    pub(crate) daily_nets: ledger::daily_nets::DailyNets,
    pub(crate) kept_accounts: ledger::transactions::KeptAccounts,
    pub(crate) kept_by_filter: ledger::transactions::KeptByFilter,
    pub(crate) kept_spending: KeptFigures<wire::v1::Spending>,
    pub(crate) kept_months: KeptFigures<insights::spending::Months>,
    pub(crate) kept_histories: KeptFigures<insights::spending::history::History>,
    pub(crate) kept_flows: KeptFigures<insights::spending::history::MoneyFlow>,
    pub(crate) access_cache: access::oauth::access_tokens::TokenCache,
    pub(crate) hashing: access::passwords::Hashing,
    /// Sends email, if the operator has set up a mail server.
    pub(crate) mail: Option<platform::mail_queue::Mailer>,
    /// Whether people can sign in with a password.
    pub password_sign_in: bool,
    pub single_sign_on: access::oidc::SingleSignOn,
    pub trading: ledger::quotes::Trading,
    pub(crate) quote_cache: ledger::quotes::QuoteCache,
    pub(crate) approvals_life_seconds: i64,
    pub(crate) changes: actions::ChangeNotifier,
    pub background: platform::background::Background,
    pub meters: platform::meters::Meters,
    pub tracer: trace::Tracer,
    pub(crate) figures: metrics::Figures,
    pub(crate) backups: backup::Scheduled,
    pub(crate) process: platform::processes::Process,
    pub(crate) abandoned_claims: platform::idempotency::AbandonedClaims,
    pub(crate) readiness: platform::readiness::Readiness,
    pub webhooks: ::webhooks::Webhooks,
    pub(crate) bank_client: ingest::connections::BankClient,
    /// Fetches the documents by which OAuth apps describe themselves, from the same addresses as banks: public ones, and
    /// networks that the operator allows for connections.
    pub(crate) document_client: Option<net::HttpClient>,
    pub(crate) rates_url: Option<String>,
    pub(crate) installation_key: platform::installation::Key,
    pub(crate) cleaned_handover: classify::cleaned_handover::CleanedHandover,
    pub(crate) commit_progress: ingest::imports::files::CommitProgress,
    pub(crate) import_limits: ingest::imports::files::Limits,
    pub(crate) reading_slots: ingest::imports::files::ReadingSlots,
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}

/// Everything that the binary, or a test, provides to create an `App`.
pub struct Setup {
    pub db: Db,
    pub clock: Clock,
    pub entropy: Entropy,
    pub installation_key: platform::installation::Key,
    pub rate_limit: platform::limits::Policy,
    pub trading: ledger::quotes::Trading,
    /// How long a proposal can be decided, unless the person's policy says otherwise.
    pub approvals_life_seconds: i64,
    /// The HTTP client that delivers webhooks; `None` where none are sent.
    pub webhook_client: Option<net::HttpClient>,
    /// The HTTP client for connections to banks and for the documents of OAuth apps; `None` where there are none.
    pub bank_client: Option<net::HttpClient>,
    /// Where exchange rates are fetched once a day; `None` if the operator does not allow it.
    pub rates_url: Option<String>,
    /// What the operator set for bank providers.
    pub bank_providers: Vec<ingest::connections::ProviderSettings>,
    /// The disk of the database file; `None` for PostgreSQL.
    pub disk: Option<platform::readiness::Disk>,
    /// Limits on imported files.
    pub imports: ingest::imports::files::Limits,
    /// Backups that a server writes by itself; `None` where there are none.
    pub backups: Option<backup::Plan>,
    /// Sends email; `None` where there is no mail server.
    pub mail: Option<platform::mail_queue::Mailer>,
    /// The cost of a password's hash.
    pub password_cost: access::passwords::HashCost,
    /// Whether people can sign in with a password.
    pub password_sign_in: bool,
    /// Providers that people can sign in with.
    pub single_sign_on: access::oidc::SingleSignOn,
    /// Records traces, if the operator wants them.
    pub tracer: trace::Tracer,
}

impl App {
    pub fn new(setup: Setup) -> App {
        let Setup { db, clock, entropy, installation_key, rate_limit, .. } = setup;
        let ids = IdMaker::new(clock.clone(), entropy.clone());
        let db =
            db.with_signer(platform::anchors::signer(&installation_key)).with_frozen_clock(&clock);
        let webhooks = ::webhooks::Webhooks::new(::webhooks::Setup {
            db: db.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            ids: ids.clone(),
            client: setup.webhook_client,
            secrets_key: installation_key.derive("webhook secrets"),
            on_disabled: webhooks::record_disabled,
            tracer: setup.tracer.clone(),
        });
        App(Arc::new(AppState {
            cursors: platform::cursors::CursorCipher::new(&installation_key),
            limits: platform::limits::Limiter::new(rate_limit),
            key_cache: access::keys::KeyCache::default(),
            income_reports: insights::income::IncomeReports::default(),
            daily_nets: ledger::daily_nets::DailyNets::default(),
            kept_accounts: ledger::transactions::KeptAccounts::default(),
            kept_by_filter: ledger::transactions::KeptByFilter::default(),
            kept_spending: KeptFigures::default(),
            kept_months: KeptFigures::default(),
            kept_histories: KeptFigures::default(),
            kept_flows: KeptFigures::default(),
            access_cache: access::oauth::access_tokens::TokenCache::default(),
            hashing: access::passwords::Hashing::new(setup.password_cost),
            mail: setup.mail,
            password_sign_in: setup.password_sign_in,
            single_sign_on: setup.single_sign_on,
            trading: setup.trading,
            quote_cache: ledger::quotes::QuoteCache::default(),
            approvals_life_seconds: setup.approvals_life_seconds,
            changes: actions::ChangeNotifier::default(),
            background: platform::background::Background::default(),
            meters: platform::meters::Meters::default(),
            tracer: setup.tracer,
            figures: metrics::Figures::default(),
            backups: backup::Scheduled::new(setup.backups),
            process: platform::processes::Process::new(&entropy),
            abandoned_claims: platform::idempotency::AbandonedClaims::default(),
            readiness: platform::readiness::Readiness::new(schema::known_version(), setup.disk),
            webhooks,
            document_client: setup.bank_client.clone(),
            rates_url: setup.rates_url,
            bank_client: ingest::connections::BankClient::new(
                setup.bank_client,
                setup.bank_providers,
                &installation_key,
            ),
            db,
            installation_key,
            cleaned_handover: Default::default(),
            commit_progress: Default::default(),
            import_limits: setup.imports,
            reading_slots: ingest::imports::files::ReadingSlots::new(setup.imports.readers),
            clock,
            entropy,
            ids,
        }))
    }

    /// Whether the operator has set up a mail server.
    pub fn sends_mail(&self) -> bool {
        self.mail.is_some()
    }

    /// The present date of the caller's person.
    pub fn today(&self, caller: &Caller) -> Date {
        self.clock.today_in(caller.timezone)
    }
}

/// The person whose data an operation uses, and the credential that limits it.
#[derive(Clone, Debug)]
pub struct Caller {
    pub user: UserId,
    /// The person's time zone. It is read together with the credential, so that no operation needs a query for it.
    pub timezone: TimeZone,
    pub credential: Credential,
}

#[derive(Clone, Debug)]
pub enum Credential {
    /// An API key. `accounts` lists the accounts that a limited key may see; `None` means all.
    Key { id: KeyId, scopes: Scopes, accounts: Option<Arc<[AccountId]>> },
    /// An OAuth app that the person granted access.
    Grant { id: GrantId, scopes: Scopes },
    /// The signed-in person.
    Session { id: SessionId, address: Option<Arc<str>> },
    /// The operator at the command line, on behalf of the person.
    Owner,
}

impl Caller {
    pub fn owner(user: UserId, timezone: TimeZone) -> Caller {
        Caller { user, timezone, credential: Credential::Owner }
    }

    pub fn require(&self, scope: Scope) -> Result<()> {
        self.require_all(&[scope])
    }

    /// Requires several scopes. The error names all that are missing, so that a client asks for them at once.
    pub fn require_all(&self, needed: &[Scope]) -> Result<()> {
        let scopes = match &self.credential {
            Credential::Owner | Credential::Session { .. } => return Ok(()),
            // A webhook endpoint belongs to an API key. Apps cannot have one, because it would outlive their grant.
            Credential::Grant { .. } if needed.contains(&Scope::WebhooksManage) => {
                return Err(Error::KeyRequired);
            }
            Credential::Key { scopes, .. } | Credential::Grant { scopes, .. } => scopes,
        };
        let missing: Scopes = needed.iter().copied().filter(|it| !scopes.has(*it)).collect();
        if missing.is_empty() { Ok(()) } else { Err(Error::Forbidden(missing)) }
    }

    /// Requires the person, or the operator on their behalf. Keys and apps can read and propose; they can neither decide
    /// nor change settings. They get the same error as if the thing did not exist.
    pub fn require_owner(&self, thing: &'static str) -> Result<()> {
        match self.credential {
            Credential::Owner | Credential::Session { .. } => Ok(()),
            Credential::Key { .. } | Credential::Grant { .. } => Err(Error::NotFound(thing)),
        }
    }

    /// The caller's session, if the credential is one.
    pub fn session(&self) -> Option<SessionId> {
        match &self.credential {
            Credential::Session { id, .. } => Some(*id),
            _ => None,
        }
    }

    pub fn may_see(&self, account: AccountId) -> bool {
        self.limited_to().is_none_or(|accounts| accounts.contains(&account))
    }

    /// The accounts that the caller may see; `None` means all.
    pub fn limited_to(&self) -> Option<&Arc<[AccountId]>> {
        match &self.credential {
            Credential::Key { accounts, .. } => accounts.as_ref(),
            _ => None,
        }
    }

    /// The id that rate limits and idempotency keys are kept by.
    pub fn credential_id(&self) -> [u8; 16] {
        match &self.credential {
            Credential::Key { id, .. } => *id.as_bytes(),
            Credential::Grant { id, .. } => *id.as_bytes(),
            Credential::Session { id, .. } => *id.as_bytes(),
            Credential::Owner => *self.user.as_bytes(),
        }
    }
}
