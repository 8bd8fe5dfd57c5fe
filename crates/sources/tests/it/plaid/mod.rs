//! Plaid over TLS, tested against a simulated server that keeps items, timelines and cursors.

mod drafts;
mod errors;
mod linking;
mod paging;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::draft::{AccountDraft, AccountKind, Source};
use base::{Clock, Timestamp};
use serde_json::Value;
use sources::banks;
use sources::provider::{
    AccountChoice, BankError, Context, LinkOutcome, LinkPurpose, LinkRequest, Provider, Purpose,
    Response, Secret, SyncRequest,
};
use testkit::plaid::{Plaid, account, transaction};
use testkit::simplefin::SimpleFin;
use testkit::{at, day};

const CHECKING: &str = "checkingxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const CARD: &str = "cardxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const BROKERAGE: &str = "brokeragexxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/// A bank login that was just connected.
struct Login {
    server: Plaid,
    item: String,
    access: Secret,
}

fn provider() -> &'static dyn Provider {
    banks::find(Source::Plaid).unwrap()
}

fn context(server: &Plaid, now: Timestamp) -> Context {
    Context {
        http: SimpleFin::http_client(),
        keys: Some(Arc::new(server.keys().to_secret())),
        url: Some(server.url().into()),
        now,
    }
}

fn now() -> Timestamp {
    at("2026-03-10T12:00:00Z")
}

fn connect_request() -> LinkRequest {
    LinkRequest {
        purpose: LinkPurpose::Connect,
        access: None,
        return_url: Some("https://home.example/connections/plaid/back?state=abc".to_owned()),
        webhook_url: None,
        person: "7d0f".to_owned(),
        state: "abc123".to_owned(),
        bank: None,
    }
}

fn accounts() -> Vec<Value> {
    vec![
        account(CHECKING, "Everyday Checking", "0000", "depository/checking", "110.4"),
        account(CARD, "Sapphire", "3333", "credit/credit card", "410"),
        account(BROKERAGE, "Brokerage", "5555", "investment/brokerage", "2050.25"),
    ]
}

impl Login {
    async fn new() -> Login {
        let server = Plaid::start(Clock::frozen_at("2026-03-10T12:00:00Z")).await;
        let context = context(&server, now());
        let link = provider().start_link(&context, &connect_request()).await.unwrap();
        let item = server.sign_in("ins_109508", "First Platypus Bank", accounts());
        let ended = provider().finish_link(&context, &link.session, None).await.unwrap();
        let LinkOutcome::Connected(banks) = ended else { panic!("{ended:?}") };
        let access = provider().exchange(&context, banks[0].token.expose()).await.unwrap().access;
        Login { server, item, access }
    }

    async fn try_sync(&self, state: Option<&str>, chosen: &[&str]) -> Result<Response, BankError> {
        let request = SyncRequest {
            purpose: Purpose::Newest(day("2024-03-10"), day("2026-03-12")),
            state: state.map(str::to_owned),
            chosen: chosen.iter().map(|it| (it.to_string(), AccountKind::Other)).collect(),
            presence: None,
        };
        provider().sync(&context(&self.server, now()), &self.access, &request).await
    }

    async fn sync(&self, state: Option<&str>, chosen: &[&str]) -> Response {
        self.try_sync(state, chosen).await.unwrap()
    }
}

/// The drafts of all accounts that the response offers, with the suggested choices.
fn drafts(response: &Response) -> Vec<AccountDraft> {
    let choice = |it: &sources::provider::Offer| {
        let (kind, subtype, owed) = (it.kind, it.subtype.clone(), it.owed);
        (it.external_id.clone(), AccountChoice { kind, subtype, owed })
    };
    let choices: BTreeMap<String, AccountChoice> = response.offers.iter().map(choice).collect();
    response.data.drafts(&choices, now())
}

/// The ids of the checking account's transactions.
fn ids(response: &Response) -> Vec<String> {
    let drafts = drafts(response);
    let checking = drafts.iter().find(|it| it.external_id == CHECKING).unwrap();
    checking.transactions.iter().filter_map(|it| it.external_id.clone()).collect()
}

fn row(number: usize) -> Value {
    transaction(&format!("t{number:05}"), CHECKING, "2026-03-01", "4.5", "COFFEE")
}
