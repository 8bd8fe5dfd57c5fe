//! One security has one id and one price: in linked accounts of all connections, and in paper accounts.

use base::draft::{AssetClass, SecurityKind, Statement};
use base::{Entropy, SecurityId, Timestamp, kinds};
use calc::investments::{Holding, View};
use calc::paper::Side;
use db::params;
use service::ledger::{investments, quotes};
use service::platform::installation::Key;
use service::schema::MIGRATIONS;
use service::trading::paper;
use service::{App, Caller, backup};
use testkit::draft::{Position, brokerage, position, statement};
use testkit::{Database, World, at};

use crate::actions::{ActionsFixture, shares};

/// The moment of every test: Tuesday 10 March 2026, 10:30 in New York.
const NOW: &str = "2026-03-10T14:30:00Z";

/// The holdings of all linked accounts, by symbol.
async fn linked(app: &App, caller: &Caller) -> Vec<Holding> {
    let found = investments::list(app, caller, None, View::default()).await.unwrap();
    let mut all: Vec<Holding> =
        found.portfolio.groups.into_iter().flat_map(|it| it.holdings).collect();
    all.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    all
}

/// A statement of another bank, with a brokerage account of its own.
fn other_bank(positions: impl IntoIterator<Item = Position>) -> Statement {
    let connection = "other bank".to_owned();
    Statement { connection, ..statement([brokerage("Elsewhere").holding(positions)]) }
}

fn bank(positions: impl IntoIterator<Item = Position>) -> Statement {
    statement([brokerage("Broker").holding(positions)])
}

fn priced_at(price: &str, moment: &str) -> Position {
    let mut position = position("AAPL", "2").priced(price, "148");
    position.security.priced_at = Some(at(moment));
    position
}

/// Id, price and time of the linked and of the paper holding of Apple.
async fn both(fixture: &ActionsFixture) -> [(SecurityId, String, Timestamp); 2] {
    let (app, session) = (fixture.app(), &fixture.session);
    let held = paper::list_holdings(app, session, fixture.account).await.unwrap();
    let held = held.into_iter().find(|it| it.symbol == "AAPL").unwrap();
    let quote = held.priced.unwrap().quote;
    let linked = linked(app, session).await;
    let linked = linked.iter().find(|it| it.symbol.as_deref() == Some("AAPL")).unwrap();
    let price = linked.last_price.unwrap().to_string();
    [
        (linked.security_id, price, linked.last_price_at.unwrap()),
        (held.security_id, quote.price.to_string(), quote.at),
    ]
}

#[tokio::test]
async fn a_paper_holding_takes_the_id_of_the_linked_one_and_both_show_the_newest_price() {
    let fixture = ActionsFixture::new().await;
    fixture.person.import(bank([priced_at("150", "2026-03-10T11:00:00Z")])).await;
    let before = linked(fixture.app(), &fixture.session).await.remove(0);
    assert_eq!(before.last_price.unwrap().to_string(), "150");
    fixture.trade(Side::Buy, "AAPL", shares("3")).await;
    let [linked, held] = both(&fixture).await;
    assert_eq!(linked, held);
    assert_eq!(held, (before.security_id, "187.1".to_owned(), at(NOW)));
    // The institution's price is newer than the market's.
    fixture.world.advance_seconds(600);
    fixture.person.import(bank([priced_at("190.25", "2026-03-10T14:35:00Z")])).await;
    let [linked, held] = both(&fixture).await;
    assert_eq!(linked, held);
    let expected = (before.security_id, "190.25".to_owned(), at("2026-03-10T14:35:00Z"));
    assert_eq!(held, expected);
    // The whole account is valued at it, but a trade is filled at the market's price.
    let account = paper::get_account(fixture.app(), &fixture.session, fixture.account);
    assert_eq!(account.await.unwrap().holdings_value().unwrap().minor(), 57_075);
    assert_eq!(fixture.price("AAPL").await.to_string(), "187.1");
    // The market's price is newer again. The last one is cached for a second.
    fixture.world.advance_seconds(2);
    fixture.world.market.set("AAPL", "188", None);
    let [linked, held] = both(&fixture).await;
    assert_eq!(linked, held);
    assert_eq!((held.0, held.1.as_str()), (before.security_id, "188"));
}

