//! Checks of what is around the program: clock, disk, certificates, backups, and settings of the database.

use base::{CLOCK_SKEW_MICROSECONDS, Clock, TimeZone};
use db::Db;
use net::{Guard, HttpClient, Policy};
use service::placement::PLACEMENTS;
use service::platform::health;

use super::{Check, chain, fail, ok, warn};
use crate::commands::shard;
use crate::config::Config;
use crate::{data_dir, open};

/// Free space below which an import or a backup may not fit.
const FREE_MIB_LOW: u64 = 512;

pub(super) fn clock(clock: &Clock) -> Check {
    let today = clock.today_in(TimeZone::utc());
    match today.year() {
        ..2026 => fail("clock", format!("the clock shows {today}; set the correct time")),
        _ => ok("clock", today.to_string()),
    }
}

/// Compares this machine's clock with the database's. Leases follow the database; tokens, sessions and signatures of
/// webhooks follow this machine.
pub(super) async fn database_clock(db: &Db) -> Option<Check> {
    let own = Clock::System.now();
    let theirs = db.now().await.ok()?;
    let apart = (theirs.as_microsecond() - own.as_microsecond()).abs();
    (apart > CLOCK_SKEW_MICROSECONDS).then(|| {
        warn(
            "clock",
            format!(
                "this machine and the database are {} seconds apart; turn on time synchronization (NTP) on both",
                apart / 1_000_000
            ),
        )
    })
}

pub(super) fn disk(config: &Config) -> Option<Check> {
    let free = db::free_bytes(&config.data_dir)?;
    let shown = config.data_dir.display();
    let mib = free >> 20;
    if config.database_url.is_none() && free < config.free_bytes_min {
        return Some(fail("disk", format!("{mib} MiB are free in {shown}; delete or move files")));
    }
    // A migration copies the database file.
    let database = std::fs::metadata(data_dir::database_file(config)).map_or(0, |it| it.len());
    let needed = (FREE_MIB_LOW << 20).max(database);
    Some(match free < needed {
        true => warn(
            "disk",
            format!(
                "{mib} MiB are free in {shown}, and {} are advisable; delete or move files",
                needed >> 20
            ),
        ),
        false => ok("disk", format!("{mib} MiB are free")),
    })
}

/// Outgoing requests (banks, webhooks, prices) need the system's certificate authorities.
pub(super) fn certificates() -> Check {
    match HttpClient::new(Policy { guard: Guard::Public { allow: Vec::new() }, extra_ca: None }) {
        Ok(_) => ok("certificates", "the system's certificate authorities can be read"),
        Err(error) => warn(
            "certificates",
            format!(
                "no request to a bank or a webhook is possible: {error}; install the package ca-certificates, or set \
                 SSL_CERT_FILE"
            ),
        ),
    }
}

pub(super) async fn backups(config: &Config) -> Check {
    let plan = match open::backup_plan(config) {
        Ok(Some(plan)) => plan,
        Ok(None) => {
            return warn(
                "backups",
                "none are scheduled; set backups.folder to a folder on another disk, or backups.s3 to a store",
            );
        }
        Err(error) => return fail("backups", crate::sentence(&error)),
    };
    let key = match data_dir::find_key(config) {
        Ok(Some(key)) => key,
        _ => return warn("backups", "cannot be found without the installation key"),
    };
    let examined = match plan.probe(&key).await {
        Ok(()) => plan.examine(&key, Clock::System.now()).await,
        Err(error) => Err(error),
    };
    let status = match examined {
        Ok(status) => status,
        Err(error) => return fail("backups", chain(error)),
    };
    let (place, files) = (&status.place, status.files.unwrap_or_default());
    match files.first() {
        None => warn(
            "backups",
            format!("{place} has none yet; a running server writes one within a minute"),
        ),
        Some(newest) if status.is_late => warn(
            "backups",
            format!(
                "the last good backup in {place} is of {}; check the server's log",
                newest.made_at
            ),
        ),
        Some(newest) => {
            ok("backups", format!("{} in {place}, the last one of {}", files.len(), newest.made_at))
        }
    }
}

/// Settings of the database under which a power cut loses acknowledged changes.
pub(super) async fn durability(db: &Db) -> Check {
    match health::unsafe_settings(db).await {
        Ok(found) if found.is_empty() => {
            ok("durability", "acknowledged changes survive a power cut")
        }
        Ok(found) => warn(
            "durability",
            format!("a power cut can lose or damage data: {}; set them to on", found.join(", ")),
        ),
        Err(error) => warn("durability", format!("could not be checked: {}", chain(error))),
    }
}

/// How the tables are placed on a PostgreSQL with Citus; none without.
pub(super) async fn placement(db: &Db) -> Option<Check> {
    let cluster = match db.cluster().await {
        Ok(cluster) => cluster?,
        Err(error) => return Some(warn("placement", format!("could not be read: {error}"))),
    };
    let misplaced = cluster.misplaced(PLACEMENTS);
    Some(if !cluster.is_sharded() {
        let version = &cluster.version;
        ok(
            "placement",
            format!(
                "Citus {version}, and all tables on this node; `evenkeel shard` distributes them"
            ),
        )
    } else if misplaced.is_empty() {
        ok("placement", shard::summary(&cluster))
    } else {
        warn(
            "placement",
            format!(
                "not placed as this version expects: {}; stop the servers and run `evenkeel shard`",
                misplaced.join(", ")
            ),
        )
    })
}

/// Asks each provider of single sign-on for its metadata.
pub(super) async fn single_sign_on(config: &Config) -> Vec<Check> {
    let providers = match open::single_sign_on(config) {
        Ok(providers) => providers,
        Err(error) => return vec![fail("single sign-on", crate::sentence(&error))],
    };
    let mut checks = Vec::new();
    for provider in providers.providers() {
        checks.push(match providers.check(&provider.name, Clock::System.now()).await {
            Ok(()) => ok("single sign-on", format!("{} answers", provider.issuer)),
            Err(error) => warn("single sign-on", chain(error)),
        });
    }
    checks
}

/// Connects to the mail server and signs in. No message is sent.
pub(super) async fn mail(config: &Config) -> Option<Check> {
    let mailer = match open::mailer(config) {
        Ok(mailer) => mailer?,
        Err(error) => return Some(fail("mail", crate::sentence(&error))),
    };
    Some(match mailer.client.check().await {
        Ok(()) => {
            ok("mail", "the mail server answers; `evenkeel mail test ADDRESS` sends a message")
        }
        Err(error) => warn("mail", error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    #[test]
    fn a_clock_from_before_this_program_was_written_is_wrong() {
        for (instant, verdict) in [
            ("1970-01-01T00:00:07Z", Verdict::Fail),
            ("2025-12-31T23:59:59Z", Verdict::Fail),
            ("2026-01-01T00:00:00Z", Verdict::Ok),
        ] {
            let found = clock(&Clock::frozen_at(instant));
            assert_eq!(found.verdict, verdict, "{instant}: {}", found.message);
            assert!(found.message.contains(&instant[..10]), "{}", found.message);
        }
    }
}
