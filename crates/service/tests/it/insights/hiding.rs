//! Rules that hide transactions: only balances still include them, and deleting the rule restores everything.

use base::AccountId;
use service::classify::overrides::Override;
use service::classify::rules::{self, NewRule, RuleEdit};
use service::ingest::imports;
use service::insights::transaction_detail;
use service::insights::{recurring, spending};
use service::ledger::spans::Span;
use service::ledger::transactions::Filter;
use service::ledger::{accounts, balances, net_worth};
use service::platform::health;
use testkit::draft::{Account, account, checking, statement, txn};
use testkit::{Person, World};

use super::{count_events, monthly, recompute_all};
use crate::listed;

fn everyday() -> Account {
    checking("Everyday")
        .balance("2026-03-10T08:00:00Z", 523_456)
        .with_all(monthly("2026-03-05", 12, -1_599, "NETFLIX.COM"))
        .with_all(monthly("2026-03-01", 12, 250_000, "ACME PAYROLL"))
        .with(txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("move"))
        .with(txn("2026-03-09", -1_599, "NETFLIX.COM").id("soon").pending())
}

async fn household(world: &World) -> Person {
    let robin = world.person("robin@example.com").await;
    let savings = account("Rainy day", base::draft::AccountKind::Depository, "savings")
        .balance("2026-03-10T08:00:00Z", 50_000)
        .with(txn("2026-03-03", 50_000, "TRANSFER FROM CHECKING").id("moved"));
    robin.import(statement([everyday(), savings])).await;
    recompute_all(world).await;
    robin
}

fn hide(like: &str) -> NewRule {
    NewRule { like: Some(like.to_owned()), hides: true, ..NewRule::default() }
}

/// Everything that shows balances.
async fn balances_of(world: &World, robin: &Person) -> Vec<String> {
    let (app, caller) = (&world.app, &robin.caller);
    let series = net_worth::series(app, caller, Span::Year).await.unwrap();
    let mut shown = vec![format!("{series:?}")];
    for name in ["Everyday", "Rainy day"] {
        let id: AccountId = robin.account(name).await;
        let account = accounts::get(app, caller, id).await.unwrap();
        let chart = balances::chart(app, caller, &account, Span::Year).await.unwrap();
        shown.push(format!("{:?} {chart:?}", account.balance_current_minor));
    }
    shown
}

async fn texts(world: &World, robin: &Person, filter: Filter) -> Vec<String> {
    let rows = listed::all(&world.app, &robin.caller, &filter).await;
    rows.into_iter().map(|it| it.description).collect()
}

async fn spent_minor(world: &World, robin: &Person) -> String {
    format!("{:?}", spending::months(&world.app, &robin.caller, 12).await.unwrap())
}

async fn streams(world: &World, robin: &Person) -> Vec<String> {
    let all = recurring::Filter { status: None, account_id: None, direction: None };
    let found = recurring::list(&world.app, &robin.caller, all).await.unwrap();
    let mut names: Vec<String> =
        found.streams.into_iter().map(|(it, _)| format!("{} {}", it.name, it.last_minor)).collect();
    names.sort();
    names
}

/// The rows of accounts, balances, transactions and transfers, without update times.
async fn figures(world: &World) -> Vec<String> {
    let stored = world.stored().await;
    let tables = ["accounts", "balances", "transactions", "transfers"];
    let rows = tables.iter().flat_map(|it| stored[*it].iter());
    let lasting = |row: &String| {
        let words = row.split_whitespace().filter(|it| !it.starts_with("updated_at="));
        words.collect::<Vec<_>>().join(" ")
    };
    rows.map(lasting).collect()
}

async fn assert_counts_match(world: &World, robin: &Person) {
    let (rows, end) =
        listed::first_page(&world.app, &robin.caller, &Filter::default()).await.unwrap();
    assert_eq!(end.total_count, Some(rows.len() as i64));
    assert_eq!(health::count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
}

#[tokio::test]
async fn hiding_changes_no_balance_and_deleting_the_rule_restores_everything() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let before = figures(&world).await;
    let (balances, spent) = (balances_of(&world, &robin).await, spent_minor(&world, &robin).await);
    let streams_before = streams(&world, &robin).await;
    let all = texts(&world, &robin, Filter::default()).await;
    for like in ["NETFLIX.COM", "ACME PAYROLL", "TRANSFER FROM CHECKING"] {
        world.advance_seconds(60);
        let rule = rules::create(app, caller, hide(like)).await.unwrap().id;
        recompute_all(&world).await;
        assert_eq!(balances_of(&world, &robin).await, balances, "{like}");
        let seen = texts(&world, &robin, Filter::default()).await;
        let pending = usize::from(like.starts_with("NETFLIX"));
        assert_eq!(seen.iter().filter(|it| *it == like).count(), pending, "{like}");
        let hidden = texts(&world, &robin, Filter { hidden: true, ..Filter::default() }).await;
        assert_eq!(seen.len() + hidden.len(), all.len());
        assert!(!hidden.is_empty() && hidden.iter().all(|it| it == like), "{hidden:?}");
        let q = Some(like.to_lowercase());
        let found = texts(&world, &robin, Filter { q, ..Filter::default() }).await;
        assert_eq!(found.len(), pending);
        assert_counts_match(&world, &robin).await;
        // The other leg of a transfer is still neither income nor spending.
        let is_transfer = like.starts_with("TRANSFER");
        assert_eq!(spent_minor(&world, &robin).await == spent, is_transfer, "{like}");
        assert_eq!(streams(&world, &robin).await == streams_before, is_transfer, "{like}");
        world.advance_seconds(60);
        rules::delete(app, caller, rule).await.unwrap();
        recompute_all(&world).await;
        assert_eq!(figures(&world).await, before, "{like}");
        assert_eq!(streams(&world, &robin).await, streams_before, "{like}");
        assert_eq!(spent_minor(&world, &robin).await, spent, "{like}");
        assert_counts_match(&world, &robin).await;
    }
}