#[tokio::test]
async fn a_linked_holding_takes_the_id_of_an_earlier_paper_holding() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "AAPL", shares("3")).await;
    let held = paper::list_holdings(fixture.app(), &fixture.session, fixture.account);
    let id = held.await.unwrap()[0].security_id;
    fixture.person.import(bank([priced_at("150", "2026-03-10T11:00:00Z")])).await;
    let [linked, held] = both(&fixture).await;
    assert_eq!((linked.0, held.0), (id, id));
    assert_eq!(linked, held);
    // It stays when the shares are sold and bought again.
    fixture.trade(Side::Sell, "AAPL", shares("3")).await;
    fixture.trade(Side::Buy, "AAPL", shares("1")).await;
    assert_eq!(both(&fixture).await.map(|it| it.0), [id, id]);
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn connections_that_hold_the_same_security_share_its_id_and_price() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(bank([position("AAPL", "2").priced("150", "148").cost(20_000)])).await;
    let first = linked(&world.app, &robin.caller).await.remove(0);
    let mut lower = position("aapl", "1").priced("151", "148").cost(15_000);
    lower.security.kind = SecurityKind::Other;
    lower.security.priced_at = Some(at("2026-03-10T11:30:00Z"));
    robin.import(other_bank([lower])).await;
    let both = linked(&world.app, &robin.caller).await;
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(both[0].security_id, first.security_id);
    assert_eq!(both[0].quantity.to_string(), "3");
    assert_eq!(
        (both[0].current_value_minor, both[0].cost_basis_total_minor),
        (Some(45_300), Some(35_000))
    );
    // One account alone shows the same id and price.
    let alone = robin.account("Broker").await;
    let alone = investments::list(&world.app, &robin.caller, Some(alone), View::default()).await;
    let alone = alone.unwrap().portfolio.groups.remove(0).holdings.remove(0);
    assert_eq!((alone.security_id, alone.last_price), (first.security_id, both[0].last_price));
    assert_eq!(alone.current_value_minor, Some(30_200));
    // Another person's id is another.
    let kim = world.someone().await;
    kim.import(bank([position("AAPL", "2")])).await;
    assert_ne!(linked(&world.app, &kim.caller).await[0].security_id, first.security_id);
}

#[tokio::test]
async fn the_same_symbol_in_another_currency_or_class_is_another_security() {
    let world = World::new().await;
    let robin = world.someone().await;
    let coin = |kind| {
        let mut coin = position("BTC", "1").priced("90000", "90000").class(AssetClass::Crypto);
        coin.security.kind = kind;
        coin
    };
    let euros = {
        let mut euros = position("BTC", "1").priced("40", "40");
        euros.security.currency = base::Currency::EUR;
        euros
    };
    robin.import(bank([coin(SecurityKind::Cryptocurrency)])).await;
    robin.import(other_bank([position("BTC", "1").priced("41", "41")])).await;
    let third = "third bank".to_owned();
    robin
        .import(Statement { connection: third, ..statement([brokerage("Third").holding([euros])]) })
        .await;
    for number in 0..2 {
        // Options name the stock they are for.
        let connection = format!("options {number}");
        let account = brokerage(&connection).holding([coin(SecurityKind::Derivative)]);
        robin.import(Statement { connection, ..statement([account]) }).await;
    }
    let held = linked(&world.app, &robin.caller).await;
    let ids: std::collections::BTreeSet<SecurityId> =
        held.iter().map(|it| it.security_id).collect();
    assert_eq!((held.len(), ids.len()), (5, 5));
}

