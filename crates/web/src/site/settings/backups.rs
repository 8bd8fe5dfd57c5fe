//! Settings, backups: an admin sees when the last good backup was written, and what went wrong since.

use maud::{Markup, html};
use service::backup::{self, Status};

use super::{Settings, Tab};
use crate::site::errors::PageResult;
use crate::site::person::Person;

/// Backups that the page lists.
const LISTED: usize = 40;

pub(super) async fn get(person: Person) -> PageResult {
    let main = match backup::status(person.app(), &person.caller).await {
        Ok(Some(status)) => html! {
            (state(&person, &status))
            (list(&person, &status))
        },
        Ok(None) => none_scheduled(),
        // The folder cannot be read, which the admin must know.
        Err(service::Error::Invalid { message, .. }) => html! {
            section.card aria-labelledby="state" {
                h2 id="state" { "Backups" }
                p.warning role="alert" { "Backups don't work: " (message) "." }
            }
        },
        Err(error) => return Err(error.into()),
    };
    Ok(Settings::new(Tab::Backups).page(&person, main))
}

fn none_scheduled() -> Markup {
    html! {
        section.card aria-labelledby="state" {
            h2 id="state" { "Backups" }
            p.warning { "No backups are scheduled." }
            p {
                "Set " code { "backups.folder" } " to a folder on another disk, or " code { "backups.s3" } " to an "
                "S3-compatible store, and this server writes a backup every day, checks it, and deletes old ones. The "
                "section Backups of the operator's guide, docs/running.md, has the details."
            }
        }
    }
}

fn state(person: &Person, status: &Status) -> Markup {
    let now = person.app().clock.now();
    let keep = status.keep;
    html! {
        section.card aria-labelledby="state" {
            h2 id="state" { "Backups" }
            @if let Some(failure) = &status.failure {
                p.warning role="alert" {
                    "The last attempt failed " (person.view.time_ago(failure.at, now)) ": " (failure.reason) "."
                }
            }
            @match status.files.as_deref().map(<[_]>::first) {
                None => p.soft { "The store is read for the first time within a minute." },
                Some(Some(newest)) => {
                    p {
                        "Last good backup: " strong { (person.view.time_ago(newest.made_at, now)) } " ("
                        (person.view.local(newest.made_at, "%a %-d %b %Y, %H:%M")) ")"
                    }
                    @if status.is_late {
                        p.warning role="alert" { "The next backup is late. Check the server's log." }
                    }
                }
                Some(None) => p.warning role="alert" {
                    "There is no backup yet. The server writes the first one within a minute of its start."
                },
            }
            p.soft {
                "Every " (status.every_hours) " hours, into " code { (status.place) } ". Kept: the newest of "
                (keep.daily) " days, " (keep.weekly) " weeks and " (keep.monthly) " months. Each file is read back and "
                "checked after it was written."
            }
            p.soft {
                @if person.app().sends_mail() { "Admins get an email when a backup is late." }
                @else { "Set " code { "mail.server" } " to get an email when a backup is late." }
            }
            @if !status.is_encrypted {
                p.soft {
                    "The files are not encrypted, and contain everyone's data and the installation key. Set "
                    code { "backups.passphrase" } " or " code { "backups.recipients" } " if others can read them."
                }
            }
        }
    }
}

fn list(person: &Person, status: &Status) -> Markup {
    let files = status.files.as_deref().unwrap_or_default();
    html! {
        section.card aria-labelledby="files" {
            h2 id="files" { "Files" }
            @if files.is_empty() { p.soft { "No backups yet." } }
            ul.rows {
                @for file in files.iter().take(LISTED) {
                    li {
                        span.what {
                            (person.view.local(file.made_at, "%a %-d %b %Y, %H:%M"))
                            span.soft { (file.name) @if file.is_encrypted { ", encrypted" } }
                        }
                        span { (megabytes(file.bytes)) }
                    }
                }
            }
            @if files.len() > LISTED {
                p.soft { "And " (files.len() - LISTED) " older ones." }
            }
        }
    }
}

/// Megabytes with one digit after the point, rounded up.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        assert_eq!(megabytes(1), "0.1 MB");
        assert_eq!(megabytes(12_340_000), "12.4 MB");
        assert_eq!(megabytes(0), "0.0 MB");
    }
}
