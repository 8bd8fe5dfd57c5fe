//! The search index: whatever was written, and however far packing has come, a search finds what a plain scan finds.

use base::draft::AccountKind;
use base::{Currency, TransactionId, date_from_days, days_from_date};
use db::{Engine, params};
use proptest::prelude::*;
use service::access::users;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::ingest::imports;
use service::ingest::manual::{self, ManualTransaction, NewAccount};
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;
use service::schema::MIGRATIONS;
use service::{Caller, insights};
use testkit::draft::{checking, statement, txn};
use testkit::{Database, Person, World, day};

use super::everything;
use crate::check_property;
use crate::listed::{self, Listed, descriptions};

const TEXTS: [&str; 8] = [
    "KROGER #339",
    "Café BRÛLÉE 100%",
    "paul's_place",
    "RENT a b",
    "ΣΟΦΟΣ Straße",
    "東京駅",
    "x",
    "ACH purchase kroger",
];
const QUERIES: [&str; 14] = [
    "kroger",
    "KRÖGER",
    "É",
    "brûlée",
    "%",
    "_",
    "s",
    "'s_",
    "straSSE",
    "σοφος",
    "京",
    "ch p",
    "zq",
    "named",
];

#[derive(Debug, Clone)]
enum Step {
    Import { id: u8, on: i64, text: usize },
    RemoveAtBank { id: u8 },
    Undo,
    Add { on: i64, text: usize },
    Edit { which: usize, on: i64, text: usize },
    Remove { which: usize },
    Name { which: usize, always: bool },
    Recompute,
    Pack,
}

fn step() -> impl Strategy<Value = Step> {
    let (id, on, text, which) = (0_u8..6, 0_i64..20, 0..TEXTS.len(), 0_usize..20);
    prop_oneof![
        4 => (id.clone(), on.clone(), text.clone()).prop_map(|(id, on, text)| Step::Import { id, on, text }),
        1 => id.prop_map(|id| Step::RemoveAtBank { id }),
        1 => Just(Step::Undo),
        3 => (on.clone(), text.clone()).prop_map(|(on, text)| Step::Add { on, text }),
        2 => (which.clone(), on, text).prop_map(|(which, on, text)| Step::Edit { which, on, text }),
        1 => which.clone().prop_map(|which| Step::Remove { which }),
        2 => (which, any::<bool>()).prop_map(|(which, always)| Step::Name { which, always }),
        1 => Just(Step::Recompute),
        3 => Just(Step::Pack),
    ]
}

fn posted(on: i64) -> String {
    // Some of the days are around day zero, the first of January 1970.
    let first = if on % 2 == 0 { day("2026-03-01") } else { day("1969-12-28") };
    date_from_days(days_from_date(first) + on).to_string()
}

async fn apply(world: &World, person: &Person, wallet: base::AccountId, step: &Step) {
    let (app, caller) = (&world.app, &person.caller);
    let entry = |on: i64, text: usize| ManualTransaction {
        on: posted(on).parse().unwrap(),
        amount_minor: -100 - text as i64,
        description: TEXTS[text].to_owned(),
        category: None,
    };
    let rows = listed::all(app, caller, &everything()).await;
    let nth = |which: usize| rows.get(which % rows.len().max(1)).map(|it: &Listed| it.id);
    let by_hand = async |which: usize| -> Option<TransactionId> {
        let id = nth(which)?;
        manual::is_manual(app, caller, id).await.unwrap().then_some(id)
    };
    match *step {
        Step::Import { id, on, text } => {
            let made = txn(&posted(on), -5, TEXTS[text]).id(&id.to_string());
            person.import(statement([checking("A").with(made)])).await;
        }
        Step::RemoveAtBank { id } => {
            person.import(statement([checking("A").without(&id.to_string())])).await;
        }
        Step::Undo => {
            let history = imports::list(app, caller, None, 1).await.unwrap();
            if let Some(newest) = history.first() {
                // An import that was already undone is refused.
                let _ = imports::undo(app, caller, newest.id).await;
            }
        }
        Step::Add { on, text } => {
            // The account itself may have been undone.
            let _ = manual::create_transaction(app, caller, wallet, entry(on, text)).await;
        }
        Step::Edit { which, on, text } => {
            if let Some(id) = by_hand(which).await {
                manual::update_transaction(app, caller, id, entry(on, text)).await.unwrap();
            }
        }
        Step::Remove { which } => {
            if let Some(id) = by_hand(which).await {
                manual::delete_transaction(app, caller, id).await.unwrap();
            }
        }
        Step::Name { which, always } => {
            let Some(id) = nth(which) else { return };
            let correction =
                Override { counterparty: Some(format!("Named {which} ÜBER")), category: None };
            if always {
                let _ = corrections::correct_always(app, caller, id, correction).await;
            } else {
                corrections::correct(app, caller, vec![id], correction).await.unwrap();
            }
        }
        Step::Recompute => {
            insights::pipeline::run_all(app).await.unwrap();
        }
        Step::Pack => pack_all(world).await,
    }
}

