//! The views for psql and sqlite3 show what the API shows, and docs/views.md lists them as they are.

use base::category::Category;
use db::Engine;
use service::ledger::accounts;
use service::ledger::splits::{self, Part};
use service::ledger::transactions::Filter;
use service::schema::VIEWS;
use testkit::draft::{brokerage, card, checking, position, statement, txn};
use testkit::{Person, World};

use crate::listed;

/// The transactions of a view as text: id, date, amount in minor units, state, description, primary category.
async fn shown(world: &World, only: &str) -> Vec<[String; 6]> {
    let sql = format!(
        "select transaction_id, cast(date_posted as text), cast(amount_minor as text),
        case when pending then 'pending' else 'posted' end, description, coalesce(category_tier1, '')
        from transactions_view where {only} order by transaction_id"
    );
    let read = |row: &db::Row<'_>| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])
    };
    world.app.db.all(&sql, &[], read).await.unwrap()
}

async fn household() -> (World, Person) {
    let world = World::new().await;
    let robin = world.someone().await;
    let everyday = checking("Everyday").with_all([
        txn("2026-02-03", 250_000, "ACME CORP PAYROLL"),
        txn("2026-02-05", -4_210, "SAFEWAY #1234 SEATTLE WA"),
        txn("2026-02-28", -799, "NETFLIX.COM"),
    ]);
    let rewards = card("Rewards").with(txn("2026-02-07", -1_250, "STARBUCKS STORE 00123"));
    let broker = brokerage("Broker").holding([position("AAPL", "2.5")]);
    robin.import(statement([everyday, rewards, broker])).await;
    (world, robin)
}

#[tokio::test]
async fn the_transactions_of_the_view_are_those_of_the_list() {
    let (world, robin) = household().await;
    let mut expected: Vec<[String; 6]> = listed::all(&world.app, &robin.caller, &Filter::default())
        .await
        .into_iter()
        .map(|it| {
            let state = if it.pending { "pending" } else { "posted" };
            let category = it.category.map_or("", |it| it.primary());
            let minor = it.minor.to_string();
            let date = it.posted_on.to_string();
            [it.id.to_string(), date, minor, state.to_owned(), it.description, category.to_owned()]
        })
        .collect();
    expected.sort();
    assert_eq!(expected.len(), 4);
    assert_eq!(shown(&world, "not is_hidden").await, expected);
    let hidden = robin.account("Rewards").await;
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    assert_eq!(shown(&world, "not is_hidden").await.len(), 3);
    assert_eq!(
        shown(&world, &format!("account_id = '{hidden}' and amount = -12.5")).await.len(),
        1
    );
}

#[tokio::test]
async fn the_view_of_parts_has_each_part_of_a_split_transaction_in_its_category() {
    let (world, robin) = household().await;
    let rows = listed::all(&world.app, &robin.caller, &Filter::default()).await;
    let id = rows.iter().find(|it| it.minor == -4_210).unwrap().id;
    let part = |amount_minor, category: &str, note: &str| Part {
        amount_minor,
        category: Category::parse(category).unwrap(),
        note: note.to_owned(),
    };
    let food = part(-4_000, "FOOD_AND_DRINK_GROCERIES", "");
    let gift = part(-210, "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES", "For Zoë");
    splits::set(&world.app, &robin.caller, id, vec![food, gift]).await.unwrap();
    let sql = "select coalesce(cast(part as text), ''), cast(amount_minor as text), category_tier1,
        coalesce(part_note, '') from transaction_parts_view order by date_posted, part";
    let read = |row: &db::Row<'_>| {
        let cells: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        Ok(cells.join(" "))
    };
    let shown = world.app.db.all(sql, &[], read).await.unwrap();
    assert_eq!(shown.len(), 5);
    assert_eq!(shown[1], "1 -4000 FOOD_AND_DRINK ");
    assert_eq!(shown[2], "2 -210 GENERAL_MERCHANDISE For Zoë");
    assert_eq!(shown[3], " -1250 FOOD_AND_DRINK ");
}

#[tokio::test]
async fn every_view_can_be_read_and_is_documented_with_its_columns() {
    let (world, _robin) = household().await;
    let docs = include_str!("../../../../docs/views.md");
    let read = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    let views =
        world.app.db.all("select name, description from evenkeel_views", &[], read).await.unwrap();
    assert_eq!(views.len(), VIEWS.matches("\ncreate view ").count());
    for (name, description) in views {
        let sql = match world.app.db.engine() {
            Engine::Sqlite => format!("select name from pragma_table_info('{name}') order by cid"),
            Engine::Postgres => format!(
                "select column_name::text from information_schema.columns
                where table_name = '{name}' and table_schema = current_schema() order by ordinal_position"
            ),
        };
        let columns: Vec<String> = world.app.db.all(&sql, &[], |row| row.get(0)).await.unwrap();
        let line = format!("| `{name}` | {description} | `{}` |", columns.join("`, `"));
        assert!(docs.contains(&line), "docs/views.md lacks: {line}");
        // All columns are calculated, for whatever rows there are.
        let texts: Vec<String> = columns.iter().map(|it| format!("cast({it} as text)")).collect();
        let sql = format!("select count(*), count({}) from {name}", texts.join("), count("));
        let count: i64 = world.app.db.first(&sql, &[], |row| row.get(0)).await.unwrap().unwrap();
        let is_filled = matches!(
            name.as_str(),
            "people_view"
                | "accounts_view"
                | "transactions_view"
                | "transaction_parts_view"
                | "holdings_view"
        );
        assert!(count > 0 || !is_filled, "{name} is empty");
    }
}
