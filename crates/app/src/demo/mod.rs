//! `evenkeel demo`: a server with example data, imported the same way as real data.

mod banner;
mod browser;
mod feed;
mod household;
mod load;
mod proposals;
mod state;

use std::net::SocketAddr;

use ::demo::{Household, MarketPrice};
use anyhow::{Context as _, Result, bail};
use base::{Clock, TimeZone};
use service::access::keys::{self, NewKey};
use service::access::profiles;
use service::access::users::{self, NewUser, User};
use service::ledger::quotes::WhenClosed;
use service::platform::processes;
use service::{App, Scopes};
use sources::market::demo::DemoMarket;
use sources::market::{Quote, QuoteProvider as _};

use crate::cli;
use crate::commands::generate_password;
use crate::config::{self, Config, Flags, Search};
use crate::data_dir::{self, TemporaryFolder};
use crate::listen::certificate;
use crate::loops::Loops;
use crate::open;
use crate::serve::{self, Bound};
use state::State;

/// The credentials that the demo prints.
struct Access {
    email: String,
    password: String,
    api_key: String,
    /// Whether the data existed before this start.
    again: bool,
    /// Whether the password and the key are those of the last start.
    same: bool,
}

/// Stored in the data directory, so that the credentials of one start work in the next.
#[derive(serde::Serialize, serde::Deserialize)]
struct SavedAccess {
    password: String,
    api_key: String,
}

pub(crate) fn config(flags: &Flags) -> Result<(Config, Option<TemporaryFolder>)> {
    let mut config = config::load(flags, Search::GivenDataDir)?;
    let scratch = if config.data_dir_given { None } else { Some(TemporaryFolder::new("demo")?) };
    // Orders fill at any time, so that a demo on a Sunday shows trades.
    if !config.when_closed_given {
        config.when_closed = WhenClosed::LastPrice;
    }
    // The people of the demo have addresses that do not exist.
    config.mail = None;
    if let Some(scratch) = &scratch {
        config.data_dir = scratch.path().to_owned();
    }
    allow_local_webhooks(&mut config)?;
    Ok((config, scratch))
}

/// Allows webhooks to loopback, for `evenkeel listen`, if the demo is reachable from this machine only and the
/// operator has not set the allowed networks.
fn allow_local_webhooks(config: &mut Config) -> Result<()> {
    let is_here = listens_here(config);
    if is_here && config.webhooks_allow_networks.is_empty() && config.webhooks_ca_file.is_none() {
        certificate::prepare(config)?;
        config.webhooks_ca_file = Some(certificate::authority_file(config));
        config.webhooks_allow_networks =
            ["127.0.0.0/8", "::1"].iter().filter_map(|it| it.parse().ok()).collect();
    }
    Ok(())
}

/// Whether the demo listens on an address that only programs on this machine can reach.
fn listens_here(config: &Config) -> bool {
    let is_loopback = |it: SocketAddr| it.ip().is_loopback();
    config.listen.parse().is_ok_and(is_loopback) || config.listen.starts_with("localhost:")
}

pub(crate) async fn run(config: &Config, args: &cli::Demo, temporary: bool) -> Result<()> {
    let stop = serve::stop_on_signal(true)?;
    let ready_file = args.serving.ready_file.as_deref();
    serve::forget_ready_file(ready_file)?;
    data_dir::create(&config.data_dir)?;
    let _lock = serve::lock(config)?;
    let app = open::server_app(config, Clock::System).await?;
    // Binds first, so that an address in use fails before the data is generated.
    let mut bound = Bound::new(config).await?;
    let mut loops = Loops::new(stop.clone());
    let access = tokio::select! {
        access = seed(config, args, &app, &mut loops) => access?,
        _ = serve::until(stop.clone()) => return Ok(()),
    };
    processes::register(&app).await.context("cannot register this process")?;
    loops.start_all(&app);
    let link = web::DemoLink::new(&app.entropy, &access.email, &access.password);
    let sign_in_url = format!("{}{}", bound.web_url, link.path());
    if let Some(file) = ready_file {
        serve::write_ready_file(
            file,
            &bound.web_url,
            &[
                ("api_key", &access.api_key),
                ("email", &access.email),
                ("password", &access.password),
                ("sign_in_url", &sign_in_url),
            ],
        )?;
    }
    banner::print(config, &access, (&bound.web_url, &sign_in_url), temporary)?;
    if args.open {
        browser::open(&sign_in_url);
    }
    bound.demo = hint(config, &access, &bound.web_url);
    bound.demo_link = Some(link);
    bound.serve(config, app, loops, stop).await
}

