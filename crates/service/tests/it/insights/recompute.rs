//! Recomputing insights step by step gives the same result as computing them from all data at once.

use std::collections::BTreeMap;

use base::date_from_days;
use proptest::prelude::*;
use service::insights;
use testkit::World;
use testkit::draft::{Txn, account, card, checking, statement, txn};

use super::{count_events, monthly, recompute_all};
use crate::check_property;

#[derive(Debug, Clone)]
struct Row {
    account: usize,
    on: i64,
    minor: i64,
    text: usize,
    pending: bool,
}

#[derive(Debug, Clone)]
enum Step {
    Import(Vec<Row>),
    /// The row of that index gets another content.
    Change(usize, Row),
    Remove(usize),
    NextDay,
}

const TEXTS: [&str; 8] = [
    "ONLINE TRANSFER TO SAVINGS",
    "TRANSFER FROM CHECKING",
    "CARD PAYMENT THANK YOU",
    "NETFLIX.COM",
    "KROGER #339 INDIANAPOLIS IN",
    "ACME CORP PAYROLL PPD ID: 123",
    "REFUND KROGER #339",
    "ZELLE FROM SAM PRICE",
];

fn row() -> impl Strategy<Value = Row> {
    let minor = prop_oneof![
        Just(5_000),
        Just(-5_000),
        // A transfer from which a fee was deducted.
        Just(-5_300),
        Just(-1_549),
        Just(200_000),
        -9_000..9_000_i64
    ];
    (0..3_usize, 20_300..20_520_i64, minor, 0..TEXTS.len(), prop::bool::weighted(0.1))
        .prop_map(|(account, on, minor, text, pending)| Row { account, on, minor, text, pending })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => prop::collection::vec(row(), 1..12).prop_map(Step::Import),
        2 => (0..60_usize, row()).prop_map(|(index, row)| Step::Change(index, row)),
        1 => (0..60_usize).prop_map(Step::Remove),
        1 => Just(Step::NextDay),
    ];
    prop::collection::vec(step, 1..8)
}

/// All stored rows of one person, without the tables that record when their insights were last computed.
async fn derived(world: &World, user: &[u8]) -> BTreeMap<String, Vec<String>> {
    let user = testkit::hex(user);
    let mut stored = world.stored().await;
    stored.remove("insights");
    stored.remove("users");
    stored.remove("person_states");
    for rows in stored.values_mut() {
        rows.retain(|it| it.contains(&user));
    }
    stored
}

fn draft(row: &Row, name: usize) -> Txn {
    let on = date_from_days(row.on).to_string();
    let txn = txn(&on, row.minor, TEXTS[row.text]).id(&name.to_string());
    if row.pending { txn.pending() } else { txn }
}

#[test]
fn recomputing_what_changed_gives_the_same_result_as_recomputing_everything() {
    check_property(24, steps(), async |world, steps| {
        let person = world.someone().await;
        let mut known: Vec<Row> = Vec::new();
        let accounts = || {
            use base::draft::AccountKind::Depository;
            [checking("Everyday"), account("Rainy day", Depository, "savings"), card("Harbor Card")]
        };
        person.import(statement(accounts())).await;
        recompute_all(world).await;
        for step in steps {
            let mut accounts = accounts();
            match step {
                Step::Import(rows) => {
                    for row in rows {
                        let account = &mut accounts[row.account];
                        *account = account.clone().with(draft(&row, known.len()));
                        known.push(row);
                    }
                }
                Step::Change(index, row) if index < known.len() => {
                    let row = Row { account: known[index].account, ..row };
                    let account = &mut accounts[row.account];
                    *account = account.clone().with(draft(&row, index));
                    known[index] = row;
                }
                Step::Remove(index) if index < known.len() => {
                    let account = &mut accounts[known[index].account];
                    *account = account.clone().without(&index.to_string());
                }
                Step::Change(..) | Step::Remove(_) => continue,
                Step::NextDay => {
                    world.advance_seconds(86_400);
                    insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
                }
            }
            person.import(statement(accounts)).await;
            recompute_all(world).await;
        }
        let by_steps = derived(world, person.user.id.as_bytes()).await;
        service::platform::dirty_queue::request_recompute(&world.app, person.user.id)
            .await
            .unwrap();
        recompute_all(world).await;
        let at_once = derived(world, person.user.id.as_bytes()).await;
        for (table, rows) in &at_once {
            assert!(rows == &by_steps[table], "{table}: {rows:#?}\n{:#?}", by_steps[table]);
        }
    });
}

