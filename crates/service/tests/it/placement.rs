//! The list of where tables are on a sharded database, compared with the schema and with every statement. None of this
//! needs a cluster.

use std::collections::{BTreeMap, BTreeSet};

use db::{Engine, Placement};
use service::placement::PLACEMENTS;
use service::schema;
use testkit::World;

/// Statements that ask all nodes, by how they begin, under the reason that they may.
const ALL_NODES: &[(&str, &[&str])] = &[
    (
        "a background step looks for work of all people, or deletes old rows",
        &[
            "select user_id from person_states where swept_at < $1",
            "select c.user_id, c.id, u.email from connections c",
            "delete from mail_alerts where kind = 'connection_needs_attention'",
            "delete from mail_alerts where kind = 'backup_late'",
            "select user_id, id from actions where status = $1 and due_at <= $2",
            "select user_id, id from connections where access is not null and (next_sync_at",
            "update connections set next_sync_at = $1 where access is not null",
            "update connections set next_history_at = $1 where access is not null",
            "update connections set leased_until = null where leased_until > $1",
            "select user_id, connection_id, created_at, source, access, keys, tries",
            "delete from connection_removals where created_at < $1",
            "select user_id, id from connection_links where state = 'waiting'",
            "delete from import_files where created_at < $1",
            "delete from idempotency_keys where created_at <= $1",
            "select user_id from insight_work where wanted_at <= $1 order by",
            "update insight_work set wanted_at = $1 where wanted_at > $2",
            "select p.user_id from person_states p join users u",
            "insert into insight_work (user_id, asked, everything_at, wanted_at) select",
            "select distinct symbol from paper_entries",
            "select distinct user_id, account_id from paper_entries",
            "select user_id from transaction_search_dirty limit 1",
            "select e.user_id, e.id, e.key_id, e.url, e.secret, e.previous_secret",
            "select e.user_id, e.key_id, e.id from webhook_endpoints e",
            "update deliveries set status = 'failed', due_at = null, updated_at = $1 where due_at",
            "update deliveries set due_at = $1 where due_at > $2",
            "update replays set due_at = $2 where (due_at <= $1",
            "update events set data = '' where (user_id, id) in",
            "delete from events where (user_id, id) in",
            "delete from attempts where (user_id, id) in",
            "delete from deliveries where (user_id, endpoint_id, event_id) in",
        ],
    ),
    (
        "figures of all people, for metrics and `evenkeel doctor`",
        &[
            "select cast(count(*) as bigint) from accounts a left join",
            "select status, cast(count(*) as bigint) from (select status from actions",
            "select source, status, cast(count(*) as bigint)",
            "select cast(coalesce(sum(size), 0) as bigint) from import_files",
            "select cast(count(*) as bigint), min(wanted_at)",
            "select cast(count(*) as bigint), min(due_at)",
            "select cast(count(*) as bigint) from (select 1 from deliveries",
            "select status, cast(count(*) as bigint) from (select status from webhook_endpoints",
        ],
    ),
    (
        "the operator restores a backup, or replaces the installation key",
        &[
            "update person_states set transactions_epoch = $1",
            "insert into instruments (user_id, symbol, currency, class, id) select",
            "update paper_positions set security_id = (select",
            "update events set key_id = (select",
            "insert into events (user_id, id, type, data, created_at) select",
            "insert into events (user_id, id, type, data, created_at, key_id) select",
            "update webhook_endpoints set exhausted_at = (select",
            "update users set transactions_stamp = coalesce((select",
            "insert into person_states (user_id, transactions_stamp, transactions_epoch, swept_at) select",
            "select e.url, u.email from webhook_endpoints e",
            "delete from mail_alerts",
            "select id from (select id from users union select user_id from connection_removals)",
            "select p.user_id from person_states p where not exists",
        ],
    ),
    (
        "a provider names a login, and not a person",
        &[
            "select user_id from connections where login_id = $2",
            "update connections set next_sync_at = $3 where login_id = $2",
        ],
    ),
    (
        "an index over endpoints or events is better than the one over people",
        &[
            "select id from attempts where event_id = $2 and coalesce(user_id, $1) = $1",
            "select trigger_kind, status, duration_ms, attempted_at from attempts",
            "select a.id, a.endpoint_id, a.event_id, a.event_type",
        ],
    ),
    (
        "compares with the processes that are alive, a small table of the coordinator",
        &[
            "update connections set leased_until = $4, process_id = $7",
            "update import_files set state = 'committing'",
            "update import_files set choices = $3",
            "select id, name, size, case when state = 'committing'",
            "delete from import_files where user_id = $1 and id = $2 and (state",
            "update idempotency_keys set leased_until = $6",
        ],
    ),
    (
        "is never run with Citus, where each endpoint is locked by itself",
        &["select e.id from webhook_endpoints e where e.status = 'active' and exists"],
    ),
];

