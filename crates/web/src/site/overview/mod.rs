//! The overview page: net worth, what needs attention, and this month's progress.

mod attention;
mod checklist;
mod empty;
mod net_worth_card;
mod progress;
mod spending_card;

use base::TransactionId;
use maud::{Markup, html};
use service::insights::benefits;
use service::insights::cash_left::{self, CashLeft};
use service::insights::recurring::{self, StreamList};
use service::insights::scores::{self, Observation};
use service::insights::spending::history::{self, History};
use service::insights::spending::{self, Months};
use service::ledger::accounts::{self, Account, Filter, Status};
use service::ledger::goals::{self, Goal};
use service::ledger::net_worth::{self, NetWorth, Series};
use service::ledger::spans::Span;
use service::ledger::splits;
use service::onboarding::{self, Onboarding};
use service::webhooks::{self, Endpoint};
use service::{Error, backup, summary};
use wire::v1::ExpiringBenefits;

use super::app_page::AppPage;
use super::errors::PageResult;
use super::navigation::NavItem;
use super::person::Person;
use super::transactions::recent::Recent;

/// How many past months the average is taken from.
const MONTHS_USUAL: i64 = 12;
/// How many of the newest transactions are shown.
const RECENT: usize = 6;

pub(super) async fn get(person: Person) -> PageResult {
    let data = OverviewData::read(&person).await?;
    let main =
        if data.accounts.is_empty() { empty::page(&person, &data) } else { page(&person, &data) };
    Ok(AppPage::new(NavItem::Overview, "Overview").page(&person, main))
}

/// The data of the page, read concurrently.
struct OverviewData {
    span: Span,
    accounts: Vec<Account>,
    worth: NetWorth,
    series: Series,
    pending_actions: i64,
    endpoints: Vec<Endpoint>,
    expiring: ExpiringBenefits,
    streams: StreamList,
    months: Months,
    /// Spending by category, this month last.
    history: History,
    goals: Vec<Goal>,
    cash_left: Option<CashLeft>,
    /// Transactions whose amount changed after they were split.
    outdated_splits: Vec<TransactionId>,
    /// Whether the next backup is late. Always false for people who are not admins.
    is_backup_late: bool,
    recent: Recent,
    onboarding: Onboarding,
    /// The scores, or a message about the missing data.
    scores: Result<Observation, String>,
}

impl OverviewData {
    async fn read(person: &Person) -> service::Result<OverviewData> {
        let (app, caller, span) = (person.app(), &person.caller, person.range);
        let all = Filter { status: Status::All, include_hidden: true };
        let every = recurring::Filter { status: None, account_id: None, direction: None };
        let scores = async {
            match scores::get(app, caller).await {
                Ok(observed) => Ok(Ok(observed)),
                Err(Error::Conflict { message, .. }) => Ok(Err(message)),
                Err(error) => Err(error),
            }
        };
        let (
            accounts,
            (worth, series),
            (pending_actions, endpoints, outdated_splits, is_backup_late),
            expiring,
            streams,
            (months, history),
            (goals, cash_left, recent, onboarding),
            scores,
        ) = tokio::try_join!(
            accounts::list(app, caller, all),
            net_worth::get_with_series(app, caller, span),
            async {
                let pending = summary::pending_actions(app, caller).await?;
                let splits = splits::list_outdated(app, caller).await?;
                let is_backup_late = backup::is_late_for_admin(app, caller).await?;
                Ok((pending, webhooks::list(app, caller).await?, splits, is_backup_late))
            },
            benefits::expiring(app, caller, benefits::EXPIRING_DAYS),
            recurring::list(app, caller, every),
            async {
                let months = spending::months(app, caller, MONTHS_USUAL).await?;
                let count = MONTHS_USUAL + 1;
                let history = history::by_month(app, caller, person.view.today, count, None);
                Ok((months, history.await?))
            },
            async {
                let goals = goals::list(app, caller, Some(goals::Status::Active)).await?;
                let left = cash_left::get(app, caller).await?;
                let onboarding = onboarding::get(app, caller).await?;
                Ok((goals, left, Recent::read(person, RECENT).await?, onboarding))
            },
            scores,
        )?;
        Ok(OverviewData {
            span,
            accounts,
            worth,
            series,
            pending_actions,
            endpoints,
            expiring,
            streams,
            months,
            history,
            goals,
            cash_left,
            outdated_splits,
            is_backup_late,
            recent,
            onboarding,
            scores,
        })
    }
}

fn page(person: &Person, data: &OverviewData) -> Markup {
    html! {
        h1.hush { "Overview" }
        (net_worth_card::card(person, data))
        div.columns {
            div {
                @if let Some(steps) = checklist::card(person, &data.onboarding) { (steps) }
                (attention::card(person, data))
                (spending_card::spending(person, data))
                (data.recent.card(person))
            }
            div {
                @if let Some(left) = &data.cash_left { (spending_card::cash(person, data, left)) }
                (attention::bills(person, data))
                (progress::month(person, data))
                (progress::goals(person, data))
                (progress::scores(data))
            }
        }
    }
}