#[tokio::test]
async fn imported_transactions_are_hidden_immediately_and_only_once() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    rules::create(app, caller, hide("NETFLIX.COM")).await.unwrap();
    recompute_all(&world).await;
    let hidden = Filter { hidden: true, ..Filter::default() };
    assert_eq!(texts(&world, &robin, hidden.clone()).await.len(), 12);
    let created = count_events(&world, &robin, "transaction.created").await;
    let posted = || {
        let mut account = everyday();
        account.transactions.retain(|it| it.external_id.as_deref() != Some("soon"));
        account
            .with(txn("2026-03-10", -1_599, "NETFLIX.COM").id("soon"))
            .with(txn("2026-03-10", -1_599, "NETFLIX.COM").id("another"))
    };
    for _ in 0..2 {
        robin.import(statement([posted()])).await;
        assert_eq!(texts(&world, &robin, hidden.clone()).await.len(), 14);
        assert_counts_match(&world, &robin).await;
        recompute_all(&world).await;
        assert_eq!(texts(&world, &robin, hidden.clone()).await.len(), 14);
    }
    assert_eq!(
        count_events(&world, &robin, "transaction.created").await,
        created,
        "no event is sent"
    );
    // The detail of a transaction names the rule that hides it.
    let id = listed::all(app, caller, &hidden).await[0].id;
    let one = transaction_detail::get(app, caller, id).await.unwrap();
    let rule = rules::list(app, caller).await.unwrap()[0].id;
    assert_eq!((one.hidden, one.hidden_by), (true, Some(rule)));
    // After an undo the earlier transactions are still hidden.
    let batch = imports::list(app, caller, None, 1).await.unwrap()[0].id;
    imports::undo(app, caller, batch).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(texts(&world, &robin, hidden).await.len(), 12);
    assert_counts_match(&world, &robin).await;
}

#[tokio::test]
async fn an_edited_rule_applies_only_its_new_settings() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let rule = rules::create(app, caller, hide("NETFLIX.COM")).await.unwrap().id;
    recompute_all(&world).await;
    let correction = Override { counterparty: Some("Films".to_owned()), category: None };
    let edit = RuleEdit { sets: correction.clone(), ..RuleEdit::default() };
    rules::update(app, caller, rule, edit.clone()).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(texts(&world, &robin, Filter { hidden: true, ..Filter::default() }).await.len(), 0);
    let rows = listed::all(app, caller, &Filter::default()).await;
    assert_eq!(rows.iter().filter(|it| it.counterparty.as_deref() == Some("Films")).count(), 13);
    assert_counts_match(&world, &robin).await;
    // A rule that hides nothing does not replace one that hides.
    let hiding = rules::create(app, caller, hide("ACME PAYROLL")).await.unwrap().id;
    let like = Some("ACME PAYROLL".to_owned());
    let named = NewRule { like, sets: correction.clone(), ..NewRule::default() };
    rules::create(app, caller, named.clone()).await.unwrap();
    let count = async || rules::list(app, caller).await.unwrap().len();
    assert_eq!(count().await, 3);
    rules::create(app, caller, NewRule { hides: true, ..named }).await.unwrap();
    assert_eq!(count().await, 2, "a rule that sets both replaces both");
    crate::is_not_found(rules::delete(app, caller, hiding).await);
    let kept = rules::list(app, caller).await.unwrap().remove(1);
    assert_eq!((kept.id, kept.hides, kept.merchant.as_deref()), (rule, false, Some("Netflix")));
    let trail = service::platform::audit::list(app, caller, None, 10).await.unwrap();
    let changed = trail.iter().find(|it| it.action == "rule.update").unwrap();
    assert_eq!(changed.details, "Changed a rule: Netflix is Films");
    // A rule must set something, and its account must be the person's.
    let kim = world.person("kim@example.com").await;
    crate::is_not_found(rules::update(app, &kim.caller, rule, edit.clone()).await);
    crate::is_not_found(rules::apply_to_past(app, &kim.caller, rule).await);
    let nothing = rules::update(app, caller, rule, RuleEdit::default()).await;
    assert_eq!(crate::param(nothing), "category");
    let account_id = Some(AccountId::from_bytes([7; 16]));
    let elsewhere = RuleEdit { account_id, ..edit };
    let refused = rules::update(app, caller, rule, elsewhere).await;
    assert_eq!(crate::param(refused), "account_id");
}
