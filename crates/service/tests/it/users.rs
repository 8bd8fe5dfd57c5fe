//! People: unique email addresses, passwords, profiles, and complete deletion.

use base::draft::{AccountKind, Source};
use base::{BenefitId, Currency, UserId};
use service::access::keys::NewKey;
use service::access::sessions::{self, Visit};
use service::access::users::{self, NewUser, Role};
use service::access::{images, invitations, passkeys, profiles, recovery, sign_ins};
use service::actions::{self, ActionPayload, Policy, Side, Size};
use service::classify::bulk_edits::{self, BulkChange};
use service::classify::corrections;
use service::classify::overrides::{Override, Visibility};
use service::classify::refunds;
use service::classify::rules::{self, NewRule};
use service::classify::transfers;
use service::ingest::connections::{self, LinkAddresses, LinkState, LinkTarget};
use service::ingest::imports;
use service::ingest::imports::files::{self, AccountChoice, Choices, DestinationChoice};
use service::insights::benefits;
use service::insights::benefits::BenefitMark;
use service::insights::recurring;
use service::ledger::goals::{self, NewGoal, Status};
use service::ledger::{attachments, saved_filters};
use service::platform::idempotency::{self, Request, StoredResponse};
use service::platform::limits;
use service::trading::paper;
use service::{Caller, Error, Result, Scopes, insights, webhooks};
use testkit::draft::{account, brokerage, card, checking, position, rate, statement, trade, txn};
use testkit::plaid::Plaid;
use testkit::simplefin::{self, SimpleFin};
use testkit::{Kind, Person, World, hex, new_key, new_user};
use wire::v1::{self, Scope};

use crate::images::png;
use crate::{
    PASSWORD, is_not_found, param, party, register_passkey, session_of, trail, with_password,
};

