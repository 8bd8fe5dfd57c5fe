//! Files of transactions. Programs read them; only the person adds and deletes them, on the pages.

use base::{AttachmentId, TransactionId};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use service::ledger::attachments;
use service::{Error, Result};
use wire::v1;
use wire::v1::Scope;

use super::{Answer, Call, Endpoint, Parameter, Shape, Takes, Verb};

const TRANSACTION: Parameter = Parameter {
    name: "id",
    takes: Takes::Id("txn_"),
    description: "The transaction.",
    example: "txn_01kny3v1m8f2x9q4t7r5c6b8de",
};

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/transactions/{id}/attachments",
    tag: "Transactions",
    summary: "List the files of a transaction",
    description: "Pictures and PDF files that the person attached, such as receipts, without their content. Only the person \
        adds and deletes them, in the app.",
    scopes: &[Scope::TransactionsRead],
    query: &[],
    path_parameters: &[TRANSACTION],
    body: None,
    answer: Shape::of::<v1::Attachments>("Attachments"),
    handle: |call| Box::pin(list(call)),
};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/transactions/{id}/attachments/{attachmentId}",
    tag: "Transactions",
    summary: "Get a file of a transaction",
    description: "One file with its content in base64.",
    scopes: &[Scope::TransactionsRead],
    query: &[],
    path_parameters: &[
        TRANSACTION,
        Parameter {
            name: "attachmentId",
            takes: Takes::Id("doc_"),
            description: "The file.",
            example: "doc_01kny3v1m8f2x9q4t7r5c6b8de",
        },
    ],
    body: None,
    answer: Shape::of::<v1::AttachmentContent>("AttachmentContent"),
    handle: |call| Box::pin(get(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let id: TransactionId = call.path_id(0, "transaction")?;
    let found = attachments::list(&call.app, &call.caller, id).await?;
    Answer::data(&v1::Attachments { attachments: found.iter().map(v1::Attachment::from).collect() })
}

async fn get(call: Call) -> Result<Answer> {
    let transaction: TransactionId = call.path_id(0, "transaction")?;
    let id: AttachmentId = call.path_id(1, "attachment")?;
    let (app, caller) = (&call.app, &call.caller);
    let found = attachments::get(app, caller, id).await?;
    if found.transaction_id != transaction {
        return Err(Error::NotFound("attachment"));
    }
    let mut content = Vec::new();
    let mut part = 0;
    while let Some(bytes) = attachments::read_part(app, caller, &found, part).await? {
        content.extend(bytes);
        part += 1;
    }
    Answer::data(&v1::AttachmentContent {
        attachment: (&found).into(),
        content_base64: BASE64_STANDARD.encode(content),
    })
}
