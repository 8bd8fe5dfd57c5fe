//! `evenkeel doctor`: checks the installation, with one line for each check and how to fix a failure.

mod proxy;
mod surroundings;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Result, bail};
use base::Clock;
use db::Db;
use serde::Serialize;
use service::platform::health::{self, ConnectionUse};
use service::platform::installation;
use service::schema;

use super::{print, print_json};
use crate::config::{self, Config, Flags, Search};
use crate::{data_dir, open};

/// Connections that servers should leave for commands and other programs.
const SPARE_CONNECTIONS: i64 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
struct Check {
    check: &'static str,
    verdict: Verdict,
    message: String,
}

fn ok(check: &'static str, message: impl Into<String>) -> Check {
    Check { check, verdict: Verdict::Ok, message: message.into() }
}

fn warn(check: &'static str, message: impl Into<String>) -> Check {
    Check { check, verdict: Verdict::Warn, message: message.into() }
}

fn fail(check: &'static str, message: impl Into<String>) -> Check {
    Check { check, verdict: Verdict::Fail, message: message.into() }
}

pub(crate) async fn run(flags: &Flags, as_json: bool) -> Result<()> {
    let checks = match config::load(flags, Search::DataDir) {
        Ok(config) => examine(&config).await,
        Err(error) => vec![fail("configuration", crate::sentence(&error))],
    };
    if as_json {
        print_json(&serde_json::to_value(&checks)?)?;
    } else {
        let line = |it: &Check| {
            let verdict = match it.verdict {
                Verdict::Ok => "ok",
                Verdict::Warn => "warn",
                Verdict::Fail => "FAIL",
            };
            format!("{verdict:5} {:17} {}\n", it.check, it.message.replace('\n', " "))
        };
        print(&checks.iter().map(line).collect::<String>())?;
    }
    let failed = checks.iter().filter(|it| it.verdict == Verdict::Fail).count();
    if failed > 0 {
        bail!("{failed} of {} checks failed", checks.len());
    }
    Ok(())
}

async fn examine(config: &Config) -> Vec<Check> {
    let mut checks = vec![
        ok("configuration", "all settings are valid"),
        surroundings::clock(&Clock::System),
        public_url(config),
        folder(config),
    ];
    checks.extend(surroundings::disk(config));
    checks.extend(proxy::check(config).await);
    checks.push(surroundings::certificates());
    checks.extend(metrics(config));
    checks.extend(surroundings::single_sign_on(config).await);
    checks.extend(surroundings::mail(config).await);
    // Opening would create a missing database, and this command changes nothing.
    if config.database_url.is_none() && !data_dir::database_file(config).exists() {
        let path = data_dir::database_file(config);
        let message = format!("{} does not exist; `evenkeel serve` creates it", path.display());
        checks.push(fail("database", message));
        return checks;
    }
    match open::connect(config).await {
        Ok(db) => checks.extend(database(config, &db).await),
        Err(error) => checks.push(fail("database", crate::sentence(&error))),
    }
    checks
}

fn is_loopback(host: &str) -> bool {
    ["127.", "localhost:", "[::1]"].iter().any(|it| host.starts_with(it)) || host == "localhost"
}

/// Warns if the metrics listener is reachable from other machines: usage figures are private.
fn metrics(config: &Config) -> Option<Check> {
    let is_open = !is_loopback(&config.listen) || config.public_url.is_some();
    (config.metrics_public && is_open).then(|| {
        warn(
            "metrics",
            "metrics.public is on: anyone who can reach this installation can read /metrics; \
                use metrics.listen with a private address instead",
        )
    })
}

fn public_url(config: &Config) -> Check {
    match &config.public_url {
        None if is_loopback(&config.listen) => {
            ok("public_url", format!("this machine only, on {}", config.listen))
        }
        None => warn(
            "public_url",
            format!(
                "listen is {}, but public_url is not set; set it to the public address of this installation",
                config.listen
            ),
        ),
        Some(url) => match url.strip_prefix("http://") {
            Some(host) if !is_loopback(host) => warn(
                "public_url",
                format!(
                    "{url} is not encrypted; use a proxy with https, and set public_url to its \
                        address"
                ),
            ),
            _ => ok("public_url", url.clone()),
        },
    }
}

fn folder(config: &Config) -> Check {
    let path = &config.data_dir;
    let shown = path.display();
    let Ok(about) = fs::metadata(path) else {
        return fail("data directory", format!("{shown} does not exist; check --data-dir"));
    };
    let probe = path.join(format!(".doctor-{}", std::process::id()));
    if let Err(error) = fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)) {
        return fail("data directory", format!("{shown} is not writable: {error}"));
    }
    if about.permissions().mode() & 0o077 != 0 {
        return warn(
            "data directory",
            format!("{shown} is accessible to other users; run chmod 700 on it"),
        );
    }
    // The key decrypts stored secrets, so its permissions are checked even inside a private folder.
    let key = data_dir::key_file(config);
    match fs::metadata(&key) {
        Ok(about) if about.permissions().mode() & 0o077 != 0 => {
            let key = key.display();
            warn("data directory", format!("{key} is readable by other users; run chmod 600 on it"))
        }
        _ => ok("data directory", shown.to_string()),
    }
}

