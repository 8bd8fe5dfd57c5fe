//! A server that is killed while it sends webhooks.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use ::webhooks::outbox;
use base::{Clock, Entropy, UserId};
use db::params;
use service::access::keys::{self, NewKey};
use service::access::users;
use service::ledger::quotes::{Trading, WhenClosed};
use service::platform::{installation, limits};
use service::webhooks::{self, NewEndpoint};
use service::{App, Caller, Scopes, Setup};
use testkit::Market;
use testkit::receiver::{self, Receiver};
use wire::v1::Event;

use crate::program::{Installation, Running, launch, pause};

const EVENTS: usize = 300;

/// An app on the server's database that writes events and sends none.
async fn open_app(it: &Installation) -> (App, UserId) {
    let key = fs::read_to_string(it.data_dir().join("installation.key")).unwrap();
    let clock = Clock::System;
    let app = App::new(Setup {
        db: it.db().await,
        installation_key: installation::Key::parse(&key).unwrap(),
        clock: clock.clone(),
        entropy: Entropy::System,
        rate_limit: limits::Policy::default(),
        trading: Trading {
            market: Arc::new(Market::new(clock)),
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
    (app, user.id)
}

async fn create_endpoint(app: &App, user: UserId, url: &str) {
    let caller = Caller::owner(user, base::TimeZone::utc());
    let name = "A script".to_owned();
    let new = NewKey { name, scopes: Scopes::all(), accounts: None, expires_at: None };
    let key = keys::create(app, &caller, new).await.unwrap().0.id;
    let new = NewEndpoint { url: url.to_owned(), description: None, filter_types: Vec::new() };
    let mine = app.clone();
    let create = move |tx: &mut db::Tx<'_>| webhooks::create_for_key(&mine, tx, &caller, key, &new);
    app.db.write(create).await.unwrap();
}

async fn append_events(app: &App, user: UserId, count: usize) {
    for _ in 0..count {
        let mine = app.clone();
        let event = Event::TransactionsCreated {
            account_id: "acc_1".to_owned(),
            transaction_ids: Vec::new(),
            count: 0,
        };
        let append = move |tx: &mut db::Tx<'_>| outbox::append(&mine.webhooks, tx, user, &[event]);
        app.db.write(append).await.unwrap();
    }
}

fn serve(it: &Installation) -> Running {
    let authority = it.path("authority.pem");
    fs::write(&authority, receiver::authority()).unwrap();
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_WEBHOOKS__CA_FILE", authority);
    command.env("EVENKEEL_WEBHOOKS__ALLOW_NETWORKS", "127.0.0.0/8,::1");
    launch(command, &it.path(""))
}

/// Ends all delivery leases, because the killed server's leases run by the system clock, which a test cannot move.
async fn end_leases(app: &App) {
    const END: &str = "update deliveries set due_at = 1 where due_at is not null";
    let end = |tx: &mut db::Tx<'_>| tx.execute(END, &[]);
    app.db.write::<u64, db::Error>(end).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_while_it_sends_loses_no_event() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let (app, user) = open_app(&it).await;
    let receiver = Receiver::start().await;
    create_endpoint(&app, user, &receiver.url).await;
    append_events(&app, user, EVENTS).await;
    for more in [1, 2, 9, 20, 40, 70] {
        let enough = receiver.requests().len() + more;
        let mut server = serve(&it);
        receiver.wait_for_requests(enough).await;
        server.kill();
        end_leases(&app).await;
    }
    const WAITING: &str = "select cast(count(*) as bigint) from deliveries where user_id = $1
        and status <> 'delivered'";
    let waiting = async || {
        let found = app.db.first(WAITING, params![user], |row| row.get::<i64>(0)).await;
        found.unwrap().unwrap()
    };
    assert!(waiting().await > 0, "the servers sent everything before they were killed");
    let mut server = serve(&it);
    server.wait_until_ready();
    let expected: BTreeSet<String> = {
        let events = outbox::list(&app.db, user, None, EVENTS + 1).await.unwrap();
        events.iter().map(|it| it.id.to_string()).collect()
    };
    for _ in 0..30_000 {
        if waiting().await == 0 {
            break;
        }
        pause(Duration::from_millis(2));
    }
    server.stop();
    assert_eq!(expected.len(), EVENTS);
    let received: BTreeSet<String> =
        receiver.requests().iter().map(|it| it.header("webhook-id").to_owned()).collect();
    assert_eq!(received, expected);
    assert_eq!(waiting().await, 0);
}
