//! The change feed. Its law: applied to an empty set, it is the list, whenever it says that there is no more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Entropy, TransactionId};
use proptest::prelude::*;
use service::access::keys::NewKey;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::rules::{self, NewRule};
use service::ingest::imports;
use service::ledger::accounts;
use service::ledger::transactions::{self, Change, Filter};
use service::platform::cursors::Page;
use service::{App, Caller, Error, insights};
use testkit::draft::{Account, checking, statement, txn};
use testkit::{Person, World, new_key};

use crate::listed;
use crate::{check_property, param};

/// A client of the feed: the rows that it has, by id, as the API wrote them.
#[derive(Default)]
struct Client {
    rows: BTreeMap<TransactionId, String>,
    cursor: Option<String>,
    added: usize,
    updated: usize,
    removed: usize,
    /// Whether something writes while this client reads. A page that misses a change then says that there is more,
    /// although it is not full.
    beside_writers: bool,
}

impl Client {
    /// Reads one page, and returns whether there is more.
    async fn read(&mut self, app: &App, caller: &Caller, limit: usize) -> bool {
        let page = Page { cursor: self.cursor.as_deref(), limit };
        let (rows, counts) = (&mut self.rows, &mut [0; 3]);
        let json = |row: &wire::v1::TransactionRow<'_>| {
            let mut json = Vec::new();
            row.write(&mut json);
            String::from_utf8(json).unwrap()
        };
        let end = transactions::changes(app, caller, page, |change| match change {
            Change::Added(row) => {
                counts[0] += 1;
                rows.insert(row.id, json(row));
            }
            Change::Updated(row) => {
                counts[1] += 1;
                rows.insert(row.id, json(row));
            }
            Change::Removed { id, .. } => {
                counts[2] += 1;
                rows.remove(&id);
            }
        });
        let end = end.await.unwrap();
        assert_eq!(end.count, counts.iter().sum::<usize>());
        assert!(end.count <= limit);
        assert!(end.count == limit || !end.has_more || self.beside_writers);
        self.added += counts[0];
        self.updated += counts[1];
        self.removed += counts[2];
        self.cursor = Some(end.next_cursor);
        end.has_more
    }

    async fn read_all(&mut self, app: &App, caller: &Caller, limit: usize) {
        for _ in 0..2_000 {
            if !self.read(app, caller, limit).await {
                return;
            }
        }
        panic!("the feed does not end");
    }

    /// The counts of changes since the last call.
    fn take_counts(&mut self) -> [usize; 3] {
        let counts = [self.added, self.updated, self.removed];
        (self.added, self.updated, self.removed) = (0, 0, 0);
        counts
    }
}

async fn list(app: &App, caller: &Caller) -> BTreeMap<TransactionId, String> {
    let rows = listed::all(app, caller, &Filter::default()).await;
    rows.into_iter().map(|it| (it.id, it.json)).collect()
}

async fn assert_complete(app: &App, caller: &Caller, client: &Client) {
    let expected = list(app, caller).await;
    let missing: Vec<_> = expected.iter().filter(|(id, _)| !client.rows.contains_key(id)).collect();
    let extra: Vec<_> = client.rows.iter().filter(|(id, _)| !expected.contains_key(id)).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing {missing:?}, too many {extra:?}");
    assert_eq!(client.rows, expected);
}