async fn pack_all(world: &World) {
    while transactions::index_once(&world.app).await.unwrap() > 0 {}
}

/// Folds case as the product does: to upper and then to lower case, letter by letter.
fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn contains_text(row: &Listed, q: &str) -> bool {
    let texts = [Some(row.description.as_str()), row.counterparty.as_deref()];
    texts.into_iter().flatten().any(|it| folded(it).contains(&folded(q)))
}

async fn check(world: &World, caller: &Caller) {
    let rows = listed::all(&world.app, caller, &everything()).await;
    for q in QUERIES {
        let expected: Vec<&Listed> = rows.iter().filter(|it| contains_text(it, q)).collect();
        let filter = Filter { q: Some(q.to_owned()), ..everything() };
        let found = listed::all(&world.app, caller, &filter).await;
        assert!(found.iter().eq(expected.iter().copied()), "{q}: {found:?}\n{expected:?}");
        let (first, end) =
            listed::page(&world.app, caller, &filter, Page { cursor: None, limit: 1 })
                .await
                .unwrap();
        assert!(first.iter().eq(expected.iter().take(1).copied()), "{q}");
        assert_eq!(end.next_cursor.is_some(), expected.len() > 1, "{q}");
        let totals = transactions::totals(&world.app, caller, &filter).await.unwrap();
        let counted: i64 = totals.iter().map(|it| it.count).sum();
        assert_eq!(counted as usize, expected.len(), "{q}");
        let days = transactions::totals_by_day(&world.app, caller, &filter).await.unwrap();
        let counted: i64 = days.values().flatten().map(|it| it.count).sum();
        assert_eq!(counted as usize, expected.len(), "{q}");
    }
}

#[test]
fn a_search_finds_what_a_plain_scan_finds_after_any_changes() {
    check_property(
        24,
        proptest::collection::vec(step(), 1..24),
        async |world, steps: Vec<Step>| {
            let person = world.someone().await;
            let new = NewAccount {
                name: "Wallet".to_owned(),
                kind: AccountKind::Depository,
                currency: Currency::USD,
                balance_minor: None,
            };
            let wallet = manual::create_account(&world.app, &person.caller, new).await.unwrap();
            for step in &steps {
                world.advance_seconds(1);
                apply(world, &person, wallet, step).await;
            }
            check(world, &person.caller).await;
            pack_all(world).await;
            check(world, &person.caller).await;
        },
    );
}

async fn found(world: &World, person: &Person, q: &str) -> Vec<String> {
    let filter = Filter { q: Some(q.to_owned()), ..everything() };
    let rows = listed::all(&world.app, &person.caller, &filter).await;
    rows.into_iter().map(|it| it.description).collect()
}

/// More days than one lookup reads, and more rows on a day than one chunk: with a common, a rare and a missing text.
#[tokio::test]
async fn long_lists_are_searched_in_parts_and_in_order() {
    let world = World::new().await;
    let robin = world.someone().await;
    let many = (0..900_i64).map(|it| {
        let on = date_from_days(days_from_date(day("2020-01-01")) + 4 * (it % 300));
        let rare = if it % 450 == 7 { "needle" } else { "hay" };
        txn(&on.to_string(), -1 - it, &format!("T{it} {rare}"))
    });
    let crowded = (0..400_i64).map(|it| txn("2026-02-02", -5_000 - it, &format!("CROWD {it}.")));
    robin.import(statement([checking("A").with_all(many.chain(crowded))])).await;
    pack_all(&world).await;
    assert_eq!(found(&world, &robin, "NEEDLE").await, ["T457 needle", "T7 needle"]);
    assert_eq!(found(&world, &robin, "crowd 399.").await, ["CROWD 399."]);
    assert_eq!(found(&world, &robin, "nothing").await, [""; 0]);
    let filter = Filter { q: Some("t".to_owned()), ..everything() };
    let all = listed::all(&world.app, &robin.caller, &filter).await;
    assert_eq!(all.len(), 900);
    assert!(all.windows(2).all(|it| (it[0].posted_on, it[0].id) > (it[1].posted_on, it[1].id)));
    let mut walked = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = Page { cursor: cursor.as_deref(), limit: 37 };
        let (rows, end) = listed::page(&world.app, &robin.caller, &filter, page).await.unwrap();
        walked.extend(rows);
        cursor = end.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(descriptions(&walked), descriptions(&all));
    let some = Filter {
        start_on: Some(day("2020-02-01")),
        end_on: Some(day("2020-03-01")),
        ..filter.clone()
    };
    let rows = listed::all(&world.app, &robin.caller, &some).await;
    let within =
        all.iter().filter(|it| (day("2020-02-01")..=day("2020-03-01")).contains(&it.posted_on));
    assert!(rows.iter().eq(within));
}

