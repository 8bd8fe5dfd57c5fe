//! Endpoints of transactions: list, changes, and one by its id.

use base::TransactionId;
use base::category::Category;
use serde::Serialize;
use service::ledger::annotations;
use service::ledger::transactions::{self, Change, Filter};
use service::platform::cursors::Page;
use service::{Error, Result};
use utoipa::ToSchema;
use wire::v1::{Pagination, Scope, Transaction, TransactionChanges, TransactionRow};

use super::parameters::{ACCOUNT_ID, CURSOR, LIMIT, date};
use super::{Answer, Call, Endpoint, Paging, Parameter, Shape, Takes, Verb};

pub(super) const CATEGORY: Parameter = Parameter {
    name: "category_tier1",
    takes: Takes::Category,
    description: "Only this primary category, such as FOOD_AND_DRINK.",
    example: "FOOD_AND_DRINK",
};

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/transactions",
    tag: "Transactions",
    summary: "List transactions",
    description: "Newest first, in pages. A pending transaction keeps its id when it posts; one that the bank \
        withdraws disappears. Transactions of hidden accounts are excluded unless `account_id` names the \
        account. `total_count` is set when it is cheap to compute.",
    scopes: &[Scope::TransactionsRead],
    query: &[
        CURSOR,
        LIMIT,
        ACCOUNT_ID,
        date("start_date", "The first posting date, inclusive."),
        date("end_date", "The last posting date, inclusive."),
        Parameter {
            name: "updated_since",
            takes: Takes::Instant,
            description: "Only transactions created or changed since this instant, for syncing a copy.",
            example: "2026-04-10T08:30:00Z",
        },
        Parameter {
            name: "pending",
            takes: Takes::Bool,
            description: "Only pending or only posted transactions.",
            example: "false",
        },
        CATEGORY,
        Parameter {
            name: "q",
            takes: Takes::Text { longest: 100 },
            description: "Only transactions with this text in the counterparty's name, the bank's description or the \
                person's note, ignoring case.",
            example: "coffee",
        },
        Parameter {
            name: "tag",
            takes: Takes::Text { longest: 30 },
            description: "Only transactions with this tag of the person.",
            example: "holiday",
        },
    ],
    path_parameters: &[],
    body: None,
    answer: Shape { paging: Paging::Within, ..Shape::of::<Transaction>("Transaction") },
    handle: |call| Box::pin(list(call)),
};

pub(super) const CHANGES: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/transactions/changes",
    tag: "Transactions",
    summary: "List changes of transactions",
    description: "Every change since a cursor, in the order in which it happened: insert or replace the \
        transactions in `added` and `updated`, and delete those in `removed`. Without a cursor it begins with \
        nothing and adds the whole list first, newest first. `next_cursor` is never null: if `has_more` is \
        false, keep it and go on from there any time later. It does not expire.",
    scopes: &[Scope::TransactionsRead],
    query: &[
        Parameter {
            description: "The `next_cursor` of the previous page, however old; absent to begin anew.",
            ..CURSOR
        },
        LIMIT,
    ],
    path_parameters: &[],
    body: None,
    answer: Shape {
        paging: Paging::WithinObject,
        ..Shape::of::<TransactionChanges>("TransactionChanges")
    },
    handle: |call| Box::pin(changes(call)),
};

async fn changes(call: Call) -> Result<Answer> {
    let limit = call.query.whole(&LIMIT)? as usize;
    let page = Page { cursor: call.query.text("cursor")?, limit };
    let mut body = page_buffer(limit);
    body.extend_from_slice(b"{\"data\":{\"added\":[");
    let (mut updated, mut removed) = (Vec::new(), Vec::new());
    let end = transactions::changes(&call.app, &call.caller, page, |change| match change {
        Change::Added(row) => row.write(next_item(&mut body)),
        Change::Updated(row) => row.write(next_item(&mut updated)),
        Change::Removed { id, removed_at_micros } => {
            let item = next_item(&mut removed);
            item.extend_from_slice(b"{\"id\":\"");
            id.write(item);
            item.extend_from_slice(b"\",\"removed_at\":\"");
            base::write_instant(item, removed_at_micros);
            item.extend_from_slice(b"\"}");
        }
    })
    .await?;
    body.extend_from_slice(b"],\"updated\":[");
    body.extend_from_slice(&updated);
    body.extend_from_slice(b"],\"removed\":[");
    body.extend_from_slice(&removed);
    body.extend_from_slice(b"]}");
    let pagination = Pagination {
        count: end.count,
        has_more: end.has_more,
        next_cursor: Some(end.next_cursor),
        total_count: None,
        limit,
    };
    Answer::page(body, &pagination)
}

