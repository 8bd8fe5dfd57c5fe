//! Statements that return many rows have a limit.

use std::collections::BTreeMap;

use super::source::{Source, words};
use super::{File, assert_no_breaches, files};

/// Statements without a limit, by file and constant, each with the bound on the number of its rows.
const BOUNDED: &[(&str, &str)] = &[
    (
        "service/src/access/invitations.rs::ACCEPT_EMAIL",
        "the open invitations of one email, at most 100 of each admin",
    ),
    (
        "service/src/access/keys.rs::ACCOUNTS",
        "the accounts of one key, which are those of one person",
    ),
    (
        "service/src/backup/access.rs::LIST_REVOKED",
        "all revoked keys, read by the operator during a restore",
    ),
    ("service/src/backup/access.rs::PEOPLE", "all people, read by the operator during a restore"),
    (
        "service/src/backup/access.rs::LIVE_KEYS",
        "all active keys, read by the operator during a restore",
    ),
    (
        "service/src/backup/access.rs::LIVE_ENDPOINTS",
        "all active endpoints, read by the operator during a restore",
    ),
    ("service/src/classify/classifier.rs::SAMPLES", "one person's overrides"),
    ("service/src/classify/overrides.rs::ALL", "one person's overrides"),
    ("service/src/ledger/transactions/sorted.rs::ROW", "one transaction"),
    ("service/src/classify/refunds.rs::sql", "built with LINKS_MAX or SUGGESTIONS_MAX"),
    ("service/src/classify/linked_refunds.rs::PURCHASES", "one person's linked refunds"),
    ("service/src/classify/linked_refunds.rs::IDS", "one person's linked refunds"),
    ("service/src/classify/linked_refunds.rs::DAYS", "one person's linked refunds"),
    ("service/src/classify/overrides.rs::MARKS", "one person's overrides"),
    (
        "service/src/classify/bulk_edits/rows.rs::JOURNAL",
        "the transactions of one edit, at most TRANSACTIONS_MAX",
    ),
    (
        "service/src/classify/reclassify/pairs.rs::DECISIONS",
        "one person's confirmed and refused transfers",
    ),
    ("service/src/classify/reclassify/pairs.rs::PAIRS", "transfers between two dates"),
    (
        "service/src/classify/reclassify/rows.rs::ROWS",
        "transactions between two dates, visited one by one",
    ),
    (
        "service/src/classify/reclassify/rows.rs::LEGS",
        "transactions between two dates, visited one by one",
    ),
    ("service/src/classify/reclassify/rows.rs::ROW", "one transaction"),
    ("service/src/classify/rules.rs::RULES", "one person's rules, at most RULES_MAX"),
    ("service/src/classify/transfers.rs::LIST", "one person's transfers, for an export"),
    ("service/src/ledger/trades.rs::TRADES", "one person's imported trades, visited one by one"),
    (
        "service/src/ingest/connections/authorization.rs::ACCOUNTS",
        "the accounts of one connection, at most OFFERS_MAX",
    ),
    (
        "service/src/ingest/connections/disconnect.rs::ACCOUNTS",
        "the accounts of one connection, at most OFFERS_MAX",
    ),
    (
        "service/src/ingest/connections/drafts.rs::SELECTED",
        "the accounts of one connection, at most OFFERS_MAX",
    ),
    (
        "service/src/ingest/connections/drafts.rs::PENDING",
        "the pending transactions of one account",
    ),
    ("service/src/ingest/account_split.rs::TRANSACTIONS", "the transactions of one import"),
    ("service/src/ingest/connections/list.rs::ACCOUNTS", "one person's accounts"),
    ("service/src/ingest/connections/list.rs::OFFERS", "one row for each connection of a person"),
    ("service/src/ingest/imports/files/parse.rs::MAPPINGS", "one person's column mappings"),
    ("service/src/ingest/imports/holdings.rs::STORED", "the holdings of one account"),
    (
        "service/src/ingest/imports/journal.rs::OF_ACCOUNT",
        "the journal entries of one account, which are kept for 90 days",
    ),
    ("service/src/ingest/imports/list.rs::ACCOUNTS", "the accounts of one import"),
    (
        "service/src/ingest/imports/transactions.rs::AROUND",
        "the transactions of one account around the dates of an import",
    ),
    ("service/src/ingest/imports/transactions.rs::PROVENANCES", "the imports of one account"),
    ("service/src/ingest/imports/undo.rs::ADDED", "the rows of one import, at most imports.rows"),
    ("service/src/ingest/imports/undo.rs::JOURNAL", "the rows of one import, at most imports.rows"),
    (
        "service/src/ingest/imports/undo.rs::LATER",
        "the journal of later imports, visited one by one",
    ),
    ("service/src/insights/benefits/mod.rs::PRODUCTS", "one person's cards"),
    (
        "service/src/insights/benefits/mod.rs::CURRENT",
        "the benefits of one person's cards in the current period",
    ),
    (
        "service/src/insights/benefits/recompute.rs::ENTRIES",
        "the transactions of the merchants of one card within its periods",
    ),
    ("service/src/insights/benefits/recompute.rs::MARKS", "the marks on the benefits of one card"),
    ("service/src/insights/benefits/recompute.rs::OF_ACCOUNT", "the benefits of one card"),
    (
        "service/src/insights/household_ledger/entries.rs::ENTRIES",
        "transactions between two dates, visited one by one",
    ),
    ("service/src/insights/cash_flow/mod.rs::DIGESTS", "one row for each month"),
    (
        "service/src/insights/cash_flow/mod.rs::MONTHS",
        "one row for each month of at most 3,660 days",
    ),
    (
        "service/src/insights/household_ledger/months/mod.rs::MONTHS",
        "one row for each month of the ledger",
    ),
    (
        "service/src/insights/pipeline/recompute.rs::CHANGES",
        "the dirty rows of one person; beyond DIRTY_ROWS_MAX a full recompute is queued",
    ),
    (
        "service/src/insights/recurring/choices.rs::ALL",
        "the recurring streams that one person changed",
    ),
    ("service/src/insights/recurring/detail.rs::LIST", "one person's recurring streams"),
    ("service/src/insights/recurring/mod.rs::LIST", "one person's recurring streams"),
    ("service/src/insights/recurring/mod.rs::OF_MERCHANT", "the streams of one merchant"),
    ("service/src/insights/recurring/recompute.rs::LIST", "one person's recurring streams"),
    ("service/src/insights/recurring/recompute.rs::OF_MERCHANT", "the streams of one merchant"),
    (
        "service/src/insights/recurring/recompute.rs::INFLOW_KEYS",
        "the merchants of the inflows of one account",
    ),
    (
        "service/src/insights/recurring/recompute.rs::OCCURRENCES_OF",
        "the transactions of one merchant in one account",
    ),
    (
        "service/src/insights/recurring/recompute.rs::OCCURRENCES",
        "one person's transactions, visited one by one",
    ),
    ("service/src/insights/scores.rs::BETWEEN", "one row for each day between two dates"),
    ("service/src/insights/transaction_detail.rs::sql", "built with CANDIDATES_MAX or PAIRS_MAX"),
    ("service/src/ledger/accounts.rs::ALL", "one person's accounts"),
    ("service/src/ledger/daily_nets.rs::POSTED", "one row for each day with transactions"),
    ("service/src/ledger/daily_nets.rs::statement", "one row for each day with transactions"),
    ("service/src/ledger/goals.rs::LIST", "one person's goals"),
    ("service/src/ledger/goals.rs::LINKED", "the accounts of one goal"),
    ("service/src/ledger/goals.rs::LINKS", "the accounts of one person's goals"),
    ("service/src/ledger/investments.rs::POSITIONS", "one person's holdings"),
    ("service/src/ledger/rates.rs::LATEST", "one row for each currency"),
    ("service/src/ledger/transactions/changes/mod.rs::PERSON", "one person's accounts"),
    ("service/src/ledger/transactions/mod.rs::ACCOUNTS", "one person's accounts"),
    ("service/src/ledger/transactions/search.rs::DIRTY", "the dirty buckets between two dates"),
    (
        "service/src/ledger/transactions/search.rs::TEXTS",
        "the transactions of the four days of a bucket",
    ),
    ("service/src/ledger/transactions/totals.rs::sql", "one row for each currency"),
    ("service/src/platform/health.rs::QUICK_CHECK", "at most 20 problems, by the pragma itself"),
    (
        "service/src/platform/health.rs::FOREIGN_KEY_CHECK",
        "problems of a damaged file, read by the operator",
    ),
    (
        "service/src/trading/paper/chain.rs::ACCOUNTS",
        "one person's paper accounts, at most ACCOUNTS_MAX",
    ),
    ("service/src/trading/paper/chain.rs::ENTRIES", "ledger entries between two numbers"),
    ("service/src/trading/paper/chain.rs::LEGS", "legs of entries between two numbers"),
    (
        "service/src/trading/paper/history.rs::sql",
        "one of two statements of the same file, both with a limit",
    ),
    ("service/src/trading/paper/verify.rs::ENTRIES", "ledger entries between two numbers"),
    ("service/src/trading/paper/verify.rs::LEGS", "legs of entries between two numbers"),
    ("webhooks/src/attempts.rs::statement", "built with a limit by its caller"),
    ("webhooks/src/attempts.rs::sql", "built with a limit by its caller"),
    (
        "webhooks/src/event_log.rs::DELIVERIES_OF_FAILED",
        "the deliveries of one chunk of events, one for each endpoint",
    ),
    (
        "webhooks/src/disable.rs::ACTIVE_OF_KEY",
        "the active endpoints of one key, at most ACTIVE_MAX",
    ),
];

