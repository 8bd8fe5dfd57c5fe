//! The input and the outcome of an import.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use base::draft::{AccountDraft, RateDraft, Source, Statement};
use base::{AccountId, ImportId, Timestamp};

use crate::classify::cleaned_descriptions::CleanedDescriptions;

/// Counts of the transactions of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub new: usize,
    pub changed: usize,
    pub seen: usize,
    pub removed: usize,
}

/// Everything that is imported in one transaction, and where it belongs.
pub(crate) struct ImportRequest {
    pub(crate) source: Source,
    /// The connection's name at its source.
    pub(crate) connection: String,
    pub(crate) institution: Option<String>,
    pub(crate) as_of: Timestamp,
    pub(crate) accounts: Vec<IncomingAccount>,
    pub(crate) rates: Vec<RateDraft>,
    pub(crate) file: FileInfo,
    pub(crate) progress: Progress,
    /// Cleaned descriptions of its transactions, if that was done in advance.
    pub(crate) cleaned: CleanedDescriptions,
}

impl ImportRequest {
    /// Cleans the descriptions. Without it they are cleaned while the transaction is open, and on SQLite everybody else's
    /// changes wait for that.
    pub(crate) fn clean_descriptions(&mut self) {
        let transactions = self.accounts.iter().flat_map(|it| &it.draft.transactions);
        let texts: Vec<&str> = transactions.map(|it| it.description.as_str()).collect();
        self.cleaned = CleanedDescriptions::clean(&texts);
    }
}

/// Rows written so far, shared with a request that shows the progress.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    pub(crate) done: Arc<AtomicU64>,
    pub(crate) total: u64,
}

/// A draft of an account, and the account it is imported into.
pub(crate) struct IncomingAccount {
    pub(crate) draft: AccountDraft,
    /// The source of its transactions; their ids begin with it.
    pub(crate) provenance: Arc<str>,
    /// The person's account to import into. None finds it by its external id, or creates it.
    pub(crate) into: Option<AccountId>,
    /// Whether the source names every pending transaction that it settles or removes, so that no other one is taken for
    /// the beginning of a posted one that merely looks alike.
    pub(crate) names_pending: bool,
    /// The source's name for the account, to be recognized in the next import.
    pub(crate) link: Option<AccountLink>,
}

#[derive(Debug, Clone)]
pub(crate) struct AccountLink {
    pub(crate) provenance: &'static str,
    pub(crate) external_id: String,
    /// Whether it identifies the account; otherwise another account may have the same.
    pub(crate) is_full: bool,
}

/// The file that an import came from.
#[derive(Default)]
pub(crate) struct FileInfo {
    pub(crate) name: Option<String>,
    pub(crate) format: Option<&'static str>,
    pub(crate) rejected: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct ImportOutcome {
    pub(crate) import: ImportId,
    pub(crate) summary: Summary,
    /// In the order of the request.
    pub(crate) accounts: Vec<AccountId>,
}

impl From<Statement> for ImportRequest {
    fn from(statement: Statement) -> ImportRequest {
        let provenance: Arc<str> = "".into();
        let incoming = |draft| IncomingAccount {
            draft,
            provenance: Arc::clone(&provenance),
            into: None,
            names_pending: false,
            link: None,
        };
        ImportRequest {
            source: statement.source,
            connection: statement.connection,
            institution: statement.institution,
            as_of: statement.as_of,
            accounts: statement.accounts.into_iter().map(incoming).collect(),
            rates: statement.rates,
            file: FileInfo::default(),
            progress: Progress::default(),
            cleaned: CleanedDescriptions::default(),
        }
    }
}
