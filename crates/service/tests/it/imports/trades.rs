//! The cost of a position from imported trades, where the source gives none.

use base::Fixed9;
use base::draft::{AssetClass, TradeDraft};
use calc::investments::{Holding, View};
use service::ingest::imports;
use service::ledger::investments;
use testkit::draft::{Account, brokerage, position, statement, trade};
use testkit::{Person, World};

async fn find(world: &World, person: &Person, symbol: &str) -> Holding {
    let found = investments::list(&world.app, &person.caller, None, View::default()).await.unwrap();
    let mut all = found.portfolio.groups.into_iter().flat_map(|it| it.holdings);
    all.find(|it| it.symbol.as_deref() == Some(symbol)).unwrap()
}

async fn cost(world: &World, person: &Person) -> (Option<i64>, Option<i64>) {
    let found = find(world, person, "VTI").await;
    (found.cost_basis_total_minor, found.total_gain_loss_minor)
}

fn fund(quantity: &str, trades: impl IntoIterator<Item = TradeDraft>) -> Account {
    let held = position("VTI", quantity).priced("100", "99");
    brokerage("Brokerage").holding([held]).trading(trades)
}

fn bought() -> TradeDraft {
    trade("2026-01-05", "buy", "VTI", "10", 80_000)
}

#[tokio::test]
async fn a_position_has_the_average_cost_of_its_trades_if_they_explain_all_of_it() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([fund("10", [bought()])])).await;
    assert_eq!(cost(&world, &robin).await, (Some(80_000), Some(20_000)));
    // A dividend bought more, and some was sold. The file repeats the first trade.
    let later = [
        bought(),
        trade("2026-02-05", "reinvest", "VTI", "2", 22_000),
        trade("2026-02-09", "sell", "VTI", "6", 60_000),
    ];
    robin.import(statement([fund("6", later)])).await;
    assert_eq!(cost(&world, &robin).await, (Some(51_000), Some(9_000)));
    let mut split = trade("2026-03-01", "split", "VTI", "3", 0);
    (split.per, split.amount_minor) = (Some(Fixed9::ONE), None);
    robin.import(statement([fund("18", [split])])).await;
    assert_eq!(cost(&world, &robin).await.0, Some(51_000));
    // Units without a trade: their cost is not known, and so is no gain.
    robin.import(statement([fund("19", [])])).await;
    assert_eq!(cost(&world, &robin).await, (None, None));
}

#[tokio::test]
async fn equal_trades_of_one_file_are_two_and_a_cost_of_the_source_wins() {
    let world = World::new().await;
    let robin = world.someone().await;
    let nameless = || TradeDraft { external_id: None, ..bought() };
    robin.import(statement([fund("20", [nameless(), nameless()])])).await;
    assert_eq!(cost(&world, &robin).await.0, Some(160_000));
    robin.import(statement([fund("20", [nameless(), nameless()])])).await;
    assert_eq!(cost(&world, &robin).await.0, Some(160_000));
    let told = position("VTI", "20").priced("100", "99").cost(150_000);
    robin.import(statement([brokerage("Brokerage").holding([told])])).await;
    assert_eq!(cost(&world, &robin).await.0, Some(150_000));
}

#[tokio::test]
async fn undoing_an_import_takes_its_trades_away_and_no_others() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([fund("10", [bought()])])).await;
    let sold = trade("2026-02-09", "sell", "VTI", "4", 60_000);
    robin.import(statement([fund("6", [bought(), sold])])).await;
    assert_eq!(cost(&world, &robin).await.0, Some(48_000));
    let all = imports::list(&world.app, &robin.caller, None, 10).await.unwrap();
    let newest = all.iter().map(|it| it.id).max().unwrap();
    imports::undo(&world.app, &robin.caller, newest).await.unwrap();
    assert_eq!(cost(&world, &robin).await.0, Some(80_000));
}

#[tokio::test]
async fn the_cost_of_cash_alone_is_no_gain() {
    let world = World::new().await;
    let robin = world.someone().await;
    let cash = position("USD", "500").priced("1", "1").class(AssetClass::Cash).cost(50_000);
    let both = [position("VTI", "10").priced("100", "99"), cash];
    robin.import(statement([brokerage("Brokerage").holding(both)])).await;
    let found = investments::list(&world.app, &robin.caller, None, View::default()).await.unwrap();
    let total = &found.portfolio.account_total;
    assert_eq!(total.current_value_minor, Some(150_000));
    assert_eq!((total.total_gain_loss_minor, total.cost_basis_total_minor), (None, None));
    assert_eq!(total.total_gain_loss_percent, None);
}