/// One process packs while another is about to commit a text that the packing cannot see yet.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_committed_while_its_days_are_packed_is_found() {
    let world = World::new().await;
    if world.app.db.engine() == Engine::Sqlite {
        return;
    }
    let robin = world.someone().await;
    let row = txn("2026-03-01", -5, "EARLY").id("1");
    robin.import(statement([checking("A").with(row)])).await;
    let (written, is_written) = tokio::sync::oneshot::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (db, user) = (world.app.db.clone(), robin.user.id);
    let late = tokio::spawn(async move {
        db.write(move |tx| {
            let rename = "update transactions set description = 'LATE', counterparty = null
                where user_id = $1";
            tx.execute(rename, params![user])?;
            let stamp = "update person_states set transactions_stamp = transactions_stamp + 1
                where user_id = $1";
            tx.execute(stamp, params![user])?;
            let _ = written.send(());
            let _ = released.recv();
            Ok::<_, db::Error>(())
        })
        .await
    });
    is_written.await.unwrap();
    pack_all(&world).await;
    assert_eq!(found(&world, &robin, "early").await, ["EARLY"]);
    drop(release);
    late.await.unwrap().unwrap();
    assert_eq!(found(&world, &robin, "late").await, ["LATE"]);
    pack_all(&world).await;
    assert_eq!(found(&world, &robin, "late").await, ["LATE"]);
    assert_eq!(found(&world, &robin, "early").await, [""; 0]);
}

async fn count_rows(world: &World, table: &str) -> i64 {
    let sql = format!("select cast(count(*) as bigint) from {table}");
    world.app.db.first(&sql, &[], |row| row.get(0)).await.unwrap().unwrap()
}

#[tokio::test]
async fn the_search_index_of_a_deleted_person_is_deleted() {
    let world = World::new().await;
    let robin = world.someone().await;
    let two = ["2026-03-01", "2026-01-01"].map(|on| txn(on, -5, "SECRET"));
    robin.import(statement([checking("A").with_all(two)])).await;
    transactions::index_once(&world.app).await.unwrap();
    robin.import(statement([checking("A").with(txn("2026-03-02", -6, "SECRET TOO"))])).await;
    assert!(count_rows(&world, "transaction_search").await > 0);
    assert!(count_rows(&world, "transaction_search_dirty").await > 0);
    users::delete(&world.app, robin.user.id).await.unwrap();
    assert_eq!(count_rows(&world, "transaction_search").await, 0);
    assert_eq!(count_rows(&world, "transaction_search_dirty").await, 0);
}

/// A database from before the search index existed.
#[tokio::test]
async fn transactions_older_than_the_index_are_found_before_and_after_packing() {
    let world = World::new().await;
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(&MIGRATIONS[..9]).await.unwrap();
    let user = world.app.ids.make::<base::kinds::User>();
    let fill = db.write(move |tx| {
        let id = user.as_bytes().as_slice();
        tx.execute(OLD_USER, params![id])?;
        tx.execute(OLD_CONNECTION, params![id])?;
        tx.execute(OLD_ACCOUNT, params![id])?;
        for on in [20_000_i64, 20_500] {
            tx.execute(OLD_ROW, params![id, on, &on.to_be_bytes().repeat(2)[..]])?;
        }
        Ok::<_, db::Error>(())
    });
    fill.await.unwrap();
    db.migrate(MIGRATIONS).await.unwrap();
    let app = world.other_process_on(db);
    for packed in [2, 0] {
        let filter = Filter { q: Some("kroger".to_owned()), ..everything() };
        assert_eq!(
            listed::all(&app, &Caller::owner(user, base::TimeZone::utc()), &filter).await.len(),
            2
        );
        assert_eq!(transactions::index_once(&app).await.unwrap(), packed);
    }
}

const OLD_USER: &str = "insert into users (id, email, base_currency, created_at, updated_at)
    values ($1, 'old@example.com', 'USD', 1, 1)";
const OLD_CONNECTION: &str =
    "insert into connections (user_id, id, source, external_id, status, created_at)
    values ($1, $1, 'file', 'x', 'connected', 1)";
const OLD_ACCOUNT: &str =
    "insert into accounts (user_id, id, connection_id, external_id, name, kind, currency,
    transaction_count, created_at, updated_at)
    values ($1, $1, $1, 'x', 'Everyday', 'depository', 'USD', 2, 1, 1)";
const OLD_ROW: &str =
    "insert into transactions (user_id, posted_on, id, account_id, state, amount_minor, currency,
    description, updated_at, created_at, import_id)
    values ($1, $2, $3, $1, 'posted', -500, 'USD', 'KROGER #339', 1, 1, $1)";