/// Reserves 600 bytes a row, more than rows need, so that the buffer does not grow and copy.
fn page_buffer(limit: usize) -> Vec<u8> {
    Vec::with_capacity(limit * 600 + 512)
}

/// The items of a JSON list, ready for another one.
fn next_item(items: &mut Vec<u8>) -> &mut Vec<u8> {
    if !items.is_empty() && !items.ends_with(b"[") {
        items.push(b',');
    }
    items
}

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/transactions/{id}",
    tag: "Transactions",
    summary: "Get a transaction",
    description: "A transaction by its id, also on a hidden account, with the refunds that the person linked to it. One \
        that was removed is not found.",
    scopes: &[Scope::TransactionsRead],
    query: &[],
    path_parameters: &[Parameter {
        name: "id",
        takes: Takes::Id("txn_"),
        description: "The transaction.",
        example: "txn_01kny3v1m8f2x9q4t7r5c6b8de",
    }],
    body: None,
    answer: Shape::of::<TransactionWithLinks>("TransactionWithLinks"),
    handle: |call| Box::pin(get(call)),
};

/// A transaction by its id, with the links that the person made between refunds and purchases. `get` writes it.
#[derive(Serialize, ToSchema)]
struct TransactionWithLinks {
    #[serde(flatten)]
    transaction: Transaction,
    /// The purchase that it refunds; null if it is linked to none.
    #[schema(example = "txn_01kny3v1m8f2x9q4t7r5c6b8de")]
    refund_of: Option<String>,
    /// The refunds of it, oldest first, at most 20.
    #[schema(example = json!(["txn_01kny3v1m8f2x9q4t7r5c6b8de"]))]
    refunds: Vec<String>,
}

async fn get(call: Call) -> Result<Answer> {
    let id: TransactionId = call.path_id(0, "transaction")?;
    let mut body = b"{\"data\":".to_vec();
    transactions::get(&call.app, &call.caller, id, |row| row.write(&mut body)).await?;
    let links = transactions::refund_links(&call.app, &call.caller, id).await?;
    // The links are further members of the transaction.
    body.pop();
    body.extend_from_slice(b",\"refund_of\":");
    match links.refund_of {
        Some(purchase) => write_id(&mut body, purchase),
        None => body.extend_from_slice(b"null"),
    }
    body.extend_from_slice(b",\"refunds\":[");
    for refund in links.refunds {
        write_id(next_item(&mut body), refund);
    }
    body.extend_from_slice(b"]}");
    Ok(Answer::written(body))
}

fn write_id(body: &mut Vec<u8>, id: TransactionId) {
    body.push(b'"');
    id.write(body);
    body.push(b'"');
}

async fn list(call: Call) -> Result<Answer> {
    let query = &call.query;
    let filter = Filter {
        account_id: query.id("account_id")?,
        start_on: query.date("start_date")?,
        end_on: query.date("end_date")?,
        updated_since: query.instant("updated_since")?,
        pending: query.bool("pending")?,
        category_tier1: category(query.text("category_tier1")?)?,
        q: query.text("q")?.map(str::to_owned),
        tag: tag(query.text("tag")?)?,
        ..Filter::default()
    };
    let limit = query.whole(&LIMIT)? as usize;
    let page = Page { cursor: query.text("cursor")?, limit };
    let mut body = page_buffer(limit);
    body.extend_from_slice(b"{\"data\":[");
    let write = |row: &TransactionRow<'_>| row.write(next_item(&mut body));
    let end = transactions::list(&call.app, &call.caller, &filter, page, write).await?;
    body.push(b']');
    let pagination = Pagination {
        count: end.count,
        has_more: end.next_cursor.is_some(),
        next_cursor: end.next_cursor,
        total_count: end.total_count,
        limit,
    };
    Answer::page(body, &pagination)
}

/// The parameter `tag`. A text that can be no tag is read as an empty one, which no transaction has.
fn tag(word: Option<&str>) -> Result<Option<String>> {
    if word.is_some_and(|it| it.contains('\0')) {
        return Err(Error::invalid("tag", "tag must not contain a null character"));
    }
    Ok(word.map(|it| annotations::parse_tag(it).unwrap_or_default()))
}

/// Parses the parameter `category_tier1`.
pub(super) fn category(word: Option<&str>) -> Result<Option<String>> {
    let Some(word) = word else { return Ok(None) };
    if Category::ALL.iter().any(|it| it.primary() == word) {
        return Ok(Some(word.to_owned()));
    }
    Err(Error::invalid(
        "category_tier1",
        "category_tier1 must be a primary category such as TRAVEL",
    ))
}
