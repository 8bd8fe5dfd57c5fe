//! The files of a transaction: the card on its page, upload, download and deletion. A file is only ever sent as a
//! download and never shown by our pages, so that nothing in it runs in our name.

use std::io;

use axum::body::Body;
use axum::extract::{Path, RawQuery};
use axum::response::{IntoResponse as _, Response};
use base::{AttachmentId, TransactionId};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderName, header};
use maud::{Markup, html};
use service::ledger::attachments::{self, Attachment, BYTES_MAX, COUNT_MAX};

use super::address_of;
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, FormError};
use crate::site::form::{Form, TOKEN_FIELD};
use crate::site::person::Person;
use crate::site::upload::Uploads;
use crate::site::urls;

/// Nothing in the file may load, run or be framed, if a browser shows it in spite of the other headers.
const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

pub(in crate::site) async fn add(
    person: Person,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    uploads: Uploads,
) -> PageResult {
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let back = query.and_then(|it| urls::find_param(&it, "back")).unwrap_or_default();
    let here = address_of(id, &back);
    let (app, caller) = (person.app(), &person.caller);
    if uploads.files.is_empty() {
        return Ok(see_other(&person, &here, "Choose a file first."));
    }
    let mut message = "File attached.".to_owned();
    for file in &uploads.files {
        let added = attachments::add(app, caller, id, (&file.name, file.content.clone())).await;
        match added.map_err(FormError::from_error) {
            Ok(_) => {}
            Err(Ok(wrong)) => {
                message = format!("“{}” was not attached. {}", file.name, wrong.message);
                break;
            }
            Err(Err(error)) => return Err(PageError::from(error)),
        }
    }
    Ok(see_other(&person, &here, &message))
}

pub(in crate::site) async fn download(
    mut person: Person,
    Path((_, id)): Path<(String, String)>,
) -> PageResult {
    let id = AttachmentId::parse(&id).map_err(|_| PageError::not_found())?;
    let found = attachments::get(person.app(), &person.caller, id).await?;
    // A slow client takes minutes to receive the file; the person's pages do not wait for it.
    person.wait_for(0);
    let headers = [
        (header::CONTENT_TYPE, found.media_type.as_str().to_owned()),
        (header::CONTENT_LENGTH, found.byte_count.to_string()),
        (header::CONTENT_DISPOSITION, disposition(&found.name)),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin".to_owned()),
    ];
    let parts = stream::unfold((person, found, 0_i64), |(person, attachment, part)| async move {
        let read = attachments::read_part(person.app(), &person.caller, &attachment, part).await;
        let bytes = match read.transpose()? {
            Ok(bytes) => Ok(Bytes::from(bytes)),
            Err(error) => {
                tracing::error!(%error, "download of an attachment aborted");
                Err(io::Error::other("the file cannot be read"))
            }
        };
        Some((bytes, (person, attachment, part + 1)))
    });
    let response: Response = (headers, Body::from_stream(parts.fuse())).into_response();
    Ok(response)
}

/// A header that makes every browser save the file under its name.
fn disposition(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.() ".contains(it);
    let ascii: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{}", urls::encode(name))
}

pub(in crate::site) async fn delete(
    person: Person,
    Path((id, attachment)): Path<(String, String)>,
    form: Form,
) -> PageResult {
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let attachment = AttachmentId::parse(&attachment).map_err(|_| PageError::not_found())?;
    attachments::delete(person.app(), &person.caller, attachment).await?;
    Ok(see_other(&person, &address_of(id, form.text("back")), "File deleted."))
}

/// The files of a transaction, on its page.
pub(super) fn card(person: &Person, id: TransactionId, files: &[Attachment], back: &str) -> Markup {
    let query = urls::query_string(&[("back", back)]);
    html! {
        section.card aria-labelledby="files" {
            h2 id="files" { "Receipts and files" }
            @if !files.is_empty() { ul.rows { @for file in files { (row(person, file, back)) } } }
            @if (files.len() as i64) < COUNT_MAX {
                form method="post" action={ "/transactions/" (id) "/attachments" (query) } enctype="multipart/form-data" {
                    input type="hidden" name=(TOKEN_FIELD) value=(person.form_token);
                    div.field {
                        label for="f-file" { "Picture or PDF" }
                        input id="f-file" name="file" type="file" required aria-describedby="h-file"
                            accept="application/pdf,image/jpeg,image/png,image/webp,image/heic";
                        p.soft id="h-file" { "Up to " (BYTES_MAX >> 20) " MB." }
                    }
                    button.outlined type="submit" { "Attach file" }
                }
            }
        }
    }
}

fn row(person: &Person, file: &Attachment, back: &str) -> Markup {
    let path = format!("/transactions/{}/attachments/{}", file.transaction_id, file.id);
    let body = html! {
        input type="hidden" name="back" value=(back);
        button.link type="submit" aria-label={ "Delete " (file.name) } { "Delete" }
    };
    html! {
        li {
            div.what {
                a href=(path) download { (file.name) }
                span.soft { (size_text(file.byte_count)) " · " (person.view.day_at(file.created_at)) }
            }
            (fields::form(&format!("{path}/delete"), &person.form_token, body))
        }
    }
}

/// "340 KB", "1.2 MB"
fn size_text(bytes: i64) -> String {
    match bytes {
        ..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KB", bytes / 1_024),
        _ => format!("{}.{} MB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_has_a_name_that_no_header_breaks() {
        let header = disposition("Quittung \"März\".pdf");
        let expected = "attachment; filename=\"Quittung _M_rz_.pdf\"; filename*=UTF-8''Quittung%20%22M%C3%A4rz%22.pdf";
        assert_eq!(header, expected);
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(size_text(900), "900 bytes");
        assert_eq!(size_text(348_160), "340 KB");
        assert_eq!(size_text(1_310_720), "1.2 MB");
    }
}
