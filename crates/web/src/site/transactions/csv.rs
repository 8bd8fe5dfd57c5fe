//! The same view as a file for spreadsheets, written while it is read, page by page.

use std::io;

use axum::body::Body;
use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{StatusCode, header};
use service::transactions::Filter;

use super::search::Search;
use super::{Row, all_accounts, rows};
use crate::site::person::Person;
use crate::site::trouble::{Shown, Trouble};

const ROWS: usize = 500;
const HEAD: &str = "Date,Authorized,Account,Name,Bank text,Category,Category code,Amount,Currency,\
                    Status,Own transfer,Id\r\n";

pub(in crate::site) async fn get(person: Person, RawQuery(query): RawQuery) -> Shown {
    let accounts = all_accounts(&person).await?;
    let search = Search::read(query.as_deref().unwrap_or_default(), &accounts);
    // A file must not hold more than was asked for, and has no place to say so.
    if let Some(problem) = search.problems.first() {
        return Err(Trouble::new(StatusCode::BAD_REQUEST, "This file cannot be made", problem));
    }
    let name = file_name(&search.filter, person.view.today);
    let (first, end) = rows(&person, &search.filter, None, ROWS).await?;
    let mut text = HEAD.to_owned();
    first.iter().for_each(|row| write_row(&mut text, row));
    let state = Reading { person, filter: search.filter, ready: Some(text), next: end.next_cursor };
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    let body =
        Body::from_stream(stream::unfold(Some(state), |state| async move { state?.step().await }));
    let response: Response = (headers, body).into_response();
    Ok(response)
}

/// How far a file has been written.
struct Reading {
    person: Person,
    filter: Filter,
    ready: Option<String>,
    next: Option<String>,
}

impl Reading {
    /// The next part. What fails on the way ends the download as broken, so that no file looks whole and is not.
    async fn step(mut self) -> Option<(io::Result<Bytes>, Option<Reading>)> {
        if let Some(text) = self.ready.take() {
            return Some((Ok(Bytes::from(text)), Some(self)));
        }
        let cursor = self.next.take()?;
        match rows(&self.person, &self.filter, Some(&cursor), ROWS).await {
            Ok((more, end)) => {
                let mut text = String::with_capacity(more.len() * 200);
                more.iter().for_each(|row| write_row(&mut text, row));
                self.next = end.next_cursor;
                Some((Ok(Bytes::from(text)), Some(self)))
            }
            Err(error) => {
                tracing::error!(%error, "a file of transactions broke off");
                Some((Err(io::Error::other("the rows cannot be read")), None))
            }
        }
    }
}

fn file_name(filter: &Filter, today: base::Date) -> String {
    let last = filter.end_on.unwrap_or(today);
    match filter.start_on {
        Some(first) => format!("transactions-{first}-to-{last}.csv"),
        None => format!("transactions-to-{last}.csv"),
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
    ];
    for (index, text) in cells.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_cell(out, text);
    }
    out.push_str("\r\n");
}

/// As RFC 4180 writes it. What a spreadsheet would take for a formula gets an apostrophe before it: banks' text is
/// anybody's text.
fn write_cell(out: &mut String, text: &str) {
    let opens = |it: &str| it.starts_with(['=', '+', '-', '@']);
    let risky = opens(text.trim_start()) || text.starts_with(['\t', '\r', '\n']);
    let text = if risky && !is_number(text) { format!("'{text}") } else { text.to_owned() };
    let text = text.replace(|it: char| it.is_control(), " ");
    if text.contains(['"', ',']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(&text);
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    plain(whole) && plain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_plain_numbers_stay_numbers() {
        for (text, wanted) in [
            ("=1+1", "'=1+1"),
            ("+49 30 1234", "'+49 30 1234"),
            ("-rent", "'-rent"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "' =1"),
            (" =1", "' =1"),
            ("-42.10", "-42.10"),
            ("+7", "+7"),
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
            write_cell(&mut out, text);
            assert_eq!(out, wanted, "{text:?}");
        }
    }
}