#[tokio::test]
async fn an_email_address_is_unique_however_it_is_written() {
    let world = World::new().await;
    let robin = world.person("  Robin@Example.COM ").await;
    assert_eq!(robin.user.email, "robin@example.com");
    let found = users::find_by_email(&world.app, "ROBIN@example.com").await.unwrap();
    assert_eq!(found.map(|it| it.id), Some(robin.user.id));
    let again = users::create(&world.app, new_user("robin@EXAMPLE.com")).await;
    assert_eq!(param(again), "email");
    assert!(users::find_by_email(&world.app, "kim@example.com").await.unwrap().is_none());
    assert_eq!(users::list(&world.app, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_invalid_email_address_is_refused() {
    let world = World::new().await;
    let long = format!("{}@example.com", "x".repeat(250));
    for bad in ["", "robin", "@example.com", "robin@", "a@b@c", "a b@c.d", "a\0@b.c", &long] {
        assert_eq!(param(users::create(&world.app, new_user(bad)).await), "email", "{bad}");
    }
}

#[tokio::test]
async fn of_two_concurrent_sign_ups_with_one_address_one_succeeds() {
    let world = World::new().await;
    let other_process = world.other_process().await;
    let (one, two) = tokio::join!(
        users::create(&world.app, new_user("robin@example.com")),
        users::create(&other_process, new_user("robin@example.com")),
    );
    let (made, refused) = if one.is_ok() { (one, two) } else { (two, one) };
    assert!(made.is_ok());
    assert_eq!(param(refused), "email");
}

#[tokio::test]
async fn a_password_is_valid_only_for_its_person() {
    let world = World::new().await;
    let robin = users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    world.person("kim@example.com").await;
    let check = async |email: &str, password: &str| {
        users::check_password(&world.app, email, password).await.unwrap().map(|it| it.id)
    };
    assert_eq!(check("Robin@example.com", PASSWORD).await, Some(robin.id));
    assert_eq!(check("robin@example.com", "correct horse battery stapl").await, None);
    assert_eq!(check("robin@example.com", "").await, None);
    assert_eq!(check("kim@example.com", PASSWORD).await, None, "somebody without a password");
    assert_eq!(check("nobody@example.com", PASSWORD).await, None, "an unknown address");
    assert_eq!(check("nobody@example.com", "").await, None);
    let stored = format!("{:?}", world.stored().await);
    assert!(stored.contains("$argon2id$") && !stored.contains(PASSWORD));
}

#[tokio::test]
async fn a_new_password_replaces_the_old_one() {
    let world = World::new().await;
    let robin = users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let caller = session_of(&world, &robin).await;
    profiles::reset_password(&world.app, robin.id, "another one entirely").await.unwrap();
    assert!(service::access::sessions::list(&world.app, &caller).await.unwrap().is_empty());
    assert_eq!(trail(&world, &caller).await[0], "password.reset");
    let check = async |password: &str| {
        users::check_password(&world.app, "robin@example.com", password).await.unwrap().is_some()
    };
    assert!(check("another one entirely").await && !check(PASSWORD).await);
    for bad in ["", "too short", &"x".repeat(257)] {
        assert_eq!(param(profiles::reset_password(&world.app, robin.id, bad).await), "password");
    }
    assert!(check("another one entirely").await);
    let nobody = UserId::from_bytes([1; 16]);
    is_not_found(profiles::reset_password(&world.app, nobody, PASSWORD).await);
    let short = NewUser { password: Some("too short".to_owned()), ..new_user("kim@example.com") };
    assert_eq!(param(users::create(&world.app, short).await), "password");
}

#[tokio::test]
async fn a_profile_shows_the_details_of_the_person() {
    let world = World::new().await;
    let new = NewUser {
        preferred_name: Some("Robin".to_owned()),
        base_currency: Currency::EUR,
        ..new_user("robin@example.com")
    };
    let made = users::create(&world.app, new).await.unwrap();
    let caller = made.owner();
    let found = users::get(&world.app, &caller).await.unwrap();
    let shown = v1::Profile::from(&found);
    assert_eq!((shown.id, shown.email.as_str()), (made.id.to_string(), "robin@example.com"));
    assert_eq!(shown.preferred_name.as_deref(), Some("Robin"));
    assert!(shown.image.is_none() && shown.connected_at.is_none());
    assert_eq!((found.created_at, found.base_currency), (world.clock.now(), Currency::EUR));
    let nameless = NewUser { preferred_name: Some("  ".to_owned()), ..new_user("kim@example.com") };
    assert_eq!(users::create(&world.app, nameless).await.unwrap().preferred_name, None);
    is_not_found(
        users::get(&world.app, &Caller::owner(UserId::from_bytes([1; 16]), base::TimeZone::utc()))
            .await,
    );
    let robin = world.someone().await;
    let scopes: Scopes = [Scope::AccountsRead].into_iter().collect();
    let blind = robin.key(NewKey { scopes, ..new_key() }).await;
    let refused = users::get(&world.app, &blind.caller).await;
    assert!(matches!(refused, Err(Error::Forbidden(it)) if it.has(Scope::ProfileRead)));
}

/// A person with a row in every table.
async fn someone_with_everything(world: &World) -> Person {
    let person = world.someone().await;
    let mut all = statement([
        checking("A").with(txn("2026-03-01", -1, "X")).balance("2026-03-09T08:00:00Z", 5),
        brokerage("B").holding([position("VTI", "1")]),
    ]);
    all.rates.push(rate("EUR", "USD", "2026-03-01", "1.1"));
    person.import(all).await;
    let accounts = vec![person.account("A").await];
    let key = person.key(NewKey { accounts: Some(accounts.clone()), ..new_key() }).await;
    let goal = NewGoal {
        name: "Boat".to_owned(),
        kind: goals::Kind::Purchase,
        status: Status::Active,
        target: base::Money::new(1, Currency::USD),
        saved_minor: 0,
        target_on: None,
        accounts,
    };
    let (app, caller) = (world.app.clone(), key.caller.clone());
    let work = move |tx: &mut db::Tx<'_>| -> Result<StoredResponse> {
        goals::create_in(&app, tx, &caller, &goal)?;
        Ok(StoredResponse { status: 201, body: String::new() })
    };
    let request = Request { key: "k".to_owned(), scope: "POST".to_owned(), fingerprint: [0; 32] };
    idempotency::run(&world.app, &key.caller, request, work, |_| None).await.unwrap();
    limits::count_request(&world.app, *key.id.as_bytes()).await.unwrap();
    with_insights(world, &person).await;
    with_a_connection(world, &person).await;
    with_ended_access(world, &person).await;
    with_access(world, &person).await;
    with_proposals(world, &person).await;
    with_webhooks(world, &person).await;
    person
}

/// An endpoint without a receiver, with an attempt, a replay, and a portal link.
async fn with_webhooks(world: &World, person: &Person) {
    let key = person.key(new_key()).await;
    let made = crate::webhooks::create(&world.app, &key.caller, "https://127.0.0.1:1/", &[]).await;
    let id = made.unwrap().0.id;
    let new = txn("2026-03-07", -100, "KROGER #339").id("told");
    person.import(statement([checking("A").with(new)])).await;
    webhooks::deliver_once(&world.app).await.unwrap();
    let (app, caller) = (world.app.clone(), key.caller.clone());
    let work = move |tx: &mut db::Tx<'_>| -> Result<()> {
        for status in [webhooks::EndpointStatus::Disabled, webhooks::EndpointStatus::Active] {
            let change = webhooks::EndpointChange { status: Some(status), ..Default::default() };
            webhooks::update(&app, tx, &caller, id, &change)?;
        }
        webhooks::replay::start(&app, tx, &caller, id, app.clock.now())?;
        webhooks::portal::create_link(&app, tx, &caller)?;
        Ok(())
    };
    world.app.db.write(work).await.unwrap();
}

/// A paper account with a trade, and an approval policy.
async fn with_proposals(world: &World, person: &Person) {
    let app = world.filling_while_closed();
    let session = person.session().await;
    let policy = actions::get_policy(&app, &session).await.unwrap();
    let changed = Policy {
        life_seconds: policy.life_seconds,
        passkey_from_minor: None,
        proposals_a_day: policy.proposals_a_day,
    };
    actions::set_policy(&app, &session, changed).await.unwrap();
    let account = ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 100_000 };
    crate::actions::propose_and_approve(&app, &session, account).await;
    let account = paper::list_accounts(&app, &session).await.unwrap()[0].id;
    let size = Size::Cash(10_000);
    let buy = ActionPayload::Trade { account, symbol: "VTI".to_owned(), side: Side::Buy, size };
    crate::actions::propose_and_approve(&app, &session, buy).await;
}

