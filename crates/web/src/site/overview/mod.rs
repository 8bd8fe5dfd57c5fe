//! The overview: what is there, what needs the person, and how it goes.

mod empty;
mod goes;
mod needs;
mod worth;

use axum::extract::RawQuery;
use maud::{Markup, html};
use service::insights::benefits;
use service::insights::recurring::{self, Listed};
use service::insights::scores::{self, Observation};
use service::ledger::accounts::{self, Account, Filter, Status};
use service::ledger::cash_flow::{self, Months};
use service::ledger::goals::{self, Goal};
use service::ledger::net_worth::{self, NetWorth, Series};
use service::ledger::spans::Span;
use service::webhooks::{self, Endpoint};
use service::{Error, summary};
use wire::v1::ExpiringBenefits;

use super::chart::ranges;
use super::person::Person;
use super::shell::{Place, Shell};
use super::trouble::Shown;

/// Whole months that the present one is held against.
const MONTHS_USUAL: i64 = 6;

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> Shown {
    let span = ranges::chosen(query.as_deref());
    let glance = Glance::read(&person, span).await?;
    let main = if glance.accounts.is_empty() { empty::page() } else { page(&person, &glance) };
    Ok(Shell::new(Place::Overview, "Overview").page(&person, main))
}

/// Everything the page speaks of, read side by side.
struct Glance {
    span: Span,
    accounts: Vec<Account>,
    worth: NetWorth,
    series: Series,
    pending_actions: i64,
    endpoints: Vec<Endpoint>,
    expiring: ExpiringBenefits,
    streams: Listed,
    months: Months,
    goals: Vec<Goal>,
    /// Or what is missing for them.
    scores: Result<Observation, String>,
}

impl Glance {
    async fn read(person: &Person, span: Span) -> service::Result<Glance> {
        let (app, caller) = (person.app(), &person.caller);
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
            worth,
            series,
            (pending_actions, endpoints),
            expiring,
            streams,
            months,
            goals,
            scores,
        ) = tokio::try_join!(
            accounts::list(app, caller, all),
            net_worth::get(app, caller),
            net_worth::series(app, caller, span),
            async {
                let pending = summary::pending_actions(app, caller).await?;
                Ok((pending, webhooks::list(app, caller).await?))
            },
            benefits::expiring(app, caller, benefits::EXPIRING_DAYS),
            recurring::list(app, caller, every),
            cash_flow::months(app, caller, MONTHS_USUAL),
            goals::list(app, caller, Some(goals::Status::Active)),
            scores,
        )?;
        Ok(Glance {
            span,
            accounts,
            worth,
            series,
            pending_actions,
            endpoints,
            expiring,
            streams,
            months,
            goals,
            scores,
        })
    }
}

fn page(person: &Person, glance: &Glance) -> Markup {
    html! {
        h1.hush { "Overview" }
        (worth::card(person, glance))
        div.columns {
            div {
                (needs::card(person, glance))
                (needs::bills(person, glance))
            }
            div {
                (goes::month(person, glance))
                (goes::goals(person, glance))
                (goes::scores(glance))
            }
        }
    }
}
