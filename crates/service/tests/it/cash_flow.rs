//! Income and spending by month.

use service::ledger::accounts;
use service::ledger::cash_flow::{self, Flow, Months};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, day};

async fn months(world: &World, person: &Person) -> Months {
    cash_flow::months(&world.app, &person.caller, 6).await.unwrap()
}

#[tokio::test]
async fn the_average_covers_whole_months_and_excludes_the_current_one() {
    let world = World::new().await;
    let robin = world.someone().await;
    let nothing = months(&world, &robin).await;
    assert_eq!((nothing.past.len(), nothing.average()), (0, None));
    let pay = |on: &str, minor| txn(on, minor, "ACME PAYROLL").category("INCOME_WAGES").id(on);
    let shop = |on: &str, minor| {
        let food = "FOOD_AND_DRINK_GROCERIES";
        txn(on, minor, "KROGER").category(food).id(&format!("shop {on}"))
    };
    let everyday = checking("Everyday").with_all([
        pay("2026-01-31", 100_000),
        shop("2026-01-02", -30_001),
        shop("2026-02-14", -10_000),
        pay("2026-03-01", 7),
        shop("2026-03-10", -9),
    ]);
    robin.import(statement([everyday])).await;
    let found = months(&world, &robin).await;
    // The first month is the first one with a transaction.
    let starts: Vec<_> = found.past.iter().map(|it| it.start).collect();
    assert_eq!(starts, [day("2026-01-01"), day("2026-02-01")]);
    assert_eq!(found.this.flow, Flow { income_minor: 7, spent_minor: 9 });
    let average = Flow { income_minor: 50_000, spent_minor: 20_000 };
    assert_eq!(found.average(), Some(average));
    let id = robin.account("Everyday").await;
    accounts::set_hidden(&world.app, &robin.caller, id, true).await.unwrap();
    assert_eq!(months(&world, &robin).await.past, []);
}
