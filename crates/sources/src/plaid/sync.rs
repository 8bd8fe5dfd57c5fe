//! One sync of a bank login: transactions since the cursor, and what the chosen accounts need besides.

use base::draft::AccountKind;
use base::{date_from_days, days_from_date};

use super::accounts::{self, Account};
use super::client::Client;
use super::drafts::Fetched;
use super::error::PlaidError;
use super::keys::Access;
use super::state::{SyncState, day, first_day};
use super::{investments, liabilities, transactions};
use crate::provider::{
    BankError, ConnectionNotice, Context, ErrorKind, Purpose, Response, SyncRequest, split_offers,
};

pub(super) async fn sync(
    context: &Context,
    access: &Access,
    request: &SyncRequest,
) -> Result<Response, BankError> {
    let client = Client::new(context)?;
    let run = Run { client: &client, context, access, request };
    match request.purpose {
        Purpose::Discover => {
            let accounts = run.accounts().await?;
            Ok(response(run.fetched(accounts), None, None, None))
        }
        // The cursor has all of the history in it.
        Purpose::Newest(..) | Purpose::History(..) => run.everything().await,
    }
}

struct Run<'a> {
    client: &'a Client<'a>,
    context: &'a Context,
    access: &'a Access,
    request: &'a SyncRequest,
}

impl Run<'_> {
    async fn accounts(&self) -> Result<Vec<Account>, BankError> {
        let accounts = accounts::list(self.client, &self.access.access_token).await;
        accounts.map_err(|error| error.for_person())
    }

    fn fetched(&self, accounts: Vec<Account>) -> Fetched {
        let institution = self.access.institution_name.clone();
        Fetched { accounts, institution, ..Fetched::default() }
    }

    async fn everything(&self) -> Result<Response, BankError> {
        let mut state = SyncState::read(self.request.state.as_deref());
        let token = &self.access.access_token;
        let changes = transactions::changes_since(self.client, token, state.cursor.as_deref());
        let changes = changes.await.map_err(|error| error.for_person())?;
        // Asked after the transactions, so that the balances are not older than them.
        let mut fetched = self.fetched(self.accounts().await?);
        state.cursor = changes.cursor.clone();
        let again = state.next_poll(changes.is_complete);
        fetched.changes = changes;
        let mut notice = None;
        self.add_investments(&mut fetched, &mut state, &mut notice).await;
        self.add_liabilities(&mut fetched, &mut state, &mut notice).await;
        Ok(response(fetched, Some(state), again, notice))
    }

    /// Investments once a day, if an investment account was chosen. They are billed from the first request on.
    async fn add_investments(
        &self,
        fetched: &mut Fetched,
        state: &mut SyncState,
        notice: &mut Option<ConnectionNotice>,
    ) {
        let now = self.context.now;
        let is_wanted = self.has_chosen(fetched, |it| it.kind() == AccountKind::Investment);
        if !is_wanted || !SyncState::is_due(state.investments_on, now) {
            return;
        }
        let span = (first_day(state.investments_on, now), date_from_days(day(now)));
        debug_assert!(days_from_date(span.0) <= days_from_date(span.1));
        match investments::fetch(self.client, &self.access.access_token, span).await {
            Ok(found) => {
                fetched.investments = Some(found);
                state.investments_on = Some(day(now));
            }
            Err(error) if error.is_without_product() => state.investments_on = Some(day(now)),
            Err(error) => keep(notice, &error),
        }
    }

    /// Interest rates and due dates once a day, if a debt was chosen for which Plaid has them.
    async fn add_liabilities(
        &self,
        fetched: &mut Fetched,
        state: &mut SyncState,
        notice: &mut Option<ConnectionNotice>,
    ) {
        let now = self.context.now;
        let has_terms = |it: &Account| {
            let of_loan = matches!(it.subtype.as_deref(), Some("student" | "mortgage"));
            it.kind() == AccountKind::Credit || it.kind() == AccountKind::Loan && of_loan
        };
        let is_wanted = self.has_chosen(fetched, has_terms);
        if !is_wanted || !SyncState::is_due(state.liabilities_on, now) {
            return;
        }
        match liabilities::fetch(self.client, &self.access.access_token).await {
            Ok(terms) => {
                fetched.terms = terms;
                state.liabilities_on = Some(day(now));
            }
            Err(error) if error.is_without_product() => state.liabilities_on = Some(day(now)),
            Err(error) => keep(notice, &error),
        }
    }

    fn has_chosen(&self, fetched: &Fetched, is: impl Fn(&Account) -> bool) -> bool {
        let is_chosen =
            |it: &Account| self.request.chosen.iter().any(|(id, _)| *id == it.account_id);
        fetched.accounts.iter().any(|it| is_chosen(it) && is(it))
    }
}

/// Transactions are kept although a further product failed; the person hears of it only if they can do something.
fn keep(notice: &mut Option<ConnectionNotice>, error: &PlaidError) {
    let error = error.for_person();
    if matches!(error.kind, ErrorKind::NeedsPerson(_) | ErrorKind::Ended) {
        *notice = Some(ConnectionNotice {
            remedy: error.remedy(),
            message: error.message,
            needs_action: true,
            rate_limited: false,
        });
    }
}

fn response(
    fetched: Fetched,
    state: Option<SyncState>,
    again_in_seconds: Option<i64>,
    notice: Option<ConnectionNotice>,
) -> Response {
    let institution = fetched.institution.as_deref();
    let (offers, unsupported) =
        split_offers(fetched.accounts.iter().map(|it| it.offer(institution)));
    Response {
        offers,
        unsupported,
        account_notices: Vec::new(),
        notice,
        rejected: fetched.rejected(),
        // Plaid names what was removed.
        lists_all_pending: false,
        capped_days: None,
        state: state.map(|it| it.to_text()),
        again_in_seconds,
        data: Box::new(fetched),
    }
}