/// Statements that Citus cannot plan: one for plain PostgreSQL, and upgrades of rows from backups of versions that were
/// never released.
pub(crate) const NOT_WITH_CITUS: &[&str] = &[
    "select e.id from webhook_endpoints e where e.status = 'active' and exists",
    "update events set key_id = (select",
    "update users set transactions_stamp = coalesce((select",
];

fn placement(table: &str) -> Option<Placement> {
    PLACEMENTS.iter().find(|(name, _)| *name == table).map(|(_, it)| *it)
}

#[tokio::test]
async fn every_table_has_a_placement() {
    let world = World::new().await;
    let sql = match world.app.db.engine() {
        Engine::Sqlite => {
            "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'"
        }
        Engine::Postgres => {
            "select cast(tablename as text) from pg_tables where schemaname = current_schema()"
        }
    };
    let tables: Vec<String> = world.app.db.all(sql, &[], |row| row.get(0)).await.unwrap();
    let tables: BTreeSet<&str> = tables.iter().map(String::as_str).collect();
    let listed: BTreeSet<&str> = PLACEMENTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(tables, listed, "add the table to PLACEMENTS, or remove it");
    assert_eq!(listed.len(), PLACEMENTS.len(), "a table is listed twice");
}

#[tokio::test]
async fn unique_keys_and_foreign_keys_are_those_that_citus_allows() {
    let world = World::new().await;
    if world.app.db.engine() == Engine::Sqlite {
        return;
    }
    let unique = "select cast(t.relname as text), cast(i.relname as text) from pg_index x
        join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
        join pg_namespace n on n.oid = t.relnamespace
        where n.nspname = current_schema() and x.indisunique and not exists (select 1 from pg_attribute a
            where a.attrelid = t.oid and a.attnum = any(x.indkey) and a.attname = 'user_id')";
    let names = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    for (table, index) in world.app.db.all(unique, &[], names).await.unwrap() {
        assert_ne!(
            placement(&table),
            Some(Placement::Distributed),
            "{index} of {table} lacks user_id, so no node alone can keep it unique"
        );
    }
    let foreign_keys = "select cast(t.relname as text), cast(p.relname as text),
        pg_get_constraintdef(k.oid) from pg_constraint k
        join pg_class t on t.oid = k.conrelid join pg_class p on p.oid = k.confrelid
        join pg_namespace n on n.oid = t.relnamespace
        where n.nspname = current_schema() and k.contype = 'f'";
    let read = |row: &db::Row<'_>| {
        Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<String>(2)?))
    };
    for (child, parent, definition) in world.app.db.all(foreign_keys, &[], read).await.unwrap() {
        use Placement::{Distributed, Local, Reference};
        let is_allowed = match (placement(&child).unwrap(), placement(&parent).unwrap()) {
            (Distributed, Distributed) => {
                definition.contains("KEY (user_id,") && definition.contains("(user_id, ")
            }
            (Distributed | Reference, Reference) | (Local, Reference | Local) => true,
            (Distributed | Reference, Local) | (Reference | Local, Distributed) => false,
        };
        assert!(is_allowed, "{child} cannot refer to {parent}: {definition}");
    }
}

