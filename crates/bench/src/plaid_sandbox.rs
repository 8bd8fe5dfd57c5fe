//! Runs our Plaid client against Plaid's sandbox: connecting, syncing, a login that breaks, repairing and disconnecting.
//! The sandbox creates a login without its page, which a program could not use.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use base::Clock;
use base::draft::{AccountKind, Source};
use net::{Guard, HttpClient, HttpRequest, Limits, Policy};
use serde_json::{Value, json};
use sources::banks;
use sources::plaid::{Environment, Keys};
use sources::provider::{
    BankError, Context, LinkOutcome, LinkPurpose, LinkRequest, Provider, Purpose, Remedy, Response,
    Secret, SyncRequest,
};

/// Plaid's test bank, and a test person whose transactions change.
const BANK: (&str, &str) = ("ins_109508", "First Platypus Bank");
const PERSON: &str = "user_transactions_dynamic";
/// The sandbox needs a while to have the first transactions.
const TRIES: usize = 30;
const WAIT: Duration = Duration::from_secs(4);

/// Reads the client id and the secret from standard input, a line each, so that they are on no command line.
pub(crate) async fn run_with_keys_from_input() -> anyhow::Result<()> {
    let mut lines = std::io::stdin().lines();
    let mut next = || lines.next().transpose()?.context("two lines: the client id and the secret");
    let keys = Keys { client_id: next()?, secret: next()?, environment: Environment::Sandbox };
    let http = HttpClient::new(Policy { guard: Guard::Public { allow: vec![] }, extra_ca: None })?;
    let context = Context {
        http,
        keys: Some(Arc::new(keys.to_secret())),
        url: Some("https://sandbox.plaid.com".into()),
        now: Clock::System.now(),
    };
    Sandbox { context, keys, wait: WAIT }.run().await
}

struct Sandbox {
    context: Context,
    keys: Keys,
    wait: Duration,
}

impl Sandbox {
    async fn run(&self) -> anyhow::Result<()> {
        let link = self.start_link(None).await?;
        println!("a page to connect: {link}");
        let access = self.connect().await?;
        println!("connected {}", BANK.1);
        let checked = self.check(&access).await;
        // The login is removed, also if a step failed.
        let removed = provider()?.disconnect(&self.context, &access).await;
        checked?;
        removed.map_err(failed)?;
        match self.sync(&access, Purpose::Discover, None, vec![]).await {
            Err(error) if error.remedy() == Some(Remedy::Reconnect) => println!("disconnected"),
            Err(error) => bail!("after disconnecting: {}", error.message),
            Ok(_) => bail!("the access still works after disconnecting"),
        }
        Ok(())
    }

    async fn check(&self, access: &Secret) -> anyhow::Result<()> {
        let found = self.sync(access, Purpose::Discover, None, vec![]).await.map_err(failed)?;
        let names: Vec<&str> = found.offers.iter().map(|it| it.name.as_str()).collect();
        ensure!(!names.is_empty(), "no account is offered");
        println!("accounts: {}", names.join(", "));
        let chosen: Vec<(String, AccountKind)> =
            found.offers.iter().map(|it| (it.external_id.clone(), it.kind)).collect();
        let state = self.first_sync(access, chosen.clone()).await?;
        let day = base::date_from_days(0);
        let newest = Purpose::Newest(day, day);
        let again = self.sync(access, newest, Some(state), chosen.clone()).await.map_err(failed)?;
        println!("synced again, {} rows could not be read", again.rejected);
        self.post("/sandbox/item/reset_login", &json!({ "access_token": token(access)? })).await?;
        match self.sync(access, newest, again.state, chosen).await {
            Err(error) if error.remedy() == Some(Remedy::Repair) => println!("{}", error.message),
            Err(error) => bail!("a broken login: {}", error.message),
            Ok(_) => bail!("a broken login still syncs"),
        }
        let link = self.start_link(Some(access)).await?;
        println!("a page to repair: {link}");
        Ok(())
    }

    /// Syncs until Plaid has the transactions, and returns what the next sync continues from.
    async fn first_sync(
        &self,
        access: &Secret,
        chosen: Vec<(String, AccountKind)>,
    ) -> anyhow::Result<String> {
        let day = base::date_from_days(0);
        let mut state = None;
        for _ in 0..TRIES {
            let newest = Purpose::Newest(day, day);
            let response = self.sync(access, newest, state.clone(), chosen.clone()).await;
            let response = response.map_err(failed)?;
            ensure!(response.rejected == 0, "{} rows could not be read", response.rejected);
            state = response.state;
            if response.again_in_seconds.is_none() {
                println!("the first sync is complete");
                return state.context("there is nothing to continue from");
            }
            tokio::time::sleep(self.wait).await;
        }
        bail!("Plaid did not have all transactions in time")
    }

