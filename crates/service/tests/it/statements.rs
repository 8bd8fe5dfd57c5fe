//! Checks every SQL statement of the product on the configured engine, in place of a check at compile time.

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