/// Whether a statement, with single spaces, is on the list of those that ask all nodes.
pub(crate) fn may_ask_all_nodes(text: &str) -> bool {
    ALL_NODES.iter().any(|(_, it)| it.iter().any(|begin| text.starts_with(begin)))
}

#[test]
fn every_statement_over_distributed_tables_names_its_user() {
    let excepted: Vec<&str> = ALL_NODES.iter().flat_map(|(_, it)| it.iter().copied()).collect();
    let mut used = BTreeSet::new();
    let mut breaches = Vec::new();
    for sql in schema::statements() {
        let Some(why) = needs_all_nodes(&sql) else { continue };
        let text = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        match excepted.iter().find(|it| text.starts_with(**it)) {
            Some(found) => drop(used.insert(*found)),
            None => breaches.push(format!("{why}: {text}")),
        }
    }
    assert!(
        breaches.is_empty(),
        "Name the user of every distributed table, or add the statement to ALL_NODES:\n{}",
        breaches.join("\n")
    );
    let unused: Vec<_> = excepted.iter().filter(|it| !used.contains(**it)).collect();
    assert!(unused.is_empty(), "Remove these entries of ALL_NODES: {unused:?}");
}

#[test]
fn statements_without_their_user_are_found() {
    for good in [
        "select id from accounts where user_id = $1",
        "select a.id from accounts a join users u on u.id = a.user_id where u.id = $1",
        "select a.id from accounts a left join balances b on b.user_id = a.user_id where a.user_id = $2",
        "update goals set name = (select name from accounts where user_id = $1) where user_id = $1",
        "insert into goals (id, user_id) values ($1, $2) on conflict do nothing",
        "insert into goals (user_id, id) select user_id, id from accounts where user_id = $1",
        "select email from users where email = $1",
        "delete from goals where user_id = $1 and id in (select g.id from goals g where g.user_id = $1)",
        "select a.id from accounts a where a.user_id = $1 and exists (select 1 from goals g where g.user_id = a.user_id)",
    ] {
        assert_eq!(needs_all_nodes(good), None, "{good}");
    }
    for bad in [
        "select id from accounts where id = $1",
        "select a.id from accounts a join balances b on b.account_id = a.id where a.user_id = $1",
        "delete from goals where user_id = $1 and id in (select g.id from goals g)",
        "select a.id from accounts a, balances b where a.user_id = b.user_id",
        "insert into goals (user_id, id) select user_id, id from accounts",
        "select (select b.id from balances b where b.user_id = a.user_id) from accounts a where a.user_id = $1",
        "select s.id from sessions s join accounts a on a.user_id = s.user_id where s.user_id = $1",
    ] {
        assert!(needs_all_nodes(bad).is_some(), "{bad}");
    }
}

/// A table of a statement, under the name by which its columns are called.
struct Used {
    table: String,
    alias: String,
    /// The innermost parentheses around it.
    scope: usize,
}

/// Why a statement cannot be answered by the node of one person; none if it can.
fn needs_all_nodes(sql: &str) -> Option<String> {
    let words = words(sql);
    let used = used_tables(&words);
    let distributed: Vec<&Used> =
        used.iter().filter(|it| placement(&it.table) == Some(Placement::Distributed)).collect();
    if distributed.is_empty() {
        return None;
    }
    if let Some(local) = used.iter().find(|it| placement(&it.table) == Some(Placement::Local)) {
        return Some(format!("{} is on the coordinator alone", local.table));
    }
    let known = names_with_known_user(&words, &used);
    let unknown = distributed.iter().find(|it| !known.contains(&(it.scope, it.alias.as_str())))?;
    Some(format!("{} ({}) has no user", unknown.table, unknown.alias))
}

/// Each word or sign, with the innermost parentheses around it.
fn words(sql: &str) -> Vec<(String, usize)> {
    let spaced =
        sql.replace('(', " ( ").replace(')', " ) ").replace(',', " , ").replace('=', " = ");
    let (mut words, mut open, mut last) = (Vec::new(), vec![0], 0);
    for word in spaced.split_whitespace() {
        if word == "(" {
            last += 1;
            open.push(last);
        }
        words.push((word.to_owned(), *open.last().unwrap()));
        if word == ")" {
            open.pop();
        }
    }
    words
}