/// Every kind of access: password, session, known device, passkey, recovery codes, second step, invitation and app.
/// Also a profile image.
async fn with_access(world: &World, person: &Person) {
    let (app, email) = (&world.app, &person.user.email);
    profiles::reset_password(app, person.user.id, PASSWORD).await.unwrap();
    let caller = session_of(world, &person.user).await;
    let token = sessions::create(app, &person.user, sessions::Method::Password, Visit::default());
    sign_ins::remember_device(app, &token.await.unwrap(), None).await.unwrap();
    register_passkey(world, &caller, Kind::Es256, email).await;
    recovery::create(app, &caller).await.unwrap();
    passkeys::start_registration(app, &caller, &party()).await.unwrap();
    profiles::set_second_step(app, &caller, true).await.unwrap();
    sign_ins::by_password(app, email, PASSWORD, Visit::default()).await.unwrap();
    if person.user.role == Role::Admin {
        invitations::create(app, &caller, None).await.unwrap();
    }
    crate::oauth::authorize_app(app, &caller).await;
    crate::oidc::link_identity(world, &caller, email).await;
    images::set(app, &caller, png(10, 10)).await.unwrap();
}

/// A connection to a bank that offers an account.
async fn with_a_connection(world: &World, person: &Person) {
    let server = SimpleFin::start(world.clock.clone()).await;
    server.connection("CON-1", "First Bank");
    server.account(simplefin::Account::new("CON-1", "ACT-1", "Checking", "1.00", 1_770_000_000));
    let token = server.setup_token();
    connections::create(&world.app, &person.caller, &token, None).await.unwrap();
}

