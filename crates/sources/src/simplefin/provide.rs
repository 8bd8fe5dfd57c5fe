//! SimpleFIN as a bank provider.

use std::collections::BTreeMap;

use base::Timestamp;
use base::draft::{AccountDraft, Source};

use super::{
    AccessUrl, Account, AccountSet, Notice, NoticeKind, Query, SetupToken, SimplefinError, claim,
    drafts, fetch, suggest_kind, suggest_owed,
};
use crate::provider::{
    AccountChoice, AccountNotice, AccountProblem, BankError, ConnectMethod, ConnectionNotice,
    Context, DraftAccounts, ErrorKind, NewAccess, Offer, Provider, Purpose, Remedy, Reply,
    Response, Schedule, Secret, SyncRequest,
};

#[derive(Debug)]
pub struct Simplefin;

/// SimpleFIN allows 24 requests a day; four of them are kept in reserve.
const SYNCS_A_DAY: i64 = 20;
const HISTORY_SYNCS_A_DAY: i64 = 14;
/// Four syncs a day; SimpleFIN reads a bank about once a day.
const INTERVAL_SECONDS: i64 = 6 * 3_600;

impl Provider for Simplefin {
    fn source(&self) -> Source {
        Source::Simplefin
    }

    fn name(&self) -> &'static str {
        "SimpleFIN"
    }

    fn id_prefix(&self) -> &'static str {
        "sf:"
    }

    fn schedule(&self) -> Schedule {
        Schedule {
            syncs_a_day: SYNCS_A_DAY,
            attended_syncs_a_day: None,
            history_syncs_a_day: HISTORY_SYNCS_A_DAY,
            interval_seconds: INTERVAL_SECONDS,
            window_days: Some(super::WINDOW_DAYS),
        }
    }

    fn method(&self) -> ConnectMethod {
        ConnectMethod::Token
    }

    fn check_token(&self, token: &str) -> Result<(), BankError> {
        parse_token(token).map(drop)
    }

    fn exchange<'a>(&'a self, context: &'a Context, token: &'a str) -> Reply<'a, NewAccess> {
        Box::pin(async move {
            let token = parse_token(token)?;
            let claimed = claim(&context.http, &token).await;
            let access = claimed.map_err(|error| match error {
                SimplefinError::TokenAlreadyClaimed | SimplefinError::Forbidden(_) => {
                    BankError::invalid(error.to_string())
                }
                other => BankError::from(&other),
            })?;
            Ok(NewAccess {
                access: Secret::new(access.expose()),
                place: access.host().to_owned(),
                external_id: None,
                institution: None,
                ends_at: None,
            })
        })
    }

    fn sync<'a>(
        &'a self,
        context: &'a Context,
        access: &'a Secret,
        request: &'a SyncRequest,
    ) -> Reply<'a, Response> {
        Box::pin(async move {
            let unreadable = || {
                let kind = ErrorKind::NeedsPerson(Some(Remedy::Reconnect));
                BankError::new(kind, self.unreadable_message())
            };
            let access = AccessUrl::parse(access.expose()).map_err(|_| unreadable())?;
            let fetched = fetch(&context.http, &access, &query(request.purpose)).await;
            let set = fetched.map_err(|error| BankError::from(&error))?;
            Ok(response(set, matches!(request.purpose, Purpose::Newest(..))))
        })
    }

    fn problem_message(&self, problem: AccountProblem, bank: &str) -> String {
        match problem {
            AccountProblem::Incomplete => format!(
                "{} If this lasts for days, check this bank at SimpleFIN.",
                AccountProblem::incomplete_message(bank)
            ),
            AccountProblem::SignIn => format!(
                "{bank} needs you to sign in again. Sign in at SimpleFIN; the next sync gets what \
                 is missing."
            ),
            AccountProblem::Unlisted => format!(
                "SimpleFIN no longer lists this account. If you added {bank} again there, select \
                 the new account here and merge it into this one. Transactions are not duplicated."
            ),
            AccountProblem::Unusable => {
                format!("{} Check this bank at SimpleFIN.", AccountProblem::unusable_message(bank))
            }
        }
    }

    fn unreadable_message(&self) -> String {
        "Evenkeel can't read its stored access to SimpleFIN. Create a new setup token at SimpleFIN \
         and enter it here. Your accounts and their history stay."
            .to_owned()
    }

    fn disconnected_message(&self) -> &'static str {
        "This connection is disconnected. To reconnect, create a new setup token at SimpleFIN and \
         enter it here. Your accounts and their history are still here."
    }
}

fn parse_token(token: &str) -> Result<SetupToken, BankError> {
    SetupToken::parse(token).map_err(|bad| BankError::invalid(bad.to_string()))
}

fn query(purpose: Purpose) -> Query {
    match purpose {
        Purpose::Discover => Query { balances_only: true, ..Query::default() },
        Purpose::Newest(start, end) => {
            Query { start: Some(start), end: Some(end), pending: true, ..Query::default() }
        }
        Purpose::History(start, end) => {
            Query { start: Some(start), end: Some(end), ..Query::default() }
        }
    }
}

fn response(mut set: AccountSet, lists_all_pending: bool) -> Response {
    Response {
        offers: set.accounts.iter().map(offer).collect(),
        unsupported: std::mem::take(&mut set.unsupported),
        account_notices: set.notices.iter().filter_map(account_notice).collect(),
        notice: connection_notice(&set),
        rejected: set.rejected.len(),
        lists_all_pending,
        capped_days: capped_days(&set),
        state: None,
        again_in_seconds: None,
        data: Box::new(set),
    }
}

