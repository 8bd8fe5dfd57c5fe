//! Changing many transactions at once, and undoing it exactly.

use base::category::Category;
use base::draft::AccountKind;
use base::{Currency, EditId, TransactionId};
use service::Error;
use service::classify::bulk_edits::{self, BulkChange, TRANSACTIONS_MAX};
use service::classify::corrections;
use service::classify::overrides::{Override, TransferMark, Visibility};
use service::classify::rules::{self, NewRule};
use service::ingest::manual;
use service::insights::spending;
use service::insights::{pipeline, transaction_detail};
use service::ledger::annotations::{self, Tags};
use service::ledger::transactions::{self, Filter};
use testkit::draft::{account, checking, statement, txn};
use testkit::{Person, World};

use crate::listed::{self, Listed};
use crate::{is_not_found, param, trail};

const FLIGHTS: &str = "TRAVEL_FLIGHTS";

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday")
        .with(txn("2026-03-01", 300_000, "ACME PAYROLL").category("INCOME_WAGES").id("pay"))
        .with(txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("move"))
        .with(txn("2026-03-03", -4_210, "KROGER #339").id("a"))
        .with(txn("2026-03-04", -900, "CORNER CAFE").id("b"))
        .with(txn("2026-03-05", -7_700, "QXB 4471").id("c"));
    let savings = account("Rainy day", AccountKind::Depository, "savings")
        .with(txn("2026-03-03", 50_000, "TRANSFER FROM CHECKING").id("moved"));
    robin.import(statement([everyday, savings])).await;
    pipeline::run_all(&world.app).await.unwrap();
    robin
}

async fn rows(world: &World, robin: &Person) -> Vec<Listed> {
    listed::all(&world.app, &robin.caller, &Filter::default()).await
}

async fn id_of(world: &World, robin: &Person, text: &str) -> TransactionId {
    let rows = rows(world, robin).await;
    rows.iter().find(|it| it.description == text).unwrap().id
}

async fn ids(world: &World, robin: &Person, texts: &[&str]) -> Vec<TransactionId> {
    let mut ids = Vec::new();
    for text in texts {
        ids.push(id_of(world, robin, text).await);
    }
    ids
}

fn flights() -> BulkChange {
    BulkChange { category: Category::parse(FLIGHTS), ..BulkChange::default() }
}

async fn apply(world: &World, robin: &Person, texts: &[&str], change: BulkChange) -> EditId {
    let ids = ids(world, robin, texts).await;
    bulk_edits::apply(&world.app, &robin.caller, ids, change).await.unwrap()
}

async fn undo(world: &World, robin: &Person, edit: EditId) -> Result<i64, Error> {
    bulk_edits::undo(&world.app, &robin.caller, edit).await
}

/// The message of an undo that was refused because something changed.
async fn refusal(world: &World, robin: &Person, edit: EditId) -> String {
    match undo(world, robin, edit).await {
        Err(Error::Conflict { message, .. }) => message,
        other => panic!("not refused: {other:?}"),
    }
}

/// Everything that is stored about the person's decisions and the rows as the API writes them, without their stamps.
async fn state(world: &World, robin: &Person) -> Vec<String> {
    pipeline::run_all(&world.app).await.unwrap();
    let mut lines = world.stored().await["transaction_fixes"].clone();
    for filter in [Filter::default(), Filter { hidden: true, ..Filter::default() }] {
        let rows = listed::all(&world.app, &robin.caller, &filter).await;
        lines.extend(rows.iter().map(|it| {
            let mut row: serde_json::Value = serde_json::from_str(&it.json).unwrap();
            row.as_object_mut().unwrap().remove("updated_at");
            row.to_string()
        }));
    }
    lines
}

