//! Problems with a connection or an account, as messages that tell the person what to do. Text from a server is quoted as
//! plain text and never trusted.

use sources::simplefin::{AccountSet, Notice, NoticeKind, SimplefinError};

/// A temporary failure is shown to the person after this many failures in a row.
const FAILURES_BEFORE_ACTION: i64 = 3;

/// Why a sync failed.
pub(super) struct SyncFailure {
    pub(super) message: String,
    /// Whether a later try may succeed without the person.
    temporary: bool,
    /// Whether the server accepts no more requests today.
    pub(super) rate_limited: bool,
}

impl SyncFailure {
    pub(super) fn undecryptable() -> SyncFailure {
        let message = "Evenkeel can't read its stored access to SimpleFIN. Create a new setup token \
                       at SimpleFIN and enter it here. Your accounts and their history stay.";
        SyncFailure { message: message.to_owned(), temporary: false, rate_limited: false }
    }

    pub(super) fn unstorable() -> SyncFailure {
        let message = "We couldn't save the data from SimpleFIN. We'll try again automatically. If \
                       this keeps happening, check the server log.";
        SyncFailure { message: message.to_owned(), temporary: true, rate_limited: false }
    }

    /// Whether the person has to do something, after this many failures in a row.
    pub(super) fn needs_action(&self, failures: i64) -> bool {
        !self.temporary || failures >= FAILURES_BEFORE_ACTION
    }
}

impl From<&SimplefinError> for SyncFailure {
    fn from(error: &SimplefinError) -> SyncFailure {
        SyncFailure {
            message: error.to_string(),
            temporary: error.is_temporary(),
            rate_limited: matches!(error, SimplefinError::RateLimited),
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
    fn is_subject_of(&self, notice: &Notice) -> bool {
        let login = notice.connection.as_deref();
        match notice.account.as_deref() {
            Some(account) => account == self.id && (login.is_none() || login == self.login),
            None => login.is_some() && login == self.login,
        }
    }

    /// The most serious problem that the response reports for this account.
    pub(super) fn problem(&self, set: &AccountSet) -> Option<AccountProblem> {
        let notices = set.notices.iter().filter(|it| self.is_subject_of(it));
        let problems = notices.filter_map(|notice| match notice.kind {
            NoticeKind::Reauthenticate => Some(AccountProblem::SignIn),
            NoticeKind::Retry => Some(AccountProblem::Incomplete),
            NoticeKind::RangeCapped(_) | NoticeKind::TooManyRequests | NoticeKind::Other => None,
        });
        problems.max()
    }

    pub(super) fn message(&self, problem: AccountProblem) -> String {
        let bank = self.institution.unwrap_or("Your bank");
        match problem {
            AccountProblem::Incomplete => format!(
                "{bank} didn't send everything in the last sync. We'll try again automatically. If \
                 this lasts for days, check this bank at SimpleFIN."
            ),
            AccountProblem::SignIn => format!(
                "{bank} needs you to sign in again. Sign in at SimpleFIN; the next sync gets what \
                 is missing."
            ),
            AccountProblem::Unlisted => format!(
                "SimpleFIN no longer lists this account. If you added {bank} again there, select \
                 the new account here and merge it into this one. Transactions are not duplicated."
            ),
            AccountProblem::Unusable => format!(
                "The data from {bank} for this account is invalid: its currency changed, or an \
                 amount is impossible. Nothing was imported. Check this bank at SimpleFIN."
            ),
        }
    }
}

/// Why an account may be incomplete, the most serious last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccountProblem {
    Incomplete,
    SignIn,
    Unlisted,
    Unusable,
}

/// A message about the connection as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConnectionNotice {
    pub(super) message: String,
    pub(super) needs_action: bool,
    pub(super) rate_limited: bool,
}

