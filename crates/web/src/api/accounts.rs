//! Endpoints of accounts and their balances.

use base::AccountId;
use service::Result;
use service::ledger::accounts::{self, Filter, Status};
use service::ledger::balances::{self, Range};
use wire::v1::{Account, Accounts, Balances, Scope};

use super::parameters::{ACCOUNT_PATH, date, one_of};
use super::{Answer, Call, Endpoint, Parameter, Shape, Takes, Verb};

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/accounts",
    tag: "Accounts",
    summary: "List accounts",
    description: "All accounts in one response, sorted by type and name.",
    scopes: &[Scope::AccountsRead],
    query: &[
        one_of(
            "status",
            &["open", "closed", "all"],
            "Only open accounts (the default), only closed ones, or all.",
        ),
        Parameter {
            name: "include_hidden",
            takes: Takes::Bool,
            description: "Whether to include accounts that the person has hidden; false by default.",
            example: "true",
        },
    ],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Accounts>("Accounts"),
    handle: |call| Box::pin(list(call)),
};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/accounts/{id}",
    tag: "Accounts",
    summary: "Get an account",
    description: "An account by its id, also if it is closed or hidden.",
    scopes: &[Scope::AccountsRead],
    query: &[],
    path_parameters: &[ACCOUNT_PATH],
    body: None,
    answer: Shape::of::<Account>("Account"),
    handle: |call| Box::pin(get(call)),
};

pub(super) const BALANCES: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/accounts/{id}/balances",
    tag: "Accounts",
    summary: "Daily balances of an account",
    description: "One row a day, oldest first. `source` says where each balance comes from: reported by the \
        institution, inferred from the transactions between reports, or carried forward from the last one. Days \
        before the account's first known balance have no row. A change that no transaction explains is reported, \
        never spread over days.",
    scopes: &[Scope::AccountsRead],
    query: &[
        date("start_date", "The first day; by default 30 days before `end_date`."),
        date(
            "end_date",
            "The last day; by default today in the person's time zone. At most 1,830 days after `start_date`.",
        ),
    ],
    path_parameters: &[ACCOUNT_PATH],
    body: None,
    answer: Shape::of::<Balances>("Balances"),
    handle: |call| Box::pin(balances(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let filter = Filter {
        status: match call.query.text("status")? {
            Some("closed") => Status::Closed,
            Some("all") => Status::All,
            _ => Status::Open,
        },
        include_hidden: call.query.bool("include_hidden")?.unwrap_or(false),
    };
    let accounts = accounts::list(&call.app, &call.caller, filter).await?;
    Answer::data(&Accounts { accounts: accounts.iter().map(Account::from).collect() })
}

async fn get(call: Call) -> Result<Answer> {
    let id: AccountId = call.path_id(0, "account")?;
    Answer::data(&Account::from(&accounts::get(&call.app, &call.caller, id).await?))
}

async fn balances(call: Call) -> Result<Answer> {
    let id: AccountId = call.path_id(0, "account")?;
    let range =
        Range { start_on: call.query.date("start_date")?, end_on: call.query.date("end_date")? };
    let series = balances::list(&call.app, &call.caller, id, range).await?;
    Answer::data(&Balances::from(&series))
}
