//! The migrations in order, and all SQL statements for the test that prepares them.

use db::{Db, LockWait, MigrateError, Migration, SchemaState, ShardError, ShardStep};

use crate::placement::PLACEMENTS;

pub const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "foundation",
        sql: include_str!("../../../migrations/0001_foundation.sql"),
    },
    Migration {
        version: 2,
        name: "insights",
        sql: include_str!("../../../migrations/0002_insights.sql"),
    },
    Migration {
        version: 3,
        name: "people",
        sql: include_str!("../../../migrations/0003_people.sql"),
    },
    Migration {
        version: 4,
        name: "trading",
        sql: include_str!("../../../migrations/0004_trading.sql"),
    },
    Migration {
        version: 5,
        name: "ledger",
        sql: include_str!("../../../migrations/0005_ledger.sql"),
    },
    Migration {
        version: 6,
        name: "webhooks",
        sql: include_str!("../../../migrations/0006_webhooks.sql"),
    },
    Migration {
        version: 7,
        name: "portal",
        sql: include_str!("../../../migrations/0007_portal.sql"),
    },
    Migration {
        version: 8,
        name: "sources",
        sql: include_str!("../../../migrations/0008_sources.sql"),
    },
    Migration {
        version: 9,
        name: "attempts",
        sql: include_str!("../../../migrations/0009_attempts.sql"),
    },
    Migration {
        version: 10,
        name: "hardening",
        sql: include_str!("../../../migrations/0010_hardening.sql"),
    },
    Migration {
        version: 11,
        name: "plain_words",
        sql: include_str!("../../../migrations/0011_plain_words.sql"),
    },
    Migration {
        version: 12,
        name: "instruments",
        sql: include_str!("../../../migrations/0012_instruments.sql"),
    },
    Migration {
        version: 13,
        name: "event_log",
        sql: include_str!("../../../migrations/0013_event_log.sql"),
    },
    Migration {
        version: 14,
        name: "transaction_changes",
        sql: include_str!("../../../migrations/0014_transaction_changes.sql"),
    },
    Migration {
        version: 15,
        name: "cash_flows",
        sql: include_str!("../../../migrations/0015_cash_flows.sql"),
    },
    Migration {
        version: 16,
        name: "deleted_accounts",
        sql: include_str!("../../../migrations/0016_deleted_accounts.sql"),
    },
    Migration {
        version: 17,
        name: "trades",
        sql: include_str!("../../../migrations/0017_trades.sql"),
    },
    Migration {
        version: 18,
        name: "timezones",
        sql: include_str!("../../../migrations/0018_timezones.sql"),
    },
    Migration {
        version: 19,
        name: "processes",
        sql: include_str!("../../../migrations/0019_processes.sql"),
    },
    Migration {
        version: 20,
        name: "retention",
        sql: include_str!("../../../migrations/0020_retention.sql"),
    },
    Migration {
        version: 21,
        name: "stream_choices",
        sql: include_str!("../../../migrations/0021_stream_choices.sql"),
    },
    Migration {
        version: 22,
        name: "transaction_notes",
        sql: include_str!("../../../migrations/0022_transaction_notes.sql"),
    },
    Migration {
        version: 23,
        name: "providers",
        sql: include_str!("../../../migrations/0023_providers.sql"),
    },
    Migration {
        version: 24,
        name: "bank_links",
        sql: include_str!("../../../migrations/0024_bank_links.sql"),
    },
    Migration {
        version: 25,
        name: "transaction_splits",
        sql: include_str!("../../../migrations/0025_transaction_splits.sql"),
    },
    Migration {
        version: 26,
        name: "consent",
        sql: include_str!("../../../migrations/0026_consent.sql"),
    },
    Migration {
        version: 27,
        name: "rule_conditions",
        sql: include_str!("../../../migrations/0027_rule_conditions.sql"),
    },
    Migration {
        version: 28,
        name: "single_sign_on",
        sql: include_str!("../../../migrations/0028_single_sign_on.sql"),
    },
    Migration {
        version: 29,
        name: "bulk_edits",
        sql: include_str!("../../../migrations/0029_bulk_edits.sql"),
    },
    Migration {
        version: 30,
        name: "refund_links",
        sql: include_str!("../../../migrations/0030_refund_links.sql"),
    },
    Migration {
        version: 31,
        name: "saved_filters",
        sql: include_str!("../../../migrations/0031_saved_filters.sql"),
    },
    Migration {
        version: 32,
        name: "attachments",
        sql: include_str!("../../../migrations/0032_attachments.sql"),
    },
    Migration {
        version: 33,
        name: "attended_syncs",
        sql: include_str!("../../../migrations/0033_attended_syncs.sql"),
    },
    Migration {
        version: 34,
        name: "account_details",
        sql: include_str!("../../../migrations/0034_account_details.sql"),
    },
    Migration {
        version: 35,
        name: "recurring_choices",
        sql: include_str!("../../../migrations/0035_recurring_choices.sql"),
    },
    Migration {
        version: 36,
        name: "reference_rates",
        sql: include_str!("../../../migrations/0036_reference_rates.sql"),
    },
    Migration { version: 37, name: "mail", sql: include_str!("../../../migrations/0037_mail.sql") },
    Migration {
        version: 38,
        name: "large_amounts",
        sql: include_str!("../../../migrations/0038_large_amounts.sql"),
    },
    Migration {
        version: 39,
        name: "sharding",
        sql: include_str!("../../../migrations/0039_sharding.sql"),
    },
    Migration {
        version: 40,
        name: "balance_precedence",
        sql: include_str!("../../../migrations/0040_balance_precedence.sql"),
    },
    Migration {
        version: 41,
        name: "bank_ids",
        sql: include_str!("../../../migrations/0041_bank_ids.sql"),
    },
    Migration {
        version: 42,
        name: "spending_exceptions",
        sql: include_str!("../../../migrations/0042_spending_exceptions.sql"),
    },
    Migration {
        version: 43,
        name: "counterparties",
        sql: include_str!("../../../migrations/0043_counterparties.sql"),
    },
];