fn used_tables(words: &[(String, usize)]) -> Vec<Used> {
    let mut used = Vec::new();
    let mut lists_tables: BTreeMap<usize, bool> = BTreeMap::new();
    for (at, (word, scope)) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |it| words[it].0.as_str());
        let after_from = ["from", "join", "into", "update"].contains(&before);
        let after_comma = before == "," && lists_tables.get(scope) == Some(&true);
        if after_from || word == "where" || word == "order" || word == "select" {
            lists_tables.insert(*scope, before == "from");
        }
        if !(after_from || after_comma) || placement(word).is_none() {
            continue;
        }
        let next = words.get(at + 1).map_or("", |it| it.0.as_str());
        let reserved = [
            "",
            "where",
            "set",
            "on",
            "join",
            "left",
            "cross",
            "order",
            "limit",
            "(",
            ")",
            ",",
            "group",
            "for",
            "select",
            "using",
            "union",
            "values",
            "returning",
            "inner",
            "default",
        ];
        let alias = match next {
            "as" => words.get(at + 2).map_or("", |it| it.0.as_str()),
            next if reserved.contains(&next) => word,
            next => next,
        };
        used.push(Used { table: word.clone(), alias: alias.to_owned(), scope: *scope });
    }
    used
}

/// The tables whose user is a parameter, or equal to the user of such a table.
fn names_with_known_user<'u>(
    words: &[(String, usize)],
    used: &'u [Used],
) -> BTreeSet<(usize, &'u str)> {
    let exists: BTreeSet<usize> = words
        .windows(2)
        .filter(|it| it[0].0 == "exists" && it[1].0 == "(")
        .map(|it| it[1].1)
        .collect();
    // A column of a user, in the scope where it is written. An alias of an outer statement is found by its name.
    let column = |(word, scope): &(String, usize)| -> Vec<(usize, &'u str)> {
        let (alias, name) = word.split_once('.').unwrap_or(("", word));
        let is_user = |it: &&Used| match placement(&it.table) {
            Some(Placement::Distributed) => name == "user_id",
            _ if it.table == "users" => name == "id",
            _ => name == "user_id",
        };
        let here =
            used.iter().filter(|it| it.scope == *scope && (alias.is_empty() || it.alias == alias));
        let here: Vec<_> = here.filter(is_user).map(|it| (it.scope, it.alias.as_str())).collect();
        if !here.is_empty() || alias.is_empty() {
            return here;
        }
        // Citus makes a join of `exists`, but not of other subqueries: these must name the user themselves.
        if !exists.contains(scope) {
            return Vec::new();
        }
        let outer = used.iter().rev().filter(|it| it.scope < *scope && it.alias == alias);
        outer.filter(is_user).take(1).map(|it| (it.scope, it.alias.as_str())).collect()
    };
    let mut known = BTreeSet::new();
    // An insert of values, or of another table's rows, is as known as its user.
    let is_insert = words.first().is_some_and(|(it, _)| it == "insert");
    if is_insert
        && (words.iter().any(|(it, _)| it == "values") || !words.iter().any(|(it, _)| it == "from"))
    {
        known.extend(used.first().map(|it| (it.scope, it.alias.as_str())));
    }
    loop {
        let before = known.len();
        for at in 1..words.len().saturating_sub(1) {
            if words[at].0 != "=" {
                continue;
            }
            let (left, right) = (&words[at - 1], &words[at + 1]);
            let (left_column, right_column) = (column(left), column(right));
            if right.0.starts_with('$') || right_column.iter().any(|it| known.contains(it)) {
                known.extend(left_column.iter().copied());
            }
            if left.0.starts_with('$') || left_column.iter().any(|it| known.contains(it)) {
                known.extend(right_column);
            }
        }
        if is_insert
            && used.len() > 1
            && used[1..].iter().all(|it| known.contains(&(it.scope, it.alias.as_str())))
        {
            known.insert((used[0].scope, used[0].alias.as_str()));
        }
        if known.len() == before {
            return known;
        }
    }
}
