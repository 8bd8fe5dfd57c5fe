//! A simulated Plaid for load, in a process of its own, so that its work is not measured.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anyhow::{Context as _, ensure};
use base::date_from_days;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use net::{Guard, HttpClient, Policy};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The first day of the transactions, in days since 1970.
const FIRST_DAY: i64 = 20_000;

/// The server's process.
pub(super) struct PlaidServer {
    child: Child,
    port: u16,
    certificate: String,
}

impl PlaidServer {
    /// Every login has `rows` transactions, and one in `hanging_every` never gets an answer to a sync; none if zero.
    pub(super) fn start(rows: usize, hanging_every: usize) -> anyhow::Result<PlaidServer> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["plaid-server", &rows.to_string(), &hanging_every.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("starting the simulated Plaid")?;
        let mut output = BufReader::new(child.stdout.take().context("it has no output")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let port = line.trim().parse().context("it names no port")?;
        let mut certificate = String::new();
        while !certificate.contains("END CERTIFICATE") {
            ensure!(output.read_line(&mut certificate)? > 0, "it shows no certificate");
        }
        Ok(PlaidServer { child, port, certificate })
    }

    pub(super) fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    pub(super) fn http_client(&self) -> anyhow::Result<HttpClient> {
        let networks = ["127.0.0.0/8", "::1"].map(|it| it.parse().map_err(anyhow::Error::msg));
        let allow = networks.into_iter().collect::<Result<Vec<_>, _>>()?;
        let extra_ca = Some(self.certificate.as_bytes().to_vec());
        Ok(HttpClient::new(Policy { guard: Guard::Public { allow }, extra_ca })?)
    }
}

impl Drop for PlaidServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Bank {
    rows: usize,
    hanging_every: usize,
    logins: AtomicUsize,
}

/// Prints its port and its certificate, and serves until it is killed.
pub(crate) async fn serve(rows: usize, hanging_every: usize) -> anyhow::Result<()> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{}\n{}", listener.local_addr()?.port(), cert.pem().trim());
    let bank = Arc::new(Bank { rows, hanging_every, logins: AtomicUsize::new(0) });
    loop {
        let (stream, _) = listener.accept().await?;
        let (acceptor, bank) = (acceptor.clone(), bank.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = hyper::service::service_fn(move |it| answer(bank.clone(), it));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    bank: Arc<Bank>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map(|it| it.to_bytes()).unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    // Tokens end with the number of the login.
    let number = |name: &str| {
        let token = body[name].as_str().unwrap_or_default();
        token.rsplit('-').next().and_then(|it| it.parse::<usize>().ok()).unwrap_or(0)
    };
    let answered = match path.as_str() {
        "/link/token/create" => {
            let login = bank.logins.fetch_add(1, Relaxed);
            json!({ "link_token": format!("link-{login}"), "hosted_link_url": "https://localhost/page" })
        }
        "/link/token/get" => {
            let login = number("link_token");
            json!({ "link_sessions": [{ "finished_at": "2026-03-10T12:00:00Z", "results": {
                "item_add_results": [{
                    "public_token": format!("public-{login}"), "accounts": [],
                    "institution": { "institution_id": format!("ins_{login}"), "name": "Bank" },
                }],
            } }] })
        }
        "/item/public_token/exchange" => {
            let login = number("public_token");
            json!({ "access_token": format!("access-{login}"), "item_id": format!("item-{login}") })
        }
        "/accounts/get" => json!({ "accounts": [account(number("access_token"))] }),
        "/transactions/sync" => {
            let login = number("access_token");
            if bank.hanging_every > 0 && login.is_multiple_of(bank.hanging_every) {
                std::future::pending::<()>().await;
            }
            bank.page(login, &body)
        }
        _ => json!({}),
    };
    Ok(Response::new(Full::new(Bytes::from(answered.to_string()))))
}

impl Bank {
    fn page(&self, login: usize, body: &Value) -> Value {
        let start = body["cursor"].as_str().and_then(|it| it.parse::<usize>().ok()).unwrap_or(0);
        let count = body["count"].as_u64().unwrap_or(100) as usize;
        let end = (start + count).min(self.rows);
        let added: Vec<Value> = (start..end).map(|it| transaction(login, it)).collect();
        json!({
            "accounts": [account(login)], "added": added, "modified": [], "removed": [],
            "next_cursor": end.to_string(), "has_more": end < self.rows,
            "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE", "request_id": "r",
        })
    }
}

fn account(login: usize) -> Value {
    json!({
        "account_id": format!("account-{login}"), "mask": "0000", "name": "Checking",
        "official_name": null, "type": "depository", "subtype": "checking",
        "balances": {
            "available": null, "current": 1204.5, "limit": null, "iso_currency_code": "USD",
            "unofficial_currency_code": null,
        },
    })
}

/// A purchase with the fields and the length of real ones.
fn transaction(login: usize, number: usize) -> Value {
    let name = format!("SHOP {:04} COLUMBUS OH", number % 211);
    json!({
        "transaction_id": format!("{login:08}{number:029}"), "account_id": format!("account-{login}"),
        "amount": 12.34, "iso_currency_code": "USD", "unofficial_currency_code": null,
        "date": date_from_days(FIRST_DAY + (number % 700) as i64).to_string(), "datetime": null,
        "authorized_date": null, "authorized_datetime": null, "name": name,
        "merchant_name": format!("Shop {}", number % 211), "merchant_entity_id": null,
        "original_description": name, "pending": false, "pending_transaction_id": null,
        "payment_channel": "in store", "transaction_code": null, "check_number": null,
        "account_owner": null, "website": "shop.example",
        "logo_url": "https://plaid-merchant-logos.plaid.com/shop_1234.png",
        "location": {
            "address": "300 Post St", "city": "Columbus", "region": "OH", "postal_code": "43004",
            "country": "US", "lat": 40.7, "lon": -74.0, "store_number": "1235",
        },
        "payment_meta": {
            "reference_number": null, "ppd_id": null, "payee": null, "by_order_of": null,
            "payer": null, "payment_method": null, "payment_processor": null, "reason": null,
        },
        "counterparties": [{
            "name": "Shop", "type": "merchant", "logo_url": null, "website": "shop.example",
            "entity_id": "eyg8o776k0QmNgVpAmaQj4WgzW9Qzo6O51gdd", "confidence_level": "VERY_HIGH",
        }],
        "personal_finance_category": {
            "primary": "FOOD_AND_DRINK", "detailed": "FOOD_AND_DRINK_GROCERIES",
            "confidence_level": "VERY_HIGH", "version": "v2",
        },
        "personal_finance_category_icon_url": "https://plaid-category-icons.plaid.com/PFC_FOOD.png",
    })
}