#[tokio::test]
async fn a_new_day_queues_everyone_with_data_once() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    world.person("kim@example.com").await;
    let netflix = monthly("2026-03-05", 6, -1_549, "NETFLIX.COM");
    robin.import(statement([checking("Everyday").with_all(netflix)])).await;
    recompute_all(&world).await;
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 0);
    world.advance_seconds(86_400);
    assert_eq!(insights::pipeline::queue_new_day_once(&world.app).await.unwrap(), 1);
    assert_eq!(
        insights::pipeline::queue_new_day_once(&world.app).await.unwrap(),
        0,
        "it is queued already"
    );
    assert_eq!(insights::pipeline::run_all(&world.app).await.unwrap(), 1);
    assert_eq!(
        count_events(&world, &robin, "recurring.updated").await,
        1,
        "a new day alone sends no event"
    );
}

#[tokio::test]
async fn two_processes_do_the_same_work_once() {
    let world = World::new().await;
    let other_process = match world.app.db.engine() {
        db::Engine::Sqlite => world.app.clone(),
        db::Engine::Postgres => world.other_process().await,
    };
    let robin = world.person("robin@example.com").await;
    let netflix = monthly("2026-03-05", 6, -1_549, "NETFLIX.COM");
    robin.import(statement([checking("Everyday").with_all(netflix)])).await;
    let (mine, theirs) = tokio::join!(
        insights::pipeline::run_once(&world.app),
        insights::pipeline::run_once(&other_process)
    );
    mine.unwrap();
    theirs.unwrap();
    assert_eq!(count_events(&world, &robin, "recurring.updated").await, 1);
    assert_eq!(insights::pipeline::run_once(&world.app).await.unwrap(), 0);
}

#[tokio::test]
async fn an_import_without_changes_changes_no_insights_and_sends_no_events() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let all = || {
        let netflix = monthly("2026-03-05", 6, -1_549, "NETFLIX.COM");
        statement([checking("Everyday").with_all(netflix)])
    };
    robin.import(all()).await;
    recompute_all(&world).await;
    let before = derived(&world, robin.user.id.as_bytes()).await;
    robin.import(all()).await;
    recompute_all(&world).await;
    let mut after = derived(&world, robin.user.id.as_bytes()).await;
    after.insert("imports".to_owned(), before["imports"].clone());
    after.insert("connections".to_owned(), before["connections"].clone());
    assert_eq!(after, before);
}

/// A person whose data was imported before insights existed.
#[tokio::test]
async fn data_of_the_first_schema_version_is_migrated_and_computed() {
    let database = testkit::Database::empty().await;
    let db = database.open().await;
    db.migrate(&service::schema::MIGRATIONS[..1]).await.unwrap();
    let insert = |tx: &mut db::Tx<'_>| {
        let (user, connection, account) = ([1_u8; 16], [2_u8; 16], [3_u8; 16]);
        let id = |bytes| db::Param::Id(Some(bytes));
        tx.execute(OLD_USER, &[id(user)])?;
        tx.execute(OLD_CONNECTION, &[id(user), id(connection)])?;
        tx.execute(OLD_ACCOUNT, &[id(user), id(account), id(connection)])?;
        for index in 1..=6_u8 {
            let on = 20_400 - i64::from(index) * 7;
            tx.execute(OLD_ROW, &[id(user), on.into(), id([index; 16]), id(account)])?;
        }
        Ok::<_, db::Error>(())
    };
    db.write(insert).await.unwrap();
    let steps = db.migrate(service::schema::MIGRATIONS).await.unwrap();
    assert_eq!(steps, service::schema::MIGRATIONS.len() - 1);
    let world = World::new().await;
    let app = world.other_process_on(db);
    assert_eq!(insights::pipeline::queue_new_day_once(&app).await.unwrap(), 1);
    assert_eq!(insights::pipeline::run_all(&app).await.unwrap(), 1);
    let caller = service::Caller::owner(base::UserId::from_bytes([1; 16]), base::TimeZone::utc());
    let rows = crate::listed::all(&app, &caller, &Default::default()).await;
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_eq!(row.counterparty.as_deref(), Some("The bank's word"));
        assert_eq!(row.category.map(|it| it.detailed()), Some("FOOD_AND_DRINK_GROCERIES"));
    }
}

const OLD_USER: &str =
    "insert into users (id, email, base_currency, connected_at, created_at, updated_at)
    values ($1, 'a@example.com', 'USD', 1, 1, 1)";
const OLD_CONNECTION: &str =
    "insert into connections (user_id, id, source, external_id, status, created_at)
    values ($1, $2, 'file', 'x', 'connected', 1)";
const OLD_ACCOUNT: &str =
    "insert into accounts (user_id, id, connection_id, external_id, name, kind, currency,
    transaction_count, created_at, updated_at)
    values ($1, $2, $3, 'x', 'Everyday', 'depository', 'USD', 6, 1, 1)";
const OLD_ROW: &str =
    "insert into transactions (user_id, posted_on, id, account_id, state, amount_minor, currency,
    description, counterparty, category, updated_at, created_at, import_id)
    values ($1, $2, $3, $4, 'posted', -500, 'USD', 'KROGER #339', 'The bank''s word', null, 1, 1, $4)";
