//! The steps of the schema, in order.

use db::Migration;

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
];

/// Every statement of the product with a fixed text, and every one that filters can make: one test prepares them all
/// on both engines, which is our compile-time check for two databases at once.
pub fn statements() -> Vec<String> {
    let fixed = [
        crate::accounts::STATEMENTS,
        crate::anchors::STATEMENTS,
        crate::audit::STATEMENTS,
        crate::balances::STATEMENTS,
        crate::cash_flow::STATEMENTS,
        crate::devices::STATEMENTS,
        crate::exports::STATEMENTS,
        crate::goals::STATEMENTS,
        crate::health::STATEMENTS,
        crate::idempotency::STATEMENTS,
        crate::images::STATEMENTS,
        crate::installation::STATEMENTS,
        crate::investments::STATEMENTS,
        crate::invitations::STATEMENTS,
        crate::keys::STATEMENTS,
        crate::limits::STATEMENTS,
        crate::outbox::STATEMENTS,
        crate::profiles::STATEMENTS,
        crate::income::STATEMENTS,
        crate::passkeys::STATEMENTS,
        crate::quotes::STATEMENTS,
        crate::recovery::STATEMENTS,
        crate::rates::STATEMENTS,
        crate::readiness::STATEMENTS,
        crate::scores::STATEMENTS,
        crate::sessions::STATEMENTS,
        crate::transfers::STATEMENTS,
        crate::users::STATEMENTS,
        &crate::actions::statements(),
        &crate::backup::statements(),
        &crate::benefits::statements(),
        &crate::connections::statements(),
        &crate::enrichment::statements(),
        &crate::imports::statements(),
        crate::manual::STATEMENTS,
        &crate::insights::statements(),
        &crate::oauth::statements(),
        &crate::paper::statements(),
        &crate::recurring::statements(),
        &crate::sign_ins::statements(),
        &crate::transactions::statements(),
        &crate::webhooks::statements(),
    ];
    let fixed = fixed.concat().into_iter().map(str::to_owned);
    fixed.chain(crate::transactions::statement_variants()).collect()
}

/// Those that only PostgreSQL runs, because only it has several processes to bring together.
pub fn postgres_statements() -> &'static [&'static str] {
    crate::limits::POSTGRES_STATEMENTS
}
