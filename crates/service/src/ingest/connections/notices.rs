//! Problems with a connection or an account, as messages that tell the person what to do. Text from a server is quoted as
//! plain text and never trusted.

use sources::provider::{
    AccountNotice, AccountProblem, BankError, ErrorKind, Provider, Remedy, Response,
};

/// A temporary failure is shown to the person after this many failures in a row.
const FAILURES_BEFORE_ACTION: i64 = 3;

/// Why a sync failed.
pub(super) struct SyncFailure {
    pub(super) message: String,
    /// The reason as a word, for metrics.
    pub(super) reason: &'static str,
    /// Whether a later try may succeed without the person.
    temporary: bool,
    /// Whether the server accepts no more requests today.
    pub(super) rate_limited: bool,
    /// What the person can do about it.
    pub(super) remedy: Option<Remedy>,
}

impl SyncFailure {
    pub(super) fn undecryptable(provider: &dyn Provider) -> SyncFailure {
        let remedy = Some(Remedy::Reconnect);
        let (message, reason) = (provider.unreadable_message(), "undecryptable");
        SyncFailure { message, reason, temporary: false, rate_limited: false, remedy }
    }

    pub(super) fn unstorable(provider: &dyn Provider) -> SyncFailure {
        let message = format!(
            "We couldn't save the data from {}. We'll try again automatically. If this keeps \
             happening, check the server log.",
            provider.name()
        );
        let reason = "unstorable";
        SyncFailure { message, reason, temporary: true, rate_limited: false, remedy: None }
    }

    /// A provider that did not finish within the time that a sync may take.
    pub(super) fn too_slow(provider: &dyn Provider) -> SyncFailure {
        let message = format!(
            "{} didn't answer in time. We'll try again automatically; you don't need to do \
             anything.",
            provider.name()
        );
        let reason = "too_slow";
        SyncFailure { message, reason, temporary: true, rate_limited: false, remedy: None }
    }

    /// Whether the person has to do something, after this many failures in a row.
    pub(super) fn needs_action(&self, failures: i64) -> bool {
        !self.temporary || failures >= FAILURES_BEFORE_ACTION
    }
}

impl From<&BankError> for SyncFailure {
    fn from(error: &BankError) -> SyncFailure {
        let rate_limited = error.kind == ErrorKind::RateLimited;
        SyncFailure {
            message: error.message.clone(),
            reason: error.kind.as_str(),
            temporary: rate_limited || error.kind == ErrorKind::Temporary,
            rate_limited,
            remedy: error.remedy(),
        }
    }
}

/// An account by the names that the server uses for it.
pub(super) struct ServerAccount<'a> {
    pub(super) login: Option<&'a str>,
    pub(super) id: &'a str,
    pub(super) institution: Option<&'a str>,
}

impl ServerAccount<'_> {
    fn is_subject_of(&self, notice: &AccountNotice) -> bool {
        let login = notice.login.as_deref();
        match notice.account.as_deref() {
            Some(account) => account == self.id && (login.is_none() || login == self.login),
            None => login.is_some() && login == self.login,
        }
    }

    /// The most serious problem that the response reports for this account.
    pub(super) fn problem(&self, response: &Response) -> Option<AccountProblem> {
        self.most_serious(&response.account_notices)
    }

    fn most_serious(&self, notices: &[AccountNotice]) -> Option<AccountProblem> {
        notices.iter().filter(|it| self.is_subject_of(it)).map(|it| it.problem).max()
    }

    pub(super) fn message(&self, provider: &dyn Provider, problem: AccountProblem) -> String {
        provider.problem_message(problem, self.institution.unwrap_or("Your bank"))
    }
}

#[cfg(test)]
mod tests {
    use sources::banks::PROVIDERS;

    use super::*;

    fn notice(
        problem: AccountProblem,
        login: Option<&str>,
        account: Option<&str>,
    ) -> AccountNotice {
        let [login, account] = [login, account].map(|it| it.map(str::to_owned));
        AccountNotice { login, account, problem }
    }

    fn problem_of(login: &str, id: &str, it: AccountNotice) -> Option<AccountProblem> {
        ServerAccount { login: Some(login), id, institution: None }.most_serious(&[it])
    }

    #[test]
    fn a_notice_is_about_its_login_or_its_account_alone() {
        let of_login = || notice(AccountProblem::SignIn, Some("C1"), None);
        assert_eq!(problem_of("C1", "A", of_login()), Some(AccountProblem::SignIn));
        assert_eq!(problem_of("C2", "A", of_login()), None);
        let of_account = || notice(AccountProblem::Incomplete, Some("C1"), Some("A"));
        assert_eq!(problem_of("C1", "A", of_account()), Some(AccountProblem::Incomplete));
        assert_eq!(problem_of("C1", "B", of_account()), None);
        assert_eq!(problem_of("C2", "A", of_account()), None);
        assert_eq!(
            problem_of("C2", "A", notice(AccountProblem::Incomplete, None, Some("A"))),
            Some(AccountProblem::Incomplete)
        );
        assert_eq!(problem_of("C1", "A", notice(AccountProblem::SignIn, None, None)), None);
    }

    #[test]
    fn a_temporary_failure_needs_action_only_when_it_repeats() {
        for provider in PROVIDERS {
            let temporary = SyncFailure::unstorable(*provider);
            let needs_action: Vec<bool> = (1..5).map(|it| temporary.needs_action(it)).collect();
            assert_eq!(needs_action, [false, false, true, true]);
            let undecryptable = SyncFailure::undecryptable(*provider);
            assert!(undecryptable.needs_action(1));
            assert_eq!(undecryptable.remedy, Some(Remedy::Reconnect));
        }
    }
}