async fn database(config: &Config, db: &Db) -> Vec<Check> {
    let health = match health::get(db).await {
        Ok(health) => health,
        Err(error) => return vec![fail("database", chain(error))],
    };
    let mut checks = vec![ok("database", health.engine), surroundings::durability(db).await];
    checks.extend(surroundings::database_clock(db).await);
    match health::connections(db).await {
        Ok(used) => checks.extend(used.map(|it| connections(config, it))),
        Err(error) => {
            checks.push(warn("connections", format!("cannot be counted: {}", chain(error))))
        }
    }
    let state = schema::state(db).await;
    let is_usable = state.as_ref().is_ok_and(|it| it.pending.is_empty());
    checks.push(match state {
        Ok(state) => schema_check(config, &state),
        Err(error) => fail("schema", crate::sentence(&error.into())),
    });
    // The checks below read tables that an older or newer schema may not have.
    if is_usable {
        checks.push(key(config, db).await);
        checks.push(integrity(db).await);
        checks.push(counters(db).await);
        checks.extend(surroundings::placement(db).await);
        checks.push(surroundings::backups(config).await);
    }
    checks
}

fn schema_check(config: &Config, state: &db::SchemaState) -> Check {
    let known = state.known;
    match state.found {
        None => fail("schema", "the database has never been used; `evenkeel serve` sets it up"),
        Some(found) if state.is_newer() => warn(
            "schema",
            format!(
                "schema version {found} is newer than this program's {known}, which can still use it; update the \
                    program"
            ),
        ),
        Some(found) if !state.pending.is_empty() => {
            let how = match config.database_migrate {
                true => "the next start migrates it",
                false => "run `evenkeel migrate`",
            };
            warn("schema", format!("schema version {found} of {known}; {how}"))
        }
        Some(found) => ok("schema", format!("step {found}")),
    }
}

/// Compares the connections that all servers may open with those that PostgreSQL accepts.
fn connections(config: &Config, used: ConnectionUse) -> Check {
    let ConnectionUse { accepted, others_open, servers, servers_may_open } = used;
    let each = i64::try_from(config.database_connections).unwrap_or(i64::MAX);
    let (count, needed) = if servers == 0 { (1, each) } else { (servers, servers_may_open) };
    let left = (accepted - others_open - SPARE_CONNECTIONS).max(0);
    let facts = format!(
        "PostgreSQL accepts {accepted} connections, other programs have {others_open}, {count} server(s) of this \
         database may open {needed}"
    );
    if needed <= left {
        let more = (left - needed) / each;
        return ok("connections", format!("{facts}; {more} more with {each} each fit"));
    }
    let fitting = left / count;
    let advice = if fitting >= db::SERVER_CONNECTIONS_MIN as i64 {
        format!(
            "set database.connections to {fitting} or less, or raise max_connections of PostgreSQL"
        )
    } else {
        "raise max_connections of PostgreSQL, or run fewer servers".to_owned()
    };
    warn(
        "connections",
        format!("{facts}, and commands need {SPARE_CONNECTIONS}: too many; {advice}"),
    )
}

async fn key(config: &Config, db: &Db) -> Check {
    let key = match data_dir::find_key(config) {
        Ok(Some(key)) => key,
        Ok(None) => {
            let path = data_dir::key_file(config);
            return fail(
                "installation key",
                format!("{} is missing; restore it, or set installation_key", path.display()),
            );
        }
        Err(error) => return fail("installation key", crate::sentence(&error)),
    };
    match installation::claim(db, &key).await {
        Ok(()) => ok("installation key", "matches this database"),
        Err(error) => fail("installation key", chain(error)),
    }
}

async fn integrity(db: &Db) -> Check {
    match health::find_damage(db).await {
        Ok(found) if found.is_empty() => ok("integrity", "no damage found"),
        Ok(found) => fail(
            "integrity",
            format!("{}; restore the last backup into a new data directory", found.join("; ")),
        ),
        Err(error) => fail("integrity", chain(error)),
    }
}

async fn counters(db: &Db) -> Check {
    match health::count_miscounted_accounts(db).await {
        Ok(0) => ok("counters", "transaction counts match"),
        Ok(count) => fail(
            "counters",
            format!("the transaction counts of {count} accounts are wrong; please report this"),
        ),
        Err(error) => warn("counters", format!("could not be checked: {}", chain(error))),
    }
}

fn chain(error: service::Error) -> String {
    crate::sentence(&error.into())
}
