//! The server process: binds its sockets, announces them, serves until it is told to stop, and drains.

use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use base::Clock;
use service::access::{keys, sign_ins};
use service::platform::{limits, processes, readiness};
use service::{App, actions};
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::cli::Serving;
use crate::config::Config;
use crate::loops::Loops;
use crate::{data_dir, descriptors, open, output};

/// The length of the listen queue. When it is full, clients retry after a second.
const BACKLOG: u32 = 4_096;
/// Connections allowed to the metrics listener, which only a scraper uses.
const METRICS_CONNECTIONS: usize = 64;
/// How long the last traces may take.
const FLUSH_MAX: Duration = Duration::from_millis(800);
/// How long the last writes may take.
const LAST_WRITES_MAX: Duration = Duration::from_millis(800);

pub(crate) async fn run(config: &Config, serving: &Serving) -> Result<()> {
    let stop = stop_on_signal(is_on_terminal())?;
    forget_ready_file(serving.ready_file.as_deref())?;
    data_dir::create(&config.data_dir)?;
    let _lock = lock(config)?;
    let app = open::server_app(config, clock(serving)).await?;
    limits::store_policy(&app).await?;
    let bound = Bound::new(config).await?;
    processes::register(&app).await.context("cannot register this process")?;
    let mut loops = Loops::new(stop.clone());
    loops.start_all(&app);
    tracing::info!(url = bound.web_url, "Evenkeel is ready");
    if sign_ins::is_first_run(&app).await? {
        print_setup_code(config, &bound.web_url, &sign_ins::setup_code(&app))?;
    }
    // Written last, so that a script that waits for the file finds everything printed.
    if let Some(file) = &serving.ready_file {
        write_ready_file(file, &bound.web_url, &[])?;
    }
    bound.serve(config, app, loops, stop).await
}

/// Prints the address at which the first account is created, as plain text whatever the level and format of the logs:
/// operators of containers and services look for it in the output.
fn print_setup_code(config: &Config, url: &str, code: &str) -> Result<()> {
    // On one line, which `journalctl --unit evenkeel | grep code` finds.
    let mut text =
        format!("\nNo account exists yet. Open {url}/setup and enter the setup code {code}\n\n");
    if config.public_url.is_none() {
        text.push_str(
            "If you open it at another address, set that one as public_url (EVENKEEL_PUBLIC_URL) and restart.\n\n",
        );
    }
    output::print(&text)
}

/// Whether the program was started on a terminal, which sends SIGHUP when it closes.
pub(crate) fn is_on_terminal() -> bool {
    io::stderr().is_terminal()
}

/// This machine's clock, or one that is wrong on purpose.
fn clock(serving: &Serving) -> Clock {
    match serving.clock_offset {
        0 => Clock::System,
        seconds => Clock::System.shifted_by(seconds),
    }
}

/// One process at a time may serve a SQLite file; on PostgreSQL any number may.
pub(crate) fn lock(config: &Config) -> Result<Option<data_dir::Lock>> {
    config.database_url.is_none().then(|| data_dir::lock(config)).transpose()
}

/// Listening sockets that are not served yet.
pub(crate) struct Bound {
    listener: TcpListener,
    metrics: Option<TcpListener>,
    pub(crate) web_url: String,
    /// The demo's credentials, shown on the sign-in page.
    pub(crate) demo: Option<web::DemoSignIn>,
    /// The demo's link that signs in once.
    pub(crate) demo_link: Option<web::DemoLink>,
}

impl Bound {
    pub(crate) async fn new(config: &Config) -> Result<Bound> {
        let listener = bind("listen", &config.listen)?;
        let metrics = match &config.metrics_listen {
            Some(address) => Some(bind("metrics.listen", address)?),
            None => None,
        };
        if let Some(listener) = &metrics {
            tracing::info!(url = url_of(listener.local_addr()?), "metrics listener is ready");
        }
        let web_url = match &config.public_url {
            Some(url) => url.clone(),
            None => url_of(listener.local_addr()?),
        };
        // The file only helps commands find the server, so a failure is not fatal.
        if let Err(error) = data_dir::save_address(config, &web_url) {
            tracing::warn!(error = crate::sentence(&error), "cannot save the server's address");
        }
        Ok(Bound { listener, metrics, web_url, demo: None, demo_link: None })
    }

