//! The cost of a position from imported trades, where the source gives none.

use base::Fixed9;
use base::draft::{AssetClass, TradeDraft};
use calc::investments::{Holding, View};
use service::ingest::imports;
use service::ingest::imports::files::{self, AccountChoice, Choices, DestinationChoice};
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

#[tokio::test]
async fn trades_of_other_formats_name_the_security_by_its_symbol_or_name() {
    let world = World::new().await;
    let robin = world.someone().await;
    let named = |security: &str, on: &str, quantity: &str, minor| TradeDraft {
        external_id: None,
        ..trade(on, "buy", security, quantity, minor)
    };
    let of = |trades: Vec<TradeDraft>| {
        let mut held = position("VTI", "15").priced("100", "99");
        held.security.external_id = "922908769".to_owned();
        held.security.name = "Vanguard Total Stock Market".to_owned();
        brokerage("Brokerage").holding([held]).trading(trades)
    };
    // A table names the symbol.
    robin.import(statement([of(vec![named("vti", "2026-01-05", "10", 80_000)])])).await;
    assert_eq!(cost(&world, &robin).await, (None, None));
    // Quicken's format names the security as the person did. Both together explain the position.
    let rest = named("VANGUARD TOTAL STOCK MARKET", "2026-01-09", "5", 45_000);
    robin.import(statement([of(vec![rest])])).await;
    assert_eq!(cost(&world, &robin).await, (Some(125_000), Some(25_000)));
}

/// Commits all accounts of a file into the brokerage account.
async fn commit(world: &World, person: &Person, text: &str) {
    let (app, caller) = (&world.app, &person.caller);
    let into = person.account("Brokerage").await;
    let id = files::stage(app, caller, "history", text.as_bytes().to_vec()).await.unwrap();
    let preview = files::preview(app, caller, id).await.unwrap();
    let destination = Some(DestinationChoice::Existing(into));
    let choice = || AccountChoice { destination, ..Default::default() };
    let accounts = (0..preview.accounts.len()).map(|it| (it, choice())).collect();
    files::choose(app, caller, id, Choices { accounts, ..Default::default() }).await.unwrap();
    files::commit(app, caller, id).await.unwrap();
}

#[tokio::test]
async fn a_history_from_quicken_explains_the_position_even_as_two_accounts() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([fund("30", [])])).await;
    assert_eq!(cost(&world, &robin).await, (None, None));
    let record = |rest: &str| format!("D1/31/2025\nYTotal Market\n{rest}\n^\n");
    let history = [
        "!Type:Security\nNTotal Market\nSVTI\nTStock\n^\n".to_owned(),
        "!Account\nNOld\nTInvst\n^\n!Type:Invst\n".to_owned(),
        record("NBuy\nQ10\nT809.95\nO9.95"),
        "!Account\nNNew\nTInvst\n^\n!Type:Invst\n".to_owned(),
        record("NReinvDiv\nQ5\nT440.00"),
        // Two new units for each.
        "D2/28/2025\nYTotal Market\nNStkSplit\nQ20\n^\n".to_owned(),
    ];
    for _ in 0..2 {
        commit(&world, &robin, &history.concat()).await;
        assert_eq!(cost(&world, &robin).await, (Some(124_995), Some(175_005)));
    }
}

#[tokio::test]
async fn a_table_of_a_broker_explains_the_position() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([fund("6", [])])).await;
    let table = "Date,Action,Symbol,Description,Quantity,Price,Fees & Comm,Amount\n\
        01/31/2025,Buy,VTI,TOTAL MARKET ETF,10,$80.00,$1.00,-$801.00\n\
        02/28/2025,Sell,VTI,TOTAL MARKET ETF,4,$90.00,$1.00,$359.00\n";
    for _ in 0..2 {
        commit(&world, &robin, table).await;
        assert_eq!(cost(&world, &robin).await, (Some(48_060), Some(11_940)));
    }
}
