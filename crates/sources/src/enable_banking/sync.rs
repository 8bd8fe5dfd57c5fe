//! One sync of a bank: its session, then transactions and balances of every chosen account.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::access::{Access, Account};
use super::client::Client;
use super::drafts::{Fetched, FetchedAccount};
use super::error::{EnableError, consent_ended};
use super::link::session_path;
use super::rows;
use super::state::{AccountState, SyncState};
use super::transactions;
use crate::provider::{
    AccountNotice, AccountProblem, BankError, ConnectionNotice, Context, Purpose, Remedy, Response,
    SyncRequest, split_offers,
};

const DAY: i64 = 86_400;
/// The person is reminded this many days before the consent ends, and more urgently in the last days.
const REMINDER_DAYS: i64 = 14;
const URGENT_DAYS: i64 = 3;

#[derive(Deserialize)]
struct SessionState {
    status: Option<String>,
    /// Ids, or objects with ids.
    #[serde(default)]
    accounts: Vec<Value>,
}

pub(super) async fn sync(
    context: &Context,
    access: &Access,
    request: &SyncRequest,
) -> Result<Response, BankError> {
    let now = context.now.as_second();
    if access.valid_until.is_some_and(|it| it <= now) {
        return Err(consent_ended());
    }
    let client = Client::new(context, request.presence.clone())?;
    let mut run = Run {
        client: &client,
        request,
        today: now.div_euclid(DAY),
        state: SyncState::read(request.state.as_deref()),
        notices: Vec::new(),
        errors: Vec::new(),
        bank_is_down: false,
    };
    let mut fetched = Fetched { bank: access.bank.clone(), accounts: Vec::new() };
    for account in check_session(&client, access).await? {
        fetched.accounts.push(run.account(account).await);
    }
    let any_rows = fetched.accounts.iter().any(|it| it.rows.is_some());
    let of_bank = run.errors.iter().find(|it| !it.is_of_account());
    if let Some(error) = of_bank.filter(|_| !any_rows) {
        return Err(error.for_person());
    }
    let limited = of_bank.filter(|it| it.status() == 429).map(|it| ConnectionNotice {
        message: it.for_person().message,
        needs_action: false,
        rate_limited: true,
        remedy: None,
    });
    let notice = limited.or_else(|| reminder(now, access));
    let state = (request.purpose != Purpose::Discover).then(|| run.state.to_text());
    Ok(response(fetched, run.notices, notice, state))
}

/// Only the session itself says whether the consent still holds. Returns the accounts that it still covers.
async fn check_session<'a>(
    client: &Client<'_>,
    access: &'a Access,
) -> Result<Vec<&'a Account>, BankError> {
    let found: Result<SessionState, EnableError> =
        client.get(&session_path(&access.session_id)).await;
    let session = match found {
        Ok(it) if it.status.as_deref().is_none_or(|it| it == "AUTHORIZED") => it,
        Ok(_) => return Err(consent_ended()),
        Err(error) if matches!(error.status(), 404 | 410) => return Err(consent_ended()),
        // The same status means that the session has ended, or that the application is not accepted.
        Err(error) if matches!(error.status(), 401 | 403) => {
            client.get::<IgnoredAny>("/application").await.map_err(|it| it.for_person())?;
            return Err(consent_ended());
        }
        Err(error) => return Err(error.for_person()),
    };
    let id = |it: &Value| it.as_str().or_else(|| it["uid"].as_str()).map(str::to_owned);
    let listed: Vec<String> = session.accounts.iter().filter_map(id).collect();
    let is_listed = |it: &&Account| listed.is_empty() || listed.contains(&it.uid);
    Ok(access.accounts.iter().filter(is_listed).collect())
}

struct Run<'a> {
    client: &'a Client<'a>,
    request: &'a SyncRequest,
    today: i64,
    state: SyncState,
    notices: Vec<AccountNotice>,
    errors: Vec<EnableError>,
    /// Whether the bank did not answer at all, so that its other accounts are not waited for.
    bank_is_down: bool,
}