/// Methods of `Db` and `Tx` that visit or collect every row.
const METHODS: [&str; 4] = [".all(", ".each(", ".each_once(", ".each_until("];

#[test]
fn every_list_statement_has_a_limit_or_a_known_bound() {
    let mut breaches = Vec::new();
    let mut used = Vec::new();
    for folder in ["crates/service/src", "crates/webhooks/src"] {
        for file in files(folder, ".rs") {
            for name in unlimited(&file) {
                let full = format!("{}::{name}", file.path.trim_start_matches("crates/"));
                match BOUNDED.iter().find(|(it, _)| *it == full) {
                    Some((entry, _)) => used.push(*entry),
                    None => breaches.push(full),
                }
            }
        }
    }
    assert_no_breaches("Add a limit to the statement, or its bound to BOUNDED.", &breaches);
    let unused = BOUNDED.iter().map(|(it, _)| *it).filter(|it| !used.contains(it));
    let unused: Vec<String> = unused.map(str::to_owned).collect();
    assert_no_breaches("Remove these entries of BOUNDED: nothing needs them.", &unused);
}

/// The constants of a file's list statements that have no limit. A statement that is built at run time counts by the
/// name of its variable.
fn unlimited(file: &File) -> Vec<String> {
    let code = &Source::parse(&file.text).code;
    let statements = statements(&file.text);
    let mut found: Vec<String> = Vec::new();
    for method in METHODS {
        for (at, _) in code.match_indices(method) {
            let rest = code[at + method.len()..].trim_start().trim_start_matches('&');
            let argument = rest.split([',', ')']).next().unwrap_or_default();
            // A closure means that this is a method of an iterator.
            if argument.contains('|') || !rest.contains(',') {
                continue;
            }
            let name = words(argument).last().unwrap_or_default().to_owned();
            let is_statement = name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
                || ["sql", "statement", "query"].contains(&name.as_str());
            let has_limit =
                statements.get(&name).is_some_and(|sql| sql_words(sql).any(|it| it == "limit"));
            if is_statement && !name.is_empty() && !has_limit && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

fn sql_words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|it: char| !it.is_ascii_alphabetic())
}

/// The text of every string constant of a file.
fn statements(text: &str) -> BTreeMap<String, String> {
    let constants = text.split("const ").skip(1);
    let parsed = constants.filter_map(|it| {
        let (name, rest) = it.split_once(": &str =")?;
        let end = rest.find(";\n").unwrap_or(rest.len());
        Some((name.to_owned(), rest[..end].to_owned()))
    });
    parsed.collect()
}

#[test]
fn statements_without_a_limit_are_found() {
    let text = "fn f() { tx.all(LIST, params![user], read)?; tx.all(PAGE, params![user], read)?;\n\
        names.iter().all(|it| it.is_empty()); db.each(&sql, &[], visit).await?; tx.all(super::OTHER, &[], read) }\n\
        const LIST: &str =\n    \"select id from goals where user_id = $1\";\n\
        const PAGE: &str = \"select id from goals where user_id = $1\n    limit 50\";\n";
    let file = File { path: String::new(), text: text.to_owned() };
    assert_eq!(unlimited(&file), ["LIST", "OTHER", "sql"]);
}