impl DraftAccounts for AccountSet {
    fn drafts(
        &self,
        choices: &BTreeMap<String, AccountChoice>,
        at: Timestamp,
    ) -> Vec<AccountDraft> {
        drafts(self, choices, at)
    }
}

fn offer(account: &Account) -> Offer {
    let has_holdings = account.holdings.as_ref().is_some_and(|it| !it.is_empty());
    let (kind, subtype) = suggest_kind(&account.name, has_holdings);
    let balance = account.balance.or(account.available);
    Offer {
        external_id: account.external_id.clone(),
        login: account.connection.clone(),
        id: account.id.clone(),
        name: account.name.clone(),
        institution: account.institution.clone(),
        currency: account.currency,
        balance,
        kind,
        subtype: Some(subtype.to_owned()),
        owed: suggest_owed(kind, balance),
    }
}

fn account_notice(notice: &Notice) -> Option<AccountNotice> {
    let problem = match notice.kind {
        NoticeKind::Reauthenticate => AccountProblem::SignIn,
        NoticeKind::Retry => AccountProblem::Incomplete,
        NoticeKind::RangeCapped(_) | NoticeKind::TooManyRequests | NoticeKind::Other => {
            return None;
        }
    };
    let (login, account) = (notice.connection.clone(), notice.account.clone());
    Some(AccountNotice { login, account, problem })
}

/// The most serious notice in a response that is about no account in particular.
fn connection_notice(set: &AccountSet) -> Option<ConnectionNotice> {
    let is_about_account = |it: &Notice| {
        let logins = || set.connections.iter().map(|it| &it.id);
        it.account.is_some() || it.connection.as_ref().is_some_and(|id| logins().any(|it| it == id))
    };
    let new = |message, needs_action, rate_limited| ConnectionNotice {
        message,
        needs_action,
        rate_limited,
        remedy: None,
    };
    let notices = set.notices.iter().filter_map(|it| match it.kind {
        NoticeKind::TooManyRequests => {
            let message = "SimpleFIN received too many requests today. Syncing resumes tomorrow. \
                           Check whether other programs use the same connection."
                .to_owned();
            Some((2, new(message, false, true)))
        }
        NoticeKind::Reauthenticate if !is_about_account(it) => {
            Some((1, new(format!("{} Check it at SimpleFIN.", quote(it)), true, false)))
        }
        NoticeKind::Other if !it.text.is_empty() => Some((0, new(quote(it), false, false))),
        _ => None,
    });
    notices.max_by_key(|(severity, _)| *severity).map(|(_, notice)| notice)
}

fn quote(notice: &Notice) -> String {
    format!("Message from SimpleFIN: \"{}\".", notice.text.trim_end_matches('.'))
}

/// The number of days that the server returns at once, if it returned fewer than requested.
fn capped_days(set: &AccountSet) -> Option<i64> {
    let caps = set.notices.iter().filter_map(|it| match it.kind {
        NoticeKind::RangeCapped(days) => Some(days),
        _ => None,
    });
    caps.min()
}

impl From<&SimplefinError> for BankError {
    fn from(error: &SimplefinError) -> BankError {
        let kind = match error {
            SimplefinError::RateLimited => ErrorKind::RateLimited,
            SimplefinError::Revoked => ErrorKind::Ended,
            other if other.is_temporary() => ErrorKind::Temporary,
            _ => ErrorKind::NeedsPerson(None),
        };
        BankError::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Connection;
    use super::*;

    fn notice(kind: NoticeKind, connection: Option<&str>) -> Notice {
        let connection = connection.map(str::to_owned);
        Notice { code: None, text: "Trouble.".to_owned(), connection, account: None, kind }
    }

    fn set(notices: Vec<Notice>) -> AccountSet {
        let login = Connection { id: "C1".to_owned(), name: "Bank".to_owned(), institution: None };
        AccountSet { connections: vec![login], notices, ..AccountSet::default() }
    }

    #[test]
    fn the_most_serious_notice_is_shown() {
        let other = || notice(NoticeKind::Other, None);
        let of_login = notice(NoticeKind::Reauthenticate, Some("C1"));
        assert_eq!(connection_notice(&set(vec![])), None);
        assert_eq!(connection_notice(&set(vec![of_login])), None);
        let shown = connection_notice(&set(vec![other()])).unwrap();
        assert_eq!(shown.message, "Message from SimpleFIN: \"Trouble\".");
        assert!(!shown.needs_action);
        let unknown_login = notice(NoticeKind::Reauthenticate, Some("C9"));
        let both = set(vec![unknown_login.clone(), other()]);
        assert!(connection_notice(&both).unwrap().needs_action);
        let too_many = notice(NoticeKind::TooManyRequests, None);
        assert!(connection_notice(&set(vec![too_many, unknown_login])).unwrap().rate_limited);
    }

    #[test]
    fn the_shortest_cap_counts() {
        let capped = |days| notice(NoticeKind::RangeCapped(days), None);
        assert_eq!(capped_days(&set(vec![capped(60), capped(45), capped(90)])), Some(45));
        assert_eq!(capped_days(&set(vec![])), None);
    }
}