/// The most serious notice in a response that is about no account in particular.
pub(super) fn connection_notice(set: &AccountSet) -> Option<ConnectionNotice> {
    let is_about_account = |it: &Notice| {
        let logins = || set.connections.iter().map(|it| &it.id);
        it.account.is_some() || it.connection.as_ref().is_some_and(|id| logins().any(|it| it == id))
    };
    let notices = set.notices.iter().filter_map(|it| match it.kind {
        NoticeKind::TooManyRequests => {
            let message = "SimpleFIN received too many requests today. Syncing resumes tomorrow. \
                           Check whether other programs use the same connection."
                .to_owned();
            Some((2, ConnectionNotice { message, needs_action: false, rate_limited: true }))
        }
        NoticeKind::Reauthenticate if !is_about_account(it) => {
            let message = format!("{} Check it at SimpleFIN.", quote(it));
            Some((1, ConnectionNotice { message, needs_action: true, rate_limited: false }))
        }
        NoticeKind::Other if !it.text.is_empty() => {
            let message = quote(it);
            Some((0, ConnectionNotice { message, needs_action: false, rate_limited: false }))
        }
        _ => None,
    });
    notices.max_by_key(|(severity, _)| *severity).map(|(_, notice)| notice)
}

fn quote(notice: &Notice) -> String {
    format!("Message from SimpleFIN: \"{}\".", notice.text.trim_end_matches('.'))
}

/// The number of days that the server returns at once, if it returned fewer than requested.
pub(super) fn capped_days(set: &AccountSet) -> Option<i64> {
    let caps = set.notices.iter().filter_map(|it| match it.kind {
        NoticeKind::RangeCapped(days) => Some(days),
        _ => None,
    });
    caps.min()
}

#[cfg(test)]
mod tests {
    use sources::simplefin::Connection;

    use super::*;

    fn notice(kind: NoticeKind, connection: Option<&str>, account: Option<&str>) -> Notice {
        let [connection, account] = [connection, account].map(|it| it.map(str::to_owned));
        Notice { code: None, text: "Trouble.".to_owned(), connection, account, kind }
    }

    fn set(notices: Vec<Notice>) -> AccountSet {
        let login = Connection { id: "C1".to_owned(), name: "Bank".to_owned(), institution: None };
        AccountSet { connections: vec![login], notices, ..AccountSet::default() }
    }

    fn problem_of(login: &str, id: &str, it: Notice) -> Option<AccountProblem> {
        ServerAccount { login: Some(login), id, institution: None }.problem(&set(vec![it]))
    }

    #[test]
    fn a_notice_is_about_its_login_or_its_account_alone() {
        let of_login = || notice(NoticeKind::Reauthenticate, Some("C1"), None);
        assert_eq!(problem_of("C1", "A", of_login()), Some(AccountProblem::SignIn));
        assert_eq!(problem_of("C2", "A", of_login()), None);
        let of_account = || notice(NoticeKind::Retry, Some("C1"), Some("A"));
        assert_eq!(problem_of("C1", "A", of_account()), Some(AccountProblem::Incomplete));
        assert_eq!(problem_of("C1", "B", of_account()), None);
        assert_eq!(problem_of("C2", "A", of_account()), None);
        assert_eq!(
            problem_of("C2", "A", notice(NoticeKind::Retry, None, Some("A"))),
            Some(AccountProblem::Incomplete)
        );
        assert_eq!(problem_of("C1", "A", notice(NoticeKind::Reauthenticate, None, None)), None);
    }

    #[test]
    fn the_most_serious_notice_is_shown() {
        let other = || notice(NoticeKind::Other, None, None);
        let of_login = notice(NoticeKind::Reauthenticate, Some("C1"), None);
        assert_eq!(connection_notice(&set(vec![])), None);
        assert_eq!(connection_notice(&set(vec![of_login])), None);
        let shown = connection_notice(&set(vec![other()])).unwrap();
        assert_eq!(shown.message, "Message from SimpleFIN: \"Trouble\".");
        assert!(!shown.needs_action);
        let unknown_login = notice(NoticeKind::Reauthenticate, Some("C9"), None);
        let both = set(vec![unknown_login.clone(), other()]);
        assert!(connection_notice(&both).unwrap().needs_action);
        let too_many = notice(NoticeKind::TooManyRequests, None, None);
        assert!(connection_notice(&set(vec![too_many, unknown_login])).unwrap().rate_limited);
    }

    #[test]
    fn a_temporary_failure_needs_action_only_when_it_repeats() {
        let temporary = SyncFailure::unstorable();
        let needs_action: Vec<bool> = (1..5).map(|it| temporary.needs_action(it)).collect();
        assert_eq!(needs_action, [false, false, true, true]);
        assert!(SyncFailure::undecryptable().needs_action(1));
    }
}
