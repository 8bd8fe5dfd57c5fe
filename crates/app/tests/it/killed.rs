//! A server that is killed while it executes approved actions.

use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Entropy, Fixed9, PaperAccountId};
use calc::paper::{Side, Size};
use service::access::sessions::{self, Method, Visit};
use service::access::users;
use service::actions::{self, Action, ActionPayload, SeenProposal, Status};
use service::ledger::quotes::{Trading, WhenClosed};
use service::platform::{audit, installation, limits};
use service::trading::paper;
use service::{App, Caller, Setup};
use sources::market::QuoteProvider as _;
use sources::market::demo::DemoMarket;
use testkit::Market;

use crate::program::{Installation, Running, launch, pause};

const TRADES: i64 = 240;

/// Each trade is claimed, booked, announced by an event and audited in one transaction. So whenever the server dies,
/// each trade is complete or absent, and the next server executes the rest.
#[tokio::test]
async fn trades_are_filled_exactly_once_when_the_server_is_killed() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let (app, robin) = open_app(&it).await;
    let ids = approve_trades(&app, &robin).await;
    assert_eq!(count(&app, EXECUTED).await, 0);
    let serve = |at_least: i64| {
        let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("EVENKEEL_TRADING__WHEN_CLOSED", "last_price");
        (launch(command, &it.path("")), at_least)
    };
    let mut killed_with_work_left = 0;
    for (more, milliseconds) in [(1, 0), (20, 1), (30, 2), (40, 3), (25, 5), (30, 7)] {
        let (mut server, enough) = serve((count(&app, EXECUTED).await + more).min(TRADES));
        wait_for_trades(&app, &mut server, enough).await;
        pause(Duration::from_millis(milliseconds));
        server.kill();
        assert_consistent(&app, &robin).await;
        killed_with_work_left += i64::from(count(&app, EXECUTED).await < TRADES);
    }
    // On a busy machine this test polls rarely, and the server may finish before it is killed.
    assert!(killed_with_work_left > 0, "the server was never killed before it was done");
    let (mut server, all) = serve(TRADES);
    wait_for_trades(&app, &mut server, all).await;
    server.wait_until_ready();
    server.stop();
    assert_consistent(&app, &robin).await;
    for id in ids {
        let action = actions::get(&app, &robin, id).await.unwrap();
        assert_eq!(action.status, Status::Executed, "{:?}", action.error_message);
    }
    let output = it.run(&["audit", "verify"]).succeeded();
    assert!(output.contains("is intact"), "{output}");
}

/// An app on the server's database, to prepare and inspect it. Its market has the server's price, but so old that
/// nothing is traded at it, so that approved trades are left to the server.
async fn open_app(it: &Installation) -> (App, Caller) {
    let (clock, entropy) = (Clock::System, Entropy::System);
    let market = Market::new(clock.clone());
    let asked = DemoMarket.quotes(vec!["AAPL".to_owned()], clock.now()).await.unwrap();
    let price = asked[0].price.to_string();
    market.set_at("AAPL", &price, testkit::at("2020-01-02T15:00:00Z"));
    // Audit entries written here are anchored with the server's key, because the server verifies them later.
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
        rates_url: None,
        bank_providers: Vec::new(),
        disk: None,
        imports: Default::default(),
        backups: None,
        mail: None,
        password_cost: service::access::passwords::HashCost::LOWEST,
        password_sign_in: true,
        single_sign_on: Default::default(),
        tracer: Default::default(),
    });
    let user = users::find_by_email(&app, "robin@example.com").await.unwrap().unwrap();
    let token = sessions::create(&app, &user, Method::Password, Visit::default()).await.unwrap();
    let (_, robin) = sessions::find(&app, &token, None).await.unwrap().unwrap();
    (app, robin)
}

async fn approve(app: &App, robin: &Caller, payload: ActionPayload) -> Action {
    let action = actions::propose(app, robin, payload.into()).await.unwrap();
    let seen = SeenProposal::now(app, &action).await.unwrap();
    actions::approve(app, robin, action.id, seen, None).await.unwrap()
}

async fn approve_trades(app: &App, robin: &Caller) -> Vec<base::ActionId> {
    let payload =
        ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 100_000_000_000 };
    let result = approve(app, robin, payload).await.result.unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let account = PaperAccountId::parse(result["paper_account_id"].as_str().unwrap()).unwrap();
    let mut ids = Vec::new();
    for _ in 0..TRADES {
        let (symbol, side, size) = ("AAPL".to_owned(), Side::Buy, Size::Shares(Fixed9::ONE));
        let action =
            approve(app, robin, ActionPayload::Trade { account, symbol, side, size }).await;
        assert_eq!(action.status, Status::Approved);
        ids.push(action.id);
    }
    ids
}

/// Waits until this many trades are filled.
async fn wait_for_trades(app: &App, server: &mut Running, enough: i64) {
    for _ in 0..30_000 {
        if count(app, EXECUTED).await >= enough {
            return;
        }
        pause(Duration::from_millis(2));
    }
    panic!("the server fills no trades: {}", server.errors());
}

/// Asserts that trades, shares, events and audit entries are as many as executed actions, and that the ledgers add up.
async fn assert_consistent(app: &App, robin: &Caller) {
    let executed = count(app, EXECUTED).await;
    for same in [BOUGHT, EVENTS, AUDITED] {
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
/// Without the event of the action that opened the paper account.
const EVENTS: &str =
    "select cast(count(*) as bigint) - 1 from events where type = 'action.executed'";
const AUDITED: &str =
    "select cast(count(*) as bigint) - 1 from audit where action = 'action.execute'";