    /// Serves until told to stop, then finishes the requests in flight.
    pub(crate) async fn serve(
        self,
        config: &Config,
        app: App,
        loops: Loops,
        stop: watch::Receiver<bool>,
    ) -> Result<()> {
        let settings = web::Settings {
            public_url: self.web_url,
            serve_metrics: config.metrics_public,
            cors_origins: config.cors_origins.clone(),
            sign_up_open: config.sign_up_open,
            demo: self.demo,
            demo_link: self.demo_link,
            oauth_registration: config.oauth_registration,
            mcp: config.mcp,
            mcp_surface: None,
            proxies: config.proxies.clone(),
        };
        let routers = web::routers(app.clone(), settings);
        let limits = web::ServerLimits { meters: routers.connections, ..server_limits(config) };
        let draining = begin_drain(app.clone(), stop.clone(), config.stop_delay);
        let main = web::serve(self.listener, routers.main, limits, draining);
        let metrics = async {
            let limits = web::ServerLimits::new(METRICS_CONNECTIONS);
            match self.metrics {
                Some(listener) => {
                    web::serve(listener, routers.metrics, limits, until(stop.clone())).await
                }
                None => Ok(()),
            }
        };
        // Background loops may finish their current step while requests drain. A step that is cut off is done later.
        let loops = async {
            until(stop.clone()).await;
            let most = config.stop_delay + config.drain_max;
            if tokio::time::timeout(most, loops.join()).await.is_err() {
                tracing::warn!("background step did not finish before shutdown");
            }
        };
        let (main, metrics, ()) = tokio::join!(main, metrics, loops);
        main.and(metrics).context("the server failed")?;
        last_writes(&app).await;
        app.tracer.flush(FLUSH_MAX).await;
        tracing::info!("Evenkeel has stopped");
        Ok(())
    }
}

/// Ends the row of this process, so that its claims end at once, and saves when keys were last used since the last step.
/// Neither is worth waiting for a database that does not answer.
async fn last_writes(app: &App) {
    let writing = async {
        processes::leave(app).await?;
        keys::save_usage_once(app).await
    };
    let written = tokio::time::timeout(LAST_WRITES_MAX, writing).await;
    let written = written.context("the database does not answer").and_then(|it| Ok(it?));
    if let Err(error) = written {
        let error = crate::sentence(&error);
        tracing::warn!(error, "cannot save the last changes of this process");
    }
}

/// Waits for the signal to stop. From then on the process is not ready and requests that wait for a change are answered;
/// the listener stays open until those who ask for readiness have had time to send their requests elsewhere.
async fn begin_drain(app: App, stop: watch::Receiver<bool>, delay: Duration) {
    until(stop).await;
    let is_probed = readiness::begin_stop(&app);
    actions::end_waits(&app);
    if is_probed {
        tokio::time::sleep(delay).await;
    }
}

fn server_limits(config: &Config) -> web::ServerLimits {
    let connections = descriptors::connections_max(config.connections_max);
    let mut limits = web::ServerLimits::new(connections);
    if let Some(per_address) = config.connections_per_address {
        limits.per_address = per_address.min(connections);
    }
    limits.proxies = config.proxies.clone();
    limits.drain_max = config.drain_max;
    limits
}

/// Binds the first address that a setting resolves to.
fn bind(name: &str, address: &str) -> Result<TcpListener> {
    bind_any(address).with_context(|| {
        let flag = if name == "listen" { " (--listen)" } else { "" };
        format!(
            "cannot listen on {address}; stop the program that uses it, or set {name}{flag} to \
                another address, such as 127.0.0.1:4700"
        )
    })
}

fn bind_any(address: &str) -> io::Result<TcpListener> {
    let mut failure = io::Error::new(io::ErrorKind::InvalidInput, "the host name does not resolve");
    for address in address.to_socket_addrs()? {
        let bound = bind_one(address);
        match bound {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The address for a browser on this machine: loopback in place of 0.0.0.0.
fn url_of(address: SocketAddr) -> String {
    let local = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    format!("http://{}", SocketAddr::new(local, address.port()))
}

pub(crate) async fn until(mut stop: watch::Receiver<bool>) {
    // An error means that the sender was dropped, and the server stops then too.
    let _ = stop.wait_for(|stopped| *stopped).await;
}

/// Becomes true at the first SIGTERM or SIGINT, or SIGHUP if that is to stop the program. A second one ends the process
/// at once.
pub(crate) fn stop_on_signal(stops_at_hangup: bool) -> Result<watch::Receiver<bool>> {
    let (sender, stop) = watch::channel(false);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = stops_at_hangup.then(|| signal(SignalKind::hangup())).transpose()?;
    tokio::spawn(async move {
        for stopped in [false, true] {
            let hung_up = async {
                match &mut hangup {
                    Some(hangup) => hangup.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hung_up => {}
            }
            if stopped {
                std::process::exit(1);
            }
            tracing::info!("stopping after requests in flight finish");
            let _ = sender.send(true);
        }
    });
    Ok(stop)
}

/// Removes the ready file of an earlier run, so that a waiting script does not mistake it for this one.
pub(crate) fn forget_ready_file(file: Option<&Path>) -> Result<()> {
    match file.map(std::fs::remove_file) {
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).context("cannot remove the old ready file")
        }
        _ => Ok(()),
    }
}

pub(crate) fn write_ready_file(file: &Path, web_url: &str, more: &[(&str, &str)]) -> Result<()> {
    let mut ready = serde_json::json!({
        "web_url": web_url, "base_url": format!("{web_url}/v1"), "pid": std::process::id(),
    });
    for (name, text) in more {
        ready[*name] = (*text).into();
    }
    let text = serde_json::to_string_pretty(&ready)?;
    data_dir::write_private(file, format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_socket_is_one_a_browser_can_open() {
        for (address, url) in [
            ("127.0.0.1:4680", "http://127.0.0.1:4680"),
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://127.0.0.1:80"),
            ("[::1]:80", "http://[::1]:80"),
        ] {
            assert_eq!(url_of(address.parse().unwrap()), url);
        }
    }
}