#[tokio::test]
async fn undoing_an_edit_restores_everything_exactly() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    // One has a name and a category of the person's own, one a note and tags.
    let kroger = id_of(&world, &robin, "KROGER #339").await;
    let own = Override {
        counterparty: Some("Corner shop".to_owned()),
        category: Category::parse("MEDICAL_DENTAL_CARE"),
    };
    corrections::correct(app, caller, vec![kroger], own).await.unwrap();
    let cafe = id_of(&world, &robin, "CORNER CAFE").await;
    let tags = Tags::parse("work trip").unwrap();
    annotations::set(app, caller, cafe, ("with Kim", tags)).await.unwrap();
    let before = state(&world, &robin).await;
    let change = BulkChange {
        category: Category::parse(FLIGHTS),
        visibility: Some(Visibility::Hidden),
        transfer: Some(Some(TransferMark::NoTransfer)),
        note: Some("to check".to_owned()),
        add_tags: Tags::parse("new").unwrap(),
        remove_tags: Tags::parse("trip").unwrap(),
    };
    let texts = ["KROGER #339", "CORNER CAFE", "QXB 4471", "TRANSFER FROM CHECKING"];
    let edit = apply(&world, &robin, &texts, change).await;
    let hidden = Filter { hidden: true, ..Filter::default() };
    let rows = listed::all(app, caller, &hidden).await;
    assert_eq!(rows.len(), 4);
    let row = rows.iter().find(|it| it.id == cafe).unwrap();
    assert!(row.json.contains("\"tags\":[\"new\",\"work\"]"), "{}", row.json);
    assert!(row.json.contains("\"note\":\"to check\""), "{}", row.json);
    assert_eq!(row.category, Category::parse(FLIGHTS));
    assert_ne!(state(&world, &robin).await, before);
    assert_eq!(undo(&world, &robin, edit).await.unwrap(), 4);
    assert_eq!(state(&world, &robin).await, before);
    assert_eq!(trail(&world, caller).await[..2], ["transaction.edit_undo", "transaction.edit"]);
    assert!(refusal(&world, &robin, edit).await.contains("already undone"));
    let listed = bulk_edits::list(app, caller).await.unwrap();
    assert_eq!((listed.len(), listed[0].row_count, listed[0].undone_at.is_some()), (1, 4, true));
    let expected =
        "category Flights, added #new, removed #trip, set the note, hidden, marked as no transfer";
    assert_eq!(listed[0].summary, expected);
}

#[tokio::test]
async fn an_undo_is_refused_where_a_transaction_has_changed_since() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let texts = ["KROGER #339", "CORNER CAFE"];
    let edit = apply(&world, &robin, &texts, flights()).await;
    // A change of something else is none.
    let cafe = id_of(&world, &robin, "CORNER CAFE").await;
    annotations::set(app, caller, cafe, ("later", Tags::default())).await.unwrap();
    let own = Override { counterparty: None, category: Category::parse("MEDICAL_DENTAL_CARE") };
    corrections::correct(app, caller, vec![cafe], own).await.unwrap();
    let before = state(&world, &robin).await;
    let message = refusal(&world, &robin, edit).await;
    assert!(message.starts_with("1 of the 2 transactions has changed since"), "{message}");
    assert_eq!(state(&world, &robin).await, before);
    // Back at the value of the edit, it can be undone, and the note stays.
    let again = Override { counterparty: None, category: Category::parse(FLIGHTS) };
    corrections::correct(app, caller, vec![cafe], again).await.unwrap();
    assert_eq!(undo(&world, &robin, edit).await.unwrap(), 2);
    let row = rows(&world, &robin).await.into_iter().find(|it| it.id == cafe).unwrap();
    assert!(row.json.contains("\"note\":\"later\"") && row.category != Category::parse(FLIGHTS));
}

#[tokio::test]
async fn edits_of_one_field_are_undone_in_reverse_order() {
    let world = World::new().await;
    let robin = household(&world).await;
    let before = state(&world, &robin).await;
    let first = apply(&world, &robin, &["KROGER #339"], flights()).await;
    let dental = Category::parse("MEDICAL_DENTAL_CARE");
    let change = BulkChange { category: dental, ..BulkChange::default() };
    let second = apply(&world, &robin, &["KROGER #339"], change).await;
    assert!(refusal(&world, &robin, first).await.starts_with("this transaction has changed since"));
    undo(&world, &robin, second).await.unwrap();
    undo(&world, &robin, first).await.unwrap();
    assert_eq!(state(&world, &robin).await, before);
}

#[tokio::test]
async fn a_deleted_transaction_does_not_stop_an_undo() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let new = manual::ManualTransaction {
        on: "2026-03-06".parse().unwrap(),
        amount_minor: -1_000,
        description: "Market stall".to_owned(),
        category: None,
    };
    let wallet = manual::NewAccount {
        name: "Wallet".to_owned(),
        kind: AccountKind::Depository,
        currency: Currency::USD,
        balance_minor: None,
    };
    let wallet = manual::create_account(app, caller, wallet).await.unwrap();
    let id = manual::create_transaction(app, caller, wallet, new).await.unwrap();
    let edit = apply(&world, &robin, &["KROGER #339", "Market stall"], flights()).await;
    manual::delete_transaction(app, caller, id).await.unwrap();
    assert_eq!(undo(&world, &robin, edit).await.unwrap(), 1);
}

