//! SimpleFIN over TLS, against a fake server with the deviations of real ones.

mod claiming;
mod data;
mod limits;
mod oddities;
mod redirects;

use std::collections::BTreeMap;

use base::Clock;
use base::draft::{AccountDraft, AccountKind};
use sources::simplefin::{
    AccessUrl, AccountChoice, AccountSet, OwedSign, Query, SimplefinError, drafts, fetch,
};
use testkit::simplefin::{Account, SimpleFin, Transaction};
use testkit::{at, day};

/// Seconds since 1970 at noon of a day.
fn noon(text: &str) -> i64 {
    at(&format!("{text}T12:00:00Z")).as_second()
}

fn clock() -> Clock {
    Clock::frozen_at("2026-03-10T12:00:00Z")
}

/// A server with two logins and three accounts, and its access URL.
async fn household() -> (SimpleFin, AccessUrl) {
    let server = SimpleFin::start(clock()).await;
    server.connection("CON-1", "First Bank");
    server.connection("CON-2", "Second Bank");
    let balance_at = noon("2026-03-10");
    let mut checking =
        Account::new("CON-1", "ACT-checking", "Everyday Checking", "100.23", balance_at);
    checking.available = Some("75.23".to_owned());
    checking.transactions = vec![
        Transaction::posted("T1", noon("2026-02-01"), "-33.20", "GROCER 12"),
        Transaction::posted("T2", noon("2026-03-01"), "2500.00", "PAYROLL"),
        Transaction::pending("T3", noon("2026-03-09"), "-4.50", "COFFEE"),
    ];
    server.account(checking);
    server.account(Account::new("CON-1", "ACT-card", "Visa (1234)", "-420.00", balance_at));
    server.account(Account::new("CON-2", "ACT-loan", "Car Loan", "9000.00", balance_at));
    let access = AccessUrl::parse(&server.access_url()).unwrap();
    (server, access)
}

fn march() -> Query {
    let (start, end) = (Some(day("2026-02-15")), Some(day("2026-03-11")));
    Query { start, end, pending: true, ..Query::default() }
}

async fn ask(access: &AccessUrl, query: &Query) -> Result<AccountSet, SimplefinError> {
    fetch(&SimpleFin::http_client(), access, query).await
}

fn drafted(set: &AccountSet) -> Vec<AccountDraft> {
    let choice = |id: &str| {
        let (kind, owed) = match id {
            it if it.contains("card") => (AccountKind::Credit, OwedSign::Negative),
            it if it.contains("loan") => (AccountKind::Loan, OwedSign::Positive),
            it if it.contains("invest") => (AccountKind::Investment, OwedSign::Negative),
            _ => (AccountKind::Depository, OwedSign::Negative),
        };
        AccountChoice { kind, subtype: None, owed }
    };
    let choices: BTreeMap<String, AccountChoice> =
        set.accounts.iter().map(|it| (it.external_id.clone(), choice(&it.external_id))).collect();
    drafts(set, &choices, at("2026-03-10T12:00:00Z"))
}

/// The ids of an account's transactions; a pending one has a question mark.
fn rows(drafts: &[AccountDraft], account: &str) -> Vec<String> {
    let account = drafts.iter().find(|it| it.external_id == account).unwrap();
    let shown = |id: &Option<String>, pending| {
        format!("{}{}", id.as_deref().unwrap_or("-"), if pending { "?" } else { "" })
    };
    account.transactions.iter().map(|it| shown(&it.external_id, it.pending)).collect()
}