/// A bank that was connected with the person's own keys of Plaid and disconnected, of which Plaid has yet to be told.
async fn with_ended_access(world: &World, person: &Person) {
    let server = Plaid::start(world.clock.clone()).await;
    let app = world.with_bank_providers(vec![server.settings()]);
    let caller = &person.caller;
    let keys = server.keys().to_secret();
    connections::save_keys(&app, caller, Source::Plaid, &keys).await.unwrap();
    let (target, nowhere) = (LinkTarget::New(Source::Plaid), LinkAddresses::default());
    let link = connections::start_link(&app, caller, target, nowhere).await.unwrap();
    server.sign_in("ins_1", "First Platypus Bank", Vec::new());
    let state = connections::check_link(&app, caller, &link.id, None).await.unwrap();
    let LinkState::Done { connection } = state else { panic!("{state:?}") };
    connections::disconnect(&app, caller, connection).await.unwrap();
}

/// Tables whose rows name no person, or in which not every person has rows.
const SKIPPED_TABLES: [&str; 12] = [
    "corporate_actions",
    "ended_keys",
    "installation",
    "invitations",
    "mail_alerts",
    "mail_queue",
    "oauth_clients",
    "password_resets",
    "quotes",
    "reference_rates",
    "sign_in_failures",
    "write_probes",
];

/// Insights, and the person's decisions about them.
async fn with_insights(world: &World, person: &Person) {
    let mut gold = card("American Express Gold Card");
    gold.institution_name = Some("American Express".to_owned());
    let rent = (1..=9).map(|it| {
        let on = format!("2025-{:02}-03", it + 3);
        txn(&on, -90_000, "OAK STREET APARTMENTS RENT").id(&on)
    });
    let out = txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS").id("out");
    let into = txn("2026-03-03", 50_000, "TRANSFER FROM CHECKING").id("in");
    let savings = account("Rainy day", AccountKind::Depository, "savings").with(into);
    let accounts = || statement([checking("A"), savings.clone(), gold.clone()]);
    person.import(statement([checking("A").with_all(rent).with(out)])).await;
    person.import(accounts()).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let (app, caller) = (&world.app, &person.caller);
    let found = transfers::list(app, caller).await.unwrap().remove(0);
    transfers::confirm(app, caller, found.outflow, found.inflow).await.unwrap();
    let correction = Override { counterparty: Some("Me".to_owned()), category: None };
    corrections::correct(app, caller, vec![found.outflow], correction.clone()).await.unwrap();
    let hide = BulkChange { visibility: Some(Visibility::Hidden), ..BulkChange::default() };
    bulk_edits::apply(app, caller, vec![found.inflow], hide).await.unwrap();
    let new = txn("2026-03-05", 9_000, "OAK STREET APARTMENTS").id("back");
    person.import(statement([checking("A").with(new)])).await;
    let rows = crate::listed::all(app, caller, &Default::default()).await;
    let find = |minor: i64| rows.iter().find(|it| it.minor == minor).unwrap().id;
    refunds::link(app, caller, find(9_000), find(-90_000)).await.unwrap();
    saved_filters::save(app, caller, "Rent", "?q=rent").await.unwrap();
    let receipt = ("receipt.pdf", "%PDF-1.7".into());
    attachments::add(app, caller, find(9_000), receipt).await.unwrap();
    let rule = NewRule { words: Some("OAK".to_owned()), sets: correction, ..NewRule::default() };
    rules::create(app, caller, rule).await.unwrap();
    let all = recurring::Filter { status: None, account_id: None, direction: None };
    let stream = recurring::list(app, caller, all).await.unwrap().streams.remove(0).0;
    recurring::dismiss(app, caller, stream.id).await.unwrap();
    recurring::create_feed(app, caller, recurring::FeedDetail::Names).await.unwrap();
    let gold = person.account("American Express Gold Card").await;
    benefits::set_card(app, caller, gold, Some("amex-gold"), None).await.unwrap();
    let summary = benefits::summary(app, caller).await.unwrap();
    let benefit = BenefitId::parse(&summary.cards[0].benefits[0].id).unwrap();
    benefits::mark(app, caller, benefit, BenefitMark::Used(None)).await.unwrap();
    insights::pipeline::run_all(&world.app).await.unwrap();
}