impl Run<'_> {
    /// An account that fails does not keep the others from being synced.
    async fn account(&mut self, account: &Account) -> FetchedAccount {
        let mut it = FetchedAccount::new(account.clone());
        let is_chosen = self.request.chosen.iter().any(|(id, _)| *id == account.hash);
        if !is_chosen || self.request.purpose == Purpose::Discover {
            return it;
        }
        if self.bank_is_down {
            self.notices.push(AccountNotice::new(&account.hash, AccountProblem::Incomplete));
            return it;
        }
        let mut state = self.state.accounts.get(&account.hash).cloned().unwrap_or_default();
        match self.fetch(&mut it, &mut state).await {
            Ok(is_incomplete) => {
                if is_incomplete {
                    let problem = AccountProblem::Incomplete;
                    self.notices.push(AccountNotice::new(&account.hash, problem));
                } else {
                    state.complete_on = Some(self.today);
                }
                self.state.accounts.insert(account.hash.clone(), state);
            }
            Err(error) => {
                let problem = match error.status() {
                    401 | 403 => AccountProblem::SignIn,
                    404 | 410 => AccountProblem::Unlisted,
                    _ => AccountProblem::Incomplete,
                };
                self.notices.push(AccountNotice::new(&account.hash, problem));
                self.bank_is_down = matches!(error, EnableError::Unreachable(_));
                self.errors.push(error);
            }
        }
        it
    }

    /// Fetches transactions and the balance, and returns whether some are missing.
    async fn fetch(
        &self,
        it: &mut FetchedAccount,
        state: &mut AccountState,
    ) -> Result<bool, EnableError> {
        let uid = it.account.uid.clone();
        let history = transactions::since(self.client, &uid, state, self.today).await?;
        it.balance = transactions::balance(self.client, &uid).await;
        it.rejected = history.unreadable;
        if let Some(currency) = it.currency() {
            let (drafts, rejected) = rows::drafts(&history.rows, currency, &state.pending);
            state.pending = rows::pending_ids(&drafts);
            it.rejected += rejected;
            it.rows = Some(drafts);
        }
        Ok(history.is_incomplete)
    }
}

fn response(
    fetched: Fetched,
    account_notices: Vec<AccountNotice>,
    notice: Option<ConnectionNotice>,
    state: Option<String>,
) -> Response {
    let (offers, unsupported) =
        split_offers(fetched.accounts.iter().map(|it| it.offer(&fetched.bank)));
    Response {
        offers,
        unsupported,
        account_notices,
        notice,
        rejected: fetched.accounts.iter().map(|it| it.rejected).sum(),
        lists_all_pending: true,
        capped_days: None,
        state,
        again_in_seconds: None,
        data: Box::new(fetched),
    }
}

/// Reminders before the consent ends: from 14 days before, and as a problem in the last three.
fn reminder(now: i64, access: &Access) -> Option<ConnectionNotice> {
    let left = access.valid_until? - now;
    if left > REMINDER_DAYS * DAY {
        return None;
    }
    let ends = match left.div_euclid(DAY) {
        ..=0 => "within a day".to_owned(),
        1 => "tomorrow".to_owned(),
        days => format!("in {days} days"),
    };
    Some(ConnectionNotice {
        message: format!(
            "Your consent at this bank ends {ends}. Select Repair to renew it on the bank's page."
        ),
        needs_action: left <= URGENT_DAYS * DAY,
        rate_limited: false,
        remedy: Some(Remedy::Repair),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_is_reminded_two_weeks_and_three_days_before_the_consent_ends() {
        let now = 1_770_000_000;
        let access = |left: i64| Access {
            session_id: "s".to_owned(),
            bank: "B".to_owned(),
            country: "DE".to_owned(),
            valid_until: Some(now + left),
            accounts: Vec::new(),
        };
        let needs_action = |left| reminder(now, &access(left)).map(|it| it.needs_action);
        assert_eq!(needs_action(90 * DAY), None);
        assert_eq!(needs_action(14 * DAY + 1), None);
        assert_eq!(needs_action(14 * DAY), Some(false));
        assert_eq!(needs_action(3 * DAY + 1), Some(false));
        assert_eq!(needs_action(3 * DAY), Some(true));
        assert_eq!(reminder(now, &Access { valid_until: None, ..access(1) }), None);
        let text = |left| reminder(now, &access(left)).map(|it| it.message).unwrap_or_default();
        assert!(text(5 * DAY).contains("in 5 days"));
        assert!(text(DAY + 5).contains("tomorrow"));
        assert!(text(60).contains("within a day"));
    }
}