#[tokio::test]
async fn a_list_of_holdings_uses_known_quotes_and_never_asks_a_remote_market() {
    let fixture = ActionsFixture::new().await;
    fixture.person.import(bank([priced_at("150", "2026-03-10T11:00:00Z")])).await;
    let shown =
        async || linked(fixture.app(), &fixture.session).await[0].last_price.unwrap().to_string();
    assert_eq!(shown().await, "150", "nobody has asked for a quote yet");
    quotes::find(fixture.app(), "AAPL").await.unwrap();
    assert_eq!(shown().await, "187.1", "the stored quote is newer");
    fixture.world.advance_seconds(60);
    fixture.world.market.set("AAPL", "200", None);
    assert_eq!(shown().await, "187.1");
    fixture.world.market.set_unavailable(true);
    assert_eq!(shown().await, "187.1");
}

#[tokio::test]
async fn a_price_from_the_future_is_not_the_newest() {
    let fixture = ActionsFixture::new().await;
    fixture.person.import(bank([priced_at("999", "2027-01-01T00:00:00Z")])).await;
    fixture.trade(Side::Buy, "AAPL", shares("3")).await;
    let [linked, held] = both(&fixture).await;
    assert_eq!(linked, held);
    assert_eq!(held.1, "187.1");
}

#[tokio::test]
async fn a_security_whose_symbol_changes_keeps_its_id_unless_others_use_it() {
    let world = World::new().await;
    let robin = world.someone().await;
    let named = |symbol: &str| {
        let mut held = position("FB", "1").priced("100", "100");
        held.security.symbol = Some(symbol.to_owned());
        held
    };
    let ids = async || {
        let held = linked(&world.app, &robin.caller).await;
        held.iter().map(|it| (it.symbol.clone().unwrap(), it.security_id)).collect::<Vec<_>>()
    };
    robin.import(bank([named("FB")])).await;
    let id = ids().await[0].1;
    robin.import(bank([named("META")])).await;
    assert_eq!(ids().await, [("META".to_owned(), id)]);
    // A new security with the old symbol is another one.
    robin.import(other_bank([named("FB")])).await;
    let two = ids().await;
    assert_eq!(two[1], ("META".to_owned(), id));
    assert_ne!(two[0].1, id);
    // The second one is renamed too: they are the same again.
    robin.import(other_bank([named("META")])).await;
    assert_eq!(ids().await, [("META".to_owned(), id)]);
    // The first one goes back, while the second one still has the symbol.
    robin.import(bank([named("FB")])).await;
    let two = ids().await;
    assert_eq!((two[0].0.as_str(), two[1].clone()), ("FB", ("META".to_owned(), id)));
    assert_ne!(two[0].1, id);
}

const OLD_USER: &str = "insert into users (id, email, base_currency, role, created_at, updated_at)
    values ($1, 'robin@example.com', 'USD', 'admin', 1, 1)";
const OLD_CONNECTION: &str =
    "insert into connections (user_id, id, source, external_id, status, created_at)
    values ($1, $2, 'file', $3, 'connected', 1)";
const OLD_SECURITY: &str =
    "insert into securities (user_id, id, connection_id, external_id, symbol,
    name, kind, asset_class, currency, updated_at)
    values ($1, $2, $3, 'X', $4, 'Apple', $5, 'equity', 'USD', 1)";
const OLD_PAPER_ACCOUNT: &str = "insert into paper_accounts (user_id, id, name, status, currency,
    deposited_minor, cash_minor, reserved_minor, realised_minor, dividends_minor, entry_count,
    trade_count, created_at, updated_at)
    values ($1, $2, 'Practice', 'open', 'USD', 0, 0, 0, 0, 0, 0, 0, 1, 1)";
const OLD_POSITION: &str =
    "insert into paper_positions (user_id, account_id, symbol, id, security_id,
    kind, quantity, basis_minor, updated_at) values ($1, $2, $3, $4, $5, 'equity', '1', 100, 1)";