/// A file that is committed with the person's own mapping, and one that is only staged.
async fn with_files(world: &World, person: &Person) {
    let (app, caller) = (&world.app, &person.caller);
    let table = "Day,Sum,Words,Balance\n2026-03-01,-1.00,A,9.00\n2026-03-02,-2.00,B,7.00\n";
    let id = files::stage(app, caller, "checking.csv", table).await.unwrap();
    let preview = files::preview(app, caller, id).await.unwrap();
    let choice =
        AccountChoice { destination: Some(DestinationChoice::New), ..AccountChoice::default() };
    let mapping = Some(preview.table.unwrap().mapping);
    let choices = Choices { mapping, accounts: [(0, choice)].into(), ..preview.choices };
    files::choose(app, caller, id, choices).await.unwrap();
    files::commit(app, caller, id).await.unwrap();
    files::stage(app, caller, "b.csv", table).await.unwrap();
}

#[tokio::test]
async fn deleting_a_person_deletes_every_row_of_theirs() {
    let world = World::new().await;
    let (robin, kim) =
        (someone_with_everything(&world).await, someone_with_everything(&world).await);
    for person in [&robin, &kim] {
        // A transaction and its account that were deleted, of which the change feed keeps the ids.
        let gone = txn("2026-03-07", -100, "KROGER #339").id("gone");
        person.import(statement([checking("Gone").with(gone)])).await;
        let accounts = Some(vec![person.account("Gone").await]);
        person.key(NewKey { accounts, ..new_key() }).await;
        let import = imports::list(&world.app, &person.caller, None, 1).await.unwrap()[0].id;
        imports::undo(&world.app, &person.caller, import).await.unwrap();
        // A transaction that is still queued for insights.
        let late = txn("2026-03-08", -100, "KROGER #339").id("late");
        let traded = trade("2026-03-08", "buy", "VTI", "1", 10_000);
        person.import(statement([checking("A").with(late).trading([traded])])).await;
        with_files(&world, person).await;
    }
    let before = world.stored().await;
    let (of_robin, of_kim) = (hex(robin.user.id.as_bytes()), hex(kim.user.id.as_bytes()));
    for (table, rows) in before.iter().filter(|(it, _)| !SKIPPED_TABLES.contains(&it.as_str())) {
        assert!(rows.iter().any(|it| it.contains(&of_robin)), "{table} has no row of Robin");
    }
    users::delete(&world.app, robin.user.id).await.unwrap();
    let after = world.stored().await;
    assert!(!before["invitations"].is_empty() && after["invitations"].is_empty());
    // Access to a bank stays until the provider has been told that it ended, encrypted.
    assert!(after["connection_removals"].iter().any(|it| it.contains(&of_robin)));
    for (table, rows) in &after {
        let none = rows.iter().all(|it| !it.contains(&of_robin));
        assert!(none || table == "connection_removals", "{table}: {rows:?}");
        // Kim becomes the admin; nothing else of theirs changes.
        let kims = |rows: &[String]| -> Vec<String> {
            let rows = rows.iter().filter(|it| it.contains(&of_kim));
            rows.map(|it| it.replace("role=member", "role=admin")).collect()
        };
        assert_eq!(kims(rows), kims(&before[table]), "{table}");
    }
    is_not_found(users::delete(&world.app, robin.user.id).await);
    assert!(users::find_by_email(&world.app, &robin.user.email).await.unwrap().is_none());
    assert_eq!(users::list(&world.app, 10).await.unwrap().len(), 1);
}
