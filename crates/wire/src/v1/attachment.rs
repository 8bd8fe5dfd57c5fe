//! The person's files on a transaction.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::Moment;

/// A file that the person attached to a transaction, such as a receipt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Attachment {
    #[schema(example = "doc_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "txn_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub transaction_id: String,
    /// The name of the file.
    #[schema(example = "receipt.pdf")]
    pub name: String,
    /// The type of the content: a picture (JPEG, PNG, WebP, HEIC) or a PDF.
    #[schema(example = "application/pdf")]
    pub media_type: &'static str,
    /// In bytes, at most 10 MiB.
    #[schema(example = 48213)]
    pub size: i64,
    pub created_at: Moment,
}

/// The files of a transaction.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Attachments {
    /// In the order in which they were added, at most 10.
    pub attachments: Vec<Attachment>,
}

/// A file with its content.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AttachmentContent {
    #[serde(flatten)]
    pub attachment: Attachment,
    /// The bytes in base64. Treat them as foreign: do not show them in a page of yours.
    #[schema(example = "JVBERi0xLjc=")]
    pub content_base64: String,
}
