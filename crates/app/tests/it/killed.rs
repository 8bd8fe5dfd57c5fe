//! A server that is killed while it carries out what was approved.

use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Entropy, Fixed9, PaperAccountId};
use calc::paper::{Side, Size};
use service::access::sessions::{self, Method, Visit};
use service::access::users;
use service::actions::{self, Action, ActionPayload, SeenProposal, Status};
use service::platform::{audit, installation, limits};
use service::trading::paper;
use service::trading::quotes::{Trading, WhenClosed};
use service::{App, Caller, Setup};
use sources::market::QuoteProvider as _;
use sources::market::demo::DemoMarket;
use testkit::Market;

use crate::program::{Installation, Running, launch, pause};

const TRADES: i64 = 240;

/// Each is claimed, booked, told and written down in one transaction: whatever moment the server dies at, each trade is
/// there as a whole or not at all, and the next server does the rest.
#[tokio::test]
async fn a_server_killed_while_it_trades_fills_every_trade_once_in_the_end() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let (app, robin) = beside(&it).await;
    let ids = approved_trades(&app, &robin).await;
    assert_eq!(count(&app, EXECUTED).await, 0);
    let serve = |at_least: i64| {
        let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("EVENKEEL_TRADING__WHEN_CLOSED", "last_price");
        (launch(command, &it.path("")), at_least)
    };
    let mut killed_at_work = 0;
    for (more, milliseconds) in [(1, 0), (20, 1), (30, 2), (40, 3), (25, 5), (30, 7)] {
        let (mut server, enough) = serve((count(&app, EXECUTED).await + more).min(TRADES));
        traded(&app, &mut server, enough).await;
        pause(Duration::from_millis(milliseconds));
        server.kill();
        is_whole(&app, &robin).await;
        killed_at_work += i64::from(count(&app, EXECUTED).await < TRADES);
    }
    // A busy machine looks seldom, and the server may be done before the next blow falls.
    assert!(killed_at_work > 0, "nothing was ever left to be done");
    let (mut server, all) = serve(TRADES);
    traded(&app, &mut server, all).await;
    server.wait_until_ready();
    server.stop();
    is_whole(&app, &robin).await;
    for id in ids {
        let action = actions::get(&app, &robin, id).await.unwrap();
        assert_eq!(action.status, Status::Executed, "{:?}", action.error_message);
    }
    let said = it.run(&["audit", "verify"]).succeeded();
    assert!(said.contains("is intact"), "{said}");
}

/// The same database, looked at and prepared from here. This market's price is the server's, but so old that nothing is
/// traded at it: what is approved here is left to the server.
async fn beside(it: &Installation) -> (App, Caller) {
    let (clock, entropy) = (Clock::System, Entropy::System);
    let market = Market::new(clock.clone());
    let asked = DemoMarket.quotes(vec!["AAPL".to_owned()], clock.now()).await.unwrap();
    let price = asked[0].price.to_string();
    market.set_at("AAPL", &price, testkit::at("2020-01-02T15:00:00Z"));
    // Entries written here are anchored with the key of the server, which verifies them later.
    let key = std::fs::read_to_string(it.data_dir().join("installation.key")).unwrap();
    let app = App::new(Setup {
        db: it.db().await,
        installation_key: installation::Key::parse(&key).unwrap(),
        clock,
        entropy,
        rate_limit: limits::Policy::default(),
        trading: Trading {
            market: Arc::new(market),
            when_closed: WhenClosed::LastPrice,
            slippage_basis_points: 0,
        },
        approvals_life_seconds: 86_400,
        webhook_client: None,
        bank_client: None,
        disk: None,
        imports: Default::default(),
    });
    let user = users::find_by_email(&app, "robin@example.com").await.unwrap().unwrap();
    let token = sessions::create(&app, &user, Method::Password, Visit::default()).await.unwrap();
    let (_, robin) = sessions::find(&app, &token, None).await.unwrap().unwrap();
    (app, robin)
}

async fn approved(app: &App, robin: &Caller, what: ActionPayload) -> Action {
    let action = actions::propose(app, robin, what.into()).await.unwrap();
    let seen = SeenProposal::now(app, &action).await.unwrap();
    actions::approve(app, robin, action.id, seen, None).await.unwrap()
}

async fn approved_trades(app: &App, robin: &Caller) -> Vec<base::ActionId> {
    let what =
        ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 100_000_000_000 };
    let result = approved(app, robin, what).await.result.unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let account = PaperAccountId::parse(result["paper_account_id"].as_str().unwrap()).unwrap();
    let mut ids = Vec::new();
    for _ in 0..TRADES {
        let (symbol, side, size) = ("AAPL".to_owned(), Side::Buy, Size::Shares(Fixed9::ONE));
        let action =
            approved(app, robin, ActionPayload::Trade { account, symbol, side, size }).await;
        assert_eq!(action.status, Status::Approved);
        ids.push(action.id);
    }
    ids
}

/// Waits until so many trades were filled.
async fn traded(app: &App, server: &mut Running, enough: i64) {
    for _ in 0..30_000 {
        if count(app, EXECUTED).await >= enough {
            return;
        }
        pause(Duration::from_millis(2));
    }
    panic!("it does not trade: {}", server.errors());
}

/// As many trades, shares, events and entries of the trail as actions that were carried out, and books that add up.
async fn is_whole(app: &App, robin: &Caller) {
    let executed = count(app, EXECUTED).await;
    for same in [BOUGHT, TOLD, NOTED] {
        assert_eq!(count(app, same).await, executed, "{same}");
    }
    assert_eq!(count(app, HALF_DONE).await, 0);
    let accounts = paper::list_accounts(app, robin).await.unwrap();
    assert_eq!(accounts[0].trade_count, executed);
    let shares: i128 = accounts[0].holdings.iter().map(|it| it.quantity.billionths()).sum();
    assert_eq!(shares, i128::from(executed) * 1_000_000_000);
    assert_eq!(paper::verify(app, robin).await.unwrap().faults, [""; 0]);
    let trail = audit::verify(app, robin).await.unwrap();
    assert!(matches!(trail, audit::Verdict::Intact { .. }), "{trail:?}");
}

async fn count(app: &App, sql: &str) -> i64 {
    app.db.first(sql, &[], |row| row.get(0)).await.unwrap().unwrap()
}

const EXECUTED: &str = "select cast(count(*) as bigint) from actions
    where action_type = 'paper_trade.create' and status = 'executed'";
const HALF_DONE: &str = "select cast(count(*) as bigint) from actions
    where status not in ('approved', 'executed')";
const BOUGHT: &str = "select cast(count(*) as bigint) from paper_entries where kind = 'buy'";
/// The account that they are in was opened by an action too.
const TOLD: &str = "select cast(count(*) as bigint) - 1 from events where type = 'action.executed'";
const NOTED: &str =
    "select cast(count(*) as bigint) - 1 from audit where action = 'action.execute'";
