//! The statements that return many rows and have no limit, each with the bound on the number of its rows.

/// Statements without a limit, by file and constant, each with the bound on the number of its rows. Where nothing bounds
/// them, the reason begins with `unlimited` and says what there is a row for.
pub(super) const BOUNDED: &[(&str, &str)] = &[
    (
        "service/src/access/invitations.rs::ACCEPT_EMAIL",
        "the open invitations of one email, at most 100 of each admin",
    ),
    ("service/src/access/keys.rs::ACCOUNTS", "unlimited: one row for each account of a person"),
    (
        "service/src/backup/access.rs::LIST_REVOKED",
        "unlimited: one row for each revoked key, read by the operator during a restore",
    ),
    (
        "service/src/backup/access.rs::LIVE_ENDPOINTS",
        "ACTIVE_MAX of the webhooks for each key, read by the operator during a restore",
    ),
    (
        "service/src/backup/access.rs::LIVE_KEYS",
        "access/keys.rs::ACTIVE_MAX for each person, read by the operator during a restore",
    ),
    (
        "service/src/backup/access.rs::PEOPLE",
        "unlimited: one row for each person, read by the operator during a restore",
    ),
    (
        "service/src/classify/bulk_edits/rows.rs::JOURNAL",
        "the transactions of one edit, at most TRANSACTIONS_MAX",
    ),
    (
        "service/src/classify/classifier.rs::SAMPLES",
        "unlimited: one row for each override of a person",
    ),
    (
        "service/src/classify/linked_refunds.rs::DAYS",
        "unlimited: one row for each refund that a person linked",
    ),
    (
        "service/src/classify/linked_refunds.rs::IDS",
        "unlimited: one row for each refund that a person linked",
    ),
    (
        "service/src/classify/linked_refunds.rs::PURCHASES",
        "unlimited: one row for each refund that a person linked",
    ),
    ("service/src/classify/overrides.rs::ALL", "unlimited: one row for each override of a person"),
    (
        "service/src/classify/overrides.rs::MARKS",
        "unlimited: one row for each override of a person",
    ),
    (
        "service/src/classify/reclassify/pairs.rs::DECISIONS",
        "unlimited: one row for each transfer that a person confirmed or refused",
    ),
    ("service/src/classify/reclassify/pairs.rs::PAIRS", "transfers between two dates"),
    (
        "service/src/classify/reclassify/rows.rs::LEGS",
        "transactions between two dates, visited row by row",
    ),
    ("service/src/classify/reclassify/rows.rs::ROW", "one transaction"),
    (
        "service/src/classify/reclassify/rows.rs::ROWS",
        "transactions between two dates, visited row by row",
    ),
    ("service/src/classify/refunds.rs::sql", "built with LINKS_MAX or SUGGESTIONS_MAX"),
    (
        "service/src/classify/rule_matches.rs::OF_MERCHANT",
        "one merchant's transactions, visited row by row, for at most LOOKUPS_MAX merchants",
    ),
    ("service/src/classify/rules.rs::REPLACE", "rules that were deleted, at most RULES_MAX"),
    ("service/src/classify/rules.rs::RULES", "one person's rules, at most RULES_MAX"),
    (
        "service/src/classify/transfers.rs::LIST",
        "unlimited: one row for each transfer of a person, for an export",
    ),
    ("service/src/exports/tables.rs::sql", "built with a limit: pages of PAGE_ROWS"),
    (
        "service/src/ingest/account_split.rs::TRANSACTIONS",
        "the transactions of one import, at most imports.rows",
    ),
    (
        "service/src/ingest/connections/authorization.rs::ACCOUNTS",
        "the accounts of one connection, at most OFFERS_MAX",
    ),
    (
        "service/src/ingest/connections/disconnect.rs::ACCOUNTS",
        "the accounts of one connection, at most OFFERS_MAX",
    ),
    (
        "service/src/ingest/connections/drafts.rs::PENDING",
        "unlimited: one row for each pending transaction of an account",
    ),
    (
        "service/src/ingest/connections/drafts.rs::SELECTED",
        "the accounts of one connection, at most OFFERS_MAX",
    ),
    (
        "service/src/ingest/connections/list.rs::ACCOUNTS",
        "unlimited: one row for each account of a person",
    ),
    (
        "service/src/ingest/connections/list.rs::OFFERS",
        "one row for each connection of a person, at most CONNECTIONS_MAX",
    ),
    (
        "service/src/ingest/imports/files/parse.rs::MAPPINGS",
        "unlimited: one row for each layout whose columns a person edited",
    ),
    (
        "service/src/ingest/imports/holdings.rs::STORED",
        "unlimited: one row for each holding of an account",
    ),
    (
        "service/src/ingest/imports/journal.rs::OF_ACCOUNT",
        "unlimited: one row for each change of an account's transactions within 90 days",
    ),
    (
        "service/src/ingest/imports/list.rs::ACCOUNTS",
        "unlimited: one row for each account of an import",
    ),
    (
        "service/src/ingest/imports/transactions.rs::AROUND",
        "the transactions of one account between two dates",
    ),
    (
        "service/src/ingest/imports/transactions.rs::PROVENANCES",
        "unlimited: one row for each import of an account",
    ),
    ("service/src/ingest/imports/undo.rs::ADDED", "the rows of one import, at most imports.rows"),
    ("service/src/ingest/imports/undo.rs::JOURNAL", "the rows of one import, at most imports.rows"),
    (
        "service/src/ingest/imports/undo.rs::LATER",
        "the journal of later imports, visited row by row",
    ),
    (
        "service/src/insights/benefits/mod.rs::CURRENT",
        "one row for each benefit of a person's cards, whose number the catalog fixes",
    ),
    (
        "service/src/insights/benefits/mod.rs::PRODUCTS",
        "unlimited: one row for each card of a person",
    ),
    (
        "service/src/insights/benefits/recompute.rs::ENTRIES",
        "the transactions of one card's merchants between two dates",
    ),
    (
        "service/src/insights/benefits/recompute.rs::MARKS",
        "one row for each benefit of a card and period that a person marked, whose number the catalog fixes",
    ),
    (
        "service/src/insights/benefits/recompute.rs::OF_ACCOUNT",
        "one row for each benefit of a card, whose number the catalog fixes",
    ),
    ("service/src/insights/cash_flow/mod.rs::DIGESTS", "one row for each month of a ledger"),
    (
        "service/src/insights/cash_flow/mod.rs::MONTHS",
        "one row for each month of at most 3,660 days",
    ),
    (
        "service/src/insights/cash_flow/spending_exceptions.rs::STORED",
        "refunds and savings between two dates, at most those of a ledger",
    ),
    (
        "service/src/insights/household_ledger/entries.rs::ENTRIES",
        "transactions between two dates, visited row by row",
    ),
    (
        "service/src/insights/household_ledger/months/mod.rs::MONTHS",
        "one row for each month of a ledger",
    ),
    (
        "service/src/insights/pipeline/recompute.rs::CHANGES",
        "the dirty rows of one person; beyond DIRTY_ROWS_MAX a full recompute is queued",
    ),
    (
        "service/src/insights/recurring/calendar.rs::POSTED",
        "transactions between two dates, visited row by row",
    ),
    (
        "service/src/insights/recurring/choices.rs::ALL",
        "unlimited: one row for each recurring stream that a person changed",
    ),
    (
        "service/src/insights/recurring/detail.rs::LIST",
        "unlimited: one row for each recurring stream of a person",
    ),
    (
        "service/src/insights/recurring/detail.rs::PAYMENTS",
        "one merchant's transactions in one account, visited row by row",
    ),
    (
        "service/src/insights/recurring/mod.rs::LIST",
        "unlimited: one row for each recurring stream of a person",
    ),
    (
        "service/src/insights/recurring/mod.rs::OF_MERCHANT",
        "unlimited: one row for each recurring stream of a merchant",
    ),
    (
        "service/src/insights/recurring/recompute.rs::INFLOW_KEYS",
        "unlimited: one row for each merchant of an account's inflows",
    ),
    (
        "service/src/insights/recurring/recompute.rs::LIST",
        "unlimited: one row for each recurring stream of a person",
    ),
    (
        "service/src/insights/recurring/recompute.rs::OCCURRENCES",
        "one person's transactions, visited row by row",
    ),
    (
        "service/src/insights/recurring/recompute.rs::OCCURRENCES_OF",
        "unlimited: one row for each transaction of a merchant in one account",
    ),
    (
        "service/src/insights/recurring/recompute.rs::OF_MERCHANT",
        "unlimited: one row for each recurring stream of a merchant",
    ),
    ("service/src/insights/scores.rs::BETWEEN", "one row for each day between two dates"),
    ("service/src/insights/transaction_detail.rs::sql", "built with CANDIDATES_MAX or PAIRS_MAX"),
    ("service/src/ledger/accounts.rs::ALL", "unlimited: one row for each account of a person"),
    ("service/src/ledger/daily_nets.rs::POSTED", "one row for each day with transactions"),
    ("service/src/ledger/daily_nets.rs::statement", "one row for each day with transactions"),
    ("service/src/ledger/goals.rs::LINKED", "unlimited: one row for each account of a goal"),
    (
        "service/src/ledger/goals.rs::LINKS",
        "unlimited: one row for each account of a person's goals",
    ),
    ("service/src/ledger/goals.rs::LIST", "unlimited: one row for each goal that a person entered"),
    (
        "service/src/ledger/investments.rs::POSITIONS",
        "unlimited: one row for each holding of a person",
    ),
    ("service/src/ledger/rates.rs::LATEST", "one row for each currency"),
    ("service/src/ledger/trades.rs::TRADES", "one person's imported trades, visited row by row"),
    (
        "service/src/ledger/transactions/changes/mod.rs::PERSON",
        "unlimited: one row for each account of a person",
    ),
    (
        "service/src/ledger/transactions/page.rs::sql",
        "built with a limit: a page, or a chunk of the search",
    ),
    ("service/src/ledger/transactions/search.rs::DIRTY", "the dirty buckets between two dates"),
    (
        "service/src/ledger/transactions/search.rs::TEXTS",
        "the transactions between the four days of a bucket",
    ),
    (
        "service/src/ledger/transactions/sorted.rs::sql",
        "built with a limit: a page, or a chunk of the search",
    ),
    ("service/src/ledger/transactions/totals.rs::sql", "one row for each currency"),
    (
        "service/src/ledger/transactions/visible_accounts.rs::ACCOUNTS",
        "unlimited: one row for each account of a person",
    ),
    (
        "service/src/platform/health.rs::FOREIGN_KEY_CHECK",
        "unlimited: one row for each problem of a damaged file, read by the operator",
    ),
    ("service/src/platform/health.rs::QUICK_CHECK", "at most 20 problems, by the pragma itself"),
    (
        "service/src/trading/paper/chain.rs::ACCOUNTS",
        "one person's paper accounts, at most ACCOUNTS_MAX",
    ),
    ("service/src/trading/paper/chain.rs::ENTRIES", "ledger entries between two numbers"),
    ("service/src/trading/paper/chain.rs::LEGS", "legs of entries between two numbers"),
    (
        "service/src/trading/paper/history.rs::sql",
        "built with a limit: one of two statements of the same file",
    ),
    ("service/src/trading/paper/verify.rs::ENTRIES", "ledger entries between two numbers"),
    ("service/src/trading/paper/verify.rs::LEGS", "legs of entries between two numbers"),
    ("webhooks/src/attempts.rs::sql", "built with a limit by its caller"),
    ("webhooks/src/attempts.rs::statement", "built with a limit by its caller"),
    (
        "webhooks/src/disable.rs::ACTIVE_OF_KEY",
        "the active endpoints of one key, at most ACTIVE_MAX",
    ),
    (
        "webhooks/src/event_log.rs::DELIVERIES_OF_FAILED",
        "one row for each endpoint and event of a chunk, at most CHUNK events",
    ),
];
