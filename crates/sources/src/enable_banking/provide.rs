//! Enable Banking as a bank provider.

use base::draft::Source;
use serde::de::IgnoredAny;

use super::access::{Access, UNREADABLE};
use super::client::Client;
use super::keys::Keys;
use super::link::session_path;
use super::{banks, link, sync};
use crate::provider::{
    AccountProblem, BankError, ConnectMethod, Context, ErrorKind, Institution, LinkOutcome,
    LinkRequest, NewAccess, NewLink, Provider, Reply, Response, Schedule, Secret, SyncRequest,
};

#[derive(Debug)]
pub struct EnableBanking;

/// The European standard allows four requests without the person in a day.
const SYNCS_A_DAY: i64 = 4;
/// Requests while the person is there are not limited by it.
const ATTENDED_SYNCS_A_DAY: i64 = 12;
const INTERVAL_SECONDS: i64 = 6 * 3_600 + 600;

impl Provider for EnableBanking {
    fn source(&self) -> Source {
        Source::EnableBanking
    }

    fn name(&self) -> &'static str {
        "Enable Banking"
    }

    fn id_prefix(&self) -> &'static str {
        "eb:"
    }

    fn schedule(&self) -> Schedule {
        Schedule {
            syncs_a_day: SYNCS_A_DAY,
            attended_syncs_a_day: Some(ATTENDED_SYNCS_A_DAY),
            history_syncs_a_day: 0,
            interval_seconds: INTERVAL_SECONDS,
            window_days: None,
        }
    }

    fn method(&self) -> ConnectMethod {
        ConnectMethod::Link
    }

    fn needs_keys(&self) -> bool {
        true
    }

    fn check_keys(&self, keys: &Secret) -> Result<(), BankError> {
        Keys::read(keys).map(drop)
    }

    fn list_banks<'a>(
        &'a self,
        context: &'a Context,
        country: &'a str,
    ) -> Reply<'a, Vec<Institution>> {
        Box::pin(async move {
            let banks = banks::list(context, country).await?;
            Ok(banks.iter().map(|it| banks::institution(&it.country, &it.name)).collect())
        })
    }

    fn start_link<'a>(
        &'a self,
        context: &'a Context,
        request: &'a LinkRequest,
    ) -> Reply<'a, NewLink> {
        Box::pin(link::start(context, request))
    }

    fn finish_link<'a>(
        &'a self,
        _context: &'a Context,
        session: &'a Secret,
        returned: Option<&'a str>,
    ) -> Reply<'a, LinkOutcome> {
        Box::pin(async move { link::finish(session, returned) })
    }

    fn exchange<'a>(&'a self, context: &'a Context, token: &'a str) -> Reply<'a, NewAccess> {
        Box::pin(async move { link::exchange(&Client::new(context, None)?, token).await })
    }

    fn sync<'a>(
        &'a self,
        context: &'a Context,
        access: &'a Secret,
        request: &'a SyncRequest,
    ) -> Reply<'a, Response> {
        Box::pin(async move { sync::sync(context, &Access::read(access)?, request).await })
    }

    fn revokes(&self) -> bool {
        true
    }

    fn disconnect<'a>(&'a self, context: &'a Context, access: &'a Secret) -> Reply<'a, ()> {
        Box::pin(async move {
            let path = session_path(&Access::read(access)?.session_id);
            let client = Client::new(context, None)?;
            match client.delete::<IgnoredAny>(&path).await {
                Ok(_) => Ok(()),
                Err(error) if error.status() == 404 || error.status() == 410 => {
                    Err(BankError::new(ErrorKind::Ended, "This consent has ended."))
                }
                Err(error) => Err(error.for_person()),
            }
        })
    }

    fn problem_message(&self, problem: AccountProblem, bank: &str) -> String {
        match problem {
            AccountProblem::Incomplete => AccountProblem::incomplete_message(bank),
            AccountProblem::SignIn => format!(
                "{bank} needs your consent again. Select Repair; the next sync gets what is missing."
            ),
            AccountProblem::Unlisted => format!(
                "{bank} no longer shares this account. Link it to your application in Enable \
                 Banking's control panel, then select Repair."
            ),
            AccountProblem::Unusable => AccountProblem::unusable_message(bank),
        }
    }

    fn unreadable_message(&self) -> String {
        UNREADABLE.to_owned()
    }
}