/// The sign-in page of a demo shows its credentials, but only if the demo is reachable from this machine only. A demo in
/// a container listens on all addresses, and its link signs in.
fn hint(config: &Config, access: &Access, web_url: &str) -> Option<web::DemoSignIn> {
    let is_here = listens_here(config)
        && ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"]
            .iter()
            .any(|it| web_url.starts_with(it));
    let Access { email, password, .. } = access;
    is_here.then(|| web::DemoSignIn { email: email.clone(), password: password.clone() })
}

async fn seed(config: &Config, args: &cli::Demo, app: &App, loops: &mut Loops) -> Result<Access> {
    let state = State::open(config, args, app.clock.now())?;
    if let Some(size) = state.size {
        return load::seed(config, app, state, size).await;
    }
    let (seed, as_of) = (state.seed(), state.as_of()?);
    let prices = market_prices(as_of).await;
    let make = move || Household::with_prices(seed, as_of, prices);
    let household = tokio::task::spawn_blocking(make).await?;
    if let Some(file) = &args.ground_truth {
        household::write_truth(file, &household)?;
    }
    let (user, access) = household::seed(config, app, state, &household).await?;
    proposals::seed(app, &user).await?;
    feed::start(loops, app, household, user.owner(), (as_of, config.demo_feed_seconds));
    Ok(access)
}

/// The prices of the demo market, so that linked holdings and paper holdings agree.
async fn market_prices(as_of: base::Timestamp) -> Vec<MarketPrice> {
    let symbols = ::demo::symbols().map(str::to_owned).collect();
    let quotes = DemoMarket.quotes(symbols, as_of).await.unwrap_or_default();
    let price = |it: Quote| MarketPrice { symbol: it.symbol, price: it.price, at: it.at };
    quotes.into_iter().map(price).collect()
}

/// Imports the demo's data, but never into a database with real people.
async fn claim(config: &Config, app: &App, state: &State, email: &str) -> Result<()> {
    let others = state.is_new && !users::list(app, 1).await?.is_empty();
    if others && users::find_by_email(app, email).await?.is_none() {
        bail!("this database has real accounts; start the demo with another --data-dir");
    }
    state.save(config)
}

/// The person with that email address, created if missing.
async fn find_or_create(app: &App, email: &str, name: &str) -> Result<(User, bool)> {
    if let Some(user) = users::find_by_email(app, email).await? {
        return Ok((user, true));
    }
    let new = NewUser {
        email: email.to_owned(),
        preferred_name: Some(name.to_owned()),
        base_currency: base::Currency::USD,
        // The example data is generated by dates in UTC.
        timezone: TimeZone::utc(),
        password: None,
    };
    Ok((users::create(app, new).await?, false))
}

async fn make_key(app: &App, user: &User) -> Result<String> {
    let new =
        NewKey { name: "Demo".to_owned(), scopes: Scopes::all(), accounts: None, expires_at: None };
    let (_, secret) = keys::create(app, &user.owner(), new).await?;
    Ok(secret)
}

/// The password and key of the last start if the key still works, otherwise new ones, so that the printed ones work.
async fn credentials(config: &Config, app: &App, user: &User, again: bool) -> Result<Access> {
    let path = config.data_dir.join("demo-access.json");
    let kept =
        std::fs::read(&path).ok().and_then(|it| serde_json::from_slice::<SavedAccess>(&it).ok());
    let is_good = match &kept {
        Some(it) => {
            keys::authenticate(app, &it.api_key, None).await.is_ok_and(|it| it.user == user.id)
        }
        None => false,
    };
    let (kept, same) = match kept.filter(|_| is_good) {
        Some(kept) => (kept, true),
        None => {
            let (password, api_key) = (generate_password(&app.entropy), make_key(app, user).await?);
            (SavedAccess { password, api_key }, false)
        }
    };
    data_dir::write_private(&path, serde_json::to_string_pretty(&kept)?.as_bytes())?;
    profiles::reset_password(app, user.id, &kept.password).await?;
    let SavedAccess { password, api_key } = kept;
    Ok(Access { email: user.email.clone(), password, api_key, again, same })
}
