//! Checks every SQL statement of the product on the configured engine, in place of a check at compile time.

use std::collections::BTreeSet;

use db::Engine;
use service::schema;
use testkit::World;

#[tokio::test]
async fn the_engine_accepts_every_statement() {
    let world = World::new().await;
    let mut statements = schema::statements();
    if world.app.db.engine() == Engine::Postgres {
        statements.extend(schema::postgres_statements().iter().map(|it| (*it).to_owned()));
    }
    assert!(statements.len() > 500, "the filters alone make more than {}", statements.len());
    let mut refused = Vec::new();
    for sql in &statements {
        let mut checked = world.app.db.check(sql).await;
        // On a busy machine a check can take longer than a statement may, which says nothing about the statement.
        for _ in 0..5 {
            if matches!(checked, Err(db::Error::Unavailable(_))) {
                checked = world.app.db.check(sql).await;
            }
        }
        if let Err(error) = checked {
            refused.push(format!("{sql}\n    {error:?}"));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// For SQLite, every dollar sign of a statement is replaced to mark parameters, wherever it stands.
#[test]
fn no_literal_in_a_statement_contains_a_dollar_sign() {
    let shared = schema::postgres_statements().iter().map(|it| (*it).to_owned());
    for sql in schema::statements().into_iter().chain(shared) {
        let literals = sql.split('\'').skip(1).step_by(2);
        assert!(literals.into_iter().all(|it| !it.contains('$')), "{sql}");
    }
}

/// A step that does not say it stops every older program. The first 18 are older than this rule.
#[test]
fn every_migration_says_which_programs_work_with_it() {
    for migration in schema::MIGRATIONS.iter().filter(|it| it.version > 18) {
        let (version, oldest) = (migration.version, migration.oldest_program());
        assert!(
            migration.sql.contains("{works with "),
            "migration {version} has no {{works with N}}"
        );
        assert!((18..=version).contains(&oldest), "migration {version} works with {oldest}");
    }
}

/// Lists keep what they depend on of an account until the person's stamp changes (`ledger::stamps`), so these statements
/// run in a transaction that takes a new stamp. One that is not here may make a process show an old name, or an account
/// that was hidden: take a stamp where it runs, and add it.
const WITH_NEW_STAMP: &[&str] = &[
    // An import, and its undo.
    "delete from accounts where user_id = $1 and id = $2",
    "insert into accounts (user_id, id, connection_id, external_id, name,",
    "update accounts set name = $3, mask = $4,",
    "update accounts set name = $3, mask = coalesce(",
    "update accounts set transaction_count = transaction_count + $3",
    // A sync with a bank gives the account the name that the person has chosen for it.
    "update accounts set own_name = $3 where",
    // The person renames and hides an account, and changes its type, on which the lists of spending depend.
    "update accounts set own_name = $3, updated_at",
    "update accounts set hidden_at = $3, updated_at",
    "update accounts set kind = $3, subtype = $4,",
    // Transactions were hidden, shown or moved.
    "update accounts set transaction_count = (select",
];

#[test]
fn every_statement_that_changes_what_lists_show_of_accounts_is_known_to_take_a_stamp() {
    let shown = [
        " name =",
        " own_name =",
        " hidden_at =",
        " currency =",
        " kind =",
        " transaction_count =",
    ];
    let changes = |sql: &str| {
        let assigned = sql.strip_prefix("update accounts set").map(|it| it.split(" where ").next());
        let is_shown = |text: &str| shown.iter().any(|it| text.contains(it));
        sql.starts_with("insert into accounts ")
            || sql.starts_with("delete from accounts ")
            || assigned.flatten().is_some_and(is_shown)
    };
    let statements = schema::statements();
    let texts = statements.iter().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    let found: BTreeSet<String> = texts.filter(|it| changes(it)).collect();
    let is_known = |sql: &str| WITH_NEW_STAMP.iter().any(|it| sql.starts_with(it));
    let unknown: Vec<&String> = found.iter().filter(|it| !is_known(it)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert_eq!(found.len(), WITH_NEW_STAMP.len(), "remove those that no longer exist");
}
