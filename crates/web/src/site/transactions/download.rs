//! Downloads the filtered transactions as CSV or JSON, streamed page by page.

use std::io;

use axum::body::Body;
use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Response};
use base::csv::{guard_formula, quote};
use base::{Money, split};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{StatusCode, header};
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;

use super::search::Search;
use super::{Row, all_accounts, rows};
use crate::site::errors::{PageError, PageResult};
use crate::site::person::Person;

const ROWS: usize = 500;
const HEAD: &str = "Date,Authorized,Account,Name,Bank text,Category,Category code,Amount,Currency,\
                    Status,Own transfer,Id,Note,Tags,Split\r\n";
/// The amount is a number, so that spreadsheets can add it up.
const AMOUNT_COLUMN: usize = 7;

/// The file format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Csv,
    /// An array of transactions as in the API.
    Json,
}

pub(in crate::site) async fn csv(person: Person, RawQuery(query): RawQuery) -> PageResult {
    download(person, query, Form::Csv).await
}

pub(in crate::site) async fn json(person: Person, RawQuery(query): RawQuery) -> PageResult {
    download(person, query, Form::Json).await
}

async fn download(mut person: Person, query: Option<String>, form: Form) -> PageResult {
    let accounts = all_accounts(&person).await?;
    let search = Search::read(query.as_deref().unwrap_or_default(), &accounts, person.view.today);
    // With an invalid filter the file would hold more than was asked for.
    if let Some(problem) = search.problems.first() {
        return Err(PageError::new(StatusCode::BAD_REQUEST, "Download failed", problem));
    }
    let (media_type, ending) = match form {
        Form::Csv => ("text/csv; charset=utf-8; header=present", "csv"),
        Form::Json => ("application/json", "json"),
    };
    let name = file_name(&search.filter, person.view.today, ending);
    // A slow client takes minutes to receive the file; the person's pages do not wait for it.
    person.wait_for(0);
    let mut reading = Reading { person, filter: search.filter, form, ready: None, next: None };
    // The first page is read before the response starts, so that an error gets an error page.
    let first = reading.page(None).await?;
    let head = if form == Form::Csv { HEAD } else { "[" };
    reading.ready = Some(format!("{head}{first}"));
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    let parts = stream::unfold(Some(reading), |it| async move { it?.step().await });
    // Fused, because compression polls once more after the end, and `unfold` panics then.
    let body = Body::from_stream(parts.fuse());
    let response: Response = (headers, body).into_response();
    Ok(response)
}

/// The state of a download.
struct Reading {
    person: Person,
    filter: Filter,
    form: Form,
    ready: Option<String>,
    next: Option<String>,
}

impl Reading {
    /// The next part. An error aborts the download, so that a partial file does not look complete.
    async fn step(mut self) -> Option<(io::Result<Bytes>, Option<Reading>)> {
        if let Some(text) = self.ready.take() {
            return Some((Ok(Bytes::from(text)), Some(self)));
        }
        let cursor = self.next.take()?;
        match self.page(Some(&cursor)).await {
            Ok(text) => Some((Ok(Bytes::from(text)), Some(self))),
            Err(error) => {
                tracing::error!(%error, "transaction download aborted");
                Some((Err(io::Error::other("the rows cannot be read")), None))
            }
        }
    }

    /// One page of rows; the last one includes the end of the file.
    async fn page(&mut self, cursor: Option<&str>) -> service::Result<String> {
        match self.form {
            Form::Csv => {
                let (more, end) = rows(&self.person, &self.filter, cursor, ROWS).await?;
                let mut text = String::with_capacity(more.len() * 200);
                more.iter().for_each(|row| write_row(&mut text, row));
                self.next = end.next_cursor;
                Ok(text)
            }
            Form::Json => {
                let mut out = Vec::with_capacity(ROWS * 640);
                let mut is_first = cursor.is_none();
                let page = Page { cursor, limit: ROWS };
                let (app, caller) = (self.person.app(), &self.person.caller);
                let end = transactions::list(app, caller, &self.filter, page, |row| {
                    out.extend_from_slice(if is_first { b"\n" } else { b",\n" });
                    is_first = false;
                    row.write(&mut out);
                });
                self.next = end.await?.next_cursor;
                if self.next.is_none() {
                    out.extend_from_slice(b"\n]\n");
                }
                Ok(String::from_utf8_lossy(&out).into_owned())
            }
        }
    }
}

fn file_name(filter: &Filter, today: base::Date, ending: &str) -> String {
    let last = filter.end_on.unwrap_or(today);
    match filter.start_on {
        Some(first) => format!("transactions-{first}-to-{last}.{ending}"),
        None => format!("transactions-to-{last}.{ending}"),
    }
}

fn write_row(out: &mut String, row: &Row) {
    let mut amount = Vec::new();
    row.amount.write(&mut amount);
    let currency = row.amount.currency();
    let dates = [Some(row.posted_on), row.authorized_on].map(|it| it.map(|it| it.to_string()));
    let cells = [
        dates[0].as_deref().unwrap_or_default(),
        dates[1].as_deref().unwrap_or_default(),
        &row.account_name,
        row.counterparty.as_deref().unwrap_or_default(),
        &row.description,
        row.category.map_or("", |it| it.label()),
        row.category.map_or("", |it| it.detailed()),
        &String::from_utf8_lossy(&amount),
        currency.code(),
        if row.pending { "pending" } else { "posted" },
        if row.is_transfer { "yes" } else { "no" },
        &row.id.to_string(),
        row.note.as_deref().unwrap_or_default(),
        &row.tags,
        &split_text(row),
    ];
    for (index, text) in cells.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if index == AMOUNT_COLUMN { out.push_str(text) } else { write_text(out, text) }
    }
    out.push_str("\r\n");
}

/// The parts of a split transaction, such as "Groceries -12.50; Gifts -5.00".
fn split_text(row: &Row) -> String {
    let part = |it: split::SplitPart<'_>| {
        let mut amount = Vec::new();
        Money::new(it.amount_minor, row.amount.currency()).write(&mut amount);
        format!("{} {}", it.category.label(), String::from_utf8_lossy(&amount))
    };
    split::read(&row.splits).flatten().map(part).collect::<Vec<_>>().join("; ")
}

/// A cell of text on one line, which no spreadsheet runs as a formula.
fn write_text(out: &mut String, text: &str) {
    let guarded = guard_formula(text).replace(|it: char| it.is_control(), " ");
    out.push_str(&quote(&guarded));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_of_text_is_a_formula() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("+49 30 1234", "'+49 30 1234"),
            ("-rent", "'-rent"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "' =1"),
            (" =1", "' =1"),
            ("-42.10", "'-42.10"),
            ("+7", "'+7"),
            ("|cmd", "'|cmd"),
            ("%0A=1", "'%0A=1"),
            ("＝1", "'＝1"),
            ("a;b", "\"a;b\""),
            ("-1-1", "'-1-1"),
            ("-", "'-"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "two  lines"),
            ("=cmd|' /C calc'!A0,x", "\"'=cmd|' /C calc'!A0,x\""),
            ("plain", "plain"),
            ("", ""),
        ] {
            let mut out = String::new();
            write_text(&mut out, text);
            assert_eq!(out, expected, "{text:?}");
        }
    }
}
