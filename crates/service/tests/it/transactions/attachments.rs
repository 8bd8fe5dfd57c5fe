//! Files of transactions: limits, types by content, access, and deletion with the transaction.

use base::TransactionId;
use bytes::Bytes;
use service::access::keys::NewKey;
use service::ingest::imports;
use service::ledger::attachments::{self, Attachment, BYTES_MAX, COUNT_MAX};
use service::ledger::transactions::Filter;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, new_key};

use crate::{is_not_found, listed, param, trail};

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday").with(txn("2026-03-03", -4_210, "KROGER #339").id("a"));
    robin.import(statement([everyday, checking("Other")])).await;
    robin
}

async fn id_of(world: &World, robin: &Person, text: &str) -> TransactionId {
    let rows = listed::all(&world.app, &robin.caller, &Filter::default()).await;
    rows.iter().find(|it| it.description == text).unwrap().id
}

/// A PDF of a size, with other bytes in each place.
fn pdf(size: usize) -> Bytes {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    bytes.extend((bytes.len()..size).map(|it| (it % 251) as u8));
    bytes.into()
}

async fn content(world: &World, robin: &Person, of: &Attachment) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in 0.. {
        let read = attachments::read_part(&world.app, &robin.caller, of, part).await.unwrap();
        match read {
            Some(more) => bytes.extend(more),
            None => break,
        }
    }
    bytes
}

#[tokio::test]
async fn a_file_comes_back_as_it_was_and_goes_when_it_is_deleted() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let kroger = id_of(&world, &robin, "KROGER #339").await;
    for size in [9, 1 << 20, BYTES_MAX] {
        let id = attachments::add(app, caller, kroger, ("a/receipt.pdf", pdf(size))).await.unwrap();
        let found = attachments::get(app, caller, id).await.unwrap();
        assert_eq!((found.name.as_str(), found.byte_count), ("receipt.pdf", size as i64));
        assert_eq!(found.media_type.as_str(), "application/pdf");
        assert!(content(&world, &robin, &found).await == pdf(size));
        assert_eq!(attachments::list(app, caller, kroger).await.unwrap(), [found]);
        attachments::delete(app, caller, id).await.unwrap();
        is_not_found(attachments::delete(app, caller, id).await);
    }
    assert!(attachments::list(app, caller, kroger).await.unwrap().is_empty());
    let stored = world.stored_in(&["attachments", "attachment_parts"]).await;
    assert!(stored.values().all(Vec::is_empty), "{stored:?}");
    assert_eq!(trail(&world, caller).await[..2], ["attachment.delete", "attachment.create"]);
}

#[tokio::test]
async fn other_types_and_too_many_or_too_large_files_are_refused() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let kroger = id_of(&world, &robin, "KROGER #339").await;
    let svg = Bytes::from_static(b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>");
    for bad in [svg, Bytes::new(), "%PD".into(), pdf(BYTES_MAX + 1)] {
        let refused = attachments::add(app, caller, kroger, ("receipt.pdf", bad)).await;
        assert_eq!(param(refused), "file");
    }
    for _ in 0..COUNT_MAX {
        attachments::add(app, caller, kroger, ("receipt.pdf", pdf(20))).await.unwrap();
    }
    let one_more = attachments::add(app, caller, kroger, ("receipt.pdf", pdf(20))).await;
    assert_eq!(param(one_more), "file");
}

#[tokio::test]
async fn files_are_only_for_those_who_see_the_transaction() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let app = &world.app;
    let kroger = id_of(&world, &robin, "KROGER #339").await;
    let id = attachments::add(app, &robin.caller, kroger, ("a.pdf", pdf(20))).await.unwrap();
    is_not_found(attachments::list(app, &kim.caller, kroger).await);
    is_not_found(attachments::get(app, &kim.caller, id).await);
    is_not_found(attachments::delete(app, &kim.caller, id).await);
    is_not_found(attachments::add(app, &kim.caller, kroger, ("a.pdf", pdf(20))).await);
    let key = robin.key(new_key()).await;
    assert_eq!(attachments::list(app, &key.caller, kroger).await.unwrap().len(), 1);
    let other = vec![robin.account("Other").await];
    let blind = robin.key(NewKey { accounts: Some(other), ..new_key() }).await;
    is_not_found(attachments::list(app, &blind.caller, kroger).await);
    is_not_found(attachments::get(app, &blind.caller, id).await);
}

#[tokio::test]
async fn files_go_with_their_transaction_and_stay_when_it_only_changes() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let new = |on: &str| {
        let row = txn(on, -900, "CORNER CAFE").id("b");
        statement([checking("Everyday").with(row)])
    };
    robin.import(new("2026-03-04")).await;
    let first = imports::list(app, caller, None, 1).await.unwrap()[0].id;
    let cafe = id_of(&world, &robin, "CORNER CAFE").await;
    attachments::add(app, caller, cafe, ("a.pdf", pdf(20))).await.unwrap();
    robin.import(new("2026-03-05")).await;
    assert_eq!(attachments::list(app, caller, cafe).await.unwrap().len(), 1);
    let second = imports::list(app, caller, None, 1).await.unwrap()[0].id;
    for import in [second, first] {
        imports::undo(app, caller, import).await.unwrap();
    }
    is_not_found(attachments::list(app, caller, cafe).await);
    let stored = world.stored_in(&["attachments", "attachment_parts"]).await;
    assert!(stored.values().all(Vec::is_empty), "{stored:?}");
}