#[tokio::test]
async fn one_hidden_transaction_is_left_out_and_a_shown_one_wins_over_its_rule() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let spent = async || {
        pipeline::run_all(app).await.unwrap();
        let months = spending::months(app, caller, 1).await.unwrap();
        months.this.totals.spending_minor
    };
    assert_eq!(spent().await, 12_810);
    let kroger = id_of(&world, &robin, "KROGER #339").await;
    let hide = BulkChange { visibility: Some(Visibility::Hidden), ..BulkChange::default() };
    let edit = apply(&world, &robin, &["KROGER #339"], hide).await;
    assert_eq!(spent().await, 8_600);
    let detail = transaction_detail::get(app, caller, kroger).await.unwrap();
    assert!(detail.hidden && detail.hidden_by.is_none() && detail.corrected_at.is_none());
    let count = async || {
        let page = listed::first_page(app, caller, &Filter::default()).await.unwrap();
        assert_eq!(page.1.total_count, Some(page.0.len() as i64));
        page.0.len()
    };
    assert_eq!(count().await, 5);
    undo(&world, &robin, edit).await.unwrap();
    assert_eq!((spent().await, count().await), (12_810, 6));
    let rule = NewRule { like: Some("KROGER #339".to_owned()), hides: true, ..NewRule::default() };
    rules::create(app, caller, rule).await.unwrap();
    assert_eq!((spent().await, count().await), (8_600, 5));
    let show = BulkChange { visibility: Some(Visibility::Shown), ..BulkChange::default() };
    bulk_edits::apply(app, caller, vec![kroger], show).await.unwrap();
    assert_eq!((spent().await, count().await), (12_810, 6));
}

#[tokio::test]
async fn a_transaction_alone_is_a_transfer_or_none_as_the_person_says() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let figures = async || {
        pipeline::run_all(app).await.unwrap();
        let this = spending::months(app, caller, 1).await.unwrap().this.totals;
        (this.spending_minor, this.income_minor, this.unclassified_minor)
    };
    assert_eq!(figures().await, (12_810, 300_000, 0));
    let mark = |mark| BulkChange { transfer: Some(mark), ..BulkChange::default() };
    let edit = apply(&world, &robin, &["QXB 4471"], mark(Some(TransferMark::Transfer))).await;
    assert_eq!(figures().await, (5_110, 300_000, 0));
    let row = rows(&world, &robin).await.into_iter().find(|it| it.description == "QXB 4471");
    assert!(row.unwrap().json.contains("\"is_internal_transfer\":true"));
    undo(&world, &robin, edit).await.unwrap();
    assert_eq!(figures().await, (12_810, 300_000, 0));
    // One leg of a pair is no transfer: the other one is none either.
    let out = ["ONLINE TRANSFER TO SAVINGS 0042"];
    let edit = apply(&world, &robin, &out, mark(Some(TransferMark::NoTransfer))).await;
    let (spent, income, _) = figures().await;
    assert_eq!((spent, income), (62_810, 300_000));
    undo(&world, &robin, edit).await.unwrap();
    assert_eq!(figures().await, (12_810, 300_000, 0));
}

#[tokio::test]
async fn an_edit_needs_a_change_and_the_persons_own_transactions() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let (app, caller) = (&world.app, &robin.caller);
    let own = ids(&world, &robin, &["KROGER #339"]).await;
    let nothing = bulk_edits::apply(app, caller, own.clone(), BulkChange::default()).await;
    assert_eq!(param(nothing), "category");
    assert_eq!(param(bulk_edits::apply(app, caller, vec![], flights()).await), "transaction_ids");
    let many: Vec<TransactionId> = (0..=TRANSACTIONS_MAX).map(|_| world.app.ids.make()).collect();
    assert_eq!(param(bulk_edits::apply(app, caller, many, flights()).await), "transaction_ids");
    let long = BulkChange { note: Some("x".repeat(501)), ..BulkChange::default() };
    assert_eq!(param(bulk_edits::apply(app, caller, own.clone(), long).await), "note");
    let before = state(&world, &robin).await;
    let both = vec![own[0], id_of(&world, &kim, "KROGER #339").await];
    is_not_found(bulk_edits::apply(app, caller, both, flights()).await);
    assert_eq!(state(&world, &robin).await, before);
    let edit = apply(&world, &kim, &["KROGER #339"], flights()).await;
    is_not_found(undo(&world, &robin, edit).await);
    assert!(bulk_edits::list(app, caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn all_ids_of_a_filter_are_found_up_to_a_limit() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let find = async |filter: Filter, most| {
        let found = transactions::ids(app, caller, &filter, most).await.unwrap();
        found.map(|it| it.len())
    };
    assert_eq!(find(Filter::default(), 6).await, Some(6));
    assert_eq!(find(Filter::default(), 5).await, None);
    let text = Filter { q: Some("transfer".to_owned()), ..Filter::default() };
    assert_eq!(find(text, 5).await, Some(2));
}