/// The views for people who read the database with other programs (`docs/views.md`).
pub const VIEWS: &str = include_str!("../../../migrations/views.sql");

/// The last migration that this program knows.
pub fn known_version() -> i64 {
    MIGRATIONS.last().map_or(0, |it| it.version)
}

/// Applies the missing migrations and creates the views. A database that a newer program has migrated keeps its own.
pub async fn migrate(db: &Db) -> Result<usize, MigrateError> {
    let applied = db.migrate_placed(MIGRATIONS, PLACEMENTS, LockWait::default()).await?;
    if !state(db).await?.is_newer() {
        db.create_views(VIEWS).await?;
    }
    Ok(applied)
}

/// Distributes the tables of a PostgreSQL with Citus over its nodes, and creates the views again. Returns how many tables
/// were placed.
pub async fn shard(
    db: &Db,
    shards: u32,
    on_step: impl FnMut(&ShardStep) + Send,
) -> Result<usize, ShardError> {
    let placed = db.shard(PLACEMENTS, shards, on_step).await?;
    db.create_views(VIEWS).await.map_err(|error| ShardError::Views(Box::new(error)))?;
    Ok(placed)
}

/// The schema of the database compared with this program's.
pub async fn state(db: &Db) -> Result<SchemaState, MigrateError> {
    db.schema_state(MIGRATIONS).await
}

/// All SQL statements of the product: the constants, and the variants that filters can build. One test prepares each of
/// them on both engines, which works like a compile-time check for two databases.
pub fn statements() -> Vec<String> {
    let fixed = [
        crate::ledger::accounts::STATEMENTS,
        crate::ledger::account_terms::STATEMENTS,
        crate::ingest::account_split::STATEMENTS,
        crate::ingest::account_types::STATEMENTS,
        crate::ledger::annotations::STATEMENTS,
        crate::ledger::attachments::STATEMENTS,
        crate::ledger::saved_filters::STATEMENTS,
        crate::platform::anchors::STATEMENTS,
        crate::platform::audit::STATEMENTS,
        crate::ledger::balances::STATEMENTS,
        crate::ledger::daily_nets::STATEMENTS,
        crate::access::devices::STATEMENTS,
        crate::exports::STATEMENTS,
        crate::ledger::goals::STATEMENTS,
        crate::key_rotation::STATEMENTS,
        crate::platform::ended_access::STATEMENTS,
        crate::platform::health::STATEMENTS,
        crate::platform::idempotency::STATEMENTS,
        crate::access::images::STATEMENTS,
        crate::platform::installation::STATEMENTS,
        crate::ledger::instruments::STATEMENTS,
        crate::ledger::investments::STATEMENTS,
        crate::ledger::performance::STATEMENTS,
        crate::ledger::trades::STATEMENTS,
        crate::access::invitations::STATEMENTS,
        crate::access::keys::STATEMENTS,
        crate::platform::limits::STATEMENTS,
        crate::access::profiles::STATEMENTS,
        crate::access::passkeys::STATEMENTS,
        crate::ledger::quotes::STATEMENTS,
        crate::access::recovery::STATEMENTS,
        crate::ledger::rates::STATEMENTS,
        crate::ledger::reference_rates::STATEMENTS,
        crate::onboarding::STATEMENTS,
        crate::retention::STATEMENTS,
        crate::ledger::splits::STATEMENTS,
        crate::ledger::stamps::STATEMENTS,
        crate::platform::person_lock::STATEMENTS,
        crate::mail::STATEMENTS,
        crate::platform::mail_queue::STATEMENTS,
        crate::access::password_resets::STATEMENTS,
        crate::platform::processes::STATEMENTS,
        crate::platform::readiness::STATEMENTS,
        crate::access::sessions::STATEMENTS,
        crate::access::users::STATEMENTS,
        &crate::actions::statements(),
        &crate::backup::statements(),
        crate::chains::STATEMENTS,
        &crate::ingest::connections::statements(),
        &crate::classify::statements(),
        &crate::ingest::imports::statements(),
        crate::ingest::manual::STATEMENTS,
        crate::platform::dirty_queue::STATEMENTS,
        &crate::insights::statements(),
        &crate::access::oauth::statements(),
        &crate::access::oidc::statements(),
        &crate::trading::paper::statements(),
        &crate::access::sign_ins::statements(),
        &crate::ledger::transactions::statements(),
        crate::webhooks::portal::STATEMENTS,
        &::webhooks::statements(),
    ];
    let fixed = fixed.concat().into_iter().map(str::to_owned);
    fixed.chain(crate::ledger::transactions::statement_variants()).collect()
}

/// Statements that run on PostgreSQL only, because only there several processes share a database.
pub fn postgres_statements() -> &'static [&'static str] {
    crate::platform::limits::POSTGRES_STATEMENTS
}