/// A database as versions before instruments left it: three connections with Apple, and two paper positions.
async fn old_database(world: &World, database: &Database) -> (base::UserId, SecurityId, db::Db) {
    let db = database.open().await;
    db.migrate(&MIGRATIONS[..11]).await.unwrap();
    let ids = &world.app.ids;
    let user = ids.make::<kinds::User>();
    let (oldest, paper) = (ids.make::<kinds::Security>(), ids.make::<kinds::PaperAccount>());
    let rows: Vec<_> = [
        (oldest, "AAPL", "equity"),
        (ids.make(), "aapl ", "other"),
        (ids.make(), "AAPL", "derivative"),
    ]
    .map(|(id, symbol, kind)| (ids.make::<kinds::Connection>(), id, symbol, kind))
    .into();
    let positions =
        ["AAPL", "VTI"].map(|it| (it, ids.make::<kinds::Holding>(), ids.make::<kinds::Security>()));
    let insert = move |tx: &mut db::Tx<'_>| {
        tx.execute(OLD_USER, params![user])?;
        for (number, (connection, id, symbol, kind)) in rows.iter().enumerate() {
            tx.execute(
                OLD_CONNECTION,
                params![user, *connection, format!("bank {number}").as_str()],
            )?;
            tx.execute(OLD_SECURITY, params![user, *id, *connection, *symbol, *kind])?;
        }
        tx.execute(OLD_PAPER_ACCOUNT, params![user, paper])?;
        for (symbol, id, security) in positions {
            tx.execute(OLD_POSITION, params![user, paper, symbol, id, security])?;
        }
        Ok::<_, db::Error>(())
    };
    db.write(insert).await.unwrap();
    (user, oldest, db)
}

/// The ids of instruments and of paper positions, by symbol.
async fn stored_ids(db: &db::Db, user: base::UserId) -> [Vec<(String, SecurityId)>; 2] {
    let read = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<SecurityId>(1)?));
    let instruments = "select symbol, id from instruments where user_id = $1 and class = 'listed'
        and currency = 'USD' order by symbol";
    let positions =
        "select symbol, security_id from paper_positions where user_id = $1 order by symbol";
    [
        db.all(instruments, params![user], read).await.unwrap(),
        db.all(positions, params![user], read).await.unwrap(),
    ]
}

#[tokio::test]
async fn a_migration_gives_the_same_security_the_oldest_id() {
    let (world, database) = (World::new().await, Database::empty().await);
    let (user, oldest, db) = old_database(&world, &database).await;
    db.migrate(MIGRATIONS).await.unwrap();
    let [instruments, positions] = stored_ids(&db, user).await;
    assert_eq!(instruments, positions);
    assert_eq!(positions[0], ("AAPL".to_owned(), oldest));
    // A security that is held in a paper account only keeps its id.
    assert_eq!(positions[1].0, "VTI");
}

#[tokio::test]
async fn a_restored_older_backup_has_the_same_ids_as_a_migrated_database() {
    let (world, database) = (World::new().await, Database::empty().await);
    let (user, oldest, db) = old_database(&world, &database).await;
    let (key, now) = (Key::generate(&Entropy::seeded(1)), world.clock.now());
    let old = backup::write(&db, &key, now, Vec::new(), |_| {}).await.unwrap().0;
    db.migrate(MIGRATIONS).await.unwrap();
    let migrated = stored_ids(&db, user).await;
    let fresh = Database::migrated().await;
    let app = world.other_process_on(fresh.open().await);
    let contents = backup::check(old.as_slice()).unwrap();
    backup::restore(&app.db, contents, std::io::Cursor::new(old), now, |_| {}).await.unwrap();
    assert_eq!(stored_ids(&app.db, user).await, migrated);
    assert_eq!(migrated[0][0].1, oldest);
    // A backup of the new version brings the ids back as they are.
    let new = backup::write(&app.db, &key, now, Vec::new(), |_| {}).await.unwrap().0;
    let again = Database::migrated().await;
    let other = world.other_process_on(again.open().await);
    let contents = backup::check(new.as_slice()).unwrap();
    backup::restore(&other.db, contents, std::io::Cursor::new(new), now, |_| {}).await.unwrap();
    assert_eq!(stored_ids(&other.db, user).await, migrated);
    drop((app, other));
}