/// Something that changes what the list shows. Numbers select an account, a transaction or an import.
#[derive(Debug, Clone)]
enum Step {
    Import {
        account: usize,
        first: usize,
        count: usize,
        minor: i64,
        name: bool,
    },
    Withdraw {
        account: usize,
        which: usize,
    },
    Rename(usize, usize),
    Hide(usize, bool),
    Undo(usize),
    HidingRule(usize),
    DeleteRule,
    Correct(usize),
    Recompute,
    /// One client reads a page, or all there is.
    Read {
        client: usize,
        all: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let which = || 0_usize..40;
    let step = prop_oneof![
        5 => (0_usize..3, 0_usize..20, 1_usize..8, -5_i64..5, any::<bool>()).prop_map(
            |(account, first, count, minor, name)| Step::Import { account, first, count, minor, name }
        ),
        1 => (0_usize..3, which()).prop_map(|(account, which)| Step::Withdraw { account, which }),
        1 => (0_usize..3, 0_usize..3).prop_map(|(account, name)| Step::Rename(account, name)),
        2 => (0_usize..3, any::<bool>()).prop_map(|(account, hidden)| Step::Hide(account, hidden)),
        2 => which().prop_map(Step::Undo),
        1 => which().prop_map(Step::HidingRule),
        1 => Just(Step::DeleteRule),
        1 => which().prop_map(Step::Correct),
        2 => Just(Step::Recompute),
        5 => (0_usize..3, any::<bool>()).prop_map(|(client, all)| Step::Read { client, all }),
    ];
    proptest::collection::vec(step, 1..30)
}

const LIMITS: [usize; 3] = [1, 3, 100];

/// An account of a bank that assigns ids; the amounts and the name differ between statements.
fn account(number: usize, first: usize, count: usize, minor: i64, renamed: bool) -> Account {
    let mut account = checking(&format!("Account {number}"));
    if renamed {
        account.name = format!("Account {number} anew");
    }
    let sign = if number == 0 { -1 } else { 1 };
    account.with_all((first..first + count).map(|it| {
        // Equal amounts on two accounts pair as transfers.
        let amount = sign * (100 * (it as i64 + 1) + minor);
        let row = txn(&format!("2026-02-{:02}", 1 + it % 27), amount, &format!("SHOP {it}"));
        let row = row.id(&format!("id{it}"));
        if it % 5 == 0 && minor < 0 { row.pending() } else { row }
    }))
}

async fn take_step(world: &World, robin: &Person, step: &Step) {
    let (app, caller) = (&world.app, &robin.caller);
    let known = async || {
        let filter = accounts::Filter { status: accounts::Status::All, include_hidden: true };
        accounts::list(app, caller, filter).await.unwrap()
    };
    match *step {
        Step::Import { account: number, first, count, minor, name } => {
            robin.import(statement([account(number, first, count, minor, name)])).await;
        }
        Step::Withdraw { account: number, which } => {
            let gone = format!("id{}", which % 20);
            robin.import(statement([account(number, 0, 0, 0, false).without(&gone)])).await;
        }
        Step::Rename(number, name) => {
            if let Some(it) = known().await.get(number) {
                let name = [None, Some("Mine"), Some("Ours")][name];
                accounts::rename(app, caller, it.id, name).await.unwrap();
            }
        }
        Step::Hide(number, hidden) => {
            if let Some(it) = known().await.get(number) {
                accounts::set_hidden(app, caller, it.id, hidden).await.unwrap();
            }
        }
        Step::Undo(which) => {
            let all = imports::list(app, caller, None, 20).await.unwrap();
            let live: Vec<_> = all.iter().filter(|it| it.undone_at.is_none()).collect();
            if !live.is_empty() {
                imports::undo(app, caller, live[which % live.len()].id).await.unwrap();
            }
        }
        Step::HidingRule(which) => {
            let words = Some(format!("SHOP {}", which % 20));
            let rule = NewRule { words, hides: true, ..NewRule::default() };
            match rules::create(app, caller, rule).await {
                Ok(_) | Err(Error::Invalid { .. } | Error::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        Step::DeleteRule => {
            if let Some(rule) = rules::list(app, caller).await.unwrap().first() {
                rules::delete(app, caller, rule.id).await.unwrap();
            }
        }
        Step::Correct(which) => {
            let ids: Vec<TransactionId> = list(app, caller).await.into_keys().collect();
            if !ids.is_empty() {
                let name = Some(format!("Friend {which}"));
                let sets = Override { counterparty: name, category: None };
                let id = ids[which % ids.len()];
                corrections::correct(app, caller, vec![id], sets).await.unwrap();
            }
        }
        Step::Recompute => insights::pipeline::run_for(app, robin.user.id).await.unwrap(),
        Step::Read { .. } => {}
    }
}

/// Two people at once, so that the rows of one never reach the feed of the other; the clock stands still.
#[test]
fn the_feed_applied_to_nothing_is_the_list() {
    check_property(30, steps(), async |world, steps| {
        let (robin, other) = (world.someone().await, world.someone().await);
        other.import(statement([account(0, 0, 3, 0, false)])).await;
        let mut clients: [Client; 3] = Default::default();
        for step in &steps {
            take_step(world, &robin, step).await;
            let Step::Read { client, all } = *step else { continue };
            let (client, limit) = (&mut clients[client], LIMITS[client]);
            if all {
                client.read_all(&world.app, &robin.caller, limit).await;
                assert_complete(&world.app, &robin.caller, client).await;
            } else if !client.read(&world.app, &robin.caller, limit).await {
                assert_complete(&world.app, &robin.caller, client).await;
            }
        }
        for (client, limit) in clients.iter_mut().zip(LIMITS) {
            client.read_all(&world.app, &robin.caller, limit).await;
            assert_complete(&world.app, &robin.caller, client).await;
            // Nothing is told twice.
            client.take_counts();
            client.read_all(&world.app, &robin.caller, limit).await;
            assert_eq!(client.take_counts(), [0; 3]);
        }
    });
}

#[tokio::test]
async fn changes_are_told_as_what_they_are() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let (app, caller) = (&world.app, &robin.caller);
    let mut client = Client::default();
    client.read_all(app, caller, 100).await;
    assert_eq!(client.take_counts(), [0; 3], "nothing yet");
    robin.import(statement([account(0, 0, 5, 0, false)])).await;
    client.read_all(app, caller, 2).await;
    assert_eq!(client.take_counts(), [5, 0, 0]);
    robin.import(statement([account(0, 4, 2, 1, false)])).await;
    client.read_all(app, caller, 2).await;
    assert_eq!(client.take_counts(), [1, 1, 0], "one is new, one has another amount");
    let id = robin.account("Account 0").await;
    accounts::rename(app, caller, id, Some("Mine")).await.unwrap();
    client.read_all(app, caller, 100).await;
    assert_eq!(client.take_counts(), [0, 6, 0], "each row has the name of its account");
    accounts::set_hidden(app, caller, id, true).await.unwrap();
    client.read_all(app, caller, 100).await;
    assert_eq!(client.take_counts(), [0, 0, 6]);
    // A client that begins now never hears of rows that it does not have.
    let mut late = Client::default();
    late.read_all(app, caller, 2).await;
    assert_eq!(late.take_counts(), [0; 3]);
    accounts::set_hidden(app, caller, id, false).await.unwrap();
    for client in [&mut client, &mut late] {
        client.read_all(app, caller, 100).await;
        assert_complete(app, caller, client).await;
    }
    // The import that created the account takes it along.
    let all = imports::list(app, caller, None, 10).await.unwrap();
    for import in &all {
        imports::undo(app, caller, import.id).await.unwrap();
    }
    for client in [&mut client, &mut late] {
        client.take_counts();
        client.read_all(app, caller, 100).await;
        assert_complete(app, caller, client).await;
        assert_eq!(client.take_counts(), [0, 0, 6]);
    }
}

#[tokio::test]
async fn a_cursor_does_not_expire_and_is_bound_to_the_person_and_the_accounts_of_the_key() {
    let world = World::new().await;
    let (robin, sam) = (world.someone().await, world.someone().await);
    robin.import(statement([account(0, 0, 5, 0, false), account(1, 0, 5, 50, false)])).await;
    let only = robin.account("Account 1").await;
    let limited = robin.key(NewKey { accounts: Some(vec![only]), ..new_key() }).await;
    let (mut whole, mut part) = (Client::default(), Client::default());
    whole.read_all(&world.app, &robin.caller, 3).await;
    part.read_all(&world.app, &limited.caller, 3).await;
    assert_eq!((whole.rows.len(), part.rows.len()), (10, 5));
    let refused = async |caller: &Caller, cursor: &str| {
        let page = Page { cursor: Some(cursor), limit: 10 };
        param(transactions::changes(&world.app, caller, page, |_| {}).await)
    };
    let cursor = whole.cursor.clone().unwrap();
    for caller in [&sam.caller, &limited.caller] {
        assert_eq!(refused(caller, &cursor).await, "cursor");
    }
    assert_eq!(refused(&robin.caller, "abc").await, "cursor");
    world.advance_seconds(400 * 86_400);
    let hidden = robin.account("Account 0").await;
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    whole.take_counts();
    part.take_counts();
    whole.read_all(&world.app, &robin.caller, 100).await;
    part.read_all(&world.app, &limited.caller, 100).await;
    assert_eq!((whole.take_counts(), part.take_counts()), ([0, 0, 5], [0; 3]));
    // A deletion reaches the key whose account is gone, and tells it nothing of other accounts.
    // The import counts as a new one, because an old one cannot be undone.
    let now = world.app.clock.now();
    let renew = "update imports set imported_at = $1";
    world.app.db.write(move |tx| tx.execute(renew, db::params![now])).await.unwrap();
    let all = imports::list(&world.app, &robin.caller, None, 10).await.unwrap();
    imports::undo(&world.app, &robin.caller, all[0].id).await.unwrap();
    part.read_all(&world.app, &limited.caller, 100).await;
    assert!(part.rows.is_empty());
    assert_eq!(part.take_counts(), [0, 0, 5]);
}

/// The stamps are exact: nothing that changes after a row was read has its stamp or an earlier one.
#[tokio::test]
async fn updated_since_the_newest_row_finds_every_later_change() {
    let world = World::new().await;
    let robin = world.someone().await;
    for round in 0..4 {
        robin.import(statement([account(round % 3, round, 3, 0, false)])).await;
        let rows = listed::all(&world.app, &robin.caller, &Filter::default()).await;
        let newest = rows.iter().map(|it| it.updated_at).max().unwrap();
        let name = format!("Name {round}");
        let id = accounts::list(
            &world.app,
            &robin.caller,
            accounts::Filter { status: accounts::Status::All, include_hidden: true },
        );
        let id = id.await.unwrap()[0].id;
        accounts::rename(&world.app, &robin.caller, id, Some(&name)).await.unwrap();
        let rows = listed::all(&world.app, &robin.caller, &Filter::default()).await;
        for row in rows.iter().filter(|it| it.json.contains(&name)) {
            assert!(row.updated_at > newest, "the clock stands still, the stamps do not");
        }
    }
}

/// Two writers in two processes whose clocks differ, and a reader in a third. Each time the reader is complete, it has
/// every row that was committed before it began to read.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_in_two_processes_lose_no_change() {
    let world = World::new().await;
    let robin = world.someone().await;
    let ahead = base::Clock::frozen_at("2026-03-10T12:00:05Z");
    let writers = [world.other_process().await, world.other_process_at(ahead).await];
    let done = Arc::new(AtomicBool::new(false));
    let mut running = Vec::new();
    for (number, app) in writers.into_iter().enumerate() {
        let (caller, entropy) = (robin.caller.clone(), Entropy::seeded(number as u64));
        running.push(tokio::spawn(async move {
            for round in 0..12 {
                let first = usize::from(entropy.bytes::<1>()[0] % 20);
                let draft = account(number, first, 5, round, round % 4 == 3);
                imports::commit(&app, &caller, statement([draft])).await.unwrap();
            }
        }));
    }
    let (app, caller, is_done) = (world.app.clone(), robin.caller.clone(), done.clone());
    let reader = tokio::spawn(async move {
        let mut client = Client { beside_writers: true, ..Client::default() };
        while !is_done.load(Ordering::Relaxed) {
            let before: Vec<TransactionId> = list(&app, &caller).await.into_keys().collect();
            client.read_all(&app, &caller, 2).await;
            // No row is ever removed here.
            assert!(before.iter().all(|it| client.rows.contains_key(it)));
        }
        client.read_all(&app, &caller, 2).await;
        client
    });
    for writer in running {
        writer.await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    let client = reader.await.unwrap();
    assert_complete(&world.app, &robin.caller, &client).await;
}