    async fn sync(
        &self,
        access: &Secret,
        purpose: Purpose,
        state: Option<String>,
        chosen: Vec<(String, AccountKind)>,
    ) -> Result<Response, BankError> {
        let provider = provider().map_err(|error| BankError::invalid(error.to_string()))?;
        let request = SyncRequest { purpose, state, chosen, presence: None };
        provider.sync(&self.context, access, &request).await
    }

    /// Starts a round trip through the browser and returns its page, on which nobody signs in.
    async fn start_link(&self, access: Option<&Secret>) -> anyhow::Result<String> {
        let request = LinkRequest {
            purpose: if access.is_some() { LinkPurpose::Repair } else { LinkPurpose::Connect },
            access: access.map(|it| Secret::new(it.expose().to_owned())),
            return_url: None,
            webhook_url: None,
            person: "sandbox".to_owned(),
            state: "sandbox".to_owned(),
            bank: None,
        };
        let link = provider()?.start_link(&self.context, &request).await.map_err(failed)?;
        let outcome = provider()?.finish_link(&self.context, &link.session, None).await;
        match outcome.map_err(failed)? {
            LinkOutcome::Waiting => Ok(link.url),
            other => bail!("nobody signed in, but: {other:?}"),
        }
    }

    async fn connect(&self) -> anyhow::Result<Secret> {
        let body = json!({
            "institution_id": BANK.0, "initial_products": ["transactions"],
            "options": { "override_username": PERSON, "override_password": "pass_good" },
        });
        let created = self.post("/sandbox/public_token/create", &body).await?;
        let linked = json!({
            "public_token": created["public_token"], "institution_id": BANK.0,
            "institution_name": BANK.1,
        });
        let exchanged = provider()?.exchange(&self.context, &linked.to_string()).await;
        Ok(exchanged.map_err(failed)?.access)
    }

    /// A request that only the sandbox knows.
    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let url = self.context.url.as_deref().unwrap_or_default();
        let request = HttpRequest::post(format!("{url}{path}"), body.to_string())
            .header("content-type", "application/json")
            .header("plaid-client-id", &self.keys.client_id)
            .header("plaid-secret", &self.keys.secret)
            .header("plaid-version", "2020-09-14");
        let (connect, total) = (Duration::from_secs(10), Duration::from_secs(60));
        let limits = Limits { connect, total, body_max: 1 << 20 };
        let response = self.context.http.send(request, limits).await;
        let response = response.map_err(|failure| anyhow::anyhow!("{path}: {failure}"))?;
        let text = String::from_utf8_lossy(&response.body);
        ensure!(response.status == 200, "{path}: {} {text}", response.status);
        Ok(serde_json::from_str(&text)?)
    }
}

fn provider() -> anyhow::Result<&'static dyn Provider> {
    banks::find(Source::Plaid).context("Plaid is no provider")
}

fn failed(error: BankError) -> anyhow::Error {
    anyhow::Error::msg(error.message)
}

/// The access token, which the sandbox needs to break the login.
fn token(access: &Secret) -> anyhow::Result<String> {
    let stored: Value = serde_json::from_str(access.expose())?;
    Ok(stored["access_token"].as_str().context("no access token")?.to_owned())
}

#[cfg(test)]
mod tests {
    use testkit::plaid::{Plaid, account};
    use testkit::simplefin::SimpleFin;

    use super::*;

    #[tokio::test]
    async fn all_steps_pass_against_the_simulated_plaid() {
        let server = Plaid::start(Clock::System).await;
        let checking = account("a1", "Checking", "0000", "depository/checking", "10");
        server.prepare_bank(BANK.0, BANK.1, vec![checking]);
        let keys = server.keys();
        let context = Context {
            http: SimpleFin::http_client(),
            keys: Some(Arc::new(keys.to_secret())),
            url: Some(server.url().into()),
            now: Clock::System.now(),
        };
        let sandbox = Sandbox { context, keys, wait: Duration::ZERO };
        sandbox.run().await.unwrap();
        assert!(server.is_removed(&server.last_item()));
    }
}
