//! Enable Banking over TLS, tested against a simulated server with the oddities of real banks.

mod linking;
mod quirks;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::draft::{AccountDraft, AccountKind, Source};
use base::{Clock, Timestamp};
use serde_json::json;
use sources::banks;
use sources::provider::{
    AccountChoice, BankError, Context, LinkOutcome, LinkPurpose, LinkRequest, Presence, Provider,
    Purpose, Response, Secret, SyncRequest,
};
use testkit::enable_banking::{BankAccount, EnableBanking, entry};
use testkit::simplefin::SimpleFin;
use testkit::{at, day};

const IBAN: &str = "DE89370400440532013000";

fn provider() -> &'static dyn Provider {
    banks::find(Source::EnableBanking).unwrap()
}

fn now() -> Timestamp {
    at("2026-03-10T12:00:00Z")
}

async fn start() -> EnableBanking {
    EnableBanking::start(Clock::frozen_at("2026-03-10T12:00:00Z")).await
}

fn context(server: &EnableBanking) -> Context {
    Context {
        http: SimpleFin::http_client(),
        keys: Some(Arc::new(server.keys().to_secret())),
        url: Some(server.url().into()),
        now: now(),
    }
}

fn request(bank: &str) -> LinkRequest {
    LinkRequest {
        purpose: LinkPurpose::Connect,
        access: None,
        return_url: Some(EnableBanking::RETURN_URL.to_owned()),
        webhook_url: None,
        person: "7d0f".to_owned(),
        state: "abc123".to_owned(),
        bank: Some(format!("DE {bank}")),
    }
}

/// A bank with two accounts to which the person has just consented.
struct Consent {
    server: EnableBanking,
    access: Secret,
}

impl Consent {
    async fn new() -> Consent {
        let server = start().await;
        server.account(BankAccount::new("hash-giro", "Girokonto", IBAN, "0"));
        server.account(BankAccount::new("hash-joint", "Gemeinsames Konto", IBAN, "0"));
        server.update("hash-giro", |it| {
            it.transactions = vec![
                entry("b1", "2024-06-01", "10.00", "DBIT", "ALT"),
                entry("b2", "2026-03-01", "700.00", "DBIT", "SVWZ+Miete"),
                entry("b3", "2026-03-02", "2500.00", "CRDT", "GEHALT"),
            ];
            it.balances = vec![
                json!({ "balance_type": "ITAV", "credit_debit_indicator": "CRDT",
                    "balance_amount": { "currency": "EUR", "amount": "1500.00" } }),
                json!({ "balance_type": "CLBD", "credit_debit_indicator": "DBIT",
                    "balance_amount": { "currency": "EUR", "amount": "20.50" } }),
            ];
        });
        let access = connect(&server).await;
        Consent { server, access }
    }

    async fn try_sync(
        &self,
        state: Option<&str>,
        presence: Option<Presence>,
    ) -> Result<Response, BankError> {
        let chosen = ["hash-giro", "hash-joint"];
        let request = SyncRequest {
            purpose: Purpose::Newest(day("2024-03-10"), day("2026-03-12")),
            state: state.map(str::to_owned),
            chosen: chosen.iter().map(|it| (it.to_string(), AccountKind::Depository)).collect(),
            presence,
        };
        provider().sync(&context(&self.server), &self.access, &request).await
    }

    async fn sync(&self, state: Option<&str>) -> Response {
        self.try_sync(state, None).await.unwrap()
    }
}

async fn connect(server: &EnableBanking) -> Secret {
    let context = context(server);
    let link = provider().start_link(&context, &request("Nordbank")).await.unwrap();
    let query = server.consent();
    let outcome = provider().finish_link(&context, &link.session, Some(&query)).await.unwrap();
    let LinkOutcome::Connected(banks) = outcome else { panic!("{outcome:?}") };
    provider().exchange(&context, banks[0].token.expose()).await.unwrap().access
}

fn drafts(response: &Response) -> Vec<AccountDraft> {
    let choice = |it: &sources::provider::Offer| {
        let (kind, subtype, owed) = (it.kind, it.subtype.clone(), it.owed);
        (it.external_id.clone(), AccountChoice { kind, subtype, owed })
    };
    let choices: BTreeMap<String, AccountChoice> = response.offers.iter().map(choice).collect();
    response.data.drafts(&choices, now())
}

/// The texts of the first account, in the order of their dates.
fn texts(response: &Response) -> Vec<String> {
    drafts(response)[0].transactions.iter().map(|it| it.description.clone()).collect()
}
